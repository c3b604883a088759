"""What all measures of event hierarchies share: parameters, a row per kind of link, and what is undefined."""

from collections.abc import Iterator
from typing import Any, ClassVar, Literal, TypeVar

from msgspec import Struct
from msgspec.structs import astuple

from karat.counts import Counts, PrecisionRecall
from karat.errors import Finding, Rule, quoted
from karat.plugin import ElementItem, LinkItem, Measure, Outcome
from karat.tables.compared import Compared
from karat.tables.events import EventLink
from karat.tables.hierarchy import Hierarchy

C = TypeVar("C", bound=Counts)

Twinless = Literal["undefined", "own-pairs", "ignore", "drop-system"]
ClassRule = Literal["symmetric", "gold"]
Root = Literal["uncounted", "counted"]
Name = Literal["mucp", "blancp", "nstmp", "siblings", "ceafp"]

UNDEFINED = Rule(
    "hierarchy-undefined",
    "note",
    "One such document leaves the whole corpus without this score. BLANCp: choose --set twinless=own-pairs, ignore or "
    "drop-system to have one.",
)


class Parameters(Struct, frozen=True, forbid_unknown_fields=True, cache_hash=True):
    """What a protocol says to the family."""

    alignment: str
    """The alignment that it reads: one of the protocol's `[alignments]`."""
    only: tuple[Name, ...] = ("mucp", "siblings", "blancp", "nstmp", "ceafp")
    """The measures to score."""
    links: tuple[str, ...] = ()
    """Kinds of links to score; none named: all that gold has but those that order events."""
    transitive: bool = False
    """Whether implied links count: from an event to every event below it."""
    twinless: Twinless = "undefined"
    """BLANCp if a mention is on one side only: undefined, or which pairs are counted."""
    edge: ClassRule = "symmetric"
    """BLANCp ignores links, or non-links, if neither side has any, or if gold has none."""
    root: Root = "uncounted"
    """Whether NSTMp counts the dummy root above the trees."""


class HierarchyMeasure(Measure[tuple[Hierarchy, ...], C], frozen=True):
    """One measure for one kind of link."""

    name: ClassVar[Name]

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
            relation = compared_links(document, transitive=self.parameters.transitive)
            for gold, system, counts in relation.pairs():
                yield link_outcome(document, self.link, gold, system, counts, counts)

    def count_document(self, table: Hierarchy) -> C:
        """Its formula."""
        raise NotImplementedError

    def document_outcomes(self, table: Hierarchy) -> Iterator[Outcome[C]]:
        """What the counts of a document consist of."""
        raise NotImplementedError


def compared_links(table: Hierarchy, *, transitive: bool) -> Compared:
    """The links of a document, and those that others imply if these count, too."""
    return table.implied_links if transitive else table.links


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


def undefined(measure: str, table: Hierarchy, why: str) -> Finding:
    """The note that one document leaves a measure without a score."""
    return UNDEFINED.at(f"{measure} is undefined, since document {quoted(table.document)} {why}")
