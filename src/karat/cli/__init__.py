"""The command line: thin. Commands parse, call and print; what they need is imported when they run."""

import sys
import warnings
from io import TextIOWrapper
from typing import TextIO

import click

from karat import __version__
from karat.cli import (
    convert,
    demo,
    describe,
    explain,
    formats,
    lab,
    measures,
    protocols,
    reproduce,
    score,
    simulate,
    validate,
)
from karat.errors import KaratError, PluginWarning

EPILOG = """\b
Examples:
  karat score gold.tbf system.tbf
  karat score gold.tbf system.tbf --by type -f json -o scores.json
  karat validate system.tbf
  karat convert litbank/ litbank.jsonl
  karat explain nugget.type
"""


@click.group(epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="karat")
def cli() -> None:
    """Measure how much gold there is in a system's output: the scorer for event understanding."""


COMMANDS = (
    score.score,
    validate.validate,
    describe.describe,
    convert.convert,
    simulate.simulate,
    protocols.protocols,
    formats.formats,
    measures.measures,
    explain.explain,
    lab.lab,
    reproduce.reproduce,
    demo.demo,
)

for command in COMMANDS:
    cli.add_command(command)


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Warnings of karat are for the person at the terminal, others for programmers."""
    if issubclass(category, PluginWarning):
        click.echo(f"{click.style('warning', fg='yellow', bold=True)}: {message}", err=True)
    else:
        click.echo(warnings.formatwarning(message, category, filename, lineno, line), nl=False, file=file, err=True)


def main() -> None:
    """Run, and turn what is refused into a message and an exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that lacks a letter is no reason to stop
    warnings.showwarning = _show_warning
    try:
        cli()
    except KaratError as error:
        click.echo(f"{click.style('error', fg='red', bold=True)}: {error}", err=True)
        sys.exit(error.exit_code)
    except OSError as error:
        click.echo(f"error: {error.filename or ''}: {error.strerror or error}", err=True)
        sys.exit(1)
