"""One-to-one mappings: the one that is worth most, and what NIST's scorer takes for it.

A reading turns values into whole numbers before they are compared, so that sums are exact and rounding errors decide
nothing.
"""

from collections.abc import Collection, Hashable, Iterable, Mapping

from karat.align.assignment import components, hungarian
from karat.align.matching import matching

IndexPair = tuple[int, int]
"""A row and a column by their numbers."""
Gains = Mapping[IndexPair, tuple[int, float]]
"""For each pair that may be mapped: what that gains over leaving both unmapped, and their overlap."""

FEW = 30
"""So many pairs are mapped at once; more are first divided into components."""
LARGE = 900
"""Cells of a component's matrix above which it is solved in floating point and sparse."""


def optimal(gains: Gains) -> list[IndexPair]:
    """The pairs with the greatest sum of gains; ties: more pairs, then more overlap, then the order of the text."""
    usable = {pair: gain for pair, (gain, _) in gains.items() if gain >= 0}
    if is_one_to_one(usable):
        return sorted(usable)
    chosen: list[IndexPair] = []
    for component in components(usable) if len(usable) > FEW else [sorted(usable)]:
        if len({row for row, _ in component}) * len({column for _, column in component}) > LARGE:
            weights: dict[tuple[Hashable, Hashable], float] = {
                pair: usable[pair] / 1e12 + 1e-9 * (1 + min(gains[pair][1], 1e3)) for pair in component
            }
            kept = set(matching(weights))
            chosen += [pair for pair in component if pair in kept]
        else:
            chosen += hungarian(_in_order(component, usable, gains))
    return sorted(chosen)


def is_one_to_one(pairs: Collection[IndexPair]) -> bool:
    """Whether no row and no column occurs twice, so that nothing has to be decided."""
    rows, columns = zip(*pairs, strict=True) if pairs else ((), ())
    return len(set(rows)) == len(set(columns)) == len(pairs)


def largest(pairs: Iterable[IndexPair]) -> int:
    """The number of pairs that a one-to-one mapping can have, at most."""
    return len(optimal(dict.fromkeys(pairs, (1, 0.0))))


def _in_order(pairs: list[IndexPair], usable: Mapping[IndexPair, int], gains: Gains) -> dict[IndexPair, int]:
    """Gain, number of pairs, overlap and order of the text, packed into one whole number for each pair."""
    overlaps = [round(gains[pair][1] * 1e6) for pair in pairs]
    order = 1 << (len(pairs) + 1)
    overlap = sum(overlaps) + 1
    number = len(pairs) + 1
    return {
        pair: ((usable[pair] * number + 1) * overlap + common) * order + (order >> rank)
        for rank, (pair, common) in enumerate(zip(pairs, overlaps, strict=True), 2)
    }


def forced(gains: Gains) -> list[IndexPair]:
    """As NIST's scorer assigns: minimal costs in a square matrix with one row and column more than there are.

    Cells that are no candidates cost nothing, but there are few of them: a full table with losses is forced into bad
    pairs, and in a table with one row the cheapest column is taken at any price.
    """
    if all(gain >= 0 for gain, _ in gains.values()):
        return optimal(gains)
    rows = sorted({row for row, _ in gains})
    columns = sorted({column for _, column in gains})
    if len(rows) == 1:
        return [min(gains, key=lambda pair: (-gains[pair][0], pair))]
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    size = max(len(rows), len(columns)) + 1
    extreme = max(abs(gain) for gain, _ in gains.values())
    costs = np.full((size, size), 1e-12 * extreme)
    for (row, column), (gain, _) in gains.items():
        costs[rows.index(row), columns.index(column)] = -gain
    found = zip(*linear_sum_assignment(costs), strict=True)
    within = [(rows[r], columns[c]) for r, c in found if r < len(rows) and c < len(columns)]
    return [pair for pair in within if pair in gains]


def forced_by_component(gains: Gains) -> list[IndexPair]:
    """The same on each connected component of a table by itself."""
    parts = [{pair: gains[pair] for pair in pairs} for pairs in components(gains)]
    return sorted(pair for part in parts for pair in forced(part))
