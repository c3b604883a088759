"""Details: the outcomes of measures item by item.

A measure may list entries of its own instead. For these, details also count how often each value of an attribute was
confused with another.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from karat.counts import Ratio, harmonic
from karat.engine.records import Records, UnitRecords, place_of
from karat.errors import quoted
from karat.limits import MOST_PAIRS, check_pairs
from karat.plugin import Detail, Measure
from karat.results import OutcomeRecord

ABSENT = "(none)"

Confusion = dict[tuple[str | None, str | None], int]
"""How often a gold value was matched with a system value; None where the item is missed, or a false alarm."""


class DetailsPart(NamedTuple):
    """The details of some documents, as they are sent to the process that puts them together."""

    records: dict[str, UnitRecords]
    outcomes: dict[str, list[OutcomeRecord]]
    items: dict[str, list[dict[str, Any]]]
    confusions: dict[str, dict[str, dict[str, Confusion]]]


class Details:
    """What the measures of a protocol list, table by table."""

    def __init__(self, records: Records) -> None:
        self._records = records
        self._outcomes: dict[str, list[OutcomeRecord]] = {}
        self._items: dict[str, list[dict[str, Any]]] = {}
        self._confusions: dict[str, dict[str, dict[str, Confusion]]] = {}

    def add(self, unit: str, document: str | None, measure: Measure[Any, Any], table: Any) -> None:
        """Add a table that was counted: of one document, or of several (None)."""
        if measure.lists_details:
            self._add_listed(measure, document or "", measure.details(table))
            return
        records, alignment = self._records.of(unit), measure.table.alignment
        outcomes = []
        for outcome in measure.outcomes(table):
            place = document or outcome.document
            gold = records.record(outcome.gold, "gold", place, alignment)
            system = records.record(outcome.system, "system", place, alignment)
            outcomes.append(OutcomeRecord(unit, place, outcome.outcome, gold, system, outcome.counts))
            if len(outcomes) > MOST_PAIRS:
                what = f"or more outcomes of {measure.id}"
                check_pairs(len(outcomes), what, where=quoted(unit), verb="lists", origin="gold")
        outcomes.sort(key=_order)
        self._outcomes.setdefault(measure.id, []).extend(outcomes)

    def _add_listed(self, measure: Measure[Any, Any], document: str, details: Iterable[Detail]) -> None:
        """Parts of items are counted, and items are also listed."""
        items = self._items.setdefault(measure.id, [])
        parts = self._confusions.setdefault(measure.id, {})
        for detail in details:
            by_attribute = parts.setdefault(detail.part, {})
            sides = [None if item is None else item.attributes for item in (detail.gold, detail.system)]
            for name in dict.fromkeys(name for side in sides if side is not None for name in side):
                values = tuple(None if side is None else str(side.get(name, ABSENT)) for side in sides)
                cell = values[0], values[1]
                confusion = by_attribute.setdefault(name, {})
                confusion[cell] = confusion.get(cell, 0) + 1
            if detail.listed is not None:
                items.append({"document": document, **detail.listed})

    def part(self) -> DetailsPart:
        """What was added, to be sent to another process."""
        return DetailsPart(self._records.part(), self._outcomes, self._items, self._confusions)

    def merge(self, part: DetailsPart) -> None:
        """Add documents that come after those so far."""
        self._records.merge(part.records)
        for id_, outcomes in part.outcomes.items():
            self._outcomes.setdefault(id_, []).extend(outcomes)
        for id_, items in part.items.items():
            self._items.setdefault(id_, []).extend(items)
        for id_, parts in part.confusions.items():
            own_parts = self._confusions.setdefault(id_, {})
            for name, attributes in parts.items():
                own = own_parts.setdefault(name, {})
                for attribute, confusion in attributes.items():
                    cells = own.setdefault(attribute, {})
                    for cell, count in confusion.items():
                        cells[cell] = cells.get(cell, 0) + count

    def outcomes(self, ids: Iterable[str]) -> dict[str, list[OutcomeRecord]]:
        """The outcomes of each of these measures that lists them."""
        return {id_: self._outcomes[id_] for id_ in ids if id_ in self._outcomes}

    def listed(self) -> dict[str, dict[str, Any]]:
        """For each other measure: how well each attribute of each part was recognised, and the items one by one."""
        return {
            id_: {
                "recognition": {
                    part: {name: recognition(confusion) for name, confusion in sorted(attributes.items())}
                    for part, attributes in self._confusions[id_].items()
                },
                "items": items,
            }
            for id_, items in self._items.items()
        }


def _order(record: OutcomeRecord) -> tuple[str, str, int, bool]:
    """By document and text; where a gold and a system item begin at the same place, gold's comes first."""
    document, span = place_of((record.gold, record.system))
    return record.document or "", document, span[0][0] if span else 0, record.gold is None


def recognition(confusion: Mapping[tuple[str | None, str | None], int]) -> dict[str, Any]:
    """How well an attribute is recognised. For precision and recall, an item with a wrong value counts as matched."""
    matched = sum(count for (gold, system), count in confusion.items() if gold is not None and system is not None)
    wrong = sum(count for (gold, system), count in confusion.items() if None not in (gold, system) and gold != system)
    missed = sum(count for (_, system), count in confusion.items() if system is None)
    alarms = sum(count for (gold, _), count in confusion.items() if gold is None)
    precision, recall = Ratio(matched, matched + alarms).value, Ratio(matched, matched + missed).value
    confused: dict[str, dict[str, int]] = {}
    for (gold, system), count in sorted(confusion.items(), key=lambda cell: (cell[0][0] or "", cell[0][1] or "")):
        if gold is not None and system is not None:
            confused.setdefault(gold, {})[system] = count
    return {
        "reference": matched + missed,
        "false_alarm": alarms,
        "miss": missed,
        "substitution": wrong,
        "error": alarms + missed + wrong,
        **{"precision": precision, "recall": recall, "f1": harmonic(precision, recall)},
        "confusion": confused,
        "missed": _by_value((gold, count) for (gold, system), count in confusion.items() if system is None),
        "spurious": _by_value((system, count) for (gold, system), count in confusion.items() if gold is None),
    }


def _by_value(counts: Iterable[tuple[str | None, int]]) -> dict[str, int]:
    return dict(sorted((value, count) for value, count in counts if value is not None))
