"""Repairs of errors: edits of the system's documents, which are then scored again."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from typing import NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from karat.checks.pairs import in_one_numbering
from karat.model import Cluster, ClusterKey, Document, Link, Mention, Pair
from karat.plugin import DocumentArguments, Filler


class Slot(Struct, frozen=True, gc=False):
    """A role of an event or template, and what fills it."""

    event: Hashable
    role: str
    fillers: tuple[Filler, ...]


class Rewriting(NamedTuple):
    """The events and slots of a document by keys, as a measure counts them.

    Protocols differ in which arguments are one, which of several events on a trigger counts, and so on. A document with
    exactly the arguments that count has the same score, and each of them can be changed by itself.
    """

    events: Mapping[Hashable, Mention]
    slots: Mapping[Hashable, Slot]

    def rewritten(
        self, document: Document, events: Mapping[Hashable, Mention | None], slots: Mapping[Hashable, Slot | None]
    ) -> Document:
        """The document with nothing but these events and slots, as some changes leave them."""
        mentions: list[Mention] = []
        links: list[Link] = []
        ids: dict[Hashable, str] = {}
        for key, event in {**self.events, **events}.items():
            if event is not None:
                ids[key] = f"e{len(ids)}"
                mentions.append(replace(event, id=ids[key], cluster=None))
        for slot in {**self.slots, **slots}.values():
            if slot is None or slot.event not in ids:
                continue
            for filler in slot.fillers:
                name = f"{document.id} x{len(mentions)}" if filler.is_entity else None
                first = f"m{len(mentions)}"
                for mention in filler.mentions:
                    mentions.append(replace(mention, id=f"m{len(mentions)}", cluster=name))
                links.append(Link(slot.role, ids[slot.event], name or first))
        return replace(document, mentions=tuple(mentions), clusters=(), links=tuple(links))


def rewriting(arguments: DocumentArguments) -> Rewriting:
    """The document of the system as it is."""
    systems = [outcome.system for outcome in arguments.outcomes if outcome.system is not None]
    slots = {
        argument.key: Slot(argument.event, argument.role, argument.fillers)
        for argument in systems
        if argument.fillers and argument.is_attainable
    }
    return Rewriting(arguments.system_events, slots)


EventLink = tuple[str, ClusterKey, ClusterKey]
"""A kind, and two events."""


class LinkGraph:
    """Links between events, to which others are added."""

    def __init__(self) -> None:
        self.links: dict[EventLink, None] = {}
        self._below: dict[tuple[str, ClusterKey], list[ClusterKey]] = {}

    def add(self, kind: str, source: ClusterKey, target: ClusterKey) -> EventLink:
        link = kind, source, target
        if link not in self.links:
            self.links[link] = None
            self._below.setdefault((kind, source), []).append(target)
        return link

    def takes(self, kind: str, source: ClusterKey, target: ClusterKey) -> bool:
        """Return whether a link joins two events, and closes no cycle with others of its kind."""
        reached, left = {target}, [target]
        while left and source not in reached:
            for event in self._below.get((kind, left.pop()), ()):
                if event not in reached:
                    reached.add(event)
                    left.append(event)
        return source not in reached


class Edit(Struct):
    """Changes of one document of the system. Later changes replace earlier ones."""

    mentions: dict[str, Mention | None] = field(default_factory=dict)
    """Mentions by id as they become; None: removed."""
    added: dict[str, Mention] = field(default_factory=dict)
    """Further mentions by id; one whose id is taken gets another."""
    clusters: dict[str, Cluster | None] = field(default_factory=dict)
    """Clusters by id as they become, or are added; None: removed."""
    links: dict[Link, bool] = field(default_factory=dict)
    """Links that are added (True) or removed (False)."""
    contradicting: tuple[frozenset[Link], ...] = ()
    """Links that are removed where they would close a cycle with others. Edits share such a set, which is kept once."""
    moved: dict[str, str | None] = field(default_factory=dict)
    """Clusters whose mentions in this document all move to another one; None: are removed."""
    replaced: Document | None = None
    """A replacement of the document, before all other changes."""
    keep_links: bool = True
    """False: links are removed, so that a repair of clusters cannot make a cycle of them."""
    rewriting: Rewriting | None = None
    """The arguments of the document: it is written anew from these, with the two changes that follow."""
    events: dict[Hashable, Mention | None] = field(default_factory=dict)
    """Events or templates by key as they become, or are added; None: removed, with their slots."""
    slots: dict[Hashable, Slot | None] = field(default_factory=dict)
    """Slots by key as they become, or are added; None: removed."""
    scored: frozenset[str] | None = None
    """Ids of the mentions that the protocol scores (None: all). Others give way to one that comes to their span."""

    def merge(self, other: "Edit") -> None:
        """Add the changes of another edit of the same document."""
        self.mentions |= other.mentions
        self.added |= other.added
        self.clusters |= other.clusters
        self.links |= other.links
        known = set(map(id, self.contradicting))
        self.contradicting += tuple(links for links in other.contradicting if id(links) not in known)
        self.moved |= other.moved
        self.replaced = self.replaced or other.replaced
        self.keep_links = self.keep_links and other.keep_links
        self.rewriting = self.rewriting or other.rewriting
        self.events |= other.events
        self.slots |= other.slots
        self.scored = other.scored if self.scored is None else self.scored


class Repair(NamedTuple):
    """An edit, and the document it is for."""

    document: str
    edit: Edit


def edited(document: Document, edit: Edit) -> Document:
    """The document with the changes. Links to what is removed are also removed."""
    if edit.rewriting is not None:
        return edit.rewriting.rewritten(document, edit.events, edit.slots)
    base = document if edit.replaced is None else edit.replaced
    mentions = [left for mention in base.mentions if (left := edit.mentions.get(mention.id, mention)) is not None]
    mentions = [moved for mention in mentions if (moved := _moved(mention, edit.moved)) is not None]
    scored = {mention.id for mention in mentions} if edit.scored is None else edit.scored
    places = {(mention.span, mention.kind): index for index, mention in enumerate(mentions) if mention.id not in scored}
    spans = {mention.id: mention.span for mention in base.mentions}
    altered = [mention for mention in mentions if mention.id in edit.mentions and mention.span != spans[mention.id]]
    gone = {places.pop((mention.span, mention.kind), None) for mention in altered}
    taken = {mention.id for mention in mentions}
    # A mention that only a filter gave to the system is added as it becomes.
    given = {id_: mention for id_, mention in edit.mentions.items() if mention is not None and id_ not in spans}
    for id_, mention in (given | edit.added).items():
        index = places.pop((mention.span, mention.kind), None) if mention.span else None
        if index is not None:
            mentions[index] = replace(mention, id=mentions[index].id)
            continue
        while id_ in taken:
            id_ += "+"
        taken.add(id_)
        mentions.append(replace(mention, id=id_))
    mentions = [mention for index, mention in enumerate(mentions) if index not in gone]
    clusters = {cluster.id: cluster for cluster in base.clusters}
    kept = {id_: cluster for id_, cluster in (clusters | edit.clusters).items() if cluster is not None}
    removed = {id_ for id_, cluster in (edit.mentions | edit.clusters).items() if cluster is None}
    links = _links(base, mentions, edit, removed)
    return replace(base, mentions=tuple(mentions), clusters=tuple(kept.values()), links=links)


def _moved(mention: Mention, moved: Mapping[str, str | None]) -> Mention | None:
    if mention.cluster is None or mention.cluster not in moved:
        return mention
    target = moved[mention.cluster]
    return None if target is None else replace(mention, cluster=target)


def _links(document: Document, mentions: Iterable[Mention], edit: Edit, removed: set[str]) -> tuple[Link, ...]:
    if not edit.keep_links:
        return ()
    links = [link for link in document.links if edit.links.get(link, True)]
    present = set(links)
    links += [link for link, is_added in edit.links.items() if is_added and link not in present]
    links = [link for link in links if removed.isdisjoint((link.source, link.target))]
    contradicting = frozenset[Link]().union(*edit.contradicting)
    if contradicting:
        event_of: dict[str, ClusterKey] = {mention.id: mention.cluster or (mention.id, 0) for mention in mentions}
        kept, closing = LinkGraph(), Counter[Link]()
        for link in sorted(links, key=contradicting.__contains__):
            ends = event_of.get(link.source, link.source), event_of.get(link.target, link.target)
            if link not in contradicting or kept.takes(link.kind, *ends):
                kept.add(link.kind, *ends)
            else:
                closing[link] += 1
        links = [link for link in links if not _is_among(link, closing)]
    return tuple(links)


def _is_among(link: Link, numbers: Counter[Link]) -> bool:
    """Return whether a link is one of those counted, and count it off."""
    numbers[link] -= 1
    return numbers[link] >= 0


def merged_edits(repairs: Iterable[Repair]) -> dict[str, Edit]:
    """Return the changes of each document; errors may share an edit, which is made once."""
    edits: dict[str, Edit] = {}
    for document, edit in {id(repair.edit): repair for repair in repairs}.values():
        edits.setdefault(document, Edit()).merge(edit)
    return edits


def edited_system(gold: Document | None, system: Document | None, edit: Edit) -> Document:
    """Return a document of the system as the repairs leave it; one that the system lacks has gold's text."""
    if system is None:
        assert gold is not None, "a document that the system lacks is gold's"
        return edited(replace(gold, mentions=(), clusters=(), links=()), edit)
    if gold is not None and gold.empty_nodes != system.empty_nodes:
        system = _with_empty_nodes(gold, system)
    return edited(system, edit)


def _with_empty_nodes(gold: Document, system: Document) -> Document:
    """The system's document with the empty nodes of both sides, so that gold's spans mean the same tokens in it."""
    both = in_one_numbering(Pair(gold, system))
    nodes = {node.token: node for node in (*both.gold.empty_nodes, *both.system.empty_nodes)}
    return replace(both.system, empty_nodes=tuple(nodes[token] for token in sorted(nodes)))
