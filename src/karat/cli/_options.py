"""What several commands share: how corpora are read, what is said beside the output, and how far they are."""

import sys
import time
from collections.abc import Callable
from typing import Any, TypeVar

import click

from karat.errors import Findings, nearest

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

settings_option = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="Change a parameter of the protocol; `karat protocols NAME` lists them.",
)

sources_option = click.option(
    "--sources", metavar="DIR", help="Folder of the sources (.sgm) of APF. Default: beside the files."
)


def _topics(context: click.Context, parameter: click.Parameter, spec: str | None) -> Any:
    from karat.corpus import Topics

    del context, parameter
    return None if spec is None else Topics.parse(spec)


topics_option = click.option(
    "--topics", metavar="SPEC", callback=_topics, help="Only documents of these topics: 26-45, or 1,3,7-9."
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


def input_options(command: _Command) -> _Command:
    """How the one corpus that a command takes is read: `input_format`, `unit`, `tokens` and `sources`."""
    form = click.option("--input-format", metavar="FORMAT", help="Format of the input. Default: what it looks like.")
    return form(unit_option(tokens_option(sources_option(command))))


def tell(findings: Findings) -> None:
    """Say on standard error what was found on the way, a line a kind."""
    from karat.report.text import told

    for line in told(findings.kept, findings.counts):
        click.echo(line, err=True)


def progress(noun: str = "documents") -> Callable[[int, int | None], None] | None:
    """After the first second, a line on the terminal that counts documents (or `noun`); nothing where there is none.

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
            click.echo(f"\r{done:,}{of} {noun}", nl=False, err=True)

    return show
