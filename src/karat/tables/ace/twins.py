"""Twins: elements of one side, or mentions, that nothing can tell apart but their names.

A document with thousands of elements that are all the same has millions of pairs, and few values. There, a pair is
valued once for the first of each group of twins, and groups are mapped instead of elements. Elsewhere, that is nearly
always, there are no groups.
"""

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple

from karat.align.grouped import Members
from karat.model import Value
from karat.tables.ace.records import Location


class Twins(NamedTuple):
    """The groups of rows and of columns: the number of the first member of each, and those of all."""

    rows: Members
    columns: Members

    def firsts_of(self, pairs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
        """For each pair: the first twins of the two."""
        rows, columns = ({one: first for first, own in side.items() for one in own} for side in self)
        return [(rows[row], columns[column]) for row, column in pairs]


def firsts(keys: Iterable[Hashable]) -> list[int]:
    """For each of some keys: the number of the first that is equal."""
    first: dict[Hashable, int] = {}
    return [first.setdefault(key, number) for number, key in enumerate(keys)]


def by_first(firsts_: Sequence[int]) -> dict[int, list[int]]:
    """The numbers of twins by that of the first."""
    found: dict[int, list[int]] = {}
    for number, first in enumerate(firsts_):
        found.setdefault(first, []).append(number)
    return found


def only_firsts(regions: Sequence[Location], first: Collection[int]) -> list[Location]:
    """Regions with only the first of twins in place; the others are nowhere, where they overlap nothing."""
    return [region if number in first else () for number, region in enumerate(regions)]


def attributes_key(attributes: Mapping[str, Value]) -> Hashable:
    """What is equal for equal attributes; a formula may look at the spelling of a value."""
    return frozenset((name, value, str(value)) for name, value in attributes.items())
