"""`karat validate`."""

import sys
from typing import TYPE_CHECKING

import click

from karat.cli._options import form_option, input_options, progress, settings_option, worker_options
from karat.cli._output import output_option, output_style, refuse_overwriting, write_output
from karat.cli._parameters import FILE, name_option

if TYPE_CHECKING:
    from karat.corpus.interface import Executor
    from karat.plugin import ReadOptions

EPILOG = """\b
Examples:
  karat validate system.tbf
  karat validate gold/ system.tbf --tokens tables/
  karat validate system.tbf --types types.txt
  karat validate system.tbf --against gold.tbf -p tac-2017
  karat validate apf/ --sources sgm/
  karat validate apf/ --set processing=cross-document
  karat validate @files.txt -f json -o findings.json

A PATH is a file, a folder, @LIST (a file with one path per line), or - for standard input. Each is a separate corpus.

\b
fatal  the file cannot be trusted and is not scored
fault  one item is wrong; it is counted, and scoring continues
note   odd but usable
"""


@click.command(epilog=EPILOG)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=FILE)
@input_options
@click.option(
    "--types",
    metavar="FILE",
    type=FILE,
    help="File with all allowed types, one per line; any other type is a fault.",
)
@click.option(
    "--against",
    metavar="GOLD",
    type=FILE,
    help="Compare document ids, texts, units, tokens and offsets with GOLD, which needs no annotations.",
)
@name_option(
    "protocols",
    "-p",
    "--protocol",
    "protocols",
    multiple=True,
    help="Protocol to check for: also report what it refuses; may be repeated. Default: by the format.",
)
@settings_option
@form_option
@output_option
@worker_options
def validate(
    paths: tuple[str, ...],
    input_format: str | None,
    reading: "ReadOptions",
    types: str | None,
    against: str | None,
    protocols: tuple[str, ...],
    settings: tuple[str, ...],
    form: str,
    output: str | None,
    executor: "Executor",
) -> None:
    """Check files and report every problem.

    Each finding has a severity, its file and line, a code, and a hint. Findings of one code are grouped, and the first
    is shown with its line. The exit code is 1 if any finding is fatal or a fault, else 0.

    With --against, the last line says whether a submission is ready, or what is missing.
    """
    from karat.problems import UsageError
    from karat.protocols import parse_setting
    from karat.report import findings as report
    from karat.run.validation import validate

    if [*paths, against].count("-") > 1:
        raise UsageError("standard-input-twice", "standard input can be read only once", "Use - only once.")
    refuse_overwriting(output, paths if against is None else [*paths, against])
    validation = validate(
        paths,
        format=input_format,
        options=reading,
        types=types,
        against=against,
        protocols=protocols,
        settings=dict(map(parse_setting, settings)),
        progress=progress(),
        executor=executor,
    )
    shown = report.json(validation) if form == "json" else report.text(validation, style=output_style(output))
    write_output(shown, output)
    if not validation.passed:
        sys.exit(1)
