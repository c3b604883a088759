"""The command line. Commands parse arguments, call karat and print; each imports what it needs when it runs."""

import sys
import warnings
from io import TextIOWrapper
from typing import NoReturn, TextIO

import click
from click.exceptions import NoArgsIsHelpError

from karat import __version__
from karat.cli import (
    compare,
    completion,
    convert,
    demo,
    describe,
    explain,
    formats,
    help,
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
  karat compare gold.tbf baseline.tbf mine.tbf
  karat validate system.tbf
  karat convert litbank/ litbank.jsonl
  karat explain nugget.type
"""


@click.group(epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, "-V", "--version", prog_name="karat")
def cli() -> None:
    """Score systems for event understanding: measure how much gold there is in their output."""


COMMANDS = (
    score.score,
    compare.compare,
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
    completion.completion,
    help.help,
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
    """Print karat's own warnings in one line, and all others as Python does."""
    if issubclass(category, PluginWarning):
        click.echo(f"{click.style('warning', fg='yellow', bold=True)}: {message}", err=True)
    else:
        click.echo(warnings.formatwarning(message, category, filename, lineno, line), nl=False, file=file, err=True)


def main() -> None:
    """Run a command; print an error as a message and exit with its code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that cannot show a character must not stop karat
    warnings.showwarning = _show_warning
    try:
        sys.exit(cli.main(prog_name="karat", standalone_mode=False))
    except KaratError as error:
        _refuse(str(error), error.exit_code)
    except NoArgsIsHelpError as error:
        error.show()
        sys.exit(error.exit_code)
    except click.ClickException as error:
        message = error.format_message()
        _refuse(message[:1].lower() + message[1:].rstrip(".") + _usage(error), error.exit_code)
    except click.Abort:
        _refuse("stopped", 1)
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        _refuse(f"{place}{error.strerror or error}", 1)


def _refuse(message: str, exit_code: int) -> NoReturn:
    """Every error is printed in this way."""
    click.echo(f"{click.style('error', fg='red', bold=True)}: {message}", err=True)
    sys.exit(exit_code)


def _usage(error: click.ClickException) -> str:
    """How to use the command, below an error that its arguments show."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    if context is None:
        return ""
    usage = context.command.get_usage(context).replace("Usage: ", "", 1)
    return f" [usage]\n  Usage: {usage}\n  `{context.command_path} --help` explains it."
