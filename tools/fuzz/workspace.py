"""The folder in which the commands of a case run: filled once per case, and looked at after each command."""

import os
import tempfile
from collections.abc import Iterator, Set
from pathlib import Path

FOLDERS = ("gold", "system")
"""Folders that nearly every case has: making them anew would take longer than most commands."""

Stamp = tuple[int, int, int] | None
"""Identity, size and time of modification of a file; None for a folder."""


class Workspace:
    """A working folder, which becomes the current one, and a folder for temporary files beside it."""

    def __init__(self, folder: Path) -> None:
        self.work, self.scratch = folder / "work", folder / "tmp"
        for path in (self.work, self.scratch):
            path.mkdir(parents=True, exist_ok=True)
        self._given: dict[str, Stamp] = {}
        tempfile.tempdir = str(self.scratch)
        os.chdir(self.work)

    def fill(self, files: dict[str, bytes]) -> None:
        """Put these files there, and remove all others."""
        self._remove(path for path in _entries("") if path not in FOLDERS)
        for name, data in files.items():
            path = Path(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        self._given = _entries("")

    def changes(self) -> tuple[set[str], set[str]]:
        """Entries that are new since the files were put there, and those that were changed or removed."""
        now = _entries("")
        return now.keys() - self._given.keys(), {path for path, stamp in self._given.items() if now.get(path) != stamp}

    def accept(self, paths: Set[str]) -> None:
        """Take changed files for what was put there."""
        self._given |= {path: stamp for path, stamp in _entries("").items() if path in paths}

    def tidy(self) -> None:
        """Remove what a command has written, so that the next one finds only the files of the case."""
        self._remove(path for path in _entries("") if path not in self._given)

    def stray(self) -> list[str]:
        """Temporary files that a command has left. Copies of streams may stay in `karat-*` until the process ends."""
        left = [path for path in self.scratch.iterdir() if not path.name.startswith(("karat-", ".karat-"))]
        for path in left:
            path.unlink()
        return [path.name for path in left]

    def _remove(self, paths: Iterator[str]) -> None:
        for path in map(Path, sorted(paths, reverse=True)):
            if path.is_dir() and not path.is_symlink():
                path.rmdir()
            else:
                path.unlink()


def _entries(folder: str) -> dict[str, Stamp]:
    """Everything below a folder, by its path."""
    found: dict[str, Stamp] = {}
    with os.scandir(folder or ".") as entries:
        for entry in entries:
            path = f"{folder}/{entry.name}" if folder else entry.name
            if entry.is_dir(follow_symlinks=False):
                found[path] = None
                found.update(_entries(path))
            else:
                status = entry.stat(follow_symlinks=False)
                found[path] = (status.st_ino, status.st_size, status.st_mtime_ns)
    return found
