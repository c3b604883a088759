"""Aligned pairs: the mentions of both sides, and which were matched with which under one alignment."""

from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Struct

from karat.align import METHODS, SIMILARITIES, Candidate, Comparison, Match, agreement
from karat.errors import Rule, quoted
from karat.model import Mention
from karat.tables import Tables

NO_SPANS = Rule("spans-absent", "fatal", "Score images under a protocol that measures areas, such as those of ACE.")


class AlignedPairs(Struct, frozen=True):
    """The table: pairs are (gold number, system number, similarity, bits of agreement), best first."""

    gold: Sequence[Mention]
    system: Sequence[Mention]
    pairs: Sequence[Match]


class CandidatePairs(Struct, frozen=True, cache_hash=True):
    """Wanted: every pair that is alike at all, in the order of trial, with the attributes on which it agrees."""

    similarity: str
    attributes: tuple[str, ...]
    comparison: Comparison
    reward: bool = False
    """Whether each attribute that agrees adds one to the similarity."""

    def make(self, tables: Tables) -> list[Candidate]:
        """Pairs sorted by (-similarity, system line, gold line)."""
        if tables.pair.gold.unit == "box":
            id_ = quoted(tables.pair.gold.id)
            raise NO_SPANS.error(f"document {id_} is an image, whose mentions have boxes and no spans")
        gold, system = tables.pair.gold.mentions, tables.pair.system.mentions
        agreeing = agreement(gold, system, self.attributes, self.comparison)
        alike = SIMILARITIES[self.similarity](gold, system)
        if self.reward:
            return sorted([(value - (bits := agreeing(s, g)).bit_count(), s, g, bits) for value, s, g in alike])
        return sorted([(value, s, g, agreeing(s, g)) for value, s, g in alike])


class Alignment(Struct, frozen=True, cache_hash=True):
    """Wanted: the pairs chosen by a method among candidates that agree on `agree` and are alike enough."""

    candidates: CandidatePairs
    agree: tuple[str, ...]
    method: str
    threshold: float = 0.0
    agreement: Literal["before", "after"] = "before"
    """Whether pairs that disagree cannot be chosen, or are chosen like others and then dropped."""

    def make(self, tables: Tables) -> AlignedPairs:
        """Choose among the document's candidates."""
        bits = sum(1 << self.candidates.attributes.index(name) for name in self.agree)
        needed = bits if self.agreement == "before" else 0
        allowed = [
            candidate
            for candidate in tables.get(self.candidates)
            if candidate[3] & needed == needed and -candidate[0] >= self.threshold
        ]
        pairs = METHODS[self.method](allowed)
        if self.agreement == "after":
            pairs = [pair for pair in pairs if pair[3] & bits == bits]
        return AlignedPairs(tables.pair.gold.mentions, tables.pair.system.mentions, pairs)

    def add(self, tables: Iterable[AlignedPairs]) -> AlignedPairs:
        """One list after the other, the pairs renumbered."""
        gold: list[Mention] = []
        system: list[Mention] = []
        pairs: list[Match] = []
        for table in tables:
            pairs.extend((g + len(gold), s + len(system), value, bits) for g, s, value, bits in table.pairs)
            gold.extend(table.gold)
            system.extend(table.system)
        return AlignedPairs(gold, system, pairs)
