"""Confusions of an attribute: which value gold has, and which the system gave to the same mention."""

from collections import Counter
from collections.abc import Mapping, Sequence

from karat.report.figures.panels import HeatMap
from karat.results import MentionRecord, OutcomeRecord

Cell = tuple[str | None, str | None]
"""A gold value and a system value; None where one side has no mention."""

MISSED, SPURIOUS = "(missed)", "(spurious)"
ABSENT = "(none)"


def heat_map(cells: Mapping[Cell, int], attribute: str, *, protocol: str) -> HeatMap:
    """Gold values by system values in one order: the most frequent in gold first."""
    golds, systems = Counter[str | None](), Counter[str | None]()
    for (gold, system), count in cells.items():
        golds[gold] += count
        systems[system] += count
    values: list[str | None] = sorted(
        (value for value in golds.keys() | systems.keys() if value is not None),
        key=lambda value: (value == ABSENT, -golds[value], -systems[value], value),
    )
    rows, columns = ([*values, None] if None in side else values for side in (golds, systems))
    return HeatMap(
        attribute,
        tuple(SPURIOUS if value is None else value for value in rows),
        tuple(MISSED if value is None else value for value in columns),
        tuple(tuple(cells.get((gold, system), 0) for system in columns) for gold in rows),
        protocol=protocol,
    )


def confused(outcomes: Mapping[str, Sequence[OutcomeRecord]], attribute: str) -> Mapping[Cell, int]:
    """How often each gold value met each system value; empty if no mention has the attribute.

    Mentions are aligned as the first measure that lists mentions aligns them: for nuggets, by span alone.
    """
    for records in outcomes.values():
        pairs = [
            (one.gold, one.system)
            for one in records
            if isinstance(one.gold, MentionRecord | None) and isinstance(one.system, MentionRecord | None)
        ]
        if any(mention is not None and attribute in mention.attributes for pair in pairs for mention in pair):
            return Counter((_value(gold, attribute), _value(system, attribute)) for gold, system in pairs)
    return {}


def _value(mention: MentionRecord | None, attribute: str) -> str | None:
    return None if mention is None else str(mention.attributes.get(attribute, ABSENT))
