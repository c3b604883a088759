"""Details: the outcomes of measures item by item.

A measure may list entries of its own instead. For these, details also count how often each value of an attribute was
confused with another.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from karat.counts import harmonic
from karat.insight.records import UnitRecords, place_of
from karat.insight.units import CountedTable
from karat.limits import MOST_PAIRS, check_pairs
from karat.plugin import Detail, DetailedMeasure, Measure
from karat.problems import quoted
from karat.records import OutcomeRecord
from karat.run.rows import UnitRow

Cell = tuple[str | None, str | None]
Confusion = Counter[Cell]
"""Counts of how often a gold value was matched with a system value; None where a side has no item, or no value."""


class ListedItems(NamedTuple):
    """The entries that a measure lists for a unit, and the confusions of their attributes."""

    items: list[dict[str, Any]]
    confusions: dict[str, dict[str, Confusion]]
    """By part of an item, and attribute."""
    extents: dict[str, dict[str, Confusion]]
    """By part and attribute: how often the extent of a matched part with a gold value is `right` or `wrong`."""


def outcomes_of(unit: str, tables: Iterable[CountedTable], records: UnitRecords) -> dict[str, list[OutcomeRecord]]:
    outcomes: dict[str, list[OutcomeRecord]] = {}
    for document, measure, table in tables:
        if not isinstance(measure, DetailedMeasure):
            outcomes.setdefault(measure.id, []).extend(_outcomes(unit, document, measure, table, records))
    return outcomes


def _outcomes(
    unit: str, document: str | None, measure: Measure[Any, Any], table: Any, records: UnitRecords
) -> list[OutcomeRecord]:
    alignment = measure.table.alignment
    outcomes = []
    for outcome in measure.outcomes(table):
        place = document or outcome.document
        gold = records.record(outcome.gold, "gold", place, alignment)
        system = records.record(outcome.system, "system", place, alignment)
        outcomes.append(OutcomeRecord(unit, place, outcome.outcome, gold, system, outcome.counts))
        if len(outcomes) > MOST_PAIRS:
            what = f"or more outcomes of {measure.id}"
            check_pairs(len(outcomes), what, where=quoted(unit), verb="lists", origin="gold")
    return sorted(outcomes, key=_order)


def _order(record: OutcomeRecord) -> tuple[str, str, int, bool]:
    """By document and text; where a gold and a system item begin at the same place, gold's comes first."""
    document, span = place_of((record.gold, record.system))
    return record.document or "", document, span[0][0] if span else 0, record.gold is None


def listed_items(tables: Iterable[CountedTable]) -> dict[str, ListedItems]:
    """Return what measures list in place of outcomes: parts of items are counted, and items are also listed."""
    listed: dict[str, ListedItems] = {}
    for document, measure, table in tables:
        if isinstance(measure, DetailedMeasure):
            of_measure = listed.setdefault(measure.id, ListedItems([], {}, {}))
            for detail in measure.details(table):
                _add(of_measure, document or "", detail)
    return listed


def _add(listed: ListedItems, document: str, detail: Detail) -> None:
    by_attribute = listed.confusions.setdefault(detail.part, {})
    sides = [{} if item is None else item.attributes for item in (detail.gold, detail.system)]
    for name in dict.fromkeys(name for side in sides for name in side) if detail.is_compared else ():
        gold, system = (str(side[name]) if name in side else None for side in sides)
        by_attribute.setdefault(name, Counter())[gold, system] += 1
        if detail.has_right_extent is not None:
            extents = listed.extents.setdefault(detail.part, {}).setdefault(name, Counter())
            extents[gold, "right" if detail.has_right_extent else "wrong"] += 1
    if detail.listed is not None:
        listed.items.append({"document": document, **detail.listed})


def all_outcomes(units: Sequence[UnitRow], ids: Iterable[str]) -> dict[str, list[OutcomeRecord]]:
    """Return the outcomes of all units, for each of these measures that has any."""
    return {
        id_: [outcome for unit in units for outcome in unit.outcomes.get(id_, ())]
        for id_ in ids
        if any(id_ in unit.outcomes for unit in units)
    }


def all_listed(units: Sequence[UnitRow]) -> dict[str, dict[str, Any]]:
    """Return, for each measure that lists items: how well each attribute of each part was recognised, and the items."""
    joined: dict[str, ListedItems] = {}
    for unit in units:
        for id_, listed in unit.listed.items():
            total = joined.setdefault(id_, ListedItems([], {}, {}))
            total.items.extend(listed.items)
            for counts, more in ((total.confusions, listed.confusions), (total.extents, listed.extents)):
                for part, attributes in more.items():
                    for name, cells in attributes.items():
                        counts.setdefault(part, {}).setdefault(name, Counter()).update(cells)
    return {
        id_: {
            "recognition": {
                part: {
                    name: recognition(confusion, extents.get(part, {}).get(name, {}))
                    for name, confusion in sorted(attributes.items())
                }
                for part, attributes in confusions.items()
                if attributes
            },
            "items": items,
        }
        for id_, (items, confusions, extents) in joined.items()
    }


def recognition(confusion: Mapping[Cell, int], extents: Mapping[Cell, int]) -> dict[str, Any]:
    """Return how well an attribute is recognised. In precision and recall, an item with a wrong value is matched.

    A side without any value has 0, not an undefined ratio: the other side has some.
    """
    matched = sum(count for (gold, system), count in confusion.items() if gold is not None and system is not None)
    wrong = sum(count for (gold, system), count in confusion.items() if None not in (gold, system) and gold != system)
    missed = sum(count for (_, system), count in confusion.items() if system is None)
    alarms = sum(count for (gold, _), count in confusion.items() if gold is None)
    precision, recall = matched / max(matched + alarms, 1), matched / max(matched + missed, 1)
    return {
        "reference": matched + missed,
        "false_alarm": alarms,
        "miss": missed,
        "substitution": wrong,
        "error": alarms + missed + wrong,
        **{"precision": precision, "recall": recall, "f1": harmonic(precision, recall) or 0.0},
        "confusion": _matrix(confusion),
        "missed": _by_value((gold, count) for (gold, system), count in confusion.items() if system is None),
        "spurious": _by_value((system, count) for (gold, system), count in confusion.items() if gold is None),
        **({"extents": _matrix(extents)} if extents else {}),
    }


def _matrix(cells: Mapping[Cell, int]) -> dict[str, dict[str, int]]:
    """Counts of matched items, by gold value and then by the other."""
    matrix: dict[str, dict[str, int]] = {}
    for (gold, other), count in sorted(cells.items(), key=lambda cell: (cell[0][0] or "", cell[0][1] or "")):
        if gold is not None and other is not None:
            matrix.setdefault(gold, {})[other] = count
    return matrix


def _by_value(counts: Iterable[tuple[str | None, int]]) -> dict[str, int]:
    return dict(sorted((value, count) for value, count in counts if value is not None))
