"""Ids in the documents of a corpus, for formats in which an id means one thing everywhere (APF)."""

from collections.abc import Iterator

from karat.errors import Finding, Rule, quoted
from karat.model import Document

MENTION = Rule("mention-in-documents", "fatal", "Give each mention of the corpus its own id.")
CLUSTER = Rule(
    "cluster-in-documents",
    "fault",
    "Document-level processing wants ids of its own in each document; leave it if they are one and the same.",
)


class Ids:
    """Remembers in which document each id stood first."""

    def __init__(self) -> None:
        self._mentions: dict[str, str] = {}
        self._clusters: dict[str, str] = {}

    def check(self, document: Document) -> Iterator[Finding]:
        """Each id of a document that another one has too."""
        for mention in document.mentions:
            first = self._mentions.setdefault(mention.id, document.id)
            if first != document.id:
                found = f"mention {quoted(mention.id)} of document {quoted(document.id)} is also one of {quoted(first)}"
                yield MENTION.at(found, item=mention.id)
        for cluster in document.clusters:
            first = self._clusters.setdefault(cluster.id, document.id)
            if first != document.id:
                found = f"{cluster.kind} {quoted(cluster.id)} of document {quoted(document.id)}"
                yield CLUSTER.at(f"{found} is also one of {quoted(first)}", item=cluster.id)
