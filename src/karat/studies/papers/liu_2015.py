"""Liu, Mitamura and Hovy (2015): section 4 and its three figures, on a simulated pilot.

    section 2.4    precision TP / (TP + FP) and its fix, TP / N_S      `tac-pilot` and `liu-2015`
    Figure 1       span F1 and attribute accuracies (Algorithms 2, 3)  `tac-pilot`
    Figure 2       their products                                      `tac-pilot`
    Figure 3       attributes inside F1 (Algorithm 4)                  `liu-2015`
    footnote 4     spans in tokens or in characters

The paper prints figures without numbers, so there is little to compare numbers with; its claims can be checked.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from msgspec.structs import replace

from karat.corpus.interface import Progress
from karat.corpus.memory import MemoryCorpus
from karat.model import Document, Mention
from karat.problems import Findings
from karat.protocols import resolve
from karat.regions import shared
from karat.report.figures.figure import Figure
from karat.report.figures.kinds import systems_figure
from karat.result import Result
from karat.run.plan import Options
from karat.run.scoring import score
from karat.simulate.simulation import Rates
from karat.studies import pilot
from karat.studies.properties import percent
from karat.studies.reproduction import Cell, Claim, Column, Numbers, Reproduction

PROTOCOLS = PILOT, FIXED, TAC = ("tac-pilot", "liu-2015", "tac-2017")
SPAN, TYPE, REALIS, BOTH = ("nugget.span", "nugget.type", "nugget.realis", "nugget.type+realis")
ACCURACIES = TYPE_ACCURACY, REALIS_ACCURACY = ("nugget.accuracy.type", "nugget.accuracy.realis")
PRODUCTS = ("nugget.product.type", "nugget.product.realis", "nugget.product.type+realis")
CARELESS = Rates(miss=0.18, spurious=0.15, boundary=0.45, attributes={"type": 0.14, "realis": 0.28})
"""A system whose spans are far worse than those of the others."""


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
    options = Options(("nugget",))
    sides = MemoryCorpus(gold, name="simulated gold"), MemoryCorpus(system, name="simulated system")
    return score(*sides, [resolve(name) for name in protocols], options, findings=Findings())


def span_by_character(scores: Scores) -> dict[str, float]:
    return {system: known(result, SPAN) for system, result in scores.characters.items()}


def order(column: Mapping[str, float]) -> list[str]:
    """Systems, the best first."""
    return sorted(column, key=lambda system: (-column[system], system))


# Claims


def claims(scores: Scores, gold: Sequence[Document]) -> Iterator[Claim]:
    yield _perfect_precision(gold)
    yield _same_order(scores)
    yield _false_alarms(gold)
    yield from _combined(scores)
    yield from _bottlenecks(scores)
    yield _long_words(gold)


def _perfect_precision(gold: Sequence[Document]) -> Claim:
    sloppy = pilot.made(gold, Rates(boundary=0.5))
    before, after = (known(result, SPAN, "precision") for result in scored(gold, sloppy, PILOT, FIXED))
    return Claim(
        "When FP is 0, even if the span range is not exactly correct, the system can still get perfect precision",
        "section 2.4",
        before == 1 and after < 1,
        f"a system that finds every mention, half of them with wrong ends, has precision {percent(before)} in the "
        f"pilot and {percent(after)} after the fix",
    )


def _same_order(scores: Scores) -> Claim:
    before, after = scores.column(PILOT, SPAN), scores.column(FIXED, SPAN)
    changes = [before[system] - after[system] for system in before]
    gap = min(before[above] - before[below] for above, below in pairwise(order(before)))
    return Claim(
        "The scores of the participant systems only change by a very small value, and the span-based ordering "
        "remains the same",
        "section 4.1",
        order(before) == order(after),
        f"span F1 falls by {percent(min(changes))} to {percent(max(changes))} points, and the order of the "
        f"{len(before)} systems stays; the closest neighbours are {percent(gap)} points apart",
    )


def _false_alarms(gold: Sequence[Document]) -> Claim:
    """Score a system with and without false alarms that touch no gold mention."""
    rates = pilot.SYSTEMS[0].rates
    without = pilot.made(gold, replace(rates, spurious=0.0))
    flooded = []
    for clean, noisy, document in zip(without, pilot.made(gold, replace(rates, spurious=1.0)), gold, strict=True):
        kept = {mention.id for mention in clean.mentions}
        alarms = [
            alarm
            for alarm in noisy.mentions
            if alarm.id not in kept and not any(shared(alarm.span, mention.span) for mention in document.mentions)
        ]
        flooded.append(replace(clean, mentions=(*clean.mentions, *alarms)))
    (before,), (after,) = scored(gold, without, PILOT), scored(gold, flooded, PILOT)
    same = all(known(before, id_, "accuracy") == known(after, id_, "accuracy") for id_ in ACCURACIES)
    added = sum(len(many.mentions) - len(few.mentions) for many, few in zip(flooded, without, strict=True))
    values = ", ".join(f"{id_.rpartition('.')[2]} {percent(known(after, id_, 'accuracy'))}" for id_ in ACCURACIES)
    return Claim(
        "because attribute scores are only calculated on the gold standard mentions, the false alarms on the "
        "rest of the predicted mentions are not penalized",
        "section 4.2",
        same and known(after, SPAN) < known(before, SPAN),
        f"{added:,} false alarms lower the span F1 of a system from {percent(known(before, SPAN))} to "
        f"{percent(known(after, SPAN))}; its accuracies {'stay the same' if same else 'change'} ({values})",
    )


def _combined(scores: Scores) -> Iterator[Claim]:
    product = scores.column(PILOT, PRODUCTS[-1], "score")
    span, type_, realis, both = (scores.column(FIXED, id_) for id_ in (SPAN, TYPE, REALIS, BOTH))
    yield Claim(
        "the resulting scores will soon become too small after multiplication, which are less interpretable",
        "section 4.2, Figure 2",
        all(product[system] < both[system] for system in both),
        f"the products of all three scores are {_range(product)}; attributes inside F1 give {_range(both)}, more for "
        f"{sum(both[system] > product[system] for system in both)} of {len(both)} systems",
    )
    bounded = sum(both[system] <= min(type_[system], realis[system]) for system in both)
    harder = sum(realis[system] < type_[system] for system in both)
    yield Claim(
        "The combined score of all attributes now falls into a more reasonable range (bounded by the performance "
        "of the hardest attribute, namely realis status)",
        "section 4.2, Figure 3",
        bounded == len(both),
        f"type+realis F1 is at most the F1 of the harder attribute for {bounded} of {len(both)} systems; realis "
        f"is the harder one for {harder}, as they were simulated",
    )
    monotone = sum(span[system] >= max(type_[system], realis[system]) for system in both)
    yield Claim(
        "We also observe that all performances decrease monotonically",
        "section 4.2, Figure 3",
        monotone == bounded == len(both),
        f"from span to one attribute, and from one to both, F1 never rises in {min(monotone, bounded)} of "
        f"{len(both)} systems",
    )


def _range(column: Mapping[str, float]) -> str:
    return f"{percent(min(column.values()))} to {percent(max(column.values()))}"


def _bottlenecks(scores: Scores) -> Iterator[Claim]:
    span, type_ = scores.column(FIXED, SPAN), scores.column(FIXED, TYPE)
    gaps = {system: span[system] - type_[system] for system in span}
    *_, narrow = wide, *_ = sorted(gaps, key=lambda system: (-gaps[system] / span[system], system))
    accuracy = scores.column(PILOT, TYPE_ACCURACY, "accuracy")
    yield Claim(
        "in system 7, there is a big gap between the mention type F1 score and the span F1. This indicates that "
        "the type detection accuracy is low and should be improved. In system 5, the mention span F1 and mention "
        "type F1 are very close",
        "section 4.2, Figure 3",
        (wide, narrow) == ("type-blind", "type-sure"),
        f"the widest gap, {percent(gaps[wide])} points, is that of {wide}, which was given wrong types; the "
        f"narrowest, {percent(gaps[narrow])}, that of {narrow}, which was given nearly none",
    )
    better = sum(value > accuracy[narrow] for value in accuracy.values())
    yield Claim(
        "This information is not immediately clear from the other figures",
        "section 4.2",
        better > 0,
        f"by type accuracy (Figure 1), {better} systems are above {narrow}, whose types are nearly always right: it "
        "misses mentions, and each is a wrong type, too",
    )


def _long_words(gold: Sequence[Document]) -> Claim:
    """Systems that find one word of every mention: by tokens they are equal."""
    longest, shortest = ([pilot.reduced(document, longest=flag) for document in gold] for flag in (True, False))
    by_token = [known(scored(gold, system, FIXED)[0], SPAN) for system in (longest, shortest)]
    characters = [[pilot.in_characters(document) for document in side] for side in (gold, longest, shortest)]
    by_character = [known(scored(characters[0], system, FIXED)[0], SPAN) for system in characters[1:]]
    return Claim(
        "character span evaluation, which will favor long words than short words",
        "footnote 4",
        by_token[0] == by_token[1] and by_character[0] > by_character[1],
        "a system that finds only the longest word of every mention and one that finds only the shortest both "
        f"have span F1 {percent(by_token[0])} by tokens; by characters they have {percent(by_character[0])} and "
        f"{percent(by_character[1])}",
    )


# Remarks


def remarks(scores: Scores, gold: Sequence[Document]) -> Iterator[str]:
    before, after = (known(result, SPAN) for result in scored(gold, pilot.made(gold, CARELESS), PILOT, FIXED))
    other = "average"
    values = [scores.value(protocol, other, SPAN) for protocol in (PILOT, FIXED)]
    yield (
        "That the order stays is not a law, and these systems are no evidence for it: the fix costs most where spans "
        "are worst, and with more than 20 % wrong ends, as first tried, the order changed. A system with "
        f"45 % wrong ends has span F1 {percent(before)} in the pilot "
        f"and {percent(after)} after the fix; {other} has {percent(values[0])} and {percent(values[1])}, so the "
        f"two {'change' if (before > values[0]) != (after > values[1]) else 'keep'} places."
    )
    characters = span_by_character(scores)
    tokens = scores.column(FIXED, SPAN)
    changes = [abs(characters[system] - tokens[system]) for system in tokens]
    same = "stays the same" if order(characters) == order(tokens) else "changes"
    yield (
        f"Between tokens and characters, the span F1 of whole systems differs by {percent(max(changes))} points "
        f"at most, and their order {same}."
    )
    rising = sum(
        scores.value(TAC, system, loose) < scores.value(TAC, system, strict)
        for system in tokens
        for loose, strict in ((SPAN, TYPE), (SPAN, REALIS), (TYPE, BOTH), (REALIS, BOTH))
    )
    yield (
        "The monotone decrease is a law of Algorithm 4, which filters one alignment. tac-2017 aligns anew for "
        f"every set of attributes, and a stricter score may be higher there; it is in {rising} of "
        f"{4 * len(tokens)} pairs here."
    )
    yield (
        "Algorithm 1 as printed never ends, and Algorithm 2 counts misses as false alarms; `karat explain "
        "nugget` lists where paper and programs differ."
    )


TITLE = "Liu, Mitamura and Hovy (2015), Evaluation Algorithms for Event Nugget Detection: A Pilot Study"
DATA = None
FIGURES = ("figure-1", "figure-2", "figure-3")

ABOUT = (
    "SIMULATED: the pilot's corpus (LDC2015E3) needs a licence, and its 15 submissions are not public. karat makes 200 "
    "documents with 6,921 event mentions, and 15 systems of different character from them (`karat simulate`), the same "
    "in every run. The scores are not those of the paper, which prints figures only; the paper's claims are checked."
)


def reproduce(data: str | None, progress: Progress | None, *, quick: bool = False) -> Reproduction:
    """Section 4 on simulated documents."""
    del data, quick
    gold = pilot.gold()
    in_characters = [pilot.in_characters(document) for document in gold]
    tokens: dict[str, dict[str, Result]] = {name: {} for name in PROTOCOLS}
    characters: dict[str, Result] = {}
    steps = len(pilot.SYSTEMS) + 1
    for number, one in enumerate(pilot.SYSTEMS, 1):
        system = pilot.made(gold, one.rates)
        for protocol, result in zip(PROTOCOLS, scored(gold, system, *PROTOCOLS), strict=True):
            tokens[protocol][one.name] = result
        (characters[one.name],) = scored(in_characters, [pilot.in_characters(document) for document in system], FIXED)
        if progress is not None:
            progress(number, steps)
    scores = Scores(tokens, characters)
    checked = tuple(claims(scores, gold))
    noted = tuple(remarks(scores, gold))
    if progress is not None:
        progress(steps, steps)
    return Reproduction(
        title=TITLE,
        about=ABOUT,
        numbers=(_corpus(gold), _example(), _precision(scores), *_tables(scores), _units(scores)),
        claims=checked,
        remarks=noted,
        figures=dict(zip(FIGURES, _figures(scores), strict=True)),
    )


# Numbers


def _corpus(gold: Sequence[Document]) -> Numbers:
    mentions = [mention for document in gold for mention in document.mentions]
    found: dict[str, Cell] = {
        "documents": Cell(len(gold), 200),
        "event mentions": Cell(len(mentions), 6921),
        "systems": Cell(len(pilot.SYSTEMS), 15),
        "types": Cell(len({str(mention.attributes["type"]).partition(".")[0] for mention in mentions}), 8),
    }
    return Numbers(
        "The simulated corpus (section 4, footnote 2)",
        (Column("simulated", "count"),),
        {name: (cell,) for name, cell in found.items()},
    )


def _example() -> Numbers:
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


def _precision(scores: Scores) -> Numbers:
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


def _tables(scores: Scores) -> Iterator[Numbers]:
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


def _units(scores: Scores) -> Numbers:
    tokens = scores.column(FIXED, SPAN)
    characters = span_by_character(scores)
    return Numbers(
        "Span F1 with spans in tokens and in characters (footnote 4)",
        (Column("tokens"), Column("characters"), Column("change")),
        {
            system: tuple(map(Cell, (tokens[system], characters[system], characters[system] - tokens[system])))
            for system in order(tokens)
        },
    )


def _figures(scores: Scores) -> Iterator[Figure]:
    for protocol, kind in ((PILOT, "accuracy"), (PILOT, "product"), (FIXED, "attributes")):
        figure = systems_figure(scores.tokens[protocol], kind)
        rows = tuple(tuple(replace(panel, row_field="simulated system") for panel in row) for row in figure.rows)
        yield replace(figure, rows=rows, comments=(ABOUT, *figure.comments))
