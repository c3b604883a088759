"""Sequences: how many of each side's time links the other side has or entails.

A link between two events holds between any mention of the one and any of the other, and links are counted by mentions.
All mentions of an event have the same links, so events are compared, and what is found counts as often as they have
mentions in common.
"""

from collections.abc import Hashable, Iterator, Sequence

from msgspec import Struct

from karat.counts import PrecisionRecall
from karat.model import ClusterKey
from karat.plugin import (
    AlignmentSpec,
    Card,
    Entry,
    Family,
    LinkItem,
    Measure,
    Outcome,
    Setting,
    Tables,
    TableSpec,
    graded,
)

TimeLink = tuple[str, int, int]
"""A kind of link, and the events at its source and its target."""


class ComparedLink(Struct, frozen=True, gc=False):
    """A reduced link of one side, counted by the pairs of mentions that it joins."""

    document: str
    link: TimeLink
    source: ClusterKey
    target: ClusterKey
    pairs: int
    """Pairs of mentions that it joins."""
    found: int
    """Pairs that the other side has or entails."""
    implicit: int
    """Pairs that the other side entails without having them in its own reduced links."""


class Awareness(Struct, frozen=True):
    """The table: the reduced links of each side, each compared with the other side, and what joins the two."""

    gold: tuple[ComparedLink, ...]
    system: tuple[ComparedLink, ...]
    common: int
    """Mentions in reduced links of both sides."""


NOTHING = Awareness((), (), 0)


class SequenceTable(TableSpec[Awareness], Struct, frozen=True, cache_hash=True):
    """Temporal awareness by links of these kinds, under an alignment of mentions."""

    alignment: AlignmentSpec
    kinds: tuple[str, ...]

    counted = "unit"
    errors_of = "links"

    @property
    def link_kinds(self) -> tuple[str, ...]:
        """The kinds that it compares."""
        return self.kinds

    def make(self, tables: Tables) -> Awareness:
        """Compare the two timelines of a document; one without links, as most are, costs nothing."""
        if not tables.pair.gold.links and not tables.pair.system.links:
            return NOTHING
        from karat.families.sequence.timeline import compared

        return compared(tables, self.alignment, self.kinds)

    def shape(self, table: Awareness) -> Hashable | None:
        """Parts of documents (`--by`) rarely have links."""
        return True if table is NOTHING else None

    def add(self, tables: Sequence[Awareness]) -> Awareness:
        """Documents have no events in common, so everything adds."""
        return Awareness(
            tuple(link for table in tables for link in table.gold),
            tuple(link for table in tables for link in table.system),
            sum(table.common for table in tables),
        )


CARD = Card(
    title="Event sequences",
    rows={
        "sequence.after": "After links: what happens before what",
        "sequence.subevent": "Subevent links, read as: what happens during what",
        "sequence.all": "both together; links of one kind can entail links of the other",
    },
    formula="""\
after(x, y): x ends before y starts     subevent(x, y): x starts before y starts, and y ends before x ends
P = |R_S found in gold| / |R_S|
R = (|R_G found in the system| + w · implicit) / |R_G|
w = 0.99 / (1 + n(n - 1)/2 - |R_G found in the system|), or 0 if the denominator is not positive""",
    symbols={
        "x, y": "two mentions",
        "P, R": "precision, recall",
        "R_G, R_S": "the reduced links of gold and of the system: links that other links entail are left out",
        "found": "that the other side has or entails",
        "w": "the weight of an implicit link",
        "implicit": "links of R_S that gold entails, but does not have in R_G",
        "n": "the number of mentions that are in links of both R_G and R_S",
    },
    citation="UzZaman and Allen (2011), Temporal Evaluation, and UzZaman et al. (2013), SemEval-2013 Task 1: "
    "TempEval-3, for temporal awareness; TAC KBP event sequencing 2017 for links over coreference, as scorer v1.8 "
    "computes it.",
    traps=(
        "A link holds between all mentions of its two events and counts once per pair of them: a link between two "
        "events with ten mentions each has a hundred times the weight of a link between two singletons.",
        "Mentions are aligned as for coreference (coref.mapping), but without its threshold: any overlap is enough.",
        "Precision can be 0 if recall is not: the system's links entail some of gold's, but none of them is in gold.",
        "After and Subevent may contradict each other in sequence.all (x is before y and includes y). Such links stay "
        "in R_G or R_S and can match, but they entail nothing. If a system contradicts itself, recall may exceed 1.",
        "Without any link, tac-2017 scores 0 instead of undefined, even for a perfect system.",
    ),
    departures=(
        "The time graph of scorer v1.8 accepts relations that are not entailed, depending on the order of links and "
        "therefore on the spelling of ids: renaming mentions changes scores. karat's closure is exact.",
        "Scorer v1.8 silently drops every link of a cycle of three or more events. karat refuses a cycle within one "
        "kind of link, and names its members.",
        "Scorer v1.8 divides by zero if one pair is After and Subevent on both sides; karat sets w to 0.",
        "karat considers all links of sequence.all together to find contradictions. Scorer v1.8 adds links one by one, "
        "so the order of a set decides which of them count.",
    ),
    outcomes={
        "match": "the other side has the link; each side lists its own links",
        "implied": "the other side entails the link without having it",
        "partial": "the other side has or entails it for some pairs of its mentions",
    },
    laws=("perfect", "order", "ids", "outcomes"),
)

ROWS = {"after": ("after",), "subevent": ("subevent",), "all": ("after", "subevent")}
"""The rows, and the kinds of links that each is about."""


class Parameters(Struct, frozen=True, forbid_unknown_fields=True):
    """The parameters that a protocol may set."""

    alignment: str
    """The alignment that it reads: one of the protocol's `[alignments]`."""


class TemporalAwareness(Measure[Awareness, PrecisionRecall], frozen=True):
    """Temporal awareness by links of some kinds."""

    id: str

    def count(self, table: Awareness) -> PrecisionRecall:
        if table is NOTHING:
            return PrecisionRecall(0, 0, 0, 0)
        gold_found = sum([link.found for link in table.gold])
        implicit = sum([link.implicit for link in table.system])
        return PrecisionRecall(
            sum([link.found for link in table.system]),
            sum([link.pairs for link in table.system]),
            gold_found + _weight(table) * implicit,
            sum([link.pairs for link in table.gold]),
        )

    def outcomes(self, table: Awareness) -> Iterator[Outcome[PrecisionRecall]]:
        """Each reduced link of gold and of the system; the system's implicit ones add to recall, by their weight."""
        for link in table.gold:
            counts = PrecisionRecall(0, 0, link.found, link.pairs)
            yield Outcome(_item(link), None, counts, _label(link, "miss"), link.document)
        weight = _weight(table)
        for link in table.system:
            counts = PrecisionRecall(link.found, link.pairs, weight * link.implicit, 0)
            yield Outcome(None, _item(link), counts, _label(link, "spurious"), link.document)


def _weight(table: Awareness) -> float:
    """w = 0.99 / (1 + n(n - 1)/2 - |R_G found in the system|), and 0 where that is not positive."""
    pairs = table.common * (table.common - 1) // 2
    divisor = 1 + pairs - sum([link.found for link in table.gold])
    return 0.99 / divisor if divisor > 0 else 0.0


def _item(link: ComparedLink) -> LinkItem:
    return LinkItem(link.link[0], link.source, link.target)


def _label(link: ComparedLink, nothing: str) -> str:
    if link.found == link.pairs == link.implicit:
        return "implied"
    return graded(link.found, link.pairs, nothing=nothing)


def measures(parameters: Parameters, setting: Setting) -> list[Entry]:
    """Each kind of link, and all together."""
    aligned = setting.align(parameters.alignment)
    return [TemporalAwareness(SequenceTable(aligned, kinds), f"sequence.{name}") for name, kinds in ROWS.items()]


FAMILY = Family(CARD, Parameters, measures)
