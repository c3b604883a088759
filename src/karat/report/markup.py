"""Tables for other programs: CSV, Markdown and LaTeX."""

import csv as standard_csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from karat.problems import visible
from karat.report.tables import Cell, Page, Table, percentage

LATEX_SPECIAL = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "[": "{[}",  # after the end of a row, a bracket would begin an option
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        **{character: f"\\{character}" for character in "&%$#_{}"},
    }
)


LIGATURES = re.compile("(?<=[-`'!?,])(?=[-`',])")
"""Between characters that LaTeX would print as one, such as two hyphens."""

NOT_IN_LATEX = re.compile("[^\0-\u017f\u2010-\u2027\u20ac]")
"""Characters that pdfLaTeX does not print without further packages: most of those that are not Latin."""


def csv(page: Page) -> str:
    """The one table of a page as CSV (RFC 4180), after lines of comments that start with `#`."""
    (table,) = page.tables
    return csv_text(table.header, ([cell.text for cell in row] for row in table.rows), page.comments)


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Any]], comments: Sequence[str] = ()) -> str:
    """Rows of plain values as CSV, after lines of comments."""
    stream = io.StringIO()
    stream.writelines(f"# {visible(line)}\n" for line in comments)
    writer = standard_csv.writer(stream, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return stream.getvalue()


def tidy(records: Sequence[Mapping[str, Any]], comments: Sequence[str], *, digits: int) -> Page:
    """One row per record, for other programs: fractions as percentages, nothing where there is no value.

    Columns without any value are omitted.
    """
    keys = dict.fromkeys(name for record in records for name in record)
    names = [name for name in keys if any(record.get(name) is not None for record in records)]
    rows = [[_field(name, record.get(name), digits) for name in names] for record in records]
    return Page([Table.of(names, rows)], comments)


def _field(name: str, value: Any, digits: int) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}" if name.startswith("p_") or name == "count" else percentage(value, digits)
    return str(value)


def markdown(page: Page) -> str:
    """One table after another; comments above, which no reader shows."""
    # Two hyphens would end a comment.
    comments = [f"<!-- {visible(line).replace('--', '-&#45;')} -->" for line in page.comments]
    return "\n\n".join(["\n".join(comments), *("\n".join(_markdown_lines(table)) for table in page.tables)]) + "\n"


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


def latex(page: Page) -> str:
    r"""One tabular per table; comments above, so that they travel with the table. Needs `\usepackage{booktabs}`."""
    comments = [f"% {visible(line)}" for line in page.comments]
    tables = ["\n".join(_latex_lines(table)) for table in page.tables]
    needs = [r"% needs \usepackage{booktabs}"]
    if unknown := NOT_IN_LATEX.search("".join(tables)):
        needs.append(f"% characters such as {unknown[0]} need XeLaTeX or LuaLaTeX, and a font that has them")
    return "\n".join([*comments, *needs, "", "\n\n\\medskip\n\n".join(tables)]) + "\n"


def _latex_lines(table: Table) -> Iterator[str]:
    columns = len(table.header) or len(table.rows[0])
    yield rf"\begin{{tabular}}{{{'l' * table.left}{'r' * (columns - table.left)}}}"
    yield r"\toprule"
    if table.header:
        yield " & ".join(map(_latex, table.header)) + r" \\"
        yield r"\midrule"
    for row in table.rows:
        yield " & ".join(map(_latex_cell, row)) + r" \\"
    yield r"\bottomrule"
    yield r"\end{tabular}"
    for note in table.notes:
        yield f"% {visible(note)}"


def _latex_cell(cell: Cell) -> str:
    text = _latex(cell.text)
    text = rf"\textbf{{{text}}}" if cell.is_best else text
    mark = f"$^{{{cell.mark}}}$" if cell.mark else ""
    interval = "" if cell.interval is None else rf" {{\small [{', '.join(map(_minus, cell.interval))}]}}"
    return f"{_minus(text)}{mark}{interval}"


def _latex(text: str) -> str:
    return LIGATURES.sub("{}", visible(text).translate(LATEX_SPECIAL))


def _minus(number: str) -> str:
    """A negative number with a real minus sign."""
    return f"$-${number[1:]}" if number[:1] == "-" and number[1:2].isdigit() else number
