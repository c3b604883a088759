"""`karat convert`."""

import gzip
from typing import TYPE_CHECKING, Any

import click

from karat.cli._options import Nearest, destination, destination_folder, progress, tell

if TYPE_CHECKING:
    from karat.convert import Conversion
    from karat.errors import Findings

EPILOG = """\b
Examples:
  karat convert gold.tbf gold.jsonl.gz
  karat convert litbank/ litbank.jsonl
  karat convert litbank.jsonl litbank-again --to brat
  karat convert litbank/ litbank.tbf --lossy
  karat convert ere/ - --to jsonl

IN is a file, a folder, @LIST (a file with one path a line), or - for standard input. OUT is a file (ending in .gz: a
compressed one), - for standard output, or, for brat, a new folder. Names are no loss: brat has its own ids (E1, T1),
so that mentions are numbered anew, and no place for a system's name.
"""


@click.command(epilog=EPILOG)
@click.argument("source", metavar="IN")
@click.argument("out", metavar="OUT")
@click.option("--from", "from_", metavar="FORMAT", help="Format of IN. Default: what it looks like.")
@click.option("--to", metavar="FORMAT", help="Format of OUT. Default: by the end of its name.")
@click.option("--unit", type=Nearest(["char", "token"]), help="What offsets count.")
@click.option("--tokens", metavar="DIR", help="Folder of token tables (ID.tab); spans are then token ids.")
@click.option("--lossy", is_flag=True, help="Convert even if something is lost.")
def convert(
    source: str, out: str, from_: str | None, to: str | None, unit: Any, tokens: str | None, lossy: bool
) -> None:
    """Convert IN to OUT, from any format to any that can hold it.

    What would be lost is said, and refused unless --lossy.
    """
    from karat.convert import Conversion, is_folder, refuse_same_place, target_format
    from karat.corpus import open_corpus
    from karat.errors import Findings, UsageError
    from karat.formats import Options

    format_ = target_format(to, out)
    folder = is_folder(format_)
    if folder and (out == "-" or out.endswith(".gz")):
        raise UsageError("folder-needed", f"{format_} is a folder of files, not {out!r}", "Name a new folder.")
    findings = Findings()
    options = Options.of(unit, tokens)
    corpus = open_corpus(source, format=from_, options=options, report=findings.add)
    if out != "-":
        refuse_same_place(corpus, out)
    conversion = Conversion(corpus, format_, options)
    try:
        (_write_folder if folder else _write_file)(conversion, out, findings, lossy)
    finally:
        tell(findings)
    count = f"{conversion.documents:,} documents, {conversion.mentions:,} mentions"
    click.echo(f"{source} ({corpus.format}) -> {out} ({format_}): {count}", err=True)


def _write_file(conversion: "Conversion", out: str, findings: "Findings", lossy: bool) -> None:
    with destination(None if out == "-" else out) as stream:
        # Without a name and a time in it, the same input gives the same bytes.
        packed = gzip.GzipFile("", "wb", fileobj=stream, mtime=0) if out.endswith(".gz") else stream
        for piece in _pieces(conversion, findings):
            packed.write(piece)
        if packed is not stream:
            packed.close()
        stream.flush()
        _judge(conversion, stream.name, lossy)


def _write_folder(conversion: "Conversion", out: str, findings: "Findings", lossy: bool) -> None:
    with destination_folder(out) as folder:
        for files in _pieces(conversion, findings):
            for name, data in files.items():
                with open(folder / name, "xb") as stream:
                    stream.write(data)
        _judge(conversion, str(folder), lossy)


def _pieces(conversion: "Conversion", findings: "Findings") -> Any:
    """What is written of each document, with progress."""
    show = progress()
    for done, piece in enumerate(conversion.pieces(findings.add), 1):
        yield piece
        if show is not None:
            show(done, len(conversion))


def _judge(conversion: "Conversion", written: str, lossy: bool) -> None:
    """Say what is lost, and refuse it unless it may be."""
    for what, count in conversion.losses.items():
        click.echo(f"{'lost' if lossy else 'would be lost'}: {what} ({count:,})", err=True)
    if not lossy:
        conversion.refuse_losses()
    conversion.verify(written)
