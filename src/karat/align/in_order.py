"""Of several assignments that are equally good, the first in order: each row gets the lowest column it can have.

An assignment is optimal if and only if profits of rows and prices of columns prove it: their sum is at least the weight
of every edge, it equals the weight of each edge that is used, and it is 0 for each row and column that is not. So only
edges whose weight is the sum of profit and price can be used at all, and it suffices to exchange columns along these.

Sets of rows and columns are the bits of an integer: a dense graph of thousands of rows is searched in moments.
"""

from collections.abc import Iterable, Iterator, Mapping

Members = Mapping[int, int]
"""Numbers of rows or columns to sets of the others, as bits."""


class InOrder:
    """An optimal assignment on its usable edges, rearranged until no equally good one comes before it."""

    def __init__(
        self, columns_of: Members, rows_of: Members, held: Mapping[int, int], unpaid: int, unpriced: int
    ) -> None:
        """`unpaid`: rows without a profit; `unpriced`: columns without a price (as bits)."""
        self._columns_of, self._rows_of = columns_of, rows_of
        self.held = dict(held)
        """The column of each row that has one."""
        self._holder = {column: row for row, column in held.items()}
        self._unpaid, self._unpriced = unpaid, unpriced

    def arrange(self, rows: range) -> dict[int, int]:
        """Go through the rows in their order; a row that had its turn keeps what it has."""
        movable = as_bits(rows)
        available = as_bits(self._rows_of)
        for row in rows:
            movable &= ~(1 << row)
            column = self.held.get(row)
            lower = self._columns_of.get(row, 0) & available
            if column is not None:
                lower &= (1 << column) - 1
            if lower:
                self._improve(row, lower, movable)
            if row in self.held:
                available &= ~(1 << self.held[row])
        return self.held

    def _improve(self, row: int, lower: int, movable: int) -> None:
        """Give a row the first of these columns whose holder can give way."""
        takes_from = self._circle(row, movable, self._holder.get(_lowest(lower)))
        for column in bits(lower):
            if self._holder.get(column) in takes_from:
                self._exchange(row, column, takes_from)
                return

    def _circle(self, row: int, movable: int, wanted: int | None) -> dict[int | None, int | None]:
        """The rows that can give way if `row` gives up its column, directly or through others: whose place each takes.

        No row (None) is a member of the circle like any other: it holds the free columns, it can take a column without
        a price, and it makes room for a row without a profit. The search ends with the row that is wanted.
        """
        takes_from: dict[int | None, int | None] = {}
        others = movable
        members: list[int | None] = [row]
        for member in members:  # it grows on the way
            if member is None:
                free = [rows for column, rows in self._rows_of.items() if column not in self._holder]
                takers = self._unpaid
                for own in free:
                    takers |= own
                takers &= others
            else:
                column = self.held.get(member)
                takers = 0 if column is None else self._rows_of[column] & others
                if None not in takes_from and (column is None or self._unpriced >> column & 1):
                    takes_from[None] = member
                    members.append(None)
            if wanted is not None and takers >> wanted & 1:
                takes_from[wanted] = member
                break
            for taker in bits(takers):
                takes_from[taker] = member
                members.append(taker)
            if wanted in takes_from:
                break
            others ^= takers
        return takes_from

    def _exchange(self, row: int, column: int, takes_from: Mapping[int | None, int | None]) -> None:
        """Give a column to a row, and let the others take what is given up."""
        taken: dict[int, int | None] = {row: column}
        member = self._holder.get(column)
        while member != row:
            other = takes_from[member]
            if member is not None and other is not None:
                taken[member] = self.held[other]
            elif member is not None:
                columns = bits(self._columns_of.get(member, 0))
                taken[member] = next((free for free in columns if free not in self._holder), None)
            member = other
        for member in taken:
            self._holder.pop(self.held.pop(member, -1), None)
        for member, new in taken.items():
            if new is not None:
                self.held[member], self._holder[new] = new, member


def as_bits(numbers: Iterable[int]) -> int:
    """A set of numbers as bits."""
    listed = list(numbers)
    marks = bytearray(max(listed, default=-1) // 8 + 1)
    for number in listed:
        marks[number >> 3] |= 1 << (number & 7)
    return int.from_bytes(marks, "little")


def bits(members: int) -> Iterator[int]:
    """The numbers of a set, in order."""
    while members:
        lowest = members & -members
        yield lowest.bit_length() - 1
        members ^= lowest


def _lowest(members: int) -> int:
    return (members & -members).bit_length() - 1
