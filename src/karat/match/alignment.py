"""Alignments: which gold mention is matched with which system mention.

Three separate ideas, each chosen by name in a protocol: how alike two mentions are (`match.similarities`), which
attributes agree, and how pairs are chosen (`match.matchings`). All work on candidates: the negative similarity, the
indexes of the system's and of gold's mention, and one bit per attribute that agrees. Sorted, candidates are in the
order of trial: most alike first, then by the order of the system's mentions, then by that of gold's.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache
from itertools import islice
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from karat.limits import MOST_PAIRS, check_pairs
from karat.match.matchings import MATCHINGS, equally_good
from karat.match.similarities import SIMILARITIES
from karat.model import ClusterKey, Mention, Pair, Region, Value, cluster_keys
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
from karat.problems import Rule, quoted
from karat.regions import size

NO_SPANS = Rule("spans-absent", "fatal", "Score images under a protocol that compares areas, such as those of ACE.")


class CandidatePairs(TableSpec[list[Candidate]], Struct, frozen=True, cache_hash=True):
    """All pairs with a similarity above zero, in the order of trial, with the attributes that agree."""

    similarity: str
    attributes: tuple[str, ...]
    """Attributes to compare: one bit each, in this order."""
    comparison: Comparison
    rewarded: tuple[str, ...] = ()
    """Attributes that add one to the similarity if they agree."""
    ties: Ties = "line"

    def make(self, tables: Tables) -> list[Candidate]:
        """Return the candidates of a document, sorted by (-similarity, system mention, gold mention)."""
        return self.among(tables.pair, *self.sides(tables))

    def among(self, pair: Pair, gold: Sequence[Mention], system: Sequence[Mention]) -> list[Candidate]:
        """Return the candidates among some mentions of both sides."""
        similarity = SIMILARITIES.get(self.similarity)
        if isinstance(similarity, DocumentSimilarity):
            alike = similarity(pair, gold, system)
        else:
            alike = similarity(gold, system)
        candidates = [(value, s, g, 0) for value, s, g in islice(alike, MOST_PAIRS + 1)]
        if len(candidates) > MOST_PAIRS:
            where = f"document {quoted(pair.gold.id)}"
            check_pairs(len(candidates), "or more pairs of alike mentions", where=where, origin="gold")
        if self.attributes:
            agreeing = _agreement(gold, system, self.attributes, self.comparison)
            candidates = [(value, s, g, agreeing(s, g)) for value, s, g, _ in candidates]
        if self.rewarded:
            counted = self.bits(self.rewarded)
            candidates = [(value - (bits & counted).bit_count(), s, g, bits) for value, s, g, bits in candidates]
        candidates.sort()
        return candidates

    def sides(self, tables: Tables) -> tuple[Sequence[Mention], Sequence[Mention]]:
        """Return the mentions of gold and of the system, in the order that decides ties."""
        gold, system = tables.pair.gold.mentions, tables.pair.system.mentions
        if self.ties == "line":
            return gold, system
        return [gold[index] for index in word_order(gold)], [system[index] for index in word_order(system)]

    def bits(self, attributes: Iterable[str]) -> int:
        """Return one bit for each of these attributes."""
        return sum([1 << self.attributes.index(name) for name in attributes])


def _agreement(
    gold: Sequence[Mention], system: Sequence[Mention], names: Sequence[str], comparison: Comparison
) -> Callable[[int, int], int]:
    """Return a function from the indexes of a system and a gold mention to one bit per attribute that agrees."""
    bits_of = [(name, 1 << index) for index, name in enumerate(names)]
    every = (1 << len(names)) - 1

    def agreeing(s: int, g: int) -> int:
        gold_values, system_values = gold[g].attributes, system[s].attributes
        if gold_values == system_values:
            return every
        bits = 0
        for name, bit in bits_of:
            expected, actual = gold_values.get(name), system_values.get(name)
            if expected == actual or _agree(comparison, name, expected, actual):
                bits |= bit
        return bits

    return agreeing


@lru_cache(maxsize=4096)
def _agree(comparison: Comparison, attribute: str, gold: Value | None, system: Value | None) -> bool:
    return comparison.agrees(attribute, gold, system)


class Alignment(AlignmentSpec, Struct, frozen=True, cache_hash=True, dict=True):
    """The pairs that a method chooses among the candidates that agree on `agree` and are alike enough."""

    candidates: CandidatePairs
    agree: tuple[str, ...]
    method: str
    threshold: float = 0.0
    agreement: Literal["before", "after"] = "before"
    """`before`: pairs that disagree cannot be chosen; `after`: they are chosen like others and then dropped."""
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
        """Build the alignment that a protocol describes, in a run that compares these attributes."""
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
        """Return the bit of a match that is set if the two mentions agree on an attribute."""
        return self.candidates.bits((attribute,))

    @property
    def is_divisible(self) -> bool:
        """True if pairs are taken one by one: what takes a mention, if anything does, is then in its part."""
        is_final = not self.agree or self.agreement == "before"
        return self.method in ("greedy", "many-to-one") and self.after is None and is_final

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
        by_line = self.candidates.ties == "line"
        golds, systems = (range(len(gold)), range(len(system))) if by_line else (word_order(gold), word_order(system))
        if first:
            taken_golds, taken_systems = {g for g, *_ in first}, {s for _, s, *_ in first}
            golds = [index for index in golds if index not in taken_golds]
            systems = [index for index in systems if index not in taken_systems]
            sides = [gold[index] for index in golds], [system[index] for index in systems]
            candidates = self.candidates.among(tables.pair, *sides)
        else:
            candidates = tables.get(self.candidates)
        bits, negative = self._required, -self.threshold
        eligible = [candidate for candidate in candidates if candidate[3] & bits == bits and candidate[0] <= negative]

        def numbered(matches: list[Match]) -> list[Match]:
            if by_line and not first:
                return matches
            return [*first, *((golds[g], systems[s], value, agreeing) for g, s, value, agreeing in matches)]

        others = equally_good(eligible) if self.method == "gold-first" else []
        return AlignedPairs(
            gold, system, numbered(MATCHINGS.get(self.method)(eligible)), [numbered(matches) for matches in others]
        )

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


def word_order(mentions: Sequence[Mention]) -> list[int]:
    """Return the indexes of mentions by first word, last word, number of words, the words themselves, and the head."""
    return sorted(range(len(mentions)), key=lambda index: word_place(mentions[index]))


def word_place(mention: Mention) -> tuple[int, int, int, list[tuple[int, int]], Region]:
    """Return the sort key of a mention in the order of words; the head may be missing."""
    span = mention.span
    if not span:
        return -1, -1, 0, [], ()
    # Of two spans with the same first words, the one whose segment continues has the earlier next word.
    return span[0][0], span[-1][1], size(span), [(begin, -end) for begin, end in span], mention.head or ()


class ClusterKeys(TableSpec[tuple[list[ClusterKey], list[ClusterKey]]], Struct, frozen=True, cache_hash=True):
    """The cluster of each mention, of gold and of the system; coreference reads the same lists."""

    def make(self, tables: Tables) -> tuple[list[ClusterKey], list[ClusterKey]]:
        """List them in the order of the mentions."""
        return cluster_keys(tables.pair.gold), cluster_keys(tables.pair.system)
