"""Measures of links in event hierarchies: parameters, one measure per kind of link, and undefined scores."""

from collections.abc import Iterator
from math import fsum
from typing import Any, ClassVar, Literal, TypeVar

from msgspec import Struct
from msgspec.structs import astuple

from karat.counts import Counts, PrecisionRecall, Ratio, Scores, harmonic
from karat.families.hierarchy.graph import Compared
from karat.families.hierarchy.table import Hierarchy
from karat.match.events import EventLink
from karat.plugin import ClusterItem, ElementItem, LinkItem, Measure, Outcome, Tally
from karat.problems import Finding, Rule, quoted

C = TypeVar("C", bound=Counts)

Twinless = Literal["undefined", "own-pairs", "ignore", "drop-system"]
ClassRule = Literal["symmetric", "gold"]
Root = Literal["uncounted", "counted"]

CHOICES = "--set twinless=own-pairs, ignore or drop-system"
UNDEFINED = Rule(
    "hierarchy-undefined",
    "note",
    f"One such document leaves the whole corpus without this score. BLANCp: {CHOICES} gives one.",
)


EVENTS_DIFFER = Rule(
    "events-differ",
    "note",
    "Links match if their events share a mention, so MUCp does not penalise this; BLANCp and NSTMp do.",
)


class Parameters(Struct, frozen=True, forbid_unknown_fields=True, cache_hash=True):
    """The parameters that a protocol may set."""

    alignment: str
    """The alignment that it reads: one of the protocol's `[alignments]`."""
    links: tuple[str, ...] = ()
    """Kinds of links to score; none named: all that gold has but those that order events."""
    transitive: bool = False
    """Counts implied links: from an event to every event below it."""
    twinless: Twinless = "undefined"
    """BLANCp if a mention is on one side only: undefined, or which pairs are counted."""
    edge: ClassRule = "symmetric"
    """BLANCp ignores links, or non-links, if neither side has any, or if gold has none."""
    root: Root = "uncounted"
    """`counted`: NSTMp counts the dummy root above the trees."""


class HierarchyMeasure(Measure[tuple[Hierarchy, ...], C], frozen=True):
    """One measure for one kind of link."""

    name: ClassVar[str]

    link: str
    parameters: Parameters

    @property
    def id(self) -> str:
        """`hierarchy.`, the kind of link, and its name."""
        return f"hierarchy.{self.link}.{self.name}"

    def count(self, table: tuple[Hierarchy, ...]) -> C:
        """By its formula, document by document."""
        counts = [self.count_document(document) for document in table]
        return counts[0] if len(counts) == 1 else self.counts_type().summed(map(astuple, counts))

    def outcomes(self, table: tuple[Hierarchy, ...]) -> Iterator[Outcome[C]]:
        """Links or trees, document by document."""
        for document in table:
            yield from self.document_outcomes(document)

    def link_outcomes(self, table: tuple[Hierarchy, ...]) -> Iterator[Outcome[Any]]:
        """Links that both sides have, or one: whatever it counts, it is wrong where links are."""
        for document in table:
            for gold, system, counts in self.links(document).pairs():
                yield link_outcome(document, self.link, gold, system, counts, counts)

    def links(self, table: Hierarchy) -> Compared:
        """The links of a document, and those that others imply if these also count."""
        return table.implied_links if self.parameters.transitive else table.links

    def why_undefined(self, table: Hierarchy) -> str:
        """Say why a document leaves the whole without a score; empty: it does not."""
        del table
        return ""

    def notes(self, table: tuple[Hierarchy, ...], counts: C) -> "Iterator[Finding | Tally]":
        """Gold's events that are not one event in the system, and documents that leave the whole without a score."""
        del counts
        if merged := sum(len(document.twins.merged) for document in table):
            yield Tally(EVENTS_DIFFER, "gold events that the system merges with others", merged)
        if split := sum(len(document.twins.split) for document in table):
            yield Tally(EVENTS_DIFFER, "gold events that the system splits", split)
        for document in table:
            if why := self.why_undefined(document):
                yield UNDEFINED.at(f"{self.id} is undefined, since document {quoted(document.document)} {why}")

    def count_document(self, table: Hierarchy) -> C:
        """Its formula."""
        raise NotImplementedError

    def document_outcomes(self, table: Hierarchy) -> Iterator[Outcome[C]]:
        """The contributions to the counts of a document."""
        raise NotImplementedError


def link_outcome(
    table: Hierarchy,
    kind: str,
    gold: EventLink | None,
    system: EventLink | None,
    earned: PrecisionRecall,
    counts: C,
) -> Outcome[C]:
    """A link of either side, or both. One that is the same as several on the other side is found without a partner."""
    return Outcome(
        None if gold is None else LinkItem(kind, *map(table.gold.key, gold)),
        None if system is None else LinkItem(kind, *map(table.system.key, system)),
        counts,
        "match" if earned.recall_num or earned.precision_num else "",
        table.document,
    )


def undefined_outcome(table: Hierarchy, counts: C) -> Outcome[C]:
    """The whole document, where a score is undefined."""
    document = ElementItem("document", {"id": table.document})
    return Outcome(document, document, counts, "undefined", table.document)


NONE = PrecisionRecall(0, 0, 0, 0)


class LinkClasses(Counts, frozen=True):
    """Links and non-links, each with what precision and recall are made of."""

    link_precision_num: float
    link_precision_den: float
    link_recall_num: float
    link_recall_den: float
    nonlink_precision_num: float
    nonlink_precision_den: float
    nonlink_recall_num: float
    nonlink_recall_den: float
    undefined: float
    """Documents whose two sides do not have the same events: with one of them the whole is undefined."""

    def classes(self) -> list[PrecisionRecall]:
        """Links and non-links, without a class that neither side has."""
        numbers = astuple(self)
        both = [PrecisionRecall(*numbers[:4]), PrecisionRecall(*numbers[4:8])]
        return [counts for counts in both if self.counts_in(counts)]

    def counts_in(self, one: PrecisionRecall) -> bool:
        """Return whether a class counts."""
        return bool(one.recall_den or one.precision_den)

    def ratios(self) -> dict[str, Ratio]:
        """The means over the classes; of a class that one side lacks everything is 0."""
        known = [] if self.undefined else self.classes()
        values = [[ratio.value for ratio in counts.ratios().values()] for counts in known]
        return {
            "precision": Ratio(fsum(precision or 0.0 for precision, _ in values), len(known)),
            "recall": Ratio(fsum(recall or 0.0 for _, recall in values), len(known)),
            "f1": Ratio(fsum(harmonic(*both) or 0.0 for both in values), len(known)),
        }


class GoldLinkClasses(LinkClasses, frozen=True):
    """Links and non-links, without a class that gold lacks (Recasens and Hovy 2011)."""

    def counts_in(self, one: PrecisionRecall) -> bool:
        """Return whether gold has the class."""
        return bool(one.recall_den)


EDGES: dict[ClassRule, type[LinkClasses]] = {"symmetric": LinkClasses, "gold": GoldLinkClasses}


class LinkCounts(PrecisionRecall, frozen=True):
    """Links, of which there may be none: 0 / 0 is 0, as in MUC."""

    @classmethod
    def derived(cls, values: Scores) -> Scores:
        """Also precision and recall, with 0 where they are undefined."""
        filled: Scores = {name: value or 0.0 for name, value in values.items()}
        return filled | {"f1": harmonic(filled["precision"], filled["recall"]) or 0.0}


class SiblingCounts(LinkCounts, frozen=True):
    """Pairs of siblings: 0 / 0 is 0 if the other side has some, and else undefined."""

    @classmethod
    def derived(cls, values: Scores) -> Scores:
        """As of links, if there is any pair."""
        return {"f1": None} if {*values.values()} == {None} else super().derived(values)


class Mucp(HierarchyMeasure[LinkCounts], frozen=True):
    """Links that both sides have, their direction included."""

    name = "mucp"

    def count_document(self, table: Hierarchy) -> LinkCounts:
        """Links found on the other side, over all links."""
        return LinkCounts(*astuple(self.links(table).counts))

    def document_outcomes(self, table: Hierarchy) -> Iterator[Outcome[LinkCounts]]:
        """Each link: matched, missed or spurious."""
        yield from self.link_outcomes((table,))


class Siblings(HierarchyMeasure[SiblingCounts], frozen=True):
    """Pairs of events with a common parent."""

    name = "siblings"

    def count_document(self, table: Hierarchy) -> SiblingCounts:
        """Pairs found on the other side, over all pairs."""
        return SiblingCounts(*(number // 2 for number in astuple(table.siblings.counts)))

    def document_outcomes(self, table: Hierarchy) -> Iterator[Outcome[SiblingCounts]]:
        """Each pair once: matched, missed or spurious."""
        for gold, system, counts in table.siblings.pairs():
            first, second = gold or system or (0, 0)
            if first < second:
                yield link_outcome(table, "siblings", gold, system, counts, SiblingCounts(*astuple(counts)))


class Blancp(HierarchyMeasure[LinkClasses], frozen=True):
    """Links and non-links of the same events; or else, if the protocol says so, each side's own."""

    name = "blancp"

    def counts_type(self) -> type[LinkClasses]:
        """Links and non-links."""
        return EDGES[self.parameters.edge]

    def count_document(self, table: Hierarchy) -> LinkClasses:
        """Links, and the other ordered pairs of events."""
        if self.why_undefined(table):
            return self._counts(undefined=1)
        links = self.links(table).counts
        if not table.same_events:
            return self._counts(links, self._nonlinks(table).counts)
        pairs = table.gold.size * (table.gold.size - 1)
        neither = pairs - links.precision_den - links.recall_den + links.recall_num
        nonlinks = PrecisionRecall(neither, pairs - links.precision_den, neither, pairs - links.recall_den)
        return self._counts(links, nonlinks)

    def document_outcomes(self, table: Hierarchy) -> Iterator[Outcome[LinkClasses]]:
        """Each link: matched, missed or spurious; the non-links from each event together."""
        if self.why_undefined(table):
            yield undefined_outcome(table, self._counts(undefined=1))
            return
        for gold, system, counts in self.links(table).pairs():
            yield link_outcome(table, self.link, gold, system, counts, self._counts(links=counts))
        for gold_event, system_event, counts in self._nonlinks(table).events():
            yield _event_outcome(table, gold_event, system_event, counts, self._counts(nonlinks=counts))

    def why_undefined(self, table: Hierarchy) -> str:
        """The events of the two sides differ."""
        if self.parameters.twinless != "undefined" or table.same_events:
            return ""
        lacking = (
            f"the system lacks {table.gold_only:,} of gold's mentions, gold lacks {table.system_only:,} of the system's"
        )
        if not table.gold_only and not table.system_only:
            lacking = "the same mentions form different events"
        return f"does not have the same events on both sides: {lacking} ({CHOICES} gives a score)"

    def _nonlinks(self, table: Hierarchy) -> Compared:
        links = self.links(table)
        return Compared(table.twins, table.gold.apart(links.gold), table.system.apart(links.system))

    def _counts(
        self, links: PrecisionRecall = NONE, nonlinks: PrecisionRecall = NONE, *, undefined: int = 0
    ) -> LinkClasses:
        numbers = (*astuple(links), *astuple(nonlinks), undefined)
        return self.counts_type()(*numbers)


def _event_outcome(
    table: Hierarchy, gold: int | None, system: int | None, earned: PrecisionRecall, counts: C
) -> Outcome[C]:
    """The pairs that begin with an event."""
    right, every = earned.precision_num + earned.recall_num, earned.precision_den + earned.recall_den
    return Outcome(
        None if gold is None else ClusterItem(table.gold.key(gold), table.gold.mentions(gold)),
        None if system is None else ClusterItem(table.system.key(system), table.system.mentions(system)),
        counts,
        "match" if right == every else "partial" if right else "miss" if system is None else "spurious",
        table.document,
    )
