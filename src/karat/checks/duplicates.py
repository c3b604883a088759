"""Mentions that repeat a span. Two types on one span are ordinary; the same annotation twice is not."""

from collections import Counter
from collections.abc import Iterator
from operator import attrgetter

from karat.checks.wording import cluster_of, span_of
from karat.errors import Finding, Rule, quoted
from karat.model import Document, Mention

IN_CLUSTER = Rule(
    "span-twice-in-cluster", "fault", "Keep one of the two mentions, or take one out of the cluster; both are scored."
)
ALIKE = Rule("span-twice", "note", "Remove one of the two mentions if it is there by mistake; both are scored.")

_span, _kind = attrgetter("span"), attrgetter("kind")


def check(document: Document) -> Iterator[Finding]:
    """Each mention that repeats the span of an earlier one in its cluster, or with the same type and realis.

    Relations are the exception: the words between two arguments may well tell several relations. So are fillers of
    templates, which are strings rather than places.
    """
    mentions = document.mentions
    if len(set(map(_span, mentions))) == len(mentions):
        return
    times = Counter(map(_span, mentions))
    has_templates = "template" in map(_kind, mentions)
    members: dict[object, Mention] = {}
    alike: dict[object, Mention] = {}
    for mention in mentions:
        if not mention.span or times[mention.span] == 1:
            continue
        # A mention without a cluster is a cluster of its own, which no earlier mention is in.
        fellow = members.setdefault((mention.span, mention.cluster or (mention.id,)), mention)
        if fellow is not mention:
            found = f"{cluster_of(mention, document)} of document {quoted(document.id)} has {span_of(mention)} twice"
            yield IN_CLUSTER.at(found, item=mention.id)
        if has_templates:
            continue
        type_, realis = mention.attributes.get("type"), mention.attributes.get("realis")
        twin = alike.setdefault((mention.span, mention.kind, type_, realis), mention)
        if twin is not mention and fellow is mention and mention.kind != "relation":
            yield ALIKE.at(f"{_both(twin, mention, document)}, with the same type and realis", item=mention.id)


def _both(first: Mention, second: Mention, document: Document) -> str:
    if first.cluster is None or second.cluster is None:
        names = f"mention {first.id!r} and mention {second.id!r}"
    else:
        names = f"{cluster_of(first, document)} and {cluster_of(second, document)}"
    return f"{names} of document {quoted(document.id)} share {span_of(second)}"
