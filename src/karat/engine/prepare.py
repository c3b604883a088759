"""Preparation: a pair of documents is filtered, collapsed and made into tables once for all protocols that agree."""

from collections.abc import Callable
from typing import NamedTuple

from karat.errors import Report
from karat.filters import collapsing
from karat.model import Pair
from karat.plugin import Collapse, Comparison, Filter, PairTransform, Tables
from karat.protocols import Protocol

Filters = tuple[tuple[Filter, ...], Comparison]
MakeTables = Callable[[Pair], Tables]


class PreparedPair(NamedTuple):
    """A pair after the filters, and its tables after the collapse."""

    filtered: Pair
    tables: Tables


class Preparation:
    """Prepares one pair after another; protocols with equal filters and collapse share the tables of a pair."""

    def __init__(self, report: Report, make_tables: MakeTables = Tables) -> None:
        self._report = report
        self._make_tables = make_tables
        self._filters: dict[Filters, list[PairTransform]] = {}
        self._collapses: dict[Collapse | None, PairTransform] = {}
        self._pair: Pair | None = None
        self._prepared: dict[tuple[Filters, Collapse | None], PreparedPair] = {}
        self._filtered: dict[Filters, Pair] = {}

    def enter(self, protocol: Protocol) -> None:
        """Make the filters of a protocol ready, which may report or refuse what is wrong with them."""
        filters = protocol.filters, protocol.comparison
        if filters not in self._filters:
            self._filters[filters] = [one.prepare(protocol.comparison, self._report) for one in protocol.filters]
        self._collapses.setdefault(protocol.collapse, collapsing(protocol.collapse))

    def prepare(self, pair: Pair, protocol: Protocol) -> PreparedPair:
        """What a protocol sees of a pair."""
        if pair is not self._pair:
            self.forget()
            self._pair = pair
        filters = protocol.filters, protocol.comparison
        prepared = self._prepared.get((filters, protocol.collapse))
        if prepared is None:
            filtered = self._filter(pair, filters)
            tables = self._make_tables(self._collapses[protocol.collapse](filtered))
            prepared = self._prepared[filters, protocol.collapse] = PreparedPair(filtered, tables)
        return prepared

    def _filter(self, pair: Pair, filters: Filters) -> Pair:
        if filters not in self._filtered:
            for transform in self._filters[filters]:
                pair = transform(pair)
            self._filtered[filters] = pair
        return self._filtered[filters]

    def forget(self) -> None:
        """Release the last pair, so that the next one can take its place in memory."""
        self._pair = None
        self._filtered.clear()
        self._prepared.clear()


class KeptTables:
    """Makes tables for many runs over nearly the same pairs: those of an unchanged document are not made again."""

    def __init__(self) -> None:
        self._last: dict[str, Tables] = {}

    def __call__(self, pair: Pair) -> Tables:
        """The tables of a pair."""
        last = self._last.get(pair.gold.id)
        if last is None or last.pair != pair:
            last = self._last[pair.gold.id] = Tables(pair)
        return last
