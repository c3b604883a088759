"""Liu, Mitamura and Hovy (2015): section 4 and its three figures, on a simulated pilot.

    section 2.4    precision TP / (TP + FP) and its fix, TP / N_S      `tac-pilot` and `liu-2015`
    Figure 1       span F1 and attribute accuracies (Algorithms 2, 3)  `tac-pilot`
    Figure 2       their products                                      `tac-pilot`
    Figure 3       attributes inside F1 (Algorithm 4)                  `liu-2015`
    footnote 4     spans in tokens or in characters

The paper prints figures without numbers, so there is little to compare numbers with; its claims can be checked.
"""

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from karat.corpus import Progress
from karat.model import Document, Mention
from karat.report.figures.figure import Figure
from karat.report.figures.kinds import systems_figure
from karat.results import Result
from karat.studies import pilot
from karat.studies.papers import Cell, Column, Numbers, Reproduction
from karat.studies.papers._liu_2015_claims import (
    ACCURACIES,
    BOTH,
    FIXED,
    PILOT,
    PRODUCTS,
    PROTOCOLS,
    REALIS,
    SPAN,
    TYPE,
    TYPE_ACCURACY,
    Scores,
    claims,
    known,
    order,
    remarks,
    scored,
    span_by_character,
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
