"""Tables for Markdown."""

import re
from collections.abc import Iterator, Sequence

from karat.report.layout import printable
from karat.report.tables import Cell, Page, Table


def markdown(page: Page) -> str:
    """One table after another; comments above, which no reader shows."""
    # Two hyphens would end a comment.
    comments = [f"<!-- {printable(line).replace('--', '-&#45;')} -->" for line in page.comments]
    return "\n\n".join(["\n".join(comments), *("\n".join(_lines(table)) for table in page.tables)]) + "\n"


def _lines(table: Table) -> Iterator[str]:
    columns = len(table.header) or len(table.rows[0])
    header = list(table.header) or [""] * columns
    yield _line([_escaped(name) for name in header])
    yield _line(["---"] * table.left + ["---:"] * (columns - table.left))
    for row in table.rows:
        yield _line([_cell(cell) for cell in row])
    if table.notes:
        yield ""
    for note in table.notes:
        yield _escaped(note)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(cell: Cell) -> str:
    text = _escaped(cell.text)
    text = f"**{text}**" if cell.is_best else text
    interval = "" if cell.interval is None else f" [{', '.join(cell.interval)}]"
    return text + _escaped(cell.mark) + interval


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*_<>|\[\]])", r"\\\1", printable(text))
