"""ACE documents that stay valid while errors are made in them (evaluation plan, section 3.5.1).

After each error, everything that depends on it follows:

    mentions     one segment each; an entity mention has a head, and an event's extent includes its anchor. Values and
                 times have one mention. Of two mentions of an element that now overlap, the changed one goes.
    types        an event and its mentions have one type; if an error changes that of a mention, all follow
    arguments    those of an element follow their mentions to other elements; what refers to a missing argument goes,
                 and so does a relation, or a mention of one, without Arg-1 or Arg-2
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from random import Random
from typing import NamedTuple

from msgspec.structs import replace

from karat.model import Cluster, Document, Link, Mention, Region
from karat.regions import is_within
from karat.simulate.mentions import TakenSpans, drawn_attributes
from karat.simulate.profile import Names, Profile, below, draw_hits
from karat.simulate.validity import pruned

ARGUED = ("relation", "event")
SINGLE = ("value", "time")
"""Kinds of elements with one mention."""
CONFLATED = ("entity", "event")
"""Kinds of elements that can become one: others have one mention, or just one Arg-1 and Arg-2."""
SWAPPED = {"Arg-1": "Arg-2", "Arg-2": "Arg-1"}


def repaired(document: Document, before: Document, names: Names) -> Document:
    """A document as APF can hold it, after an error was made in the valid document `before`."""
    if document == before:
        return document
    old = {mention.id: mention for mention in before.mentions}
    document = _without_overlaps(_located(_described(document, old, names), old), old)
    return _Arguments(document, before).document() if document.mentions else _first_element(before)


def _first_element(document: Document) -> Document:
    """The first element that needs no other: a document without elements is not valid."""
    mention = next((mention for mention in document.mentions if mention.kind != "relation"), None)
    if mention is None:
        return document
    clusters = tuple(cluster for cluster in document.clusters if cluster.id == mention.cluster)
    return replace(document, mentions=(mention,), clusters=clusters, links=())


# Mentions and their types.


def _described(document: Document, old: Mapping[str, Mention], names: Names) -> Document:
    """Each new mention of a value or time is an element; one of a relation has the arguments of that it was split from.

    Events have the first new type of their mentions, and their mentions have theirs.
    """
    records = {cluster.id: cluster for cluster in document.clusters}
    sizes = Counter(mention.cluster for mention in document.mentions)
    links = _by_source(document)
    mentions: list[Mention] = []
    types: dict[str, str] = {}
    for mention in document.mentions:
        cluster = mention.cluster or ""
        if mention.id not in old and mention.kind in SINGLE and sizes[cluster] > 1:
            new = names.cluster()
            records[new] = replace(records[cluster], id=new)
            mention = replace(mention, cluster=new)
        elif mention.id not in old and mention.kind == "relation" and mention.id not in links:
            links[mention.id] = [replace(link, source=mention.id) for link in links.get(mentions[-1].id, ())]
        elif mention.id in old and mention.kind == "event" and cluster in records:
            type_ = str(mention.attributes.get("type"))
            if type_ != old[mention.id].attributes.get("type"):
                types.setdefault(cluster, type_)
        mentions.append(mention)
    for id_, type_ in types.items():
        parts = dict(zip(("type", "subtype"), type_.split(".", 1), strict=False))
        records[id_] = replace(records[id_], attributes={**records[id_].attributes, **parts})
    return replace(
        document,
        mentions=tuple(_typed(mention, records) for mention in mentions),
        clusters=tuple(records.values()),
        links=tuple(link for own_links in links.values() for link in own_links),
    )


def _typed(mention: Mention, records: Mapping[str, Cluster]) -> Mention:
    if mention.kind != "event" or mention.cluster is None or mention.cluster not in records:
        return mention
    about = records[mention.cluster].attributes
    type_ = ".".join(str(about[name]) for name in ("type", "subtype") if name in about)
    if mention.attributes.get("type") == type_:
        return mention
    return replace(mention, attributes={**mention.attributes, "type": type_})


def _located(document: Document, old: Mapping[str, Mention]) -> Document:
    """Mentions of one segment, with the regions that their kinds have; arguments do not keep the extent of the old."""
    mentions = tuple(_with_regions(mention, old.get(mention.id)) for mention in document.mentions)
    stay = {mention.id for mention in mentions if mention.id in old and mention.span == old[mention.id].span}
    links = tuple(
        link if link.extent is None or link.target in stay else replace(link, extent=None) for link in document.links
    )
    return replace(document, mentions=mentions, links=links)


def _with_regions(mention: Mention, old: Mention | None) -> Mention:
    if not mention.span or (old is not None and old.span == mention.span):
        return mention
    span = _hull(mention.span)
    texts = dict(mention.texts)
    head, extent = mention.head, mention.extent
    if mention.kind == "entity" and (head is None or not is_within(head, span)):
        begin, end = span[0] if old is None or not old.head else (old.head[0][0], old.head[-1][1])
        head = ((max(begin, span[0][0]), min(end, span[0][1])),)
        head = head if head[0][0] < head[0][1] else span
        texts.pop("head", None)
    if mention.kind == "event" and not is_within(span, extent or ()):
        extent = _hull((*(extent or ()), *span))
        texts.pop("extent", None)
    return replace(mention, span=span, head=head, extent=extent, text=None, texts=texts)


def _hull(region: Region) -> Region:
    return ((min(begin for begin, _ in region), max(end for _, end in region)),)


def _without_overlaps(document: Document, old: Mapping[str, Mention]) -> Document:
    """Remove each changed mention that has the span, or overlaps the head or anchor, of another of its element."""
    members: dict[str | None, list[Mention]] = {}
    removed: set[str] = set()
    for mention in sorted(document.mentions, key=lambda mention: _is_changed(mention, old.get(mention.id))):
        fellows = members.setdefault(mention.cluster, [])
        if _is_changed(mention, old.get(mention.id)) and any(_clash(mention, fellow) for fellow in fellows):
            removed.add(mention.id)
        else:
            fellows.append(mention)
    kept = tuple(mention for mention in document.mentions if mention.id not in removed)
    return pruned(replace(document, mentions=kept), document) if removed else document


def _is_changed(mention: Mention, old: Mention | None) -> bool:
    return old is None or (mention.cluster, mention.span, mention.head) != (old.cluster, old.span, old.head)


def _clash(one: Mention, other: Mention) -> bool:
    if not one.span or not other.span:
        return False
    first, second = one.head or one.span, other.head or other.span
    overlap = first[0][0] < second[-1][1] and second[0][0] < first[-1][1]
    return one.span == other.span or (overlap and one.kind in CONFLATED)


# Arguments.


def _by_source(document: Document) -> dict[str, list[Link]]:
    links: dict[str, list[Link]] = {}
    for link in document.links:
        links.setdefault(link.source, []).append(link)
    return links


class _Argument(NamedTuple):
    role: str
    element: str


class _Arguments:
    """The relations and events of a document, with arguments that agree with those of their mentions."""

    def __init__(self, document: Document, before: Document) -> None:
        self._document = document
        self._links = _by_source(document)
        self._elements = {mention.id: mention.cluster or "" for mention in document.mentions}
        self._old_elements = {mention.id: mention.cluster for mention in before.mentions}
        self._old_clusters = {cluster.id for cluster in before.clusters}
        self._old_mentioned = {mention.cluster for mention in before.mentions}
        self._members: dict[str, list[str]] = {}
        for mention, element in self._elements.items():
            self._members.setdefault(element, []).append(mention)

    def document(self) -> Document:
        removed: set[str] = set()
        for cluster in self._document.clusters:
            if cluster.kind in ARGUED and not self._follow(cluster, removed):
                removed |= {cluster.id, *self._members.get(cluster.id, ())}
        return replace(
            self._document,
            mentions=tuple(mention for mention in self._document.mentions if mention.id not in removed),
            clusters=tuple(cluster for cluster in self._document.clusters if cluster.id not in removed),
            links=tuple(link for id_, links in self._links.items() if id_ not in removed for link in links),
        )

    def _follow(self, cluster: Cluster, removed: set[str]) -> bool:
        """Make the arguments of an element and its mentions agree; invalid mentions are added to `removed`.

        False: the element is invalid as well.
        """
        is_relation = cluster.kind == "relation"
        arguments = list(dict.fromkeys(self._arguments(cluster)))
        if is_relation:
            mains = {argument.role: argument for argument in reversed(arguments) if argument.role in SWAPPED}
            if len(mains) < len(SWAPPED):
                return False
            arguments = [*mains.values(), *(argument for argument in arguments if argument.role not in SWAPPED)]
        self._links[cluster.id] = [Link(role, cluster.id, element) for role, element in arguments]
        stated = set(arguments)
        members = self._members.get(cluster.id, [])
        left = 0
        for mention in members:
            links = [link for link in self._links.get(mention, []) if self._argument(link) in stated]
            self._links[mention] = links
            if is_relation and not SWAPPED.keys() <= {link.kind for link in links}:
                removed.add(mention)
            else:
                left += 1
        return bool(left) or (cluster.id in self._old_clusters and cluster.id not in self._old_mentioned)

    def _arguments(self, cluster: Cluster) -> Iterator[_Argument]:
        """The arguments of an element, where their mentions are now; the first that stayed in its place comes first."""
        of_mentions = [link for mention in self._members.get(cluster.id, ()) for link in self._links.get(mention, ())]
        for link in self._links.get(cluster.id, ()):
            found = [
                self._argument(other)
                for other in of_mentions
                if other.kind == link.kind and self._old_elements.get(other.target) == link.target
            ]
            yield from sorted(found, key=lambda argument: argument.element != link.target) or [
                _Argument(link.kind, link.target)
            ]
        if cluster.id not in self._old_clusters:
            yield from map(self._argument, of_mentions)

    def _argument(self, link: Link) -> _Argument:
        return _Argument(link.kind, self._elements[link.target])


def swap_arguments(document: Document, rate: float, random: Random) -> tuple[Document, int]:
    """Swap Arg-1 and Arg-2 of relations: that is how their links are reversed; arguments of events have no reverse."""
    hits = draw_hits(len(document.links), rate, random)
    relations = {cluster.id for cluster in document.clusters if cluster.kind == "relation"}
    swapped = {link.source for link, hit in zip(document.links, hits, strict=True) if hit} & relations
    sources = swapped | {mention.id for mention in document.mentions if mention.cluster in swapped}
    links = tuple(
        replace(link, kind=SWAPPED.get(link.kind, link.kind)) if link.source in sources else link
        for link in document.links
    )
    return replace(document, links=links), len(swapped)


def spurious(
    document: Document, rate: float, random: Random, *, gold: Document, profile: Profile, names: Names
) -> tuple[Document, int]:
    """Add elements with one mention each, at most one per gold mention, as the corpus has them.

    They are between the first and the last mention of the text, none with the span of another; a relation is between
    two entities of the document.
    """
    regions = [mention.extent or mention.span for mention in gold.mentions if mention.span and mention.kind != "time"]
    begin = min((region[0][0] for region in regions), default=0)
    length = max((region[-1][1] for region in regions), default=0) - begin
    taken = TakenSpans(
        tuple((first - begin, last - begin) for first, last in mention.span)
        for side in (gold, document)
        for mention in side.mentions
    )
    entities = [mention for mention in document.mentions if mention.kind == "entity"]
    mentions: list[Mention] = []
    clusters: list[Cluster] = []
    links: list[Link] = []
    for hit in draw_hits(len(gold.mentions), rate, random):
        if not hit or not length:
            continue
        kind = profile.kinds[gold.unit].draw(random)
        free = taken.free(profile.lengths[gold.unit, kind].draw(random), length, random)
        arguments = _two_entities(entities, random) if kind == "relation" else []
        if not free or arguments is None:
            continue
        taken.add(free)
        span = _trimmed(gold.text, (free[0][0] + begin, free[0][1] + begin))
        if span is None:
            continue
        record = Cluster(names.cluster(), kind, dict(profile.records[kind].draw(random)))
        mention = Mention(names.mention(), span, kind=kind, cluster=record.id)
        mention = replace(mention, attributes=drawn_attributes(kind, profile, random))
        mentions.append(replace(mention, head=span if kind == "entity" else None))
        clusters.append(record)
        for role, argument in zip(SWAPPED, arguments, strict=False):
            links += [Link(role, record.id, argument.cluster or ""), Link(role, mention.id, argument.id)]
    added = replace(
        document,
        mentions=(*document.mentions, *mentions),
        clusters=(*document.clusters, *clusters),
        links=(*document.links, *links),
    )
    return added, len(mentions)


def _two_entities(mentions: list[Mention], random: Random) -> list[Mention] | None:
    """Mentions of two entities; None if the document has no two."""
    if len({mention.cluster for mention in mentions}) < 2:
        return None
    first = mentions[below(len(mentions), random)]
    others = [mention for mention in mentions if mention.cluster != first.cluster]
    return [first, others[below(len(others), random)]]


def _trimmed(text: str | None, segment: tuple[int, int]) -> Region | None:
    """A segment without the blanks at its ends; None if there is nothing else."""
    if text is None:
        return (segment,)
    begin, end = segment
    words = text[begin:end]
    begin += len(words) - len(words.lstrip())
    end -= len(words) - len(words.rstrip())
    return ((begin, end),) if begin < end else None
