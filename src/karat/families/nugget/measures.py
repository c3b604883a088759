"""Event nuggets: precision, recall and F1 with partial credit for spans (Liu, Mitamura and Hovy 2015).

    TP = Σ over gold mentions of Dice(G, S_max), S_max the best system mention aligned with G    Algorithms 2 and 4
    P  = TP / N_S          R = TP / N_G          F1 = 2PR / (P + R)                              section 2.4, fixed
    P  = TP / (TP + FP)    FP = N_S - (gold mentions found)                                      section 2.4, pilot
    accuracy = Σ over gold mentions of (share of aligned system mentions with the values) / N_G  Algorithm 3

There is one row for each set of attributes that must also be right: `nugget.span` for none, then `nugget.type`,
`nugget.realis` and `nugget.type+realis`, and further attributes where the user asks for them. The pilot has spans, an
accuracy per set of attributes, and products of span F1 and the accuracies of single attributes.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import fsum, prod
from typing import Literal

from msgspec import Struct

from karat.counts import Accuracy, PrecisionRecall, Scores, ScoreValues
from karat.plugin import AlignedPairs, Card, Composite, Entry, Family, Measure, Outcome, Setting
from karat.problems import Rule

MOST_ATTRIBUTES = 5

TOO_MANY = Rule(
    "attributes-too-many", "fatal", "Name the attributes to score, for example --set attributes=type,realis"
)

CARD = Card(
    title="Event nugget detection",
    rows={
        "nugget.span": "spans alone: precision, recall, f1",
        "nugget.type, nugget.realis, ...": "spans whose attribute is also right",
        "nugget.type+realis, ...": "spans whose attributes are all right, for every combination",
        "nugget.accuracy.type, ...": "share of gold mentions whose attribute is right (pilot): accuracy",
        "nugget.accuracy.type+realis, ...": "share of gold mentions whose attributes are all right (pilot)",
        "nugget.product.type, ...": "span F1 times the accuracy of an attribute (pilot): score",
        "nugget.product.type+realis, ...": "span F1 times the accuracies of several attributes (pilot)",
    },
    formula="""\
Dice(G, S) = 2 |T_G ∩ T_S| / (|T_G| + |T_S|)     over characters or tokens
TP = Σ over gold mentions of the best Dice with an aligned system mention whose attributes agree
P = TP / N_S     R = TP / N_G     F1 = 2PR / (P + R)
pilot: P = TP / (TP + FP),  FP = N_S - (gold mentions found)
       accuracy = Σ over gold mentions of (share of its system mentions with the right values) / N_G""",
    symbols={
        "G, S": "a gold mention, a system mention",
        "T_G, T_S": "the characters (or tokens) of their spans",
        "TP": "true positives: the credit of all gold mentions, at most 1 for each",
        "FP": "false positives: system mentions without credit (pilot only)",
        "N_G, N_S": "the number of gold mentions, of system mentions",
        "P, R": "precision, recall",
    },
    citation="Liu, Mitamura and Hovy (2015), Evaluation Algorithms for Event Nugget Detection: A Pilot Study, "
    "sections 2.2 to 2.6; in TAC KBP 2015-2017 as scorer v1.8 computes it.",
    traps=(
        "There is no threshold, except in exact-2013: any overlap earns credit, even with a wrong span of the right "
        "type.",
        "In tac-2017 every set of attributes has its own alignment, which is greedy and not optimal. A stricter row "
        "can therefore score higher than a looser one, and two rows may align different pairs. In liu-2015 and "
        "tac-pilot all rows share the alignment of spans.",
        "Ties are decided by line order, system mentions first, so reordering mentions in a file can change a score.",
        "Macro F1 is the harmonic mean of macro precision and macro recall, not the mean of the documents' F1.",
        "tac-2017, liu-2015 and tac-pilot ignore documents without gold mentions: spurious mentions there cost "
        "nothing. The report says how many mentions are ignored.",
        "A gold NOT_ANNOTATED agrees with any value in tac-2017 and liu-2015, and in tac-pilot only as realis. In "
        "exact-2013, and in a system's output, it is an ordinary value.",
    ),
    departures=(
        "The paper aligns several system mentions with one gold mention, and filters one span alignment by attributes "
        "(Algorithms 1 and 4). Scorer v1.8, and therefore tac-2017, makes a one-to-one alignment for each set of "
        "attributes.",
        "Algorithm 1 does not remove the best pair from its list, so it would never end. The programs remove it.",
        "Algorithm 2 adds to FP when a gold mention has no system mention, which is a miss. The programs use "
        "FP = N_S - (gold mentions found), so that a spurious mention costs precision, as the formula intends.",
        "No program computes the multiplied scores of Figure 2; karat multiplies span F1 by the attribute accuracies.",
        "The paper's spans are sets of tokens; since TAC 2016 they are characters, including blanks inside a segment.",
        "The paper compares attributes exactly. Scorer v1.8 compares only letters and digits, and ignores case. It "
        "keeps only ASCII, so that all Chinese types are equal; karat keeps letters and digits of every script.",
        "The table of mention types of scorer v1.8 takes its true positives from the type+realis alignment, so it "
        "also counts realis errors. `--by type` takes each row from the measure's own alignment.",
        "Scorers v1.0 to v1.7.1 removed articles and some pronouns from spans of tokens; the paper and later scorers "
        "do not. `--set invisible=evmeval` removes the words of v1.0 to v1.6.3 (the list of v1.7 lacks `what`), `--set "
        "invisible=FILE` those of a file.",
        "If segments of one mention overlap, scorer v1.8 counts their characters twice, so that the mention does not "
        "match itself. karat uses the union of the segments and reports a note.",
    ),
    outcomes={
        "match": "the two mentions are aligned; the gold mention earns their Dice",
        "duplicate": "the gold mention is already matched better, so this system mention earns nothing "
        "(liu-2015, tac-pilot)",
        "incorrect": "accuracies: a value is wrong; all system mentions aligned with a gold mention share its credit",
    },
    laws=("perfect", "bounded", "order", "ids", "additive", "outcomes", "swap"),
)


class Parameters(Struct, frozen=True, forbid_unknown_fields=True):
    """The parameters that a protocol may set."""

    alignment: str
    """The alignment that it reads: one of the protocol's `[alignments]`."""
    attributes: tuple[str, ...] = ()
    """Attributes to score; empty: type and realis where gold has them; `all`: every attribute that gold has."""
    attribute_scores: Literal["combined", "accuracy"] = "combined"
    """`combined`: F1 for each set of attributes (Algorithm 4). `accuracy`: the accuracy of each (Algorithm 3)."""
    precision: Literal["system", "found"] = "system"
    """The denominator of precision: `system` is N_S, `found` is TP + FP, as in the pilot."""


class Nugget(Measure[AlignedPairs, PrecisionRecall], frozen=True):
    """Nuggets whose span and all `attributes` are right."""

    attributes: tuple[str, ...]
    precision: Literal["system", "found"]

    @property
    def id(self) -> str:
        """`nugget.` and the attributes joined by +."""
        return f"nugget.{'+'.join(self.attributes) or 'span'}"

    def count(self, table: AlignedPairs) -> PrecisionRecall:
        """TP over N_S (or TP + FP) and over N_G."""
        best = {g: value for g, _, value, _ in reversed(table.pairs)}  # the first pair of a gold mention is its best
        true_positives = fsum(best.values())
        false_positives = len(table.system) - len(best)
        divisor = len(table.system) if self.precision == "system" else true_positives + false_positives
        return PrecisionRecall(true_positives, divisor, true_positives, len(table.gold))

    def outcomes(self, table: AlignedPairs) -> Iterator[Outcome[PrecisionRecall]]:
        """A matched gold mention earns its best Dice; further matches, misses and spurious mentions earn nothing."""
        golds: set[int] = set()
        systems: set[int] = set()
        for g, s, value, _ in table.pairs:
            if g in golds:
                yield Outcome(table.gold[g], table.system[s], PrecisionRecall(0.0, 1, 0.0, 0), "duplicate")
            else:
                divisor = 1 if self.precision == "system" else value
                yield Outcome(table.gold[g], table.system[s], PrecisionRecall(value, divisor, value, 1))
            golds.add(g)
            systems.add(s)
        for g, mention in enumerate(table.gold):
            if g not in golds:
                yield Outcome(mention, None, PrecisionRecall(0.0, 0, 0.0, 1))
        for s, mention in enumerate(table.system):
            if s not in systems:
                yield Outcome(None, mention, PrecisionRecall(0.0, 1, 0.0, 0))


class AttributeAccuracy(Measure[AlignedPairs, Accuracy], frozen=True):
    """The accuracy of a set of attributes on gold mentions (Algorithm 3); spurious mentions do not count."""

    attributes: tuple[str, ...]
    bits: int
    """The bits of a match that say whether each attribute agrees."""

    @property
    def id(self) -> str:
        """`nugget.accuracy.` and the attributes joined by +."""
        return f"nugget.accuracy.{'+'.join(self.attributes)}"

    def count(self, table: AlignedPairs) -> Accuracy:
        """Each gold mention earns the share of its system mentions that have all its values."""
        mapped = self._mapped(table).values()
        return Accuracy(
            fsum([sum(right for _, right in systems) / len(systems) for systems in mapped]), len(table.gold)
        )

    def outcomes(self, table: AlignedPairs) -> Iterator[Outcome[Accuracy]]:
        """The credit of a gold mention is divided equally among its system mentions."""
        mapped = self._mapped(table)
        for g, mention in enumerate(table.gold):
            systems = mapped.get(g, ())
            for s, right in systems:
                part = 1 / len(systems)
                counts, outcome = (Accuracy(part, part), "match") if right else (Accuracy(0.0, part), "incorrect")
                yield Outcome(mention, table.system[s], counts, outcome)
            if not systems:
                yield Outcome(mention, None, Accuracy(0.0, 1))

    def _mapped(self, table: AlignedPairs) -> dict[int, list[tuple[int, bool]]]:
        """Return the system mentions aligned with each gold mention, and whether all attributes of each are right."""
        mapped: dict[int, list[tuple[int, bool]]] = {}
        for g, s, _, agreeing in table.pairs:
            mapped.setdefault(g, []).append((s, agreeing & self.bits == self.bits))
        return mapped


def measures(parameters: Parameters, setting: Setting) -> list[Entry]:
    """Spans first, then one row per combination of attributes, or accuracies and their products."""
    attributes = setting.scored(parameters.attributes)
    if len(attributes) > MOST_ATTRIBUTES and parameters.attributes == ("all",):
        listed = ", ".join(attributes)
        raise TOO_MANY.error(f"gold has {len(attributes)} attributes, {2 ** len(attributes)} combinations: {listed}")
    combined = [agree for size in range(1, len(attributes) + 1) for agree in combinations(attributes, size)]

    def nugget(agree: tuple[str, ...]) -> Nugget:
        return Nugget(setting.align(parameters.alignment, agree=agree), agree, parameters.precision)

    if parameters.attribute_scores == "combined":
        return [nugget(()), *map(nugget, combined)]
    aligned = setting.align(parameters.alignment, agree=())
    accuracies = [AttributeAccuracy(aligned, agree, sum(map(aligned.bit, agree))) for agree in combined]
    return [nugget(()), *accuracies, *map(_product, combined)]


FAMILY = Family(CARD, Parameters, measures)


def _product(attributes: tuple[str, ...]) -> Composite:
    """Span F1 times the accuracies (Liu et al. 2015, section 2.6 and Figure 2)."""
    of = ("nugget.span", *(f"nugget.accuracy.{attribute}" for attribute in attributes))
    return Composite(f"nugget.product.{'+'.join(attributes)}", of, _multiplied)


def _multiplied(rows: Sequence[ScoreValues]) -> Scores:
    factors = [rows[0].values["f1"], *(row.values["accuracy"] for row in rows[1:])]
    known = [factor for factor in factors if factor is not None]
    return {"score": prod(known) if len(known) == len(factors) else None}
