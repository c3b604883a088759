"""From what the user names (a file, a folder, a list, standard input) to files that can be read twice."""

import atexit
import functools
import gzip
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, BinaryIO, NamedTuple, cast

from karat.errors import KaratError, Rule

MISSING = Rule("file-missing", "fatal", "Check the spelling and the folder you are in.")
UNREADABLE = Rule("file-unreadable", "fatal", "Check that it is a plain file that you may read.")
EMPTY_FOLDER = Rule("folder-empty", "fatal", "Name the folder that holds the annotation files, or the file itself.")
EMPTY_LIST = Rule("list-empty", "fatal", "A list names one file or folder a line.")
ENCODING = Rule("encoding", "fatal", "Save the file as UTF-8, for example with: iconv -f UTF-16 -t UTF-8 IN > OUT")
DAMAGED_GZIP = Rule("gzip-damaged", "fatal", "Compress or download it again.")

UTF8_MARK = b"\xef\xbb\xbf"


class File(NamedTuple):
    """A file to read: the name the user knows it by, and where its bytes are."""

    name: str
    path: str

    def open(self) -> BinaryIO:
        """Its bytes, after a byte-order mark if there is one."""
        stream = open(self.path, "rb")
        if stream.read(3) != UTF8_MARK:
            stream.seek(0)
        return stream

    def head(self, size: int = 4096) -> bytes:
        """Its first bytes."""
        with self.open() as stream:
            return stream.read(size)


def _raise(error: KaratError) -> None:
    raise error


def find(spec: str, refuse: Callable[[KaratError], None] = _raise) -> list[File]:
    """The files that a GOLD, SYSTEM or PATH argument names, in sorted order within a folder.

    `refuse` is given what is wrong with each that cannot be used; if it does not raise, the others are still found.
    """
    files: list[File] = []
    try:
        if spec == "-":
            return [_spooled("standard input", sys.stdin.buffer)]
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
    if path.is_dir():
        paths = [found for found in sorted(path.rglob("*")) if found.is_file() and not _hidden(found, path)]
        if not paths:
            raise EMPTY_FOLDER.error("the folder has no file in it", file=spec)
        return paths
    if not path.exists():
        raise MISSING.error("there is no such file or folder", file=spec)
    return [path]


def _hidden(path: Path, root: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(root).parts)


def _listed(name: str) -> Iterator[str]:
    path = Path(name)
    if not path.is_file():
        raise MISSING.error("there is no such list", file=name)
    # Paths in a list stand as they would on the command line: relative to where the user is.
    names = [line.strip() for line in path.read_text(encoding="utf-8-sig").splitlines()]
    if not any(names):
        raise EMPTY_LIST.error("the list names no file", file=name)
    yield from filter(None, names)


def _usable(path: Path) -> File:
    """A file whose bytes can be sought in: as it is, or unpacked beside if it is compressed."""
    try:
        with path.open("rb") as stream:
            head = stream.read(4096)
            if head.startswith(b"\x1f\x8b"):
                with gzip.open(path) as unpacked:
                    return _spooled(str(path), cast(IO[bytes], unpacked))
    except (OSError, EOFError) as error:
        if isinstance(error, (gzip.BadGzipFile, EOFError)):
            raise DAMAGED_GZIP.error("the compressed file ends or breaks off in the middle", file=str(path)) from None
        raise UNREADABLE.error(error.strerror or str(error), file=str(path)) from None
    _check_encoding(head, str(path))
    return File(str(path), str(path))


@functools.cache
def _spool_folder() -> str:
    """Where unpacked copies live until the process ends."""
    folder = tempfile.mkdtemp(prefix="karat-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _spooled(name: str, stream: IO[bytes]) -> File:
    with tempfile.NamedTemporaryFile(dir=_spool_folder(), delete=False) as spool:
        shutil.copyfileobj(stream, spool)
    file = File(name, spool.name)
    _check_encoding(file.head(), name)
    return file


def _check_encoding(head: bytes, name: str) -> None:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\x00" in head:
        raise ENCODING.error("this looks like UTF-16 (or binary data), not UTF-8", file=name)


def decode(data: bytes, *, file: str, line: int) -> str:
    """Text of a block, or an error that names the line whose bytes are not UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        bad = line + data.count(b"\n", 0, error.start)
        raise ENCODING.error(f"byte 0x{data[error.start]:02x} is not UTF-8", file=file, line=bad) from None
