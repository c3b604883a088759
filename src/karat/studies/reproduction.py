"""Reproductions of papers: their records, the registry of papers, and the report as text or JSON."""

import textwrap
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from msgspec import Struct

from karat.corpus.interface import Progress
from karat.problems import UsageError
from karat.registry import Registry, modules_of
from karat.report.figures.figure import Figure
from karat.report.layout import table
from karat.report.tables import UNDEFINED
from karat.studies import papers

Form = Literal["count", "percent", "share"]
"""The format of a number: as it is, as a percentage with two digits, or with three digits."""


class Data(Struct, frozen=True):
    """The data that a user names after the paper."""

    what: str
    required: bool = True
    """Without it, the paper is recomputed on data that come with karat."""
    most: int | None = 1
    """The largest number of paths; None: any."""


class Cell(Struct, frozen=True):
    """A recomputed number, and the published one if there is one."""

    found: float | None
    published: float | None = None

    @property
    def difference(self) -> float | None:
        """The recomputed number minus the published one."""
        return None if self.found is None or self.published is None else self.found - self.published


class Column(Struct, frozen=True):
    """The name of a column, and the format of its numbers."""

    name: str
    form: Form = "percent"


class Numbers(Struct, frozen=True):
    """A table of the paper."""

    title: str
    columns: tuple[Column, ...]
    rows: dict[str, tuple[Cell, ...]]


class Claim(Struct, frozen=True):
    """A statement of a paper in words, and the result."""

    says: str
    where: str
    holds: bool
    found: str


class Reproduction(Struct, frozen=True):
    """A paper recomputed."""

    title: str
    numbers: tuple[Numbers, ...]
    claims: tuple[Claim, ...] = ()
    remarks: tuple[str, ...] = ()
    figures: dict[str, Figure] = {}
    """Its figures by name, to be drawn."""
    about: str = ""
    """A remark to read first, such as that the data are simulated."""

    def figure(self, name: str | None) -> Figure:
        """One figure, or without a name all of them in one picture."""
        return Figure.joined(self.figures) if name is None else self.figures[name]


PAPERS: Registry[Any] = Registry(
    papers.__name__,
    "paper",
    own=lambda: modules_of(papers),
    accept=lambda module: module,
    listed_by="karat reproduce",
)


def recomputed(
    name: str,
    data: Sequence[str] = (),
    *,
    figures: Sequence[str | None] = (),
    progress: Progress | None = None,
    quick: bool = False,
) -> Reproduction:
    """A paper recomputed; it must have these figures (None: any)."""
    paper = PAPERS.get(name)
    wanted: Data | None = paper.DATA
    if wanted is None and data:
        raise UsageError("data-unwanted", f"the data of {name} come with karat", "Omit DATA.")
    if wanted is not None and wanted.required and not data:
        raise UsageError("data-needed", f"{name} needs {wanted.what}", "Give its path after the name of the paper.")
    if wanted is not None and wanted.most is not None and len(data) > wanted.most:
        raise UsageError("data-unwanted", f"{name} takes only {wanted.what}", f"Omit {data[wanted.most]!r}.")
    for figure in figures:
        if not paper.FIGURES:
            raise UsageError("figure-absent", f"{name} has no figure to draw", "Omit --plot.")
        if figure is not None and figure not in paper.FIGURES:
            hint = f"Known figures: {', '.join(paper.FIGURES)}."
            raise UsageError("unknown-figure", f"{name} has no figure {figure!r}", hint)
    reproduction: Reproduction = paper.reproduce(data, progress, quick=quick)
    return reproduction


# The report


def listed() -> str:
    """All papers, and the data that each needs."""
    rows = [[name, paper.TITLE, _data(paper.DATA)] for name, paper in PAPERS]
    return table(["paper", "title", "data"], rows, left=3) + "\n"


def _data(data: Data | None) -> str:
    if data is None:
        return "none"
    return data.what if data.required else f"none (simulated), or {data.what}"


def text(reproduction: Reproduction) -> str:
    """Everything, top to bottom: the paper, its numbers, its claims, remarks."""
    about = [_paragraph(reproduction.about, "")] if reproduction.about else []
    blocks = [reproduction.title, *about, *map(numbers, reproduction.numbers)]
    if reproduction.claims:
        blocks.append("\n".join(["Claims of the paper, and results", *_claims(reproduction)]))
    blocks += [_paragraph(remark, "") for remark in reproduction.remarks]
    return "\n\n".join(blocks) + "\n"


BESIDE = 5
"""Up to this many columns have published numbers and differences beside them; those of wider tables stand below."""


def numbers(table_: Numbers) -> str:
    """A table; columns with published numbers also show these and the differences."""
    if len(table_.columns) > BESIDE:
        return f"{table_.title}\n{table(['', *(column.name for column in table_.columns)], list(_stacked(table_)))}"
    cells = list(zip(*table_.rows.values(), strict=True))
    known = [any(cell.published is not None for cell in column) for column in cells]
    header = [""]
    for column, published in zip(table_.columns, known, strict=True):
        header += [column.name, "published", "difference"] if published else [column.name]
    rows = [[name, *_row(table_.columns, known, row)] for name, row in table_.rows.items()]
    return f"{table_.title}\n{table(header, rows)}"


def _stacked(table_: Numbers) -> Iterator[list[str]]:
    """The rows of a wide table, each with the published numbers and the differences below it."""
    for name, row in table_.rows.items():
        lines = {
            name: [cell.found for cell in row],
            "  published": [cell.published for cell in row],
            "  difference": [cell.difference for cell in row],
        }
        for label, values in lines.items():
            forms = (_number(value, column.form) for value, column in zip(values, table_.columns, strict=True))
            if label == name or any(cell.published is not None for cell in row):
                yield [label, *forms]


def _row(columns: Sequence[Column], known: Sequence[bool], row: Sequence[Cell]) -> Iterator[str]:
    for column, published, cell in zip(columns, known, row, strict=True):
        yield _number(cell.found, column.form)
        if published:
            yield _number(cell.published, column.form)
            yield _number(cell.difference, column.form)


def _number(value: float | None, form: Form) -> str:
    if value is None:
        return UNDEFINED
    return {"count": f"{value:g}", "percent": f"{100 * value:z.2f}", "share": f"{value:z.3f}"}[form]


def _claims(reproduction: Reproduction) -> Iterator[str]:
    for claim in reproduction.claims:
        says = f'{"holds" if claim.holds else "fails"}  "{claim.says}" ({claim.where})'
        yield _paragraph(says, "  ")
        yield _paragraph(f"result: {claim.found}.", " " * 9)


def _paragraph(words: str, indent: str) -> str:
    return textwrap.fill(words, 118, initial_indent=indent, subsequent_indent=indent + "  " * bool(indent))
