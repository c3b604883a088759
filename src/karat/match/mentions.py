"""Numbers of mentions: which mentions of the two sides are the same, for measures that take matches as given.

A mention of the system is gold's if kind and span agree (without a span: the id); the k-th of several with the k-th.
The creation times of both sides are the same. Gold's mentions are numbered by their place, others after them.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import count

from karat.model import Mention, Pair
from karat.regions import shared

Number = int
TIME = "time"
"""The kind of time expressions."""


def is_creation_time(mention: Mention) -> bool:
    """Return whether a mention is the creation time of its document."""
    return mention.kind == TIME and mention.attributes.get("function") == "CREATION_TIME"


def by_span(pair: Pair) -> tuple[list[Number], list[Number]]:
    """Number the mentions of both sides by kind and span."""

    def keys(mentions: Iterable[Mention]) -> Iterator[Hashable]:
        """Identify each mention; of several alike, the k-th."""
        seen: Counter[Hashable] = Counter()
        for mention in mentions:
            key = "DCT" if is_creation_time(mention) else (mention.kind, mention.span or mention.id)
            seen[key] += 1
            yield key, seen[key]

    number_of = {key: number for number, key in enumerate(keys(pair.gold.mentions))}
    unknown = count(len(number_of))
    systems = [number_of.get(key, -1) for key in keys(pair.system.mentions)]
    return [*range(len(number_of))], [next(unknown) if number < 0 else number for number in systems]


def by_text(pair: Pair) -> tuple[list[Number], list[Number]]:
    """Number the mentions as TempEval-3 aligns them.

    Events are the same if their first tokens are, times if they overlap: each the first of gold's that is left.
    """
    text = pair.gold.text if pair.gold.text is not None else pair.system.text
    first_token = _token_finder(text if pair.gold.unit == "char" else None)

    def key(mention: Mention) -> Hashable:
        if is_creation_time(mention):
            return "DCT"
        if not mention.span:
            return mention.kind, mention.id
        return TIME if mention.kind == TIME else (mention.kind, first_token(mention.span[0][0]))

    left: defaultdict[Hashable, list[Number]] = defaultdict(list)
    for number, mention in enumerate(pair.gold.mentions):
        left[key(mention)].append(number)
    unknown = count(len(pair.gold.mentions))
    systems: list[Number] = []
    for mention in pair.system.mentions:
        candidates = left[name := key(mention)]
        overlapping = (n for n in candidates if shared(pair.gold.mentions[n].span, mention.span))
        chosen = next(overlapping if name == TIME else iter(candidates), None)
        if chosen is not None:
            candidates.remove(chosen)
        systems.append(next(unknown) if chosen is None else chosen)
    return [*range(len(pair.gold.mentions))], systems


def _token_finder(text: str | None) -> Callable[[int], int]:
    """Return what finds where the run of non-blank characters around a place begins; the place, without a text."""

    def begin(place: int) -> int:
        while text is not None and 0 < place <= len(text) and not text[place - 1].isspace():
            place -= 1
        return place

    return begin
