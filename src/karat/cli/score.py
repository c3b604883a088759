"""`karat score`."""

from typing import TYPE_CHECKING

import click

from karat.cli._choice import Nearest
from karat.cli._options import (
    form_option,
    progress,
    reading_options,
    settings_option,
    topics_option,
)
from karat.cli._output import output_option, output_style, refuse_overwriting, write_output
from karat.cli.completion import complete_files, complete_formats, complete_measures, complete_protocols

if TYPE_CHECKING:
    from karat.corpus import Topics
    from karat.plugin import ReadOptions
    from karat.report.breakdowns import Sort

EPILOG = """\b
Examples:
  karat score gold.tbf system.tbf
  karat score gold.tbf system.tbf --tokens tables/ --per-document
  karat score gold.tbf system.tbf -p tac-2017 --set types=types.txt --by type
  karat score gold.jsonl.gz system.jsonl -p tac-2017 -m nugget.type -f json
  karat score gold.jsonl system.jsonl -p simple-cdec -p pure-cdec
  karat score gold.tbf system.tbf -p araki-2014 --set twinless=own-pairs -m hierarchy

GOLD and SYSTEM are a file, a folder, @LIST (a file with one path per line), or - for standard input.
"""


@click.command(epilog=EPILOG)
@click.argument("gold", shell_complete=complete_files)
@click.argument("system", shell_complete=complete_files)
@click.option(
    "-p",
    "--protocol",
    "protocols",
    multiple=True,
    metavar="NAME|FILE.toml",
    shell_complete=complete_protocols,
    help="Protocol to score with; may be repeated. Default: by the format of GOLD.",
)
@click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    metavar="ID",
    shell_complete=complete_measures,
    help="Score only this measure, or, if there is none of that id, all whose ids start with ID; may be repeated.",
)
@settings_option
@click.option(
    "--gold-format",
    metavar="FORMAT",
    shell_complete=complete_formats,
    help="Format of GOLD. Default: detected from the content.",
)
@click.option(
    "--system-format",
    metavar="FORMAT",
    shell_complete=complete_formats,
    help="Format of SYSTEM. Default: detected, else that of GOLD.",
)
@reading_options
@topics_option
@form_option
@output_option
@click.option(
    "--digits", type=click.IntRange(0, 15), default=2, show_default=True, help="Decimal digits of percentages in text."
)
@click.option(
    "--by",
    multiple=True,
    metavar="FIELD",
    help="Break scores down by an attribute, kind, document, topic, ...; may be repeated.",
)
@click.option(
    "--sort",
    type=Nearest(["loss", "name"]),
    default="loss",
    show_default=True,
    help="Order of the rows of --by in text: what lost most first, or by name.",
)
@click.option("--per-unit", is_flag=True, help="Show the scores of each unit of evaluation.")
@click.option("--per-document", is_flag=True, help="Show the scores of each document.")
@click.option("--summary", is_flag=True, help="Print only the main scores in text: one row per protocol.")
@click.option("--details", is_flag=True, help="List what was matched, missed and spurious, item by item.")
@click.option("--strict", is_flag=True, help="Refuse faults instead of counting them.")
@click.option("--accept-faults", is_flag=True, help="Count faults even in a format that refuses them (APF).")
def score(
    gold: str,
    system: str,
    protocols: tuple[str, ...],
    measures: tuple[str, ...],
    settings: tuple[str, ...],
    gold_format: str | None,
    system_format: str | None,
    reading: "ReadOptions",
    topics: "Topics | None",
    form: str,
    output: str | None,
    digits: int,
    by: tuple[str, ...],
    per_unit: bool,
    per_document: bool,
    sort: "Sort",
    summary: bool,
    details: bool,
    strict: bool,
    accept_faults: bool,
) -> None:
    """Score SYSTEM against GOLD under one or more protocols."""
    from karat import engine
    from karat.corpus import open_corpus
    from karat.errors import Findings, UsageError, of_side
    from karat.protocols import parse_setting, resolve_all
    from karat.report.json import json
    from karat.report.text import summaries, texts

    if gold == system == "-":
        raise UsageError("standard-input-twice", "GOLD and SYSTEM cannot both be standard input", "Use a file for one.")
    if strict and accept_faults:
        raise UsageError(
            "faults-both", "--strict refuses faults and --accept-faults counts them", "Use only one of them."
        )
    chosen = dict(map(parse_setting, settings))
    resolve_all(protocols, chosen if protocols else {})
    findings = Findings()
    gold_corpus = open_corpus(gold, format=gold_format, options=reading, report=of_side(findings.add, "gold"))
    system_corpus = open_corpus(
        system,
        format=system_format,
        fallback=gold_corpus.format,
        options=reading,
        report=of_side(findings.add, "system"),
    )
    gold_corpus = gold_corpus.of_topics(topics)
    system_corpus = system_corpus.of_topics(topics, beside=gold_corpus)
    refuse_overwriting(output, [*gold_corpus.inputs(), *system_corpus.inputs()])
    if not protocols:
        default = ", ".join(gold_corpus.protocols)
        click.echo(f"protocol: {default} (GOLD is {gold_corpus.format}; choose with -p)", err=True)
    results = engine.score(
        gold_corpus,
        system_corpus,
        resolve_all(protocols or gold_corpus.protocols, chosen),
        engine.RunOptions(
            measures,
            by,
            per_unit or per_document,
            strict,
            None if topics is None else str(topics),
            accept_faults=accept_faults,
            details=details,
        ),
        findings=findings,
        progress=progress(),
    )
    if form == "json":
        write_output(json(results), output)
    elif summary:
        write_output(summaries(results, digits=digits, style=output_style(output)), output)
    else:
        write_output(texts(results, digits=digits, sort=sort, style=output_style(output)), output)
