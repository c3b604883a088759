"""Writing output: complete or not at all, never over an input, in the chosen format."""

import contextlib
import os
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click
from click.core import ParameterSource

from karat.cli._parameters import FILE
from karat.cli._streams import has_colours, trusted
from karat.inputs import is_input, record
from karat.problems import Rule, visible

if TYPE_CHECKING:
    from karat.report.layout import Style

UNWRITABLE = Rule("output-unwritable", "fatal", "Choose a file in an existing folder that you may write to.")

STANDARD_OUTPUT = "standard output"
REPORT = "karat-report.html"

Content = str | bytes | Iterable[str]
"""Text or bytes; text may come in pieces."""


def _named(context: click.Context, parameter: click.Parameter, output: str | None) -> str | None:
    del context, parameter
    return None if output == "-" else output


output_option = click.option(
    "-o",
    "--output",
    metavar="FILE",
    callback=_named,
    type=FILE,
    help="Write to FILE instead of standard output (-).",
)


def html_file(output: str | None) -> str | None:
    """Return the file for a page: without -o on a terminal, which cannot show it, one in the current folder."""
    is_chosen = click.get_current_context().get_parameter_source("output") is ParameterSource.COMMANDLINE
    if is_chosen or not sys.stdout.isatty():
        return output
    refuse_other_files(Path(REPORT))
    return REPORT


def refuse_other_files(path: Path) -> None:
    """Refuse to replace a file that is not a report."""
    from karat.report.html.page import is_report

    if path.is_file() and not is_report(path):
        message = "this file is not a karat report, and is not overwritten; name another file with -o"
        raise UNWRITABLE.error(message, file=str(path))


def refuse_overwriting(
    output: str | None, inputs: Iterable[str | Path] = (), *, folder: str | Path | None = None
) -> None:
    """Refuse an output that is an input, or a corpus that would be written into the folder it is read from.

    Asked before the work, so that none is in vain; `inputs` are files that will be read, beside those that have been.
    What is read later is refused when the output is written.
    """
    record(map(str, inputs))
    refuse_input(output)
    if output is None or folder is None or not Path(folder).is_dir():
        return
    if Path(os.path.realpath(output)).is_relative_to(os.path.realpath(folder)):
        raise UNWRITABLE.error("this is inside the input folder, and would become part of the input", file=output)


def refuse_input(output: str | None) -> None:
    """Refuse a regular file that this run has read or written."""
    try:
        place = os.fstat(sys.stdout.fileno()) if output is None else Path(output).stat()
    except (OSError, ValueError, AttributeError):
        return  # there is no such file yet, or no file behind the stream
    if stat.S_ISREG(place.st_mode) and is_input(place):
        message = "this is one of the inputs (or outputs) of this run, which karat does not overwrite"
        raise UNWRITABLE.error(message, file=output or STANDARD_OUTPUT)


def write_output(content: Content, output: str | None) -> None:
    """Print the content, or write it to a temporary file that then replaces `output`."""
    if output is None:
        refuse_input(None)
        with refused(STANDARD_OUTPUT):
            for piece in [content] if isinstance(content, str | bytes) else content:
                click.echo(piece, nl=False)
        return
    write_outputs({output: content})


def write_outputs(contents: Mapping[str, Content]) -> None:
    """Write files that belong together: all are complete before the first is moved into its place."""
    from karat.cli._atomic import output_stream

    with contextlib.ExitStack() as stack:
        for output, content in contents.items():
            stream = stack.enter_context(output_stream(output))
            with refused(output):
                stream.writelines(encoded(content))
                stream.flush()


def encoded(content: Content) -> Iterator[bytes]:
    """Yield the bytes of a file: the same text as on standard output, where every character is visible."""
    for piece in [content] if isinstance(content, str | bytes) else content:
        yield visible(piece, lines=True).encode() if isinstance(piece, str) else piece


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
    """The style of a stream; plain if it is not a terminal."""
    from karat.report.layout import PLAIN, Style

    if not stream.isatty():
        return PLAIN
    import shutil

    return Style(shutil.get_terminal_size().columns, has_colours(), trusted)


@contextlib.contextmanager
def refused(output: str) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        raise  # the reader has seen enough
    except (OSError, RuntimeError) as error:  # RuntimeError: links that form a loop
        raise UNWRITABLE.error(getattr(error, "strerror", None) or str(error), file=output) from None
