"""Similarities: how alike two mentions are. Each function yields all pairs with a similarity above zero."""

from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Iterator, Sequence, Set
from itertools import accumulate
from operator import itemgetter

from karat.limits import MOST_PAIRS
from karat.model import Document, EmptyNode, Mention, Pair, Region
from karat.plugin import Alike, DocumentSimilarity, Similarity
from karat.regions import is_within, size
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
    """Return the length of the overlap of each system and gold region that overlap, by their indexes.

    It stops after more pairs than karat compares, so that a crowded document is refused before it fills the memory.
    Gold segments are sorted by their begin; `reach` is the furthest end so far. A system segment can only overlap gold
    segments from the first whose reach is past its begin to the last that begins before its end.
    """
    segments = sorted([(begin, end, g) for g, region in enumerate(gold) for begin, end in region])
    begins = [segment[0] for segment in segments]
    reach = list(accumulate([segment[1] for segment in segments], max))
    common: dict[tuple[int, int], int] = {}
    for s, region in enumerate(system):
        if len(common) > MOST_PAIRS:
            break
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
    return ((-1.0, s, g) for s, place in enumerate(system) for g in places.get(place, ()))


def identical(gold: Sequence[Mention], system: Sequence[Mention]) -> Alike:
    """1 for the same span and the same head; mentions without a span match by id."""
    return _equal(
        [(mention.span or mention.id, mention.head) for mention in gold],
        [(mention.span or mention.id, mention.head) for mention in system],
    )


def common(gold: Sequence[Mention], system: Sequence[Mention]) -> Alike:
    """|G ∩ S|: the number of words (or characters) that two mentions share."""
    return [(-float(shared), s, g) for (s, g), shared in _overlaps(gold, system).items()]


def head_overlap(gold: Sequence[Mention], system: Sequence[Mention]) -> Alike:
    """|G ∩ S| / |G| for mentions with the same head: all mentions that contain the gold mention are alike."""
    systems_of = _by_head(system)
    for head_, golds in _by_head(gold).items():
        systems = systems_of.get(head_, [])
        for (s, g), shared in _overlaps([gold[g] for g in golds], [system[s] for s in systems]).items():
            yield -shared / size(gold[golds[g]].span), systems[s], golds[g]


def _by_head(mentions: Sequence[Mention]) -> dict[Region | None, list[int]]:
    """Return the indexes of the mentions with each head."""
    indexes: dict[Region | None, list[int]] = {}
    for index, mention in enumerate(mentions):
        indexes.setdefault(mention.head, []).append(index)
    return indexes


def partial(gold: Sequence[Mention], system: Sequence[Mention]) -> Alike:
    """|S| / |G| for a system mention inside the gold mention that contains the head of the gold mention."""
    return (
        (-shared / size(gold[g].span), s, g)
        for (s, g), shared in _overlaps(gold, system).items()
        if shared == size(system[s].span) and is_within(gold[g].head or gold[g].span, system[s].span)
    )


def none(gold: Sequence[Mention], system: Sequence[Mention]) -> Alike:
    """No two mentions are alike: an alignment that other alignments come after can be switched off."""
    del gold, system
    return ()


def by_dependencies(pair: Pair, gold: Sequence[Mention], system: Sequence[Mention]) -> Alike:
    """10 · F1(D_G, D_S) + F1(P_G, P_S) for zeros of one sentence: their dependencies D, and the parents P in these.

    A dependency is a parent with its relation, in the enhanced dependencies of the head.
    """
    candidates: dict[int, list[tuple[int, EmptyNode]]] = {}
    for g, node in zeros(pair.gold, gold):
        candidates.setdefault(_sentence(pair.gold, node), []).append((g, node))
    for s, node in zeros(pair.system, system) if candidates else ():
        for g, other in candidates.get(_sentence(pair.system, node), ()):
            dependencies = _f1(set(other.dependencies), set(node.dependencies))
            parents = _f1({parent for parent, _ in other.dependencies}, {parent for parent, _ in node.dependencies})
            if parents:  # zeros that share a dependency share its parent
                yield -(10 * dependencies + parents), s, g


def zeros(document: Document, mentions: Sequence[Mention]) -> Iterator[tuple[int, EmptyNode]]:
    """Yield the zeros (mentions whose head is an empty node, such as a dropped pronoun): index and node of each."""
    nodes = {node.token: node for node in document.empty_nodes}
    for index, mention in enumerate(mentions) if nodes else ():
        head = mention.head or mention.span
        if len(head) == 1 and head[0][1] - head[0][0] == 1 and head[0][0] in nodes:
            yield index, nodes[head[0][0]]


def _sentence(document: Document, node: EmptyNode) -> int:
    """Return the index of the sentence after that of an empty node."""
    return bisect_right(document.sentences, node.token, key=itemgetter(0))


def _f1(gold: Set[object], system: Set[object]) -> float:
    """2|G ∩ S| / (|G| + |S|); 0 for two empty sets."""
    size = len(gold) + len(system)
    return 2 * len(gold & system) / size if size else 0.0


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
