"""Chunks: the documents of a corpus in groups of about the same size, each of them the work of one process."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

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
R = TypeVar("R")


def attempted(work: Callable[[], R]) -> R | str:
    """Return the result of some work, for the process that asked for it, or why it cannot be done."""
    try:
        return work()
    except KaratError as error:
        return str(error.finding)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def collected(chunks: Iterable[T], results: Iterable[R | str], again: Callable[[T], object]) -> Iterator[tuple[T, R]]:
    """Each chunk with its result; one that a worker cannot do is done `again` here, which raises the same error."""
    for chunk, result in zip(chunks, results, strict=True):
        if isinstance(result, str):
            again(chunk)
            raise UNABLE.error(f"a worker could not read documents that this process can: {result}")
        yield chunk, result
