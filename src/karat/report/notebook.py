"""Results and comparisons as HTML tables, for notebooks. Everything in them is escaped."""

from collections.abc import Iterator, Sequence
from html import escape

from karat.report.layout import counted
from karat.report.scores import intervals_line, score_table
from karat.report.tables import Cell, Table
from karat.report.text import breakdown_tables
from karat.report.view import DEFAULT
from karat.report.words import bottleneck
from karat.results import Result


def html(result: Result) -> str:
    """The scores and breakdowns of a result, in percent, with the title above and the signature below."""
    sides = "; ".join(
        f"{side}: {counted(one.documents, 'document')}, {counted(one.mentions, 'mention')}"
        for side, one in (("gold", result.gold), ("system", result.system))
    )
    caption = f"{result.protocol}: {result.title} ({sides})"
    tables = [score_table(result, digits=DEFAULT.digits), *breakdown_tables(result, DEFAULT)]
    notes = [
        *bottleneck(result.scores, mentions=result.gold.mentions),
        intervals_line(result.confidence),
        result.signature,
    ]
    return tables_html(tables, caption=caption, notes=[note for note in notes if note])


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
