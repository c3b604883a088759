"""The graph of events of one side of a document: links of one kind between numbered events."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from graphlib import TopologicalSorter

from karat.model import ClusterKey
from karat.tables.events import EventLink, Events

MOST_KEPT = 5_000
"""Events whose relations are kept: of 50,000 events that are all related, they would take 300 MB."""


class Relation(Mapping[int, int]):
    """For each event, the events it is related to, as the bits of an integer."""

    def size(self) -> int:
        """How many pairs of events are related."""
        return sum([related.bit_count() for related in self.values()])

    def pairs(self) -> Iterator[EventLink]:
        """These pairs, sorted."""
        for event, related in sorted(self.items()):
            for other in bits(related):
                yield event, other

    def common(self, relation: "Relation") -> int:
        """How many pairs another relation has, too."""
        return sum([(related & relation.get(event, 0)).bit_count() for event, related in self.items()])

    def among(self, sources: Iterable[int], targets: Iterable[int]) -> Iterator[EventLink]:
        """The pairs of one of these events and one of those."""
        wanted = as_bits(targets)
        return ((one, other) for one in sources for other in bits(self.get(one, 0) & wanted))


class KeptRelation(dict[int, int], Relation):
    """A relation that is kept."""


class ComputedRelation(Relation):
    """A relation that is computed anew for each event that is asked for."""

    def __init__(self, events: Collection[int], related: Callable[[int], int]) -> None:
        self._events, self._related = events, related

    def __getitem__(self, event: int) -> int:
        if event not in self._events:
            raise KeyError(event)
        return self._related(event)

    def __iter__(self) -> Iterator[int]:
        return iter(self._events)

    def __len__(self) -> int:
        return len(self._events)


def _relation(events: Collection[int], related: Callable[[int], int]) -> Relation:
    if len(events) <= MOST_KEPT:
        return KeptRelation({event: related(event) for event in events})
    return ComputedRelation(dict.fromkeys(events), related)


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
        if len(self.links) > MOST_KEPT:
            children = self.children
            # A row is as long as its last child's number: those of a long chain would take hundreds of megabytes.
            kept = {event: as_bits(own) for event, own in children.items() if len(own) > 1}
            return ComputedRelation(children, lambda event: kept.get(event) or as_bits(children[event]))
        below = KeptRelation()
        for parent, child in self.links:
            below[parent] = below.get(parent, 0) | 1 << child
        return below

    @cached_property
    def far_below(self) -> Relation:
        """All descendants of each event."""
        below = KeptRelation(self.below)
        for event in TopologicalSorter(self.children).static_order():
            for child in self.children.get(event, ()):
                below[event] |= below.get(child, 0)
        return below

    @property
    def beside(self) -> Relation:
        """The siblings of each event: the other children of its parents."""
        below = self.below
        if len(self.links) > MOST_KEPT:
            parents = grouped((child, parent) for parent, child in self.links)
            return ComputedRelation(parents, lambda event: related_to_any(below, parents[event]) ^ 1 << event)
        beside = KeptRelation()
        for parent, child in self.links:
            others = below[parent] ^ 1 << child
            beside[child] = beside[child] | others if child in beside else others
        return beside

    def apart(self, related: Relation) -> Relation:
        """The events that an event is not related to."""
        events, get = self.events, related.get
        return _relation(self.numbers, lambda event: events & ~(get(event, 0) | 1 << event))


class LinkRelation(Relation):
    """The children of each event. Links are few, and compared as pairs; bits are made only if they are asked for."""

    def __init__(self, graph: Graph) -> None:
        self._graph, self._links = graph, graph.links

    def __getitem__(self, event: int) -> int:
        return self._graph.below[event]

    def __iter__(self) -> Iterator[int]:
        return iter(self._graph.below)

    def __len__(self) -> int:
        return len(self._graph.below)

    def size(self) -> int:
        """The number of links."""
        return len(self._links)

    def pairs(self) -> Iterator[EventLink]:
        """The links, sorted."""
        return iter(sorted(self._links))

    def common(self, relation: Relation) -> int:
        """How many links both have."""
        assert isinstance(relation, LinkRelation), "links are compared with links"
        return len(self._links & relation._links)

    def among(self, sources: Iterable[int], targets: Iterable[int]) -> Iterator[EventLink]:
        """The links from one of these events to one of those."""
        wanted = frozenset(targets)
        for parent in sources:
            children = self._graph.children.get(parent, ())
            if len(children) < len(wanted):
                yield from ((parent, child) for child in children if child in wanted)
            else:
                yield from ((parent, child) for child in wanted if (parent, child) in self._links)


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
