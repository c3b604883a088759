"""Trees of events matched one-to-one: from the roots down (NSTMp), or by the events that are in place (CEAFp).

Nothing here recurses: a tree may be as deep as it likes.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from karat.counts import Counts, Ratio
from karat.families.hierarchy.graph import Graph, TwinPair
from karat.families.hierarchy.measures import HierarchyMeasure, undefined_outcome
from karat.families.hierarchy.table import ROOTS, Hierarchy
from karat.match.assignment import assignment
from karat.plugin import Outcome, TreeItem

Matched = tuple[int, int, int]
"""An event of gold, one of the system's, and what matching the two (and all below them) is worth."""


def simple_tree_matching(table: Hierarchy, *, transitive: bool) -> list[Matched]:
    """The roots that are matched, each pair with its STM.

    From the leaves up, what two events are worth is added to their parents. Mutual events, which have one number,
    compete with no others; of the others, those are chosen that are worth most together.
    """
    places = _below_twins(table) if transitive else table.in_place
    worth: dict[TwinPair, int] = {}
    options: dict[TwinPair, dict[TwinPair, int]] = {}
    for pair, above in reversed(places.items()):
        value = worth.get(pair, 1)
        if pair in options:
            value += sum([worth for _, _, worth in _assigned(options[pair])])
        worth[pair] = value
        for parents in above:
            if pair[0] == pair[1]:
                worth[parents] = worth.get(parents, 1) + value
            else:
                options.setdefault(parents, {})[pair] = value
    roots = [(*pair, worth[pair]) for pair, above in places.items() if pair[0] == pair[1] and ROOTS in above]
    return [*roots, *_assigned(options.get(ROOTS, {}))]


def _below_twins(table: Hierarchy) -> dict[TwinPair, Sequence[TwinPair]]:
    """Twins below others, with all of these; or both are roots. From gold's roots down."""
    below: dict[TwinPair, Sequence[TwinPair]] = {}
    for event in table.gold.tree_of:
        above = list(_ancestors(event, table.gold.parents))
        for twin in table.twins.in_system(event):
            there = set(_ancestors(twin, table.system.parents))
            below[event, twin] = [
                (event, twin) for event in above for twin in there.intersection(table.twins.in_system(event))
            ]
            if not above and not there:
                below[event, twin] = [ROOTS]
    return below


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


def phi(table: Hierarchy) -> dict[TwinPair, int]:
    """Return φ of every two trees that have an event in its place."""
    gold_tree, system_tree = table.gold.tree_of, table.system.tree_of
    counted = Counter([(gold_tree[event], system_tree[twin]) for event, twin in table.in_place if event == twin])
    options: dict[TwinPair, dict[TwinPair, int]] = {}
    for event, twin in table.in_place:
        if event != twin:
            options.setdefault((gold_tree[event], system_tree[twin]), {})[event, twin] = 1
    for trees, pairs in options.items():
        counted[trees] += len(assignment(pairs))
    return counted


DUMMY_ROOT = "(root)"
LARGEST = 1 << 1000
"""More than this many chains of events cannot be held as a number that adds."""


class Matches(Counts, frozen=True):
    """Matches, and the size of the larger side."""

    num: float
    den: float
    undefined: float
    """Documents in which an event has two parents: with one of them the whole is undefined."""

    def ratios(self) -> dict[str, Ratio]:
        return {"score": Ratio(0, 0) if self.undefined else Ratio(self.num, self.den)}


class TreeMeasure(HierarchyMeasure[Matches], frozen=True):
    """Trees of the two sides, matched one-to-one, over the larger forest."""

    def size(self, graph: Graph) -> int:
        """|F|, as far as this measure counts it."""
        return graph.size

    def sizes(self, graph: Graph) -> dict[int, int]:
        return Counter(graph.tree_of.values())

    def matched(self, table: Hierarchy) -> Sequence[Matched]:
        """The trees that are matched, by their roots, and what each match is worth."""
        raise NotImplementedError

    @property
    def dummy_root(self) -> bool:
        """True if one more event above all trees counts."""
        return False

    def count_document(self, table: Hierarchy) -> Matches:
        """Matches over the larger forest."""
        if self.why_undefined(table):
            return Matches(0, 0, undefined=1)
        matched = sum([worth for _, _, worth in self.matched(table)])
        larger = max(self.size(table.gold), self.size(table.system))
        return Matches(matched + self.dummy_root, larger + self.dummy_root, undefined=0)

    def document_outcomes(self, table: Hierarchy) -> Iterator[Outcome[Matches]]:
        """Matched trees, then those of each side that are left; trees of the smaller forest add nothing to it."""
        if self.why_undefined(table):
            yield undefined_outcome(table, Matches(0, 0, undefined=1))
            return
        golds, systems = self.sizes(table.gold), self.sizes(table.system)
        gold_is_larger = sum(golds.values()) >= sum(systems.values())
        document, gold_items, system_items = table.document, _trees(table.gold), _trees(table.system)
        if self.dummy_root:
            dummy = TreeItem(DUMMY_ROOT, ())
            yield Outcome(dummy, dummy, Matches(1, 1, undefined=0), document=document)
        for gold, system, worth in self.matched(table):
            larger = golds[gold] if gold_is_larger else systems[system]
            label = "match" if worth == golds[gold] == systems[system] else "partial"
            counts = Matches(worth, larger, undefined=0)
            yield Outcome(gold_items.pop(gold), system_items.pop(system), counts, label, document)
        for root, item in gold_items.items():
            counts = Matches(0, golds[root] * gold_is_larger, undefined=0)
            yield Outcome(item, None, counts, document=document)
        for root, item in system_items.items():
            counts = Matches(0, systems[root] * (not gold_is_larger), undefined=0)
            yield Outcome(None, item, counts, document=document)

    def why_undefined(self, table: Hierarchy) -> str:
        """A side is not a forest."""
        broken = {
            name: side for name, side in (("gold", table.gold), ("the system", table.system)) if not side.is_forest
        }
        if broken:
            only_implied = all(side.is_forest_by_implication for side in broken.values())
            hint = " (--set transitive=true ignores parents that other links imply)"
            return f"has an event with two parents, or in two nodes, in {' and '.join(broken)}{hint * only_implied}"
        if max(self.size(table.gold), self.size(table.system)) > LARGEST:
            return "has more chains of events than a number can hold"
        return ""


def _trees(graph: Graph) -> dict[int, TreeItem]:
    """The trees of a forest by root."""
    events: dict[int, list[int]] = {}
    for event, root in graph.tree_of.items():
        events.setdefault(root, []).append(event)
    return {root: TreeItem(graph.key(root), tuple(map(graph.key, below))) for root, below in events.items()}


class Nstmp(TreeMeasure, frozen=True):
    """Simple tree matching under a dummy root, which is counted only if the protocol says so."""

    name = "nstmp"

    @property
    def dummy_root(self) -> bool:
        """As the protocol says."""
        return self.parameters.root == "counted"

    def size(self, graph: Graph) -> int:
        """Events, or chains of events where implied links count."""
        return sum(self_matches(graph).values()) if self.parameters.transitive else graph.size

    def sizes(self, graph: Graph) -> dict[int, int]:
        return self_matches(graph) if self.parameters.transitive else super().sizes(graph)

    def matched(self, table: Hierarchy) -> Sequence[Matched]:
        """Trees with the same root, and the events that match from there down."""
        return simple_tree_matching(table, transitive=self.parameters.transitive)


class Ceafp(TreeMeasure, frozen=True):
    """Trees matched one-to-one by φ: the events that are in their place in both."""

    name = "ceafp"

    def matched(self, table: Hierarchy) -> Sequence[Matched]:
        """The trees that are matched one-to-one with the greatest sum of φ."""
        return list(_assigned(phi(table)))
