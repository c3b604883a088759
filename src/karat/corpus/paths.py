"""From what the user names (a file, a folder, a list, standard input) to files that can be read twice."""

import errno
import functools
import gzip
import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, NoReturn

from karat import scratch
from karat.corpus.folders import UNREADABLE, files_in, shown
from karat.errors import Finding, KaratError, Report, Rule, quoted
from karat.formats import BYTE_ORDER_MARK, MISSING, decode
from karat.opened import opened, read_bytes

if TYPE_CHECKING:
    from _typeshed import SupportsRead

EMPTY_FOLDER = Rule("folder-empty", "fatal", "Name the folder that holds the annotation files, or the file itself.")
LIST = Rule("list-empty", "fatal", "A list names files and folders, one per line.")
SPOOL = Rule("spool-full", "fatal", "Free some space, or set TMPDIR to a folder on another disk.")
GZIP = Rule("gzip-damaged", "fatal", "Compress or download it again.")

GZIP_MARK = b"\x1f\x8b"


class File(NamedTuple):
    """A file to read: the name the user knows it by, and where its bytes are."""

    name: str
    path: str

    def open(self) -> BinaryIO:
        """Its bytes, after a byte-order mark if there is one."""
        try:
            stream = open(self.path, "rb")
        except OSError as error:
            raise UNREADABLE.error(error.strerror or str(error), file=self.name) from None
        if stream.read(len(BYTE_ORDER_MARK)) != BYTE_ORDER_MARK:
            stream.seek(0)
        return stream

    def head(self, size: int = 4096) -> bytes:
        """Its first bytes."""
        with self.open() as stream:
            return stream.read(size)

    @property
    def bare_name(self) -> str:
        """Its name as suffixes are compared with it: in lower case, without `.gz`."""
        return self.name.lower().removesuffix(".gz")


def _raise(error: KaratError) -> NoReturn:
    raise error


def _ignore(finding: Finding) -> None:
    """Findings are reported only to callers that ask for them."""


def find(spec: str, refuse: Callable[[KaratError], None] = _raise, report: Report = _ignore) -> list[File]:
    """The files that a GOLD, SYSTEM or PATH argument names, in sorted order within a folder.

    `refuse` is called with the error of each that cannot be used; if it does not raise, the others are still found.
    `report` receives what is in a folder and is not read.
    """
    _sweep()
    files: list[File] = []
    try:
        if spec == "-":
            return [_standard_input()]
        if spec.startswith("@"):
            return [file for name in _listed(spec[1:]) for file in find(name, refuse, report)]
        for path in _plain(spec, refuse, report):
            try:
                files.append(_usable(path))
            except KaratError as error:
                refuse(error)
    except KaratError as error:
        refuse(error)
    return files


def _standard_input() -> File:
    if sys.stdin is None:
        raise UNREADABLE.error("standard input is closed", file="standard input")
    opened("/dev/stdin")
    try:
        return _unpacked("standard input", _copy(sys.stdin.buffer))
    except OSError as error:
        raise _unreadable(error, "standard input") from None


def _unreadable(error: OSError, name: str) -> KaratError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return SPOOL.error(f"no space for an unpacked copy in {tempfile.gettempdir()}", file=name)
    return UNREADABLE.error(error.strerror or str(error), file=name)


def _plain(spec: str, refuse: Callable[[KaratError], None], report: Report) -> list[Path]:
    """A file, or the files of a folder."""
    path = Path(spec)
    try:
        path.stat()
    except ValueError as error:  # a list can hold what a command line cannot: zero bytes
        raise UNREADABLE.error(str(error), file=quoted(spec)) from None
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ENOTDIR):
            raise UNREADABLE.error(error.strerror or str(error), file=quoted(spec)) from None
    if path.is_dir() and spec:
        refused: list[KaratError] = []
        paths = files_in(path, refused.append, report)
        for refusal in refused:
            refuse(refusal)
        if not paths and not refused:
            raise EMPTY_FOLDER.error("the folder has no file in it", file=spec)
        return paths
    if not path.exists() or not spec:
        raise MISSING.error("there is no such file or folder", file=spec or "''")
    return [path]


def _listed(name: str) -> Iterator[str]:
    """The paths in a list, relative to the working directory, as on the command line."""
    if not Path(name).is_file():
        raise MISSING.error("there is no such list", file=name)
    lines = decode(read_bytes(Path(name)), file=name, line=1).removeprefix("\ufeff").splitlines()
    paths = [line.strip() for line in lines if line.strip()]
    if not paths:
        raise LIST.error("the list names no file", file=name)
    for path in paths:
        if path.startswith("@"):
            raise LIST.error(f"a list cannot name another list: {path}", file=name)
        yield path


def _usable(path: Path) -> File:
    """A file whose bytes can be sought in: as it is, or a copy if it is compressed or a pipe."""
    name = shown(opened(path))
    try:
        if not path.is_file():
            with path.open("rb") as pipe:
                return _unpacked(name, _copy(pipe))
        return _unpacked(name, str(path))
    except OSError as error:
        raise _unreadable(error, name) from None


def _unpacked(name: str, path: str) -> File:
    """The file itself, or a copy of what is compressed in it."""
    with open(path, "rb") as stream:
        packed = stream.read(2) == GZIP_MARK
    if packed:
        try:
            with gzip.open(path) as unpacked:
                return File(name, _copy(unpacked))
        except (gzip.BadGzipFile, EOFError, zlib.error):
            raise GZIP.error("the compressed file is damaged or breaks off", file=name) from None
    return File(name, path)


def _copy(stream: "SupportsRead[bytes]") -> str:
    """The path of a copy of a stream, which can be read twice."""
    with tempfile.NamedTemporaryFile(dir=scratch.spool(), delete=False) as spool:
        shutil.copyfileobj(stream, spool)
    return spool.name


@functools.cache
def _sweep() -> None:
    """Once per process, remove the copies that killed processes left behind."""
    scratch.sweep(Path(tempfile.gettempdir()))
