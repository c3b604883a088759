"""Mention overlap ratio and anaphoric zeros, the two measures that CorefUD adds to those of coreference."""

from collections.abc import Iterator, Sequence

from karat.counts import PrecisionRecall
from karat.model.regions import size
from karat.plugin import AlignedPairs, Measure, Outcome
from karat.tables.zeros import Anaphor


class MentionOverlap(Measure[AlignedPairs, PrecisionRecall], frozen=True):
    """MOR: with the one-to-one alignment of the greatest Σ |k ∩ r|, P = Σ |k ∩ r| / Σ |r| and R = Σ |k ∩ r| / Σ |k|."""

    id = "coref.mor"

    def outcomes(self, table: AlignedPairs) -> Iterator[Outcome[PrecisionRecall]]:
        """The words of each mention, and those that it shares with its partner."""
        golds, systems = dict(enumerate(table.gold)), dict(enumerate(table.system))
        for g, s, shared, _ in table.pairs:
            gold, system = golds.pop(g), systems.pop(s)
            yield Outcome(gold, system, PrecisionRecall(shared, size(system.span), shared, size(gold.span)))
        for gold in golds.values():
            yield Outcome(gold, None, PrecisionRecall(0, 0, 0, size(gold.span)))
        for system in systems.values():
            yield Outcome(None, system, PrecisionRecall(0, size(system.span), 0, 0))


class ZeroCounts(PrecisionRecall, frozen=True):
    """Precision and recall of anaphoric zeros, and what became of each."""

    right: float
    wrong: float
    spurious: float
    missed: float


COUNTED = {
    "right": ZeroCounts(1, 1, 1, 1, 1, 0, 0, 0),
    "wrong": ZeroCounts(0, 1, 0, 1, 0, 1, 0, 0),
    "spurious": ZeroCounts(0, 1, 0, 0, 0, 0, 1, 0),
    "missed": ZeroCounts(0, 0, 0, 1, 0, 0, 0, 1),
}


class Zeros(Measure[Sequence[Anaphor], ZeroCounts], frozen=True):
    """P = right / (right + wrong + spurious), R = right / (right + wrong + missed), over anaphoric zeros."""

    id = "coref.zero"

    def outcomes(self, table: Sequence[Anaphor]) -> Iterator[Outcome[ZeroCounts]]:
        """What became of each zero."""
        for anaphor in table:
            yield Outcome(anaphor.gold, anaphor.system, COUNTED[anaphor.judgement])
