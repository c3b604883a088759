"""Meta-mentions paired by overlap: the collapse of PURE-CDEC without a representative mention.

The mentions of one cluster within a document form one meta-mention of that cluster. In each document, the meta-mentions
of the two sides are paired one-to-one so that the sum of

    Dice(g, s) = 2 |g ∩ s| / (|g| + |s|)

over the pairs is greatest; an unpaired one is missed or spurious. No mention represents others, so the choice of a
representative cannot move the score. If two pairings are equally good, the whole corpus decides: first come clusters
that overlap in more documents, then the cluster in more documents, then the one with more mentions, then by how its
meta-mentions overlap those of the other side, those in turn by theirs, and so on (colour refinement). Clusters that
still look the same are nearly always interchangeable: the one mentioned first comes first.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from fractions import Fraction
from itertools import groupby
from math import lcm
from typing import Any

from msgspec.structs import replace

from karat.families.coref.table import CorefTable
from karat.match.assignment import assignment, components
from karat.plugin import Contingency, Tables
from karat.problems import Report


class MetaTable(CorefTable, frozen=True, cache_hash=True):
    """The contingency table of meta-mentions, paired by overlap.

    Until it is finished, its clusters are meta-mentions, each named by its document and its cluster. Pairing needs the
    whole corpus, even if the unit is a document.
    """

    counted = "corpus"

    def make(self, tables: Tables) -> Contingency:
        """Name the meta-mentions of one document."""
        table, document = CorefTable.make(self, tables), tables.pair.gold.id
        golds, systems = ([(document, cluster) for cluster in side] for side in (table.golds, table.systems))
        return replace(table, golds=golds, systems=systems)

    def finish(self, tables: Sequence[Contingency], report: Report) -> Sequence[Contingency]:
        """Pair the meta-mentions of each unit, and count them by cluster."""
        return CorefTable.finish(self, [_paired(_Graph(table)) for table in tables], report)


class _Graph:
    """Meta-mentions by index (gold's, then the system's), with their clusters and overlaps."""

    def __init__(self, table: Contingency) -> None:
        names: list[Any] = [*table.golds, *table.systems]
        first_system = len(table.golds)
        self.documents: list[str] = [document for document, _ in names]
        self.sizes = [*table.gold_sizes, *table.system_sizes]
        self.cells = [
            (row, first_system + column) for row, column in zip(table.counts.rows, table.counts.columns, strict=True)
        ]
        self.shares = table.shares
        self.overlaps: dict[int, list[tuple[int, int]]] = {}
        """The meta-mentions of the other side that share mentions with one, and how many."""
        for (gold, system), shared in zip(self.cells, self.shares, strict=True):
            self.overlaps.setdefault(gold, []).append((system, shared))
            self.overlaps.setdefault(system, []).append((gold, shared))
        index: dict[tuple[bool, Hashable], int] = {}
        self.cluster_of = [
            index.setdefault((place < first_system, cluster), len(index)) for place, (_, cluster) in enumerate(names)
        ]
        self.clusters = [cluster for _, cluster in index]
        """The name of each cluster, gold's first."""
        self.golds = sum(is_gold for is_gold, _ in index)
        self.members: list[list[int]] = [[] for _ in index]
        """The meta-mentions of each cluster."""
        for meta_mention, cluster in enumerate(self.cluster_of):
            self.members[cluster].append(meta_mention)

    def ranks(self) -> list[tuple[int, int]]:
        """Rank meta-mentions among equally good pairings: by colour, then by the order of clusters.

        Colour refinement: split colours by the colours of the cluster's members and of overlapping meta-mentions.
        """
        totals = [sum(self.sizes[member] for member in members) for members in self.members]
        colour: list[int] = []
        finer = _order(
            [
                (-len(self.members[cluster]), -totals[cluster], -size)
                for cluster, size in zip(self.cluster_of, self.sizes, strict=True)
            ]
        )
        while finer != colour:
            colour = finer
            of_cluster = [tuple(sorted([colour[member] for member in members])) for members in self.members]
            finer = _order(
                [
                    (
                        colour[place],
                        of_cluster[cluster],
                        tuple(sorted([(shared, colour[other]) for other, shared in self.overlaps.get(place, ())])),
                    )
                    for place, cluster in enumerate(self.cluster_of)
                ]
            )
        return [*zip(colour, self.cluster_of, strict=True)]


def _order(labels: Sequence[Any]) -> list[int]:
    """The place of each label among the different ones."""
    place = {label: place for place, label in enumerate(sorted(set(labels)))}
    return [place[label] for label in labels]


def _paired(graph: _Graph) -> Contingency:
    """Pair the meta-mentions of each document."""
    ranks = graph.ranks()
    ends = [(graph.cluster_of[gold], graph.cluster_of[system]) for gold, system in graph.cells]
    shared_documents = Counter(ends)
    overlap: Counter[tuple[int, int]] = Counter()
    cells = zip(graph.cells, graph.shares, ends, strict=True)
    for _, in_document in groupby(cells, lambda cell: graph.documents[cell[0][0]]):
        listed = [*in_document]
        ranked = sorted({end for cell, _, _ in listed for end in cell}, key=ranks.__getitem__)
        place = {meta_mention: index for index, meta_mention in enumerate(ranked)}
        edges = {
            (place[gold], place[system]): (Fraction(2 * shared, graph.sizes[gold] + graph.sizes[system]), clusters)
            for (gold, system), shared, clusters in listed
        }
        for component in components(edges):
            weights = _weights({edge: (edges[edge][0], shared_documents[edges[edge][1]]) for edge in component})
            overlap.update(edges[edge][1] for edge in assignment(weights))
    clusters = graph.clusters
    documents = [*zip(clusters, map(len, graph.members), strict=True)]
    return Contingency.by_name(
        dict(documents[: graph.golds]),
        dict(documents[graph.golds :]),
        {(clusters[gold], clusters[system]): shared for (gold, system), shared in overlap.items()},
    )


def _weights(edges: dict[tuple[int, int], tuple[Fraction, int]]) -> dict[tuple[int, int], int]:
    """Weight an edge by Dice, then shared documents: the first outweighs the sum of all that follow.

    Then the assignment goes by rank.
    """
    unit = lcm(*(dice.denominator for dice, _ in edges.values()))
    whole = sum(documents for _, documents in edges.values()) + 1
    return {edge: int(dice * unit) * whole + documents for edge, (dice, documents) in edges.items()}
