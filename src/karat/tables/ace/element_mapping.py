"""The mapping of elements that is worth most: "the globally optimum correspondence" of reference and system tokens."""

from collections.abc import Iterable, Mapping

from karat.tables.ace.groups import Groups
from karat.tables.ace.plan import Plan

ElementIds = tuple[str, str]
"""A gold element and a system element."""
FirstEquals = tuple[Mapping[str, str], Mapping[str, str]]
"""For elements of gold, and of the system, that equal an earlier one: the first that they equal."""


def element_mapping(
    reading: Plan,
    gold: Iterable[str],
    system: Iterable[str],
    values: Mapping[ElementIds, float],
    unmapped: Mapping[str, float],
    overlaps: Mapping[ElementIds, float],
    first_equals: FirstEquals,
) -> dict[str, str]:
    """Gold elements with the system elements they are mapped to: a pair gains its value less that of a false alarm.

    Of equal elements, only the first are in `values`.
    """
    golds, systems = list(gold), list(system)
    g_number = {id_: number for number, id_ in enumerate(golds)}
    s_number = {id_: number for number, id_ in enumerate(systems)}
    gains = {
        (g_number[g], s_number[s]): (reading.gain(value, unmapped[s]), overlaps.get((g, s), 0.0))
        for (g, s), value in values.items()
    }
    groups = None
    if any(first_equals):
        groups = Groups(_members(g_number, first_equals[0]), _members(s_number, first_equals[1]))
    return {golds[g]: systems[s] for g, s in reading.assign_elements(gains, groups)}


def _members(numbers: Mapping[str, int], first_equals: Mapping[str, str]) -> dict[int, list[int]]:
    """The numbers of the members of each group by that of the first."""
    members: dict[int, list[int]] = {}
    for id_, number in numbers.items():
        members.setdefault(numbers[first_equals.get(id_, id_)], []).append(number)
    return members
