"""Chunks: the documents of a corpus in groups of about the same size, each of them the work of one process."""

from collections.abc import Iterator, Sequence

from karat.corpus.index import Index
from karat.corpus.interface import Executor

LARGEST = 1 << 20
"""Bytes of a chunk: about a tenth of a second of work, which is long for a message and short for a progress bar."""
PER_WORKER = 4
"""A corpus has at least this many chunks for each worker, so that none is idle for long at the end."""
DOCUMENT = 500
"""What a document costs besides its bytes, in bytes."""


def chunks(ids: Sequence[str], indexes: Sequence[Index], executor: Executor) -> list[Sequence[str]]:
    """The documents in their order, in groups for the workers of an executor; just one if none is needed."""
    width = executor.width(sum([index.total_size() for index in indexes]) + DOCUMENT * len(ids))
    if width == 1:
        return [ids]
    sizes = [sum([index.size(id_) for index in indexes if id_ in index.rows]) for id_ in ids]
    return [*_groups(ids, sizes, width)]


def _groups(ids: Sequence[str], sizes: Sequence[int], width: int) -> Iterator[Sequence[str]]:
    most = min(LARGEST, (sum(sizes) + DOCUMENT * len(ids)) // (PER_WORKER * width))
    start = size = 0
    for number, own in enumerate(sizes):
        size += own + DOCUMENT
        if size >= most:
            yield ids[start : number + 1]
            start, size = number + 1, 0
    if start < len(ids):
        yield ids[start:]
