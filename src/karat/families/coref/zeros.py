"""Anaphoric zeros: what became of each mention that is an empty node and refers back."""

from collections.abc import Hashable, Iterator, Sequence
from typing import Literal

from msgspec import Struct

from karat.counts import PrecisionRecall
from karat.match.alignment import word_order
from karat.match.similarities import zeros
from karat.model import Document, Mention
from karat.plugin import AlignedPairs, AlignmentSpec, Measure, Outcome, Tables, TableSpec
from karat.regions import size

Judgement = Literal["right", "wrong", "missed", "spurious"]


class Anaphor(Struct, frozen=True):
    """A gold zero that is not the first mention of its cluster, or a system zero that corresponds to none."""

    judgement: Judgement
    gold: Mention | None
    system: Mention | None
    """The mention that is aligned with it; it need not be a zero."""
    antecedent: Mention | None = None
    """Of a gold zero that is not right: the mention before it in its cluster."""
    system_antecedent: Mention | None = None
    """The last system mention before it that is aligned with any mention before it in its cluster."""


class AnaphoricZeros(TableSpec[Sequence[Anaphor]], Struct, frozen=True, cache_hash=True):
    """The anaphoric zeros of a document under an alignment of mentions."""

    aligned: AlignmentSpec

    errors_of = "anaphors"

    def make(self, tables: Tables) -> list[Anaphor]:
        """Judge each zero by the mentions before it in its cluster."""
        gold, system = tables.pair.gold, tables.pair.system
        if not gold.empty_nodes and not system.empty_nodes:
            return []
        partner = {g: s for g, s, _, _ in tables.get(self.aligned).pairs}
        golds, systems = _Chains(gold), _Chains(system)
        anaphors: list[Anaphor] = []
        covered: set[int] = set()
        for index, _ in zeros(gold, gold.mentions):
            if golds.is_first(index):
                continue
            counterpart = partner.get(index)
            if counterpart is not None:
                covered.add(counterpart)
            if counterpart is None or systems.is_first(counterpart):
                judgement: Judgement = "missed"
            elif any(systems.are_together(counterpart, partner.get(before)) for before in golds.before(index)):
                judgement = "right"
            else:
                judgement = "wrong"
            there = None if counterpart is None else system.mentions[counterpart]
            if judgement == "right":
                anaphors.append(Anaphor(judgement, gold.mentions[index], there))
                continue
            before = golds.before(index)
            resolved = [
                s for earlier in before if (s := partner.get(earlier)) is not None and systems.is_before(s, counterpart)
            ]
            antecedents = gold.mentions[before[-1]], system.mentions[resolved[-1]] if resolved else None
            anaphors.append(Anaphor(judgement, gold.mentions[index], there, *antecedents))
        spurious = [s for s, _ in zeros(system, system.mentions) if s not in covered and not systems.is_first(s)]
        return [*anaphors, *(Anaphor("spurious", None, system.mentions[s]) for s in spurious)]

    def add(self, tables: Sequence[Sequence[Anaphor]]) -> list[Anaphor]:
        """Concatenate the anaphors of documents."""
        return [anaphor for table in tables for anaphor in table]


class _Chains:
    """The clusters of a document, with their mentions (by number) in the order of their words."""

    def __init__(self, document: Document) -> None:
        self._mentions = document.mentions
        self._chains: dict[Hashable, list[int]] = {}
        self._rank: dict[int, int] = {}
        self._place: dict[int, int] = {}
        for place, index in enumerate(word_order(document.mentions)):
            self._place[index] = place
            chain = self._chains.setdefault(self._cluster(index), [])
            self._rank[index] = len(chain)
            chain.append(index)

    def _cluster(self, index: int) -> Hashable:
        cluster = self._mentions[index].cluster
        return index if cluster is None else cluster

    def is_first(self, index: int) -> bool:
        return not self._rank[index]

    def before(self, index: int) -> list[int]:
        """The mentions of its cluster before a mention."""
        return self._chains[self._cluster(index)][: self._rank[index]]

    def is_before(self, mention: int, other: int | None) -> bool:
        """Return whether a mention is before another one, if there is another."""
        return other is None or self._place[mention] < self._place[other]

    def are_together(self, mention: int, other: int | None) -> bool:
        """Return whether two mentions, if there is another, are in one cluster."""
        return other is not None and self._cluster(mention) == self._cluster(other)


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
        """The judgement of each zero."""
        for anaphor in table:
            yield Outcome(anaphor.gold, anaphor.system, COUNTED[anaphor.judgement])
