"""What several commands share: options, and where output goes."""

import errno
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from karat.errors import Rule, nearest

UNWRITABLE = Rule("output-unwritable", "fatal", "Name a file in a folder that exists and that you may write to.")

output_option = click.option("-o", "--output", metavar="FILE", help="Write to FILE instead of standard output.")


class Nearest(click.Choice[str]):
    """A choice that names the nearest value when it is misspelt."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The value, if it is one of the choices."""
        if value not in self.choices:
            choices = [str(choice) for choice in self.choices]
            self.fail(f"{value!r} is not one of {', '.join(choices)}. {nearest(str(value), choices)}", param, ctx)
        return str(value)


def written(text: str, output: str | None) -> None:
    """Print, or write a file beside its place and move it there, so that nothing is ever half written."""
    if output is None:
        click.echo(text, nl=False)
        return
    path = Path(output)
    try:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        with tempfile.NamedTemporaryFile("w", dir=path.parent, encoding="utf-8", newline="\n", delete=False) as beside:
            beside.write(text)
        Path(beside.name).chmod(0o666 & ~_umask())
        Path(beside.name).replace(path)
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
