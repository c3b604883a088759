"""Relations between intervals, as Allen (1983) defines them by their end points, and what follows from some of them."""

from collections.abc import Iterable, Iterator, Mapping
from graphlib import CycleError

from karat.families.relation.links import Labelled
from karat.match.closure import Point, PointOrder
from karat.match.mentions import Number

SIGNS: Mapping[str, str] = {
    "BEFORE": "<<<<",
    "AFTER": ">>>>",
    "IBEFORE": "<<=<",
    "IAFTER": ">=>>",
    "INCLUDES": "<<>>",
    "IS_INCLUDED": "><><",
    "BEGINS": "=<><",
    "BEGUN_BY": "=<>>",
    "ENDS": "><>=",
    "ENDED_BY": "<<>=",
    "SIMULTANEOUS": "=<>=",
    "OVERLAP": "<<><",
    "OVERLAPPED": "><>>",
}
"""For x and y: how the start of x relates to the start and to the end of y, then how the end of x does."""
_TURNED = str.maketrans("<>", "><")
_BY_SIGNS = {signs: label for label, signs in SIGNS.items()}
INVERSE = {
    label: _BY_SIGNS["".join([signs[0], signs[2], signs[1], signs[3]]).translate(_TURNED)]
    for label, signs in SIGNS.items()
}
"""The label of the same relation in the other direction."""


def _ends(first: Number, second: Number) -> Iterator[tuple[Point, Point]]:
    """The four pairs of end points of two intervals, in the order of their signs."""
    for point in (2 * first, 2 * first + 1):
        for other in (2 * second, 2 * second + 1):
            yield point, other


class Intervals:
    """Intervals, and relations between them that do not contradict each other."""

    def __init__(self) -> None:
        self._order = PointOrder()
        self._named: Mapping[Point, Point] = {}
        """Points that another one stands for."""

    @classmethod
    def of(cls, links: Iterable[Labelled]) -> "Intervals":
        """The relations of a document as tieval reads them: points that coincide are merged first.

        Two points that are put in both orders are in none. If a cycle is left, nothing follows.
        """
        equal, strict = PointOrder(), set[tuple[Point, Point]]()
        for label, first, second in links:
            strict.update((2 * end, 2 * end + 1) for end in (first, second))
            for sign, (point, other) in zip(SIGNS[label], _ends(first, second), strict=True):
                if sign == "=":
                    equal.put_together(point, other)
                else:
                    strict.add((point, other) if sign == "<" else (other, point))
        named = {
            point: (same & -same).bit_length() - 1 for pair in strict for point in pair for same in [equal.same(point)]
        }
        merged = {(named[point], named[other]) for point, other in strict}
        graph: dict[Point, list[Point]] = {}
        for point, other in sorted(merged):
            if point != other and (other, point) not in merged:
                graph.setdefault(point, []).append(other)
        found = cls()
        try:
            found._order = PointOrder.of(graph)
        except CycleError:
            return found
        found._named = named
        return found

    def entail(self, link: Labelled) -> bool:
        """Return whether a relation follows."""
        label, first, second = link
        return all(self._sign(*ends) == sign for sign, ends in zip(SIGNS[label], _ends(first, second), strict=True))

    def contradict(self, link: Labelled) -> bool:
        """Return whether another relation of some end points follows.

        This is complete: a cycle that a relation would close leads through points of its two intervals, and between
        these nothing follows but what agrees with it.
        """
        label, first, second = link
        return any(
            self._sign(*ends) not in ("", sign) for sign, ends in zip(SIGNS[label], _ends(first, second), strict=True)
        )

    def add(self, link: Labelled) -> None:
        """Add a relation that contradicts none."""
        label, first, second = link
        for end in (first, second):
            self._order.put_before(2 * end, 2 * end + 1)
        for sign, (point, other) in zip(SIGNS[label], _ends(first, second), strict=True):
            if sign == "=":
                self._order.put_together(point, other)
            else:
                self._order.put_before(*((point, other) if sign == "<" else (other, point)))

    def steps(self) -> dict[Point, int]:
        """The steps at which intervals start (2n) and end (2n + 1).

        Ends are as early as what follows allows, and starts as late as is possible then, unless they are ends, too.
        """
        layers = self._order.layers()
        steps = {point: step for step, layer in enumerate(layers) for point in layer}
        bits = [sum(1 << point for point in layer) for layer in layers]
        ends = sum(1 << point for point in steps if point % 2)
        for point in steps:
            if not self._order.same(point) & ends:
                later = self._order.later(point)
                steps[point] = next(step for step, layer in enumerate(bits) if layer & later) - 1
        return steps

    def is_unknown(self, first: Number, second: Number) -> bool:
        """Return whether nothing follows about the order of two starts, and of two ends."""
        return not self._sign(2 * first, 2 * second) and not self._sign(2 * first + 1, 2 * second + 1)

    def _sign(self, point: Point, other: Point) -> str:
        """How two points relate; empty: unknown."""
        point, other = self._named.get(point, point), self._named.get(other, other)
        if point == other or self._order.coincide(point, other):
            return "="
        return "<" if self._order.precedes(point, other) else ">" if self._order.precedes(other, point) else ""
