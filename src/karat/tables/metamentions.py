"""Meta-mentions paired by overlap: the collapse of PURE-CDEC without a representative mention.

The mentions of one cluster within a document form one meta-mention of that cluster. In each document, the meta-mentions
of the two sides are paired one-to-one so that the sum of

    Dice(g, s) = 2 |g ∩ s| / (|g| + |s|)

over the pairs is greatest; an unpaired one is missed or spurious. No mention represents others, so the choice of a
representative cannot move the score. If two pairings are equally good, the whole corpus decides: first come clusters
that overlap in more documents, then the cluster in more documents, then the one with more mentions, then by how its
meta-mentions overlap those of the other side, those in turn by theirs, and so on (colour refinement). Clusters that
still look the same are interchangeable: one of them is chosen as the first, and refinement goes on from there. The
order of mentions in a text does not matter.
"""

from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property, partial
from math import lcm
from typing import Any

from karat.align.assignment import assignment, components
from karat.plugin import Counted, TableSpec
from karat.tables.colours import Colours
from karat.tables.contingency import Contingency, CorefTable

Group = tuple[int, int, Hashable]
"""A meta-mention: the document (by number), the side (0 gold, 1 system), the cluster."""


class MetaTable(CorefTable, frozen=True, cache_hash=True):
    """The contingency table of meta-mentions, paired by overlap."""

    @property
    def counted(self) -> Counted:
        """Pairing needs the whole corpus, even if the unit is a document."""
        return "corpus"

    def total(self) -> None:
        """None: documents are paired when all are known."""

    def add(self, tables: Sequence[Contingency]) -> Contingency:
        """Pair the meta-mentions of each document, and count them by cluster."""
        return _paired(tables)

    def sums_without(self, tables: Sequence[Contingency], parts: Sequence[int]) -> Iterator[Contingency]:
        """What remains is paired again."""
        return TableSpec.sums_without(self, tables, parts)


def _paired(documents: Sequence[Contingency]) -> Contingency:
    """The table of meta-mentions, from the tables of documents."""
    rank = _ranks(documents)
    shared_documents = Counter(cell for table in documents for cell in table.overlap)
    overlap: Counter[tuple[Hashable, Hashable]] = Counter()
    for number, table in enumerate(documents):
        golds = sorted(table.gold, key=lambda cluster: rank[number, 0, cluster])
        systems = sorted(table.system, key=lambda cluster: rank[number, 1, cluster])
        gold_place = {cluster: place for place, cluster in enumerate(golds)}
        system_place = {cluster: place for place, cluster in enumerate(systems)}
        edges = {
            (gold_place[k], system_place[r]): (Fraction(2 * shared, table.gold[k] + table.system[r]), (k, r))
            for (k, r), shared in table.overlap.items()
        }
        for component in components(edges):
            weights = _weights({edge: (edges[edge][0], shared_documents[edges[edge][1]]) for edge in component})
            overlap.update(edges[edge][1] for edge in assignment(weights))
    gold: Counter[Hashable] = Counter(cluster for table in documents for cluster in table.gold)
    system: Counter[Hashable] = Counter(cluster for table in documents for cluster in table.system)
    return Contingency(gold, system, overlap)


def _weights(edges: dict[tuple[int, int], tuple[Fraction, int]]) -> dict[tuple[int, int], int]:
    """Dice, then shared documents: the first outweighs the sum of all that follow. Then the assignment goes by rank."""
    unit = lcm(*(dice.denominator for dice, _ in edges.values()))
    whole = sum(documents for _, documents in edges.values()) + 1
    return {edge: int(dice * unit) * whole + documents for edge, (dice, documents) in edges.items()}


def _ranks(documents: Sequence[Contingency]) -> dict[Group, tuple[int, int]]:
    """The rank of each meta-mention among equally good pairings: its colour, then the order of clusters."""
    graph = _Graph(documents)
    sizes = {cluster: sum(graph.size[group] for group in groups) for cluster, groups in graph.members.items()}
    colour = graph.refined({g: (-len(graph.members[g[1:]]), -sizes[g[1:]], -size) for g, size in graph.size.items()})
    while chosen := graph.twins(colour):
        last = len(chosen)
        colour = graph.refined({group: (own, chosen.get(group[1:], last)) for group, own in colour.items()})
    order = {cluster: place for place, cluster in enumerate(graph.members)}
    return {group: (own, order[group[1:]]) for group, own in colour.items()}


class _Graph:
    """Meta-mentions, the clusters they belong to, and what they share with those of the other side."""

    def __init__(self, documents: Sequence[Contingency]) -> None:
        self.size: dict[Group, int] = {}
        self.overlaps: dict[Group, list[tuple[Group, int]]] = {}
        for number, table in enumerate(documents):
            self.size.update({(number, 0, cluster): size for cluster, size in table.gold.items()})
            self.size.update({(number, 1, cluster): size for cluster, size in table.system.items()})
            for (k, r), shared in table.overlap.items():
                g, s = (number, 0, k), (number, 1, r)
                self.overlaps.setdefault(g, []).append((s, shared))
                self.overlaps.setdefault(s, []).append((g, shared))
        self.members: dict[tuple[int, Hashable], list[Group]] = {}
        for group in self.size:
            self.members.setdefault(group[1:], []).append(group)

    def refined(self, labels: dict[Group, Any]) -> dict[Group, int]:
        """Colours that differ if the meta-mentions differ in cluster, in overlaps, or in the colours of those."""
        colours = Colours(labels)
        moved: Collection[Group] = self.size
        while moved:
            touched = {group for one in moved for group in self.members[one[1:]]}
            touched.update(other for one in moved for other, _ in self.overlaps.get(one, ()))
            moved = colours.split(touched, partial(self._label, colours.of, {}))
        return colours.ranks()

    def _label(
        self, colour: dict[Group, int], of_cluster: dict[tuple[int, Hashable], list[int]], group: Group
    ) -> tuple[list[int], list[tuple[int, int]]]:
        """What distinguishes a meta-mention from others of its colour; `of_cluster` is filled on the way."""
        cluster = group[1:]
        if cluster not in of_cluster:
            of_cluster[cluster] = sorted(colour[member] for member in self.members[cluster])
        return of_cluster[cluster], sorted((shared, colour[other]) for other, shared in self.overlaps.get(group, ()))

    def twins(self, colour: dict[Group, int]) -> dict[tuple[int, Hashable], int]:
        """A place for clusters of several documents that still have the same colour, in one spot of each component.

        Which of them comes first does not matter; it distinguishes everything connected with them. All clusters that
        overlap exactly the same get their places at once.
        """
        chosen: dict[object, tuple[int, Hashable]] = {}
        for others in self.overlaps.values():
            first: dict[int, tuple[int, Hashable]] = {}
            for other, _ in others:
                cluster = other[1:]
                if len(self.members[cluster]) > 1 and first.setdefault(colour[other], cluster) != cluster:
                    chosen.setdefault(self._component[cluster], cluster)
        return {
            twin: place
            for cluster in chosen.values()
            for place, twin in enumerate(
                (cluster, *(one for one in self._alike[self._shape(cluster)] if one != cluster))
            )
        }

    @cached_property
    def _alike(self) -> dict[Hashable, list[tuple[int, Hashable]]]:
        """Clusters of several documents by what they overlap."""
        alike: dict[Hashable, list[tuple[int, Hashable]]] = {}
        for cluster, groups in self.members.items():
            if len(groups) > 1:
                alike.setdefault(self._shape(cluster), []).append(cluster)
        return alike

    def _shape(self, cluster: tuple[int, Hashable]) -> Hashable:
        """What a cluster overlaps, document by document, and by how much."""
        groups = self.members[cluster]
        return frozenset((g[0], self.size[g], frozenset(self.overlaps.get(g, ()))) for g in groups)

    @cached_property
    def _component(self) -> dict[tuple[int, Hashable], int]:
        """The number of each cluster's connected component."""
        component: dict[tuple[int, Hashable], int] = {}
        for number, start in enumerate(self.members):
            waiting = [] if start in component else [start]
            while waiting:
                cluster = waiting.pop()
                if cluster not in component:
                    component[cluster] = number
                    waiting.extend(
                        other[1:] for group in self.members[cluster] for other, _ in self.overlaps.get(group, ())
                    )
        return component
