"""Columns of CoNLL and CorefUD: brackets in the last one, and the words.

`(x` begins a mention of x, `x)` ends one, and `(x)` is a mention of one token. Words are made when someone asks for
them: most scores need none.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple, overload

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


class Words(ABC, Sequence[str]):
    """The words of a document, one per token; equal to the tuple of them."""

    def __init__(self, data: bytes, count: int) -> None:
        """`data` are the lines of the document, `count` is the number of its tokens."""
        self._data, self._count = data, count

    @property
    @abstractmethod
    def column(self) -> int:
        """The index of the column with the words."""

    @property
    @abstractmethod
    def rows(self) -> Sequence[bytes]:
        """The line of each token."""

    @abstractmethod
    def words(self, rows: Iterable[bytes]) -> list[bytes]:
        """Return the word of each line."""

    def of(self, tokens: Iterable[int]) -> dict[int, str]:
        chosen = [*tokens]
        words = self.words([self.rows[token] for token in chosen])
        return {token: word.decode("utf-8") for token, word in zip(chosen, words, strict=True)}

    @cached_property
    def _words(self) -> tuple[str, ...]:
        words = b"\n".join(self.words(self.rows))
        return tuple(words.decode("utf-8").split("\n"))  # one text is decoded faster than many words

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[str, ...]: ...
    def __getitem__(self, index: int | slice) -> str | tuple[str, ...]:
        return self._words[index]

    def __iter__(self) -> Iterator[str]:
        return iter(self._words)

    def __eq__(self, other: object) -> bool:
        """Of words in the same column, only those in lines that differ are compared."""
        if not isinstance(other, Words):
            return self._words == other
        if len(self) != len(other) or self.column != other.column:
            return self._words == other._words
        pairs = zip(self.rows, other.rows, strict=True)
        different = [(mine, theirs) for mine, theirs in pairs if mine != theirs]
        return self.words([mine for mine, _ in different]) == other.words([theirs for _, theirs in different])

    def __hash__(self) -> int:
        return hash(self._words)

    def __repr__(self) -> str:
        return repr(self._words)
