"""The tokens of a crowded document in groups: tokens are equal if their attributes and their mentions are."""

from collections.abc import Hashable, Iterable, Mapping, Sequence

from karat.tables.ace.groups import Groups, attributes_key, first_equals
from karat.tables.ace.mentions import CorrespondenceTable, refuse_many
from karat.tables.ace.records import Correspondence, ElementPair, ElementToken

Side = tuple[list[ElementToken], list[int], list[int]]
"""Tokens, the token that each mention belongs to, and for each mention the first that it equals."""


class TokenGroups:
    """The groups of both sides, and which of their mentions correspond."""

    def __init__(self, document: str, mentions: CorrespondenceTable, gold: Side, system: Side) -> None:
        self._document = document
        self._correspondences = mentions.pairs
        self._mentions = _mention_groups(*gold), _mention_groups(*system)
        self._different = [[all(len(one) == 1 for one in own.values()) for own in side] for side in self._mentions]
        """For each token of gold, and of the system: whether all its mentions are different."""
        parents = mentions.parent_attributes
        self.gold = first_equals(_token_keys(*gold, parents[0]))
        """For each token of gold, the number of the first that it equals."""
        self.system = first_equals(_token_keys(*system, parents[1]))
        """The same for the system."""

    def correspondences(self) -> dict[tuple[int, int], list[Correspondence]]:
        """For the first tokens of each two groups: which of their mentions correspond, the first of each group."""
        holders = _holders(self.gold, self._mentions[0]), _holders(self.system, self._mentions[1])
        sizes = [len(holders[0][pair.gold]) * len(holders[1][pair.system]) for pair in self._correspondences]
        refuse_many(self._document, sum(sizes))
        of_tokens: dict[tuple[int, int], list[Correspondence]] = {}
        for pair in self._correspondences:
            for g in holders[0][pair.gold]:
                for s in holders[1][pair.system]:
                    gold, system = self._mentions[0][g][pair.gold][0], self._mentions[1][s][pair.system][0]
                    of_tokens.setdefault((g, s), []).append(Correspondence(gold, system, pair.mmv, pair.overlap))
        for pairs in of_tokens.values():
            pairs.sort(key=lambda pair: (pair.system, pair.gold))
        return of_tokens

    def mentions(self, gold: int, system: int) -> Groups | None:
        """The mentions of two tokens in groups, if any are equal: rows are the system's."""
        if self._different[0][gold] and self._different[1][system]:
            return None
        theirs, ours = self._mentions[1][system].values(), self._mentions[0][gold].values()
        return Groups({own[0]: own for own in theirs}, {own[0]: own for own in ours})

    def mapped(self, gold: int, system: int, pairs: Mapping[tuple[int, int], ElementPair]) -> list[tuple[int, int]]:
        """The numbers of the mentions of two tokens that are mapped to each other, as in the first of their groups."""
        firsts = self.gold[gold], self.system[system]
        pair = pairs.get(firsts)
        if pair is None:
            return []
        ours, theirs = (
            {
                one: other
                for mention, own in side[first].items()
                for one, other in zip(own, side[number][mention], strict=True)
            }
            for side, first, number in zip(self._mentions, firsts, (gold, system), strict=True)
        )
        return [(ours[one.gold], theirs[one.system]) for one in pair.mapped]


def _mention_groups(
    tokens: Sequence[ElementToken], owners: Sequence[int], firsts: Sequence[int]
) -> list[dict[int, list[int]]]:
    """For each token: its mentions in groups, by the first mention that they equal."""
    groups: list[dict[int, list[int]]] = [{} for _ in tokens]
    for number, (owner, first) in enumerate(zip(owners, firsts, strict=True)):
        groups[owner].setdefault(first, []).append(number)
    return groups


def _token_keys(
    tokens: Sequence[ElementToken], owners: Sequence[int], firsts: Sequence[int], parents: Iterable[Hashable]
) -> list[Hashable]:
    """What the formulas read of tokens: attributes, and mentions in order; one without mentions equals no other."""
    mentions: list[list[Hashable]] = [[] for _ in tokens]
    for owner, first, parent in zip(owners, firsts, parents, strict=True):
        mentions[owner].append((first, parent))
    return [
        (attributes_key(token.element.attributes), tuple(own) or number)
        for number, (token, own) in enumerate(zip(tokens, mentions, strict=True))
    ]


def _holders(firsts: Sequence[int], mentions: Sequence[Mapping[int, list[int]]]) -> dict[int, list[int]]:
    """For each first mention of a group: the first tokens that have a mention of the group."""
    holders: dict[int, list[int]] = {}
    for number in dict.fromkeys(firsts):
        for first in mentions[number]:
            holders.setdefault(first, []).append(number)
    return holders
