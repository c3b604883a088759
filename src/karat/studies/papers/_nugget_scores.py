"""Scores of event nugget systems, with the tables, figures and claims of Liu et al. (2015) that suit any systems."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from msgspec.structs import replace

from karat.corpus.interface import Corpus
from karat.corpus.memory import MemoryCorpus
from karat.model import Document, Mention
from karat.problems import Findings
from karat.protocols import Protocol, resolve
from karat.report.figures.figure import Figure
from karat.report.figures.kinds import systems_figure
from karat.result import Result
from karat.run.plan import Options
from karat.run.scoring import score
from karat.studies.properties import SAME, percent, percent_range
from karat.studies.reproduction import Cell, Claim, Column, Numbers

TITLE = "Liu, Mitamura and Hovy (2015), Evaluation Algorithms for Event Nugget Detection: A Pilot Study"
FIGURES = ("figure-1", "figure-2", "figure-3")

PROTOCOLS = PILOT, FIXED, TAC = ("tac-pilot", "liu-2015", "tac-2017")
SPAN, TYPE, REALIS, BOTH = ("nugget.span", "nugget.type", "nugget.realis", "nugget.type+realis")
ACCURACIES = TYPE_ACCURACY, REALIS_ACCURACY = ("nugget.accuracy.type", "nugget.accuracy.realis")
PRODUCTS = ("nugget.product.type", "nugget.product.realis", "nugget.product.type+realis")
FALSE_ALARMS = (
    "because attribute scores are only calculated on the gold standard mentions, the false alarms on the rest of the "
    "predicted mentions are not penalized"
)


class Scores(NamedTuple):
    """Everything that was scored."""

    tokens: Mapping[str, Mapping[str, Result]]
    """By protocol, then by system."""
    characters: Mapping[str, Result]
    """By system, under the fixed protocol."""

    def value(self, protocol: str, system: str, measure: str, score: str = "f1") -> float:
        """One score; none of these is undefined."""
        return known(self.tokens[protocol][system], measure, score)

    def column(self, protocol: str, measure: str, score: str = "f1") -> dict[str, float]:
        """One score of every system."""
        return {system: self.value(protocol, system, measure, score) for system in self.tokens[protocol]}


def known(result: Result, measure: str, score: str = "f1") -> float:
    value = result[measure].micro.values[score]
    assert value is not None, "every system finds something"
    return value


def scored(gold: Sequence[Document], system: Sequence[Document], *protocols: str) -> list[Result]:
    """The nugget scores of a system in memory."""
    sides = MemoryCorpus(gold, name="simulated gold"), MemoryCorpus(system, name="simulated system")
    return corpora_scored(*sides, *protocols)


def corpora_scored(gold: Corpus, system: Corpus, *protocols: str) -> list[Result]:
    return score(gold, system, [resolve(name) for name in protocols], Options(("nugget",)), findings=Findings())


def order(column: Mapping[str, float]) -> list[str]:
    """Systems, the best first."""
    return sorted(column, key=lambda system: (-column[system], system))


def same_order(scores: Scores) -> Claim:
    before, after = scores.column(PILOT, SPAN), scores.column(FIXED, SPAN)
    changes = [before[system] - after[system] for system in before]
    gaps = [before[above] - before[below] for above, below in pairwise(order(before))]
    is_same = order(before) == order(after)
    return Claim(
        "The scores of the participant systems only change by a very small value, and the span-based ordering "
        "remains the same",
        "section 4.1",
        is_same,
        f"span F1 falls by {percent_range(changes)} points, and the order of the "
        f"{len(before)} systems {'stays' if is_same else 'changes'}"
        + (f"; the closest neighbours are {percent(min(gaps))} points apart" if gaps else ""),
    )


def combined(scores: Scores) -> Iterator[Claim]:
    product = scores.column(PILOT, PRODUCTS[-1], "score")
    span, type_, realis, both = (scores.column(FIXED, id_) for id_ in (SPAN, TYPE, REALIS, BOTH))
    yield Claim(
        "the resulting scores will soon become too small after multiplication, which are less interpretable",
        "section 4.2, Figure 2",
        all(product[system] < both[system] for system in both),
        f"the products of all three scores are {percent_range(product.values())}; attributes inside F1 give "
        f"{percent_range(both.values())}, more for {sum(both[system] > product[system] for system in both)} of "
        f"{len(both)} systems",
    )
    bounded = sum(both[system] <= min(type_[system], realis[system]) for system in both)
    harder = sum(realis[system] < type_[system] for system in both)
    yield Claim(
        "The combined score of all attributes now falls into a more reasonable range (bounded by the performance "
        "of the hardest attribute, namely realis status)",
        "section 4.2, Figure 3",
        bounded == len(both),
        f"type+realis F1 is at most the F1 of the harder attribute for {bounded} of {len(both)} systems; realis "
        f"is the harder one for {harder}",
    )
    monotone = sum(span[system] >= max(type_[system], realis[system]) for system in both)
    yield Claim(
        "We also observe that all performances decrease monotonically",
        "section 4.2, Figure 3",
        monotone == bounded == len(both),
        f"from span to one attribute, and from one to both, F1 never rises in {min(monotone, bounded)} of "
        f"{len(both)} systems",
    )


def example() -> Numbers:
    """Section 2.5: one gold mention that both systems split in two, leaving out a word."""

    def document(*spans: tuple[tuple[tuple[int, int], ...], str]) -> list[Document]:
        mentions = [Mention(f"m{n}", span, attributes={"type": type_}) for n, (span, type_) in enumerate(spans)]
        return [Document("d", unit="token", mentions=tuple(mentions))]

    gold = document((((1, 3), (4, 5)), "Life.Die"))  # He [carried out] the [assassination]
    rows: dict[str, tuple[Cell, ...]] = {}
    for name, first, published in (("System 1", "Life.Die", 1.0), ("System 2", "Business.MERGE", 0.5)):
        (result,) = scored(gold, document((((1, 2),), first), (((4, 5),), "Life.Die")), PILOT)
        rows[name] = (Cell(known(result, TYPE_ACCURACY, "accuracy"), published),)
    return Numbers("The example of section 2.5", (Column("type accuracy"),), rows)


def precision_fix(scores: Scores) -> Numbers:
    before, after = scores.column(PILOT, SPAN), scores.column(FIXED, SPAN)
    ranks = [{system: rank for rank, system in enumerate(order(column), 1)} for column in (before, after)]
    return Numbers(
        "Span F1 before and after the precision fix (section 4.1)",
        (Column("pilot"), Column("fixed"), Column("change"), Column("rank", "count"), Column("rank fixed", "count")),
        {
            system: tuple(
                map(Cell, (before[system], after[system], after[system] - before[system], *(r[system] for r in ranks)))
            )
            for system in order(before)
        },
    )


def tables(scores: Scores) -> Iterator[Numbers]:
    """The data of the figures, in their order."""
    span = {"span F1": (PILOT, SPAN, "f1")}
    yield _table(
        "Figure 1: span F1 and accuracies, sorted by span F1",
        scores,
        {**span, **{f"{id_.rpartition('.')[2]} accuracy": (PILOT, id_, "accuracy") for id_ in ACCURACIES}},
        by="span F1",
    )
    products = {id_.removeprefix("nugget.product."): (PILOT, id_, "score") for id_ in PRODUCTS}
    yield _table(
        "Figure 2: span F1 multiplied by accuracies, sorted by the combined score",
        scores,
        {**span, **{f"with {name}": place for name, place in products.items()}},
        by="with type+realis",
    )
    yield _table(
        "Figure 3: F1 with attributes (Algorithm 4), sorted by the combined score",
        scores,
        {f"{id_.removeprefix('nugget.')} F1": (FIXED, id_, "f1") for id_ in (SPAN, TYPE, REALIS, BOTH)},
        by="type+realis F1",
    )


def _table(title: str, scores: Scores, columns: Mapping[str, tuple[str, str, str]], *, by: str) -> Numbers:
    values = {name: scores.column(*place) for name, place in columns.items()}
    rows = {system: tuple(Cell(column[system]) for column in values.values()) for system in order(values[by])}
    return Numbers(title, tuple(map(Column, columns)), rows)


def figures(scores: Scores, about: str, row_field: str) -> Iterator[Figure]:
    for protocol, kind in ((PILOT, "accuracy"), (PILOT, "product"), (FIXED, "attributes")):
        figure = systems_figure(scores.tokens[protocol], kind)
        rows = tuple(tuple(replace(panel, row_field=row_field) for panel in row) for row in figure.rows)
        yield replace(figure, rows=rows, comments=(about, *figure.comments))


# Section 3.1, the comparison with MUC: Dice or one half, greedy or best alignment
#
# Two examples in tokens. In the first, both systems find both mentions of gold, which have ten tokens each: one system
# without the last token of each, the other with one token of each and two or three outside. In the second, one system
# mention is nearer to a gold mention that another one has right than to the one that is left.

GREEDY, MUC = "liu-2015", "muc-5"
GOLD = ((0, 10), (20, 30))
SYSTEMS = {
    "without the last token": ((0, 9), (20, 29)),
    "with one token, and two or three outside": ((9, 12), (29, 33)),
}
CONTESTED = ((0, 4), (4, 6)), ((2, 6), (4, 6))
"""Gold and system."""


class Credit(NamedTuple):
    """Span F1 of a system."""

    greedy: float
    """By Dice, as in the paper."""
    best: float
    """By Dice, with the best alignment."""
    half: float
    """With one half for any overlap and the best alignment, as in MUC."""


def credit(gold: Corpus, system: Corpus) -> Credit:
    """Span F1 of a system in all three ways."""
    (greedy, best), (half,) = (
        score(gold, system, protocols, Options((family,)), findings=Findings())
        for protocols, family in (([resolve(GREEDY), _best_alignment()], "nugget"), ([resolve(MUC)], "muc"))
    )
    measures = (greedy["nugget.span"], best["nugget.span"], half["muc.span"])
    return Credit(*(score.f1 or 0.0 for score in measures))


def _best_alignment() -> Protocol:
    greedy = resolve(GREEDY)
    alignments = {name: replace(choice, method="optimal") for name, choice in greedy.alignments.items()}
    return replace(greedy, name="best-alignment", alignments=alignments)


def _corpus(spans: tuple[tuple[int, int], ...]) -> Corpus:
    mentions = tuple(Mention(f"m{number}", (span,)) for number, span in enumerate(spans))
    return MemoryCorpus([Document("d", unit="token", mentions=mentions)])


class Comparison:
    """The examples and the systems of a pilot."""

    def __init__(self, credits: Mapping[str, Credit]) -> None:
        self._credits = credits
        self._examples = {name: credit(_corpus(GOLD), _corpus(spans)) for name, spans in SYSTEMS.items()}
        self._contested = credit(*map(_corpus, CONTESTED))

    def numbers(self) -> Iterator[Numbers]:
        """The first example, and all systems."""
        yield Numbers(
            "Section 3.1: two systems that find both gold mentions, of ten tokens each, in part",
            (Column("constant 0.5 (MUC)"), Column("Dice")),
            {name: (Cell(scores.half), Cell(scores.greedy)) for name, scores in self._examples.items()},
        )
        yield Numbers(
            "Span F1 by Dice and by the constant 0.5 (section 3.1)",
            (Column("Dice, greedy"), Column("Dice, best alignment"), Column("0.5, best alignment")),
            {
                name: tuple(map(Cell, scores))
                for name, scores in sorted(self._credits.items(), key=lambda item: (-item[1].greedy, item[0]))
            },
        )

    def claims(self) -> Iterator[Claim]:
        """Both decisions of section 3.1."""
        near, far = self._examples.values()
        yield Claim(
            "A variable partial score can reflect more subtle differences between systems",
            "section 3.1",
            near.half == far.half and near.greedy > far.greedy,
            f"MUC's constant 0.5 gives {percent(near.half)} to a system that lacks one token of ten in each mention, "
            f"and {percent(far.half)} to one that has one token of ten, and two or three outside; Dice gives "
            f"{percent(near.greedy)} and {percent(far.greedy)}",
        )
        gains = [scores.best - scores.greedy for scores in self._credits.values()]
        yield Claim(
            "we use a simple greedy method for choosing an alignment based on span matching instead of trying to find "
            "the best alignment",
            "section 3.1",
            min(gains) > -SAME,
            f"the best alignment adds {percent_range(map(abs, gains))} points of span F1 to these systems; in an "
            f"example of two mentions it has {percent(self._contested.best)} where the greedy one has "
            f"{percent(self._contested.greedy)}",
        )
