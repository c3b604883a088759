"""Temporary files that disappear with the run, or else with the next one.

Their names hold the number of the process, and the process holds a lock on them. What a killed process left behind is
recognised by both, and removed by the next run that writes to the same folder or copies an input.
"""

import atexit
import functools
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

if sys.platform != "win32":
    import fcntl

_NAME = re.compile(r"\.?karat-(\d+)-\w+\.tmp")


@contextmanager
def file_in(folder: Path) -> Iterator[IO[bytes]]:
    """Create a file in a folder, for this context; to keep it, close it and move it away."""
    sweep(folder)
    path = folder / _new_name()
    stream = open(path, "x+b", opener=functools.partial(os.open, mode=0o600))
    try:
        _lock(stream.fileno())
        yield stream
    finally:
        try:
            with suppress(OSError):  # a full disk was already reported
                stream.close()
        finally:
            path.unlink(missing_ok=True)


@contextmanager
def folder_in(folder: Path) -> Iterator[Path]:
    """Create a folder in a folder, for this context; to keep it, move it away."""
    sweep(folder)
    path = folder / _new_name()
    path.mkdir(0o700)
    held = _hold(path)
    try:
        yield path
    finally:
        try:
            _remove(path)
        except BaseException:  # a signal
            _remove(path)
            raise
        finally:
            if held is not None:
                os.close(held)


@functools.cache
def spool() -> str:
    """Return the folder for copies of inputs, which is removed when the process ends."""
    import tempfile

    sweep(Path(tempfile.gettempdir()))
    folder = tempfile.mkdtemp(prefix=f"karat-{os.getpid()}-", suffix=".tmp")
    _hold(Path(folder))
    atexit.register(clear)
    return folder


def clear() -> None:
    """Remove the copies of inputs."""
    if spool.cache_info().currsize:
        _remove(spool())


def _new_name() -> str:
    """Return a name that no other file has."""
    return f".karat-{os.getpid()}-{os.urandom(8).hex()}.tmp"


def _remove(folder: str | Path) -> None:
    """Remove a folder and what is in it."""
    import shutil

    shutil.rmtree(folder, ignore_errors=True)


def sweep(folder: Path) -> None:
    """Remove what killed processes of this user left in a folder."""
    if sys.platform == "win32":
        return
    try:
        with os.scandir(folder) as entries:
            left = [(entry.path, match[1]) for entry in entries if (match := _NAME.fullmatch(entry.name))]
        for path, process in left:
            _remove_if_left(path, int(process))
    except OSError:
        pass  # it cannot be read, or is gone: not what the user asked for


if sys.platform != "win32":

    def _lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

    def _hold(folder: Path) -> int | None:
        """Lock a folder until the descriptor is closed."""
        descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
        _lock(descriptor)
        return descriptor

    def _remove_if_left(path: str, process: int) -> None:
        if _is_alive(process) or os.lstat(path).st_uid != os.geteuid():
            return
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            # A process of another machine, which shares the folder, is known by its lock.
            if _lock(descriptor):
                _remove(path) if Path(path).is_dir() else Path(path).unlink()
        finally:
            os.close(descriptor)

    def _is_alive(process: int) -> bool:
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return False
        except (OSError, OverflowError):
            return True
        return True

else:

    def _lock(descriptor: int) -> bool:
        """There are no such locks, and nothing is swept."""
        del descriptor
        return False

    def _hold(folder: Path) -> int | None:
        del folder
        return None

    def _remove_if_left(path: str, process: int) -> None:
        del path, process
