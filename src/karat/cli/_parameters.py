"""Options: choices with suggestions, files, names that the shell completes, and help in sections."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import click

from karat.problems import nearest

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


Command = TypeVar("Command", bound=Callable[..., Any])

FILE = click.Path(readable=False)
"""A file, whether it exists or not: commands open files, and explain what is wrong with them."""


class Nearest(click.Choice[str]):
    """A choice that suggests the nearest value."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the value if it is one of the choices."""
        if value not in self.choices:
            choices = [str(choice) for choice in self.choices]
            self.fail(f"{value!r} is not one of {', '.join(choices)}. {nearest(str(value), choices)}", param, ctx)
        return str(value)


Completed = Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]


def completes(names: Literal["protocols", "measures", "formats", "names"]) -> Completed:
    """Return a function that completes names; what it needs is imported when the shell asks."""

    def completed(context: click.Context, parameter: click.Parameter, incomplete: str) -> "list[CompletionItem]":
        from karat.cli import completion

        del context, parameter
        items: list[CompletionItem] = getattr(completion, names)(incomplete)
        return items

    return completed


METAVARS = {"protocols": "NAME|FILE.toml", "measures": "ID", "formats": "FORMAT"}


def name_option(
    of: Literal["protocols", "measures", "formats"], *names: str, help: str, multiple: bool = False
) -> Callable[[Command], Command]:
    """Return an option that takes the name of a protocol, a measure or a format, or several."""
    return click.option(*names, metavar=METAVARS[of], shell_complete=completes(of), multiple=multiple, help=help)


def number_option(
    name: str, *, least: int, help: str, default: int | None = None, metavar: str = "N"
) -> Callable[[Command], Command]:
    """Return an option that takes a whole number."""
    return click.option(
        name, type=click.IntRange(least), default=default, show_default=default is not None, metavar=metavar, help=help
    )


SECTIONS = {
    "What to score": (
        *("protocol", "measure", "topics", "validated", "baseline", "by", "per-unit", "per-document"),
        *("details", "errors"),
    ),
    "How to score": ("set", "sort-by", "strict", "accept-faults", "cpu-limit", "memory-limit", "time-limit"),
    "Statistics": ("ci", "resamples", "seed"),
    "Output": (
        *("format", "output", "digits", "wide", "sort", "summary", "plot", "value", "fail-under"),
        *("site", "anonymous", "no-reports", "title"),
    ),
    "Reading": (
        *("gold", "config", "layout", "input-format", "gold-format", "system-format", "unit", "tokens", "sources"),
        *("coreference", "documents", "max-bytes", "max-members", "max-member-bytes", "max-ratio"),
    ),
    "Processes": ("jobs", "cluster"),
}
"""Options by section of the help; all others, such as --help, come last."""


class SectionedCommand(click.Command):
    """A command with many options, which its help lists by section."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, records in sections(self, ctx):
            with formatter.section(title):
                formatter.write_dl(records)


def sections(command: click.Command, ctx: click.Context) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield the title of each section, and the names and help of its options."""
    by_name = {}
    for parameter in command.get_params(ctx):
        record = parameter.get_help_record(ctx)
        if record is not None and isinstance(parameter, click.Option):
            by_name[max(parameter.opts, key=len).removeprefix("--")] = record
    for title, names in SECTIONS.items() if isinstance(command, SectionedCommand) else ():
        yield title, [by_name.pop(name) for name in names if name in by_name]
    yield "Other", list(by_name.values())


class Renamed(click.Option):
    """An option whose last name is a former one, which help does not show."""

    def get_help_record(self, ctx: click.Context) -> Any:
        """Return the names and the help, without the former name."""
        record = super().get_help_record(ctx)
        return record and (record[0].replace(f", {self.opts[-1]}", ""), record[1])
