"""Brackets in the cell of a token, as CoNLL and CorefUD write mentions.

`(x` begins a mention of x, `x)` ends one, and `(x)` is a mention of one token.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

LONGEST_TEXT = 250
"""Tokens of the longest mention whose text is kept; the text of nested long mentions would be kept many times."""

_BRACKET = re.compile(r"(\(?)([^()|\s]+)(\)?)")


class Bracket(NamedTuple):
    """One bracket of a cell."""

    opens: bool
    closes: bool
    name: str
    """The text at the bracket: an id, or fields that include an id."""
    at: int
    """Its position in the cell."""

    def __str__(self) -> str:
        return f"{'(' * self.opens}{self.name}{')' * self.closes}"


class CellError(Exception):
    """The cell does not consist of brackets; `at` is the position of the first character that does not fit."""

    def __init__(self, at: int) -> None:
        super().__init__(at)
        self.at = at


def brackets(cell: str) -> Iterator[Bracket]:
    """The brackets of a cell in order, separated by one `|` or by nothing."""
    at = 0
    while at < len(cell):
        if at and cell[at] == "|":
            at += 1
        match = _BRACKET.match(cell, at)
        if match is None or not (match[1] or match[3]):
            raise CellError(at)
        yield Bracket(bool(match[1]), bool(match[3]), match[2], at)
        at = match.end()


def place(line: bytes, rest: int) -> str:
    """The position at which the last `rest` characters of a line begin, in its last column, for a message."""
    columns = line.split(b"\t") if b"\t" in line else line.split()
    return f"column {len(columns)}, character {len(line.decode('utf-8')) - rest + 1}"
