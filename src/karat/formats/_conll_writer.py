"""Writing CoNLL: the first columns of the 2012 layout and the last one, one token per line.

    #begin document (nw/x); part 000
    nw/x    0    0    He    (0)
    nw/x    0    1    said  -

    #end document

There is an empty line after each sentence. Columns are the name and part of the document, the number of the token in
its sentence (in the document, if sentences are not known), the word (`-` if it is unknown) and brackets. Clusters are
numbered in the order in which they appear. Singletons are written like other mentions.
"""

import re
from itertools import pairwise

from karat.formats._clustered_writing import Placed, length, numbered, placed_mentions, report_losses, words
from karat.formats._columns import LONGEST_TEXT
from karat.formats.conll import text_of
from karat.model import Document, Mention, Region
from karat.plugin.formats import ReportLoss, WriteOptions
from karat.problems import Rule, quoted

UNWRITABLE = Rule(
    "conll-unwritable", "fatal", "CoNLL holds spans of whole tokens and ids of one line; jsonl holds everything."
)

NOTHING = "-"

_NAME = re.compile(r"\(([^()]+)\); part ([0-9]+)")


def write(document: Document, options: WriteOptions, report_loss: ReportLoss) -> bytes:
    """The lines of one document; what CoNLL cannot hold is reported."""
    del options
    if re.search(r"\A[ \t]|[\n\0]|\r\Z", document.id):
        raise UNWRITABLE.error(f"the document id {quoted(document.id)} cannot be written after #begin document")
    report_losses(document, UNWRITABLE, report_loss, holds=("forms", "sentences"))
    placed = placed_mentions(document, UNWRITABLE, report_loss, _whole)
    for _ in range(sum(len(mention.span) > 1 for mention in document.mentions)):
        report_loss("segments of spans (written from the first token to the last)")
    forms = words(document, placed)
    for mention, span, _ in placed:
        if mention.text is not None and mention.text != _text_read_back(forms, *span[0]):
            report_loss("the text of mentions")
    cells = _cells(_in_order(placed, report_loss))
    name, part = _columns(document.id)
    breaks = {token for sentence in document.sentences for token in sentence}
    begin, lines = 0, []
    for token in range(length(document, placed)):
        begin = token if token in breaks else begin
        lines.append(f"{name}\t{part}\t{token - begin}\t{forms.get(token, NOTHING)}\t{cells.get(token, NOTHING)}\n")
        if token + 1 in breaks:
            lines.append("\n")
    return "".join([f"#begin document {document.id}\n", *lines, "#end document\n"]).encode("utf-8")


def _whole(mention: Mention, span: Region) -> tuple[Region, None]:
    """The tokens from the first to the last."""
    del mention
    return ((span[0][0], span[-1][1]),), None


def _text_read_back(forms: dict[int, str], begin: int, end: int) -> str | None:
    if end - begin > LONGEST_TEXT:
        return None
    return text_of([forms.get(token, NOTHING) for token in range(begin, end)])


def _in_order(placed: list[Placed], report_loss: ReportLoss) -> list[Placed]:
    """The mentions in the order in which they will be read, each with the number of its cluster."""
    ordered = numbered(placed, report_loss, share=False)
    ordered.sort(key=lambda place: (place.span[0][0], -place.span[0][1], place.number))
    positions = {place.mention.id: position for position, place in enumerate(placed)}
    if any(positions[after.mention.id] < positions[before.mention.id] for before, after in pairwise(ordered)):
        report_loss("the order of mentions")
    return ordered


def _cells(ordered: list[Placed]) -> dict[int, str]:
    """The cell of each token that has brackets: beginnings, mentions of one token, ends from the inside."""
    before: dict[int, list[str]] = {}
    after: dict[int, list[str]] = {}
    for _, ((begin, end),), number in ordered:
        if end - begin == 1:
            before.setdefault(begin, []).append(f"({number})")
        else:
            before.setdefault(begin, []).append(f"({number}")
            after.setdefault(end - 1, []).append(f"{number})")
    return {
        token: "|".join([*before.get(token, ()), *reversed(after.get(token, ()))])
        for token in before.keys() | after.keys()
    }


def _columns(id_: str) -> tuple[str, str]:
    """Name and part of a document for the first two columns, which readers ignore."""
    named = _NAME.fullmatch(id_)
    return (named[1].replace(" ", "_"), str(int(named[2]))) if named else (re.sub(r"\s", "_", id_), "0")
