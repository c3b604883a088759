"""Why one definition of Arg-C gives another number than the others, counted on the same arguments."""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from karat.counts import PrecisionRecall, Scores
from karat.families.arg.keys import PARTS, Item, KeyedItems, KeyedSide, KeyedTable, KeyRow, Part, Values, values_of
from karat.model import Event, Mention
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
    """What counts here, but not by every definition, or does not count here, but elsewhere."""
    gold, system, row = table.gold, table.system, table.row
    golds: dict[Hashable, list[int]] = {}
    for key, own in zip(gold.keys, gold.numbers, strict=True):
        golds.setdefault(key, []).extend(own)
    right = [(own, golds[key]) for key, own in zip(system.keys, system.numbers, strict=True) if key in golds]
    once = (Counter(gold.keys) & Counter(system.keys)).total()
    if row.credit == "system":
        yield AGAIN, len(right) - once
    elif row.credit == "gold":
        systems = set(system.keys)
        yield AGAIN, sum(key in systems for key in gold.keys) - once
    yield MERGED, sum(len(own) - 1 for side in (gold, system) for own in side.numbers)
    for side, distinct in ((gold, row.distinct_in("gold")), (system, row.distinct_in("system"))):
        if not distinct:
            yield LISTED, len(side.every.values) - len(set(side.every.values))
    yield IGNORED, system.every.ignored
    yield COREFERENT, len(table.coreferent)
    if {"trigger", "event"}.isdisjoint(row.equal):
        yield OTHER_TRIGGER, sum(_triggers(system, own).isdisjoint(_triggers(gold, there)) for own, there in right)
    else:
        yield WRONG_TRIGGER, _wrong_triggers(table)
    if by_head:
        yield HEAD, sum(_spans(system, own).isdisjoint(_spans(gold, there)) for own, there in right)
    else:
        every = zip(gold.every.items, gold.every.values, strict=True)
        yield TRIMMED, sum(values[SPAN] != _span(item) for item, values in every)


def _triggers(side: KeyedSide, numbers: list[int]) -> set[Hashable]:
    return {side.every.values[number][TRIGGER] for number in numbers}


def _spans(side: KeyedSide, numbers: list[int]) -> set[Hashable]:
    return {_span(side.every.items[number]) for number in numbers}


def _span(item: Item) -> Hashable:
    return None if item.argument is None else item.argument.mentions[0].span


def _wrong_triggers(table: KeyedItems) -> int:
    """Missed arguments that the system has under another trigger, with the same type."""
    parts: set[Part] = {*table.row.equal} - {"event", "trigger"}
    rest = values_of(parts | {"type"} if "event" in table.row.equal else parts)
    left = []
    for side, other in ((table.gold, table.system), (table.system, table.gold)):
        keys = set(other.keys)
        numbers = [own[0] for key, own in zip(side.keys, side.numbers, strict=True) if key not in keys]
        left.append(Counter(rest(side.every.values[number]) for number in numbers))
    return (left[0] & left[1]).total()


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


ABOVE_ONE = Rule(
    "recall-above-one",
    "note",
    "The program counts matches on one side only; do not compare this number with other protocols.",
)
LEAST = 1e-4
TRIGGER = PARTS.index("trigger")

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
"""What may be the only difference between a missed and a spurious item, in the order in which it is looked for."""


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

    name: str
    """Its id."""
    swapped: bool = False
    """Whether precision and recall are exchanged."""
    floor: bool = False
    """Whether a very small F1 is 0."""

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
        assert isinstance(self.table, KeyedTable), "it reads keys"
        return ("role",) if self.table.items.of == "arguments" else ()

    @property
    def attributes(self) -> tuple[str, ...]:
        """The type, if it must be right."""
        assert isinstance(self.table, KeyedTable), "it reads keys"
        return ("type",) if "type" in self.table.row.equal else ()

    def count(self, table: tuple[KeyedItems, ...]) -> PrecisionRecall:
        """The items that are right, over those of the system and those of gold."""
        right = sum([_right(one) for one in table])
        systems, golds = sum([len(one.system.keys) for one in table]), sum([len(one.gold.keys) for one in table])
        return self._counts(right, systems, right, golds)

    def _counts(self, precision_num: int, precision_den: int, recall_num: int, recall_den: int) -> PrecisionRecall:
        made = self.counts_type()
        if self.swapped:
            return made(recall_num, recall_den, precision_num, precision_den)
        return made(precision_num, precision_den, recall_num, recall_den)

    def outcomes(self, table: tuple[KeyedItems, ...]) -> Iterator[Outcome[PrecisionRecall]]:
        """Items that both sides have, those that only one has, and those that are nearly the same."""
        for one in table:
            for found in _compared(one):
                gold, system = found.gold, found.system
                yield Outcome(
                    None if gold is None else one.gold.every.items[gold].shown,
                    None if system is None else one.system.every.items[system].shown,
                    self._counts(*found.counts),
                    found.label,
                    one.document,
                )

    @property
    def parts(self) -> tuple[ArgumentPart, ...]:
        """What is equal in a gold and a system argument."""
        assert isinstance(self.table, KeyedTable), "it reads keys"
        return compared_parts(self.table.row.equal)

    def arguments(self, table: tuple[KeyedItems, ...]) -> Iterator[DocumentArguments]:
        """Those of each document."""
        assert isinstance(self.table, KeyedTable), "it reads keys"
        for one in table:
            found = _compared(one)
            outcomes = ((each.gold, each.system, self._counts(*each.counts).lost() > 0) for each in found)
            yield document_arguments(one, outcomes, trim=self.table.items.trim)

    def notes_on_total(self, total: PrecisionRecall) -> Iterable[Finding]:
        """Precision or recall above 1."""
        return above_one(self.id, total)

    def differences(self, table: tuple[KeyedItems, ...]) -> Mapping[str, int]:
        """Arguments that count here, but not by every definition of the measure, or the other way round."""
        assert isinstance(self.table, KeyedTable), "it reads keys"
        total: Counter[str] = Counter()
        if self.table.items.of == "arguments":
            for one in table:
                for what, count in differences(one, by_head=self.table.items.place != "span"):
                    total[what] += count
        return total


def above_one(id_: str, total: PrecisionRecall) -> Iterator[Finding]:
    """Says that a precision or recall is above 1."""
    above = [
        f"{name} {ratio.num:.10g}/{ratio.den:.10g}" for name, ratio in total.ratios().items() if ratio.num > ratio.den
    ]
    if above:
        yield ABOVE_ONE.at(f"{id_} is above 1, as in the program: {', '.join(above)}")


def _right(table: KeyedItems) -> int:
    """How many items are right."""
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


class _Found(Struct, frozen=True):
    """An outcome: the numbers of its items, and what they count."""

    gold: int | None
    system: int | None
    counts: tuple[int, int, int, int]
    label: str = ""


MATCH, MISS, SPURIOUS = (1, 1, 1, 1), (0, 0, 0, 1), (0, 1, 0, 0)
REPEATED: dict[Literal["system", "gold"], tuple[int, int, int, int]] = {"system": (1, 1, 1, 0), "gold": (1, 0, 1, 1)}
"""A match of an item whose counterpart was matched before."""


def _compared(table: KeyedItems) -> Iterator[_Found]:
    """Find out which items of a document were matched: every outcome."""
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
    for s in [one for one in spurious if one in table.coreferent]:
        del spurious[s]
        free = next((g for g in table.coreferent[s] if g in missed), None)
        if free is None:
            yield _match(table, table.coreferent[s][0], s, REPEATED["system"], "coreferent")
        else:
            del missed[free]
            yield _match(table, free, s, MATCH, "coreferent")
    yield from _left(table, missed, spurious)


def _put_same_first(table: KeyedItems, golds: list[int], systems: list[int]) -> None:
    """Of items that count alike, those that are the same in everything, such as their role, are matched first."""
    values = table.gold.every.values, table.system.every.values
    distinct = values_of(table.row.distinct_in("system") or PARTS)
    waiting: dict[Hashable, list[int]] = {}
    for s in reversed(systems):
        waiting.setdefault(distinct(values[1][table.system.numbers[s][0]]), []).append(s)
    pairs: dict[int, int] = {}
    for g in golds:
        same = waiting.get(distinct(values[0][table.gold.numbers[g][0]]))
        if same:
            pairs[g] = same.pop()
    taken = {*pairs.values()}
    golds[:] = [*pairs, *(g for g in golds if g not in pairs)]
    systems[:] = [*pairs.values(), *(s for s in systems if s not in taken)]


def _match(table: KeyedItems, gold: int, system: int, counts: tuple[int, int, int, int], label: str = "") -> _Found:
    """Two items; of each, the one whose trigger the other has, too, if there is one."""
    golds, systems = table.gold, table.system
    for g in golds.numbers[gold]:
        for s in systems.numbers[system]:
            if golds.every.values[g][TRIGGER] == systems.every.values[s][TRIGGER]:
                return _Found(g, s, counts, label)
    return _Found(golds.numbers[gold][0], systems.numbers[system][0], counts, label or "other trigger")


def _left(table: KeyedItems, missed: Iterable[int], spurious: Iterable[int]) -> Iterator[_Found]:
    """Items that only one side has, and which of them differ in one thing only."""
    golds = [(table.gold.numbers[g][0], table.gold) for g in missed]
    systems = [(table.system.numbers[s][0], table.system) for s in spurious]
    parts = {*compared_parts(table.row.equal)}
    labels: dict[tuple[str, int], str] = {}
    for part in NEAR:
        if part not in parts or (part == "trigger" and "span" not in parts) or len(parts) == 1:
            continue  # two triggers of one type are not nearly the same
        rest = values_of(parts - {part})
        waiting: dict[Hashable, list[int]] = {}
        for number, side in systems:
            if ("system", number) not in labels:
                waiting.setdefault(rest(side.every.values[number]), []).append(number)
        for number, side in golds:
            near = waiting.get(rest(side.every.values[number]))
            if near and ("gold", number) not in labels:
                labels["gold", number] = labels["system", near.pop(0)] = f"wrong {part}"
    for number, _ in golds:
        yield _Found(number, None, MISS, labels.get(("gold", number), ""))
    for number, _ in systems:
        yield _Found(None, number, SPURIOUS, labels.get(("system", number), ""))


def _by_key(side: KeyedSide) -> dict[Hashable, list[int]]:
    found: dict[Hashable, list[int]] = {}
    for number, key in enumerate(side.keys):
        found.setdefault(key, []).append(number)
    return found
