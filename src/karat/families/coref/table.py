"""The contingency tables of units: adding those of documents, dropping singletons, leaving groups out."""

from array import array
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.structs import replace

from karat.match.alignment import ClusterKeys
from karat.model import Mention
from karat.plugin import AlignmentSpec, Contingency, Counted, Tables, TableSpec, UnitOfEvaluation
from karat.plugin.contingency import ClusterCounts, indexes
from karat.problems import Report, Rule

if TYPE_CHECKING:  # numpy is imported where it is used
    import numpy as np
    from numpy.typing import NDArray

HIDDEN = Rule("links-hidden", "note", "simple-cdec scores them; do not compare scores of the two settings.")
DROPPED = Rule("singletons-dropped", "note", "Do not compare with scores that include singletons.")

SMALL = 12
"""Limit on the mentions of a table whose counts are cached: larger tables are rarely equal."""
Singletons = Literal["keep", "drop-gold", "drop-each"]
"""Treatment of singletons: keep all, drop gold's from both sides, or drop each side's own."""


def contingency(gold: Iterable[Collection[Hashable]], system: Iterable[Collection[Hashable]]) -> Contingency:
    """Make the table of clusters in memory; on each side, a mention is in one cluster."""
    golds, systems = [*filter(None, gold)], [*filter(None, system)]
    gold_of = {mention: index for index, cluster in enumerate(golds) for mention in cluster}
    system_of = {mention: index for index, cluster in enumerate(systems) for mention in cluster}
    shared = [mention for mention in gold_of if mention in system_of]
    return Contingency(
        range(len(golds)),
        range(len(systems)),
        [*gold_of.values()],
        [*system_of.values()],
        [gold_of[mention] for mention in shared],
        [system_of[mention] for mention in shared],
    )


class ClusterOverlaps(TableSpec[Contingency], Struct, frozen=True, cache_hash=True):
    """The contingency table of a document, which `CorefTable`s with any choice of singletons and unit share."""

    aligned: AlignmentSpec
    kinds: tuple[str, ...] = ()
    """The kinds of mentions that are in clusters; empty: all."""

    def make(self, tables: Tables) -> Contingency:
        """Count the clusters of the mentions, and both clusters of each aligned pair."""
        keys, aligned = tables.get(ClusterKeys()), tables.get(self.aligned)
        if self.kinds:
            golds, systems = (
                [key for key, mention in zip(side, mentions, strict=True) if mention.kind in self.kinds]
                for side, mentions in zip(keys, (aligned.gold, aligned.system), strict=True)
            )
            gold_index, system_index = self._indexes(aligned.gold), self._indexes(aligned.system)
            pairs = [
                (gold_index[g], system_index[s], similarity, bits)
                for g, s, similarity, bits in aligned.pairs
                if g in gold_index and s in system_index
            ]
            return Contingency.of_mentions(golds, systems, pairs)
        table = Contingency.of_mentions(*keys, aligned.pairs)
        for others in aligned.others:
            if Contingency.of_mentions(*keys, others).overlap != table.overlap:
                return replace(table, tied=1)
        return table

    def _indexes(self, mentions: Sequence[Mention]) -> dict[int, int]:
        """The places of the mentions that are in clusters, each with its index among these."""
        places = (place for place, mention in enumerate(mentions) if mention.kind in self.kinds)
        return {place: index for index, place in enumerate(places)}


class CorefTable(TableSpec[Contingency], Struct, frozen=True, cache_hash=True):
    """The contingency table of a unit under an alignment of mentions."""

    alignment: AlignmentSpec
    singletons: Singletons = "keep"
    unit: UnitOfEvaluation = "document"
    kinds: tuple[str, ...] = ()
    """The kinds of mentions that are in clusters; empty: all."""

    errors_of = "clusters"

    def make(self, tables: Tables) -> Contingency:
        """Make the table of one document."""
        return tables.get(ClusterOverlaps(self.alignment, self.kinds))

    def shape(self, table: Contingency) -> Hashable | None:
        """Return the table without names, if it is small, as tables of parts of documents (`--by`) are."""
        if len(table.gold_of) + len(table.system_of) > SMALL:
            return None
        sides = tuple(table.gold_of), tuple(table.system_of), tuple(table.shared_gold), tuple(table.shared_system)
        return len(table.golds), len(table.systems), sides

    def add(self, tables: Sequence[Contingency]) -> Contingency:
        """Add tables; clusters of the same name become one."""
        return add(tables)

    def leave_out(self, tables: Sequence[Contingency], groups: Sequence[int]) -> Iterator[Contingency]:
        """Add all tables once, and take each group out of the sum."""
        return leave_out(tables, groups)

    @property
    def counted(self) -> Counted:
        """Singletons, and links between units, are known only when the whole corpus is."""
        return "unit" if self.singletons == "keep" and self.unit == "document" else "corpus"

    def kept_items(self, table: Contingency) -> tuple[int, int, int] | None:
        """Count all but singletons."""
        if self.singletons == "keep":
            return None
        return table.gold_mentions, table.system_mentions, table.shared_mentions

    def finish(self, tables: Sequence[Contingency], report: Report) -> Sequence[Contingency]:
        """Drop singletons from the tables of all units, and report what is not scored."""
        whole = add(tables)
        self._report_hidden_links(tables, whole, report)
        if self.singletons == "keep":
            return tables
        kept = self.drop_singletons(tables, whole)
        gold_left = sum([table.gold_mentions for table in kept])
        system_left = sum([table.system_mentions for table in kept])
        gold = f"{whole.gold_mentions - gold_left:,} of {whole.gold_mentions:,} gold mentions"
        system = f"{whole.system_mentions - system_left:,} of {whole.system_mentions:,} system mentions"
        whose = "that are singletons in gold" if self.singletons == "drop-gold" else "that are singletons on their side"
        report(DROPPED.at(f"mentions {whose} are not scored: {gold}, {system}"))
        return kept

    def drop_singletons(self, tables: Sequence[Contingency], whole: Contingency) -> list[Contingency]:
        """Drop the mentions that are singletons in the whole corpus."""
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


def add(tables: Sequence[Contingency]) -> Contingency:
    """Number the clusters of all tables together, and put their mentions together."""
    if len(tables) == 1:
        return tables[0]
    gold_index: dict[Hashable, int] = {}
    system_index: dict[Hashable, int] = {}
    mentions = array("i"), array("i"), array("i"), array("i")
    gold_of, system_of, shared_gold, shared_system = mentions
    for table in tables:
        gold = indexes(table.golds, gold_index).__getitem__
        system = indexes(table.systems, system_index).__getitem__
        gold_of.fromlist([*map(gold, table.gold_of)])
        system_of.fromlist([*map(system, table.system_of)])
        shared_gold.fromlist([*map(gold, table.shared_gold)])
        shared_system.fromlist([*map(system, table.shared_system)])
    return Contingency([*gold_index], [*system_index], *mentions, sum([table.tied for table in tables]))


def leave_out(tables: Sequence[Contingency], groups: Sequence[int]) -> Iterator[Contingency]:
    """Leave-one-group-out sums: clusters and cells are numbered once, and mentions taken out of the sum of all."""
    import numpy as np

    whole = add(tables)
    gold_groups = np.repeat(groups, [table.gold_mentions for table in tables])
    system_groups = np.repeat(groups, [table.system_mentions for table in tables])
    shared_groups = np.repeat(groups, [table.shared_mentions for table in tables])
    rows, columns = np.asarray(whole.shared_gold), np.asarray(whole.shared_system)
    keys = rows.astype(np.int64) * len(whole.systems) + columns
    _, mention_of_cell, cell_of = np.unique(keys, return_index=True, return_inverse=True)
    for group in range(max(groups) + 1):
        golds = _Kept(whole.gold_of, gold_groups != group, len(whole.golds))
        systems = _Kept(whole.system_of, system_groups != group, len(whole.systems))
        cells = _Kept(cell_of, shared_groups != group, len(mention_of_cell))
        cell_rows, cell_columns = golds.new[rows[mention_of_cell]], systems.new[columns[mention_of_cell]]
        yield Contingency(
            [*map(whole.golds.__getitem__, golds.indexes.tolist())],
            [*map(whole.systems.__getitem__, systems.indexes.tolist())],
            _array(golds.mentions),
            _array(systems.mentions),
            _array(cell_rows[cells.indexes][cells.mentions]),
            _array(cell_columns[cells.indexes][cells.mentions]),
            known_counts=ClusterCounts(
                golds.sizes,
                systems.sizes,
                cell_rows[cells.indexes].tolist(),
                cell_columns[cells.indexes].tolist(),
                cells.sizes,
            ),
        )


class _Kept:
    """Clusters, or cells, of the mentions that are kept, numbered in the order of these."""

    def __init__(self, index_of: "Sequence[int] | NDArray[np.intp]", kept: "NDArray[np.bool_]", count: int) -> None:
        import numpy as np

        mentions = np.asarray(index_of)[kept]
        places = np.arange(len(mentions))
        first = np.zeros(count, np.intp)
        first[mentions[::-1]] = places[::-1]  # the first mention of an index is assigned last
        self.indexes = mentions[first[mentions] == places]
        """The old indexes of clusters or cells that keep mentions."""
        self.new = np.zeros(count, np.intc)
        """New indexes by old."""
        self.new[self.indexes] = np.arange(len(self.indexes))
        self.mentions = self.new[mentions]
        """The new index of each mention."""
        self.sizes: list[int] = np.bincount(self.mentions).tolist()


def _array(numbers: "NDArray[np.intc]") -> "array[int]":
    return array("i", numbers.tobytes())


def _without_gold(table: Contingency, singletons: set[Hashable]) -> Contingency:
    """Drop gold singletons, and the system mentions that are aligned with them."""
    system = dict(table.system)
    for (k, r), shared in table.overlap.items():
        if k in singletons:
            system[r] -= shared
    return Contingency.by_name(
        {k: size for k, size in table.gold.items() if k not in singletons},
        {r: size for r, size in system.items() if size},
        {cell: shared for cell, shared in table.overlap.items() if cell[0] not in singletons},
    )


def _without_each(table: Contingency, golds: set[Hashable], systems: set[Hashable]) -> Contingency:
    """Drop the singletons of each side."""
    return Contingency.by_name(
        {k: size for k, size in table.gold.items() if k not in golds},
        {r: size for r, size in table.system.items() if r not in systems},
        {(k, r): shared for (k, r), shared in table.overlap.items() if k not in golds and r not in systems},
    )
