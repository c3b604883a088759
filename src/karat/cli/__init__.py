"""The command line: thin. Commands parse, call and print; what they need is imported when they run."""

import sys

import click

from karat import __version__
from karat.cli import demo, explain, formats, measures, protocols, score, validate
from karat.errors import KaratError

EPILOG = """\b
Examples:
  karat score gold.tbf system.tbf
  karat score gold.tbf system.tbf --by type -f json -o scores.json
  karat validate system.tbf
  karat explain nugget.type
"""


@click.group(epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="karat")
def cli() -> None:
    """Measure how much gold there is in a system's output: the scorer for event understanding."""


for command in (
    score.score,
    validate.validate,
    protocols.protocols,
    formats.formats,
    measures.measures,
    explain.explain,
    demo.demo,
):
    cli.add_command(command)


def main() -> None:
    """Run, and turn what is refused into a message and an exit code."""
    try:
        cli()
    except KaratError as error:
        click.echo(f"{click.style('error', fg='red', bold=True)}: {error}", err=True)
        sys.exit(error.exit_code)
    except OSError as error:
        click.echo(f"error: {error.filename or ''}: {error.strerror or error}", err=True)
        sys.exit(1)
