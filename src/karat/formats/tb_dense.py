"""TimeBank-Dense: tables of temporal relations between events and times, which are known by their ids. Only read.

    d1	e1	t0	ii

Separated by tabs: the document, two ids (`e1` is an event, `t1` a time, `t0` the creation time of the document) and a
letter: b BEFORE, a AFTER, i INCLUDES, ii IS_INCLUDED, s SIMULTANEOUS, v VAGUE. Events and times are mentions without a
span. A file may hold several documents.
"""

import re
from collections.abc import Iterator

from karat.formats._relations import Row, read_table
from karat.model import Document, Mention
from karat.plugin.formats import Context, Format, Piece
from karat.problems import Rule

SHAPE = Rule(
    "tb-dense-shape", "fatal", "Separate by tabs: document, id 1, id 2, letter (a, b, i, ii, s or v); d1 e1 t0 ii"
)
LABELS = {"b": "BEFORE", "a": "AFTER", "i": "INCLUDES", "ii": "IS_INCLUDED", "s": "SIMULTANEOUS", "v": "VAGUE"}
_ROW = re.compile(r"([^\t]+)\t([et][0-9]{1,18})\t([et][0-9]{1,18})\t([^\t\s]+)\s*")


def sniff(head: bytes) -> bool:
    """The first line has two ids and a letter."""
    first = head.lstrip().partition(b"\n")[0].decode("utf-8", "replace")
    return (row := _ROW.fullmatch(first)) is not None and row[4] in LABELS


def _mention(id_: str) -> Mention:
    if id_ == "t0":
        return Mention(id_, (), kind="time", attributes={"function": "CREATION_TIME"})
    return Mention(id_, (), kind="time" if id_[0] == "t" else "event")


def _row(text: str) -> Row | None:
    row = _ROW.fullmatch(text)
    if row is None or row[4] not in LABELS:
        return None
    return Row(row[1], _mention(row[2]), _mention(row[3]), LABELS[row[4]])


def read(piece: Piece, context: Context) -> Iterator[Document]:
    return read_table(piece, context, _row, SHAPE, LABELS.values())


FORMAT = Format(
    title="TimeBank-Dense, tables of relations",
    about=__doc__,
    suffixes=(".tbdense.txt", ".tbdense.tsv"),
    unit="none",
    protocols=("tb-dense-2014",),
    sniff=sniff,
    read=read,
    global_ids="none",
)
