"""Measures of triggers and arguments that are compared by keys.

The same outcomes give the counts, the error classes, and what makes one definition of Arg-C differ from the others.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from karat.arguments import Event
from karat.counts import PrecisionRecall, Scores
from karat.families.arg.keys import PARTS, Item, KeyedItems, KeyedSide, KeyedTable, KeyRow, Part, values_of
from karat.model import Mention
from karat.plugin import (
    ArgumentMeasure,
    ArgumentOutcome,
    ArgumentPart,
    ComparedArgument,
    DocumentArguments,
    Filler,
    Outcome,
)
from karat.problems import Finding, Rule

OTHER_TRIGGER = "right under another trigger than in gold"
WRONG_TRIGGER = "wrong only because of the trigger"
AGAIN = "counted again although already matched"
MERGED = "repeated and counted once"
LISTED = "repeated and counted each time"
IGNORED = "ignored with events that gold does not have"
TRIMMED = "compared without gold's article"
HEAD = "right by the head alone"
COREFERENT = "right by coreference"
NO_CANDIDATE = "ignored where gold has no argument or other entity"
NOT_FOUND = "of gold not counted, since the system lacks the event"

TRIGGER, SPAN = PARTS.index("trigger"), PARTS.index("span")


def differences(table: KeyedItems, *, by_head: bool) -> Iterator[tuple[str, int]]:
    """Count what counts here, but not by every definition, or does not count here, but elsewhere."""
    gold, system, row = table.gold, table.system, table.row
    golds: dict[Hashable, list[Item]] = {}
    for key, group in zip(gold.keys, gold.groups, strict=True):
        golds.setdefault(key, []).extend(gold.every.items[index] for index in group)
    right = [
        ([system.every.items[index] for index in group], golds[key])
        for key, group in zip(system.keys, system.groups, strict=True)
        if key in golds
    ]
    once = (Counter(gold.keys) & Counter(system.keys)).total()
    if row.credit == "system":
        yield AGAIN, len(right) - once
    elif row.credit == "gold":
        systems = set(system.keys)
        yield AGAIN, sum(key in systems for key in gold.keys) - once
    yield MERGED, sum(len(group) - 1 for side in (gold, system) for group in side.groups)
    for side, distinct in ((gold, row.distinct_in("gold")), (system, row.distinct_in("system"))):
        if not distinct:
            yield LISTED, len(side.every.items) - len({item.values for item in side.every.items})
    yield IGNORED, system.every.ignored
    yield COREFERENT, len(table.coreferent)
    if {"trigger", "event"}.isdisjoint(row.equal):
        triggers = [[{item.values[TRIGGER] for item in items} for items in pair] for pair in right]
        yield OTHER_TRIGGER, sum(ours.isdisjoint(theirs) for theirs, ours in triggers)
    else:
        yield WRONG_TRIGGER, _wrong_triggers(table)
    if by_head:
        spans = [[{_span(item) for item in items} for items in pair] for pair in right]
        yield HEAD, sum(ours.isdisjoint(theirs) for theirs, ours in spans)
    else:
        yield TRIMMED, sum(item.values[SPAN] != _span(item) for item in gold.every.items)


def _span(item: Item) -> Hashable:
    return None if item.argument is None else item.argument.mentions[0].span


def _wrong_triggers(table: KeyedItems) -> int:
    """Count missed arguments that the system has under another trigger, with the same type."""
    parts: frozenset[Part] = frozenset(table.row.equal) - {"event", "trigger"}
    rest = values_of(parts | {"type"} if "event" in table.row.equal else parts)
    left = []
    for side, other in ((table.gold, table.system), (table.system, table.gold)):
        keys = set(other.keys)
        first = [group[0] for key, group in zip(side.keys, side.groups, strict=True) if key not in keys]
        left.append(Counter(rest(side.every.items[index].values) for index in first))
    return (left[0] & left[1]).total()


Indexes = tuple[int | None, int | None, bool]
"""The indexes of a gold and a system item that are an outcome, and whether it is wrong."""


ComparedPart = Literal["trigger", "type", "span", "role"]
COMPARED: tuple[ComparedPart, ...] = ("trigger", "type", "span", "role")
"""All parts but the event, which is known by its trigger and type."""


def compared_parts(equal: Iterable[Part]) -> tuple[ComparedPart, ...]:
    """Return the parts that are compared."""
    parts = {*equal}
    if "event" in parts:
        parts |= {"trigger", "type"}
    return tuple(part for part in COMPARED if part in parts)


def document_arguments(table: KeyedItems, outcomes: Iterable[Indexes], *, trim: bool) -> DocumentArguments:
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
        self.known = frozenset((parts.get("trigger"), None, parts.get("type")) for parts in about)

    def compared(self, index: int | None) -> ComparedArgument | None:
        if index is None:
            return None
        item = self._side.every.items[index]
        event = item.values[0]
        every = {**dict(zip(PARTS, item.values, strict=True)), **self._about_event(event)}
        compared: dict[ArgumentPart, Hashable] = {part: every[part] for part in self._parts}
        return ComparedArgument(index, (item.shown,), event, compared, (self._filler(item),))

    def _about_event(self, key: Hashable) -> dict[Part, Hashable]:
        """Parts of an event that are compared; if the row compares events, `trigger` tells equal ones apart."""
        assert isinstance(key, tuple), "an event is the k-th of its trigger and type"
        trigger, type_, k = key
        every: dict[Part, Hashable] = {"trigger": (trigger, k) if self._counts_events else trigger, "type": type_}
        return {part: value for part, value in every.items() if part in self._parts}

    def _filler(self, item: Item) -> Filler:
        assert item.argument is not None, "it is an argument"
        (mention,) = item.argument.mentions
        place = item.values[SPAN]
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


ABOVE_ONE = Rule(
    "recall-above-one",
    "note",
    "The program counts matches on one side only; do not compare this number with other protocols.",
)
LEAST = 1e-4

OUTCOMES = {
    "match": "gold and the system have the item",
    "repeated": "the other side has the item, but another one was matched with it already; the protocol counts both",
    "other trigger": "an argument that is right, but that only another trigger has in gold; the protocol counts it",
    "coreferent": "an argument that is right by coreference: another mention of an entity that fills the role in gold",
    "wrong role": "the event has this argument, but in another role; gold's and the system's are listed",
    "wrong trigger": "the argument has this role, but of another trigger; gold's and the system's are listed",
    "wrong type": "the item is right except for the type of the event; gold's and the system's are listed",
}
"""Classes of outcomes beyond miss and spurious."""

NEAR: tuple[Part, ...] = ("role", "trigger", "type")
"""Parts that may be the only difference between a missed and a spurious item, in the order in which they are tried."""


class Floored(PrecisionRecall, frozen=True):
    """Precision and recall whose F1 is 0 if their sum is not above a very small number."""

    @classmethod
    def derived(cls, values: Scores) -> Scores:
        """F1."""
        precision, recall = values["precision"], values["recall"]
        if precision is not None and recall is not None and precision + recall <= LEAST:
            return {"f1": 0.0}
        return super().derived(values)


class Keyed(ArgumentMeasure[tuple[KeyedItems, ...], PrecisionRecall], frozen=True):
    """Items that gold and the system have, by the keys of a row."""

    table: KeyedTable
    name: str
    """Its id."""
    swapped: bool = False
    """True if precision and recall are exchanged."""
    floor: bool = False
    """True if a very small F1 is 0."""

    @property
    def id(self) -> str:
        """As the protocol names it."""
        return self.name

    def counts_type(self) -> type[PrecisionRecall]:
        """With an ordinary F1, or not."""
        return Floored if self.floor else PrecisionRecall

    @property
    def fields(self) -> tuple[str, ...]:
        """Arguments have roles."""
        return ("role",) if self.table.items.of == "arguments" else ()

    @property
    def attributes(self) -> tuple[str, ...]:
        """The type, if it must be right."""
        return ("type",) if "type" in self.table.row.equal else ()

    def count(self, table: tuple[KeyedItems, ...]) -> PrecisionRecall:
        """The items that are right, over those of the system and those of gold."""
        right = sum([_right(items) for items in table])
        systems = sum([len(items.system.keys) for items in table])
        golds = sum([len(items.gold.keys) for items in table])
        return self._counts(right, systems, right, golds)

    def _counts(self, precision_num: int, precision_den: int, recall_num: int, recall_den: int) -> PrecisionRecall:
        made = self.counts_type()
        if self.swapped:
            return made(recall_num, recall_den, precision_num, precision_den)
        return made(precision_num, precision_den, recall_num, recall_den)

    def outcomes(self, table: tuple[KeyedItems, ...]) -> Iterator[Outcome[PrecisionRecall]]:
        """Items that both sides have, those that only one has, and those that are nearly the same."""
        for items in table:
            golds, systems = items.gold.every.items, items.system.every.items
            for compared in _compared(items):
                gold = None if compared.gold is None else golds[compared.gold].shown
                system = None if compared.system is None else systems[compared.system].shown
                yield Outcome(gold, system, self._counts(*compared.counts), compared.label, items.document)

    @property
    def parts(self) -> tuple[ArgumentPart, ...]:
        """Parts that must be equal in a gold and a system argument."""
        return compared_parts(self.table.row.equal)

    def arguments(self, table: tuple[KeyedItems, ...]) -> Iterator[DocumentArguments]:
        """List the arguments of each document."""
        for items in table:
            outcomes = (
                (compared.gold, compared.system, self._counts(*compared.counts).lost() > 0)
                for compared in _compared(items)
            )
            yield document_arguments(items, outcomes, trim=self.table.items.trim)

    def notes_on_total(self, total: PrecisionRecall) -> Iterable[Finding]:
        """Precision or recall above 1."""
        return above_one(self.id, total)

    def differences(self, table: tuple[KeyedItems, ...]) -> Mapping[str, int]:
        """Arguments that count here, but not by every definition of the measure, or the other way round."""
        total: Counter[str] = Counter()
        if self.table.items.of == "arguments":
            for items in table:
                for what, count in differences(items, by_head=self.table.items.place != "span"):
                    total[what] += count
        return total


def above_one(id_: str, total: PrecisionRecall) -> Iterator[Finding]:
    """Report a precision or recall above 1."""
    above = [
        f"{name} {ratio.num:.10g}/{ratio.den:.10g}" for name, ratio in total.ratios().items() if ratio.num > ratio.den
    ]
    if above:
        yield ABOVE_ONE.at(f"{id_} is above 1, as in the program: {', '.join(above)}")


def _right(table: KeyedItems) -> int:
    """Count the items that are right."""
    gold, system = table.gold.keys, table.system.keys
    if table.row.credit == "system":
        golds = set(gold)
        return sum([key in golds for key in system]) + len(table.coreferent)
    if table.row.credit == "gold":
        systems = set(system)
        return sum([key in systems for key in gold])
    golds, systems = set(gold), set(system)
    if len(golds) == len(gold) and len(systems) == len(system):
        return len(golds & systems)
    return (Counter(gold) & Counter(system)).total()


class _Compared(Struct, frozen=True):
    """An outcome: the indexes of its items, and what they count."""

    gold: int | None
    system: int | None
    counts: tuple[int, int, int, int]
    label: str = ""


MATCH, MISS, SPURIOUS = (1, 1, 1, 1), (0, 0, 0, 1), (0, 1, 0, 0)
REPEATED: dict[Literal["system", "gold"], tuple[int, int, int, int]] = {"system": (1, 1, 1, 0), "gold": (1, 0, 1, 1)}
"""A match of an item whose counterpart was matched before."""


def _compared(table: KeyedItems) -> Iterator[_Compared]:
    """List the outcomes of a document: items that were matched, missed, and spurious."""
    credit = table.row.credit
    golds, systems = _by_key(table.gold), _by_key(table.system)
    missed: dict[int, None] = {}  # in order, and quick to look up
    spurious: dict[int, None] = {}
    for key, own in golds.items():
        there = systems.get(key, [])
        if len(own) + len(there) > 2:
            _put_same_first(table, own, there)
        for g, s in zip(own, there, strict=False):
            yield _match(table, g, s, MATCH)
        for g in own[len(there) :]:
            if there and credit == "gold":
                yield _match(table, g, there[0], REPEATED["gold"], "repeated")
            else:
                missed[g] = None
    for key, own in systems.items():
        there = golds.get(key, [])
        for s in own[len(there) :]:
            if there and credit == "system":
                yield _match(table, there[0], s, REPEATED["system"], "repeated")
            else:
                spurious[s] = None
    for s in [s for s in spurious if s in table.coreferent]:
        del spurious[s]
        free = next((g for g in table.coreferent[s] if g in missed), None)
        if free is None:
            yield _match(table, table.coreferent[s][0], s, REPEATED["system"], "coreferent")
        else:
            del missed[free]
            yield _match(table, free, s, MATCH, "coreferent")
    yield from _left(table, missed, spurious)


def _put_same_first(table: KeyedItems, golds: list[int], systems: list[int]) -> None:
    """Sort items that count alike, so that those that are the same in everything, such as their role, match first."""
    distinct = values_of(frozenset(table.row.distinct_in("system") or PARTS))
    waiting: dict[Hashable, list[int]] = {}
    for s in reversed(systems):
        waiting.setdefault(distinct(table.system.every.items[table.system.groups[s][0]].values), []).append(s)
    pairs: dict[int, int] = {}
    for g in golds:
        same = waiting.get(distinct(table.gold.every.items[table.gold.groups[g][0]].values))
        if same:
            pairs[g] = same.pop()
    taken = {*pairs.values()}
    golds[:] = [*pairs, *(g for g in golds if g not in pairs)]
    systems[:] = [*pairs.values(), *(s for s in systems if s not in taken)]


def _match(table: KeyedItems, gold: int, system: int, counts: tuple[int, int, int, int], label: str = "") -> _Compared:
    """Match two items; of each, the one whose trigger the other also has, if there is one."""
    golds, systems = table.gold, table.system
    for g in golds.groups[gold]:
        for s in systems.groups[system]:
            if golds.every.items[g].values[TRIGGER] == systems.every.items[s].values[TRIGGER]:
                return _Compared(g, s, counts, label)
    return _Compared(golds.groups[gold][0], systems.groups[system][0], counts, label or "other trigger")


def _left(table: KeyedItems, missed: Iterable[int], spurious: Iterable[int]) -> Iterator[_Compared]:
    """List items that only one side has, with the one part in which they differ from an item of the other side."""
    golds, systems = [table.gold.groups[g][0] for g in missed], [table.system.groups[s][0] for s in spurious]
    parts: frozenset[Part] = frozenset(compared_parts(table.row.equal))
    gold_labels: dict[int, str] = {}
    system_labels: dict[int, str] = {}
    for part in NEAR:
        if part not in parts or (part == "trigger" and "span" not in parts) or len(parts) == 1:
            continue  # two triggers of one type are not nearly the same
        rest = values_of(parts - {part})
        waiting: dict[Hashable, list[int]] = {}
        for s in systems:
            if s not in system_labels:
                waiting.setdefault(rest(table.system.every.items[s].values), []).append(s)
        for g in golds:
            near = waiting.get(rest(table.gold.every.items[g].values))
            if near and g not in gold_labels:
                gold_labels[g] = system_labels[near.pop(0)] = f"wrong {part}"
    yield from (_Compared(g, None, MISS, gold_labels.get(g, "")) for g in golds)
    yield from (_Compared(None, s, SPURIOUS, system_labels.get(s, "")) for s in systems)


def _by_key(side: KeyedSide) -> dict[Hashable, list[int]]:
    indexes: dict[Hashable, list[int]] = {}
    for index, key in enumerate(side.keys):
        indexes.setdefault(key, []).append(index)
    return indexes
