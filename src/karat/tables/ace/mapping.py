"""One-to-one mappings: the one that is worth most, and what NIST's program takes for it."""

from collections.abc import Callable, Collection, Hashable, Mapping

from karat.align.assignment import Edge, components, hungarian
from karat.align.matching import matching

Gains = Mapping[Edge, tuple[float, float]]
"""For each pair (row, column) that may be mapped: what that gains over leaving both unmapped, and their overlap."""

Mapper = Callable[[Gains], list[Edge]]

UNIT = 1e12
"""Gains are compared in whole units of 1e-12, so that rounding errors decide nothing."""
FEW = 30
"""So many pairs are mapped at once; more are first divided into components."""
LARGE = 900
"""Cells of a component's matrix above which it is solved in floating point and sparse."""


def optimal(gains: Gains) -> list[Edge]:
    """The pairs with the greatest sum of gains; ties: more pairs, then more overlap, then the order of the text."""
    if len(gains) == 1:
        return [edge for edge, (value, _) in gains.items() if value * UNIT >= -0.5]
    usable = {edge: gain for edge, (value, _) in gains.items() if (gain := round(value * UNIT)) >= 0}
    if is_matching(usable):
        return sorted(usable)
    chosen: list[Edge] = []
    for edges in components(usable) if len(usable) > FEW else [sorted(usable)]:
        if len({row for row, _ in edges}) * len({column for _, column in edges}) > LARGE:
            weights: dict[tuple[Hashable, Hashable], float] = {
                edge: usable[edge] / UNIT + 1e-9 * (1 + min(gains[edge][1], 1e3)) for edge in edges
            }
            kept = set(matching(weights))
            chosen += [edge for edge in edges if edge in kept]
        else:
            chosen += hungarian(_in_order(edges, usable, gains))
    return sorted(chosen)


def is_matching(edges: Collection[Edge]) -> bool:
    """Whether nothing has to be decided: no row and no column occurs twice."""
    rows, columns = zip(*edges, strict=True) if edges else ((), ())
    return len(set(rows)) == len(set(columns)) == len(edges)


def _in_order(edges: list[Edge], usable: Mapping[Edge, int], gains: Gains) -> dict[Edge, int]:
    """Gain, number of pairs, overlap and order of the text, laid into one whole number for each edge."""
    overlaps = [round(gains[edge][1] * 1e6) for edge in edges]
    order = 1 << (len(edges) + 1)
    overlap = sum(overlaps) + 1
    pairs = len(edges) + 1
    return {
        edge: ((usable[edge] * pairs + 1) * overlap + common) * order + (order >> rank)
        for rank, (edge, common) in enumerate(zip(edges, overlaps, strict=True), 2)
    }


def forced(gains: Gains) -> list[Edge]:
    """As NIST's program assigns: minimal costs in a square matrix with one row and column more than there are.

    Cells that are no candidates cost nothing, but there are few of them: a full table with losses is forced into bad
    pairs, and in a table with one row the cheapest column is taken at any price.
    """
    if all(value >= 0 for value, _ in gains.values()):
        return optimal(gains)
    rows = sorted({row for row, _ in gains})
    columns = sorted({column for _, column in gains})
    if len(rows) == 1:
        return [min(gains, key=lambda edge: (-gains[edge][0], edge))]
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    size = max(len(rows), len(columns)) + 1
    largest = max(abs(value) for value, _ in gains.values())
    costs = np.full((size, size), 1e-12 * largest)
    for (row, column), (value, _) in gains.items():
        costs[rows.index(row), columns.index(column)] = -value
    found = zip(*linear_sum_assignment(costs), strict=True)
    within = [(rows[r], columns[c]) for r, c in found if r < len(rows) and c < len(columns)]
    return [edge for edge in within if edge in gains]


def by_component(mapper: Mapper) -> Mapper:
    """A mapper that works on each connected component by itself."""

    def mapped(gains: Gains) -> list[Edge]:
        if min([value for value, _ in gains.values()], default=0) >= 0:
            return optimal(gains)
        parts = [{edge: gains[edge] for edge in edges} for edges in components(gains)]
        return sorted(edge for part in parts for edge in mapper(part))

    return mapped
