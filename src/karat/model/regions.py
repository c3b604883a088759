"""Regions of the source: how they are built, how large they are, and what two of them share."""

from bisect import bisect_right
from collections.abc import Iterable
from operator import itemgetter

from karat.model import Box, Boxes, Mention, Region
from karat.model.boxes import common_area

_begin = itemgetter(0)


def union(segments: Iterable[tuple[int, int]], *, touching: bool = False) -> Region:
    """Segments in order, overlapping ones made one; segments that only touch stay as written, unless `touching`."""
    merged: list[tuple[int, int]] = []
    for begin, end in sorted(segments):
        if merged and begin < merged[-1][1] + touching:
            merged[-1] = merged[-1][0], max(merged[-1][1], end)
        else:
            merged.append((begin, end))
    return tuple(merged)


def runs(numbers: Iterable[int]) -> Region:
    """Single positions as segments, neighbours joined."""
    segments: list[tuple[int, int]] = []
    for number in sorted(set(numbers)):
        if segments and number == segments[-1][1]:
            segments[-1] = segments[-1][0], number + 1
        else:
            segments.append((number, number + 1))
    return tuple(segments)


def size(region: Region) -> int:
    """How many characters or tokens."""
    if len(region) == 1:
        return region[0][1] - region[0][0]
    return sum(end - begin for begin, end in region)


def is_within(inner: Region, outer: Region) -> bool:
    """Whether every segment of a region is inside a segment of another."""
    if len(inner) == len(outer) == 1:
        return outer[0][0] <= inner[0][0] and inner[0][1] <= outer[0][1]
    for first, last in inner:
        number = bisect_right(outer, first, key=_begin) - 1
        if number < 0 or last > outer[number][1]:
            return False
    return True


def place(mention: Mention, name: str = "span") -> Region | Boxes:
    """A region of a mention by its name: segments, or boxes where the source is an image; empty if it has none."""
    return mention.boxes.get(name, ()) if mention.boxes else getattr(mention, name) or ()


def extension(region: Region | Boxes) -> float:
    """How much of the source a region covers: its length, its duration, or its area."""
    if region and len(region[0]) == 5:
        return common_area(region)  # type: ignore[arg-type]
    return size(region)  # type: ignore[arg-type]


def shared(one: Region | Boxes, other: Region | Boxes) -> float:
    """How much of the source two regions of one unit both cover."""
    if not one or not other:
        return 0
    if len(one) == len(other) == 1:
        if len(one[0]) == 5:
            common = _intersection(one[0], other[0])  # type: ignore[arg-type]
            return 0.0 if common is None else common_area((common,))
        return max(0, min(one[0][1], other[0][1]) - max(one[0][0], other[0][0]))
    if len(one[0]) == 5:
        return common_area(one, other)  # type: ignore[arg-type]
    return _common_length(one, other)  # type: ignore[arg-type]


def _common_length(one: Region, other: Region) -> int:
    """Segments are in order: the one that ends first has met all it can."""
    length = first = second = 0
    while first < len(one) and second < len(other):
        end = min(one[first][1], other[second][1])
        length += max(0, end - max(one[first][0], other[second][0]))
        if one[first][1] == end:
            first += 1
        else:
            second += 1
    return length


def _intersection(one: Box, other: Box) -> Box | None:
    """The box that two boxes have in common."""
    if one[0] != other[0]:
        return None
    left, top = max(one[1], other[1]), max(one[2], other[2])
    width = min(one[1] + one[3], other[1] + other[3]) - left
    height = min(one[2] + one[4], other[2] + other[4]) - top
    return (one[0], left, top, width, height) if width > 0 and height > 0 else None
