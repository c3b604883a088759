"""Breakdowns as tables: scores by the values of a field, by unit of evaluation, or by protocol."""

from collections.abc import Mapping, Sequence

from karat.counts import Ratio, ScoreValues
from karat.report.layout import table_width
from karat.report.numbers import SHORT, percentage, score_names, summary
from karat.report.tables import Cell, Table, score_cell
from karat.report.view import Sort
from karat.results import ItemCounts, Score, family

ABSENT = "(none)"
"""The row of items without a value."""
WIDTH = 120
"""Of a table of several measures that is not for a terminal."""

ScoresByKey = Mapping[str, Mapping[str, Score]] | Mapping[str, Mapping[str, ScoreValues]]


def main_scores(field: str, by_key: ScoresByKey, measures: Sequence[str], *, digits: int) -> list[Table]:
    """One table per family, one row per key: all scores of a single measure, or the main score of each of several.

    A table that would be too wide with intervals has none.
    """
    leaves = {key: {id_: _micro(leaf) for id_, leaf in row.items()} for key, row in by_key.items()}
    names = {id_: score_names(row[id_] for row in leaves.values() if id_ in row) for id_ in measures}
    if len(measures) == 1:
        columns = [(id_, name) for id_ in measures for name in names[id_]]
        header = [field, *(f"{id_} {SHORT.get(name, name)}" for id_, name in columns)]
        return [Table(header, _rows(leaves, columns, digits))]
    tables = []
    for own in dict.fromkeys(map(family, measures)):
        columns = [(id_, name) for id_ in measures if family(id_) == own for name in summary(names[id_])]
        kinds = list(dict.fromkeys(name for _, name in columns))
        header = [f"{field}: {own} {' '.join(SHORT.get(name, name) for name in kinds)}"]
        header += [id_.partition(".")[2] for id_, _ in columns]
        rows = {key: row for key, row in leaves.items() if any(id_ in row for id_, _ in columns)}
        made = Table(header, _rows(rows, columns, digits))
        tables.append(made if table_width(header, made.strings()) <= WIDTH else made.without_intervals())
    return tables


def _rows(
    leaves: Mapping[str, Mapping[str, ScoreValues]], columns: Sequence[tuple[str, str]], digits: int
) -> list[list[Cell]]:
    return [
        [Cell(key), *(score_cell(row.get(id_), name, digits) for id_, name in columns)] for key, row in leaves.items()
    ]


def by_field(
    field: str,
    by_value: Mapping[str, Mapping[str, Score]],
    measures: Sequence[str],
    *,
    digits: int,
    sort: Sort = "loss",
    width: int | None = None,
) -> list[Table]:
    """Items of both sides, scores, missed and spurious items: one table per measure.

    Measures of one family that count the same items share a table of their main scores, if it is not wider than `width`
    (None: 120). If some measures know the field, those whose items do not have it are omitted.
    """
    known = [id_ for id_ in measures if any(id_ in row for key, row in by_value.items() if key != ABSENT)]
    tables: list[Table | None] = []
    for group in _groups(known or measures, by_value):
        shared = _shared(field, by_value, group, group, digits, sort) if len(group) > 1 else None
        if shared is not None and table_width(shared.header, shared.strings()) <= (width or WIDTH):
            tables.append(shared)
        else:
            composites = [id_ for id_ in group if _is_composite(by_value, id_)]
            tables += [_single(field, by_value, id_, digits, sort) for id_ in group if id_ not in composites]
            tables.append(_shared(field, by_value, group, composites, digits, sort) if composites else None)
    return [one for one in tables if one is not None]


def _groups(measures: Sequence[str], by_value: Mapping[str, Mapping[str, Score]]) -> list[list[str]]:
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


def _is_composite(by_value: Mapping[str, Mapping[str, Score]], id_: str) -> bool:
    return all(row[id_].micro.counts is None for row in by_value.values() if id_ in row)


def _shared(
    field: str,
    by_value: Mapping[str, Mapping[str, Score]],
    group: Sequence[str],
    shown: Sequence[str],
    digits: int,
    sort: Sort,
) -> Table | None:
    """The items of a group of measures, and the main scores of those shown; None if they have other columns."""
    first = {
        key: row[group[0]]
        for key, row in by_value.items()
        if group[0] in row and counts_anything([row[id_] for id_ in group if id_ in row])
    }
    if any(_own_columns(score) for score in first.values()):
        return None
    names = {id_: summary(score_names(row[id_].micro for row in by_value.values() if id_ in row)) for id_ in shown}
    columns = [(id_, name) for id_ in shown for name in names[id_]]
    has_items = any(score.items is not None for score in first.values())
    header = [f"{family(group[0])} by {field}", *(ITEM_COLUMNS if has_items else ())]
    header += [" ".join([id_.partition(".")[2], SHORT.get(name, name)]) for id_, name in columns]
    rows = [
        [
            Cell(key),
            *(_items(score.items) if has_items else ()),
            *(score_cell(_leaf(by_value[key].get(id_)), name, digits) for id_, name in columns),
        ]
        for key, score in sorted_scores(first, sort).items()
    ]
    return Table(header, rows) if rows else None


def _single(field: str, by_value: Mapping[str, Mapping[str, Score]], id_: str, digits: int, sort: Sort) -> Table | None:
    """All about one measure; None if it counts nothing for any value."""
    scores = {key: row[id_] for key, row in by_value.items() if id_ in row and counts_anything([row[id_]])}
    if not scores:
        return None
    names = score_names(score.micro for score in scores.values())
    main = summary(names)
    first = next(iter(scores.values()))
    own = list(_own_columns(first))
    items = ITEM_COLUMNS if first.items is not None and not own else ()
    header = [f"{id_} by {field}", *items, *own, *(SHORT.get(name, name) for name in names)]
    rows = [
        [
            Cell(key),
            *(_items(score.items) if items else ()),
            *(Cell(_share(value, digits)) for value in _own_columns(score).values()),
            *(score_cell(score.micro, name, digits, with_interval=name in main) for name in names),
        ]
        for key, score in sorted_scores(scores, sort).items()
    ]
    return Table(header, rows)


ITEM_COLUMNS = ("gold", "system", "missed", "spurious")


def _items(items: ItemCounts | None) -> list[Cell]:
    return [Cell("")] * len(ITEM_COLUMNS) if items is None else [Cell(f"{number:,}") for number in items.numbers()]


def sorted_scores(scores: Mapping[str, Score], sort: Sort) -> Mapping[str, Score]:
    """What lost most first; of equal losses, in the order of names."""
    if sort == "name":
        return scores
    return dict(sorted(scores.items(), key=lambda item: -_lost(item[1])))


def _lost(score: Score) -> float:
    return 0.0 if score.micro.counts is None else score.micro.counts.lost()


def counts_anything(scores: Sequence[Score]) -> bool:
    """Whether one of these scores counts something. Of composites alone, this is not known: they must be defined."""
    counts = [score.micro.counts for score in scores if score.micro.counts is not None]
    if counts:
        return any(any(one.to_dict().values()) for one in counts)
    return any(value is not None for score in scores for value in score.micro.values.values())


def _own_columns(score: Score) -> Mapping[str, float | Ratio]:
    return {} if score.micro.counts is None else score.micro.counts.shown()


def _share(value: float | Ratio, digits: int) -> str:
    return percentage(value.value, digits) if isinstance(value, Ratio) else f"{value:g}"


def _micro(leaf: Score | ScoreValues) -> ScoreValues:
    return leaf.micro if isinstance(leaf, Score) else leaf


def _leaf(score: Score | None) -> ScoreValues | None:
    return None if score is None else score.micro
