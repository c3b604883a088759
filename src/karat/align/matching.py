"""The best one-to-one matching of clusters, on graphs of any size: what CEAF needs.

A lemma-like system ties thousands of clusters into one component, so no dense matrix is made. A cluster that overlaps
only one other is a leaf, and each cluster needs to remember only its best leaf. What remains is a matching in which an
edge is worth its weight less the leaves that its two ends give up, on positive edges only: small, and solved sparse.
"""

from collections.abc import Hashable, Mapping
from math import fsum

Edge = tuple[Hashable, Hashable]


def best_matching(weights: Mapping[Edge, float]) -> float:
    """The greatest sum of weights (all positive) over one-to-one matchings of rows and columns."""
    row_degree: dict[Hashable, int] = {}
    column_degree: dict[Hashable, int] = {}
    for row, column in weights:
        row_degree[row] = row_degree.get(row, 0) + 1
        column_degree[column] = column_degree.get(column, 0) + 1
    row_leaf: dict[Hashable, float] = {}
    column_leaf: dict[Hashable, float] = {}
    core: list[tuple[Hashable, Hashable, float]] = []
    pairs: list[float] = []
    for (row, column), weight in weights.items():
        if column_degree[column] == 1:
            if row_degree[row] == 1:
                pairs.append(weight)
            elif weight > row_leaf.get(row, 0.0):
                row_leaf[row] = weight
        elif row_degree[row] == 1:
            if weight > column_leaf.get(column, 0.0):
                column_leaf[column] = weight
        else:
            core.append((row, column, weight))
    gains = [
        (row, column, gain)
        for row, column, weight in core
        if (gain := weight - row_leaf.get(row, 0.0) - column_leaf.get(column, 0.0)) > 0
    ]
    chosen = sparse(gains) if len(gains) > 1 else gains
    matched = {(row, column) for row, column, _ in chosen}
    kept_rows = {row for row, _ in matched}
    kept_columns = {column for _, column in matched}
    return fsum(
        [
            *pairs,
            *(weights[edge] for edge in matched),
            *(leaf for row, leaf in row_leaf.items() if row not in kept_rows),
            *(leaf for column, leaf in column_leaf.items() if column not in kept_columns),
        ]
    )


def sparse(gains: list[tuple[Hashable, Hashable, float]]) -> list[tuple[Hashable, Hashable, float]]:
    """The edges of a matching with the greatest gain, by a sparse assignment.

    Each row has one more column of its own, which stands for staying free. The solver wants every row matched and no
    zero weights, so 1 is added to every weight: each matching then has the same 1 for each row.
    """
    import numpy as np
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    rows = {row: number for number, row in enumerate(dict.fromkeys(row for row, _, _ in gains))}
    columns = {column: number for number, column in enumerate(dict.fromkeys(column for _, column, _ in gains))}
    own = range(len(columns), len(columns) + len(rows))
    matrix = csr_array(
        (
            np.array([gain + 1 for _, _, gain in gains] + [1.0] * len(rows)),
            (
                np.array([*(rows[row] for row, _, _ in gains), *range(len(rows))]),
                np.array([*(columns[column] for _, column, _ in gains), *own]),
            ),
        ),
        shape=(len(rows), len(columns) + len(rows)),
    )
    chosen = set(zip(*min_weight_full_bipartite_matching(matrix, maximize=True), strict=True))
    return [edge for edge in gains if (rows[edge[0]], columns[edge[1]]) in chosen]
