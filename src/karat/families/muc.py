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

from msgspec import Struct

from karat.counts import Counts, Ratio, Scores, harmonic
from karat.model import Mention
from karat.plugin import AlignedPairs, Card, Entry, Family, Measure, Outcome, Setting, graded

CARD = Card(
    title="MUC-5 slots",
    rows={
        "muc.span": "the slot of the span: correct if equal, partial if it overlaps",
        "muc.type, muc.realis, ...": "the slot of an attribute: correct if equal, else incorrect",
        "muc.all": "all slots together",
    },
    formula="""\
POS = COR + PAR + INC + MIS            ACT = COR + PAR + INC + SPU
recall = (COR + PAR/2) / POS           precision = (COR + PAR/2) / ACT
undergeneration = MIS / POS            overgeneration = SPU / ACT
substitution = (INC + PAR/2) / (COR + PAR + INC)
error = (INC + PAR/2 + MIS + SPU) / (COR + PAR + INC + MIS + SPU)""",
    symbols={
        "COR": "correct: slots with the same fill on both sides",
        "PAR": "partial: spans that overlap, but are not equal",
        "INC": "incorrect: slots of aligned mentions whose fills differ",
        "MIS": "missing: slots of gold mentions that are not aligned",
        "SPU": "spurious: slots of system mentions that are not aligned",
        "POS": "possible: the slots of gold",
        "ACT": "actual: the slots of the system",
    },
    citation="Chinchor (1992), MUC-5 Evaluation Metrics; Liu, Mitamura and Hovy (2015), section 3.1.",
    traps=(
        "An overlap earns one half, whether it is small or large; nugget.* weights it by Dice.",
        "The alignment maximises correct plus half of partial slots over all slots of a document, so the counts of a "
        "row depend on the other slots: --set attributes=... also changes muc.span.",
        "Ties are decided by more correct slots, then more pairs, then line order.",
        "Only mentions that overlap can be aligned. An unaligned gold mention with `optional: true` is ignored.",
    ),
    departures=(
        "Liu et al. (2015) swap the two formulas: their P divides by POS and their R by ACT. In Chinchor (1992), and "
        "in karat, recall divides by POS (the slots of gold) and precision by ACT (the slots of the system).",
        "The MUC scorer used the alignment with the highest F-score. karat maximises correct plus half of partial "
        "slots, which gives the same numerator for one document with given mentions, and decides ties.",
    ),
    outcomes={
        "match": "all slots are correct",
        "partial": "some slots are correct, or the spans only overlap",
        "incorrect": "the mentions are aligned, but no slot is right",
    },
    laws=("perfect", "bounded", "order", "ids", "additive", "outcomes", "swap"),
)


class Slots(Counts, frozen=True):
    """Slots by outcome."""

    correct: int = 0
    partial: int = 0
    incorrect: int = 0
    missing: int = 0
    spurious: int = 0
    possible: int = 0
    actual: int = 0

    def ratios(self) -> dict[str, Ratio]:
        earned = self.correct + self.partial / 2
        wrong = self.incorrect + self.partial / 2
        filled = self.correct + self.partial + self.incorrect
        return {
            "precision": Ratio(earned, self.actual),
            "recall": Ratio(earned, self.possible),
            "error": Ratio(wrong + self.missing + self.spurious, filled + self.missing + self.spurious),
            "undergeneration": Ratio(self.missing, self.possible),
            "overgeneration": Ratio(self.spurious, self.actual),
            "substitution": Ratio(wrong, filled),
        }

    def lost(self) -> float:
        """Slots of both sides that earned nothing."""
        return self.possible + self.actual - 2 * self.correct - self.partial

    @classmethod
    def derived(cls, values: Scores) -> Scores:
        return {"f1": harmonic(values["precision"], values["recall"])}


class Parameters(Struct, frozen=True, forbid_unknown_fields=True):
    """The parameters that a protocol may set."""

    alignment: str
    """The alignment that it reads: one of the protocol's `[alignments]`."""
    attributes: tuple[str, ...] = ()
    """Attributes that are slots; empty: type and realis where gold has them; `all`: every attribute that gold has."""


class Muc(Measure[AlignedPairs, Slots], frozen=True):
    """Counts some of the slots."""

    id: str
    has_span: bool
    """True if the span is one of the slots."""
    bits: tuple[int, ...]
    """The other slots: the bit of a match that says whether the attribute agrees."""
    attributes: tuple[str, ...] = ()
    """Their names."""

    def outcomes(self, table: AlignedPairs) -> Iterator[Outcome[Slots]]:
        """Aligned pairs slot by slot; an unaligned mention is missing or spurious in every slot."""
        size = self.has_span + len(self.bits)
        for g, s, _, agreeing in table.pairs:
            slots = self._filled(table.gold[g], table.system[s], agreeing)
            label = graded(slots.correct + slots.partial / 2, size, nothing="incorrect")
            yield Outcome(table.gold[g], table.system[s], slots, label)
        golds, systems = {g for g, _, _, _ in table.pairs}, {s for _, s, _, _ in table.pairs}
        for g, mention in enumerate(table.gold):
            if g not in golds and mention.attributes.get("optional") not in (True, "true"):
                yield Outcome(mention, None, Slots(missing=size, possible=size))
        for s, mention in enumerate(table.system):
            if s not in systems:
                yield Outcome(None, mention, Slots(spurious=size, actual=size))

    def _filled(self, gold: Mention, system: Mention, agreeing: int) -> Slots:
        right = sum(bool(agreeing & bit) for bit in self.bits)
        same = self.has_span and gold.span == system.span
        size = self.has_span + len(self.bits)
        return Slots(
            correct=right + same,
            partial=int(self.has_span and not same),
            incorrect=len(self.bits) - right,
            possible=size,
            actual=size,
        )


def measures(parameters: Parameters, setting: Setting) -> list[Entry]:
    """One row per slot, and one for all slots."""
    attributes = setting.scored(parameters.attributes)
    aligned = setting.align(parameters.alignment, agree=(), rewarded=attributes)
    bits = {attribute: aligned.bit(attribute) for attribute in attributes}
    return [
        Muc(aligned, "muc.span", True, ()),
        *(Muc(aligned, f"muc.{attribute}", False, (bit,), (attribute,)) for attribute, bit in bits.items()),
        Muc(aligned, "muc.all", True, tuple(bits.values()), tuple(bits)),
    ]


FAMILY = Family(CARD, Parameters, measures)
