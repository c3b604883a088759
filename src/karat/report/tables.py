"""Tables as every output format receives them: scores rounded to percentages, under short names."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from karat.counts import Interval, ScoreValues
from karat.report.layout import PLAIN, Style, table

SHORT: Mapping[str, str] = {
    "value": "value",
    "precision": "P",
    "recall": "R",
    "f1": "F1",
    "value_precision": "value P",
    "value_recall": "value R",
    "value_f1": "value F1",
}
UNDEFINED = "-"


def percentage(value: float | None, digits: int) -> str:
    """A fraction as a percentage."""
    return UNDEFINED if value is None else f"{100 * value:.{digits}f}"


def printed(leaf: ScoreValues | None, name: str, digits: int) -> str:
    """Return a score as a percentage; nothing if there is no such score."""
    return "" if leaf is None or name not in leaf.values else percentage(as_read(leaf, name), digits)


def as_read(leaf: ScoreValues, name: str) -> float | None:
    """Return a score; an F1 whose precision and recall are both 0 is undefined, but people read it as 0."""
    value = leaf.values[name]
    if value is None and name.endswith("f1"):
        before = name.removesuffix("f1")
        if leaf.values.get(f"{before}precision") == leaf.values.get(f"{before}recall") == 0:
            return 0.0
    return value


def bounds(interval: Interval | None, digits: int) -> tuple[str, str] | None:
    """An interval as percentages. One digit less than scores have is enough, since bounds are estimates."""
    if interval is None:
        return None
    low, high = (percentage(bound, max(digits - 1, min(digits, 1))) for bound in interval)
    return low, high


def level(fraction: float) -> str:
    """A confidence level as a percentage: `95 %`."""
    return f"{100 * fraction:.10g} %"


def score_names(leaves: Iterable[ScoreValues]) -> list[str]:
    """The names of all scores, the well-known ones first."""
    names = dict.fromkeys(name for leaf in leaves for name in leaf.values)
    return [*(name for name in SHORT if name in names), *(name for name in names if name not in SHORT)]


def short(name: str) -> str:
    """Return the name of a score as tables have it."""
    return SHORT.get(name, name)


class Cell(NamedTuple):
    """A cell of a table."""

    text: str
    interval: tuple[str, str] | None = None
    is_best: bool = False
    """The best of its column, where systems are compared."""
    mark: str = ""
    """A sign after the text, which a note of the table explains."""
    link: str = ""
    """The address that HTML links to."""

    def __str__(self) -> str:
        inside = "" if self.interval is None else f" [{', '.join(self.interval)}]"
        return f"{self.text}{self.mark}{inside}"


class Table(NamedTuple):
    """Rows under a header. The first `left` columns are names, the others numbers."""

    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    left: int = 1
    emphasised: Collection[int] = ()
    """Indexes of the rows that matter most."""
    notes: Sequence[str] = ()

    @classmethod
    def of(cls, header: Sequence[str], rows: Sequence[Sequence[str]], *, left: int = 1) -> "Table":
        """A table of plain text."""
        return cls(header, [[Cell(text) for text in row] for row in rows], left)

    def without_intervals(self) -> "Table":
        """Drop the intervals."""
        return self._replace(rows=[[cell._replace(interval=None) for cell in row] for row in self.rows])

    def strings(self) -> list[list[str]]:
        """The cells as plain text, the bounds of a column below each other."""
        columns = [_padded(column) for column in zip(*self.rows, strict=True)]
        return [list(row) for row in zip(*columns, strict=True)]


class Page(NamedTuple):
    """Tables for a paper or another program, with comments on how their numbers were made."""

    tables: Sequence[Table]
    comments: Sequence[str] = ()
    """Titles and signatures: comments in formats that have them."""
    caption: Sequence[str] = ()
    """How the numbers were made, and what marks mean: the caption in LaTeX."""
    signatures: Sequence[str] = ()


def score_cell(leaf: ScoreValues | None, name: str, digits: int, *, with_interval: bool = True) -> Cell:
    """A score as a percentage, with its interval if it has one and it is wanted."""
    ci = None if leaf is None or leaf.ci is None or not with_interval else leaf.ci.values.get(name)
    return Cell(printed(leaf, name, digits), bounds(ci, digits))


def as_text(cells: Table, style: Style = PLAIN) -> str:
    """The table in columns, its notes below."""
    body = table(cells.header, cells.strings(), left=cells.left, style=style, emphasised=cells.emphasised)
    return "\n".join([body, *cells.notes])


def _padded(column: Sequence[Cell]) -> list[str]:
    """Cells as text of which numbers, marks and bounds are aligned."""
    intervals = [cell.interval for cell in column if cell.interval is not None]
    marks = max((len(cell.mark) for cell in column), default=0)
    texts = [cell.text + cell.mark.ljust(marks) for cell in column]
    if not intervals:
        return texts if marks else [cell.text for cell in column]
    low, high = (max(len(interval[end]) for interval in intervals) for end in (0, 1))
    blank = " " * (low + high + 5)
    return [
        text + (blank if cell.interval is None else f" [{cell.interval[0]:>{low}}, {cell.interval[1]:>{high}}]")
        for text, cell in zip(texts, column, strict=True)
    ]
