"""A reproduction as text or JSON."""

import textwrap
from collections.abc import Iterator, Sequence

import msgspec

from karat.report.layout import table
from karat.report.tables import UNDEFINED
from karat.studies.papers import PAPERS, Cell, Column, Form, Numbers, Reproduction


def listed() -> str:
    """All papers, and the data that each needs."""
    rows = [[name, paper.TITLE, paper.DATA or "none"] for name, paper in PAPERS]
    return table(["paper", "title", "data"], rows, left=3) + "\n"


def text(reproduction: Reproduction) -> str:
    """Everything, top to bottom: the paper, its numbers, its claims, remarks."""
    about = [_paragraph(reproduction.about, "")] if reproduction.about else []
    blocks = [reproduction.title, *about, *map(numbers, reproduction.numbers)]
    if reproduction.claims:
        blocks.append("\n".join(["Claims of the paper, and results", *_claims(reproduction)]))
    blocks += [_paragraph(remark, "") for remark in reproduction.remarks]
    return "\n\n".join(blocks) + "\n"


BESIDE = 5
"""So many columns have published numbers and differences beside them; those of wider tables stand below."""


def numbers(one: Numbers) -> str:
    """A table; columns with published numbers show these and the differences, too."""
    if len(one.columns) > BESIDE:
        return f"{one.title}\n{table(['', *(column.name for column in one.columns)], list(_stacked(one)))}"
    cells = list(zip(*one.rows.values(), strict=True))
    known = [any(cell.published is not None for cell in column) for column in cells]
    header = [""]
    for column, published in zip(one.columns, known, strict=True):
        header += [column.name, "published", "difference"] if published else [column.name]
    rows = [[name, *_row(one.columns, known, row)] for name, row in one.rows.items()]
    return f"{one.title}\n{table(header, rows)}"


def _stacked(one: Numbers) -> Iterator[list[str]]:
    """The rows of a wide table, each with the published numbers and the differences below it."""
    for name, row in one.rows.items():
        found = {
            name: [cell.found for cell in row],
            "  published": [cell.published for cell in row],
            "  difference": [cell.difference for cell in row],
        }
        for label, values in found.items():
            forms = (_number(value, column.form) for value, column in zip(values, one.columns, strict=True))
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


def json(reproduction: Reproduction) -> str:
    """For programs: every number unrounded, and the points of the figure."""
    return msgspec.json.format(msgspec.json.encode(reproduction), indent=2).decode() + "\n"
