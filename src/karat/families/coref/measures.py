"""The measures of coreference: formulas of one contingency table, and averages of their scores."""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from math import fsum
from typing import Literal

from msgspec import Struct

from karat.counts import fill_undefined, scores_of_counts
from karat.families.coref.card import CARD
from karat.families.coref.formulas import FORMULAS
from karat.families.coref.table import CorefTable, Singletons
from karat.plugin import (
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
    "The reference program may match other ones, with other scores; see CorefUD: ties between alignments.",
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


SMALL = 12
"""Mentions of both sides up to which counts are remembered. Parts of documents (`--by`) have few, mostly singletons, so
that their tables are often the same: twice as fast."""


@lru_cache(maxsize=10_000)
def _small_counts(name: str, golds: int, systems: int, sides: tuple[tuple[int, ...], ...]) -> PrecisionRecall:
    """The counts of a table without the names of its clusters."""
    gold_of, system_of, shared_gold, shared_system = sides
    table = Contingency(range(golds), range(systems), gold_of, system_of, shared_gold, shared_system)
    return FORMULAS[name].count(table)


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
        if len(table.gold_of) + len(table.system_of) > SMALL:
            return FORMULAS[self.name].count(table)
        return _small_counts(self.name, *table.without_names)

    def outcomes(self, table: Contingency) -> Iterator[Outcome[PrecisionRecall]]:
        """The contribution of each cluster, or of each pair of clusters that share mentions."""
        return FORMULAS[self.name].outcomes(table)

    def notes(self, table: Contingency, counts: PrecisionRecall) -> Iterator[Tally]:
        """Documents in which ties decide."""
        del counts
        if table.tied:
            yield Tally(TIES, "documents in which mentions that share a head could be matched otherwise", table.tied)

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
        for name, of, combine in AVERAGES
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


def scores(table: Contingency) -> dict[str, ScoreValues]:
    """All scores of one table; undefined scores are zero, as in the reference scorer."""
    leaves = {}
    for name, formula in FORMULAS.items():
        counts = formula.count(table)
        leaves[name] = ScoreValues(scores_of_counts(counts, undefined=0.0), counts)
    for name, of, combine in AVERAGES:
        leaves[name] = ScoreValues(fill_undefined(combine([leaves[part] for part in of]), undefined=0.0))
    return leaves


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

AVERAGES: tuple[tuple[str, tuple[str, ...], Callable[[Sequence[ScoreValues]], Scores]], ...] = (
    ("blanc", ("blanc.links", "blanc.nonlinks", "mention"), _perl),
    ("conll", ("muc", "b3", "ceafe"), _mean_f1),
    ("avg4", ("muc", "b3", "ceafe", "blanc"), _mean_f1),
)
"""Composites: the name, the rows that it combines, and the function that combines them."""
