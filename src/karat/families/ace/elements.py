"""Elements: what the ACE tasks score, made from the clusters, mentions and links of a document.

Attributes that follow from others are added: the level of an entity, the type of a timex2, the defaults of a reading.

EMD, RMD and VMD (sections 3.2.6 to 3.2.8 of the plan) promote mentions to elements. EMD promotes entity mentions of
both sides. RMD and VMD promote the mentions of relations and events on both sides, and the system's mentions of what
can be an argument; the reference's arguments stay mentions of whole elements.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from karat.families.ace.plan import Plan
from karat.families.ace.records import ARGUED, DETECTED, MAIN_ROLES, Argument, Element, Location
from karat.model import Document, Mention, Value, qualified
from karat.plugin import Tables, TableSpec
from karat.regions import place, shared

ElementsByKind = dict[str, list[Element]]
"""The elements of one side of a document by kind, in the order of the text."""


class ElementsOfBothSides(TableSpec[tuple[ElementsByKind, ElementsByKind]]):
    """The elements of gold and of the system."""

    promoted = False, False
    """For gold, and for the system: True if its elements are promoted mentions."""


class WholeElements(ElementsOfBothSides):
    """The elements of both sides as they are annotated."""

    def __init__(self, reading: Plan) -> None:
        self.reading = reading

    def make(self, tables: Tables) -> tuple[ElementsByKind, ElementsByKind]:
        """Collect those of one document."""
        return self._elements(tables.pair.gold), self._elements(tables.pair.system)

    def _elements(self, document: Document) -> ElementsByKind:
        mentions: dict[str, list[Mention]] = {}
        kinds: dict[str, str] = {}
        for mention in document.mentions:
            id_ = mention.id if mention.cluster is None else mention.cluster
            if id_ in mentions:
                mentions[id_].append(mention)
            else:
                mentions[id_], kinds[id_] = [mention], mention.kind
        clusters = {cluster.id: cluster for cluster in document.clusters}
        kinds |= {id_: cluster.kind for id_, cluster in clusters.items()}
        arguments: dict[str, set[Argument]] = {}
        for link in document.links:
            kind = kinds.get(link.target)
            if kind in DETECTED and link.source in kinds:
                arguments.setdefault(link.source, set()).add(Argument(link.kind, kind, link.target))
        elements: ElementsByKind = {}
        for id_, kind in kinds.items():
            members, cluster = mentions.get(id_, ()), clusters.get(id_)
            completed = self._completed(kind, {} if cluster is None else cluster.attributes, members)
            element = Element(id_, kind, completed, members, self.reading.inherent_value(kind, completed))
            if cluster is not None and cluster.names:
                names = [name.place.boxes or name.place.span for name in cluster.names]
                element.names = [name for name in names if name]
            if kind in ARGUED:
                element.arguments = tuple(arguments.get(id_, ()))
            elements.setdefault(kind, []).append(element)
        sort_elements(elements)
        order = _positions(element.id for kind in DETECTED for element in elements.get(kind, ()))
        for element in (element for kind in ARGUED for element in elements.get(kind, ())):
            element.arguments = _in_order(element.arguments, order)
        return elements

    def _completed(
        self, kind: str, attributes: Mapping[str, Value], mentions: Sequence[Mention]
    ) -> Mapping[str, Value]:
        """Add the attributes that follow from others; one that is written empty is absent."""
        if "" in attributes.values():
            attributes = {name: value for name, value in attributes.items() if value != ""}
        completed: dict[str, Value] = {**self.reading.default_attributes(kind), **attributes}
        if kind == "entity":
            completed["level"] = self.reading.level(mentions)
        elif kind == "time":
            completed["type"] = "TIMEX2"
        return completed


class PromotedEntities(ElementsOfBothSides):
    """Each entity mention an entity, on both sides (EMD)."""

    promoted = True, True

    def __init__(self, whole: WholeElements) -> None:
        self.whole = whole

    def make(self, tables: Tables) -> tuple[ElementsByKind, ElementsByKind]:
        """Promote those of one document."""
        gold, system = tables.get(self.whole)
        document = tables.pair.gold.id
        return _promoted(gold, ("entity",), document), _promoted(system, ("entity",), document)


class PromotedRelations(ElementsOfBothSides):
    """Each mention of a relation or event, and in the system each mention of what can be an argument."""

    promoted = False, True

    def __init__(self, entities: PromotedEntities) -> None:
        self.entities = entities

    def make(self, tables: Tables) -> tuple[ElementsByKind, ElementsByKind]:
        """Promote those of one document."""
        gold, system = tables.get(self.entities.whole)
        _, entities = tables.get(self.entities)
        arguments = entities | _promoted(system, ("value", "time"), tables.pair.gold.id)
        return (
            gold | self._relations(tables.pair.gold, gold, is_system=False),
            arguments | self._relations(tables.pair.system, system, is_system=True),
        )

    def _relations(self, document: Document, elements: ElementsByKind, *, is_system: bool) -> ElementsByKind:
        """Promote each mention of a relation or event, with the arguments of the mention.

        The reference's point to whole elements, the system's to promoted mentions. A mention that is given twice in
        one role is one argument.
        """
        owner = {
            mention.id: (kind, qualified(document.id, mention.id) if is_system else element.id, mention)
            for kind in DETECTED
            for element in elements.get(kind, ())
            for mention in element.mentions
        }
        order = _positions(id_ for _, id_, _ in owner.values())
        arguments: dict[str, dict[tuple[str, str], Argument]] = {}
        heads: dict[str, list[Location]] = {}
        for link in document.links:
            if link.target in owner:
                kind, id_, mention = owner[link.target]
                arguments.setdefault(link.source, {})[link.kind, mention.id] = Argument(link.kind, kind, id_)
                if link.kind in MAIN_ROLES:
                    heads.setdefault(link.source, []).append(place(mention, "head") or place(mention))

        def relation(element: Element, mention: Mention) -> Element:
            stated = self.entities.whole.reading.promoted_arguments(arguments.get(mention.id, {}).values())
            return Element(
                qualified(document.id, mention.id),
                element.kind,
                element.attributes,
                (mention,),
                element.inherent,
                _in_order(stated, order),
                element.id,
                _hull(heads.get(mention.id, ())),
            )

        return {
            kind: [relation(element, mention) for element in elements.get(kind, ()) for mention in element.mentions]
            for kind in ARGUED
        }


def _promoted(elements: ElementsByKind, kinds: Sequence[str], document: str) -> ElementsByKind:
    """Promote each mention of some kinds of elements."""
    return {
        kind: [
            Element(
                qualified(document, mention.id),
                kind,
                _at_level(element, mention),
                (mention,),
                element.inherent,
                parent=element.id,
                names=element.names,
            )
            for element in elements.get(kind, ())
            for mention in element.mentions
        ]
        for kind in kinds
    }


def _at_level(element: Element, mention: Mention) -> Mapping[str, Value]:
    """The attributes of an element that has only this mention."""
    level = str(mention.attributes.get("type", ""))
    if element.kind != "entity" or element.attributes["level"] == level:
        return element.attributes
    return {**element.attributes, "level": level}


def _hull(regions: Sequence[Location]) -> Location:
    """From the begin of the first to the end of the last region; boxes stay as they are."""
    parts = [part for region in regions for part in region]
    if not parts or len(parts[0]) > 2:
        return tuple(parts)  # type: ignore[return-value]
    return ((min(part[0] for part in parts), max(part[1] for part in parts)),)  # type: ignore[return-value]


def _positions(ids: Iterable[str]) -> Mapping[str, int]:
    """The position of each id in the order of the text."""
    return {id_: index for index, id_ in enumerate(dict.fromkeys(ids))}


def _in_order(arguments: Iterable[Argument], order: Mapping[str, int]) -> Sequence[Argument]:
    """Sort by role and then by the text: neither the order of links nor an id decides anything."""
    listed = list(arguments)
    if len(listed) > 1:
        listed.sort(key=lambda argument: (argument.role, argument.kind, order[argument.element]))
    return listed


# Elements in one place, which have no order in the text
#
# Two values with the same extent may have the same attributes, but be arguments of different events. Neither their
# order in the file nor their ids may show: elements in one place are ordered by all that is written of them and around
# them, and what the values, the number of pairs, the overlap and the order of the text leave equal is decided by the
# agreement of the arguments that refer to them.


def first_place(element: Element) -> Location:
    """The region of the first mention of an element."""
    return min(map(place, element.mentions), default=())


def sort_elements(elements: Mapping[str, list[Element]]) -> None:
    """Sort the elements of each kind by the text, and those in one place that may be arguments by what is written.

    Nothing reads the mapping of relations and events, which stay in the order of the file.
    """
    side: Side | None = None
    for kind, of_kind in elements.items():
        placed = sorted([(first_place(element), index) for index, element in enumerate(of_kind)])
        of_kind[:] = [of_kind[index] for _, index in placed]
        if kind in DETECTED and any(first == second for (first, _), (second, _) in pairwise(placed)):
            side = side or Side(element for listed in elements.values() for element in listed)
            of_kind.sort(key=side.description)


class Side:
    """Elements of one side, with the relations and events that refer to them."""

    def __init__(self, elements: Iterable[Element]) -> None:
        self._elements: dict[str, Element] = {}
        self._referring: dict[str, list[tuple[str, Element]]] = {}
        """By the id of an element: its roles, and in which relations and events."""
        for element in elements:
            self._elements[element.id] = element
            for argument in element.arguments:
                self._referring.setdefault(argument.element, []).append((argument.role, element))

    def referring(self, id_: str) -> Sequence[tuple[str, Element]]:
        """The roles of an element, each with the relation or event that it is an argument of."""
        return self._referring.get(id_, ())

    def arguments(self, holder: Element) -> list[tuple[str, Element]]:
        """The roles of a relation or event, and the elements in them."""
        return [(argument.role, self._elements[argument.element]) for argument in holder.arguments]

    def description(self, element: Element) -> tuple[Any, ...]:
        """All that is written of an element, of its arguments, and of what refers to it; no id."""
        referring = [(role, *self._described(holder)) for role, holder in self.referring(element.id)]
        return first_place(element), self._described(element), sorted(referring)

    def _described(self, element: Element) -> tuple[Any, ...]:
        arguments = [(role, _written(argument)) for role, argument in self.arguments(element)]
        return _written(element), sorted(arguments)


def _written(element: Element) -> tuple[Any, ...]:
    """The attributes of an element and its mentions."""
    mentions = [
        (place(mention), place(mention, "head"), place(mention, "extent"), _sorted(mention.attributes))
        for mention in element.mentions
    ]
    return _sorted(element.attributes), sorted(mentions)


def _sorted(attributes: Mapping[str, object]) -> list[tuple[str, str]]:
    return sorted((name, str(value)) for name, value in attributes.items())


def agreement(gold: Side, system: Side, ids: tuple[str, str]) -> int:
    """How well the arguments that refer to two elements (gold, system) agree, at best: the more, the better."""
    system_holders = system.referring(ids[1])
    return sum(
        max(
            [_holder_agreement(gold, system, holder, other) for role, other in system_holders if role == gold_role],
            default=0,
        )
        for gold_role, holder in gold.referring(ids[0])
    )


def _holder_agreement(gold: Side, system: Side, gold_holder: Element, system_holder: Element) -> int:
    """1 for relations or events in which two elements have the same role, and 1 for each thing that they share.

    These are type, subtype, place, and arguments whose first mentions overlap.
    """
    if gold_holder.kind != system_holder.kind:
        return 0
    alike = [gold_holder.attributes.get(name) == system_holder.attributes.get(name) for name in ("type", "subtype")]
    alike.append(
        any(
            shared(place(mention), place(other)) for mention in gold_holder.mentions for other in system_holder.mentions
        )
    )
    places = [(role, first_place(argument)) for role, argument in system.arguments(system_holder)]
    alike += [
        any(role == gold_role and shared(first_place(argument), region) for role, region in places)
        for gold_role, argument in gold.arguments(gold_holder)
    ]
    return 1 + sum(alike)
