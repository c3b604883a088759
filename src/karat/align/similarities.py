"""Similarities: how alike two mentions are. Each function lists all pairs with a similarity above zero."""

from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Sequence
from itertools import accumulate

from karat.align.zeros import by_dependencies
from karat.model import Mention, Region
from karat.model.regions import is_within, size
from karat.plugin import Alike, DocumentSimilarity, Similarity
from karat.registry import Registry, function, named


def dice(gold: Sequence[Mention], system: Sequence[Mention]) -> Alike:
    """Dice(G, S) = 2|T_G ∩ T_S| / (|T_G| + |T_S|), T: characters or tokens of a span (Liu et al. 2015, section 2.2).

    Both operands of the division are integers, so equal fractions are equal floats and ties are exact.
    """
    gold_sizes = [size(mention.span) for mention in gold]
    system_sizes = [size(mention.span) for mention in system]
    return [
        (-2 * common / (gold_sizes[g] + system_sizes[s]), s, g) for (s, g), common in _overlaps(gold, system).items()
    ]


def _overlaps(gold: Sequence[Mention], system: Sequence[Mention]) -> dict[tuple[int, int], int]:
    return overlaps([mention.span for mention in gold], [mention.span for mention in system])


def overlaps(gold: Sequence[Region], system: Sequence[Region]) -> dict[tuple[int, int], int]:
    """The length of the overlap of each system and gold region that overlap: (system, gold) to length.

    Gold segments are sorted by their begin; `reach` is the furthest end so far. A system segment can only overlap gold
    segments from the first whose reach is past its begin to the last that begins before its end.
    """
    segments = sorted([(begin, end, g) for g, region in enumerate(gold) for begin, end in region])
    begins = [segment[0] for segment in segments]
    reach = list(accumulate([segment[1] for segment in segments], max))
    common: dict[tuple[int, int], int] = {}
    for s, region in enumerate(system):
        for begin, end in region:
            for gold_begin, gold_end, g in segments[bisect_right(reach, begin) : bisect_left(begins, end)]:
                if gold_end > begin:
                    # Inlined: calls of min and max would take a third of this function's time.
                    first = begin if begin > gold_begin else gold_begin
                    last = end if end < gold_end else gold_end
                    common[s, g] = common.get((s, g), 0) + last - first
    return common


def overlap(gold: Sequence[Mention], system: Sequence[Mention]) -> Alike:
    """1 for the same span, one half for spans that overlap (Chinchor 1992: correct and partial)."""
    return [(-1.0 if gold[g].span == system[s].span else -0.5, s, g) for s, g in _overlaps(gold, system)]


def exact(gold: Sequence[Mention], system: Sequence[Mention]) -> Alike:
    """1 for the same span; mentions without a span match by id."""
    return _equal([mention.span or mention.id for mention in gold], [mention.span or mention.id for mention in system])


def head(gold: Sequence[Mention], system: Sequence[Mention]) -> Alike:
    """1 for the same head; a mention without a head matches by its span."""
    return _equal(
        [mention.head or mention.span or mention.id for mention in gold],
        [mention.head or mention.span or mention.id for mention in system],
    )


def _equal(gold: Sequence[Hashable], system: Sequence[Hashable]) -> Alike:
    places: dict[Hashable, list[int]] = {}
    for g, place in enumerate(gold):
        places.setdefault(place, []).append(g)
    return [(-1.0, s, g) for s, place in enumerate(system) for g in places.get(place, ())]


def identical(gold: Sequence[Mention], system: Sequence[Mention]) -> Alike:
    """1 for the same span and the same head; mentions without a span match by id."""
    return _equal(
        [(mention.span or mention.id, mention.head) for mention in gold],
        [(mention.span or mention.id, mention.head) for mention in system],
    )


def common(gold: Sequence[Mention], system: Sequence[Mention]) -> Alike:
    """How many words (or characters) two mentions share: |G ∩ S|."""
    return [(-float(shared), s, g) for (s, g), shared in _overlaps(gold, system).items()]


def head_overlap(gold: Sequence[Mention], system: Sequence[Mention]) -> Alike:
    """|G ∩ S| / |G| for mentions with the same head: all mentions that contain the gold mention are alike."""
    systems = _by_head(system)
    alike: Alike = []
    for head_, golds in _by_head(gold).items():
        others = systems.get(head_, [])
        both = _overlaps([gold[g] for g in golds], [system[s] for s in others])
        alike += [(-shared / size(gold[golds[g]].span), others[s], golds[g]) for (s, g), shared in both.items()]
    return alike


def _by_head(mentions: Sequence[Mention]) -> dict[Region | None, list[int]]:
    """The numbers of the mentions with each head."""
    numbers: dict[Region | None, list[int]] = {}
    for number, mention in enumerate(mentions):
        numbers.setdefault(mention.head, []).append(number)
    return numbers


def partial(gold: Sequence[Mention], system: Sequence[Mention]) -> Alike:
    """|S| / |G| for a system mention inside the gold mention that contains the head of the gold mention."""
    return [
        (-shared / size(gold[g].span), s, g)
        for (s, g), shared in _overlaps(gold, system).items()
        if shared == size(system[s].span) and is_within(gold[g].head or gold[g].span, system[s].span)
    ]


def none(gold: Sequence[Mention], system: Sequence[Mention]) -> Alike:
    """No two mentions are alike: an alignment that other alignments come after can be switched off."""
    del gold, system
    return []


SIMILARITIES: Registry[Similarity | DocumentSimilarity] = Registry(
    "karat.similarities",
    "similarity",
    own=lambda: named(
        common=common,
        dice=dice,
        exact=exact,
        head=head,
        head_overlap=head_overlap,
        identical=identical,
        none=none,
        overlap=overlap,
        partial=partial,
        zero_dependencies=DocumentSimilarity(by_dependencies),
    ),
    accept=function,
)
