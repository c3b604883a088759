"""The graph of events of one side of a document: links of one kind between numbered events."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from graphlib import TopologicalSorter
from itertools import islice

from msgspec import Struct

from karat.checks.links import implied_links
from karat.counts import PrecisionRecall
from karat.match.events import EventLink, Events
from karat.model import ClusterKey


class Relation(dict[int, int]):
    """For each event, the events it is related to, as the bits of an integer."""

    def size(self) -> int:
        """Count the pairs of events that are related."""
        return sum(map(int.bit_count, self.values()))

    def pairs(self) -> Iterator[EventLink]:
        for event, related in sorted(self.items()):
            for other in bits(related):
                yield event, other

    def common(self, relation: "Relation") -> int:
        """Count the pairs that another relation also has."""
        return sum([(self[event] & relation[event]).bit_count() for event in self.keys() & relation.keys()])

    def among(self, sources: Iterable[int], targets: Iterable[int]) -> Iterator[EventLink]:
        """The pairs of one of these events and one of those."""
        wanted = as_bits(targets)
        return ((source, target) for source in sources for target in bits(self.get(source, 0) & wanted))


class Graph:
    """One side: its events by number, and the links of one kind between them."""

    def __init__(
        self,
        events: Events,
        kept: Sequence[int],
        numbers: Sequence[int],
        links: Set[EventLink],
        *,
        repeated: bool,
        transitive: bool,
    ) -> None:
        """`transitive`: links that others imply do not shape the trees."""
        self._events = events
        self._kept = kept
        self.numbers = numbers
        self.links = links
        self.size = len(numbers)
        """|F|: the number of events."""
        self.tree_links = links
        if transitive and len({child for _, child in links}) < len(links):
            self.tree_links = links - implied_links(links)
        self.parents = {child: parent for parent, child in self.tree_links}
        """The parent of each event that has one; if it has several, one of them."""
        self.is_forest = not repeated and len(self.parents) == len(self.tree_links)
        """True if no event has two parents or is in several nodes."""
        self._repeated = repeated

    @cached_property
    def _place(self) -> dict[int, int]:
        return dict(zip(self.numbers, self._kept, strict=True))

    def key(self, event: int) -> ClusterKey:
        return self._events.keys[self._place[event]]

    def mentions(self, event: int) -> int:
        """Count the mentions that refer to an event."""
        return len(self._events.members[self._place[event]])

    @cached_property
    def children(self) -> dict[int, list[int]]:
        """The children of each event that has any, in its tree."""
        return grouped(self.tree_links)

    @cached_property
    def is_forest_by_implication(self) -> bool:
        """True if no event has two parents once links that others imply are left out."""
        reduced = self.tree_links - implied_links(self.tree_links)
        return not self._repeated and len(self.parents) == len(reduced)

    @cached_property
    def tree_of(self) -> dict[int, int]:
        """The root above each event of a forest, or itself; each event comes after its parent."""
        parents, children = self.parents, self.children
        root = {event: event for event in self.numbers if event not in parents}
        reached = list(root)
        for event in reached:  # it grows on the way
            if event in children:
                own, below = root[event], children[event]
                for child in below:
                    root[child] = own
                reached += below
        return root

    @cached_property
    def below(self) -> Relation:
        """The children of each event."""
        below = Relation()
        for parent, child in self.links:
            below[parent] = below.get(parent, 0) | 1 << child
        return below

    @cached_property
    def far_below(self) -> Relation:
        """All descendants of each event."""
        below = Relation(self.below)
        for event in TopologicalSorter(self.children).static_order():
            for child in self.children.get(event, ()):
                below[event] |= below.get(child, 0)
        return below

    @property
    def beside(self) -> Relation:
        """The siblings of each event: the other children of its parents, in its tree."""
        beside = Relation()
        for children in self.children.values():
            together = as_bits(children)
            for child in children:
                beside[child] = beside.get(child, 0) | together ^ 1 << child
        return beside

    def apart(self, related: Relation) -> Relation:
        """The events that an event is not related to."""
        events = as_bits(self.numbers)
        return Relation({event: events & ~(related.get(event, 0) | 1 << event) for event in self.numbers})


def as_bits(places: Iterable[int]) -> int:
    """The number with ones at these places."""
    number = 0
    for place in places:  # a sum of a list would hold all powers at once
        number |= 1 << place
    return number


def bits(number: int) -> Iterator[int]:
    """The places of the ones in a number."""
    while number:
        low = number & -number
        yield low.bit_length() - 1
        number ^= low


def grouped(pairs: Iterable[tuple[int, int]]) -> dict[int, list[int]]:
    """The second of each pair, by the first."""
    found: dict[int, list[int]] = {}
    for first, second in pairs:
        found.setdefault(first, []).append(second)
    return found


TwinPair = tuple[int, int]
"""An event of gold and an event of the system that share a mention."""


class Twins:
    """Which events of the two sides share a mention."""

    def __init__(self, others: Sequence[TwinPair], mutual: frozenset[int]) -> None:
        self.mutual = mutual
        """Events that have one twin, which has no other: the same number on both sides."""
        self.gold = grouped(others)
        """The twins of all other events of gold that have any."""
        self.system = grouped((system, gold) for gold, system in others)

    def in_system(self, event: int) -> Sequence[int]:
        """The system's events that share a mention with one of gold's."""
        return (event,) if event in self.mutual else self.gold.get(event, ())

    def in_gold(self, event: int) -> Sequence[int]:
        """Gold's events that share a mention with one of the system's."""
        return (event,) if event in self.mutual else self.system.get(event, ())

    @property
    def merged(self) -> set[int]:
        """Gold's events of which the system makes one with others."""
        return {event for events in self.system.values() if len(events) > 1 for event in events}

    @property
    def split(self) -> set[int]:
        """Gold's events of which the system makes several."""
        return {event for event, twins in self.gold.items() if len(twins) > 1}


class Compared(Struct, frozen=True, dict=True, eq=False):
    """A relation of each side, compared.

    Two pairs of events are the same if their first events share a mention and their second events share one.
    """

    twins: Twins
    gold: Relation
    system: Relation

    @cached_property
    def counts(self) -> PrecisionRecall:
        """The pairs of each side that the other has, over all of them."""
        # A number that both sides use is that of mutual events, so that equal bits are equal pairs.
        equal = self.gold.common(self.system)
        recalled, precise = equal + self._gold_by_twins().size(), equal + self._system_by_twins().size()
        return PrecisionRecall(precise, self.system.size(), recalled, self.gold.size())

    def _gold_by_twins(self) -> Relation:
        """The part of gold's relation that the system's also has, but not with equal numbers."""
        return _found_by_twins(self.gold, self.system, self.twins.gold)

    def _system_by_twins(self) -> Relation:
        return _found_by_twins(self.system, self.gold, self.twins.system)

    def pairs(self) -> Iterator[tuple[EventLink | None, EventLink | None, PrecisionRecall]]:
        """Each pair of gold and of the system, the two together where neither is the same as any other."""
        for pair in self.gold.pairs():
            same = self._same_in_system(pair)
            if len(same) == 1 and len(self._same_in_gold(same[0])) == 1:
                yield pair, same[0], PrecisionRecall(1, 1, 1, 1)
            else:
                yield pair, None, PrecisionRecall(0, 0, len(same) > 0, 1)
        for pair in self.system.pairs():
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
            if event in self.twins.mutual:
                yield event, event, PrecisionRecall(*systems.pop(event, (0, 0)), *recall)
            else:
                yield event, None, PrecisionRecall(0, 0, *recall)
        for event, precision in systems.items():
            yield None, event, PrecisionRecall(*precision, 0, 0)

    def _same_in_system(self, pair: EventLink) -> list[EventLink]:
        source, target = pair
        return _same(self.twins.in_system(source), self.twins.in_system(target), self.system)

    def _same_in_gold(self, pair: EventLink) -> list[EventLink]:
        source, target = pair
        return _same(self.twins.in_gold(source), self.twins.in_gold(target), self.gold)


def _same(sources: Sequence[int], targets: Sequence[int], relation: Relation) -> list[EventLink]:
    """The pairs of these events that are related; of more than two, the first two."""
    return [*islice(relation.among(sources, targets), 2)]


def _found_by_twins(own: Relation, other: Relation, twins: Mapping[int, Sequence[int]]) -> Relation:
    """Pairs of one side that the other has, where one of the two events has several twins, or a twin that has."""
    found = Relation()
    if twins:
        wanted = {event: as_bits(others) for event, others in twins.items()}
        mixed = as_bits(twins)
        for event, related in own.items():
            if event in twins:
                there = 0
                for twin in twins[event]:
                    there |= other.get(twin, 0)
                equal = related & there
            elif related & mixed:
                there, equal = other.get(event, 0), 0
            else:
                continue
            by_twins = [end for end in bits(related & mixed) if there & wanted[end]] if there else []
            if equal or by_twins:
                found[event] = equal | as_bits(by_twins)
    return found
