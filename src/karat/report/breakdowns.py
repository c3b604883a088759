"""Tables of scores by the values of a field or by unit."""

from collections.abc import Iterator, Mapping, Sequence

from karat.counts import Ratio, ScoreValues
from karat.report.layout import Sort, View, table_width
from karat.report.scores import WIDTH, main_scores
from karat.report.tables import SHORT, Cell, Table, percentage, score_cell, score_names, summary
from karat.result import ItemCounts, Result, Score, family

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
    columns = [(id_, name) for id_ in shown for name in summary(_names(by_value, id_))]
    header = [" ".join([id_.partition(".")[2], SHORT.get(name, name)]) for id_, name in columns]
    if any(_extra_columns(row[group[0]], row[group[0]]) for row in by_value.values() if group[0] in row):
        return None
    return _table(f"{family(group[0])} by {field}", by_value, group, columns, header, view)


def _measure_table(field: str, by_value: ByValue, id_: str, result: Result, view: View) -> Table | None:
    """All about one measure; one with columns of its own also has a row of totals."""
    names = _names(by_value, id_)
    header = [SHORT.get(name, name) for name in names]
    columns = [(id_, name) for name in names]
    return _table(f"{id_} by {field}", by_value, [id_], columns, header, view, total=result.scores[id_])


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
    main = {id_: summary(_names(by_value, id_)) for id_, _ in columns}
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
            cells.append(score_cell(leaf, name, view.digits, with_interval=name in main[id_]))
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
