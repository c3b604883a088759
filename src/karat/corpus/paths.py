"""From what the user names (a file, a folder, a list, standard input) to files that can be read twice."""

import errno
import io
import os
import re
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, BinaryIO, NamedTuple, NoReturn

from karat.formats import BYTE_ORDER_MARK, MISSING, decode, text_lines
from karat.inputs import opened, read_bytes
from karat.limits import INPUT_TOO_LARGE, MAX_BYTES
from karat.problems import KaratError, Report, Rule, ignore, quoted

if TYPE_CHECKING:
    from _typeshed import SupportsRead


UNREADABLE = Rule("file-unreadable", "fatal", "Check that it is a file that you may read.")
FOLDER_LINK = Rule(
    "folder-link", "fault", "Links to folders are not followed: name the folder itself, or list both in an @LIST."
)
DANGLING_LINK = Rule("link-dangling", "fault", "Restore the file that the link names, or remove the link.")
SPECIAL = Rule("file-special", "note", "Name it on the command line if it is to be read.")


def _raise(error: KaratError) -> NoReturn:
    raise error


def files_in(folder: Path, refuse: Callable[[KaratError], None] = _raise, report: Report = ignore) -> list[Path]:
    """The files, sorted; `refuse` is called for each folder and file that cannot be looked at. Hidden ones are left."""
    return sorted(_walk(folder, refuse, report))


def _walk(folder: Path, refuse: Callable[[KaratError], None], report: Report) -> Iterator[Path]:
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries if not entry.name.startswith("."))
    except OSError as error:
        refuse(UNREADABLE.error(f"cannot list this folder: {error.strerror}", file=shown(folder)))
        return
    for path in (folder / name for name in names):
        try:
            mode = path.stat().st_mode
        except FileNotFoundError:
            report(DANGLING_LINK.at("this link is broken and was skipped", file=shown(path)))
            continue
        except OSError as error:
            refuse(UNREADABLE.error(error.strerror or str(error), file=shown(path)))
            continue
        if stat.S_ISREG(mode):
            yield path
        elif not stat.S_ISDIR(mode):
            report(SPECIAL.at("this is not a file (but a pipe, socket or device) and was skipped", file=shown(path)))
        elif path.is_symlink():
            report(FOLDER_LINK.at("this is a link to a folder and was skipped", file=shown(path)))
        else:
            yield from _walk(path, refuse, report)


def shown(path: Path | str) -> str:
    """A path that can be printed: a name whose bytes are not UTF-8 has replacement marks."""
    return os.fsencode(path).decode("utf-8", "replace")


EMPTY_FOLDER = Rule("folder-empty", "fatal", "Name the folder that holds the annotation files, or the file itself.")
LIST = Rule("list-empty", "fatal", "A list names files and folders, one per line.")
SPOOL = Rule("spool-full", "fatal", "Free some space, or set TMPDIR to a folder on another disk.")
GZIP = Rule("gzip-damaged", "fatal", "Compress or download it again.")

_URL = re.compile(r"(?:[\w+.-]+::)*[a-zA-Z][\w+.-]+://")
GZIP_MARK = b"\x1f\x8b"
CHUNK = 1 << 20
"""Bytes copied at a time."""


def is_url(path: str) -> bool:
    """Return whether this is a URL, and not a path of this machine."""
    return _URL.match(path) is not None


class File(NamedTuple):
    """A file to read: the name the user knows it by, and where its bytes are (a path, a URL, or in memory)."""

    name: str
    path: str
    data: bytes | None = None

    def open(self) -> BinaryIO:
        """Its bytes, after a byte-order mark if there is one."""
        try:
            stream = self.open_whole()
        except OSError as error:
            raise UNREADABLE.error(error.strerror or str(error), file=self.name) from None
        if stream.read(len(BYTE_ORDER_MARK)) != BYTE_ORDER_MARK:
            stream.seek(0)
        return stream

    def open_whole(self, buffering: int = -1) -> BinaryIO:
        """Its bytes."""
        if self.data is not None:
            return io.BytesIO(self.data)
        if not is_url(self.path):
            return open(self.path, "rb", buffering=buffering)
        from karat.corpus.remote import open_url

        return open_url(self.path)

    def size(self) -> int:
        """How many bytes it has."""
        if self.data is not None:
            return len(self.data)
        if not is_url(self.path):
            return Path(self.path).stat().st_size
        from karat.corpus.remote import state_of

        return state_of(self.path)[0]

    def head(self, size: int = 4096) -> bytes:
        """Its first bytes."""
        with self.open() as stream:
            return stream.read(size)

    @property
    def bare_name(self) -> str:
        """Its name in lower case and without `.gz`, to compare suffixes with."""
        return self.name.lower().removesuffix(".gz")

    def stem(self, suffixes: Iterable[str]) -> str:
        """Its name without folder, `.gz` and the first of these suffixes that it has."""
        bare = Path(self.name).name[: -len(".gz") if self.name.lower().endswith(".gz") else None]
        return next((bare[: -len(suffix)] for suffix in suffixes if bare.lower().endswith(suffix)), bare)


def find(
    spec: str,
    refuse: Callable[[KaratError], None] = _raise,
    report: Report = ignore,
    *,
    max_bytes: int = MAX_BYTES,
) -> list[File]:
    """The files that a GOLD, SYSTEM or PATH argument names, in sorted order within a folder.

    `refuse` is called with the error of each file that cannot be used; if it does not raise, the search continues.
    `report` receives what is in a folder and is not read.
    """
    return _found(spec, refuse, report, Spool(max_bytes))


def _found(spec: str, refuse: Callable[[KaratError], None], report: Report, spool: "Spool") -> list[File]:
    files: list[File] = []
    try:
        if spec == "-":
            return [_standard_input(spool)]
        if spec.startswith("@"):
            return [
                file
                for line, name in _listed(spec[1:])
                for file in _found(name, _on_line(refuse, spec[1:], line, name), report, spool)
            ]
        if is_url(spec):
            from karat.corpus.remote import files_at

            return [_usable_url(url, spool) for url in files_at(spec)]
        for path in _plain(spec, refuse, report):
            try:
                files.append(usable(path, spool))
            except KaratError as error:
                refuse(error)
    except KaratError as error:
        refuse(error)
    return files


def _standard_input(spool: "Spool") -> File:
    if sys.stdin is None:
        raise UNREADABLE.error("standard input is closed", file="standard input")
    opened("/dev/stdin")
    return spool.file(sys.stdin.buffer, "standard input")


def _unreadable(error: OSError, name: str) -> KaratError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        from tempfile import gettempdir

        return SPOOL.error(f"no space for an unpacked copy in {gettempdir()}", file=name)
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
            raise EMPTY_FOLDER.error("the folder has no files", file=spec)
        return paths
    if not path.exists() or not spec:
        raise _missing("there is no such file or folder", spec)
    return [path]


def _missing(message: str, name: str) -> KaratError:
    """The error for a file that does not exist, with the file of the most similar name beside it."""
    finding = MISSING.at(message, file=name if name.strip() else repr(name))
    path = Path(name)
    try:
        beside = [entry.name for entry in os.scandir(path.parent)]
    except (OSError, ValueError):
        beside = []
    from difflib import get_close_matches

    near = get_close_matches(path.name, sorted(beside), n=1, cutoff=0.6)
    if not near:
        return KaratError(finding)
    return KaratError(finding._replace(hint=f"Did you mean {path.parent / near[0]}? {finding.hint}"))


def _on_line(refuse: Callable[[KaratError], None], list_: str, line: int, name: str) -> Callable[[KaratError], None]:
    """Refuse a file that does not exist as what a line of a list says."""

    def refuse_there(error: KaratError) -> None:
        finding = error.finding
        if finding.code != MISSING.code:
            return refuse(error)
        hint = finding.hint
        if not Path(name).is_absolute() and (Path(list_).parent / name).exists():
            hint = f"Paths in a list are relative to the working folder, not to the list. {hint}"
        message = f"{finding.message}: {quoted(name)}"
        return refuse(KaratError(finding._replace(message=message, file=list_, line=line, found=name, hint=hint)))

    return refuse_there


def _listed(name: str) -> Iterator[tuple[int, str]]:
    """The paths in a list, each with its line, relative to the working directory, as on the command line."""
    if not Path(name).is_file():
        raise _missing("there is no such list", name)
    lines = text_lines(decode(read_bytes(Path(name)), file=name, line=1).removeprefix("\ufeff"))
    paths = [(i, line.strip()) for i, line in enumerate(lines, 1) if line.strip()]
    if not paths:
        raise LIST.error("the list is empty", file=name)
    for line, path in paths:
        if path.startswith("@"):
            raise LIST.error(f"a list cannot name another list: {path}", file=name, line=line)
        yield line, path


def usable(path: Path, spool: "Spool") -> File:
    """A seekable file: itself, or a copy if it is compressed or a pipe."""
    name = shown(opened(path))
    try:
        if not path.is_file():
            with path.open("rb") as pipe:
                return spool.file(pipe, name)
        return _unpacked(File(name, str(path)), spool)
    except OSError as error:
        raise _unreadable(error, name) from None


def _usable_url(url: str, spool: "Spool") -> File:
    """A file that fsspec reads, or a copy if it is compressed."""
    if url.startswith("file://"):
        opened(url.removeprefix("file://"))  # so that it is not overwritten
    try:
        return _unpacked(File(url, url), spool)
    except OSError as error:
        raise _unreadable(error, url) from None


def _unpacked(file: File, spool: "Spool") -> File:
    """The file itself, or an uncompressed copy."""
    with file.open_whole() as stream:
        if stream.read(2) != GZIP_MARK:
            return file
        stream.seek(0)
        import gzip
        import zlib

        try:
            with gzip.open(stream) as unpacked:
                return spool.copy(unpacked, file.name)
        except (gzip.BadGzipFile, EOFError, zlib.error):
            raise GZIP.error("the compressed file is damaged or truncated", file=file.name) from None


class Spool:
    """Copies of streams, which can be read twice; all copies of one argument together have a limited size.

    Copies are in a folder that is removed when the process ends.
    """

    def __init__(self, most: int) -> None:
        self._most = self._left = most

    def copy(self, stream: "SupportsRead[bytes]", name: str) -> File:
        from tempfile import NamedTemporaryFile

        from karat.scratch import spool

        with NamedTemporaryFile(dir=spool(), delete=False) as copy:
            self._fill(copy, stream, name)
        return File(name, copy.name)

    def _fill(self, copy: IO[bytes], stream: "SupportsRead[bytes]", name: str) -> None:
        """The limit is checked while the copy grows, so that an endless stream ends there."""
        while chunk := stream.read(CHUNK):
            self._left -= len(chunk)
            if self._left < 0:
                copy.truncate(0)
                message = f"more than {self._most:,} bytes of streams and unpacked files"
                raise INPUT_TOO_LARGE.error(message, file=name)
            copy.write(chunk)

    def file(self, stream: "SupportsRead[bytes]", name: str) -> File:
        """A copy of a stream as a file; if it is compressed, what is in it."""
        try:
            return _unpacked(self.copy(stream, name), self)
        except OSError as error:
            raise _unreadable(error, name) from None


class MemorySpool(Spool):
    """Copies in memory: for streams that must not reach the disk."""

    def copy(self, stream: "SupportsRead[bytes]", name: str) -> File:
        copy = io.BytesIO()
        self._fill(copy, stream, name)
        return File(name, "", copy.getvalue())
