"""How alike two mentions are. Each function lists the pairs that are alike at all, ready to be sorted."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate

from karat.model import Mention, Region
from karat.regions import size

Alike = list[tuple[float, int, int]]
"""(-similarity, system number, gold number), only pairs with a similarity above zero."""


def dice(gold: Sequence[Mention], system: Sequence[Mention]) -> Alike:
    """Dice(G, S) = 2|T_G ∩ T_S| / (|T_G| + |T_S|), over characters or tokens (Liu et al. 2015, section 2.2).

    Both operands of the division are integers, so equal fractions are equal floats and ties are exact.
    """
    gold_sizes = [size(mention.span) for mention in gold]
    candidates: Alike = []
    for s, overlaps in _overlaps(gold, system):
        system_size = size(system[s].span)
        for g, common in overlaps.items():
            candidates.append((-2 * common / (gold_sizes[g] + system_size), s, g))
    return candidates


def _overlaps(gold: Sequence[Mention], system: Sequence[Mention]) -> Iterator[tuple[int, dict[int, int]]]:
    """Each system mention that overlaps gold ones at all, with those and by how much.

    Gold segments are sorted by their begin; `reach` is the furthest end so far. A system segment can only overlap those
    from the first whose reach goes past its begin to the last that begins before its end.
    """
    segments = sorted([(begin, end, g) for g, mention in enumerate(gold) for begin, end in mention.span])
    begins = [segment[0] for segment in segments]
    reach = list(accumulate([segment[1] for segment in segments], max))
    for s, mention in enumerate(system):
        common: dict[int, int] = {}
        for begin, end in mention.span:
            for near in range(bisect_right(reach, begin), bisect_left(begins, end)):
                gold_begin, gold_end, g = segments[near]
                if gold_end > begin:
                    common[g] = common.get(g, 0) + min(end, gold_end) - max(begin, gold_begin)
        if common:
            yield s, common


def overlap(gold: Sequence[Mention], system: Sequence[Mention]) -> Alike:
    """1 for the same span, one half for spans that overlap (Chinchor 1992: correct and partial)."""
    return [
        (-1.0 if gold[g].span == system[s].span else -0.5, s, g)
        for s, overlaps in _overlaps(gold, system)
        for g in overlaps
    ]


def exact(gold: Sequence[Mention], system: Sequence[Mention]) -> Alike:
    """1 for the same span; mentions without a span are the same if their ids are."""
    places: dict[Region | str, list[int]] = {}
    for g, mention in enumerate(gold):
        places.setdefault(mention.span or mention.id, []).append(g)
    return [(-1.0, s, g) for s, mention in enumerate(system) for g in places.get(mention.span or mention.id, ())]


SIMILARITIES: dict[str, Callable[[Sequence[Mention], Sequence[Mention]], Alike]] = {
    "dice": dice,
    "exact": exact,
    "overlap": overlap,
}
