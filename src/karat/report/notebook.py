"""Results and comparisons as HTML tables, for notebooks. Everything in them is escaped."""

from collections.abc import Iterator, Sequence
from html import escape

from karat.report.layout import counted
from karat.report.numbers import UNDEFINED, column_names
from karat.report.scores import intervals_line, score_table
from karat.report.tables import Cell, Table
from karat.results import Result

DIGITS = 2


def html(result: Result) -> str:
    """The scores of a result: one row per measure, in percent, with the title above and the signature below."""
    if result.confidence is not None:
        notes = [intervals_line(result.confidence), result.signature]
        title = f"{result.protocol}: {result.title}"
        return tables_html([score_table(result, digits=DIGITS)], caption=title, notes=notes)
    averages = ["micro"] + ["macro"] * any(score.macro for score in result.scores.values())
    names = column_names(score.micro for score in result.scores.values())
    header = "".join(f"<th>{average} {escape(short)}</th>" for average in averages for short in names.values())
    rows = []
    for id_, score in result.scores.items():
        leaves = [score.micro, score.macro][: len(averages)]
        cells = [
            "" if leaf is None or name not in leaf.values else _percent(leaf.values[name])
            for leaf in leaves
            for name in names
        ]
        numbers = "".join(f'<td style="text-align:right">{cell}</td>' for cell in cells)
        rows.append(f'<tr><td style="text-align:left">{escape(id_)}</td>{numbers}</tr>')
    sides = "; ".join(
        f"{side}: {counted(one.documents, 'document')}, {counted(one.mentions, 'mention')}"
        for side, one in (("gold", result.gold), ("system", result.system))
    )
    return (
        f"<table><caption>{escape(result.protocol)}: {escape(result.title)} ({sides})</caption>"
        f"<thead><tr><th>measure</th>{header}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
        f"<p><small>{escape(result.signature)}</small></p>"
    )


def tables_html(tables: Sequence[Table], *, caption: str, notes: Sequence[str]) -> str:
    """Tables, the caption above the first one, notes below the last."""
    parts = []
    for number, table in enumerate(tables):
        title = f"<caption>{escape(caption)}</caption>" if number == 0 else ""
        header = "".join(f"<th>{escape(name)}</th>" for name in table.header)
        rows = "".join(f"<tr>{''.join(_cells(row, table.left))}</tr>" for row in table.rows)
        parts.append(f"<table>{title}<thead><tr>{header}</tr></thead><tbody>{rows}</tbody></table>")
    return "".join([*parts, *(f"<p><small>{escape(note)}</small></p>" for note in notes)])


def _cells(row: Sequence[Cell], left: int) -> Iterator[str]:
    for column, cell in enumerate(row):
        text = escape(str(cell))
        side = "left" if column < left else "right"
        yield f'<td style="text-align:{side}">{f"<b>{text}</b>" if cell.is_best else text}</td>'


def _percent(value: float | None) -> str:
    return UNDEFINED if value is None else f"{100 * value:.{DIGITS}f}"
