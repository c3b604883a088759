"""Event hierarchies (Araki, Hovy and Mitamura 2014), each kind of link for itself.

    MUCp     links that both sides have, their direction included, over the links of each side      section 4.2
    BLANCp   the mean of F over links and F over the other ordered pairs, N(N - 1) in all            section 4.2
    NSTMp    events matched from the roots down, over the larger forest                              section 4.3

Beyond the paper:

    siblings pairs of events with a common parent, over those of each side                           section 3.3
    CEAFp    trees matched one-to-one by how many events hang in their place                         section 4.1

A node is an event: all mentions that refer to it. Two links are the same if their parents share a mention and their
children share one (section 3.2).
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from math import fsum
from typing import Any, ClassVar, Literal, TypeVar

from msgspec import Struct
from msgspec.structs import astuple

from karat.counts import Counts, PrecisionRecall, Ratio, harmonic
from karat.errors import Finding, Rule, nearest, quoted
from karat.measures._trees import Matched, self_matches, simple_tree_matching, trees_in_place
from karat.model import ORDERED
from karat.plugin import Card, ClusterItem, ElementItem, Family, LinkItem, Measure, Outcome, Row, Setting, TreeItem
from karat.tables.events import EventLink
from karat.tables.hierarchy import Compared, Graph, Hierarchy, HierarchyTable, Keep

C = TypeVar("C", bound=Counts)

Twinless = Literal["undefined", "own-pairs", "ignore", "drop-system"]
ClassRule = Literal["symmetric", "gold"]
Root = Literal["uncounted", "counted"]
Name = Literal["mucp", "blancp", "nstmp", "siblings", "ceafp"]

NONE = PrecisionRecall(0, 0, 0, 0)
DUMMY_ROOT = "(root)"
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
    outcomes={
        "match": "the other side has the link; where several links share their mentions, each side lists its own. "
        "blancp also lists events, for the pairs that are not linked; nstmp and ceafp list trees",
        "partial": "a tree, or the pairs of an event, are right in part",
        "undefined": "the document leaves the corpus without this score",
    },
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
    edge: ClassRule = "symmetric"
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


EDGES: dict[ClassRule, type[LinkClasses]] = {"symmetric": LinkClasses, "gold": GoldLinkClasses}
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


class HierarchyMeasure(Measure[tuple[Hierarchy, ...], C], frozen=True):
    """One measure for one kind of link."""

    name: ClassVar[Name]

    link: str
    parameters: Parameters

    @property
    def id(self) -> str:
        """`hierarchy.`, the kind of link, and its name."""
        return f"hierarchy.{self.link}.{self.name}"

    def count(self, table: tuple[Hierarchy, ...]) -> C:
        """By its formula, document by document."""
        counts = [self.count_document(document) for document in table]
        return counts[0] if len(counts) == 1 else self.counts_type().summed(map(astuple, counts))

    def outcomes(self, table: tuple[Hierarchy, ...]) -> Iterator[Outcome[C]]:
        """Links or trees, document by document."""
        for document in table:
            yield from self.document_outcomes(document)

    def count_document(self, table: Hierarchy) -> C:
        """Its formula."""
        raise NotImplementedError

    def document_outcomes(self, table: Hierarchy) -> Iterator[Outcome[C]]:
        """What the counts of a document consist of."""
        raise NotImplementedError


class LinkMeasure(HierarchyMeasure[PrecisionRecall], frozen=True):
    """Links, or other pairs of events, that both sides have."""

    def counts_type(self) -> type[PrecisionRecall]:
        """Precision and recall."""
        return PrecisionRecall


class Mucp(LinkMeasure, frozen=True):
    """Links that both sides have, their direction included."""

    name = "mucp"

    def count_document(self, table: Hierarchy) -> PrecisionRecall:
        """Links found on the other side, over all links."""
        return _link_counts(table, self.parameters)

    def document_outcomes(self, table: Hierarchy) -> Iterator[Outcome[PrecisionRecall]]:
        """Each link: matched, missed or spurious."""
        for gold, system, counts in _links(table, self.parameters).pairs():
            yield _link_outcome(table, self.link, gold, system, counts, counts)


class Siblings(LinkMeasure, frozen=True):
    """Pairs of events with a common parent."""

    name = "siblings"

    def count_document(self, table: Hierarchy) -> PrecisionRecall:
        """Pairs found on the other side, over all pairs."""
        return table.sibling_counts

    def document_outcomes(self, table: Hierarchy) -> Iterator[Outcome[PrecisionRecall]]:
        """Each pair once: matched, missed or spurious."""
        for gold, system, counts in table.siblings.pairs():
            first, second = gold or system or (0, 0)
            if first < second:
                yield _link_outcome(table, "siblings", gold, system, counts, counts)


def _link_counts(table: Hierarchy, parameters: Parameters) -> PrecisionRecall:
    return table.implied_links.counts if parameters.transitive else table.link_counts


def _links(table: Hierarchy, parameters: Parameters) -> Compared:
    return table.implied_links if parameters.transitive else table.links


def _link_outcome(
    table: Hierarchy,
    kind: str,
    gold: EventLink | None,
    system: EventLink | None,
    earned: PrecisionRecall,
    counts: C,
) -> Outcome[C]:
    """A link of either side, or both. One that is the same as several on the other side is found without a partner."""
    return Outcome(
        None if gold is None else LinkItem(kind, *map(table.gold.key, gold)),
        None if system is None else LinkItem(kind, *map(table.system.key, system)),
        counts,
        "match" if earned.recall_num or earned.precision_num else "",
        table.document,
    )


class Blancp(HierarchyMeasure[LinkClasses], frozen=True):
    """Links and non-links of the same events; or else, if the protocol says so, each side's own."""

    name = "blancp"

    def counts_type(self) -> type[LinkClasses]:
        """Links and non-links."""
        return EDGES[self.parameters.edge]

    def count_document(self, table: Hierarchy) -> LinkClasses:
        """Links, and the other ordered pairs of events."""
        if self._is_undefined(table):
            return self._counts(undefined=1)
        links = _link_counts(table, self.parameters)
        if table.same_events:
            pairs = table.gold.size * (table.gold.size - 1)
            rest = pairs - links.precision_den - links.recall_den + links.recall_num
            nonlinks = PrecisionRecall(rest, pairs - links.precision_den, rest, pairs - links.recall_den)
        else:
            nonlinks = self._nonlinks(table).counts
        return self._counts(links, nonlinks)

    def document_outcomes(self, table: Hierarchy) -> Iterator[Outcome[LinkClasses]]:
        """Each link: matched, missed or spurious; the non-links from each event together."""
        if self._is_undefined(table):
            yield _undefined_outcome(table, self._counts(undefined=1))
            return
        for gold, system, counts in _links(table, self.parameters).pairs():
            yield _link_outcome(table, self.link, gold, system, counts, self._counts(links=counts))
        for one, other, counts in self._nonlinks(table).events():
            yield _event_outcome(table, one, other, counts, self._counts(nonlinks=counts))

    def _is_undefined(self, table: Hierarchy) -> bool:
        return self.parameters.twinless == "undefined" and not table.same_events

    def _nonlinks(self, table: Hierarchy) -> Compared:
        links = _links(table, self.parameters)
        return Compared(table, table.gold.apart(links.gold), table.system.apart(links.system))

    def _counts(
        self, links: PrecisionRecall = NONE, nonlinks: PrecisionRecall = NONE, *, undefined: int = 0
    ) -> LinkClasses:
        numbers = (*astuple(links), *astuple(nonlinks), undefined)
        return self.counts_type()(*numbers)

    def remarks(self, table: tuple[Hierarchy, ...], counts: LinkClasses) -> Iterator[Finding]:
        """The documents that leave the whole without a score."""
        for document in table if counts.undefined else ():
            if self._is_undefined(document):
                yield _undefined(self.id, document, _why_not_same(document))


def _event_outcome(
    table: Hierarchy, gold: int | None, system: int | None, earned: PrecisionRecall, counts: C
) -> Outcome[C]:
    """The pairs that begin with an event."""
    right, every = earned.precision_num + earned.recall_num, earned.precision_den + earned.recall_den
    return Outcome(
        None if gold is None else ClusterItem(table.gold.key(gold), table.gold.mentions(gold)),
        None if system is None else ClusterItem(table.system.key(system), table.system.mentions(system)),
        counts,
        "match" if right == every else "partial" if right else "miss" if system is None else "spurious",
        table.document,
    )


def _undefined_outcome(table: Hierarchy, counts: C) -> Outcome[C]:
    """The whole document, where a score is undefined."""
    document = ElementItem("document", {"id": table.document})
    return Outcome(document, document, counts, "undefined", table.document)


def _why_not_same(table: Hierarchy) -> str:
    lacking = f"the system lacks {table.gold_only:,} of gold's mentions, gold {table.system_only:,} of the system's"
    if not table.gold_only and not table.system_only:
        lacking = "the same mentions make other events"
    return f"has not the same events on both sides: {lacking}"


class TreeMeasure(HierarchyMeasure[Matches], frozen=True):
    """Trees of the two sides, matched one-to-one, over the larger forest."""

    def counts_type(self) -> type[Matches]:
        """What is matched, of the larger forest."""
        return Matches

    def size(self, graph: Graph) -> int:
        """|F|, as far as this measure counts it."""
        return graph.size

    def sizes(self, graph: Graph) -> dict[int, int]:
        """The same, tree by tree."""
        return Counter(graph.tree_of.values())

    def matched(self, table: Hierarchy) -> Sequence[Matched]:
        """The trees that are matched, by their roots, and what each match is worth."""
        raise NotImplementedError

    @property
    def dummy_root(self) -> bool:
        """Whether one more event above all trees counts."""
        return False

    def count_document(self, table: Hierarchy) -> Matches:
        """What is matched, over the larger forest."""
        if self._is_undefined(table):
            return Matches(0, 0, undefined=1)
        matched = sum([worth for _, _, worth in self.matched(table)])
        larger = max(self.size(table.gold), self.size(table.system))
        return Matches(matched + self.dummy_root, larger + self.dummy_root, undefined=0)

    def document_outcomes(self, table: Hierarchy) -> Iterator[Outcome[Matches]]:
        """Matched trees, then those of each side that are left; trees of the smaller forest add nothing to it."""
        if self._is_undefined(table):
            yield _undefined_outcome(table, Matches(0, 0, undefined=1))
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

    def _is_undefined(self, table: Hierarchy) -> bool:
        if not (table.gold.is_forest and table.system.is_forest):
            return True
        return max(self.size(table.gold), self.size(table.system)) > LARGEST

    def remarks(self, table: tuple[Hierarchy, ...], counts: Matches) -> Iterator[Finding]:
        """The documents that leave the whole without a score."""
        for document in table if counts.undefined else ():
            if self._is_undefined(document):
                yield _undefined(self.id, document, _why_no_tree(document))


def _trees(graph: Graph) -> dict[int, TreeItem]:
    """The trees of a forest by root."""
    events: dict[int, list[int]] = {}
    for event in graph.from_the_roots:
        events.setdefault(graph.tree_of[event], []).append(event)
    return {root: TreeItem(graph.key(root), tuple(map(graph.key, own))) for root, own in events.items()}


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
        """The same, tree by tree."""
        return self_matches(graph) if self.parameters.transitive else super().sizes(graph)

    def matched(self, table: Hierarchy) -> Sequence[Matched]:
        """Trees with the same root, and the events that match from there down."""
        return simple_tree_matching(table, transitive=self.parameters.transitive)


class Ceafp(TreeMeasure, frozen=True):
    """Trees matched one-to-one by φ: the events that are in their place in both."""

    name = "ceafp"

    def matched(self, table: Hierarchy) -> Sequence[Matched]:
        """Any two trees with an event in its place."""
        return trees_in_place(table)


def _undefined(measure: str, table: Hierarchy, why: str) -> Finding:
    return UNDEFINED.at(f"{measure} is undefined, since document {quoted(table.document)} {why}")


def _why_no_tree(table: Hierarchy) -> str:
    broken = [name for name, side in (("gold", table.gold), ("the system", table.system)) if not side.is_forest]
    if not broken:
        return "has more chains of events than a number can hold"
    return f"has an event with two parents, or in two nodes, in {' and '.join(broken)}"


MEASURES: dict[Name, type[HierarchyMeasure[Any]]] = {
    measure.name: measure for measure in (Mucp, Siblings, Blancp, Nstmp, Ceafp)
}


def measures(parameters: Parameters, setting: Setting) -> list[Row]:
    """A row for each measure and each kind of link."""
    for link in parameters.links:
        if link not in setting.links:
            raise NO_LINK.error(f"gold has no links of kind {link!r}. {nearest(link, setting.links)}")
    links = parameters.links or [link for link in setting.links if link not in ORDERED]
    aligned = setting.align(parameters.alignment)
    keep = {"blancp": KEEP[parameters.twinless]}
    return [
        MEASURES[name](HierarchyTable(aligned, link, keep.get(name, "all")), link, parameters)
        for link in dict.fromkeys(links)
        for name in parameters.only
    ]


FAMILY = Family(CARD, Parameters, measures)
