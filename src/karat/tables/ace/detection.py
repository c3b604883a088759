"""EDR, VAL, TERN and EMD: values of entities, values and times, and the mapping that is worth most.

    Value(token) = Element_Value(token) · Mentions_Value(token)

A table is one document's, or that of several in which elements meet again: then Mentions_Value is a sum over documents,
and the level of a token is that of all its mentions. Relations and events read values document by document.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from math import fsum
from typing import TypeVar

from karat.plugin import Counted, Tables, TableSpec
from karat.tables.ace.elements import WholeElements
from karat.tables.ace.mapping import is_one_to_one
from karat.tables.ace.mentions import CorrespondenceTable, MentionCorrespondences
from karat.tables.ace.parameters import value_of
from karat.tables.ace.plan import Plan
from karat.tables.ace.promotion import PromotedEntities, PromotedRelations
from karat.tables.ace.records import Correspondence, Element, ElementPair, ElementToken, ScoredMention, differing

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
        found: dict[tuple[int, int], list[Correspondence]] = {}
        for pair in mentions.pairs:
            found.setdefault((self.gold_owners[pair.gold], self.system_owners[pair.system]), []).append(pair)
        self.pairs = {(g, s): self._pair(self.system[s], pairs) for (g, s), pairs in found.items()}

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

    def _pair(self, system: ElementToken, pairs: list[Correspondence]) -> ElementPair:
        """Two tokens under the mapping of mentions that maximises Σ MMV over all system mentions."""
        reading, mentions, mapped = self._want.reading, self.mentions.system, pairs
        if not is_one_to_one([(pair.system, pair.gold) for pair in pairs]):
            gains = {
                (pair.system, pair.gold): (reading.gain(pair.mmv, mentions[pair.system].unmapped), pair.overlap)
                for pair in pairs
            }
            best = set(reading.assign(gains))
            mapped = [pair for pair in pairs if (pair.system, pair.gold) in best]
        numbers = self.mentions.gold[pairs[0].gold].element, mentions[pairs[0].system].element
        unmapped = system.unmapped - fsum([mentions[pair.system].unmapped for pair in mapped])
        mmv = fsum([pair.mmv for pair in mapped]) + unmapped
        overlap = fsum([pair.overlap for pair in mapped])
        return ElementPair(self.mentions.element_value(*numbers), mmv, overlap, mapped)


class DetectionTable:
    """Values of pairs and of tokens alone, and the mapping between them."""

    def __init__(self, documents: list[DocumentTokens], want: DetectionValues) -> None:
        self.documents = documents
        self.want = want
        self.compared = COMPARED[want.kind]
        self.gold = _by_id([document.gold for document in documents])
        self.system = _by_id([document.system for document in documents])

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
        return self.pairs[gold, system]

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
        return element_mapping(self.want.reading, self.gold, self.system, self.pairs, self.unmapped, overlaps)

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
) -> dict[str, str]:
    """Gold elements with the system elements they are mapped to: a pair gains its value less that of a false alarm."""
    golds, systems = list(gold), list(system)
    g_number = {id_: number for number, id_ in enumerate(golds)}
    s_number = {id_: number for number, id_ in enumerate(systems)}
    gains = {
        (g_number[g], s_number[s]): (reading.gain(value, unmapped[s]), overlaps.get((g, s), 0.0))
        for (g, s), value in values.items()
    }
    return {golds[g]: systems[s] for g, s in reading.assign_elements(gains)}


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
