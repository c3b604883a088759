"""The program: finds a command, runs it, and prints errors as messages. A command is imported when it is called."""

import sys
import warnings
from collections import UserDict
from importlib import import_module
from typing import Any, NoReturn, TextIO

import click
from click.exceptions import NoArgsIsHelpError

from karat import __version__
from karat.cli._streams import Stopped, end_by, stopping_signals, style, visible_streams
from karat.inputs import recording
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


COMMANDS = {
    "Score": {
        "score": "Score SYSTEM against GOLD under one or more protocols.",
        "compare": "Rank systems, with confidence intervals and significance tests.",
        "demo": "Score three systems on a small bundled corpus.",
    },
    "Look": {
        "describe": "Describe what is in CORPUS.",
        "explain": "Explain NAME: a measure, protocol, format, code or term.",
        "measures": "List the measures, or explain one.",
        "protocols": "List the protocols, or print one.",
        "formats": "List the formats that karat reads and writes, or describe one.",
    },
    "Files": {
        "validate": "Check files and report every problem.",
        "convert": "Convert IN to OUT, from any format to any that can represent it.",
    },
    "Shared tasks": {
        "campaign": "Check, score and rank the SUBMISSIONS of a shared task.",
    },
    "Research": {
        "simulate": "Make a system from GOLD with chosen errors.",
        "baseline": "Run a baseline on CORPUS and write its output.",
        "audit": "List suspicious annotations in CORPUS.",
        "lab": "Examine how MEASURE behaves.",
        "reproduce": "Recompute the published numbers of PAPER.",
    },
    "Help": {
        "help": "Show how to use karat, or COMMAND.",
        "completion": "Print a script that completes commands in SHELL.",
    },
}
"""The commands by section of the help, each in the module of its name, and the first sentence of its help."""

SUMMARIES = {name: summary for section in COMMANDS.values() for name, summary in section.items()}


class Commands(UserDict[str, Any]):
    """Commands by name. Each is imported when it is asked for."""

    def __getitem__(self, name: str) -> Any:
        if name not in self.data:
            raise KeyError(name)
        return getattr(import_module(f"karat.cli.{name}"), name)


class Program(click.Group):
    """All commands. Its help needs none of them."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands with their summaries."""
        del ctx
        for title, commands in COMMANDS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(max(map(len, SUMMARIES))), text) for name, text in commands.items()])


@click.group(
    cls=Program,
    commands=Commands(SUMMARIES),
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, "-V", "--version", prog_name="karat")
def cli() -> None:
    """Evaluate event extraction and coreference against gold annotations."""
    click.get_current_context().with_resource(recording())


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


SYSTEM = Rule("system-error", "fatal", "Check the path, its permissions and the free space; then run karat again.")
MEMORY = Rule("memory-full", "fatal", "Use a machine with more memory, or split the corpus into smaller ones.")
NESTING = Rule(
    "nesting-deep", "fatal", "An input is nested deeper than karat can follow; check that it is not damaged."
)


def run() -> NoReturn:
    """Run a command; print an error as a message and exit with its code."""
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
            _refuse(str(MEMORY.error("not enough memory")), 1)
        except RecursionError:
            _refuse(str(NESTING.error("the input is nested too deeply")), 1)
    if stopped is not None:
        end_by(stopped)


def _refuse(message: str, exit_code: int) -> NoReturn:
    """Print an error and exit."""
    click.echo(f"{style('error', fg='red', bold=True)}: {message}", err=True)
    sys.exit(exit_code)


def _usage(error: click.ClickException) -> str:
    """Return the usage of a command, to be shown below an error in its arguments."""
    context = error.ctx if isinstance(error, click.UsageError) else None
    if context is None:
        return ""
    usage = context.command.get_usage(context).replace("Usage: ", "", 1)
    return f" [usage]\n  Usage: {usage}\n  Run `{context.command_path} --help` for details."
