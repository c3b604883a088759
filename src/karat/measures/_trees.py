"""Trees of events matched one-to-one: from the roots down (NSTMp), or by the events that are in place (CEAFp).

Nothing here recurses: a tree may be as deep as it likes.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from karat.align.assignment import assignment
from karat.tables.compared import TwinPair
from karat.tables.event_graph import Graph
from karat.tables.hierarchy import ROOTS, Hierarchy, Place, place

Matched = tuple[int, int, int]
"""An event of gold, one of the system's, and what matching the two (and all below them) is worth."""


def simple_tree_matching(table: Hierarchy, *, transitive: bool) -> list[Matched]:
    """The roots that are matched, each pair with its STM.

    From the leaves up, what two events are worth is added to their parents. Mutual events compete with no others; of
    the others, those are chosen that are worth most together.
    """
    places: dict[Place, Sequence[Place]] = _below_twins(table) if transitive else table.in_place
    worth: dict[Place, int] = {}
    options: dict[Place, dict[TwinPair, int]] = {}
    for pair, above in reversed(places.items()):
        value = worth.get(pair, 1)
        if pair in options:
            value += sum([worth for _, _, worth in _assigned(options[pair])])
        worth[pair] = value
        for parents in above:
            if isinstance(pair, int):
                worth[parents] = worth.get(parents, 1) + value
            else:
                options.setdefault(parents, {})[pair] = value
    roots = [(pair, pair, worth[pair]) for pair, above in places.items() if isinstance(pair, int) and ROOTS in above]
    return [*roots, *_assigned(options.get(ROOTS, {}))]


def _below_twins(table: Hierarchy) -> dict[Place, Sequence[Place]]:
    """Twins below others, with all of these; or both are roots. From gold's roots down."""
    found: dict[Place, Sequence[Place]] = {}
    for event in table.gold.tree_of:
        above = list(_ancestors(event, table.gold.parents))
        for twin in table.twins.in_system(event):
            there = set(_ancestors(twin, table.system.parents))
            found[place(event, twin)] = [
                place(one, other) for one in above for other in there.intersection(table.twins.in_system(one))
            ]
            if not above and not there:
                found[place(event, twin)] = [ROOTS]
    return found


def _assigned(options: Mapping[TwinPair, int]) -> Iterator[Matched]:
    for event, twin in assignment(options):
        yield event, twin, options[event, twin]


def _ancestors(event: int, parents: Mapping[int, int]) -> Iterator[int]:
    while event in parents:
        event = parents[event]
        yield event


def self_matches(graph: Graph) -> dict[int, int]:
    """STM of each tree with itself where implied links count: its chains of events that begin at the root."""
    below: dict[int, int] = {}
    for event in reversed(graph.tree_of):
        # Chains below an event: those of a child begin with it, or skip it.
        below[event] = sum([1 + 2 * below[child] for child in graph.children.get(event, ())])
    return {event: 1 + chains for event, chains in below.items() if event not in graph.parents}


def trees_in_place(table: Hierarchy) -> list[Matched]:
    """The trees that are matched one-to-one with the greatest sum of φ."""
    return list(_assigned(_in_place(table)))


def _in_place(table: Hierarchy) -> dict[TwinPair, int]:
    """φ of every two trees that have an event in its place."""
    gold_tree, system_tree = table.gold.tree_of, table.system.tree_of
    counted = Counter([(gold_tree[pair], system_tree[pair]) for pair in table.in_place if isinstance(pair, int)])
    options: dict[TwinPair, dict[TwinPair, int]] = {}
    for pair in table.in_place:
        if not isinstance(pair, int):
            event, twin = pair
            options.setdefault((gold_tree[event], system_tree[twin]), {})[pair] = 1
    for trees, pairs in options.items():
        counted[trees] += len(assignment(pairs))
    return counted
