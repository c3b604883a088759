"""Errors by class as tables: how often each occurs, what it costs, and which values are confused."""

from collections.abc import Iterator
from itertools import groupby

from karat.errors import visible
from karat.report.layout import Style, counted, paragraph
from karat.report.listing import WIDTH, described
from karat.report.tables import SHORT, UNDEFINED, Cell, Table, percentage
from karat.results import Result
from karat.results.errors import Confusion, MeasureErrors

MOST_VALUES = 8
"""Values of a matrix in a report; of more, the most frequent confusions are listed."""
MOST_CONFUSED = 10


def error_tables(result: Result, *, digits: int) -> list[Table]:
    """For each measure that was analysed: its classes, then confusions; then the classes by field."""
    if result.errors is None:
        return []
    tables = []
    for measure in result.errors.measures:
        tables += [_classes(measure, digits), *filter(None, map(_confusion, measure.confusions))]
        fields = dict.fromkeys(field for one in measure.found() for field in one.by)
        tables += [_by(measure, field) for field in fields]
    return tables


def error_lines(result: Result, *, digits: int) -> Iterator[str]:
    """What to look at first: for each measure the class that costs most."""
    if result.errors is not None:
        yield from (in_words(measure, digits=digits) for measure in result.errors.measures)
        if not result.errors.measures:
            yield "no errors to show: these measures have no error classes, or nothing was scored"


def error_listing(result: Result, style: Style) -> Iterator[str]:
    """Every error, class by class: where it is, and the items of both sides."""
    style = style._replace(width=style.width or WIDTH)
    for measure in result.errors.measures if result.errors is not None else ():
        for one in measure.found():
            lines = [style.paint(f"{measure.id}, {one.name}: {counted(one.count, 'error')}", "bold")]
            for place, instances in groupby(one.instances, key=lambda instance: instance.document or instance.unit):
                lines.append(f"  {visible(place)}")
                for instance in instances:
                    sides = ("gold", instance.gold), ("system", instance.system)
                    texts = [(side, described(record, show_lines=False)) for side, own in sides for record in own]
                    lines += [paragraph(text, style, first=f"    {side:<6}  ", indent=" " * 14) for side, text in texts]
            yield "\n".join(lines)


def in_words(measure: MeasureErrors, *, digits: int) -> str:
    """The class whose repair would gain most, in one sentence."""
    name = f"{measure.id} {SHORT.get(measure.main, measure.main)}"
    found = measure.found()
    if not found:
        return f"{name}: no errors"
    first = found[0]
    before, after = (percentage(scores.get(measure.main) or 0.0, digits) for scores in (measure.score, first.fixed))
    if not first.share or first.share <= 0:
        return f"{name}: {counted(sum(one.count for one in found), 'error')}; repairing one class alone gains nothing"
    return f"{name}: {first.name} costs most ({counted(first.count, 'error')}); fixed, {after} instead of {before}"


def _classes(measure: MeasureErrors, digits: int) -> Table:
    """The classes that occur; what gains most comes first."""
    main = SHORT.get(measure.main, measure.main)
    rows = [
        [
            Cell(one.name),
            Cell(f"{one.count:,}"),
            Cell(percentage(one.share, digits)),
            Cell(percentage(one.fixed.get(measure.main), digits)),
        ]
        for one in measure.found()
    ]
    notes = [f"{one.name} cannot be repaired alone: {one.why_not}" for one in measure.found() if one.why_not]
    return Table([f"{measure.id} errors", "count", "% of the loss", f"{main} if fixed"], rows, notes=notes)


def _confusion(confusion: Confusion) -> Table | None:
    """A matrix if it is small, else the values that are confused most; None if no value is confused with another."""
    golds = sorted({gold for gold, _ in confusion.cells if gold is not None})
    systems = sorted({system for _, system in confusion.cells if system is not None})
    if not any(None not in cell and cell[0] != cell[1] for cell in confusion.cells):
        return None
    if len(golds) > MOST_VALUES or len(systems) > MOST_VALUES:
        return _most_confused(confusion)
    rows: list[list[Cell]] = []
    for gold in (*golds, None):
        cells = [confusion.cells.get((gold, system), 0) for system in systems]
        missed = "" if gold is None else _number(confusion.cells.get((gold, None), 0))
        rows.append(
            [Cell("spurious" if gold is None else gold), *(Cell(_number(cell)) for cell in cells), Cell(missed)]
        )
    return Table([f"gold {confusion.attribute}, by the system's", *systems, "missed"], rows)


def _most_confused(confusion: Confusion) -> Table | None:
    cells = [
        (number, gold, system)
        for (gold, system), number in confusion.cells.items()
        if gold is not None and system is not None and gold != system
    ]
    cells.sort(key=lambda cell: (-cell[0], cell[1:]))
    rows = [[Cell(gold), Cell(system), Cell(f"{number:,}")] for number, gold, system in cells[:MOST_CONFUSED]]
    return Table([f"gold {confusion.attribute}", "system", "times"], rows, left=2) if rows else None


def _by(measure: MeasureErrors, field: str) -> Table:
    """How often each class occurs for each value of a field."""
    classes = measure.found()
    values = sorted({value for one in classes for value in one.by.get(field, {})})
    numbers = {value: [one.by.get(field, {}).get(value, 0) for one in classes] for value in values}
    order = sorted(values, key=lambda value: (-sum(numbers[value]), value))
    rows = [[Cell(value), *(Cell(_number(number)) for number in numbers[value])] for value in order]
    return Table([f"{measure.id} errors by {field}", *(one.name for one in classes)], rows)


def _number(number: int) -> str:
    return f"{number:,}" if number else UNDEFINED
