"""Packages: what a participant hands in, one folder, archive (tar or zip) or file, read under limits.

A package comes from a stranger. Archives are read member by member and never unpacked to disk. Each member must be a
plain file or a folder with a relative path of its own, and nothing may be larger than the limits. Anything that breaks
a rule refuses the whole package.
"""

import errno
import hashlib
import lzma
import os
import re
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal, NamedTuple

from karat.corpus.paths import CHUNK, UNREADABLE, File, MemorySpool, shown, usable
from karat.inputs import opened
from karat.limits import INPUT_TOO_LARGE, MAX_BYTES
from karat.problems import Finding, KaratError, Rule, quoted

if TYPE_CHECKING:
    from _typeshed import SupportsRead

PATH = Rule("archive-path", "fatal", "Pack only relative paths that stay below the folder of the submission.")
NAME = Rule("archive-name", "fatal", "Rename it: names are UTF-8, without control characters, backslashes and drives.")
LINK = Rule("archive-link", "fatal", "Submit the file itself in place of the link (tar --dereference, zip without -y).")
SPECIAL = Rule("archive-special", "fatal", "Pack only files and folders.")
TWICE = Rule("archive-duplicate", "fatal", "Pack each file once.")
MEMBERS = Rule("archive-members", "fatal", "Raise --max-members if the archive is meant to have that many.")
BYTES = Rule("archive-bytes", "fatal", "Raise --max-bytes or --max-member-bytes if it is meant to be that large.")
RATIO = Rule("archive-ratio", "fatal", "Raise --max-ratio if the files are meant to be that repetitive.")
DAMAGED = Rule("archive-damaged", "fatal", "Pack or upload it again.")
METHOD = Rule("archive-method", "fatal", "Pack it with tar and gzip, bzip2 or xz, or as a plain zip.")
CHANGED = Rule("submission-changed", "fatal", "Start the campaign again when the submissions no longer change.")

FLOOR = 10_000_000
"""Bytes that any archive may hold, however well they are compressed."""
LONGEST = 1000
"""Characters of a name."""
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2)

TAR_SUFFIXES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tbz", ".tar.xz", ".txz")
SUFFIXES = (*TAR_SUFFIXES, ".zip")

_WRONG = re.compile(r"[\x00-\x1f\x7f\\]|^[A-Za-z]:")


class Limits(NamedTuple):
    """Limits on the contents of a package."""

    members: int = 10_000
    member_bytes: int = 1_000_000_000
    bytes: int = MAX_BYTES
    ratio: int = 200
    """Unpacked bytes per packed byte."""


_Member = tuple[str, "SupportsRead[bytes]"]
"""The name of a file of a package, and its bytes, which can be read until the next one is asked for."""


class Package(NamedTuple):
    """A folder, an archive or a single file."""

    path: Path

    @property
    def name(self) -> str:
        """Its name in messages."""
        return shown(self.path)

    def contents(self, limits: Limits) -> Mapping[str, str] | Finding:
        """Return the hashes of the files by their names, or the reason why the package is refused."""
        try:
            with self._refusing_damage():
                return {name: _Hashed(stream).digest() for name, stream in self._members(limits)}
        except KaratError as error:
            return error.finding

    def files(self, wanted: Mapping[str, str], limits: Limits, prefix: str = "") -> list[File]:
        """Return the files of these names, which must have these hashes; what is unpacked is held in memory.

        The name of a member leads through the archive, so it is the name of no file: nothing is found beside it. Its
        `prefix` is left out: a system of the same content may be in another folder.
        """
        most = min(limits.bytes, _most_unpacked(self._packed_bytes(), limits))
        try:
            with self._refusing_damage():
                return self._files(wanted, limits, MemorySpool(most), prefix)
        except KaratError as error:
            if error.finding.code != INPUT_TOO_LARGE.code:
                raise
            message = f"compressed files in it have more than {most:,} bytes when unpacked"
            raise RATIO.error(message, file=error.finding.file) from None

    def _packed_bytes(self) -> int:
        if not self.path.is_dir():
            return self.path.stat().st_size
        return sum(entry.size for entry in _folder_entries(self.path, self.path))

    def _files(self, wanted: Mapping[str, str], limits: Limits, spool: MemorySpool, prefix: str) -> list[File]:
        found: dict[str, File] = {}
        is_archive = not self.path.is_dir() and _is_archive(self.path)
        for name, stream in self._members(limits):
            if name in wanted:
                hashed = _Hashed(stream)
                if is_archive:
                    found[name] = spool.file(hashed, f"{self.name}/{name.removeprefix(prefix)}")
                else:
                    path = self.path / name if self.path.is_dir() else self.path
                    found[name] = usable(path, spool)
                if hashed.digest() != wanted[name]:
                    raise CHANGED.error("it was changed while karat was reading it", file=f"{self.name}/{name}")
        if len(found) < len(wanted):
            raise CHANGED.error("files have disappeared while karat was reading it", file=self.name)
        return [found[name] for name in sorted(found)]

    def _members(self, limits: Limits) -> Iterator[_Member]:
        """Yield its files in the order of the archive, or of their names."""
        path = self.path
        if path.is_symlink():
            raise LINK.error("it is a link", file=self.name)
        if path.is_dir():
            return _members(_folder_entries(path, path), limits, self.name)
        if _is_archive(path):
            most = _most_unpacked(path.stat().st_size, limits)
            return _members(_archive_entries(opened(path), self.name), limits, self.name, most=most)
        if not path.is_file():
            raise SPECIAL.error("this is neither a regular file nor a folder", file=self.name)
        return _members([_file_entry(path, path.name)], limits, self.name)

    @contextmanager
    def _refusing_damage(self) -> Iterator[None]:
        """Turn the errors of libraries into findings."""
        try:
            yield
        except (tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError):
            raise DAMAGED.error("the archive is damaged, or is not a tar or zip file", file=self.name) from None
        except UnicodeDecodeError:
            raise NAME.error("the name of a member is not UTF-8", file=self.name) from None
        except NotImplementedError:
            raise METHOD.error("the archive is packed in a way that karat cannot read", file=self.name) from None
        except OSError as error:
            if error.errno in (None, errno.EINVAL):  # of gzip and bz2, and of places that there are not
                raise DAMAGED.error("the archive is damaged", file=self.name) from None
            raise UNREADABLE.error(error.strerror or str(error), file=self.name) from None
        except (ValueError, OverflowError):  # numbers in headers that make no sense
            raise DAMAGED.error("the archive is damaged", file=self.name) from None


class _Hashed:
    """A stream whose bytes are hashed as they are read."""

    def __init__(self, stream: "SupportsRead[bytes]") -> None:
        self._stream, self._hash = stream, hashlib.sha256()

    def read(self, size: int = -1, /) -> bytes:
        data = self._stream.read(size)
        self._hash.update(data)
        return data

    def digest(self) -> str:
        """Return the hash of the whole stream."""
        while self.read(CHUNK):
            pass
        return self._hash.hexdigest()


def _most_unpacked(packed: int, limits: Limits) -> int:
    return max(FLOOR, limits.ratio * packed)


def _member_name(raw: str, file: str) -> str:
    """Return a name as parts joined by `/`, empty for the folder itself, or refuse a path that leads elsewhere.

    `raw` has surrogates for bytes that are not UTF-8.
    """
    visible = quoted(raw.encode("utf-8", "backslashreplace").decode())
    if raw.startswith("/") or ".." in raw.split("/"):
        raise PATH.error(f"member {visible} leads out of the archive", file=file)
    if re.search(r"[\ud800-\udfff]", raw):
        raise NAME.error(f"the name of member {visible} is not UTF-8", file=file)
    if len(raw) > LONGEST:
        raise NAME.error(f"the name of member {visible} has more than {LONGEST:,} characters", file=file)
    if _WRONG.search(raw):
        raise NAME.error(f"member {visible} has a name that other operating systems interpret differently", file=file)
    return "/".join(part for part in raw.split("/") if part not in ("", "."))


def _is_hidden(name: str) -> bool:
    """Return whether a member is not part of a submission: hidden files, and what some programs add to archives."""
    return any(part.startswith(".") or part == "__MACOSX" for part in name.split("/"))


def _is_archive(path: Path) -> bool:
    """Return whether a file is a tar or a zip, by its name or by its content."""
    if not path.is_file():  # a pipe would never end
        return False
    try:
        return path.name.lower().endswith(SUFFIXES) or zipfile.is_zipfile(path) or tarfile.is_tarfile(path)
    except (OSError, EOFError):  # whoever reads it learns why it cannot be read
        return False


class _Entry(NamedTuple):
    """A member of a package, as the archive declares it or as it is on disk."""

    raw: str
    kind: Literal["file", "folder", "link", "special"]
    size: int
    open: Callable[[], IO[bytes] | None]


def _file_entry(path: Path, raw: str) -> _Entry:
    return _Entry(raw, "file", path.stat().st_size, lambda: opened(path).open("rb"))


def _folder_entries(folder: Path, root: Path) -> Iterator[_Entry]:
    """Yield what is below a folder, under the rules of archives."""
    with os.scandir(folder) as entries:
        names = sorted(entry.name for entry in entries)
    for path in (folder / name for name in names):
        raw, mode = path.relative_to(root).as_posix(), path.lstat().st_mode
        if _is_hidden(raw):
            continue
        if stat.S_ISDIR(mode):
            yield _Entry(raw, "folder", 0, lambda: None)
            yield from _folder_entries(path, root)
        elif stat.S_ISREG(mode):
            yield _file_entry(path, raw)
        else:
            yield _Entry(raw, "link" if stat.S_ISLNK(mode) else "special", 0, lambda: None)


def _archive_entries(path: Path, name: str) -> Iterator[_Entry]:
    with path.open("rb") as stream:
        is_zip = stream.read(2) == b"PK"
    return _zip_entries(path, name) if is_zip else _tar_entries(path)


def _tar_entries(path: Path) -> Iterator[_Entry]:
    with tarfile.open(path, "r:*", encoding="utf-8", errors="surrogateescape") as tar:
        while (info := tar.next()) is not None:
            if info.isdir():
                yield _Entry(info.name, "folder", 0, lambda: None)
            elif info.issym() or info.islnk():
                yield _Entry(info.name, "link", 0, lambda: None)
            else:
                kind: Literal["file", "special"] = "file" if info.isreg() and not info.issparse() else "special"
                yield _Entry(info.name, kind, max(info.size, 0), partial(tar.extractfile, info))


def _zip_entries(path: Path, name: str) -> Iterator[_Entry]:
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            raw, kind = info.orig_filename, stat.S_IFMT(info.external_attr >> 16)
            if not info.flag_bits & 0x800:  # names without the mark of UTF-8 are UTF-8 all the same, or refused
                raw = raw.encode("cp437").decode("utf-8", "surrogateescape")
            if info.flag_bits & 1:
                raise METHOD.error(f"member {quoted(raw)} is encrypted", file=name)
            if info.compress_type not in METHODS:
                raise METHOD.error(f"member {quoted(raw)} is packed by a method that karat does not read", file=name)
            # `open` reads no more bytes than the directory states, and checks the CRC.
            opening = partial(archive.open, info)
            if stat.S_ISLNK(kind):
                yield _Entry(raw, "link", 0, opening)
            elif kind not in (0, stat.S_IFREG, stat.S_IFDIR):
                yield _Entry(raw, "special", 0, opening)
            else:
                yield _Entry(raw, "folder" if raw.endswith("/") else "file", info.file_size, opening)


def _members(entries: Iterable[_Entry], limits: Limits, name: str, *, most: int | None = None) -> Iterator[_Member]:
    """Yield the files of a package, called `name` in messages; an archive may have `most` bytes when unpacked."""
    names = _Names(name)
    total = 0
    for count, entry in enumerate(entries, 1):
        if count > limits.members:
            raise MEMBERS.error(f"more than {limits.members:,} files and folders", file=name)
        if entry.kind == "link":
            raise LINK.error(f"{quoted(entry.raw)} is a link", file=name)
        if entry.kind == "special":
            raise SPECIAL.error(f"{quoted(entry.raw)} is not a regular file", file=name)
        member = names.add(entry.raw, is_folder=entry.kind == "folder")
        if entry.size > limits.member_bytes:
            message = f"{quoted(member)} has {entry.size:,} bytes; {limits.member_bytes:,} are allowed"
            raise BYTES.error(message, file=name)
        total += entry.size
        if total > limits.bytes:
            raise BYTES.error(f"more than {limits.bytes:,} bytes in all", file=name)
        if most is not None and total > most:
            raise RATIO.error(f"more than {limits.ratio:,} unpacked bytes per packed byte", file=name)
        if entry.kind == "file" and not _is_hidden(member) and (data := entry.open()) is not None:
            with data:
                yield member, data


class _Names:
    """The names of an archive so far: each is unique, and is that of a file or of a folder."""

    def __init__(self, archive: str) -> None:
        self._archive = archive
        self._files: set[str] = set()
        self._folders: set[str] = set()

    def add(self, raw: str, *, is_folder: bool) -> str:
        """Return the name of a member, or refuse it."""
        member = _member_name(raw, self._archive)
        if not member and not is_folder:
            raise NAME.error(f"member {quoted(raw)} has no name", file=self._archive)
        parts = member.split("/")
        above = {"/".join(parts[:end]) for end in range(1, len(parts))}
        is_taken = member in self._files or (not is_folder and member in self._folders)
        if is_taken or not above.isdisjoint(self._files):
            raise TWICE.error(f"two members are called {quoted(member)}", file=self._archive)
        self._folders |= above
        (self._folders if is_folder else self._files).add(member)
        return member
