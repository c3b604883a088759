"""Preparation: filters and collapses a pair of documents once for all protocols that do it in the same way."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from karat.errors import Origin, Report
from karat.filters import collapsing
from karat.model import Pair
from karat.plugin import Collapse, Comparison, CorpusTransform, DocumentCheck, Filter, PairTransform, Tables
from karat.protocols import Protocol

MakeTables = Callable[[Pair], Tables]


class PreparedPair(NamedTuple):
    """A pair after the filters, and its tables after the collapse."""

    filtered: Pair
    tables: Tables
    gold_mentions: int
    """Mentions that are scored: those that the filters leave, singletons included."""
    system_mentions: int


class _Filtered(NamedTuple):
    """A pair after the filters, and before those that drop singletons."""

    pair: Pair
    with_singletons: Pair


class Steps(NamedTuple):
    """What a protocol does with a pair before it counts: the numbers of its filters and of its collapse."""

    filters: int
    collapse: int


class Preparation:
    """Prepares one pair after another; protocols with equal filters and collapse share the prepared pair."""

    def __init__(self, report: Report, make_tables: MakeTables = Tables) -> None:
        self._report = report
        self._make_tables = make_tables
        self._filters: dict[tuple[tuple[Filter, ...], Comparison], int] = {}
        self._collapses: dict[Collapse | None, int] = {}
        self._transforms: list[list[PairTransform]] = []
        self._drops_singletons: list[list[bool]] = []
        self._collapsing: list[PairTransform] = []
        self._pair: Pair | None = None
        self._filtered: dict[int, _Filtered] = {}
        self._prepared: dict[Steps, PreparedPair] = {}

    def enter(self, protocol: Protocol) -> Steps:
        """Register a protocol and return its steps. Filters may report or refuse their options here."""
        filters = protocol.filters, protocol.comparison
        if filters not in self._filters:
            self._filters[filters] = len(self._filters)
            self._transforms.append([one.prepare(protocol.comparison, self._report) for one in protocol.filters])
            self._drops_singletons.append([one.drops_singletons for one in protocol.filters])
        if protocol.collapse not in self._collapses:
            self._collapses[protocol.collapse] = len(self._collapses)
            self._collapsing.append(collapsing(protocol.collapse))
        return Steps(self._filters[filters], self._collapses[protocol.collapse])

    def prepare(self, pair: Pair, steps: Steps) -> PreparedPair:
        """The pair after these steps."""
        if pair is not self._pair:
            self.forget()
            self._pair = pair
        prepared = self._prepared.get(steps)
        if prepared is None:
            filtered = self._filter(pair, steps.filters)
            tables = self._make_tables(self._collapsing[steps.collapse](filtered.pair))
            scored = filtered.with_singletons
            sizes = len(scored.gold.mentions), len(scored.system.mentions)
            prepared = self._prepared[steps] = PreparedPair(filtered.pair, tables, *sizes)
        return prepared

    def _filter(self, pair: Pair, filters: int) -> _Filtered:
        filtered = self._filtered.get(filters)
        if filtered is None:
            with_singletons = pair
            for transform, drops in zip(self._transforms[filters], self._drops_singletons[filters], strict=True):
                pair = transform(pair)
                with_singletons = with_singletons if drops else pair
            filtered = self._filtered[filters] = _Filtered(pair, with_singletons)
        return filtered

    @property
    def is_pair_by_pair(self) -> bool:
        """Whether what becomes of a pair depends on that pair alone."""
        return all(transform.pair_by_pair for transform in self._remembering())

    @property
    def merges(self) -> bool:
        """Whether pairs may be divided among several preparations."""
        return all(transform.merges for transform in self._remembering())

    def part(self) -> list[CorpusTransform]:
        """What the filters have seen, to be sent to another process."""
        return [*self._remembering()]

    def accepts(self, part: Sequence[CorpusTransform]) -> bool:
        """Whether the filters would have done the same with those pairs after these."""
        return all(own.accepts(later) for own, later in zip(self._remembering(), part, strict=True))

    def merge(self, part: Sequence[CorpusTransform]) -> None:
        """Take over what filters have seen in pairs after these."""
        for own, later in zip(self._remembering(), part, strict=True):
            own.merge(later)

    def _remembering(self) -> Iterator[CorpusTransform]:
        for transforms in self._transforms:
            yield from (transform for transform in transforms if isinstance(transform, CorpusTransform))

    def finish(self) -> None:
        """All pairs were prepared: filters report, or refuse, what concerns the corpus as a whole."""
        for transform in self._remembering():
            transform.finish(self._report)

    def doubts(self) -> Iterator[Mapping[Origin, DocumentCheck]]:
        """What filters have to check once more, by side."""
        return (transform.doubts() for transform in self._remembering())

    def forget(self) -> None:
        """Release the last pair, so that two pairs are never in memory together."""
        self._pair = None
        self._filtered.clear()
        self._prepared.clear()


class KeptTables:
    """Makes tables for many runs over nearly the same pairs; an unchanged document keeps its tables."""

    def __init__(self) -> None:
        self._last: dict[str, Tables] = {}

    def __call__(self, pair: Pair) -> Tables:
        """The tables of a pair."""
        last = self._last.get(pair.gold.id)
        if last is None or last.pair != pair:
            last = self._last[pair.gold.id] = Tables(pair)
        return last
