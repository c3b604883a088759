"""Details of measures that list elements, such as those of ACE: recognition of attributes, confusions, every item."""

from collections.abc import Mapping
from typing import Any

from karat.report.layout import Style, table
from karat.report.numbers import UNDEFINED, percentage

MOST_CONFUSED = 8


def elements(id_: str, detail: Mapping[str, Any], *, digits: int, style: Style) -> list[str]:
    """How well attributes were recognised, the most frequent confusions, and every item."""
    blocks = [_recognition(id_, detail["recognition"], digits, style)] if detail["recognition"] else []
    blocks += _detection(id_, detail["recognition"], style)
    confused = [
        [f"{part} {name}", gold, system, str(count)]
        for part, attributes in detail["recognition"].items()
        for name, one in attributes.items()
        for gold, system, count in _most_confused(one["confusion"])
    ]
    if confused:
        blocks.append(table([f"{id_} confused", "reference", "system", "times"], confused, left=3, style=style))
    rows = [
        [
            *(item.get(name) or UNDEFINED for name in ("document", "reference", "system", "outcome")),
            f"{item['value']:.5f} of {item['worth']:.5f}",
            "; ".join(item["lost"]),
        ]
        for item in detail["items"]
    ]
    if rows:
        blocks.append(table([id_, "reference", "system", "outcome", "value", "lost"], rows, left=6, style=style))
    return blocks


def _recognition(id_: str, parts: Mapping[str, Any], digits: int, style: Style) -> str:
    names = ("reference", "false_alarm", "miss", "substitution", "error")
    rows = [
        [
            f"{part} {name}",
            *(str(one[count]) for count in names),
            *(percentage(one[score], digits) for score in ("precision", "recall", "f1")),
        ]
        for part, attributes in parts.items()
        for name, one in attributes.items()
    ]
    return table([f"{id_} recognition", *(name.replace("_", " ") for name in names), "P", "R", "F1"], rows, style=style)


def _detection(id_: str, parts: Mapping[str, Any], style: Style) -> list[str]:
    """How many parts of items (mentions, arguments) with each value are in the reference, spurious and missed."""
    rows = []
    for part in list(parts)[1:]:
        for name, one in parts[part].items():
            values = sorted({*one["confusion"], *one["missed"], *one["spurious"]})
            for value in values if len(values) > 1 else ():
                missed, spurious = one["missed"].get(value, 0), one["spurious"].get(value, 0)
                matched = sum(one["confusion"].get(value, {}).values())
                rows.append([f"{part} {name}", value, str(matched + missed), str(spurious), str(missed)])
    return (
        [table([f"{id_} detection", "value", "reference", "false alarm", "miss"], rows, left=2, style=style)]
        if rows
        else []
    )


def _most_confused(confusion: Mapping[str, Mapping[str, int]]) -> list[tuple[str, str, int]]:
    cells = [
        (gold, system, count) for gold, row in confusion.items() for system, count in row.items() if gold != system
    ]
    return sorted(cells, key=lambda cell: (-cell[2], cell[:2]))[:MOST_CONFUSED]
