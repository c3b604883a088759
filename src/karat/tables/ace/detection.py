"""EDR, VAL, TERN and EMD: values of entities, values and times, and the mapping that is worth most.

    Value(token) = Element_Value(token) · Mentions_Value(token)

A table is one document's, or that of several in which elements meet again: then Mentions_Value is a sum over documents,
and the level of a token is that of all its mentions. Relations and events read values document by document.
"""

from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from math import fsum
from typing import TypeVar

from karat.plugin import Counted, ErrorsOf, Tables, TableSpec
from karat.tables.ace.elements import WholeElements
from karat.tables.ace.mapping import is_one_to_one
from karat.tables.ace.mentions import CorrespondenceTable, MentionCorrespondences, refuse_many
from karat.tables.ace.parameters import value_of
from karat.tables.ace.plan import Plan
from karat.tables.ace.promotion import PromotedEntities, PromotedRelations
from karat.tables.ace.records import Correspondence, Element, ElementPair, ElementToken, ScoredMention, differing
from karat.tables.ace.twins import Twins, attributes_key, firsts

K = TypeVar("K", bound=Hashable)

ElementIds = tuple[str, str]
"""A gold element and a system element."""

COMPARED = {
    "entity": ("type", "subtype", "class", "level"),
    "value": ("type", "subtype"),
    "time": ("type", "val", "mod", "set", "anchor_val", "anchor_dir", "non_specific", "comment"),
}
"""What must be right for a mapped element to be correct and not an error."""


class DetectionValues(TableSpec["DetectionTable"]):
    """the values of elements of a kind."""

    def __init__(
        self,
        mentions: MentionCorrespondences,
        elements: WholeElements | PromotedEntities | PromotedRelations,
        *,
        has_value: bool = True,
    ) -> None:
        self.kind = mentions.kind
        self.reading: Plan = mentions.reading
        self.parameters = mentions.parameters
        self.mentions = mentions
        self.elements = elements
        self.has_value = has_value
        """Whether the system's elements have a value; if not, they are worth 0 as arguments."""

    @property
    def errors_of(self) -> ErrorsOf:
        """Elements with their attributes and mentions."""
        return "elements"

    @property
    def counted(self) -> Counted:
        """An element may be in several documents of a unit, which the tables of single documents do not show."""
        return "unit"

    def make(self, tables: Tables) -> "DetectionTable":
        """Those of one document."""
        gold, system = tables.get(self.elements)
        own = gold.get(self.kind, []), system.get(self.kind, [])
        return DetectionTable([DocumentTokens(tables.pair.gold.id, *own, tables.get(self.mentions), self)], self)

    def add(self, tables: "Sequence[DetectionTable]") -> "DetectionTable":
        """Documents put together; elements with the same id are one."""
        return DetectionTable([document for table in tables for document in table.documents], self)


class DocumentTokens:
    """The tokens of both sides of one document, and pairs of them by their numbers (gold, system)."""

    def __init__(
        self,
        document: str,
        gold: list[Element],
        system: list[Element],
        mentions: CorrespondenceTable,
        want: DetectionValues,
    ) -> None:
        self.document = document
        self.mentions = mentions
        self._want = want
        self.gold, self.gold_owners = self._tokens(gold, mentions.gold, mentions.inherent[0], want.elements.promoted[0])
        self.system, self.system_owners = self._tokens(
            system, mentions.system, mentions.inherent[1], want.elements.promoted[1]
        )
        self.groups: TokenGroups | None = None
        """In a crowded document: twins. Then only the first of them are in pairs."""
        found: dict[tuple[int, int], list[Correspondence]] = {}
        if mentions.twins is None:
            for pair in mentions.pairs:
                found.setdefault((self.gold_owners[pair.gold], self.system_owners[pair.system]), []).append(pair)
            self.pairs = {(g, s): self._pair(self.system[s], pairs) for (g, s), pairs in found.items()}
        else:
            self.groups = TokenGroups(self, mentions.twins)
            self.pairs = {
                (g, s): self._pair(self.system[s], pairs, self.groups.parts(g, s))
                for (g, s), pairs in self.groups.correspondences().items()
            }

    def mapped(self, gold: int, system: int) -> list[tuple[int, int]]:
        """The numbers of the mentions of two tokens that are mapped to each other."""
        if self.groups is not None:
            return self.groups.mapped(gold, system, self.pairs)
        pair = self.pairs.get((gold, system))
        return [] if pair is None else [(one.gold, one.system) for one in pair.mapped]

    @cached_property
    def mentions_by_id(self) -> tuple[dict[str, tuple[int, list[int]]], dict[str, tuple[int, list[int]]]]:
        """The number of each element of gold, and of the system, and those of its mentions."""
        gold: dict[str, tuple[int, list[int]]] = {one.element.id: (n, []) for n, one in enumerate(self.gold)}
        system: dict[str, tuple[int, list[int]]] = {one.element.id: (n, []) for n, one in enumerate(self.system)}
        for own, tokens, owners in ((gold, self.gold, self.gold_owners), (system, self.system, self.system_owners)):
            for number, owner in enumerate(owners):
                own[tokens[owner].element.id][1].append(number)
        return gold, system

    def _tokens(
        self, elements: list[Element], mentions: list[ScoredMention], inherent: list[float], is_promoted: bool
    ) -> tuple[list[ElementToken], list[int]]:
        """The tokens of one side, and the number of the token that each mention belongs to."""
        owners = [mention.element for mention in mentions]
        if is_promoted:
            inherent = [inherent[number] for number in owners]
            owners = list(range(len(mentions)))
        own: list[list[float]] = [[] for _ in elements]
        unmapped: list[list[float]] = [[] for _ in elements]
        for number, mention in zip(owners, mentions, strict=True):
            own[number].append(mention.own)
            unmapped[number].append(mention.unmapped)
        levels = self._want.parameters.MTypeValue
        tokens = [
            ElementToken(element, value, value_of(levels, element.attributes.get("level")), fsum(selves), fsum(alarms))
            for element, value, selves, alarms in zip(elements, inherent, own, unmapped, strict=True)
        ]
        return tokens, owners

    def _pair(self, system: ElementToken, pairs: list[Correspondence], twins: Twins | None = None) -> ElementPair:
        """Two tokens under the mapping of mentions that maximises Σ MMV over all system mentions."""
        reading, mentions, mapped = self._want.reading, self.mentions.system, pairs
        if twins is not None or not is_one_to_one([(pair.system, pair.gold) for pair in pairs]):
            gains = {
                (pair.system, pair.gold): (reading.gain(pair.mmv, mentions[pair.system].unmapped), pair.overlap)
                for pair in pairs
            }
            best = reading.assign(gains, twins)
            mapped = _chosen(pairs, best) if twins is None else _expanded(pairs, best, twins)
        numbers = self.mentions.gold[pairs[0].gold].element, mentions[pairs[0].system].element
        unmapped = system.unmapped - fsum([mentions[pair.system].unmapped for pair in mapped])
        mmv = fsum([pair.mmv for pair in mapped]) + unmapped
        overlap = fsum([pair.overlap for pair in mapped])
        return ElementPair(self.mentions.element_value(*numbers), mmv, overlap, mapped)


def _chosen(pairs: list[Correspondence], best: Collection[tuple[int, int]]) -> list[Correspondence]:
    chosen = set(best)
    return [pair for pair in pairs if (pair.system, pair.gold) in chosen]


def _expanded(pairs: list[Correspondence], best: Collection[tuple[int, int]], twins: Twins) -> list[Correspondence]:
    """The chosen pairs of mentions, of which only the first of twins are in `pairs`."""
    of_firsts = {(pair.system, pair.gold): pair for pair in pairs}
    alike = [of_firsts[firsts_] for firsts_ in twins.firsts_of(best)]
    return [Correspondence(g, s, pair.mmv, pair.overlap) for (s, g), pair in zip(best, alike, strict=True)]


class TokenGroups:
    """The tokens of a crowded document in groups of twins: their mentions and attributes are alike."""

    def __init__(self, tokens: DocumentTokens, mentions: tuple[list[int], list[int]]) -> None:
        self._correspondences, self._document = tokens.mentions.pairs, tokens.document
        self._mentions = (
            _mention_groups(len(tokens.gold), tokens.gold_owners, mentions[0]),
            _mention_groups(len(tokens.system), tokens.system_owners, mentions[1]),
        )
        parents = tokens.mentions.parent_attributes
        keys = (
            _token_keys(tokens.gold, tokens.gold_owners, zip(mentions[0], parents[0], strict=True)),
            _token_keys(tokens.system, tokens.system_owners, zip(mentions[1], parents[1], strict=True)),
        )
        self.gold, self.system = firsts(keys[0]), firsts(keys[1])
        """The number of the first twin of each token."""

    def correspondences(self) -> dict[tuple[int, int], list[Correspondence]]:
        """For each two first tokens: which of their first mentions correspond."""
        holders = _holders(self.gold, self._mentions[0]), _holders(self.system, self._mentions[1])
        sizes = [len(holders[0][pair.gold]) * len(holders[1][pair.system]) for pair in self._correspondences]
        refuse_many(self._document, sum(sizes))
        found: dict[tuple[int, int], list[Correspondence]] = {}
        for pair in self._correspondences:
            for g in holders[0][pair.gold]:
                for s in holders[1][pair.system]:
                    own = Correspondence(
                        self._mentions[0][g][pair.gold][0],
                        self._mentions[1][s][pair.system][0],
                        pair.mmv,
                        pair.overlap,
                    )
                    found.setdefault((g, s), []).append(own)
        for pairs in found.values():
            pairs.sort(key=lambda pair: (pair.system, pair.gold))
        return found

    def parts(self, gold: int, system: int) -> Twins | None:
        """The mentions of two tokens in groups, if any has twins: rows are the system's."""
        theirs, ours = self._mentions[1][system].values(), self._mentions[0][gold].values()
        if all(len(members) == 1 for members in (*theirs, *ours)):
            return None
        return Twins({own[0]: own for own in theirs}, {own[0]: own for own in ours})

    def mapped(self, gold: int, system: int, pairs: Mapping[tuple[int, int], ElementPair]) -> list[tuple[int, int]]:
        """The numbers of the mentions of two tokens that are mapped to each other, as those of the first twins are."""
        firsts_ = self.gold[gold], self.system[system]
        pair = pairs.get(firsts_)
        if pair is None:
            return []
        ours, theirs = (
            {
                one: other
                for mention, own in side[first].items()
                for one, other in zip(own, side[number][mention], strict=True)
            }
            for side, first, number in zip(self._mentions, firsts_, (gold, system), strict=True)
        )
        return [(ours[one.gold], theirs[one.system]) for one in pair.mapped]


def _mention_groups(count: int, owners: Sequence[int], twins: Sequence[int]) -> list[dict[int, list[int]]]:
    """For each token: its mentions by the first that is like them."""
    found: list[dict[int, list[int]]] = [{} for _ in range(count)]
    for number, (owner, first) in enumerate(zip(owners, twins, strict=True)):
        found[owner].setdefault(first, []).append(number)
    return found


def _token_keys(
    tokens: Sequence[ElementToken],
    owners: Sequence[int],
    mentions: Iterable[tuple[int, Hashable]],
) -> list[Hashable]:
    """What the formulas read of tokens: attributes, and mentions in order; one without mentions has no twin."""
    sequences: list[list[Hashable]] = [[] for _ in tokens]
    for owner, mention in zip(owners, mentions, strict=True):
        sequences[owner].append(mention)
    return [
        (attributes_key(token.element.attributes), tuple(sequence) or number)
        for number, (token, sequence) in enumerate(zip(tokens, sequences, strict=True))
    ]


def _holders(twins: Sequence[int], mentions: Sequence[Mapping[int, list[int]]]) -> dict[int, list[int]]:
    """The first tokens that have a mention like this one, for each first mention."""
    found: dict[int, list[int]] = {}
    for number in dict.fromkeys(twins):
        for first in mentions[number]:
            found.setdefault(first, []).append(number)
    return found


class DetectionTable:
    """Values of pairs and of tokens alone, and the mapping between them."""

    def __init__(self, documents: list[DocumentTokens], want: DetectionValues) -> None:
        self.documents = documents
        self.want = want
        self.compared = COMPARED[want.kind]
        self.gold = _by_id([document.gold for document in documents])
        self.system = _by_id([document.system for document in documents])
        self.twins: tuple[dict[str, str], dict[str, str]] = {}, {}
        """For elements of gold, and of the system, that have a twin before them: the first of these."""
        for document in documents:
            if document.groups is not None:
                self._find_twins(document, document.groups)

    def _find_twins(self, document: DocumentTokens, groups: TokenGroups) -> None:
        if sum(len(one.gold) + len(one.system) for one in self.documents) > len(self.gold) + len(self.system):
            # What an element has in other documents is not compared.
            refuse_many(document.document, len(document.mentions.gold) * len(document.mentions.system))
        sides = (document.gold, groups.gold), (document.system, groups.system)
        for twins, (tokens, firsts_) in zip(self.twins, sides, strict=True):
            for number, (token, first) in enumerate(zip(tokens, firsts_, strict=True)):
                if first != number:
                    twins[token.element.id] = tokens[first].element.id

    def first_twins(self, gold: str, system: str) -> ElementIds:
        """The two elements under which the pair is found in `pairs` and `by_document`."""
        return self.twins[0].get(gold, gold), self.twins[1].get(system, system)

    @cached_property
    def gold_values(self) -> dict[str, dict[str, float]]:
        """Value(ref, ref) in each document."""
        return {document.document: self._own(document.gold, self.gold) for document in self.documents}

    @cached_property
    def system_values(self) -> dict[str, dict[str, float]]:
        """Value(sys, sys) in each document."""
        if not self.want.has_value:
            return {one.document: {token.element.id: 0.0 for token in one.system} for one in self.documents}
        return {document.document: self._own(document.system, self.system) for document in self.documents}

    def _own(self, tokens: Sequence[ElementToken], side: Mapping[str, ElementToken]) -> dict[str, float]:
        """Element_Value · Mentions_Value of tokens against themselves."""
        return {
            token.element.id: token.inherent * self._mentions_value(token.own, side[token.element.id].level, token.own)
            for token in tokens
        }

    def _mentions_value(self, mmv: float, level: float, own: float) -> float:
        return self.want.reading.mentions_value(self.want.kind, mmv, level, own)

    @cached_property
    def unmapped(self) -> dict[str, float]:
        """The value of each unmapped system token: W_FA · Element_Value · Mentions_Value, never positive."""
        return _summed(
            {
                token.element.id: self.want.parameters.W_FA
                * token.inherent
                * self._mentions_value(token.unmapped, self.system[token.element.id].level, token.own)
                for token in document.system
            }
            for document in self.documents
        )

    @cached_property
    def by_document(self) -> dict[str, dict[ElementIds, float]]:
        """Value_doc(sys, ref) of two elements that correspond in any document, in each where the system's is."""
        element_values: dict[str, dict[str, float]] = {}
        for document in self.documents:
            for (g, s), pair in document.pairs.items():
                ids = document.gold[g].element.id, document.system[s].element.id
                element_values.setdefault(ids[1], {})[ids[0]] = pair.element_value
        return {document.document: dict(self._values(document, element_values)) for document in self.documents}

    def _values(
        self, document: DocumentTokens, element_values: Mapping[str, Mapping[str, float]]
    ) -> Iterator[tuple[ElementIds, float]]:
        """Element_Value · Mentions_Value; where the reference is not mentioned, all system mentions are unmapped."""
        golds = {token.element.id: (g, token.own) for g, token in enumerate(document.gold)}
        for s, token in enumerate(document.system):
            id_ = token.element.id
            for gold, element_value in element_values.get(id_, {}).items():
                g, own = golds.get(gold, (-1, token.own))
                pair = document.pairs.get((g, s))
                level = min(self.gold[gold].level, self.system[id_].level)
                mmv = token.unmapped if pair is None else pair.mmv
                yield (gold, id_), element_value * self._mentions_value(mmv, level, own)

    @cached_property
    def pairs(self) -> dict[ElementIds, float]:
        """The value of each two elements that correspond, over documents."""
        return _summed(self.by_document.values())

    @cached_property
    def partners(self) -> dict[str, list[str]]:
        """For each system element: the gold elements that it has a mention in correspondence with."""
        found: dict[str, list[str]] = {}
        for gold, system in self.pairs:
            found.setdefault(system, []).append(gold)
        return found

    @cached_property
    def reference(self) -> dict[str, float]:
        """The value of each reference, over documents."""
        return _summed(self.gold_values.values())

    def own(self, system: str) -> float:
        """The value of a system element against itself, over documents."""
        return fsum([values[system] for values in self.system_values.values() if system in values])

    def value(self, gold: str, system: str) -> float:
        """The value of a system element that is mapped to a reference."""
        return self.pairs[self.first_twins(gold, system)]

    @cached_property
    def mapping(self) -> dict[str, str]:
        """Gold elements and the system elements they are mapped to: the mapping that maximises the score."""
        overlaps = _summed(
            {
                (document.gold[g].element.id, document.system[s].element.id): pair.overlap
                for (g, s), pair in document.pairs.items()
            }
            for document in self.documents
        )
        return element_mapping(
            self.want.reading, self.gold, self.system, self.pairs, self.unmapped, overlaps, self.twins
        )

    def wrong_attributes(self, gold: str, system: str) -> list[str]:
        """Attributes that differ."""
        return differing(self.compared, self.gold[gold].element, self.system[system].element)

    def wrong_arguments(self, gold: str, system: str) -> list[int]:
        """None: entities, values and times have no arguments."""
        del gold, system
        return []


def element_mapping(
    reading: Plan,
    gold: Iterable[str],
    system: Iterable[str],
    values: Mapping[ElementIds, float],
    unmapped: Mapping[str, float],
    overlaps: Mapping[ElementIds, float],
    twins: tuple[Mapping[str, str], Mapping[str, str]],
) -> dict[str, str]:
    """Gold elements with the system elements they are mapped to: a pair gains its value less that of a false alarm.

    Of twins, only the first are in `values`.
    """
    golds, systems = list(gold), list(system)
    g_number = {id_: number for number, id_ in enumerate(golds)}
    s_number = {id_: number for number, id_ in enumerate(systems)}
    gains = {
        (g_number[g], s_number[s]): (reading.gain(value, unmapped[s]), overlaps.get((g, s), 0.0))
        for (g, s), value in values.items()
    }
    groups = None
    if any(twins):
        groups = Twins(_numbered_groups(g_number, twins[0]), _numbered_groups(s_number, twins[1]))
    chosen = reading.assign_elements(gains, groups)
    return {golds[g]: systems[s] for g, s in chosen}


def _numbered_groups(numbers: Mapping[str, int], twins: Mapping[str, str]) -> dict[int, list[int]]:
    """The numbers of twins by that of the first; of others, their own."""
    found: dict[int, list[int]] = {}
    for id_, number in numbers.items():
        found.setdefault(numbers[twins.get(id_, id_)], []).append(number)
    return found


def _summed(documents: Iterable[dict[K, float]]) -> dict[K, float]:
    """Σ over documents; mostly there is one."""
    listed = list(documents)
    if len(listed) == 1:
        return listed[0]
    found: dict[K, list[float]] = {}
    for document in listed:
        for key, value in document.items():
            found.setdefault(key, []).append(value)
    return {key: fsum(values) for key, values in found.items()}


def _by_id(documents: Sequence[Sequence[ElementToken]]) -> dict[str, ElementToken]:
    """Elements by id, each with the token of its highest level."""
    found: dict[str, ElementToken] = {}
    for token in [token for document in documents for token in document]:
        first = found.setdefault(token.element.id, token)
        if first.level < token.level:
            found[token.element.id] = token
    return found
