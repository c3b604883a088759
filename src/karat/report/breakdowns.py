"""Tables of scores by the values of a field or by unit, of one system or of several."""

from collections.abc import Iterator, Mapping, Sequence
from math import fsum
from typing import TYPE_CHECKING

from karat.counts import Ratio, ScoreValues
from karat.report.layout import Sort, View, table_width
from karat.report.scores import WIDTH, main_scores
from karat.report.tables import Cell, Table, percentage, score_cell, score_names, short
from karat.result import ItemCounts, Result, Score, family

if TYPE_CHECKING:
    from karat.comparison.comparison import Comparison

ABSENT = "(none)"
"""The row of items without a value."""
ITEM_COLUMNS = ("gold", "system", "missed", "spurious")

ByValue = Mapping[str, Mapping[str, Score]]
"""Scores by value of a field, then by measure."""


def breakdown_tables(result: Result, view: View) -> list[Table]:
    """The tables of `--by` and `--per-unit`."""
    ids = result.counted_ids()
    tables = [table for field, rows in result.by.items() for table in _field_tables(field, rows, result, view)]
    return tables + (main_scores(result.unit, result.units, ids, digits=view.digits) if result.units else [])


def _field_tables(field: str, by_value: ByValue, result: Result, view: View) -> Iterator[Table]:
    """Items of both sides, scores, missed and spurious items: one table per measure.

    Measures of one family that count the same items share a table of their main scores, if it is not too wide. If some
    measures know the field, those whose items do not have it are omitted.
    """
    measures = result.counted_ids()
    known = [id_ for id_ in measures if any(id_ in row for key, row in by_value.items() if key != ABSENT)]
    for group in _groups(known or measures, by_value):
        shared = _shared_table(field, by_value, group, group, view) if len(group) > 1 else None
        if shared is not None and table_width(shared.header, shared.strings()) <= (view.style.width or WIDTH):
            yield shared
            continue
        composites = [id_ for id_ in group if _is_composite(by_value, id_)]
        for id_ in group:
            if id_ not in composites and (table := _measure_table(field, by_value, id_, result, view)):
                yield table
        if composites and (table := _shared_table(field, by_value, group, composites, view)):
            yield table


def _groups(measures: Sequence[str], by_value: ByValue) -> list[list[str]]:
    """Measures that count the same items; composites, which count none, with those of their family before them."""
    groups: list[list[str]] = []
    last: tuple[str, list[ItemCounts | None]] | None = None
    for id_ in measures:
        items = [row[id_].items if id_ in row else None for row in by_value.values()]
        if last is not None and family(id_) == last[0] and (items == last[1] or not any(items)):
            groups[-1].append(id_)
        else:
            groups.append([id_])
            last = family(id_), items
    return groups


def _is_composite(by_value: ByValue, id_: str) -> bool:
    return all(row[id_].micro.counts is None for row in by_value.values() if id_ in row)


def _shared_table(
    field: str, by_value: ByValue, group: Sequence[str], shown: Sequence[str], view: View
) -> Table | None:
    """The items of a group of measures, and the main scores of those shown; None if they have columns of their own."""
    columns = [(id_, name) for id_ in shown if (name := _main_name(by_value, id_))]
    header = [" ".join([id_.partition(".")[2], short(name)]) for id_, name in columns]
    if any(_extra_columns(row[group[0]], row[group[0]]) for row in by_value.values() if group[0] in row):
        return None
    return _table(f"{family(group[0])} by {field}", by_value, group, columns, header, view)


def _measure_table(field: str, by_value: ByValue, id_: str, result: Result, view: View) -> Table | None:
    """Return the table of one measure; one with columns of its own also has a row of totals."""
    names = _names(by_value, id_)
    header = [short(name) for name in names]
    columns = [(id_, name) for name in names]
    return _table(f"{id_} by {field}", by_value, [id_], columns, header, view, total=result.scores[id_])


def _main_name(by_value: ByValue, id_: str) -> str | None:
    return next((row[id_].micro.main_name for row in by_value.values() if id_ in row), None)


def _names(by_value: ByValue, id_: str) -> list[str]:
    return score_names(row[id_].micro for row in by_value.values() if id_ in row)


def _table(
    title: str,
    by_value: ByValue,
    group: Sequence[str],
    columns: Sequence[tuple[str, str]],
    header: Sequence[str],
    view: View,
    *,
    total: Score | None = None,
) -> Table | None:
    """Values with the items that a group of measures counts, and some scores; None if it counts nothing.

    Only main scores have intervals.
    """
    scores = {
        value: row[group[0]]
        for value, row in by_value.items()
        if group[0] in row and counts_anything([row[id_] for id_ in group if id_ in row])
    }
    if not scores:
        return None
    extra = [] if total is None else list(_extra_columns(total, total))
    has_items = not extra and any(score.items is not None for score in scores.values())
    main = {id_: _main_name(by_value, id_) for id_, _ in columns}
    rows = []
    named = [(value, score, by_value[value]) for value, score in sorted_scores(scores, view.sort).items()]
    if extra and total is not None:
        named.append(("total", total, {group[0]: total}))
    for value, score, row in named:
        cells = [Cell(value), *(_item_cells(score.items) if has_items else ())]
        if extra and total is not None:
            cells += [Cell(_share(share, view.digits)) for share in _extra_columns(score, total).values()]
        for id_, name in columns:
            leaf = row[id_].micro if id_ in row else None
            cells.append(score_cell(leaf, name, view.digits, with_interval=name == main[id_]))
        rows.append(cells)
    return Table([title, *(ITEM_COLUMNS if has_items else ()), *extra, *header], rows)


def _item_cells(items: ItemCounts | None) -> list[Cell]:
    return [Cell("")] * len(ITEM_COLUMNS) if items is None else [Cell(f"{number:,}") for number in items.numbers()]


def sorted_scores(scores: Mapping[str, Score], sort: Sort) -> Mapping[str, Score]:
    """Scores by what they lost, most first; of equal losses, in the order of names."""
    if sort == "name":
        return scores
    return dict(sorted(scores.items(), key=lambda item: -lost(item[1].micro)))


def lost(micro: ScoreValues) -> float:
    """The counts that a perfect system would have earned more."""
    return 0.0 if micro.counts is None else micro.counts.lost()


def counts_anything(scores: Sequence[Score]) -> bool:
    """Check that one of these scores counts something. Of composites alone, this is not known: they must be defined."""
    counts = [score.micro.counts for score in scores if score.micro.counts is not None]
    if counts:
        return any(any(numbers.to_dict().values()) for numbers in counts)
    return any(value is not None for score in scores for value in score.micro.values.values())


def _extra_columns(score: Score, total: Score) -> Mapping[str, float | Ratio]:
    counts, all_counts = score.micro.counts, total.micro.counts
    return {} if counts is None or all_counts is None else counts.shown(all_counts)


def _share(value: float | Ratio, digits: int) -> str:
    return percentage(value.value, digits) if isinstance(value, Ratio) else f"{value:g}"


# Several systems


def compared_breakdowns(comparison: "Comparison", view: View) -> list[Table]:
    """The tables of `--by` and `--per-unit`: the most important measure of each family, one table per measure.

    If none of these knows a field, all measures that know it are shown.
    """
    systems, headline = comparison.systems, comparison.main_ids()
    tables = []
    for field in systems[0].by:
        rows = [row for system in systems for value, row in system.by[field].items() if value != ABSENT]
        known = {id_ for row in rows for id_ in row}
        ids = [id_ for id_ in headline if id_ in known] or [id_ for id_ in comparison.measures() if id_ in known]
        tables += [_compared_field(comparison, field, id_, view) for id_ in ids or headline]
    if any(system.units for system in systems):
        units = sorted({unit for system in systems for unit in system.units})
        for id_ in headline:
            cells = {unit: [system.units.get(unit, {}).get(id_) for system in systems] for unit in units}
            tables.append(_systems_table(f"per {comparison.first.unit}", comparison, id_, cells, view.digits))
    return [table for table in tables if table.rows]


def _compared_field(comparison: "Comparison", field: str, id_: str, view: View) -> Table:
    """Gold items and the scores of each system for each value, what all systems together lost most first."""
    systems = comparison.systems
    values = sorted({value for system in systems for value, row in system.by[field].items() if id_ in row})
    # For each value, the scores that each run's counts are taken from, with the number of runs of its system.
    runs = {
        value: [
            (_counted(run.by[field].get(value, {}), id_), len(system.runs)) for system in systems for run in system.runs
        ]
        for value in values
    }
    if view.sort == "loss":
        losses = {
            value: fsum(fsum(lost(score.micro) for score in scores) / count for scores, count in runs[value])
            for value in values
        }
        values.sort(key=lambda value: -losses[value])
    leaves = {
        value: [
            row[id_].micro if id_ in row else None for row in (system.by[field].get(value, {}) for system in systems)
        ]
        for value in values
        if any(counts_anything(scores) for scores, _ in runs[value])
    }
    items = {value: [score.items for scores, _ in runs[value] for score in scores if score.items] for value in leaves}
    gold = {value: max((counts.gold for counts in items[value]), default=None) for value in leaves}
    return _systems_table(f"by {field}", comparison, id_, leaves, view.digits, gold=gold if any(items.values()) else {})


def _counted(row: Mapping[str, Score], id_: str) -> list[Score]:
    """The scores that counts are taken from: for a composite, which has none, all of its family."""
    if id_ in row and row[id_].micro.counts is not None:
        return [row[id_]]
    return [score for other, score in row.items() if family(other) == family(id_)]


def _systems_table(
    title: str,
    comparison: "Comparison",
    id_: str,
    cells: Mapping[str, Sequence[ScoreValues | None]],
    digits: int,
    *,
    gold: Mapping[str, int | None] | None = None,
) -> Table:
    systems = comparison.systems
    name = next((leaf.main_name for row in cells.values() for leaf in row if leaf is not None), "")
    rows = []
    for key, leaves in cells.items():
        values = [value for leaf in leaves if leaf is not None and (value := leaf.values[name]) is not None]
        best = percentage(max(values), digits) if len(systems) > 1 and values else None
        scores = [score_cell(leaf, name, digits, with_interval=False) for leaf in leaves]
        count = [Cell("" if gold[key] is None else f"{gold[key]:,}")] if gold else []
        rows.append([Cell(key), *count, *(cell._replace(is_best=cell.text == best) for cell in scores)])
    header = [f"{id_} {short(name)} {title}", *(["gold"] if gold else [])]
    return Table([*header, *(system.name for system in systems)], rows)
