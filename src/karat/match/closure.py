"""Closure: which points in time come before which, and which coincide, given constraints on them.

Constraints say that a point is before another one, or that two coincide. As long as they do not contradict each other,
what they entail is exact: a point is before another if and only if constraints lead from the one to the other, at least
one of them strictly.
"""

from collections.abc import Collection, Mapping
from graphlib import TopologicalSorter
from typing import Self

Point = int


class PointOrder:
    """Points, their order, and constraints that are added one by one."""

    def __init__(self) -> None:
        self._later: dict[Point, int] = {}
        self._same: dict[Point, int] = {}

    @classmethod
    def of(cls, graph: Mapping[Point, Collection[Point]]) -> Self:
        """Return the order of points, given some that come after each. A cycle raises `graphlib.CycleError`."""
        order = cls()
        for point in TopologicalSorter(graph).static_order():  # each after all that come after it in time
            later = 0
            for following in graph.get(point, ()):
                later |= order._later[following] | 1 << following
            order._later[point] = later
        return order

    def later(self, point: Point) -> int:
        """The points after this one, as the bits of an integer."""
        return self._later.get(point, 0)

    def same(self, point: Point) -> int:
        """The points that coincide with this one, itself included, as the bits of an integer."""
        return self._same.get(point, 1 << point)

    def precedes(self, first: Point, second: Point) -> bool:
        """Return whether the first point comes before the second."""
        return bool(self.later(first) >> second & 1)

    def coincide(self, first: Point, second: Point) -> bool:
        """Return whether two points are one."""
        return bool(self.same(first) >> second & 1)

    def layers(self) -> list[list[Point]]:
        """All points, each in the first layer after those of all points before it."""
        layers: list[list[Point]] = []
        left = [*self._later]
        while left:
            beyond = 0
            for point in left:
                beyond |= self._later[point]
            layers.append([point for point in left if not beyond >> point & 1])
            left = [point for point in left if beyond >> point & 1]
        return layers

    def put_before(self, first: Point, second: Point) -> bool:
        """Add that the first point is before the second; False: this contradicts what is known, and nothing changes."""
        if self.precedes(first, second):
            return True
        if self.precedes(second, first) or self.coincide(first, second):
            return False
        sources, reached = self.same(first), self.later(second) | self.same(second)
        self._know(first, second)
        for point, later in self._later.items():
            if (later | 1 << point) & sources:
                self._later[point] = later | reached
        return True

    def put_together(self, first: Point, second: Point) -> bool:
        """Add that two points coincide; False: this contradicts what is known, and nothing changes."""
        if self.coincide(first, second):
            return True
        if self.precedes(first, second) or self.precedes(second, first):
            return False
        same, after = self.same(first) | self.same(second), self.later(first) | self.later(second)
        self._know(first, second)
        for point, later in self._later.items():
            if same >> point & 1:
                self._later[point], self._same[point] = after, same
            elif later & same:
                self._later[point] = later | same | after
        return True

    def _know(self, *points: Point) -> None:
        for point in points:
            self._later.setdefault(point, 0)
