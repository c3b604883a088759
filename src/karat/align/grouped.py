"""One-to-one assignment between groups of rows and groups of columns whose members have the same weights.

The result is that of `assignment` on all members: the greatest sum of weights and, of several, the first in order. Here
it is computed on groups: how many members of a group of rows get columns of which group (a transportation problem), and
then, member by member, the lowest column that it can have. A thousand equal rows cost little more than one.
"""

from collections.abc import Mapping, Sequence
from heapq import heappop, heappush
from typing import NamedTuple

from karat.align.assignment import Edge, settle

Members = Mapping[int, Sequence[int]]
"""The members of each group by its number, in order."""

FREE = -1
"""In place of a group of columns: stays unassigned; in place of a group of rows: leaves columns unassigned."""


def grouped_assignment(weights: Mapping[Edge, int], rows: Members, columns: Members) -> list[Edge]:
    """The pairs of members with the greatest sum of weights (all positive, given for groups), sorted.

    Of several assignments, the first in order: from the lowest row on, each gets the lowest column that it can have.
    """
    solution = _solve(weights, {row: len(rows[row]) for row, _ in weights}, columns)
    return _in_order(solution, weights, rows, columns)


class _Solution(NamedTuple):
    """How many members are assigned, with the profits and prices that prove it best (see `assignment`)."""

    profit: dict[int, int]
    price: dict[int, int]
    held: dict[int, dict[int, int]]
    """For each group of rows: how many columns it has of each group."""
    room: dict[int, int]
    """For each group of columns: how many are unassigned."""


def _solve(weights: Mapping[Edge, int], supply: Mapping[int, int], columns: Members) -> _Solution:
    """Shortest augmenting paths with prices, each for as many members as it has room for."""
    columns_of: dict[int, list[tuple[int, int]]] = {}
    for (row, column), weight in weights.items():
        columns_of.setdefault(row, []).append((column, weight))
    price = {column: 0 for _, column in weights}
    room = {column: len(columns[column]) for column in price}
    profit: dict[int, int] = {}
    held: dict[int, dict[int, int]] = {}
    holders: dict[int, dict[int, int]] = {column: {} for column in price}
    for start, own in columns_of.items():
        left = supply[start]
        profit[start] = max(0, *[weight - price[column] for column, weight in own])
        held[start] = {}
        while left:
            # What is lost on the way to a group of columns, and from which rows; rows through which columns.
            open_: dict[int, int] = {}
            queue: list[tuple[int, int]] = []
            reached_from: dict[int, int] = {}
            passed: dict[int, int] = {}
            gives_up: dict[int, int] = {}
            losses, new, loss = {start: 0}, [start], 0
            stays, least = start, profit[start]
            end: int | None = None
            while True:
                for row in new:
                    for column, weight in columns_of[row]:
                        if column not in passed:
                            reached = loss + profit[row] - weight + price[column]
                            if column not in open_ or reached < open_[column]:
                                open_[column], reached_from[column] = reached, row
                                if reached == loss and room[column]:
                                    end = column  # nothing can be nearer
                                    break
                                heappush(queue, (reached, column))
                    if end is not None:
                        break
                if end is not None:
                    least = loss
                    break
                while queue and open_.get(queue[0][1]) != queue[0][0]:
                    heappop(queue)  # passed, or reached in a better way
                if not queue or queue[0][0] >= least:
                    break
                _, nearest = heappop(queue)
                passed[nearest] = loss = open_.pop(nearest)
                if room[nearest]:
                    end, least = nearest, loss
                    break
                new = [row for row in holders[nearest] if row not in losses]
                for row in new:
                    losses[row], gives_up[row] = loss, nearest
                    if loss + profit[row] < least:
                        stays, least = row, loss + profit[row]
            settle(profit, price, losses, passed, least)
            if end is None and stays == start:
                break
            path = _path(gives_up[stays] if end is None else end, reached_from, gives_up, start)
            amount = min([left, *[held[row][gives_up[row]] for row, _ in path if row != start]])
            amount = min(amount, held[stays][gives_up[stays]] if end is None else room[end])
            if end is None:
                _move(held, holders, stays, gives_up[stays], -amount)
            else:
                room[end] -= amount
            for row, column in path:
                _move(held, holders, row, column, amount)
                if row != start:
                    _move(held, holders, row, gives_up[row], -amount)
            left -= amount
    return _Solution(profit, price, held, room)


def _path(column: int, reached_from: Mapping[int, int], gives_up: Mapping[int, int], start: int) -> list[Edge]:
    """Who takes what, from the last group of columns back to the first."""
    path = [(reached_from[column], column)]
    while path[-1][0] != start:
        column = gives_up[path[-1][0]]
        path.append((reached_from[column], column))
    return path


def _move(held: dict[int, dict[int, int]], holders: dict[int, dict[int, int]], row: int, column: int, by: int) -> None:
    amount = held[row].pop(column, 0) + by
    holders[column].pop(row, None)
    if amount:
        held[row][column] = holders[column][row] = amount


def _in_order(solution: _Solution, weights: Mapping[Edge, int], rows: Members, columns: Members) -> list[Edge]:
    """Give each member, from the lowest row on, the lowest column with which the rest stays as good.

    Only groups can be assigned to each other whose weight is the sum of profit and price. FREE is a group like others:
    of rows, it holds the columns that are unassigned, which must have no price; of columns, it is held by the rows that
    are unassigned, which must have no profit.
    """
    profit, price, held, room = solution
    usable: dict[int, list[int]] = {row: [] if value else [FREE] for row, value in profit.items()}
    for (row, column), weight in weights.items():
        if profit[row] + price[column] == weight:
            usable[row].append(column)
    usable[FREE] = [FREE, *[column for column, value in price.items() if not value]]
    takers: dict[int, list[int]] = {}
    for row, usable_columns in usable.items():
        for column in usable_columns:
            takers.setdefault(column, []).append(row)
    for row, own in held.items():
        own[FREE] = len(rows[row]) - sum(own.values())
    held[FREE] = {FREE: 1 + sum(len(rows[row]) for row in profit), **room}
    taken = dict.fromkeys(price, 0)
    chosen: list[Edge] = []
    members = sorted((member, row) for row in profit for member in rows[row])
    for member, row in members:
        lowest = sorted(
            (columns[column][taken[column]], column)
            for column in usable[row]
            if column != FREE and taken[column] < len(columns[column])
        )
        order = [column for _, column in lowest] + [FREE]
        if not held[row].get(order[0]):
            instead = _exchanges(row, held, takers)
            column = next(column for column in order if held[row].get(column) or column in instead)
            _exchange(row, column, instead, held)
        else:
            column = order[0]
        held[row][column] -= 1
        if column != FREE:
            chosen.append((member, columns[column][taken[column]]))
            taken[column] += 1
    return chosen


def _exchanges(
    row: int, held: Mapping[int, Mapping[int, int]], takers: Mapping[int, Sequence[int]]
) -> dict[int, tuple[int, int]]:
    """Groups of columns that others can give up for what a row holds: who does, and what it takes instead."""
    waiting = [column for column, amount in held[row].items() if amount]
    known, asked = set(waiting), {row}
    exchanges: dict[int, tuple[int, int]] = {}
    for column in waiting:  # it grows on the way
        for other in takers.get(column, ()):
            if other not in asked:
                asked.add(other)
                given = [own for own, amount in held[other].items() if amount and own not in known]
                known.update(given)
                waiting.extend(given)
                exchanges |= dict.fromkeys(given, (other, column))
    return exchanges


def _exchange(row: int, column: int, instead: Mapping[int, tuple[int, int]], held: dict[int, dict[int, int]]) -> None:
    """Let a row have one column of a group, and others take what is given up for it."""
    wanted = column
    while not held[row].get(column):
        other, taken = instead[column]
        held[other][column] -= 1
        held[other][taken] = held[other].get(taken, 0) + 1
        column = taken
    held[row][column] -= 1
    held[row][wanted] = held[row].get(wanted, 0) + 1
