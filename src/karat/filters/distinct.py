"""One mention per span, for exact matching."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from karat.errors import Finding, Origin, Report, Rule, quoted
from karat.filters import restricted
from karat.model import Document, Mention, Pair, qualified
from karat.plugin import Comparison, DocumentCheck, Filter, PairTransform

REPEATED = Rule(
    "span-repeated", "fault", "Use each span once; exact matching counts the first mention, with its cluster."
)


class Distinct(Filter, frozen=True):
    """Keeps one mention per span, as exact matching needs: the first one, with its cluster."""

    supersedes: ClassVar[frozenset[str]] = frozenset({"span-twice", "span-twice-in-cluster"})

    def prepare(self, comparison: Comparison, report: Report) -> PairTransform:
        """Drop and report mentions that repeat a span, on both sides alike."""
        del comparison

        def distinct(pair: Pair) -> Pair:
            return Pair(_without_repeated(pair.gold, "gold", report), _without_repeated(pair.system, "system", report))

        return distinct

    def checks(self) -> Sequence[DocumentCheck]:
        """The same for one side."""
        return (_findings,)


def _findings(document: Document) -> Iterator[Finding]:
    """Each mention that repeats a span."""
    return (_finding(mention, first, document) for mention, first in _repeated(document))


def _without_repeated(document: Document, side: Origin, report: Report) -> Document:
    repeated = {mention.id: first for mention, first in _repeated(document)}
    if not repeated:
        return document
    for mention in document.mentions:
        if mention.id in repeated:
            report(_finding(mention, repeated[mention.id], document)._replace(origin=side))
    return restricted(document, lambda mention: mention.id not in repeated)


def _repeated(document: Document) -> Iterator[tuple[Mention, Mention]]:
    """Mentions that repeat the span of an earlier mention, each with that mention."""
    if len({mention.span for mention in document.mentions}) == len(document.mentions):
        return
    first: dict[object, Mention] = {}
    for mention in document.mentions:
        earlier = first.setdefault(mention.span or mention.id, mention)
        if earlier is not mention:
            yield mention, earlier


def _finding(mention: Mention, first: Mention, document: Document) -> Finding:
    """Names clusters and not mentions, whose ids some readers have to make up."""
    span = ", ".join(f"{begin}-{end}" for begin, end in mention.span)
    place = f"the span {span}" if mention.text is None else f"the span {span} ({quoted(mention.text)})"
    one, other = _cluster(first, document), _cluster(mention, document)
    if first.cluster is not None and first.cluster == mention.cluster:
        message = f"{one} of document {quoted(document.id)} has {place} twice; it counts once"
    else:
        message = f"{one} and {other} of document {quoted(document.id)} share {place}; the first keeps it"
    return REPEATED.at(message, item=mention.id)


def _cluster(mention: Mention, document: Document) -> str:
    if mention.cluster is None:
        return "a mention without a cluster"
    return f"cluster {quoted(mention.cluster.removeprefix(qualified(document.id, '')))}"


FILTER = Distinct
