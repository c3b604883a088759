"""One-to-one assignment of thousands of rows and columns that have millions of edges.

The result is that of `assignment`. The solver is scipy's, on floating point; as long as no path can be worth more than
floating point holds exactly, nothing is lost. It does not say which profits and prices prove its result, which decide
ties. They are computed afterwards: prices start as high as they could be, and fall until no edge is worth more than its
row and column together.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from karat.align.assignment import Edge
from karat.align.in_order import InOrder

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[Any]

EXACT = 1 << 53
"""Whole numbers up to here are exact in floating point."""
AT_ONCE = 2_000_000
"""Edges for which intermediate results are held at a time."""


def is_exact(rows: int, heaviest: int) -> bool:
    """Whether sums of weights along any path stay exact."""
    return 2 * (rows + 1) * (heaviest + 1) < EXACT


class LargeGraph:
    """Edges row by row, each row in the order of its columns; every row has an edge.

    The solver wants every row assigned. So each row has one more column, the last, which stands for staying free.
    """

    def __init__(self, degrees: "Vector", width: int) -> None:
        import numpy as np

        self.height, self.width = len(degrees), width
        self._starts = np.concatenate([[0], np.cumsum(degrees + 1)]).astype(np.int32)
        self._columns = np.zeros(self._starts[-1], dtype=np.int32)
        # Costs, since the solver minimises. It does not accept a cost of 0: each row pays 1 more.
        self._costs = np.full(self._starts[-1], -1.0)
        self._columns[self._starts[1:] - 1] = width + np.arange(self.height)

    def put(self, row: int, columns: "Vector", weights: "Vector") -> None:
        """Set the edges of a row; weights are whole and positive."""
        begin, end = self._starts[row], self._starts[row + 1] - 1
        self._columns[begin:end] = columns
        self._costs[begin:end] = -1 - weights

    def assignment(self) -> list[Edge]:
        """The edges with the greatest sum of weights; of several assignments, the first in order."""
        import numpy as np
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import min_weight_full_bipartite_matching

        shape = self.height, self.width + self.height
        matrix = csr_array((self._costs, self._columns, self._starts), shape=shape)
        # The solver adds row by row. The heaviest last: nested spans, longest first, take it 30 times as long.
        heaviest_last = np.argsort(-np.minimum.reduceat(self._costs, self._starts[:-1]), kind="stable")
        held = np.zeros(self.height, dtype=np.int32)
        held[heaviest_last] = min_weight_full_bipartite_matching(matrix[heaviest_last])[1]
        profit, price = self._proof(held)
        usable = self._usable(profit, price)
        arranged = InOrder(
            _sets(usable.indices, usable.indptr),
            _sets((by_column := usable.tocsc()).indices, by_column.indptr),
            {row: column for row, column in enumerate(held.tolist()) if column < self.width},
            _bits((profit == 0).nonzero()[0]),
            _bits((price[: self.width] == 0).nonzero()[0]),
        ).arrange(range(self.height))
        return sorted(arranged.items())

    def _usable(self, profit: "Vector", price: "Vector") -> Any:
        """The edges whose weight is the sum of profit and price, as a sparse matrix."""
        import numpy as np
        from scipy.sparse import csr_array

        columns: list[Vector] = []
        counts: list[Vector] = [np.zeros(1, dtype=np.int32)]
        for part in self._parts():
            worth = np.repeat(profit[part.rows], part.lengths) + price[part.columns]
            is_usable = (worth == -1 - part.costs) & (part.columns < self.width)
            columns.append(part.columns[is_usable])
            counts.append(np.add.reduceat(is_usable, part.starts, dtype=np.int32))
        listed = np.concatenate(columns)
        ends = np.cumsum(np.concatenate(counts), dtype=np.int32)
        return csr_array((np.ones(len(listed), dtype=np.int8), listed, ends), shape=(self.height, self.width))

    def _proof(self, held: "Vector") -> "tuple[Vector, Vector]":
        """The profits of rows and the prices of columns that prove an assignment best; staying free has no price."""
        import numpy as np

        assigned = held < self.width
        own = np.concatenate(
            [-1 - part.costs[part.columns == np.repeat(held[part.rows], part.lengths)] for part in self._parts()]
        )
        price = np.zeros(self.width + self.height)
        price[held[assigned]] = own[assigned]
        while True:
            profit = np.concatenate(
                [np.maximum.reduceat(-1 - part.costs - price[part.columns], part.starts) for part in self._parts()]
            )
            lower = (own - profit)[assigned]
            if (lower == price[held[assigned]]).all():
                return profit, price
            price[held[assigned]] = lower

    def _parts(self) -> "Iterator[_Part]":
        """Consecutive rows with their edges."""
        import numpy as np

        cuts = np.searchsorted(self._starts, np.arange(0, self._starts[-1], AT_ONCE))
        for first, last in pairwise([*np.unique(cuts).tolist(), self.height]):
            begin, end = self._starts[first], self._starts[last]
            if first < last:
                starts = self._starts[first:last] - begin
                lengths = np.diff(self._starts[first : last + 1])
                yield _Part(slice(first, last), starts, lengths, self._columns[begin:end], self._costs[begin:end])


class _Part(NamedTuple):
    rows: slice
    starts: "Vector"
    lengths: "Vector"
    columns: "Vector"
    costs: "Vector"


def _sets(members: "Vector", ends: "Vector") -> dict[int, int]:
    """The members of each row or column, as bits."""
    return {number: _bits(members[begin:end]) for number, (begin, end) in enumerate(pairwise(ends.tolist()))}


def _bits(members: "Vector") -> int:
    import numpy as np

    if not len(members):
        return 0
    marks = np.zeros(int(members.max()) + 1, dtype=bool)
    marks[members] = True
    return int.from_bytes(np.packbits(marks, bitorder="little").tobytes(), "little")
