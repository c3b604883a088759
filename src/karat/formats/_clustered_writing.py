"""Shared parts of the writers of CoNLL and CorefUD: mentions as spans of tokens, in numbered clusters."""

from collections.abc import Callable, Collection, Hashable
from typing import NamedTuple

from karat.formats._writing import projected, refuse_unit, report_document, report_regions
from karat.limits import check_pairs
from karat.model import Document, Mention, Region
from karat.plugin.formats import ReportLoss
from karat.problems import Rule, quoted


class Placed(NamedTuple):
    """A mention as it is written."""

    mention: Mention
    span: Region
    number: int = 0
    """The number of its cluster."""


def report_losses(
    document: Document,
    rule: Rule,
    report_loss: ReportLoss,
    *,
    holds: Collection[str],
    attributes: Collection[str] = (),
    regions: Collection[str] = (),
) -> None:
    """Report what both formats cannot hold; `holds` are fields of the document, the others those of mentions."""
    refuse_unit(document, ("char", "token"), rule)
    report_document(document, ("topic", "subtopic", "source", "language", "text", "tokens"), report_loss, holds=holds)
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
        report_regions(mention, report_loss, holds=regions)
        if mention.kind != "event":
            report_loss(f"that mentions are of kind {mention.kind} (read as event)")
        for name in mention.attributes:
            if name not in attributes:
                report_loss(f"the attribute {name}")
        if mention.confidence:
            report_loss("confidences")


def placed_mentions(
    document: Document,
    rule: Rule,
    report_loss: ReportLoss,
    written: Callable[[Mention, Region], tuple[Region, Hashable]],
) -> list[Placed]:
    """The mentions that have a span.

    `written` returns the span of a mention as it is written, given its span in tokens, and what else tells mentions
    apart. Of mentions that differ only in what is lost, the one with the fewest segments is written: written all, they
    would be mentions with one span, and possibly in several clusters.
    """
    spans = [
        (mention, projected(mention, document, rule) if document.unit == "char" else mention.span)
        for mention in document.mentions
        if mention.span
    ]
    keys = [written(mention, span) for mention, span in spans]
    kept: dict[Hashable, tuple[object, ...]] = {}
    for key, (mention, span) in sorted(zip(keys, spans, strict=True), key=lambda pair: len(pair[1][1])):
        kept.setdefault(key, (span, mention.kind, mention.attributes))
    placed = [
        Placed(mention, key[0])
        for key, (mention, span) in zip(keys, spans, strict=True)
        if kept[key] == (span, mention.kind, mention.attributes)
    ]
    for _ in range(len(spans) - len(placed)):
        report_loss("mentions that differ from another one only in kind, attributes or the gaps of their spans")
    return placed


def length(document: Document, placed: list[Placed]) -> int:
    """The number of tokens to write."""
    count = max([len(document.tokens or document.forms or ()), *(mention.span[-1][1] for mention in placed)])
    check_pairs(count, "tokens", where=f"document {quoted(document.id)}", verb="writes")
    return count


def words(document: Document, placed: list[Placed]) -> dict[int, str]:
    """The word of each token, from the document, or else from the texts of mentions; white space becomes a blank."""
    text, tokens = document.text, document.tokens
    if document.forms is not None:
        known = dict(enumerate(document.forms))
    elif text is not None and tokens is not None:
        known = {token: text[begin:end] for token, (begin, end) in enumerate(tokens)}
    else:
        known = {}
        for mention, span, _ in placed:
            parts = (mention.text or "").split()
            if len(mention.span) == 1 and len(parts) == span[0][1] - span[0][0]:
                for token, word in enumerate(parts, span[0][0]):
                    known.setdefault(token, word)
    return {token: word.translate(_BLANKS) for token, word in known.items() if word}


_BLANKS = str.maketrans("\t\n\r\v\f\0", "      ")


def numbered(placed: list[Placed], report_loss: ReportLoss, *, share: bool) -> list[Placed]:
    """The mentions in the order of their first tokens, longer ones first, each with the number of its cluster.

    An end closes the mention that began last, so mentions with one number may be nested but must not cross; `share`:
    the second of two may begin in the last token of the first.
    """
    numbers: dict[tuple[str | None, str, int], int] = {}
    open_: dict[tuple[str | None, str, int], list[list[int]]] = {}
    ordered = []
    for mention, span, _ in sorted(placed, key=lambda place: (place.span[0][0], -place.span[-1][1])):
        alone = mention.id if mention.cluster is None else ""
        layers = open_.setdefault((mention.cluster, alone, len(span)), [])
        first, last = span[0][0], span[-1][1] - 1
        layer = 0 if first == last else _first_fit(layers, first + share, last, nests=len(span) == 1)
        if layer:
            report_loss("clusters with mentions that cross each other (written as several)")
        key = mention.cluster, alone, layer
        ordered.append(Placed(mention, span, numbers.setdefault(key, len(numbers))))
    return ordered


def _first_fit(layers: list[list[int]], first: int, last: int, *, nests: bool) -> int:
    """Open a mention in the first layer in which it crosses no other, and return that layer.

    A layer holds the last tokens of its open mentions, the innermost at the end. Mentions are opened in order; those
    with gaps must not be nested, since a piece belongs to the mention that began last.
    """
    for layer, ends in enumerate(layers):
        while ends and ends[-1] < first:
            ends.pop()
        if not ends or (nests and ends[-1] >= last):
            ends.append(last)
            return layer
    layers.append([last])
    return len(layers) - 1
