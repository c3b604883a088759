"""Event hierarchies: for one kind of link, the graph of events of each side, and which events the two sides share.

Events of the two sides that share a mention are twins. Where two events are each other's only twins they have the same
number on both sides, so that sets of events, held as the bits of an integer, are compared across the sides at once.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from graphlib import TopologicalSorter
from typing import Literal

from msgspec import Struct
from msgspec.structs import astuple

from karat.counts import PrecisionRecall
from karat.model import ClusterKey, Document, nodes_of
from karat.plugin import AlignmentSpec, Counted, Tables, TableSpec
from karat.tables.contingency import pairs_within
from karat.tables.events import BothEvents, EventLink, Events

Keep = Literal["all", "common", "no-system-singletons"]
"""Which mentions make events: all, those that both sides have, or all but those that only the system has, unlinked."""

Relation = dict[int, int]
"""For each event, the events it is related to, as bits."""

Twins = tuple[int, int]
"""An event of gold and one of the system's that share a mention."""

ROOTS = (-1, -1)
"""Above two roots, in place of their parents."""


class Graph:
    """One side: its events by number, and the links of one kind between them."""

    def __init__(
        self, events: Events, kept: Sequence[int], numbers: Sequence[int], links: Set[EventLink], *, repeated: bool
    ) -> None:
        self._events = events
        self._kept = kept
        self.numbers = numbers
        self.links = links
        self.size = len(numbers)
        """|F|: the number of events."""
        self.parents = {child: parent for parent, child in links}
        """The parent of each event that has one; if it has several, one of them."""
        self.is_forest = not repeated and len(self.parents) == len(links)
        """Whether no event has two parents or is in several nodes."""

    @cached_property
    def _place(self) -> dict[int, int]:
        return dict(zip(self.numbers, self._kept, strict=True))

    def key(self, event: int) -> ClusterKey:
        """The cluster that it is."""
        return self._events.keys[self._place[event]]

    def mentions(self, event: int) -> int:
        """How many mentions refer to it."""
        return len(self._events.members[self._place[event]])

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
        for event in found:  # it grows on the way
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
        """The children of each event."""
        below: Relation = {}
        for parent, child in self.links:
            below[parent] = below.get(parent, 0) | 1 << child
        return below

    @cached_property
    def far_below(self) -> Relation:
        """All descendants of each event."""
        below = dict(self.below)
        for event in TopologicalSorter(self.children).static_order():
            for child in self.children.get(event, ()):
                below[event] |= below.get(child, 0)
        return below

    @property
    def beside(self) -> Relation:
        """The siblings of each event: the other children of its parents."""
        beside: Relation = {}
        for children in self.children.values():
            if len(children) > 1:
                together = as_bits(children)
                for child in children:
                    beside[child] = (beside.get(child, 0) | together) & ~(1 << child)
        return beside

    def apart(self, related: Relation) -> Relation:
        """The events that an event is not related to."""
        return {event: self.events & ~(related.get(event, 0) | 1 << event) for event in self.numbers}


class Hierarchy:
    """The table of one document."""

    def __init__(
        self,
        document: str,
        gold: Graph,
        system: Graph,
        *,
        twins: Sequence[Twins],
        mutual: frozenset[int],
        gold_only: int,
        system_only: int,
    ) -> None:
        self.document = document
        self.gold = gold
        self.system = system
        self.twins = twins
        """Events that share a mention, gold's and the system's."""
        self.mutual = mutual
        """Events that have one twin, which has no other: the same number on both sides."""
        others = [(one, other) for one, other in twins if one not in mutual]
        self.gold_twins = _grouped(others)
        """The twins of all other events that have any."""
        self.system_twins = _grouped((other, one) for one, other in others)
        self.gold_only = gold_only
        """Mentions that the system lacks."""
        self.system_only = system_only

    @property
    def same_events(self) -> bool:
        """Whether both sides make the same events of the same mentions."""
        unshared = self.gold_only or self.system_only
        return not unshared and len(self.mutual) == self.gold.size == self.system.size

    def twins_in_system(self, event: int) -> Sequence[int]:
        """The system's events that share a mention with one of gold's."""
        return (event,) if event in self.mutual else self.gold_twins.get(event, ())

    def twins_in_gold(self, event: int) -> Sequence[int]:
        """Gold's events that share a mention with one of the system's."""
        return (event,) if event in self.mutual else self.system_twins.get(event, ())

    @property
    def links(self) -> "Compared":
        """The links of the two sides."""
        return Compared(self, self.gold.below, self.system.below)

    @cached_property
    def implied_links(self) -> "Compared":
        """The links, and those that others imply."""
        return Compared(self, self.gold.far_below, self.system.far_below)

    @property
    def siblings(self) -> "Compared":
        """Events with a common parent, each pair in both directions."""
        return Compared(self, self.gold.beside, self.system.beside)

    @cached_property
    def link_counts(self) -> PrecisionRecall:
        """The links of each side that the other has, over all of them."""
        if self.gold_twins:
            return self.links.counts
        # Where all twins are mutual, equal links have equal numbers.
        equal = len(self.gold.links & self.system.links)
        return PrecisionRecall(equal, len(self.system.links), equal, len(self.gold.links))

    @property
    def sibling_counts(self) -> PrecisionRecall:
        """The same of siblings, each pair once."""
        gold, system = self.gold.parents, self.system.parents
        if self.gold_twins or not (self.gold.is_forest and self.system.is_forest):
            return PrecisionRecall(*(number // 2 for number in astuple(self.siblings.counts)))
        # Where all twins are mutual, siblings on both sides have one parent here and one there.
        both = [(parent, system[event]) for event, parent in gold.items() if event in system]
        equal, golds, systems = (pairs_within(Counter(one).values()) for one in (both, gold.values(), system.values()))
        return PrecisionRecall(equal, systems, equal, golds)

    @cached_property
    def in_place(self) -> dict[Twins, Sequence[Twins]]:
        """Twins whose parents are twins, too, with these; or both are roots, with `ROOTS`. From gold's roots down."""
        gold, system, others = self.gold.parents.get, self.system.parents.get, self.gold_twins.get
        return {
            (event, twin): ((above, there),)
            for event in self.gold.from_the_roots
            for twin in ((event,) if event in self.mutual else others(event, ()))
            if (above := gold(event, -1)) == (there := system(twin, -1)) or there in others(above, ())
        }


class Compared:
    """A relation of each side, compared.

    Two pairs of events are the same if their first events share a mention and their second events share one.
    """

    def __init__(self, table: Hierarchy, gold: Relation, system: Relation) -> None:
        self.table = table
        self.gold = gold
        self.system = system

    @property
    def counts(self) -> PrecisionRecall:
        """The pairs of each side that the other has, over all of them."""
        # A number that both sides use is that of mutual events, so that equal bits are equal pairs.
        equal = sum([(related & self.system.get(event, 0)).bit_count() for event, related in self.gold.items()])
        recalled, precise = equal + _size(self._gold_by_twins()), equal + _size(self._system_by_twins())
        return PrecisionRecall(precise, _size(self.system), recalled, _size(self.gold))

    def _gold_by_twins(self) -> Relation:
        """What the system's relation has of gold's, but not with equal numbers."""
        return _found_by_twins(self.gold, self.system, self.table.gold_twins)

    def _system_by_twins(self) -> Relation:
        return _found_by_twins(self.system, self.gold, self.table.system_twins)

    def pairs(self) -> Iterator[tuple[EventLink | None, EventLink | None, PrecisionRecall]]:
        """Each pair of gold and of the system, the two together where neither is the same as any other."""
        for pair in _pairs(self.gold):
            same = self._same_in_system(pair)
            if len(same) == 1 and len(self._same_in_gold(same[0])) == 1:
                yield pair, same[0], PrecisionRecall(1, 1, 1, 1)
            else:
                yield pair, None, PrecisionRecall(0, 0, len(same) > 0, 1)
        for pair in _pairs(self.system):
            same = self._same_in_gold(pair)
            if not (len(same) == 1 and len(self._same_in_system(same[0])) == 1):
                yield None, pair, PrecisionRecall(len(same) > 0, 1, 0, 0)

    def events(self) -> Iterator[tuple[int | None, int | None, PrecisionRecall]]:
        """The pairs that begin with an event, event by event; mutual events together."""
        golds, systems = (
            {
                event: ((related & other.get(event, 0) | by_twins.get(event, 0)).bit_count(), related.bit_count())
                for event, related in own.items()
            }
            for own, other, by_twins in (
                (self.gold, self.system, self._gold_by_twins()),
                (self.system, self.gold, self._system_by_twins()),
            )
        )
        for event, recall in golds.items():
            if event in self.table.mutual:
                yield event, event, PrecisionRecall(*systems.pop(event, (0, 0)), *recall)
            else:
                yield event, None, PrecisionRecall(0, 0, *recall)
        for event, precision in systems.items():
            yield None, event, PrecisionRecall(*precision, 0, 0)

    def _same_in_system(self, pair: EventLink) -> list[EventLink]:
        sources, targets = map(self.table.twins_in_system, pair)
        return [(one, other) for one in sources for other in targets if self.system.get(one, 0) >> other & 1]

    def _same_in_gold(self, pair: EventLink) -> list[EventLink]:
        sources, targets = map(self.table.twins_in_gold, pair)
        return [(one, other) for one in sources for other in targets if self.gold.get(one, 0) >> other & 1]


def _pairs(relation: Relation) -> Iterator[EventLink]:
    for event, related in sorted(relation.items()):
        for other in bits(related):
            yield event, other


def _size(relation: Relation) -> int:
    """How many pairs of events are related."""
    return sum([related.bit_count() for related in relation.values()])


def _found_by_twins(own: Relation, other: Relation, twins: Mapping[int, Sequence[int]]) -> Relation:
    """Pairs of one side that the other has, where one of the two events has several twins, or a twin that has."""
    found: Relation = {}
    if twins:
        wanted = {event: as_bits(others) for event, others in twins.items()}
        mixed = as_bits(twins)
        for event, related in own.items():
            there = _union(other, twins[event]) if event in twins else other.get(event, 0)
            equal = related & there if event in twins else 0
            by_twins = [end for end in bits(related & mixed) if there & wanted[end]] if there else []
            if equal or by_twins:
                found[event] = equal | as_bits(by_twins)
    return found


def _union(relation: Relation, events: Iterable[int]) -> int:
    found = 0
    for event in events:
        found |= relation.get(event, 0)
    return found


def as_bits(places: Iterable[int]) -> int:
    """The number with ones at these places."""
    return sum([1 << place for place in places])


def bits(number: int) -> Iterator[int]:
    """The places of the ones in a number."""
    while number:
        low = number & -number
        yield low.bit_length() - 1
        number ^= low


class HierarchyTable(TableSpec[tuple[Hierarchy, ...]], Struct, frozen=True, cache_hash=True):
    """The hierarchies of one kind of link under an alignment of mentions, one per document."""

    aligned: AlignmentSpec
    link: str
    keep: Keep = "all"

    def make(self, tables: Tables) -> tuple[Hierarchy, ...]:
        """The events of both sides, those that are each other's only twins with the same number."""
        aligned = tables.get(self.aligned)
        golds, systems = tables.get(BothEvents())
        gold_of, system_of = golds.event_of, systems.event_of
        twins = {(gold_of[g], system_of[s]) for g, s, _, _ in aligned.pairs}
        in_gold, in_system = Counter([gold for gold, _ in twins]), Counter([system for _, system in twins])
        mutual = {system: gold for gold, system in twins if in_gold[gold] == in_system[system] == 1}
        number = [mutual.get(event, golds.count + event) for event in range(systems.count)]
        gold_kept, system_kept = self._kept(golds, systems, twins)
        gold_links, system_links = (
            self._links(events, kept) for events, kept in ((golds, gold_kept), (systems, system_kept))
        )
        gold = Graph(golds, gold_kept, gold_kept, gold_links, repeated=_is_repeated(tables.pair.gold, self.link))
        system = Graph(
            systems,
            system_kept,
            [number[event] for event in system_kept],
            {(number[parent], number[child]) for parent, child in system_links},
            repeated=_is_repeated(tables.pair.system, self.link),
        )
        unaligned = (len(side) - len(aligned.pairs) for side in (aligned.gold, aligned.system))
        gold_only, system_only = (0, 0) if self.keep == "common" else unaligned
        return (
            Hierarchy(
                tables.pair.gold.id,
                gold,
                system,
                twins=[(gold, number[system]) for gold, system in twins],
                mutual=frozenset(mutual.values()),
                gold_only=gold_only,
                system_only=system_only,
            ),
        )

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


def _grouped(pairs: Iterable[tuple[int, int]]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for one, other in pairs:
        found.setdefault(one, []).append(other)
    return found


def _is_repeated(document: Document, link: str) -> bool:
    """Whether an event is in more nodes of a forest than its links show."""
    name = nodes_of(link)
    return any(name in cluster.attributes for cluster in document.clusters)
