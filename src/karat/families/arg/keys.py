"""Triggers and arguments of a document, and the keys by which a protocol compares them."""

from collections import Counter
from collections.abc import Callable, Hashable, Sequence, Set
from functools import cache
from itertools import chain
from operator import itemgetter
from typing import Literal, NamedTuple

from msgspec import Struct

from karat.arguments import HOLDERS, Argument, Event, events_of
from karat.model import Document, Mention, Pair, Region
from karat.plugin import ArgumentItem, ErrorsOf, Tables, TableSpec
from karat.problems import KaratError, Origin, Rule, quoted
from karat.words import region_text, without_article, words_of

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
"""The place of an argument that is compared: its span, its head, or the word at its head, wherever that is."""

Sides = tuple[list[Event], list[Event]]


class BothEvents(TableSpec[Sides], Struct, frozen=True, cache_hash=True):
    """The events (or templates) of both sides."""

    kind: str = "event"

    def make(self, tables: Tables) -> Sides:
        """List them in the order of their mentions."""
        return events_of(tables.pair.gold, self.kind), events_of(tables.pair.system, self.kind)


class SpanEvents(TableSpec[Sides], Struct, frozen=True, cache_hash=True):
    """The events of both sides, all of whose arguments are mentions with a span."""

    def make(self, tables: Tables) -> Sides:
        """List them, or refuse what cannot be compared by its span."""
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
            if argument.cluster is None and argument.mentions[0].span:
                continue
            named = f"{argument.role} of {quoted(event.mention.id)} in document {quoted(document.id)}"
            if argument.cluster is not None:
                what = f"{named} is the cluster {quoted(argument.cluster)}, but this protocol compares spans"
                item = argument.role, event.mention.id, argument.cluster
                raise KaratError(CLUSTER.at(what, item=item, origin=side))
            filler = argument.mentions[0].id
            what = f"{named} is {quoted(filler)}, which has no span"
            raise KaratError(NO_SPAN.at(what, item=filler, origin=side))


def place_function(place: Place, pair: Pair, side: Origin, *, trim: bool) -> Callable[[Mention], Hashable]:
    """Return the function that gives what is compared of an argument's mention."""
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
        texts = chain([mention.texts.get("head")], (region_text(document, own) for document in documents), words)
        text = next((text for text in texts if text is not None), None)
        if text is None:
            what = f"the word at the head of {quoted(mention.id)} in document {quoted(pair.gold.id)} is not known"
            raise KaratError(NO_HEAD_TEXT.at(what, item=mention.id, origin=side))
        return text

    if place == "head-word":
        return head_word
    return head if place == "head" else span


Part = Literal["event", "trigger", "type", "span", "role"]
"""A part of a key.

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
"""Credit for equal items.

pairs   one-to-one
system  every system item that gold has is right, however often; recall counts the same items
gold    every gold item that the system has is right, however often; precision counts the same items
"""

Types = Literal["own", "last"]
"""The type of an event: its own, or that of the last event of its side with the same trigger."""


class Item(NamedTuple):
    """A trigger, or an argument with its event."""

    event: Event
    argument: Argument | None
    values: Values

    @property
    def shown(self) -> Mention | ArgumentItem:
        """The item as an outcome names it."""
        mention, argument = self.event.mention, self.argument
        return mention if argument is None else ArgumentItem(argument.role, mention, argument.mentions)


class SideItems(NamedTuple):
    """The items of one side of a document."""

    items: list[Item]
    events: dict[Hashable, Event]
    """All events, also those without items, as `event` values tell them apart."""
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
    """True if gold's arguments are compared without a leading article."""

    def make(self, tables: Tables) -> tuple[SideItems, SideItems]:
        """List the items of both sides, each with all its values."""
        gold_events, system_events = tables.get(SpanEvents())
        gold = self._side(gold_events, place_function(self.place, tables.pair, "gold", trim=self.trim))
        system = self._side(system_events, place_function(self.place, tables.pair, "system", trim=False))
        if self.events == "all":
            return gold, system
        items = [item for item in system.items if item.values[0] in gold.events]
        given = {key: event for key, event in system.events.items() if key in gold.events}
        return gold, SideItems(items, given, len(system.items) - len(items))

    def _side(self, events: Sequence[Event], place: Callable[[Mention], Hashable]) -> SideItems:
        """List the items of some events."""
        last = {event.mention.span: event.type for event in events} if self.types == "last" else None
        latest: dict[Hashable, int] = {}
        items: list[Item] = []
        by_key: dict[Hashable, Event] = {}
        for event in events:
            trigger = event.mention.span
            type_ = event.type if last is None else last[trigger]
            k = latest[trigger, type_] = latest.get((trigger, type_), -1) + 1
            key = trigger, type_, k
            by_key[key] = event
            if self.of == "triggers":
                items.append(Item(event, None, (key, trigger, type_, None, None)))
            else:
                for argument in event.arguments:
                    values = key, trigger, type_, place(argument.mentions[0]), argument.role
                    items.append(Item(event, argument, values))
        return SideItems(items, by_key)


class KeyRow(Struct, frozen=True, forbid_unknown_fields=True, cache_hash=True):
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

    def distinct_in(self, side: Origin) -> tuple[Part, ...]:
        """Return the parts that make items of one side distinct."""
        own = self.gold_distinct if side == "gold" and self.gold_distinct is not None else self.distinct
        return self.equal if own is None else own


class KeyedSide(NamedTuple):
    """The distinct items of one side: the key by which each is compared, and the indexes of the items that it is."""

    keys: list[Hashable]
    groups: list[list[int]]
    every: SideItems


class KeyedItems(NamedTuple):
    """The items of both sides of a document, and which system items are right by coreference."""

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
        """Compare the items of one document; one without items has nothing to count."""
        gold_items, system_items = tables.get(self.items)
        if not (gold_items.items or system_items.items or system_items.ignored):
            return ()
        gold = _keyed(gold_items, self.row, "gold", last=self.items.types == "last")
        system = _keyed(system_items, self.row, "system", last=self.items.types == "last")
        coreferent = {}
        if self.row.coref:
            coreferent = _coreferent(gold, system, self.row, _clusters(tables.pair.gold.mentions))
        return (KeyedItems(tables.pair.gold.id, self.row, gold, system, coreferent),)

    def add(self, tables: Sequence[tuple[KeyedItems, ...]]) -> tuple[KeyedItems, ...]:
        """Join documents, which have no items in common."""
        return tuple(chain.from_iterable(tables))

    @property
    def errors_of(self) -> ErrorsOf:
        """Mentions, which triggers are, or arguments."""
        return "mentions" if self.items.of == "triggers" else "arguments"


@cache  # 96,000 calls for 4,000 sentences under textee-2024
def values_of(parts: Set[Part]) -> Callable[[Values], Hashable]:
    """Return the function that takes the values of some parts out of all values of an item."""
    return itemgetter(*[index for index, part in enumerate(PARTS) if part in parts])


def _keyed(every: SideItems, row: KeyRow, side: Origin, *, last: bool) -> KeyedSide:
    """Make the keys of one side; with `last`, the last of several equal items stands for them."""
    values = [item.values for item in every.items]
    keys: list[Hashable] = list(map(values_of(frozenset(row.equal)), values))
    if side == "gold" and row.first:
        seen: set[Hashable] = set()
        for index, (_, trigger, *_) in enumerate(values):
            if trigger in seen:
                keys[index] = object()  # equals nothing
            seen.add(trigger)
    distinct = row.distinct_in(side)
    if not distinct:
        return KeyedSide(keys, [[index] for index in range(len(keys))], every)
    same: dict[Hashable, list[int]] = {}
    for index, value in enumerate(map(values_of(frozenset(distinct)), values)):
        same.setdefault(value, []).append(index)
    groups = [group[::-1] if last else group for group in same.values()]
    return KeyedSide([keys[group[0]] for group in groups], groups, every)


def _clusters(mentions: Sequence[Mention]) -> dict[Hashable, str]:
    """The cluster of each span, of those with two or more mentions; if it is in two, the last.

    Spans are whole here, but looked up as the protocol compares arguments: trimmed, or by their heads.
    """
    fillers = [
        (mention.span, mention.cluster)
        for mention in mentions
        if mention.cluster is not None and mention.kind not in HOLDERS
    ]
    sizes = Counter(cluster for _, cluster in fillers)
    return {span: cluster for span, cluster in fillers if sizes[cluster] > 1}


def _coreferent(gold: KeyedSide, system: KeyedSide, row: KeyRow, clusters: dict[Hashable, str]) -> dict[int, list[int]]:
    """System items that gold has under no role at this place, but whose cluster fills the role."""
    place = PARTS.index("span")
    equal, within = (values_of(parts) for parts in (frozenset(row.equal), frozenset(row.equal) - {"role"}))

    def in_cluster(values: Values) -> Hashable | None:
        cluster = clusters.get(values[place])
        return None if cluster is None else equal((*values[:place], (cluster,), *values[place + 1 :]))

    identified = {within(item.values) for item in gold.every.items}
    golds: dict[Hashable, list[int]] = {}
    for index, group in enumerate(gold.groups):
        if (key := in_cluster(gold.every.items[group[0]].values)) is not None:
            golds.setdefault(key, []).append(index)
    coreferent = {}
    for index, group in enumerate(system.groups):
        values = system.every.items[group[0]].values
        if within(values) not in identified and (key := in_cluster(values)) in golds:
            coreferent[index] = golds[key]
    return coreferent
