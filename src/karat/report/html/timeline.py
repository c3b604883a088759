"""Timelines: the events of a document in the order in time that the links of each side imply."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from karat.families.relation.intervals import SIGNS, Intervals
from karat.match.mentions import by_span
from karat.model import Document, Pair

MEANINGS: Mapping[str, str] = {
    **{label: label for label in SIGNS},
    **dict.fromkeys(("DURING", "DURING_INV", "IDENTITY", "EQUAL"), "SIMULTANEOUS"),
    "CONTAINS": "INCLUDES",
    "BEGINS-ON": "BEGINS",
    "ENDS-ON": "ENDS",
    "after": "BEFORE",
}
"""Kinds of links that order events in time, each as the relation of intervals that it stands for."""


class TimelineEvent(Struct, array_like=True, gc=False):
    """An event, or a time, of a timeline."""

    mentions: list[int]
    """Numbers of its mentions."""
    start: int
    end: int
    """The steps at which it starts and ends."""
    unknown: str
    """Hexadecimal; bit n: its order relative to the event n of the timeline is not known."""


class Timeline(Struct, array_like=True, gc=False):
    """A timeline as the page draws it."""

    events: list[TimelineEvent]
    contradictions: list[tuple[int, bool, bool]]
    """Numbers of links with a contradiction, and whether it is with the links before them, and with gold."""


class GoldTimeline(NamedTuple):
    """Gold's knowledge of time, for the timelines of systems."""

    document: Document
    known: Intervals

    @classmethod
    def of(cls, document: Document) -> "tuple[GoldTimeline, Timeline] | tuple[None, None]":
        """Return it, and what is drawn; None without links in time."""
        known = Intervals()
        drawn = _timeline(document, range(len(document.mentions)), known, None)
        return (None, None) if drawn is None else (cls(document, known), drawn)


def system_timeline(document: Document, gold: GoldTimeline | None) -> Timeline | None:
    """Return the timeline of a system, compared with gold's."""
    if gold is None:
        return _timeline(document, range(len(document.mentions)), Intervals(), None)
    _, numbers = by_span(Pair(gold.document, document))
    return _timeline(document, numbers, Intervals(), gold.known)


def _timeline(document: Document, numbers: Sequence[int], known: Intervals, gold: Intervals | None) -> Timeline | None:
    """Order the events that links join. A link that contradicts those before it is put aside, as in tempeval-3."""
    links = [(number, link) for number, link in enumerate(document.links) if link.kind in MEANINGS]
    if not links:
        return None
    named: dict[str, list[int]] = {}
    for place, mention in enumerate(document.mentions):
        if mention.cluster is not None:
            named.setdefault(mention.cluster, []).append(place)
    named |= {
        mention.id: [place] if mention.cluster is None else named[mention.cluster]
        for place, mention in enumerate(document.mentions)
    }
    events: dict[int, list[int]] = {}
    contradictions: list[tuple[int, bool, bool]] = []
    for number, link in links:
        source, target = named.get(link.source), named.get(link.target)
        if source is None or target is None or source is target:
            continue
        ends = []
        for event in (source, target):
            first, *others = sorted(numbers[place] for place in event)
            if first not in events:
                events[first] = event
                for other in others:
                    known.add(("SIMULTANEOUS", first, other))
            ends.append(first)
        relation = MEANINGS[link.kind], ends[0], ends[1]
        contradicts = known.contradict(relation), gold is not None and gold.contradict(relation)
        if not contradicts[0]:
            known.add(relation)
        if any(contradicts):
            contradictions.append((number, *contradicts))
    steps = known.steps()
    ordered = sorted((steps[2 * first], steps[2 * first + 1], first) for first in events)
    return Timeline(
        [
            TimelineEvent(events[first], start, end, f"{_unknown(known, first, [other for *_, other in ordered]):x}")
            for start, end, first in ordered
        ],
        contradictions,
    )


def _unknown(known: Intervals, first: int, others: Sequence[int]) -> int:
    return sum(known.is_unknown(first, other) << place for place, other in enumerate(others) if other != first)
