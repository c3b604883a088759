"""The contingency table: how many mentions each gold cluster shares with each system cluster.

All coreference measures are functions of it. Clusters are known by their corpus-wide ids, so that tables of documents
add up to the table of a topic or a corpus, in which a cluster that lives in several documents is one again.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, repeat
from typing import Literal, TypeVar

from msgspec import Struct

from karat.errors import Finding, Rule
from karat.model import Document
from karat.tables import Tables
from karat.tables.aligned import AlignedPairs, Alignment

HIDDEN = Rule("links-hidden", "note", "simple-cdec scores them; do not compare numbers of the two settings.")
DROPPED = Rule("singletons-dropped", "note", "Do not compare with numbers that count them.")

T = TypeVar("T")

Singletons = Literal["keep", "drop-gold", "drop-each"]


class Contingency:
    """Sizes of the clusters of each side, and their overlaps; a mention that the other side lacks overlaps nothing."""

    def __init__(
        self,
        gold: Mapping[Hashable, int],
        system: Mapping[Hashable, int],
        overlap: Mapping[tuple[Hashable, Hashable], int],
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
    overlap: Counter[tuple[Hashable, Hashable]] = Counter(
        [(k, systems[mention]) for mention, k in golds.items() if mention in systems]
    )
    return Contingency(Counter(golds.values()), Counter(systems.values()), overlap)


class CorefTable(Struct, frozen=True, cache_hash=True):
    """Wanted: the contingency table under an alignment of mentions."""

    alignment: Alignment
    singletons: Singletons = "keep"

    def make(self, tables: Tables) -> Contingency:
        """Count the clusters of a document, and the aligned mentions they share."""
        aligned: AlignedPairs = tables.get(self.alignment)
        golds = _clusters(tables.pair.gold)
        systems = _clusters(tables.pair.system)
        overlap = Counter([(golds[g], systems[s]) for g, s, _, _ in aligned.pairs])
        return Contingency(Counter(golds), Counter(systems), overlap)

    def add(self, tables: Iterable[Contingency]) -> Contingency:
        """Add sizes and overlaps cluster by cluster."""
        return _sum(tables)

    @property
    def rests_on(self) -> Alignment:
        """Clusters are right or wrong as wholes."""
        return self.alignment

    @property
    def needs_corpus(self) -> bool:
        """A singleton is one in the whole corpus, so that a unit can be counted only when all units are known."""
        return self.singletons != "keep"

    def settled(self, tables: Sequence[Contingency]) -> list[Contingency]:
        """The tables of all units without singletons: gold's from both sides, or each side's own."""
        whole = _sum(tables)
        golds = {cluster for cluster, size in whole.gold.items() if size == 1}
        systems = {cluster for cluster, size in whole.system.items() if size == 1}
        if self.singletons == "drop-gold":
            return [_without_gold(table, golds) for table in tables]
        if self.singletons == "drop-each":
            return [_without_each(table, golds, systems) for table in tables]
        return list(tables)

    def remarks(self, tables: Sequence[Contingency], unit: str) -> Iterator[Finding]:
        """Links that no unit holds, and mentions that leave as singletons."""
        whole = _sum(tables)
        links = [pairs_within(side.values()) for side in (whole.gold, whole.system)]
        within = [
            sum(pairs_within(side.values()) for side in sides)
            for sides in ([table.gold for table in tables], [table.system for table in tables])
        ]
        if links != within:
            gold, system = (f"{all_ - held:,} of {all_:,}" for all_, held in zip(links, within, strict=True))
            found = f"links between {unit}s are not scored: {gold} pairs of coreferent mentions in gold"
            yield HIDDEN.at(f"{found}, {system} in the system")
        if self.singletons != "keep":
            left = _sum(self.settled(tables))
            gold = f"{whole.gold_mentions - left.gold_mentions:,} of {whole.gold_mentions:,} gold mentions"
            system = f"{whole.system_mentions - left.system_mentions:,} of {whole.system_mentions:,} system mentions"
            whose = (
                "that are singletons in gold" if self.singletons == "drop-gold" else "that are their side's singletons"
            )
            yield DROPPED.at(f"mentions {whose} were left out: {gold}, {system}")


def pairs_within(sizes: Iterable[int]) -> int:
    """Σ C2(n) over these sizes: the pairs of mentions inside a cluster."""
    listed = list(sizes)
    return (sum([size * size for size in listed]) - sum(listed)) // 2


def _sum(tables: Iterable[Contingency]) -> Contingency:
    listed = list(tables)
    return Contingency(
        _added([table.gold for table in listed]),
        _added([table.system for table in listed]),
        _added([table.overlap for table in listed]),
    )


def _added(parts: Iterable[Mapping[T, int]]) -> Counter[T]:
    """Counts added up name by name; each name said as often as it counts, since that is counted fastest."""
    return Counter(chain.from_iterable(chain.from_iterable(map(repeat, part, part.values())) for part in parts))


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
