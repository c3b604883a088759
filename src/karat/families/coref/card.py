"""The card of coreference, which `karat explain coref` prints."""

from karat.plugin import Card

CARD = Card(
    title="Coreference",
    rows={
        "coref.mention": "mentions that both sides have: precision, recall, f1",
        "coref.muc": "links of a spanning tree of each cluster",
        "coref.b3": "for each mention, the share of its cluster that is right",
        "coref.ceafm, coref.ceafe": "clusters matched one-to-one, by mentions or by clusters",
        "coref.blanc": "the mean of coref.blanc.links and coref.blanc.nonlinks",
        "coref.lea": "for each cluster, the share of its links that is right, weighted by its size",
        "coref.conll": "the mean F1 of MUC, B3 and CEAFe",
        "coref.avg4": "the mean F1 of MUC, B3, CEAFe and BLANC",
        "coref.mor": "words that aligned mentions share, whatever their clusters (CorefUD)",
        "coref.zero": "anaphoric zeros that are linked to the right cluster (CorefUD)",
    },
    formula="""\
MUC    R = Σ (o - 1) / Σ (n(g) - 1)
B3     R = Σ o² / n(g) / M
CEAFm  R = max Σ o / M                         over one-to-one matchings of clusters
CEAFe  R = max Σ 2o / (n(g) + n(s)) / (number of gold clusters)
BLANC  R_c = |C_g ∩ C_s| / |C_g|, R_n = |N_g ∩ N_s| / |N_g|; F = (F_c + F_n) / 2
LEA    R = Σ n(g) · cl(g) / ml(g) / M
MOR    R = max Σ |a ∩ b| / Σ |a|               over one-to-one alignments of gold and system mentions, in words
zero   P = right / (right + wrong + spurious), R = right / (right + wrong + missed), over anaphoric zeros:
       those that are not the first mention of their cluster
       missed    aligned with no mention, or with the first mention of a system cluster
       right     an earlier mention of the gold cluster is aligned with a mention of the same system cluster
       wrong     none is
       spurious  an anaphoric zero of the system that is aligned with no anaphoric zero of gold""",
    symbols={
        "g, s": "a gold cluster, a system cluster",
        "n(g), n(s)": "the number of mentions in the cluster",
        "o": "the number of mentions that g and s share; Σ is over pairs of clusters that share a mention",
        "M": "the number of gold mentions",
        "C_g, C_s": "links: pairs of mentions in one cluster, in gold and in the system",
        "N_g, N_s": "non-links: pairs of mentions in different clusters, in gold and in the system",
        "R_c, F_c": "recall and F1 of links",
        "R_n, F_n": "recall and F1 of non-links",
        "ml(g)": "the number of links in g: n(g)(n(g) - 1) / 2; a singleton has one link, to itself",
        "cl(g)": "how many of these links the system also has",
        "a, b": "an aligned pair of a gold and a system mention, as sets of words",
        "R, P, F": "recall, precision, F1; unless stated, precision is recall with gold and system swapped",
    },
    citation="Vilain et al. (1995); Bagga and Baldwin (1998); Luo (2005); Recasens and Hovy (2011), Luo et al. (2014); "
    "Moosavi and Strube (2016); Pradhan et al. (2014) for the reference scorer v8.01; Žabokrtský et al. (2022, 2023) "
    "and Novák et al. (2024) for MOR, zeros and the CorefUD scorer.",
    traps=(
        "MUC ignores singletons. In B3, CEAF and BLANC they count like other clusters, and corpora differ in whether "
        "they annotate singletons.",
        "CEAFe gives a spurious singleton the same weight as the largest cluster.",
        "The F1 of BLANC is the mean of two F1, not the harmonic mean of its precision and recall.",
        "If clusters within documents are collapsed (pure-cdec), the score depends on which mention represents its "
        "cluster: MUC moves by several points between the first and the last. representative = aligned avoids this: "
        "it pairs the clusters of a document by the mentions they share.",
        "Exact matching is strict: a system whose spans are one word longer matches no mention. Use match = head or "
        "dice for systems that detect their own mentions.",
        "coref.mor ignores clusters, heads and match. Empty nodes count as words.",
        "coref.zero needs empty nodes, which only CorefUD files (and JSONL made from them) have; without any, it is 0 "
        "under crac-*.",
        "The reference scorer truncates percentages to two digits and does not round them: it prints 88.888 as 88.88.",
    ),
    departures=(
        "BLANC if a side has no links, or no non-links: the reference scorer v8.01 looks at gold only, and ignores a "
        "class that gold does not have (blanc.edge = perl). `symmetric` ignores a class that neither side has; "
        "`luo-2014` counts it.",
        "A mention that occurs twice keeps its first cluster; v8.01 does so only for system mentions that gold has.",
        "TAC's scorer v1.8 prints coref.avg4, the mean of four measures, as `Overall Average CoNLL score`. coref.conll "
        "is the mean of three, as in CoNLL-2012.",
        "The CorefUD scorer v1.2 keeps aligned mentions of different identity in one look-up table for both sides. If "
        "zeros are aligned in a chain (gold's 2.2 with the system's 2.1, and 2.3 with 2.2), entries overwrite each "
        "other, and precision and recall count different mentions. karat uses the alignment itself.",
        "In its score of zeros, the CorefUD scorer prefers the mention with the same id to the aligned one. karat uses "
        "the alignment.",
        "The CorefUD scorer decides ties between equally good alignments as its solver happens to. karat compares sums "
        "exactly, prefers more pairs, and then gold mentions in order take the earliest system mention.",
        "The CorefUD scorer compares tokens only up to the end of the shorter side. karat refuses different lengths.",
        "Under crac-*, an empty node without DEPS is like no other (the CorefUD scorer fails), and 2.10 is not 2.1.",
        "Under crac-*, a mention in two clusters stays in the one whose bracket opens first; the CorefUD scorer counts "
        "it twice.",
    ),
    outcomes={
        "match": "a cluster, or what a gold and a system cluster share, earns all it can; muc and lea list each side's "
        "clusters, ceafm and ceafe matched clusters, the others the clusters of both sides that share mentions",
        "partial": "it earns less than that",
        "miss": "a gold cluster that earns nothing, or its mentions or links that no system cluster has",
        "spurious": "the same for a system cluster",
    },
    laws=("perfect", "bounded", "order", "ids", "additive", "outcomes"),
)
