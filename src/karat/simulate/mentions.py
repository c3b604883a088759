"""Errors of mentions: missed, split, merged, with a wrong boundary, spurious."""

from bisect import bisect_right, insort
from collections.abc import Iterable
from itertools import chain
from operator import itemgetter
from random import Random
from typing import Any

from msgspec.structs import replace

from karat.model import Document, Mention, Region, Value
from karat.regions import is_within, size, union
from karat.simulate.profile import Names, Profile, below, draw_hits, typed
from karat.simulate.validity import ClusterSpans, pruned

SHIFTS = (-2, -1, 1, 2)


def miss(document: Document, rate: float, random: Random) -> tuple[Document, int]:
    """Drop mentions, with their links."""
    hits = draw_hits(len(document.mentions), rate, random)
    kept = tuple(mention for mention, hit in zip(document.mentions, hits, strict=True) if not hit)
    return pruned(replace(document, mentions=kept), document), sum(hits)


def split(document: Document, rate: float, random: Random, *, names: Names) -> tuple[Document, int]:
    """A mention becomes two, each with a part of its span; links stay with the first, everything else is in both."""
    mentions: list[Mention] = []
    taken = ClusterSpans(document)
    for mention, hit in zip(document.mentions, draw_hits(len(document.mentions), rate, random), strict=True):
        halves = (
            parts(mention.span, 1 + below(size(mention.span) - 1, random)) if hit and size(mention.span) > 1 else ()
        )
        if halves and all(is_in_one_sentence(half, document) and taken.is_free(mention, half) for half in halves):
            taken.move(mention, *halves)
            mentions += [moved(mention, halves[0]), moved(mention, halves[1], id=names.mention())]
        else:
            mentions.append(mention)
    return replace(document, mentions=tuple(mentions)), len(mentions) - len(document.mentions)


def merge(document: Document, rate: float, random: Random) -> tuple[Document, int]:
    """Two mentions of a kind that follow each other in the source become one, the first, with both spans.

    Each takes part in one merger at most; the second goes with its links.
    """
    mentions: dict[str, Mention] = {mention.id: mention for mention in document.mentions}
    taken = ClusterSpans(document)
    merged = 0
    for kind in sorted({mention.kind for mention in document.mentions}):
        row = [mention for mention in document.mentions if mention.kind == kind and mention.span]
        row.sort(key=lambda mention: mention.span)
        at = 0
        while at + 1 < len(row):
            if random.random() < rate:
                first, second = row[at : at + 2]
                both = joined(first.span, second.span)
                is_new = both not in (first.span, second.span)
                if not is_new or (is_in_one_sentence(both, document) and taken.is_free(first, both)):
                    taken.move(first, both)
                    taken.move(second)
                    mentions[first.id] = moved(first, both)
                    del mentions[second.id]
                    merged += 1
                    at += 1
            at += 1
    return pruned(replace(document, mentions=tuple(mentions.values())), document), merged


def boundary(document: Document, rate: float, random: Random, *, limit: int) -> tuple[Document, int]:
    """One end of a segment is shifted by one or two positions; a mention with no room for that is left."""
    mentions, changed = list(document.mentions), 0
    taken = ClusterSpans(document)
    for position, hit in enumerate(draw_hits(len(mentions), rate, random)):
        mention = mentions[position]
        moves = shifts(mention.span, limit) if hit else []
        while moves:
            number, segment = moves.pop(below(len(moves), random))
            span = (*mention.span[:number], segment, *mention.span[number + 1 :])
            if is_in_one_sentence(span, document) and taken.is_free(mention, span):
                taken.move(mention, span)
                mentions[position] = moved(mention, span)
                changed += 1
                break
    return replace(document, mentions=tuple(mentions)), changed


def spurious(
    document: Document, rate: float, random: Random, *, gold: Document, profile: Profile, limit: int, names: Names
) -> tuple[Document, int]:
    """Add mentions, at most one per gold mention, with kinds, attributes and lengths drawn from the corpus.

    None has the span of another mention, in gold or here; without room for one, none is added.
    """
    taken = TakenSpans([mention.span for side in (gold, document) for mention in side.mentions], gold.sentences)
    invented: list[Mention] = []
    for hit in draw_hits(len(gold.mentions), rate, random):
        if hit:
            kind = profile.kinds[gold.unit].draw(random)
            span = taken.free(profile.lengths[gold.unit, kind].draw(random), limit, random)
            if span is not None:
                attributes = drawn_attributes(kind, profile, random)
                invented.append(Mention(names.mention(), span, kind=kind, attributes=attributes))
                taken.add(span)
    return replace(document, mentions=(*document.mentions, *invented)), len(invented)


def drawn_attributes(kind: str, profile: Profile, random: Random) -> dict[str, Value]:
    """Attributes of a mention as often as the corpus has them."""
    return {
        name: attribute.values.draw(random)[1]
        for name, attribute in profile.attributes.get(kind, {}).items()
        if below(attribute.mentions, random) < attribute.present
    }


def moved(mention: Mention, span: Region, **changes: Any) -> Mention:
    """The mention in another place. Its words are those of the old one, so they go; a head outside goes too."""
    head = mention.head if mention.head is not None and is_within(mention.head, span) else None
    return replace(mention, span=span, head=head, text=None, **changes)


def is_in_one_sentence(span: Region, document: Document) -> bool:
    """Return whether a span does not cross the end of a sentence; none does if sentences are not known."""
    sentences = document.sentences
    if not sentences or not span:
        return True
    index = bisect_right(sentences, span[0][0], key=itemgetter(0)) - 1
    return index >= 0 and span[-1][1] <= sentences[index][1]


def parts(span: Region, at: int) -> tuple[Region, Region]:
    """The first `at` positions of a span, and the rest."""
    first: list[tuple[int, int]] = []
    second: list[tuple[int, int]] = []
    for begin, end in span:
        cut = min(max(begin + at, begin), end)
        first += [(begin, cut)] * (begin < cut)
        second += [(cut, end)] * (cut < end)
        at -= end - begin
    return tuple(first), tuple(second)


def joined(first: Region, second: Region) -> Region:
    """Both regions as one; segments that overlap or touch are one segment."""
    return union((*first, *second), touching=True)


def shifts(span: Region, limit: int) -> list[tuple[int, tuple[int, int]]]:
    """Every shift of one end: the number of a segment, and what it becomes.

    It is not empty, touches no other segment, and does not go beyond `limit`.
    """
    found: list[tuple[int, tuple[int, int]]] = []
    for number, (begin, end) in enumerate(span):
        lowest = span[number - 1][1] + 1 if number else 0
        highest = span[number + 1][0] - 1 if number + 1 < len(span) else limit
        moves = [(begin + shift, end) for shift in SHIFTS if lowest <= begin + shift < end <= limit]
        moves += [(begin, end + shift) for shift in SHIFTS if begin < end + shift <= highest and end <= limit]
        found += [(number, move) for move in moves]
    return found


class TakenSpans:
    """Spans that are taken, and others that are free: those that are in one sentence, if sentences are known."""

    def __init__(self, spans: Iterable[Region], sentences: Region = ()) -> None:
        self._sentences = sentences
        self._sizes: set[int] = set()
        """Lengths for which spans that cross the end of a sentence are among those that are taken."""
        self._begins: dict[int, list[int]] = {}
        """Where spans of one segment begin, by their length."""
        for ((begin, end),) in {span for span in spans if len(span) == 1}:
            self._begins.setdefault(end - begin, []).append(begin)
        for begins in self._begins.values():
            begins.sort()

    def add(self, span: Region) -> None:
        """Take a span that is free."""
        for begin, end in span:
            insort(self._begins.setdefault(end - begin, []), begin)

    def _taken(self, size_: int, limit: int) -> list[int]:
        """Where spans of a length begin that are taken, or that cross the end of a sentence."""
        begins = self._begins.setdefault(size_, [])
        if self._sentences and size_ not in self._sizes:
            self._sizes.add(size_)
            possible = {*chain(*(range(begin, end - size_ + 1) for begin, end in self._sentences))}
            begins[:] = sorted({*begins}.union({*range(limit)} - possible))
        return begins

    def free(self, length: int, limit: int, random: Random) -> Region | None:
        """A span of that length before `limit` that is not taken, else the longest shorter one; None if none is."""
        if not length:
            return ()
        for size_ in range(min(length, limit), 0, -1):
            begins = self._taken(size_, limit)
            within = bisect_right(begins, limit - size_)
            room = limit - size_ + 1 - within
            if room > 0:
                free = below(room, random)
                # Before the n-th of those taken there are as many free ones as it begins after n.
                begin = free + bisect_right(range(within), free, key=lambda number: begins[number] - number)
                return ((begin, begin + size_),)
        return None


def attribute(document: Document, rate: float, random: Random, *, name: str, profile: Profile) -> tuple[Document, int]:
    """Values are replaced by others that mentions of the same kind have in the corpus, as often as these have them."""
    mentions, changed = list(document.mentions), 0
    for position, hit in enumerate(draw_hits(len(mentions), rate, random)):
        mention = mentions[position]
        if hit and name in mention.attributes:
            values = profile.attributes[mention.kind][name].values
            if len(values) > 1:
                _, value = values.draw(random, but=typed(mention.attributes[name]))
                mentions[position] = replace(mention, attributes={**mention.attributes, name: value})
                changed += 1
    return replace(document, mentions=tuple(mentions)), changed
