"""Errors by class as the page shows them: how many, what each class costs, and where they are."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from karat.report.html.charts import Segment, stacked
from karat.report.html.gather import TONES, Gathered, Selection
from karat.report.tables import SHORT, Cell, Table, percentage
from karat.results import Result
from karat.results.errors import Confusion, ErrorClass, MeasureErrors


class ErrorRow(NamedTuple):
    """One class."""

    name: str
    explanation: str
    errors: str
    share: str
    fixed: str
    segments: Sequence[Segment]
    show: str
    """What the page shows when the reader asks for the instances, as JSON; empty if there are none."""


class ErrorTable(NamedTuple):
    """The classes of one measure."""

    measure: str
    score: str
    """The name of the score that classes cost."""
    now: str
    """That score as the system is."""
    rows: Sequence[ErrorRow]
    absent: Sequence[str]
    """Classes that do not occur."""
    notes: Sequence[str]
    confusions: Mapping[str, Table]
    """By attribute: the values that were confused."""


def error_tables(result: Result, documents: Gathered | None, system: int, digits: int) -> list[ErrorTable]:
    """The classes of each measure that was analysed."""
    if result.errors is None:
        return []
    return [_table(result.protocol, measure, documents, system, digits) for measure in result.errors.measures]


def _table(protocol: str, measure: MeasureErrors, documents: Gathered | None, system: int, digits: int) -> ErrorTable:
    view = None if documents is None else documents.number(Selection(protocol, measure.id, by_class=True))
    found = measure.found()
    widest = max((one.share or 0.0 for one in found), default=0.0)
    rows = [
        ErrorRow(
            one.name,
            one.explanation,
            f"{one.count:,}",
            percentage(one.share, 0) + " %" * (one.share is not None),
            percentage(one.fixed.get(measure.main), digits),
            stacked([(TONES.get(one.name, "wrong"), max(one.share or 0.0, 0.0))], widest),
            _shown(view, one, system),
        )
        for one in found
    ]
    return ErrorTable(
        measure.id,
        SHORT.get(measure.main, measure.main),
        percentage(measure.score.get(measure.main), digits),
        rows,
        [one.name for one in measure.classes if not one.count],
        [f"{one.name} cannot be repaired alone: {one.why_not}" for one in found if one.why_not],
        {one.attribute: table for one in measure.confusions if (table := _confusion(one)).rows},
    )


def _confusion(confusion: Confusion) -> Table:
    """Gold values with the system values that they were confused with, the most frequent first."""
    confused = sorted(
        (-count, gold, system)
        for (gold, system), count in confusion.cells.items()
        if gold is not None and system is not None and gold != system
    )
    header = [f"gold's {confusion.attribute}", f"the system's {confusion.attribute}", "times"]
    return Table(header, [[Cell(gold), Cell(system), Cell(f"{-count:,}")] for count, gold, system in confused], left=2)


class CountCell(NamedTuple):
    """How often a class occurs in a system, and what its repair gains."""

    errors: str
    gained: str
    show: str


class ComparedErrors(NamedTuple):
    """The classes of one measure, one column per system."""

    measure: str
    systems: Sequence[str]
    rows: Sequence[tuple[str, Sequence[CountCell]]]


def compared_errors(results: Mapping[str, Result], documents: Gathered | None, digits: int) -> list[ComparedErrors]:
    """How often each class occurs in each system, and how many points its repair gains."""
    tables: dict[str, dict[str, dict[str, CountCell]]] = {}
    for number, (name, result) in enumerate(results.items()):
        for measure in () if result.errors is None else result.errors.measures:
            view = (
                None if documents is None else documents.number(Selection(result.protocol, measure.id, by_class=True))
            )
            classes = tables.setdefault(measure.id, {})
            for one in measure.found():
                cell = CountCell(f"{one.count:,}", _gained(one, measure, digits), _shown(view, one, number))
                classes.setdefault(one.name, {})[name] = cell
    none = CountCell("0", "", "")
    return [
        ComparedErrors(
            measure,
            list(results),
            [(name, [cells.get(system, none) for system in results]) for name, cells in rows.items()],
        )
        for measure, rows in tables.items()
        if rows
    ]


def _gained(one: ErrorClass, measure: MeasureErrors, digits: int) -> str:
    fixed, now = one.fixed.get(measure.main), measure.score.get(measure.main)
    return "" if fixed is None or now is None else f"{100 * (fixed - now):+.{max(digits - 1, 0)}f}"


def _shown(view: int | None, one: ErrorClass, system: int) -> str:
    """What the page shows when the reader asks for the instances of a class, as JSON; empty if it has none."""
    return "" if view is None else msgspec.json.encode({"view": view, "outcome": one.name, "system": system}).decode()
