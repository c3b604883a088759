"""The one-to-one mapping with the largest F1, exactly, and of several the first in order.

A mapped pair of a row s and a column g makes a(s, g) items of the rows right and b(s, g) of the columns. With A and B
the sums over the mapping, and N and M the number of all items,

    P = A / N     R = B / M     F1 = 2PR / (P + R)

F1 is not a sum, so it is not the value of an assignment. But for every t from 0 to 1, an assignment gives the maximum
of (1 - t)^2 P + t^2 R, and with it an upper bound:

    F1 <= 2 (1 - t)^2 P + 2 t^2 R,     with equality where t = P / (P + R).

So a few values of t leave only few integers A and B whose F1 could be larger than that of the mappings found on the
way. If there are any, the search branches on a pair, which is fixed or excluded (branch and bound). All numbers are
integers, so equal values are equal.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import accumulate, starmap
from math import prod
from typing import NamedTuple

from karat.families.arg.events import DocumentsSpec
from karat.families.template.templates import BothTemplates, Entity, PairedTemplates, Scored, Template, distinct
from karat.limits import check_pairs
from karat.match.assignment import kuhn_munkres
from karat.plugin import Tables
from karat.problems import quoted

Weights = Sequence[Sequence[tuple[int, int] | None]]
"""For each row and column: a and b; None if the pair makes nothing right."""

Mapping = list[int | None]
"""The column of each row."""

FINEST = 1 << 10
"""t is a multiple of 1 / FINEST."""


def largest_f1(weights: Weights, row_items: int, column_items: int) -> Mapping:
    """Return the mapping with the largest F1; rows may stay unmapped.

    Of several, return the first in order: from the first row on, each gets the lowest column that it can have, or else
    none. Pairs that make nothing right count like others in this order.
    """
    if not any(counts is not None for row in weights for counts in row):
        return [None] * len(weights)
    return _Search(weights, row_items, column_items).first_of_the_best()


class _Solution(NamedTuple):
    """A mapping, with A and B."""

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
        self._pairs = [[counts or (0, 0) for counts in row] for row in weights]

    def first_of_the_best(self) -> Mapping:
        """Return the first mapping in order that has the largest F1."""
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
        """Return a mapping whose F1 is larger than that of the target, or, unless `strictly`, equal to it."""
        target_num, target_den = self._f1(target.rows_right, target.columns_right)

        def is_enough(rows_right: int, columns_right: int) -> bool:
            num, den = self._f1(rows_right, columns_right)
            return num * target_den > target_num * den or (num * target_den == target_num * den and not strictly)

        low, high = 0, FINEST
        bounds: list[tuple[int, int, int]] = []
        nearest: dict[bool, _Solution] = {}
        while high - low > 1:
            at = (low + high) // 2
            bound, solution = self._bound(case, at)
            if is_enough(solution.rows_right, solution.columns_right):
                return solution
            bounds.append(bound)
            if not any(starmap(is_enough, self._within(bounds))):
                return None
            is_above = (
                at * solution.columns_right * self._row_items > (FINEST - at) * solution.rows_right * self._column_items
            )
            nearest[is_above] = solution
            low, high = (low, at) if is_above else (at, high)
        pair = self._undecided(case, nearest.values())
        if pair is None:
            return None
        row, column = pair
        with_pair = _Case(case.fixed | {row: column}, case.excluded)
        without_pair = _Case(case.fixed, case.excluded | {pair})
        return self._find(with_pair, target, strictly=strictly) or self._find(without_pair, target, strictly=strictly)

    def _undecided(self, case: _Case, solutions: Collection[_Solution]) -> tuple[int, int] | None:
        """Return a pair of a solution to branch on, preferably one that another solution does not have."""
        free = [row for row in range(self._rows) if row not in case.fixed]
        for row in sorted(free, key=lambda row: len({solution.mapping[row] for solution in solutions}) == 1):
            for solution in solutions:
                column = solution.mapping[row]
                if column is not None and self._pairs[row][column] != (0, 0):
                    return row, column
        return None

    def _bound(self, case: _Case, at: int) -> tuple[tuple[int, int, int], _Solution]:
        """For t = at / FINEST: (u, v, w) with u A + v B <= w for all mappings of the case, and one that reaches w."""
        u, v = (FINEST - at) ** 2 * self._column_items, at**2 * self._row_items
        taken = set(case.fixed.values())
        columns_of = {
            row: [
                (column, u * a + v * b)
                for column, (a, b) in enumerate(self._pairs[row])
                if u * a + v * b and column not in taken and (row, column) not in case.excluded
            ]
            for row in range(self._rows)
            if row not in case.fixed
        }
        column_of = case.fixed | kuhn_munkres(columns_of, columns_of.__getitem__).column_of
        mapping = [column_of.get(row) for row in range(self._rows)]
        counts = [(0, 0) if column is None else self._pairs[row][column] for row, column in enumerate(mapping)]
        solution = _Solution(mapping, sum([a for a, _ in counts]), sum([b for _, b in counts]))
        return (u, v, u * solution.rows_right + v * solution.columns_right), solution

    def _within(self, bounds: Sequence[tuple[int, int, int]]) -> Iterator[tuple[int, int]]:
        """Yield each A with the largest B that the bounds allow."""
        most = min([self._row_items, *[w // u for u, _, w in bounds]])
        for rows_right in range(most, -1, -1):
            yield rows_right, min([self._column_items, *[(w - u * rows_right) // v for u, v, w in bounds]])

    def _f1(self, rows_right: int, columns_right: int) -> tuple[int, int]:
        """Return F1 as a numerator and a denominator, which are compared by products and need not be reduced."""
        divisor = rows_right * self._column_items + columns_right * self._row_items
        return (2 * rows_right * columns_right, divisor) if divisor > 0 else (0, 1)


class TemplateMapping(DocumentsSpec[PairedTemplates], frozen=True, cache_hash=True):
    """The mapping of templates with the largest F1 over entities and types."""

    def make(self, tables: Tables) -> tuple[PairedTemplates, ...]:
        """Map the templates of one document."""
        templates, document = tables.get(BothTemplates()), tables.pair.gold.id
        gold, system = distinct(templates.gold), templates.system
        sizes = [sum(1 + len(template.entities) for template in side) for side in (system, gold)]
        check_pairs(prod(sizes), "pairs of slots to compare", where=f"document {quoted(document)}", origin="gold")
        weights = [[_right(row, column) for column in gold] for row in system]
        columns = enumerate(largest_f1(weights, *sizes))
        gold_of = {s: g for s, g in columns if g is not None and weights[s][g] is not None}
        system_of = {g: s for s, g in gold_of.items()}
        mapped = PairedTemplates(
            document,
            templates.unknown,
            tuple(gold),
            tuple(system),
            tuple(system_of.items()),
            _scored(gold, system, system_of, fits),
            _scored(system, gold, gold_of, lambda entity, other: fits(other, entity)),
        )
        return (mapped,)


def _right(system: Template, gold: Template) -> tuple[int, int] | None:
    """Count the slots that a mapped pair gets right, types included; None if the type is not a part of gold's."""
    if system.type not in gold.type:
        return None
    systems = sum(any(fits(ours, theirs) for ours in gold.entities) for theirs in system.entities)
    golds = sum(any(fits(ours, theirs) for theirs in system.entities) for ours in gold.entities)
    return 1 + systems, 1 + golds


def fits(gold: Entity, system: Entity) -> bool:
    """Return whether an entity of the system has only strings of an entity of gold, in the same role."""
    return gold.role == system.role and {*gold.strings}.issuperset(system.strings)


def _scored(
    templates: Sequence[Template],
    others: Sequence[Template],
    mapped: dict[int, int],
    fit: Callable[[Entity, Entity], bool],
) -> tuple[Scored, ...]:
    """Return the entities of one side; one that fits several of the mapped template has the first as its partner."""
    starts = [*accumulate((len(template.entities) for template in others), initial=0)]
    scored = []
    for index, template in enumerate(templates):
        other = mapped.get(index)
        entities = () if other is None else others[other].entities
        for entity in template.entities:
            place = next((place for place, one in enumerate(entities) if fit(entity, one)), None)
            partner = None if place is None or other is None else starts[other] + place
            scored.append(Scored(entity, index, 1, int(partner is not None), partner))
    return tuple(scored)
