"""Standard streams that show every character and obey none.

Text from a file, its name, a protocol's title or a library's message may hold characters that move the cursor, recolour
or reorder what is printed. Whatever is printed passes through these streams, which escape such characters as JSON does;
so JSON stays JSON. Only what `trusted` marks reaches the terminal as it is.
"""

import contextlib
import errno
import os
import secrets
import sys
from collections.abc import Iterator
from io import TextIOBase, TextIOWrapper
from typing import Any, BinaryIO, TextIO, cast

import click

from karat.errors import visible

_MARK = secrets.token_hex(16)
"""What no file can hold, since it is new in each process."""


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


def style(text: str, **styles: Any) -> str:
    """Text in a colour of karat's own; what is in the text stays visible."""
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
