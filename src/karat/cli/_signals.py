"""Ends a command that is asked to stop as an interrupt does: nothing half written stays, and the shell knows why."""

import atexit
import contextlib
import functools
import os
import signal
import sys
from collections.abc import Iterator
from types import FrameType
from typing import NoReturn


class Stopped(BaseException):
    """A signal asked the process to end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def _stop(number: int, frame: FrameType | None) -> None:
    del frame
    signal.signal(number, signal.SIG_IGN)  # once is enough: cleaning up is not interrupted
    raise Stopped(number)


@contextlib.contextmanager
def stopping_signals() -> Iterator[None]:
    """Turn SIGTERM and SIGHUP into exceptions, then end by the same signal. What `nohup` ignores stays ignored."""
    _end_last()
    before = {}
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            with contextlib.suppress(ValueError):  # only the main thread receives signals
                before[number] = signal.signal(number, _stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


_stopped_by: int | None = None


@functools.cache
def _end_last() -> None:
    """Register what ends the process. What is registered first is called last: all else is cleaned up before."""
    atexit.register(_end)


def _end() -> None:
    if _stopped_by is not None:
        signal.signal(_stopped_by, signal.SIG_DFL)
        os.kill(os.getpid(), _stopped_by)


def end_by(number: int) -> NoReturn:
    """End this process by a signal, as if it had not been caught, after temporary files and processes are gone."""
    global _stopped_by
    _stopped_by = number
    sys.exit(128 + number)
