"""Aligned pairs: the mentions of both sides, and which of them an alignment pairs."""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from karat.align import MATCHINGS, SIMILARITIES
from karat.align.attributes import agreement
from karat.align.crowded import CROWDED, MANY, METHODS, Crowded, Demand, matches
from karat.align.crowded_optimal import MOST_LISTED, OPTIMAL, TooManyPairsError
from karat.errors import KaratError, Rule, quoted
from karat.model import Mention, Pair, Region
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
        return self.among(tables.pair, *self.sides(tables))

    def among(self, pair: Pair, gold: Sequence[Mention], system: Sequence[Mention]) -> list[Candidate]:
        """The same for some mentions of both sides."""
        agreeing = agreement(gold, system, self.attributes, self.comparison)
        similarity = SIMILARITIES.get(self.similarity)
        if isinstance(similarity, DocumentSimilarity):
            alike = similarity(pair, gold, system)
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
        gold, system = tables.pair.gold.mentions, tables.pair.system.mentions
        order = ORDERS.get(self.ties)
        if order is None:
            return gold, system
        return [gold[number] for number in order(gold)], [system[number] for number in order(system)]

    def bits(self, attributes: Iterable[str]) -> int:
        """One bit for each of these attributes."""
        return sum([1 << self.attributes.index(name) for name in attributes])


class Alignment(AlignmentSpec, Struct, frozen=True, cache_hash=True, dict=True):
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

    @cached_property
    def _required(self) -> int:
        """The bits of the attributes that must agree."""
        return self.candidates.bits(self.agree)

    def make(self, tables: Tables) -> AlignedPairs:
        """Choose pairs among the candidates of a document."""
        first = [] if self.after is None else tables.get(self.after).pairs
        if self.agree and self.agreement == "after":
            bits = self._required
            chosen = tables.get(replace(self, agree=()))
            return replace(chosen, pairs=[pair for pair in chosen.pairs if pair[3] & bits == bits])
        gold, system = tables.pair.gold.mentions, tables.pair.system.mentions
        if tables.pair.gold.unit == "box":
            id_ = quoted(tables.pair.gold.id)
            raise NO_SPANS.error(f"document {id_} is an image, whose mentions have boxes and no spans")
        if self.agree and len(gold) * len(system) > MANY:
            # An attribute that is the same everywhere excludes no pair: other measures may have this alignment, too.
            agree = tuple(name for name in self.agree if not self._is_everywhere_equal(name, gold, system))
            if agree != self.agree:
                return tables.get(replace(self, agree=agree))
        order = ORDERS.get(self.candidates.ties)
        if not first and order is None:
            return AlignedPairs(gold, system, self._choose(tables, gold, system, are_all=True))
        g_number, s_number = (range(len(side)) if order is None else order(side) for side in (gold, system))
        if first:
            golds, systems = {g for g, *_ in first}, {s for _, s, *_ in first}
            g_number = [number for number in g_number if number not in golds]
            s_number = [number for number in s_number if number not in systems]
        sides = [gold[number] for number in g_number], [system[number] for number in s_number]
        numbered = self._choose(tables, *sides, are_all=not first)
        pairs = [(g_number[g], s_number[s], value, agreeing) for g, s, value, agreeing in numbered]
        return AlignedPairs(gold, system, [*first, *pairs])

    def _is_everywhere_equal(self, name: str, gold: Sequence[Mention], system: Sequence[Mention]) -> bool:
        key = self.candidates.comparison.key
        return len({key(mention.attributes.get(name)) for mention in (*gold, *system)}) == 1

    def _choose(
        self, tables: Tables, gold: Sequence[Mention], system: Sequence[Mention], *, are_all: bool
    ) -> list[Match]:
        """The pairs among mentions in the order that decides ties; `are_all`: they are all mentions of the document."""
        crowded = CROWDED.get(self.candidates.similarity)
        count = crowded.count(tables.pair, gold, system) if crowded is not None else 0
        if crowded is not None and count > MANY:
            try:
                return self._choose_among_many(gold, system, crowded)
            except TooManyPairsError as error:
                if count > MOST_LISTED:
                    found = f"document {quoted(tables.pair.gold.id)} has {count:,} pairs of alike mentions"
                    message = f"{found}, and the matching {self.method} takes {error.most:,} at most"
                    raise KaratError(TOO_MANY.at(message, origin="gold")) from None
        bits, negative = self._required, -self.threshold
        listed = tables.get(self.candidates) if are_all else self.candidates.among(tables.pair, gold, system)
        return MATCHINGS.get(self.method)([one for one in listed if one[3] & bits == bits and one[0] <= negative])

    def _choose_among_many(
        self, gold: Sequence[Mention], system: Sequence[Mention], similarity: Crowded
    ) -> list[Match]:
        """The same pairs without a list of candidates."""
        method = (METHODS | OPTIMAL).get(self.method)
        if method is None or not similarity.is_computed:
            raise TooManyPairsError
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
