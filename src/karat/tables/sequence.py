"""Sequences: how many of each side's time links the other side has or entails.

A link between two events holds between any mention of the one and any of the other, and links are counted by mentions.
All mentions of an event have the same links, so events are compared, and what is found counts as often as they have
mentions in common.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import astuple

from karat.plugin import AlignmentSpec, Counted, Tables, TableSpec
from karat.tables.events import BothEvents, EventLink, Events
from karat.tables.timeline import Timeline, TimeLink

Twins = dict[int, dict[int, int]]
"""For an event of one side, the events of the other with which it shares mentions, and how many."""


class Awareness(Struct, frozen=True):
    """The table: reduced links of each side, how many of them the other side has, and what joins the two."""

    gold: int
    gold_found: int
    system: int
    system_found: int
    implicit: int
    """Reduced links of the system that gold entails without having them in its own reduced links."""
    common: int
    """Mentions that stand in reduced links of both sides."""


NOTHING = Awareness(0, 0, 0, 0, 0, 0)


class Timelines(TableSpec[tuple[Timeline, Timeline]], Struct, frozen=True, cache_hash=True):
    """Wanted: the timelines of both sides by links of these kinds, each kind without what its own links entail."""

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


class SequenceTable(TableSpec[Awareness], Struct, frozen=True, cache_hash=True):
    """Wanted: temporal awareness by links of these kinds, under an alignment of mentions."""

    kinds: tuple[str, ...]
    aligned: AlignmentSpec

    def make(self, tables: Tables) -> Awareness:
        """Compare the two timelines of a document; one without links, as most are, costs nothing."""
        if not tables.pair.gold.links and not tables.pair.system.links:
            return NOTHING
        gold_events, system_events = tables.get(BothEvents())
        gold, system = tables.get(Timelines(self.kinds))
        gold_total = sum(_pairs(link, gold_events.members) for link in gold.reduced)
        system_total = sum(_pairs(link, system_events.members) for link in system.reduced)
        if not gold_total or not system_total:
            return Awareness(gold_total, 0, system_total, 0, 0, 0)
        aligned = tables.get(self.aligned)
        shared = [(gold_events.event_of[g], system_events.event_of[s]) for g, s, _, _ in aligned.pairs]
        golds, systems = gold.events, system.events
        gold_found, _ = _found(gold, system, _twins(shared))
        system_found, implicit = _found(system, gold, _twins((s, g) for g, s in shared))
        common = sum(g in golds and s in systems for g, s in shared)
        return Awareness(gold_total, gold_found, system_total, system_found, implicit, common)

    def add(self, tables: Sequence[Awareness]) -> Awareness:
        """Documents have no events in common, so everything adds."""
        return Awareness(*map(sum, zip(*map(astuple, tables), strict=True))) if tables else NOTHING

    @property
    def counted(self) -> Counted:
        """What a link is worth depends on all the others."""
        return "unit"

    @property
    def alignment(self) -> AlignmentSpec:
        """By which a breakdown restricts the corpus."""
        return self.aligned


def _pairs(link: TimeLink, members: list[list[int]]) -> int:
    """Pairs of mentions that a link between events joins."""
    _, source, target = link
    return len(members[source]) * len(members[target])


def _twins(shared: Iterable[EventLink]) -> Twins:
    twins: Twins = {}
    for one, other in shared:
        counts = twins.setdefault(one, {})
        counts[other] = counts.get(other, 0) + 1
    return twins


def _found(of: Timeline, there: Timeline, twins: Twins) -> tuple[int, int]:
    """How many reduced links of one side the other has or entails; and those only entailed, not among its reduced."""
    known = {event for _, *ends in there.links for event in ends}
    weights: dict[TimeLink, int] = {}
    for kind, source, target in of.reduced:
        for one, sources in twins.get(source, {}).items():
            if one in known:
                for other, targets in twins.get(target, {}).items():
                    if other in known:
                        link = kind, one, other
                        weights[link] = weights.get(link, 0) + sources * targets
    entailed = there.entailed(weights)
    found = sum(count for link, count in weights.items() if link in there.links or link in entailed)
    implicit = entailed.difference(there.reduced)
    return found, sum(weights[link] for link in implicit)
