"""The best one-to-one matching of clusters, on graphs of any size, for CEAF (`assignment` is the exact solver).

A lemma-like system connects thousands of clusters in one component, so no dense matrix is made. A cluster that overlaps
only one other is a leaf, and each cluster needs to remember only its best leaf. What remains is a matching in which an
edge has its weight less that of the leaves that its two ends give up, on positive edges only: a smaller problem of the
same kind. Leaves are removed again while that halves the problem, and what is left is solved as a sparse assignment.
Without leaves, scoring 895 mentions of the coreference benchmark executes 1.6 times as many instructions, the start of
Python included.
"""

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import accumulate
from math import fsum
from typing import TYPE_CHECKING

from karat.plugin.contingency import MANY, occurrences

if TYPE_CHECKING:  # numpy is imported where it is used
    import numpy as np
    from numpy.typing import NDArray


def best_matching(rows: Sequence[int], columns: Sequence[int], weights: Sequence[float]) -> float:
    """Return the greatest sum of weights (all positive) over one-to-one matchings of rows and columns."""
    if len(weights) < MANY:
        return fsum([weights[edge] for edge in matching(rows, columns, weights, solve=_few_or_sparse)])
    import numpy as np

    edges = np.asarray(rows), np.asarray(columns), np.asarray(weights)
    return fsum(edges[2][_of_many(*edges)].tolist())


Solve = Callable[[Sequence[int], Sequence[int], Sequence[float]], Sequence[int]]
"""From rows, columns and weights of edges to the edges of a matching."""


def matching(
    rows: Sequence[int], columns: Sequence[int], weights: Sequence[float], *, solve: Solve | None = None
) -> list[int]:
    """Return the edges of a matching of the greatest weight; each edge joins a row and a column, numbered from 0.

    `solve` solves what is left without leaves.
    """
    row_degree, column_degree = occurrences(rows), occurrences(columns)
    chosen: list[int] = []
    row_leaves: list[int] = []
    """Edges whose column overlaps no other row, and the row other columns."""
    column_leaves: list[int] = []
    core: list[int] = []
    for edge, (row, column) in enumerate(zip(rows, columns, strict=True)):
        if column_degree[column] == 1:
            (chosen if row_degree[row] == 1 else row_leaves).append(edge)
        else:
            (column_leaves if row_degree[row] == 1 else core).append(edge)
    if len(core) == len(rows):  # no leaves
        return [*(solve or _sparse)(rows, columns, weights)] if core else []
    row_leaf, of_row = _best(row_leaves, rows, weights, len(row_degree))
    column_leaf, of_column = _best(column_leaves, columns, weights, len(column_degree))
    gains: dict[int, float] = {}
    for edge in core:
        gain = weights[edge] - (of_row[rows[edge]] + of_column[columns[edge]])
        if gain > 0:
            gains[edge] = gain
    if gains:
        edges = [*gains]
        rows_left, columns_left = [rows[edge] for edge in edges], [columns[edge] for edge in edges]
        left = rows_left, columns_left, [*gains.values()]
        has_leaves = 2 * len(gains) <= len(rows)
        for index in matching(*left, solve=solve) if has_leaves else (solve or _sparse)(*left):
            chosen.append(edges[index])
            row_leaf.pop(rows_left[index], None)
            column_leaf.pop(columns_left[index], None)
    return [*chosen, *row_leaf.values(), *column_leaf.values()]


def _best(
    leaves: Sequence[int], clusters: Sequence[int], weights: Sequence[float], count: int
) -> tuple[dict[int, int], list[float]]:
    """Return the best leaf of each cluster that has any, and its weight for each cluster (0 without a leaf)."""
    best: dict[int, int] = {}
    worth = [0.0] * count
    for edge in leaves:
        if weights[edge] > worth[clusters[edge]]:
            best[clusters[edge]] = edge
            worth[clusters[edge]] = weights[edge]
    return best, worth


def _of_many(
    rows: "NDArray[np.intp]", columns: "NDArray[np.intp]", weights: "NDArray[np.float64]"
) -> "NDArray[np.intp]":
    """Return a matching of the same weight as `matching`: `--ci` of a large unit takes half the time."""
    import numpy as np

    row_alone, column_alone = (np.bincount(side)[side] == 1 for side in (rows, columns))
    core = np.flatnonzero(~(row_alone | column_alone))
    if len(core) == len(rows):
        return np.asarray(_sparse(rows.tolist(), columns.tolist(), weights.tolist()), np.intp)
    row_leaf, of_row = _best_of_many(np.flatnonzero(column_alone & ~row_alone), rows, weights)
    column_leaf, of_column = _best_of_many(np.flatnonzero(row_alone & ~column_alone), columns, weights)
    gains = weights[core] - (of_row[rows[core]] + of_column[columns[core]])
    edges, gains = core[gains > 0], gains[gains > 0]
    if len(edges):
        left = rows[edges], columns[edges], gains
        has_leaves = 2 * len(edges) <= len(rows)
        edges = edges[_of_many(*left) if has_leaves else _sparse(*[side.tolist() for side in left])]
        row_leaf[rows[edges]] = column_leaf[columns[edges]] = -1
    leaves = np.concatenate([row_leaf, column_leaf])
    return np.concatenate([np.flatnonzero(row_alone & column_alone), edges, leaves[leaves >= 0]])


def _best_of_many(
    leaves: "NDArray[np.intp]", clusters: "NDArray[np.intp]", weights: "NDArray[np.float64]"
) -> "tuple[NDArray[np.intp], NDArray[np.float64]]":
    """Return the best leaf of each cluster (-1 if it has none), and its weight (0 without a leaf)."""
    import numpy as np

    best = np.full(clusters.max() + 1, -1)
    worth = np.zeros(len(best))
    increasing = leaves[np.argsort(weights[leaves], kind="stable")]
    best[clusters[increasing]] = increasing  # the last assignment, that of the greatest weight, counts
    worth[clusters[increasing]] = weights[increasing]
    return best, worth


FEW = 4
"""Rows, and columns, of a core that is solved without numpy and scipy, whose import takes longer than a small score."""
NEAR = 1e-9


def _few_or_sparse(rows: Sequence[int], columns: Sequence[int], weights: Sequence[float]) -> Sequence[int]:
    """Solve a core by dynamic programming over sets of columns if it is small, and else as a sparse assignment.

    The sum must not depend on the solver: where two matchings nearly tie, the rounding of their weights would decide,
    so that the solver of all other cores does. Whole numbers are exact.
    """
    place = {column: 1 << index for index, column in enumerate(dict.fromkeys(columns))}
    edges_of: dict[int, list[tuple[int, int, float]]] = {}
    for edge, (row, column, weight) in enumerate(zip(rows, columns, weights, strict=True)):
        edges_of.setdefault(row, []).append((edge, place[column], weight))
    if len(place) > FEW or len(edges_of) > FEW:
        return _sparse(rows, columns, weights)
    best: dict[int, tuple[float, bool, tuple[int, ...]]] = {0: (0.0, False, ())}
    """For each set of columns: the greatest sum, whether another one is near it, and the edges."""
    for edges in edges_of.values():
        for taken, (total, is_tied, chosen) in [*best.items()]:
            for edge, column, weight in edges:
                if not taken & column:
                    found = total + weight, is_tied, (*chosen, edge)
                    key = taken | column
                    best[key] = _better(best[key], found) if key in best else found
    _, is_tied, chosen = reduce(_better, best.values())
    return _sparse(rows, columns, weights) if is_tied and any(weight % 1 for weight in weights) else chosen


def _better(
    one: tuple[float, bool, tuple[int, ...]], other: tuple[float, bool, tuple[int, ...]]
) -> tuple[float, bool, tuple[int, ...]]:
    better = max(one, other)
    return (better[0], True, better[2]) if abs(one[0] - other[0]) < NEAR else better


def _sparse(rows: Sequence[int], columns: Sequence[int], weights: Sequence[float]) -> list[int]:
    """Solve a sparse assignment.

    Each row has one more column of its own, which a free row takes. The solver wants every row matched and no zero
    weights, so 1 is added to every weight: each matching then has the same 1 for each row.
    """
    import numpy as np
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    place = {column: index for index, column in enumerate(dict.fromkeys(columns))}
    cells: dict[int, list[tuple[int, float]]] = {}
    for row, column, weight in zip(rows, columns, weights, strict=True):
        cells.setdefault(row, []).append((place[column], weight + 1))
    for free, of_row in enumerate(cells.values(), len(place)):
        of_row.sort()
        of_row.append((free, 1.0))
    # Rows one after another: made of triples, a small matrix would take longer than its solution.
    listed = [cell for of_row in cells.values() for cell in of_row]
    ends = [0, *accumulate(map(len, cells.values()))]
    matrix = csr_array(
        (np.array([weight for _, weight in listed]), np.array([column for column, _ in listed]), np.array(ends)),
        shape=(len(cells), len(place) + len(cells)),
    )
    partners = dict(zip(cells, min_weight_full_bipartite_matching(matrix, maximize=True)[1].tolist(), strict=True))
    both = enumerate(zip(rows, columns, strict=True))
    return [edge for edge, (row, column) in both if partners[row] == place[column]]
