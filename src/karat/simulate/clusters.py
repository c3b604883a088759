"""Errors of clusters: a mention leaves its cluster, or two clusters become one."""

from collections import Counter
from collections.abc import Collection
from random import Random

from msgspec.structs import replace

from karat.model import Cluster, Document, Link, Mention
from karat.simulate.profile import Names, below, struck
from karat.simulate.validity import Key, LinkFaults, class_of, pruned, worse


def break_(
    document: Document,
    rate: float,
    random: Random,
    *,
    shared: Collection[str],
    names: Names,
    faults: Collection[str] = (),
) -> tuple[Document, int]:
    """Mentions leave their clusters: all that are struck if no fault comes of it, else those that can.

    The last mention of a cluster stays, unless there are others in another document (`shared`).
    """
    sizes = Counter(mention.cluster for mention in document.mentions)
    leaving: list[int] = []
    for position, hit in enumerate(struck(len(document.mentions), rate, random)):
        cluster = document.mentions[position].cluster
        if hit and cluster is not None and (sizes[cluster] > 1 or cluster in shared):
            sizes[cluster] -= 1
            leaving.append(position)
    whole = _without_members(document, leaving, names)
    if not worse(whole, document, faults):
        return whole, len(leaving)
    links = LinkFaults(document, faults)
    able = [position for position in leaving if links.leave(document.mentions[position].id)]
    return _without_members(document, able, names), len(able)


def _without_members(document: Document, leaving: Collection[int], names: Names) -> Document:
    """Each of these mentions is a cluster of its own, with a record like the old one's if that has one."""
    records = {cluster.id: cluster for cluster in document.clusters}
    mentions, clusters = list(document.mentions), list(document.clusters)
    for position in leaving:
        record = records.get(mentions[position].cluster or "")
        new_record = None if record is None else replace(record, id=names.cluster())
        mentions[position] = replace(mentions[position], cluster=new_record and new_record.id)
        clusters += [] if new_record is None else [new_record]
    return pruned(replace(document, mentions=tuple(mentions), clusters=tuple(clusters)), document)


def conflate(
    document: Document,
    rate: float,
    random: Random,
    *,
    names: Names,
    faults: Collection[str] = (),
    only: Collection[str] | None = None,
) -> tuple[Document, int]:
    """Clusters of the document become one with another of their kind that comes before, unless a fault comes of it.

    `only`: the kinds of clusters that can become one.
    """
    records = {cluster.id: cluster for cluster in document.clusters}
    kinds: dict[Key, str] = {}
    for mention in document.mentions:
        kinds.setdefault(class_of(mention), _kind(mention, records))
    union = _Union(document, names, faults)
    survivors: dict[str, list[Key]] = {}
    conflated = 0
    for (key, kind), hit in zip(kinds.items(), struck(len(kinds), rate, random), strict=True):
        others = survivors.setdefault(kind, [])
        if hit and others and (only is None or kind in only):
            place = below(len(others), random)
            # The name is used up even if the clusters cannot be joined.
            whole = union.name(others[place], key)
            if union.join(others[place], key, whole):
                others[place] = whole
                conflated += 1
                continue
        others.append(key)
    return union.document() if conflated else document, conflated


def _kind(mention: Mention, records: dict[str, Cluster]) -> str:
    record = None if mention.cluster is None else records.get(mention.cluster)
    return mention.kind if record is None else record.kind


class _Union:
    """Clusters of a document that become one."""

    def __init__(self, document: Document, names: Names, faults: Collection[str]) -> None:
        """`faults` are codes of notes that count as faults."""
        self._document, self._names = document, names
        self._mentions = list(document.mentions)
        self._members: dict[Key, list[int]] = {}
        for position, mention in enumerate(document.mentions):
            self._members.setdefault(class_of(mention), []).append(position)
        self._absorbed: dict[str, str] = {}
        """The ids of clusters that are no more, and of those that they became a part of."""
        self._spans = {
            class_: {document.mentions[n].span for n in positions} for class_, positions in self._members.items()
        }
        self._links = LinkFaults(document, faults)

    def name(self, first: Key, second: Key) -> Key:
        """Key of two clusters that become one: that of the first that has an id."""
        ids = [id_ for kind, id_ in (first, second) if kind == "cluster"] or [self._names.cluster()]
        return "cluster", ids[0]

    def join(self, first: Key, second: Key, whole: Key) -> bool:
        """Make two clusters one if no fault comes of it."""
        if not self._spans[first].isdisjoint(self._spans[second] - {()}) or not self._links.join(first, second, whole):
            return False
        joined: list[int] = []
        for key in (first, second):
            joined += self._members.pop(key)
            if key[0] == "cluster" and key != whole:
                self._absorbed[key[1]] = whole[1]
        self._members[whole] = joined
        self._spans[whole] = self._spans.pop(first) | self._spans.pop(second)
        return True

    def document(self) -> Document:
        """The document as it is now; links to what was absorbed lead to the whole."""
        for (kind, id_), positions in self._members.items():
            for position in positions if kind == "cluster" else ():
                if self._mentions[position].cluster != id_:
                    self._mentions[position] = replace(self._mentions[position], cluster=id_)
        # A link's end that could be a mention or a cluster is the mention.
        ids = {mention.id for mention in self._mentions}
        leading = {id_: self._whole(id_) for id_ in self._absorbed if id_ not in ids}
        links = dict.fromkeys(
            replace(link, source=leading.get(link.source, link.source), target=leading.get(link.target, link.target))
            for link in self._document.links
        )
        clusters = tuple(cluster for cluster in self._document.clusters if cluster.id not in self._absorbed)
        return replace(self._document, mentions=tuple(self._mentions), clusters=clusters, links=tuple(links))

    def _whole(self, id_: str) -> str:
        while id_ in self._absorbed:
            id_ = self._absorbed[id_]
        return id_


def drop_link(document: Document, rate: float, random: Random) -> tuple[Document, int]:
    """Drop links."""
    hits = struck(len(document.links), rate, random)
    kept = tuple(link for link, hit in zip(document.links, hits, strict=True) if not hit)
    return replace(document, links=kept), sum(hits)


def reverse_link(
    document: Document, rate: float, random: Random, *, faults: Collection[str] = ()
) -> tuple[Document, int]:
    """Reverse links: all chosen ones if that makes no fault, else one after another where possible."""
    hits = struck(len(document.links), rate, random)
    chosen = [n for n, (link, hit) in enumerate(zip(document.links, hits, strict=True)) if hit and not _loop(link)]
    whole = _turned(document, chosen)
    if not worse(whole, document, faults):
        return whole, len(chosen)
    links = LinkFaults(document, faults)
    turned = [number for number in chosen if links.reverse(number)]
    return _turned(document, turned), len(turned)


def _loop(link: Link) -> bool:
    return link.source == link.target


def _turned(document: Document, numbers: Collection[int]) -> Document:
    chosen = set(numbers)
    links = tuple(
        Link(link.kind, link.target, link.source) if number in chosen else link
        for number, link in enumerate(document.links)
    )
    return replace(document, links=links)
