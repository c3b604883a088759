"""Preparation: filters and collapses a pair of documents once for all protocols that do it in the same way."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from karat.errors import Report
from karat.filters import collapsing
from karat.model import Pair
from karat.plugin import Filter, PairTransform, Tables
from karat.protocols import Protocol


class PreparedPair(NamedTuple):
    """A pair after the filters, and its tables after the collapse."""

    filtered: Pair
    tables: Tables
    scored: tuple[int, int]
    """How many mentions of gold and of the system the filters leave, singletons included."""
    observed: tuple[Any, ...]
    """What each filter remembers of the pair."""


class _Filtered(NamedTuple):
    pair: Pair
    scored: tuple[int, int]
    observed: tuple[Any, ...]


class Preparation:
    """Prepares pairs for some protocols."""

    def __init__(self, protocols: Sequence[Protocol], report: Report) -> None:
        """Filters may report or refuse their options here."""
        filters = list(dict.fromkeys((protocol.filters, protocol.comparison) for protocol in protocols))
        collapses = list(dict.fromkeys(protocol.collapse for protocol in protocols))
        self._filters: list[list[tuple[Filter, PairTransform]]] = [
            [(filter_, filter_.prepare(comparison, report)) for filter_ in chosen] for chosen, comparison in filters
        ]
        self._collapses = [collapsing(collapse) for collapse in collapses]
        self._steps = [
            (filters.index((protocol.filters, protocol.comparison)), collapses.index(protocol.collapse))
            for protocol in protocols
        ]

    def prepare(self, pair: Pair, protocols: Sequence[int]) -> list[PreparedPair]:
        """Return the pair as each of these protocols sees it, by number; those with the same steps share it."""
        filtered: dict[int, _Filtered] = {}
        prepared: dict[tuple[int, int], PreparedPair] = {}
        for number in protocols:
            steps = filters, collapse = self._steps[number]
            if filters not in filtered:
                filtered[filters] = _filtered(pair, self._filters[filters])
            if steps not in prepared:
                left, scored, observed = filtered[filters]
                prepared[steps] = PreparedPair(left, Tables(self._collapses[collapse](left)), scored, observed)
        return [prepared[self._steps[number]] for number in protocols]


def _filtered(pair: Pair, filters: Sequence[tuple[Filter, PairTransform]]) -> _Filtered:
    with_singletons, observed = pair, []
    for filter_, transform in filters:
        left = transform(pair)
        observed.append(filter_.observe(pair, left))
        pair = left
        with_singletons = with_singletons if filter_.drops_singletons else pair
    scored = len(with_singletons.gold.mentions), len(with_singletons.system.mentions)
    return _Filtered(pair, scored, tuple(observed))
