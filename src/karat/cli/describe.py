"""`karat describe`."""

from typing import Any

import click

from karat.cli._options import form_option, input_options, progress, tell, topics_option
from karat.cli._output import output_option, refuse_overwriting, written

EPILOG = """\b
Examples:
  karat describe gold.tbf
  karat describe corpus.jsonl.gz --most 5
  karat describe ecbplus/ --topics 26-45
  karat describe annotations/ --input-format tbf -f json -o corpus.json

CORPUS is a file, a folder, @LIST (a file with one path a line), or - for standard input.

JSON has the same numbers: documents, fingerprint, units, topics, subtopics, sources, languages; mentions, attributes,
clusters and cluster_attributes by kind; links by kind. An attribute has the numbers of mentions with it (present) and
without (absent), of distinct values, the values with their counts, and what is not listed (more). ECB+ files also have
the numbers of Upadhyay et al. (2016), Table 1 (ecbplus).
"""


@click.command(epilog=EPILOG)
@click.argument("corpus")
@input_options
@topics_option
@click.option(
    "--most", type=click.IntRange(0), default=20, show_default=True, help="List so many values of an attribute."
)
@form_option
@output_option
def describe(
    corpus: str,
    input_format: str | None,
    unit: Any,
    tokens: str | None,
    sources: str | None,
    topics: Any,
    most: int,
    form: str,
    output: str | None,
) -> None:
    """Tell what is in CORPUS.

    Documents, topics, mentions, attributes and their values, clusters (singleton, within, across documents), links.
    """
    from karat.corpus import open_corpus
    from karat.describe import description
    from karat.errors import Findings
    from karat.formats import read_options
    from karat.report.description import json, text

    findings = Findings()
    options = read_options(unit, tokens, sources)
    opened = open_corpus(corpus, format=input_format, options=options, report=findings.add)
    opened = opened.of_topics(topics)
    refuse_overwriting(output, opened.inputs())
    told = description(opened, most=most, report=findings.add, progress=progress())
    tell(findings)
    written(json(told) if form == "json" else text(told), output)
