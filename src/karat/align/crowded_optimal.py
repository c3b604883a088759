"""Optimal matchings of crowded documents: classes of mentions are assigned to each other, or millions of pairs."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from math import floor

from karat.align.crowded import Demand, Method, Pairing, Side, similarities
from karat.align.grouped import grouped_assignment
from karat.align.large import LargeGraph, is_exact
from karat.align.matchings import no_points, worth

MOST_GROUPED = 100_000
"""Pairs of classes that are assigned: a few seconds."""
MOST_PAIRS = 20_000_000
"""Pairs of mentions that are assigned: up to 8 seconds and 600 MB."""
FEW = 50
"""Different similarities up to which a solution is found fast, whatever the pairs."""
MOST_VARIED = 4_000_000
"""Pairs that are assigned if there are more different similarities."""
MOST_DIFFERENT = 20_000
"""Different similarities; weights that keep more of them apart would not be exact."""
MOST_LISTED = 500_000
"""Pairs in a list, where nothing else is possible; an optimal matching of so many takes about 5 seconds and 400 MB."""

Points = Callable[[Fraction], int]


class TooManyPairsError(Exception):
    """There are more pairs than can be assigned without a list of them."""

    def __init__(self, most: int = MOST_LISTED) -> None:
        self.most = most
        """How many can be, here or in a list."""
        super().__init__(most)


def optimal(gold: Side, system: Side, demand: Demand) -> Iterator[Pairing]:
    """As `matchings.optimal`."""
    for s, g, value in _assigned(system, gold, demand, floor):
        yield g, s, value


def gold_first(gold: Side, system: Side, demand: Demand) -> Iterator[Pairing]:
    """As `matchings.gold_first`."""
    yield from _assigned(gold, system, demand, no_points)


OPTIMAL: dict[str, Method] = {"optimal": optimal, "gold-first": gold_first}


def _assigned(rows: Side, columns: Side, demand: Demand, points: Points) -> Iterator[tuple[int, int, float]]:
    """The pairs of mentions (row, column) of the best assignment, with their similarity."""
    members = _members(rows), _members(columns)
    if len(rows) * len(columns) > MOST_GROUPED:
        return _assigned_members(rows, columns, demand, points, members)
    return _assigned_classes(rows, columns, demand, points, members)


Members = dict[int, list[int]]
"""The mentions of each class, by number."""


def _members(side: Side) -> Members:
    return {number: [int(side.first[number]), *others] for number, others in enumerate(side.members)}


def _assigned_classes(
    rows: Side, columns: Side, demand: Demand, points: Points, members: tuple[Members, Members]
) -> Iterator[tuple[int, int, float]]:
    values: dict[tuple[int, int], float] = {}
    for row in range(len(rows)):
        window, alike = similarities(rows, row, columns, demand)
        values |= {(row, window.start + int(number)): float(alike[number]) for number in alike.nonzero()[0]}
    most = min(sum(map(len, own.values())) for own in members)
    weights = worth(set(values.values()), most, points)
    class_of = [{one: number for number, own in side.items() for one in own} for side in members]
    edges = {edge: weights[value] for edge, value in values.items()}
    for row, column in grouped_assignment(edges, *members) if edges else ():
        yield row, column, values[class_of[0][row], class_of[1][column]]


def _assigned_members(
    rows: Side, columns: Side, demand: Demand, points: Points, members: tuple[Members, Members]
) -> Iterator[tuple[int, int, float]]:
    """Mention by mention: too many classes differ."""
    import numpy as np

    sizes = np.array([len(own) for own in members[1].values()])
    different: set[float] = set()
    listed: list[tuple[int, int, int]] = []  # the mentions of the rows, their classes, and how many partners they have
    for row, own in members[0].items():
        window, alike = similarities(rows, row, columns, demand)
        count = int(sizes[window][alike > 0].sum())
        if count:
            different.update(np.unique(alike).tolist())
            if len(different) > MOST_DIFFERENT:
                raise TooManyPairsError
            listed.extend((mention, row, count) for mention in own)
    if not listed:
        return
    listed.sort()
    degrees = np.array([count for _, _, count in listed])
    mentions = sorted(mention for own in members[1].values() for mention in own)
    weights = worth(different - {0.0}, min(len(listed), len(mentions)), points)
    if not is_exact(len(listed), max(weights.values())):
        raise TooManyPairsError
    most = MOST_PAIRS if len(different) <= FEW else MOST_VARIED
    if degrees.sum() > most:
        raise TooManyPairsError(most)
    values = np.array(sorted(weights))
    weight_of = np.array([float(weights[value]) for value in values.tolist()])
    places = np.searchsorted(mentions, [mention for own in members[1].values() for mention in own])
    firsts = np.cumsum(sizes) - sizes
    graph = LargeGraph(degrees, len(mentions))
    for number, (_, row, _) in enumerate(listed):
        window, alike = similarities(rows, row, columns, demand)
        by_class = np.repeat(alike, sizes[window])
        in_order = np.zeros(len(mentions))
        in_order[places[firsts[window.start] :][: len(by_class)]] = by_class
        partners = in_order.nonzero()[0]
        graph.put(number, partners, weight_of[np.searchsorted(values, in_order[partners])])
    class_of = {mention: number for number, own in members[1].items() for mention in own}
    for number, place in graph.assignment():
        mention, row, _ = listed[number]
        window, alike = similarities(rows, row, columns, demand)  # equal weights may stand for different similarities
        yield mention, mentions[place], float(alike[class_of[mentions[place]] - window.start])
