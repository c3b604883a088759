"""`karat baseline`."""

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from karat.cli._folders import documents_to, output_format
from karat.cli._options import (
    analyser_option,
    input_options,
    print_findings,
    progress,
    topics_option,
    topics_spec,
    validated_option,
)
from karat.cli._output import output_option, refuse_overwriting
from karat.cli._parameters import FILE, Nearest, name_option
from karat.problems import placed

if TYPE_CHECKING:
    from karat.plugin import ReadOptions

EPILOG = """\b
Baselines (Upadhyay et al. 2016):
  lemma        links event mentions with the same head lemma
  lemma-wd     the same, within documents
  lemma-delta  the same, in documents with a tf-idf similarity of at least delta
  sac          a classifier of pairs, learned from gold, and agglomerative clustering

\b
Examples:
  karat baseline lemma ecbplus/ --topics 26-45 -o lemma.jsonl
  karat baseline lemma-delta ecbplus/ --dev-topics 23-25 --topics 26-45 -o lemma-delta.jsonl
  karat baseline sac ecbplus/ --train-topics 1-22 --topics 26-45 -o sac.jsonl
  karat score ecbplus/ sac.jsonl --topics 26-45

CORPUS is a file, a folder, @LIST (a file with one path per line), or - for standard input. Its event mentions are
given; their clusters are read only for training. Needs the extra karat[baselines].
"""


@click.command(epilog=EPILOG)
@click.argument("name", type=Nearest(["lemma", "lemma-wd", "lemma-delta", "sac"]))
@click.argument("corpus", type=FILE)
@topics_option
@click.option(
    "--delta", type=click.FloatRange(0, 1), metavar="X", help="Minimum similarity of two documents. Default: 0.3."
)
@click.option(
    "--dev-topics",
    metavar="SPEC",
    callback=topics_spec,
    help="Topics to choose delta on (sac: where to stop merging).",
)
@click.option("--train-topics", metavar="SPEC", callback=topics_spec, help="Topics that sac learns from.")
@click.option("--gold-arguments", is_flag=True, help="Let sac use the participants, times and places that gold marks.")
@analyser_option
@input_options
@validated_option
@name_option("formats", "--to", help="Output format. Default: by the suffix of FILE, else jsonl.")
@output_option
def baseline(
    name: Any,
    corpus: str,
    topics: Any,
    delta: float | None,
    dev_topics: Any,
    train_topics: Any,
    gold_arguments: bool,
    analyser: str,
    input_format: str | None,
    reading: "ReadOptions",
    to: str | None,
    output: str | None,
) -> None:
    """Run a baseline on CORPUS and write its output.

    Without --topics, sac and lemma-delta skip the topics that they learn from.
    """
    from karat.baselines.running import Plan, run
    from karat.baselines.texts import ANALYSERS
    from karat.corpus.opening import open_corpus
    from karat.formats import FORMATS
    from karat.problems import Findings
    from karat.report.layout import counted

    plan = Plan(name, delta, topics, train_topics, dev_topics, gold_arguments)
    written_as = output_format(to, output) or "jsonl"
    format_ = FORMATS.get(written_as)
    assert format_.write is not None, "only formats that can be written are offered"
    findings = Findings()
    opened = open_corpus(corpus, format=input_format, options=reading, report=findings.add)
    refuse_overwriting(output, opened.inputs(), folder=corpus)
    with placed(lambda: (opened.name, None)):
        made = run(
            plan,
            opened,
            ANALYSERS.get(analyser),
            findings=findings,
            progress=progress(),
            on_step=progress("steps of training"),
        )
    documents = made.documents()
    lost: Counter[str] = Counter()
    to_write = format_.write_options(output, reading.tokens)
    to_write = format_.plan(documents, to_write, lambda what: lost.update([what]))
    with documents_to(output, written_as) as sink:
        if to_write.head:
            sink.add(to_write.head)
        for document in documents:
            with placed(partial(opened.where, document.id)):
                sink.add(format_.write(document, to_write, lambda what: lost.update([what])))
    print_findings(findings)
    for what, count in lost.items():
        click.echo(f"lost: {what} ({count:,})", err=True)
    if made.choice is not None:
        tried = ", ".join(f"{value:g}: {100 * score:.1f}" for value, score in made.choice.scores.items())
        click.echo(f"{made.choice.parameter} {made.choice.best:g} is best on topics {dev_topics} ({tried})", err=True)
    mentions = sum(len(document.mentions) for document in documents)
    clusters = len({mention.cluster for document in documents for mention in document.mentions})
    size = (
        f"{counted(len(documents), 'document')}, {counted(mentions, 'event mention')}, {counted(clusters, 'cluster')}"
    )
    click.echo(f"{', '.join(f'{key} {value}' for key, value in made.about.items())}: {size}", err=True)
    click.echo(f"signature  {made.signature(plan.topics)}", err=True)
