"""Brackets in the cell of a token, as CoNLL and CorefUD write mentions.

`(x` begins a mention of x, `x)` ends one, and `(x)` is a mention of one token.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

LONGEST_TEXT = 250
"""Tokens of the longest mention whose text is kept; long ones inside each other would be kept many times over."""

_BRACKET = re.compile(r"(\(?)([^()|\s]+)(\)?)")


class Bracket(NamedTuple):
    """One bracket of a cell."""

    opens: bool
    closes: bool
    name: str
    """What stands at the bracket: an id, or fields with an id among them."""
    at: int
    """Where in the cell it begins."""

    def __str__(self) -> str:
        return f"{'(' * self.opens}{self.name}{')' * self.closes}"


class CellError(Exception):
    """The cell is not made of brackets; `at` is where it stops being so."""

    def __init__(self, at: int) -> None:
        super().__init__(at)
        self.at = at


def brackets(cell: str) -> Iterator[Bracket]:
    """The brackets of a cell in their order, with one `|` or nothing between two of them."""
    at = 0
    while at < len(cell):
        if at and cell[at] == "|":
            at += 1
        found = _BRACKET.match(cell, at)
        if found is None or not (found[1] or found[3]):
            raise CellError(at)
        yield Bracket(bool(found[1]), bool(found[3]), found[2], at)
        at = found.end()


def place(line: bytes, rest: str) -> str:
    """Where the rest of a line begins that is in its last column, as a sentence begins with it."""
    columns = line.split(b"\t") if b"\t" in line else line.split()
    return f"column {len(columns)}, character {len(line.decode('utf-8')) - len(rest) + 1}"
