"""Meta-mentions paired by overlap: the collapse of PURE-CDEC without a mention that stands for the others.

The mentions that a side puts into one cluster within a document are one meta-mention of that cluster. In each document
the meta-mentions of the two sides are paired one-to-one so that the sum of

    Dice(g, s) = 2 |g ∩ s| / (|g| + |s|)

over the pairs is greatest; an unpaired one is missed, or spurious. No mention is chosen to represent others, so none
can move the score. Where two pairings are equally good, the whole corpus decides: first those clusters that meet in
more documents; then the cluster that lives in more documents, then the one with more mentions, then how its
meta-mentions overlap those of the other side, theirs in turn, and so on (colour refinement). Clusters that even this
cannot tell apart are interchangeable: one is taken first, and whatever hangs on it is told apart by that. The order of
mentions in a text plays no part.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from fractions import Fraction
from functools import cached_property
from math import lcm
from typing import Any

from karat.align.assignment import assignment, components
from karat.plugin import Counted
from karat.tables.contingency import Contingency, CorefTable

Group = tuple[int, int, Hashable]
"""A meta-mention: the document (by number), the side (0 gold, 1 system), the cluster."""


class MetaTable(CorefTable, frozen=True, cache_hash=True):
    """The contingency table of meta-mentions, paired by overlap."""

    @property
    def counted(self) -> Counted:
        """Even a single document is paired as a whole."""
        return "corpus"

    def add(self, tables: Sequence[Contingency]) -> Contingency:
        """Pair the meta-mentions of each document, and count them cluster by cluster."""
        return _paired(tables)


def _paired(documents: Sequence[Contingency]) -> Contingency:
    """The table of meta-mentions, from the tables of single documents."""
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
    """Dice, then documents shared, then the earlier edge: each weighs more than all after it together."""
    unit = lcm(*(dice.denominator for dice, _ in edges.values()))
    first = 1 << len(edges)
    whole = first * (sum(documents for _, documents in edges.values()) + 1)
    return {
        edge: int(dice * unit) * whole + documents * first + (first >> place)
        for place, (edge, (dice, documents)) in enumerate(sorted(edges.items()), 1)
    }


def _ranks(documents: Sequence[Contingency]) -> dict[Group, tuple[int, int]]:
    """Which meta-mention comes first where pairings are equally good: its colour, then the order of clusters."""
    graph = _Graph(documents)
    sizes = {cluster: sum(graph.size[group] for group in groups) for cluster, groups in graph.members.items()}
    colour = graph.refined({g: (-len(graph.members[g[1:]]), -sizes[g[1:]], -size) for g, size in graph.size.items()})
    while chosen := graph.twins(colour):
        colour = graph.refined({group: (own, group[1:] not in chosen) for group, own in colour.items()})
    order = {cluster: place for place, cluster in enumerate(graph.members)}
    return {group: (own, order[group[1:]]) for group, own in colour.items()}


class _Graph:
    """Meta-mentions, the clusters they belong to, and what they share with those of the other side."""

    def __init__(self, documents: Sequence[Contingency]) -> None:
        self.size: dict[Group, int] = {}
        self.met: dict[Group, list[tuple[Group, int]]] = {}
        for number, table in enumerate(documents):
            self.size.update({(number, 0, cluster): size for cluster, size in table.gold.items()})
            self.size.update({(number, 1, cluster): size for cluster, size in table.system.items()})
            for (k, r), shared in table.overlap.items():
                g, s = (number, 0, k), (number, 1, r)
                self.met.setdefault(g, []).append((s, shared))
                self.met.setdefault(s, []).append((g, shared))
        self.members: dict[tuple[int, Hashable], list[Group]] = {}
        for group in self.size:
            self.members.setdefault(group[1:], []).append(group)

    def refined(self, signatures: dict[Group, Any]) -> dict[Group, int]:
        """Colours that tell apart whatever differs in its cluster, in what it meets, and in their colours in turn."""
        colour = _coloured(signatures)
        while True:
            of_cluster = _coloured(
                {cluster: sorted(colour[group] for group in groups) for cluster, groups in self.members.items()}
            )
            met = {group: sorted((shared, colour[other]) for other, shared in met) for group, met in self.met.items()}
            finer = _coloured({g: (own, of_cluster[g[1:]], met.get(g, [])) for g, own in colour.items()})
            if max(finer.values(), default=0) == max(colour.values(), default=0):
                return finer
            colour = finer

    def twins(self, colour: dict[Group, int]) -> set[tuple[int, Hashable]]:
        """One cluster for each part of the graph where two that reach beyond a document still look the same.

        Which of them does not matter, but once one is told from the other, all that hangs on them is told apart, too.
        """
        found: dict[object, tuple[int, Hashable]] = {}
        for met in self.met.values():
            first: dict[int, tuple[int, Hashable]] = {}
            for other, _ in met:
                cluster = other[1:]
                if len(self.members[cluster]) > 1 and first.setdefault(colour[other], cluster) != cluster:
                    found.setdefault(self._part[cluster], cluster)
        return set(found.values())

    @cached_property
    def _part(self) -> dict[tuple[int, Hashable], int]:
        """Clusters that hang together have the same number."""
        part: dict[tuple[int, Hashable], int] = {}
        for number, start in enumerate(self.members):
            waiting = [] if start in part else [start]
            while waiting:
                cluster = waiting.pop()
                if cluster not in part:
                    part[cluster] = number
                    waiting.extend(other[1:] for group in self.members[cluster] for other, _ in self.met.get(group, ()))
        return part


def _coloured(signatures: dict[Any, Any]) -> dict[Any, int]:
    """Equal signatures become equal numbers, smaller ones smaller numbers."""
    numbers: dict[Any, int] = {}
    last, number = None, -1
    for key, signature in sorted(signatures.items(), key=lambda item: item[1]):
        if signature != last:
            last, number = signature, number + 1
        numbers[key] = number
    return numbers
