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

from collections.abc import Callable, Iterator, Sequence
from math import fsum
from typing import Literal

from msgspec import Struct
from msgspec.structs import astuple

from karat.align.matching import best_matching
from karat.counts import Counts, PrecisionRecall, Ratio, harmonic
from karat.errors import Finding, Rule, nearest, quoted
from karat.measures import Card, Outcome, Setting
from karat.model import ORDERED
from karat.tables.hierarchy import Graph, Hierarchy, HierarchyTable, Keep, Relation

Twinless = Literal["undefined", "own-pairs", "ignore", "drop-system"]
Edge = Literal["symmetric", "gold"]
Root = Literal["uncounted", "counted"]
Name = Literal["mucp", "blancp", "nstmp", "siblings", "ceafp"]

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
    gold, system = (side.below(transitive=parameters.transitive) for side in (table.gold, table.system))
    return _related(table, gold, system)


def _related(table: Hierarchy, gold: Relation, system: Relation) -> PrecisionRecall:
    recalled, precise = table.shared(gold, system)
    return PrecisionRecall(precise, _pairs(system), recalled, _pairs(gold))


def _pairs(relation: Relation) -> int:
    return sum([related.bit_count() for related in relation.values()])


def siblings(table: Hierarchy, parameters: Parameters) -> PrecisionRecall:
    """Pairs of events with a common parent; each pair is found from both of its ends."""
    del parameters
    both = _related(table, _siblings(table.gold), _siblings(table.system))
    return PrecisionRecall(*(number // 2 for number in astuple(both)))


def _siblings(graph: Graph) -> Relation:
    beside: Relation = {}
    below = graph.below(transitive=False)
    for parent, child in graph.links:
        beside[child] = (beside.get(child, 0) | below[parent]) & ~(1 << child)
    return beside


def blancp(table: Hierarchy, parameters: Parameters) -> LinkClasses:
    """Links and non-links: each side's own, which are the same pairs where both have the same events."""
    kind = EDGES[parameters.edge]
    if parameters.twinless == "undefined" and not table.same_events:
        return kind.summed([[0] * 8 + [1]])
    below = [side.below(transitive=parameters.transitive) for side in (table.gold, table.system)]
    links = _related(table, *below)
    others = [_others(side, linked) for side, linked in zip((table.gold, table.system), below, strict=True)]
    return kind.summed([[*astuple(links), *astuple(_related(table, *others)), 0]])


def _others(graph: Graph, below: Relation) -> Relation:
    """The events that an event is not linked to."""
    return {event: graph.events & ~(below.get(event, 0) | 1 << event) for event in graph.numbers}


def nstmp(table: Hierarchy, parameters: Parameters) -> Matches:
    """Simple tree matching under a dummy root, which is counted only if the protocol says so."""
    if not (table.gold.is_forest and table.system.is_forest):
        return Matches(0, 0, undefined=1)
    most = max(_self_match(side) if parameters.transitive else side.size for side in (table.gold, table.system))
    if most > LARGEST:
        return Matches(0, 0, undefined=1)
    dummy = parameters.root == "counted"
    return Matches(_matched(table, transitive=parameters.transitive) + dummy, most + dummy, undefined=0)


def _matched(table: Hierarchy, *, transitive: bool) -> float:
    """STM of the two forests, from the leaves up: the value of two events waits where their parents look for it."""
    gold, system = table.gold.parents(), table.system.parents()
    waiting: dict[tuple[int | None, int | None], list[tuple[int, int, float]]] = {}
    for event in reversed(_from_the_roots(table.gold)):
        for twin in table.gold_twins.get(event, ()):
            value = 1 + _best(waiting.pop((event, twin), ()))
            if not transitive:
                places = [(gold.get(event), system.get(twin))]
            else:
                above = set(_ancestors(twin, system))
                places = [(a, b) for a in _ancestors(event, gold) for b in table.gold_twins.get(a, ()) if b in above]
                places += [(None, None)] * (event not in gold and twin not in system)
            for place in places:
                waiting.setdefault(place, []).append((event, twin, value))
    return _best(waiting.get((None, None), ()))


def _best(pairs: Sequence[tuple[int, int, float]]) -> float:
    """The greatest sum over one-to-one matchings; mostly there is nothing to choose."""
    if len({event for event, _, _ in pairs}) == len({twin for _, twin, _ in pairs}) == len(pairs):
        return sum([value for _, _, value in pairs])
    return best_matching({(event, twin): value for event, twin, value in pairs})


def _from_the_roots(graph: Graph) -> list[int]:
    """All events of a forest, each after its parent."""
    children = graph.children()
    parents = graph.parents()
    found = [event for event in graph.numbers if event not in parents]
    for event in found:  # it grows while we walk along
        found.extend(children.get(event, ()))
    return found


def _ancestors(event: int, parents: dict[int, int]) -> Iterator[int]:
    while event in parents:
        event = parents[event]
        yield event


def _self_match(graph: Graph) -> int:
    """STM of a forest with itself where implied links count: the number of chains of events that begin at a root."""
    children = graph.children()
    below: dict[int, int] = {}
    for event in reversed(_from_the_roots(graph)):
        # Chains below an event: those of a child begin with it, or leave it out.
        below[event] = sum([1 + 2 * below[child] for child in children.get(event, ())])
    parents = graph.parents()
    return sum([1 + chains for event, chains in below.items() if event not in parents])


def ceafp(table: Hierarchy, parameters: Parameters) -> Matches:
    """Trees matched one-to-one by φ: the events that hang in their place in both."""
    del parameters
    if not (table.gold.is_forest and table.system.is_forest):
        return Matches(0, 0, undefined=1)
    gold, system = table.gold.parents(), table.system.parents()
    tree_of = [_trees(side) for side in (table.gold, table.system)]
    in_place: dict[tuple[int, int], list[tuple[int, int, float]]] = {}
    for event, twins in table.gold_twins.items():
        for twin in twins:
            above, there = gold.get(event), system.get(twin)
            if above is there is None or (above is not None and there in table.gold_twins.get(above, ())):
                in_place.setdefault((tree_of[0][event], tree_of[1][twin]), []).append((event, twin, 1))
    alike = [(*trees, _best(pairs)) for trees, pairs in in_place.items()]
    return Matches(_best(alike), max(table.gold.size, table.system.size), undefined=0)


def _trees(graph: Graph) -> dict[int, int]:
    """The root of each event."""
    parents = graph.parents()
    root: dict[int, int] = {}
    for event in _from_the_roots(graph):
        root[event] = root[parents[event]] if event in parents else event
    return root


COUNTERS: dict[Name, Callable[[Hierarchy, Parameters], Counts]] = {
    "mucp": mucp,
    "siblings": siblings,
    "blancp": blancp,
    "nstmp": nstmp,
    "ceafp": ceafp,
}


class HierarchyMeasure(Struct, frozen=True):
    """One measure for one kind of link."""

    name: Name
    artefact: HierarchyTable
    parameters: Parameters

    @property
    def id(self) -> str:
        """`hierarchy.`, the kind of link, and its name."""
        return f"hierarchy.{self.artefact.link}.{self.name}"

    @property
    def kind(self) -> type[Counts]:
        """Links, links and non-links, or matches."""
        if self.name == "blancp":
            return EDGES[self.parameters.edge]
        return Matches if self.name in ("nstmp", "ceafp") else PrecisionRecall

    def count(self, table: Sequence[Hierarchy]) -> Counts:
        """By its formula, document by document."""
        counts = [COUNTERS[self.name](one, self.parameters) for one in table]
        return counts[0] if len(counts) == 1 else self.kind.summed(map(astuple, counts))

    def outcomes(self, table: Sequence[Hierarchy]) -> Iterator[Outcome]:
        """A table is one outcome: events meet through all their mentions, and parts do not add up."""
        yield Outcome(None, None, self.count(table))

    def remarks(self, table: Sequence[Hierarchy], counts: Counts) -> Iterator[Finding]:
        """The documents that leave the whole without a score."""
        for one in table if _is_undefined(counts) else ():
            if _is_undefined(COUNTERS[self.name](one, self.parameters)):
                found = f"{self.id} is undefined, since document {quoted(one.document)}"
                yield UNDEFINED.at(f"{found} {_why(one) if self.name == 'blancp' else _why_no_tree(one)}")


def _is_undefined(counts: Counts) -> bool:
    return isinstance(counts, LinkClasses | Matches) and counts.undefined > 0


def _why(table: Hierarchy) -> str:
    alone = (
        f"gold has {table.gold_only:,} mentions that the system lacks, the system {table.system_only:,} that gold lacks"
    )
    if not table.gold_only and not table.system_only:
        alone = "the same mentions make other events"
    return f"has not the same events on both sides: {alone}"


def _why_no_tree(table: Hierarchy) -> str:
    broken = [name for name, side in (("gold", table.gold), ("the system", table.system)) if not side.is_forest]
    if not broken:
        return "has more chains of events than a number can hold"
    return f"has an event with two parents, or in two nodes, in {' and '.join(broken)}"


def measures(parameters: Parameters, setting: Setting) -> list[HierarchyMeasure]:
    """A row for each measure and each kind of link."""
    for link in parameters.links:
        if link not in setting.links:
            raise NO_LINK.error(f"gold has no links of kind {link!r}. {nearest(link, setting.links)}")
    links = parameters.links or [link for link in setting.links if link not in ORDERED]
    choice = setting.alignments[parameters.alignment]
    attributes = tuple(name for name in ("type", "realis") if name in setting.attributes)
    aligned = choice.aligned(attributes, setting.comparison, agree=())
    keep = {"blancp": KEEP[parameters.twinless]}
    return [
        HierarchyMeasure(name, HierarchyTable(aligned, link, keep.get(name, "all")), parameters)
        for link in dict.fromkeys(links)
        for name in parameters.only
    ]
