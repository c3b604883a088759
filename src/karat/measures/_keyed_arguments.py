"""Arguments that are compared by keys, as error classes read them."""

from collections.abc import Hashable, Iterable
from typing import Literal

from msgspec.structs import replace

from karat.model import Mention
from karat.model.arguments import Event
from karat.plugin import ArgumentOutcome, ArgumentPart, ComparedArgument, DocumentArguments, Filler
from karat.tables.keyed import PARTS, Item, KeyedItems, KeyedSide, KeyRow, Part, Values

Numbers = tuple[int | None, int | None, bool]
"""The numbers of a gold and a system item that are an outcome, and whether it is wrong."""


ComparedPart = Literal["trigger", "type", "span", "role"]
COMPARED: tuple[ComparedPart, ...] = ("trigger", "type", "span", "role")
"""All parts but the event, which is known by its trigger and type."""


def compared_parts(equal: Iterable[Part]) -> tuple[ComparedPart, ...]:
    """What is compared."""
    parts = {*equal}
    if "event" in parts:
        parts |= {"trigger", "type"}
    return tuple(part for part in COMPARED if part in parts)


def document_arguments(table: KeyedItems, outcomes: Iterable[Numbers], *, trim: bool) -> DocumentArguments:
    """The arguments of a document; with `trim`, gold's are compared without their articles, or by their heads."""
    golds, systems = _Side(table.gold, table.row, at_place=trim), _Side(table.system, table.row, at_place=False)
    return DocumentArguments(
        table.document,
        tuple(ArgumentOutcome(golds.compared(g), systems.compared(s), int(wrong)) for g, s, wrong in outcomes),
        golds.events,
        systems.events,
        golds.known,
        systems.known,
    )


class _Side:
    def __init__(self, side: KeyedSide, row: KeyRow, *, at_place: bool) -> None:
        self._side, self._at_place = side, at_place
        self._parts, self._counts_events = compared_parts(row.equal), "event" in row.equal
        self.events = {key: _typed(event, key) for key, event in side.every.events.items()}
        about = [self._about_event(key) for key in side.every.events]
        self.known = frozenset((one.get("trigger"), None, one.get("type")) for one in about)

    def compared(self, number: int | None) -> ComparedArgument | None:
        if number is None:
            return None
        values, item = self._side.every.values[number], self._side.every.items[number]
        every = {**dict(zip(PARTS, values, strict=True)), **self._about_event(values[0])}
        compared: dict[ArgumentPart, Hashable] = {part: every[part] for part in self._parts}
        return ComparedArgument(number, (item.shown,), values[0], compared, (self._filler(item, values),))

    def _about_event(self, key: Hashable) -> dict[Part, Hashable]:
        """What is compared of an event; those of one trigger and type are told apart if the row compares events."""
        assert isinstance(key, tuple), "an event is the k-th of its trigger and type"
        trigger, type_, number = key
        every: dict[Part, Hashable] = {"trigger": (trigger, number) if self._counts_events else trigger, "type": type_}
        return {part: value for part, value in every.items() if part in self._parts}

    def _filler(self, item: Item, values: Values) -> Filler:
        assert item.argument is not None, "it is an argument"
        (mention,) = item.argument.mentions
        place = values[PARTS.index("span")]
        if self._at_place and isinstance(place, tuple):
            return Filler((replace(mention, span=place, head=place, text=None, texts={}),))
        return Filler((mention,))


def _typed(event: Event, key: Hashable) -> Mention:
    """The trigger of an event with the type that the protocol gives it."""
    assert isinstance(key, tuple), "an event is the k-th of its trigger and type"
    type_ = key[1]
    if event.type == type_:
        return event.mention
    attributes = {name: value for name, value in event.mention.attributes.items() if name != "type"}
    return replace(event.mention, attributes=attributes if type_ is None else {**attributes, "type": type_})
