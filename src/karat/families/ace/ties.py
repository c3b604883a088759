"""Ties between elements in one place, which have no order in the text.

Two values with the same extent may have the same attributes, but be arguments of different events. Neither their order
in the file nor their ids may show: elements in one place are ordered by all that is written of them and around them,
and what the values, the number of pairs, the overlap and the order of the text leave equal is decided by the agreement
of the arguments that refer to them.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from karat.families.ace.records import DETECTED, Element, Location
from karat.regions import place, shared


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
        if kind in DETECTED and any(one == other for (one, _), (other, _) in pairwise(placed)):
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
    theirs = system.referring(ids[1])
    return sum(
        max([_holder_agreement(gold, system, ours, other) for role, other in theirs if role == our_role], default=0)
        for our_role, ours in gold.referring(ids[0])
    )


def _holder_agreement(gold: Side, system: Side, ours: Element, theirs: Element) -> int:
    """1 for relations or events in which two elements have the same role, and 1 for each thing that they share.

    These are type, subtype, place, and arguments whose first mentions overlap.
    """
    if ours.kind != theirs.kind:
        return 0
    alike = [ours.attributes.get(name) == theirs.attributes.get(name) for name in ("type", "subtype")]
    alike.append(any(shared(place(one), place(other)) for one in ours.mentions for other in theirs.mentions))
    places = [(role, first_place(argument)) for role, argument in system.arguments(theirs)]
    alike += [
        any(role == our_role and shared(first_place(argument), region) for role, region in places)
        for our_role, argument in gold.arguments(ours)
    ]
    return 1 + sum(alike)
