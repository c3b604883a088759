"""Words of documents in columns, made when someone asks for them: most scores need none."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import overload


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
        """Return the words of some tokens."""
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
