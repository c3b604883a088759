"""Child processes with limits of CPU time, memory and time, for work on files of strangers.

A child that meets a limit, or that dies, has a finding in place of a result, and the others continue.
"""

import pickle
import signal
import sys
import time
import traceback
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from karat.corpus.interface import Progress
from karat.inputs import record, recording
from karat.problems import Finding, KaratError, Rule
from karat.report.layout import counted
from karat.run.processes import follow_parent, signals_deferred

if sys.platform != "win32":
    import resource

T = TypeVar("T")
R = TypeVar("R")

LIMIT = Rule(
    "submission-limit",
    "fatal",
    "Check that the files are not damaged. Raise --cpu-limit, --memory-limit or --time-limit if they need that much.",
)
FAILED = Rule("submission-failed", "fatal", "Please report this mistake of karat, or of a plug-in, with its traceback.")
TOO_MUCH = Rule("submission-too-much", "fatal", "Check that the files are not damaged, and not much larger than gold.")

# A fork shares what the parent has read, such as gold. The libraries of macOS do not survive one.
_CONTEXT: Any = get_context("spawn" if sys.platform in ("win32", "darwin") else "fork")


class ChildLimits(NamedTuple):
    """Limits of a child process; CPU time and memory are limited where the system can do it."""

    cpu_seconds: int = 600
    gigabytes: float = 4
    """Memory beyond what the parent holds, such as gold."""
    seconds: int = 1800


class Children:
    """Runs each task in a child process, a number of them at the same time."""

    def __init__(self, processes: int = 1, limits: ChildLimits | None = None) -> None:
        self.processes, self._limits = processes, limits or ChildLimits()

    def map(
        self, function: Callable[[T], R], tasks: Sequence[T], progress: Progress | None = None
    ) -> Iterator[tuple[T, R | Finding]]:
        """Yield each task with its result, or with the reason why it has none, as they end.

        A `KaratError` is raised here: it is about gold or the options.
        """
        left = deque(tasks)
        running: list[_Child[T, R]] = []
        try:
            while left or running:
                while left and len(running) < self.processes:
                    running.append(_Child(function, left.popleft(), self._limits))
                deadline = min(child.deadline for child in running)
                ready = wait([child.connection for child in running], max(deadline - time.monotonic(), 0))
                for child in [*running]:
                    if child.connection in ready or child.deadline <= time.monotonic():
                        outcome = child.outcome()
                        running.remove(child)
                        if progress is not None:
                            progress(len(tasks) - len(left) - len(running), len(tasks))
                        yield child.task, outcome
        finally:
            for child in running:
                child.kill()


class _Child(Generic[T, R]):
    """A process that works on one task."""

    def __init__(self, function: Callable[[T], R], task: T, limits: ChildLimits) -> None:
        self.task, self._limits = task, limits
        self.deadline = time.monotonic() + limits.seconds
        self.connection, writer = _CONTEXT.Pipe(duplex=False)
        self._process = _CONTEXT.Process(target=_work, args=(writer, function, task, limits), daemon=True)
        with signals_deferred(), warnings.catch_warnings():
            # Python warns of threads, but there are only those of linear algebra, which survive a fork.
            warnings.simplefilter("ignore", DeprecationWarning)
            self._process.start()
        writer.close()

    def outcome(self) -> R | Finding:
        """Return the result of a process that is done, or the reason why it is stopped."""
        if not self.connection.poll():
            self.kill()
            return LIMIT.at(f"it takes more than {counted(self._limits.seconds, 'second')}")
        try:
            outcome, paths = pickle.loads(self.connection.recv_bytes())
        except (EOFError, OSError):
            return self._cause_of_death()
        self._process.join()
        record(paths)
        if isinstance(outcome, KaratError):
            raise outcome
        result: R | Finding = outcome
        return result

    def _cause_of_death(self) -> Finding:
        self._process.join()
        if sys.platform != "win32":
            if self._process.exitcode == -signal.SIGXCPU:
                return LIMIT.at(f"it needs more than {counted(self._limits.cpu_seconds, 'second')} of CPU time")
            if self._process.exitcode in (-signal.SIGSEGV, -signal.SIGBUS, -signal.SIGABRT):
                return _out_of_memory(self._limits)  # some libraries crash where Python raises MemoryError
        return _too_much()

    def kill(self) -> None:
        """End the process at once."""
        self._process.kill()
        self._process.join()


def _out_of_memory(limits: ChildLimits) -> Finding:
    return LIMIT.at(f"it needs more than {limits.gigabytes:,g} GB of memory")


def _too_much() -> Finding:
    return TOO_MUCH.at("it runs out of memory, or is nested too deeply")


def _work(writer: Connection, function: Callable[[T], Any], task: T, limits: ChildLimits) -> None:
    if sys.platform != "win32":
        for number in (signal.SIGTERM, signal.SIGHUP):
            if callable(signal.getsignal(number)):  # the parent's, which a fork inherits
                signal.signal(number, signal.SIG_DFL)
    follow_parent()
    is_limited = _set_limits(limits)
    try:
        with recording() as paths:
            outcome = _outcome(function, task)
        data = pickle.dumps((outcome, sorted(paths)))
    except MemoryError:
        data = pickle.dumps((_out_of_memory(limits) if is_limited else _too_much(), []))
    writer.send_bytes(data)
    writer.close()


def _outcome(function: Callable[[T], R], task: T) -> R | Finding | KaratError:
    try:
        return function(task)
    except KaratError as error:
        return error
    except MemoryError:
        raise
    except RecursionError:
        return _too_much()
    except Exception as error:
        traceback.print_exc()
        return FAILED.at(f"karat fails with {type(error).__name__}: {error}")


def _set_limits(limits: ChildLimits) -> bool:
    """Limit this process; return whether its memory is limited."""
    if sys.platform == "win32":
        return False
    _set_limit(resource.RLIMIT_CORE, 0)
    _set_limit(resource.RLIMIT_CPU, limits.cpu_seconds)
    return _set_limit(resource.RLIMIT_AS, _address_space() + int(limits.gigabytes * 1e9))


def _set_limit(kind: int, most: int) -> bool:
    _, hard = resource.getrlimit(kind)
    with suppress(OSError, ValueError):  # a system that does not limit this
        resource.setrlimit(kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))
        return True
    return False


def _address_space() -> int:
    """Return the bytes that this process already has, which a fork inherits."""
    with suppress(OSError):
        return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    return 0
