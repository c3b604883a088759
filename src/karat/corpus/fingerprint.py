"""The fingerprint of a corpus: a hash of its content, not of its bytes.

It covers documents, mentions in order, spans, attributes, the partition into clusters and the links; neither ids nor
text, except that of a mention without a place, which is all that is known of it (a filler of a template). The same
corpus in another format, or with its documents in another order, has the same fingerprint.
"""

from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator
from hashlib import sha256
from itertools import count, pairwise

import msgspec
from msgspec import Struct

from karat.model import Document, Mention, qualified

_encode = msgspec.json.Encoder(order="deterministic").encode
_decode = msgspec.json.Decoder(tuple[list[str], list[int]]).decode


class Share(Struct, frozen=True, gc=False):
    """The contribution of one document to the fingerprint of its corpus."""

    document: str
    digest: int
    clusters: bytes
    """As JSON: its clusters that other documents may also have, and the first mention of each. Which of them others
    really have is known only at the end; until then, they take few bytes."""
    link_order: int = 0
    """A hash of its links in their order, if anybody asks for it."""


def share(document: Document, *, in_order: bool = False) -> Share:
    """Return the share of a document; `in_order`: with a hash of the order of its links."""
    first: dict[str, int] = {}  # the position of each cluster's first mention, used in place of its id
    mentions = [
        (
            m.span,
            m.head,
            m.extent,
            m.anchor,
            m.kind,
            m.attributes,
            position if m.cluster is None else first.setdefault(m.cluster, position),
        )
        + (() if m.span and not m.scope and not m.boxes else _rare_fields(m))
        for position, m in enumerate(document.mentions)
    ]
    about = document.id, document.topic, document.subtopic, document.unit
    links = _links(document, first)
    link_order = _digest((document.id, links)) if in_order else 0
    digest = _digest((about, mentions, _clusters(document, first), sorted(links)))
    return Share(document.id, digest, _shared_clusters(document, first) if first else _NO_CLUSTERS, link_order)


_NO_CLUSTERS = _encode(((), ()))


def _shared_clusters(document: Document, first: dict[str, int]) -> bytes:
    """The clusters that other documents may have: readers of formats with local ids qualify them by the document."""
    prefix = qualified(document.id, "")
    shared = [cluster for cluster in first if not cluster.startswith(prefix)]
    return _encode((shared, [first[cluster] for cluster in shared]))


def _digest(content: object) -> int:
    return int.from_bytes(sha256(_encode(content)).digest())


class Fingerprint:
    """Takes the documents of a corpus one by one. Their hashes are added, so the order does not matter."""

    def __init__(self, shares: Iterable[Share] = ()) -> None:
        self._shares = list(shares)

    def add(self, document: Document, *, in_order: bool = False) -> None:
        self._shares.append(share(document, in_order=in_order))

    def merge(self, other: "Fingerprint") -> None:
        """Add the documents of another one."""
        self._shares += other._shares

    def __str__(self) -> str:
        total = sum(share.digest for share in self._shares)
        whole = sha256(f'["{total}",[{",".join(self._across())}]]'.encode())
        return f"sha256:{whole.hexdigest()[:16]}"

    @property
    def link_order(self) -> str:
        """The fingerprint of the order of links, from shares that have it."""
        whole = sha256(str(sum(share.link_order for share in self._shares)).encode())
        return f"sha256:{whole.hexdigest()[:16]}"

    def _across(self) -> Iterator[str]:
        """For each cluster in several documents: these documents, and its first mention in each; in order, as JSON.

        Documents come by id, and the clusters of each by first mention: so clusters are numbered in their order.
        """
        documents = sorted((share.document, share.clusters) for share in self._shares)
        numbers: defaultdict[str, int] = defaultdict(count().__next__)  # a new cluster gets the next number
        # Arrays, not a list for each cluster: the garbage collector would look through all of them again and again.
        clusters, positions, counts = array("q"), array("q"), array("q")
        for _, listed in documents:
            ids, firsts = _decode(listed)
            clusters.fromlist([*map(numbers.__getitem__, ids)])
            positions.fromlist(firsts)
            counts.append(len(ids))
        if len(numbers) == len(clusters):
            return
        import numpy as np

        keys = np.asarray(clusters)
        several = np.flatnonzero(np.bincount(keys)[keys] > 1)
        order = several[np.argsort(keys[several], kind="stable")]
        names = [_encode(id_).decode() for id_, _ in documents]
        owners = np.repeat(np.arange(len(names)), counts)[order].tolist()
        firsts = np.asarray(positions)[order].tolist()
        places = [f"[{names[owner]},{first}]" for owner, first in zip(owners, firsts, strict=True)]
        ends = np.flatnonzero(np.diff(keys[order], append=-1)) + 1
        for begin, end in pairwise([0, *ends.tolist()]):
            yield f"[{','.join(places[begin:end])}]"


def _rare_fields(mention: Mention) -> tuple[object, ...]:
    """Fields that are included only where they occur, so that other corpora keep their fingerprints."""
    scoped = (mention.scope, sorted(mention.boxes.items())) if mention.scope or mention.boxes else ()
    placeless = not mention.span and not mention.boxes and mention.text is not None
    return (*scoped, mention.text) if placeless else scoped


def _clusters(document: Document, first: dict[str, int]) -> list[tuple[int, str, str]]:
    """Kinds and attributes of clusters, in canonical order."""
    if not document.clusters:
        return []
    clusters = [cluster for cluster in document.clusters if cluster.kind != "event" or cluster.attributes]
    return sorted((first.get(c.id, -1), c.kind, _encode(c.attributes).decode()) for c in clusters)


def _links(document: Document, first: dict[str, int]) -> list[tuple[object, ...]]:
    """Links with positions in place of ids."""
    if not document.links:
        return []
    places = {cluster: ("cluster", position) for cluster, position in first.items()}
    places.update([(mention.id, ("mention", position)) for position, mention in enumerate(document.mentions)])
    nowhere = ("cluster", -1)
    return [
        (link.kind, places.get(link.source, nowhere), places.get(link.target, nowhere))
        + ((link.extent.span, link.extent.boxes) if link.extent is not None else ())
        for link in document.links
    ]
