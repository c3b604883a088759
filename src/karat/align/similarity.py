"""How alike two mentions are. Each function lists the pairs that are alike at all, ready to be sorted."""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate

from karat.model import Mention
from karat.regions import size

Candidates = list[tuple[float, int, int]]
"""(-similarity, system number, gold number), only pairs with a similarity above zero."""


def dice(gold: Sequence[Mention], system: Sequence[Mention]) -> Candidates:
    """Dice(G, S) = 2|T_G ∩ T_S| / (|T_G| + |T_S|), over characters or tokens (Liu et al. 2015, section 2.2).

    Both operands of the division are integers, so equal fractions are equal floats and ties are exact.
    """
    gold_sizes = [size(mention.span) for mention in gold]
    return [
        (-2 * common / (gold_sizes[g] + size(system[s].span)), s, g)
        for s, overlaps in enumerate(_overlaps(gold, system))
        for g, common in overlaps.items()
    ]


def _overlaps(gold: Sequence[Mention], system: Sequence[Mention]) -> Iterator[dict[int, int]]:
    """For each system mention: the gold mentions it overlaps, and by how much.

    Gold segments are sorted by their begin; `reach` is the furthest end so far. A system segment can only overlap those
    from the first whose reach goes past its begin to the last that begins before its end.
    """
    segments = sorted((begin, end, g) for g, mention in enumerate(gold) for begin, end in mention.span)
    begins = [begin for begin, _, _ in segments]
    reach = list(accumulate((end for _, end, _ in segments), max))
    for mention in system:
        common: dict[int, int] = {}
        for begin, end in mention.span:
            for gold_begin, gold_end, g in segments[bisect_right(reach, begin) : bisect_left(begins, end)]:
                if gold_end > begin:
                    common[g] = common.get(g, 0) + min(end, gold_end) - max(begin, gold_begin)
        yield common


SIMILARITIES: dict[str, Callable[[Sequence[Mention], Sequence[Mention]], Candidates]] = {"dice": dice}
