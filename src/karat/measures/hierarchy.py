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

from karat.errors import Rule, nearest
from karat.measures._hierarchy_base import HierarchyMeasure, Name, Parameters, Twinless
from karat.measures._hierarchy_links import Blancp, Mucp, Siblings
from karat.measures._hierarchy_trees import Ceafp, Nstmp
from karat.model import ORDERED
from karat.plugin import Card, Family, Row, Setting
from karat.tables.hierarchy import HierarchyTable, Keep

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

KEEP: dict[Twinless, Keep] = {
    "undefined": "all",
    "own-pairs": "all",
    "ignore": "common",
    "drop-system": "no-system-singletons",
}
MEASURES: dict[Name, type[HierarchyMeasure[Any]]] = {
    measure.name: measure for measure in (Mucp, Siblings, Blancp, Nstmp, Ceafp)
}


def measures(parameters: Parameters, setting: Setting) -> list[Row]:
    """A row for each measure and each kind of link."""
    for link in parameters.links:
        if link not in setting.links:
            raise NO_LINK.error(f"gold has no links of kind {link!r}. {nearest(link, setting.links)}")
    links = parameters.links or [link for link in setting.links if link not in ORDERED]
    aligned = setting.align(parameters.alignment, agree=(), rewarded=setting.scored())
    keep = {"blancp": KEEP[parameters.twinless]}
    return [
        MEASURES[name](HierarchyTable(aligned, link, keep.get(name, "all")), link, parameters)
        for link in dict.fromkeys(links)
        for name in parameters.only
    ]


FAMILY = Family(CARD, Parameters, measures)
