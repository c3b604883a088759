"""The measures of coreference: formulas of one contingency table, and averages of their scores."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import fsum
from typing import Literal

from msgspec import Struct

from karat.counts import fill_undefined, scores_of_counts
from karat.families.coref.formulas import FORMULAS
from karat.families.coref.table import CorefTable, Singletons
from karat.plugin import (
    Card,
    Composite,
    Contingency,
    Entry,
    Family,
    Finding,
    Measure,
    Outcome,
    PrecisionRecall,
    Rule,
    Scores,
    ScoreValues,
    Setting,
    Tally,
)

BlancEdge = Literal["perl", "symmetric", "luo-2014", "zero"]
"""The treatment of links, or non-links, in BLANC if there are none."""

NO_LINKS = Rule(
    "muc-no-links",
    "note",
    "Use measures that count singletons, such as coref.b3; if gold has coreference, check it with `karat describe`.",
)


TIES = Rule(
    "coref-ties",
    "note",
    "The reference program may match them differently and print other scores; see CorefUD: ties between alignments.",
)


CARD = Card(
    title="Coreference",
    rows={
        "coref.mention": "mentions that both sides have: precision, recall, f1",
        "coref.muc": "links of a spanning tree of each cluster",
        "coref.b3": "B-cubed: for each mention, the share of its cluster that is right",
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
        "`luo-2014` counts it. The program of MAVEN-ERE has no such cases: an absent class scores 0 (`zero`), so a "
        "perfect system scores 0.5 where nothing corefers. It also adds 0.000001 to the denominators of precision and "
        "recall; karat does not.",
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


class Parameters(Struct, frozen=True, forbid_unknown_fields=True):
    """The parameters that a protocol may set."""

    alignment: str
    """The alignment that it reads: one of the protocol's `[alignments]`."""
    singletons: Singletons = "keep"
    """Keep singletons, drop gold's from both sides, or drop each side's own."""
    edge: BlancEdge = "perl"
    """BLANC without links or non-links: ignore that class if gold lacks it, if both sides do, or count it."""
    only_kinds: tuple[str, ...] = ()
    """The kinds of mentions that are in clusters; empty: all that the filters leave."""
    overlap: str = ""
    """The alignment that `mor` counts, by similarity `common`; empty: `mor` is not scored."""
    zeros: bool = False
    """Scores `zero`."""
    without: tuple[str, ...] = ()
    """Measures that are not scored."""
    only: tuple[str, ...] = ()
    """The measures to score, such as `mention`; empty: all."""


class Coref(Measure[Contingency, PrecisionRecall], frozen=True):
    """One coreference measure."""

    name: str
    hidden: bool = False
    """True if only averages use it."""

    @property
    def id(self) -> str:
        """`coref.` and its name."""
        return f"coref.{self.name}"

    def count(self, table: Contingency) -> PrecisionRecall:
        """The counts by its formula."""
        return FORMULAS[self.name].count(table)

    def outcomes(self, table: Contingency) -> Iterator[Outcome[PrecisionRecall]]:
        """The contribution of each cluster, or of each pair of clusters that share mentions."""
        return FORMULAS[self.name].outcomes(table)

    def notes(self, table: Contingency, counts: PrecisionRecall) -> Iterator[Tally]:
        """Documents in which ties decide."""
        del counts
        if table.tied:
            yield Tally(TIES, "documents in which mentions that share a head could be matched differently", table.tied)

    def notes_on_total(self, total: PrecisionRecall) -> Iterator[Finding]:
        """MUC without any link in gold."""
        if self.name == "muc" and not total.recall_den:
            yield NO_LINKS.at(
                "every gold cluster is a single mention, and MUC counts links between mentions: coref.muc is 0 by "
                "definition, and no system can get more than 66.67 in coref.conll"
            )


def table(
    setting: Setting, *, alignment: str, singletons: Singletons = "keep", kinds: tuple[str, ...] = ()
) -> CorefTable:
    """Return the contingency table (`karat.plugin.Contingency`) of a unit under an alignment of the protocol."""
    spec = CorefTable
    if setting.collapse == "aligned":
        from karat.families.coref.metamentions import MetaTable

        spec = MetaTable
    return spec(setting.align(alignment), singletons, setting.unit, kinds)


def measures(parameters: Parameters, setting: Setting) -> list[Entry]:
    """Every measure, and the averages."""
    coref_table = table(
        setting, alignment=parameters.alignment, singletons=parameters.singletons, kinds=parameters.only_kinds
    )
    edges = {"blanc": BLANC_EDGES[parameters.edge]}
    averages = [
        Composite(f"coref.{name}", tuple(f"coref.{part}" for part in of), edges.get(name, combine))
        for name, (of, combine) in AVERAGES.items()
    ]
    rows: list[Entry] = [*(Coref(coref_table, name, name in parameters.without) for name in FORMULAS), *averages]
    if parameters.overlap:
        from karat.families.coref.zeros import MentionOverlap

        rows.append(MentionOverlap(setting.align(parameters.overlap)))
    if parameters.zeros:
        from karat.families.coref.zeros import AnaphoricZeros, Zeros

        rows.append(Zeros(AnaphoricZeros(coref_table.alignment)))
    return [row for row in rows if not parameters.only or row.id.removeprefix("coref.") in parameters.only]


FAMILY = Family(CARD, Parameters, measures, table)


class TableScores(Mapping[str, ScoreValues]):
    """The scores of one table by name: `scores["b3"].f1`, or `scores["coref.b3"].f1`.

    Each is computed when it is read; undefined ones are zero, as in the reference scorer.
    """

    def __init__(self, table: Contingency) -> None:
        self._table = table
        self._scores: dict[str, ScoreValues] = {}

    def __getitem__(self, name: str) -> ScoreValues:
        short = f"{name}".removeprefix("coref.")
        if short not in (*FORMULAS, *AVERAGES):
            raise KeyError(f"{name!r} is not a measure of clusters; these are: {', '.join(self)}")
        if short not in self._scores:
            self._scores[short] = self._score(short)
        return self._scores[short]

    def _score(self, name: str) -> ScoreValues:
        if name in FORMULAS:
            counts = FORMULAS[name].count(self._table)
            return ScoreValues(scores_of_counts(counts, undefined=0.0), counts)
        of, combine = AVERAGES[name]
        return ScoreValues(fill_undefined(combine([self[part] for part in of]), undefined=0.0))

    def __iter__(self) -> Iterator[str]:
        return (f"coref.{name}" for name in (*FORMULAS, *AVERAGES))

    def __len__(self) -> int:
        return len(FORMULAS) + len(AVERAGES)

    def __repr__(self) -> str:
        f1 = [f"{name} {100 * (self[name].values['f1'] or 0):.2f}" for name in (*FORMULAS, *AVERAGES)]
        return f"<Coref F1: {', '.join(f1)}>"


def _mean_f1(rows: Sequence[ScoreValues]) -> Scores:
    defined = [f1 for row in rows if (f1 := row.values["f1"]) is not None]
    return {"f1": fsum(defined) / len(rows) if len(defined) == len(rows) else None}


def _averaged(rows: Sequence[ScoreValues]) -> Scores:
    """The mean of each score over the classes that count; undefined if there are none."""
    names = ("precision", "recall", "f1")
    return {name: fsum([row.values[name] or 0.0 for row in rows]) / len(rows) if rows else None for name in names}


def _perl(rows: Sequence[ScoreValues]) -> Scores:
    """Reference scorer v8.01: ignore a class that gold does not have."""
    return _averaged([row for row in rows[:2] if _counts(row).recall_den])


def _symmetric(rows: Sequence[ScoreValues]) -> Scores:
    """Ignore a class that neither side has."""
    return _averaged([row for row in rows[:2] if _counts(row).recall_den or _counts(row).precision_den])


def _zero(rows: Sequence[ScoreValues]) -> Scores:
    """MAVEN-ERE: a class that a side does not have counts as 0."""
    return _averaged(rows[:2])


def _luo(rows: Sequence[ScoreValues]) -> Scores:
    """Luo et al. 2014: a class that neither side has is right if both have the same mentions, else wrong."""
    mentions = _counts(rows[2])
    same = mentions.recall_num == mentions.recall_den == mentions.precision_den
    ones: Scores = dict.fromkeys(("precision", "recall", "f1"), 1.0)
    absent = [not (_counts(row).recall_den or _counts(row).precision_den) for row in rows[:2]]
    return _averaged(
        [ScoreValues(ones) if lacking and same else row for row, lacking in zip(rows[:2], absent, strict=True)]
    )


def _counts(row: ScoreValues) -> PrecisionRecall:
    assert isinstance(row.counts, PrecisionRecall), "links and non-links are counted"
    return row.counts


BLANC_EDGES: dict[str, Callable[[Sequence[ScoreValues]], Scores]] = {
    "perl": _perl,
    "symmetric": _symmetric,
    "luo-2014": _luo,
    "zero": _zero,
}

AVERAGES: dict[str, tuple[tuple[str, ...], Callable[[Sequence[ScoreValues]], Scores]]] = {
    "blanc": (("blanc.links", "blanc.nonlinks", "mention"), _perl),
    "conll": (("muc", "b3", "ceafe"), _mean_f1),
    "avg4": (("muc", "b3", "ceafe", "blanc"), _mean_f1),
}
"""Composites by name: the rows that each combines, and the function that combines them."""
