"""Event sequences: temporal awareness over After and Subevent links (UzZaman and Allen 2011; TAC KBP 2017).

    P = |R_S found in gold| / |R_S|
    R = (|R_G found in the system| + w · implicit) / |R_G|
    w = 0.99 / (1 + n(n - 1)/2 - |R_G found in the system|)

R are the links of a side that its other links do not entail, found are those that the other side has or entails,
implicit the links of R_S that gold entails but does not have in R_G, n the mentions in both R_G and R_S.
"""

from collections.abc import Iterator

from msgspec import Struct

from karat.counts import PrecisionRecall
from karat.plugin import Card, Family, LinkItem, Measure, Outcome, Row, Setting, graded
from karat.tables.sequence import Awareness, ComparedLink, SequenceTable
from karat.tables.timeline import CONSTRAINTS

CARD = Card(
    title="Event sequences",
    rows={
        "sequence.after": "After links: what happens before what",
        "sequence.subevent": "Subevent links, taken for what happens during what",
        "sequence.all": "both together, so that each may follow from the other",
    },
    formula="""\
after(x, y): x ends before y starts     subevent(x, y): x starts before y starts, and y ends before x ends
R_G, R_S    links of a side without those that its other links entail
found       links that the other side has or entails
P = |R_S found in gold| / |R_S|
R = (|R_G found in the system| + w · implicit) / |R_G|
w = 0.99 / (1 + n(n - 1)/2 - |R_G found in the system|), and 0 where that is not positive
implicit: links of R_S that gold entails, but does not have in R_G; n: mentions in links of both R_G and R_S""",
    citation="UzZaman and Allen (2011), Temporal Evaluation, and UzZaman et al. (2013), SemEval-2013 Task 1: "
    "TempEval-3, for temporal awareness; TAC KBP event sequencing 2017 for links over coreference, as scorer v1.8 "
    "computes it.",
    traps=(
        "A link holds between all mentions of its two events and counts once for each pair of them: a link between "
        "two events of ten mentions weighs a hundred times one between two singletons.",
        "Mentions meet under the alignment of coreference (coref.mapping) without its threshold: any overlap will do.",
        "Precision may be 0 and recall not: the system's links entail some of gold's, and none of them is gold's.",
        "After and Subevent may contradict each other in sequence.all (x is before y and includes y). Such links stay "
        "in R, where the other side may find them, but they entail nothing. Where a system contradicts itself, recall "
        "may exceed 1.",
        "Where there is no link at all, tac-2017 makes 0 of what is undefined, a perfect system's score included.",
    ),
    departures=(
        "Scorer v1.8's time graph believed relations that do not follow, depending on the order of links and so on the "
        "spelling of ids: renaming mentions moved scores. karat's closure is exact.",
        "Scorer v1.8 dropped every link of a cycle of three or more events without a word. Here a cycle within one "
        "kind of link is refused, with its members.",
        "Scorer v1.8 divides by zero where one pair is After and Subevent on both sides; w is 0 there.",
        "Links of sequence.all that contradict each other are found all at once; v1.8 added links one by one, so that "
        "the order of a set decided which of them counted.",
    ),
    outcomes={
        "match": "the other side has the link; each side lists its own links",
        "implied": "the other side entails the link without having it",
        "partial": "the other side has or entails it for some pairs of its mentions",
    },
    laws=("perfect", "order", "ids", "outcomes"),
)

ROWS = {**{kind: (kind,) for kind in CONSTRAINTS}, "all": tuple(CONSTRAINTS)}
"""The rows, and the kinds of links that each is about."""


class Parameters(Struct, frozen=True, forbid_unknown_fields=True):
    """What a protocol says to the family."""

    alignment: str


class Sequence(Measure[Awareness, PrecisionRecall], frozen=True):
    """Temporal awareness by links of some kinds."""

    name: str

    @property
    def id(self) -> str:
        """`sequence.` and its name."""
        return f"sequence.{self.name}"

    def count(self, table: Awareness) -> PrecisionRecall:
        """By the formula."""
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


def measures(parameters: Parameters, setting: Setting) -> list[Row]:
    """Each kind of link, and all together."""
    aligned = setting.align(parameters.alignment)
    return [Sequence(SequenceTable(kinds, aligned), name) for name, kinds in ROWS.items()]


FAMILY = Family(CARD, Parameters, measures)
