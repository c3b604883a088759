"""Where output goes: never half written, never over an input, in the format that was asked for."""

import contextlib
import gzip
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, cast

import click

from karat.errors import Rule, UsageError

UNWRITABLE = Rule("output-unwritable", "fatal", "Name a file in a folder that exists and that you may write to.")
NOT_EMPTY = Rule("folder-not-empty", "fatal", "Name a new folder, or empty this one first.")

output_option = click.option("-o", "--output", metavar="FILE", help="Write to FILE instead of standard output.")


def refuse_overwriting(output: str | None, inputs: Iterable[str | Path], *, folder: str | None = None) -> None:
    """An output that is one of the inputs is a slip of the hand, and so is a corpus in the folder of another."""
    if output is None:
        return
    place = Path(output).resolve()
    if place in {Path(name).resolve() for name in inputs}:
        raise UNWRITABLE.error("this is one of the inputs; it is not overwritten", file=output)
    if folder is not None and Path(folder).is_dir() and Path(folder).resolve() in (place, *place.parents):
        raise UNWRITABLE.error("this is inside the folder that is read, and would become part of it", file=output)


def written(content: str | bytes, output: str | None) -> None:
    """Print, or write a file beside its place and move it there."""
    if output is None:
        click.echo(content, nl=False)
        return
    with _file(output) as stream:
        stream.write(content.encode("utf-8") if isinstance(content, str) else content)


def output_format(to: str | None, output: str | None) -> str | None:
    """The format to write: the named one, else what the file's name ends with; None if nothing is named."""
    from karat.formats import FORMATS

    if to is not None:
        return writable(to)
    if output is None:
        return None
    bare = output.lower().removesuffix(".gz")
    suffixes = {
        suffix: name
        for name, format_ in FORMATS
        if format_.write and not format_.writes_folder(None)
        for suffix in format_.suffixes
    }
    for suffix, name in suffixes.items():
        if bare.endswith(suffix):
            return name
    known = f"Name it with --to, or end the file's name in {', '.join(suffixes)}."
    raise UsageError("output-format", f"cannot tell in what format to write {output!r}", known)


def writable(name: str) -> str:
    """The name of a format, if it can be written."""
    from karat.formats import FORMATS

    if FORMATS.get(name).write is None:
        known = ", ".join(other for other, format_ in FORMATS if format_.write is not None)
        raise UsageError("format-only-read", f"{name} is only read, not written", f"Name one with --to: {known}.")
    return name


class Sink:
    """Takes documents as a format writes them; what was taken is at `place` once it is finished."""

    def __init__(self, place: str, stream: IO[bytes] | None = None, *, packed: bool = False) -> None:
        self.place = place
        self._stream = stream
        # Without a name and a time in it, the same documents have the same compressed bytes.
        self._packed = gzip.GzipFile("", "wb", fileobj=stream, mtime=0) if packed and stream is not None else None

    def add(self, piece: bytes | Mapping[str, bytes]) -> None:
        """One document: bytes of a file, or files of a folder."""
        if isinstance(piece, Mapping):
            for name, data in piece.items():
                with open(Path(self.place) / name, "xb") as file:
                    file.write(data)
        else:
            (self._packed or cast("IO[bytes]", self._stream)).write(piece)

    def finish(self) -> None:
        """All documents are there and can be read back."""
        if self._packed is not None:
            self._packed.close()
        if self._stream is not None:
            self._stream.flush()


@contextlib.contextmanager
def documents_to(output: str | None, format_: str) -> Iterator[Sink]:
    """A sink for documents in a format; they take their place, a file or a folder, only when all of them are there."""
    from karat.formats import FORMATS

    packed = output is not None and output.lower().endswith(".gz")
    if FORMATS.get(format_).writes_folder(output):
        if output is None or packed:
            found = f"{format_} is a folder of files, not {'standard output' if output is None else repr(output)}"
            raise UsageError("folder-needed", found, "Name a new folder.")
        with _folder(output) as folder:
            yield Sink(str(folder))
        return
    with _file(output) as stream:
        sink = Sink(stream.name, stream, packed=packed)
        yield sink
        sink.finish()


@contextlib.contextmanager
def _file(output: str | None) -> Iterator[IO[bytes]]:
    """Bytes for a file, or for standard output, that go there only when all of them are there."""
    if output is None:
        with tempfile.NamedTemporaryFile() as aside:
            yield aside
            aside.seek(0)
            shutil.copyfileobj(aside, sys.stdout.buffer)
        return
    path = Path(output)
    with _refused(output):
        beside = tempfile.NamedTemporaryFile(dir=path.parent, delete=False)
    try:
        with beside:
            yield cast("IO[bytes]", beside)
        with _refused(output):
            Path(beside.name).chmod(0o666 & ~_umask())
            Path(beside.name).replace(path)
    except BaseException:
        Path(beside.name).unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def _folder(output: str) -> Iterator[Path]:
    """A folder for files that takes its place only when all of them are there."""
    path = Path(output)
    if path.is_dir() and any(path.iterdir()):
        raise NOT_EMPTY.error("the folder has files in it already", file=output)
    with _refused(output):
        beside = Path(tempfile.mkdtemp(dir=path.parent))
    try:
        yield beside
        with _refused(output):
            beside.chmod(0o777 & ~_umask())
            beside.replace(path)
    except BaseException:
        shutil.rmtree(beside, ignore_errors=True)
        raise


@contextlib.contextmanager
def _refused(output: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UNWRITABLE.error(error.strerror or str(error), file=output) from None


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
