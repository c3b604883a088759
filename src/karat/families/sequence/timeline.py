"""Timelines: when events happen, as links constrain the end points of their intervals; and two timelines compared.

    after(x, y)       x ends before y starts
    subevent(x, y)    x starts before y starts, and y ends before x ends

Every interval starts before it ends. A link is contradictory if one of its constraints lies on a cycle of all of them;
it can match, but constrains nothing. What the other links entail is exact: one end point comes before another if and
only if constraints lead from the one to the other (UzZaman and Allen 2011, on a time graph).
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from graphlib import CycleError

from msgspec import Struct

from karat.families.sequence.measures import NOTHING, Awareness, ComparedLink, TimeLink
from karat.limits import check_pairs
from karat.match.closure import Point, PointOrder
from karat.match.events import BothEvents, EventLink, Events
from karat.plugin import AlignmentSpec, Tables, TableSpec
from karat.problems import quoted

SharedMentions = dict[int, dict[int, int]]
"""For an event of one side, the events of the other with which it shares mentions, and how many."""
Constraint = tuple[Point, Point]
Graph = dict[Point, list[Point]]


def _start(event: int) -> Point:
    return 2 * event


def _end(event: int) -> Point:
    return 2 * event + 1


CONSTRAINTS: dict[str, Callable[[int, int], tuple[Constraint, ...]]] = {
    "after": lambda x, y: ((_end(x), _start(y)),),
    "subevent": lambda x, y: ((_start(x), _start(y)), (_end(y), _end(x))),
}
"""Kinds of links that say something about time."""


class Timeline:
    """The links of one side, those of them that the others do not entail, and what they entail together."""

    def __init__(self, links: Iterable[TimeLink]) -> None:
        self.links = frozenset(links)
        graph = _graph(self.links)
        try:
            self._order = PointOrder.of(graph)
        except CycleError:
            graph = _graph(self.links - _contradictory(self.links, graph))
            self._order = PointOrder.of(graph)
        self._graph = graph
        self.reduced = sorted(self.links - self.entailed(self.links, steps=2))
        """Links that the others do not entail, contradictory ones among them."""

    @property
    def events(self) -> set[int]:
        """The events that the reduced links join."""
        return {event for _, *ends in self.reduced for event in ends}

    def entailed(self, links: Iterable[TimeLink], *, steps: int = 1) -> set[TimeLink]:
        """Return the links among some that follow from the links here.

        They follow by paths of at least `steps` constraints: a path of two entails a link without the link itself.
        """
        later = self._order.later if steps == 1 else cache(self._beyond)
        return {
            link
            for link in links
            if all(later(first) >> second & 1 for first, second in CONSTRAINTS[link[0]](*link[1:]))
        }

    def _beyond(self, point: Point) -> int:
        """The points that lie two or more constraints after a point."""
        beyond = 0
        for following in self._graph.get(point, ()):
            beyond |= self._order.later(following)
        return beyond


def _constraints(links: Iterable[TimeLink]) -> Iterator[Constraint]:
    for kind, source, target in links:
        yield from CONSTRAINTS[kind](source, target)


def _graph(links: frozenset[TimeLink]) -> Graph:
    """For each end point of the events that links join, the points that come after it."""
    graph: Graph = {}
    for _, *ends in sorted(links):
        for event in ends:
            graph[_start(event)], graph[_end(event)] = [_end(event)], []
    for first, second in _constraints(sorted(links)):
        graph[first].append(second)
    return graph


def _contradictory(links: frozenset[TimeLink], graph: Graph) -> set[TimeLink]:
    """Links with a constraint on a cycle: both its points are in one strongly connected component."""
    import numpy as np
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    size = max(graph) + 1
    ends = np.array([(point, later) for point in graph for later in graph[point]]).T
    matrix = coo_array((np.ones(len(ends[0])), (ends[0], ends[1])), shape=(size, size))
    component = connected_components(matrix, connection="strong")[1].tolist()
    return {
        link for link in links if any(component[first] == component[second] for first, second in _constraints([link]))
    }


class Timelines(TableSpec[tuple[Timeline, Timeline]], Struct, frozen=True, cache_hash=True):
    """The timelines of both sides by links of these kinds, each kind without what its own links entail."""

    kinds: tuple[str, ...]

    def make(self, tables: Tables) -> tuple[Timeline, Timeline]:
        """Gold's and the system's."""
        if len(self.kinds) > 1:
            gold, system = zip(*(tables.get(Timelines((kind,))) for kind in self.kinds), strict=True)
            return _together(gold), _together(system)
        gold_events, system_events = tables.get(BothEvents())
        return _alone(gold_events, self.kinds[0]), _alone(system_events, self.kinds[0])


def _alone(events: Events, kind: str) -> Timeline:
    return Timeline((kind, source, target) for source, target in events.links(kind))


def _together(timelines: Iterable[Timeline]) -> Timeline:
    return Timeline(link for timeline in timelines for link in timeline.reduced)


def compared(tables: Tables, alignment: AlignmentSpec, kinds: tuple[str, ...]) -> Awareness:
    """Compare the timelines of the two sides of a document."""
    gold_events, system_events = tables.get(BothEvents())
    gold, system = tables.get(Timelines(kinds))
    if not gold.reduced and not system.reduced:
        return NOTHING
    aligned = tables.get(alignment)
    shared = [(gold_events.event_of[g], system_events.event_of[s]) for g, s, _, _ in aligned.pairs]
    golds, systems = gold.events, system.events
    return Awareness(
        _compared(gold, system, _twins(shared), gold_events, tables.pair.gold.id),
        _compared(system, gold, _twins((s, g) for g, s in shared), system_events, tables.pair.system.id),
        sum(g in golds and s in systems for g, s in shared),
    )


def _twins(shared: Iterable[EventLink]) -> SharedMentions:
    twins: SharedMentions = {}
    for event, twin in shared:
        counts = twins.setdefault(event, {})
        counts[twin] = counts.get(twin, 0) + 1
    return twins


def _compared(
    own: Timeline, other: Timeline, twins: SharedMentions, events: Events, document: str
) -> tuple[ComparedLink, ...]:
    """The reduced links of one side, each with how much of it the other side has or entails."""
    known = {event for _, *ends in other.links for event in ends}
    twins = {
        event: {twin: count for twin, count in twins.get(event, {}).items() if twin in known} for event in own.events
    }
    pairs = sum([len(twins[source]) * len(twins[target]) for _, source, target in own.reduced])
    what = "pairs of events that share mentions with the two ends of a link of the other side"
    check_pairs(pairs, what, where=f"document {quoted(document)}", origin="gold")
    images: dict[TimeLink, list[tuple[TimeLink, int]]] = {}
    for kind, source, target in own.reduced:
        images[kind, source, target] = [
            ((kind, source_twin, target_twin), sources * targets)
            for source_twin, sources in twins[source].items()
            for target_twin, targets in twins[target].items()
        ]
    entailed = other.entailed({image for there in images.values() for image, _ in there})
    implicit = entailed.difference(other.reduced)
    return tuple(
        ComparedLink(
            document=document,
            link=link,
            source=events.keys[link[1]],
            target=events.keys[link[2]],
            pairs=len(events.members[link[1]]) * len(events.members[link[2]]),
            found=sum(count for image, count in there if image in other.links or image in entailed),
            implicit=sum(count for image, count in there if image in implicit),
        )
        for link, there in images.items()
    )
