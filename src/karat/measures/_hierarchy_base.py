"""What all measures of event hierarchies share: parameters, a row per kind of link, and what is undefined."""

from collections.abc import Iterator
from typing import ClassVar, Literal, TypeVar

from msgspec import Struct
from msgspec.structs import astuple

from karat.counts import Counts
from karat.errors import Finding, Rule, quoted
from karat.plugin import ElementItem, Measure, Outcome
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


class Parameters(Struct, frozen=True, forbid_unknown_fields=True):
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

    def count_document(self, table: Hierarchy) -> C:
        """Its formula."""
        raise NotImplementedError

    def document_outcomes(self, table: Hierarchy) -> Iterator[Outcome[C]]:
        """What the counts of a document consist of."""
        raise NotImplementedError


def undefined_outcome(table: Hierarchy, counts: C) -> Outcome[C]:
    """The whole document, where a score is undefined."""
    document = ElementItem("document", {"id": table.document})
    return Outcome(document, document, counts, "undefined", table.document)


def undefined(measure: str, table: Hierarchy, why: str) -> Finding:
    """The note that one document leaves a measure without a score."""
    return UNDEFINED.at(f"{measure} is undefined, since document {quoted(table.document)} {why}")
