"""MATRES: tables of temporal relations between events, which are known by their ids alone. Only read.

    d1	left	sang	1	2	BEFORE

Separated by tabs: the document, the words of two events, the numbers of their instances in TimeML (`eiid`) and the
label. The event `ei1` is a mention without a span, with its word as text. A file may hold several documents.
"""

import re
from collections.abc import Iterator

from karat.formats._relations import Row, read_table
from karat.model import Document, Mention
from karat.plugin.formats import Context, Format, Piece
from karat.problems import Rule

SHAPE = Rule(
    "matres-shape",
    "fatal",
    "Separate by tabs: document, word 1, word 2, number 1, number 2, label; d1 left sang 1 2 BEFORE",
)
LABELS = ("BEFORE", "AFTER", "EQUAL", "VAGUE")
_ROW = re.compile(r"([^\t]+)\t([^\t]*)\t([^\t]*)\t([0-9]{1,18})\t([0-9]{1,18})\t([^\t\s]+)\s*")


def sniff(head: bytes) -> bool:
    """The first line has two events and a label."""
    first = head.lstrip().partition(b"\n")[0].decode("utf-8", "replace")
    return (row := _ROW.fullmatch(first)) is not None and row[6].isupper()


def _row(text: str) -> Row | None:
    row = _ROW.fullmatch(text)
    if row is None:
        return None
    document, *words, first, second, label = row.groups()
    source, target = (
        Mention(f"ei{number}", (), text=word or None) for word, number in zip(words, (first, second), strict=True)
    )
    return Row(document, source, target, label)


def read(piece: Piece, context: Context) -> Iterator[Document]:
    return read_table(piece, context, _row, SHAPE, LABELS)


FORMAT = Format(
    title="MATRES, tables of relations",
    about=__doc__,
    suffixes=(".matres.txt", ".matres.tsv"),
    unit="none",
    protocols=("matres-2018",),
    sniff=sniff,
    read=read,
    global_ids="none",
)
