"""Regions of the source: how they are built, how large they are, and what two of them share."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from math import fsum
from operator import itemgetter

from karat.model import Box, Boxes, Mention, Region

_begin = itemgetter(0)

NOWHERE = 10**18
"""All texts end before it. An item of a system with an impossible span is placed after it, and matches nothing."""

NO_OFFSET = -NOWHERE
"""In place of an offset that is not a number, which was reported."""


def nowhere(written: str) -> tuple[int, int]:
    """Return a segment after all texts: the same one for the same impossible span."""
    from hashlib import blake2b

    begin = NOWHERE + int.from_bytes(blake2b(written.encode("utf-8", "replace"), digest_size=7).digest())
    return begin, begin + 1


def lacks_offset(written: object) -> bool:
    """Return whether a span has an offset that is not a number; 1 may have been added to an inclusive end."""
    return str(NO_OFFSET) in str(written) or str(NO_OFFSET + 1) in str(written)


def is_nowhere(region: Region | Boxes) -> bool:
    """Return whether a span was impossible as written."""
    return bool(region) and region[-1][0] >= NOWHERE


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
    """The number of characters or tokens."""
    if len(region) == 1:
        return region[0][1] - region[0][0]
    return sum(end - begin for begin, end in region)


def is_within(inner: Region, outer: Region) -> bool:
    """Return whether every segment of a region is inside a segment of another."""
    if len(inner) == len(outer) == 1:
        return outer[0][0] <= inner[0][0] and inner[0][1] <= outer[0][1]
    for first, last in inner:
        index = bisect_right(outer, first, key=_begin) - 1
        if index < 0 or last > outer[index][1]:
            return False
    return True


def place(mention: Mention, name: str = "span") -> Region | Boxes:
    """A region of a mention by its name: segments, or boxes where the source is an image; empty if it has none."""
    return mention.boxes.get(name, ()) if mention.boxes else getattr(mention, name) or ()


def extension(region: Region | Boxes) -> float:
    """The length, duration or area of the source that a region covers."""
    if region and len(region[0]) == 5:
        return _area(region)
    return size(region)  # type: ignore[arg-type]


def shared(one: Region | Boxes, other: Region | Boxes) -> float:
    """The length, duration or area of the source that two regions of one unit both cover."""
    if not one or not other:
        return 0
    if len(one[0]) == 5:
        return _area(_intersections(one, other))  # type: ignore[arg-type]
    if len(one) == len(other) == 1:
        return max(0, min(one[0][1], other[0][1]) - max(one[0][0], other[0][0]))
    return _common_length(one, other)  # type: ignore[arg-type]


def _common_length(one: Region, other: Region) -> int:
    """Advance along both regions, whose segments are in order, past the segment that ends first."""
    length = first = second = 0
    while first < len(one) and second < len(other):
        end = min(one[first][1], other[second][1])
        length += max(0, end - max(one[first][0], other[second][0]))
        if one[first][1] == end:
            first += 1
        else:
            second += 1
    return length


def _intersections(one: Boxes, other: Boxes) -> Iterator[Box]:
    """The boxes that each two boxes of one page have in common."""
    for page, left, top, width, height in one:
        for other_page, other_left, other_top, other_width, other_height in other:
            begin, upper = max(left, other_left), max(top, other_top)
            end, lower = min(left + width, other_left + other_width), min(top + height, other_top + other_height)
            if page == other_page and begin < end and upper < lower:
                yield page, begin, upper, end - begin, lower - upper


def _area(boxes: Iterable[Box]) -> float:
    """The area that boxes cover together."""
    pages: dict[int, list[Box]] = {}
    for box in boxes:
        pages.setdefault(box[0], []).append(box)
    return fsum([strip for page in pages.values() for strip in _strips(page)])


def _strips(boxes: Sequence[Box]) -> list[float]:
    """The covered areas of the upright strips between the edges of boxes of one page."""
    if len(boxes) == 1:
        return [boxes[0][3] * boxes[0][4]]
    edges = sorted({edge for _, left, _, width, _ in boxes for edge in (left, left + width)})
    strips = []
    for begin, end in pairwise(edges):
        covering = [box for box in boxes if box[1] <= begin and end <= box[1] + box[3]]
        heights = union([(top, top + height) for _, _, top, _, height in covering])  # type: ignore[misc]
        strips.append((end - begin) * fsum([lower - upper for upper, lower in heights]))
    return strips
