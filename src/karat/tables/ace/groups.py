"""Groups of equal elements, or equal mentions: only their ids tell the members apart.

A document with thousands of equal elements has millions of pairs, but few different values. There, each pair of groups
is valued once, for the first members, and groups are mapped instead of elements. Other documents, nearly all, have no
groups.
"""

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple

from karat.model import Value
from karat.tables.ace.records import Location

Members = Mapping[int, Sequence[int]]


class Groups(NamedTuple):
    """The groups of rows and of columns: by the number of the first member, the numbers of all."""

    rows: Members
    columns: Members

    def first_members(self, pairs: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
        """For each pair of members: the first members of the two groups."""
        rows, columns = ({member: first for first, own in side.items() for member in own} for side in self)
        return [(rows[row], columns[column]) for row, column in pairs]


def first_equals(keys: Iterable[Hashable]) -> list[int]:
    """For each key: the number of the first that is equal."""
    first: dict[Hashable, int] = {}
    return [first.setdefault(key, number) for number, key in enumerate(keys)]


def by_first(firsts: Sequence[int]) -> dict[int, list[int]]:
    """The numbers of the members of each group by that of the first, given the first of each number."""
    members: dict[int, list[int]] = {}
    for number, first in enumerate(firsts):
        members.setdefault(first, []).append(number)
    return members


def only_first(regions: Sequence[Location], first: Collection[int]) -> list[Location]:
    """The regions of first members; the others are empty, so that they overlap nothing."""
    return [region if number in first else () for number, region in enumerate(regions)]


def attributes_key(attributes: Mapping[str, Value]) -> Hashable:
    """A key that is equal for equal attributes; a formula may look at the spelling of a value."""
    return frozenset((name, value, str(value)) for name, value in attributes.items())
