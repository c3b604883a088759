"""Alignment of documents in which more pairs of mentions are alike than could be listed.

The result is that of a similarity's list of pairs and a matching's walk over it (`similarities`, `matchings`), but a
pair is computed when it is needed. Mentions that no pair can tell apart, because they are in the same place and have
the same values of the attributes that count, form a class. Mentions that could never be paired, because a required
attribute differs, are separate problems.

The greedy walk takes the best pair of all, again and again. Each class of the system remembers its best partners. When
all of them are taken, they are computed again, as its turn comes. If all want the same partners, these are soon taken;
then gold's classes remember their partners as well, and whichever side has the closer bound decides.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import reduce
from heapq import heapify, heappop, heappush
from itertools import accumulate
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct

from karat.align.zeros import sentence, zeros
from karat.model import Mention, Pair, Region, Value
from karat.model.regions import size
from karat.plugin import Comparison

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vector = NDArray[Any]

MANY = 200_000
"""Pairs that are listed without a second thought: they take about 50 MB and a quarter of a second."""
UNCOUNTED = 10_000
"""Pairs of mentions that are not even counted, whatever they are; each may have hundreds of segments."""
EXACT = 1 << 52
"""Whole numbers whose sums floating point holds exactly."""
CLOSE, MOST_NEAR = 0.9, 256
"""A class remembers the first of the partners that are as good as the best, or nearly so if these are not many."""
ANY = -1
"""The number of a value that agrees with all others."""

Pairing = tuple[int, int, float]
"""A gold mention, a system mention (by number) and their similarity."""
Entry = tuple[float, int, int, int, int]
"""A pair in the order of trial: (-similarity, system mention, gold mention), then the classes of the two."""


def _span(mention: Mention) -> Hashable:
    return mention.span


def _span_or_id(mention: Mention) -> Hashable:
    return mention.span or mention.id


def _head(mention: Mention) -> Hashable:
    return mention.head or mention.span or mention.id


def _span_and_head(mention: Mention) -> Hashable:
    return mention.span or mention.id, mention.head


def _same_head(mention: Mention) -> Hashable:
    return mention.head


class Crowded(Struct, frozen=True):
    """What makes two mentions alike, in a similarity that can be computed for one mention against all others."""

    place: Callable[[Mention], Hashable]
    """What it compares."""
    overlapping: Callable[["Side", int, "Side", slice], "Vector"] | None = None
    """The similarity of a class to some of the other side; None: 1 for the same place."""
    apart: Callable[[Mention], Hashable] | None = None
    """Mentions that differ in it are never alike."""
    is_computed: bool = True
    """Whether it can really be computed so; else pairs are only counted."""

    def count(self, pair: Pair, gold: Sequence[Mention], system: Sequence[Mention]) -> int:
        """The number of pairs that are alike; of spans with several segments, a bound."""
        del pair
        if len(gold) * len(system) <= UNCOUNTED:
            return 0
        if self.overlapping is None:
            places = Counter(map(self.place, gold))
            return sum(places[place] for place in map(self.place, system))
        golds, systems = (self._regions(side) for side in (gold, system))
        return sum(overlap_count(regions, systems[key]) for key, regions in golds.items() if key in systems)

    def _regions(self, mentions: Sequence[Mention]) -> dict[Hashable, list[Region]]:
        regions: dict[Hashable, list[Region]] = {}
        for mention in mentions:
            regions.setdefault(None if self.apart is None else self.apart(mention), []).append(mention.span)
        return regions


class CrowdedZeros(Crowded, frozen=True):
    """Zeros, which are compared within their sentence."""

    def count(self, pair: Pair, gold: Sequence[Mention], system: Sequence[Mention]) -> int:
        """The number of pairs of zeros in one sentence."""
        if len(gold) * len(system) <= UNCOUNTED:
            return 0
        golds = Counter(sentence(pair.gold, node) for _, node in zeros(pair.gold, gold))
        return sum(golds[sentence(pair.system, node)] for _, node in zeros(pair.system, system))


def overlap_count(gold: Sequence[Region], system: Sequence[Region]) -> int:
    """The number of pairs of segments that overlap."""
    begins = sorted(begin for region in gold for begin, _ in region)
    ends = sorted(end for region in gold for _, end in region)
    return sum(bisect_left(begins, end) - bisect_right(ends, begin) for region in system for begin, end in region)


def _dice(own: "Side", number: int, other: "Side", window: slice) -> "Vector":
    dice: Vector = 2 * other.common(own.regions[number], window) / (other.sizes[window] + own.sizes[number])
    return dice.astype(float, copy=False)


def _overlap(own: "Side", number: int, other: "Side", window: slice) -> "Vector":
    import numpy as np

    same = other.places[window] == own.places[number]
    return np.where(other.common(own.regions[number], window) > 0, np.where(same, 1.0, 0.5), 0.0)


def _common(own: "Side", number: int, other: "Side", window: slice) -> "Vector":
    return other.common(own.regions[number], window).astype(float)


def _head_overlap(own: "Side", number: int, other: "Side", window: slice) -> "Vector":
    sizes = own.sizes[number] if own.is_gold else other.sizes[window]
    shares: Vector = other.common(own.regions[number], window) / sizes
    return shares.astype(float)


CROWDED = {
    "common": Crowded(_span, _common),
    "dice": Crowded(_span, _dice),
    "exact": Crowded(_span_or_id),
    "head": Crowded(_head),
    "head-overlap": Crowded(_span_and_head, _head_overlap, apart=_same_head),
    "identical": Crowded(_span_and_head),
    "overlap": Crowded(_span, _overlap),
    "partial": Crowded(_span, _head_overlap, is_computed=False),
    "zero-dependencies": CrowdedZeros(_span, is_computed=False),
}
"""By the name of the similarity."""


class Demand(Struct, frozen=True):
    """What an alignment demands of a pair."""

    similarity: Crowded
    comparison: Comparison
    agree: tuple[str, ...]
    rewarded: tuple[str, ...]
    threshold: float


class Side:
    """The classes of one side of a problem."""

    def __init__(self, mentions: Sequence[Mention], numbers: Sequence[int], keys: "Keys", *, is_gold: bool) -> None:
        import numpy as np

        classes: dict[tuple[int, ...], list[int]] = {}
        for number in numbers:
            classes.setdefault(keys.of(mentions[number], is_gold=is_gold), []).append(number)
        classes = dict(sorted(classes.items(), key=lambda item: mentions[item[1][0]].span[:1]))
        self.is_gold = is_gold
        self.members = [iter(members) for members in classes.values()]
        firsts = [next(members) for members in self.members]
        self.first = np.array(firsts, dtype=float)
        """The first free mention of each class; infinite if there is none."""
        self.is_free = np.ones(len(firsts))
        """1, or 0 if a class has no free mention."""
        self.places, *values = np.array(list(classes), dtype=int).T
        self.required = values[: keys.required]
        self.rewarded = values[keys.required :]
        self.regions: list[Region] = [mentions[number].span for number in firsts]
        segments = [segment for region in self.regions for segment in region]
        self.sizes: Vector = np.array([size(region) for region in self.regions], dtype=keys.number)
        self._begins: Vector = np.array([begin for begin, _ in segments], dtype=keys.number)
        self._ends: Vector = np.array([end for _, end in segments], dtype=keys.number)
        lengths = np.array([len(region) for region in self.regions])
        self._starts = None if (lengths == 1).all() else np.cumsum(lengths) - lengths
        self._first_begins = [begin for begin, _ in segments]
        self._reach = list(accumulate([end for _, end in segments], max))

    def __len__(self) -> int:
        return len(self.regions)

    def window(self, region: Region) -> slice:
        """The classes, which are sorted by their begin, among which are all that overlap a region."""
        if self._starts is not None or not region:
            return slice(0, len(self))
        return slice(bisect_right(self._reach, region[0][0]), bisect_left(self._first_begins, region[-1][1]))

    def common(self, region: Region, window: slice) -> "Vector":
        """How much of a region each class of a window has."""
        import numpy as np

        begins, ends = (
            (self._begins, self._ends) if self._starts is not None else (self._begins[window], self._ends[window])
        )
        parts = [np.maximum(np.minimum(ends, end) - np.maximum(begins, begin), 0) for begin, end in region]
        total = reduce(np.add, parts) if parts else np.zeros_like(begins)
        return total if self._starts is None else np.add.reduceat(total, self._starts)

    def take(self, number: int) -> None:
        """Use up the first free mention of a class."""
        self.first[number] = next(self.members[number], inf)
        self.is_free[number] = self.first[number] < inf


class Keys:
    """Numbers for places and values, by which the classes of a problem differ."""

    def __init__(self, demand: Demand, agree: Sequence[str], number: type) -> None:
        self._place, self._comparison = demand.similarity.place, demand.comparison
        self._names = [*agree, *demand.rewarded]
        self.required = len(agree)
        self.number = number
        """The type of offsets and sizes."""
        self._numbers: dict[tuple[str, Hashable], int] = {}

    def of(self, mention: Mention, *, is_gold: bool) -> tuple[int, ...]:
        """Place, required attributes, rewarded attributes."""
        place = self._numbers.setdefault(("", self._place(mention)), len(self._numbers))
        return (place, *(self._value(mention.attributes.get(name), name, is_gold) for name in self._names))

    def _value(self, value: Value | None, name: str, is_gold: bool) -> int:
        if is_gold and _is_wild(value, self._comparison):
            return ANY
        return self._numbers.setdefault((name, self._comparison.key(value)), len(self._numbers))


def _is_wild(value: Value | None, comparison: Comparison) -> bool:
    """Whether a value of gold agrees with all others."""
    key = comparison.key(value)
    return key is not None and key == comparison.key(comparison.wildcard)


class Nearest(NamedTuple):
    """The classes that come first in the order of trial for a class of the other side, the very first one last."""

    similarities: "Vector"
    firsts: "Vector"
    """The first free mention of each class, when they were found."""
    classes: "Vector"

    def only(self, chosen: "Vector") -> "Nearest":
        """Some of them, by number or by whether they are chosen."""
        return Nearest(self.similarities[chosen], self.firsts[chosen], self.classes[chosen])


class Partners:
    """The best partner of each class of one side, computed when its turn comes."""

    def __init__(self, own: Side, other: Side, demand: Demand) -> None:
        self._own, self._other, self._demand = own, other, demand
        self._near: dict[int, Nearest] = {}
        self.computed = 0
        """How often a class had to be compared with all others again."""
        free = own.is_free.nonzero()[0].tolist()
        entries = (self._entry(number, _nearest(own, number, other, demand)) for number in free)
        self._queue = [entry for entry in entries if entry is not None]
        heapify(self._queue)

    @property
    def next(self) -> Entry | None:
        """A pair before which none comes, though it may be out of date."""
        return self._queue[0] if self._queue else None

    def renew(self) -> None:
        """Find the next partner of the class whose turn it is."""
        entry = heappop(self._queue)
        number = entry[4] if self._own.is_gold else entry[3]
        fresh = self._entry(number, self._remembered(number)) if self._own.is_free[number] else None
        if fresh is not None:
            heappush(self._queue, fresh)

    def _remembered(self, number: int) -> Nearest:
        """The nearest partners that are still free; if none is left that is as it was, they are computed again."""
        near = self._near.get(number)
        if near is not None:
            near = near.only(self._other.is_free[near.classes] > 0)
        if near is None or not len(near.classes) or self._other.first[near.classes[-1]] != near.firsts[-1]:
            self.computed += 1
            near = _nearest(self._own, number, self._other, self._demand, MOST_NEAR)
        self._near[number] = near
        return near

    def _entry(self, number: int, near: Nearest) -> Entry | None:
        """The pair of a class and the nearest of these."""
        if not len(near.classes):
            return None
        mention, other_mention = int(self._own.first[number]), int(near.firsts[-1])
        negative, partner = -float(near.similarities[-1]), int(near.classes[-1])
        if self._own.is_gold:
            return negative, other_mention, mention, partner, number
        return negative, mention, other_mention, number, partner


def _nearest(own: Side, number: int, other: Side, demand: Demand, most: int = 1) -> Nearest:
    """The free classes that come first for a class, `most` or fewer."""
    import numpy as np

    window, alike = similarities(own, number, other, demand)
    alike *= other.is_free[window]
    best = alike.max(initial=0.0)
    near = (alike == best).nonzero()[0] if best > 0 else np.zeros(0, dtype=int)
    if 0 < len(near) < most:
        close = (alike >= best * CLOSE).nonzero()[0]
        near = close if len(close) <= most else near
    found = Nearest(alike[near], other.first[near + window.start], near + window.start)
    if len(near) > most:
        found = found.only(found.firsts.argpartition(most - 1)[:most])
    return found.only(np.lexsort((-found.firsts, found.similarities))) if most > 1 else found


def similarities(own: Side, number: int, other: Side, demand: Demand) -> "tuple[slice, Vector]":
    """The classes of the other side that may overlap a class, and their similarities, with what is rewarded.

    Where these are too low, they are 0.
    """
    import numpy as np

    overlapping = demand.similarity.overlapping
    window = slice(0, len(other)) if overlapping is None else other.window(own.regions[number])
    alike = np.ones(len(other)) if overlapping is None else overlapping(own, number, other, window)
    if own.rewarded:
        apart = alike <= 0
        rewarded = np.zeros(len(alike), dtype=int)
        # First how many agree, then the sum: as the list of pairs has it, to the last bit.
        for one, others in zip(own.rewarded, other.rewarded, strict=True):
            rewarded += _agreeing(one[number], others[window])
        alike += rewarded
        alike[apart] = 0.0
    if demand.threshold > 0:
        alike[alike < demand.threshold] = 0.0
    for one, others in zip(own.required, other.required, strict=True):
        alike *= _agreeing(one[number], others[window])
    return window, alike


def _agreeing(value: int, others: "Vector") -> "Vector":
    import numpy as np

    return np.ones(len(others), dtype=bool) if value == ANY else (others == value) | (others == ANY)


def greedy(gold: Side, system: Side, demand: Demand) -> Iterator[Pairing]:
    """The best pair of all whose two mentions are free, again and again."""
    systems = Partners(system, gold, demand)
    golds: Partners | None = None
    while (entry := systems.next) is not None:
        partners = systems
        if golds is not None:
            other = golds.next
            if other is None:
                return
            if other > entry:
                entry, partners = other, golds
        negative, s, g, system_class, gold_class = entry
        if system.first[system_class] == s and gold.first[gold_class] == g:
            yield g, s, -negative
            system.take(system_class)
            gold.take(gold_class)
        partners.renew()
        if golds is None and systems.computed > len(gold):  # as much work as to begin at the other side
            golds = Partners(gold, system, demand)


def many_to_one(gold: Side, system: Side, demand: Demand) -> Iterator[Pairing]:
    """The best partner of each mention of the system, free or not."""
    for number, others in enumerate(system.members):
        first = int(system.first[number])
        near = _nearest(system, number, gold, demand)
        for similarity, g in zip(near.similarities.tolist(), map(int, near.firsts), strict=True):
            yield from ((g, s, similarity) for s in (first, *others))


Method = Callable[[Side, Side, Demand], Iterator[Pairing]]
"""A matching that can do without a list of pairs."""

METHODS: dict[str, Method] = {"greedy": greedy, "many-to-one": many_to_one}


def matches(method: Method, gold: Sequence[Mention], system: Sequence[Mention], demand: Demand) -> list[Pairing]:
    """The pairs that a matching chooses, in the order of trial."""
    chosen: list[Pairing] = []
    agree, problems = _problems(gold, system, demand)
    furthest = max([mention.span[-1][1] for mention in (*gold, *system) if mention.span], default=0)
    number = float if furthest < EXACT else object  # Python's own numbers are exact, and slower
    for golds, systems in problems:
        keys = Keys(demand, agree, number)
        sides = Side(gold, golds, keys, is_gold=True), Side(system, systems, keys, is_gold=False)
        chosen.extend(method(*sides, demand))
    return sorted(chosen, key=lambda pairing: (-pairing[2], pairing[1], pairing[0]))


def _problems(
    gold: Sequence[Mention], system: Sequence[Mention], demand: Demand
) -> tuple[list[str], list[tuple[list[int], list[int]]]]:
    """The mentions of gold and system that could be paired at all, by number; and attributes still to be compared.

    Those are required attributes of which gold has a value that agrees with all others.
    """
    comparison, apart = demand.comparison, demand.similarity.apart
    wild = [name for name in demand.agree if any(_is_wild(one.attributes.get(name), comparison) for one in gold)]
    names = [name for name in demand.agree if name not in wild]
    is_overlapping = demand.similarity.overlapping is not None
    if not is_overlapping:
        apart = demand.similarity.place
    sides: list[dict[Hashable, list[int]]] = []
    for mentions in (gold, system):
        numbers_of: dict[Hashable, list[int]] = {}
        for number, mention in enumerate(mentions):
            if mention.span or not is_overlapping:
                values = tuple([comparison.key(mention.attributes.get(name)) for name in names])
                numbers_of.setdefault((values, None if apart is None else apart(mention)), []).append(number)
        sides.append(numbers_of)
    golds, systems = sides
    return wild, [(numbers, systems[key]) for key, numbers in golds.items() if key in systems]
