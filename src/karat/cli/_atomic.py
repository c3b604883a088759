"""Atomic output files.

A file is written beside its place and then moved there. A device, a pipe or an open descriptor (`/dev/stdout`) cannot
be replaced: it receives everything at once, when all of it is known.
"""

import contextlib
import errno
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from karat import scratch
from karat.cli._output import STANDARD_OUTPUT, refuse_input, refused
from karat.inputs import record


@contextlib.contextmanager
def output_stream(output: str | None) -> Iterator[IO[bytes]]:
    """A stream for a file or standard output. Nothing appears there before everything is written."""
    name = output or STANDARD_OUTPUT
    refuse_input(output)
    with refused(name):
        place = 1 if output is None else _destination(output)
        known = place.stat() if isinstance(place, Path) and place.exists() else None
        if known is not None and stat.S_ISDIR(known.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if known is not None and not os.access(place, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    replaceable = isinstance(place, Path) and (known is None or stat.S_ISREG(known.st_mode))
    with contextlib.ExitStack() as stack:
        with refused(name):
            folder = place.parent if isinstance(place, Path) and replaceable else Path(scratch.spool())
            temporary = stack.enter_context(scratch.file_in(folder))
        yield temporary
        refuse_input(output)
        with refused(name):
            if isinstance(place, Path) and replaceable:
                temporary.close()
                _move(Path(temporary.name), place, known)
            else:
                temporary.seek(0)
                _copy(temporary, place, standard=output is None)


def _destination(output: str) -> Path | int:
    """Resolve an output to the place behind all links, or to a descriptor that this process has open."""
    place = Path(output)
    for _ in range(40):
        folder = place.parent.resolve()
        if str(folder) in ("/dev/fd", f"/proc/{os.getpid()}/fd") and place.name.isdecimal():
            return int(place.name)
        place = folder / place.name
        if not place.is_symlink():
            return place
        place = folder / place.readlink()
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


def _move(temporary: Path, place: Path, known: os.stat_result | None) -> None:
    """Replace a file by a temporary one, which takes over its owner and its mode."""
    if known is None:
        temporary.chmod(0o666 & ~umask())
    else:
        with contextlib.suppress(OSError, AttributeError):  # a file of somebody else becomes ours
            os.chown(temporary, known.st_uid, known.st_gid)
        temporary.chmod(stat.S_IMODE(known.st_mode))
    temporary.replace(place)
    record([str(place)])


def _copy(temporary: IO[bytes], place: Path | int, *, standard: bool) -> None:
    """Copy to what cannot be replaced."""
    sys.stdout.flush()
    if standard and sys.stdout.isatty():
        sys.stdout.write(temporary.read().decode("utf-8", "replace"))  # a terminal does not obey what is in documents
        sys.stdout.flush()
    elif standard:
        sys.stdout.buffer.writelines(temporary)
        sys.stdout.buffer.flush()
    else:
        with open(os.dup(place) if isinstance(place, int) else place, "wb") as stream:
            stream.writelines(temporary)


def umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
