"""Why one definition of Arg-C gives another number than the others, counted on the same arguments."""

from collections import Counter
from collections.abc import Hashable, Iterator

from karat.tables.keyed import PARTS, Item, KeyedItems, KeyedSide, Part, values_of

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
