"""Values of entities, values and times: pairs, tokens alone, and the mapping that is worth most (EDR, VAL, TERN, EMD).

    Value(token) = Element_Value(token) · Mentions_Value(token)

A table is one document's, or that of several in which elements meet again: then Mentions_Value is a sum over documents,
and the level of a token is that of all its mentions. Relations and events read values document by document.
"""

from functools import cached_property
from math import fsum
from typing import Literal, NamedTuple

from karat.tables import Tables
from karat.tables.ace.attributes import element_value, inherent
from karat.tables.ace.elements import Element, Elements, Promoted, Side
from karat.tables.ace.mapping import by_component, forced, optimal
from karat.tables.ace.mentions import Met, Spot, correspondences, mapped, spots
from karat.tables.ace.parameters import Detection, Readings, Values, worth

Weighting = Literal["level", "mention"]

COMPARED = {
    "entity": ("type", "subtype", "class", "level"),
    "value": ("type", "subtype"),
    "time": ("type", "val", "mod", "set", "anchor_val", "anchor_dir", "non_specific", "comment"),
}
"""What must be right for a mapped element to be correct and not an error."""


class Token(NamedTuple):
    """What an element has in one document."""

    element: Element
    level: float
    """MTypeValue of its level."""
    self: float
    """Σ MMV of its mentions against themselves."""
    alarm: float
    """Σ MMV of its mentions if they are all unmapped."""


class Pairing(NamedTuple):
    """Two tokens with a mention in correspondence, under the best mapping of their mentions."""

    value: float
    """Σ MMV over the system token's mentions, mapped and unmapped."""
    overlap: float
    mentions: list[Met]


class Part:
    """One document: the tokens of both sides, and pairs of them by their numbers (gold, system)."""

    def __init__(self, document: str, gold: Side, system: Side, want: "ElementValues") -> None:
        self.document = document
        parameters, readings = want.parameters, want.readings
        golds, systems = gold.get(want.kind, []), system.get(want.kind, [])
        self.gold_spots = spots(golds, want.kind, parameters, readings)
        self.system_spots = spots(systems, want.kind, parameters, readings)
        met = correspondences(self.gold_spots, self.system_spots, parameters, readings)
        self.gold = _tokens(golds, self.gold_spots, parameters)
        self.system = _tokens(systems, self.system_spots, parameters)
        self.pairs: dict[tuple[int, int], Pairing] = {}
        for (g, s), found in met.items():
            chosen = mapped(found, self.system_spots)
            free = self.system[s].alarm - fsum([self.system_spots[one.system].alarm for one in chosen])
            value = fsum([one.score for one in chosen]) + free
            self.pairs[g, s] = Pairing(value, fsum([one.overlap for one in chosen]), chosen)


def _tokens(elements: list[Element], found: list[Spot], parameters: Detection) -> list[Token]:
    selves: list[list[float]] = [[] for _ in elements]
    alarms: list[list[float]] = [[] for _ in elements]
    for spot in found:
        selves[spot.token].append(spot.self)
        alarms[spot.token].append(spot.alarm)
    return [
        Token(element, worth(parameters.MTypeValue, element.attributes.get("level")), fsum(own), fsum(alarm))
        for element, own, alarm in zip(elements, selves, alarms, strict=True)
    ]


class ElementValues:
    """Wanted: the values of elements of a kind."""

    def __init__(
        self,
        kind: str,
        values: Values,
        weighting: Weighting,
        elements: Elements | Promoted,
        *,
        is_worthless: bool = False,
    ) -> None:
        self.kind = kind
        self.parameters = values.detection(kind)
        self.readings: Readings = values.readings
        self.is_level_weighted = weighting == "level" and kind == "entity"
        self.elements = elements
        self.is_worthless = is_worthless
        """Whether system elements are worth nothing, since the reference has none of their kind anywhere."""
        self.mapper = by_component(optimal if self.readings.assignment == "optimal" else forced)

    def make(self, tables: Tables) -> "Valued":
        """Those of one document."""
        gold, system = tables.get(self.elements)
        return Valued([Part(tables.pair.gold.id, gold, system, self)], self)

    def add(self, tables: "list[Valued]") -> "Valued":
        """Documents put together; elements with the same id are one."""
        return Valued([part for table in tables for part in table.parts], self)


Worth = dict[str, float]
"""Values by the id of the element."""


class Valued:
    """The table: values of pairs and of tokens alone, and the mapping between them."""

    def __init__(self, parts: list[Part], want: ElementValues) -> None:
        self.parts = parts
        self.want = want
        self.gold = _elements([token for part in parts for token in part.gold])
        self.system = _elements([token for part in parts for token in part.system])

    @cached_property
    def gold_worth(self) -> dict[str, Worth]:
        """Value(ref, ref) in each document."""
        return {part.document: {t.element.id: self._own(t, self.gold) for t in part.gold} for part in self.parts}

    @cached_property
    def system_worth(self) -> dict[str, Worth]:
        """Value(sys, sys) in each document."""
        if self.want.is_worthless:
            return {part.document: dict.fromkeys((t.element.id for t in part.system), 0.0) for part in self.parts}
        return {part.document: {t.element.id: self._own(t, self.system) for t in part.system} for part in self.parts}

    def _own(self, token: Token, side: dict[str, Token]) -> float:
        """Element_Value · Mentions_Value of a token against itself."""
        mentions = side[token.element.id].level if self.want.is_level_weighted else token.self
        return inherent(self.want.parameters, token.element.attributes, self.want.readings.epsilon) * mentions

    @cached_property
    def alarms(self) -> Worth:
        """The value of each system token if it is unmapped: W_FA · Element_Value · Mentions_Value, never positive."""
        found: dict[str, list[float]] = {}
        for part in self.parts:
            for token in part.system:
                found.setdefault(token.element.id, []).append(self._alarm(token))
        return {id_: fsum(values) for id_, values in found.items()}

    def _alarm(self, token: Token) -> float:
        parameters = self.want.parameters
        element = inherent(parameters, token.element.attributes, self.want.readings.epsilon) * parameters.W_FA
        if not self.want.is_level_weighted:
            return element * token.alarm
        return element * self.system[token.element.id].level * _share(token.alarm, token.self)

    @cached_property
    def pairs(self) -> dict[tuple[str, str], tuple[float, float]]:
        """For each two elements (gold, system) with a mention in correspondence: value and overlap, over documents."""
        values: dict[tuple[str, str], list[float]] = {}
        overlaps: dict[tuple[str, str], list[float]] = {}
        for part in self.parts:
            for (g, s), pairing in part.pairs.items():
                edge = part.gold[g].element.id, part.system[s].element.id
                overlaps.setdefault(edge, []).append(pairing.overlap)
        for document in self.by_document.values():
            for edge, value in document.items():
                values.setdefault(edge, []).append(value)
        return {edge: (fsum(values[edge]), fsum(found)) for edge, found in overlaps.items()}

    @cached_property
    def by_document(self) -> dict[str, dict[tuple[str, str], float]]:
        """Value_doc(sys, ref) of each such pair, in each document where the system has the element."""
        if len(self.parts) == 1:
            (part,) = self.parts
            return {
                part.document: {
                    (part.gold[g].element.id, part.system[s].element.id): self._value(
                        part.gold[g], part.system[s], pairing.value
                    )
                    for (g, s), pairing in part.pairs.items()
                }
            }
        met: dict[str, list[str]] = {}
        for part in self.parts:
            for g, s in part.pairs:
                met.setdefault(part.system[s].element.id, []).append(part.gold[g].element.id)
        return {part.document: dict(self._of(part, met)) for part in self.parts}

    def _of(self, part: Part, met: dict[str, list[str]]) -> "list[tuple[tuple[str, str], float]]":
        """Pairs that met in some document: where the reference is not mentioned, the system's mentions are alarms."""
        golds = {token.element.id: g for g, token in enumerate(part.gold)}
        found = []
        for s, token in enumerate(part.system):
            for id_ in dict.fromkeys(met.get(token.element.id, ())):
                if id_ in golds:
                    there = part.gold[golds[id_]]
                    pairing = part.pairs.get((golds[id_], s))
                    value = self._value(there, token, token.alarm if pairing is None else pairing.value)
                else:
                    value = self._value(self.gold[id_]._replace(self=token.self), token, token.alarm)
                found.append(((id_, token.element.id), value))
        return found

    def _value(self, gold: Token, system: Token, mentions: float) -> float:
        """Element_Value(sys) · Mentions_Value(sys): Σ MMV, or its share of the reference's, times the lower level."""
        want = self.want
        element = element_value(
            want.parameters, gold.element.attributes, system.element.attributes, want.readings.epsilon
        )
        if not want.is_level_weighted:
            return element * mentions
        level = min(self.gold[gold.element.id].level, self.system[system.element.id].level)
        return element * level * _share(mentions, gold.self)

    @cached_property
    def partners(self) -> dict[str, list[str]]:
        """For each system element: the gold elements that it has a mention in correspondence with."""
        found: dict[str, list[str]] = {}
        for g, s in self.pairs:
            found.setdefault(s, []).append(g)
        return found

    @cached_property
    def reference(self) -> Worth:
        """The value of each reference, over documents."""
        if len(self.parts) == 1:
            return self.gold_worth[self.parts[0].document]
        found: dict[str, list[float]] = {}
        for worths in self.gold_worth.values():
            for id_, value in worths.items():
                found.setdefault(id_, []).append(value)
        return {id_: fsum(values) for id_, values in found.items()}

    def value(self, gold: str, system: str) -> float:
        """The value of a system element that is mapped to a reference."""
        return self.pairs[gold, system][0]

    def wrong(self, gold: str, system: str) -> list[str]:
        """Attributes that differ."""
        ours, theirs = self.gold[gold].element.attributes, self.system[system].element.attributes
        return [name for name in COMPARED[self.want.kind] if ours.get(name) != theirs.get(name)]

    @staticmethod
    def wrong_arguments(gold: str, system: str) -> list[int]:
        """They have none."""
        del gold, system
        return []

    def own(self, system: str) -> float:
        """The value of a system element against itself."""
        return fsum([worths[system] for worths in self.system_worth.values() if system in worths])

    @cached_property
    def mapping(self) -> dict[str, str]:
        """Gold elements and the system elements they are mapped to: the mapping that maximises the score."""
        golds, systems = list(self.gold), list(self.system)
        g_number = {id_: number for number, id_ in enumerate(golds)}
        s_number = {id_: number for number, id_ in enumerate(systems)}
        gains = {
            (g_number[g], s_number[s]): (value - self.alarms[s], overlap)
            for (g, s), (value, overlap) in self.pairs.items()
        }
        return {golds[g]: systems[s] for g, s in self.want.mapper(gains)}


def _share(value: float, of: float) -> float:
    return value / of if of else 0.0


def _elements(tokens: list[Token]) -> dict[str, Token]:
    """Elements by id, each with its highest level."""
    found: dict[str, Token] = {}
    for token in tokens:
        first = found.setdefault(token.element.id, token)
        if first.level < token.level:
            found[token.element.id] = token
    return found
