"""Errors by class: how often each occurs, what it costs, which values are confused, and every error."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from karat.problems import visible
from karat.records import Confusion, MeasureErrors
from karat.report.layout import Style, counted, paragraph
from karat.report.listing import WIDTH, described
from karat.report.tables import UNDEFINED, Cell, Table, percentage, short
from karat.result import Result

if TYPE_CHECKING:
    from karat.comparison.comparison import SystemErrors

MOST_VALUES = 8
"""Values of a matrix in a report; of more, the most frequent confusions are listed."""
MOST_CONFUSED = 10


def error_tables(result: Result, *, digits: int) -> list[Table]:
    """For each measure that was analysed: its classes, then confusions; then the classes by field."""
    tables = []
    for measure in () if result.errors is None else result.errors.measures:
        tables += [_class_table(measure, digits), *filter(None, map(_confusion_table, measure.confusions))]
        fields = dict.fromkeys(field for found in measure.found() for field in found.by)
        tables += [_field_table(measure, field) for field in fields]
    return [table for table in tables if table.rows]


def error_lines(result: Result, *, digits: int) -> Iterator[str]:
    """For each measure the class whose repair would gain most, in one sentence."""
    if result.errors is not None and not result.errors.measures:
        yield "no errors to show: these measures have no error classes, or nothing was scored"
    for measure in () if result.errors is None else result.errors.measures:
        name = f"{measure.id} {short(measure.main)}"
        classes = measure.found()
        if not classes:
            yield f"{name}: no errors"
        elif not classes[0].share or classes[0].share <= 0:
            errors = counted(sum(found.count for found in classes), "error")
            yield f"{name}: {errors}; fixing a single class gains nothing"
        else:
            first, scores = classes[0], (measure.score, classes[0].fixed)
            before, after = (percentage(values.get(measure.main) or 0.0, digits) for values in scores)
            errors = counted(first.count, "error")
            yield f"{name}: {first.name} is the costliest class ({errors}); fixing it gives {after} instead of {before}"


def error_listing(result: Result, style: Style) -> Iterator[str]:
    """List every error, class by class: its place, and the items of both sides."""
    style = style._replace(width=style.width or WIDTH)
    for measure in () if result.errors is None else result.errors.measures:
        for found in measure.found():
            lines = [style.paint(f"{measure.id}, {found.name}: {counted(found.count, 'error')}", "bold")]
            for place, instances in groupby(found.instances, key=lambda instance: instance.document or instance.unit):
                lines.append(f"  {visible(place)}")
                for instance in instances:
                    for side, records in (("gold", instance.gold), ("system", instance.system)):
                        texts = [described(record, show_lines=False) for record in records]
                        first = f"    {side:<6}  "
                        lines += [paragraph(text, style, first=first, indent=" " * 14) for text in texts]
            yield "\n".join(lines)


def _class_table(measure: MeasureErrors, digits: int) -> Table:
    """Classes with their errors, their share of the loss, and the score without them."""
    main = short(measure.main)
    rows, notes = [], []
    for found in measure.found():
        cost = percentage(found.share, digits), percentage(found.fixed.get(measure.main), digits)
        rows.append([found.name, f"{found.count:,}", *cost])
        if found.why_not:
            notes.append(f"{found.name} cannot be fixed on its own: {found.why_not}")
    header = [f"{measure.id} errors", "count", "% of the loss", f"{main} if fixed"]
    return Table.of(header, rows)._replace(notes=notes)


def _confusion_table(confusion: Confusion) -> Table | None:
    """A matrix if it is small, else the values that are confused most; None if no value is confused with another."""
    confused = confused_values(confusion)
    if not confused:
        return None
    golds = sorted({gold for gold, _ in confusion.cells if gold is not None})
    systems = sorted({system for _, system in confusion.cells if system is not None})
    if len(golds) > MOST_VALUES or len(systems) > MOST_VALUES:
        rows = [[gold, system, f"{count:,}"] for gold, system, count in confused[:MOST_CONFUSED]]
        header = [f"confused gold {confusion.attribute}", f"system {confusion.attribute}", "count"]
        return Table.of(header, rows, left=2)
    matrix = []
    for gold in (*golds, None):
        counts = [f"{confusion.cells.get((gold, system), 0):,}" for system in systems]
        missed = "" if gold is None else f"{confusion.cells.get((gold, None), 0):,}"
        matrix.append(["spurious" if gold is None else gold, *counts, missed])
    return Table.of([f"gold {confusion.attribute} by system {confusion.attribute}", *systems, "missed"], matrix)


def confused_values(confusion: Confusion) -> list[tuple[str, str, int]]:
    """Gold values, the system values that they were confused with, and how often; the most frequent first."""
    cells = [
        (gold, system, count)
        for (gold, system), count in confusion.cells.items()
        if gold is not None and system is not None and gold != system
    ]
    return sorted(cells, key=lambda cell: (-cell[2], cell[:2]))


def _field_table(measure: MeasureErrors, field: str) -> Table:
    """Number of errors of each class, for each value of a field."""
    classes = measure.found()
    values = sorted({value for found in classes for value in found.by.get(field, {})})
    counts = {value: [found.by.get(field, {}).get(value, 0) for found in classes] for value in values}
    values.sort(key=lambda value: -sum(counts[value]))
    rows = [[value, *(f"{count:,}" for count in counts[value])] for value in values]
    return Table.of([f"{measure.id} errors by {field}", *(found.name for found in classes)], rows)


# Several systems


def compared_errors(systems: "Mapping[str, Mapping[str, SystemErrors]]", digits: int) -> list[Table]:
    """Two tables per measure that was analysed; what all systems together would gain most from comes first."""
    measures = dict.fromkeys(id_ for errors in systems.values() for id_ in errors)
    tables = [
        _compared_tables([*systems], [errors.get(id_) for errors in systems.values()], digits) for id_ in measures
    ]
    return [table for pair in tables for table in pair if table.rows]


def _compared_tables(
    names: Sequence[str], systems: "Sequence[SystemErrors | None]", digits: int
) -> tuple[Table, Table]:
    """The number of errors of each class in each system, and the scores if the class were fixed."""
    known = [errors for errors in systems if errors is not None]
    measure, main = known[0].measure, short(known[0].main)
    scores = [None if errors is None else errors.score for errors in systems]
    gains = dict.fromkeys((name for errors in known for name in errors.classes), 0.0)
    for errors in known:
        for name, mean in errors.classes.items():
            gains[name] += (mean.fixed or 0.0) - (errors.score or 0.0)
    counts, fixed = [], []
    for name in sorted(gains, key=lambda name: (-gains[name], name)):
        means = [None if errors is None else errors.classes.get(name) for errors in systems]
        numbers = [
            UNDEFINED if errors is None else "0" if mean is None else _mean_count(mean.count)
            for errors, mean in zip(systems, means, strict=True)
        ]
        counts.append([Cell(name), *map(Cell, numbers)])
        after = [score if mean is None else mean.fixed for mean, score in zip(means, scores, strict=True)]
        fixed.append([Cell(name), *(Cell(percentage(value, digits)) for value in after)])
    as_it_is = [Cell("as it is"), *(Cell(percentage(score, digits)) for score in scores)]
    return (
        Table([f"{measure} errors", *names], counts),
        Table([f"{measure} {main} if fixed", *names], [as_it_is, *fixed] if fixed else []),
    )


def _mean_count(count: float) -> str:
    """The mean of several runs, which may be a fraction."""
    return f"{count:,.0f}" if count == round(count) else f"{count:,.1f}"
