"""`karat lab`."""

from typing import TYPE_CHECKING

import click

from karat.cli._figures import Plot, refuse_outputs, write_figures
from karat.cli._options import format_option, input_options, plot_option, print_findings, progress, settings_option
from karat.cli._output import output_option, write_output
from karat.cli._parameters import FILE, completes, name_option, number_option

if TYPE_CHECKING:
    from karat.plugin import ReadOptions

EPILOG = """\b
Examples:
  karat lab nugget.span
  karat lab coref.b3 -p conll-2012 --orders 1
  karat lab coref -p simple-cdec --set blanc.edge=symmetric --gold gold.jsonl --steps 20
  karat lab nugget.type -f csv -o curves.csv

P1 identity: gold against itself scores 1. P2 symmetry: swapping the two sides changes nothing. P3 zero: a system that
has nothing in common with gold scores 0. P4 monotone: every right piece raises the score, every wrong piece lowers it.
P5 linear: every piece is worth the same; the report shows the largest distance from a straight line, as a share of the
difference between the first and the last score, on the way to gold / to chaos (Araki et al. 2014, section 3.3).

A system grows from nothing to gold, one right piece at a time, and goes from gold to chaos, one wrong piece at a time.
karat finds out what a piece is (a mention, a coreference link, another link) by removing each from gold. A verdict
holds for this gold and these orders: a counter-example disproves a property, but the lack of one proves nothing.
"""


@click.command(epilog=EPILOG)
@click.argument("measure", shell_complete=completes("measures"))
@click.option(
    "--gold",
    metavar="GOLD",
    type=FILE,
    help="Gold to examine it with. Default: a corpus that comes with karat.",
)
@name_option(
    "protocols",
    "-p",
    "--protocol",
    help="Protocol to score with. Default: one that has the measure, by the format of gold.",
)
@settings_option
@input_options
@number_option(
    "--steps", least=1, default=200, help="Points per curve; if there are more pieces, several are added at a time."
)
@number_option(
    "--orders",
    least=1,
    default=2,
    help="Orders in which pieces are added: the first from last to first, the others random.",
)
@click.option("--seed", type=int, metavar="N", default=0, show_default=True, help="Random seed for the orders.")
@plot_option("FILE", "", "parse_files")
@format_option("text", "json", "csv", explained="; csv has the points of the curves")
@output_option
def lab(
    measure: str,
    gold: str | None,
    protocol: str | None,
    settings: tuple[str, ...],
    input_format: str | None,
    reading: "ReadOptions",
    steps: int,
    orders: int,
    seed: int,
    plots: tuple[Plot, ...],
    form: str,
    output: str | None,
) -> None:
    """Examine how MEASURE behaves.

    MEASURE is an id, or a prefix of ids. Checks five properties, and shows counter-examples and curves.
    """
    from karat.corpus.opening import open_corpus
    from karat.problems import Findings
    from karat.protocols import parse_setting
    from karat.studies import lab

    findings = Findings()
    named = None
    if gold is not None:
        named = open_corpus(gold, format=input_format, options=reading, report=findings.add)
    refuse_outputs(plots, output, () if named is None else named.inputs())
    corpus, chosen = lab.setting(measure, named, protocol, dict(map(parse_setting, settings)))
    if protocol is None:
        click.echo(f"protocol: {chosen.name} (choose with -p)", err=True)
    options = lab.Options(steps, orders, seed)
    examination = lab.examine(measure, corpus, chosen, options, findings=findings, progress=progress("systems"))
    print_findings(findings)
    write_figures(plots, lambda _, __: lab.figure(examination), output)
    write_output({"text": lab.text, "json": lab.json, "csv": lab.points}[form](examination), output)
