"""Ids in the documents of a corpus, for formats in which an id means one thing everywhere (APF)."""

from array import array
from collections.abc import Iterable, Iterator
from itertools import chain

from karat.errors import Finding, Rule, quoted
from karat.model import Document

MENTION = Rule("mention-in-documents", "fatal", "Give each mention of the corpus its own id.")
KINDS = Rule("id-of-two-kinds", "fatal", "Give each element and each mention of the corpus its own id.")
CLUSTER = Rule(
    "cluster-in-documents",
    "fault",
    "Document-level processing wants ids of its own in each document; leave it if they are one and the same.",
)

PARTS = 64


class Ids:
    """Remembers in which document each id stood first, and what it named there."""

    def __init__(self) -> None:
        self._first: dict[str, tuple[str, str]] = {}

    def check(self, document: Document) -> Iterator[Finding]:
        """Each id of a document that another one has too."""
        named = [(f"{mention.kind} mention", mention.id) for mention in document.mentions]
        for kind, id_ in [*named, *((cluster.kind, cluster.id) for cluster in document.clusters)]:
            known, first = self._first.setdefault(id_, (kind, document.id))
            if first == document.id:
                continue
            found = f"{kind} {quoted(id_)} of document {quoted(document.id)}"
            if kind != known:
                told = f"has an id that document {quoted(first)} gives to another kind of thing, {known}"
                yield KINDS.at(f"{found} {told}", item=id_)
            else:
                rule = MENTION if kind.endswith(" mention") else CLUSTER
                yield rule.at(f"{found} is also one of {quoted(first)}", item=id_)


class Numbers:
    """Tells at next to no cost whether ids may be at odds: a number for each stays, compared when all were read."""

    def __init__(self) -> None:
        self._mentions = array("q")
        self._clusters = array("q")
        self._kinds = array("q")

    def add(self, document: Document) -> None:
        """Take the ids of a document."""
        self._mentions.extend([hash(mention.id) for mention in document.mentions])
        self._clusters.extend([hash(cluster.id) for cluster in document.clusters])
        self._kinds.extend([hash((cluster.id, cluster.kind)) for cluster in document.clusters])

    def are_at_odds(self) -> bool:
        """Whether a mention is in two documents, or an id names two kinds of things; seldom, two ids look like one."""
        mentions, clusters = len(self._mentions), _distinct(self._clusters)
        return (
            _distinct(chain(self._mentions, self._clusters)) < mentions + clusters or _distinct(self._kinds) > clusters
        )


def _distinct(numbers: Iterable[int]) -> int:
    """How many there are; sorted out in parts, one after another, so that this takes little memory."""
    parts = [array("q") for _ in range(PARTS)]
    for number in numbers:
        parts[number % PARTS].append(number)
    return sum(len(set(part)) for part in parts)
