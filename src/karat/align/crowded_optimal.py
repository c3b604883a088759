"""Optimal matchings of crowded documents: classes of mentions are assigned to each other instead of mentions."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import floor

from karat.align.crowded import Demand, Method, Pairing, Side, similarities
from karat.align.grouped import grouped_assignment
from karat.align.matchings import no_points, worth

MOST_GROUPED = 100_000
"""Pairs of classes that are assigned: a few seconds."""


class TooManyClassesError(Exception):
    """Too many classes differ for an assignment of classes."""


def optimal(gold: Side, system: Side, demand: Demand) -> Iterator[Pairing]:
    """As `matchings.optimal`."""
    values = _values(system, gold, demand)
    for s, g, value in _assigned(system, gold, values, floor):
        yield g, s, value


def gold_first(gold: Side, system: Side, demand: Demand) -> Iterator[Pairing]:
    """As `matchings.gold_first`."""
    values = {(g, s): value for (s, g), value in _values(system, gold, demand).items()}
    yield from _assigned(gold, system, values, no_points)


OPTIMAL: dict[str, Method] = {"optimal": optimal, "gold-first": gold_first}


def _values(rows: Side, columns: Side, demand: Demand) -> dict[tuple[int, int], float]:
    """The similarities of all classes that are alike."""
    if len(rows) * len(columns) > MOST_GROUPED:
        raise TooManyClassesError
    found: dict[tuple[int, int], float] = {}
    for row in range(len(rows)):
        window, alike = similarities(rows, row, columns, demand)
        found |= {(row, window.start + int(number)): float(alike[number]) for number in alike.nonzero()[0]}
    return found


def _assigned(
    rows: Side, columns: Side, values: dict[tuple[int, int], float], points: Callable[[Fraction], int]
) -> Iterator[tuple[int, int, float]]:
    """The pairs of mentions (row, column) of the best assignment, with their similarity."""
    members = _members(rows), _members(columns)
    sizes = [min(len(members[0][row]), len(members[1][column])) for row, column in values]
    weights = worth(values.values(), sizes, points)
    class_of = [{one: number for number, own in side.items() for one in own} for side in members]
    edges = {edge: weights[value] for edge, value in values.items()}
    for row, column in grouped_assignment(edges, *members) if edges else ():
        yield row, column, values[class_of[0][row], class_of[1][column]]


def _members(side: Side) -> dict[int, list[int]]:
    return {number: [int(side.first[number]), *others] for number, others in enumerate(side.members)}
