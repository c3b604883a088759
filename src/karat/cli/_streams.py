"""Signals and standard streams: end cleanly by a signal, and escape control characters on stdout and stderr."""

import atexit
import contextlib
import errno
import functools
import os
import signal
import sys
from collections.abc import Iterator
from io import TextIOBase, TextIOWrapper
from types import FrameType
from typing import Any, BinaryIO, NoReturn, TextIO, cast

import click

from karat.problems import visible


class Stopped(BaseException):
    """A signal asked the process to end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


_received: int | None = None


def _stop(number: int, frame: FrameType | None) -> None:
    global _received
    del frame
    _received = number
    signal.signal(number, signal.SIG_IGN)  # once is enough: cleaning up is not interrupted
    raise Stopped(number)


@contextlib.contextmanager
def stopping_signals() -> Iterator[None]:
    """Turn SIGTERM and SIGHUP into exceptions, then end by the same signal. What `nohup` ignores stays ignored."""
    global _received
    _end_last()
    _received = None
    before = {}
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            with contextlib.suppress(ValueError):  # only the main thread receives signals
                before[number] = signal.signal(number, _stop)
    try:
        try:
            yield
        finally:
            if _received is not None:  # the exception may have been raised where Python ignores it, as in `__del__`
                raise Stopped(_received)
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


_MARK = os.urandom(16).hex()
"""A mark that no file can hold, since it is new in each process."""


class VisibleStream(TextIOWrapper):
    """A text stream on which every character can be seen."""

    def write(self, text: str, /) -> int:
        """Write text; between marks it is trusted."""
        pieces = text.split(_MARK)
        pieces[::2] = [visible(piece, lines=True) for piece in pieces[::2]]
        super().write("".join(pieces))
        return len(text)


def trusted(sequence: str) -> str:
    """A control sequence of karat's own, for a stream that is a `VisibleStream`."""
    return f"{_MARK}{sequence}{_MARK}"


def has_colours() -> bool:
    """Return whether terminals are written to in colour (https://no-color.org)."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def style(text: str, **styles: Any) -> str:
    """Text in a colour of karat's own; what is in the text stays visible."""
    if not has_colours():
        return text
    before, _, after = click.style("\0", **styles).partition("\0")
    return f"{trusted(before)}{text}{trusted(after)}"


class ClosedStream(TextIOBase):
    """Standard output that was closed before karat began: what is written would be lost, so it is refused."""

    def write(self, text: str, /) -> int:
        """Refuse."""
        del text
        raise OSError(errno.EBADF, "it is closed", "standard output")

    @property
    def buffer(self) -> BinaryIO:
        """Refuse."""
        raise OSError(errno.EBADF, "it is closed", "standard output")


@contextlib.contextmanager
def visible_streams() -> Iterator[None]:
    """Replace standard output and standard error. If closed: the first refuses text, the second drops it."""
    before = sys.stdout, sys.stderr
    sys.stdout = _replaced(sys.stdout) or cast("TextIO", ClosedStream())
    sys.stderr = _replaced(sys.stderr) or open(os.devnull, "w", encoding="utf-8")
    replaced = sys.stdout, sys.stderr
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
        for stream in replaced:
            if isinstance(stream, VisibleStream):
                with contextlib.suppress(OSError, ValueError):
                    stream.detach()


def _replaced(stream: TextIO | None) -> TextIO | None:
    if not isinstance(stream, TextIOWrapper):
        return stream
    stream.flush()
    # A terminal that cannot show a character must not stop karat.
    return VisibleStream(
        stream.buffer,
        encoding=stream.encoding,
        errors="backslashreplace",
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )
