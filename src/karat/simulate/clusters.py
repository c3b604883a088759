"""Errors of clusters: a mention leaves its cluster, or two clusters become one."""

from collections import Counter
from collections.abc import Collection, Mapping
from functools import partial
from random import Random

from msgspec.structs import replace

from karat.model import Cluster, Document, Link, Mention, Region
from karat.simulate.profile import Names, below, draw_hits
from karat.simulate.validity import Key, adds_faults, class_of, is_on_cycle, pruned, without_faults


def break_(
    document: Document,
    rate: float,
    random: Random,
    *,
    shared: Collection[str],
    names: Names,
    faults: Collection[str] = (),
) -> tuple[Document, int]:
    """Mentions leave their clusters: all that are chosen if that makes no fault, else those that can.

    The last mention of a cluster stays, unless there are others in another document (`shared`).
    """
    sizes = Counter(mention.cluster for mention in document.mentions)
    leaving: list[int] = []
    for position, hit in enumerate(draw_hits(len(document.mentions), rate, random)):
        cluster = document.mentions[position].cluster
        if hit and cluster is not None and (sizes[cluster] > 1 or cluster in shared):
            sizes[cluster] -= 1
            leaving.append(position)
    trial = partial(_without_members, document, names=Names(document))
    feasible = without_faults(
        leaving, trial, document, faults, lambda made, n: is_on_cycle(made, class_of(made.mentions[n]))
    )
    return _without_members(document, feasible, names), len(feasible)


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
    """Merge clusters with an earlier one of their kind in the document, unless that makes a fault.

    `only`: the kinds of clusters that can become one.
    """
    records = {cluster.id: cluster for cluster in document.clusters}
    kinds: dict[Key, str] = {}
    for mention in document.mentions:
        kinds.setdefault(class_of(mention), _kind(mention, records))
    spans: dict[Key, set[Region]] = {}
    for mention in document.mentions:
        spans.setdefault(class_of(mention), set()).add(mention.span)
    parts: dict[Key, Key] = {}
    survivors: dict[str, list[Key]] = {}
    conflated = 0
    for (key, kind), hit in zip(kinds.items(), draw_hits(len(kinds), rate, random), strict=True):
        others = survivors.setdefault(kind, [])
        if hit and others and (only is None or kind in only):
            place = below(len(others), random)
            other = others[place]
            # The name is used up even if the clusters cannot be joined.
            whole = next((part for part in (other, key) if part[0] == "cluster"), None) or ("cluster", names.cluster())
            joined = parts | {part: whole for part in (other, key) if part != whole}
            if spans[other].isdisjoint(spans[key] - {()}) and _is_sound(document, joined, whole, faults):
                parts, others[place] = joined, whole
                spans[whole] = spans.pop(other) | spans.pop(key)
                conflated += 1
                continue
        others.append(key)
    return _with_parts(document, parts), conflated


def _kind(mention: Mention, records: dict[str, Cluster]) -> str:
    record = None if mention.cluster is None else records.get(mention.cluster)
    return mention.kind if record is None else record.kind


def _is_sound(document: Document, parts: Mapping[Key, Key], whole: Key, faults: Collection[str]) -> bool:
    """Return whether no link makes a fault or closes a cycle if some clusters become parts of others."""
    if not document.links:
        return True
    after = _with_parts(document, parts)
    return not adds_faults(after, document, faults) and not is_on_cycle(after, whole)


def _with_parts(document: Document, parts: Mapping[Key, Key]) -> Document:
    """The document in which clusters became parts of others; links to a part lead to the whole."""
    if not parts:
        return document

    def whole(key: Key) -> Key:
        while key in parts:
            key = parts[key]
        return key

    mentions = []
    for mention in document.mentions:
        key = class_of(mention)
        mentions.append(replace(mention, cluster=whole(key)[1]) if key in parts else mention)
    # A link's end that could be a mention or a cluster is the mention.
    ids = {mention.id for mention in mentions}
    absorbed = {id_ for kind, id_ in parts if kind == "cluster"}
    leading = {id_: whole(("cluster", id_))[1] for id_ in absorbed - ids}
    links = dict.fromkeys(
        replace(link, source=leading.get(link.source, link.source), target=leading.get(link.target, link.target))
        for link in document.links
    )
    clusters = tuple(cluster for cluster in document.clusters if cluster.id not in absorbed)
    return replace(document, mentions=tuple(mentions), clusters=clusters, links=tuple(links))


def drop_link(document: Document, rate: float, random: Random) -> tuple[Document, int]:
    hits = draw_hits(len(document.links), rate, random)
    kept = tuple(link for link, hit in zip(document.links, hits, strict=True) if not hit)
    return replace(document, links=kept), sum(hits)


def reverse_link(
    document: Document, rate: float, random: Random, *, faults: Collection[str] = ()
) -> tuple[Document, int]:
    """Reverse links: all chosen ones if that makes no fault, else one after another where possible."""
    hits = draw_hits(len(document.links), rate, random)
    chosen = [
        index
        for index, (link, hit) in enumerate(zip(document.links, hits, strict=True))
        if hit and link.source != link.target
    ]
    classes = {mention.id: class_of(mention) for mention in document.mentions}

    def closes_cycle(made: Document, index: int) -> bool:
        link = made.links[index]
        return is_on_cycle(made, classes.get(link.source, ("cluster", link.source)), link.kind)

    turned = without_faults(chosen, partial(_turned, document), document, faults, closes_cycle)
    return _turned(document, turned), len(turned)


def _turned(document: Document, indexes: Collection[int]) -> Document:
    chosen = set(indexes)
    links = tuple(
        Link(link.kind, link.target, link.source) if index in chosen else link
        for index, link in enumerate(document.links)
    )
    return replace(document, links=links)
