"""The files that a run has read, so that no output replaces one of them.

Code that opens an input calls `opened` or `read_bytes`. Paths are kept only in a `recording`; a worker records its own,
and sends them with its results.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:  # `karat --help` needs no paths
    from pathlib import Path

P = TypeVar("P", str, "Path")

_paths: set[str] | None = None


@contextmanager
def recording() -> Iterator[set[str]]:
    """Record the files that are opened in this context; if one is around it, they are also opened there."""
    global _paths
    before = _paths
    recorded = _paths = set[str]()
    try:
        yield recorded
    finally:
        _paths = before
        record(recorded)


def record(paths: Iterable[str]) -> None:
    """Record inputs that are opened elsewhere."""
    if _paths is not None:
        _paths.update(paths)


def opened(path: P) -> P:
    """Record an input, and return its path."""
    if _paths is not None:
        _paths.add(str(path))
    return path


def read_bytes(path: "Path") -> bytes:
    """Record an input, and return its content."""
    return opened(path).read_bytes()


def has_inputs(folder: "Path") -> bool:
    """Return whether a recorded file is in a folder, or below it."""
    from pathlib import Path

    place = os.path.realpath(folder)  # links that form a loop are allowed here
    return any(Path(os.path.realpath(path)).is_relative_to(place) for path in _paths or ())


def is_input(place: os.stat_result) -> bool:
    """Return whether this is one of the recorded files, under whatever name."""
    return any(_is_same(path, place) for path in _paths or ())


def _is_same(path: str, place: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.stat(path), place)  # noqa: PTH116 - there may be tens of thousands of them
    except OSError:
        return False  # it vanished: nothing is left to protect
