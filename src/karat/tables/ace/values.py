"""Values of entities, values and times: pairs, tokens alone, and the mapping that is worth most (EDR, VAL, TERN, EMD).

    Value(token) = Element_Value(token) · Mentions_Value(token)

A table is one document's, or that of several in which elements meet again: then Mentions_Value is a sum over documents,
and the level of a token is that of all its mentions. Relations and events read values document by document.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from math import fsum
from typing import Literal, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from karat.model import Value
from karat.plugin import Counted, Tables, TableSpec
from karat.tables.ace.elements import Element, Elements, Promoted
from karat.tables.ace.mapping import Mapper, by_component, forced, optimal
from karat.tables.ace.mentions import Corresponding, MentionValues, Met, Spot, mapped
from karat.tables.ace.parameters import worth

Weighting = Literal["level", "mention"]
K = TypeVar("K", bound=Hashable)

COMPARED = {
    "entity": ("type", "subtype", "class", "level"),
    "value": ("type", "subtype"),
    "time": ("type", "val", "mod", "set", "anchor_val", "anchor_dir", "non_specific", "comment"),
}
"""What must be right for a mapped element to be correct and not an error."""


class Token(Struct, frozen=True, gc=False):
    """What an element has in one document."""

    element: Element
    inherent: float
    """Element_Value against itself."""
    level: float
    """MTypeValue of its level."""
    self: float
    """Σ MMV of its mentions against themselves."""
    alarm: float
    """Σ MMV of its mentions if they are all unmapped."""


class Pairing(Struct, frozen=True, gc=False):
    """Two tokens with a mention in correspondence, under the best mapping of their mentions."""

    element: float
    """Element_Value."""
    mentions: float
    """Σ MMV over the system token's mentions, mapped and unmapped."""
    overlap: float
    met: list[Met]


class Part:
    """One document: the tokens of both sides, and pairs of them by their numbers (gold, system)."""

    def __init__(
        self, document: str, gold: list[Element], system: list[Element], table: Corresponding, want: "ElementValues"
    ) -> None:
        self.document = document
        self.table = table
        self.promoted = want.promoted
        self.gold = _tokens(gold, table.gold, table.inherent[0], want, promoted=want.promoted[0])
        self.system = _tokens(system, table.system, table.inherent[1], want, promoted=want.promoted[1])
        found: dict[tuple[int, int], list[Met]] = {}
        golds = range(len(gold)) if want.promoted[0] else [spot.element for spot in table.gold]
        systems = range(len(system)) if want.promoted[1] else [spot.element for spot in table.system]
        for met in table.met:
            found.setdefault((golds[met.gold], systems[met.system]), []).append(met)
        self.pairs = {(g, s): self._pairing(self.system[s], met) for (g, s), met in found.items()}

    def owners(self, side: int) -> list[str]:
        """The element of each mention of gold (0) or the system (1)."""
        tokens, spots = ((self.gold, self.table.gold), (self.system, self.table.system))[side]
        return [tokens[n if self.promoted[side] else spot.element].element.id for n, spot in enumerate(spots)]

    def _pairing(self, system: Token, met: list[Met]) -> Pairing:
        spots = self.table.system
        element = self.table.element_value(self.table.gold[met[0].gold].element, spots[met[0].system].element)
        if len(met) == 1:
            (one,) = met
            return Pairing(element, one.score + system.alarm - spots[one.system].alarm, one.overlap, met)
        best = mapped(met, spots)
        free = system.alarm - fsum([spots[one.system].alarm for one in best])
        mentions = fsum([one.score for one in best]) + free
        return Pairing(element, mentions, fsum([one.overlap for one in best]), best)


def _tokens(
    elements: list[Element], spots: list[Spot], inherent: Sequence[float], want: "ElementValues", *, promoted: bool
) -> list[Token]:
    if promoted:
        return [
            Token(element, inherent[spot.element], spot.value, spot.self, spot.alarm)
            for element, spot in zip(elements, spots, strict=True)
        ]
    selves: list[list[float]] = [[] for _ in elements]
    alarms: list[list[float]] = [[] for _ in elements]
    for spot in spots:
        selves[spot.element].append(spot.self)
        alarms[spot.element].append(spot.alarm)
    levels = want.parameters.MTypeValue
    return [
        Token(element, value, worth(levels, element.attributes.get("level")), fsum(own), fsum(alarm))
        for element, value, own, alarm in zip(elements, inherent, selves, alarms, strict=True)
    ]


class ElementValues(TableSpec["Valued"]):
    """Wanted: the values of elements of a kind."""

    @property
    def counted(self) -> Counted:
        """An element may be in several documents of a unit."""
        return "unit"

    def __init__(
        self,
        mentions: MentionValues,
        weighting: Weighting,
        elements: Elements | Promoted,
        *,
        is_worthless: bool = False,
    ) -> None:
        self.kind = mentions.kind
        self.parameters = mentions.parameters
        self.mentions = mentions
        self.elements = elements
        self.promoted = elements.promoted
        """Whether gold's elements, and the system's, are promoted mentions."""
        self.is_level_weighted = weighting == "level" and self.kind == "entity"
        self.is_worthless = is_worthless
        """Whether system elements are worth nothing, since the reference has none of their kind anywhere."""
        self.mapper = by_component(optimal if mentions.readings.assignment == "optimal" else forced)

    def make(self, tables: Tables) -> "Valued":
        """Those of one document."""
        gold, system = tables.get(self.elements)
        part = Part(
            tables.pair.gold.id, gold.get(self.kind, []), system.get(self.kind, []), tables.get(self.mentions), self
        )
        return Valued([part], self)

    def add(self, tables: "Sequence[Valued]") -> "Valued":
        """Documents put together; elements with the same id are one."""
        return Valued([part for table in tables for part in table.parts], self)


Named = dict[str, Value]

Ids = tuple[str, str]
"""A gold element and a system element."""


class Valued:
    """The table: values of pairs and of tokens alone, and the mapping between them."""

    def __init__(self, parts: list[Part], want: ElementValues) -> None:
        self.parts = parts
        self.want = want
        self.gold = _elements([part.gold for part in parts])
        self.system = _elements([part.system for part in parts])

    @cached_property
    def gold_worth(self) -> dict[str, dict[str, float]]:
        """Value(ref, ref) in each document."""
        return {part.document: self._own(part.gold, self.gold) for part in self.parts}

    @cached_property
    def system_worth(self) -> dict[str, dict[str, float]]:
        """Value(sys, sys) in each document."""
        if self.want.is_worthless:
            return {part.document: {token.element.id: 0.0 for token in part.system} for part in self.parts}
        return {part.document: self._own(part.system, self.system) for part in self.parts}

    def _own(self, tokens: Sequence[Token], side: dict[str, Token]) -> dict[str, float]:
        """Element_Value · Mentions_Value of tokens against themselves."""
        if self.want.is_level_weighted:
            return {token.element.id: token.inherent * side[token.element.id].level for token in tokens}
        return {token.element.id: token.inherent * token.self for token in tokens}

    @cached_property
    def alarms(self) -> dict[str, float]:
        """The value of each system token if it is unmapped: W_FA · Element_Value · Mentions_Value, never positive."""
        weight, level = self.want.parameters.W_FA, self.want.is_level_weighted
        return _summed(
            {
                token.element.id: token.inherent
                * weight
                * (self.system[token.element.id].level * _share(token.alarm, token.self) if level else token.alarm)
                for token in part.system
            }
            for part in self.parts
        )

    @cached_property
    def by_document(self) -> dict[str, dict[Ids, float]]:
        """Value_doc(sys, ref) of elements that met, in each document where the system has its one."""
        if len(self.parts) == 1:
            (part,) = self.parts
            golds, systems = part.gold, part.system
            return {
                part.document: {
                    (golds[g].element.id, systems[s].element.id): self._value(
                        pairing.element, golds[g], systems[s], pairing.mentions
                    )
                    for (g, s), pairing in part.pairs.items()
                }
            }
        met: dict[str, dict[str, float]] = {}
        for part in self.parts:
            for (g, s), pairing in part.pairs.items():
                met.setdefault(part.system[s].element.id, {})[part.gold[g].element.id] = pairing.element
        return {part.document: dict(self._across(part, met)) for part in self.parts}

    def _across(self, part: Part, met: dict[str, dict[str, float]]) -> Iterator[tuple[Ids, float]]:
        """Elements that met in some document; where the reference is not mentioned, all the system says is alarm."""
        golds = {token.element.id: (g, token.self) for g, token in enumerate(part.gold)}
        for s, token in enumerate(part.system):
            system = replace(token, level=self.system[token.element.id].level)
            for id_, element in met.get(token.element.id, {}).items():
                g, own = golds.get(id_, (-1, token.self))
                pairing = part.pairs.get((g, s))
                mentions = token.alarm if pairing is None else pairing.mentions
                yield (id_, token.element.id), self._value(element, replace(self.gold[id_], self=own), system, mentions)

    def _value(self, element: float, gold: Token, system: Token, mentions: float) -> float:
        """Element_Value(sys) · Mentions_Value(sys): Σ MMV, or its share of the reference's, times the lower level."""
        if not self.want.is_level_weighted:
            return element * mentions
        return element * min(gold.level, system.level) * _share(mentions, gold.self)

    @cached_property
    def pairs(self) -> dict[Ids, float]:
        """The value of each two elements that met, over documents."""
        return _summed(self.by_document.values())

    @cached_property
    def partners(self) -> dict[str, list[str]]:
        """For each system element: the gold elements that it has a mention in correspondence with."""
        found: dict[str, list[str]] = {}
        for g, s in self.pairs:
            found.setdefault(s, []).append(g)
        return found

    @cached_property
    def reference(self) -> dict[str, float]:
        """The value of each reference, over documents."""
        return _summed(self.gold_worth.values())

    def own(self, system: str) -> float:
        """The value of a system element against itself, over documents."""
        return fsum([worths[system] for worths in self.system_worth.values() if system in worths])

    def value(self, gold: str, system: str) -> float:
        """The value of a system element that is mapped to a reference."""
        return self.pairs[gold, system]

    def wrong(self, gold: str, system: str) -> list[str]:
        """Attributes that differ."""
        ours, theirs = self.gold[gold].element.attributes, self.system[system].element.attributes
        if ours == theirs:
            return []
        return [name for name in COMPARED[self.want.kind] if ours.get(name) != theirs.get(name)]

    def attributes(self, gold: str | None, system: str | None) -> tuple[Named | None, Named | None]:
        """What can be confused of two elements, or of one that is alone."""
        names = COMPARED[self.want.kind]
        return (
            None if gold is None else chosen(self.gold[gold].element.attributes, names),
            None if system is None else chosen(self.system[system].element.attributes, names),
        )

    def _mentions_of(self, gold: str, system: str) -> Iterator[tuple[Spot | None, Spot | None]]:
        """Mentions of two elements that are mapped to each other: those that are mapped, missed, and spurious."""
        for part in self.parts:
            golds, systems = (
                [spot for spot, token in zip(spots, owners, strict=True) if token == id_]
                for spots, owners, id_ in (
                    (part.table.gold, part.owners(0), gold),
                    (part.table.system, part.owners(1), system),
                )
            )
            for (g, s), pairing in part.pairs.items():
                if (part.gold[g].element.id, part.system[s].element.id) == (gold, system):
                    for met in pairing.met:
                        ours, theirs = part.table.gold[met.gold], part.table.system[met.system]
                        golds.remove(ours)
                        systems.remove(theirs)
                        yield ours, theirs
            yield from ((spot, None) for spot in golds)
            yield from ((None, spot) for spot in systems)

    def parts_of(self, gold: str, system: str) -> Iterator[tuple[str, Named | None, Named | None]]:
        """The mentions of two elements that are mapped to each other; an extent is right within four characters."""
        for ours, theirs in self._mentions_of(gold, system):
            told = [None if spot is None else self._named(spot) for spot in (ours, theirs)]
            if told[1] is not None and ours is not None and theirs is not None and not _same_extent(ours, theirs):
                told[1]["extent"] = "wrong"
            yield "mention", told[0], told[1]

    def _named(self, spot: Spot) -> Named:
        attributes = zip(self.want.parameters.W_Merr, spot.attributes, strict=True) if spot.attributes else ()
        named: Named = {name: str(value) for name, value in attributes if value is not None}
        return named | {"extent": "right"}

    def lost(self, gold: str, system: str) -> list[str]:
        """Why an element that is mapped is not worth all that its reference is, in words."""
        ours, theirs = self.gold[gold].element.attributes, self.system[system].element.attributes
        told = [f"{name} {theirs.get(name, '-')} for {ours.get(name, '-')}" for name in self.wrong(gold, system)]
        names = tuple(self.want.parameters.W_Merr) if self.want.kind == "entity" else ()
        for one, other in self._mentions_of(gold, system):
            if other is None and one is not None:
                told.append(f"mention {one.mention.id} missed")
            elif one is None and other is not None:
                told.append(f"mention {other.mention.id} {'spurious' if other.alarm else 'of another element'}")
            elif one is not None and other is not None:
                pairs = zip(names, one.attributes, other.attributes, strict=True)
                differing = [f"{name} {y} for {x}" for name, x, y in pairs if x != y and None not in (x, y)]
                told += [f"mention {other.mention.id}: {difference}" for difference in differing]
        return told

    @staticmethod
    def wrong_arguments(gold: str, system: str) -> list[int]:
        """They have none."""
        del gold, system
        return []

    @cached_property
    def mapping(self) -> dict[str, str]:
        """Gold elements and the system elements they are mapped to: the mapping that maximises the score."""
        overlaps = _summed(
            {
                (part.gold[g].element.id, part.system[s].element.id): pairing.overlap
                for (g, s), pairing in part.pairs.items()
            }
            for part in self.parts
        )
        return mapped_elements(self.gold, self.system, self.pairs, self.alarms, overlaps, self.want.mapper)


def mapped_elements(
    gold: Iterable[str],
    system: Iterable[str],
    values: Mapping[Ids, float],
    alarms: Mapping[str, float],
    overlaps: Mapping[Ids, float],
    mapper: Mapper,
) -> dict[str, str]:
    """Gold elements with the system elements they are mapped to: a pair gains its value less that of a false alarm."""
    golds, systems = list(gold), list(system)
    g_number = {id_: number for number, id_ in enumerate(golds)}
    s_number = {id_: number for number, id_ in enumerate(systems)}
    gains = {
        (g_number[g], s_number[s]): (value - alarms[s], overlaps.get((g, s), 0.0)) for (g, s), value in values.items()
    }
    return {golds[g]: systems[s] for g, s in mapper(gains)}


def chosen(attributes: Mapping[str, Value], names: Iterable[str]) -> Named:
    """Some of the attributes, where they are there."""
    return {name: attributes[name] for name in names if name in attributes}


def _same_extent(gold: Spot, system: Spot) -> bool:
    """Whether both ends are within four characters of each other."""
    ours, theirs = gold.mention.span, system.mention.span
    return bool(ours and theirs) and abs(ours[0][0] - theirs[0][0]) <= 4 and abs(ours[-1][1] - theirs[-1][1]) <= 4


def _share(value: float, of: float) -> float:
    return value / of if of else 0.0


def _summed(parts: Iterable[dict[K, float]]) -> dict[K, float]:
    """Σ over documents; mostly there is one."""
    listed = list(parts)
    if len(listed) == 1:
        return listed[0]
    found: dict[K, list[float]] = {}
    for part in listed:
        for key, value in part.items():
            found.setdefault(key, []).append(value)
    return {key: fsum(values) for key, values in found.items()}


def _elements(parts: Sequence[Sequence[Token]]) -> dict[str, Token]:
    """Elements by id, each with its highest level."""
    if len(parts) == 1:
        return {token.element.id: token for token in parts[0]}
    found: dict[str, Token] = {}
    for token in [token for part in parts for token in part]:
        first = found.setdefault(token.element.id, token)
        if first.level < token.level:
            found[token.element.id] = token
    return found
