"""The one-to-one mapping with the largest F1, exactly, and of several the first in order.

A mapped pair of a row s and a column g makes a(s, g) items of the rows right and b(s, g) of the columns. With A and B
the sums over the mapping, and N and M the number of all items,

    P = A / N     R = B / M     F1 = 2PR / (P + R)

F1 is no sum, so that it is not the value of an assignment. But for every t from 0 to 1, the best assignment by
(1 - t)^2 P + t^2 R is a line below which all mappings are, and F1 is largest where such a line touches it:

    F1 <= 2 (1 - t)^2 P + 2 t^2 R,     with equality where t = P / (P + R).

So a few lines leave only few whole numbers A and B whose F1 could be larger than that of the mappings on the lines and
between them. If there are any, an edge is fixed or excluded, and both cases are examined (branch and bound). All
numbers are integers, so that equal values are equal.

To try every mapping takes (m + 1)^n steps for n rows and m columns.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import starmap
from typing import NamedTuple

from karat.align.assignment import hungarian

Weights = Sequence[Sequence[tuple[int, int] | None]]
"""For each row and column: a and b; None if the pair makes nothing right."""

Mapping = list[int | None]
"""The column of each row."""

FINEST = 1 << 10
"""t is a whole number of parts of this size."""


def largest_f1(weights: Weights, row_items: int, column_items: int) -> Mapping:
    """The mapping with the largest F1; rows may stay unmapped.

    Of several, the first in order: from the first row on, each gets the lowest column that it can have, or else none.
    Pairs that make nothing right count like others in this order.
    """
    if not any(own is not None for row in weights for own in row):
        return [None] * len(weights)
    return _Search(weights, row_items, column_items).first_of_the_best()


class _Solution(NamedTuple):
    """A mapping, and what it makes right."""

    mapping: Mapping
    rows_right: int
    columns_right: int


class _Case(NamedTuple):
    """The mappings to examine: pairs that they must have, and pairs that they must not have."""

    fixed: dict[int, int | None]
    excluded: frozenset[tuple[int, int]]


class _Search:
    def __init__(self, weights: Weights, row_items: int, column_items: int) -> None:
        self._rows, self._columns = len(weights), len(weights[0])
        self._row_items, self._column_items = row_items, column_items
        self._pairs = [[own or (0, 0) for own in row] for row in weights]

    def first_of_the_best(self) -> Mapping:
        """The first mapping in order that has the largest F1."""
        best = _Solution([None] * self._rows, 0, 0)
        while (better := self._find(_Case({}, frozenset()), best, strictly=True)) is not None:
            best = better
        mapping, fixed = best.mapping, dict[int, int | None]()
        for row in range(self._rows):
            for column in range(self._columns):
                if column in fixed.values():
                    continue
                if column == mapping[row]:
                    break
                equal = self._find(_Case(fixed | {row: column}, frozenset()), best, strictly=False)
                if equal is not None:
                    mapping = equal.mapping
                    break
            fixed[row] = mapping[row]
        return [fixed[row] for row in range(self._rows)]

    def _find(self, case: _Case, target: _Solution, *, strictly: bool) -> _Solution | None:
        """A mapping whose F1 is larger than that of the target, or, unless `strictly`, equal to it."""
        value, of = self._f1(target.rows_right, target.columns_right)

        def is_enough(rows_right: int, columns_right: int) -> bool:
            num, den = self._f1(rows_right, columns_right)
            return num * of > value * den or (num * of == value * den and not strictly)

        low, high, at = 0, FINEST, FINEST // 2
        lines: list[tuple[int, int, int]] = []
        ends: dict[bool, _Solution] = {}
        while True:
            line, solution = self._line(case, at)
            if is_enough(solution.rows_right, solution.columns_right):
                return solution
            lines.append(line)
            if not any(starmap(is_enough, self._points(lines))):
                return None
            rises = (
                at * solution.columns_right * self._row_items > (FINEST - at) * solution.rows_right * self._column_items
            )
            ends[rises] = solution
            low, high = (low, at) if rises else (at, high)
            if high - low <= 1:
                break
            at = (low + high) // 2
        for number in (0, FINEST):  # a line at each end, if all were on one side
            if len(ends) < 2:
                line, solution = self._line(case, number)
                lines.append(line)
                ends[number > 0] = solution
        if not any(starmap(is_enough, self._points(lines))):
            return None
        between = self._between(ends[False], ends[True])
        if is_enough(between.rows_right, between.columns_right):
            return between
        pair = self._undecided(case, ends[False], ends[True])
        if pair is None:
            return None
        row, column = pair
        with_pair = _Case(case.fixed | {row: column}, case.excluded)
        without_pair = _Case(case.fixed, case.excluded | {(row, column)})
        return self._find(with_pair, target, strictly=strictly) or self._find(without_pair, target, strictly=strictly)

    def _undecided(self, case: _Case, *solutions: _Solution) -> tuple[int, int] | None:
        """A pair that can be fixed or excluded: one that only one of the solutions has, or else any of them has."""
        first, second = (one.mapping for one in solutions)
        free = [row for row in range(self._rows) if row not in case.fixed]
        for row in sorted(free, key=lambda row: first[row] == second[row]):
            for column in (first[row], second[row]):
                if column is not None and self._pairs[row][column] != (0, 0):
                    return row, column
        return None

    def _line(self, case: _Case, at: int) -> tuple[tuple[int, int, int], _Solution]:
        """For t = at / FINEST: (u, v, w) with u A + v B <= w for all mappings of the case, and one that reaches w."""
        u, v = (FINEST - at) ** 2 * self._column_items, at**2 * self._row_items
        taken = set(case.fixed.values())
        weights = {
            (row, column): u * a + v * b
            for row in range(self._rows)
            if row not in case.fixed
            for column, (a, b) in enumerate(self._pairs[row])
            if u * a + v * b and column not in taken and (row, column) not in case.excluded
        }
        mapping: Mapping = [case.fixed.get(row) for row in range(self._rows)]
        for row, column in hungarian(weights):
            mapping[row] = column
        solution = self._solution(mapping)
        return (u, v, u * solution.rows_right + v * solution.columns_right), solution

    def _points(self, lines: Sequence[tuple[int, int, int]]) -> Iterator[tuple[int, int]]:
        """The whole numbers A and B below all lines with the largest F1, for each A."""
        most = min([w // u for u, _, w in lines if u], default=self._row_items)
        for rows_right in range(min(most, self._row_items), -1, -1):
            below = [(w - u * rows_right) // v for u, v, w in lines if v]
            yield rows_right, min([self._column_items, *below])

    def _between(self, first: _Solution, second: _Solution) -> _Solution:
        """The best mapping that has, of each part in which two mappings differ, one or the other."""
        parts = _parts(first.mapping, second.mapping)
        reached: dict[int, tuple[int, frozenset[int]]] = {first.rows_right: (first.columns_right, frozenset())}
        for number, rows in enumerate(parts):
            gains = [
                sum(self._weight(row, second.mapping)[k] - self._weight(row, first.mapping)[k] for row in rows)
                for k in (0, 1)
            ]
            for rows_right, (columns_right, taken) in list(reached.items()):
                key, value = rows_right + gains[0], columns_right + gains[1]
                if key not in reached or reached[key][0] < value:
                    reached[key] = value, taken | {number}
        best = max(reached, key=lambda rows_right: Fraction(*self._f1(rows_right, reached[rows_right][0])))
        switched = {row for number in reached[best][1] for row in parts[number]}
        mapping = [(second if row in switched else first).mapping[row] for row in range(self._rows)]
        return self._solution(mapping)

    def _weight(self, row: int, mapping: Mapping) -> tuple[int, int]:
        column = mapping[row]
        return (0, 0) if column is None else self._pairs[row][column]

    def _solution(self, mapping: Mapping) -> _Solution:
        weights = [self._weight(row, mapping) for row in range(self._rows)]
        return _Solution(mapping, sum([a for a, _ in weights]), sum([b for _, b in weights]))

    def _f1(self, rows_right: int, columns_right: int) -> tuple[int, int]:
        """F1 as a numerator and a denominator: compared by products, it need not be reduced."""
        divisor = rows_right * self._column_items + columns_right * self._row_items
        return (2 * rows_right * columns_right, divisor) if divisor > 0 else (0, 1)


def _parts(first: Mapping, second: Mapping) -> list[list[int]]:
    """Rows in which two mappings differ, those together that exchange columns among each other."""
    holder = {column: row for row, column in enumerate(second) if column is not None}
    before = {column: row for row, column in enumerate(first) if column is not None}
    left = {row for row, column in enumerate(first) if column != second[row]}
    parts = []
    while left:
        part, waiting = [], [left.pop()]
        while waiting:
            row = waiting.pop()
            part.append(row)
            for column in (first[row], second[row]):
                for other in (holder.get(column), before.get(column)) if column is not None else ():
                    if other in left:
                        left.discard(other)
                        waiting.append(other)
        parts.append(sorted(part))
    return sorted(parts)
