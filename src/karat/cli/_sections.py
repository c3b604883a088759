"""Help in sections, and former names of options."""

from collections.abc import Iterator
from typing import Any

import click

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
        """List the options by section."""
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
