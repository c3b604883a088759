"""`karat simulate`."""

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

import click

from karat.cli._folders import documents_to, output_format, writable
from karat.cli._options import input_options, print_findings, progress
from karat.cli._output import output_option, refuse_overwriting
from karat.cli._parameters import FILE, Command, name_option
from karat.problems import Finding, KaratError, Rule, UsageError, placed

if TYPE_CHECKING:
    from karat.plugin import ReadOptions

EPILOG = """\b
Examples:
  karat simulate gold.tbf --miss 0.2 -o system.tbf
  karat simulate gold.tbf --spurious 0.1 --boundary 0.3 --attribute type=0.25 --seed 7 -o system.tbf
  karat simulate litbank/ --miss 0.1 -o system/
  karat simulate gold.jsonl --break 0.2 --conflate 0.1 --to tbf > system.tbf

Errors are made in this order, each on the result of the previous ones: miss, split, merge, boundary, attribute, break,
conflate, drop-link, reverse-link, spurious. A rate is a probability, from 0 to 1, for each mention, cluster or link.
In APF, reverse-link swaps Arg-1 and Arg-2 of relations, conflate merges only entities and events, and each spurious
mention is an element with attributes. What happens to a document depends on the seed, its id and the distributions of
the corpus, not on the document order.

GOLD is a file, a folder, @LIST (a file with one path per line), or - for standard input.
"""

INVALID = Rule("simulation-invalid", "fatal", "Choose other errors, or another format such as jsonl with --to.")
LOSS = Rule("format-loss", "note", "If it matters, choose a format that can hold it, such as jsonl.")

RATES = {
    "miss": "Drop mentions.",
    "split": "Split mentions in two.",
    "merge": "Merge mentions with the next one.",
    "boundary": "Shift one end of mentions by one or two positions.",
    "break": "Remove mentions from their cluster.",
    "conflate": "Merge clusters with another one of their document.",
    "drop-link": "Drop links.",
    "reverse-link": "Reverse links, unless that makes a cycle.",
    "spurious": "Add spurious mentions, at this rate per gold mention.",
}


def rate_options(command: Command) -> Command:
    for name, what in reversed(RATES.items()):
        option = click.option(f"--{name}", type=float, default=0.0, metavar="RATE", help=what)
        command = option(command)
    return command


@click.command(epilog=EPILOG)
@click.argument("gold", type=FILE)
@rate_options
@click.option(
    "--attribute",
    "attributes",
    multiple=True,
    metavar="NAME=RATE",
    help="Confuse values of an attribute with others; may be repeated.",
)
@click.option("--seed", type=int, metavar="N", default=0, show_default=True, help="Random seed.")
@input_options
@name_option("formats", "--to", help="Output format. Default: by the suffix of the output; without one, that of GOLD.")
@output_option
def simulate(
    gold: str,
    attributes: tuple[str, ...],
    seed: int,
    input_format: str | None,
    reading: "ReadOptions",
    to: str | None,
    output: str | None,
    **rates: float,
) -> None:
    """Make a system from GOLD with chosen errors.

    Without errors, the system equals GOLD. The number of errors made is printed to standard error. APF stays valid:
    whatever depends on an error changes with it, such as a relation whose argument is missed. If the
    format does not allow the result, the command fails and writes nothing.
    """
    from karat.corpus.opening import open_corpus
    from karat.formats import FORMATS
    from karat.plugin.formats import ReadOptions
    from karat.problems import Findings
    from karat.protocols import resolve
    from karat.simulate.simulation import Rates, Simulation

    chosen = Rates(attributes=dict(map(_rate, attributes)), break_=rates.pop("break"), **rates)
    if to is not None:
        writable(to)
    findings = Findings()
    corpus = open_corpus(gold, format=input_format, options=reading, report=findings.add)
    refuse_overwriting(output, corpus.inputs(), folder=gold)
    name = output_format(to, output, fallback=corpus.format)
    assert name is not None, "the format of gold is the fallback"
    format_ = FORMATS.get(name)
    assert format_.write is not None, "only formats that can be written are offered"
    faults = {code for protocol in format_.protocols for code in resolve(protocol).faults}
    simulation = Simulation(
        corpus,
        chosen,
        seed=seed,
        options=reading,
        faults=faults,
        is_ace=format_.tolerated_faults is not None,
        report=findings.add,
        progress=progress(),
    )
    lost: Counter[str] = Counter()
    unread: Counter[str] = Counter()
    to_write = format_.write_options(output, reading.tokens)
    to_write = format_.plan(simulation, to_write, lambda what: lost.update([what]))
    documents = mentions = 0
    with documents_to(output, name) as sink:
        if to_write.head:
            sink.add(to_write.head)
        for document in simulation:
            with placed(partial(corpus.where, document.id)):
                try:
                    piece = format_.write(document, to_write, lambda what: lost.update([what]))
                except KaratError as error:
                    # Gold that cannot be written either is refused for what it is.
                    format_.write(corpus.read(document.id, findings.add), to_write, lambda what: lost.update([what]))
                    raise _invalid(name, error.finding) from None
            sink.add(piece)
            unread.update(() if document.declared is None else document.declared.unread())
            documents, mentions = documents + 1, mentions + len(document.mentions)
        if format_.tolerated_faults is not None:
            sink.finish()
            _refuse_invalid(sink.place, name, ReadOptions() if to_write.folder else reading)
    print_findings(findings)
    losses = [(f"not read from {corpus.format}: {what}", count) for what, count in unread.items()]
    losses += [(f"{name} cannot represent {what}", count) for what, count in lost.items()]
    for message, count in losses:
        loss = LOSS.at(f"{message} ({count:,} time{'s' * (count > 1)})")
        click.echo(f"{loss.severity}: {loss}", err=True)
    click.echo(_summary(chosen.by_name(), simulation.made, seed, documents, mentions), err=True)


def _refuse_invalid(place: str, name: str, options: "ReadOptions") -> None:
    """Refuse a system that `karat score` would refuse; nothing is written then."""
    from karat.formats import FORMATS
    from karat.run.validation import validate

    tolerated = FORMATS.get(name).tolerated_faults or ()
    for finding in validate([place], format=name, options=options).findings.kept:
        if finding.severity == "fatal" or (finding.severity == "fault" and finding.code not in tolerated):
            raise _invalid(name, finding)


def _invalid(name: str, finding: Finding) -> KaratError:
    return INVALID.error(f"with these errors the system is not valid {name}: {finding.message} [{finding.code}]")


def _rate(text: str) -> tuple[str, float]:
    name, _, rate = text.rpartition("=")
    try:
        return name, float(rate if name else "")
    except ValueError:
        message = f"--attribute {text!r} is not NAME=RATE"
        raise UsageError("attribute-rate", message, "Write, for example, --attribute type=0.1") from None


def _summary(rates: dict[str, float], made: dict[str, int], seed: int, documents: int, mentions: int) -> str:
    from karat.report.layout import counted, table

    rows = [[name, f"{rate:g}", f"{made.get(name, 0):,}"] for name, rate in rates.items() if rate]
    size = f"{counted(documents, 'document')} with {counted(mentions, 'mention')}, seed {seed}"
    return f"{size}\n{table(['error', 'rate', 'made'], rows)}" if rows else f"{size}; no errors: the system equals gold"
