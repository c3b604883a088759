"""Event hierarchies: for one kind of link, the graph of events of each side, and which events the two sides share.

Events of the two sides that share a mention are twins. Where each of two is the other's only twin they have the same
number, so that sets of events, held as the bits of an integer, can be compared across the sides at once.
"""

from collections.abc import Iterable, Mapping, Sequence
from graphlib import TopologicalSorter
from typing import Literal

from msgspec import Struct

from karat.model import Document, nodes_of
from karat.tables import Tables
from karat.tables.aligned import AlignedPairs, Alignment
from karat.tables.events import BothEvents, Edge, Events

Keep = Literal["all", "common", "no-system-singletons"]
"""Which mentions make events: all, those that both sides have, or all but those that the system alone has, unlinked."""

Relation = dict[int, int]
"""Which events are related to an event: the bits of a number."""


class Graph(Struct, frozen=True):
    """One side: the numbers of its events, and the links of one kind between them."""

    numbers: Sequence[int]
    events: int
    """The same numbers, as bits."""
    links: Sequence[Edge]
    repeated: bool
    """Whether an event stood in several nodes."""

    @property
    def size(self) -> int:
        """|F|: the number of events."""
        return len(self.numbers)

    @property
    def is_forest(self) -> bool:
        """Whether no event has two parents."""
        return not self.repeated and len({child for _, child in self.links}) == len(self.links)

    def parents(self) -> dict[int, int]:
        """The parent of each event of a forest that has one."""
        return {child: parent for parent, child in self.links}

    def children(self) -> dict[int, list[int]]:
        """The children of each event that has any."""
        found: dict[int, list[int]] = {}
        for parent, child in self.links:
            found.setdefault(parent, []).append(child)
        return found

    def below(self, *, transitive: bool) -> Relation:
        """The children of each event, or all its descendants."""
        below: Relation = {}
        for parent, child in self.links:
            below[parent] = below.get(parent, 0) | 1 << child
        if transitive:
            children = self.children()
            for event in TopologicalSorter(children).static_order():
                for child in children.get(event, ()):
                    below[event] |= below.get(child, 0)
        return below


class Hierarchy(Struct, frozen=True):
    """The table of one document."""

    document: str
    gold: Graph
    system: Graph
    gold_twins: Mapping[int, Sequence[int]]
    """For each gold event that has any: the system's events that share a mention with it."""
    system_twins: Mapping[int, Sequence[int]]
    plain: int
    """The events that have one twin on the other side, which has no other twin: the same number on both sides."""
    gold_only: int
    """Mentions that the system lacks."""
    system_only: int

    @property
    def same_events(self) -> bool:
        """Whether both sides make the same events of the same mentions."""
        return not self.gold_only and not self.system_only and self.plain == self.gold.events == self.system.events

    def shared(self, gold: Relation, system: Relation) -> tuple[int, int]:
        """How many pairs of gold's relation the system's has, and how many of the system's gold's has.

        Two pairs are the same if their first events share a mention and their second events share one.
        """
        recalled = _found(gold, system, self.gold_twins, self.plain)
        if self.plain == self.gold.events == self.system.events:
            return recalled, recalled
        return recalled, _found(system, gold, self.system_twins, self.plain)


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


def bits(number: int) -> Iterable[int]:
    """The places of the ones in a number."""
    while number:
        low = number & -number
        yield low.bit_length() - 1
        number ^= low


class HierarchyTable(Struct, frozen=True):
    """Wanted: the hierarchies of one kind of link under an alignment of mentions."""

    alignment: Alignment
    link: str
    keep: Keep = "all"

    def make(self, tables: Tables) -> tuple[Hierarchy, ...]:
        """The events of both sides, those that are twins numbered alike."""
        aligned: AlignedPairs = tables.get(self.alignment)
        golds, systems = tables.get(BothEvents())
        links = golds.links.get(self.link, []), systems.links.get(self.link, [])
        gold_twins: dict[int, list[int]] = {}
        system_twins: dict[int, list[int]] = {}
        for event, twin in dict.fromkeys((golds.event_of[g], systems.event_of[s]) for g, s, _, _ in aligned.pairs):
            gold_twins.setdefault(event, []).append(twin)
            system_twins.setdefault(twin, []).append(event)
        after = len(golds.members)
        number = list(range(after, after + len(systems.members)))
        plain = 0
        for event, twins in gold_twins.items():
            if len(twins) == 1 and len(system_twins[twins[0]]) == 1:
                number[twins[0]] = event
                plain |= 1 << event
        gold_lives, system_lives = self._alive(golds, systems, gold_twins, system_twins, links[1])
        alone = 0 if self.keep == "common" else len(aligned.gold) - len(aligned.pairs)
        gold, system = tables.pair.gold, tables.pair.system
        return (
            Hierarchy(
                gold.id,
                _graph(links[0], gold_lives, range(after), gold, self.link),
                _graph(links[1], system_lives, number, system, self.link),
                {event: [number[twin] for twin in twins] for event, twins in gold_twins.items()},
                {number[twin]: events for twin, events in system_twins.items()},
                plain,
                alone,
                0 if self.keep == "common" else len(aligned.system) - len(aligned.pairs),
            ),
        )

    def _alive(
        self,
        golds: Events,
        systems: Events,
        gold_twins: dict[int, list[int]],
        system_twins: dict[int, list[int]],
        links: Sequence[Edge],
    ) -> tuple[Iterable[int], Iterable[int]]:
        """The events of each side that stay: one whose mentions all leave is left out with its links."""
        every = range(len(golds.members)), range(len(systems.members))
        if self.keep == "all":
            return every
        if self.keep == "common":
            return gold_twins, system_twins
        linked = {end for link in links for end in link}
        stay = [e for e in every[1] if e in system_twins or e in linked or len(systems.members[e]) > 1]
        return every[0], stay

    def add(self, tables: Iterable[tuple[Hierarchy, ...]]) -> tuple[Hierarchy, ...]:
        """Documents one after the other: a hierarchy does not reach beyond its document."""
        return tuple(one for table in tables for one in table)


def _graph(links: Sequence[Edge], alive: Iterable[int], number: Sequence[int], document: Document, link: str) -> Graph:
    """The events that are alive, and the links between them, by their numbers."""
    lives = set(alive)
    numbers = [number[event] for event in lives]
    events = sum([1 << event for event in numbers])
    kept = [(number[parent], number[child]) for parent, child in links if parent in lives and child in lives]
    name = nodes_of(link)
    return Graph(numbers, events, kept, any(name in cluster.attributes for cluster in document.clusters))
