"""Tables: what a measure counts. A document makes them once, whoever asks, and they add up into larger units.

An artefact is a small value that says which table is wanted; two measures that want the same one share it. A table
may be made from others: candidate pairs serve every alignment of a document.

An artefact may offer more: `needs_corpus` and `settled(tables)`, where a unit cannot be counted before all units are
known; `rests_on`, the alignment of mentions under a table that counts only as a whole, so that a breakdown restricts
the corpus instead of summing outcomes; `remarks(tables, unit)`, what a reader of the scores should know of the units.
"""

from collections.abc import Sequence
from typing import Any, Protocol, TypeVar

from karat.model import Pair

T = TypeVar("T")


class Artefact(Protocol[T]):
    """A wanted table: hashable, so that equal wishes are met once; asked for in every document, so best hashed once."""

    def make(self, tables: "Tables") -> T:
        """The table of one document."""
        ...

    def add(self, tables: Sequence[T]) -> T:
        """The table of a unit, from those of its documents."""
        ...


class KeptTables:
    """Tables for many runs over nearly the same pairs: those of a document that is as it was are not made again."""

    def __init__(self) -> None:
        self._last: dict[str, Tables] = {}

    def __call__(self, pair: Pair) -> "Tables":
        """The tables of a pair."""
        last = self._last.get(pair.gold.id)
        if last is None or last.pair != pair:
            last = self._last[pair.gold.id] = Tables(pair)
        return last


class Tables:
    """The tables of one document, each made when it is first asked for."""

    def __init__(self, pair: Pair) -> None:
        self.pair = pair
        self._made: dict[Any, Any] = {}

    def get(self, artefact: Any) -> Any:
        """The table that an artefact describes."""
        try:
            return self._made[artefact]
        except KeyError:
            table = self._made[artefact] = artefact.make(self)
            return table
