"""The tokens of one document: what its entities, values and times are worth alone, and in pairs.

Two tokens are a pair if any of their mentions correspond. The mentions of a pair are mapped to each other so that
Σ MMV is largest.
"""

from collections.abc import Collection
from functools import cached_property
from math import fsum

from karat.tables.ace.groups import Groups
from karat.tables.ace.mentions import CorrespondenceTable
from karat.tables.ace.plan import Plan
from karat.tables.ace.records import Correspondence, Element, ElementPair, ElementToken
from karat.tables.ace.token_groups import TokenGroups

MentionNumbers = dict[str, tuple[int, list[int]]]
"""The number of each element, by its id, and those of its mentions."""


class DocumentTokens:
    """The tokens of both sides of one document, and pairs of them by their numbers (gold, system)."""

    def __init__(
        self,
        document: str,
        elements: tuple[list[Element], list[Element]],
        promoted: tuple[bool, bool],
        mentions: CorrespondenceTable,
        reading: Plan,
    ) -> None:
        self.document = document
        self.mentions = mentions
        self._reading = reading
        self.gold, self.gold_owners = mentions.tokens(0, elements[0], is_promoted=promoted[0])
        self.system, self.system_owners = mentions.tokens(1, elements[1], is_promoted=promoted[1])
        self.groups: TokenGroups | None = None
        """In a crowded document: groups of equal tokens. Then only the first of each group are in `pairs`."""
        correspondences: dict[tuple[int, int], list[Correspondence]] = {}
        if mentions.first_equals is None:
            gold_owners, system_owners = self.gold_owners, self.system_owners
            for pair in mentions.pairs:
                correspondences.setdefault((gold_owners[pair.gold], system_owners[pair.system]), []).append(pair)
            self.pairs = {(g, s): self._pair(s, pairs) for (g, s), pairs in correspondences.items()}
        else:
            self.groups = TokenGroups(
                document,
                mentions,
                (self.gold, self.gold_owners, mentions.first_equals[0]),
                (self.system, self.system_owners, mentions.first_equals[1]),
            )
            correspondences = self.groups.correspondences()
            self.pairs = {
                (g, s): self._pair(s, pairs, self.groups.mentions(g, s)) for (g, s), pairs in correspondences.items()
            }

    def _pair(self, system: int, pairs: list[Correspondence], groups: Groups | None = None) -> ElementPair:
        """A system token and a gold one, under the mapping of mentions that maximises Σ MMV of the system's."""
        reading, mentions, mapped = self._reading, self.mentions.system, pairs
        if groups is not None or len(pairs) > 1:
            gains = {
                (pair.system, pair.gold): (reading.gain(pair.mmv, mentions[pair.system].unmapped), pair.overlap)
                for pair in pairs
            }
            chosen = reading.assign(gains, groups)
            mapped = _chosen(pairs, chosen) if groups is None else _of_members(pairs, chosen, groups)
        parents = self.mentions.gold[pairs[0].gold].element, mentions[pairs[0].system].element
        unmapped = self.system[system].unmapped - fsum([mentions[pair.system].unmapped for pair in mapped])
        mmv = fsum([pair.mmv for pair in mapped]) + unmapped
        overlap = fsum([pair.overlap for pair in mapped])
        return ElementPair(self.mentions.element_value(*parents), mmv, overlap, mapped)

    def mapped(self, gold: int, system: int) -> list[tuple[int, int]]:
        """The numbers of the mentions of two tokens that are mapped to each other."""
        if self.groups is not None:
            return self.groups.mapped(gold, system, self.pairs)
        pair = self.pairs.get((gold, system))
        return [] if pair is None else [(one.gold, one.system) for one in pair.mapped]

    @cached_property
    def mentions_by_id(self) -> tuple[MentionNumbers, MentionNumbers]:
        """The elements of gold, and of the system, with their mentions."""
        return _mention_numbers(self.gold, self.gold_owners), _mention_numbers(self.system, self.system_owners)


def _mention_numbers(tokens: list[ElementToken], owners: list[int]) -> MentionNumbers:
    numbers: MentionNumbers = {token.element.id: (number, []) for number, token in enumerate(tokens)}
    for mention, owner in enumerate(owners):
        numbers[tokens[owner].element.id][1].append(mention)
    return numbers


def _chosen(pairs: list[Correspondence], chosen: Collection[tuple[int, int]]) -> list[Correspondence]:
    taken = set(chosen)
    return [pair for pair in pairs if (pair.system, pair.gold) in taken]


def _of_members(
    pairs: list[Correspondence], chosen: Collection[tuple[int, int]], groups: Groups
) -> list[Correspondence]:
    """The chosen pairs of mentions; `pairs` has only those of the first of each group."""
    of_first = {(pair.system, pair.gold): pair for pair in pairs}
    equal = [of_first[first] for first in groups.first_members(chosen)]
    return [Correspondence(g, s, pair.mmv, pair.overlap) for (s, g), pair in zip(chosen, equal, strict=True)]
