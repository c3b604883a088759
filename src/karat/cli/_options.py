"""What several commands share: options, where output goes, and what is said beside it."""

import contextlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Any, TypeVar

import click

from karat.errors import Findings, Rule, UsageError, nearest

UNWRITABLE = Rule("output-unwritable", "fatal", "Name a file in a folder that exists and that you may write to.")
NOT_EMPTY = Rule("folder-not-empty", "fatal", "Name a new folder, or empty this one first.")

_Command = TypeVar("_Command", bound=Callable[..., Any])


class Nearest(click.Choice[str]):
    """A choice that names the nearest value when it is misspelt."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The value, if it is one of the choices."""
        if value not in self.choices:
            choices = [str(choice) for choice in self.choices]
            self.fail(f"{value!r} is not one of {', '.join(choices)}. {nearest(str(value), choices)}", param, ctx)
        return str(value)


unit_option = click.option("--unit", type=Nearest(["char", "token"]), help="What offsets count.")
tokens_option = click.option(
    "--tokens", metavar="DIR", help="Folder of token tables (ID.tab); spans are then token ids."
)
form_option = click.option(
    "-f",
    "--format",
    "form",
    type=Nearest(["text", "json"]),
    default="text",
    show_default=True,
    help="Form of the output.",
)
output_option = click.option("-o", "--output", metavar="FILE", help="Write to FILE instead of standard output.")


def input_options(command: _Command) -> _Command:
    """How the one corpus that a command takes is read: `input_format`, `unit` and `tokens`."""
    form = click.option("--input-format", metavar="FORMAT", help="Format of the input. Default: what it looks like.")
    return form(unit_option(tokens_option(command)))


def output_format(to: str | None, output: str | None) -> str | None:
    """The format to write: the named one, else what the file's name ends with; None if nothing is named."""
    if to is not None:
        return writable(to)
    if output is None:
        return None
    suffixes = _written_suffixes()
    bare = output.lower().removesuffix(".gz")
    for suffix, name in suffixes.items():
        if bare.endswith(suffix):
            return name
    known = f"Name it with --to, or end the file's name in {', '.join(suffixes)}."
    raise UsageError("output-format", f"cannot tell in what format to write {output!r}", known)


def writable(name: str) -> str:
    """The name of a format, if it can be written."""
    from karat.formats import FORMATS

    if FORMATS.get(name).write is None:
        known = f"Name one with --to: {', '.join(dict.fromkeys(_written_suffixes().values()))}."
        raise UsageError("format-only-read", f"{name} is only read, not written", known)
    return name


def _written_suffixes() -> dict[str, str]:
    from karat.formats import FORMATS

    return {suffix: name for name, format_ in FORMATS if format_.write is not None for suffix in format_.SUFFIXES}


def written(text: str, output: str | None) -> None:
    """Print, or write a file beside its place and move it there, so that nothing is ever half written."""
    if output is None:
        click.echo(text, nl=False)
        return
    with destination(output) as stream:
        stream.write(text.encode("utf-8"))


@contextlib.contextmanager
def destination(output: str | None) -> Iterator[IO[bytes]]:
    """Where bytes go: to a file beside FILE, or aside, and to their place only when all of them are there."""
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
            yield beside
        with _refused(output):
            Path(beside.name).chmod(0o666 & ~_umask())
            Path(beside.name).replace(path)
    except BaseException:
        Path(beside.name).unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def destination_folder(output: str) -> Iterator[Path]:
    """Where files go: into a folder beside FOLDER, which takes its place only when all of them are there."""
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


def refuse_overwriting(output: str | None, inputs: Iterable[str]) -> None:
    """An output that is one of the inputs is a slip of the hand."""
    if output is not None and Path(output).resolve() in {Path(name).resolve() for name in inputs}:
        raise UNWRITABLE.error("this is one of the inputs; it is not overwritten", file=output)


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def tell(findings: Findings) -> None:
    """Say on standard error what was found on the way, a line a kind."""
    from karat.report.text import told

    for line in told(findings.kept, findings.counts):
        click.echo(line, err=True)


def progress() -> Callable[[int, int | None], None] | None:
    """After the first second, a line on the terminal that counts documents; nothing where there is no terminal.

    What it returns is told how many are done, and of how many where that is known; done of done takes the line away.
    """
    if not sys.stderr.isatty():
        return None
    started = shown = time.monotonic()

    def show(done: int, total: int | None = None) -> None:
        nonlocal shown
        now = time.monotonic()
        if done == total and shown > started:
            click.echo("\r\033[K", nl=False, err=True)
        elif now - started > 1 and now - shown > 0.1:
            shown = now
            of = "" if total is None else f" of {total:,}"
            click.echo(f"\r{done:,}{of} documents", nl=False, err=True)

    return show
