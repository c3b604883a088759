"""Regions of the source: how they are built, how large they are, and what two of them share."""

from bisect import bisect_right
from collections.abc import Iterable
from itertools import pairwise
from math import fsum
from operator import itemgetter

from karat.model import Box, Boxes, Mention, Region

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
        return _area(region)
    return size(region)  # type: ignore[arg-type]


def shared(one: Region | Boxes, other: Region | Boxes) -> float:
    """How much of the source two regions of one unit both cover."""
    if not one or not other:
        return 0
    if len(one[0]) == 5:
        common = [_intersection(a, b) for a in one for b in other]  # type: ignore[arg-type]
        return _area([box for box in common if box is not None])
    if len(one) == len(other) == 1:
        return max(0, min(one[0][1], other[0][1]) - max(one[0][0], other[0][0]))
    return sum(max(0, min(a[1], b[1]) - max(a[0], b[0])) for a in one for b in other)


def _intersection(one: Box, other: Box) -> Box | None:
    """The box that two boxes have in common."""
    if one[0] != other[0]:
        return None
    left, top = max(one[1], other[1]), max(one[2], other[2])
    width = min(one[1] + one[3], other[1] + other[3]) - left
    height = min(one[2] + one[4], other[2] + other[4]) - top
    return (one[0], left, top, width, height) if width > 0 and height > 0 else None


def _area(boxes: Iterable[Box]) -> float:
    """The area of the union, in upright strips in which the same boxes stand side by side."""
    pages: dict[int, list[Box]] = {}
    for box in boxes:
        pages.setdefault(box[0], []).append(box)
    strips: list[float] = []
    for page in pages.values():
        if len(page) == 1:
            strips.append(page[0][3] * page[0][4])
            continue
        edges = sorted({edge for box in page for edge in (box[1], box[1] + box[3])})
        for left, right in pairwise(edges):
            reach = None
            for top, bottom in sorted((b[2], b[2] + b[4]) for b in page if b[1] <= left and right <= b[1] + b[3]):
                if reach is None or bottom > reach:
                    strips.append((right - left) * (bottom - (top if reach is None else max(top, reach))))
                    reach = bottom
    return fsum(strips)
