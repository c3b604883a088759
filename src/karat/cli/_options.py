"""Options that several commands share, and findings and progress on standard error."""

import sys
import time
from collections.abc import Callable
from functools import wraps
from typing import Any, Literal

import click

from karat.cli._output import terminal_style
from karat.cli._parameters import FILE, Command, Nearest, name_option, number_option
from karat.cli._streams import trusted
from karat.problems import Findings, UsageError

_READING = (
    click.option("--unit", type=Nearest(["char", "token"]), help="Unit of offsets."),
    click.option(
        "--tokens",
        metavar="DIR",
        type=FILE,
        help="Folder of token tables (ID.tab): spans are token ids. With --unit char, they are mapped to characters.",
    ),
    click.option(
        "--sources",
        metavar="DIR",
        type=FILE,
        help="Folder of the source files (.sgm) of APF. Default: next to the APF files.",
    ),
    click.option(
        "--coreference",
        multiple=True,
        metavar="NAME",
        help="Relation name that means coreference in brat; may be repeated. Default: names that start with coref.",
    ),
    click.option(
        "--documents",
        type=Nearest(["column", "prefix", "none"]),
        help="Where CoNLL meta-documents name their documents; none: read each as one document. Default: detected; "
        "none for protocols that score each document alone.",
    ),
    number_option(
        "--max-bytes",
        least=1,
        help="Size limit in bytes for standard input, pipes and decompressed .gz files, per argument. "
        "Default: 4000000000.",
    ),
)


def reading_options(command: Command) -> Command:
    """Options on how corpora are read. The command receives them as one argument, `reading`."""

    @wraps(command)
    def with_reading(
        *args: Any, unit: Any, tokens: Any, sources: Any, coreference: Any, documents: Any, max_bytes: Any, **rest: Any
    ) -> Any:
        from karat.formats import read_options

        return command(*args, reading=read_options(unit, tokens, sources, coreference, documents, max_bytes), **rest)

    decorated: Any = with_reading
    for option in reversed(_READING):
        decorated = option(decorated)
    return decorated  # type: ignore[no-any-return]


settings_option = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="Change a parameter of the protocol (`karat protocols NAME` lists them); may be repeated.",
)


def topics_spec(context: click.Context, parameter: click.Parameter, spec: str | None) -> Any:
    del context, parameter
    if spec is None:
        return None
    from karat.corpus.topics import Topics

    return Topics.parse(spec)


topics_option = click.option(
    "--topics",
    metavar="SPEC",
    callback=topics_spec,
    help="Use only documents of these topics: 26-45, 1,3,7-9, or a split of ECB+ by its name, cybulska-2015:test.",
)
VALIDATED = "Use only mentions in the validated sentences of ECB+, as most papers do."


def validated_option(command: Command) -> Command:
    """Restrict what `reading` reads; for a command with `input_options`."""

    @wraps(command)
    def with_validated(*args: Any, validated: bool, reading: Any, **rest: Any) -> Any:
        from msgspec.structs import replace

        return command(*args, reading=replace(reading, validated=validated), **rest)

    return click.option("--validated", is_flag=True, help=VALIDATED)(with_validated)  # type: ignore[return-value]


TABLES = ("csv", "markdown", "latex")
"""Output formats that have only tables."""


def format_option(*forms: str, explained: str = "") -> Callable[[Command], Command]:
    """`-f`, one of these formats; the first is the default."""
    return click.option(
        "-f",
        "--format",
        "form",
        type=Nearest(forms),
        default=forms[0],
        show_default=True,
        help=f"Output format{explained}.",
    )


form_option = format_option("text", "json")
_ABOUT_TABLES = "; csv, markdown and latex are tables for spreadsheets and papers"
tables_option = format_option("text", "json", *TABLES, explained=_ABOUT_TABLES)
report_option = format_option(
    *("text", "json", *TABLES, "html"),
    explained=f"{_ABOUT_TABLES}, html is a report with the documents, on a terminal written to karat-report.html",
)
analyser_option = click.option(
    "--analyser", metavar="NAME", default="lemminflect", show_default=True, help="Library that finds lemmas and heads."
)


def plot_option(
    metavar: str, help_: str, parse: Literal["parse", "parse_known", "parse_files"]
) -> Callable[[Command], Command]:
    """`--plot`. The command receives the figures as `plots`; a function of `karat.cli._figures` parses them."""

    def parsed(context: click.Context, parameter: click.Parameter, given: tuple[str, ...]) -> Any:
        del context, parameter
        if not given:
            return ()
        from karat.cli import _figures

        return getattr(_figures, parse)(given)

    help_ = f"Also draw a figure to FILE (.svg, .png or .pdf), and write its data to FILE.csv; may be repeated. {help_}"
    return click.option(
        "--plot", "plots", multiple=True, metavar=metavar, callback=parsed, type=FILE, help=help_.strip()
    )


wide_option = click.option(
    "--wide", is_flag=True, help="Make LaTeX tables two columns wide instead of one (in compare, with P and R)."
)
digits_option = click.option(
    "--digits",
    type=click.IntRange(0, 15),
    metavar="N",
    default=2,
    show_default=True,
    help="Decimal digits of percentages.",
)


def input_options(command: Command) -> Command:
    """Options for a command that reads one corpus: `input_format` and `reading`."""
    form = name_option("formats", "--input-format", help="Input format. Default: detected from the content.")
    return form(reading_options(command))


def print_findings(findings: Findings) -> None:
    """Print findings to standard error, one line per code."""
    from karat.report.layout import finding_lines, paint_finding

    style = terminal_style(sys.stderr)
    for line in finding_lines(findings.kept, findings.counts):
        click.echo(paint_finding(line, style), err=True)


def progress(noun: str = "documents") -> Callable[[int, int | None], None] | None:
    """A function that shows progress on the terminal after the first second; None if there is no terminal.

    Call it with the number of documents (or `noun`) done and, if known, the total: it also shows how many are done per
    second, and how much time is left. When both are equal, it clears the line.
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
            click.echo(trusted("\r\033[K") + _progress_line(done, total, noun, now - started), nl=False, err=True)

    return show


def _progress_line(done: int, total: int | None, noun: str, seconds: float) -> str:
    """Return a line of progress: `1,200 of 30,000 documents, 850 per second, 0:34 left`."""
    rate = done / seconds
    per_second = f"{rate:,.0f}" if rate >= 10 else f"{rate:.1f}"
    if total is None or not rate:
        return f"{done:,} {noun}, {per_second} per second"
    minutes, left = divmod(round((total - done) / rate), 60)
    time_left = f"{minutes}:{left:02}" if minutes < 60 else f"{minutes // 60}:{minutes % 60:02}:{left:02}"
    return f"{done:,} of {total:,} {noun}, {per_second} per second, {time_left} left"


def worker_options(command: Command) -> Command:
    """The options. The command receives one argument, `executor`, and its processes end with it."""

    @wraps(command)
    def with_executor(*args: Any, jobs: int | None, cluster: str | None, **rest: Any) -> Any:
        with _executor(jobs, cluster) as executor:
            return command(*args, executor=executor, **rest)

    decorated: Any = with_executor
    cluster = click.option(
        "--cluster",
        metavar="ADDRESS",
        help="Dask scheduler to run on, such as tcp://10.0.0.1:8786. Needs the extra karat[dask].",
    )
    jobs = number_option(
        "--jobs",
        least=1,
        help="Processes to use. Default: one per core; one for small inputs. Does not affect the result.",
    )
    return jobs(cluster(decorated))  # type: ignore[no-any-return]


def _executor(jobs: int | None, cluster: str | None) -> Any:
    from karat.run.executors import Processes

    if cluster is None:
        return Processes(jobs)
    if jobs is not None:
        raise UsageError("jobs-and-cluster", "--jobs is for this machine, --cluster for others", "Use only one.")
    from karat.run.cluster import Cluster

    return Cluster(cluster)
