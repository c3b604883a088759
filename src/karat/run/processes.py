"""Work in other processes of this machine: a pool of them, and what is sent to and fro."""

import contextlib
import os
import pickle
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import lru_cache
from itertools import islice
from multiprocessing import active_children, get_context, parent_process
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from karat import inputs as opened
from karat.interpreter import prepare_interpreter
from karat.problems import Rule

S = TypeVar("S")
T = TypeVar("T")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)

LOST = Rule("worker-lost", "fatal", "Check the memory of the machine, or use fewer processes (--jobs).")

AHEAD = 3
"""Tasks per worker that are sent before their results are used, so that no worker waits for the next one."""


class Pool:
    """Processes that start with the first task, and end at the latest when this one does."""

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self._others = active_children()
        # A new interpreter for each: nothing of this process, such as threads and open files, is shared.
        self._pool = ProcessPoolExecutor(jobs, get_context("spawn"), follow_parent)

    def map(self, function: Callable[[S, T], R], shared: S, tasks: Iterable[T]) -> Iterator[R]:
        """Return the result of each task, in their order."""
        data = packed(function, shared)

        def submit(task: T) -> "Future[Done[R]]":
            with _losses_reported(), signals_deferred():
                return self._pool.submit(call_packed, data, task)

        return in_order(submit, tasks, AHEAD * self._jobs)

    def end(self, *, at_once: bool) -> None:
        """End the processes, after their tasks or at once."""
        if at_once:
            results = self._pool._result_queue
            self._pool.shutdown(wait=False, cancel_futures=True)
            for process in active_children():
                if process not in self._others:
                    process.kill()
                    process.join()
            # A worker may have sent half a result. With the last writer gone, the thread that waits for the rest ends.
            vars(results)["_writer"].close()
        self._pool.shutdown()


class Done(NamedTuple, Generic[R]):
    """Result of a task, as a worker sends it."""

    result: R
    opened: list[str]
    """The files that it has read for this."""


class Future(Protocol[R_co]):
    """A result that is on its way."""

    def result(self) -> R_co:
        """Wait for it."""
        ...


@contextlib.contextmanager
def _losses_reported() -> Iterator[None]:
    try:
        yield
    except BrokenProcessPool:
        raise LOST.error("a process that scored a part of the documents ended before it was done") from None


def in_order(submit: Callable[[T], Future[Done[R]]], tasks: Iterable[T], ahead: int) -> Iterator[R]:
    """The results of tasks in their order; at most `ahead` of them are under way or waiting to be used.

    The first tasks are submitted at once, so that the caller can do something else before it asks for results.
    """
    left = iter(tasks)
    waiting = deque(submit(task) for task in islice(left, ahead))

    def results() -> Iterator[R]:
        while waiting:
            with _losses_reported():
                done = waiting.popleft().result()
            waiting.extend(submit(task) for task in islice(left, 1))
            opened.add(done.opened)
            yield done.result

    return results()


def packed(function: Callable[[S, T], R], shared: S) -> bytes:
    """A function and what its tasks share, as they are sent with each task: pickled once."""
    return pickle.dumps((function, shared), pickle.HIGHEST_PROTOCOL)


def call_packed(data: bytes, task: Any) -> Done[Any]:
    """Apply a function to a task; what its tasks share is unpickled once per process."""
    function, shared = _unpacked(data)
    with opened.recording() as paths:
        result = function(shared, task)
    return Done(result, sorted(paths))


@lru_cache(maxsize=1)
def _unpacked(data: bytes) -> tuple[Callable[[Any, Any], Any], Any]:
    content: tuple[Callable[[Any, Any], Any], Any] = pickle.loads(data)
    return content


def follow_parent() -> None:
    """Prepare a worker: it ends when its parent is gone, even if that was killed."""
    prepare_interpreter()
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _DEFERRED - {signal.SIGINT})
    parent = parent_process()

    def follow() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


_DEFERRED = {getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)}


@contextlib.contextmanager
def signals_deferred() -> Iterator[None]:
    """Signals wait until this is done: a process is either not started, or known, and so ended with its parent.

    A process that is started here inherits this, and never sees Ctrl-C: its parent ends it.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _DEFERRED)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
