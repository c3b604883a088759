"""The fingerprint of a corpus: a hash of its content, not of its bytes.

It covers documents, mentions in order, spans, attributes, the partition into clusters and the links; neither ids nor
text, except that of a mention without a place, which is all that is known of it (a filler of a template). The same
corpus in another format, or with its documents in another order, has the same fingerprint.
"""

from array import array
from collections.abc import Iterator
from hashlib import blake2b, sha256

import msgspec

from karat.model import Document, qualified

_encode = msgspec.json.Encoder(order="deterministic").encode

KEY = 16
"""Bytes of the hash that stands for the id of a cluster, the same in every process."""


class Fingerprint:
    """Takes the documents of a corpus one by one. Their hashes are added, so the order does not matter."""

    def __init__(self) -> None:
        self._sum = 0
        self._documents: list[str] = []
        # Which clusters have mentions in several documents is known only at the end. Until then, each takes few bytes.
        self._clusters = bytearray()
        """A key for each cluster of each document."""
        self._places = array("Q")
        """For each key, the number of the document and the cluster's first mention there, in 32 bits each."""

    def merge(self, other: "Fingerprint") -> None:
        """Add the documents of another one."""
        self._sum += other._sum
        before = len(self._documents) << 32
        self._documents += other._documents
        self._clusters += other._clusters
        self._places.extend([before + place for place in other._places])

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
        self._sum += int.from_bytes(sha256(_encode(content)).digest())
        own = qualified(document.id, "")
        # Readers of formats with local ids qualify them: such a cluster is in no other document.
        shared = [(cluster, position) for cluster, position in first.items() if not cluster.startswith(own)]
        if shared:
            number = len(self._documents) << 32
            self._clusters += b"".join([blake2b(cluster.encode(), digest_size=KEY).digest() for cluster, _ in shared])
            self._places.extend([number + position for _, position in shared])
        self._documents.append(document.id)

    def __str__(self) -> str:
        across = ",".join(self._across()) if self._places else ""
        whole = sha256(f'["{self._sum}",[{across}]]'.encode())
        return f"sha256:{whole.hexdigest()[:16]}"

    def _across(self) -> Iterator[str]:
        """For each cluster in several documents: these documents, and its first mention in each; in order, as JSON."""
        import numpy as np

        keys = np.frombuffer(self._clusters, dtype=np.uint64).reshape(len(self._places), -1)
        order = np.lexsort(keys.T)
        is_first = np.ones(len(order) + 1, dtype=bool)
        is_first[1:-1] = (keys[order[1:]] != keys[order[:-1]]).any(axis=1)
        begins = np.flatnonzero(is_first)
        several = np.diff(begins) > 1
        # Documents by rank in place of their ids, so that numbers are sorted, not strings.
        by_id = sorted(range(len(self._documents)), key=self._documents.__getitem__)
        ids = [_encode(self._documents[number]).decode() for number in by_id]
        ranks = np.empty(len(by_id), dtype=np.uint64)
        ranks[by_id] = np.arange(len(by_id), dtype=np.uint64)
        numbers, firsts = np.divmod(np.array(self._places)[order], np.uint64(1 << 32))
        ranked = (ranks[numbers] * np.uint64(1 << 32) + firsts).tolist()
        bounds = zip(begins[:-1][several].tolist(), begins[1:][several].tolist(), strict=True)
        for cluster in sorted([sorted(ranked[begin:end]) for begin, end in bounds]):
            yield f"[{','.join([f'[{ids[place >> 32]},{place & 0xFFFFFFFF}]' for place in cluster])}]"


def _first_mentions(document: Document) -> dict[str, int]:
    """The position of each cluster's first mention, used in place of its id."""
    first: dict[str, int] = {}
    for position, mention in enumerate(document.mentions):
        if mention.cluster is not None:
            first.setdefault(mention.cluster, position)
    return first


def _clusters(document: Document, first: dict[str, int]) -> list[tuple[int, str, str]]:
    """Kinds and attributes of clusters, in canonical order."""
    if not document.clusters:
        return []
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
