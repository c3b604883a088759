"""The contingency table: how many mentions each gold cluster shares with each system cluster.

All coreference measures are functions of it. Cluster ids are corpus-wide, so the tables of documents add up to the
table of a topic or a corpus, in which a cluster of several documents is one cluster.
"""

from array import array
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, Literal, NamedTuple

from msgspec import Struct

from karat.match.events import ClusterKeys
from karat.match.sparse import Overlaps, occurrences
from karat.plugin import AlignmentSpec, Counted, ErrorsOf, Match, Tables, TableSpec, UnitOfEvaluation
from karat.problems import Report, Rule

if TYPE_CHECKING:  # numpy is imported where it is used
    import numpy as np
    from numpy.typing import NDArray

HIDDEN = Rule("links-hidden", "note", "simple-cdec scores them; do not compare scores of the two settings.")
DROPPED = Rule("singletons-dropped", "note", "Do not compare with scores that include singletons.")

Singletons = Literal["keep", "drop-gold", "drop-each"]
"""What happens to singletons: keep all, drop gold's from both sides, or drop each side's own."""


class Counts(NamedTuple):
    """Sizes of clusters, and cells: pairs of clusters that share a mention."""

    gold_sizes: Sequence[int]
    system_sizes: Sequence[int]
    rows: Sequence[int]
    """The gold cluster of each cell."""
    columns: Sequence[int]
    """The system cluster of each cell."""
    shares: Sequence[int]


class Contingency(Struct, frozen=True, dict=True):
    """The clusters of both sides and their mentions.

    A cluster is known by its index among the names of its side. Clusters and cells are in the order of their first
    mentions, in the table of a document as in a sum. Unmatched mentions count in sizes only. Mentions are counted when
    that is asked for: most tables of documents are only added up.
    """

    golds: Sequence[Hashable]
    """The name of each gold cluster, k."""
    systems: Sequence[Hashable]
    """The name of each system cluster, r."""
    gold_of: Sequence[int]
    """The gold cluster of each gold mention."""
    system_of: Sequence[int]
    """The system cluster of each system mention."""
    shared_gold: Sequence[int]
    """The gold cluster of each mention that both sides have."""
    shared_system: Sequence[int]
    """The system cluster of each mention that both sides have."""
    known_counts: Counts | None = None
    """The counts, where they are known already."""

    @classmethod
    def of_mentions(
        cls, golds: Iterable[Hashable], systems: Iterable[Hashable], pairs: Iterable[Match]
    ) -> "Contingency":
        """Make the table of a document from the cluster of each mention, and the mentions that were aligned."""
        gold_index, system_index = _index(), _index()
        gold_of = [*map(gold_index.__getitem__, golds)]
        system_of = [*map(system_index.__getitem__, systems)]
        return cls(
            [*gold_index],
            [*system_index],
            gold_of,
            system_of,
            [gold_of[g] for g, _, _, _ in pairs],
            [system_of[s] for _, s, _, _ in pairs],
        )

    @classmethod
    def by_name(
        cls,
        gold: Mapping[Hashable, int],
        system: Mapping[Hashable, int],
        overlap: Mapping[tuple[Hashable, Hashable], int],
    ) -> "Contingency":
        """Make a table of n(k), n(r) and o(k, r)."""
        row_of, column_of = ({name: index for index, name in enumerate(side)} for side in (gold, system))
        return cls(
            [*gold],
            [*system],
            [*Counter(dict(enumerate(gold.values()))).elements()],
            [*Counter(dict(enumerate(system.values()))).elements()],
            [row_of[k] for (k, _), shared in overlap.items() for _ in range(shared)],
            [column_of[r] for (_, r), shared in overlap.items() for _ in range(shared)],
        )

    @cached_property
    def gold(self) -> dict[Hashable, int]:
        """n(k), by name."""
        return dict(zip(self.golds, self.gold_sizes, strict=True))

    @cached_property
    def system(self) -> dict[Hashable, int]:
        """n(r), by name."""
        return dict(zip(self.systems, self.system_sizes, strict=True))

    @cached_property
    def overlap(self) -> dict[tuple[Hashable, Hashable], int]:
        """o(k, r) of clusters that share a mention, by name."""
        golds, systems = self.golds, self.systems
        cells = zip(self.counts.rows, self.counts.columns, self.shares, strict=True)
        return {(golds[row], systems[column]): shared for row, column, shared in cells}

    @cached_property
    def counts(self) -> Counts:
        """Sizes and cells."""
        if self.known_counts is not None:
            return self.known_counts
        width = len(self.systems)
        pairs = zip(self.shared_gold, self.shared_system, strict=True)
        cells = Counter([row * width + column for row, column in pairs])
        rows, columns = [cell // width for cell in cells], [cell % width for cell in cells]
        return Counts(occurrences(self.gold_of), occurrences(self.system_of), rows, columns, [*cells.values()])

    @property
    def gold_sizes(self) -> Sequence[int]:
        """n(k)."""
        return self.counts.gold_sizes

    @property
    def system_sizes(self) -> Sequence[int]:
        """n(r)."""
        return self.counts.system_sizes

    @property
    def shares(self) -> Sequence[int]:
        """o(k, r) of each cell."""
        return self.counts.shares

    @cached_property
    def graph(self) -> Overlaps:
        """The bipartite graph of the cells."""
        return Overlaps(self.counts.rows, self.counts.columns)

    @property
    def gold_mentions(self) -> int:
        """N_k."""
        return len(self.gold_of)

    @property
    def system_mentions(self) -> int:
        """N_r."""
        return len(self.system_of)

    @property
    def shared_mentions(self) -> int:
        """m: the mentions that both sides have."""
        return len(self.shared_gold)

    @cached_property
    def gold_links(self) -> int:
        """Σ C2(n(k)): pairs of mentions within a gold cluster."""
        return pairs_within(self.gold_sizes)

    @cached_property
    def system_links(self) -> int:
        """Σ C2(n(r))."""
        return pairs_within(self.system_sizes)

    @cached_property
    def shared_links(self) -> int:
        """Σ C2(o(k, r)): the links that both sides have."""
        return pairs_within(self.shares)

    @property
    def cells(self) -> Iterable[tuple[int, int, int]]:
        """For each cell: o(k, r), n(k), n(r)."""
        return zip(self.shares, *self._cell_sizes, strict=True)

    @cached_property
    def _cell_sizes(self) -> tuple[list[int], list[int]]:
        golds, systems = self.gold_sizes, self.system_sizes
        return [golds[row] for row in self.counts.rows], [systems[column] for column in self.counts.columns]

    @cached_property
    def found(self) -> tuple[list[int], list[int]]:
        """For each gold cluster the number of its mentions that the system has, and the reverse: Σ o(k, r)."""
        return occurrences(self.shared_gold, len(self.golds)), occurrences(self.shared_system, len(self.systems))


def pairs_within(sizes: Collection[int]) -> int:
    """Σ C2(n) over these sizes: the number of pairs of mentions within a cluster."""
    return (sum([size * size for size in sizes]) - sum(sizes)) // 2


def contingency(gold: Iterable[Iterable[Hashable]], system: Iterable[Iterable[Hashable]]) -> Contingency:
    """Make the table of clusters in memory. A mention in two clusters of one side counts in the first."""
    cluster_of: list[dict[Hashable, int]] = []
    for side in (gold, system):
        first: dict[Hashable, int] = {}
        for index, cluster in enumerate(side):
            for mention in cluster:
                first.setdefault(mention, index)
        cluster_of.append(first)
    golds, systems = cluster_of
    place = {mention: index for index, mention in enumerate(systems)}
    pairs = [(index, place[mention], 1.0, 0) for index, mention in enumerate(golds) if mention in place]
    return Contingency.of_mentions(golds.values(), systems.values(), pairs)


class ClusterOverlaps(TableSpec[Contingency], Struct, frozen=True, cache_hash=True):
    """The contingency table of a document; all choices of singletons and units share it."""

    aligned: AlignmentSpec

    def make(self, tables: Tables) -> Contingency:
        """Count the clusters of the mentions, and both clusters of each aligned pair."""
        return Contingency.of_mentions(*tables.get(ClusterKeys()), tables.get(self.aligned).pairs)


class CorefTable(TableSpec[Contingency], Struct, frozen=True, cache_hash=True):
    """The contingency table of a unit under an alignment of mentions."""

    aligned: AlignmentSpec
    singletons: Singletons = "keep"
    unit: UnitOfEvaluation = "document"

    def make(self, tables: Tables) -> Contingency:
        """Make the table of one document."""
        return tables.get(ClusterOverlaps(self.aligned))

    def add(self, tables: Sequence[Contingency]) -> Contingency:
        """Clusters of the same name are one."""
        return add(tables)

    def leave_out(self, tables: Sequence[Contingency], groups: Sequence[int]) -> Iterator[Contingency]:
        """Tables are added up once."""
        return leave_out(tables, groups)

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
    gold_index, system_index = _index(), _index()
    mentions = array("i"), array("i"), array("i"), array("i")
    gold_of, system_of, shared_gold, shared_system = mentions
    for table in tables:
        gold = [*map(gold_index.__getitem__, table.golds)].__getitem__
        system = [*map(system_index.__getitem__, table.systems)].__getitem__
        gold_of.fromlist([*map(gold, table.gold_of)])
        system_of.fromlist([*map(system, table.system_of)])
        shared_gold.fromlist([*map(gold, table.shared_gold)])
        shared_system.fromlist([*map(system, table.shared_system)])
    return Contingency([*gold_index], [*system_index], *mentions)


def _index() -> defaultdict[Hashable, int]:
    """The index of each name; a new name gets the next one."""
    return defaultdict(count().__next__)


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
            [whole.golds[index] for index in golds.indexes.tolist()],
            [whole.systems[index] for index in systems.indexes.tolist()],
            _array(golds.mentions),
            _array(systems.mentions),
            _array(cell_rows[cells.indexes][cells.mentions]),
            _array(cell_columns[cells.indexes][cells.mentions]),
            Counts(
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
        """Those that keep mentions, by their old indexes."""
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
