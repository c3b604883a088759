"""Breakdowns of several systems, side by side: one row per value or unit, one column per system."""

from collections.abc import Mapping, Sequence
from math import fsum

from karat.comparison import ComparedSystem, Comparison
from karat.counts import ScoreValues
from karat.report.breakdowns import ABSENT, counts_anything
from karat.report.numbers import SHORT, percentage, score_names, summary
from karat.report.tables import Cell, Table, score_cell
from karat.report.view import View
from karat.results import Score, family


def breakdown_tables(comparison: Comparison, view: View) -> list[Table]:
    """The tables of `--by` and `--per-unit`: the main score of each measure of the headline, one table per measure.

    If no measure of the headline knows a field, all measures that know it are shown.
    """
    systems = comparison.systems
    tables = [_by_field(systems, field, id_, view) for field in systems[0].by for id_ in _knowing(comparison, field)]
    if any(system.units for system in systems):
        tables += [_by_unit(comparison, id_, view) for id_ in comparison.headline_ids()]
    return [table for table in tables if table.rows]


def _knowing(comparison: Comparison, field: str) -> list[str]:
    """The measures to show: those whose items have the field."""
    known = {
        id_
        for system in comparison.systems
        for value, row in system.by[field].items()
        if value != ABSENT
        for id_ in row
    }
    headline = comparison.headline_ids()
    return (
        [id_ for id_ in headline if id_ in known] or [id_ for id_ in comparison.measures() if id_ in known] or headline
    )


def _by_field(systems: Sequence[ComparedSystem], field: str, id_: str, view: View) -> Table:
    """Gold items and the scores of each system for each value, what all systems together lost most first."""
    values = sorted({value for system in systems for value, row in system.by[field].items() if id_ in row})
    runs = {value: [[run.by[field].get(value, {}) for run in system.runs] for system in systems] for value in values}
    lost = {value: fsum(_lost(row, id_) / len(own) for own in runs[value] for row in own) for value in values}
    gold = {value: _gold_items([row for own in runs[value] for row in own], id_) for value in values}
    if view.sort == "loss":
        values.sort(key=lambda value: -lost[value])
    leaves = {
        value: [
            row[id_].micro if id_ in row else None for row in (system.by[field].get(value, {}) for system in systems)
        ]
        for value in values
        if any(counts_anything(_counted(row, id_)) for own in runs[value] for row in own)
    }
    has_items = any(gold[value] is not None for value in leaves)
    return _table(f"by {field}", id_, systems, leaves, view.digits, gold=gold if has_items else None)


def _by_unit(comparison: Comparison, id_: str, view: View) -> Table:
    """The scores of each system for each unit, in the order of their names."""
    systems = comparison.systems
    units = sorted({unit for system in systems for unit in system.units})
    cells = {unit: [system.units.get(unit, {}).get(id_) for system in systems] for unit in units}
    return _table(f"per {comparison.first.unit}", id_, systems, cells, view.digits)


def _table(
    title: str,
    id_: str,
    systems: Sequence[ComparedSystem],
    cells: Mapping[str, Sequence[ScoreValues | None]],
    digits: int,
    *,
    gold: Mapping[str, int | None] | None = None,
) -> Table:
    names = summary(score_names(leaf for row in cells.values() for leaf in row if leaf is not None))
    name = names[0] if names else ""
    header = [f"{id_} {SHORT.get(name, name)} {title}", *([] if gold is None else ["gold"])]
    rows = []
    for key, leaves in cells.items():
        values = [value for leaf in leaves if leaf is not None and (value := leaf.values[name]) is not None]
        best = percentage(max(values), digits) if len(systems) > 1 and values else None
        scores = [score_cell(leaf, name, digits, with_interval=False) for leaf in leaves]
        number = [] if gold is None else [Cell("" if gold[key] is None else f"{gold[key]:,}")]
        rows.append([Cell(key), *number, *(cell._replace(is_best=cell.text == best) for cell in scores)])
    return Table([*header, *(system.name for system in systems)], rows)


def _lost(row: Mapping[str, Score], id_: str) -> float:
    """What a perfect system would have earned more; for a composite, in all measures of its family."""
    return fsum(counts.lost() for score in _counted(row, id_) if (counts := score.micro.counts) is not None)


def _gold_items(rows: Sequence[Mapping[str, Score]], id_: str) -> int | None:
    """How many gold items have the value; for a composite, those of its family."""
    items = [score.items for row in rows for score in _counted(row, id_) if score.items is not None]
    return max((one.gold for one in items), default=None)


def _counted(row: Mapping[str, Score], id_: str) -> list[Score]:
    """The scores that counts are taken from: a composite has none of its own."""
    if id_ in row and row[id_].micro.counts is not None:
        return [row[id_]]
    return [score for other, score in row.items() if family(other) == family(id_)]
