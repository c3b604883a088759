"""Tables as every output format receives them: cells that are already rounded, and what is special about them."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from karat.counts import ScoreValues
from karat.report.layout import PLAIN, Style, table
from karat.report.numbers import bounds, printed


class Cell(NamedTuple):
    """What one place of a table shows."""

    text: str
    interval: tuple[str, str] | None = None
    is_best: bool = False
    """The best of its column, where systems are compared."""
    mark: str = ""
    """A sign after the text, which a note of the table explains."""
    link: str = ""
    """Where HTML leads to from here."""

    def __str__(self) -> str:
        inside = "" if self.interval is None else f" [{', '.join(self.interval)}]"
        return f"{self.text}{self.mark}{inside}"


class Table(NamedTuple):
    """Rows under a header. The first `left` columns are names, the others numbers."""

    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    left: int = 1
    emphasised: Collection[int] = ()
    """Numbers of rows that matter most."""
    notes: Sequence[str] = ()

    @classmethod
    def of(cls, header: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> "Table":
        """A table of plain text."""
        return cls(header, [[Cell(text) for text in row] for row in rows], left)

    def without_intervals(self) -> "Table":
        """The same table without intervals."""
        return self._replace(rows=[[cell._replace(interval=None) for cell in row] for row in self.rows])

    def strings(self) -> list[list[str]]:
        """The cells as plain text, the bounds of a column below each other."""
        columns = [_padded(column) for column in zip(*self.rows, strict=True)]
        return [list(row) for row in zip(*columns, strict=True)]


class Page(NamedTuple):
    """What one command prints: tables, what to know about them, and how the numbers were made."""

    tables: Sequence[Table]
    comments: Sequence[str]
    """Titles and signatures: comments in formats that have them."""


def score_cell(leaf: ScoreValues | None, name: str, digits: int, *, with_interval: bool = True) -> Cell:
    """A score as a percentage, with its interval if it has one and it is wanted."""
    ci = None if leaf is None or leaf.ci is None or not with_interval else leaf.ci.values.get(name)
    return Cell(printed(leaf, name, digits), bounds(ci, digits))


def as_text(one: Table, style: Style = PLAIN) -> str:
    """The table in columns, its notes below."""
    body = table(one.header, one.strings(), left=one.left, style=style, emphasised=one.emphasised)
    return "\n".join([body, *one.notes])


def _padded(column: Sequence[Cell]) -> list[str]:
    """Cells as text of which numbers, marks and bounds are aligned."""
    intervals = [cell.interval for cell in column if cell.interval is not None]
    marks = max((len(cell.mark) for cell in column), default=0)
    texts = [cell.text + cell.mark.ljust(marks) for cell in column]
    if not intervals:
        return texts if marks else [cell.text for cell in column]
    low, high = (max(len(one[end]) for one in intervals) for end in (0, 1))
    blank = " " * (low + high + 5)
    return [
        text + (blank if cell.interval is None else f" [{cell.interval[0]:>{low}}, {cell.interval[1]:>{high}}]")
        for text, cell in zip(texts, column, strict=True)
    ]
