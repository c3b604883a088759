"""The triggers and arguments of a document, with all that a key can be made of, and the rows that make keys of it."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cache, cached_property
from operator import itemgetter
from typing import Any, Literal

from msgspec import Struct

from karat.arguments import Event
from karat.families.arg.events import SPAN_EVENTS, DocumentsSpec, Place, place_function
from karat.model import HOLDERS, Mention
from karat.plugin import Tables
from karat.problems import Origin

Part = Literal["event", "trigger", "type", "span", "role"]
"""A part of a key.

event    the event itself: the k-th of its trigger and type
trigger  the span of the trigger
type     the type of the event
span     the place of the argument: its span, or what the protocol compares instead
role     the role of the argument
"""

PARTS: tuple[Part, ...] = ("event", "trigger", "type", "span", "role")
EVENT, TRIGGER, TYPE, SPAN, ROLE = range(len(PARTS))

EventKey = tuple[Hashable, Any, int]
"""The trigger of an event, its type, and which of the events with these it is."""

Values = tuple[Any, ...]
"""The values of all parts of an item, in the order of `PARTS`; a trigger has no span and no role."""

Credit = Literal["pairs", "system", "gold"]
"""Credit for equal items.

pairs   one-to-one
system  every system item that gold has is right, however often; recall counts the same items
gold    every gold item that the system has is right, however often; precision counts the same items
"""

Types = Literal["own", "last"]
"""The type of an event: its own, or that of the last event of its side with the same trigger."""


@cache
def values_of(parts: tuple[Part, ...]) -> Callable[[Values], Hashable]:
    """Return the function that takes the values of some parts out of all values of an item."""
    return itemgetter(*[index for index, part in enumerate(PARTS) if part in parts])


class Side(Struct, frozen=True):
    """The items of one side of a document: its triggers, or its arguments."""

    events: dict[EventKey, Event]
    """All events, also those without items."""
    values: list[Values]
    ignored: int = 0
    """Further items that do not count: those of system events that gold does not have."""


class DocumentItems(Struct, frozen=True):
    """The items of a document."""

    document: str
    gold: Side
    system: Side
    clusters: Mapping[Hashable, str]
    """The cluster of gold at each span."""


class Items(DocumentsSpec[DocumentItems], frozen=True, cache_hash=True):
    """The arguments of each document that has events; all rows of a protocol share them."""

    events: Literal["all", "given"] = "all"
    """Which events count: all; or gold's, and the system's that have the same trigger and type (the k-th with the
    k-th)."""
    types: Types = "own"
    place: Place = "span"
    trim: bool = False
    """True if gold's arguments are compared without a leading article."""
    clusters: bool = False
    """True if a row reads gold's clusters."""

    def make(self, tables: Tables) -> tuple[DocumentItems, ...]:
        """List the arguments of both sides, each with all its values."""
        golds, systems = tables.get(SPAN_EVENTS)
        if not golds and not systems:
            return ()
        pair = tables.pair
        gold = self._side(golds, place_function(self.place, pair, "gold", trim=self.trim))
        system = self._side(systems, place_function(self.place, pair, "system", trim=False))
        if self.events == "given":
            given = {key: event for key, event in system.events.items() if key in gold.events}
            values = [values for values in system.values if values[EVENT] in gold.events]
            system = Side(given, values, len(system.values) - len(values))
        clusters = _clusters(pair.gold.mentions) if self.clusters else {}
        return (DocumentItems(pair.gold.id, gold, system, clusters),)

    def _side(self, events: Sequence[Event], place: Callable[[Mention], Hashable]) -> Side:
        """List the arguments of some events."""
        last = {event.mention.span: event.type for event in events} if self.types == "last" else None
        counted: dict[Hashable, int] = {}
        by_key: dict[EventKey, Event] = {}
        values: list[Values] = []
        for event in events:
            trigger = event.mention.span
            type_ = event.type if last is None else last[trigger]
            k = counted[trigger, type_] = counted.get((trigger, type_), -1) + 1
            key = trigger, type_, k
            by_key[key] = event
            values += [(key, trigger, type_, place(arg.mentions[0]), arg.role) for arg in event.arguments]
        return Side(by_key, values)


class Triggers(DocumentsSpec[DocumentItems], frozen=True, cache_hash=True):
    """The triggers of the same documents."""

    items: Items

    errors_of = "mentions"

    def make(self, tables: Tables) -> tuple[DocumentItems, ...]:
        """List the triggers of both sides."""
        return tuple(
            [
                DocumentItems(items.document, _triggers(items.gold), _triggers(items.system), {})
                for items in tables.get(self.items)
            ]
        )


def _triggers(side: Side) -> Side:
    return Side(side.events, [(key, key[0], key[1], None, None) for key in side.events])


def _clusters(mentions: Iterable[Mention]) -> dict[Hashable, str]:
    """Return the cluster of each span, of those with two or more mentions; if it is in two, the last.

    Spans are whole here, but looked up as the protocol compares arguments: trimmed, or by their heads.
    """
    fillers = [
        (mention.span, mention.cluster)
        for mention in mentions
        if mention.cluster is not None and mention.kind not in HOLDERS
    ]
    sizes = Counter(cluster for _, cluster in fillers)
    return {span: cluster for span, cluster in fillers if sizes[cluster] > 1}


class KeyRow(Struct, frozen=True, forbid_unknown_fields=True, cache_hash=True, dict=True):
    """One measure, as a protocol describes it."""

    equal: tuple[Part, ...]
    """Parts in which a gold and a system item must be equal."""
    distinct: tuple[Part, ...] | None = None
    """Items of one side that share all of this are one item; empty: every item counts. Default: `equal`."""
    gold_distinct: tuple[Part, ...] | None = None
    """Replaces `distinct` for gold."""
    credit: Credit = "pairs"
    first: bool = False
    """True if only the first gold item of a trigger can be found."""
    coref: bool = False
    """True if an argument that gold does not have is right if it is in the cluster of one that gold has."""

    @cached_property
    def key(self) -> Callable[[Values], Hashable]:
        """The function that gives the key of an item."""
        return values_of(self.equal)

    @cached_property
    def compares_sets(self) -> bool:
        """True if only the sets of the keys of both sides matter."""
        return self.distinct is None is self.gold_distinct and self.credit == "pairs" and not self.first

    def distinct_in(self, side: Origin) -> tuple[Part, ...]:
        """Return the parts that make items of one side distinct."""
        chosen = self.gold_distinct if side == "gold" and self.gold_distinct is not None else self.distinct
        return self.equal if chosen is None else chosen

    @property
    def parts(self) -> "tuple[ComparedPart, ...]":
        """The parts that are compared; an event is known by its trigger and type."""
        parts: set[Part] = {*self.equal, "trigger", "type"} if "event" in self.equal else {*self.equal}
        return tuple(part for part in COMPARED if part in parts)


ComparedPart = Literal["trigger", "type", "span", "role"]
COMPARED: tuple[ComparedPart, ...] = ("trigger", "type", "span", "role")
