"""One-to-one mappings: the one that is worth most, and what NIST's scorer takes for it.

A reading turns values into whole numbers before they are compared, so that sums are exact, and a rounding error decides
nothing.
"""

from collections.abc import Collection, Iterable, Mapping

from karat.align.assignment import assignment, components, hungarian
from karat.align.grouped import grouped_assignment
from karat.tables.ace.groups import Groups
from karat.tables.ace.scaled import heaviest_matching

IndexPair = tuple[int, int]
"""A row and a column by their numbers."""
Gains = Mapping[IndexPair, tuple[int, float]]
"""For each pair that may be mapped: what that gains over leaving both unmapped, and their overlap."""

LARGE = 10_000
"""Pairs in a component above which it is solved with scipy."""


def optimal(gains: Gains, groups: Groups | None = None) -> list[IndexPair]:
    """The pairs with the greatest sum of gains; ties: more pairs, then more overlap, then the order of the text.

    With groups, the gains are those of their first members.
    """
    usable = {pair: gain for pair, gain in gains.items() if gain[0] >= 0}
    if groups is not None:
        return grouped_assignment(_packed_groups(usable, groups), groups.rows, groups.columns)
    if is_one_to_one(usable):
        return sorted(usable)
    weights = _packed(usable)
    if len(weights) <= LARGE:
        return assignment(weights)
    chosen: list[IndexPair] = []
    for component in components(usable):
        part = {pair: weights[pair] for pair in component}
        chosen += assignment(part) if len(part) <= LARGE else heaviest_matching(_early_first(part))
    return sorted(chosen)


def _heaviest(weights: Mapping[IndexPair, int]) -> list[IndexPair]:
    """The one-to-one mapping with the greatest sum of weights, none of which is negative."""
    return heaviest_matching(weights) if len(weights) > LARGE else hungarian(weights)


def is_one_to_one(pairs: Collection[IndexPair]) -> bool:
    """Whether no row and no column occurs twice, so that there is nothing to decide.

    Asked first, since most tables are so: without it, scoring the ACE corpus of the benchmark takes 1.05 times as long.
    """
    if len(pairs) < 2:
        return True
    rows, columns = zip(*pairs, strict=True)
    return len(set(rows)) == len(set(columns)) == len(pairs)


def largest(pairs: Collection[IndexPair]) -> int:
    """The number of pairs that a one-to-one mapping can have, at most."""
    return len(pairs) if is_one_to_one(pairs) else len(optimal(dict.fromkeys(pairs, (1, 0.0))))


def _packed(gains: Gains) -> dict[IndexPair, int]:
    """Gain, number of pairs and overlap as one whole number for each pair; the order of the text decides after it."""
    overlaps = [round(overlap * 1e6) for _, overlap in gains.values()]
    overlap, number = sum(overlaps) + 1, len(gains) + 1
    return {
        pair: (gain * number + 1) * overlap + common
        for (pair, (gain, _)), common in zip(gains.items(), overlaps, strict=True)
    }


def _early_first(weights: Mapping[IndexPair, int]) -> dict[IndexPair, int]:
    """Weights without most ties: in a large table, early rows have early columns on the whole."""
    rows, columns = (_from_the_end(side) for side in zip(*weights, strict=True))
    order = len(rows) * len(columns) * min(len(rows), len(columns)) + 1
    return {(row, column): weight * order + rows[row] * columns[column] for (row, column), weight in weights.items()}


def _packed_groups(gains: Gains, groups: Groups) -> dict[IndexPair, int]:
    """Gain, number of pairs and overlap as one whole number for each two groups."""
    sizes = [min(len(groups.rows[row]), len(groups.columns[column])) for row, column in gains]
    overlaps = [round(overlap * 1e6) for _, overlap in gains.values()]
    number = sum(sizes) + 1
    overlap = sum([size * common for size, common in zip(sizes, overlaps, strict=True)]) + 1
    return {
        pair: (gain * number + 1) * overlap + common
        for (pair, (gain, _)), common in zip(gains.items(), overlaps, strict=True)
    }


def _from_the_end(indexes: Iterable[int]) -> dict[int, int]:
    """The position of each index among them, counted from the last, which is 1."""
    return {index: position for position, index in enumerate(sorted(set(indexes), reverse=True), 1)}


def forced(gains: Gains, groups: Groups | None = None) -> list[IndexPair]:
    """As NIST's scorer assigns: minimal costs in a square matrix with one row and column more than there are.

    Cells that are no candidates cost nothing, but there are few of them: a full table with losses is forced into bad
    pairs, and in a table with one row the cheapest column is taken at any price.
    """
    if all(gain >= 0 for gain, _ in gains.values()):
        return optimal(gains, groups)
    if groups is not None:
        return _forced_groups(gains, groups)
    rows = sorted({row for row, _ in gains})
    columns = sorted({column for _, column in gains})
    if len(rows) == 1:
        return [min(gains, key=lambda pair: (-gains[pair][0], pair))]
    size = max(len(rows), len(columns)) + 1
    base, free = _worth_having(gains, size)
    rows += range(rows[-1] + 1, rows[-1] + 1 + size - len(rows))
    columns += range(columns[-1] + 1, columns[-1] + 1 + size - len(columns))
    weights = dict.fromkeys([(row, column) for row in rows for column in columns], base + free)
    weights |= {pair: base + gain for pair, (gain, _) in gains.items()}
    return sorted(pair for pair in _heaviest(weights) if pair in gains)


def _worth_having(gains: Gains, size: int) -> tuple[int, int]:
    """What is added to each cell of a square of this size, and what a cell that is no candidate costs."""
    extreme = max(abs(gain) for gain, _ in gains.values())
    # So much that every cell of a full assignment is worth having; the cost is just enough for a pair that gains
    # nothing to be preferred.
    return 2 * (size + 1) * (extreme + 1), -extreme // 10**12


def _forced_groups(gains: Gains, groups: Groups) -> list[IndexPair]:
    """The same for groups; the rows and columns that are added are groups, too."""
    rows = {row: groups.rows[row] for row in sorted({row for row, _ in gains})}
    columns = {column: groups.columns[column] for column in sorted({column for _, column in gains})}
    counts = [sum(map(len, side.values())) for side in (rows, columns)]
    if counts[0] == 1:
        return [min(gains, key=lambda pair: (-gains[pair][0], pair))]
    size = max(counts) + 1
    base, free = _worth_having(gains, size)
    for side, count in zip((rows, columns), counts, strict=True):
        first = 1 + max(member for members in side.values() for member in members)
        side[first] = range(first, first + size - count)
    weights = dict.fromkeys([(row, column) for row in rows for column in columns], base + free)
    weights |= {pair: base + gain for pair, (gain, _) in gains.items()}
    chosen = grouped_assignment(weights, rows, columns)
    return [
        pair for pair, first in zip(chosen, Groups(rows, columns).first_members(chosen), strict=True) if first in gains
    ]


def forced_by_component(gains: Gains, groups: Groups | None = None) -> list[IndexPair]:
    """The same on each connected component of a table by itself."""
    if all(gain >= 0 for gain, _ in gains.values()):
        return optimal(gains, groups)
    parts = [{pair: gains[pair] for pair in component} for component in components(gains)]
    return sorted(pair for part in parts for pair in forced(part, groups))
