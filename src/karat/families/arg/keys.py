"""The events of both sides with their arguments, as spans that protocols compare."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import chain
from operator import itemgetter
from typing import Literal, NamedTuple

from msgspec import Struct

from karat.model import HOLDERS, Argument, Document, Event, Mention, Pair, Region, events_of
from karat.plugin import ArgumentItem, ErrorsOf, Tables, TableSpec
from karat.problems import KaratError, Origin, Rule, quoted
from karat.regions import region_text, without_article, words_of

CLUSTER = Rule(
    "argument-cluster",
    "fatal",
    "Link the event to one mention of the entity, or choose a protocol that scores entities, such as maven-arg-2024.",
)
NO_SPAN = Rule(
    "argument-no-span",
    "fatal",
    "Give its span, or choose a protocol that compares strings, such as maven-arg-2024.",
)
NO_HEAD_TEXT = Rule("head-text-absent", "fatal", "Give the text of the documents, or choose --set match=exact.")

Place = Literal["span", "head", "head-word"]
"""What of an argument is compared: its span, its head, or the word at its head, wherever that is."""

Sides = tuple[list[Event], list[Event]]


class BothEvents(TableSpec[Sides], Struct, frozen=True, cache_hash=True):
    """The events (or templates) of both sides."""

    kind: str = "event"

    def make(self, tables: Tables) -> Sides:
        """Gold's and the system's."""
        return events_of(tables.pair.gold, self.kind), events_of(tables.pair.system, self.kind)


class SpanEvents(TableSpec[Sides], Struct, frozen=True, cache_hash=True):
    """The events of both sides, all of whose arguments are mentions with a span."""

    def make(self, tables: Tables) -> Sides:
        """Gold's and the system's; refuses what cannot be compared by its span."""
        gold, system = tables.get(BothEvents())
        _refuse(gold, tables.pair.gold, "gold")
        _refuse(system, tables.pair.system, "system")
        return gold, system


def _refuse(events: list[Event], document: Document, side: Origin) -> None:
    for event in events:
        if not event.mention.span:
            what = f"the trigger {quoted(event.mention.id)} of document {quoted(document.id)} has no span"
            raise KaratError(NO_SPAN.at(what, item=event.mention.id, origin=side))
        for argument in event.arguments:
            named = f"{argument.role} of {quoted(event.mention.id)} in document {quoted(document.id)}"
            if argument.cluster is not None:
                what = f"{named} is the cluster {quoted(argument.cluster)}, but this protocol compares spans"
                item = argument.role, event.mention.id, argument.cluster
                raise KaratError(CLUSTER.at(what, item=item, origin=side))
            (mention,) = argument.mentions
            if not mention.span:
                what = f"{named} is {quoted(mention.id)}, which has no span"
                raise KaratError(NO_SPAN.at(what, item=mention.id, origin=side))


def place_function(place: Place, pair: Pair, side: Origin, *, trim: bool) -> Callable[[Mention], Hashable]:
    """What is compared in place of an argument's mention."""
    documents = (pair.gold, pair.system) if side == "gold" else (pair.system, pair.gold)

    def span(mention: Mention) -> Region:
        return without_article(mention, *documents) if trim else mention.span

    def head(mention: Mention) -> Region:
        own = span(mention)
        words = [word for word in words_of(mention, *documents) if word.begin >= own[0][0]]
        if len(words) < 2:
            return own
        # The filter `heads` refuses the corpus when it has counted how many heads are missing.
        return own if mention.head is None else mention.head

    def head_word(mention: Mention) -> str:
        own = head(mention)
        words = (word.form for word in words_of(mention, *documents) if own[0][0] <= word.begin < own[-1][1])
        texts = chain([mention.texts.get("head")], (region_text(one, own) for one in documents), words)
        text = next((one for one in texts if one is not None), None)
        if text is None:
            what = f"the word at the head of {quoted(mention.id)} in document {quoted(pair.gold.id)} is not known"
            raise KaratError(NO_HEAD_TEXT.at(what, item=mention.id, origin=side))
        return text

    if place == "head-word":
        return head_word
    return head if place == "head" else span


Part = Literal["event", "trigger", "type", "span", "role"]
"""What can be in a key.

event    the event itself: the k-th of its trigger and type
trigger  the span of the trigger
type     the type of the event
span     the place of the argument: its span, or what the protocol compares instead
role     the role of the argument
"""

Values = tuple[Hashable, ...]
"""The values of all parts of an item, in the order of `PARTS`; a trigger has no span and no role."""
PARTS: tuple[Part, ...] = ("event", "trigger", "type", "span", "role")

Credit = Literal["pairs", "system", "gold"]
"""How equal items count.

pairs   one-to-one
system  every system item that gold has is right, however often; recall counts the same items
gold    every gold item that the system has is right, however often; precision counts the same items
"""

Types = Literal["own", "last"]
"""The type of an event: its own, or that of the last event of its side with the same trigger."""


class Item(NamedTuple):
    """A trigger, or an argument with its event."""

    event: Event
    argument: Argument | None = None

    @property
    def shown(self) -> Mention | ArgumentItem:
        """The item as an outcome names it."""
        mention, argument = self.event.mention, self.argument
        return mention if argument is None else ArgumentItem(argument.role, mention, argument.mentions)


class SideItems(NamedTuple):
    """The items of one side of a document, and the values of each."""

    items: list[Item]
    values: list[Values]
    events: dict[Hashable, Event]
    """All events, those without items, too, as `event` values tell them apart."""
    ignored: int = 0
    """Further items that do not count: those of system events that gold does not have."""


class Items(TableSpec[tuple[SideItems, SideItems]], Struct, frozen=True, cache_hash=True):
    """The triggers, or the arguments, of both sides of a document."""

    of: Literal["triggers", "arguments"]
    events: Literal["all", "given"] = "all"
    """Which events count: all; or gold's, and the system's that have the same trigger and type (the k-th with the
    k-th)."""
    types: Types = "own"
    place: Place = "span"
    trim: bool = False
    """Whether gold's arguments are compared without a leading article."""

    def make(self, tables: Tables) -> tuple[SideItems, SideItems]:
        """Gold's and the system's."""
        sides: tuple[Origin, Origin] = ("gold", "system")
        places = [place_function(self.place, tables.pair, side, trim=self.trim and side == "gold") for side in sides]
        events = tables.get(SpanEvents())
        gold, system = (self._side(own, place) for own, place in zip(events, places, strict=True))
        if self.events == "all":
            return gold, system
        kept = [number for number, values in enumerate(system.values) if values[0] in gold.events]
        ignored = len(system.items) - len(kept)
        given = {key: event for key, event in system.events.items() if key in gold.events}
        items, values = [system.items[one] for one in kept], [system.values[one] for one in kept]
        return gold, SideItems(items, values, given, ignored)

    def _side(self, events: Sequence[Event], place: Callable[[Mention], Hashable]) -> SideItems:
        """The items of some events."""
        last = {event.mention.span: event.type for event in events} if self.types == "last" else None
        numbers: dict[Hashable, int] = {}
        items: list[Item] = []
        values: list[Values] = []
        by_key: dict[Hashable, Event] = {}
        for event in events:
            trigger = event.mention.span
            type_ = event.type if last is None else last[trigger]
            number = numbers[trigger, type_] = numbers.get((trigger, type_), -1) + 1
            own = (trigger, type_, number), trigger, type_
            by_key[own[0]] = event
            if self.of == "triggers":
                items.append(Item(event))
                values.append((*own, None, None))
            else:
                for argument in event.arguments:
                    items.append(Item(event, argument))
                    values.append((*own, place(argument.mentions[0]), argument.role))
        return SideItems(items, values, by_key)


class KeyRow(Struct, frozen=True, forbid_unknown_fields=True, cache_hash=True):
    """One measure, as a protocol describes it."""

    equal: tuple[Part, ...]
    """What a gold and a system item must share."""
    distinct: tuple[Part, ...] | None = None
    """Items of one side that share all of this are one item; empty: every item counts. Default: `equal`."""
    gold_distinct: tuple[Part, ...] | None = None
    """The same for gold, if that is different."""
    credit: Credit = "pairs"
    first: bool = False
    """Whether only the first gold item of a trigger can be found."""
    coref: bool = False
    """Whether an argument that gold does not have is right if it is in the cluster of one that gold has."""

    def distinct_in(self, side: Origin) -> tuple[Part, ...]:
        """What makes items of one side distinct."""
        own = self.gold_distinct if side == "gold" and self.gold_distinct is not None else self.distinct
        return self.equal if own is None else own


class KeyedSide(NamedTuple):
    """The distinct items of one side: the key by which each is compared, and the numbers of the items that it is."""

    keys: list[Hashable]
    numbers: list[list[int]]
    every: SideItems


class KeyedItems(NamedTuple):
    """The table: the items of both sides of a document, and which system items are right by coreference."""

    document: str
    row: KeyRow
    gold: KeyedSide
    system: KeyedSide
    coreferent: dict[int, list[int]]
    """System items (by their place among the distinct ones), each with the gold items whose cluster it is in."""


class KeyedTable(TableSpec[tuple[KeyedItems, ...]], Struct, frozen=True, cache_hash=True):
    """The items of some documents, each compared as a row of the protocol says."""

    items: Items
    row: KeyRow

    def make(self, tables: Tables) -> tuple[KeyedItems, ...]:
        """Those of one document."""
        gold_items, system_items = tables.get(self.items)
        gold = _keyed(gold_items, self.row, "gold", last=self.items.types == "last")
        system = _keyed(system_items, self.row, "system", last=self.items.types == "last")
        coreferent = {}
        if self.row.coref:
            coreferent = _coreferent(gold, system, self.row, _clusters(tables.pair.gold.mentions))
        return (KeyedItems(tables.pair.gold.id, self.row, gold, system, coreferent),)

    def add(self, tables: Sequence[tuple[KeyedItems, ...]]) -> tuple[KeyedItems, ...]:
        """Documents have no items in common."""
        return tuple(chain.from_iterable(tables))

    @property
    def errors_of(self) -> ErrorsOf:
        """Triggers are mentions."""
        return "mentions" if self.items.of == "triggers" else "arguments"


def values_of(parts: Iterable[Part]) -> Callable[[Values], Hashable]:
    """Takes the values of some parts out of all values of an item."""
    numbers = sorted(PARTS.index(part) for part in set(parts))
    return itemgetter(*numbers)


def _keyed(every: SideItems, row: KeyRow, side: Origin, *, last: bool) -> KeyedSide:
    equal, distinct = values_of(row.equal), row.distinct_in(side)
    keys: list[Hashable] = list(map(equal, every.values))
    if side == "gold" and row.first:
        _hide_later(keys, every.values)
    if not distinct:
        return KeyedSide(keys, [[number] for number in range(len(keys))], every)
    found: dict[Hashable, list[int]] = {}
    for number, own in enumerate(map(values_of(distinct), every.values)):
        found.setdefault(own, []).append(number)
    numbers = [own[::-1] if last else own for own in found.values()]
    return KeyedSide([keys[own[0]] for own in numbers], numbers, every)


def _hide_later(keys: list[Hashable], values: Sequence[Values]) -> None:
    """Replace the keys of items whose trigger an earlier item has by ones that nothing equals."""
    seen: set[Hashable] = set()
    for number, (_, trigger, *_) in enumerate(values):
        if trigger in seen:
            keys[number] = object()
        seen.add(trigger)


def _clusters(mentions: Sequence[Mention]) -> dict[Hashable, str]:
    """The cluster of each span, of those with two or more mentions; if it is in two, the last.

    Spans are whole here, but looked up as the protocol compares arguments: trimmed, or by their heads.
    """
    fillers = [(one.span, one.cluster) for one in mentions if one.cluster is not None and one.kind not in HOLDERS]
    sizes = Counter(cluster for _, cluster in fillers)
    return {span: cluster for span, cluster in fillers if sizes[cluster] > 1}


def _coreferent(gold: KeyedSide, system: KeyedSide, row: KeyRow, clusters: dict[Hashable, str]) -> dict[int, list[int]]:
    """System items that gold has under no role at this place, but whose cluster fills the role."""
    place = PARTS.index("span")
    within, equal = values_of({*row.equal} - {"role"}), values_of(row.equal)

    def in_cluster(values: Values) -> Hashable | None:
        cluster = clusters.get(values[place])
        return None if cluster is None else equal((*values[:place], (cluster,), *values[place + 1 :]))

    identified = {within(values) for values in gold.every.values}
    golds: dict[Hashable, list[int]] = {}
    for number, own in enumerate(gold.numbers):
        if (key := in_cluster(gold.every.values[own[0]])) is not None:
            golds.setdefault(key, []).append(number)
    found = {}
    for number, own in enumerate(system.numbers):
        values = system.every.values[own[0]]
        if within(values) not in identified and (key := in_cluster(values)) in golds:
            found[number] = golds[key]
    return found
