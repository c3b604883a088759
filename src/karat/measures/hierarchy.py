"""Event hierarchies (Araki, Hovy and Mitamura 2014), each kind of link for itself.

    MUCp     links that both sides have, their direction included, over the links of each side      section 4.2
    BLANCp   the mean of F over links and F over the other ordered pairs, N(N - 1) in all            section 4.2
    NSTMp    events matched from the roots down, over the larger forest                              section 4.3

Beyond the paper:

    siblings pairs of events with a common parent, over those of each side                           section 3.3
    CEAFp    trees matched one-to-one by how many events hang in their place                         section 4.1

A node is an event: all mentions that refer to it. Two links are the same if their parents share a mention and their
children share one (section 3.2). Nothing here recurses: a tree may be as deep as it likes.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from math import fsum
from typing import Literal

from msgspec import Struct
from msgspec.structs import astuple

from karat.align.assignment import assignment
from karat.align.matching import best_matching
from karat.counts import Counts, PrecisionRecall, Ratio, harmonic
from karat.errors import Finding, Rule, nearest, quoted
from karat.model import ORDERED
from karat.plugin import Card, Family, Measure, Outcome, Row, Setting
from karat.tables.contingency import pairs_within
from karat.tables.hierarchy import Graph, Hierarchy, HierarchyTable, Keep, Relation

Twinless = Literal["undefined", "own-pairs", "ignore", "drop-system"]
Edge = Literal["symmetric", "gold"]
Root = Literal["uncounted", "counted"]
Name = Literal["mucp", "blancp", "nstmp", "siblings", "ceafp"]

FEW = 200
"""Pairs that are matched exactly, whatever they are worth."""
LARGEST = 1 << 1000
"""More than this many chains of events cannot be held as a number that adds."""

NO_LINK = Rule("link-kind-unknown", "fatal", "Only kinds of links that gold has between scored mentions can be scored.")
UNDEFINED = Rule(
    "hierarchy-undefined",
    "note",
    "One such document leaves the whole corpus without this score. BLANCp: choose --set twinless=own-pairs, ignore or "
    "drop-system to have one.",
)

CARD = Card(
    title="Event hierarchies",
    rows={
        "hierarchy.KIND.mucp": "links of that kind (subevent, member, ...): precision, recall, f1",
        "hierarchy.KIND.siblings": "pairs of events with a common parent: precision, recall, f1",
        "hierarchy.KIND.blancp": "links and non-links over all ordered pairs of events: precision, recall, f1",
        "hierarchy.KIND.nstmp": "events that match from the roots down: score",
        "hierarchy.KIND.ceafp": "trees matched one-to-one: score",
    },
    formula="""\
MUCp      R = |gold links that the system has| / |gold links|, P over the system's links
BLANCp    over N(N - 1) ordered pairs: rc right links, wc wrong links, wn missing links, rn the rest
          R_c = rc / (rc + wn), P_c = rc / (rc + wc), R_n = rn / (rn + wc), P_n = rn / (rn + wn); F = (F_c + F_n) / 2
NSTMp     STM(F1, F2) / max(|F1|, |F2|);  STM(a, b) = 1 + max Σ STM(child of a, child of b), 0 if a, b share no mention
siblings  R = |gold pairs of siblings that are siblings in the system| / |gold pairs|, P over the system's pairs
CEAFp     max Σ φ(tree, tree) / max(|F1|, |F2|) over one-to-one matchings of trees;
          φ = events of both trees that share a mention, and whose parents do (or both are roots)""",
    citation="Araki, Hovy and Mitamura (2014), Evaluation for Partial Event Coreference; Luo et al. (2014) for pairs "
    "of each side's own; Ji et al. (2005), Rahman and Ng (2009) for leaving out mentions that one side lacks.",
    traps=(
        "B3 and CEAF do not apply as they are (section 4.1): they compare sets of mentions, and the set of all events "
        "of a tree does not tell parent from child. CEAFp compares trees instead of sets.",
        "MUCp has MUC's two disadvantages (section 6): it prefers systems that put more mentions into an event, since "
        "their links meet more links; and it says nothing of events without a link: two forests without any get 0.",
        "BLANCp of totally different links is not 0 but about one half: nearly all pairs are non-links on both sides.",
        "NSTMp stops at the first event that differs: what hangs below a wrong root earns nothing, and a right link "
        "below an event that is not yet attached changes nothing.",
        "How well mentions were found is part of none of these numbers alone: read coref.mention beside them.",
    ),
    departures=(
        "BLANCp is undefined where the two sides do not have the same events, as in the paper; `twinless` chooses "
        "otherwise.",
        "BLANCp leaves out a class (links, non-links) only if neither side has it. Recasens and Hovy (2011) look at "
        "gold alone (edge = gold), which breaks the paper's own property P2.",
        "The dummy root of NSTMp is counted on neither side, so that totally different forests get 0 (P3); root = "
        "counted is the paper's text to the letter.",
        "Algorithm 1 follows all pairs of children that share a mention and can count one twice; here they are matched "
        "one-to-one, with the greatest sum. Where implied links count, it counts chains of events, over the larger "
        "self-match.",
        "An event with two parents makes no tree: NSTMp and CEAFp are then undefined, the others are scored.",
    ),
    laws=("perfect", "bounded", "order", "ids", "additive", "outcomes", "swap"),
)


class Parameters(Struct, frozen=True, forbid_unknown_fields=True):
    """What a protocol says to the family."""

    alignment: str
    only: tuple[Name, ...] = ("mucp", "siblings", "blancp", "nstmp", "ceafp")
    links: tuple[str, ...] = ()
    """Kinds of links to score; none named: all that gold has but those that order events."""
    transitive: bool = False
    twinless: Twinless = "undefined"
    edge: Edge = "symmetric"
    root: Root = "uncounted"


class LinkClasses(Counts, frozen=True):
    """Links and non-links, each with what precision and recall are made of."""

    link_precision_num: float
    link_precision_den: float
    link_recall_num: float
    link_recall_den: float
    nonlink_precision_num: float
    nonlink_precision_den: float
    nonlink_recall_num: float
    nonlink_recall_den: float
    undefined: float
    """Documents whose two sides do not have the same events: with one of them the whole is undefined."""

    def classes(self) -> list[PrecisionRecall]:
        """Links and non-links, without a class that neither side has."""
        numbers = astuple(self)
        both = [PrecisionRecall(*numbers[:4]), PrecisionRecall(*numbers[4:8])]
        return [one for one in both if self.counts_in(one)]

    def counts_in(self, one: PrecisionRecall) -> bool:
        """Whether a class counts."""
        return bool(one.recall_den or one.precision_den)

    def ratios(self) -> dict[str, Ratio]:
        """The means over the classes; of a class that one side lacks everything is 0."""
        known = [] if self.undefined else self.classes()
        values = [[ratio.value for ratio in one.ratios().values()] for one in known]
        return {
            "precision": Ratio(fsum(precision or 0.0 for precision, _ in values), len(known)),
            "recall": Ratio(fsum(recall or 0.0 for _, recall in values), len(known)),
            "f1": Ratio(fsum(harmonic(*both) or 0.0 for both in values), len(known)),
        }


class GoldLinkClasses(LinkClasses, frozen=True):
    """The same, but a class that gold lacks is left out (Recasens and Hovy 2011)."""

    def counts_in(self, one: PrecisionRecall) -> bool:
        """Whether gold has it."""
        return bool(one.recall_den)


EDGES: dict[Edge, type[LinkClasses]] = {"symmetric": LinkClasses, "gold": GoldLinkClasses}
KEEP: dict[Twinless, Keep] = {
    "undefined": "all",
    "own-pairs": "all",
    "ignore": "common",
    "drop-system": "no-system-singletons",
}


class Matches(Counts, frozen=True):
    """What was matched, of the larger side."""

    num: float
    den: float
    undefined: float
    """Documents in which an event has two parents: with one of them the whole is undefined."""

    def ratios(self) -> dict[str, Ratio]:
        """The score."""
        return {"score": Ratio(0, 0) if self.undefined else Ratio(self.num, self.den)}


def mucp(table: Hierarchy, parameters: Parameters) -> PrecisionRecall:
    """Links that both sides have."""
    if parameters.transitive:
        recalled, precise = table.shared_implied_links
        return PrecisionRecall(precise, _pairs(table.system.far_below), recalled, _pairs(table.gold.far_below))
    recalled, precise = table.shared_links
    return PrecisionRecall(precise, len(table.system.links), recalled, len(table.gold.links))


def _below(table: Hierarchy, parameters: Parameters) -> tuple[Relation, Relation]:
    """What each side links to each event; implied links, too, if they count."""
    if parameters.transitive:
        return table.gold.far_below, table.system.far_below
    return table.gold.below, table.system.below


def _related(table: Hierarchy, gold: Relation, system: Relation) -> PrecisionRecall:
    recalled, precise = table.shared(gold, system)
    return PrecisionRecall(precise, _pairs(system), recalled, _pairs(gold))


def _pairs(relation: Relation) -> int:
    return sum([related.bit_count() for related in relation.values()])


def siblings(table: Hierarchy, parameters: Parameters) -> PrecisionRecall:
    """Pairs of events with a common parent."""
    del parameters
    gold, system = table.gold.parents, table.system.parents
    if table.is_plain and table.gold.is_forest and table.system.is_forest:
        # Siblings on both sides have one parent here and one there.
        parents = [(parent, system[event]) for event, parent in gold.items() if event in system]
        golds, systems, found = (_equal_pairs(each) for each in (gold.values(), system.values(), parents))
        return PrecisionRecall(found, systems, found, golds)
    both = _related(table, table.gold.beside, table.system.beside)
    return PrecisionRecall(*(number // 2 for number in astuple(both)))  # each pair is found from both of its ends


def _equal_pairs(items: Iterable[Hashable]) -> int:
    """Pairs of items that are equal."""
    return pairs_within(Counter(items).values())


def blancp(table: Hierarchy, parameters: Parameters) -> LinkClasses:
    """Links and non-links of the same events; or else, if the protocol says so, each side's own."""
    kind = EDGES[parameters.edge]
    if table.same_events:
        links = mucp(table, parameters)
        pairs = table.gold.size * (table.gold.size - 1)
        rest = pairs - links.precision_den - links.recall_den + links.recall_num
        nonlinks = PrecisionRecall(rest, pairs - links.precision_den, rest, pairs - links.recall_den)
    elif parameters.twinless == "undefined":
        nothing = [0] * 8 + [1]
        return kind(*nothing)
    else:
        gold, system = _below(table, parameters)
        links = mucp(table, parameters)
        nonlinks = _related(table, table.gold.apart(gold), table.system.apart(system))
    numbers = (*astuple(links), *astuple(nonlinks), 0)
    return kind(*numbers)


def nstmp(table: Hierarchy, parameters: Parameters) -> Matches:
    """Simple tree matching under a dummy root, which is counted only if the protocol says so."""
    if not (table.gold.is_forest and table.system.is_forest):
        return Matches(0, 0, undefined=1)
    most = max(_self_match(side) if parameters.transitive else side.size for side in (table.gold, table.system))
    if most > LARGEST:
        return Matches(0, 0, undefined=1)
    dummy = parameters.root == "counted"
    plain = table.is_plain and not parameters.transitive
    matched = _reached(table) if plain else _matched(table, transitive=parameters.transitive)
    return Matches(matched + dummy, most + dummy, undefined=0)


Pairs = list[tuple[int, int, int]]
"""A gold event, its twin, and what matching the two is worth; or two trees."""


def _reached(table: Hierarchy) -> int:
    """STM where no event has two twins, so that nothing is to be chosen: events with the same path to a root."""
    gold, system = table.gold.parents.get, table.system.parents.get
    reached: set[int | None] = {None}
    for event in table.gold.from_the_roots:
        if event in table.gold_twins and gold(event) == system(event) and gold(event) in reached:
            reached.add(event)
    return len(reached) - 1


def _matched(table: Hierarchy, *, transitive: bool) -> int:
    """STM of the two forests, from the leaves up: the value of two events waits where their parents look for it."""
    gold, system = table.gold.parents, table.system.parents
    waiting: dict[tuple[int | None, int | None], Pairs] = {}
    for event in reversed(table.gold.from_the_roots):
        for twin in table.gold_twins.get(event, ()):
            value = 1 + _best(waiting.pop((event, twin), []))
            if not transitive:
                waiting.setdefault((gold.get(event), system.get(twin)), []).append((event, twin, value))
                continue
            above = set(_ancestors(twin, system))
            for ancestor in _ancestors(event, gold):
                for other in above.intersection(table.gold_twins.get(ancestor, ())):
                    waiting.setdefault((ancestor, other), []).append((event, twin, value))
            if event not in gold and twin not in system:
                waiting.setdefault((None, None), []).append((event, twin, value))
    return _best(waiting.get((None, None), []))


def _best(pairs: Pairs) -> int:
    """The greatest sum over one-to-one matchings."""
    best: dict[int, tuple[int, int]] = {}
    for event, twin, value in pairs:
        if event not in best or best[event] < (value, twin):
            best[event] = value, twin
    if len({twin for _, twin in best.values()}) == len(best):  # each may have what is best for it
        return sum([value for value, _ in best.values()])
    weights = {(event, twin): value for event, twin, value in pairs}
    if len(pairs) < FEW:
        return sum(weights[pair] for pair in assignment(weights))
    return int(best_matching({(event, twin): value for event, twin, value in pairs}))


def _ancestors(event: int, parents: dict[int, int]) -> Iterator[int]:
    while event in parents:
        event = parents[event]
        yield event


def _self_match(graph: Graph) -> int:
    """STM of a forest with itself where implied links count: the number of chains of events that begin at a root."""
    below: dict[int, int] = {}
    for event in reversed(graph.from_the_roots):
        # Chains below an event: those of a child begin with it, or leave it out.
        below[event] = sum([1 + 2 * below[child] for child in graph.children.get(event, ())])
    return sum([1 + chains for event, chains in below.items() if event not in graph.parents])


def ceafp(table: Hierarchy, parameters: Parameters) -> Matches:
    """Trees matched one-to-one by φ: the events that hang in their place in both."""
    del parameters
    if not (table.gold.is_forest and table.system.is_forest):
        return Matches(0, 0, undefined=1)
    alike = _alike_plain(table) if table.is_plain else _alike(table)
    return Matches(_best(alike), max(table.gold.size, table.system.size), undefined=0)


def _alike(table: Hierarchy) -> Pairs:
    """φ of every two trees that have an event in its place."""
    gold, system = table.gold.parents, table.system.parents
    gold_tree, system_tree = table.gold.tree_of, table.system.tree_of
    in_place: dict[tuple[int, int], Pairs] = {}
    for event, twins in table.gold_twins.items():
        above = gold.get(event)
        for twin in twins:
            there = system.get(twin)
            if there is None if above is None else there in table.gold_twins.get(above, ()):
                in_place.setdefault((gold_tree[event], system_tree[twin]), []).append((event, twin, 1))
    return [(*trees, _best(pairs)) for trees, pairs in in_place.items()]


def _alike_plain(table: Hierarchy) -> Pairs:
    """The same where no event has two twins: in its place is what has the same parent, or none, on both sides."""
    gold, system = table.gold.parents.get, table.system.parents.get
    gold_tree, system_tree = table.gold.tree_of, table.system.tree_of
    in_place = Counter(
        [(gold_tree[event], system_tree[event]) for event in table.gold_twins if gold(event) == system(event)]
    )
    return [(*trees, count) for trees, count in in_place.items()]


COUNTERS: dict[Name, Callable[[Hierarchy, Parameters], Counts]] = {
    "mucp": mucp,
    "siblings": siblings,
    "blancp": blancp,
    "nstmp": nstmp,
    "ceafp": ceafp,
}


class HierarchyMeasure(Measure[tuple[Hierarchy, ...], Counts], frozen=True):
    """One measure for one kind of link."""

    name: Name
    link: str
    parameters: Parameters

    @property
    def id(self) -> str:
        """`hierarchy.`, the kind of link, and its name."""
        return f"hierarchy.{self.link}.{self.name}"

    def counts_type(self) -> type[Counts]:
        """Links, links and non-links, or matches."""
        if self.name == "blancp":
            return EDGES[self.parameters.edge]
        return Matches if self.name in ("nstmp", "ceafp") else PrecisionRecall

    def count(self, table: tuple[Hierarchy, ...]) -> Counts:
        """By its formula, document by document."""
        counts = [COUNTERS[self.name](one, self.parameters) for one in table]
        return counts[0] if len(counts) == 1 else self.counts_type().summed(map(astuple, counts))

    def outcomes(self, table: tuple[Hierarchy, ...]) -> Iterator[Outcome[Counts]]:
        """A table is one outcome: events meet through all their mentions, and parts do not add up."""
        yield Outcome(None, None, self.count(table))

    def remarks(self, table: tuple[Hierarchy, ...], counts: Counts) -> Iterator[Finding]:
        """The documents that leave the whole without a score."""
        for one in table if _is_undefined(counts) else ():
            if _is_undefined(COUNTERS[self.name](one, self.parameters)):
                found = f"{self.id} is undefined, since document {quoted(one.document)}"
                yield UNDEFINED.at(f"{found} {_why(one) if self.name == 'blancp' else _why_no_tree(one)}")


def _is_undefined(counts: Counts) -> bool:
    return isinstance(counts, (LinkClasses, Matches)) and counts.undefined > 0


def _why(table: Hierarchy) -> str:
    lacking = f"the system lacks {table.gold_only:,} of gold's mentions, gold {table.system_only:,} of the system's"
    if not table.gold_only and not table.system_only:
        lacking = "the same mentions make other events"
    return f"has not the same events on both sides: {lacking}"


def _why_no_tree(table: Hierarchy) -> str:
    broken = [name for name, side in (("gold", table.gold), ("the system", table.system)) if not side.is_forest]
    if not broken:
        return "has more chains of events than a number can hold"
    return f"has an event with two parents, or in two nodes, in {' and '.join(broken)}"


def measures(parameters: Parameters, setting: Setting) -> list[Row]:
    """A row for each measure and each kind of link."""
    for link in parameters.links:
        if link not in setting.links:
            raise NO_LINK.error(f"gold has no links of kind {link!r}. {nearest(link, setting.links)}")
    links = parameters.links or [link for link in setting.links if link not in ORDERED]
    aligned = setting.align(parameters.alignment, agree=(), rewarded=setting.scored())
    keep = {"blancp": KEEP[parameters.twinless]}
    return [
        HierarchyMeasure(HierarchyTable(aligned, link, keep.get(name, "all")), name, link, parameters)
        for link in dict.fromkeys(links)
        for name in parameters.only
    ]


FAMILY = Family(CARD, Parameters, measures)
