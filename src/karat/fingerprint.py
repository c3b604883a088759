"""The fingerprint of a corpus: a hash of what it says, not of its bytes.

It covers documents, mentions in order, spans, attributes, the partition into clusters and the links; neither ids nor
text. The same corpus in another format, or with its documents in another order, has the same fingerprint.
"""

import hashlib
from collections.abc import Iterable

import msgspec

from karat.model import Document

_encode = msgspec.json.Encoder(order="deterministic").encode


class Fingerprint:
    """Takes the documents of a corpus one by one, in any order; keeps a few bytes for each."""

    def __init__(self) -> None:
        self._documents: list[tuple[str, bytes]] = []
        # A cluster that lives in several documents is known only at the end: (hash of its id, document, number in it).
        self._shared: list[tuple[bytes, str, int]] = []

    def add(self, document: Document) -> None:
        """Take one document."""
        numbers = _numbers(document)
        mentions = [
            (m.span, m.head, m.extent, m.anchor, m.kind, m.attributes, m.cluster and numbers.get(m.cluster))
            for m in document.mentions
        ]
        content = (document.unit, document.topic, document.subtopic, mentions, *_ends(document, numbers))
        self._documents.append((document.id, hashlib.sha256(_encode(content)).digest()[:16]))
        own = f"{document.id}:"
        for cluster, number in numbers.items():
            # Readers of formats with local ids qualify them by the document: such a cluster cannot be shared.
            if not cluster.startswith(own):
                key = hashlib.blake2b(cluster.encode(), digest_size=12).digest()
                self._shared.append((key, document.id, number))

    def __str__(self) -> str:
        members: dict[bytes, list[tuple[str, int]]] = {}
        for key, document, number in self._shared:
            members.setdefault(key, []).append((document, number))
        across = sorted(sorted(places) for places in members.values() if len(places) > 1)
        whole = hashlib.sha256(_encode((sorted(self._documents), across)))
        return f"sha256:{whole.hexdigest()[:16]}"


def _numbers(document: Document) -> dict[str, int]:
    """Clusters numbered by their first mention; a declared cluster without mentions here comes after these."""
    found: dict[str, int] = {}
    for mention in document.mentions:
        if mention.cluster is not None:
            found.setdefault(mention.cluster, len(found))
    for cluster in document.clusters:
        found.setdefault(cluster.id, len(found))
    return found


def _ends(document: Document, numbers: dict[str, int]) -> Iterable[object]:
    """Clusters with what they say of themselves, and links with their ends as positions, in canonical order."""
    yield sorted((numbers[cluster.id], cluster.kind, _encode(cluster.attributes).decode()) for cluster in document.clusters)
    positions = {mention.id: ("mention", position) for position, mention in enumerate(document.mentions)}
    places = {cluster: ("cluster", number) for cluster, number in numbers.items()} | positions
    yield sorted((link.kind, places[link.source], places[link.target]) for link in document.links)
