"""What several commands share: options for reading corpora, and findings and progress on standard error."""

import sys
import time
from collections.abc import Callable
from typing import Any, TypeVar

import click

from karat.cli._visible import trusted
from karat.errors import Findings, nearest

_Command = TypeVar("_Command", bound=Callable[..., Any])


class Nearest(click.Choice[str]):
    """A choice that suggests the nearest value for a misspelt one."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the value if it is one of the choices."""
        if value not in self.choices:
            choices = [str(choice) for choice in self.choices]
            self.fail(f"{value!r} is not one of {', '.join(choices)}. {nearest(str(value), choices)}", param, ctx)
        return str(value)


unit_option = click.option("--unit", type=Nearest(["char", "token"]), help="Unit of offsets.")
tokens_option = click.option(
    "--tokens", metavar="DIR", help="Folder of token tables (ID.tab). Spans are then token ids."
)

settings_option = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="Change a parameter of the protocol (`karat protocols NAME` lists them); may be repeated.",
)

sources_option = click.option(
    "--sources", metavar="DIR", help="Folder of the source files (.sgm) of APF. Default: next to the APF files."
)


def _topics(context: click.Context, parameter: click.Parameter, spec: str | None) -> Any:
    from karat.corpus import Topics

    del context, parameter
    return None if spec is None else Topics.parse(spec)


topics_option = click.option(
    "--topics", metavar="SPEC", callback=_topics, help="Use only documents of these topics: 26-45, or 1,3,7-9."
)
form_option = click.option(
    "-f",
    "--format",
    "form",
    type=Nearest(["text", "json"]),
    default="text",
    show_default=True,
    help="Output format.",
)


def input_options(command: _Command) -> _Command:
    """Options for a command that reads one corpus: `input_format`, `unit`, `tokens` and `sources`."""
    form = click.option("--input-format", metavar="FORMAT", help="Input format. Default: detected from the content.")
    return form(unit_option(tokens_option(sources_option(command))))


def print_findings(findings: Findings) -> None:
    """Print findings to standard error, one line per code."""
    from karat.report.text import finding_lines

    for line in finding_lines(findings.kept, findings.counts):
        click.echo(line, err=True)


def progress(noun: str = "documents") -> Callable[[int, int | None], None] | None:
    """A function that shows progress on the terminal after the first second; None if there is no terminal.

    Call it with the number of documents (or `noun`) done and, if known, the total. When both are equal, it clears the
    line.
    """
    if not sys.stderr.isatty():
        return None
    started = printed = time.monotonic()

    def show(done: int, total: int | None = None) -> None:
        nonlocal printed
        now = time.monotonic()
        if done == total and printed > started:
            click.echo(trusted("\r\033[K"), nl=False, err=True)
        elif now - started > 1 and now - printed > 0.1:
            printed = now
            of = "" if total is None else f" of {total:,}"
            click.echo(f"{trusted(chr(13))}{done:,}{of} {noun}", nl=False, err=True)

    return show
