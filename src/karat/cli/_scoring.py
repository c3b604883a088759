"""The options that `karat score` and `karat compare` share, and how they become a run."""

import sys
from collections.abc import Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from karat.cli._options import (
    TABLES,
    VALIDATED,
    digits_option,
    reading_options,
    report_option,
    settings_option,
    topics_option,
    wide_option,
)
from karat.cli._output import html_file, output_option, output_style, terminal_style, write_output
from karat.cli._parameters import Command, Nearest, name_option, number_option
from karat.problems import UsageError

if TYPE_CHECKING:
    from karat.comparison.comparison import Comparison
    from karat.corpus.files import FileCorpus
    from karat.problems import Report
    from karat.report.layout import Sort, View
    from karat.result import Result
    from karat.run.plan import Options


LEVEL = 0.95
RESAMPLES = 1000
SEED = 0


class Output(NamedTuple):
    """The form of the output, and the file that it is written to."""

    form: str
    file: str | None
    digits: int
    sort: "Sort"
    summary: bool
    wide: bool

    def view(self) -> "View":
        """Return how the report is shown."""
        from karat.report.layout import PLAIN, View

        style = output_style(self.file) if self.form == "text" else PLAIN
        return View(self.digits, self.sort, self.summary, style, self.wide)


def write_scores(scored: "Sequence[Result] | Sequence[Comparison]", output: Output) -> None:
    """Write scores in a form other than HTML; what tables have no place for goes to standard error."""
    from karat.report.outputs import FORMATS

    write_output(FORMATS[output.form](scored, output.view()), output.file)
    if output.form in TABLES:
        report_findings(scored)


def report_findings(scored: "Sequence[Result] | Sequence[Comparison]", *, faults_only: bool = False) -> None:
    """Print faults and notes to standard error."""
    from karat.report.outputs import findings_of

    for line in findings_of(scored, style=terminal_style(sys.stderr), faults_only=faults_only):
        click.echo(line, err=True)


def check_options(options: "Options", output: Output) -> None:
    """Refuse options that the command line alone shows to be wrong."""
    from karat.protocols import resolve_all

    if options.strict and options.accept_faults:
        raise UsageError(
            "faults-both", "--strict refuses faults and --accept-faults counts them", "Use only one of them."
        )
    if options.details and output.form in TABLES:
        message = f"--details is a list, not a table for -f {output.form}"
        raise UsageError("details-no-table", message, "Use text or json.")
    if options.errors and output.summary and output.form != "json":
        message = "--summary prints only the main scores, and --errors what they lost"
        raise UsageError("errors-no-summary", message, "Use one of them, or -f json.")
    _refuse_validated(options, options.protocols)
    resolve_all(options.protocols, options.settings if options.protocols else {})


def _refuse_validated(options: "Options", protocols: tuple[str, ...]) -> None:
    """Refuse `--validated` if no protocol has that choice."""
    from karat.protocols import resolve

    is_chosen = options.settings.get("validated") is True
    if is_chosen and protocols and not any("validated" in resolve(name).parameters for name in protocols):
        message = f"--validated is for the protocols across documents, not for {', '.join(protocols)}"
        raise UsageError("validated-protocol", message, "Omit it, or choose one of them: -p simple-cdec.")


def open_gold(spec: str, options: "Options", report: "Report") -> "FileCorpus":
    """Open the corpus that GOLD names."""
    from karat.corpus.opening import open_corpus
    from karat.problems import of_side
    from karat.protocols import opened_for, resolve_all

    gold = open_corpus(spec, format=options.gold_format, options=options.reading, report=of_side(report, "gold"))
    gold = gold.of_topics(options.topics)
    return opened_for(gold, resolve_all(options.protocols, options.settings)) if options.protocols else gold


def open_system(spec: str, gold: "FileCorpus", options: "Options", report: "Report") -> "FileCorpus":
    """Open the corpus that a SYSTEM names, to be scored against gold."""
    from karat.corpus.opening import open_corpus
    from karat.problems import of_side

    system = open_corpus(
        spec,
        format=options.system_format,
        fallback=gold.format,
        options=options.reading,
        report=of_side(report, "system"),
    )
    return system.beside(gold).of_topics(options.topics, beside=gold)


def protocol_names(options: "Options", gold: "FileCorpus") -> tuple[str, ...]:
    """Return the protocols to score with; those that gold's format chooses are named on standard error."""
    if not options.protocols:
        from karat.formats import FORMATS

        default = ", ".join(gold.protocols)
        reason = FORMATS.get(gold.format).reasons.get(gold.protocols[0])
        kind = f"{gold.format} {reason}" if reason else gold.format
        click.echo(f"protocol: {default} (GOLD is {kind}; choose with -p)", err=True)
        _refuse_validated(options, gold.protocols)
    return options.protocols or gold.protocols


def confidence_level(value: str) -> float:
    """A confidence level, 0.95 or 95, as a fraction."""
    try:
        level = float(value.removesuffix("%"))
    except ValueError:
        level = 0.0
    level = level / 100 if level > 1 else level
    if not 0 < level < 1:
        raise click.BadParameter(f"{value!r} is not a confidence level; write 0.95 or 95")
    return level


protocol_option = name_option(
    "protocols",
    "-p",
    "--protocol",
    "protocols",
    multiple=True,
    help="Protocol to score with; may be repeated. Default: by the format of GOLD.",
)
measure_option = name_option(
    "measures",
    "-m",
    "--measure",
    "measures",
    multiple=True,
    help="Measure to score: an id, or the start of several ids (coref); may be repeated. Default: all.",
)
gold_format_option = name_option("formats", "--gold-format", help="Format of GOLD. Default: detected from the content.")
system_format_option = name_option(
    "formats", "--system-format", help="Format of SYSTEM. Default: detected, else that of GOLD."
)
resamples_option = number_option(
    "--resamples",
    least=1,
    help="Resamples for intervals and tests. Default: 1000, with several systems at least 40 per comparison.",
)
seed_option = number_option("--seed", least=0, help="Seed of the resamples. Default: 0.")
accept_faults_option = click.option(
    "--accept-faults", is_flag=True, help="Count faults even in a format that refuses them (APF)."
)

_OPTIONS = (
    protocol_option,
    measure_option,
    settings_option,
    name_option(
        "formats", "--input-format", help="Format of both GOLD and SYSTEM. Default: detected from the content."
    ),
    gold_format_option,
    system_format_option,
    reading_options,
    topics_option,
    click.option("--validated", is_flag=True, help=VALIDATED),
    report_option,
    output_option,
    digits_option,
    wide_option,
    click.option(
        "--by",
        multiple=True,
        metavar="FIELD",
        help="Break scores down by an attribute, kind, document, topic, ..., by type.main (Life of Life_Die), or by "
        "several at once (type,realis); may be repeated.",
    ),
    click.option(
        "--sort",
        type=Nearest(["loss", "name"]),
        default="loss",
        show_default=True,
        help="Order of the rows of --by in text and tables: largest loss first, or by name.",
    ),
    click.option("--per-unit", is_flag=True, help="Show the scores of each unit of evaluation."),
    click.option("--per-document", is_flag=True, help="Show the scores of each document."),
    click.option(
        "--summary", is_flag=True, help="Show only the main scores in text and tables; omit the documents from html."
    ),
    click.option(
        "--details", is_flag=True, help="List what was matched, missed and spurious, item by item; html always does."
    ),
    click.option(
        "--errors",
        is_flag=True,
        help="Count errors by class, with the score if each class were fixed (scores the system again for each class); "
        "html always does.",
    ),
    click.option(
        "--ci",
        "level",
        type=confidence_level,
        metavar="LEVEL",
        help="Confidence level of intervals, 0.95 or 95. Default: no intervals in score, 0.95 in compare.",
    ),
    resamples_option,
    seed_option,
    click.option("--strict", is_flag=True, help="Refuse faults instead of counting them."),
    accept_faults_option,
)


def scoring_options(command: Command) -> Command:
    """Add the shared options. The command receives them as `options`, and those of its output as `output`."""

    @wraps(command)
    def with_options(
        *args: Any, per_document: bool, settings: tuple[str, ...], validated: bool, output: str | None, **given: Any
    ) -> Any:
        from karat.protocols import parse_setting
        from karat.run.plan import Options

        given["per_unit"] = given["per_unit"] or per_document
        input_format = given.pop("input_format")
        for side in ("gold_format", "system_format"):
            given[side] = given[side] or input_format
        chosen = {name: given.pop(name) for name in Options.__struct_fields__ if name in given}
        options = Options(
            **chosen, settings=dict(map(parse_setting, settings)) | ({"validated": True} if validated else {})
        )
        form, digits, sort, summary, wide = (given.pop(name) for name in ("form", "digits", "sort", "summary", "wide"))
        output = html_file(output) if form == "html" else output
        return command(*args, options=options, output=Output(form, output, digits, sort, summary, wide), **given)

    decorated: Any = with_options
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated  # type: ignore[no-any-return]
