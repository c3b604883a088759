"""The same work in this process or in several; the results and their order do not depend on how many there are."""

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context, parent_process
from multiprocessing.process import BaseProcess
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
            self._pool = ProcessPoolExecutor(jobs, get_context("spawn"), _prepare, (prepare, given))
        else:
            prepare(*given)

    def map(self, function: Callable[[T], R], tasks: Iterable[T]) -> Iterator[R]:
        """The result of each task, in the order of the tasks."""
        return map(function, tasks) if self._pool is None else self._pool.map(function, tasks)

    def completed(self, function: Callable[[T], R], tasks: Iterable[T]) -> Iterator[tuple[T, R]]:
        """Each task with its result, as soon as it is done: for results that are kept even if the rest is stopped."""
        if self._pool is None:
            yield from ((task, function(task)) for task in tasks)
            return
        futures = {self._pool.submit(function, task): task for task in tasks}
        for future in as_completed(futures):
            yield futures[future], future.result()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)


def _prepare(prepare: Callable[..., None], given: tuple[Any, ...]) -> None:
    """Make a new process ready; it ends with the one that started it, even if that one is killed."""
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    prepare(*given)


def _end_with(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)
