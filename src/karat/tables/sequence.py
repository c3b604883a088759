"""Sequences: how many of each side's time links the other side has or entails.

A link between two events holds between any mention of the one and any of the other, and links are counted by mentions.
All mentions of an event have the same links, so events are compared, and what is found counts as often as they have
mentions in common.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from karat.errors import quoted
from karat.limits import check_pairs
from karat.model import ClusterKey
from karat.plugin import Tables, TableSpec
from karat.tables.events import BothEvents, EventLink, Events, EventTable
from karat.tables.timeline import Timeline, TimeLink

SHARED = "pairs of events that share mentions with the two ends of a link of the other side"
"""What is compared."""

SharedMentions = dict[int, dict[int, int]]
"""For an event of one side, the events of the other with which it shares mentions, and how many."""


class ComparedLink(Struct, frozen=True, gc=False):
    """A reduced link of one side, counted by the pairs of mentions that it joins."""

    document: str
    link: TimeLink
    source: ClusterKey
    target: ClusterKey
    pairs: int
    """Pairs of mentions that it joins."""
    found: int
    """Those that the other side has or entails."""
    implicit: int
    """Those that the other side entails without having them in its own reduced links."""


class Awareness(Struct, frozen=True):
    """The table: the reduced links of each side, each compared with the other side, and what joins the two."""

    gold: tuple[ComparedLink, ...]
    system: tuple[ComparedLink, ...]
    common: int
    """Mentions in reduced links of both sides."""


NOTHING = Awareness((), (), 0)


class Timelines(TableSpec[tuple[Timeline, Timeline]], Struct, frozen=True, cache_hash=True):
    """The timelines of both sides by links of these kinds, each kind without what its own links entail."""

    kinds: tuple[str, ...]

    def make(self, tables: Tables) -> tuple[Timeline, Timeline]:
        """Gold's and the system's."""
        if len(self.kinds) > 1:
            gold, system = zip(*(tables.get(Timelines((kind,))) for kind in self.kinds), strict=True)
            return _together(gold), _together(system)
        gold_events, system_events = tables.get(BothEvents())
        return _alone(gold_events, self.kinds[0]), _alone(system_events, self.kinds[0])


def _alone(events: Events, kind: str) -> Timeline:
    return Timeline((kind, source, target) for source, target in events.links(kind))


def _together(timelines: Iterable[Timeline]) -> Timeline:
    return Timeline(link for timeline in timelines for link in timeline.reduced)


class SequenceTable(EventTable[Awareness], frozen=True, cache_hash=True):
    """Temporal awareness by links of these kinds, under an alignment of mentions."""

    kinds: tuple[str, ...]

    @property
    def link_kinds(self) -> tuple[str, ...]:
        """Those that it compares."""
        return self.kinds

    def make(self, tables: Tables) -> Awareness:
        """Compare the two timelines of a document; one without links, as most are, costs nothing."""
        if not tables.pair.gold.links and not tables.pair.system.links:
            return NOTHING
        gold_events, system_events = tables.get(BothEvents())
        gold, system = tables.get(Timelines(self.kinds))
        if not gold.reduced and not system.reduced:
            return NOTHING
        aligned = tables.get(self.aligned)
        shared = [(gold_events.event_of[g], system_events.event_of[s]) for g, s, _, _ in aligned.pairs]
        golds, systems = gold.events, system.events
        return Awareness(
            _compared(gold, system, _twins(shared), gold_events, tables.pair.gold.id),
            _compared(system, gold, _twins((s, g) for g, s in shared), system_events, tables.pair.system.id),
            sum(g in golds and s in systems for g, s in shared),
        )

    def add(self, tables: Sequence[Awareness]) -> Awareness:
        """Documents have no events in common, so everything adds."""
        return Awareness(
            tuple(link for table in tables for link in table.gold),
            tuple(link for table in tables for link in table.system),
            sum(table.common for table in tables),
        )


def _twins(shared: Iterable[EventLink]) -> SharedMentions:
    twins: SharedMentions = {}
    for one, other in shared:
        counts = twins.setdefault(one, {})
        counts[other] = counts.get(other, 0) + 1
    return twins


def _compared(
    own: Timeline, other: Timeline, twins: SharedMentions, events: Events, document: str
) -> tuple[ComparedLink, ...]:
    """The reduced links of one side, each with how much of it the other side has or entails."""
    known = {event for _, *ends in other.links for event in ends}
    twins = {event: {one: count for one, count in twins.get(event, {}).items() if one in known} for event in own.events}
    count = sum(len(twins[source]) * len(twins[target]) for _, source, target in own.reduced)
    check_pairs(count, SHARED, where=f"document {quoted(document)}", origin="gold")
    images: dict[TimeLink, list[tuple[TimeLink, int]]] = {}
    for kind, source, target in own.reduced:
        images[kind, source, target] = [
            ((kind, one, another), sources * targets)
            for one, sources in twins[source].items()
            for another, targets in twins[target].items()
        ]
    entailed = other.entailed({image for there in images.values() for image, _ in there})
    implicit = entailed.difference(other.reduced)
    return tuple(
        ComparedLink(
            document=document,
            link=link,
            source=events.keys[link[1]],
            target=events.keys[link[2]],
            pairs=len(events.members[link[1]]) * len(events.members[link[2]]),
            found=sum(count for image, count in there if image in other.links or image in entailed),
            implicit=sum(count for image, count in there if image in implicit),
        )
        for link, there in images.items()
    )
