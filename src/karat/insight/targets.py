"""Which measures are analysed: for each family the one that takes the most into account."""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from karat.plugin import Composite, ErrorsOf, Measure
from karat.results import family
from karat.tables.events import EventTable

Rows = Sequence[Measure[Any, Any] | Composite]


class Target(NamedTuple):
    """A measure to analyse."""

    id: str
    errors_of: ErrorsOf
    measures: Sequence[Measure[Any, Any]]
    """Itself, or those that it combines."""

    @property
    def attributes(self) -> tuple[str, ...]:
        """Attributes of mentions that must be right."""
        return tuple(dict.fromkeys(name for measure in self.measures for name in measure.attributes))

    @property
    def subjects(self) -> frozenset[str]:
        """What it takes into account: attributes, kinds of links; every measure of elements has elements of its own."""
        if self.errors_of == "elements":
            return frozenset({self.id})
        kinds = [m.table.link_kinds for m in self.measures if isinstance(m.table, EventTable)]
        return frozenset(self.attributes).union(*kinds)


def targets(rows: Rows, ids: Collection[str], headline: Sequence[str], named: Collection[str]) -> list[Target]:
    """The measures to analyse among those of some ids: those that are named, and the main ones of each family.

    Of a family, those stay that take more into account than any other: all attributes, all kinds of links. If several
    do, the headline is chosen, else the last one that combines others, else the first.
    """
    offered = [one for one in (_target(row, rows) for row in rows if row.id in ids) if one is not None]
    chosen = {one.id for one in offered if one.id in named}
    for name in dict.fromkeys(family(one.id) for one in offered):
        own = [one for one in offered if family(one.id) == name]
        own = [one for one in own if one.errors_of == own[0].errors_of]
        groups: dict[frozenset[str], list[Target]] = {}
        for one in own:
            groups.setdefault(one.subjects, []).append(one)
        for subjects, group in groups.items():
            if not any(subjects < other for other in groups) and not chosen.intersection(one.id for one in group):
                chosen.add(_main([one.id for one in group], rows, headline))
    return [one for one in offered if one.id in chosen]


def _main(ids: Sequence[str], rows: Rows, headline: Sequence[str]) -> str:
    quoted = [id_ for id_ in headline if id_ in ids]
    combined = [row.id for row in rows if isinstance(row, Composite) and row.id in ids]
    return (quoted[:1] or combined[-1:] or list(ids))[0]


def _target(row: Measure[Any, Any] | Composite, rows: Rows) -> Target | None:
    """The measure with what its errors are errors of; None if there are no classes for them."""
    measures = _combined(row, {one.id: one for one in rows})
    for measure in measures:
        if (errors_of := measure.table.errors_of) is not None:
            return Target(row.id, errors_of, [one for one in measures if one.table.errors_of == errors_of])
    return None


def _combined(
    row: Measure[Any, Any] | Composite, by_id: dict[str, Measure[Any, Any] | Composite]
) -> list[Measure[Any, Any]]:
    if not isinstance(row, Composite):
        return [row]
    return [measure for id_ in row.of for measure in _combined(by_id[id_], by_id)]
