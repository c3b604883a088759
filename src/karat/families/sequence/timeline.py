"""Timelines: what links between events say of when they happen, as constraints on the end points of intervals.

    after(x, y)       x ends before y starts
    subevent(x, y)    x starts before y starts, and y ends before x ends

Every interval starts before it ends. A link is contradictory if one of its constraints lies on a cycle of all of them;
such a link stands for itself and constrains nothing. What the other links entail is exact: one end point comes before
another if and only if constraints lead from the one to the other (UzZaman and Allen 2011, on a time graph).
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from graphlib import CycleError

from karat.match.closure import Point, PointOrder

TimeLink = tuple[str, int, int]
"""A kind of link, and the events at its source and its target."""

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
    component = _strong_components(graph)
    return {
        link for link in links if any(component[first] == component[second] for first, second in _constraints([link]))
    }


def _strong_components(graph: Graph) -> dict[Point, Point]:
    """For each point, one that stands for its strongly connected component (Sharir 1981)."""
    earlier: Graph = {point: [] for point in graph}
    for point, later in graph.items():
        for other in later:
            earlier[other].append(point)
    seen: set[Point] = set()
    finished = [point for start in graph for point in _post_order(graph, start, seen)]
    seen = set()
    return {point: start for start in reversed(finished) for point in _post_order(earlier, start, seen)}


def _post_order(graph: Graph, start: Point, seen: set[Point]) -> Iterator[Point]:
    """Yield the points that a depth-first search finds, each after those it leads to; `seen` are left out."""
    if start in seen:
        return
    seen.add(start)
    path = [(start, iter(graph[start]))]
    while path:
        point, following = path[-1]
        other = next((other for other in following if other not in seen), None)
        if other is None:
            path.pop()
            yield point
        else:
            seen.add(other)
            path.append((other, iter(graph[other])))
