"""Measures of triggers and arguments that are compared by keys, as each row of a protocol says.

The same outcomes give the counts, the error classes, and what makes one definition of Arg-C differ from the others.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec.structs import replace

from karat.arguments import Argument, Event
from karat.counts import PrecisionRecall, Scores
from karat.families.arg.events import Compared, DocumentsMeasure
from karat.families.arg.items import (
    EVENT,
    PARTS,
    SPAN,
    TRIGGER,
    Credit,
    DocumentItems,
    EventKey,
    Items,
    KeyRow,
    Part,
    Side,
    Triggers,
    Values,
    values_of,
)
from karat.model import Mention
from karat.plugin import (
    ArgumentItem,
    ArgumentOutcome,
    ArgumentPart,
    ComparedArgument,
    DocumentArguments,
    Filler,
)
from karat.problems import Finding, Origin, Rule

OTHER_TRIGGER = "right under another trigger than in gold"
WRONG_TRIGGER = "wrong only because of the trigger"
AGAIN = "counted again although already matched"
MERGED = "repeated and counted once"
LISTED = "repeated and counted each time"
IGNORED = "ignored with events that gold does not have"
TRIMMED = "compared without gold's article"
HEAD = "right by the head alone"
COREFERENT = "right by coreference"
"""Differences: what counts by one definition of a measure, but not by every one, or the other way round."""

Counted = tuple[int, int, int, int]
"""The contribution of an outcome: the numerators and denominators of precision and recall."""
MATCH, MISS, SPURIOUS = (1, 1, 1, 1), (0, 0, 0, 1), (0, 1, 0, 0)
AGAIN_BY: dict[Credit, Counted] = {"system": (1, 1, 1, 0), "gold": (1, 0, 1, 1)}
"""A match of an item whose counterpart was matched before."""

NEAR: tuple[Part, ...] = ("role", "trigger", "type")
"""Parts that may be the only difference between a missed and a spurious item, in the order in which they are tried."""


class KeyedSide:
    """The distinct items of one side: the key by which each is compared, and the indexes of the items that it is."""

    def __init__(self, side: Side, row: KeyRow, origin: Origin, table: Items | Triggers) -> None:
        self.values, self.events, events = side.values, side.events, side.events.values()
        self.items: list[tuple[Event, Argument | None]] = (
            [(event, None) for event in events]
            if isinstance(table, Triggers)
            else [(event, argument) for event in events for argument in event.arguments]
        )
        keys: list[Hashable] = list(map(row.key, self.values))
        if origin == "gold" and row.first:
            seen: set[Hashable] = set()
            for index, values in enumerate(self.values):
                if values[TRIGGER] in seen:
                    keys[index] = object()  # equals nothing
                seen.add(values[TRIGGER])
        self.distinct = row.distinct_in(origin)
        last = (table.items if isinstance(table, Triggers) else table).types == "last"
        same: dict[Hashable, list[int]] = {}
        for index, values in enumerate(self.values):
            same.setdefault(values_of(self.distinct)(values) if self.distinct else index, []).append(index)
        # Of several equal items, the first stands for them, or the last if its type is that of all.
        self.groups = [group[::-1] if last else group for group in same.values()]
        self.keys = [keys[group[0]] for group in self.groups]

    def by_key(self) -> dict[Hashable, list[int]]:
        """Return the indexes of the distinct items of each key."""
        indexes: dict[Hashable, list[int]] = {}
        for index, key in enumerate(self.keys):
            indexes.setdefault(key, []).append(index)
        return indexes

    def first(self, index: int) -> Values:
        """Return the values of a distinct item."""
        return self.values[self.groups[index][0]]

    def shown(self, index: int) -> Mention | ArgumentItem:
        """Return an item as an outcome names it."""
        event, argument = self.items[index]
        return event.mention if argument is None else ArgumentItem(argument.role, event.mention, argument.mentions)

    def span(self, index: int) -> Hashable:
        """Return the whole span of the argument that an item is."""
        argument = self.items[index][1]
        return None if argument is None else argument.mentions[0].span


class Outcome(NamedTuple):
    """The indexes of a gold and a system item, what they count, and their class."""

    gold: int | None
    system: int | None
    counts: Counted
    label: str = ""


class KeyedItems:
    """The items of a document, compared as a row says."""

    def __init__(self, document: DocumentItems, row: KeyRow, table: Items | Triggers) -> None:
        self.row, self.ignored = row, document.system.ignored
        self.gold = KeyedSide(document.gold, row, "gold", table)
        self.system = KeyedSide(document.system, row, "system", table)
        self.coreferent = self._coreferent(document.clusters) if row.coref else {}
        """System items, each with the gold items whose cluster it is in."""

    def right(self) -> int:
        gold, system = self.gold.keys, self.system.keys
        if self.row.credit == "system":
            golds = {*gold}
            return sum([key in golds for key in system]) + len(self.coreferent)
        if self.row.credit == "gold":
            systems = {*system}
            return sum([key in systems for key in gold])
        return (Counter(gold) & Counter(system)).total()

    def _coreferent(self, clusters: Mapping[Hashable, str]) -> dict[int, list[int]]:
        """Find system items that gold has under no role at this place, but whose cluster fills the role."""
        equal = self.row.key
        within = values_of(tuple(part for part in self.row.equal if part != "role"))

        def in_cluster(values: Values) -> Hashable | None:
            cluster = clusters.get(values[SPAN])
            return None if cluster is None else equal((*values[:SPAN], (cluster,), *values[SPAN + 1 :]))

        identified = {within(values) for values in self.gold.values}
        golds: dict[Hashable, list[int]] = {}
        for g in range(len(self.gold.groups)):
            if (key := in_cluster(self.gold.first(g))) is not None:
                golds.setdefault(key, []).append(g)
        systems = {s: self.system.first(s) for s in range(len(self.system.groups))}
        return {
            s: golds[key]
            for s, values in systems.items()
            if within(values) not in identified and (key := in_cluster(values)) in golds
        }

    def outcomes(self) -> Iterator[Outcome]:
        """List items that were matched, missed, and spurious."""
        credit = self.row.credit
        golds, systems = self.gold.by_key(), self.system.by_key()
        missed: dict[int, None] = {}  # in order, and quick to look up
        spurious: dict[int, None] = {}
        for key, alike in golds.items():
            there = systems.get(key, [])
            if len(alike) + len(there) > 2:
                self._put_same_first(alike, there)
            for g, s in zip(alike, there, strict=False):
                yield self._match(g, s, MATCH)
            for g in alike[len(there) :]:
                if there and credit == "gold":
                    yield self._match(g, there[0], AGAIN_BY[credit], "repeated")
                else:
                    missed[g] = None
        for key, alike in systems.items():
            there = golds.get(key, [])
            for s in alike[len(there) :]:
                if there and credit == "system":
                    yield self._match(there[0], s, AGAIN_BY[credit], "repeated")
                else:
                    spurious[s] = None
        for s in [s for s in spurious if s in self.coreferent]:
            del spurious[s]
            free = next((g for g in self.coreferent[s] if g in missed), None)
            if free is None:
                yield self._match(self.coreferent[s][0], s, AGAIN_BY["system"], "coreferent")
            else:
                del missed[free]
                yield self._match(free, s, MATCH, "coreferent")
        yield from self._left([self.gold.groups[g][0] for g in missed], [self.system.groups[s][0] for s in spurious])

    def _put_same_first(self, golds: list[int], systems: list[int]) -> None:
        """Sort items that count alike: those that are the same in everything, such as their role, match first."""
        distinct = values_of(self.system.distinct or PARTS)
        waiting: dict[Hashable, list[int]] = {}
        for s in reversed(systems):
            waiting.setdefault(distinct(self.system.first(s)), []).append(s)
        pairs = {g: same.pop() for g in golds if (same := waiting.get(distinct(self.gold.first(g))))}
        taken = {*pairs.values()}
        golds[:] = [*pairs, *(g for g in golds if g not in pairs)]
        systems[:] = [*pairs.values(), *(s for s in systems if s not in taken)]

    def _match(self, gold: int, system: int, counts: Counted, label: str = "") -> Outcome:
        """Match two items; of each, the one whose trigger the other also has, if there is one."""
        golds, systems = self.gold.groups[gold], self.system.groups[system]
        for g in golds:
            for s in systems:
                if self.gold.values[g][TRIGGER] == self.system.values[s][TRIGGER]:
                    return Outcome(g, s, counts, label)
        return Outcome(golds[0], systems[0], counts, label or "other trigger")

    def _left(self, golds: Sequence[int], systems: Sequence[int]) -> Iterator[Outcome]:
        """List items that only one side has, with the one part in which they differ from an item of the other side."""
        parts = self.row.parts
        gold_labels: dict[int, str] = {}
        system_labels: dict[int, str] = {}
        for part in NEAR:
            if part not in parts or (part == "trigger" and "span" not in parts) or len(parts) == 1:
                continue  # two triggers of one type are not nearly the same
            rest = values_of(tuple(other for other in parts if other != part))
            waiting: dict[Hashable, list[int]] = {}
            for s in systems:
                if s not in system_labels:
                    waiting.setdefault(rest(self.system.values[s]), []).append(s)
            for g in golds:
                near = waiting.get(rest(self.gold.values[g]))
                if near and g not in gold_labels:
                    gold_labels[g] = system_labels[near.pop(0)] = f"wrong {part}"
        yield from (Outcome(g, None, MISS, gold_labels.get(g, "")) for g in golds)
        yield from (Outcome(None, s, SPURIOUS, system_labels.get(s, "")) for s in systems)

    def differences(self, *, by_head: bool) -> Iterator[tuple[str, int]]:
        """Count what counts here, but not by every definition, or does not count here, but elsewhere."""
        gold, system, row = self.gold, self.system, self.row
        golds: dict[Hashable, list[int]] = {}
        for key, group in zip(gold.keys, gold.groups, strict=True):
            golds.setdefault(key, []).extend(group)
        right = [(golds[key], group) for key, group in zip(system.keys, system.groups, strict=True) if key in golds]
        if row.credit != "pairs":
            yield AGAIN, self.right() - len(self.coreferent) - (Counter(gold.keys) & Counter(system.keys)).total()
        yield MERGED, sum(len(group) - 1 for side in (gold, system) for group in side.groups)
        for side in (gold, system):
            if not side.distinct:
                yield LISTED, len(side.values) - len({*side.values})
        yield IGNORED, self.ignored
        yield COREFERENT, len(self.coreferent)
        if {"trigger", "event"}.isdisjoint(row.equal):
            triggers = [
                ({gold.values[g][TRIGGER] for g in of_gold}, {system.values[s][TRIGGER] for s in of_system})
                for of_gold, of_system in right
            ]
            yield OTHER_TRIGGER, sum(ours.isdisjoint(theirs) for ours, theirs in triggers)
        else:
            yield WRONG_TRIGGER, self._wrong_triggers()
        if by_head:
            spans = [({*map(gold.span, of_gold)}, {*map(system.span, of_system)}) for of_gold, of_system in right]
            yield HEAD, sum(ours.isdisjoint(theirs) for ours, theirs in spans)
        else:
            yield TRIMMED, sum(values[SPAN] != gold.span(g) for g, values in enumerate(gold.values))

    def _wrong_triggers(self) -> int:
        """Count missed arguments that the system has under another trigger, with the same type."""
        parts = self.row.parts if "event" in self.row.equal else self.row.equal
        rest = values_of(tuple(part for part in parts if part != "trigger"))
        left = []
        for side, other in ((self.gold, self.system), (self.system, self.gold)):
            keys = {*other.keys}
            left.append(Counter(rest(side.first(index)) for index, key in enumerate(side.keys) if key not in keys))
        return (left[0] & left[1]).total()


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


class Floored(PrecisionRecall, frozen=True):
    """Precision and recall whose F1 is 0 if their sum is not above a very small number."""

    @classmethod
    def derived(cls, values: Scores) -> Scores:
        precision, recall = values["precision"], values["recall"]
        if precision is not None and recall is not None and precision + recall <= LEAST:
            return {"f1": 0.0}
        return super().derived(values)


class Keyed(DocumentsMeasure[DocumentItems, PrecisionRecall], frozen=True):
    """Items that gold and the system have, by the keys of a row."""

    table: Items | Triggers
    name: str
    """Its id."""
    row: KeyRow
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
    def attributes(self) -> tuple[str, ...]:
        """The type, if it must be right; that of an event is given."""
        return ("type",) if "type" in self.row.equal else ()

    @property
    def parts(self) -> tuple[ArgumentPart, ...]:
        """Parts that must be equal in a gold and a system argument."""
        return self.row.parts

    def count(self, table: tuple[DocumentItems, ...]) -> PrecisionRecall:
        """P = right / |system|, R = right / |gold|; for sets of keys, right = |G ∩ Y|."""
        row, right, systems, golds = self.row, 0, 0, 0
        for document in table:
            if row.compares_sets:
                gold = {*map(row.key, document.gold.values)}
                system = {*map(row.key, document.system.values)}
                right += len(gold & system)
                systems, golds = systems + len(system), golds + len(gold)
            else:
                keyed = KeyedItems(document, row, self.table)
                right += keyed.right()
                systems, golds = systems + len(keyed.system.keys), golds + len(keyed.gold.keys)
        return self._counts(right, systems, right, golds)

    def _counts(self, precision_num: int, precision_den: int, recall_num: int, recall_den: int) -> PrecisionRecall:
        made = Floored if self.floor else PrecisionRecall
        if self.swapped:
            return made(recall_num, recall_den, precision_num, precision_den)
        return made(precision_num, precision_den, recall_num, recall_den)

    def compared(self, document: DocumentItems) -> Iterator[Compared[PrecisionRecall]]:
        """List items that both sides have, those that only one has, and those that are nearly the same."""
        keyed = KeyedItems(document, self.row, self.table)
        for g, s, counts, label in keyed.outcomes():
            gold = None if g is None else keyed.gold.shown(g)
            system = None if s is None else keyed.system.shown(s)
            yield gold, system, self._counts(*counts), label

    def document_arguments(self, document: DocumentItems) -> DocumentArguments:
        """List the arguments behind the outcomes. Trimmed ones are compared without their article, or by their head."""
        keyed = KeyedItems(document, self.row, self.table)
        golds, gold_events, gold_known = self._arguments(
            keyed.gold, trim=isinstance(self.table, Items) and self.table.trim
        )
        systems, system_events, system_known = self._arguments(keyed.system, trim=False)
        outcomes = tuple(
            ArgumentOutcome(
                None if g is None else golds[g],
                None if s is None else systems[s],
                int(self._counts(*counts).lost() > 0),
            )
            for g, s, counts, _ in keyed.outcomes()
        )
        return DocumentArguments(document.document, outcomes, gold_events, system_events, gold_known, system_known)

    def _arguments(
        self, side: KeyedSide, *, trim: bool
    ) -> tuple[list[ComparedArgument], dict[EventKey, Mention], frozenset[tuple[Hashable, ...]]]:
        """Return the arguments of one side, its events, and what is compared of these."""
        arguments = []
        for index, (values, (_, argument)) in enumerate(zip(side.values, side.items, strict=True)):
            assert argument is not None, "triggers have errors of mentions"
            (mention,) = argument.mentions
            place = values[SPAN]
            if trim and isinstance(place, tuple):
                mention = replace(mention, span=place, head=place, text=None, texts={})
            compared = self._compared_parts(values)
            fillers = (Filler((mention,)),)
            arguments.append(ComparedArgument(index, (side.shown(index),), values[EVENT], compared, fillers))
        events = {key: _typed(event.mention, key[1]) for key, event in side.events.items()}
        about = [self._compared_parts((key, key[0], key[1], None, None)) for key in events]
        return arguments, events, frozenset((parts.get("trigger"), None, parts.get("type")) for parts in about)

    def _compared_parts(self, values: Values) -> dict[ArgumentPart, Hashable]:
        """Return what is compared of an item; if the row compares events, `trigger` tells equal ones apart."""
        key, trigger, type_, place, role = values
        every: dict[ArgumentPart, Hashable] = {
            "trigger": (trigger, key[2]) if "event" in self.row.equal else trigger,
            "type": type_,
            "span": place,
            "role": role,
        }
        return {part: every[part] for part in self.parts}

    def notes_on_total(self, total: PrecisionRecall) -> Iterable[Finding]:
        """Report a precision or recall above 1."""
        return above_one(self.id, total)

    def differences(self, table: tuple[DocumentItems, ...]) -> Mapping[str, int]:
        """Count arguments that count here, but not by every definition of the measure, or the other way round."""
        total: Counter[str] = Counter()
        if isinstance(self.table, Items):
            for document in table:
                for what, count in KeyedItems(document, self.row, self.table).differences(
                    by_head=self.table.place != "span"
                ):
                    total[what] += count
        return total


def above_one(id_: str, total: PrecisionRecall) -> Iterator[Finding]:
    """Report a precision or recall above 1."""
    above = [
        f"{name} {ratio.num:.10g}/{ratio.den:.10g}" for name, ratio in total.ratios().items() if ratio.num > ratio.den
    ]
    if above:
        yield ABOVE_ONE.at(f"{id_} is above 1, as in the program: {', '.join(above)}")


def _typed(mention: Mention, type_: Any) -> Mention:
    """Return a trigger with the type that the protocol gives it."""
    if mention.attributes.get("type") == type_:
        return mention
    attributes = {name: value for name, value in mention.attributes.items() if name != "type"}
    return replace(mention, attributes=attributes if type_ is None else {**attributes, "type": type_})
