"""The contingency table: how many mentions each gold cluster shares with each system cluster.

All coreference measures are functions of it. Cluster ids are corpus-wide, so the tables of documents add up to the
table of a topic or a corpus, in which a cluster of several documents is one cluster.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from functools import cached_property
from itertools import chain, repeat
from operator import itemgetter
from typing import Any, Literal, TypeVar

from msgspec import Struct

from karat.align.matching import Overlaps
from karat.errors import Report, Rule
from karat.plugin import AlignmentSpec, Counted, ErrorsOf, Tables, TableSpec, UnitOfEvaluation
from karat.tables.clusters import ClusterKeys

HIDDEN = Rule("links-hidden", "note", "simple-cdec scores them; do not compare scores of the two settings.")
DROPPED = Rule("singletons-dropped", "note", "Do not compare with scores that include singletons.")

T = TypeVar("T")

Singletons = Literal["keep", "drop-gold", "drop-each"]
"""What happens to singletons: keep all, drop gold's from both sides, or drop each side's own."""

Listed = Sequence[T] | dict[T, int]
"""Names, as often as each counts, or each with its count."""


class Contingency:
    """The sizes of the clusters of each side, and their overlaps. Unmatched mentions count in sizes only.

    What is given as a list is counted when it is asked for: most tables of documents are only added up.
    """

    def __init__(
        self, gold: Listed[Hashable], system: Listed[Hashable], overlap: Listed[tuple[Hashable, Hashable]]
    ) -> None:
        self.listed = gold, system, overlap

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process is given the counts."""
        return Contingency, (self.gold, self.system, self.overlap)

    @cached_property
    def gold(self) -> dict[Hashable, int]:
        """n(k)."""
        return _counted(self.listed[0])

    @cached_property
    def system(self) -> dict[Hashable, int]:
        """n(r)."""
        return _counted(self.listed[1])

    @cached_property
    def overlap(self) -> dict[tuple[Hashable, Hashable], int]:
        """o(k, r) of clusters that share a mention."""
        return _counted(self.listed[2])

    @cached_property
    def gold_mentions(self) -> int:
        """N_k."""
        return _total(self.listed[0])

    @cached_property
    def system_mentions(self) -> int:
        """N_r."""
        return _total(self.listed[1])

    @cached_property
    def shared_mentions(self) -> int:
        """m: the mentions that both sides have."""
        return _total(self.listed[2])

    @cached_property
    def gold_links(self) -> int:
        """Σ C2(n(k)): pairs of mentions within a gold cluster."""
        return pairs_within(self.gold.values())

    @cached_property
    def system_links(self) -> int:
        """Σ C2(n(r))."""
        return pairs_within(self.system.values())

    @cached_property
    def shared_links(self) -> int:
        """Σ C2(o(k, r)): the links that both sides have."""
        return pairs_within(self.overlap.values())

    @cached_property
    def graph(self) -> Overlaps:
        """The pairs of clusters that share a mention, by the numbers of the clusters."""
        golds, systems = (dict(zip(side, range(len(side)), strict=True)) for side in (self.gold, self.system))
        return Overlaps([golds[k] for k, _ in self.overlap], [systems[r] for _, r in self.overlap])

    @cached_property
    def cells(self) -> list[tuple[int, int, int]]:
        """For each pair of clusters that share a mention: o(k, r), n(k), n(r)."""
        golds, systems = [*self.gold.values()], [*self.system.values()]
        sizes = [golds[k] for k in self.graph.rows], [systems[r] for r in self.graph.columns]
        return [*zip(self.overlap.values(), *sizes, strict=True)]

    @cached_property
    def gold_found(self) -> dict[Hashable, int]:
        """The mentions of each gold cluster that the system has, if any: Σ o(k, r) over r."""
        return Counter(map(itemgetter(0), _repeated(self.listed[2])))

    @cached_property
    def system_found(self) -> dict[Hashable, int]:
        """The mentions of each system cluster that gold has, if any: Σ o(k, r) over k."""
        return Counter(map(itemgetter(1), _repeated(self.listed[2])))


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
    overlap: list[tuple[Hashable, Hashable]] = [
        (k, systems[mention]) for mention, k in golds.items() if mention in systems
    ]
    return Contingency([*golds.values()], [*systems.values()], overlap)


class ClusterOverlaps(TableSpec[Contingency], Struct, frozen=True, cache_hash=True):
    """The contingency table of a document; all choices of singletons and units share it."""

    aligned: AlignmentSpec

    def make(self, tables: Tables) -> Contingency:
        """The cluster of each mention, and both clusters of each aligned pair."""
        golds, systems = tables.get(ClusterKeys())
        return Contingency(golds, systems, [(golds[g], systems[s]) for g, s, _, _ in tables.get(self.aligned).pairs])


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
        return Contingency([], [], [])

    def extend(self, total: Contingency, table: Contingency) -> None:
        """Names are collected in lists, and counted where they come counted from another process."""
        gold, system, overlap = total.listed
        total.listed = (
            _extended(gold, table.listed[0]),
            _extended(system, table.listed[1]),
            _extended(overlap, table.listed[2]),
        )

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
        links = [whole.gold_links, whole.system_links]
        within = [sum([table.gold_links for table in tables]), sum([table.system_links for table in tables])]
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
    golds, systems, overlaps = zip(*[table.listed for table in tables], strict=True)
    return Contingency(_added(golds), _added(systems), _added(overlaps))


def _added(parts: Iterable[Listed[T]]) -> Counter[T]:
    """Counts added up by name. Repeating each name as often as it counts is the fastest way to add."""
    return Counter(chain.from_iterable(map(_repeated, parts)))


def _repeated(part: Listed[T]) -> Iterable[T]:
    return chain.from_iterable(map(repeat, part, part.values())) if isinstance(part, dict) else part


def _extended(total: Listed[T], part: Listed[T]) -> Listed[T]:
    """A total with a further part, which must not be changed."""
    if isinstance(total, list) and not isinstance(part, dict):
        total.extend(part)
        return total
    counted = total if isinstance(total, Counter) else Counter(total)
    counted.update(_repeated(part))
    return counted


def _total(part: Listed[T]) -> int:
    return sum(part.values()) if isinstance(part, dict) else len(part)


def _counted(part: Listed[T]) -> dict[T, int]:
    return part if isinstance(part, dict) else Counter(part)


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
