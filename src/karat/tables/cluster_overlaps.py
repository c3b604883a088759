"""The contingency table of gold and system clusters, in three forms that measures need not tell apart.

Contingency         counted: the size of each cluster, and of each overlap
ListedContingency   a document's: mention by mention
ContingencyTotal    a unit's: the tables of its documents, added up
"""

from array import array
from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain, count, repeat
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

from karat.align.matching import Overlaps, occurrences
from karat.plugin import Match

if TYPE_CHECKING:  # numpy is imported where it is used
    import numpy as np
    from numpy.typing import NDArray

T = TypeVar("T")

Mask: TypeAlias = "NDArray[np.bool_]"
"""Which of some mentions are selected."""


def pairs_within(sizes: Collection[int]) -> int:
    """Σ C2(n) over these sizes: the number of pairs of mentions within a cluster."""
    return (sum([size * size for size in sizes]) - sum(sizes)) // 2


class Numbered(NamedTuple):
    """A table as numbers, mention by mention: the form in which tables are added up."""

    golds: Sequence[Hashable] = ()
    """Names of gold clusters, which may be repeated."""
    systems: Sequence[Hashable] = ()
    gold_mentions: Iterable[int] | None = ()
    """For each gold mention, the place of its cluster among the names; None: each name is that of one mention."""
    system_mentions: Iterable[int] | None = ()
    rows: Iterable[int] = ()
    """For each mention that both sides have, the place of its gold cluster."""
    columns: Iterable[int] = ()


class Contingency:
    """The sizes of the clusters of each side, and their overlaps. Unmatched mentions count in sizes only."""

    def __init__(
        self,
        gold: dict[Hashable, int],
        system: dict[Hashable, int],
        overlap: dict[tuple[Hashable, Hashable], int],
    ) -> None:
        self._counted = gold, system, overlap

    @cached_property
    def gold(self) -> dict[Hashable, int]:
        """n(k)."""
        return self._counted[0]

    @cached_property
    def system(self) -> dict[Hashable, int]:
        """n(r)."""
        return self._counted[1]

    @cached_property
    def overlap(self) -> dict[tuple[Hashable, Hashable], int]:
        """o(k, r) of clusters that share a mention."""
        return self._counted[2]

    @property
    def gold_sizes(self) -> list[int]:
        """n(k), without names: measures need no more."""
        return [*self.gold.values()]

    @property
    def system_sizes(self) -> list[int]:
        """n(r)."""
        return [*self.system.values()]

    @property
    def shares(self) -> list[int]:
        """o(k, r), in the order of the pairs of `graph`."""
        return [*self.overlap.values()]

    @cached_property
    def gold_mentions(self) -> int:
        """N_k."""
        return sum(self.gold_sizes)

    @cached_property
    def system_mentions(self) -> int:
        """N_r."""
        return sum(self.system_sizes)

    @cached_property
    def shared_mentions(self) -> int:
        """m: the mentions that both sides have."""
        return sum(self.shares)

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

    @cached_property
    def graph(self) -> Overlaps:
        """The pairs of clusters that share a mention, by the numbers of the clusters."""
        golds, systems = (dict(zip(side, range(len(side)), strict=True)) for side in (self.gold, self.system))
        return Overlaps([golds[k] for k, _ in self.overlap], [systems[r] for _, r in self.overlap])

    @property
    def cells(self) -> Iterable[tuple[int, int, int]]:
        """For each pair of clusters that share a mention: o(k, r), n(k), n(r)."""
        return zip(self.shares, *self._sizes, strict=True)

    @cached_property
    def _sizes(self) -> tuple[list[int], list[int]]:
        """n(k) and n(r) of each pair of clusters."""
        golds, systems = self.gold_sizes, self.system_sizes
        return [golds[k] for k in self.graph.rows], [systems[r] for r in self.graph.columns]

    @cached_property
    def gold_found(self) -> dict[Hashable, int]:
        """The mentions of each gold cluster that the system has, if any: Σ o(k, r) over r."""
        return _found(self.gold, self.graph.rows, self.shares)

    @cached_property
    def system_found(self) -> dict[Hashable, int]:
        """The mentions of each system cluster that gold has, if any: Σ o(k, r) over k."""
        return _found(self.system, self.graph.columns, self.shares)

    @property
    def found_links(self) -> tuple[int, int]:
        """Pairs of mentions that both sides have, within a gold cluster and within a system cluster."""
        return pairs_within(self.gold_found.values()), pairs_within(self.system_found.values())

    def numbered(self) -> Numbered:
        """Each mention of each cluster."""
        return Numbered(
            [*self.gold],
            [*self.system],
            _repeated(range(len(self.gold)), self.gold_sizes),
            _repeated(range(len(self.system)), self.system_sizes),
            _repeated(self.graph.rows, self.shares),
            _repeated(self.graph.columns, self.shares),
        )


def _found(side: dict[Hashable, int], numbers: Iterable[int], shares: Sequence[int]) -> dict[Hashable, int]:
    names, found = [*side], Counter(_repeated(numbers, shares))
    return {names[number]: count for number, count in found.items()}


def _repeated(values: Iterable[T], times: Iterable[int]) -> Iterable[T]:
    return chain.from_iterable(map(repeat, values, times))


class ListedContingency(Contingency):
    """The table of a document: the cluster of each mention, and which mentions were aligned.

    Clusters are numbered and counted when that is asked for: most tables of documents are only added up. Names are
    needed only to list outcomes.
    """

    def __init__(self, golds: Sequence[Hashable], systems: Sequence[Hashable], pairs: Sequence[Match]) -> None:
        self._golds, self._systems, self._pairs = golds, systems, pairs
        self.gold_mentions, self.system_mentions, self.shared_mentions = len(golds), len(systems), len(pairs)

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process counts by itself."""
        return ListedContingency, (self._golds, self._systems, self._pairs)

    @cached_property
    def gold(self) -> dict[Hashable, int]:
        """n(k)."""
        return Counter(self._golds)

    @cached_property
    def system(self) -> dict[Hashable, int]:
        """n(r)."""
        return Counter(self._systems)

    @cached_property
    def overlap(self) -> dict[tuple[Hashable, Hashable], int]:
        """o(k, r)."""
        golds, systems = self._golds, self._systems
        return Counter([(golds[g], systems[s]) for g, s, _, _ in self._pairs])

    @cached_property
    def _counts(self) -> "_Counts":
        golds, systems = _numbers_of(self._golds), _numbers_of(self._systems)
        gold_sizes, system_sizes = occurrences(golds), occurrences(systems)
        width = len(system_sizes)
        cells = Counter([golds[g] * width + systems[s] for g, s, _, _ in self._pairs])
        graph = Overlaps([cell // width for cell in cells], [cell % width for cell in cells])
        return _Counts(golds, systems, gold_sizes, system_sizes, graph, [*cells.values()])

    @property
    def gold_sizes(self) -> list[int]:
        """n(k)."""
        return self._counts.gold_sizes

    @property
    def system_sizes(self) -> list[int]:
        """n(r)."""
        return self._counts.system_sizes

    @property
    def graph(self) -> Overlaps:
        """The pairs of clusters that share a mention."""
        return self._counts.graph

    @property
    def shares(self) -> list[int]:
        """o(k, r)."""
        return self._counts.shares

    @property
    def found_links(self) -> tuple[int, int]:
        """Pairs of mentions that both sides have, within a gold cluster and within a system cluster."""
        golds, systems = self._counts.golds, self._counts.systems
        golds, systems = [golds[g] for g, _, _, _ in self._pairs], [systems[s] for _, s, _, _ in self._pairs]
        return pairs_within(occurrences(golds)), pairs_within(occurrences(systems))

    def numbered(self) -> Numbered:
        """Each mention, with a name of its own."""
        rows, columns = [g for g, _, _, _ in self._pairs], [s for _, s, _, _ in self._pairs]
        return Numbered(self._golds, self._systems, None, None, rows, columns)


class _Counts(NamedTuple):
    """What is counted in a document, by number."""

    golds: list[int]
    """The cluster of each gold mention; clusters are numbered in the order of their first mentions."""
    systems: list[int]
    gold_sizes: list[int]
    system_sizes: list[int]
    graph: Overlaps
    shares: list[int]


def _numbers_of(names: Sequence[Hashable]) -> list[int]:
    """A number for each name, the same for the same name, from 0."""
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(name, len(numbers)) for name in names]


class SentContingency(Contingency):
    """A total from another process, which only has to be added to others."""

    def __init__(self, numbered: Numbered) -> None:
        self._numbered = numbered

    def numbered(self) -> Numbered:
        """As it was sent."""
        return self._numbered


class ContingencyTotal(Contingency):
    """The sum of tables. Each name is kept once, with a number; mentions and overlaps are numbers.

    Numbers are counted when all tables were added: numpy counts a million mentions and their overlaps in 0.25 s, lists
    and dictionaries in 0.9 s.
    """

    def __init__(self) -> None:
        self._golds, self._systems = _numbers(), _numbers()
        self._gold, self._system, self._rows, self._columns = array("i"), array("i"), array("i"), array("i")

    def extend(self, table: Contingency) -> None:
        """Add a table, which may be another total."""
        part = table.numbered()
        golds = [*map(self._golds.__getitem__, part.golds)]
        systems = [*map(self._systems.__getitem__, part.systems)]
        gold, system = golds, systems
        if part.gold_mentions is not None:
            gold = [*map(golds.__getitem__, part.gold_mentions)]
        if part.system_mentions is not None:
            system = [*map(systems.__getitem__, part.system_mentions)]
        self._gold.fromlist(gold)
        self._system.fromlist(system)
        self._rows.fromlist([*map(golds.__getitem__, part.rows)])
        self._columns.fromlist([*map(systems.__getitem__, part.columns)])

    def lengths(self) -> tuple[int, int, int]:
        """How many gold mentions, system mentions and mentions of both sides there are."""
        return len(self._gold), len(self._system), len(self._rows)

    def selected(self, gold: "Mask", system: "Mask", both: "Mask") -> "ContingencyTotal":
        """The sum of some of the tables: those with these gold mentions, system mentions and mentions of both sides."""
        import numpy as np

        total = ContingencyTotal()
        total._gold, golds = _renumbered(self._gold, gold, self._golds, total._golds)
        total._system, systems = _renumbered(self._system, system, self._systems, total._systems)
        total._rows = _array(golds[np.asarray(self._rows)[both]])
        total._columns = _array(systems[np.asarray(self._columns)[both]])
        return total

    def numbered(self) -> Numbered:
        """Each name once."""
        return Numbered([*self._golds], [*self._systems], self._gold, self._system, self._rows, self._columns)

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process is given names and numbers."""
        return SentContingency, (self.numbered(),)

    @cached_property
    def gold(self) -> dict[Hashable, int]:
        """n(k)."""
        return dict(zip(self._golds, self.gold_sizes, strict=True))

    @cached_property
    def system(self) -> dict[Hashable, int]:
        """n(r)."""
        return dict(zip(self._systems, self.system_sizes, strict=True))

    @cached_property
    def overlap(self) -> dict[tuple[Hashable, Hashable], int]:
        """o(k, r)."""
        golds, systems = [*self._golds], [*self._systems]
        names = [(golds[k], systems[r]) for k, r in zip(self.graph.rows, self.graph.columns, strict=True)]
        return dict(zip(names, self.shares, strict=True))

    @cached_property
    def gold_sizes(self) -> list[int]:
        """n(k), in the order of the numbers, which is that of the first mentions."""
        return _occurrences(self._gold)

    @cached_property
    def system_sizes(self) -> list[int]:
        """n(r)."""
        return _occurrences(self._system)

    @cached_property
    def _pairs(self) -> tuple[Overlaps, list[int]]:
        """The pairs of clusters that share a mention, in the order of their first ones; and how many each shares."""
        import numpy as np

        rows, columns = np.asarray(self._rows), np.asarray(self._columns)
        cells = rows.astype(np.int64) * len(self._systems) + columns
        _, firsts, shares = np.unique(cells, return_index=True, return_counts=True)
        order = np.argsort(firsts)
        firsts = firsts[order]
        return Overlaps(rows[firsts].tolist(), columns[firsts].tolist()), shares[order].tolist()

    @cached_property
    def graph(self) -> Overlaps:
        """The pairs of clusters that share a mention."""
        return self._pairs[0]

    @cached_property
    def shares(self) -> list[int]:
        """o(k, r)."""
        return self._pairs[1]

    @cached_property
    def found_links(self) -> tuple[int, int]:
        """Pairs of mentions that both sides have, within a gold cluster and within a system cluster."""
        return pairs_within(_occurrences(self._rows)), pairs_within(_occurrences(self._columns))


def sums_without(tables: Sequence[Contingency], parts: Sequence[int]) -> Iterator[Contingency]:
    """The sum of the tables without those of each part in turn; `parts` has the number of each table's part, from 0."""
    import numpy as np

    whole = ContingencyTotal()
    lengths = [whole.lengths()]
    for table in tables:
        whole.extend(table)
        lengths.append(whole.lengths())
    added = np.diff(lengths, axis=0)
    part_of = [np.repeat(parts, own) for own in added.T]
    for part in range(max(parts) + 1):
        gold, system, both = (own != part for own in part_of)
        yield whole.selected(gold, system, both)


def _renumbered(
    numbers: "array[int]", selected: "Mask", names: Iterable[Hashable], new_names: dict[Hashable, int]
) -> "tuple[array[int], NDArray[np.intc]]":
    """The selected numbers as if no others had been added, and the new number of each old one.

    `new_names` receives the names that are left, in the order of their first mentions.
    """
    import numpy as np

    listed = [*names]
    left = np.asarray(numbers)[selected]
    different, firsts = np.unique(left, return_index=True)
    different = different[np.argsort(firsts)]
    new = np.zeros(len(listed), np.intc)
    new[different] = np.arange(len(different))
    for number in different.tolist():
        new_names[listed[number]]  # gets the next number
    return _array(new[left]), new


def _array(numbers: "NDArray[np.intc]") -> "array[int]":
    return array("i", numbers.tobytes())


def _numbers() -> defaultdict[Hashable, int]:
    """The number of each name; one that is asked for and not known yet gets the next number."""
    return defaultdict(count().__next__)


def _occurrences(numbers: "array[int]") -> list[int]:
    """How often each number occurs, from 0 to the largest."""
    import numpy as np

    counts: list[int] = np.bincount(np.asarray(numbers)).tolist()
    return counts
