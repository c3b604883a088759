"""Writing output: complete or not at all, never over an input, in the chosen format.

A file is written beside its place and then moved there. A device, a pipe or an open descriptor (`/dev/stdout`) cannot
be replaced: it receives everything at once, when all of it is known.
"""

import contextlib
import errno
import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, TextIO

import click

from karat import inputs as opened
from karat.cli._streams import trusted
from karat.cli.completion import complete_files
from karat.problems import Rule, UsageError, visible

if TYPE_CHECKING:
    from karat.report.layout import Style

UNWRITABLE = Rule("output-unwritable", "fatal", "Choose a file in an existing folder that you may write to.")
NOT_EMPTY = Rule("folder-not-empty", "fatal", "Choose a new folder, or empty this one first.")

STANDARD_OUTPUT = "standard output"


def _named(context: click.Context, parameter: click.Parameter, output: str | None) -> str | None:
    del context, parameter
    return None if output == "-" else output


output_option = click.option(
    "-o",
    "--output",
    metavar="FILE",
    callback=_named,
    shell_complete=complete_files,
    help="Write to FILE instead of standard output (-).",
)


def refuse_overwriting(
    output: str | None, inputs: Iterable[str | Path] = (), *, folder: str | Path | None = None
) -> None:
    """Refuse an output that is an input, or a corpus that would be written into the folder it is read from.

    Asked before the work, so that none is in vain; `inputs` are files that will be read, beside those that have been.
    What is read later is refused when the output is written.
    """
    for name in inputs:
        opened.opened(str(name))
    _refuse_input(output)
    if output is None or folder is None or not Path(folder).is_dir():
        return
    if Path(os.path.realpath(output)).is_relative_to(os.path.realpath(folder)):
        raise UNWRITABLE.error("this is inside the input folder, and would become part of the input", file=output)


def refuse_folder(output: str, inputs: Iterable[str | Path] = ()) -> None:
    """Refuse a folder to be filled that has inputs: `inputs`, or files that have been read."""
    for name in inputs:
        opened.opened(str(name))
    if Path(output).exists() and opened.has_inputs(Path(output)):
        raise UNWRITABLE.error(
            "there are inputs of this run in the folder, which karat does not overwrite", file=output
        )


def _refuse_input(output: str | None) -> None:
    """Refuse a regular file that this run has read or written."""
    try:
        place = os.fstat(sys.stdout.fileno()) if output is None else Path(output).stat()
    except (OSError, ValueError, AttributeError):
        return  # there is no such file yet, or no file behind the stream
    if stat.S_ISREG(place.st_mode) and opened.is_input(place):
        message = "this is one of the inputs (or outputs) of this run, which karat does not overwrite"
        raise UNWRITABLE.error(message, file=output or STANDARD_OUTPUT)


def write_output(content: str | bytes | Iterable[str], output: str | None) -> None:
    """Print the content, or write it to a temporary file that then replaces `output`. It may come in pieces."""
    if output is None:
        _refuse_input(None)
        with _refused(STANDARD_OUTPUT):
            for piece in [content] if isinstance(content, str | bytes) else content:
                click.echo(piece, nl=False)
        return
    with _file(output) as stream, _refused(output):
        for piece in [content] if isinstance(content, str | bytes) else content:
            # The same text as on standard output, where every character is visible.
            stream.write(visible(piece, lines=True).encode("utf-8") if isinstance(piece, str) else piece)


def report_size(output: str | None, documents: int) -> None:
    """Print to standard error how large a report is: its documents are all in it."""
    if output is not None and Path(output).is_file():
        size = Path(output).stat().st_size / 1_000_000
        held = f"{documents:,} document{'s' * (documents != 1)}, " if documents else ""
        click.echo(f"{output}: {held}{size:.1f} MB", err=True)


def output_style(output: str | None) -> "Style":
    """Return the layout of text: to the width of the terminal and in colour, if it goes to one that wants colours."""
    from karat.report.layout import PLAIN

    return PLAIN if output is not None else terminal_style(sys.stdout)


def terminal_style(stream: TextIO) -> "Style":
    """The style of a stream; plain if it is not a terminal. `NO_COLOR` switches colours off (https://no-color.org)."""
    from karat.report.layout import PLAIN, Style

    if not stream.isatty():
        return PLAIN
    colour = not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    return Style(shutil.get_terminal_size().columns, colour, trusted)


def output_format(to: str | None, output: str | None, *, fallback: str | None = None) -> str | None:
    """The output format: `to`, else by the suffix of the file; without one, `fallback`."""
    from karat.formats import FORMATS

    if to is not None:
        return writable(to)
    if output is None:
        return fallback and writable(fallback)
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
    if fallback is not None and not Path(bare).suffix:
        return writable(fallback)
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

    def __init__(self, output: str, place: str, stream: IO[bytes] | None = None, *, packed: bool = False) -> None:
        self.place = place
        self._output = output
        self._stream = stream
        self._packed = None
        if packed and stream is not None:
            import gzip

            # No name and no time in the header: the same documents always compress to the same bytes.
            self._packed = gzip.GzipFile("", "wb", fileobj=stream, mtime=0)

    def add(self, piece: bytes | Mapping[str, bytes]) -> None:
        """Add one document: bytes of a file, or files of a folder."""
        if isinstance(piece, Mapping):
            for name, data in piece.items():
                with _refused(str(Path(self._output, name))), open(Path(self.place, name), "xb") as file:
                    file.write(data)
        else:
            assert self._stream is not None, "documents of a folder come as files"
            with _refused(self._output):
                (self._packed or self._stream).write(piece)

    def finish(self) -> None:
        """Flush, so that all documents can be read back."""
        with _refused(self._output):
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
            place = STANDARD_OUTPUT if output is None else repr(output)
            raise UsageError("folder-needed", f"{format_} is written to a folder, not to {place}", "Name a new folder.")
        with _folder(output) as folder:
            yield Sink(output, str(folder))
        return
    with _file(output) as stream:
        sink = Sink(output or STANDARD_OUTPUT, stream.name, stream, packed=packed)
        yield sink
        sink.finish()


def copy_new(files: Mapping[Path, bytes]) -> None:
    """Write new files, all or none; a file that is already there is never replaced."""
    written: list[Path] = []
    try:
        for path, data in files.items():
            with _refused(str(path)):
                path.parent.mkdir(parents=True, exist_ok=True)
                with open(path, "xb") as stream:
                    written.append(path)
                    stream.write(data)
    except BaseException:
        for path in written:
            path.unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def _file(output: str | None) -> Iterator[IO[bytes]]:
    """A stream for a file or standard output. Nothing appears there before everything is written."""
    from karat import scratch

    name = output or STANDARD_OUTPUT
    _refuse_input(output)
    with _refused(name):
        place = 1 if output is None else _destination(output)
        known = place.stat() if isinstance(place, Path) and place.exists() else None
        if known is not None and stat.S_ISDIR(known.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if known is not None and not os.access(place, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    replaceable = isinstance(place, Path) and (known is None or stat.S_ISREG(known.st_mode))
    with contextlib.ExitStack() as stack:
        with _refused(name):
            folder = place.parent if isinstance(place, Path) and replaceable else Path(scratch.spool())
            temporary = stack.enter_context(scratch.file_in(folder))
        yield temporary
        _refuse_input(output)
        with _refused(name):
            if isinstance(place, Path) and replaceable:
                temporary.close()
                _move(Path(temporary.name), place, known)
            else:
                temporary.seek(0)
                _copy(temporary, place, standard=output is None)


def _destination(output: str) -> Path | int:
    """Where an output goes: the place behind all links, or a descriptor that this process has open."""
    place = Path(output)
    for _ in range(40):
        folder = place.parent.resolve()
        if str(folder) in ("/dev/fd", f"/proc/{os.getpid()}/fd") and place.name.isdecimal():
            return int(place.name)
        place = folder / place.name
        if not place.is_symlink():
            return place
        place = folder / place.readlink()
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


def _move(temporary: Path, place: Path, known: os.stat_result | None) -> None:
    """Replace a file by a temporary one, which takes over its owner and its mode."""
    if known is None:
        temporary.chmod(0o666 & ~_umask())
    else:
        with contextlib.suppress(OSError, AttributeError):  # a file of somebody else becomes ours
            os.chown(temporary, known.st_uid, known.st_gid)
        temporary.chmod(stat.S_IMODE(known.st_mode))
    temporary.replace(place)
    opened.opened(place)


def _copy(temporary: IO[bytes], place: Path | int, *, standard: bool) -> None:
    """Copy to what cannot be replaced."""
    sys.stdout.flush()
    if standard and sys.stdout.isatty():
        sys.stdout.write(temporary.read().decode("utf-8", "replace"))  # a terminal does not obey what is in documents
        sys.stdout.flush()
    elif standard:
        shutil.copyfileobj(temporary, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    else:
        with open(os.dup(place) if isinstance(place, int) else place, "wb") as stream:
            shutil.copyfileobj(temporary, stream)


@contextlib.contextmanager
def _folder(output: str) -> Iterator[Path]:
    """A temporary folder that becomes `output` once all files are written."""
    from karat import scratch

    with contextlib.ExitStack() as stack:
        with _refused(output):
            path = Path(output).resolve()
            if path.is_dir() and any(path.iterdir()):
                raise NOT_EMPTY.error("the folder is not empty", file=output)
            if path.exists() and not path.is_dir():
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
            temporary = stack.enter_context(scratch.folder_in(path.parent))
        yield temporary
        with _refused(output):
            temporary.chmod(0o777 & ~_umask())
            temporary.replace(path)


def own_folder(output: str, mark: str) -> Path:
    """A folder that a command fills again and again; one that has files, but none called `mark`, is refused.

    So is one with inputs of this run: nothing is written there before it is known that nothing is overwritten.
    """
    path = Path(output)
    refuse_folder(output)
    with _refused(output):
        path.mkdir(exist_ok=True)
        if any(path.iterdir()) and not (path / mark).exists():
            raise NOT_EMPTY.error(f"the folder is not empty, and has no {mark} of an earlier run", file=output)
    return path


def replace_folder(
    output: str, files: Iterable[tuple[str, str | bytes | Iterable[str]]], is_own: Callable[[Path], bool]
) -> None:
    """Write files by their relative paths into a folder that then replaces `output`, so that no old file stays.

    A folder that is not `is_own`, or has inputs of this run, is not replaced.
    """
    from karat import scratch

    path = Path(output)
    refuse_folder(output)
    if path.exists() and not is_own(path):
        raise UNWRITABLE.error("there is such a folder already, and karat has not made it", file=output)
    with contextlib.ExitStack() as stack:
        with _refused(output):
            path.parent.mkdir(parents=True, exist_ok=True)
            new, old = (stack.enter_context(scratch.folder_in(path.parent)) for _ in range(2))
        for name, content in files:
            with _refused(f"{output}/{name}"):
                (new / name).parent.mkdir(parents=True, exist_ok=True)
            write_output(content, str(new / name))
        with _refused(output):
            new.chmod(0o777 & ~_umask())
            if path.exists():
                path.replace(old / "replaced")
            new.replace(path)


@contextlib.contextmanager
def _refused(output: str) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise  # the reader has seen enough
    except (OSError, RuntimeError) as error:  # RuntimeError: links that form a loop
        raise UNWRITABLE.error(getattr(error, "strerror", None) or str(error), file=output) from None


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current
