"""`karat convert`."""

from typing import TYPE_CHECKING, Any

import click

from karat.cli._folders import documents_to, output_format
from karat.cli._options import input_options, print_findings, progress, topics_option, validated_option
from karat.cli._output import refuse_overwriting
from karat.cli._parameters import FILE, Nearest, name_option

if TYPE_CHECKING:
    from karat.plugin import ReadOptions

EPILOG = """\b
Examples:
  karat convert gold.tbf gold.jsonl.gz
  karat convert litbank/ litbank.jsonl
  karat convert litbank.jsonl litbank-again --to brat
  karat convert litbank/ litbank.tbf --lossy
  karat convert ere/ - --to jsonl
  karat convert gold.tbf hierarchies.forest --lossy
  karat convert ecbplus/ test.jsonl --topics 26-45
  karat convert apf/ given/ --to apf --keep mentions

IN is a file, a folder, @LIST (a file with one path per line), or - for standard input. OUT is a file (compressed if it
ends in .gz), - for standard output, or a new folder. brat is always written to a folder; APF is written to a folder,
with a copy of each .sgm file (if there is none, one made from the document's text), or to a file that ends in .apf.xml.
Names do not count as losses: brat has its own ids (E1, T1), so mentions are renumbered, and it cannot represent the
name of a system.
"""


@click.command(epilog=EPILOG)
@click.argument("source", metavar="IN", type=FILE)
@click.argument("out", metavar="OUT", type=FILE)
@input_options
@validated_option
@topics_option
@name_option("formats", "--to", help="Output format. Default: by the suffix of OUT.")
@click.option(
    "--keep",
    type=Nearest(["mentions", "elements"]),
    help="Keep what a diagnostic condition of ACE gives to systems: entity mentions, or entities, values and times.",
)
@click.option("--lossy", is_flag=True, help="Convert even if information is lost.")
def convert(
    source: str,
    out: str,
    input_format: str | None,
    reading: "ReadOptions",
    topics: Any,
    to: str | None,
    keep: Any,
    lossy: bool,
) -> None:
    """Convert IN to OUT, from any format to any that can represent it.

    Reports what would be lost, and refuses to convert unless --lossy is given.
    """
    from karat.convert import Conversion
    from karat.corpus.opening import open_corpus
    from karat.formats import FORMATS
    from karat.problems import Findings
    from karat.report.layout import counted

    place = None if out == "-" else out
    format_ = output_format(to, out)
    assert format_ is not None, "OUT is a required argument"
    findings = Findings()
    corpus = open_corpus(source, format=input_format, options=reading, report=findings.add)
    corpus = corpus.of_topics(topics)
    refuse_overwriting(place, corpus.inputs(), folder=source)
    to_write = FORMATS.get(format_).write_options(place, reading.tokens)
    conversion = Conversion(corpus, format_, to_write, keep=keep)
    show = progress()
    try:
        with documents_to(place, format_) as sink:
            for done, piece in enumerate(conversion.pieces(findings.add), 1):
                sink.add(piece)
                if show is not None:
                    show(done, len(conversion))
            sink.finish()
            for what, count in conversion.losses.items():
                click.echo(f"{'lost' if lossy else 'would be lost'}: {what} ({count:,})", err=True)
            if not lossy:
                conversion.refuse_losses()
            documents, mentions = conversion.verify(sink.place)
    finally:
        print_findings(findings)
    read = f"{counted(documents, 'document')}, {counted(mentions, 'mention')}"
    click.echo(f"{source} ({corpus.format}) -> {out} ({format_}): {read}", err=True)
