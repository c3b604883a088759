"""From what the user names (a file, a folder, a list, standard input) to files that can be read twice."""

import atexit
import errno
import functools
import gzip
import os
import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, NoReturn

from karat.errors import KaratError, Rule, quoted
from karat.formats import BYTE_ORDER_MARK, MISSING, decode

if TYPE_CHECKING:
    from _typeshed import SupportsRead

UNREADABLE = Rule("file-unreadable", "fatal", "Check that it is a file that you may read.")
EMPTY_FOLDER = Rule("folder-empty", "fatal", "Name the folder that holds the annotation files, or the file itself.")
LIST = Rule("list-empty", "fatal", "A list names files and folders, one per line.")
GZIP = Rule("gzip-damaged", "fatal", "Compress or download it again.")

GZIP_MARK = b"\x1f\x8b"


class File(NamedTuple):
    """A file to read: the name the user knows it by, and where its bytes are."""

    name: str
    path: str

    def open(self) -> BinaryIO:
        """Its bytes, after a byte-order mark if there is one."""
        stream = open(self.path, "rb")
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

    def stem(self, suffixes: Iterable[str]) -> str:
        """Its name without folder, `.gz` and the first of these suffixes that it has."""
        bare = Path(self.name).name[: -len(".gz") if self.name.lower().endswith(".gz") else None]
        return next((bare[: -len(suffix)] for suffix in suffixes if bare.lower().endswith(suffix)), bare)


def _raise(error: KaratError) -> NoReturn:
    raise error


def find(spec: str, refuse: Callable[[KaratError], None] = _raise) -> list[File]:
    """The files that a GOLD, SYSTEM or PATH argument names, in sorted order within a folder.

    `refuse` is called with the error of each that cannot be used; if it does not raise, the others are still found.
    """
    files: list[File] = []
    try:
        if spec == "-":
            return [_unpacked("standard input", _copy(sys.stdin.buffer))]
        if spec.startswith("@"):
            return [file for name in _listed(spec[1:]) for file in find(name, refuse)]
        for path in _plain(spec):
            try:
                files.append(_usable(path))
            except KaratError as error:
                refuse(error)
    except KaratError as error:
        refuse(error)
    return files


def _plain(spec: str) -> list[Path]:
    """A file, or the files of a folder."""
    path = Path(spec)
    try:
        path.stat()
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ENOTDIR):
            raise UNREADABLE.error(error.strerror or str(error), file=quoted(spec)) from None
    if path.is_dir() and spec:
        paths = [found for found in sorted(path.rglob("*")) if found.is_file() and not _hidden(found, path)]
        if not paths:
            raise EMPTY_FOLDER.error("the folder has no file in it", file=spec)
        return paths
    if not path.exists() or not spec:
        raise MISSING.error("there is no such file or folder", file=spec or "''")
    return [path]


def _hidden(path: Path, root: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(root).parts)


def _listed(name: str) -> Iterator[str]:
    """The paths in a list, relative to the working directory, as on the command line."""
    if not Path(name).is_file():
        raise MISSING.error("there is no such list", file=name)
    lines = decode(Path(name).read_bytes(), file=name, line=1).removeprefix("\ufeff").splitlines()
    paths = [line.strip() for line in lines if line.strip()]
    if not paths:
        raise LIST.error("the list names no file", file=name)
    for path in paths:
        if path.startswith("@"):
            raise LIST.error(f"a list cannot name another list: {path}", file=name)
        yield path


def _usable(path: Path) -> File:
    """A file whose bytes can be sought in: as it is, or a copy if it is compressed or a pipe."""
    # A name whose bytes are not UTF-8 can be opened but not printed: it is shown with replacement marks.
    name = os.fsencode(path).decode("utf-8", "replace")
    try:
        if not path.is_file():
            with path.open("rb") as pipe:
                return _unpacked(name, _copy(pipe))
        return _unpacked(name, str(path))
    except OSError as error:
        raise UNREADABLE.error(error.strerror or str(error), file=name) from None


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
    with tempfile.NamedTemporaryFile(dir=_spool_folder(), delete=False) as spool:
        shutil.copyfileobj(stream, spool)
    return spool.name


@functools.cache
def _spool_folder() -> str:
    """Where copies are until the process ends."""
    folder = tempfile.mkdtemp(prefix="karat-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
