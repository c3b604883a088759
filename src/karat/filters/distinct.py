"""One mention per span, for exact matching."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import ClassVar, Literal

from karat.checks.annotations import cluster_of, span_of
from karat.filters import restricted
from karat.model import Document, Mention, Pair
from karat.plugin import Comparison, DocumentCheck, Filter, PairTransform
from karat.problems import Finding, Origin, Report, Rule, quoted

REPEATED = Rule(
    "span-repeated", "fault", "Use each span once; exact matching counts the first mention, with its cluster."
)


Identity = Literal["span", "span+head"]
"""The key by which mentions are compared."""


class Distinct(Filter, frozen=True):
    """Keeps one mention per span, as exact matching needs: the first one, with its cluster."""

    supersedes: ClassVar[frozenset[str]] = frozenset({"span-twice", "span-twice-in-cluster"})

    identity: Identity = "span"

    def prepare(self, comparison: Comparison, report: Report) -> PairTransform:
        """Drop and report mentions that repeat a span, on both sides alike."""
        del comparison

        def distinct(pair: Pair) -> Pair:
            return Pair(
                _without_repeated(pair.gold, self.identity, "gold", report),
                _without_repeated(pair.system, self.identity, "system", report),
            )

        return distinct

    def checks(self) -> Sequence[DocumentCheck]:
        """Report repeated spans of one side."""
        return (partial(_findings, self.identity),)


def _findings(identity: Identity, document: Document) -> Iterator[Finding]:
    """Each mention that repeats a span."""
    return (_finding(mention, first, document) for mention, first in _repeated(document, identity))


def _without_repeated(document: Document, identity: Identity, side: Origin, report: Report) -> Document:
    repeated = {mention.id: first for mention, first in _repeated(document, identity)}
    if not repeated:
        return document
    for mention in document.mentions:
        if mention.id in repeated:
            report(_finding(mention, repeated[mention.id], document)._replace(origin=side))
    return restricted(document, lambda mention: mention.id not in repeated)


def _repeated(document: Document, identity: Identity) -> Iterator[tuple[Mention, Mention]]:
    """Mentions that repeat the span (or span and head) of an earlier mention, each with that mention."""
    if len({mention.span for mention in document.mentions}) == len(document.mentions):
        return
    first: dict[object, Mention] = {}
    for mention in document.mentions:
        place = mention.span or mention.id
        earlier = first.setdefault(place if identity == "span" else (place, mention.head), mention)
        if earlier is not mention:
            yield mention, earlier


def _finding(mention: Mention, first: Mention, document: Document) -> Finding:
    """Names clusters and not mentions, whose ids some readers have to make up."""
    place, one, other = span_of(mention, document), cluster_of(first, document), cluster_of(mention, document)
    if first.cluster is not None and first.cluster == mention.cluster:
        message = f"{one} of document {quoted(document.id)} has {place} twice; it counts once"
    else:
        message = f"{one} and {other} of document {quoted(document.id)} share {place}; the first keeps it"
    return REPEATED.at(message, item=mention.id)


FILTER = Distinct
