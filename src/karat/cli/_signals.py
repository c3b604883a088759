"""Ends a command that is asked to stop as an interrupt does: nothing half written stays, and the shell knows why."""

import contextlib
import gc
import os
import signal
from collections.abc import Iterator
from types import FrameType


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


def end_by(number: int) -> None:
    """End this process by a signal, as if it had not been caught."""
    from karat import scratch

    scratch.clear()
    gc.collect()  # semaphores shared with other processes, which are not removed otherwise
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
