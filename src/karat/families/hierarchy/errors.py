"""Errors of links between events: in a hierarchy, or in time.

They are found from the outcomes of the links behind a measure. Events of the two sides that share a mention are
counterparts. An error belongs to the first class in the order of definition that describes it.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from functools import cached_property
from itertools import product
from typing import Any

from msgspec.structs import replace

from karat.families.hierarchy.measures import HierarchyMeasure
from karat.insight.repairs import Edit, EventLink, LinkGraph, Repair
from karat.insight.units import Classes, DocumentView, ErrorKind, Findings, FoundError, Target, UnitView
from karat.match.events import Events
from karat.model import ClusterKey, Document, Link
from karat.plugin import LinkItem, Measure, Outcome

CLASSES: Classes = {
    "wrong event": "an event is missing or spurious, has different mentions from its counterpart, or merges two gold "
    "events",
    "reversed link": "the system links the same two events in the other direction",
    "wrong kind": "the system links the same two events by another kind of link",
    "wrong link": "the system links two events that gold does not link",
    "missing link": "gold links two events that the system does not link",
}


def _find(unit: UnitView, target: Target, confused: Sequence[str]) -> Findings:
    del target, confused
    return Findings([*_errors(unit)], {})


ERRORS = ErrorKind(lambda _target, _names: CLASSES, _find)


def link_outcomes(measure: Measure[Any, Any], table: Any) -> Iterator[Outcome[Any]]:
    """Return the outcomes of the links behind a measure: a measure of trees is wrong where links are."""
    return measure.link_outcomes(table) if isinstance(measure, HierarchyMeasure) else measure.outcomes(table)


def _errors(unit: UnitView) -> Iterator[FoundError]:
    outcomes: dict[str, list[Outcome[Any]]] = {}
    for document, measure, table in unit.tables:
        for outcome in link_outcomes(measure, table):
            place = outcome.document or document
            assert place is not None, "a link is in one document"
            outcomes.setdefault(place, []).append(outcome)
    for id_, of_document in outcomes.items():
        yield from _DocumentErrors(unit, unit.documents[id_]).errors(of_document)


class _DocumentErrors:
    def __init__(self, unit: UnitView, view: DocumentView) -> None:
        self._unit, self._view = unit, view
        golds, systems = view.events
        self._first_mentions = [
            {key: side.mentions[members[0]].id for key, members in zip(events.keys, events.members, strict=True)}
            for side, events in ((view.pair.gold, golds), (view.pair.system, systems))
        ]
        shared = Counter(
            (golds.keys[golds.event_of[g]], systems.keys[systems.event_of[s]])
            for g, s, _, _ in view.aligned[unit.alignment].pairs
        )
        self._system_twins: dict[ClusterKey, list[ClusterKey]] = {}
        self._gold_twins: dict[ClusterKey, list[ClusterKey]] = {}
        for (gold, system), _ in shared.most_common():  # those that share most come first
            self._system_twins.setdefault(gold, []).append(system)
            self._gold_twins.setdefault(system, []).append(gold)
        self._gold_links = _links_of(view.pair.gold, golds)
        self._system_links = _links_of(view.pair.system, systems)
        self._kinds = sorted({kind for kind, *_ in self._system_links})
        self._contradicting = frozenset[Link]()
        """Links of the system that are not right: they give way where they contradict repaired ones."""
        self._firm = LinkGraph()
        """Links of the system that are right, or were repaired so far."""

    def errors(self, outcomes: Iterable[Outcome[Any]]) -> Iterator[FoundError]:
        """Each link that is not right once."""
        wrong = [(outcome, *_links_in(outcome)) for outcome in outcomes if not _is_right(outcome)]
        spurious = {system: outcome for outcome, _, system in wrong if system is not None}
        self._contradicting = frozenset(link for known in spurious for link in self._system_links.get(known, ()))
        for known in self._system_links:
            if known not in spurious:
                self._firm.add(*known)
        left = set(spurious)
        for outcome, gold, _ in wrong:
            if gold is not None:
                name, system, repaired = self._why_missed(outcome, gold, left)
                yield self._error(name, gold, system, repaired, outcomes=1 + (system in left))
                if system is not None:
                    left.discard(system)
        for system, outcome in spurious.items():
            if system in left:
                lacking = not all(self._gold_twins.get(event) for event in system[1:])
                yield self._error("wrong event" if _earned(outcome) or lacking else "wrong link", None, system)

    def _why_missed(
        self, outcome: Outcome[Any], gold: EventLink, spurious: Set[EventLink]
    ) -> tuple[str, EventLink | None, EventLink | None]:
        """The class of a gold link that is not right, the link that the system has in its place, and the repaired one.

        If every repaired link would join an event to itself, or contradict what is right, the system takes two events
        of gold for one.
        """
        kind, source, target = gold
        if not _earned(outcome):
            twins = [self._system_twins.get(event, []) for event in (source, target)]
            ends = [(start, end) for start, end in product(*twins) if self._firm.takes(kind, start, end)]
            for start, end in ends:
                if (kind, end, start) in spurious:
                    return "reversed link", (kind, end, start), self._firm.add(kind, start, end)
            for start, end in ends:
                for another in self._kinds:
                    link = another, start, end
                    if another != kind and link in self._system_links and not self._is_in_gold(link):
                        return "wrong kind", link, self._firm.add(kind, start, end)
            for start, end in ends:
                return "missing link", None, self._firm.add(kind, start, end)
        return "wrong event", None, None

    def _is_in_gold(self, link: EventLink) -> bool:
        """Return whether gold has a link of the system."""
        kind, source, target = link
        return any(
            (kind, parent, child) in self._gold_links
            for parent in self._gold_twins.get(source, ())
            for child in self._gold_twins.get(target, ())
        )

    def _error(
        self,
        name: str,
        gold: EventLink | None,
        system: EventLink | None,
        repaired: EventLink | None = None,
        *,
        outcomes: int = 1,
    ) -> FoundError:
        golds, systems = ([] if link is None else [LinkItem(*link)] for link in (gold, system))
        instance = self._unit.instance(self._view.id, golds, systems, outcomes)
        return FoundError(name, instance, [Repair(self._view.id, self._repair(name, system, repaired))])

    def _repair(self, name: str, system: EventLink | None, repaired: EventLink | None) -> Edit:
        if name == "wrong event":
            return Edit(replaced=self._with_gold_events)
        edit = Edit(contradicting=(self._contradicting,))
        if system is not None:
            edit.links |= dict.fromkeys(self._system_links.get(system, ()), False)
        if repaired is not None:
            _, mentions = self._first_mentions
            kind, source, target = repaired
            edit.links[Link(kind, mentions[source], mentions[target])] = True
        return edit

    @cached_property
    def _with_gold_events(self) -> Document:
        """Gold's mentions and events with the system's links, as far as their events have twins.

        Links that gold lacks give way where they contradict others.
        """
        mentions, _ = self._first_mentions
        moved = [
            (kind, self._gold_twins[source][0], self._gold_twins[target][0])
            for kind, source, target in self._system_links
            if source in self._gold_twins and target in self._gold_twins
        ]
        kept = LinkGraph()
        for kind, source, target in sorted(dict.fromkeys(moved), key=lambda link: link not in self._gold_links):
            if kept.takes(kind, source, target):
                kept.add(kind, source, target)
        links = tuple(Link(kind, mentions[source], mentions[target]) for kind, source, target in kept.links)
        return replace(self._view.pair.gold, links=links)


def _links_in(outcome: Outcome[Any]) -> tuple[EventLink | None, EventLink | None]:
    """The links of the two sides."""
    links = []
    for item in (outcome.gold, outcome.system):
        assert isinstance(item, LinkItem | None), "the outcomes of links are links"
        links.append(None if item is None else (item.kind, item.source, item.target))
    return links[0], links[1]


def _is_right(outcome: Outcome[Any]) -> bool:
    """Return whether a link earned all it could; in time, an implied link of the system earns more."""
    return all(ratio.num >= ratio.den for ratio in outcome.counts.ratios().values())


def _earned(outcome: Outcome[Any]) -> bool:
    """Return whether the other side has the link for some mentions of its events."""
    return any(ratio.num > 0 for ratio in outcome.counts.ratios().values())


def _links_of(document: Document, events: Events) -> dict[EventLink, list[Link]]:
    """The links between the events of a document, each with those that the document has for it."""
    keys = events.keys
    event_of: dict[str, ClusterKey] = {key: key for key in keys if isinstance(key, str)}
    event_of |= {mention.id: keys[event] for mention, event in zip(document.mentions, events.event_of, strict=True)}
    links: dict[EventLink, list[Link]] = {}
    for link in document.links:
        source, target = event_of.get(link.source), event_of.get(link.target)
        if source is not None and target is not None and source != target:
            links.setdefault((link.kind, source, target), []).append(link)
    return links
