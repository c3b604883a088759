"""Executors: the same work in this process or in several; results and their order do not depend on how many there are.

`karat.run.processes` has the processes, and `karat.run.cluster` the executor for a Dask cluster.
`karat.corpus.interface.Executor` is what all of them have in common.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

if TYPE_CHECKING:
    from karat.run.processes import Pool

S = TypeVar("S")
T = TypeVar("T")
R = TypeVar("R")

LEAST = 8 << 20
"""Bytes of input below which other processes take longer to start than they save."""


def cores() -> int:
    """Return how many processes can run at the same time."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Processes:
    """Processes of this machine: only this one, or several others, which start with the first task."""

    def __init__(self, jobs: int | None = None) -> None:
        """`jobs` are the processes to use (1: only this one); None: one for each core, and one for a small input."""
        self._jobs = cores() if jobs is None else jobs
        self._least = LEAST if jobs is None else 0
        self._pool: Pool | None = None

    def width(self, size: int) -> int:
        """Return how many processes to use for an input."""
        return self._jobs if size >= self._least else 1

    def map(self, function: Callable[[S, T], R], shared: S, tasks: Iterable[T]) -> Iterator[R]:
        """Return the result of each task, in their order."""
        if self._jobs == 1:
            return (function(shared, task) for task in tasks)
        if self._pool is None:
            from karat.run.processes import Pool

            self._pool = Pool(self._jobs)
        return self._pool.map(function, shared, tasks)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.end(at_once=error is not None)
