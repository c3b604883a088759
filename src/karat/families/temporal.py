"""Temporal awareness: how many of each side's relations in time the other side has, or entails."""

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Literal

from msgspec import Struct

from karat.families.relation.intervals import INVERSE, Intervals
from karat.families.relation.links import BothRelations, Labelled, Relations, SameMention, SideRelations
from karat.model import TEMPORAL
from karat.plugin import (
    Card,
    Entry,
    Family,
    Measure,
    Outcome,
    PrecisionRecall,
    RelationItem,
    Setting,
    Tables,
    TableSpec,
    Tally,
)
from karat.problems import Origin

Links = Literal["reduced", "listed", "distinct"]
"""The links of a side that are counted.

reduced   in the order of the file, without repeats and those that the ones before entail
listed    as they are listed, with repeats
distinct  each once, whichever direction it is written in
"""
Contradictions = Literal["aside", "cycle"]
"""Links that contradict those before them are put aside, or a cycle leaves nothing that could follow (tieval)."""


CLOSURE = "right by closure alone"
UNFOUNDED = "on both sides, but never entailed, wrong"
REDUNDANT = "entailed by links before them, left out"
REPEATED = "on a pair that has one already, not counted"
AGAIN = "repeated, counted again"
IMPLICIT = "of the system implicit in gold, with some credit"


class ComparedLink(Struct, frozen=True, gc=False):
    """A link of one side that is counted."""

    link: Labelled
    found: bool
    """The other side has or entails it."""
    given: bool
    """The other side has it, in either direction."""
    implicit: bool = False
    """Gold entails it, and does not count it among its own."""


class Awareness(Struct, frozen=True):
    """The table: the links of both sides, and what follows from them."""

    relations: Relations
    gold: Sequence[ComparedLink]
    system: Sequence[ComparedLink]
    gold_known: Intervals
    system_known: Intervals
    labels: frozenset[str]
    """Labels with a meaning."""
    weight: float
    """The credit for an implicit link."""
    distinct: int
    """The number of links of both sides without repeats."""

    def outcome(self, compared: ComparedLink, other: Intervals, nothing: str) -> str:
        """The class of an outcome; `nothing` if the other side knows nothing about it."""
        if compared.given:
            return "match" if compared.found else "unfounded"
        if compared.found:
            return "entailed"
        label, *_ = compared.link
        return "contradicts" if label in self.labels and other.contradict(compared.link) else nothing

    def item(self, side: Origin, compared: ComparedLink) -> RelationItem:
        """A link of a side as an item of an outcome."""
        mentions = (self.relations.gold if side == "gold" else self.relations.system).mentions
        label, source, target = compared.link
        return RelationItem(label, mentions[source], mentions[target])


class AwarenessTable(TableSpec[Awareness], Struct, frozen=True, cache_hash=True):
    """The links of both sides, compared by closure."""

    links: BothRelations
    labels: frozenset[str]
    """Labels with a meaning; others match themselves, in either direction."""
    read_as: tuple[tuple[str, str], ...]
    counted_links: Links
    contradictions: Contradictions
    implicit: bool

    errors_of = "relations"

    @property
    def relations(self) -> tuple[str, ...]:
        """The kinds of links that it reads."""
        return self.links.kinds

    @property
    def inverse(self) -> Mapping[str, str]:
        """The labels with a meaning, each with that of the same relation in the other direction."""
        return {label: INVERSE[label] for label in self.labels}

    def make(self, tables: Tables) -> Awareness:
        """Find each link in the links of the other side, or in what follows from them."""
        relations = tables.get(self.links)
        golds, systems = self._read(relations.gold), self._read(relations.system)
        given_gold, given_system = {*map(self._canonical, golds)}, {*map(self._canonical, systems)}
        (gold, gold_known), (system, system_known) = self._counted(golds), self._counted(systems)
        reduced = {*map(self._canonical, gold)}
        compared_gold = self._compared(gold, given_system, system_known)
        compared_system = [
            ComparedLink(
                c.link, c.found, c.given, self._canonical(c.link) not in reduced and self._entail(gold_known, c.link)
            )
            for c in self._compared(system, given_gold, gold_known)
        ]
        weight = _weight(gold, system, sum(c.found for c in compared_gold)) if self.implicit else 0.0
        distinct = len(given_gold) + len(given_system)
        return Awareness(
            relations, compared_gold, compared_system, gold_known, system_known, self.labels, weight, distinct
        )

    def _read(self, side: SideRelations) -> list[Labelled]:
        read_as = dict(self.read_as)
        return [(read_as.get(label, label), source, target) for label, source, target in side.links]

    def _counted(self, links: Sequence[Labelled]) -> tuple[Sequence[Labelled], Intervals]:
        """Return the links that count, and what follows from a side."""
        if self.contradictions == "cycle":
            distinct = [*{self._canonical(link): link for link in reversed(links)}.values()][::-1]
            return distinct, Intervals.of(link for link in links if link[0] in self.labels)
        known, reduced, seen = Intervals(), list[Labelled](), set[Labelled]()
        for link in links:
            if (name := self._canonical(link)) in seen:
                continue
            seen.add(name)
            if link[0] in self.labels:
                if known.entail(link):
                    continue
                if not known.contradict(link):
                    known.add(link)
            reduced.append(link)
        return reduced if self.counted_links == "reduced" else links, known

    def _compared(self, links: Sequence[Labelled], given: Set[Labelled], known: Intervals) -> list[ComparedLink]:
        compared = []
        for link in links:
            is_given = self._canonical(link) in given
            found = self._entail(known, link) or (is_given and self.contradictions == "aside")
            compared.append(ComparedLink(link, found, is_given))
        return compared

    def _entail(self, known: Intervals, link: Labelled) -> bool:
        return link[0] in self.labels and known.entail(link)

    def _canonical(self, link: Labelled) -> Labelled:
        """Name a link alike in either direction."""
        label, source, target = link
        return link if source < target else (INVERSE[label] if label in self.labels else label, target, source)


def _weight(gold: Sequence[Labelled], system: Sequence[Labelled], found: int) -> float:
    """w = 0.99 / (1 + n(n - 1)/2 - |R_G found in the system|), and 0 where that is not positive."""
    golds, systems = ({end for _, *ends in links for end in ends} for links in (gold, system))
    common = len(golds & systems)
    divisor = 1 + common * (common - 1) // 2 - found
    return 0.99 / divisor if divisor > 0 else 0.0


CARD = Card(
    title="Temporal awareness",
    rows={"temporal.awareness": "relations in time that the other side has or entails"},
    formula="""\
P = |links of the system that gold has or entails| / |links of the system|
R = (|links of gold that the system has or entails| + w · implicit) / |links of gold|
tempeval-3 counts the reduced links, R_S and R_G: for each link in the order of the file,
    if the links before it entail it, it is left out
    if it contradicts them, or its label has no meaning, it counts, and nothing follows from it
    otherwise it counts, and links after it may follow from it
awareness=acl-2011 counts all links, and repeats as often as they are written
awareness=implicit: w = 0.99 / (1 + n(n - 1)/2 - |R_G found|), or 0 if the denominator is not positive; else w = 0
tieval-2023 counts each link once, and finds it only if gold or the system entails it""",
    symbols={
        "P, R": "precision, recall",
        "R_G, R_S": "the reduced links of gold and of the system",
        "implicit": "links of R_S that gold entails, but does not have in R_G",
        "n": "the number of mentions that are in links of both R_G and R_S",
        "w": "the weight of an implicit link",
        "entails": "its links lead to all the constraints on start and end points that the label stands for",
    },
    citation="UzZaman and Allen (2011), Temporal Evaluation; UzZaman et al. (2013), SemEval-2013 Task 1: TempEval-3; "
    "Sousa et al. (2023), tieval.",
    traps=(
        "The score of tempeval-3 depends on the order of TLINKs in the files: A<B, B<C, A<C are two reduced links, and "
        "A<C, A<B, B<C are three. The signature has a hash of the order of gold's links.",
        "Precision can be 1 where recall is 0: the system has one link that follows from two of gold's.",
        "sequence.* (TAC 2017) is the same score with implicit links, on links that were reduced over coreference "
        "classes beforehand, whatever their order.",
        "VAGUE has no meaning: in tempeval-3 it matches VAGUE, in tieval-2023 it is never right, but counts.",
        "In tieval-2023, one cycle in the links of a document leaves nothing that follows from them: not even its own "
        "links are found.",
    ),
    departures=(
        "UzZaman and Allen define the reduced graph without redundant links. The program of TempEval-3 drops a link "
        "only if the links before it entail it, and so does tempeval-3: published numbers depend on that.",
        "The program never verifies BEGINS by closure, and finds reversed links in a story that is told backwards, "
        "because of its time graph. karat's closure is exact.",
        "Without its normaliser, the program with implicit_in_recall rewards a right link in the other direction a "
        "second time: recall can reach 1.99. karat always compares links in either direction.",
        "tieval prints precision as recall and recall as precision (swapped=true); F1 is the same.",
        "tieval divides by zero if a side has no links; karat scores 0.",
    ),
    outcomes={
        "match": "the other side has the link, in either direction; each side lists its own links",
        "entailed": "the other side entails the link without having it",
        "unfounded": "the other side has the link, but does not entail it: VAGUE, or a cycle (tieval-2023)",
        "contradicts": "the other side entails another relation between the two",
    },
    laws=("perfect", "bounded", "ids", "additive", "outcomes"),
)


class Parameters(Struct, frozen=True, forbid_unknown_fields=True):
    """The parameters that a protocol may set."""

    labels: tuple[str, ...] = ("BEFORE", "AFTER")
    """Labels with a meaning."""
    read_as: dict[str, str] = {}
    """Labels that are read as another one."""
    mentions: SameMention = "span"
    """The mentions of both sides that are the same."""
    links: Links = "reduced"
    """The links that are looked up in the other side's closure."""
    contradictions: Contradictions = "aside"
    """How links that contradict others are treated."""
    implicit: bool = False
    """Adds implicit links to recall."""
    swapped: bool = False
    """Exchanges precision and recall, as tieval prints them."""


class TemporalAwareness(Measure[Awareness, PrecisionRecall], frozen=True):
    """Temporal awareness."""

    swapped: bool = False

    id = "temporal.awareness"

    def outcomes(self, table: Awareness) -> Iterator[Outcome[PrecisionRecall]]:
        """Each link of either side that counts."""
        for link in table.gold:
            label = table.outcome(link, table.system_known, "miss")
            yield Outcome(table.item("gold", link), None, self._counts(0, 0, link.found, 1), label)
        for link in table.system:
            label = table.outcome(link, table.gold_known, "spurious")
            counts = self._counts(link.found, 1, table.weight * link.implicit, 0)
            yield Outcome(None, table.item("system", link), counts, label)

    def count(self, table: Awareness) -> PrecisionRecall:
        implicit = table.weight * sum(link.implicit for link in table.system)
        return self._counts(
            sum(link.found for link in table.system),
            len(table.system),
            sum(link.found for link in table.gold) + implicit,
            len(table.gold),
        )

    def _counts(self, *numbers: float) -> PrecisionRecall:
        return PrecisionRecall(*(numbers[2:] + numbers[:2] if self.swapped else numbers))

    def differences(self, table: Awareness) -> Mapping[str, int]:
        """Count what closure changes, and repeats."""
        compared = (*table.gold, *table.system)
        given = len(table.relations.gold.links) + len(table.relations.system.links)
        return {
            **table.relations.differences(),
            CLOSURE: sum(link.found and not link.given for link in compared),
            UNFOUNDED: sum(link.given and not link.found for link in compared),
            AGAIN: max(len(compared) - table.distinct, 0),
            REPEATED: given - table.distinct if len(compared) <= table.distinct else 0,
            REDUNDANT: max(table.distinct - len(compared), 0),
            IMPLICIT: sum(link.implicit for link in table.system) if table.weight else 0,
        }

    def notes(self, table: Awareness, counts: PrecisionRecall) -> Iterator[Tally]:
        """Links that do not count."""
        del counts
        return table.relations.notes()


def measures(parameters: Parameters, setting: Setting) -> list[Entry]:
    del setting
    table = AwarenessTable(
        BothRelations(tuple(sorted(TEMPORAL)), parameters.mentions),
        frozenset(parameters.labels),
        tuple(parameters.read_as.items()),
        parameters.links,
        parameters.contradictions,
        parameters.implicit,
    )
    return [TemporalAwareness(table, parameters.swapped)]


FAMILY = Family(CARD, Parameters, measures)
