"""Confusions of an attribute: which value gold has, and which the system gave to the same mention."""

from collections import Counter
from collections.abc import Mapping, Sequence

from karat.report.figures.panels import HeatMap
from karat.results import MentionRecord, OutcomeRecord

MISSED = "(missed)"
SPURIOUS = "(spurious)"
ABSENT = "(none)"


def heat_map(outcomes: Mapping[str, Sequence[OutcomeRecord]], attribute: str, *, protocol: str) -> HeatMap | None:
    """Gold values by system values, the most frequent first; None if no mention has the attribute.

    The mentions are aligned as the first measure that lists mentions aligns them: for nuggets, by span alone.
    """
    for records in outcomes.values():
        cells = _cells(records, attribute)
        if any(value not in (MISSED, SPURIOUS, ABSENT) for cell in cells for value in cell):
            break
    else:
        return None
    golds, systems = (Counter[str]() for _ in range(2))
    for (gold, system), count in cells.items():
        golds[gold] += count
        systems[system] += count
    values = sorted(
        (golds.keys() | systems.keys()) - {MISSED, SPURIOUS},
        key=lambda value: (value == ABSENT, -golds[value], -systems[value], value),
    )
    rows, columns = [*values, *[SPURIOUS] * (SPURIOUS in golds)], [*values, *[MISSED] * (MISSED in systems)]
    counts = tuple(tuple(cells[gold, system] for system in columns) for gold in rows)
    return HeatMap(attribute, tuple(rows), tuple(columns), counts, protocol=protocol)


def _cells(records: Sequence[OutcomeRecord], attribute: str) -> Counter[tuple[str, str]]:
    cells: Counter[tuple[str, str]] = Counter()
    for record in records:
        gold, system = record.gold, record.system
        if isinstance(gold, MentionRecord | None) and isinstance(system, MentionRecord | None):
            cells[_value(gold, attribute, SPURIOUS), _value(system, attribute, MISSED)] += 1
    return cells


def _value(mention: MentionRecord | None, attribute: str, absent: str) -> str:
    return absent if mention is None else str(mention.attributes.get(attribute, ABSENT))
