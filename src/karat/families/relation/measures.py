"""Measures of relations: precision, recall and F1 of labelled pairs of mentions, and the accuracy of their labels."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from math import fsum
from operator import eq
from typing import Any, Literal

from msgspec import Struct

from karat.counts import Ratio
from karat.families.relation.intervals import INVERSE
from karat.families.relation.links import BothRelations
from karat.families.relation.pairs import Candidates, Direction, Key, LabelledPairs, Labels, PairTable
from karat.plugin import (
    Accuracy,
    Card,
    Composite,
    Entry,
    Family,
    Measure,
    Outcome,
    PrecisionRecall,
    Scores,
    ScoreValues,
    Setting,
    Tally,
    Unscored,
)

Differing = Literal["both", "miss", "spurious"]
"""A pair with other labels on the two sides is missed and a false alarm, or counts as one of these only."""
Within = Literal["sentence", "sentences", ""]
"""Pairs within one sentence, in two sentences, or all."""


REVERSED = "right but for the direction, counted as wrong"
NOTHING = "labelled VAGUE, which is not a relation"
REPEATED = "on a pair that has one already, not counted"
OUTSIDE_PAIRS = "of the system on other pairs than gold's, ignored"


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
        "pairs": "pairs of mentions; the protocol decides which of them count, and whether direction matters",
        "P, R": "precision, recall",
    },
    citation="Wang et al. (2022) for MAVEN-ERE; Ning et al. (2018) for MATRES; Cassidy et al. (2014) for "
    "TimeBank-Dense; Glavaš et al. (2014) for HiEve; Caselli and Vossen (2017) for EventStoryLine; Gao et al. (2019) "
    "for causal pairs; Sousa et al. (2023) for tieval.",
    traps=(
        "`Temporal F1` has at least nine definitions: print the protocol beside the number.",
        "A link between two clusters counts once per pair of their mentions: events that are mentioned often dominate.",
        "VAGUE is not a relation in matres-2018, a label in tb-dense-2014 (`--set vague=...`) and in the "
        "relation.temporal of tieval-2023, and ignored in maven-ere-2022.",
        "maven-ere-2022 has no symmetric relations: SIMULTANEOUS in the other direction is a miss and a false alarm. "
        "MAVEN-ERE's joint training code labels SIMULTANEOUS and BEGINS-ON in both directions, so its models lose half "
        "their precision on them.",
        "hieve-2020 counts all pairs of events. Papers that keep each unrelated pair of the test set with probability "
        "0.4 report a higher precision.",
        "A pair with another label is missed and spurious: in --by kind it is in two rows.",
    ),
    departures=(
        "MAVEN-ERE: the program keeps the last of two labels of a pair in the file; karat the later one in the order "
        "BEFORE, OVERLAP, CONTAINS, SIMULTANEOUS, ENDS-ON, BEGINS-ON and CAUSE, PRECONDITION, which is the same "
        "for files in the order of its README.",
        "MAVEN-ERE: the program drops links between event ids silently, and stops on a mention in two chains, a pair "
        "of a mention with itself, an unknown label, or a causal or subevent link of gold with a time. karat reports "
        "them, keeps the first chain, and ignores the rest.",
        "tieval prints temporal precision as recall and the reverse: karat corrects this unless swapped=true. Its "
        "macro recall of relation.temporal is computed from false alarms, and is not offered.",
        "EventStoryLine: the program counts as missed labels only the pairs without any system link, so its recall of "
        "labels is too high: missed=pairs. It counts a repeated line of the system twice, also in recall; karat once. "
        "It puts gold alone into text order; karat turns both sides.",
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


class Row(Struct, frozen=True, forbid_unknown_fields=True):
    """A measure of the family."""

    labels: tuple[str, ...] = ()
    """The labels that are read; of two on a pair, the later one counts. Empty: those of the family."""
    only: tuple[str, ...] = ()
    """The labels that count; empty: all."""
    equal: Literal["label", "pair", ""] = ""
    """The parts that must agree; empty: as for the family."""
    times: bool = True
    """False: only events are related."""
    within: Within = ""
    score: Literal["f1", "accuracy"] = "f1"


class Parameters(Struct, frozen=True, forbid_unknown_fields=True):
    """The parameters that a protocol may set."""

    rows: dict[str, Row]
    """The rows of a result, by their ids."""
    candidates: Candidates
    """The pairs that count."""
    direction: Direction
    """The direction in which a pair is read."""
    kinds: tuple[str, ...] = ()
    """The kinds of links that are read; empty: the labels, and what is read as one."""
    labels: tuple[str, ...] = ()
    """The labels that count; others are not read."""
    read_as: dict[str, str] = {}
    """Labels that are read as another one."""
    inverse: dict[str, str] = {}
    """Labels with that of the same relation in the other direction; others are symmetric."""
    nothing: tuple[str, ...] = ()
    """Labels that are not relations: only accuracy counts them, where no answer is the first of them."""
    several: bool = False
    """True: a pair may have several labels, each a relation of its own."""
    equal: Literal["label", "pair"] = "label"
    """When two relations of a pair are equal: if they have one label, or always."""
    differing: Differing = "both"
    """The sides on which a pair with different labels counts as wrong."""
    accuracy: bool = False
    """Adds the accuracy over the pairs that gold labels to each measure."""
    means: dict[str, tuple[str, ...]] = {}
    """Composites: means of the F1 of other measures."""


class Rated(PrecisionRecall, frozen=True):
    """Precision and recall, and the accuracy over the pairs that gold labels."""

    correct: float
    total: float

    def ratios(self) -> dict[str, Ratio]:
        """Precision, recall and accuracy."""
        return {**super().ratios(), "accuracy": Ratio(self.correct, self.total)}

    def values(self) -> Scores:
        """Their quotients."""
        return {**super().values(), "accuracy": Ratio(self.correct, self.total).value}


class RelationMeasure(Measure[LabelledPairs, PrecisionRecall], frozen=True):
    """Pairs that both sides label alike."""

    id: str
    only: tuple[str, ...] = ()
    nothing: tuple[str, ...] = ()
    equal: Literal["label", "pair"] = "label"
    differing: Differing = "both"
    within: Within = ""
    rated: bool = False

    def counts_type(self) -> type[PrecisionRecall]:
        """With or without accuracy."""
        return Rated if self.rated else PrecisionRecall

    def count(self, table: LabelledPairs) -> PrecisionRecall:
        """The pairs that both sides have, and all of each."""
        gold, system = self.counted(table, table.gold), self.counted(table, table.system)
        answers = [*map(gold.get, system)]
        shared = len(answers) - answers.count(None)
        right = shared if self.equal == "pair" else sum(map(eq, answers, system.values()))
        precision_den = len(system) - (shared - right if self.differing == "miss" else 0)
        recall_den = len(gold) - (shared - right if self.differing == "spurious" else 0)
        if not self.rated:
            return PrecisionRecall(right, precision_den, right, recall_den)
        correct = sum(self._answer(table, key) == label for key, label in table.gold.items())
        return Rated(right, precision_den, right, recall_den, correct, len(table.gold))

    def outcomes(self, table: LabelledPairs) -> Iterator[Outcome[PrecisionRecall]]:
        """Each pair that both sides label alike, and each of the other pairs of either side."""
        gold, system = self.counted(table, table.gold), self.counted(table, table.system)
        for key, label in gold.items():
            item, answer = table.item("gold", key, label), system.get(key)
            if answer is not None and self.agree(label, answer):
                yield Outcome(
                    item, table.item("system", key, answer), self._counts(1, 1, 1, 1, self._rated(table, key))
                )
            elif answer is None or self.differing != "spurious":
                yield Outcome(item, None, self._counts(0, 0, 0, 1, self._rated(table, key)))
            elif self.rated:
                yield Outcome(item, None, self._counts(0, 0, 0, 0, self._rated(table, key)))
        for key, label in system.items():
            answer = gold.get(key)
            if answer is None or not (self.agree(answer, label) or self.differing == "miss"):
                yield Outcome(None, table.item("system", key, label), self._counts(0, 1, 0, 0, (0, 0)))
        if self.rated:
            for key, label in table.gold.items():
                if key not in gold:
                    yield Outcome(
                        table.item("gold", key, label), None, self._counts(0, 0, 0, 0, self._rated(table, key)), "none"
                    )

    def divided(self, table: LabelledPairs) -> Iterator[Outcome[PrecisionRecall]]:
        """Labels that are not relations have no row."""
        return (outcome for outcome in self.outcomes(table) if outcome.label != "none")

    def differences(self, table: LabelledPairs) -> Mapping[str, int]:
        """Count labels that are read in another way elsewhere."""
        labels, relations = self.table.relations, table.relations
        reversed_ = 0
        if isinstance(self.table, PairTable) and self.table.direction == "written":
            reversed_ = sum(
                table.gold.get((key[1], key[0])) == label and INVERSE.get(label) == label and key not in table.gold
                for key, label in table.system.items()
            )
        given = sum(
            len(side.by_label.get(label, ())) for side in (relations.gold, relations.system) for label in labels
        )
        return {
            **relations.differences(),
            REVERSED: reversed_,
            NOTHING: sum(label in self.nothing for side in (table.gold, table.system) for label in side.values()),
            REPEATED: given - table.with_time - table.unplaced - table.outside - len(table.gold) - len(table.system),
            OUTSIDE_PAIRS: table.outside,
        }

    def agree(self, gold: str, system: str) -> bool:
        """Return whether the labels of a pair agree."""
        return self.equal == "pair" or gold == system

    def counted(self, table: LabelledPairs, labels: Labels) -> Labels:
        if self.nothing:
            labels = {key: label for key, label in labels.items() if label not in self.nothing}
        if self.only:
            labels = {key: label for key, label in labels.items() if label in self.only}
        if self.within:
            labels = {key: label for key, label in labels.items() if _within(table, key) == self.within}
        return labels

    def _answer(self, table: LabelledPairs, key: Key) -> str | None:
        return table.system.get(key, self.nothing[0] if self.nothing else None)

    def _rated(self, table: LabelledPairs, key: Key) -> tuple[int, int]:
        return int(self._answer(table, key) == table.gold[key]), 1

    def _counts(self, *numbers: Any) -> PrecisionRecall:
        *counts, rated = numbers
        return Rated(*counts, *rated) if self.rated else PrecisionRecall(*counts)

    def notes(self, table: LabelledPairs, counts: PrecisionRecall) -> Iterator[Tally]:
        """Links that do not count."""
        del counts
        return table.notes()


def _within(table: LabelledPairs, key: Key) -> Within:
    """Return whether gold has a pair within one sentence or in two; empty: unknown."""
    first, second = (table.relations.gold.mentions[end].attributes.get("sentence") for end in key[:2])
    if first is None or second is None:
        return ""
    return "sentence" if first == second else "sentences"


class LabelAccuracy(Measure[LabelledPairs, Accuracy], frozen=True):
    """The accuracy over all pairs that count, labelled or not."""

    id: str

    def count(self, table: LabelledPairs) -> Accuracy:
        """Pairs that both sides label alike, or not at all."""
        differing = sum(table.gold.get(key) != table.system.get(key) for key in table.gold.keys() | table.system.keys())
        return Accuracy(table.candidates - differing, table.candidates)

    def outcomes(self, table: LabelledPairs) -> Iterator[Outcome[Accuracy]]:
        """Each pair; one without a label on either side has the label `none`."""
        for key in combinations(table.relations.gold.mentions, 2):
            gold, system = table.gold.get(key), table.system.get(key)
            yield Outcome(
                table.item("gold", key, gold or "none"),
                table.item("system", key, system or "none"),
                Accuracy(gold == system, 1),
                "match" if gold == system else "wrong label",
            )


def measures(parameters: Parameters, setting: Setting) -> list[Entry]:
    """The rows of the protocol."""
    labels = [*parameters.labels, *(label for row in parameters.rows.values() for label in row.labels)]
    links = BothRelations(tuple(sorted(parameters.kinds or {*labels, *parameters.read_as})))
    entries: list[Entry] = []
    for name, row in parameters.rows.items():
        id_ = f"relation.{name}"
        table = PairTable(
            links,
            row.labels or parameters.labels,
            tuple(parameters.read_as.items()),
            tuple(parameters.inverse.items()),
            parameters.candidates,
            parameters.direction,
            parameters.several,
            row.times,
        )
        if row.within and "sentence" not in setting.attributes:
            entries.append(Unscored(id_, "gold's mentions have no attribute `sentence`"))
        elif row.score == "accuracy":
            entries.append(LabelAccuracy(table, id_))
        else:
            entries.append(
                RelationMeasure(
                    table,
                    id_,
                    row.only,
                    parameters.nothing,
                    row.equal or parameters.equal,
                    parameters.differing,
                    row.within,
                    parameters.accuracy,
                )
            )
    return [*entries, *(Composite(f"relation.{name}", of, mean_f1) for name, of in parameters.means.items())]


def mean_f1(scores: Sequence[ScoreValues]) -> Scores:
    """The mean of some F1; undefined if one of them is."""
    values = [score.values["f1"] for score in scores]
    defined = [value for value in values if value is not None]
    return {"f1": fsum(defined) / len(values) if len(defined) == len(values) else None}


FAMILY = Family(CARD, Parameters, measures)
