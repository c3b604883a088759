"""Event hierarchies: for one kind of link, the graph of events of each side, and which events the two sides share.

Events of the two sides that share a mention are twins. Where each of two is the other's only twin they have the same
number, so that sets of events, held as the bits of an integer, can be compared across the sides at once.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from graphlib import TopologicalSorter
from typing import Literal

from msgspec import Struct

from karat.model import Document, nodes_of
from karat.plugin import AlignmentSpec, Counted, Tables, TableSpec
from karat.tables.events import BothEvents, Edge, Events

Keep = Literal["all", "common", "no-system-singletons"]
"""Which mentions make events: all, those that both sides have, or all but those that the system alone has, unlinked."""

Relation = dict[int, int]
"""Which events are related to an event: the bits of a number."""


class Graph:
    """One side: the numbers of its events, and the links of one kind between them; what follows is worked out once."""

    def __init__(self, numbers: Sequence[int], links: Sequence[Edge], *, repeated: bool) -> None:
        self.numbers = numbers
        self.links = links
        self.size = len(numbers)
        """|F|: the number of events."""
        self.parents = {child: parent for parent, child in links}
        """The parent of each event that has one; if it has several, one of them."""
        self.is_forest = not repeated and len(self.parents) == len(links)
        """Whether no event has two parents or stood in several nodes."""

    @cached_property
    def events(self) -> int:
        """The numbers of its events, as bits."""
        return as_bits(self.numbers)

    @cached_property
    def children(self) -> dict[int, list[int]]:
        """The children of each event that has any."""
        return _grouped(self.links)

    @cached_property
    def from_the_roots(self) -> list[int]:
        """All events of a forest, each after its parent."""
        parents, children = self.parents, self.children
        found = [event for event in self.numbers if event not in parents]
        for event in found:  # it grows while we walk along
            if event in children:
                found.extend(children[event])
        return found

    @cached_property
    def tree_of(self) -> dict[int, int]:
        """The root above each event of a forest."""
        root: dict[int, int] = {}
        parent_of = self.parents.get
        for event in self.from_the_roots:
            parent = parent_of(event)
            root[event] = event if parent is None else root[parent]
        return root

    @cached_property
    def below(self) -> Relation:
        """The children of each event, as bits."""
        return {parent: as_bits(children) for parent, children in self.children.items()}

    @cached_property
    def far_below(self) -> Relation:
        """All descendants of each event, as bits."""
        below = dict(self.below)
        for event in TopologicalSorter(self.children).static_order():
            for child in self.children.get(event, ()):
                below[event] |= below.get(child, 0)
        return below

    @cached_property
    def beside(self) -> Relation:
        """The siblings of each event: those with a parent of its own, as bits."""
        below = self.below
        beside: Relation = {}
        for parent, child in self.links:
            beside[child] = (beside.get(child, 0) | below[parent]) & ~(1 << child)
        return beside

    def apart(self, related: Relation) -> Relation:
        """The events that an event is not related to, as bits."""
        return {event: self.events & ~(related.get(event, 0) | 1 << event) for event in self.numbers}


class Hierarchy:
    """The table of one document."""

    def __init__(
        self,
        document: str,
        gold: Graph,
        system: Graph,
        *,
        gold_twins: Mapping[int, Sequence[int]],
        system_twins: Mapping[int, Sequence[int]],
        plain: int,
        gold_only: int,
        system_only: int,
    ) -> None:
        self.document = document
        self.gold = gold
        self.system = system
        self.gold_twins = gold_twins
        """For each gold event that has any: the system's events that share a mention with it."""
        self.system_twins = system_twins
        self.plain = plain
        """The events that have one twin on the other side, which has no other twin: the same number on both sides."""
        self.gold_only = gold_only
        """Mentions that the system lacks."""
        self.system_only = system_only
        self.is_plain = len(gold_twins) == len(system_twins) == plain.bit_count()
        """Whether no event has two twins."""

    @property
    def same_events(self) -> bool:
        """Whether both sides make the same events of the same mentions."""
        return not self.gold_only and not self.system_only and self.plain == self.gold.events == self.system.events

    @cached_property
    def shared_links(self) -> tuple[int, int]:
        """How many links of gold's the system has, and how many of the system's gold has."""
        if self.is_plain:
            found = len({*self.gold.links} & {*self.system.links})
            return found, found
        return self.shared(self.gold.below, self.system.below)

    @cached_property
    def shared_implied_links(self) -> tuple[int, int]:
        """The same with the links that others imply."""
        return self.shared(self.gold.far_below, self.system.far_below)

    def shared(self, gold: Relation, system: Relation) -> tuple[int, int]:
        """How many pairs of gold's relation the system's has, and how many of the system's gold's has.

        Two pairs are the same if their first events share a mention and their second events share one.
        """
        if self.is_plain:
            found = sum([(related & system.get(event, 0) & self.plain).bit_count() for event, related in gold.items()])
            return found, found
        return _found(gold, system, self.gold_twins, self.plain), _found(system, gold, self.system_twins, self.plain)


def _found(own: Relation, other: Relation, twins: Mapping[int, Sequence[int]], plain: int) -> int:
    count = 0
    for event, related in own.items():
        there = 0
        for twin in twins.get(event, ()):
            there |= other.get(twin, 0)
        if there:
            count += (related & there & plain).bit_count()
            count += sum(any(there >> twin & 1 for twin in twins.get(end, ())) for end in bits(related & ~plain))
    return count


def as_bits(places: Iterable[int]) -> int:
    """The number with ones at these places."""
    return sum([1 << place for place in places])


def bits(number: int) -> Iterable[int]:
    """The places of the ones in a number."""
    while number:
        low = number & -number
        yield low.bit_length() - 1
        number ^= low


class HierarchyTable(TableSpec[tuple[Hierarchy, ...]], Struct, frozen=True, cache_hash=True):
    """Wanted: the hierarchies of one kind of link under an alignment of mentions."""

    aligned: AlignmentSpec
    link: str
    keep: Keep = "all"

    def make(self, tables: Tables) -> tuple[Hierarchy, ...]:
        """The events of both sides, those that are twins numbered alike."""
        aligned = tables.get(self.aligned)
        golds, systems = tables.get(BothEvents())
        gold_of, system_of = golds.event_of, systems.event_of
        twins = sorted({(gold_of[g], system_of[s]) for g, s, _, _ in aligned.pairs})
        only = _mutual(twins)
        after = len(golds.members)
        number = [only.get(twin, after + twin) for twin in range(len(systems.members))]
        gold_twins = _grouped([(event, number[twin]) for event, twin in twins])
        # Where no event has two twins, numbers are the same on both sides.
        system_twins = gold_twins if len(only) == len(twins) else _grouped([(number[twin], e) for e, twin in twins])
        gold, system = self._stay(golds, systems, twins)
        alone = 0 if self.keep == "common" else 1
        return (
            Hierarchy(
                tables.pair.gold.id,
                Graph(
                    list(gold),
                    _kept(golds.links.get(self.link, []), gold, after),
                    repeated=_repeated(tables.pair.gold, self.link),
                ),
                Graph(
                    [number[event] for event in system],
                    [
                        (number[parent], number[child])
                        for parent, child in _kept(systems.links.get(self.link, []), system, len(number))
                    ],
                    repeated=_repeated(tables.pair.system, self.link),
                ),
                gold_twins=gold_twins,
                system_twins=system_twins,
                plain=as_bits(only.values()),
                gold_only=alone * (len(aligned.gold) - len(aligned.pairs)),
                system_only=alone * (len(aligned.system) - len(aligned.pairs)),
            ),
        )

    def _stay(self, golds: Events, systems: Events, twins: Sequence[Edge]) -> tuple[Collection[int], Collection[int]]:
        """The events of each side that stay: one whose mentions all leave is left out with its links."""
        every = range(len(golds.members)), range(len(systems.members))
        if self.keep == "all":
            return every
        met = {twin for _, twin in twins}
        if self.keep == "common":
            return sorted({event for event, _ in twins}), sorted(met)
        linked = {end for link in systems.links.get(self.link, ()) for end in link}
        return every[0], [e for e in every[1] if e in met or e in linked or len(systems.members[e]) > 1]

    @property
    def counted(self) -> Counted:
        """What a link is worth depends on all mentions of its two events."""
        return "unit"

    @property
    def alignment(self) -> AlignmentSpec:
        """By which a breakdown restricts the corpus."""
        return self.aligned

    def add(self, tables: Sequence[tuple[Hierarchy, ...]]) -> tuple[Hierarchy, ...]:
        """Documents one after the other: a hierarchy does not reach beyond its document."""
        return tuple(one for table in tables for one in table)


def _kept(links: Sequence[Edge], stay: Collection[int], events: int) -> Sequence[Edge]:
    """The links between events that stay."""
    if len(stay) == events:
        return links
    return [(parent, child) for parent, child in links if parent in stay and child in stay]


def _mutual(twins: Sequence[Edge]) -> dict[int, int]:
    """System events with the gold events of which each is the other's only twin."""
    found = {twin: event for event, twin in twins}
    if len(found) == len(twins) == len({event for event, _ in twins}):
        return found
    golds, systems = (Counter([pair[side] for pair in twins]) for side in (0, 1))
    return {twin: event for event, twin in twins if golds[event] == systems[twin] == 1}


def _grouped(pairs: Iterable[tuple[int, int]]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for one, other in pairs:
        found.setdefault(one, []).append(other)
    return found


def _repeated(document: Document, link: str) -> bool:
    """Whether an event stood in more nodes than its links tell."""
    name = nodes_of(link)
    return any(name in cluster.attributes for cluster in document.clusters)
