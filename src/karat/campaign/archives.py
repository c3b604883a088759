"""Archives, read member by member and never unpacked: tar (plain, gzip, bzip2, xz) and zip.

An archive comes from somebody else. Each member must be a plain file or a folder with a relative path of its own, and
nothing may be larger than the limits; whatever breaks a rule refuses the whole archive, as early as it is seen.
"""

import bz2
import gzip
import lzma
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO, NamedTuple, Protocol, cast

from karat.campaign.names import NAME, is_hidden, member_name
from karat.errors import Rule, quoted
from karat.limits import MAX_BYTES

if TYPE_CHECKING:
    from _typeshed import SupportsRead

LINK = Rule("archive-link", "fatal", "Pack the file itself in place of the link (tar --dereference, zip without -y).")
SPECIAL = Rule("archive-special", "fatal", "Pack only files and folders.")
TWICE = Rule("archive-duplicate", "fatal", "Pack each file once.")
MEMBERS = Rule("archive-members", "fatal", "Raise --max-members if the archive is meant to have that many.")
BYTES = Rule("archive-bytes", "fatal", "Raise --max-bytes or --max-member-bytes if it is meant to be that large.")
RATIO = Rule("archive-ratio", "fatal", "Raise --max-ratio if the files are meant to be that repetitive.")
DAMAGED = Rule("archive-damaged", "fatal", "Pack or upload it again.")
METHOD = Rule("archive-method", "fatal", "Pack it with tar and gzip, bzip2 or xz, or as a plain zip.")

FLOOR = 10_000_000
"""Bytes that any archive may hold, however well they are compressed."""
HEADER = 1 << 20
"""The most bytes of tar headers before a member: long names and PAX records."""
ENTRY = 512
"""Bytes of a zip's directory for each member that is allowed, on average."""
XZ_MEMORY = 128 << 20
"""An xz file states how much memory it needs; the strongest preset of `xz` needs half of this."""
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2)

TAR_SUFFIXES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tbz", ".tar.xz", ".txz")
SUFFIXES = (*TAR_SUFFIXES, ".zip")


class Limits(NamedTuple):
    """What an archive may hold at most."""

    members: int = 10_000
    member_bytes: int = 1_000_000_000
    bytes: int = MAX_BYTES
    ratio: int = 200
    """Unpacked bytes for each packed one."""


class Member(NamedTuple):
    """A file of an archive or a folder; its bytes can be read until the next member is asked for."""

    name: str
    stream: "SupportsRead[bytes]"


class _Counted(Protocol):
    def tell(self) -> int: ...


def is_archive(path: Path) -> bool:
    """Whether a file is a tar or a zip, by its name or by its first bytes."""
    if not path.is_file():  # a pipe would never end
        return False
    try:
        return path.name.lower().endswith(SUFFIXES) or _kind(path) == "zip" or _holds_tar(path)
    except OSError:  # whoever reads it learns why it cannot be read
        return False


def archive_members(path: Path, limits: Limits, name: str) -> Iterator[Member]:
    """The files of an archive, one after another. `name` is what it is called in messages."""
    with _refusing_damage(name):
        if _kind(path) == "zip":
            yield from _zip_members(path, limits, name)
        else:
            yield from _tar_members(path, limits, name)


@contextmanager
def _refusing_damage(name: str) -> Iterator[None]:
    try:
        yield
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, gzip.BadGzipFile) as error:
        raise DAMAGED.error(f"the archive is damaged or no tar or zip: {error}", file=name) from None
    except UnicodeDecodeError:
        raise NAME.error("the name of a member is not UTF-8", file=name) from None
    except (NotImplementedError, RuntimeError) as error:  # of zipfile: a method or a version that it does not know
        raise METHOD.error(f"the archive cannot be read: {error}", file=name) from None
    except (OSError, ValueError, OverflowError) as error:  # of bz2, and of numbers in headers that make no sense
        raise DAMAGED.error(f"the archive cannot be read: {error}", file=name) from None


class _Guarded:
    """The bytes of a member; damage is refused where it is met."""

    def __init__(self, stream: "SupportsRead[bytes]", name: str) -> None:
        self._stream, self._name = stream, name

    def read(self, size: int = -1, /) -> bytes:
        with _refusing_damage(self._name):
            return self._stream.read(size)


def _kind(path: Path) -> str:
    """How a file is packed."""
    with path.open("rb") as stream:
        head = stream.read(6)
    marks = {"gzip": b"\x1f\x8b", "bzip2": b"BZh", "xz": b"\xfd7zXZ\x00", "zip": b"PK"}
    return next((kind for kind, mark in marks.items() if head.startswith(mark)), "")


def _holds_tar(path: Path) -> bool:
    try:
        with ExitStack() as stack:
            head = _unpacked(stack.enter_context(path.open("rb")), _kind(path)).read(512)
        return bytes(head[257:262]) == b"ustar"
    except (OSError, EOFError, zlib.error, lzma.LZMAError):
        return False


def _unpacked(packed: BinaryIO, kind: str) -> "SupportsRead[bytes]":
    if kind == "gzip":
        return cast("SupportsRead[bytes]", gzip.GzipFile(fileobj=packed, mode="rb"))
    if kind == "bzip2":
        return bz2.BZ2File(packed)
    if kind == "xz":
        return _Xz(packed)
    return packed


class _Xz:
    """The content of an xz file. `lzma.LZMAFile` would take as much memory as the file asks for."""

    def __init__(self, packed: BinaryIO) -> None:
        self._packed = packed
        self._made = self._new()

    def _new(self) -> lzma.LZMADecompressor:
        return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=XZ_MEMORY)

    def read(self, size: int = -1, /) -> bytes:
        while True:
            if self._made.eof:  # another stream may follow
                rest = self._made.unused_data or self._packed.read(1 << 16)
                if not rest.strip(b"\0"):
                    return b""
                self._made = self._new()
            else:
                rest = self._packed.read(1 << 16) if self._made.needs_input else b""
                if self._made.needs_input and not rest:
                    raise EOFError("it ends too early")
            if data := self._made.decompress(rest, size):
                return data


class _Metered:
    """What is unpacked of an archive, counted."""

    def __init__(self, unpacked: "SupportsRead[bytes]", packed: _Counted, limits: Limits, name: str) -> None:
        self._unpacked, self._packed, self._limits, self._name = unpacked, packed, limits, name
        self._total = 0
        self.allowed = HEADER
        """How many more bytes may be read before the next member."""

    def read(self, size: int = -1, /) -> bytes:
        data = self._unpacked.read(size)
        self._total += len(data)
        self.allowed -= len(data)
        if self.allowed < 0:
            raise BYTES.error(f"a header of the archive has more than {HEADER:,} bytes", file=self._name)
        if self._total > self._limits.bytes:
            raise BYTES.error(f"more than {self._limits.bytes:,} bytes when unpacked", file=self._name)
        _check_ratio(self._total, self._packed.tell(), self._limits, self._name)
        return data


def _check_ratio(unpacked: int, packed: int, limits: Limits, name: str) -> None:
    if unpacked > FLOOR and unpacked > limits.ratio * packed:
        raise RATIO.error(f"more than {limits.ratio:,} bytes for each packed byte when unpacked", file=name)


class _Seen:
    """The names of an archive so far: none twice, none both a file and a folder, and not too many."""

    def __init__(self, limits: Limits, name: str) -> None:
        self._limits, self._name = limits, name
        self._files: set[str] = set()
        self._folders: set[str] = set()
        self._count = 0

    def add(self, raw: str, *, is_folder: bool) -> str:
        self._count += 1
        if self._count > self._limits.members:
            raise MEMBERS.error(f"more than {self._limits.members:,} members", file=self._name)
        member = member_name(raw, self._name)
        parts = member.split("/")
        above = {"/".join(parts[:end]) for end in range(1, len(parts))}
        clash = (
            member in self._files or (not is_folder and member in self._folders) or not above.isdisjoint(self._files)
        )
        if not member and not is_folder:
            raise NAME.error(f"member {quoted(raw)} has no name", file=self._name)
        if clash:
            raise TWICE.error(f"two members are called {quoted(member)}", file=self._name)
        self._folders |= above | ({member} if is_folder else set())
        if not is_folder:
            self._files.add(member)
        return member

    def check_size(self, member: str, size: int) -> None:
        if size > self._limits.member_bytes:
            message = f"member {quoted(member)} has {size:,} bytes; {self._limits.member_bytes:,} are allowed"
            raise BYTES.error(message, file=self._name)


def _tar_members(path: Path, limits: Limits, name: str) -> Iterator[Member]:
    seen = _Seen(limits, name)
    with path.open("rb") as packed:
        metered = _Metered(_unpacked(packed, _kind(path)), packed, limits, name)
        with tarfile.open(
            fileobj=cast("IO[bytes]", metered), mode="r|", encoding="utf-8", errors="surrogateescape"
        ) as tar:
            while (info := _next(tar, metered)) is not None:
                if info.issym() or info.islnk():
                    raise LINK.error(f"member {quoted(info.name)} is a link", file=name)
                if not (info.isdir() or info.isreg()) or info.issparse():
                    raise SPECIAL.error(f"member {quoted(info.name)} is no plain file", file=name)
                member = seen.add(info.name, is_folder=info.isdir())
                if info.isreg():
                    seen.check_size(member, info.size)
                    metered.allowed = info.size + HEADER
                    stream = tar.extractfile(info)
                    assert stream is not None, "a plain file has bytes"
                    if not is_hidden(member):
                        yield Member(member, _Guarded(stream, name))


def _next(tar: tarfile.TarFile, metered: _Metered) -> tarfile.TarInfo | None:
    """The next member, whose headers have a limited size: tarfile reads them as a whole."""
    metered.allowed = max(metered.allowed, HEADER)
    return tar.next()


class _Bounded:
    """The file of a zip, whose directory is read at once: refused if it is larger than so many members need."""

    def __init__(self, stream: BinaryIO, limits: Limits, name: str) -> None:
        self._stream, self._limits, self._name = stream, limits, name
        self._most = max(limits.members * ENTRY, HEADER)

    def read(self, size: int = -1, /) -> bytes:
        if size > self._most:
            raise MEMBERS.error(f"its directory is too large for {self._limits.members:,} members", file=self._name)
        return self._stream.read(size)

    def __getattr__(self, attribute: str) -> Any:
        return getattr(self._stream, attribute)


def _zip_members(path: Path, limits: Limits, name: str) -> Iterator[Member]:
    seen = _Seen(limits, name)
    packed = path.stat().st_size
    with path.open("rb") as stream, zipfile.ZipFile(cast("IO[bytes]", _Bounded(stream, limits, name))) as archive:
        members = []
        total = 0
        for info in archive.infolist():
            written = _zip_name(info)
            is_folder = written.endswith("/")
            member = seen.add(written.rstrip("/") if is_folder else written, is_folder=is_folder)
            mode = info.external_attr >> 16
            if stat.S_ISLNK(mode):
                raise LINK.error(f"member {quoted(member)} is a link", file=name)
            if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise SPECIAL.error(f"member {quoted(member)} is no plain file", file=name)
            if info.flag_bits & 1:
                raise METHOD.error(f"member {quoted(member)} is encrypted", file=name)
            if info.compress_type not in METHODS:
                raise METHOD.error(f"member {quoted(member)} is packed by a method that karat does not read", file=name)
            seen.check_size(member, info.file_size)
            total += info.file_size
            if total > limits.bytes:
                raise BYTES.error(f"more than {limits.bytes:,} bytes when unpacked", file=name)
            _check_ratio(total, packed, limits, name)
            if not is_folder:
                members.append((member, info))
        for member, info in members:
            if not is_hidden(member):
                with archive.open(info) as data:  # reads no more than the directory states, and checks the CRC
                    yield Member(member, _Guarded(data, name))


def _zip_name(info: zipfile.ZipInfo) -> str:
    """The name as it was written; names without the mark of UTF-8 are UTF-8 all the same, or refused."""
    written = info.orig_filename
    if not info.flag_bits & 0x800:
        written = written.encode("cp437").decode("utf-8", "surrogateescape")
    return written
