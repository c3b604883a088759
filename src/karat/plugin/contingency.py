"""The contingency table: how many mentions each gold cluster shares with each system cluster.

All coreference measures are functions of it. Cluster ids are corpus-wide, so the tables of documents add up to the
table of a topic or a corpus, in which a cluster of several documents is one cluster.
"""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

from msgspec import Struct

from karat.plugin.tables import Match

MANY = 2_000
"""Mentions, or cells, that are counted with numpy. Fewer take less time than its import."""


class ClusterCounts(NamedTuple):
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
    tied: int = 0
    """The number of documents in which other mentions could be matched as well, with other cells."""
    known_counts: ClusterCounts | None = None
    """The counts, where they are known already."""

    @classmethod
    def of_mentions(
        cls, golds: Iterable[Hashable], systems: Iterable[Hashable], pairs: Iterable[Match]
    ) -> "Contingency":
        """Make the table of a document from the cluster of each mention, and the mentions that were aligned."""
        gold_index: dict[Hashable, int] = {}
        system_index: dict[Hashable, int] = {}
        gold_of, system_of = indexes(golds, gold_index), indexes(systems, system_index)
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
    def counts(self) -> ClusterCounts:
        """Sizes and cells."""
        if self.known_counts is not None:
            return self.known_counts
        width = len(self.systems)
        pairs = zip(self.shared_gold, self.shared_system, strict=True)
        cells = Counter([row * width + column for row, column in pairs])
        rows, columns = [cell // width for cell in cells], [cell % width for cell in cells]
        gold_sizes, system_sizes = occurrences(self.gold_of, len(self.golds)), occurrences(self.system_of, width)
        return ClusterCounts(gold_sizes, system_sizes, rows, columns, [*cells.values()])

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

    @property
    def gold_links(self) -> int:
        """Σ C2(n(k)): pairs of mentions within a gold cluster."""
        return self._links[0]

    @property
    def system_links(self) -> int:
        """Σ C2(n(r))."""
        return self._links[1]

    @property
    def shared_links(self) -> int:
        """Σ C2(o(k, r)): the links that both sides have."""
        return self._links[2]

    @cached_property
    def _links(self) -> tuple[int, int, int]:
        counts = self.counts
        return pairs_within(counts.gold_sizes), pairs_within(counts.system_sizes), pairs_within(counts.shares)

    @cached_property
    def cells(self) -> tuple[Sequence[int], Sequence[int], Sequence[int]]:
        """Three columns with a number for each cell: o(k, r), n(k), n(r)."""
        golds, systems, rows, columns, shares = self.counts
        return shares, [*map(golds.__getitem__, rows)], [*map(systems.__getitem__, columns)]

    @cached_property
    def matched(self) -> tuple[list[int], list[int]]:
        """For each gold cluster the number of its mentions that the system has, and the reverse: Σ o(k, r)."""
        return occurrences(self.shared_gold, len(self.golds)), occurrences(self.shared_system, len(self.systems))


def pairs_within(sizes: Collection[int]) -> int:
    """Σ C2(n) over these sizes: the number of pairs of mentions within a cluster."""
    return (sum([size * size for size in sizes]) - sum(sizes)) // 2


def indexes(names: Iterable[Hashable], known: dict[Hashable, int]) -> list[int]:
    """Return the index of each name among the known ones; a new name gets the next one."""
    return [known.setdefault(name, len(known)) for name in names]


def occurrences(indexes: Sequence[int], size: int | None = None) -> list[int]:
    """Count how often each index occurs, up to the largest or below `size`."""
    if len(indexes) >= MANY:
        import numpy as np

        times: list[int] = np.bincount(indexes, minlength=size or 0).tolist()
        return times
    times = [0] * (max(indexes, default=-1) + 1 if size is None else size)
    for index in indexes:
        times[index] += 1
    return times
