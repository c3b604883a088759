"""Formulas as MathML, which browsers set without a script: from the plain notation that `karat explain` prints.

Letters and defined symbols become variables, `_` a subscript, `²` a power; words stay words. A fraction keeps its
slash, so that nothing is read into a formula. Columns, which two blanks or more separate, stay columns.
"""

import html
import re
from collections.abc import Iterable, Iterator

TOKEN = re.compile(r"\s+|[A-Z]\d|[A-Za-z]+(?:[-'][A-Za-z]+)*|\d+(?:[.,]\d+)*|.")
WORD = re.compile(r"[A-Za-z][A-Za-z'-]+|[A-Z]\d")
POWERS = {"²": "2", "³": "3"}
MINUS = "\u2212"
MATHS = re.compile(r"[=|/·∩Σ√_]|\b[A-Za-z]\(|\bP\d")
"""A cell that is more than words."""
CLOSE = "()[]|,;"
"""Operators without space of their own."""


def formula(text: str, symbols: Iterable[str] = ()) -> str:
    """A block of formulas, with the symbols that a card defines."""
    defined = sorted(
        {name for key in symbols for name in re.split(r",\s*|\(.*?\)", key) if name}, key=len, reverse=True
    )
    cells = [[(match.start(), match[0]) for match in re.finditer(r"\S+(?: \S+)*", line)] for line in text.splitlines()]
    columns = sorted({start for line in cells for start, _ in line})
    rows = []
    for line in cells:
        row, done = "", 0
        for index, (start, cell) in enumerate(line):
            end = columns.index(line[index + 1][0]) if index + 1 < len(line) else len(columns)
            place = columns.index(start)
            row += "<td></td>" * (place - done) + f'<td colspan="{end - place}">{_math(cell, defined)}</td>'
            done = end
        rows.append(f"<tr>{row}</tr>")
    return f'<table class="formula"><tbody>{"".join(rows)}</tbody></table>'


def _math(cell: str, defined: list[str]) -> str:
    """A cell as MathML; words alone stay text."""
    if not MATHS.search(cell):
        return html.escape(cell)
    pieces = list(_tokens(cell, defined))
    elements = []
    for index, (kind, token) in enumerate(pieces):
        if kind != "blank":
            elements.append(_element(kind, token))
        elif _is_apart(pieces[index - 1], pieces[index + 1]):
            elements.append('<mspace width="0.35em"/>')
    return f"<math>{''.join(elements)}</math>"


def _is_apart(before: tuple[str, str], after: tuple[str, str]) -> bool:
    """True if a blank between two tokens shows: operators bring their own space."""
    closed = before[1] in ",;:" or (before[1] in ")]|" and after[0] in ("word", "variable"))
    return closed or "operator" not in (before[0], after[0])


def _tokens(cell: str, defined: list[str]) -> Iterator[tuple[str, str]]:
    place = 0
    while place < len(cell):
        symbol = next((name for name in defined if _is_at(name, cell, place)), None)
        match = TOKEN.match(cell, place)
        assert match is not None, "any character is a token"
        token = symbol or match[0]
        place += len(token)
        subscript = re.match(r"_[A-Za-z]+(?:-[A-Za-z]+)*", cell[place:]) if symbol is None and token.isalpha() else None
        if subscript:
            token, place = token + subscript[0], place + len(subscript[0])
        if token.isspace():
            yield "blank", token
        elif symbol or subscript or (token.isalpha() and len(token) == 1 and token not in "ΣΠ"):
            yield "variable", token
        else:
            yield "word" if WORD.fullmatch(token) else "number" if token[0].isdigit() else "operator", token


def _is_at(name: str, cell: str, place: int) -> bool:
    """True if a defined symbol stands there, and not only as a part of a word."""
    before, after = cell[place - 1 : place], cell[place + len(name) : place + len(name) + 1]
    joined = ((before + name[:1]).isalnum() and before != "") or (after != "" and (name[-1:] + after).isalnum())
    return cell.startswith(name, place) and not joined and name[:1].isalpha()


def _element(kind: str, token: str) -> str:
    if kind == "variable":
        base, _, below = token.partition("_")
        return f"<msub>{_name(base)}{_name(below)}</msub>" if below else _name(base)
    if token in POWERS:
        return f"<msup><mrow></mrow><mn>{POWERS[token]}</mn></msup>"
    if kind == "operator":
        space = ' lspace="0" rspace="0"' if token in CLOSE else ""
        return f'<mo stretchy="false" largeop="false"{space}>{html.escape(MINUS if token == "-" else token)}</mo>'
    tag = "mtext" if kind == "word" else "mn"
    return f"<{tag}>{html.escape(token)}</{tag}>"


def _name(text: str) -> str:
    return f"<mi>{html.escape(text)}</mi>" if len(text) == 1 else f"<mtext>{html.escape(text)}</mtext>"
