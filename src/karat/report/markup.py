"""Tables for other programs: CSV and Markdown."""

import csv as standard_csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from karat.problems import visible
from karat.report.tables import Cell, Page, Table, percentage

FORMULA = re.compile(r"(?![-+]?[0-9.]+(e[-+]?[0-9]+)?$)[=+\-@\t\r].", re.DOTALL)


def csv(header: Sequence[str], rows: Iterable[Sequence[Any]], comments: Sequence[str] = ()) -> str:
    """Rows of plain values as CSV (RFC 4180), after lines of comments; text that looks like a formula stays text."""
    stream = io.StringIO()
    stream.writelines(f"# {visible(line)}\n" for line in comments)
    writer = standard_csv.writer(stream, lineterminator="\n")
    writer.writerow(map(_inert, header))
    writer.writerows(map(_inert, row) for row in rows)
    return stream.getvalue()


def _inert(cell: Any) -> Any:
    """Put an apostrophe before text that begins like a formula and is not a number."""
    return f"'{cell}" if isinstance(cell, str) and FORMULA.match(cell) else cell


def csv_of_records(records: Sequence[Mapping[str, Any]], *, digits: int) -> str:
    """One row per record as CSV: fractions as percentages, nothing where there is no value.

    Columns without any value are omitted.
    """
    keys = dict.fromkeys(name for record in records for name in record)
    names = [name for name in keys if any(record.get(name) is not None for record in records)]
    return csv(names, ([_field(name, record.get(name), digits) for name in names] for record in records))


def _field(name: str, value: Any, digits: int) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}" if name.startswith("p_") or name == "count" else percentage(value, digits)
    return str(value)


def markdown(page: Page) -> str:
    """Return tables as Markdown, below paragraphs on how their numbers were made."""
    paragraphs = [
        *map(_markdown_paragraph, page.comments),
        *("\n".join(_markdown_lines(table)) for table in page.tables),
    ]
    return "\n\n".join(paragraphs) + "\n"


def _markdown_paragraph(line: str) -> str:
    """A line as text, or a signature as code, to be copied as it is."""
    name, _, signature = line.partition(" ")
    return f"{name} `{visible(signature)}`" if name == "signature" and "`" not in signature else _markdown(line)


def _markdown_lines(table: Table) -> Iterator[str]:
    columns = len(table.header) or len(table.rows[0])
    header = list(table.header) or [""] * columns
    yield _markdown_row([_markdown(name) for name in header])
    yield _markdown_row(["---"] * table.left + ["---:"] * (columns - table.left))
    for row in table.rows:
        yield _markdown_row([_markdown_cell(cell) for cell in row])
    if table.notes:
        yield ""
    for note in table.notes:
        yield _markdown(note)


def _markdown_row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _markdown_cell(cell: Cell) -> str:
    text = _markdown(cell.text)
    text = f"**{text}**" if cell.is_best else text
    interval = "" if cell.interval is None else f" [{', '.join(cell.interval)}]"
    return text + _markdown(cell.mark) + interval


def _markdown(text: str) -> str:
    return re.sub(r"([\\`*_<>|\[\]])", r"\\\1", visible(text))
