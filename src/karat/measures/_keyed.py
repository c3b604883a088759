"""The measure of triggers and arguments that are compared by keys, and what trig and arg have in common."""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Literal

from msgspec import Struct

from karat.counts import PrecisionRecall, Scores
from karat.errors import Finding, Rule
from karat.measures._differences import differences
from karat.measures._keyed_arguments import compared_parts, document_arguments
from karat.plugin import ArgumentPart, DocumentArguments, Measure, Outcome
from karat.tables.keyed import PARTS, KeyedItems, KeyedSide, KeyedTable, Part, values_of

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


class Keyed(Measure[tuple[KeyedItems, ...], PrecisionRecall], frozen=True):
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
    def argument_parts(self) -> tuple[ArgumentPart, ...]:
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

    def remarks_on_total(self, total: PrecisionRecall) -> Iterable[Finding]:
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
AGAIN: dict[Literal["system", "gold"], tuple[int, int, int, int]] = {"system": (1, 1, 1, 0), "gold": (1, 0, 1, 1)}
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
                yield _match(table, g, there[0], AGAIN["gold"], "repeated")
            else:
                missed[g] = None
    for key, own in systems.items():
        there = golds.get(key, [])
        for s in own[len(there) :]:
            if there and credit == "system":
                yield _match(table, there[0], s, AGAIN["system"], "repeated")
            else:
                spurious[s] = None
    for s in [one for one in spurious if one in table.coreferent]:
        del spurious[s]
        free = next((g for g in table.coreferent[s] if g in missed), None)
        if free is None:
            yield _match(table, table.coreferent[s][0], s, AGAIN["system"], "coreferent")
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
