"""MUC-5 scoring of nuggets as filled slots (Chinchor 1992; compared in Liu et al. 2015, section 3.1).

    POS = COR + PAR + INC + MIS                       ACT = COR + PAR + INC + SPU
    recall = (COR + PAR/2) / POS                      precision = (COR + PAR/2) / ACT
    undergeneration = MIS / POS                       overgeneration = SPU / ACT
    substitution = (INC + PAR/2) / (COR + PAR + INC)
    error = (INC + PAR/2 + MIS + SPU) / (COR + PAR + INC + MIS + SPU)

A mention fills a slot for its span (the same span is correct, an overlapping one partial) and one for each attribute
(the same value is correct, any other incorrect). One alignment serves every row.
"""

from collections.abc import Iterator
from typing import ClassVar

from msgspec import Struct

from karat.counts import Counts, Ratio, Scores, harmonic
from karat.measures import Card, Outcome, Setting
from karat.model import Mention
from karat.tables.aligned import AlignedPairs, Alignment

SPAN = "span"

CARD = Card(
    title="MUC-5 slots",
    rows={
        "muc.span": "the slot of the span: same correct, overlapping partial",
        "muc.type, muc.realis, ...": "the slot of an attribute: same correct, other incorrect",
        "muc.all": "all slots together",
    },
    formula="""\
POS = COR + PAR + INC + MIS            ACT = COR + PAR + INC + SPU
recall = (COR + PAR/2) / POS           precision = (COR + PAR/2) / ACT
undergeneration = MIS / POS            overgeneration = SPU / ACT
substitution = (INC + PAR/2) / (COR + PAR + INC)
error = (INC + PAR/2 + MIS + SPU) / (COR + PAR + INC + MIS + SPU)""",
    citation="Chinchor (1992), MUC-5 Evaluation Metrics; Liu, Mitamura and Hovy (2015), section 3.1.",
    traps=(
        "An overlap earns one half, however small or large it is; nugget.* grades it by Dice.",
        "The alignment maximises correct plus half of partial slots over all slots of a document, so one row's counts "
        "depend on the other slots: --set attributes=... changes muc.span too.",
        "Ties: more correct slots, then more pairs, then the order of lines.",
        "Only mentions that overlap can be aligned. A gold mention with `optional: true` is left out if not aligned.",
    ),
    departures=(
        "Liu et al. (2015) print the two formulas the wrong way round: their P divides by POS and their R by ACT. "
        "Chinchor's, and karat's, recall divides by POS, what gold has, and precision by ACT, what the system said.",
        "The MUC scorer took the highest F-score of all alignments; karat maximises correct plus half of partial, "
        "which for one document with given mentions is the same numerator, and decides ties.",
    ),
    laws=("perfect", "bounded", "order", "ids", "additive", "outcomes", "swap"),
)


class Slots(Counts, frozen=True):
    """What became of slots."""

    correct: int = 0
    partial: int = 0
    incorrect: int = 0
    missing: int = 0
    spurious: int = 0
    possible: int = 0
    actual: int = 0

    def ratios(self) -> dict[str, Ratio]:
        """The six quotients."""
        earned = self.correct + self.partial / 2
        wrong = self.incorrect + self.partial / 2
        met = self.correct + self.partial + self.incorrect
        return {
            "precision": Ratio(earned, self.actual),
            "recall": Ratio(earned, self.possible),
            "error": Ratio(wrong + self.missing + self.spurious, met + self.missing + self.spurious),
            "undergeneration": Ratio(self.missing, self.possible),
            "overgeneration": Ratio(self.spurious, self.actual),
            "substitution": Ratio(wrong, met),
        }

    @classmethod
    def derived(cls, values: Scores) -> Scores:
        """F1."""
        return {"f1": harmonic(values["precision"], values["recall"])}


class Parameters(Struct, frozen=True, forbid_unknown_fields=True):
    """What a protocol says: which alignment, and which attributes are slots (none named: all that gold has)."""

    alignment: str
    attributes: tuple[str, ...] = ()


class Muc(Struct, frozen=True):
    """Some of the slots, counted."""

    kind: ClassVar[type[Counts]] = Slots

    name: str
    slots: tuple[str, ...]
    artefact: Alignment

    @property
    def id(self) -> str:
        """`muc.` and the slot, or all."""
        return f"muc.{self.name}"

    def count(self, table: AlignedPairs) -> Slots:
        """The sum of the outcomes: there is no quicker way, and none is needed."""
        counts = [outcome.counts for outcome in self.outcomes(table)]
        return Slots(*(sum(getattr(one, name) for one in counts) for name in Slots.__struct_fields__))

    def outcomes(self, table: AlignedPairs) -> Iterator[Outcome]:
        """Aligned pairs slot by slot; what is left is missing or spurious in every slot."""
        size = len(self.slots)
        for g, s, _, agreeing in table.pairs:
            yield Outcome(table.gold[g], table.system[s], self._met(table.gold[g], table.system[s], agreeing))
        found = {g for g, _, _, _ in table.pairs}, {s for _, s, _, _ in table.pairs}
        for g, mention in enumerate(table.gold):
            if g not in found[0] and mention.attributes.get("optional") not in (True, "true"):
                yield Outcome(mention, None, Slots(missing=size, possible=size))
        for s, mention in enumerate(table.system):
            if s not in found[1]:
                yield Outcome(None, mention, Slots(spurious=size, actual=size))

    def _met(self, gold: Mention, system: Mention, agreeing: int) -> Slots:
        attributes = self.artefact.candidates.attributes
        right = sum(bool(agreeing >> attributes.index(slot) & 1) for slot in self.slots if slot != SPAN)
        spans = SPAN in self.slots
        same = spans and gold.span == system.span
        size = len(self.slots)
        return Slots(
            correct=right + same,
            partial=int(spans and not same),
            incorrect=size - spans - right,
            possible=size,
            actual=size,
        )


def measures(parameters: Parameters, setting: Setting) -> list[Muc]:
    """A row for each slot, and one for all."""
    attributes = setting.scored(parameters.attributes)
    aligned = setting.alignments[parameters.alignment].aligned(attributes, setting.comparison, agree=())
    slots = (SPAN, *attributes)
    return [*(Muc(slot, (slot,), aligned) for slot in slots), Muc("all", slots, aligned)]
