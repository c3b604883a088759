"""Chunks: the documents of a corpus in groups of about the same size, each of them the work of one process."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from karat.corpus.index import DOCUMENT, Index
from karat.problems import KaratError, Rule

LARGEST = 1 << 20
"""Bytes of a chunk: about a tenth of a second of work, which is long for a message and short for a progress bar."""
PER_WORKER = 4
"""A corpus has at least this many chunks for each worker, so that none is idle for long at the end."""


def chunks(ids: Sequence[str], indexes: Sequence[Index], width: int) -> list[Sequence[str]]:
    """Divide documents, in their order, among a number of workers."""
    sizes = [sum([index.size(id_) for index in indexes if id_ in index.rows]) for id_ in ids]
    return [*_groups(ids, sizes, width)]


def _groups(ids: Sequence[str], sizes: Sequence[int], width: int) -> Iterator[Sequence[str]]:
    most = min(LARGEST, (sum(sizes) + DOCUMENT * len(ids)) // (PER_WORKER * width))
    start = size = 0
    for end, bytes_ in enumerate(sizes, 1):
        size += bytes_ + DOCUMENT
        if size >= most:
            yield ids[start:end]
            start, size = end, 0
    if start < len(ids):
        yield ids[start:]


UNABLE = Rule(
    "worker-unable", "fatal", "Check that workers have the same files and packages; --jobs 1 needs no other process."
)

T = TypeVar("T")

Sent = bytes | str
"""The message of a worker: its result for a chunk, pickled, or why there is none."""


def attempted(work: Callable[[], object]) -> Sent:
    """Return the pickled result of some work, or why it cannot be done or sent."""
    import pickle

    try:
        return pickle.dumps(work(), pickle.HIGHEST_PROTOCOL)
    except KaratError as error:
        return str(error.finding)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def collected(
    chunks: Iterable[T], sent: Iterable[Sent], *, merge: Callable[[Any], bool], add: Callable[[T], None]
) -> Iterator[T]:
    """Each chunk, when what a worker sent is merged. `merge` may refuse it; then the chunk is done here, with `add`."""
    import pickle

    for message, chunk in zip(sent, chunks, strict=True):
        if isinstance(message, str) or not merge(pickle.loads(message)):
            add(chunk)
        if isinstance(message, str):
            raise UNABLE.error(f"a worker could not read documents that this process can: {message}")
        yield chunk
