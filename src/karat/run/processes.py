"""Work in other processes of this machine: a pool of them, and what is sent to and fro."""

import contextlib
import os
import pickle
import signal
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import islice
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from karat.inputs import record, recording
from karat.interpreter import prepare_interpreter
from karat.problems import KaratError, Rule

S = TypeVar("S")
T = TypeVar("T")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)

LOST = Rule("worker-lost", "fatal", "Check the memory of the machine, or use fewer processes (--jobs).")

AHEAD = 3
"""Tasks per worker that are sent before their results are used, so that no worker waits for the next one."""

# A new interpreter for each: nothing of this process, such as threads and open files, is shared.
_CONTEXT = get_context("spawn")


class Pool:
    """Processes that end at the latest when this one does.

    A thread waits for each of them, on a connection that no other process has: one that is killed while it sends half
    a result ends the wait. (In a `ProcessPoolExecutor`, all send through one pipe, and the run would never end.)
    """

    def __init__(self, jobs: int) -> None:
        self._jobs = jobs
        self._workers = [_Worker() for _ in range(jobs)]
        self._idle: SimpleQueue[_Worker] = SimpleQueue()
        for worker in self._workers:
            self._idle.put(worker)
        self._threads = ThreadPoolExecutor(jobs)

    def map(self, function: Callable[[S, T], R], shared: S, tasks: Iterable[T]) -> Iterator[R]:
        """Return the result of each task, in their order."""
        data = packed(function, shared)

        def call(task: T) -> "Done[R]":
            worker = self._idle.get()
            try:
                return worker.call(data, task)
            finally:
                self._idle.put(worker)

        return in_order(lambda task: self._threads.submit(call, task), tasks, AHEAD * self._jobs)

    def end(self, *, at_once: bool) -> None:
        """End the processes, after their tasks or at once."""
        if at_once:
            self._threads.shutdown(wait=False, cancel_futures=True)
            for worker in self._workers:
                worker.kill()
        self._threads.shutdown()
        for worker in self._workers:
            worker.end()


class _Worker:
    """A process that does one task after another."""

    def __init__(self) -> None:
        self._connection, other = _CONTEXT.Pipe()
        self._process = _CONTEXT.Process(target=_work, args=(other,), daemon=True)
        with signals_deferred():
            self._process.start()
        other.close()

    def call(self, data: bytes, task: Any) -> "Done[Any]":
        """Send a task, and wait for its result."""
        try:
            self._connection.send((data, task))
            outcome: Done[Any] | BaseException = pickle.loads(self._connection.recv_bytes())
        except (EOFError, OSError):
            raise LOST.error("a process that scored a part of the documents ended before it was done") from None
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    def kill(self) -> None:
        self._process.kill()

    def end(self) -> None:
        """Let the process end, and wait until it has."""
        self._connection.close()
        self._process.join()


def _work(connection: Connection) -> None:
    follow_parent()
    with contextlib.suppress(EOFError, OSError):  # there are no more tasks, or nobody who waits for a result
        while True:
            connection.send_bytes(_outcome(connection.recv_bytes()))


def _outcome(message: bytes) -> bytes:
    """Return the pickled result of a task, or the error that it raises."""
    try:
        return pickle.dumps(call_packed(*pickle.loads(message)), pickle.HIGHEST_PROTOCOL)
    except BaseException as error:
        if not isinstance(error, KaratError):  # a mistake of karat: show where
            error.add_note(traceback.format_exc())
        return pickle.dumps(error)


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


def in_order(submit: Callable[[T], Future[Done[R]]], tasks: Iterable[T], ahead: int) -> Iterator[R]:
    """Yield the results of tasks in their order; at most `ahead` of them are under way or waiting to be used.

    The first tasks are submitted at once, so that the caller can do something else before it asks for results.
    """
    left = iter(tasks)
    waiting = deque(submit(task) for task in islice(left, ahead))

    def results() -> Iterator[R]:
        while waiting:
            done = waiting.popleft().result()
            waiting.extend(submit(task) for task in islice(left, 1))
            record(done.opened)
            yield done.result

    return results()


def packed(function: Callable[[S, T], R], shared: S) -> bytes:
    """Pickle a function and what its tasks share, once; they are sent with each task."""
    return pickle.dumps((function, shared), pickle.HIGHEST_PROTOCOL)


def call_packed(data: bytes, task: Any) -> Done[Any]:
    """Apply a function to a task; what its tasks share is unpickled once per process."""
    function, shared = _unpacked(data)
    with recording() as paths:
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
    """Block signals for this context: a process is either not started, or known, and so ended with its parent.

    A process that is started here inherits this and never sees Ctrl-C: its parent ends it.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _DEFERRED)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
