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
from collections.abc import Mapping
from itertools import pairwise
from typing import NamedTuple

from karat.formats._brackets import LONGEST_TEXT
from karat.formats._writing import projected, refuse_unit, report_fields, report_rare, report_regions
from karat.formats.conll import text_of
from karat.limits import check_pairs
from karat.model import Document, Mention, Region, Value
from karat.plugin.formats import ReportLoss, WriteOptions
from karat.problems import Rule, quoted

UNWRITABLE = Rule(
    "conll-unwritable", "fatal", "CoNLL holds spans of whole tokens and ids of one line; jsonl holds everything."
)

NOTHING = "-"

_NAME = re.compile(r"\(([^()]+)\); part ([0-9]+)")
_BLANKS = re.compile(r"[\t\n\r\v\f\0]")


class _Placed(NamedTuple):
    """A mention with its first and its last token."""

    mention: Mention
    first: int
    last: int


class _Numbered(NamedTuple):
    first: int
    last: int
    number: int
    position: int
    """The position of the mention in the document."""


def write(document: Document, options: WriteOptions, report_loss: ReportLoss) -> bytes:
    """The lines of one document; what CoNLL cannot hold is reported."""
    del options
    if re.search(r"\A[ \t]|[\n\0]|\r\Z", document.id):
        raise UNWRITABLE.error(f"the document id {quoted(document.id)} cannot be written after #begin document")
    refuse_unit(document, ("char", "token"), UNWRITABLE)
    _report_losses(document, report_loss)
    report_rare(document, report_loss)
    mentions = [mention for mention in document.mentions if mention.span]
    placed = [_Placed(*pair) for pair in zip(mentions, *_tokens_of(document, mentions), strict=True)]
    placed = _without_merged(placed, report_loss)
    length = max([len(document.tokens or document.forms or ()), *(s.last + 1 for s in placed)])
    check_pairs(length, "tokens", where=f"document {quoted(document.id)}", verb="writes")
    words = _words(document, placed)
    for mention, first, last in placed:
        if mention.text is not None and mention.text != _text_read_back(words, first, last):
            report_loss("the text of mentions")
    cells = _cells(_numbered(placed, report_loss))
    name, part = _columns(document.id)
    breaks = {token for sentence in document.sentences for token in sentence}
    begin, lines = 0, []
    for token in range(length):
        begin = token if token in breaks else begin
        lines.append(f"{name}\t{part}\t{token - begin}\t{words.get(token, NOTHING)}\t{cells.get(token, NOTHING)}\n")
        if token + 1 in breaks:
            lines.append("\n")
    return "".join([f"#begin document {document.id}\n", *lines, "#end document\n"]).encode("utf-8")


def _report_losses(document: Document, report_loss: ReportLoss) -> None:
    report_fields(
        document,
        ("topic", "subtopic", "source", "language", "text", "tokens"),
        report_loss,
        holds=("forms", "sentences"),
    )
    if document.unit == "char":
        report_loss("character offsets (written as tokens)")
    for cluster in document.clusters:
        if cluster.kind != "event" or cluster.attributes:
            report_loss("kinds and attributes of clusters")
    for link in document.links:
        report_loss(f"links of kind {link.kind}")
    for mention in document.mentions:
        if not mention.span:
            report_loss("mentions without a span")
            continue
        report_regions(mention, report_loss)
        if mention.kind != "event":
            report_loss(f"that mentions are of kind {mention.kind} (read as event)")
        for name in mention.attributes:
            report_loss(f"the attribute {name}")
        if mention.confidence:
            report_loss("confidences")
        if len(mention.span) > 1:
            report_loss("segments of spans (written from the first token to the last)")


def _tokens_of(document: Document, mentions: list[Mention]) -> tuple[list[int], list[int]]:
    """The first and the last token of each mention."""
    spans = [mention.span for mention in mentions]
    if document.unit == "char":
        spans = [projected(mention, document, UNWRITABLE) for mention in mentions]
    return [span[0][0] for span in spans], [span[-1][1] - 1 for span in spans]


def _without_merged(placed: list[_Placed], report_loss: ReportLoss) -> list[_Placed]:
    """Those that stay distinct in CoNLL: of mentions that differ only in what it cannot hold, one with the fewest gaps.

    Written all, they would be mentions with one span, and possibly in several clusters.
    """
    kept: dict[tuple[int, int], tuple[Region, str, Mapping[str, Value]]] = {}
    for mention, first, last in sorted(placed, key=lambda one: len(one.mention.span)):
        kept.setdefault((first, last), (mention.span, mention.kind, mention.attributes))
    distinct = [
        one
        for one in placed
        if kept[one.first, one.last] == (one.mention.span, one.mention.kind, one.mention.attributes)
    ]
    for _ in range(len(placed) - len(distinct)):
        report_loss("mentions that differ from another one only in kind, attributes or the gaps of their spans")
    return distinct


def _words(document: Document, placed: list[_Placed]) -> dict[int, str]:
    """The word of each token, from the document, or else from the texts of mentions."""
    text, tokens = document.text, document.tokens
    if document.forms is not None:
        words = dict(enumerate(document.forms))
    elif text is not None and tokens is not None:
        words = {number: text[begin:end] for number, (begin, end) in enumerate(tokens)}
    else:
        words = {}
        for mention, first, last in placed:
            own = (mention.text or "").split()
            if len(mention.span) == 1 and len(own) == last - first + 1:
                for token, word in enumerate(own, first):
                    words.setdefault(token, word)
    return {token: _BLANKS.sub(" ", word) for token, word in words.items() if word}


def _text_read_back(words: dict[int, str], first: int, last: int) -> str | None:
    if last - first >= LONGEST_TEXT:
        return None
    return text_of([words.get(token, NOTHING) for token in range(first, last + 1)])


def _numbered(placed: list[_Placed], report_loss: ReportLoss) -> list[_Numbered]:
    """The mentions in the order in which they will be read, each with the number of its cluster.

    An end closes the mention that began last, so mentions with one number may be nested but must not cross.
    """
    numbers: dict[tuple[str | None, str, int], int] = {}
    open_: dict[tuple[str | None, str], list[list[int]]] = {}
    numbered: list[_Numbered] = []
    for position, s in sorted(enumerate(placed), key=lambda pair: (pair[1].first, -pair[1].last)):
        own = s.mention.id if s.mention.cluster is None else ""
        layers = open_.setdefault((s.mention.cluster, own), [])
        layer = 0 if s.first == s.last else _first_fit(layers, s.first, s.last)
        if layer:
            report_loss("clusters with mentions that cross each other (written as several)")
        key = s.mention.cluster, own, layer
        numbered.append(_Numbered(s.first, s.last, numbers.setdefault(key, len(numbers)), position))
    numbered.sort(key=lambda n: (n.first, -n.last, n.number))
    if any(n.position < before.position for before, n in pairwise(numbered)):
        report_loss("the order of mentions")
    return numbered


def _first_fit(layers: list[list[int]], first: int, last: int) -> int:
    """Open a mention in the first layer in which it crosses no other, and return that layer.

    A layer holds the last tokens of its open mentions, the innermost at the end. Mentions are opened in order.
    """
    for layer, ends in enumerate(layers):
        while ends and ends[-1] < first:
            ends.pop()
        if not ends or ends[-1] >= last:
            ends.append(last)
            return layer
    layers.append([last])
    return len(layers) - 1


def _cells(numbered: list[_Numbered]) -> dict[int, str]:
    """The cell of each token that has brackets: beginnings, mentions of one token, ends from the inside."""
    before: dict[int, list[str]] = {}
    after: dict[int, list[str]] = {}
    for n in numbered:
        if n.first == n.last:
            before.setdefault(n.first, []).append(f"({n.number})")
        else:
            before.setdefault(n.first, []).append(f"({n.number}")
            after.setdefault(n.last, []).append(f"{n.number})")
    return {
        token: "|".join([*before.get(token, ()), *reversed(after.get(token, ()))])
        for token in before.keys() | after.keys()
    }


def _columns(id_: str) -> tuple[str, str]:
    """Name and part of a document for the first two columns, which readers ignore."""
    named = _NAME.fullmatch(id_)
    return (named[1].replace(" ", "_"), str(int(named[2]))) if named else (re.sub(r"\s", "_", id_), "0")
