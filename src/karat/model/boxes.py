"""Areas of boxes: a sweep over each page, from left to right.

The heights that boxes cover at the moment are kept in a segment tree, so that thousands of boxes in one place take
little longer than as many side by side.
"""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from math import fsum

from karat.model import Box, Boxes


def common_area(*sets: Boxes) -> float:
    """The area that boxes of every set cover; of one set, the area of their union."""
    pages: dict[int, list[tuple[int, Box]]] = {}
    for number, boxes in enumerate(sets):
        for box in boxes:
            pages.setdefault(box[0], []).append((number, box))
    return fsum([strip for page in pages.values() for strip in _strips(page, len(sets))])


def _strips(page: Sequence[tuple[int, Box]], sets: int) -> list[float]:
    """The areas of upright strips between the edges of boxes."""
    if len(page) == 1:
        return [page[0][1][3] * page[0][1][4]] if sets == 1 else []
    heights = sorted({edge for _, (_, _, top, _, height) in page for edge in (top, top + height)})
    covered = _Covered(heights, sets)
    edges = [(left, 1, number, top, top + height) for number, (_, left, top, _, height) in page]
    edges += [(left + width, -1, number, top, top + height) for number, (_, left, top, width, height) in page]
    strips: list[float] = []
    before = None
    for x, by, number, top, bottom in sorted(edges):
        if before is not None and x > before and (height := covered.height):
            strips.append((x - before) * height)
        before = x
        covered.change(number, bisect_left(heights, top), bisect_left(heights, bottom), by)
    return strips


class _Covered:
    """How much of a line is covered by every set: a segment tree.

    A node has, for each combination of sets (as bits), the length of its part of the line that they all cover.
    """

    def __init__(self, points: Sequence[float], sets: int) -> None:
        self._size = 1 << (len(points) - 2).bit_length()
        self._every = (1 << sets) - 1
        lengths = [after - before for before, after in pairwise(points)]
        lengths += [0.0] * (self._size - len(lengths))
        self._lengths = [0.0] * self._size + lengths
        for node in range(self._size - 1, 0, -1):
            self._lengths[node] = self._lengths[2 * node] + self._lengths[2 * node + 1]
        self._times = [[0] * sets for _ in self._lengths]
        """How often each set covers a node as a whole."""
        self._whole = [0] * len(self._lengths)
        """The sets that do, as bits."""
        self._covered = [[0.0] * (self._every + 1) for _ in self._lengths]

    @property
    def height(self) -> float:
        """The length that every set covers."""
        return self._covered[1][self._every]

    def change(self, number: int, first: int, last: int, by: int) -> None:
        """Add or remove a cover of one set from a point to another."""
        low, high = first + self._size, last + self._size
        changed = {low >> 1, (high - 1) >> 1}
        while low < high:
            if low & 1:
                self._cover(low, number, by)
                low += 1
            if high & 1:
                high -= 1
                self._cover(high, number, by)
            low, high = low >> 1, high >> 1
        while changed != {0}:
            for node in changed:
                self._add_up(node)
            changed = {node >> 1 for node in changed}

    def _cover(self, node: int, number: int, by: int) -> None:
        times = self._times[node]
        times[number] += by
        self._whole[node] = self._whole[node] & ~(1 << number) | (times[number] > 0) << number
        self._add_up(node)

    def _add_up(self, node: int) -> None:
        covered, whole = self._covered[node], self._whole[node]
        for sets in range(1, self._every + 1):
            left = sets & ~whole
            if not left:
                covered[sets] = self._lengths[node]
            elif node < self._size:
                covered[sets] = self._covered[2 * node][left] + self._covered[2 * node + 1][left]
            else:
                covered[sets] = 0.0
