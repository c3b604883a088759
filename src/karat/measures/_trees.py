"""Trees of events matched one-to-one: from the roots down (NSTMp), or by the events that are in place (CEAFp).

Nothing here recurses: a tree may be as deep as it likes.
"""

from collections import Counter
from collections.abc import Iterator, Mapping

from karat.align.assignment import Edge, assignment
from karat.tables.hierarchy import Graph, Hierarchy

ROOT = (-1, -1)
"""In place of two parents, above two roots."""

Matched = tuple[int, int, int]
"""An event of gold, one of the system's, and what matching the two (and all below them) is worth."""


def simple_tree_matching(table: Hierarchy, *, transitive: bool) -> list[Matched]:
    """The roots that are matched, each pair with its STM.

    From the leaves up, what two events are worth is added to their parents. Mutual events compete with no others; of
    the others, those are chosen that are worth most together.
    """
    gold, system = table.gold.parents.get, table.system.parents.get
    worth: dict[Edge, int] = {}
    options: dict[Edge, dict[Edge, int]] = {}
    for event in reversed(table.gold.from_the_roots):
        for twin in table.twins_in_system(event):
            pair, parents = (event, twin), (gold(event, -1), system(twin, -1))
            value = worth.get(pair, 1)
            if pair in options:
                value = worth[pair] = value + sum([worth for _, _, worth in _assigned(options[pair])])
            for above in _above(table, pair) if transitive and parents != ROOT else (parents,):
                if event in table.mutual:
                    worth[above] = worth.get(above, 1) + value
                else:
                    options.setdefault(above, {})[pair] = value
    roots = [root for root in table.mutual if root not in table.gold.parents and root not in table.system.parents]
    return [*((root, root, worth.get((root, root), 1)) for root in roots), *_assigned(options.get(ROOT, {}))]


def _above(table: Hierarchy, pair: Edge) -> Iterator[Edge]:
    """Ancestors of two events that are twins."""
    above = set(_ancestors(pair[1], table.system.parents))
    for ancestor in _ancestors(pair[0], table.gold.parents):
        for other in above.intersection(table.twins_in_system(ancestor)):
            yield ancestor, other


def _assigned(options: Mapping[Edge, int]) -> Iterator[Matched]:
    for event, twin in assignment(options):
        yield event, twin, options[event, twin]


def _ancestors(event: int, parents: Mapping[int, int]) -> Iterator[int]:
    while event in parents:
        event = parents[event]
        yield event


def self_matches(graph: Graph) -> dict[int, int]:
    """STM of each tree with itself where implied links count: its chains of events that begin at the root."""
    below: dict[int, int] = {}
    for event in reversed(graph.from_the_roots):
        # Chains below an event: those of a child begin with it, or skip it.
        below[event] = sum([1 + 2 * below[child] for child in graph.children.get(event, ())])
    return {event: 1 + chains for event, chains in below.items() if event not in graph.parents}


def trees_in_place(table: Hierarchy) -> list[Matched]:
    """The trees that are matched one-to-one with the greatest sum of φ."""
    return list(_assigned(_in_place(table)))


def _in_place(table: Hierarchy) -> dict[Edge, int]:
    """φ of every two trees that have an event in its place: the parents are twins, too, or both are roots."""
    gold, system, others = table.gold.parents.get, table.system.parents.get, table.gold_twins.get
    gold_tree, system_tree = table.gold.tree_of, table.system.tree_of
    in_place = [
        (event, twin)
        for event, twin in table.twins
        if (above := gold(event, -1)) == (there := system(twin, -1)) or there in others(above, ())
    ]
    counted = Counter([(gold_tree[event], system_tree[twin]) for event, twin in in_place if event in table.mutual])
    options: dict[Edge, dict[Edge, int]] = {}
    for event, twin in in_place:
        if event not in table.mutual:
            options.setdefault((gold_tree[event], system_tree[twin]), {})[event, twin] = 1
    for trees, pairs in options.items():
        counted[trees] += len(assignment(pairs))
    return counted
