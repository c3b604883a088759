"""Tables: what a measure counts. A document's tables are made once, whichever measures and protocols ask for them.

A `TableSpec` says how to make a table; it is a value, and equal specs share a table. `Tables` holds the tables of a
document: `tables.get(spec)` makes one, or returns it if it was made. A spec may ask for other tables in the same way.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any, Generic, Literal, TypeVar

from msgspec import Struct

from karat.model import Mention, Pair
from karat.problems import Report

T = TypeVar("T")

Counted = Literal["item", "unit", "corpus"]
"""When a table can be counted.

item     document by document: what its items contribute adds up, so that any part of them can be counted
unit     when the tables of all documents of a unit have been added
corpus   when the tables of all units are known, and `finish` has seen them together
"""

ErrorsOf = Literal["mentions", "clusters", "links", "elements", "anaphors", "arguments", "relations"]
"""Items that errors are about: each kind has its own classes (`karat.insight`)."""

Candidate = tuple[float, int, int, int]
"""Two mentions that could be aligned: (-similarity, system index, gold index, bits of agreeing attributes)."""

Match = tuple[int, int, float, int]
"""Two mentions that were aligned: (gold index, system index, similarity, bits of agreeing attributes)."""


Alike = Iterable[tuple[float, int, int]]
"""Pairs with some similarity, in any order: (-similarity, system index, gold index)."""

Similarity = Callable[[Sequence[Mention], Sequence[Mention]], Alike]
"""Compares the mentions of gold with those of the system."""


class DocumentSimilarity(Struct, frozen=True):
    """A similarity that depends on more of the two documents than their mentions, such as their empty nodes."""

    compare: Callable[[Pair, Sequence[Mention], Sequence[Mention]], Alike]

    def __call__(self, pair: Pair, gold: Sequence[Mention], system: Sequence[Mention]) -> Alike:
        """Compare mentions of gold with mentions of the system."""
        return self.compare(pair, gold, system)


Matching = Callable[[Sequence[Candidate]], list[Match]]
"""Chooses pairs among candidates, which come in the order in which they are tried, and keeps that order."""


class TableSpec(Generic[T]):
    """A table that a measure reads, as it declares it. Equal specs share one table per document.

    A subclass is usually a frozen struct: `class Sizes(TableSpec[int], Struct, frozen=True, cache_hash=True)`.
    """

    __slots__ = ()

    def make(self, tables: "Tables") -> T:
        """The table of one document."""
        raise NotImplementedError

    def add(self, tables: Sequence[T]) -> T:
        """Add the tables of documents of a unit, in their order.

        It is associative: sums can be added like tables of documents, and give the sum of all of these.
        """
        raise NotImplementedError(f"{type(self).__name__} does not add up: only documents can be its units")

    def leave_out(self, tables: Sequence[T], groups: Sequence[int]) -> Iterator[T]:
        """Leave-one-group-out sums (jackknife), in the order of groups; `groups` has each table's group, from 0."""
        for left_out in range(max(groups) + 1):
            yield self.add([table for table, group in zip(tables, groups, strict=True) if group != left_out])

    def shape(self, table: T) -> Hashable | None:
        """Return a key for caching counts: tables of equal shape have equal counts. None: count each table."""
        del table
        return None

    @property
    def counted(self) -> Counted:
        """When the table can be counted."""
        return "item"

    @property
    def alignment(self) -> "AlignmentSpec | None":
        """The alignment of mentions behind a table whose parts do not add up.

        A breakdown by a mention's attribute then restricts the corpus by it, instead of summing outcomes.
        """
        return None

    @property
    def relations(self) -> tuple[str, ...]:
        """Kinds of links that it reads as relations between mentions, which may contradict each other."""
        return ()

    @property
    def errors_of(self) -> ErrorsOf | None:
        """The items that errors of its measures are about, if there are classes for them."""
        return None

    def kept_items(self, table: T) -> tuple[int, int, int] | None:
        """Count gold's, the system's and the matched items of a finished table; None: `finish` drops no items."""
        del table
        return None

    @property
    def link_kinds(self) -> tuple[str, ...]:
        """Kinds of links between events that it reads as a hierarchy or a sequence."""
        return ()

    @property
    def reads_paths(self) -> bool:
        """True if it reads links as paths, so that a link between the ends of a path is redundant."""
        return False

    def finish(self, tables: Sequence[T], report: Report) -> Sequence[T]:
        """The tables of all units as they are counted, if that depends on all of them (`counted` is "corpus")."""
        del report
        return tables


class Tables:
    """The tables of one document, each made when it is first asked for."""

    def __init__(self, pair: Pair) -> None:
        self.pair = pair
        self._made: dict[TableSpec[Any], Any] = {}

    def get(self, spec: TableSpec[T]) -> T:
        """The table that a spec describes."""
        table = self._made.get(spec, self)
        if table is self:  # which is not a table
            table = self._made[spec] = spec.make(self)
        return table  # type: ignore[no-any-return]

    def put(self, spec: TableSpec[T], table: T) -> None:
        """Add a table that is known already."""
        self._made[spec] = table


class AlignedPairs(Struct, frozen=True):
    """The mentions of both sides, and which were aligned with which, best first."""

    gold: Sequence[Mention]
    system: Sequence[Mention]
    pairs: Sequence[Match]
    others: Sequence[Sequence[Match]] = ()
    """Other pairs that are as good by the method, if the protocol's own choice among them is a reading of karat's."""


class AlignmentSpec(TableSpec[AlignedPairs]):
    """An alignment of the mentions of a document."""

    __slots__ = ()

    errors_of = "mentions"

    @property
    def is_divisible(self) -> bool:
        """True if parts of a document are aligned as the whole is, where no pair has its mentions in two parts."""
        return False

    def bit(self, attribute: str) -> int:
        """The bit of a match that says whether the two mentions agree on an attribute."""
        raise NotImplementedError
