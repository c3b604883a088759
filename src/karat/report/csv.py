"""A table as CSV (RFC 4180), after lines of comments that start with `#`."""

import csv as standard
import io
from collections.abc import Mapping, Sequence
from typing import Any

from karat.report.layout import printable
from karat.report.numbers import percentage
from karat.report.tables import Page, Table


def csv(page: Page) -> str:
    """The one table of a page; bounds of intervals have columns of their own."""
    (table,) = page.tables
    stream = io.StringIO()
    stream.writelines(f"# {printable(line)}\n" for line in page.comments)
    writer = standard.writer(stream, lineterminator="\n")
    writer.writerow(table.header)
    writer.writerows([cell.text for cell in row] for row in table.rows)
    return stream.getvalue()


def tidy(records: Sequence[Mapping[str, Any]], comments: Sequence[str], *, digits: int) -> Page:
    """One row per record, for other programs: fractions as percentages, nothing where there is no value.

    Columns without any value are omitted.
    """
    names = [name for name in (records[0] if records else ()) if any(row[name] is not None for row in records)]
    rows = [[_printed(name, row[name], digits) for name in names] for row in records]
    return Page([Table.of(names, rows)], comments)


def _printed(name: str, value: Any, digits: int) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}" if name.startswith("p_") or name == "count" else percentage(value, digits)
    return str(value)
