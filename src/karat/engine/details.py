"""Details: what measures list item by item, and how often each value of an attribute was confused with another."""

from collections.abc import Iterable, Mapping
from typing import Any

from karat.counts import Ratio, harmonic
from karat.plugin import Detail, Measure

ABSENT = "(none)"

Confusion = dict[tuple[str | None, str | None], int]
"""How often a gold value was matched with a system value; None where the item is missed, or a false alarm."""


class Details:
    """What the measures of a protocol list, document by document."""

    def __init__(self) -> None:
        self._items: dict[str, list[dict[str, Any]]] = {}
        self._confusions: dict[str, dict[str, dict[str, Confusion]]] = {}

    def add(self, measure: Measure[Any, Any], document: str, details: Iterable[Detail]) -> None:
        """Take the details of one table; parts of an item are counted, items themselves are listed too."""
        items = self._items.setdefault(measure.id, [])
        parts = self._confusions.setdefault(measure.id, {})
        for detail in details:
            by_attribute = parts.setdefault(detail.part, {})
            sides = [None if item is None else item.attributes for item in (detail.gold, detail.system)]
            for name in dict.fromkeys(name for side in sides if side is not None for name in side):
                values = tuple(None if side is None else str(side.get(name, ABSENT)) for side in sides)
                cell = values[0], values[1]
                counted = by_attribute.setdefault(name, {})
                counted[cell] = counted.get(cell, 0) + 1
            if detail.listed is not None:
                items.append({"document": document, **detail.listed})

    def to_dict(self) -> dict[str, Any]:
        """For each measure: attributes of each part with recognition and confusions, and the items one by one."""
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


def recognition(confusion: Mapping[tuple[str | None, str | None], int]) -> dict[str, Any]:
    """How well an attribute is recognised; precision and recall count a wrong value as found."""
    found = sum(count for (gold, system), count in confusion.items() if gold is not None and system is not None)
    wrong = sum(count for (gold, system), count in confusion.items() if None not in (gold, system) and gold != system)
    missed = sum(count for (_, system), count in confusion.items() if system is None)
    alarms = sum(count for (gold, _), count in confusion.items() if gold is None)
    precision, recall = Ratio(found, found + alarms).value, Ratio(found, found + missed).value
    confused: dict[str, dict[str, int]] = {}
    for (gold, system), count in sorted(confusion.items(), key=lambda cell: (cell[0][0] or "", cell[0][1] or "")):
        if gold is not None and system is not None:
            confused.setdefault(gold, {})[system] = count
    return {
        "reference": found + missed,
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
