"""The contingency table: how many mentions each gold cluster shares with each system cluster.

All coreference measures are functions of it. Cluster ids are corpus-wide, so the tables of documents add up to the
table of a topic or a corpus, in which a cluster of several documents is one cluster.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain, repeat
from typing import Literal, TypeVar

from msgspec import Struct

from karat.errors import Report, Rule
from karat.plugin import AlignmentSpec, Counted, ErrorsOf, Tables, TableSpec, UnitOfEvaluation
from karat.tables.clusters import ClusterKeys

HIDDEN = Rule("links-hidden", "note", "simple-cdec scores them; do not compare scores of the two settings.")
DROPPED = Rule("singletons-dropped", "note", "Do not compare with scores that include singletons.")

T = TypeVar("T")

Singletons = Literal["keep", "drop-gold", "drop-each"]
"""What happens to singletons: keep all, drop gold's from both sides, or drop each side's own."""


class Contingency:
    """The sizes of the clusters of each side, and their overlaps. Unmatched mentions count in sizes only."""

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
        """For each pair of clusters that share a mention: o(k, r), n(k), n(r)."""
        return [(shared, self.gold[k], self.system[r]) for (k, r), shared in self.overlap.items()]

    @cached_property
    def gold_found(self) -> dict[Hashable, int]:
        """The mentions of each gold cluster that the system has, if any: Σ o(k, r) over r."""
        numbers: dict[Hashable, int] = {}
        for (k, _), shared in self.overlap.items():
            numbers[k] = numbers.get(k, 0) + shared
        return numbers

    @cached_property
    def system_found(self) -> dict[Hashable, int]:
        """The mentions of each system cluster that gold has, if any: Σ o(k, r) over k."""
        numbers: dict[Hashable, int] = {}
        for (_, r), shared in self.overlap.items():
            numbers[r] = numbers.get(r, 0) + shared
        return numbers


def contingency(gold: Iterable[Iterable[Hashable]], system: Iterable[Iterable[Hashable]]) -> Contingency:
    """The table of clusters in memory. A mention in two clusters of one side counts in the first."""
    cluster_of: list[dict[Hashable, int]] = []
    for side in (gold, system):
        first: dict[Hashable, int] = {}
        for number, cluster in enumerate(side):
            for mention in cluster:
                first.setdefault(mention, number)
        cluster_of.append(first)
    golds, systems = cluster_of
    overlap: Counter[tuple[Hashable, Hashable]] = Counter(
        [(k, systems[mention]) for mention, k in golds.items() if mention in systems]
    )
    return Contingency(Counter(golds.values()), Counter(systems.values()), overlap)


class ClusterOverlaps(TableSpec[Contingency], Struct, frozen=True, cache_hash=True):
    """The contingency table of a document; all choices of singletons and units share it."""

    aligned: AlignmentSpec

    def make(self, tables: Tables) -> Contingency:
        """Count the clusters of a document, and the aligned mentions they share."""
        golds, systems = tables.get(ClusterKeys())
        overlap: Counter[tuple[Hashable, Hashable]] = Counter(
            [(golds[g], systems[s]) for g, s, _, _ in tables.get(self.aligned).pairs]
        )
        return Contingency(Counter(golds), Counter(systems), overlap)


class CorefTable(TableSpec[Contingency], Struct, frozen=True, cache_hash=True):
    """The contingency table of a unit under an alignment of mentions."""

    aligned: AlignmentSpec
    singletons: Singletons = "keep"
    unit: UnitOfEvaluation = "document"

    def make(self, tables: Tables) -> Contingency:
        """The table of one document."""
        return tables.get(ClusterOverlaps(self.aligned))

    def add(self, tables: Sequence[Contingency]) -> Contingency:
        """Add sizes and overlaps cluster by cluster."""
        return _sum(tables)

    @property
    def adds_sums(self) -> bool:
        """Sizes and overlaps are sums."""
        return True

    @property
    def counted(self) -> Counted:
        """Singletons, and links between units, are known only when the whole corpus is."""
        return "unit" if self.singletons == "keep" and self.unit == "document" else "corpus"

    @property
    def alignment(self) -> AlignmentSpec:
        """The alignment behind it: mentions of a cluster are right or wrong together."""
        return self.aligned

    @property
    def errors_of(self) -> ErrorsOf:
        """Clusters: mentions, and which of them are together."""
        return "clusters"

    def finish(self, tables: Sequence[Contingency], report: Report) -> Sequence[Contingency]:
        """The tables of all units without dropped singletons; reports what is not scored."""
        whole = _sum(tables)
        self._report_hidden_links(tables, whole, report)
        if self.singletons == "keep":
            return tables
        kept = self.drop_singletons(tables, whole)
        left = _sum(kept)
        gold = f"{whole.gold_mentions - left.gold_mentions:,} of {whole.gold_mentions:,} gold mentions"
        system = f"{whole.system_mentions - left.system_mentions:,} of {whole.system_mentions:,} system mentions"
        whose = "that are singletons in gold" if self.singletons == "drop-gold" else "that are singletons on their side"
        report(DROPPED.at(f"mentions {whose} are not scored: {gold}, {system}"))
        return kept

    def drop_singletons(self, tables: Sequence[Contingency], whole: Contingency) -> list[Contingency]:
        """The tables without the mentions that are singletons in the whole corpus."""
        golds = {cluster for cluster, size in whole.gold.items() if size == 1}
        if self.singletons == "drop-gold":
            return [_without_gold(table, golds) for table in tables]
        systems = {cluster for cluster, size in whole.system.items() if size == 1}
        return [_without_each(table, golds, systems) for table in tables]

    def _report_hidden_links(self, tables: Sequence[Contingency], whole: Contingency, report: Report) -> None:
        links = [pairs_within(side.values()) for side in (whole.gold, whole.system)]
        within = [
            sum(pairs_within(side.values()) for side in sides)
            for sides in ([table.gold for table in tables], [table.system for table in tables])
        ]
        if links != within:
            gold, system = (f"{every - held:,} of {every:,}" for every, held in zip(links, within, strict=True))
            message = f"links between {self.unit}s are not scored: {gold} pairs of coreferent mentions in gold"
            report(HIDDEN.at(f"{message}, {system} in the system"))


def pairs_within(sizes: Iterable[int]) -> int:
    """Σ C2(n) over these sizes: the number of pairs of mentions within a cluster."""
    listed = list(sizes)
    return (sum([size * size for size in listed]) - sum(listed)) // 2


def _sum(tables: Sequence[Contingency]) -> Contingency:
    if len(tables) == 1:
        return tables[0]
    return Contingency(
        _added([table.gold for table in tables]),
        _added([table.system for table in tables]),
        _added([table.overlap for table in tables]),
    )


def _added(parts: Iterable[Mapping[T, int]]) -> Counter[T]:
    """Counts added up by name. Repeating each name as often as it counts is the fastest way to add."""
    return Counter(chain.from_iterable(chain.from_iterable(map(repeat, part, part.values())) for part in parts))


def _without_gold(table: Contingency, singletons: set[Hashable]) -> Contingency:
    """The table without gold singletons, and without the system mentions that are aligned with them."""
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
