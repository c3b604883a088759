"""The formulas of coreference on the contingency table: o(k, r) mentions are in gold cluster k and system cluster r.

    MUC    R = Σ (o - 1) / Σ (n(k) - 1)                          Vilain et al. 1995
    B3     R = Σ o² / n(k) / N_k                                 Bagga and Baldwin 1998
    CEAF   R = max over one-to-one matchings Σ φ / Σ φ(k, k)     Luo 2005; φ3 = o, φ4 = 2o / (n(k) + n(r))
    BLANC  links and non-links, each with R and P                Recasens and Hovy 2011, Luo et al. 2014
    LEA    R = Σ n(k) · cl(k) / ml(k) / N_k                      Moosavi and Strube 2016

Precision is recall with the sides swapped. An unmatched mention stays in its cluster: it counts in sizes and links, but
overlaps nothing.

Each formula stands beside its outcomes, which sum to its counts:

    mention, B3, BLANC   cells of the table: a gold and a system cluster with the mentions they share; what is left of
                         a cluster stands alone
    MUC, LEA             clusters
    CEAF                 clusters that the best matching pairs, and those that it leaves alone

An outcome that earns all it can is a match, one that earns less is partial.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import comb, fsum

from msgspec import Struct

from karat.match.sparse import best_matching, matching
from karat.plugin import ClusterItem, Contingency, Outcome, PrecisionRecall, graded
from karat.plugin.contingency import pairs_within

Outcomes = Iterator[Outcome[PrecisionRecall]]
Earned = tuple[int, float, float]
"""A cluster by its index, what it earned, and what it could have earned."""


class _Clusters:
    """Makes the outcomes of a table: of two clusters together (`both`), or of clusters of one side (`alone`)."""

    def __init__(self, table: Contingency) -> None:
        self._golds = [ClusterItem(*cluster) for cluster in zip(table.golds, table.gold_sizes, strict=True)]
        self._systems = [ClusterItem(*cluster) for cluster in zip(table.systems, table.system_sizes, strict=True)]

    def both(self, row: int, column: int, counts: PrecisionRecall) -> Outcome[PrecisionRecall]:
        is_right = counts.precision_num == counts.precision_den and counts.recall_num == counts.recall_den
        return Outcome(self._golds[row], self._systems[column], counts, "match" if is_right else "partial")

    def alone(self, golds: Iterable[Earned], systems: Iterable[Earned]) -> Outcomes:
        for row, num, den in golds:
            yield Outcome(self._golds[row], None, PrecisionRecall(0, 0, num, den), graded(num, den, nothing="miss"))
        for column, num, den in systems:
            label = graded(num, den, nothing="spurious")
            yield Outcome(None, self._systems[column], PrecisionRecall(num, den, 0, 0), label)


def _cells(table: Contingency) -> Iterator[tuple[int, int, int]]:
    """The gold cluster, the system cluster and the shared mentions of each cell."""
    return zip(table.counts.rows, table.counts.columns, table.shares, strict=True)


def mention(table: Contingency) -> PrecisionRecall:
    """Mentions that both sides have, over the mentions of each side."""
    shared = table.shared_mentions
    return PrecisionRecall(shared, table.system_mentions, shared, table.gold_mentions)


def mention_outcomes(table: Contingency) -> Outcomes:
    """Mentions that two clusters share, and those of each that the other side lacks."""
    clusters = _Clusters(table)
    for row, column, shared in _cells(table):
        yield clusters.both(row, column, PrecisionRecall(shared, shared, shared, shared))
    yield from _alone(table, clusters)


def _alone(table: Contingency, clusters: _Clusters) -> Outcomes:
    """Mentions of each cluster that the other side lacks."""
    golds, systems = table.matched
    return clusters.alone(
        [(row, 0, left) for row, left in _unmatched(table.gold_sizes, golds)],
        [(column, 0, left) for column, left in _unmatched(table.system_sizes, systems)],
    )


def _unmatched(sizes: Sequence[int], matched: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Clusters with mentions that the other side lacks, and how many."""
    for index, (size, shared) in enumerate(zip(sizes, matched, strict=True)):
        if size > shared:
            yield index, size - shared


def muc(table: Contingency) -> PrecisionRecall:
    """Σ (o - 1) over Σ (n - 1) of each side."""
    links = table.shared_mentions - len(table.shares)
    golds, systems = len(table.gold_sizes), len(table.system_sizes)
    return PrecisionRecall(links, table.system_mentions - systems, links, table.gold_mentions - golds)


def muc_outcomes(table: Contingency) -> Outcomes:
    """Each cluster: the links of a spanning tree that are left when the other side partitions it, of n - 1.

    A singleton has no link and contributes nothing.
    """
    clusters = _Clusters(table)
    golds, systems = [0] * len(table.golds), [0] * len(table.systems)
    for row, column, shared in _cells(table):
        golds[row] += shared - 1
        systems[column] += shared - 1
    yield from clusters.alone(
        [(row, golds[row], size - 1) for row, size in enumerate(table.gold_sizes) if size > 1],
        [(column, systems[column], size - 1) for column, size in enumerate(table.system_sizes) if size > 1],
    )


def b3(table: Contingency) -> PrecisionRecall:
    """Σ o² / n over the mentions of each side."""
    shares, golds, systems = table.cells
    return PrecisionRecall(
        fsum([shared * shared / system for shared, system in zip(shares, systems, strict=True)]),
        table.system_mentions,
        fsum([shared * shared / gold for shared, gold in zip(shares, golds, strict=True)]),
        table.gold_mentions,
    )


def b3_outcomes(table: Contingency) -> Outcomes:
    """The mentions of a cell: each is worth the share of its cluster that is in the cell."""
    clusters = _Clusters(table)
    for row, column, shared in _cells(table):
        square = shared * shared
        counts = PrecisionRecall(square / table.system_sizes[column], shared, square / table.gold_sizes[row], shared)
        yield clusters.both(row, column, counts)
    yield from _alone(table, clusters)


def ceafm(table: Contingency) -> PrecisionRecall:
    """The best matching by φ3 = o, over mentions."""
    best = best_matching(table.counts.rows, table.counts.columns, table.shares)
    return PrecisionRecall(best, table.system_mentions, best, table.gold_mentions)


def ceafm_outcomes(table: Contingency) -> Outcomes:
    """Clusters of the best matching by φ3 = o; φ3 of a cluster and itself is its size."""
    clusters = _Clusters(table)
    golds, systems = dict(enumerate(table.gold_sizes)), dict(enumerate(table.system_sizes))
    for cell in matching(table.counts.rows, table.counts.columns, table.shares):
        row, column, shared = table.counts.rows[cell], table.counts.columns[cell], table.shares[cell]
        yield clusters.both(row, column, PrecisionRecall(shared, systems.pop(column), shared, golds.pop(row)))
    yield from clusters.alone(
        [(row, 0, size) for row, size in golds.items()], [(column, 0, size) for column, size in systems.items()]
    )


def ceafe(table: Contingency) -> PrecisionRecall:
    """The best matching by φ4 = 2o / (n(k) + n(r)), over clusters."""
    best = best_matching(table.counts.rows, table.counts.columns, _similarities(table))
    return PrecisionRecall(best, len(table.system_sizes), best, len(table.gold_sizes))


def _similarities(table: Contingency) -> list[float]:
    """φ4 of each cell."""
    return [2 * shared / (gold + system) for shared, gold, system in zip(*table.cells, strict=True)]


def ceafe_outcomes(table: Contingency) -> Outcomes:
    """Clusters of the best matching by φ4 = 2o / (n(k) + n(r)); φ4 of a cluster and itself is 1."""
    clusters = _Clusters(table)
    golds, systems = dict.fromkeys(range(len(table.golds))), dict.fromkeys(range(len(table.systems)))
    similarities = _similarities(table)
    for cell in matching(table.counts.rows, table.counts.columns, similarities):
        row, column, similarity = table.counts.rows[cell], table.counts.columns[cell], similarities[cell]
        del golds[row], systems[column]
        yield clusters.both(row, column, PrecisionRecall(similarity, 1, similarity, 1))
    yield from clusters.alone([(row, 0, 1) for row in golds], [(column, 0, 1) for column in systems])


def blanc_links(table: Contingency) -> PrecisionRecall:
    """Pairs of mentions within a cluster."""
    return PrecisionRecall(table.shared_links, table.system_links, table.shared_links, table.gold_links)


def blanc_links_outcomes(table: Contingency) -> Outcomes:
    """Pairs of mentions inside a cell, which both sides link; and those that only a cluster of one side links."""
    clusters = _Clusters(table)
    golds, systems = ([comb(size, 2) for size in side] for side in (table.gold_sizes, table.system_sizes))
    for row, column, shared in _cells(table):
        pairs = comb(shared, 2)
        golds[row] -= pairs
        systems[column] -= pairs
        if pairs:
            yield clusters.both(row, column, PrecisionRecall(pairs, pairs, pairs, pairs))
    yield from clusters.alone(
        [(row, 0, missed) for row, missed in enumerate(golds) if missed],
        [(column, 0, spurious) for column, spurious in enumerate(systems) if spurious],
    )


def blanc_nonlinks(table: Contingency) -> PrecisionRecall:
    """Pairs of mentions across clusters: |N_k ∩ N_r| = C2(m) - Σ C2(a_k) - Σ C2(b_r) + Σ C2(o), m in common."""
    within_gold, within_system = map(pairs_within, table.matched)
    right = comb(table.shared_mentions, 2) - within_gold - within_system + table.shared_links
    system = comb(table.system_mentions, 2) - table.system_links
    gold = comb(table.gold_mentions, 2) - table.gold_links
    return PrecisionRecall(right, system, right, gold)


def blanc_nonlinks_outcomes(table: Contingency) -> Outcomes:
    """Pairs of mentions across clusters: half a pair for each of its mentions, summed over a cell."""
    clusters = _Clusters(table)
    common = table.shared_mentions
    golds, systems = table.matched
    gold_others = [table.gold_mentions - size for size in table.gold_sizes]
    system_others = [table.system_mentions - size for size in table.system_sizes]
    for row, column, shared in _cells(table):
        right = shared * (common - golds[row] - systems[column] + shared) / 2
        counts = PrecisionRecall(right, shared * system_others[column] / 2, right, shared * gold_others[row] / 2)
        yield clusters.both(row, column, counts)
    yield from clusters.alone(
        [(row, 0, left * gold_others[row] / 2) for row, left in _unmatched(table.gold_sizes, golds)],
        [(column, 0, left * system_others[column] / 2) for column, left in _unmatched(table.system_sizes, systems)],
    )


def lea(table: Contingency) -> PrecisionRecall:
    """Importance n times the share of links that is right: n · Σ C2(o) / C2(n) = Σ o (o - 1) / (n - 1).

    A singleton has one link, to itself, which is right if the mention is also a singleton on the other side.
    """
    shares, golds, systems = table.cells
    alone = [gold * system for gold, system in zip(golds, systems, strict=True)].count(1)
    linked = [cell for cell in zip(shares, golds, systems, strict=True) if cell[0] > 1]
    return PrecisionRecall(
        fsum([alone, *[o * (o - 1) / (system - 1) for o, _, system in linked]]),
        table.system_mentions,
        fsum([alone, *[o * (o - 1) / (gold - 1) for o, gold, _ in linked]]),
        table.gold_mentions,
    )


def lea_outcomes(table: Contingency) -> Outcomes:
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
    yield from clusters.alone(
        [(row, fsum(parts), table.gold_sizes[row]) for row, parts in enumerate(golds)],
        [(column, fsum(parts), table.system_sizes[column]) for column, parts in enumerate(systems)],
    )


class Formula(Struct, frozen=True):
    """A coreference measure: its counts, and what each cluster or cell contributed to them."""

    count: Callable[[Contingency], PrecisionRecall]
    outcomes: Callable[[Contingency], Outcomes]


FORMULAS = {
    "mention": Formula(mention, mention_outcomes),
    "muc": Formula(muc, muc_outcomes),
    "b3": Formula(b3, b3_outcomes),
    "ceafm": Formula(ceafm, ceafm_outcomes),
    "ceafe": Formula(ceafe, ceafe_outcomes),
    "blanc.links": Formula(blanc_links, blanc_links_outcomes),
    "blanc.nonlinks": Formula(blanc_nonlinks, blanc_nonlinks_outcomes),
    "lea": Formula(lea, lea_outcomes),
}
