"""The contingency table: how many mentions each gold cluster shares with each system cluster.

All coreference measures are functions of it. Cluster ids are corpus-wide, so the tables of documents add up to the
table of a topic or a corpus, in which a cluster of several documents is one cluster.
"""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Literal

from msgspec import Struct

from karat.errors import Report, Rule
from karat.plugin import AlignmentSpec, Counted, ErrorsOf, Tables, TableSpec, UnitOfEvaluation
from karat.tables.cluster_overlaps import Contingency, ContingencyTotal, ListedContingency, sums_without
from karat.tables.clusters import ClusterKeys

__all__ = ["ClusterOverlaps", "Contingency", "CorefTable", "Singletons", "contingency"]

HIDDEN = Rule("links-hidden", "note", "simple-cdec scores them; do not compare scores of the two settings.")
DROPPED = Rule("singletons-dropped", "note", "Do not compare with scores that include singletons.")

Singletons = Literal["keep", "drop-gold", "drop-each"]
"""What happens to singletons: keep all, drop gold's from both sides, or drop each side's own."""


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
    place = {mention: number for number, mention in enumerate(systems)}
    pairs = [(number, place[mention], 1.0, 0) for number, mention in enumerate(golds) if mention in place]
    return ListedContingency([*golds.values()], [*systems.values()], pairs)


class ClusterOverlaps(TableSpec[Contingency], Struct, frozen=True, cache_hash=True):
    """The contingency table of a document; all choices of singletons and units share it."""

    aligned: AlignmentSpec

    def make(self, tables: Tables) -> Contingency:
        """The cluster of each mention, and both clusters of each aligned pair."""
        return ListedContingency(*tables.get(ClusterKeys()), tables.get(self.aligned).pairs)


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

    def total(self) -> Contingency | None:
        """Sizes and overlaps are sums."""
        return ContingencyTotal()

    def extend(self, total: Contingency, table: Contingency) -> None:
        """Names are numbered, and numbers collected."""
        assert isinstance(total, ContingencyTotal), "made by `total`"
        total.extend(table)

    def sums_without(self, tables: Sequence[Contingency], parts: Sequence[int]) -> Iterator[Contingency]:
        """Tables are added up once."""
        return sums_without(tables, parts)

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
        gold_left, system_left = sum([one.gold_mentions for one in kept]), sum([one.system_mentions for one in kept])
        gold = f"{whole.gold_mentions - gold_left:,} of {whole.gold_mentions:,} gold mentions"
        system = f"{whole.system_mentions - system_left:,} of {whole.system_mentions:,} system mentions"
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
        links = [whole.gold_links, whole.system_links]
        within = [sum([table.gold_links for table in tables]), sum([table.system_links for table in tables])]
        if links != within:
            gold, system = (f"{every - held:,} of {every:,}" for every, held in zip(links, within, strict=True))
            message = f"links between {self.unit}s are not scored: {gold} pairs of coreferent mentions in gold"
            report(HIDDEN.at(f"{message}, {system} in the system"))


def _sum(tables: Sequence[Contingency]) -> Contingency:
    if len(tables) == 1:
        return tables[0]
    total = ContingencyTotal()
    for table in tables:
        total.extend(table)
    return total


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
