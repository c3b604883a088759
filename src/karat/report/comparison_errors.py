"""Errors of several systems by class, side by side: how often each occurs, and what the score would be without it."""

from collections.abc import Iterator

from karat.comparison import Comparison
from karat.comparison.errors import SystemErrors, system_errors
from karat.report.numbers import SHORT, UNDEFINED, percentage
from karat.report.tables import Cell, Table
from karat.report.view import View


def comparison_error_tables(comparison: Comparison, view: View) -> list[Table]:
    """Two tables per measure that was analysed; what all systems together would gain most from comes first."""
    by_system = [system_errors(system.runs) for system in comparison.systems]
    names = [system.name for system in comparison.systems]
    measures = dict.fromkeys(id_ for one in by_system for id_ in one)
    return [table for id_ in measures for table in _tables(names, [one.get(id_) for one in by_system], view.digits)]


def _tables(names: list[str], systems: list[SystemErrors | None], digits: int) -> Iterator[Table]:
    known = [one for one in systems if one is not None]
    measure, main = known[0].measure, SHORT.get(known[0].main, known[0].main)
    gains = dict.fromkeys((name for one in known for name in one.classes), 0.0)
    for one in known:
        for name, mean in one.classes.items():
            gains[name] += (mean.fixed or 0.0) - (one.score or 0.0)
    order = sorted(gains, key=lambda name: (-gains[name], name))
    counts, fixed = [], [[Cell("as it is"), *(Cell(percentage(one and one.score, digits)) for one in systems)]]
    for name in order:
        own = [None if one is None else one.classes.get(name) for one in systems]
        counts.append([Cell(name), *(Cell(UNDEFINED if mean is None else _number(mean.count)) for mean in own)])
        scores = [None if one is None else one.score for one in systems]
        after = [score if mean is None else mean.fixed for mean, score in zip(own, scores, strict=True)]
        fixed.append([Cell(name), *(Cell(percentage(value, digits)) for value in after)])
    yield Table([f"{measure} errors", *names], counts)
    if order:
        yield Table([f"{measure} {main} if fixed", *names], fixed)


def _number(count: float) -> str:
    """Of several runs, the mean may be a fraction."""
    return f"{count:,.0f}" if count == round(count) else f"{count:,.1f}"
