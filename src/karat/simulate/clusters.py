"""Errors of clusters: a mention leaves its cluster, or two clusters become one."""

from collections import Counter
from collections.abc import Collection
from random import Random

from msgspec.structs import replace

from karat.model import Cluster, Document, Link, Mention
from karat.simulate.chance import pick, struck
from karat.simulate.names import Names
from karat.simulate.validity import pruned, worse

Key = tuple[str, str]
"""What a mention belongs to: ("cluster", id), or ("mention", id) if it is a cluster of its own."""


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
    broken = 0
    for position in leaving:
        candidate = _without_members(document, [position], names)
        if not worse(candidate, document, faults):
            document, broken = candidate, broken + 1
    return document, broken


def _without_members(document: Document, leaving: Collection[int], names: Names) -> Document:
    """Each of these mentions is a cluster of its own, with a record like the old one's if that has one."""
    records = {cluster.id: cluster for cluster in document.clusters}
    mentions, clusters = list(document.mentions), list(document.clusters)
    for position in leaving:
        record = records.get(mentions[position].cluster or "")
        own = None if record is None else replace(record, id=names.cluster())
        mentions[position] = replace(mentions[position], cluster=own and own.id)
        clusters += [] if own is None else [own]
    return pruned(replace(document, mentions=tuple(mentions), clusters=tuple(clusters)), document)


def conflate(
    document: Document, rate: float, random: Random, *, names: Names, faults: Collection[str] = ()
) -> tuple[Document, int]:
    """Clusters of the document become one with another of their kind that comes before, unless a fault comes of it."""
    records = {cluster.id: cluster for cluster in document.clusters}
    kinds: dict[Key, str] = {}
    for mention in document.mentions:
        kinds.setdefault(_key(mention), _kind(mention, records))
    survivors: dict[str, list[Key]] = {}
    conflated = 0
    for (key, kind), hit in zip(kinds.items(), struck(len(kinds), rate, random), strict=True):
        others = survivors.setdefault(kind, [])
        if hit and others:
            other = pick(others, random)
            candidate, whole = _joined(document, other, key, names)
            if not worse(candidate, document, faults):
                others[others.index(other)] = whole
                document, conflated = candidate, conflated + 1
                continue
        others.append(key)
    return document, conflated


def _key(mention: Mention) -> Key:
    return ("mention", mention.id) if mention.cluster is None else ("cluster", mention.cluster)


def _kind(mention: Mention, records: dict[str, Cluster]) -> str:
    record = None if mention.cluster is None else records.get(mention.cluster)
    return mention.kind if record is None else record.kind


def _joined(document: Document, first: Key, second: Key, names: Names) -> tuple[Document, Key]:
    """Two clusters as one: the first that has an id gives it, with its record; links to the other lead to it."""
    ids = [id_ for kind, id_ in (first, second) if kind == "cluster"] or [names.cluster()]
    whole, absorbed = ids[0], ids[1:]
    mentions = tuple(
        replace(mention, cluster=whole) if _key(mention) in (first, second) and mention.cluster != whole else mention
        for mention in document.mentions
    )
    # A link's end that could be a mention or a cluster is the mention.
    leading = {id_: whole for id_ in absorbed if all(mention.id != id_ for mention in mentions)}
    links = dict.fromkeys(
        Link(link.kind, leading.get(link.source, link.source), leading.get(link.target, link.target))
        for link in document.links
    )
    clusters = tuple(cluster for cluster in document.clusters if cluster.id not in absorbed)
    return replace(document, mentions=mentions, clusters=clusters, links=tuple(links)), ("cluster", whole)
