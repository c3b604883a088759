"""Writing output: complete or not at all, never over an input, in the chosen format."""

import contextlib
import gzip
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, TextIO, cast

import click

from karat.cli.completion import complete_files
from karat.errors import Rule, UsageError

if TYPE_CHECKING:
    from karat.report.layout import Style

UNWRITABLE = Rule("output-unwritable", "fatal", "Choose a file in an existing folder that you may write to.")
NOT_EMPTY = Rule("folder-not-empty", "fatal", "Choose a new folder, or empty this one first.")

output_option = click.option(
    "-o",
    "--output",
    metavar="FILE",
    shell_complete=complete_files,
    help="Write to FILE instead of standard output.",
)


def refuse_overwriting(output: str | None, inputs: Iterable[str | Path], *, folder: str | None = None) -> None:
    """Refuse an output that is one of the inputs, or a corpus that would be written into the folder it is read from."""
    if output is None:
        return
    place = Path(output).resolve()
    if place in {Path(name).resolve() for name in inputs}:
        raise UNWRITABLE.error("this is one of the inputs, which karat does not overwrite", file=output)
    if folder is not None and Path(folder).is_dir() and Path(folder).resolve() in (place, *place.parents):
        raise UNWRITABLE.error("this is inside the input folder, and would become part of the input", file=output)


def write_output(content: str | bytes | Iterable[bytes], output: str | None) -> None:
    """Print the content, or write it to a temporary file that then replaces `output`. It may come in pieces."""
    if output is None and isinstance(content, str | bytes):
        click.echo(content, nl=False)
        return
    if isinstance(content, str):
        content = content.encode("utf-8")
    pieces = [content] if isinstance(content, bytes) else content
    if output is None:
        for piece in pieces:
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
        return
    with _file(output) as stream:
        stream.writelines(pieces)


def output_style(output: str | None) -> "Style":
    """How text is laid out: to the width of the terminal and in colour, if it goes to one that wants colours."""
    from karat.report.layout import PLAIN

    return PLAIN if output is not None else terminal_style(sys.stdout)


def terminal_style(stream: TextIO) -> "Style":
    """The style of a stream; plain if it is not a terminal. `NO_COLOR` switches colours off (https://no-color.org)."""
    from karat.report.layout import PLAIN, Style

    if not stream.isatty():
        return PLAIN
    colour = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return Style(shutil.get_terminal_size().columns, colour)


def output_format(to: str | None, output: str | None) -> str | None:
    """The output format: `to`, else by the suffix of the file; None if neither is given."""
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
    hint = f"Choose one with --to, or a file name that ends in {', '.join(suffixes)}."
    raise UsageError("output-format", f"the name {output!r} does not show in which format to write", hint)


def writable(name: str) -> str:
    """Return the name of a format that karat can write; refuse any other."""
    from karat.formats import FORMATS

    if FORMATS.get(name).write is None:
        known = ", ".join(other for other, format_ in FORMATS if format_.write is not None)
        raise UsageError(
            "format-only-read", f"karat reads {name} but does not write it", f"Choose another with --to: {known}."
        )
    return name


class Sink:
    """Receives documents in the bytes of a format; once it is finished, they are all at `place`."""

    def __init__(self, place: str, stream: IO[bytes] | None = None, *, packed: bool = False) -> None:
        self.place = place
        self._stream = stream
        # No name and no time in the header: the same documents always compress to the same bytes.
        self._packed = gzip.GzipFile("", "wb", fileobj=stream, mtime=0) if packed and stream is not None else None

    def add(self, piece: bytes | Mapping[str, bytes]) -> None:
        """Add one document: bytes of a file, or files of a folder."""
        if isinstance(piece, Mapping):
            for name, data in piece.items():
                with open(Path(self.place) / name, "xb") as file:
                    file.write(data)
        else:
            (self._packed or cast("IO[bytes]", self._stream)).write(piece)

    def finish(self) -> None:
        """Flush, so that all documents can be read back."""
        if self._packed is not None:
            self._packed.close()
        if self._stream is not None:
            self._stream.flush()


@contextlib.contextmanager
def documents_to(output: str | None, format_: str) -> Iterator[Sink]:
    """A sink for documents. The output file or folder appears only when all of them are written."""
    from karat.formats import FORMATS

    packed = output is not None and output.lower().endswith(".gz")
    if FORMATS.get(format_).writes_folder(output):
        if output is None or packed:
            place = "standard output" if output is None else repr(output)
            raise UsageError("folder-needed", f"{format_} is written to a folder, not to {place}", "Name a new folder.")
        with _folder(output) as folder:
            yield Sink(str(folder))
        return
    with _file(output) as stream:
        sink = Sink(stream.name, stream, packed=packed)
        yield sink
        sink.finish()


@contextlib.contextmanager
def _file(output: str | None) -> Iterator[IO[bytes]]:
    """A stream for a file or standard output. Nothing appears there before everything is written."""
    if output is None:
        with tempfile.NamedTemporaryFile() as temporary:
            yield temporary
            temporary.seek(0)
            shutil.copyfileobj(temporary, sys.stdout.buffer)
        return
    path = Path(output)
    with _refused(output):
        temporary = tempfile.NamedTemporaryFile(dir=path.parent, delete=False)
    try:
        with temporary:
            yield cast("IO[bytes]", temporary)
        with _refused(output):
            Path(temporary.name).chmod(0o666 & ~_umask())
            Path(temporary.name).replace(path)
    except BaseException:
        Path(temporary.name).unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def _folder(output: str) -> Iterator[Path]:
    """A temporary folder that becomes `output` once all files are written."""
    path = Path(output)
    if path.is_dir() and any(path.iterdir()):
        raise NOT_EMPTY.error("the folder is not empty", file=output)
    with _refused(output):
        temporary = Path(tempfile.mkdtemp(dir=path.parent))
    try:
        yield temporary
        with _refused(output):
            temporary.chmod(0o777 & ~_umask())
            temporary.replace(path)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
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
