"""One-to-one assignment, exactly, with ties decided.

There are two solvers, each for one job:

    assignment (here)    whole numbers of any size. Of equally good assignments it returns the first in order, so that
                         ties never depend on the solver: mentions (`optimal`), meta-mentions, ACE elements, trees.
    matching             floats, on sparse graphs of any size, for the greatest sum alone: clusters under CEAF.
"""

from collections.abc import Collection, Iterable, Mapping
from heapq import heappop, heappush
from typing import NamedTuple, TypeVar

from karat.align.in_order import InOrder, as_bits

Edge = tuple[int, int]
"""A row and a column that may be assigned to each other."""
W = TypeVar("W", int, tuple[int, int])


def assignment(weights: Mapping[Edge, int]) -> list[Edge]:
    """The one-to-one assignment with the greatest sum of weights (all positive), sorted; rows may stay unassigned.

    Of several, the first in order: from the lowest row on, each gets the lowest column that it can have.
    """
    first = first_choices(weights)
    if first is not None:
        return first
    chosen: list[Edge] = []
    for edges in components(weights):
        part = {edge: weights[edge] for edge in edges}
        chosen += first_choices(part) or _put_in_order(_solve(part), part).items()
    return sorted(chosen)


def first_choices(weights: Mapping[Edge, W]) -> list[Edge] | None:
    """An assignment in which every row, or every column, has one of its heaviest edges, sorted; None if there is none.

    No sum is greater. Rows (or columns) choose in order, each the lowest of its heaviest edges that is free, so that it
    is also the first in order. Most tables of ACE have one: of 136 components of the benchmark's corpus that are
    neither one row nor one column, it leaves 18 to be solved.
    """
    listed = sorted(weights)
    if is_one_to_one(listed):
        return listed
    of_rows: dict[int, list[Edge]] = {}
    of_columns: dict[int, list[Edge]] = {}
    for edge in listed:
        of_rows.setdefault(edge[0], []).append(edge)
        of_columns.setdefault(edge[1], []).append(edge)
    choosing, end = (of_rows, 1) if len(of_rows) <= len(of_columns) else (of_columns, 0)
    chosen: list[Edge] = []
    taken: set[int] = set()
    for _, edges in sorted(choosing.items()):
        most = max([weights[edge] for edge in edges])
        best = [edge for edge in edges if edge[end] not in taken and weights[edge] == most]
        if not best:
            return None
        chosen.append(best[0])
        taken.add(best[0][end])
    return sorted(chosen)


def is_one_to_one(edges: Collection[Edge]) -> bool:
    """Whether no two edges share a row or a column: then all can be assigned, whatever they weigh."""
    if len(edges) < 2:
        return True
    rows, columns = zip(*edges, strict=True)
    return len(set(rows)) == len(set(columns)) == len(edges)


def components(edges: Iterable[Edge]) -> list[list[Edge]]:
    """Edges that are connected through their rows and columns, each component sorted."""
    listed = sorted(edges)
    parent = {column: column for _, column in listed}

    def root(column: int) -> int:
        while parent[column] != column:
            parent[column] = column = parent[parent[column]]
        return column

    first: dict[int, int] = {}
    for row, column in listed:
        anchor = first.setdefault(row, column)
        if anchor != column:  # the columns of a row are connected
            parent[root(anchor)] = root(column)
    connected: dict[int, list[Edge]] = {}
    for row, column in listed:
        connected.setdefault(root(column), []).append((row, column))
    return list(connected.values())


def hungarian(weights: Mapping[Edge, int]) -> list[Edge]:
    """An assignment with the greatest sum of weights, for weights that leave no ties."""
    return list(_solve(weights).held.items())


class _Solution(NamedTuple):
    """An optimal assignment, with the profits and prices that prove it.

    The sum of profit and price is at least the weight of every edge. An assignment is optimal if and only if it equals
    the weight of each edge that is used, and is 0 for each row and column that is not.
    """

    profit: dict[int, int]
    """For each row."""
    price: dict[int, int]
    """For each column."""
    held: dict[int, int]
    """The column of each row that has one."""
    holder: dict[int, int]
    """The row of each column that has one."""


def _solve(weights: Mapping[Edge, int]) -> _Solution:
    """Shortest augmenting paths with prices (Kuhn 1955, Munkres 1957), along the edges that exist.

    Rows are added one by one, and each takes the column that is worth most to it beyond its price. If another row holds
    that, the holders give way along the path on which least is lost; at its end is a free column, or a row that stays
    free, which is worth nothing.
    """
    columns_of: dict[int, list[tuple[int, int]]] = {}
    for (row, column), weight in weights.items():
        columns_of.setdefault(row, []).append((column, weight))
    price = {column: 0 for _, column in weights}
    profit: dict[int, int] = {}
    held: dict[int, int] = {}
    holder: dict[int, int] = {}
    for start, columns in columns_of.items():
        most = max([weight - price[column] for column, weight in columns])
        profit[start] = max(most, 0)
        if most >= 0:
            best = [column for column, weight in columns if weight - price[column] == most and column not in holder]
            if best:
                held[start], holder[best[0]] = best[0], start
                continue
        # Columns that can be reached: what is lost on the way there, and from which row.
        open_: dict[int, int] = {}
        queue: list[tuple[int, int, int]] = []
        reached_from: dict[int, int] = {}
        passed: dict[int, int] = {}
        place: dict[int, int] = {}  # of equally near ones, the column that was reached first is passed first
        row, loss, losses = start, 0, {start: 0}
        stays, least = start, profit[start]
        end: int | None
        while True:
            end = None
            for column, weight in columns_of[row]:
                if column not in passed:
                    reached = loss + profit[row] - weight + price[column]
                    if column not in open_ or reached < open_[column]:
                        if column not in open_:
                            place[column] = len(place)
                        open_[column], reached_from[column] = reached, row
                        heappush(queue, (reached, place[column], column))
                        if reached == loss and column not in holder:
                            end = column  # nothing can be nearer
                            break
            if end is None:
                while queue and open_.get(queue[0][2]) != queue[0][0]:
                    heappop(queue)  # passed, or reached in a better way
                end = queue[0][2] if queue else None
            if end is None or open_[end] >= least:
                end = held.pop(stays, None)
                break
            passed[end] = loss = open_.pop(end)
            if end not in holder:
                least = loss
                break
            row = holder[end]
            losses[row] = loss
            if loss + profit[row] < least:
                stays, least = row, loss + profit[row]
        settle(profit, price, losses, passed, least)
        while end is not None:
            row, column = reached_from[end], end
            end = held.get(row)
            held[row], holder[column] = column, row
    return _Solution(profit, price, held, holder)


def settle(
    profit: dict[int, int], price: dict[int, int], losses: Mapping[int, int], passed: Mapping[int, int], least: int
) -> None:
    """Update what rows and columns are worth, now that the least loss is known: no pair weighs more than its two."""
    for row, loss in losses.items():
        profit[row] -= least - loss
    for column, loss in passed.items():
        price[column] += least - loss


def _put_in_order(solution: _Solution, weights: Mapping[Edge, int]) -> dict[int, int]:
    """The first of the equally good assignments (see `in_order`), with rows and columns numbered from 0 on."""
    profit, price, held = solution.profit, solution.price, solution.held
    tight = [(row, column) for (row, column), weight in weights.items() if profit[row] + price[column] == weight]
    rows, columns = sorted(profit), sorted(price)
    row_number = {row: number for number, row in enumerate(rows)}
    column_number = {column: number for number, column in enumerate(columns)}
    columns_of = dict.fromkeys(range(len(rows)), 0)
    rows_of = dict.fromkeys(range(len(columns)), 0)
    for row, column in tight:
        columns_of[row_number[row]] |= 1 << column_number[column]
        rows_of[column_number[column]] |= 1 << row_number[row]
    arranged = InOrder(
        columns_of,
        rows_of,
        {row_number[row]: column_number[column] for row, column in held.items()},
        as_bits(number for row, number in row_number.items() if not profit[row]),
        as_bits(number for column, number in column_number.items() if not price[column]),
    ).arrange(range(len(rows)))
    return {rows[row]: columns[column] for row, column in arranged.items()}
