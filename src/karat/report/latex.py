"""Tables for LaTeX, in the style of the package booktabs."""

import re
from collections.abc import Iterator

from karat.report.layout import printable
from karat.report.tables import Cell, Page, Table

SPECIAL = str.maketrans(
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

UNKNOWN = re.compile("[^\0-\u017f\u2010-\u2027\u20ac]")
"""Characters that pdfLaTeX does not print without further packages: most of those that are not Latin."""


def latex(page: Page) -> str:
    r"""One tabular per table; comments above, so that they travel with the table. Needs `\usepackage{booktabs}`."""
    comments = [f"% {printable(line)}" for line in page.comments]
    tables = ["\n".join(_lines(table)) for table in page.tables]
    needs = [r"% needs \usepackage{booktabs}"]
    if unknown := UNKNOWN.search("".join(tables)):
        needs.append(f"% characters such as {unknown[0]} need XeLaTeX or LuaLaTeX, and a font that has them")
    return "\n".join([*comments, *needs, "", "\n\n\\medskip\n\n".join(tables)]) + "\n"


def _lines(table: Table) -> Iterator[str]:
    columns = len(table.header) or len(table.rows[0])
    yield rf"\begin{{tabular}}{{{'l' * table.left}{'r' * (columns - table.left)}}}"
    yield r"\toprule"
    if table.header:
        yield " & ".join(map(_escaped, table.header)) + r" \\"
        yield r"\midrule"
    for row in table.rows:
        yield " & ".join(map(_cell, row)) + r" \\"
    yield r"\bottomrule"
    yield r"\end{tabular}"
    for note in table.notes:
        yield f"% {printable(note)}"


def _cell(cell: Cell) -> str:
    text = _escaped(cell.text)
    text = rf"\textbf{{{text}}}" if cell.is_best else text
    mark = f"$^{{{cell.mark}}}$" if cell.mark else ""
    interval = "" if cell.interval is None else rf" {{\small [{', '.join(map(_minus, cell.interval))}]}}"
    return f"{_minus(text)}{mark}{interval}"


def _escaped(text: str) -> str:
    return LIGATURES.sub("{}", printable(text).translate(SPECIAL))


def _minus(number: str) -> str:
    """A negative number with a real minus sign."""
    return f"$-${number[1:]}" if number[:1] == "-" and number[1:2].isdigit() else number
