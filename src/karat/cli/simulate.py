"""`karat simulate`."""

from collections import Counter
from collections.abc import Callable
from typing import Any, TypeVar

import click

from karat.cli._options import input_options, progress, tell
from karat.cli._output import documents_to, output_format, output_option, refuse_overwriting, writable
from karat.errors import Rule, UsageError

EPILOG = """\b
Examples:
  karat simulate gold.tbf --miss 0.2 -o system.tbf
  karat simulate gold.tbf --spurious 0.1 --boundary 0.3 --attribute type=0.25 --seed 7 -o system.tbf
  karat simulate gold.jsonl --break 0.2 --conflate 0.1 --to tbf > system.tbf

Errors are made in this order, each in what the ones before have left: miss, split, merge, boundary, attribute, break,
conflate, drop-link, reverse-link, spurious. A rate is the chance of each mention, cluster or link, between 0 and 1.
What is done to a document depends on the seed, its id and the corpus's distributions, not on its place among others.

GOLD is a file, a folder, @LIST (a file with one path a line), or - for standard input.
"""

LOSS = Rule("format-loss", "note", "Choose a format that can hold it, such as jsonl, if it matters.")

RATES = {
    "miss": "Mentions that are dropped.",
    "split": "Mentions that become two.",
    "merge": "Mentions that become one with their next neighbour.",
    "boundary": "Mentions of which one end is shifted, by one or two positions.",
    "break": "Mentions that leave their cluster.",
    "conflate": "Clusters that become one with another of their document.",
    "drop-link": "Links that are dropped.",
    "reverse-link": "Links that are turned round, if no cycle comes of it.",
    "spurious": "Mentions that are invented, for each gold mention.",
}

_Command = TypeVar("_Command", bound=Callable[..., Any])


def rate_options(command: _Command) -> _Command:
    """An option for each rate."""
    for name, what in reversed(RATES.items()):
        option = click.option(f"--{name}", type=float, default=0.0, metavar="RATE", help=what)
        command = option(command)
    return command


@click.command(epilog=EPILOG)
@click.argument("gold")
@rate_options
@click.option(
    "--attribute",
    "attributes",
    multiple=True,
    metavar="NAME=RATE",
    help="Values of an attribute that are mistaken for others; may be repeated.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Another seed makes another system.")
@input_options
@click.option("--to", metavar="FORMAT", help="Format of the output. Default: by the suffix of FILE, else GOLD's.")
@output_option
def simulate(
    gold: str,
    attributes: tuple[str, ...],
    seed: int,
    input_format: str | None,
    unit: Any,
    tokens: str | None,
    sources: str | None,
    to: str | None,
    output: str | None,
    **rates: float,
) -> None:
    """Make a system from GOLD with chosen errors.

    Without any, the system is gold. How many errors were made is said on standard error.
    """
    from karat.corpus import open_corpus
    from karat.errors import Findings
    from karat.formats import FORMATS, read_options
    from karat.plugin.formats import WriteOptions
    from karat.simulate import Rates, Simulation

    asked = Rates(attributes=dict(map(_rate, attributes)), break_=rates.pop("break"), **rates)
    findings, options = Findings(), read_options(unit, tokens, sources)
    told = output_format(to, output)
    golden = open_corpus(gold, format=input_format, options=options, report=findings.add)
    refuse_overwriting(output, golden.inputs(), folder=gold)
    name = told or writable(golden.format)
    format_ = FORMATS.get(name)
    assert format_.write is not None, "the format was chosen among those that are written"
    simulation = Simulation(golden, asked, seed=seed, options=options, report=findings.add, progress=progress())
    lost: Counter[str] = Counter()
    to_write = WriteOptions(options.tokens, format_.writes_folder(output))
    to_write = format_.plan(simulation, to_write, lambda what: lost.update([what]))
    documents = mentions = 0
    with documents_to(output, name) as sink:
        for document in simulation:
            sink.add(format_.write(document, to_write, lambda what: lost.update([what])))
            documents, mentions = documents + 1, mentions + len(document.mentions)
    tell(findings)
    for what, count in lost.items():
        found = LOSS.at(f"{name} cannot hold {what} ({count:,} time{'s' * (count > 1)})")
        click.echo(f"{found.severity}: {found}", err=True)
    click.echo(_summary(asked.by_name(), simulation.made, seed, documents, mentions), err=True)


def _rate(text: str) -> tuple[str, float]:
    name, _, rate = text.rpartition("=")
    try:
        return name, float(rate if name else "")
    except ValueError:
        found = f"--attribute {text!r} is not NAME=RATE"
        raise UsageError("attribute-rate", found, "Write, for example, --attribute type=0.1") from None


def _summary(rates: dict[str, float], made: dict[str, int], seed: int, documents: int, mentions: int) -> str:
    from karat.report.text import counted, table

    rows = [[name, f"{rate:g}", f"{made.get(name, 0):,}"] for name, rate in rates.items() if rate]
    whole = f"{counted(documents, 'document')} with {counted(mentions, 'mention')}, seed {seed}"
    return f"{whole}\n{table(['error', 'rate', 'made'], rows)}" if rows else f"{whole}; no errors: the system is gold"
