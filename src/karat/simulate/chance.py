"""Reproducible chance: the random numbers of one kind of error in one document, and drawing with them.

Only `random()` is asked for numbers: of all that `random.Random` offers, it alone is promised to give the same ones in
every version of Python.
"""

import hashlib
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate
from random import Random
from typing import Any, Generic, TypeVar

import msgspec

T = TypeVar("T")
BITS = 53  # of a random float; so many bits are drawn at once


def chance(seed: int, document: str, error: str) -> Random:
    """The random numbers of one kind of error in one document; they depend on nothing else."""
    key = msgspec.json.encode([str(seed), document, error])
    return Random(int.from_bytes(hashlib.sha256(key).digest()))


def struck(count: int, rate: float, random: Random) -> list[bool]:
    """Which of so many items an error strikes. A higher rate strikes the same ones, and more."""
    return [random.random() < rate for _ in range(count)]


def below(count: int, random: Random) -> int:
    """A number from 0 to `count` - 1, all equally likely."""
    return (int(random.random() * 2**BITS) * count) >> BITS


def pick(items: Sequence[T], random: Random) -> T:
    """One of the items, all equally likely."""
    return items[below(len(items), random)]


class Distribution(Generic[T]):
    """How often each value occurs, to draw others by. The order in which they were met does not show."""

    def __init__(self, counts: Mapping[T, int]) -> None:
        ordered: list[Any] = sorted(counts, key=lambda value: (type(value).__name__, str(value)))
        self.values: tuple[T, ...] = tuple(ordered)
        self._ends = list(accumulate(counts[value] for value in self.values))
        self._rank = {value: rank for rank, value in enumerate(self.values)}

    def __len__(self) -> int:
        return len(self.values)

    def draw(self, random: Random, *, but: T | None = None) -> T:
        """A value, as often as it occurs; `but` is one that must not be drawn."""
        rank = None if but is None else self._rank.get(but)
        if rank is None:
            return self.values[bisect_right(self._ends, below(self._ends[-1], random))]
        begin, end = self._ends[rank - 1] if rank else 0, self._ends[rank]
        number = below(self._ends[-1] - (end - begin), random)
        return self.values[bisect_right(self._ends, number if number < begin else number + end - begin)]
