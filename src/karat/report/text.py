"""A result as text: tables of scores, findings, and the signature."""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from karat.counts import Ratio, ScoreValues
from karat.errors import Finding, visible
from karat.results import Result, Score

SHORT = {
    "value": "value",
    "precision": "P",
    "recall": "R",
    "f1": "F1",
    "value_precision": "value P",
    "value_recall": "value R",
    "value_f1": "value F1",
}
UNDEFINED = "-"
ABSENT = "(none)"
"""The row of items without a value."""


def texts(results: Sequence[Result], *, digits: int = 2) -> str:
    """The result of one protocol, or several: side by side, then each on its own."""
    each = [text(result, digits=digits) for result in results]
    return "\n\n".join([*side_by_side(results, digits), *each]) if len(results) > 1 else each[0]


def side_by_side(results: Sequence[Result], digits: int) -> list[str]:
    """One table per shared family, one row per protocol, to show how much each setting inflates scores."""
    ids = dict.fromkeys(id_ for result in results for id_ in result.scores)
    rows = {result.protocol: {id_: score.micro for id_, score in result.scores.items()} for result in results}
    families = [set(map(_family, row)) for row in rows.values()]
    shared = [id_ for id_ in ids if sum(_family(id_) in own for own in families) > 1]
    return breakdown("protocol", rows, shared, digits)


def text(result: Result, *, digits: int = 2) -> str:
    """The whole report: what was scored, the scores, breakdowns, details, findings, the signature."""
    listed = {id_: score for id_, score in result.scores.items() if id_ in _counted_ids(result.scores)}
    blocks = [
        f"{result.protocol}: {result.title}",
        table([], [_side("gold", result), _side("system", result)], left=2) + "\n" + _averages(result),
        scores(listed, digits) if listed else "nothing to score",
        *(
            block
            for field, rows in result.by.items()
            for block in breakdown_by_field(field, rows, list(listed), digits)
        ),
        *(breakdown(result.unit, result.units, list(listed), digits) if result.units else []),
        *details(result.details, digits),
        *findings(result),
        f"signature  {result.signature}",
    ]
    return "\n\n".join(blocks) + "\n"


def _side(name: str, result: Result) -> list[str]:
    side = result.gold if name == "gold" else result.system
    return [name, side.name, counted(side.documents, "document"), counted(side.mentions, "mention")]


def _averages(result: Result) -> str:
    """What the scores are averaged over."""
    units = counted(result.unit_count, result.unit) if result.unit != "corpus" else "the corpus as a whole"
    averages = "micro adds the counts"
    if any(score.macro for score in result.scores.values()):
        averages += ", macro is the mean of the scores"
    return f"unit    {units}" + (f"; {averages}" if result.unit_count > 1 else "")


def _counted_ids(scores: Mapping[str, Score]) -> set[str]:
    """Measures of families that counted something on either side; all measures, if no family did.

    A corpus without links must not look as if a system had scored badly on links.
    """
    counts = [(id_, score.micro.counts) for id_, score in scores.items()]
    families = {_family(id_) for id_, own in counts if own is not None and any(own.to_dict().values())}
    return {id_ for id_ in scores if not families or _family(id_) in families}


def _family(id_: str) -> str:
    return id_.partition(".")[0]


def scores(by_measure: Mapping[str, Score], digits: int) -> str:
    """One row per measure: the micro average, and the macro average if there is one."""
    averages = ["micro"] + ["macro"] * any(score.macro for score in by_measure.values())
    names = _names(score.micro for score in by_measure.values())
    header = ["measure", *(f"{average} {SHORT.get(name, name)}" for average in averages for name in names)]
    rows = []
    for id_, score in by_measure.items():
        leaves = [score.micro, score.macro][: len(averages)]
        rows.append([id_, *(_number(leaf, name, digits) for leaf in leaves for name in names)])
    return table(header, rows)


def breakdown(
    field: str,
    by_value: Mapping[str, Mapping[str, Score]] | Mapping[str, Mapping[str, ScoreValues]],
    measures: Sequence[str],
    digits: int,
) -> list[str]:
    """One table per family, one row per value: all scores of a single measure, or the main score of each of several."""
    leaves = {key: {id_: _micro(leaf) for id_, leaf in row.items()} for key, row in by_value.items()}
    names = {id_: _names(row[id_] for row in leaves.values() if id_ in row) for id_ in measures}
    if len(measures) == 1:
        columns = [(id_, name) for id_ in measures for name in names[id_]]
        return [_rows([field, *(f"{id_} {SHORT.get(name, name)}" for id_, name in columns)], leaves, columns, digits)]
    tables = []
    for family in dict.fromkeys(map(_family, measures)):
        columns = [(id_, name) for id_ in measures if _family(id_) == family for name in summary(names[id_])]
        kinds = list(dict.fromkeys(name for _, name in columns))
        header = [f"{field}: {family} {' '.join(SHORT.get(name, name) for name in kinds)}"]
        header += [id_.partition(".")[2] for id_, _ in columns]
        own = {key: row for key, row in leaves.items() if any(id_ in row for id_, _ in columns)}
        tables.append(_rows(header, own, columns, digits))
    return tables


def _rows(
    header: list[str], leaves: Mapping[str, Mapping[str, ScoreValues]], columns: Sequence[tuple[str, str]], digits: int
) -> str:
    return table(
        header, [[key, *(_number(row.get(id_), name, digits) for id_, name in columns)] for key, row in leaves.items()]
    )


def breakdown_by_field(
    field: str, by_value: Mapping[str, Mapping[str, Score]], measures: Sequence[str], digits: int
) -> list[str]:
    """A breakdown; each measure whose counts have more to show than scores gets its own table.

    If some measures know the field, those whose items do not have it are omitted.
    """
    tables, others = [], []
    known = [id_ for id_ in measures if any(id_ in row for key, row in by_value.items() if key != ABSENT)]
    for id_ in known or measures:
        rows = {key: row[id_].micro for key, row in by_value.items() if id_ in row}
        columns = {key: leaf.counts.shown() for key, leaf in rows.items() if leaf.counts is not None}
        if rows and not any(columns.values()):
            others.append(id_)
        elif rows:
            names = _names(rows.values())
            header = [f"{id_} by {field}", *next(iter(columns.values())), *(SHORT.get(name, name) for name in names)]
            lines = [
                [key, *(_share(one, digits) for one in columns[key].values())]
                + [_number(leaf, name, digits) for name in names]
                for key, leaf in rows.items()
            ]
            tables.append(table(header, lines))
    return [*(breakdown(field, by_value, others, digits) if others else []), *tables]


def _share(value: float | Ratio, digits: int) -> str:
    if not isinstance(value, Ratio):
        return f"{value:g}"
    return UNDEFINED if value.value is None else f"{100 * value.value:.{digits}f}"


MOST_CONFUSED = 8


def details(by_measure: Mapping[str, Any], digits: int) -> list[str]:
    """For each measure: how well attributes were recognised, the most frequent confusions, and every item."""
    blocks = []
    for id_, detail in by_measure.items():
        blocks.append(_recognition(id_, detail["recognition"], digits))
        blocks += _detection(id_, detail["recognition"])
        confused = [
            [f"{part} {name}", gold, system, str(count)]
            for part, attributes in detail["recognition"].items()
            for name, one in attributes.items()
            for gold, system, count in _most_confused(one["confusion"])
        ]
        if confused:
            blocks.append(table([f"{id_} confused", "reference", "system", "times"], confused, left=3))
        rows = [
            [
                *(item.get(name) or UNDEFINED for name in ("document", "reference", "system", "outcome")),
                f"{item['value']:.5f} of {item['worth']:.5f}",
                "; ".join(item["lost"]),
            ]
            for item in detail["items"]
        ]
        if rows:
            blocks.append(table([id_, "reference", "system", "outcome", "value", "lost"], rows, left=6))
    return blocks


def _recognition(id_: str, parts: Mapping[str, Any], digits: int) -> str:
    names = ("reference", "false_alarm", "miss", "substitution", "error")
    rows = [
        [
            f"{part} {name}",
            *(str(one[count]) for count in names),
            *(
                UNDEFINED if one[score] is None else f"{100 * one[score]:.{digits}f}"
                for score in ("precision", "recall", "f1")
            ),
        ]
        for part, attributes in parts.items()
        for name, one in attributes.items()
    ]
    return table([f"{id_} recognition", *(name.replace("_", " ") for name in names), "P", "R", "F1"], rows)


def _detection(id_: str, parts: Mapping[str, Any]) -> list[str]:
    """How many parts of items (mentions, arguments) with each value are in the reference, spurious and missed."""
    rows = []
    for part in list(parts)[1:]:
        for name, one in parts[part].items():
            values = sorted({*one["confusion"], *one["missed"], *one["spurious"]})
            for value in values if len(values) > 1 else ():
                missed, spurious = one["missed"].get(value, 0), one["spurious"].get(value, 0)
                matched = sum(one["confusion"].get(value, {}).values())
                rows.append([f"{part} {name}", value, str(matched + missed), str(spurious), str(missed)])
    return [table([f"{id_} detection", "value", "reference", "false alarm", "miss"], rows, left=2)] if rows else []


def _most_confused(confusion: Mapping[str, Mapping[str, int]]) -> list[tuple[str, str, int]]:
    cells = [
        (gold, system, count) for gold, row in confusion.items() for system, count in row.items() if gold != system
    ]
    return sorted(cells, key=lambda cell: (-cell[2], cell[:2]))[:MOST_CONFUSED]


def _micro(leaf: Score | ScoreValues) -> ScoreValues:
    return leaf.micro if isinstance(leaf, Score) else leaf


def _names(leaves: Iterable[ScoreValues]) -> list[str]:
    """The names of all scores, the well-known ones first."""
    names = dict.fromkeys(name for leaf in leaves for name in leaf.values)
    return [*(name for name in SHORT if name in names), *(name for name in names if name not in SHORT)]


def summary(names: Sequence[str]) -> list[str]:
    """The main score of a measure."""
    return next(([name] for name in ("value", "f1") if name in names), list(names[:1]))


def _number(leaf: ScoreValues | None, name: str, digits: int) -> str:
    if leaf is None or name not in leaf.values:
        return ""
    value = leaf.values[name]
    return UNDEFINED if value is None else f"{100 * value:.{digits}f}"


def findings(result: Result) -> list[str]:
    """The findings of a result, if there are any."""
    return ["\n".join(finding_lines(result.warnings, result.warning_counts))] if result.warnings else []


def finding_lines(findings: Iterable[Finding], counts: Mapping[str, int]) -> list[str]:
    """One line per code: its first finding, and how many more there are."""
    lines: dict[str, str] = {}
    for finding in findings:
        more = counts[finding.code] - 1
        lines.setdefault(finding.code, f"{finding.severity}: {finding}" + (f" (and {more:,} more)" if more else ""))
    return list(lines.values())


def counted(number: int, noun: str) -> str:
    """`1 document`, `2 documents`."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def table(header: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> str:
    """Rows in columns: the first `left` columns aligned to the left, the others to the right."""
    lines = [[printable(cell) for cell in row] for row in (header, *rows) if row]
    widths = [max(map(width, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            cell + " " * (wide - width(cell)) if number < left else " " * (wide - width(cell)) + cell
            for number, (cell, wide) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def printable(cell: str) -> str:
    """A cell on one line, with every character visible."""
    return visible(cell)


def width(cell: str) -> int:
    """The width of a cell on a terminal: wide characters take two columns, combining marks none."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in cell)
