"""The graph of events of one side of a document: links of one kind between numbered events."""

from collections.abc import Iterable, Iterator, Sequence, Set
from functools import cached_property
from graphlib import TopologicalSorter

from karat.model import ClusterKey
from karat.tables.events import EventLink, Events


class Relation(dict[int, int]):
    """For each event, the events it is related to, as the bits of an integer."""

    def size(self) -> int:
        """How many pairs of events are related."""
        return sum(map(int.bit_count, self.values()))

    def pairs(self) -> Iterator[EventLink]:
        """These pairs, sorted."""
        for event, related in sorted(self.items()):
            for other in bits(related):
                yield event, other

    def common(self, relation: "Relation") -> int:
        """How many pairs another relation has, too."""
        return sum([(self[event] & relation[event]).bit_count() for event in self.keys() & relation.keys()])

    def among(self, sources: Iterable[int], targets: Iterable[int]) -> Iterator[EventLink]:
        """The pairs of one of these events and one of those."""
        wanted = as_bits(targets)
        return ((source, target) for source in sources for target in bits(self.get(source, 0) & wanted))


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
    def children(self) -> dict[int, list[int]]:
        """The children of each event that has any."""
        return grouped(self.links)

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
        """The siblings of each event: the other children of its parents."""
        below, beside = self.below, Relation()
        for parent, child in self.links:
            beside[child] = beside.get(child, 0) | below[parent] ^ 1 << child
        return beside

    def apart(self, related: Relation) -> Relation:
        """The events that an event is not related to."""
        events = as_bits(self.numbers)
        return Relation({event: events & ~(related.get(event, 0) | 1 << event) for event in self.numbers})


def related_to_any(relation: Relation, events: Iterable[int]) -> int:
    """The events that at least one of these is related to."""
    related = 0
    for event in events:
        related |= relation.get(event, 0)
    return related


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
    for one, other in pairs:
        found.setdefault(one, []).append(other)
    return found
