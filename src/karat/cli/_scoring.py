"""The options that `karat score` and `karat compare` share, and how they become a run."""

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from karat.cli._options import TABLES, digits_option, reading_options, report_option, settings_option, topics_option
from karat.cli._output import output_option, output_style
from karat.cli.completion import Nearest, complete_formats, complete_measures, complete_protocols
from karat.problems import UsageError

if TYPE_CHECKING:
    from karat.corpus.files import FileCorpus
    from karat.corpus.topics import Topics
    from karat.plugin import ReadOptions
    from karat.problems import Report
    from karat.report.layout import Sort, View
    from karat.run.plan import Options

_Command = TypeVar("_Command", bound=Callable[..., Any])

RESAMPLES = 1000
SEED = 0


class ScoringOptions(NamedTuple):
    """What a user chose for scoring."""

    protocols: tuple[str, ...]
    measures: tuple[str, ...]
    settings: tuple[str, ...]
    gold_format: str | None
    system_format: str | None
    reading: "ReadOptions"
    topics: "Topics | None"
    form: str
    output: str | None
    digits: int
    by: tuple[str, ...]
    sort: "Sort"
    per_unit: bool
    per_document: bool
    summary: bool
    details: bool
    errors: bool
    level: float | None
    resamples: int | None
    seed: int | None
    strict: bool
    accept_faults: bool

    def check(self) -> None:
        """Refuse options that the command line alone shows to be wrong."""
        from karat.protocols import resolve_all

        if self.strict and self.accept_faults:
            raise UsageError(
                "faults-both", "--strict refuses faults and --accept-faults counts them", "Use only one of them."
            )
        if self.details and self.form in TABLES:
            message = f"--details is a list, not a table for -f {self.form}"
            raise UsageError("details-no-table", message, "Use text or json.")
        if self.errors and self.summary and self.form != "json":
            message = "--summary prints only the main scores, and --errors what they lost"
            raise UsageError("errors-no-summary", message, "Use one of them, or -f json.")
        resolve_all(self.protocols, self.values() if self.protocols else {})

    def gold(self, spec: str, report: "Report") -> "FileCorpus":
        """The corpus that GOLD names."""
        from karat.corpus.opening import open_corpus
        from karat.problems import of_side

        gold = open_corpus(spec, format=self.gold_format, options=self.reading, report=of_side(report, "gold"))
        return gold.of_topics(self.topics)

    def system(self, spec: str, gold: "FileCorpus", report: "Report") -> "FileCorpus":
        """The corpus that a SYSTEM names, to be scored against gold."""
        from karat.corpus.opening import open_corpus
        from karat.problems import of_side

        system = open_corpus(
            spec,
            format=self.system_format,
            fallback=gold.format,
            options=self.reading,
            report=of_side(report, "system"),
        )
        return system.beside(gold).of_topics(self.topics, beside=gold)

    def protocol_names(self, gold: "FileCorpus") -> tuple[str, ...]:
        """The protocols to score with; those that gold's format chooses are named on standard error."""
        if not self.protocols:
            default = ", ".join(gold.protocols)
            click.echo(f"protocol: {default} (GOLD is {gold.format}; choose with -p)", err=True)
        return self.protocols or gold.protocols

    def run_options(self, *, keep_rows: bool, keep_by_rows: bool = True) -> "Options":
        """What to score, and what to keep of it; intervals and tests need rows."""
        from karat.run.plan import Options

        return Options(
            self.measures,
            self.by,
            self.per_unit or self.per_document,
            self.strict,
            None if self.topics is None else str(self.topics),
            accept_faults=self.accept_faults,
            details=self.details,
            errors=self.errors,
            keep_rows=keep_rows,
            keep_by_rows=keep_by_rows,
        )

    def view(self) -> "View":
        """How the report is shown."""
        from karat.report.layout import PLAIN, View

        style = output_style(self.output) if self.form == "text" else PLAIN
        return View(self.digits, self.sort, self.summary, style)

    def values(self) -> dict[str, Any]:
        """The parameters that `--set` changes."""
        from karat.protocols import parse_setting

        return dict(map(parse_setting, self.settings))


def confidence_level(value: str) -> float:
    """A confidence level, 0.95 or 95, as a fraction."""
    try:
        number = float(value.removesuffix("%"))
    except ValueError:
        number = 0.0
    number = number / 100 if number > 1 else number
    if not 0 < number < 1:
        raise click.BadParameter(f"{value!r} is not a confidence level; write 0.95 or 95")
    return number


protocol_option = click.option(
    "-p",
    "--protocol",
    "protocols",
    multiple=True,
    metavar="NAME|FILE.toml",
    shell_complete=complete_protocols,
    help="Protocol to score with; may be repeated. Default: by the format of GOLD.",
)
measure_option = click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    metavar="ID",
    shell_complete=complete_measures,
    help="Score only this measure, or, if there is none of that id, all whose ids start with ID; may be repeated.",
)
gold_format_option = click.option(
    "--gold-format",
    metavar="FORMAT",
    shell_complete=complete_formats,
    help="Format of GOLD. Default: detected from the content.",
)
system_format_option = click.option(
    "--system-format",
    metavar="FORMAT",
    shell_complete=complete_formats,
    help="Format of SYSTEM. Default: detected, else that of GOLD.",
)
resamples_option = click.option(
    "--resamples",
    type=click.IntRange(1),
    metavar="N",
    help="Resamples for intervals and tests. Default: 1000, in compare at least 40 per comparison.",
)
seed_option = click.option("--seed", type=click.IntRange(0), metavar="N", help="Seed of the resamples. Default: 0.")
accept_faults_option = click.option(
    "--accept-faults", is_flag=True, help="Count faults even in a format that refuses them (APF)."
)

_OPTIONS = (
    protocol_option,
    measure_option,
    settings_option,
    gold_format_option,
    system_format_option,
    reading_options,
    topics_option,
    report_option,
    output_option,
    digits_option,
    click.option(
        "--by",
        multiple=True,
        metavar="FIELD",
        help="Break scores down by an attribute, kind, document, topic, ...; may be repeated.",
    ),
    click.option(
        "--sort",
        type=Nearest(["loss", "name"]),
        default="loss",
        show_default=True,
        help="Order of the rows of --by in text and tables: what lost most first, or by name.",
    ),
    click.option("--per-unit", is_flag=True, help="Show the scores of each unit of evaluation."),
    click.option("--per-document", is_flag=True, help="Show the scores of each document."),
    click.option(
        "--summary", is_flag=True, help="Show only the main scores in text and tables; leave the documents out of html."
    ),
    click.option(
        "--details", is_flag=True, help="List what was matched, missed and spurious, item by item; html always does."
    ),
    click.option(
        "--errors",
        is_flag=True,
        help="Count errors by class, with the score if each class were fixed; scores the system once more per class. "
        "html always does.",
    ),
    click.option(
        "--ci",
        "level",
        type=confidence_level,
        metavar="LEVEL",
        help="Confidence level of intervals: 0.95 or 95. Default: no intervals in score, 0.95 in compare.",
    ),
    resamples_option,
    seed_option,
    click.option("--strict", is_flag=True, help="Refuse faults instead of counting them."),
    accept_faults_option,
)


def scoring_options(command: _Command) -> _Command:
    """The shared options. The command receives them as one argument, `scoring`."""

    @wraps(command)
    def with_scoring(*args: Any, **given: Any) -> Any:
        own = {name: given.pop(name) for name in ScoringOptions._fields}
        return command(*args, scoring=ScoringOptions(**own), **given)

    decorated: Any = with_scoring
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated  # type: ignore[no-any-return]
