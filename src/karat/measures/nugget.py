"""Event nuggets: precision, recall and F1 with partial credit for spans (Liu, Mitamura and Hovy 2015).

    TP = Σ Dice(G, S) over aligned pairs        section 2.2; one alignment for each set of attributes
    P  = TP / N_S        R = TP / N_G           section 2.4, the fixed formula
    F1 = 2PR / (P + R)

One row for each set of attributes that must be right as well: `nugget.span` for none, `nugget.type`,
`nugget.realis`, `nugget.type+realis`, and so on for every attribute that gold has.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, combinations
from math import fsum
from typing import ClassVar

from msgspec import Struct

from karat.counts import Counts, PrecisionRecall
from karat.errors import Rule, nearest
from karat.measures import Card, Outcome, Setting
from karat.tables.aligned import AlignedPairs, Alignment, CandidatePairs

MOST_ATTRIBUTES = 5
NOT_SCORED = {"id", "ids", "text", "confidence", "confidences"}

TOO_MANY = Rule("attributes-too-many", "fatal", "Name those to score, for example: --set attributes=type,realis")
NOT_IN_GOLD = Rule("attribute-unknown", "fatal", "Only what is on at least one gold mention can be scored.")

CARD = Card(
    title="Event nugget detection",
    rows={
        "nugget.span": "spans alone: precision, recall, f1",
        "nugget.type, nugget.realis, ...": "spans whose attribute is right too",
        "nugget.type+realis, ...": "spans whose attributes are all right, for every combination",
    },
    formula="""\
Dice(G, S) = 2 |T_G ∩ T_S| / (|T_G| + |T_S|)     over characters or tokens
TP = Σ Dice over the aligned pairs whose attributes agree
P = TP / N_S     R = TP / N_G     F1 = 2PR / (P + R)""",
    citation="Liu, Mitamura and Hovy (2015), Evaluation Algorithms for Event Nugget Detection: A Pilot Study, "
    "sections 2.2 to 2.6; in TAC KBP 2015-2017 as scorer v1.8 computes it.",
    traps=(
        "There is no threshold: any overlap earns some credit, a wrong span of the right type included.",
        "Every set of attributes has its own alignment, greedy and not optimal. A stricter row can therefore score "
        "higher than a looser one, and the pairs behind two rows need not be the same.",
        "Ties are decided by the order of lines, system first, so reordering the mentions of a file can move a score.",
        "Macro F1 is the harmonic mean of macro precision and macro recall, not the mean of the documents' F1.",
        "In tac-2017 a document without gold mentions is in no average: false alarms there cost nothing. "
        "The report says how many there are.",
        "A gold NOT_ANNOTATED agrees with anything; in a system's output it is a wrong value like any other.",
    ),
    departures=(
        "The paper lets a gold mention hold several system mentions and filters one span alignment by attributes "
        "(Algorithms 1 and 4); scorer v1.8, and so tac-2017, aligns one-to-one afresh for every set of attributes.",
        "Algorithm 1 does not remove the best pair from its list and would not end; the programs do.",
        "The paper's spans are sets of tokens; since TAC 2016 they are characters, blanks inside a segment included.",
        "The paper compares attributes exactly; scorer v1.8 compares letters and digits only, ignoring case. It kept "
        "only ASCII ones, so that all types in Chinese were equal; karat keeps letters and digits of every script.",
        "Scorer v1.8's table of mention types takes its true positives from the type+realis alignment, so that it "
        "punishes realis errors. `--by type` takes each row from the measure's own alignment.",
        "Scorer v1.8 counts a character twice where segments of one mention overlap, so that such a mention does not "
        "match itself. karat reads the union and notes it.",
    ),
    laws=("perfect", "bounded", "order", "ids", "additive", "outcomes", "swap"),
)


class Parameters(Struct, frozen=True, forbid_unknown_fields=True):
    """What a protocol says: which alignment, and which attributes (none named: all that gold has)."""

    alignment: str
    attributes: tuple[str, ...] = ()


class Nugget(Struct, frozen=True):
    """Nuggets whose span, and every one of `attributes`, is right."""

    kind: ClassVar[type[Counts]] = PrecisionRecall

    attributes: tuple[str, ...]
    artefact: Alignment

    @property
    def id(self) -> str:
        """`nugget.` and the attributes joined by +."""
        return f"nugget.{'+'.join(self.attributes) or 'span'}"

    def count(self, table: AlignedPairs) -> PrecisionRecall:
        """TP over N_S and over N_G."""
        true_positives = fsum([value for _, _, value in table.pairs])
        return PrecisionRecall(true_positives, len(table.system), true_positives, len(table.gold))

    def outcomes(self, table: AlignedPairs) -> Iterator[Outcome]:
        """A pair earns its Dice; a missed or a spurious mention earns nothing and counts all the same."""
        for g, s, value in table.pairs:
            yield Outcome(table.gold[g], table.system[s], PrecisionRecall(value, 1, value, 1))
        met = {g for g, _, _ in table.pairs}, {s for _, s, _ in table.pairs}
        for g, mention in enumerate(table.gold):
            if g not in met[0]:
                yield Outcome(mention, None, PrecisionRecall(0.0, 0, 0.0, 1))
        for s, mention in enumerate(table.system):
            if s not in met[1]:
                yield Outcome(None, mention, PrecisionRecall(0.0, 1, 0.0, 0))


def measures(parameters: Parameters, setting: Setting) -> list[Nugget]:
    """One measure for each combination of attributes, fewest first."""
    attributes = _attributes(parameters.attributes, setting.attributes)
    choice = setting.alignments[parameters.alignment]
    candidates = CandidatePairs(choice.similarity, attributes, setting.comparison)
    sizes = range(len(attributes) + 1)
    combined = chain.from_iterable(combinations(attributes, size) for size in sizes)
    return [Nugget(agree, Alignment(candidates, agree, choice.method, choice.threshold)) for agree in combined]


def _attributes(named: Sequence[str], present: Sequence[str]) -> tuple[str, ...]:
    for name in named:
        if name not in present:
            raise NOT_IN_GOLD.error(f"no gold mention has the attribute {name!r}. {nearest(name, present)}")
    if named:
        return tuple(dict.fromkeys(named))
    found = tuple(name for name in present if name not in NOT_SCORED)
    if len(found) > MOST_ATTRIBUTES:
        raise TOO_MANY.error(f"gold has {len(found)} attributes, {2 ** len(found)} combinations: {', '.join(found)}")
    return found
