"""`karat validate`."""

import sys
from typing import Any

import click

from karat.cli._options import form_option, input_options, progress, settings_option
from karat.cli._output import output_option, refuse_overwriting, write_output

EPILOG = """\b
Examples:
  karat validate system.tbf
  karat validate gold/ system.tbf --tokens tables/
  karat validate system.tbf --types types.txt
  karat validate apf/ --sources sgm/
  karat validate apf/ --set processing=cross-document
  karat validate @files.txt -f json -o findings.json

A PATH is a file, a folder, @LIST (a file with one path per line), or - for standard input. Each is a separate corpus.

\b
fatal  the file cannot be trusted and is not scored
fault  one item is wrong; scoring goes on, and the fault is counted
note   odd but usable
"""


@click.command(epilog=EPILOG)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@input_options
@click.option("--types", metavar="FILE", help="File of all allowed types, one per line; any other type is a fault.")
@settings_option
@form_option
@output_option
def validate(
    paths: tuple[str, ...],
    input_format: str | None,
    unit: Any,
    tokens: str | None,
    sources: str | None,
    types: str | None,
    settings: tuple[str, ...],
    form: str,
    output: str | None,
) -> None:
    """Check files and report every problem.

    Each finding has a severity, its file and line, a code, and a hint. The exit code is 1 if any is fatal or a fault,
    else 0.
    """
    from karat.engine.validation import validate
    from karat.errors import UsageError
    from karat.formats import read_options
    from karat.protocols import parse_setting
    from karat.report import findings as report

    if paths.count("-") > 1:
        raise UsageError("standard-input-twice", "standard input can be read only once", "Use - only once.")
    refuse_overwriting(output, paths)
    options = read_options(unit, tokens, sources)
    validation = validate(
        paths,
        format=input_format,
        options=options,
        types=types,
        settings=dict(map(parse_setting, settings)),
        progress=progress(),
    )
    write_output(report.json(validation) if form == "json" else report.text(validation), output)
    if not validation.passed:
        sys.exit(1)
