"""Outcomes of the coreference measures: what each cluster, or each two clusters that share mentions, contributed.

    mention, B3, BLANC   cells of the table: a gold and a system cluster with the mentions they share; what is left of
                         a cluster stands alone
    MUC, LEA             clusters
    CEAF                 clusters that the best matching pairs, and those that it leaves alone

The outcomes of a measure sum to its counts (`karat.measures.coref`), whose formulas these are, cell by cell. What earns
all that it could is a match, what earns less is partial.
"""

from collections.abc import Callable, Hashable, Iterator
from math import fsum

from karat.counts import PrecisionRecall
from karat.plugin import ClusterItem, Outcome, graded
from karat.tables.contingency import Contingency

Outcomes = Iterator[Outcome[PrecisionRecall]]


class _Clusters:
    """Makes outcomes of the clusters of a table."""

    def __init__(self, table: Contingency) -> None:
        self._golds = {k: ClusterItem(k, size) for k, size in table.gold.items()}
        self._systems = {r: ClusterItem(r, size) for r, size in table.system.items()}

    def both(self, k: Hashable, r: Hashable, counts: PrecisionRecall) -> Outcome[PrecisionRecall]:
        is_right = counts.precision_num == counts.precision_den and counts.recall_num == counts.recall_den
        return Outcome(self._golds[k], self._systems[r], counts, "match" if is_right else "partial")

    def gold(self, k: Hashable, num: float, den: float) -> Outcome[PrecisionRecall]:
        return Outcome(self._golds[k], None, PrecisionRecall(0, 0, num, den), graded(num, den, nothing="miss"))

    def system(self, r: Hashable, num: float, den: float) -> Outcome[PrecisionRecall]:
        return Outcome(None, self._systems[r], PrecisionRecall(num, den, 0, 0), graded(num, den, nothing="spurious"))


def mention(table: Contingency) -> Outcomes:
    """Mentions that two clusters share, and those of each that the other side lacks."""
    clusters = _Clusters(table)
    for (k, r), shared in table.overlap.items():
        yield clusters.both(k, r, PrecisionRecall(shared, shared, shared, shared))
    yield from _alone(table, clusters)


def _alone(table: Contingency, clusters: _Clusters) -> Outcomes:
    """Mentions of each cluster that the other side lacks."""
    for k, size in table.gold.items():
        if left := size - table.gold_found.get(k, 0):
            yield clusters.gold(k, 0, left)
    for r, size in table.system.items():
        if left := size - table.system_found.get(r, 0):
            yield clusters.system(r, 0, left)


def muc(table: Contingency) -> Outcomes:
    """Each cluster: the links of a spanning tree that are left when the other side partitions it, of n - 1.

    A singleton has no link and contributes nothing.
    """
    clusters = _Clusters(table)
    golds, systems = dict.fromkeys(table.gold, 0), dict.fromkeys(table.system, 0)
    for (k, r), shared in table.overlap.items():
        golds[k] += shared - 1
        systems[r] += shared - 1
    for k, links in golds.items():
        if table.gold[k] > 1:
            yield clusters.gold(k, links, table.gold[k] - 1)
    for r, links in systems.items():
        if table.system[r] > 1:
            yield clusters.system(r, links, table.system[r] - 1)


def b3(table: Contingency) -> Outcomes:
    """The mentions of a cell: each is worth the share of its cluster that is in the cell."""
    clusters = _Clusters(table)
    for (k, r), shared in table.overlap.items():
        square = shared * shared
        counts = PrecisionRecall(square / table.system[r], shared, square / table.gold[k], shared)
        yield clusters.both(k, r, counts)
    yield from _alone(table, clusters)


def ceafm(table: Contingency) -> Outcomes:
    """Clusters of the best matching by φ3 = o; φ3 of a cluster and itself is its size."""
    clusters = _Clusters(table)
    golds, systems = dict(table.gold), dict(table.system)
    overlaps = [*table.overlap.items()]
    for number in table.graph.matching(table.shares):
        (k, r), shared = overlaps[number]
        yield clusters.both(k, r, PrecisionRecall(shared, systems.pop(r), shared, golds.pop(k)))
    for k, size in golds.items():
        yield clusters.gold(k, 0, size)
    for r, size in systems.items():
        yield clusters.system(r, 0, size)


def ceafe(table: Contingency) -> Outcomes:
    """Clusters of the best matching by φ4 = 2o / (n(k) + n(r)); φ4 of a cluster and itself is 1."""
    clusters = _Clusters(table)
    golds, systems = dict(table.gold), dict(table.system)
    overlaps = [*table.overlap]
    similarities = [2 * shared / (gold + system) for shared, gold, system in table.cells]
    for number in table.graph.matching(similarities):
        k, r = overlaps[number]
        del golds[k], systems[r]
        yield clusters.both(k, r, PrecisionRecall(similarities[number], 1, similarities[number], 1))
    for k in golds:
        yield clusters.gold(k, 0, 1)
    for r in systems:
        yield clusters.system(r, 0, 1)


def blanc_links(table: Contingency) -> Outcomes:
    """Pairs of mentions inside a cell, which both sides link; and those that only a cluster of one side links."""
    clusters = _Clusters(table)
    golds, systems = ({name: _pairs(size) for name, size in side.items()} for side in (table.gold, table.system))
    for (k, r), shared in table.overlap.items():
        pairs = _pairs(shared)
        golds[k] -= pairs
        systems[r] -= pairs
        if pairs:
            yield clusters.both(k, r, PrecisionRecall(pairs, pairs, pairs, pairs))
    for k, missed in golds.items():
        if missed:
            yield clusters.gold(k, 0, missed)
    for r, spurious in systems.items():
        if spurious:
            yield clusters.system(r, 0, spurious)


def blanc_nonlinks(table: Contingency) -> Outcomes:
    """Pairs of mentions across clusters: half a pair for each of its mentions, summed over a cell."""
    clusters = _Clusters(table)
    common = table.shared_mentions
    for (k, r), shared in table.overlap.items():
        right = shared * (common - table.gold_found[k] - table.system_found[r] + shared) / 2
        gold = shared * (table.gold_mentions - table.gold[k]) / 2
        system = shared * (table.system_mentions - table.system[r]) / 2
        yield clusters.both(k, r, PrecisionRecall(right, system, right, gold))
    for k, size in table.gold.items():
        if left := size - table.gold_found.get(k, 0):
            yield clusters.gold(k, 0, left * (table.gold_mentions - size) / 2)
    for r, size in table.system.items():
        if left := size - table.system_found.get(r, 0):
            yield clusters.system(r, 0, left * (table.system_mentions - size) / 2)


def lea(table: Contingency) -> Outcomes:
    """Each cluster: its size times the share of its links that is right; a singleton's link is to itself."""
    clusters = _Clusters(table)
    golds: dict[Hashable, list[float]] = {k: [] for k in table.gold}
    systems: dict[Hashable, list[float]] = {r: [] for r in table.system}
    for (k, r), shared in table.overlap.items():
        n_k, n_r = table.gold[k], table.system[r]
        if n_k == n_r == 1:
            golds[k].append(1)
            systems[r].append(1)
        elif shared > 1:
            golds[k].append(shared * (shared - 1) / (n_k - 1))
            systems[r].append(shared * (shared - 1) / (n_r - 1))
    for k, parts in golds.items():
        yield clusters.gold(k, fsum(parts), table.gold[k])
    for r, parts in systems.items():
        yield clusters.system(r, fsum(parts), table.system[r])


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
