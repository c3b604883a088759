"""Outcomes of the coreference measures: what each cluster, or each two clusters that share mentions, contributed.

    mention, B3, BLANC   cells of the table: a gold and a system cluster with the mentions they share; what is left of
                         a cluster stands alone
    MUC, LEA             clusters
    CEAF                 clusters that the best matching pairs, and those that it leaves alone

The outcomes of a measure sum to its counts (`measures.py`), whose formulas these are, cell by cell. What earns all
that it could is a match, what earns less is partial.
"""

from collections.abc import Callable, Iterator
from math import fsum

from karat.counts import PrecisionRecall
from karat.match.sparse import matching
from karat.plugin import ClusterItem, Contingency, Outcome, graded

Outcomes = Iterator[Outcome[PrecisionRecall]]


class _Clusters:
    """Makes outcomes of the clusters of a table."""

    def __init__(self, table: Contingency) -> None:
        self._golds = [ClusterItem(*cluster) for cluster in zip(table.golds, table.gold_sizes, strict=True)]
        self._systems = [ClusterItem(*cluster) for cluster in zip(table.systems, table.system_sizes, strict=True)]

    def both(self, row: int, column: int, counts: PrecisionRecall) -> Outcome[PrecisionRecall]:
        is_right = counts.precision_num == counts.precision_den and counts.recall_num == counts.recall_den
        return Outcome(self._golds[row], self._systems[column], counts, "match" if is_right else "partial")

    def gold(self, row: int, num: float, den: float) -> Outcome[PrecisionRecall]:
        return Outcome(self._golds[row], None, PrecisionRecall(0, 0, num, den), graded(num, den, nothing="miss"))

    def system(self, column: int, num: float, den: float) -> Outcome[PrecisionRecall]:
        counts = PrecisionRecall(num, den, 0, 0)
        return Outcome(None, self._systems[column], counts, graded(num, den, nothing="spurious"))


def _cells(table: Contingency) -> Iterator[tuple[int, int, int]]:
    """The gold cluster, the system cluster and the shared mentions of each cell."""
    return zip(table.counts.rows, table.counts.columns, table.shares, strict=True)


def mention(table: Contingency) -> Outcomes:
    """Mentions that two clusters share, and those of each that the other side lacks."""
    clusters = _Clusters(table)
    for row, column, shared in _cells(table):
        yield clusters.both(row, column, PrecisionRecall(shared, shared, shared, shared))
    yield from _alone(table, clusters)


def _alone(table: Contingency, clusters: _Clusters) -> Outcomes:
    """Mentions of each cluster that the other side lacks."""
    golds, systems = table.found
    for row, size in enumerate(table.gold_sizes):
        if left := size - golds[row]:
            yield clusters.gold(row, 0, left)
    for column, size in enumerate(table.system_sizes):
        if left := size - systems[column]:
            yield clusters.system(column, 0, left)


def muc(table: Contingency) -> Outcomes:
    """Each cluster: the links of a spanning tree that are left when the other side partitions it, of n - 1.

    A singleton has no link and contributes nothing.
    """
    clusters = _Clusters(table)
    golds, systems = [0] * len(table.golds), [0] * len(table.systems)
    for row, column, shared in _cells(table):
        golds[row] += shared - 1
        systems[column] += shared - 1
    for row, size in enumerate(table.gold_sizes):
        if size > 1:
            yield clusters.gold(row, golds[row], size - 1)
    for column, size in enumerate(table.system_sizes):
        if size > 1:
            yield clusters.system(column, systems[column], size - 1)


def b3(table: Contingency) -> Outcomes:
    """The mentions of a cell: each is worth the share of its cluster that is in the cell."""
    clusters = _Clusters(table)
    for row, column, shared in _cells(table):
        square = shared * shared
        counts = PrecisionRecall(square / table.system_sizes[column], shared, square / table.gold_sizes[row], shared)
        yield clusters.both(row, column, counts)
    yield from _alone(table, clusters)


def ceafm(table: Contingency) -> Outcomes:
    """Clusters of the best matching by φ3 = o; φ3 of a cluster and itself is its size."""
    clusters = _Clusters(table)
    golds, systems = dict(enumerate(table.gold_sizes)), dict(enumerate(table.system_sizes))
    for cell in matching(table.counts.rows, table.counts.columns, table.shares):
        row, column, shared = table.counts.rows[cell], table.counts.columns[cell], table.shares[cell]
        yield clusters.both(row, column, PrecisionRecall(shared, systems.pop(column), shared, golds.pop(row)))
    for row, size in golds.items():
        yield clusters.gold(row, 0, size)
    for column, size in systems.items():
        yield clusters.system(column, 0, size)


def ceafe(table: Contingency) -> Outcomes:
    """Clusters of the best matching by φ4 = 2o / (n(k) + n(r)); φ4 of a cluster and itself is 1."""
    clusters = _Clusters(table)
    golds, systems = dict.fromkeys(range(len(table.golds))), dict.fromkeys(range(len(table.systems)))
    similarities = [2 * shared / (gold + system) for shared, gold, system in table.cells]
    for cell in matching(table.counts.rows, table.counts.columns, similarities):
        row, column, similarity = table.counts.rows[cell], table.counts.columns[cell], similarities[cell]
        del golds[row], systems[column]
        yield clusters.both(row, column, PrecisionRecall(similarity, 1, similarity, 1))
    for row in golds:
        yield clusters.gold(row, 0, 1)
    for column in systems:
        yield clusters.system(column, 0, 1)


def blanc_links(table: Contingency) -> Outcomes:
    """Pairs of mentions inside a cell, which both sides link; and those that only a cluster of one side links."""
    clusters = _Clusters(table)
    golds, systems = ([_pairs(size) for size in side] for side in (table.gold_sizes, table.system_sizes))
    for row, column, shared in _cells(table):
        pairs = _pairs(shared)
        golds[row] -= pairs
        systems[column] -= pairs
        if pairs:
            yield clusters.both(row, column, PrecisionRecall(pairs, pairs, pairs, pairs))
    for row, missed in enumerate(golds):
        if missed:
            yield clusters.gold(row, 0, missed)
    for column, spurious in enumerate(systems):
        if spurious:
            yield clusters.system(column, 0, spurious)


def blanc_nonlinks(table: Contingency) -> Outcomes:
    """Pairs of mentions across clusters: half a pair for each of its mentions, summed over a cell."""
    clusters = _Clusters(table)
    common = table.shared_mentions
    golds, systems = table.found
    gold_others = [table.gold_mentions - size for size in table.gold_sizes]
    system_others = [table.system_mentions - size for size in table.system_sizes]
    for row, column, shared in _cells(table):
        right = shared * (common - golds[row] - systems[column] + shared) / 2
        counts = PrecisionRecall(right, shared * system_others[column] / 2, right, shared * gold_others[row] / 2)
        yield clusters.both(row, column, counts)
    for row, size in enumerate(table.gold_sizes):
        if left := size - golds[row]:
            yield clusters.gold(row, 0, left * gold_others[row] / 2)
    for column, size in enumerate(table.system_sizes):
        if left := size - systems[column]:
            yield clusters.system(column, 0, left * system_others[column] / 2)


def lea(table: Contingency) -> Outcomes:
    """Each cluster: its size times the share of its links that is right; a singleton's link is to itself."""
    clusters = _Clusters(table)
    golds: list[list[float]] = [[] for _ in table.golds]
    systems: list[list[float]] = [[] for _ in table.systems]
    for row, column, shared in _cells(table):
        n_k, n_r = table.gold_sizes[row], table.system_sizes[column]
        if n_k == n_r == 1:
            golds[row].append(1)
            systems[column].append(1)
        elif shared > 1:
            golds[row].append(shared * (shared - 1) / (n_k - 1))
            systems[column].append(shared * (shared - 1) / (n_r - 1))
    for row, parts in enumerate(golds):
        yield clusters.gold(row, fsum(parts), table.gold_sizes[row])
    for column, parts in enumerate(systems):
        yield clusters.system(column, fsum(parts), table.system_sizes[column])


def _pairs(number: int) -> int:
    return number * (number - 1) // 2


OUTCOMES: dict[str, Callable[[Contingency], Outcomes]] = {
    "mention": mention,
    "muc": muc,
    "b3": b3,
    "ceafm": ceafm,
    "ceafe": ceafe,
    "blanc.links": blanc_links,
    "blanc.nonlinks": blanc_nonlinks,
    "lea": lea,
}
