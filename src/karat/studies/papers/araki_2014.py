"""Araki, Hovy and Mitamura (2014): the worked examples, Table 1 scored, and both panels of Figure 4.

The paper prints the forests of Table 1, but only curves of their scores. It adds links "in a bottom-up fashion" and
gives the first of each panel, 28 -> 29 and 49 -> 50. We continue each panel in two ways:

    (a)  links in reverse preorder                     (b)  each root below the one before it, last to first: a chain
         the deepest first, in that order                   each root below the first, last to first: a star
"""

from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

from msgspec.structs import replace

from karat.corpus.interface import Progress
from karat.corpus.opening import open_corpus
from karat.counts import ScoreValues
from karat.model import Document, Link, Mention
from karat.protocols import resolve
from karat.report.figures.figure import Curves, Figure, Line
from karat.studies.curves import Bench, Curve, Way, curve_of
from karat.studies.pieces import Links, Placed
from karat.studies.properties import SAME, deviation, percent
from karat.studies.reproduction import Cell, Claim, Column, Numbers, Reproduction

# The worked examples: small systems for what sections 3, 4 and 6 say in words
#
# Gold is Figure 2, as far as the text describes it: sections 1, 3.1 and 3.3 name its mentions, E6 and E7 as one event,
# and five subevent links. Each system differs from it in one respect.

Event = tuple[str, ...]
"""The mentions of an event."""
Arc = tuple[str, str]
"""A mention of the parent, and one of the subevent."""
Scores = Mapping[str, float | None]
"""By the name of the measure."""

EVENTS: tuple[Event, ...] = (("E6", "E7"), ("E4",), ("E8",), ("E9",), ("E11",), ("E12",))
ARCS: tuple[Arc, ...] = (("E6", "E4"), ("E7", "E8"), ("E8", "E9"), ("E7", "E11"), ("E11", "E12"))
SHORT = {
    **{"mucp": "MUCp", "blancp": "BLANCp", "nstmp": "NSTMp", "siblings": "siblings", "ceafp": "CEAFp"},
    **{"muc": "MUC", "b3": "B3"},
}
METRICS = ("MUCp", "BLANCp", "NSTMp")
"""The metrics of the paper."""


def document(events: Sequence[Event], arcs: Sequence[Arc] = ()) -> list[Document]:
    """A document with these events and subevent links."""
    ids = [id_ for event in events for id_ in event]
    cluster_of = {id_: event[0] for event in events for id_ in event}
    # The last digits of an id are its place, so that both sides agree about it.
    mentions = [Mention(id_, ((int(id_[1:]), int(id_[1:]) + 1),), cluster=cluster_of[id_]) for id_ in ids]
    return [Document("d", mentions=tuple(mentions), links=tuple(Link("subevent", *arc) for arc in arcs))]


def scores(
    system: Sequence[Document], gold: Sequence[Document], protocol: str = "araki-2014", **settings: object
) -> Scores:
    """The main score of each measure."""
    family = "coref" if protocol == "conll-2012" else "hierarchy"
    leaves = Bench(resolve(protocol, settings), family).leaves(gold, system)
    return {
        SHORT[name]: leaf.values["f1"] if "f1" in leaf.values else leaf.values["score"]
        for id_, leaf in leaves.items()
        if (name := id_.rpartition(".")[2]) in SHORT
    }


class Examples:
    """Every system of the text, scored."""

    def __init__(self, table_1: Sequence[Document]) -> None:
        gold = document(EVENTS, ARCS)
        alike: dict[str, list[Arc]] = {"A": [("E6", "E8")], "B": [("E7", "E8")], "C": [("E6", "E8"), ("E7", "E8")]}
        self.alike = {name: scores(document(EVENTS, arcs), gold) for name, arcs in alike.items()}
        siblings: dict[str, list[Arc]] = {"A": [("E6", "E8"), ("E6", "E11")], "B": [("E8", "E9"), ("E11", "E12")]}
        self.siblings = {name: scores(document(EVENTS, arcs), gold) for name, arcs in siblings.items()}
        self.twinless = scores(document(EVENTS[:-1], ARCS[:-1]), gold)
        self.own_pairs = scores(document(EVENTS[:-1], ARCS[:-1]), gold, twinless="own-pairs")
        implied = document(EVENTS, [("E7", "E9") if arc == ("E8", "E9") else arc for arc in ARCS])
        self.implied, self.transitive = scores(implied, gold), scores(implied, gold, transitive=True)
        one_event = [("E6", "E7"), ("E4", "E8", "E11"), ("E9",), ("E12",)]
        self.merged = scores(document(one_event, ARCS), gold)
        linked = {end for link in table_1[0].links for end in (link.source, link.target)}
        kept = tuple(mention for mention in table_1[0].mentions if mention.id in linked)
        self.singletons = len(table_1[0].mentions) - len(kept)
        self.without_singletons = scores([replace(table_1[0], mentions=kept)], table_1)
        three = document([("m1", "m2"), ("m3", "m4"), ("m5", "m6")])
        systems = ([("m1", "m2", "m3", "m4", "m5", "m6")], [("m1", "m2"), ("m3",), ("m4",), ("m5",), ("m6",)])
        self.muc = [scores(document(events), three, "conll-2012") for events in systems]
        lone = document([("m1", "m2"), ("m3",), ("m4",)])
        self.muc_without_singletons = scores(document([("m1", "m2")]), lone, "conll-2012")

    def numbers(self) -> Iterator[Numbers]:
        columns = (*METRICS, "siblings", "CEAFp")
        yield _table("Section 3.2: one link of Figure 2, written in three ways", columns, self.alike)
        yield _table("Section 3.3: two links of Figure 2 with and without a common parent", columns, self.siblings)
        yield Numbers(
            "Section 4.4: a system without E12 (twinless), and one with E7 -> E9 for E8 -> E9 (implied)",
            (Column("twinless"), Column("implied"), Column("implied, transitive")),
            {
                name: (Cell(self.twinless[name]), Cell(self.implied[name]), Cell(self.transitive[name]))
                for name in METRICS
            },
        )

    def claims(self) -> Iterator[Claim]:
        yield Claim(
            "they gain the same score since the subevent links that they identify correspond to one correct subevent "
            "link",
            "section 3.2",
            len({tuple(self.alike[name].items()) for name in "ABC"}) == 1,
            f"systems A, B and C score alike by every measure: {_listed(self.alike['A'])}",
        )
        first, second = self.siblings["A"], self.siblings["B"]
        equal = [name for name in METRICS if _above(first[name], second[name]) == 0]
        yield Claim(
            "system A performs better since the system successfully detects an implicit subevent sibling relation",
            "section 3.3",
            _above(first["siblings"], second["siblings"]) > 0,
            f"only by measures that see more than links: A {_listed(first)}; B {_listed(second)}. "
            f"{' and '.join(equal)} rank them equal",
        )
        for name, says, requires_twins in (
            ("MUCp", "MUCp does not require both assumptions of twinless mentions and intransitivity", False),
            (
                "BLANCp",
                "BLANCp does not require intransitivity but does require the assumption of no twinless mentions",
                True,
            ),
            ("NSTMp", "[STMp] does not require the assumption of twinless mentions [nor] of intransitivity", False),
        ):
            twinless = self.twinless[name]
            yield Claim(
                says,
                "section 4.4",
                (twinless is None) == requires_twins and _above(self.transitive[name], self.implied[name]) > 0,
                f"without E12, {name} is {_score(twinless)}"
                + (f" (with twinless=own-pairs, {_score(self.own_pairs[name])})" if requires_twins else "")
                + f"; transitive=true raises it from {_score(self.implied[name])} to {_score(self.transitive[name])} "
                "for a system with the implied link E7 -> E9 in place of E8 -> E9",
            )
        many, few = self.muc
        yield Claim(
            "MUC has two disadvantages that (1) it prefers systems that have more mentions per entity (event) [...] "
            "MUCp also has these disadvantages",
            "section 6",
            _above(many["MUC"], few["MUC"]) > 0 > _above(many["B3"], few["B3"]) and self.merged["MUCp"] == 1,
            f"MUC gives {_score(many['MUC'])} to a system that takes three events of two mentions for one, and "
            f"{_score(few['MUC'])} to one that finds one of them and adds nothing wrong (B3: {_score(many['B3'])} and "
            f"{_score(few['B3'])}). MUCp gives {_score(self.merged['MUCp'])} to a system that takes E4, E8 and E11 "
            f"of Figure 2 for one event; NSTMp gives {_score(self.merged['NSTMp'])}",
        )
        yield Claim(
            "(2) it ignores recall for singletons",
            "section 6",
            self.muc_without_singletons["MUC"] == self.without_singletons["MUCp"] == 1,
            f"a system without the {self.singletons} singleton events of Table 1 has MUCp "
            f"{_score(self.without_singletons['MUCp'])} and NSTMp {_score(self.without_singletons['NSTMp'])}; one that "
            f"leaves out two singletons beside a pair has MUC {_score(self.muc_without_singletons['MUC'])} and B3 "
            f"{_score(self.muc_without_singletons['B3'])}",
        )


def _table(title: str, columns: Sequence[str], rows: Mapping[str, Scores]) -> Numbers:
    return Numbers(
        title,
        tuple(map(Column, columns)),
        {f"System {name}": tuple(Cell(scores[column]) for column in columns) for name, scores in rows.items()},
    )


def _above(score: float | None, other: float | None) -> float:
    """How far a score is above another, both defined."""
    assert score is not None
    assert other is not None
    return 0.0 if abs(score - other) <= SAME else score - other


def _score(value: float | None) -> str:
    return "undefined" if value is None else percent(value)


def _listed(scores: Scores) -> str:
    return ", ".join(f"{name} {_score(value)}" for name, value in scores.items())


# Table 1 and Figure 4

TITLE = "Araki, Hovy and Mitamura (2014), Evaluation for Partial Event Coreference"
DATA = None
FIGURES = ("figure-4",)

FOLDER = Path(str(files("karat"))) / "studies" / "data" / "araki-2014"
GOLD, *SYSTEMS = RESPONSES = ("Gold standard", "System 1", "System 2", "System 3")
FILES = dict(zip(RESPONSES, ("gold", "system-1", "system-2", "system-3"), strict=True))
KIND = "subevent"
MUCP, BLANCP, NSTMP = MEASURES = tuple(f"hierarchy.{KIND}.{name}" for name in ("mucp", "blancp", "nstmp"))
NAMES = dict(zip(MEASURES, ("MUCp", "BLANCp", "NSTMp"), strict=True))
PREORDER, DEEPEST = "(a) links in reverse preorder", "(a) deepest links first"
CHAIN, STAR = "(b) a chain of roots", "(b) a star on the first root"
CLOSE = 0.2
"""The largest deviation that is close to a straight line: the paper gives no number, we take a fifth of the range."""


def reproduce(data: Sequence[str], progress: Progress | None, *, quick: bool = False) -> Reproduction:
    """Sections 3 to 6; the data come with karat."""
    del data, progress, quick
    bench = Bench(resolve("araki-2014"), "hierarchy")
    forests = {name: [*open_corpus(str(FOLDER / f"{file}.forest"))] for name, file in FILES.items()}
    scored = {name: bench.leaves(forests[GOLD], system) for name, system in forests.items()}
    figure_4 = curves(bench, forests[GOLD])
    examples = Examples(forests[GOLD])
    return Reproduction(
        title=TITLE,
        numbers=(
            shape(forests[GOLD][0]),
            Numbers(
                "Table 1, scored (the paper prints no scores)",
                (Column("MUCp P"), Column("MUCp R"), Column("MUCp F1"), Column("BLANCp"), Column("NSTMp")),
                {name: _scores(leaves) for name, leaves in scored.items()},
            ),
            _figure(figure_4),
            *examples.numbers(),
        ),
        claims=(*_claims(figure_4, gold=forests[GOLD][0]), *examples.claims()),
        remarks=tuple(_remarks(figure_4)),
        figures=dict(zip(FIGURES, [figure(figure_4)], strict=True)),
    )


def figure(figure_4: Mapping[str, Curve]) -> Figure:
    """Both panels."""
    right = Curves(
        "(a) correct links are added",
        "ratio of correct links [%]",
        (
            *(_line(NAMES[measure], figure_4[PREORDER], measure) for measure in (MUCP, BLANCP)),
            _line("NSTMp (in a: reverse preorder)", figure_4[PREORDER], NSTMP),
            _line("NSTMp (in a: deepest links first)", figure_4[DEEPEST], NSTMP),
        ),
    )
    wrong = Curves(
        "(b) incorrect links are added",
        "ratio of incorrect links [%]",
        tuple(_line(name, figure_4[CHAIN], measure) for measure, name in NAMES.items()),
    )
    return Figure(((right, wrong),))


def shape(document: Document) -> Numbers:
    """Numbers of section 5 about the gold standard."""
    parents = {link.target: link.source for link in document.links}
    trees = {root for root in parents.values() if root not in parents}
    linked = parents.keys() | trees
    singletons = len(document.mentions) - len(linked)
    levels = max(_level(mention.id, parents) for mention in document.mentions)
    counts = {
        "events": (len(document.mentions), 50),
        "singleton events": (singletons, 21),
        "event trees": (len(trees), 7),
        "levels": (levels, 3),
    }
    return Numbers(
        "Table 1, the gold standard (section 5)",
        (Column("gold standard", "count"),),
        {what: (Cell(*numbers),) for what, numbers in counts.items()},
    )


def _level(id_: str, parents: Mapping[str, str]) -> int:
    """1 for a root, 2 for its children, and so on."""
    level = 1
    while id_ in parents:
        id_, level = parents[id_], level + 1
    return level


def _scores(leaves: Mapping[str, ScoreValues]) -> tuple[Cell, ...]:
    mucp = [leaves[MUCP].values[name] for name in ("precision", "recall", "f1")]
    return tuple(map(Cell, (*mucp, leaves[BLANCP].values["f1"], leaves[NSTMP].values["score"])))


def curves(bench: Bench, gold: Sequence[Document]) -> dict[str, Curve]:
    """Figure 4: both panels, each in two ways."""
    usual = Links.of(gold, [KIND])
    parents = {link.target: link.source for link in gold[0].links}
    first, *others = usual.right
    deepest = [first, *sorted(others, key=lambda placed: -_level(placed[1].target, parents))]
    roots = [mention.id for mention in gold[0].mentions if mention.id not in parents]
    star: list[Placed] = [(0, Link(KIND, roots[0], root)) for root in reversed(roots[1:])]
    star[0] = usual.astray[0]
    result = {}
    for name, pieces in (
        (PREORDER, usual),
        (DEEPEST, Links(gold, [KIND], deepest, [])),
        (CHAIN, usual),
        (STAR, Links(gold, [KIND], usual.right, star)),
    ):
        grow = name in (PREORDER, DEEPEST)
        steps = len(pieces.correct if grow else pieces.wrong)
        way = Way("grow" if grow else "spoil", name, tuple(range(steps)))
        result[name] = curve_of(bench, pieces, way, MEASURES, steps=steps, swap=False)
    return result


def _figure(figure_4: Mapping[str, Curve]) -> Numbers:
    rows = {}
    for name, curve in figure_4.items():
        for measure in MEASURES:
            values, steps = _values(curve, measure), _steps(curve, measure)
            bend = deviation(curve, measure)
            numbers = (
                values[0],
                values[-1],
                min(steps),
                max(steps),
                bend and bend[0],
                sum(_flat(step) for step in steps),
            )
            rows[f"{name}: {NAMES[measure]}"] = tuple(map(Cell, numbers))
    columns = ("start", "end", "least step", "greatest step")
    return Numbers(
        "Figure 4 (the paper prints curves, no numbers); deviation from the chord as a share of the range",
        (*map(Column, columns), Column("deviation", "share"), Column("flat steps", "count")),
        rows,
    )


def _values(curve: Curve, measure: str) -> list[float]:
    return [value for value in curve.values(measure) if value is not None]


def _steps(curve: Curve, measure: str) -> list[float]:
    """The change of the score by each link."""
    return [after - before for before, after in pairwise(_values(curve, measure))]


def _flat(step: float) -> bool:
    return abs(step) <= SAME


def _bends(figure_4: Mapping[str, Curve], measure: str, *names: str) -> list[float]:
    return [bend[0] for name in names if (bend := deviation(figure_4[name], measure)) is not None]


def _claims(figure_4: Mapping[str, Curve], *, gold: Document) -> Iterator[Claim]:
    linear = [bend for measure in (MUCP, BLANCP) for bend in _bends(figure_4, measure, PREORDER, CHAIN)]
    yield Claim(
        "The curve of MUCp and BLANCp in Figure 4 are close to the linearity",
        "section 5",
        max(linear) < CLOSE,
        f"by our threshold of {CLOSE} (the paper gives none). Largest distance from the chord, as a share of the "
        "range: MUCp {:.3f} in (a), {:.3f} in (b); BLANCp {:.3f} in (a), {:.3f} in (b)".format(*linear),
    )
    grown = [_steps(figure_4[name], NSTMP) for name in (PREORDER, DEEPEST)]
    flat = [sum(map(_flat, steps)) for steps in grown]
    bends = _bends(figure_4, NSTMP, PREORDER, DEEPEST)
    yield Claim(
        "NSTMp fails to meet P4 and P5 in case (a)",
        "section 5",
        all(flat) and min(bends) > SAME,
        f"{flat[0]} of {len(grown[0])} correct links add nothing in reverse preorder, {flat[1]} with the deepest "
        f"first; the others add {percent(_least(grown[0]))} to {percent(max(grown[0]))}. The score never falls, and in "
        f"reverse preorder it is closer to the chord ({bends[0]:.3f}) than MUCp and BLANCp",
    )
    spoilt = _steps(figure_4[CHAIN], NSTMP)
    (bend,) = _bends(figure_4, NSTMP, CHAIN)
    yield Claim(
        "and fails to meet P5 in case (b)",
        "section 5",
        max(spoilt) < -SAME and bend > SAME,
        f"incorrect links cost between {percent(-max(spoilt))} and {percent(-min(spoilt))}; the largest distance from "
        f"the chord is {bend:.3f} of the range",
    )
    idle = {name: _idle(figure_4[name]) for name in (PREORDER, DEEPEST)}
    parents = {link.target: link.source for link in gold.links}
    below = [
        parent for links in idle.values() for parent, attached in links if parent in parents and parent not in attached
    ]
    total = sum(map(len, idle.values()))
    yield Claim(
        "This is because STM first checks whether root nodes have the same element, and if not, stops searching",
        "section 5",
        total > 0 and len(below) == total,
        f"{len(below)} of the {total} links that add nothing are below an event that is not yet attached to its own "
        "parent, and is therefore in another tree than in gold",
    )


def _least(steps: Sequence[float]) -> float:
    return min(step for step in steps if not _flat(step))


def _idle(curve: Curve) -> list[tuple[str, set[str]]]:
    """For each link that added nothing: its parent, and the events that were attached before."""
    idle, attached = [], set[str]()
    for before, after in pairwise(curve.points):
        _, parent, _, child = after.added.split()
        old, new = before.scores[NSTMP], after.scores[NSTMP]
        if old is not None and new is not None and _flat(new - old):
            idle.append((parent, set(attached)))
        attached.add(child)
    return idle


def _remarks(figure_4: Mapping[str, Curve]) -> Iterator[str]:
    start = {measure: percent(_values(figure_4[PREORDER], measure)[0]) for measure in MEASURES}
    yield (
        "The paper gives only the first link of each panel, 28 -> 29 and 49 -> 50, and says that it continues "
        "bottom-up; the two orders in (a) and the two shapes of the merged tree in (b) are our readings."
    )
    same = all(
        abs(score - other) <= SAME
        for measure in MEASURES
        for score, other in zip(_values(figure_4[CHAIN], measure), _values(figure_4[STAR], measure), strict=True)
    )
    yield f"In (b) a chain and a star give {'the same curves' if same else 'different curves'}."
    yield (
        f"P4 demands a range from 0 to 1. Without any link, MUCp is {start[MUCP]}, but BLANCp is {start[BLANCP]} and "
        f"NSTMp {start[NSTMP]}; the paper does not discuss this."
    )


def _line(name: str, curve: Curve, measure: str) -> Line:
    return Line(name, tuple(curve.values(measure)), tuple(point.pieces / curve.pieces for point in curve.points))
