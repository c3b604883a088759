"""Aligned pairs: the mentions of both sides, and which were matched with which under one alignment."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from karat.align import METHODS, SIMILARITIES, Comparison, agreement
from karat.model import Mention
from karat.tables import Tables


class AlignedPairs(Struct, frozen=True):
    """The table: pairs are (gold number, system number, similarity)."""

    gold: Sequence[Mention]
    system: Sequence[Mention]
    pairs: Sequence[tuple[int, int, float]]


class CandidatePairs(Struct, frozen=True):
    """Wanted: every pair that is alike at all, in the order of trial, with the attributes on which it agrees."""

    similarity: str
    attributes: tuple[str, ...]
    comparison: Comparison

    def make(self, tables: Tables) -> list[tuple[tuple[float, int, int], int]]:
        """Pairs sorted by (-similarity, system line, gold line), each with its bits of agreement."""
        gold, system = tables.pair.gold.mentions, tables.pair.system.mentions
        agreeing = agreement(gold, system, self.attributes, self.comparison)
        candidates = sorted(SIMILARITIES[self.similarity](gold, system))
        return [(candidate, agreeing(candidate[1], candidate[2])) for candidate in candidates]


class Alignment(Struct, frozen=True):
    """Wanted: the pairs chosen by a method among candidates that agree on `agree` and are alike enough."""

    candidates: CandidatePairs
    agree: tuple[str, ...]
    method: str
    threshold: float

    def make(self, tables: Tables) -> AlignedPairs:
        """Filter the document's candidates, then choose."""
        bits = sum(1 << self.candidates.attributes.index(name) for name in self.agree)
        allowed = [
            candidate
            for candidate, agreeing in tables.get(self.candidates)
            if agreeing & bits == bits and -candidate[0] >= self.threshold
        ]
        return AlignedPairs(tables.pair.gold.mentions, tables.pair.system.mentions, METHODS[self.method](allowed))

    def add(self, tables: Iterable[AlignedPairs]) -> AlignedPairs:
        """One list after the other, the pairs renumbered."""
        gold: list[Mention] = []
        system: list[Mention] = []
        pairs: list[tuple[int, int, float]] = []
        for table in tables:
            pairs.extend((g + len(gold), s + len(system), value) for g, s, value in table.pairs)
            gold.extend(table.gold)
            system.extend(table.system)
        return AlignedPairs(gold, system, pairs)
