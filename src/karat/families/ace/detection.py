"""EDR, VAL, TERN and EMD: values of entities, values and times, and the mapping that is worth most.

    Value(token) = Element_Value(token) · Mentions_Value(token)

A table is that of one document, or of several in which elements occur again: then Mentions_Value is a sum over
documents, and the level of a token is that of all its mentions. Relations and events read values document by document.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from math import fsum
from typing import TypeVar

from karat.families.ace.elements import ElementsOfBothSides, Side, agreement, first_place
from karat.families.ace.mentions import DocumentTokens, MentionCorrespondences
from karat.families.ace.plan import IndexPair, Plan, Ties, optimal
from karat.families.ace.records import Element, ElementToken, Location, ScoredMention
from karat.plugin import Tables, TableSpec
from karat.regions import extension, place, shared

K = TypeVar("K", bound=Hashable)

ElementIds = tuple[str, str]
"""A gold element and a system element."""

COMPARED = {
    "entity": ("type", "subtype", "class", "level"),
    "value": ("type", "subtype"),
    "time": ("type", "val", "mod", "set", "anchor_val", "anchor_dir", "non_specific", "comment"),
}
"""Attributes that must be right for a mapped element to be correct and not an error."""


def best_mapping(
    reading: Plan,
    pairs: Mapping[ElementIds, float],
    unmapped: Mapping[str, float],
    overlaps: Mapping[ElementIds, float],
    sides: tuple[Iterable[str], Iterable[str]],
    table: "DetectionTable | None" = None,
) -> dict[str, str]:
    """Gold elements and the system elements they are mapped to: the mapping that maximises the score.

    A pair gains its value less that of a false alarm. `sides` are the elements in the order of the text; `table` is
    that of entities, values or times, of which arguments may decide ties.
    """
    golds, systems = map(list, sides)
    gold_index, system_index = ({id_: index for index, id_ in enumerate(side)} for side in (golds, systems))
    gain = reading.gain
    gains = {
        (gold_index[g], system_index[s]): (gain(value, unmapped[s]), overlaps.get((g, s), 0.0))
        for (g, s), value in pairs.items()
    }
    ties = None if table is None else table.ties(golds, systems)
    return {golds[g]: systems[s] for g, s in reading.assign_elements(gains, ties)}


class DetectionValues(TableSpec["DetectionTable"]):
    """The values of elements of a kind, of pairs of them, and the mapping that is worth most.

    An element may be in several documents of a unit, which the tables of single documents do not show.
    """

    errors_of = "elements"
    counted = "unit"

    def __init__(
        self, mentions: MentionCorrespondences, elements: ElementsOfBothSides, *, has_value: bool = True
    ) -> None:
        self.kind = mentions.kind
        self.reading = mentions.reading
        self.parameters = mentions.parameters
        self.mentions = mentions
        self.elements = elements
        self.has_value = has_value
        """True if the system's elements have a value; if not, they are worth 0 as arguments."""

    def make(self, tables: Tables) -> "DetectionTable":
        """Value the elements of one document."""
        elements, mentions = tables.get(self.elements), tables.get(self.mentions)
        document = DocumentTokens(tables.pair.gold.id, elements, self.elements.promoted, mentions)
        return DetectionTable([document], self)

    def add(self, tables: "Sequence[DetectionTable]") -> "DetectionTable":
        """Join documents; elements with the same id are one."""
        return DetectionTable([document for table in tables for document in table.documents], self)


class DetectionTable:
    """Values of entities, values or times."""

    def __init__(self, documents: list[DocumentTokens], spec: DetectionValues) -> None:
        self.documents, self.spec, self.reading = documents, spec, spec.reading
        self.compared: Sequence[str] = COMPARED[spec.kind]
        self.gold = _by_id([document.gold for document in documents])
        self.system = _by_id([document.system for document in documents])

    @cached_property
    def gold_values(self) -> dict[str, dict[str, float]]:
        """Value(ref, ref) in each document."""
        return {document.document: self._own_values(document.gold, self.gold) for document in self.documents}

    @cached_property
    def system_values(self) -> dict[str, dict[str, float]]:
        """Value(sys, sys) in each document."""
        if not self.spec.has_value:
            return {
                part.document: dict.fromkeys([token.element.id for token in part.system], 0.0)
                for part in self.documents
            }
        return {document.document: self._own_values(document.system, self.system) for document in self.documents}

    def _own_values(self, tokens: Sequence[ElementToken], side: Mapping[str, ElementToken]) -> dict[str, float]:
        """Element_Value · Mentions_Value of tokens against themselves."""
        mentions_value, kind = self.reading.mentions_value, self.spec.kind
        return {
            (id_ := token.element.id): token.element.inherent
            * mentions_value(kind, token.own, side[id_].level, token.own)
            for token in tokens
        }

    @cached_property
    def reference(self) -> dict[str, float]:
        """The value of each reference, over documents."""
        return summed(self.gold_values.values())

    @cached_property
    def own(self) -> dict[str, float]:
        """The value of each system element against itself, over documents."""
        return summed(self.system_values.values())

    @cached_property
    def unmapped(self) -> dict[str, float]:
        """The value of each unmapped system token: W_FA · Element_Value · Mentions_Value, never positive."""
        mentions_value, kind, weight = self.reading.mentions_value, self.spec.kind, self.spec.parameters.W_FA
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
        mentions_value, kind = self.reading.mentions_value, self.spec.kind
        for ids, pair in document.pairs.items():
            level = min(self.gold[ids[0]].level, self.system[ids[1]].level)
            yield ids, pair.element_value * mentions_value(kind, pair.mmv, level, pair.own)

    def _add_unmapped(self, values: Mapping[str, dict[ElementIds, float]]) -> None:
        """Add the values where two elements correspond only in other documents: all system mentions are unmapped."""
        mentions_value, kind = self.reading.mentions_value, self.spec.kind
        partners: dict[str, dict[str, float]] = {}
        for document in self.documents:
            for (gold, system), pair in document.pairs.items():
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
    def mapping(self) -> dict[str, str]:
        """Gold elements and the system elements they are mapped to."""
        overlaps = summed({ids: pair.overlap for ids, pair in part.pairs.items()} for part in self.documents)
        return best_mapping(self.reading, self.pairs, self.unmapped, overlaps, (self.gold, self.system), self)

    def ties(self, golds: Sequence[str], systems: Sequence[str]) -> Ties:
        """Elements in one place are told apart by the arguments that refer to them."""

        def places(pair: IndexPair) -> tuple[Location, Location]:
            gold, system = self.gold[golds[pair[0]]].element, self.system[systems[pair[1]]].element
            return first_place(gold), first_place(system)

        return places, lambda pair: agreement(*self._sides, (golds[pair[0]], systems[pair[1]]))

    @cached_property
    def _sides(self) -> tuple[Side, Side]:
        gold, system = (
            Side(element for document in self.documents for kind in document.elements[i].values() for element in kind)
            for i in (0, 1)
        )
        return gold, system

    def mention_pairs(self, gold: str, system: str) -> Iterator[tuple[ScoredMention | None, ScoredMention | None]]:
        """The mentions of two elements that are mapped to each other: in each document mapped, missed, and spurious."""
        return chain.from_iterable(document.mention_pairs(gold, system) for document in self.documents)

    def name_pairs(self, gold: str, system: str) -> Iterator[tuple[Location | None, Location | None]]:
        """The names of two entities that are mapped to each other: in each document mapped, missed, and spurious.

        Names correspond as heads do, by mutual_overlap; as many as possible are mapped, then those that overlap most.
        """
        least = self.spec.parameters.min_overlap
        for golds, systems in self._names:
            gold_names, system_names = golds.get(gold, ()), systems.get(system, ())
            overlaps = {
                (g, s): shared(name, other) / max(extension(name), extension(other))
                for g, name in enumerate(gold_names)
                for s, other in enumerate(system_names)
            }
            mapped = optimal({pair: (1, overlap) for pair, overlap in overlaps.items() if overlap >= least})
            yield from ((gold_names[g], system_names[s]) for g, s in mapped)
            yield from ((name, None) for g, name in enumerate(gold_names) if g not in {pair[0] for pair in mapped})
            yield from ((None, name) for s, name in enumerate(system_names) if s not in {pair[1] for pair in mapped})

    @cached_property
    def _names(self) -> list[list[dict[str, Sequence[Location]]]]:
        """For each document: the names of gold elements, and of the system's, by id."""
        return [
            [
                {token.element.id: _names_of(token.element) for token in side}
                for side in (document.gold, document.system)
            ]
            for document in self.documents
        ]


def _names_of(element: Element) -> Sequence[Location]:
    """The names of an entity; of a promoted mention, those of its entity that its head overlaps."""
    if element.parent is None:
        return element.names
    (mention,) = element.mentions
    head = place(mention, "head") or place(mention)
    return [name for name in element.names if shared(head, name)]


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
