"""Aligned pairs: the mentions of both sides, and which of them an alignment pairs."""

from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from karat.align import MATCHINGS, SIMILARITIES
from karat.align.attributes import agreement
from karat.align.crowded import CROWDED, MANY, METHODS, Crowded, Demand, Method, matches
from karat.align.crowded_optimal import OPTIMAL, TooManyClassesError
from karat.errors import KaratError, Rule, quoted
from karat.model import Mention, Region
from karat.model.regions import size
from karat.plugin import (
    AlignedPairs,
    AlignmentChoice,
    AlignmentSpec,
    Candidate,
    Comparison,
    DocumentSimilarity,
    Match,
    Tables,
    TableSpec,
    Ties,
)

MOST_LISTED = 500_000
"""Pairs of alike mentions in a document; an optimal matching of so many takes about 5 seconds and 400 MB."""
TOO_MANY = Rule("alignment-too-many-pairs", "fatal", "Check that mentions are not written many times over.")
NO_SPANS = Rule("spans-absent", "fatal", "Score images under a protocol that compares areas, such as those of ACE.")


class CandidatePairs(TableSpec[list[Candidate]], Struct, frozen=True, cache_hash=True):
    """Every pair with a similarity above zero, in the order of trial, with the attributes that agree."""

    similarity: str
    attributes: tuple[str, ...]
    """Attributes to compare: one bit each, in this order."""
    comparison: Comparison
    rewarded: tuple[str, ...] = ()
    """Attributes that add one to the similarity if they agree."""
    ties: Ties = "line"

    def make(self, tables: Tables) -> list[Candidate]:
        """Pairs sorted by (-similarity, system mention, gold mention)."""
        gold, system = self.sides(tables)
        agreeing = agreement(gold, system, self.attributes, self.comparison)
        similarity = SIMILARITIES.get(self.similarity)
        if isinstance(similarity, DocumentSimilarity):
            alike = similarity(tables.pair, gold, system)
        else:
            alike = similarity(gold, system)
        if self.rewarded:
            counted = self.bits(self.rewarded)
            return sorted(
                [(value - ((bits := agreeing(s, g)) & counted).bit_count(), s, g, bits) for value, s, g in alike]
            )
        return sorted([(value, s, g, agreeing(s, g)) for value, s, g in alike])

    def sides(self, tables: Tables) -> tuple[Sequence[Mention], Sequence[Mention]]:
        """The mentions of gold and of the system, in the order that decides ties."""
        if tables.pair.gold.unit == "box":
            id_ = quoted(tables.pair.gold.id)
            raise NO_SPANS.error(f"document {id_} is an image, whose mentions have boxes and no spans")
        gold, system = tables.pair.gold.mentions, tables.pair.system.mentions
        order = ORDERS.get(self.ties)
        if order is None:
            return gold, system
        return [gold[number] for number in order(gold)], [system[number] for number in order(system)]

    def bits(self, attributes: Iterable[str]) -> int:
        """One bit for each of these attributes."""
        return sum(1 << self.attributes.index(name) for name in attributes)


class Alignment(AlignmentSpec, Struct, frozen=True, cache_hash=True):
    """The pairs that a method chooses among the candidates that agree on `agree` and are alike enough."""

    candidates: CandidatePairs
    agree: tuple[str, ...]
    method: str
    threshold: float = 0.0
    agreement: Literal["before", "after"] = "before"
    """Whether pairs that disagree cannot be chosen, or are chosen like others and then dropped."""
    after: "Alignment | None" = None
    """The alignment that chooses first; only mentions that it leaves are aligned here."""

    @classmethod
    def of(
        cls,
        choice: AlignmentChoice,
        comparison: Comparison,
        compared: Sequence[str],
        *,
        agree: Sequence[str] | None = None,
        rewarded: Sequence[str] = (),
        after: "Alignment | None" = None,
    ) -> "Alignment":
        """As a protocol describes it, in a run that compares these attributes (see `karat.plugin.Align`)."""
        required = choice.agreeing() if agree is None else tuple(agree)
        candidates = CandidatePairs(
            choice.similarity,
            tuple(dict.fromkeys((*compared, *required))),
            comparison,
            tuple(rewarded) if choice.reward == "attributes" else (),
            choice.ties,
        )
        return cls(candidates, required, choice.method, choice.threshold, choice.agreement, after)

    def bit(self, attribute: str) -> int:
        """The bit of a match that says whether the two mentions agree on an attribute."""
        return self.candidates.bits((attribute,))

    def make(self, tables: Tables) -> AlignedPairs:
        """Choose pairs among the candidates of a document."""
        first = [] if self.after is None else tables.get(self.after).pairs
        bits = self.candidates.bits(self.agree)
        if self.agree and self.agreement == "after":
            chosen = tables.get(replace(self, agree=()))
            return replace(chosen, pairs=[pair for pair in chosen.pairs if pair[3] & bits == bits])
        gold, system = tables.pair.gold.mentions, tables.pair.system.mentions
        order = ORDERS.get(self.candidates.ties)
        g_number, s_number = (range(len(side)) if order is None else order(side) for side in (gold, system))
        crowded = CROWDED.get(self.candidates.similarity)
        sides = self.candidates.sides(tables)
        count = 0 if crowded is None else crowded.count(*sides)
        if crowded is not None and count > MANY and self.method in METHODS and not first:
            pairs = self._crowded(*sides, crowded, METHODS[self.method])
        elif crowded is not None and count > MOST_LISTED:
            try:
                if first or self.method not in OPTIMAL:
                    raise TooManyClassesError
                pairs = self._crowded(*sides, crowded, OPTIMAL[self.method])
            except TooManyClassesError:
                found = f"document {quoted(tables.pair.gold.id)} has {count:,} pairs of alike mentions"
                message = f"{found}, and the matching {self.method} takes {MOST_LISTED:,} at most"
                raise KaratError(TOO_MANY.at(message, origin="gold")) from None
        else:
            negative = -self.threshold
            allowed = [one for one in tables.get(self.candidates) if one[3] & bits == bits and one[0] <= negative]
            if first:
                golds, systems = {g for g, *_ in first}, {s for _, s, *_ in first}
                allowed = [one for one in allowed if g_number[one[2]] not in golds and s_number[one[1]] not in systems]
            pairs = MATCHINGS.get(self.method)(allowed)
        if order is not None:
            pairs = [(g_number[g], s_number[s], value, agreeing) for g, s, value, agreeing in pairs]
        return AlignedPairs(gold, system, [*first, *pairs] if first else pairs)

    def _crowded(
        self, gold: Sequence[Mention], system: Sequence[Mention], similarity: Crowded, method: Method
    ) -> list[Match]:
        """The same pairs without a list of candidates."""
        candidates = self.candidates
        demand = Demand(similarity, candidates.comparison, self.agree, candidates.rewarded, self.threshold)
        agreeing = agreement(gold, system, candidates.attributes, candidates.comparison)
        return [(g, s, value, agreeing(s, g)) for g, s, value in matches(method, gold, system, demand)]

    def add(self, tables: Iterable[AlignedPairs]) -> AlignedPairs:
        """Concatenate the mentions, and renumber the pairs."""
        gold: list[Mention] = []
        system: list[Mention] = []
        pairs: list[Match] = []
        for table in tables:
            pairs.extend((g + len(gold), s + len(system), value, bits) for g, s, value, bits in table.pairs)
            gold.extend(table.gold)
            system.extend(table.system)
        return AlignedPairs(gold, system, pairs)


def text_order(mentions: Sequence[Mention]) -> list[int]:
    """The numbers of mentions in text order: by begin, then end, then number of segments."""
    return sorted(range(len(mentions)), key=lambda number: _place(mentions[number]))


def word_order(mentions: Sequence[Mention]) -> list[int]:
    """The numbers of mentions by first word, last word, number of words, the words themselves, and the head."""
    return sorted(range(len(mentions)), key=lambda number: word_place(mentions[number]))


def word_place(mention: Mention) -> tuple[int, int, int, list[tuple[int, int]], Region]:
    """What mentions are ordered by in the order of words; the head may be missing."""
    span = mention.span
    if not span:
        return -1, -1, 0, [], ()
    # Of two spans with the same first words, the one whose segment goes on has the earlier next word.
    return span[0][0], span[-1][1], size(span), [(begin, -end) for begin, end in span], mention.head or ()


ORDERS: dict[str, Callable[[Sequence[Mention]], list[int]]] = {"text": text_order, "words": word_order}
"""How mentions are ordered to decide ties, if not by line."""


def _place(mention: Mention) -> tuple[int, int, int]:
    return (mention.span[0][0], mention.span[-1][1], len(mention.span)) if mention.span else (-1, -1, 0)
