"""Event hierarchies: for one kind of link, the graph of events of each side, and which events the two sides share."""

from collections import Counter
from collections.abc import Iterable, Sequence, Set
from functools import cached_property
from typing import Literal, NamedTuple

from msgspec import Struct

from karat.families.hierarchy.graph import Compared, Graph, TwinPair, Twins
from karat.match.events import BothEvents, EventLink, Events
from karat.model import Document, nodes_of
from karat.plugin import AlignmentSpec, Tables, TableSpec

Keep = Literal["all", "common", "no-system-singletons"]
"""Which mentions make events: all, those that both sides have, or all but those that only the system has, unlinked."""

ROOT = -1
"""The parent of all roots, for both sides."""
ROOTS = ROOT, ROOT


class Hierarchy(Struct, frozen=True, dict=True, eq=False):
    """The table of one document."""

    document: str
    gold: Graph
    system: Graph
    twins: Twins
    gold_only: int
    """Mentions that the system lacks."""
    system_only: int

    @property
    def same_events(self) -> bool:
        """Return whether both sides make the same events of the same mentions."""
        unshared = self.gold_only or self.system_only
        return not unshared and len(self.twins.mutual) == self.gold.size == self.system.size

    @cached_property
    def links(self) -> Compared:
        """The links of the two sides."""
        return Compared(self.twins, self.gold.below, self.system.below)

    @cached_property
    def implied_links(self) -> Compared:
        """The links, and those that others imply."""
        return Compared(self.twins, self.gold.far_below, self.system.far_below)

    @property
    def siblings(self) -> Compared:
        """Events with a common parent, each pair in both directions."""
        return Compared(self.twins, self.gold.beside, self.system.beside)

    @cached_property
    def in_place(self) -> dict[TwinPair, Sequence[TwinPair]]:
        """Twins whose parents are also twins, with these; or both are roots, with `ROOTS`. From gold's roots down."""
        in_place: dict[TwinPair, Sequence[TwinPair]] = {}
        for event in self.gold.tree_of:
            above = self.gold.parents.get(event, ROOT)
            for twin in self.twins.in_system(event):
                there = self.system.parents.get(twin, ROOT)
                if above == there or there in self.twins.gold.get(above, ()):
                    in_place[event, twin] = ((above, there),)
        return in_place


class SharedEvents(NamedTuple):
    """Which events of the two sides share a mention, whatever their links."""

    pairs: Set[EventLink]
    numbers: Sequence[int]
    """The number of each event of the system: that of its twin, if they have no others."""
    twins: Twins


class SharedEventsTable(TableSpec[SharedEvents], Struct, frozen=True, cache_hash=True):
    """The events that the two sides share under an alignment of mentions."""

    aligned: AlignmentSpec

    def make(self, tables: Tables) -> SharedEvents:
        """Two events are twins if mentions of theirs are aligned."""
        golds, systems = tables.get(BothEvents())
        gold_of, system_of = golds.event_of, systems.event_of
        pairs = {(gold_of[g], system_of[s]) for g, s, _, _ in tables.get(self.aligned).pairs}
        gold_twins, system_twins = Counter(gold for gold, _ in pairs), Counter(system for _, system in pairs)
        numbers = [*range(golds.count, golds.count + systems.count)]
        mutual: list[int] = []
        others: list[EventLink] = []
        for gold, system in pairs:
            if gold_twins[gold] == system_twins[system] == 1:
                mutual.append(gold)
                numbers[system] = gold
            else:
                others.append((gold, numbers[system]))
        return SharedEvents(pairs, numbers, Twins(others, frozenset(mutual)))


class HierarchyTable(TableSpec[tuple[Hierarchy, ...]], Struct, frozen=True, cache_hash=True):
    """The hierarchies of one kind of link under an alignment of mentions, one per document."""

    alignment: AlignmentSpec
    link: str
    keep: Keep = "all"
    transitive: bool = False

    counted = "unit"
    errors_of = "links"

    @property
    def link_kinds(self) -> tuple[str, ...]:
        """One kind."""
        return (self.link,)

    @property
    def reads_paths(self) -> bool:
        """As the protocol says."""
        return self.transitive

    def make(self, tables: Tables) -> tuple[Hierarchy, ...]:
        """The events of both sides, those that are each other's only twins with the same number."""
        golds, systems = tables.get(BothEvents())
        repeated = [_is_repeated(document, self.link) for document in (tables.pair.gold, tables.pair.system)]
        aligned = tables.get(self.alignment)
        shared = tables.get(SharedEventsTable(self.alignment))
        gold_kept, system_kept = self._kept(golds, systems, shared.pairs)
        gold_links, system_links = (
            self._links(events, kept) for events, kept in ((golds, gold_kept), (systems, system_kept))
        )
        number = shared.numbers
        gold = Graph(golds, gold_kept, gold_kept, gold_links, repeated=repeated[0], transitive=self.transitive)
        system = Graph(
            systems,
            system_kept,
            [number[event] for event in system_kept],
            {(number[parent], number[child]) for parent, child in system_links},
            repeated=repeated[1],
            transitive=self.transitive,
        )
        unaligned = (len(side) - len(aligned.pairs) for side in (aligned.gold, aligned.system))
        gold_only, system_only = (0, 0) if self.keep == "common" else unaligned
        document = tables.pair.gold.id
        return (Hierarchy(document, gold, system, twins=shared.twins, gold_only=gold_only, system_only=system_only),)

    def _kept(self, golds: Events, systems: Events, twins: Iterable[EventLink]) -> tuple[Sequence[int], Sequence[int]]:
        """The events of each side that stay: one whose mentions all leave is removed with its links."""
        every = range(golds.count), range(systems.count)
        if self.keep == "all":
            return every
        shared = {system for _, system in twins}
        if self.keep == "common":
            return sorted({gold for gold, _ in twins}), sorted(shared)
        linked = {end for link in systems.links(self.link) for end in link}
        return every[0], [e for e in every[1] if e in shared or e in linked or len(systems.members[e]) > 1]

    def _links(self, events: Events, kept: Sequence[int]) -> set[EventLink]:
        """The links between events that stay."""
        links = events.links(self.link)
        return links if self.keep == "all" else {link for link in links if set(link).issubset(kept)}

    def add(self, tables: Sequence[tuple[Hierarchy, ...]]) -> tuple[Hierarchy, ...]:
        """Documents one after the other: a hierarchy does not reach beyond its document."""
        return tuple(hierarchy for table in tables for hierarchy in table)


def _is_repeated(document: Document, link: str) -> bool:
    """Return whether an event is in more nodes of a forest than its links show."""
    name = nodes_of(link)
    return any(name in cluster.attributes for cluster in document.clusters)
