"""`karat score`."""

from typing import TYPE_CHECKING, Any

import click

from karat.cli._options import (
    form_option,
    progress,
    settings_option,
    sources_option,
    tokens_option,
    topics_option,
    unit_option,
)
from karat.cli._output import output_option, refuse_overwriting, written

if TYPE_CHECKING:
    from karat.topics import Topics

EPILOG = """\b
Examples:
  karat score gold.tbf system.tbf
  karat score gold.tbf system.tbf --tokens tables/ --per-document
  karat score gold.tbf system.tbf -p tac-2017 --set types=types.txt --by type
  karat score gold.jsonl.gz system.jsonl -p tac-2017 -m nugget.type -f json
  karat score gold.jsonl system.jsonl -p simple-cdec -p pure-cdec
  karat score gold.tbf system.tbf -p araki-2014 --set twinless=own-pairs -m hierarchy

GOLD and SYSTEM are a file, a folder, @LIST (a file with one path a line), or - for standard input.
"""


@click.command(epilog=EPILOG)
@click.argument("gold")
@click.argument("system")
@click.option(
    "-p",
    "--protocol",
    "protocols",
    multiple=True,
    metavar="NAME|FILE.toml",
    help="How to score; may be repeated. Default: by the format of GOLD.",
)
@click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    metavar="PREFIX",
    help="Only measures whose id begins so; may be repeated.",
)
@settings_option
@click.option("--gold-format", metavar="FORMAT", help="Format of GOLD. Default: what the file looks like.")
@click.option("--system-format", metavar="FORMAT", help="Format of SYSTEM.")
@unit_option
@tokens_option
@sources_option
@topics_option
@form_option
@output_option
@click.option(
    "--digits", type=click.IntRange(0, 15), default=2, show_default=True, help="Digits of percentages in text."
)
@click.option(
    "--by",
    multiple=True,
    metavar="FIELD",
    help="Break scores down by an attribute, kind, document, topic, ...; may be repeated.",
)
@click.option("--per-unit", is_flag=True, help="Scores of each unit of evaluation.")
@click.option("--per-document", is_flag=True, help="Scores of each document.")
@click.option("--details", is_flag=True, help="The mapping element by element, and what was confused (ACE).")
@click.option("--strict", is_flag=True, help="Refuse faults instead of counting them.")
@click.option("--accept-faults", is_flag=True, help="Count faults also where a format's rules refuse them (APF).")
def score(
    gold: str,
    system: str,
    protocols: tuple[str, ...],
    measures: tuple[str, ...],
    settings: tuple[str, ...],
    gold_format: str | None,
    system_format: str | None,
    unit: Any,
    tokens: str | None,
    sources: str | None,
    topics: "Topics | None",
    form: str,
    output: str | None,
    digits: int,
    by: tuple[str, ...],
    per_unit: bool,
    per_document: bool,
    details: bool,
    strict: bool,
    accept_faults: bool,
) -> None:
    """Score SYSTEM against GOLD under one or more protocols."""
    from karat import engine
    from karat.corpus import open_corpus
    from karat.errors import Findings, UsageError
    from karat.formats import Options
    from karat.protocols import parse_setting, resolve_all
    from karat.report.json import json
    from karat.report.text import texts

    if gold == system == "-":
        raise UsageError(
            "standard-input-twice", "GOLD and SYSTEM cannot both be standard input", "Name a file for one."
        )
    if strict and accept_faults:
        raise UsageError(
            "faults-both", "--strict refuses faults and --accept-faults counts them", "Give one of the two."
        )
    chosen = dict(map(parse_setting, settings))
    resolve_all(protocols, chosen if protocols else {})
    findings = Findings()
    options = Options.of(unit, tokens, sources)
    golden = open_corpus(gold, format=gold_format, options=options, report=findings.add)
    found = open_corpus(system, format=system_format, fallback=golden.format, options=options, report=findings.add)
    golden = golden.of_topics(topics)
    found = found.of_topics(topics, beside=golden)
    refuse_overwriting(output, [*golden.inputs(), *found.inputs()])
    if not protocols:
        click.echo(f"protocol: {', '.join(golden.protocols)} (GOLD is {golden.format}; choose with -p)", err=True)
    results = engine.score(
        golden,
        found,
        resolve_all(protocols or golden.protocols, chosen),
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
    written(json(results) if form == "json" else texts(results, digits=digits), output)
