"""The heaviest matching of a large graph, exact for whole numbers of any size.

The sparse solver of scipy computes in floating point, which is exact for whole numbers below 2^53. So the leading bits
of the weights are solved first. Prices that prove this solution best are then subtracted from the weights; what is left
is small, and its leading bits are solved next, until there are none left (cost scaling, Gabow & Tarjan 1989).
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]

EXACT = 53
"""Bits of a whole number that floating point holds."""


def heaviest_matching(weights: Mapping[tuple[int, int], int]) -> list[tuple[int, int]]:
    """The pairs (row, column) of a one-to-one matching with the greatest sum of weights, none of which is negative.

    Each row has one more column of its own, without weight, which stands for staying free.
    """
    import numpy as np

    row_numbers = {row: number for number, row in enumerate(dict.fromkeys(row for row, _ in weights))}
    column_numbers = {column: number for number, column in enumerate(dict.fromkeys(column for _, column in weights))}
    size = len(row_numbers)
    numbered = {(row_numbers[row], column_numbers[column]): weight for (row, column), weight in weights.items()}
    numbered |= {(row, len(column_numbers) + row): 0 for row in range(size)}
    pairs = sorted(numbered)
    rows, columns = np.array(pairs, dtype=np.int64).T
    exact = np.array([numbered[pair] for pair in pairs], dtype=object)
    bits = max(numbered.values()).bit_length()
    while True:
        # Sums of as many numbers as there are rows must be exact.
        shift = max(0, bits + size.bit_length() + 2 - EXACT)
        partners, row_prices, column_prices = _solved(rows, columns, (exact >> shift).astype(np.int64))
        if not shift:
            return [pair for pair in weights if partners[row_numbers[pair[0]]] == column_numbers[pair[1]]]
        exact = exact - ((row_prices[rows] + column_prices[columns]).astype(object) << shift)
        # Now this matching has a sum of at least 0, and no edge more than 2^shift: one with such a loss is in none that
        # is better. The rows' own columns stay, so that the solver sees at once that all rows can be matched.
        loss = -(size << shift)
        kept = (exact > loss).astype(bool) | (columns >= len(column_numbers))
        # All rows are matched, but not all columns: enough of a column's price is added again to keep it matched.
        added = np.minimum(column_prices, size + 1).astype(object) << shift
        rows, columns, exact = rows[kept], columns[kept], np.maximum(exact[kept], loss) + added[columns[kept]]
        bits = shift + size.bit_length() + 2


def _solved(rows: "Integers", columns: "Integers", weights: "Integers") -> "tuple[Integers, Integers, Integers]":
    """The column of each row in the heaviest matching of all rows, and the prices of rows and of columns.

    The prices of the ends of an edge are together at least its weight, and for edges of the matching just that; free
    columns have none. A column's price is the least loss at which its row finds another one (Bellman & Ford).
    """
    import numpy as np
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    positive = (weights - weights.min() + 1).astype(float)  # the solver takes 0 for no edge
    partners = min_weight_full_bipartite_matching(csr_array((positive, (rows, columns))), maximize=True)[1]
    starts = np.searchsorted(rows, np.arange(len(partners)))
    matched = weights[columns == partners[rows]]
    prices = np.zeros(columns.max() + 1, dtype=np.int64)
    prices[partners] = 1 << 60
    while True:
        lower = matched + np.minimum.reduceat(prices[columns] - weights, starts)
        if np.array_equal(lower, prices[partners]):
            return partners, matched - lower, prices
        prices[partners] = lower
