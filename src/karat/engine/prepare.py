"""Preparation: a pair of documents is filtered, collapsed and made into tables once for all protocols that agree."""

from collections.abc import Callable
from typing import NamedTuple

from karat.errors import Report
from karat.filters import collapsing
from karat.model import Pair
from karat.plugin import Collapse, Comparison, Filter, PairTransform, Tables
from karat.protocols import Protocol

MakeTables = Callable[[Pair], Tables]


class PreparedPair(NamedTuple):
    """A pair after the filters, and its tables after the collapse."""

    filtered: Pair
    tables: Tables


class Steps(NamedTuple):
    """What a protocol does with a pair before it counts: numbers of its filters and of its collapse."""

    filters: int
    collapse: int


class Preparation:
    """Prepares one pair after another; protocols with equal filters and collapse share what becomes of it."""

    def __init__(self, report: Report, make_tables: MakeTables = Tables) -> None:
        self._report = report
        self._make_tables = make_tables
        self._filters: dict[tuple[tuple[Filter, ...], Comparison], int] = {}
        self._collapses: dict[Collapse | None, int] = {}
        self._transforms: list[list[PairTransform]] = []
        self._collapsing: list[PairTransform] = []
        self._pair: Pair | None = None
        self._filtered: dict[int, Pair] = {}
        self._prepared: dict[Steps, PreparedPair] = {}

    def enter(self, protocol: Protocol) -> Steps:
        """The steps of a protocol, made ready; filters may report or refuse what is wrong with their options."""
        filters = protocol.filters, protocol.comparison
        if filters not in self._filters:
            self._filters[filters] = len(self._filters)
            self._transforms.append([one.prepare(protocol.comparison, self._report) for one in protocol.filters])
        if protocol.collapse not in self._collapses:
            self._collapses[protocol.collapse] = len(self._collapses)
            self._collapsing.append(collapsing(protocol.collapse))
        return Steps(self._filters[filters], self._collapses[protocol.collapse])

    def prepare(self, pair: Pair, steps: Steps) -> PreparedPair:
        """What these steps make of a pair."""
        if pair is not self._pair:
            self.forget()
            self._pair = pair
        prepared = self._prepared.get(steps)
        if prepared is None:
            filtered = self._filter(pair, steps.filters)
            tables = self._make_tables(self._collapsing[steps.collapse](filtered))
            prepared = self._prepared[steps] = PreparedPair(filtered, tables)
        return prepared

    def _filter(self, pair: Pair, filters: int) -> Pair:
        filtered = self._filtered.get(filters)
        if filtered is None:
            filtered = pair
            for transform in self._transforms[filters]:
                filtered = transform(filtered)
            self._filtered[filters] = filtered
        return filtered

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
