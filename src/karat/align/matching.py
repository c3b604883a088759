"""The best one-to-one matching of clusters, on graphs of any size, for CEAF (`assignment` is the exact solver).

A lemma-like system connects thousands of clusters in one component, so no dense matrix is made. A cluster that overlaps
only one other is a leaf, and each cluster needs to remember only its best leaf. What remains is a matching in which an
edge is worth its weight less the leaves that its two ends give up, on positive edges only: a smaller problem of the
same kind. Leaves are removed again while that halves the problem, and what is left is solved as a sparse assignment.
Without leaves, scoring 895 mentions of the coreference benchmark executes 1.6 times as many instructions, the start of
Python included.
"""

from collections import Counter
from collections.abc import Hashable, Mapping
from itertools import accumulate
from math import fsum

ClusterPair = tuple[Hashable, Hashable]
"""A gold and a system cluster that overlap: a row and a column."""


def best_matching(weights: Mapping[ClusterPair, float]) -> float:
    """The greatest sum of weights (all positive) over one-to-one matchings of rows and columns."""
    return fsum([weights[edge] for edge in matching(weights)])


def matching(weights: Mapping[ClusterPair, float]) -> list[ClusterPair]:
    """The edges of a matching of the greatest weight."""
    row_degree = Counter([row for row, _ in weights])
    column_degree = Counter([column for _, column in weights])
    row_leaf: dict[Hashable, ClusterPair] = {}
    column_leaf: dict[Hashable, ClusterPair] = {}
    core: list[ClusterPair] = []
    chosen: list[ClusterPair] = []
    for edge, weight in weights.items():
        row, column = edge
        if column_degree[column] == 1:
            if row_degree[row] == 1:
                chosen.append(edge)
            elif row not in row_leaf or weight > weights[row_leaf[row]]:
                row_leaf[row] = edge
        elif row_degree[row] == 1:
            if column not in column_leaf or weight > weights[column_leaf[column]]:
                column_leaf[column] = edge
        else:
            core.append(edge)
    if core:
        gains: dict[ClusterPair, float] = {}
        for edge in core:
            row, column = edge
            given_up = [weights[leaf] for leaf in (row_leaf.get(row), column_leaf.get(column)) if leaf is not None]
            gain = weights[edge] - sum(given_up)
            if gain > 0:
                gains[edge] = gain
        halved = 2 * len(gains) <= len(weights)
        for edge in (matching(gains) if halved else _sparse(gains)) if gains else ():
            chosen.append(edge)
            row_leaf.pop(edge[0], None)
            column_leaf.pop(edge[1], None)
    return [*chosen, *row_leaf.values(), *column_leaf.values()]


def _sparse(weights: Mapping[ClusterPair, float]) -> list[ClusterPair]:
    """The same by a sparse assignment.

    Each row has one more column of its own, which stands for staying free. The solver wants every row matched and no
    zero weights, so 1 is added to every weight: each matching then has the same 1 for each row.
    """
    import numpy as np
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    columns = {column: number for number, column in enumerate(dict.fromkeys([column for _, column in weights]))}
    cells: dict[Hashable, list[tuple[int, float]]] = {}
    for (row, column), weight in weights.items():
        cells.setdefault(row, []).append((columns[column], weight + 1))
    for own, of_row in enumerate(cells.values(), len(columns)):
        of_row.sort()
        of_row.append((own, 1.0))
    # Rows one after another: made of triples, a small matrix would take longer than its solution.
    listed = [cell for of_row in cells.values() for cell in of_row]
    ends = [0, *accumulate(map(len, cells.values()))]
    matrix = csr_array(
        (np.array([weight for _, weight in listed]), np.array([column for column, _ in listed]), np.array(ends)),
        shape=(len(cells), len(columns) + len(cells)),
    )
    partners = dict(zip(cells, min_weight_full_bipartite_matching(matrix, maximize=True)[1].tolist(), strict=True))
    return [(row, column) for row, column in weights if partners[row] == columns[column]]
