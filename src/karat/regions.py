"""What can be asked of a region of the source."""

from collections.abc import Iterable

from karat.model import Region


def union(segments: Iterable[tuple[int, int]]) -> Region:
    """Segments in order, overlapping ones made one; segments that only touch stay as they were written."""
    merged: list[tuple[int, int]] = []
    for begin, end in sorted(segments):
        if merged and begin < merged[-1][1]:
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
