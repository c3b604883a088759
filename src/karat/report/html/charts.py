"""Charts as numbers: where bars and intervals are, in percent of the width. Templates draw them as inline SVG."""

from collections.abc import Iterable, Sequence
from math import ceil, floor
from typing import NamedTuple

from karat.counts import Interval


class Segment(NamedTuple):
    """A part of a bar."""

    x: float
    width: float
    tone: str


class Whisker(NamedTuple):
    """A score and its interval on an axis; without an interval, both ends are the score."""

    low: float
    value: float
    high: float


class Axis(NamedTuple):
    """The range of fractions that a chart shows."""

    low: float
    high: float

    @classmethod
    def around(cls, values: Iterable[float]) -> "Axis":
        """An axis of whole tens of percent that has room for all values; from 0 to 1 if there are none."""
        known = list(values)
        if not known:
            return cls(0.0, 1.0)
        low, high = floor(10 * min(known)) / 10, ceil(10 * max(known)) / 10
        return cls(low, high) if high > low else cls(low - 0.1, high + 0.1) if high == low else cls(0.0, 1.0)

    def place(self, value: float) -> float:
        """Where a value is, in percent."""
        return round(100 * (value - self.low) / (self.high - self.low), 2)

    def whisker(self, value: float | None, interval: Interval | None) -> Whisker | None:
        """A score and its interval; None if the score is undefined."""
        if value is None:
            return None
        low, high = interval or (value, value)
        return Whisker(self.place(low), self.place(value), self.place(high))


def stacked(parts: Sequence[tuple[str, float]], total: float) -> list[Segment]:
    """The parts of a bar, each with its tone, one after another; a bar of `total` has the whole width."""
    segments = []
    x = 0.0
    for tone, number in parts:
        width = 100 * number / total if total else 0.0
        if number:
            segments.append(Segment(round(x, 2), round(width, 2), tone))
        x += width
    return segments
