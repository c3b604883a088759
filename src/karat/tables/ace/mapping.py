"""One-to-one mappings: the one that is worth most, and what NIST's scorer takes for it.

A reading turns values into integers before they are compared, so that sums are exact and rounding decides nothing.
"""

from collections.abc import Collection, Mapping

from karat.align.assignment import assignment, components
from karat.limits import check_pairs

IndexPair = tuple[int, int]
"""The indexes of a row and a column."""
Gains = Mapping[IndexPair, tuple[int, float]]
"""For each pair that may be mapped: its gain over leaving both unmapped, and their overlap."""


def optimal(gains: Gains) -> list[IndexPair]:
    """The pairs with the greatest sum of gains; ties: more pairs, then more overlap, then the order of the text."""
    usable = [pair for pair, (gain, _) in gains.items() if gain >= 0]
    if len({row for row, _ in usable}) == len({column for _, column in usable}) == len(usable):
        return sorted(usable)
    # One integer per pair: its gain, then 1 for the number of pairs, then its overlap.
    overlaps = {pair: round(gains[pair][1] * 1e6) for pair in usable}
    all_pairs, all_overlap = len(usable) + 1, sum(overlaps.values()) + 1
    return assignment({pair: (gains[pair][0] * all_pairs + 1) * all_overlap + overlaps[pair] for pair in usable})


def largest(pairs: Collection[IndexPair]) -> int:
    """The size of the largest one-to-one mapping."""
    return len(assignment(dict.fromkeys(pairs, 1)))


def forced(gains: Gains) -> list[IndexPair]:
    """Assign as NIST's scorer does: minimal costs in a square matrix with one more row and column than there are.

    Cells that are no candidates cost nothing, but there are few of them: a full table with losses is forced into bad
    pairs, and in a table with one row the cheapest column is taken at any price. Ties: the order of the text.
    """
    if not _has_loss(gains):
        return optimal(gains)
    rows, columns = (sorted(set(side)) for side in zip(*gains, strict=True))
    if len(rows) == 1:
        return [min(gains, key=lambda pair: (-gains[pair][0], pair))]
    size = max(len(rows), len(columns)) + 1
    check_pairs(size**2, "pairs of elements", where="a table of NIST's scorer")
    for side in (rows, columns):
        side += range(side[-1] + 1, side[-1] + 1 + size - len(side))
    extreme = max(abs(gain) for gain, _ in gains.values())
    # The base makes every cell of a full assignment worth having. A cell that is no candidate costs just enough for a
    # pair that gains nothing to be preferred.
    base, other = 2 * (size + 1) * (extreme + 1), (-extreme // 10**12, 0.0)
    weights = {(row, column): base + gains.get((row, column), other)[0] for row in rows for column in columns}
    return [pair for pair in assignment(weights) if pair in gains]


def forced_by_component(gains: Gains) -> list[IndexPair]:
    """Assign each connected component of a table by itself, as NIST's scorer does."""
    if not _has_loss(gains):
        return optimal(gains)
    parts = [{pair: gains[pair] for pair in component} for component in components(gains)]
    return sorted(pair for part in parts for pair in forced(part))


def _has_loss(gains: Gains) -> bool:
    return bool(gains) and min(gains.values())[0] < 0
