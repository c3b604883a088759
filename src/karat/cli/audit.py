"""`karat audit`."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import click

from karat.cli._options import (
    analyser_option,
    format_option,
    input_options,
    print_findings,
    progress,
    topics_option,
    validated_option,
)
from karat.cli._output import html_file, output_option, output_style, refuse_overwriting, report_size, write_output
from karat.cli._parameters import FILE, Nearest, number_option
from karat.problems import UsageError, placed

if TYPE_CHECKING:
    from karat.plugin import ReadOptions

EPILOG = """\b
Examples:
  karat audit ecbplus/ --topics 1-22
  karat audit ecbplus/ --topics 1-22 -f csv -o suspicious.csv
  karat audit ecbplus/ --topics 1-22 -f html -o audit.html
  karat audit ecbplus/ --topics cybulska-2015:train --validated --class missing
  karat audit ecbplus/ --topics 1-22 --plant 0.05

Pairs of event mentions of one topic with similar heads are classified by an anchored SVM (Goldberg and Elhadad 2007;
Upadhyay et al. 2016, section 7.3). What it can only memorise is suspicious: a link that is missing, or one that
is wrong. Needs the extra karat[baselines].
"""


@click.command(epilog=EPILOG)
@click.argument("corpus", type=FILE)
@topics_option
@click.option(
    "--threshold",
    type=click.FloatRange(0),
    metavar="X",
    default=0.95,
    show_default=True,
    help="Report pairs whose anchor weight is higher.",
)
@click.option(
    "--class",
    "only",
    type=Nearest(["missing", "suspicious"]),
    help="List only links that may be missing, or only links that look wrong. Default: both, missing ones first.",
)
@number_option("--most", least=0, default=20, help="Show at most N pairs in text (0 = all).")
@click.option(
    "--plant",
    type=click.FloatRange(0, 1, min_open=True),
    metavar="RATE",
    help="Instead, hide this share of links in a copy, add half as many wrong ones, and report how many are found.",
)
@click.option("--seed", type=int, metavar="N", default=0, show_default=True, help="Random seed of --plant.")
@analyser_option
@input_options
@validated_option
@format_option("text", "json", "csv", "html")
@output_option
def audit(
    corpus: str,
    topics: Any,
    threshold: float,
    only: Any,
    most: int,
    plant: float | None,
    seed: int,
    analyser: str,
    input_format: str | None,
    reading: "ReadOptions",
    form: str,
    output: str | None,
) -> None:
    """List suspicious annotations in CORPUS.

    Lists event mentions that may corefer but are not linked, then links that look wrong, then documents that look only
    partly annotated, each with the most suspicious first. A suspicion is not an error: read both sentences.
    """
    from karat.audit import suspicions
    from karat.audit.pairs import pairs
    from karat.baselines.texts import ANALYSERS, fingerprint, texts_of
    from karat.corpus.opening import open_corpus
    from karat.problems import Findings
    from karat.protocols.protocol import work_signature
    from karat.report import audit as report
    from karat.report.outputs import indented

    if plant is not None and form != "text":
        raise UsageError("audit-plant", "--plant prints a table as text", f"Omit -f {form}.")
    output = html_file(output) if form == "html" else output
    findings = Findings()
    opened = open_corpus(corpus, format=input_format, options=reading, report=findings.add).of_topics(topics)
    refuse_overwriting(output, opened.inputs(), folder=corpus)
    words = ANALYSERS.get(analyser)
    chosen = None if topics is None else str(topics)
    if plant is not None:
        texts = texts_of(opened, words, progress())
        with placed(lambda: (opened.name, None)):
            results = suspicions.plant(texts, pairs(texts, words), rate=plant, seed=seed, file=opened.name)
        results = [planted for planted in results if planted.kind.startswith(only or "")]
        signature = work_signature(
            {"plant": f"{plant:g}", "seed": str(seed)}, topics=chosen, words=words.engine, corpus=fingerprint(texts)
        )
        content: str | Iterable[str] = report.planted_text(results, rate=plant, seed=seed, signature=signature)
    else:
        with placed(lambda: (opened.name, None)):
            found = suspicions.audit(
                opened,
                words,
                threshold=threshold,
                only=only,
                topics=chosen,
                validated=reading.validated,
                progress=progress(),
            )
        forms: dict[str, Callable[[], str | Iterable[str]]] = {
            "text": lambda: report.text(found, most=most or None, style=output_style(output)),
            "json": lambda: indented(found),
            "csv": lambda: report.csv(found),
            "html": lambda: report.html(found, name=opened.name),
        }
        content = forms[form]()
    print_findings(findings)
    write_output(content, output)
    if form == "html":
        report_size(output, 0)
