"""What several commands share: options, where output goes, and how far they are."""

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from karat.errors import Rule, nearest

UNWRITABLE = Rule("output-unwritable", "fatal", "Name a file in a folder that exists and that you may write to.")


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


def written(text: str, output: str | None) -> None:
    """Print, or write a file beside its place and move it there, so that nothing is ever half written."""
    if output is None:
        click.echo(text, nl=False)
        return
    path = Path(output)
    try:
        with tempfile.NamedTemporaryFile("w", dir=path.parent, encoding="utf-8", newline="\n", delete=False) as beside:
            beside.write(text)
        Path(beside.name).chmod(0o666 & ~_umask())
        Path(beside.name).replace(path)
    except OSError as error:
        raise UNWRITABLE.error(error.strerror or str(error), file=output) from None


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


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
