r"""LaTeX tables for papers: one float per table, with a caption and a label. Needs `\usepackage{booktabs}`."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple
from zlib import crc32

from karat.problems import visible
from karat.report.tables import SHORT, UNDEFINED, Cell, Page, Table

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
NOT_IN_LATEX = re.compile("[^\0-\u017f\u2010-\u2027\u20ac]")
"""Characters that pdfLaTeX does not print without further packages: most of those that are not Latin."""

COLUMN, PAGE = 219, 455
"""Points of one column and of both, in an ACL paper (7.7 and 16 cm); those of most other papers are wider."""


class Size(NamedTuple):
    """A size of text, and of the intervals in it: their widths as shares of those at 10 points."""

    name: str
    share: float
    interval: str
    interval_share: float


SIZES = (
    Size("small", 0.925, "scriptsize", 0.8),
    Size("footnotesize", 0.85, "scriptsize", 0.8),
    Size("scriptsize", 0.8, "tiny", 0.68),
)
GAP = 6
"""Points between two columns of a table."""
ALIKE = {2.8: "il.,:;'|![]", 3.4: "j I", 4.0: "frst()", 4.5: "cez", 5.0: "ago0123456789_*", 9.2: "mwMW"}
WIDTHS = {letter: points for points, letters in ALIKE.items() for letter in letters}
"""Points of characters of Computer Modern at 10 points. Others are a `LETTER`, a `CAPITAL`, or not ASCII (`WIDE`)."""
LETTER, CAPITAL, WIDE = 5.6, 7.8, 10.0


def latex(pages: Sequence[Page], *, wide: bool = False) -> str:
    """The tables of each page as floats of one column, or of two."""
    floats = ["\n".join(_float(page, index, wide=wide)) for page in pages for index in range(len(page.tables))]
    needs = ["booktabs", *["graphicx"] * any(r"\resizebox" in text for text in floats)]
    head = ["% needs " + ", ".join(rf"\usepackage{{{package}}}" for package in needs)]
    if unknown := NOT_IN_LATEX.search("".join(floats)):
        head.append(f"% characters such as {unknown[0]} need XeLaTeX or LuaLaTeX, and a font that has them")
    return "\n".join([*head, "", "\n\n".join(floats)]) + "\n"


def _float(page: Page, number: int, *, wide: bool) -> Iterator[str]:
    table = page.tables[number]
    environment, room = ("table*", PAGE) if wide else ("table", COLUMN)
    layout = _Layout(table, room)
    yield rf"\begin{{{environment}}}[t]"
    yield rf"\centering\{layout.size.name}\setlength{{\tabcolsep}}{{{GAP // 2}pt}}"
    for index, columns in enumerate(layout.blocks()):
        if index:
            yield r"\par\medskip"
        yield from layout.tabular(columns)
    label = f"tab:karat-{crc32(repr(page).encode()):08x}"  # unique in a paper with several outputs
    yield rf"\caption{{{_caption(page, number, f'{label}-1')}}}"
    yield rf"\label{{{label}-{number + 1}}}"
    yield rf"\end{{{environment}}}"
    for note in table.notes:
        yield f"% {visible(note)}"


def _caption(page: Page, number: int, first: str) -> str:
    """Explain how the numbers were made and what the marks mean, in full for the first table."""
    table = page.tables[number]
    cells = [cell for row in table.rows for cell in row]
    marks = ["Bold: best."] * any(cell.is_best for cell in cells)
    marks += [f"{UNDEFINED}: undefined."] * any(cell.text == UNDEFINED for cell in cells)
    if number:
        what = table.header[0] if table.header else "More"
        return " ".join([rf"{_text(what)}, as in Table~\ref{{{first}}}.", *map(_text, marks)])
    sentences = [*(f"{line}." for line in page.caption), *marks, "Signature:"]
    return " ".join([*map(_text, sentences), *(rf"\texttt{{{_breakable(line)}}}" for line in page.signatures)])


def _breakable(signature: str) -> str:
    return re.sub(r"(\\textbar\{\}|=)", r"\1\\allowbreak{}", _text(signature))


# Columns


class _Layout:
    """A table in the largest size in which it fits; if it fits in none, in several tables below each other."""

    def __init__(self, table: Table, room: int) -> None:
        self._table, self._room = table, room
        self._count = len(table.header) or len(table.rows[0])
        names = [("", name) if index < table.left else _grouped(name) for index, name in enumerate(table.header)]
        self._names = names or [("", "")] * self._count
        fitting = (size for size in SIZES if self._width(range(self._count), size) <= room)
        self.size = next(fitting, SIZES[-1])

    def blocks(self) -> Iterator[list[int]]:
        """The columns of each table: the first ones in every one, the others as far as they fit."""
        left = self._table.left
        columns = list(range(left))
        for _, run in groupby(range(left, self._count), key=self._group):
            added = list(run)
            if len(columns) > left and self._width([*columns, *added], self.size) > self._room:
                yield columns
                columns = list(range(left))
            columns += added
        yield columns

    def tabular(self, columns: Sequence[int]) -> list[str]:
        """The lines of a table of some columns."""
        lines = [rf"\begin{{tabular}}{{{''.join('l' if c < self._table.left else 'r' for c in columns)}}}", r"\toprule"]
        groups = [(group, len(list(run))) for group, run in groupby(self._names[column][0] for column in columns)]
        if any(group for group, _ in groups):
            cells, rules, place = [], [], 1
            for group, size in groups:
                cells += [rf"\multicolumn{{{size}}}{{c}}{{{_text(group)}}}"] if group else [""] * size
                rules += [rf"\cmidrule(lr){{{place}-{place + size - 1}}}"] * bool(group)
                place += size
            lines += [" & ".join(cells) + r" \\", "".join(rules)]
        if self._table.header:
            lines += [" & ".join(_text(self._names[column][1]) for column in columns) + r" \\", r"\midrule"]
        lines += [" & ".join(_cell(row[column], self.size) for column in columns) + r" \\" for row in self._table.rows]
        lines += [r"\bottomrule", r"\end{tabular}"]
        if self._width(columns, self.size) > self._room:
            return [r"\resizebox{\linewidth}{!}{%", *lines[:-1], f"{lines[-1]}}}"]
        return lines

    def _group(self, column: int) -> object:
        """Columns of one group are in one table, and so are P, R and F1."""
        group, name = self._names[column]
        return group or (SHORT if name in SHORT.values() else column)

    def _width(self, columns: Iterable[int], size: Size) -> float:
        """Points that columns take, at most."""
        total = 0.0
        for group, run in groupby(columns, key=self._group):
            widths = [
                max(_points(self._names[c][1], size), *(_cell_points(row[c], size) for row in self._table.rows)) + GAP
                for c in run
            ]
            total += max(sum(widths), _points(group, size) + GAP if isinstance(group, str) else 0)
        return total


def _grouped(name: str) -> tuple[str, str]:
    """A column's group and name: `micro P` is P of micro."""
    for score in sorted((*SHORT.values(), "accuracy", "score"), key=len, reverse=True):
        if name.endswith(f" {score}"):
            return name.removesuffix(f" {score}"), score
    return "", name


def _cell_points(cell: Cell, size: Size) -> float:
    interval = "" if cell.interval is None else f" [{', '.join(cell.interval)}]"
    points = _points(f"{cell.text}{cell.mark}", size) * (1.15 if cell.is_best else 1)
    return points + _points(interval, size._replace(share=size.interval_share))


def _points(text: str, size: Size) -> float:
    return size.share * sum(
        (WIDTHS.get(letter) or (CAPITAL if letter.isupper() or letter in "+-<>=%&$#~^\\{}" else LETTER))
        if letter.isascii()
        else WIDE
        for letter in text
    )


# Text


def _cell(cell: Cell, size: Size) -> str:
    text = _text(cell.text)
    text = rf"\textbf{{{text}}}" if cell.is_best else text
    mark = f"$^{{{cell.mark}}}$" if cell.mark else ""
    interval = "" if cell.interval is None else rf" {{\{size.interval} [{', '.join(map(_minus, cell.interval))}]}}"
    return f"{_minus(text)}{mark}{interval}"


def _text(text: str) -> str:
    return LIGATURES.sub("{}", visible(text).translate(SPECIAL))


def _minus(number: str) -> str:
    """A negative number with a real minus sign."""
    return f"$-${number[1:]}" if number[:1] == "-" and number[1:2].isdigit() else number
