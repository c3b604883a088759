"""The same work in this process or in several; the results and their order do not depend on how many there are."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from types import TracebackType
from typing import Any, Self, TypeVar

T = TypeVar("T")
R = TypeVar("R")


class Workers:
    """Applies functions to tasks. With `jobs` above 1, both are sent to other processes and must allow that.

    `prepare` is called with `given` once per process, before any task.
    """

    def __init__(self, jobs: int, prepare: Callable[..., None], given: tuple[Any, ...]) -> None:
        self._pool: ProcessPoolExecutor | None = None
        if jobs > 1:
            # A new interpreter for each: nothing of this process, such as open files, is shared by accident.
            self._pool = ProcessPoolExecutor(jobs, get_context("spawn"), prepare, given)
        else:
            prepare(*given)

    def map(self, function: Callable[[T], R], tasks: Iterable[T]) -> Iterator[R]:
        """The result of each task, in the order of the tasks."""
        return map(function, tasks) if self._pool is None else self._pool.map(function, tasks)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
