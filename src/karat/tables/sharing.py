"""Items that are alike by the parts that they share: words of strings, strings of entities, entities of templates.

Equal items form a group. Only groups that share a part are compared, each pair of them once, and groups are assigned to
each other instead of items. So a thousand equal items cost little more than one, and those that share nothing nothing.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Generic, TypeVar

from karat.align.assignment import Edge, assignment
from karat.errors import KaratError, Rule, quoted

TOO_MANY = Rule(
    "argument-too-many-pairs", "fatal", "Check that arguments and templates are not written many times over."
)

MOST_PAIRS = 100_000
"""Pairs of groups that are compared and assigned in one document: a few seconds."""

T = TypeVar("T", bound=Hashable)


class Limit:
    """How much of something one document may have."""

    def __init__(self, document: str, what: str, most: int = MOST_PAIRS, *, rule: Rule = TOO_MANY) -> None:
        self._document, self._what, self._most, self._rule = document, what, most, rule
        self._count = 0

    def add(self, count: int) -> None:
        """Count some more, and refuse too many."""
        self._count += count
        if self._count > self._most:
            found = f"document {quoted(self._document)} has more than {self._most:,} {self._what}"
            raise KaratError(self._rule.at(f"{found}, the most that can be compared", origin="gold"))


class Groups(Generic[T]):
    """Equal items, in the order of their first members."""

    def __init__(self, items: Iterable[T], parts: Callable[[T], Iterable[Hashable]]) -> None:
        found: dict[T, list[int]] = {}
        for number, item in enumerate(items):
            found.setdefault(item, []).append(number)
        self.items: Sequence[T] = list(found)
        self.members: Sequence[Sequence[int]] = list(found.values())
        """The numbers of the items of each group."""
        self._parts_of = parts

    @cached_property
    def parts(self) -> Sequence[Sequence[Hashable]]:
        """The different parts of each group."""
        return [tuple({*self._parts_of(item)}) for item in self.items]

    def sharing(self, parts: Iterable[Hashable]) -> Sequence[int]:
        """The groups that have one of these parts."""
        having = self._having
        return sorted({group for part in parts for group in having.get(part, ())})

    @cached_property
    def _having(self) -> dict[Hashable, list[int]]:
        """The groups that have each part."""
        having: dict[Hashable, list[int]] = {}
        for group, own in enumerate(self.parts):
            for part in own:
                having.setdefault(part, []).append(group)
        return having


def alike(rows: Groups[T], columns: Groups[T], limit: Limit) -> Iterator[tuple[Edge, T, T]]:
    """Pairs of groups, by their numbers, that share a part, and the items of each."""
    for row, (item, parts) in enumerate(zip(rows.items, rows.parts, strict=True)):
        found = columns.sharing(parts)
        limit.add(len(found))
        for column in found:
            yield (row, column), item, columns.items[column]


def assigned(weights: Mapping[Edge, int], rows: Groups[T], columns: Groups[T]) -> list[tuple[Edge, Edge]]:
    """The pairs of items with the greatest sum of weights (all positive, given for groups), each with its groups.

    Of several assignments, the first in order (see `assignment`).
    """
    if not weights:
        return []
    if len(weights) == 1:  # one group on each side, as most roles have them
        ((groups, _),) = weights.items()
        own = rows.members[groups[0]], columns.members[groups[1]]
        return [(pair, groups) for pair in zip(*own, strict=False)]
    row_of, column_of = (
        {member: group for group, own in enumerate(side.members) for member in own} for side in (rows, columns)
    )
    chosen = assignment(
        {
            (row, column): weight
            for (r, c), weight in weights.items()
            for row in rows.members[r]
            for column in columns.members[c]
        }
    )
    return [((row, column), (row_of[row], column_of[column])) for row, column in chosen]
