"""EDR, VAL, TERN and EMD: values of entities, values and times, and the mapping that is worth most.

    Value(token) = Element_Value(token) · Mentions_Value(token)

A table is that of one document, or of several in which elements occur again: then Mentions_Value is a sum over
documents, and the level of a token is that of all its mentions. Relations and events read values document by document.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from math import fsum
from typing import TypeVar

from karat.plugin import Counted, ErrorsOf, Tables, TableSpec
from karat.tables.ace.element_mapping import ElementIds, element_mapping
from karat.tables.ace.elements import WholeElements
from karat.tables.ace.mentions import MentionCorrespondences, refuse_many
from karat.tables.ace.plan import Plan
from karat.tables.ace.promotion import PromotedEntities, PromotedRelations
from karat.tables.ace.records import ElementToken, differing
from karat.tables.ace.token_groups import TokenGroups
from karat.tables.ace.tokens import DocumentTokens

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")

COMPARED = {
    "entity": ("type", "subtype", "class", "level"),
    "value": ("type", "subtype"),
    "time": ("type", "val", "mod", "set", "anchor_val", "anchor_dir", "non_specific", "comment"),
}
"""What must be right for a mapped element to be correct and not an error."""


class ElementValues(TableSpec[T]):
    """The values of elements and of pairs of them, and the mapping that is worth most."""

    @property
    def errors_of(self) -> ErrorsOf:
        """Elements with their attributes, and their mentions or arguments."""
        return "elements"

    @property
    def counted(self) -> Counted:
        """An element may be in several documents of a unit, which the tables of single documents do not show."""
        return "unit"


class DetectionValues(ElementValues["DetectionTable"]):
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

    def make(self, tables: Tables) -> "DetectionTable":
        """Those of one document."""
        gold, system = tables.get(self.elements)
        elements = gold.get(self.kind, []), system.get(self.kind, [])
        mentions = tables.get(self.mentions)
        tokens = DocumentTokens(tables.pair.gold.id, elements, self.elements.promoted, mentions, self.reading)
        return DetectionTable([tokens], self)

    def add(self, tables: "Sequence[DetectionTable]") -> "DetectionTable":
        """Documents put together; elements with the same id are one."""
        return DetectionTable([document for table in tables for document in table.documents], self)


class DetectionTable:
    """Values of pairs and of tokens alone, and the mapping between them."""

    def __init__(self, documents: list[DocumentTokens], want: DetectionValues) -> None:
        self.documents = documents
        self.want = want
        self.compared = COMPARED[want.kind]
        self.gold = _by_id([document.gold for document in documents])
        self.system = _by_id([document.system for document in documents])
        self.first_equals: tuple[dict[str, str], dict[str, str]] = {}, {}
        """For elements of gold, and of the system, that equal an earlier one: the first that they equal."""
        for document in documents:
            if document.groups is not None:
                self._add_groups(document, document.groups)

    def _add_groups(self, document: DocumentTokens, groups: TokenGroups) -> None:
        if sum(len(one.gold) + len(one.system) for one in self.documents) > len(self.gold) + len(self.system):
            # An element is in several documents, and groups compare what is in one.
            refuse_many(document.document, len(document.mentions.gold) * len(document.mentions.system))
        sides = (document.gold, groups.gold), (document.system, groups.system)
        for first_equals, (tokens, firsts) in zip(self.first_equals, sides, strict=True):
            for number, (token, first) in enumerate(zip(tokens, firsts, strict=True)):
                if first != number:
                    first_equals[token.element.id] = tokens[first].element.id

    def valued_pair(self, gold: str, system: str) -> ElementIds:
        """The elements under which `pairs` and `by_document` have the value of a pair: the first equal ones."""
        return self.first_equals[0].get(gold, gold), self.first_equals[1].get(system, system)

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
        mentions_value, kind = self.want.reading.mentions_value, self.want.kind
        return {
            (id_ := token.element.id): token.element.inherent
            * mentions_value(kind, token.own, side[id_].level, token.own)
            for token in tokens
        }

    @cached_property
    def unmapped(self) -> dict[str, float]:
        """The value of each unmapped system token: W_FA · Element_Value · Mentions_Value, never positive."""
        mentions_value, kind, weight = self.want.reading.mentions_value, self.want.kind, self.want.parameters.W_FA
        return summed(
            {
                (id_ := token.element.id): weight
                * token.element.inherent
                * mentions_value(kind, token.unmapped, self.system[id_].level, token.own)
                for token in document.system
            }
            for document in self.documents
        )

    @cached_property
    def by_document(self) -> dict[str, dict[ElementIds, float]]:
        """Value_doc(sys, ref) of two elements that correspond in any document, in each where the system's is."""
        values = {document.document: dict(self._values(document)) for document in self.documents}
        if len(self.documents) > 1:
            self._add_unmapped(values)
        return values

    def _values(self, document: DocumentTokens) -> Iterator[tuple[ElementIds, float]]:
        """Element_Value · Mentions_Value of two elements that correspond in a document."""
        mentions_value, kind = self.want.reading.mentions_value, self.want.kind
        for (g, s), pair in document.pairs.items():
            gold, id_, system = document.gold[g], document.gold[g].element.id, document.system[s].element.id
            level = min(self.gold[id_].level, self.system[system].level)
            yield (id_, system), pair.element_value * mentions_value(kind, pair.mmv, level, gold.own)

    def _add_unmapped(self, values: Mapping[str, dict[ElementIds, float]]) -> None:
        """The same where two elements correspond only in other documents: all system mentions are unmapped."""
        mentions_value, kind = self.want.reading.mentions_value, self.want.kind
        partners: dict[str, dict[str, float]] = {}
        for document in self.documents:
            for (g, s), pair in document.pairs.items():
                gold, system = document.gold[g].element.id, document.system[s].element.id
                partners.setdefault(system, {})[gold] = pair.element_value
        for document in self.documents:
            known, owns = values[document.document], {token.element.id: token.own for token in document.gold}
            for token in document.system:
                system = token.element.id
                for gold, element_value in partners.get(system, {}).items():
                    if (gold, system) not in known:
                        level = min(self.gold[gold].level, self.system[system].level)
                        value = mentions_value(kind, token.unmapped, level, owns.get(gold, token.own))
                        known[gold, system] = element_value * value

    @cached_property
    def pairs(self) -> dict[ElementIds, float]:
        """The value of each two elements that correspond, over documents."""
        return summed(self.by_document.values())

    @cached_property
    def partners(self) -> dict[str, list[str]]:
        """For each system element: the gold elements that it has a mention in correspondence with."""
        golds: dict[str, list[str]] = {}
        for gold, system in self.pairs:
            golds.setdefault(system, []).append(gold)
        return golds

    @cached_property
    def reference(self) -> dict[str, float]:
        """The value of each reference, over documents."""
        return summed(self.gold_values.values())

    def own(self, system: str) -> float:
        """The value of a system element against itself, over documents."""
        return fsum([values[system] for values in self.system_values.values() if system in values])

    def value(self, gold: str, system: str) -> float:
        """The value of a system element that is mapped to a reference."""
        return self.pairs[self.valued_pair(gold, system)]

    @cached_property
    def mapping(self) -> dict[str, str]:
        """Gold elements and the system elements they are mapped to: the mapping that maximises the score."""
        overlaps = summed(
            {
                (document.gold[g].element.id, document.system[s].element.id): pair.overlap
                for (g, s), pair in document.pairs.items()
            }
            for document in self.documents
        )
        return element_mapping(
            self.want.reading, self.gold, self.system, self.pairs, self.unmapped, overlaps, self.first_equals
        )

    def wrong_attributes(self, gold: str, system: str) -> list[str]:
        """Attributes that differ."""
        return differing(self.compared, self.gold[gold].element, self.system[system].element)

    def wrong_arguments(self, gold: str, system: str) -> list[int]:
        """None: entities, values and times have no arguments."""
        del gold, system
        return []

    def is_wrong_by_rule(self, gold: str, system: str) -> bool:
        """Never: only arguments are."""
        del gold, system
        return False


def summed(documents: Iterable[dict[K, float]]) -> dict[K, float]:
    """Σ over documents; mostly there is one."""
    listed = list(documents)
    if len(listed) == 1:
        return listed[0]
    values_of: dict[K, list[float]] = {}
    for document in listed:
        for key, value in document.items():
            values_of.setdefault(key, []).append(value)
    return {key: fsum(values) for key, values in values_of.items()}


def _by_id(documents: Sequence[Sequence[ElementToken]]) -> dict[str, ElementToken]:
    """Elements by id, each with the token of its highest level."""
    highest: dict[str, ElementToken] = {token.element.id: token for token in documents[0]}
    for tokens in documents[1:]:
        for token in tokens:
            if highest.setdefault(token.element.id, token).level < token.level:
                highest[token.element.id] = token
    return highest
