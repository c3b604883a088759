"""The fingerprint of a corpus: a hash of its content, not of its bytes.

It covers documents, mentions in order, spans, attributes, the partition into clusters and the links; neither ids nor
text, except that of a mention without a place, which is all that is known of it (a filler of a template). The same
corpus in another format, or with its documents in another order, has the same fingerprint.
"""

import hashlib
from struct import Struct

import msgspec

from karat.model import Document, qualified

_encode = msgspec.json.Encoder(order="deterministic").encode

_PLACE = Struct("<12sIQ")
"""The place of a cluster, packed into few bytes: hash of its id, number of the document, first mention."""
_PARTS = 64
"""Clusters are grouped in this many parts, one after another, to save memory."""


class Fingerprint:
    """Takes the documents of a corpus one by one. Their hashes are added, so the order does not matter."""

    def __init__(self) -> None:
        self._sum = 0
        # Which clusters have mentions in several documents is known only at the end.
        self._documents: list[str] = []
        self._shared = [bytearray() for _ in range(_PARTS)]
        self._others: list[Fingerprint] = []
        """Those of other documents, which number their documents by themselves."""

    def merge(self, other: "Fingerprint") -> None:
        """Add the documents of another one."""
        self._sum += other._sum
        self._others += [other, *other._others]

    def add(self, document: Document) -> None:
        """Add one document."""
        first = _first_mentions(document)
        mentions = [
            (
                m.span,
                m.head,
                m.extent,
                m.anchor,
                m.kind,
                m.attributes,
                position if m.cluster is None else first[m.cluster],
            )
            # Rare fields are included only where they occur, so that other corpora keep their fingerprints.
            + ((m.scope, sorted(m.boxes.items())) if m.scope or m.boxes else ())
            + ((m.text,) if not m.span and not m.boxes and m.text is not None else ())
            for position, m in enumerate(document.mentions)
        ]
        about = document.id, document.topic, document.subtopic, document.unit
        content = (about, mentions, _clusters(document, first), _links(document, first))
        self._sum += int.from_bytes(hashlib.sha256(_encode(content)).digest())
        own = qualified(document.id, "")
        for cluster, position in first.items():
            # Readers of formats with local ids qualify them: such a cluster is in no other document.
            if not cluster.startswith(own):
                key = hashlib.blake2b(cluster.encode(), digest_size=12).digest()
                self._shared[key[0] % _PARTS] += _PLACE.pack(key, len(self._documents), position)
        self._documents.append(document.id)

    def __str__(self) -> str:
        across: list[list[tuple[str, int]]] = []
        for part in range(_PARTS):
            members: dict[bytes, list[tuple[str, int]]] = {}
            for one in (self, *self._others):
                for key, document, position in _PLACE.iter_unpack(one._shared[part]):
                    members.setdefault(key, []).append((one._documents[document], position))
            across += [sorted(places) for places in members.values() if len(places) > 1]
        across.sort()
        whole = hashlib.sha256(_encode((str(self._sum), across)))
        return f"sha256:{whole.hexdigest()[:16]}"


def _first_mentions(document: Document) -> dict[str, int]:
    """The position of each cluster's first mention, used in place of its id."""
    first: dict[str, int] = {}
    for position, mention in enumerate(document.mentions):
        if mention.cluster is not None:
            first.setdefault(mention.cluster, position)
    return first


def _clusters(document: Document, first: dict[str, int]) -> list[tuple[int, str, str]]:
    """Kinds and attributes of clusters, in canonical order."""
    clusters = [cluster for cluster in document.clusters if cluster.kind != "event" or cluster.attributes]
    return sorted((first.get(c.id, -1), c.kind, _encode(c.attributes).decode()) for c in clusters)


def _links(document: Document, first: dict[str, int]) -> list[tuple[object, ...]]:
    """Links with positions in place of ids, in canonical order."""
    if not document.links:
        return []
    places = {cluster: ("cluster", position) for cluster, position in first.items()}
    places |= {mention.id: ("mention", position) for position, mention in enumerate(document.mentions)}
    nowhere = ("cluster", -1)
    return sorted(
        [
            (link.kind, places.get(link.source, nowhere), places.get(link.target, nowhere))
            + ((link.extent.span, link.extent.boxes) if link.extent is not None else ())
            for link in document.links
        ]
    )
