"""The card of relations, which `karat explain relation` prints."""

from karat.plugin import Card

CARD = Card(
    title="Relations between events",
    rows={
        "relation.temporal": "temporal relations between events and times",
        "relation.causal": "causal relations",
        "relation.causal.intra, relation.causal.inter": "those within one sentence, and those in two",
        "relation.pair": "causal pairs, whatever their label (EventStoryLine)",
        "relation.subevent": "subevents, in either direction",
        "relation.subevent.pc, relation.subevent.cp": "parent before child, and child before parent (HiEve)",
        "relation.subevent.mean": "the mean F1 of these two",
        "relation.coref": "pairs labelled as coreferent (HiEve)",
        "relation.accuracy": "labels of all pairs of events, unrelated ones included (HiEve)",
        "relation.overall": "the mean of coref.avg4 and the F1 of temporal, causal and subevent (MAVEN-ERE)",
    },
    formula="""\
P = |pairs with the same label on both sides| / |pairs that the system labels|
R = |pairs with the same label on both sides| / |pairs that gold labels|
accuracy = |pairs that gold labels and the system labels alike| / |pairs that gold labels|""",
    symbols={
        "pairs": "pairs of mentions; which of them count, and whether their direction does, is for the protocol",
        "P, R": "precision, recall",
    },
    citation="Wang et al. (2022) for MAVEN-ERE; Ning et al. (2018) for MATRES; Cassidy et al. (2014) for "
    "TimeBank-Dense; Glavaš et al. (2014) for HiEve; Caselli and Vossen (2017) for EventStoryLine; Gao et al. (2019) "
    "for causal pairs; Sousa et al. (2023) for tieval.",
    traps=(
        "`Temporal F1` has at least nine definitions: print the protocol beside the number.",
        "A link between two clusters counts once per pair of their mentions: events that are mentioned often dominate.",
        "VAGUE is not a relation in matres-2018, a label in tb-dense-2014, and unknown elsewhere (`--set vague=...`).",
        "maven-ere-2022 knows no symmetric relation: SIMULTANEOUS in the other direction is a miss and a false alarm.",
        "hieve-2020 counts all pairs of events. Papers that keep each unrelated pair of the test set with probability "
        "0.4 report a higher precision.",
        "A pair with another label is missed and spurious: in --by kind it is in two rows.",
    ),
    departures=(
        "MAVEN-ERE: the program keeps the last of two labels of a pair in the file; karat the later one in the order "
        "BEFORE, OVERLAP, CONTAINS, SIMULTANEOUS, ENDS-ON, BEGINS-ON and CAUSE, PRECONDITION, which is the same "
        "for files in the order of its README.",
        "tieval prints temporal precision as recall and the reverse: karat corrects this unless swapped=true.",
        "EventStoryLine: the program counts as missed labels only the pairs without any system link, so its recall of "
        "labels is too high: missed=pairs. It puts gold alone into text order; karat turns both sides.",
        "iLIF counts a right pair in the wrong direction as unanswered, so its precision is too high: "
        "direction=as-ilif.",
        "HiEve: papers speak of the micro average of PC and CP, and the program prints the mean of their F1 "
        "(relation.subevent.mean).",
        "`metric` of Wang et al. (2020) fails on MATRES if a label is missing; karat follows its formulas.",
    ),
    outcomes={
        "none": "gold has the pair without a relation (VAGUE): it counts in the accuracy alone",
        "wrong label": "the pair has another label in gold (relation.accuracy)",
    },
    laws=("bounded", "order", "ids", "additive", "outcomes"),
)
