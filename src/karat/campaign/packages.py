"""Packages: what a participant hands in, one folder, archive or file, and the files in it."""

import hashlib
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from karat.campaign.archives import (
    BYTES,
    FLOOR,
    LINK,
    MEMBERS,
    RATIO,
    SPECIAL,
    Limits,
    Member,
    archive_members,
    is_archive,
)
from karat.campaign.names import is_hidden, member_name
from karat.corpus import File, MemorySpool
from karat.corpus.folders import UNREADABLE, shown
from karat.corpus.paths import CHUNK, usable
from karat.errors import KaratError, Rule, quoted
from karat.limits import INPUT_TOO_LARGE
from karat.opened import opened

CHANGED = Rule("submission-changed", "fatal", "Start the campaign again when nobody writes to the submissions.")


class Package(NamedTuple):
    """A folder, an archive or a single file."""

    path: Path

    @property
    def name(self) -> str:
        """What it is called in messages."""
        return shown(self.path)

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder."""
        return self.path.is_dir()

    @property
    def is_archive(self) -> bool:
        """Whether it is an archive."""
        return not self.is_folder and is_archive(self.path)

    def members(self, limits: Limits) -> Iterator[Member]:
        """Its files in the order of the archive, or of their names; refuses what breaks a rule."""
        try:
            if self.is_folder:
                yield from _folder_members(self.path, limits)
            elif self.is_archive:
                yield from archive_members(opened(self.path), limits, self.name)
            elif not self.path.is_file():
                raise SPECIAL.error("this is no plain file and no folder", file=self.name)
            else:
                with opened(self.path).open("rb") as stream:
                    yield Member(member_name(self.path.name, self.name), stream)
        except OSError as error:
            raise UNREADABLE.error(error.strerror or str(error), file=self.name) from None

    def digests(self, limits: Limits) -> dict[str, str]:
        """The hash of the content of each file."""
        return {member.name: _digest(member) for member in self.members(limits)}

    def files(self, wanted: Mapping[str, str], limits: Limits) -> list[File]:
        """The files of these names, which must have these hashes; what is unpacked is held in memory.

        The name of a member leads through the archive, so it is the name of no file: nothing is found beside it.
        """
        most = min(limits.bytes, max(FLOOR, limits.ratio * self._packed_bytes(limits)))
        spool = MemorySpool(most)
        try:
            return self._files(wanted, limits, spool)
        except KaratError as error:
            if error.finding.code != INPUT_TOO_LARGE.code:
                raise
            message = f"compressed files in it have more than {most:,} bytes when unpacked"
            raise RATIO.error(message, file=error.finding.file) from None

    def _packed_bytes(self, limits: Limits) -> int:
        """How many bytes it has on disk."""
        if not self.is_folder:
            return self.path.stat().st_size
        return sum((self.path / member.name).stat().st_size for member in self.members(limits))

    def _files(self, wanted: Mapping[str, str], limits: Limits, spool: MemorySpool) -> list[File]:
        found: dict[str, File] = {}
        for member in self.members(limits):
            if member.name in wanted:
                kept = _Hashed(member)
                if self.is_archive:
                    found[member.name] = spool.file(kept, f"{self.name}/{member.name}")
                else:
                    path = self.path / member.name if self.is_folder else self.path
                    found[member.name] = usable(path, spool)
                    while kept.read(CHUNK):
                        pass
                if kept.digest() != wanted[member.name]:
                    raise CHANGED.error("it was changed while karat was reading it", file=f"{self.name}/{member.name}")
        if len(found) < len(wanted):
            raise CHANGED.error("files have disappeared while karat was reading it", file=self.name)
        return [found[name] for name in sorted(found)]


class _Hashed:
    """A member whose bytes are hashed as they are read."""

    def __init__(self, member: Member) -> None:
        self._stream = member.stream
        self._hash = hashlib.sha256()

    def read(self, size: int = -1, /) -> bytes:
        data = self._stream.read(size)
        self._hash.update(data)
        return data

    def digest(self) -> str:
        return self._hash.hexdigest()


def _digest(member: Member) -> str:
    hashed = _Hashed(member)
    while hashed.read(CHUNK):
        pass
    return hashed.digest()


def _folder_members(folder: Path, limits: Limits) -> Iterator[Member]:
    """The files of a folder under the rules that archives have: nothing leads out of it."""
    total = 0
    for count, (path, name) in enumerate(_walk(folder, folder), 1):
        size = path.stat().st_size
        total += size
        if count > limits.members:
            raise MEMBERS.error(f"more than {limits.members:,} files", file=shown(folder))
        if size > limits.member_bytes or total > limits.bytes:
            most = limits.member_bytes if size > limits.member_bytes else limits.bytes
            raise BYTES.error(f"more than {most:,} bytes", file=shown(path))
        with opened(path).open("rb") as stream:
            yield Member(name, stream)


def _walk(folder: Path, root: Path) -> Iterator[tuple[Path, str]]:
    with os.scandir(folder) as entries:
        names = sorted(entry.name for entry in entries)
    for path in (folder / name for name in names):
        name = member_name(path.relative_to(root).as_posix(), shown(root))
        if is_hidden(name):
            continue
        mode = path.lstat().st_mode
        if stat.S_ISLNK(mode):
            raise LINK.error(f"{quoted(name)} is a link", file=shown(root))
        if stat.S_ISDIR(mode):
            yield from _walk(path, root)
        elif stat.S_ISREG(mode):
            yield path, name
        else:
            raise SPECIAL.error(f"{quoted(name)} is no plain file", file=shown(root))


def contents(package: Package, limits: Limits) -> dict[str, str] | KaratError:
    """The files of a package with their hashes, or why it is refused."""
    try:
        return package.digests(limits)
    except KaratError as error:
        return error.with_traceback(None)
