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

from typing import Any

from karat.families.hierarchy.measures import Blancp, HierarchyMeasure, Mucp, Parameters, Siblings, Twinless
from karat.families.hierarchy.table import HierarchyTable, Keep
from karat.families.hierarchy.trees import Ceafp, Nstmp
from karat.model import ORDERED
from karat.plugin import Card, Entry, Family, Setting, Unscored
from karat.problems import Rule, nearest, quoted

MOST_KINDS = 12
"""Kinds of links that are scored unasked: every measure of every kind counts every document."""

TOO_MANY = Rule(
    "link-kinds-too-many", "fatal", "Name the kinds of links to score, for example --set links=subevent,member"
)
NO_LINK = Rule("link-kind-unknown", "fatal", "Only kinds of links that gold has between scored mentions can be scored.")

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
BLANCp    over all N(N - 1) ordered pairs of events
          R_c = rc / (rc + wn), P_c = rc / (rc + wc), R_n = rn / (rn + wc), P_n = rn / (rn + wn); F = (F_c + F_n) / 2
NSTMp     STM(F1, F2) / max(|F1|, |F2|);  STM(a, b) = 1 + max Σ STM(child of a, child of b), 0 if a, b share no mention
siblings  R = |gold pairs of siblings that are siblings in the system| / |gold pairs|, P over the system's pairs
CEAFp     max Σ φ(tree, tree) / max(|F1|, |F2|) over one-to-one matchings of trees""",
    symbols={
        "R, P, F": "recall, precision, F1",
        "N": "the number of events",
        "rc, wc": "links of the system that gold has (right), and that it does not have (wrong)",
        "wn": "gold links that the system does not have (wrong non-links)",
        "rn": "pairs that neither side links (right non-links)",
        "R_c, P_c, F_c": "recall, precision and F1 of links",
        "R_n, P_n, F_n": "recall, precision and F1 of non-links",
        "F1, F2": "the forests: the event trees of gold and of the system; |F1| is the number of events in F1",
        "STM(a, b)": "the number of events that match from a and b down (simple tree matching)",
        "φ": "events of both trees that share a mention, and whose parents do (or both are roots)",
    },
    citation="Araki, Hovy and Mitamura (2014), Evaluation for Partial Event Coreference; Luo et al. (2014) for "
    "twinless = own-pairs; Ji et al. (2005) and Rahman and Ng (2009) for ignoring mentions that only one side has.",
    traps=(
        "B3 and CEAF cannot be used unchanged (section 4.1): they compare sets of mentions, and the set of all events "
        "of a tree does not distinguish parent and child. CEAFp compares trees instead of sets.",
        "MUCp has MUC's two disadvantages (section 6): it prefers systems that put more mentions into an event, since "
        "their links match more links (a note counts the gold events that the system merges or splits); and it ignores "
        "events without links: two forests without links score 0.",
        "BLANCp of totally different links is not 0 but about one half: nearly all pairs are non-links on both sides.",
        "NSTMp stops at the first event that differs: events below a wrong root earn nothing, and a right link below "
        "an event that is not attached to its parent changes nothing.",
        "None of these scores shows how well mentions were found: also read coref.mention.",
    ),
    departures=(
        "BLANCp is undefined if the two sides do not have the same events, as in the paper; `twinless` changes this.",
        "BLANCp ignores a class (links, non-links) only if neither side has it. Recasens and Hovy (2011) look only at "
        "gold (edge = gold), which violates the paper's property P2.",
        "NSTMp does not count the dummy root, so that totally different forests score 0 (P3). root = counted follows "
        "the text of the paper.",
        "Algorithm 1 follows all pairs of children that share a mention, and can count one twice. karat matches them "
        "one-to-one, with the greatest sum. If implied links count, it counts chains of events and divides by the "
        "larger match of a forest with itself.",
        "If an event has two parents, there is no tree: NSTMp and CEAFp are undefined, the other measures are scored. "
        "If implied links count, they do not count as second parents.",
    ),
    outcomes={
        "match": "the other side has the link; where several links share their mentions, each side lists its own. "
        "blancp also lists events, for the pairs that are not linked; nstmp and ceafp list trees",
        "partial": "a tree, or the pairs of an event, are right in part",
        "undefined": "the document leaves the corpus without this score",
    },
    laws=("perfect", "bounded", "order", "ids", "additive", "outcomes", "swap"),
)

KEEP: dict[Twinless, Keep] = {
    "undefined": "all",
    "own-pairs": "all",
    "ignore": "common",
    "drop-system": "no-system-singletons",
}
MEASURES: tuple[type[HierarchyMeasure[Any]], ...] = (Mucp, Siblings, Blancp, Nstmp, Ceafp)


def measures(parameters: Parameters, setting: Setting) -> list[Entry]:
    """A row for each measure and each kind of link."""
    for link in parameters.links:
        if link not in setting.links:
            raise NO_LINK.error(f"gold has no links of kind {link!r}. {nearest(link, setting.links)}")
    links = parameters.links or [link for link in setting.links if link not in ORDERED]
    if len(links) > MOST_KINDS and not parameters.links:
        raise TOO_MANY.error(f"gold has {len(links):,} kinds of links, such as {', '.join(map(quoted, links[:3]))}")
    if not links:
        return [Unscored("hierarchy", "gold has no links of a hierarchy")]
    aligned = setting.align(parameters.alignment)
    keep: dict[type, Keep] = {Blancp: KEEP[parameters.twinless]}
    return [
        measure(HierarchyTable(aligned, link, keep.get(measure, "all"), parameters.transitive), link, parameters)
        for link in dict.fromkeys(links)
        for measure in MEASURES
    ]


FAMILY = Family(CARD, Parameters, measures)
