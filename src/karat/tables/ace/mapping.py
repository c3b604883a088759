"""One-to-one mappings: the one that is worth most, and what NIST's scorer takes for it.

A reading turns values into whole numbers before they are compared, so that sums are exact, and a rounding error decides
nothing.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence

from karat.align.assignment import assignment, components, first_choices, is_one_to_one
from karat.tables.ace.groups import Groups, Members
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
    usable = [pair for pair, (gain, _) in gains.items() if gain >= 0]
    if groups is None and is_one_to_one(usable):
        return sorted(usable)
    compared = {pair: (gains[pair][0], round(gains[pair][1] * 1e6)) for pair in usable}
    if groups is not None:
        return assignment(_of_members(_packed(compared, groups), groups.rows, groups.columns))
    chosen = first_choices(compared)
    return _assigned(_packed(compared)) if chosen is None else chosen


def _assigned(weights: Mapping[IndexPair, int]) -> list[IndexPair]:
    """The pairs with the greatest sum of weights."""
    if len(weights) <= LARGE:
        return assignment(weights)
    chosen: list[IndexPair] = []
    for component in components(weights):
        part = {pair: weights[pair] for pair in component}
        chosen += assignment(part) if len(part) <= LARGE else heaviest_matching(_early_first(part))
    return sorted(chosen)


def largest(pairs: Collection[IndexPair]) -> int:
    """The number of pairs that a one-to-one mapping can have, at most."""
    return len(optimal(dict.fromkeys(pairs, (1, 0.0))))


def _packed(gains: Mapping[IndexPair, tuple[int, int]], groups: Groups | None = None) -> dict[IndexPair, int]:
    """Gain, number of pairs and overlap as one whole number for each pair; the order of the text decides after it."""
    sizes = [1] * len(gains)  # of each pair: how many members can be mapped
    if groups is not None:
        sizes = [min(len(groups.rows[row]), len(groups.columns[column])) for row, column in gains]
    number = sum(sizes) + 1
    overlap = sum([size * common for size, (_, common) in zip(sizes, gains.values(), strict=True)]) + 1
    return {pair: (gain * number + 1) * overlap + common for pair, (gain, common) in gains.items()}


def _early_first(weights: Mapping[IndexPair, int]) -> dict[IndexPair, int]:
    """Weights without most ties: in a large table, early rows have early columns on the whole."""
    rows, columns = (_from_the_end(side) for side in zip(*weights, strict=True))
    order = len(rows) * len(columns) * min(len(rows), len(columns)) + 1
    return {(row, column): weight * order + rows[row] * columns[column] for (row, column), weight in weights.items()}


def _from_the_end(indexes: Iterable[int]) -> dict[int, int]:
    """The position of each index among them, counted from the last, which is 1."""
    return {index: position for position, index in enumerate(sorted(set(indexes), reverse=True), 1)}


def forced(gains: Gains, groups: Groups | None = None) -> list[IndexPair]:
    """As NIST's scorer assigns: minimal costs in a square matrix with one row and column more than there are.

    Cells that are no candidates cost nothing, but there are few of them: a full table with losses is forced into bad
    pairs, and in a table with one row the cheapest column is taken at any price. Ties: the order of the text.
    """
    if not _has_loss(gains):
        return optimal(gains, groups)
    rows, columns = (dict.fromkeys(sorted(set(side))) for side in zip(*gains, strict=True))
    row_members: dict[int, Sequence[int]] = {row: (row,) if groups is None else groups.rows[row] for row in rows}
    column_members: dict[int, Sequence[int]] = {
        column: (column,) if groups is None else groups.columns[column] for column in columns
    }
    sides = row_members, column_members
    counts = [sum(map(len, side.values())) for side in sides]
    if counts[0] == 1:
        return [min(gains, key=lambda pair: (-gains[pair][0], pair))]
    size = max(counts) + 1
    base, free = _worth_having(gains, size)
    for side, count in zip(sides, counts, strict=True):  # what is added is a group, too
        first = 1 + max(max(members) for members in side.values())
        side[first] = range(first, first + size - count)
    weights = {(row, column): base + free for row in row_members for column in column_members}
    weights |= {pair: base + gain for pair, (gain, _) in gains.items()}
    if groups is None and len(weights) > LARGE:
        chosen = _heaviest(weights, row_members, column_members)
    else:
        chosen = assignment(_of_members(weights, row_members, column_members))
    firsts = Groups(row_members, column_members).first_members(chosen)
    return [pair for pair, first in zip(chosen, firsts, strict=True) if first in gains]


def _has_loss(gains: Gains) -> bool:
    return bool(gains) and min(gains.values())[0] < 0


def _worth_having(gains: Gains, size: int) -> tuple[int, int]:
    """What is added to each cell of a square of this size, and what a cell that is no candidate costs."""
    extreme = max(abs(gain) for gain, _ in gains.values())
    # So much that every cell of a full assignment is worth having; the cost is just enough for a pair that gains
    # nothing to be preferred.
    return 2 * (size + 1) * (extreme + 1), -extreme // 10**12


def _heaviest(weights: Mapping[IndexPair, int], rows: Members, columns: Members) -> list[IndexPair]:
    """The assignment of members with the greatest sum of weights, which are given for groups."""
    return sorted(heaviest_matching(_of_members(weights, rows, columns)))


def _of_members(weights: Mapping[IndexPair, int], rows: Members, columns: Members) -> dict[IndexPair, int]:
    return {(row, column): weight for (r, c), weight in weights.items() for row in rows[r] for column in columns[c]}


def forced_by_component(gains: Gains, groups: Groups | None = None) -> list[IndexPair]:
    """The same on each connected component of a table by itself."""
    if not _has_loss(gains):
        return optimal(gains, groups)
    parts = [{pair: gains[pair] for pair in component} for component in components(gains)]
    return sorted(pair for part in parts for pair in forced(part, groups))
