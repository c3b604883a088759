"""Confusions of an attribute: which value gold has, and which the system gave to the same item."""

from collections import Counter

from karat.report.figures.panels import HeatMap
from karat.results.errors import Confusion

MISSED, SPURIOUS = "(missed)", "(spurious)"
ABSENT = "(none)"


def heat_map(confusion: Confusion, *, protocol: str) -> HeatMap:
    """Gold values by system values in one order: the most frequent in gold first."""
    golds, systems = Counter[str | None](), Counter[str | None]()
    for (gold, system), count in confusion.cells.items():
        golds[gold] += count
        systems[system] += count
    values: list[str | None] = sorted(
        (value for value in golds.keys() | systems.keys() if value is not None),
        key=lambda value: (value == ABSENT, -golds[value], -systems[value], value),
    )
    rows, columns = ([*values, None] if None in side else values for side in (golds, systems))
    return HeatMap(
        confusion.attribute,
        tuple(SPURIOUS if value is None else value for value in rows),
        tuple(MISSED if value is None else value for value in columns),
        tuple(tuple(confusion.cells.get((gold, system), 0) for system in columns) for gold in rows),
        protocol=protocol,
    )
