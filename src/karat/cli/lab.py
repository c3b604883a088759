"""`karat lab`."""

from typing import Any

import click

from karat.cli._options import Nearest, input_options, progress, settings_option, tell
from karat.cli._output import output_option, refuse_overwriting, written

EPILOG = """\b
Examples:
  karat lab nugget.span
  karat lab coref.b3 -p conll-2012 --orders 1
  karat lab coref -p simple-cdec --set blanc.edge=symmetric --gold gold.jsonl --steps 20
  karat lab nugget.type -f csv -o curves.csv

P1 identity: gold against itself scores 1. P2 symmetry: exchanging the two sides changes nothing. P3 zero: what has
nothing in common with gold scores 0. P4 monotone: every right piece raises the score, every wrong one lowers it. P5
linear: every piece is worth the same; told is the largest distance from a straight line, as a share of the way from
first to last score, on the way to gold / to chaos (Araki et al. 2014, section 3.3).

A system grows from nothing to gold by one right piece at a time, and goes from gold to chaos by one wrong piece at a
time. What a piece is (a mention, a link of coreference, another link) is found out by taking each from gold. A verdict
is about this gold and these orders: a counter-example disproves, its absence proves nothing.
"""


@click.command(epilog=EPILOG)
@click.argument("measure")
@click.option("--gold", metavar="GOLD", help="Gold to start from. Default: a corpus that comes with karat.")
@click.option(
    "-p",
    "--protocol",
    metavar="NAME|FILE.toml",
    help="How to score. Default: one that has the measure, by the format of gold.",
)
@settings_option
@input_options
@click.option(
    "--steps",
    type=click.IntRange(1),
    default=200,
    show_default=True,
    help="Points of a curve; with more pieces, some are added together.",
)
@click.option(
    "--orders",
    type=click.IntRange(1),
    default=2,
    show_default=True,
    help="Orders of pieces: from last to first, others by chance.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Another seed makes other orders.")
@click.option("--plot", metavar="FILE", help="Draw the curves into FILE.svg, FILE.png or FILE.pdf, too.")
@click.option(
    "-f",
    "--format",
    "form",
    type=Nearest(["text", "json", "csv"]),
    default="text",
    show_default=True,
    help="Form of the output; csv: the points of the curves.",
)
@output_option
def lab(
    measure: str,
    gold: str | None,
    protocol: str | None,
    settings: tuple[str, ...],
    input_format: str | None,
    unit: Any,
    tokens: str | None,
    sources: str | None,
    steps: int,
    orders: int,
    seed: int,
    plot: str | None,
    form: str,
    output: str | None,
) -> None:
    """Examine how MEASURE behaves.

    MEASURE is an id, or how ids begin. Told are five properties, with counter-examples, and the curves behind them.
    """
    from karat.corpus import open_corpus
    from karat.errors import Findings
    from karat.formats import read_options
    from karat.protocols import parse_setting
    from karat.studies import lab, shown
    from karat.studies.plot import drawn_as, picture

    suffix = None if plot is None else drawn_as(plot)
    findings = Findings()
    named = None
    if gold is not None:
        named = open_corpus(gold, format=input_format, options=read_options(unit, tokens, sources), report=findings.add)
        refuse_overwriting(output, named.inputs())
        refuse_overwriting(plot, named.inputs())
    corpus, chosen = lab.setting(measure, named, protocol, dict(map(parse_setting, settings)))
    if protocol is None:
        click.echo(f"protocol: {chosen.name} (choose with -p)", err=True)
    wanted = lab.Options(steps, orders, seed)
    found = lab.examine(measure, corpus, chosen, wanted, findings=findings, progress=progress("systems"))
    tell(findings)
    if plot is not None and suffix is not None:
        written(picture(shown.panels(found), suffix, title=shown.title(found)), plot)
    written({"text": shown.text, "json": shown.json, "csv": shown.points}[form](found), output)
