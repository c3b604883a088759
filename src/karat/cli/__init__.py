"""The command line. Commands parse arguments, call karat and print; each imports what it needs when it runs."""

import sys
import warnings
from typing import NoReturn, TextIO

import click
from click.exceptions import NoArgsIsHelpError

from karat import __version__
from karat.cli import (
    audit,
    baseline,
    campaign,
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
from karat.cli._streams import Stopped, end_by, stopping_signals, style, visible_streams
from karat.inputs import recording
from karat.interpreter import prepare_interpreter
from karat.problems import KaratError, PluginWarning, Rule

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
    click.get_current_context().with_resource(recording())


COMMANDS = (
    score.score,
    compare.compare,
    validate.validate,
    describe.describe,
    convert.convert,
    simulate.simulate,
    baseline.baseline,
    audit.audit,
    protocols.protocols,
    formats.formats,
    measures.measures,
    explain.explain,
    lab.lab,
    reproduce.reproduce,
    campaign.campaign,
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
        click.echo(f"{style('warning', fg='yellow', bold=True)}: {message}", err=True)
    else:
        click.echo(warnings.formatwarning(message, category, filename, lineno, line), nl=False, file=file, err=True)


SYSTEM = Rule("system-error", "fatal", "Check the place, its permissions and the free space; then run karat again.")
MEMORY = Rule("memory-full", "fatal", "Use a machine with more memory, or split the corpus into smaller ones.")
NESTING = Rule(
    "nesting-deep", "fatal", "An input is nested deeper than karat can follow; check that it is not damaged."
)


def main() -> None:
    """Run a command; print an error as a message and exit with its code."""
    prepare_interpreter()
    warnings.showwarning = _show_warning
    stopped: int | None = None
    with visible_streams():
        try:
            with stopping_signals():
                sys.exit(cli.main(prog_name="karat", standalone_mode=False))
        except Stopped as stop:
            stopped = stop.number
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
            place = str(error.filename or "standard output or a temporary file")
            _refuse(str(SYSTEM.error(error.strerror or str(error), file=place)), 1)
        except MemoryError:
            _refuse(str(MEMORY.error("there is not enough memory")), 1)
        except RecursionError:
            _refuse(str(NESTING.error("the input is nested too deeply")), 1)
    if stopped is not None:
        end_by(stopped)


def _refuse(message: str, exit_code: int) -> NoReturn:
    """Every error is printed in this way."""
    click.echo(f"{style('error', fg='red', bold=True)}: {message}", err=True)
    sys.exit(exit_code)


def _usage(error: click.ClickException) -> str:
    """How to use the command, below an error that its arguments show."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    if context is None:
        return ""
    usage = context.command.get_usage(context).replace("Usage: ", "", 1)
    return f" [usage]\n  Usage: {usage}\n  `{context.command_path} --help` explains it."
