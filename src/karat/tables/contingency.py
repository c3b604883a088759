"""The contingency table: how many mentions each gold cluster shares with each system cluster.

All coreference measures are functions of it. Clusters are known by their corpus-wide ids, so that tables of documents
add up to the table of a topic or a corpus, in which a cluster that lives in several documents is one again.
"""

from collections.abc import Hashable, Iterable, Sequence
from functools import cached_property
from typing import Literal, TypeVar

from msgspec import Struct

from karat.model import Document
from karat.tables import Tables
from karat.tables.aligned import AlignedPairs, Alignment

Singletons = Literal["keep", "drop-gold", "drop-each"]
K = TypeVar("K", bound=Hashable)


class Contingency:
    """Sizes of the clusters of each side, and their overlaps; a mention that the other side lacks overlaps nothing."""

    def __init__(
        self, gold: dict[Hashable, int], system: dict[Hashable, int], overlap: dict[tuple[Hashable, Hashable], int]
    ) -> None:
        self.gold = gold
        self.system = system
        self.overlap = overlap

    @cached_property
    def gold_mentions(self) -> int:
        """N_k."""
        return sum(self.gold.values())

    @cached_property
    def system_mentions(self) -> int:
        """N_r."""
        return sum(self.system.values())

    @cached_property
    def cells(self) -> list[tuple[int, int, int]]:
        """For each two clusters that share a mention: o(k, r), n(k), n(r)."""
        return [(shared, self.gold[k], self.system[r]) for (k, r), shared in self.overlap.items()]


def contingency(gold: Iterable[Iterable[Hashable]], system: Iterable[Iterable[Hashable]]) -> Contingency:
    """The table of clusters that are in memory. A mention given twice keeps its first cluster."""
    cluster_of: list[dict[Hashable, int]] = []
    for side in (gold, system):
        found: dict[Hashable, int] = {}
        for number, cluster in enumerate(side):
            for mention in cluster:
                found.setdefault(mention, number)
        cluster_of.append(found)
    golds, systems = cluster_of
    overlap: dict[tuple[Hashable, Hashable], int] = {}
    for mention, k in golds.items():
        if mention in systems:
            cell = k, systems[mention]
            overlap[cell] = overlap.get(cell, 0) + 1
    return Contingency(_sizes(list(golds.values())), _sizes(list(systems.values())), overlap)


class CorefTable(Struct, frozen=True):
    """Wanted: the contingency table under an alignment of mentions."""

    alignment: Alignment
    singletons: Singletons = "keep"

    def make(self, tables: Tables) -> Contingency:
        """Count the clusters of a document, and the aligned mentions they share."""
        aligned: AlignedPairs = tables.get(self.alignment)
        golds = _clusters(tables.pair.gold)
        systems = _clusters(tables.pair.system)
        overlap: dict[tuple[Hashable, Hashable], int] = {}
        for g, s, _, _ in aligned.pairs:
            cell = golds[g], systems[s]
            overlap[cell] = overlap.get(cell, 0) + 1
        return Contingency(_sizes(golds), _sizes(systems), overlap)

    def add(self, tables: Iterable[Contingency]) -> Contingency:
        """Add sizes and overlaps cluster by cluster."""
        whole = Contingency({}, {}, {})
        for table in tables:
            _add(whole.gold, table.gold)
            _add(whole.system, table.system)
            _add(whole.overlap, table.overlap)
        return whole

    @property
    def needs_corpus(self) -> bool:
        """A singleton is one in the whole corpus, so that a unit can be counted only when all units are known."""
        return self.singletons != "keep"

    def settled(self, tables: Sequence[Contingency]) -> list[Contingency]:
        """The tables of all units without singletons: gold's from both sides, or each side's own."""
        whole = self.add(tables)
        golds = {cluster for cluster, size in whole.gold.items() if size == 1}
        systems = {cluster for cluster, size in whole.system.items() if size == 1}
        if self.singletons == "drop-gold":
            return [_without_gold(table, golds) for table in tables]
        return [_without_each(table, golds, systems) for table in tables]


def _add(total: dict[K, int], part: dict[K, int]) -> None:
    for key, count in part.items():
        total[key] = total.get(key, 0) + count


def _without_gold(table: Contingency, singletons: set[Hashable]) -> Contingency:
    """Mentions that are singletons in gold leave gold, and the system mentions aligned with them leave the system."""
    system = dict(table.system)
    for (k, r), shared in table.overlap.items():
        if k in singletons:
            system[r] -= shared
    return Contingency(
        {k: size for k, size in table.gold.items() if k not in singletons},
        {r: size for r, size in system.items() if size},
        {cell: shared for cell, shared in table.overlap.items() if cell[0] not in singletons},
    )


def _without_each(table: Contingency, golds: set[Hashable], systems: set[Hashable]) -> Contingency:
    return Contingency(
        {k: size for k, size in table.gold.items() if k not in golds},
        {r: size for r, size in table.system.items() if r not in systems},
        {(k, r): shared for (k, r), shared in table.overlap.items() if k not in golds and r not in systems},
    )


def _clusters(document: Document) -> list[Hashable]:
    """The cluster of each mention; one without is a cluster of its own, known by its place."""
    return [
        mention.cluster if mention.cluster is not None else (document.id, number)
        for number, mention in enumerate(document.mentions)
    ]


def _sizes(clusters: Sequence[Hashable]) -> dict[Hashable, int]:
    sizes: dict[Hashable, int] = {}
    for cluster in clusters:
        sizes[cluster] = sizes.get(cluster, 0) + 1
    return sizes
