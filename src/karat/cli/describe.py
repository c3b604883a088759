"""`karat describe`."""

from typing import TYPE_CHECKING, Any

import click

from karat.cli._options import (
    digits_option,
    input_options,
    print_findings,
    progress,
    tables_option,
    topics_option,
    validated_option,
    wide_option,
    worker_options,
)
from karat.cli._output import output_option, output_style, refuse_overwriting, write_output
from karat.cli._parameters import FILE, number_option

if TYPE_CHECKING:
    from karat.corpus.interface import Executor
    from karat.plugin import ReadOptions

EPILOG = """\b
Examples:
  karat describe gold.tbf
  karat describe corpus.jsonl.gz --most 5
  karat describe ecbplus/ --topics 26-45
  karat describe annotations/ --input-format tbf -f json -o corpus.json
  karat describe gold.tbf -f latex --digits 1 -o corpus.tex

CORPUS is a file, a folder, @LIST (a file with one path per line), or - for standard input.

JSON has the same numbers: documents, fingerprint, units, topics, subtopics, sources, languages; mentions, attributes,
clusters and cluster_attributes by kind; links by kind. An attribute has the number of mentions with it (present) and
without it (absent), the number of distinct values (distinct), the values with their counts (values), and how many
values and mentions are not listed (more). ECB+ also has the numbers of Upadhyay et al. (2016), Table 1 (ecbplus).
"""


@click.command(epilog=EPILOG)
@click.argument("corpus", type=FILE)
@input_options
@validated_option
@topics_option
@number_option("--most", least=0, default=20, help="List at most N values per attribute (0 = none).")
@tables_option
@output_option
@digits_option
@wide_option
@worker_options
def describe(
    corpus: str,
    input_format: str | None,
    reading: "ReadOptions",
    topics: Any,
    most: int,
    form: str,
    output: str | None,
    digits: int,
    wide: bool,
    executor: "Executor",
) -> None:
    """Describe what is in CORPUS.

    Counts documents, topics, mentions, attribute values, clusters (singletons, within and across documents) and links.
    """
    from karat.corpus.opening import open_corpus
    from karat.describe.description import description
    from karat.problems import Findings
    from karat.report.description import FORMATS
    from karat.report.layout import View

    findings = Findings()
    opened = open_corpus(corpus, format=input_format, options=reading, report=findings.add)
    opened = opened.of_topics(topics)
    refuse_overwriting(output, opened.inputs())
    described = description(opened, most=most, findings=findings, progress=progress(), executor=executor)
    print_findings(findings)
    write_output(FORMATS[form](described, View(digits, style=output_style(output), wide=wide)), output)
