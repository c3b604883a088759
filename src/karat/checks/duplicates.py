"""Mentions that repeat a span. Two types on one span are ordinary; the same annotation twice is not."""

from collections.abc import Iterator
from operator import attrgetter

from karat.errors import Finding, Rule
from karat.model import Document

IN_CLUSTER = Rule(
    "span-twice-in-cluster", "fault", "Keep one of the two mentions, or take one out of the cluster; both are scored."
)
ALIKE = Rule("span-twice", "note", "Remove one of the two mentions if it is there by mistake; both are scored.")

_span = attrgetter("span")


def check(document: Document) -> Iterator[Finding]:
    """Each mention that repeats the span of an earlier one in its cluster, or with the same type and realis.

    Relations are the exception: the words between two arguments may well tell several relations.
    """
    mentions = document.mentions
    if len(set(map(_span, mentions))) == len(mentions):
        return
    members: dict[object, str] = {}
    alike: dict[object, str] = {}
    for mention in mentions:
        if not mention.span:
            continue
        type_, realis = mention.attributes.get("type"), mention.attributes.get("realis")
        twin = alike.setdefault((mention.span, mention.kind, type_, realis), mention.id)
        # A mention without a cluster is a cluster of its own, which no earlier mention is in.
        fellow = members.setdefault((mention.span, mention.cluster or (mention.id,)), mention.id)
        if fellow != mention.id:
            found = f"mention {mention.id!r} has the span of mention {fellow!r} in the same cluster"
            yield IN_CLUSTER.at(f"{found} of document {document.id!r}", item=mention.id)
        elif twin != mention.id and mention.kind != "relation":
            found = f"mention {mention.id!r} has span, type and realis of mention {twin!r}"
            yield ALIKE.at(f"{found} of document {document.id!r}", item=mention.id)
