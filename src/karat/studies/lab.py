"""The laboratory: how measures behave while a system grows from nothing to gold, and turns from gold to chaos.

An examination, and its report as text, JSON or CSV, and as a figure.
"""

import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

from msgspec import Struct

from karat.checks import checked
from karat.corpus.interface import Corpus, Progress
from karat.corpus.opening import open_corpus
from karat.formats import FORMATS
from karat.model import Document, Pair
from karat.problems import Findings, KaratError, Report, Rule
from karat.protocols import PROTOCOLS, Protocol, resolve, resolve_all
from karat.report.figures.figure import Curves, Figure, Line
from karat.report.layout import counted, table
from karat.report.markup import csv
from karat.report.outputs import indented
from karat.result import Result
from karat.run.pairs import FindingPlaces, Preparation
from karat.run.plan import Options as RunOptions
from karat.run.plan import Plan
from karat.run.scoring import score
from karat.studies.curves import Bench, Curve, Group, curve_of, groups, stops, ways
from karat.studies.pieces import Pieces, bare, strangers
from karat.studies.properties import PROPERTIES, Verdict, judged, percent, plural

SAMPLES = (
    "demo/gold.jsonl",
    "studies/data/araki-2014/gold.forest",
    "studies/data/ace/norvik.apf.xml",
    "studies/data/arguments/sentences.json",
    "studies/data/arguments/incidents.json",
    "studies/data/relations/maven-ere.jsonl",
    "studies/data/relations/quake.tml",
)
"""Default gold: the first corpus whose default protocol has the measure."""

UNMOVED = Rule("measure-unmoved", "fatal", "Choose gold that has what the measure reads (--gold), or other settings.")


class Options(Struct, frozen=True):
    """The number of systems to score, and the orders of their pieces."""

    steps: int = 200
    """Points of a curve; if there are more pieces, several are added at once."""
    orders: int = 2
    """The number of orders in which pieces are added: from last to first, and random ones."""
    seed: int = 0


class Examined(Struct, frozen=True):
    """The results for one measure."""

    measure: str
    score: str
    """The score that was examined."""
    noun: str
    """The noun for its pieces."""
    verdicts: tuple[Verdict, ...]


class Examination(Struct, frozen=True):
    """The results for all examined measures."""

    base: Result
    """Gold against itself."""
    measures: tuple[Examined, ...]
    curves: tuple[Curve, ...]
    unmoved: tuple[str, ...]
    """Measures that do not depend on anything in this gold."""


def examine(
    prefix: str,
    gold: Corpus,
    protocol: Protocol,
    options: Options,
    *,
    findings: Findings,
    progress: Progress | None = None,
) -> Examination:
    """Examine the measures of a protocol whose ids start with `prefix`."""
    (base,) = score(gold, gold, [protocol], RunOptions((prefix,)), findings=Findings())
    documents = seen(gold, protocol, findings.add)
    bench = Bench(protocol, prefix)
    grouped = groups(bench, documents)
    if not grouped:
        raise UNMOVED.error(f"{', '.join(base.scores)} reads nothing that this gold has", file=gold.name)
    advance = _counter([group.pieces for group in grouped], options, progress)
    curves: list[Curve] = []
    examined: dict[str, Examined] = {}
    for group in grouped:
        of_group = []
        for index, way in enumerate(ways(group.pieces, orders=options.orders, seed=options.seed)):
            # Swapping takes as long as everything else: sides are swapped in the first order of each direction.
            swap = index % options.orders == 0
            of_group.append(
                curve_of(bench, group.pieces, way, group.measures, steps=options.steps, swap=swap, progress=advance)
            )
        examined |= _examined(bench, group, of_group)
        curves += of_group
    return Examination(
        base=base,
        measures=tuple(examined[id_] for id_ in base.scores if id_ in examined),
        curves=tuple(curves),
        unmoved=tuple(id_ for id_ in base.scores if id_ not in examined),
    )


def seen(gold: Corpus, protocol: Protocol, report: Report) -> list[Document]:
    """Gold as a protocol sees it, after its filters and its collapse."""
    places = FindingPlaces(gold, gold, report)
    preparation = Preparation([protocol], places.report)
    documents = []
    try:
        for id_ in sorted(gold.ids()):
            document = checked(gold.read(id_, report), partial(gold.where, id_), report)
            pair = Pair(document, document)
            with places.of(id_):
                documents.append(bare(preparation.prepare(pair, [0])[0].tables.pair.gold))
    finally:
        gold.close()
    return documents


def _examined(bench: Bench, group: Group, curves: Sequence[Curve]) -> dict[str, Examined]:
    pieces = group.pieces
    whole = bench.leaves(pieces.gold, pieces.gold)
    different = {what: bench.leaves(pieces.gold, system, is_read=True) for what, system in _different(pieces).items()}
    examined = {}
    for id_ in group.measures:
        scores = {what: leaves[id_] for what, leaves in different.items()}
        verdicts = judged(id_, whole[id_], scores, curves)
        examined[id_] = Examined(id_, whole[id_].main_name, pieces.noun, tuple(verdicts))
    return examined


def _different(pieces: Pieces) -> dict[str, list[Document]]:
    """Systems that have nothing in common with gold: no right piece, or not even a mention."""
    wrong, others = len(pieces.wrong), strangers(pieces.gold)
    system = pieces.system((), range(wrong))
    systems = {"no mention in common": others}
    if [document.mentions for document in system] != [document.mentions for document in others]:
        systems[f"no right {pieces.noun} and {wrong} wrong {plural('one', wrong)}"] = system
    return systems


def _counter(pieces: Sequence[Pieces], options: Options, progress: Progress | None) -> Callable[[], None]:
    """A function to call after each scored system, which reports progress."""
    sizes = [len(side) for kind in pieces for side in (kind.correct, kind.wrong)]
    total = options.orders * sum(len(stops(size, options.steps)) for size in sizes)
    done = 0

    def advance() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, total)

    return advance


def setting(
    prefix: str, gold: Corpus | None, protocol: str | None, settings: Mapping[str, Any]
) -> tuple[Corpus, Protocol]:
    """The gold and the protocol to examine a measure with, if the user names only one of them or neither."""
    corpora = samples() if gold is None else [gold]
    if protocol is not None:
        fitting = [corpus for corpus in corpora if protocol in corpus.protocols]
        fitting = fitting or [corpus for corpus in corpora if _offers(corpus, protocol, prefix)]
        (chosen,) = resolve_all([protocol], settings)
        return (fitting or corpora)[0], chosen
    usable = [(corpus, name) for corpus in corpora for name in corpus.protocols]
    usual = dict.fromkeys(name for _, format_ in FORMATS for name in format_.protocols)
    others = [(corpus, name) for name in (*usual, *PROTOCOLS.names()) for corpus in corpora]
    corpus, name = next((pair for pair in (*usable, *others) if _offers(*pair, prefix)), (usable or others)[0])
    (chosen,) = resolve_all([name], settings)
    return corpus, chosen


def _offers(corpus: Corpus, name: str, prefix: str) -> bool:
    """Check that a protocol has such a measure for a corpus, and that it counts something there."""
    facts = corpus.facts()
    try:
        plan = Plan(resolve(name), facts, facts, RunOptions())
        if not any(id_.startswith(prefix) for id_ in plan.offered):
            return False
        (result,) = score(corpus, corpus, [resolve(name)], RunOptions((prefix,)), findings=Findings())
    except KaratError:
        return False
    counts = [score.micro.counts for score in result.scores.values()]
    return any(count is None or any(count.to_dict().values()) for count in counts)


def samples() -> list[Corpus]:
    """The corpora that come with karat."""
    folder = Path(str(files("karat")))
    corpora = [open_corpus(str(folder / name)) for name in SAMPLES]
    for corpus, name in zip(corpora, SAMPLES, strict=True):
        corpus.name = f"{name} (bundled)"
    return list(corpora)


# The report

WIDTH = 50
BARS = "▁▂▃▄▅▆▇█"
GAP = "·"
"""A point where the score is undefined."""

WAYS = {"grow": "from nothing to gold", "spoil": "from gold to chaos"}
KINDS = {"grow": "right", "spoil": "wrong"}


def text(examination: Examination) -> str:
    """Everything, top to bottom: what was examined, the verdicts, counter-examples, curves, the signature."""
    base = examination.base
    side = ["gold", base.gold.name, counted(base.gold.documents, "document"), counted(base.gold.mentions, "mention")]
    blocks = [
        f"{base.protocol}: {base.title}",
        table([], [side], left=2),
        verdicts(examination),
        *counterexamples(examination),
        *map(bars, first_ways(examination)),
        *(
            [f"not examined, since they depend on nothing in this gold: {', '.join(unmoved)}"]
            if (unmoved := examination.unmoved)
            else []
        ),
        f"signature  {base.signature}",
    ]
    return "\n\n".join(blocks) + "\n"


def verdicts(examination: Examination) -> str:
    """One row per measure, one column per property."""
    header = ["measure", "score", "pieces", *(f"{id_} {name}" for id_, name in PROPERTIES.items())]
    rows = [
        [
            examined.measure,
            examined.score,
            plural(examined.noun, 2),
            *(verdict.summary for verdict in examined.verdicts),
        ]
        for examined in examination.measures
    ]
    return table(header, rows, left=len(header))


def counterexamples(examination: Examination) -> Iterator[str]:
    """The counter-examples of each measure; measures with the same ones share a block."""
    alike: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for examined in examination.measures:
        examples = tuple((verdict.property, example) for verdict in examined.verdicts for example in verdict.examples)
        alike.setdefault(examples, []).append(examined.measure)
    for examples, measures in alike.items():
        if examples:
            lines = [
                textwrap.fill(f"{id_}  {what}", 118, initial_indent="  ", subsequent_indent=" " * 6)
                for id_, what in examples
            ]
            yield "\n".join([", ".join(measures), *lines])


def first_ways(examination: Examination) -> list[Curve]:
    """The curves from the last piece to the first, without random orders."""
    firsts: dict[tuple[str, tuple[str, ...]], Curve] = {}
    for curve in examination.curves:
        firsts.setdefault((curve.direction, curve.measures), curve)
    return list(firsts.values())


def bars(curve: Curve) -> str:
    """The curves of several measures, one per line, between their first and last scores."""
    what = f"{counted(curve.pieces, f'{KINDS[curve.direction]} {curve.noun}')}, {curve.order}"
    values = {id_: curve.values(id_) for id_ in curve.measures}
    rows = [[id_, percent(scores[0]), bar(scores), percent(scores[-1])] for id_, scores in values.items()]
    return f"{WAYS[curve.direction]}: {what}\n{table([], rows)}"


def bar(values: Sequence[float | None]) -> str:
    """A curve in one line: the height of each column is a score from 0 to 1."""
    columns = min(WIDTH, len(values))
    picked = [values[(len(values) - 1) * column // max(columns - 1, 1)] for column in range(columns)]
    return "".join(
        GAP if value is None else BARS[min(max(int(value * len(BARS)), 0), len(BARS) - 1)] for value in picked
    )


def json(examination: Examination) -> str:
    """For programs: verdicts, and every point of every curve."""
    base = examination.base
    fields: dict[str, Any] = {
        "karat": base.version,
        "protocol": base.protocol,
        "signature": base.signature,
        "gold": base.gold.to_dict(),
        "measures": {
            examined.measure: {
                "score": examined.score,
                "pieces": examined.noun,
                "properties": {
                    verdict.property: {
                        "name": PROPERTIES[verdict.property],
                        "holds": verdict.holds,
                        "summary": verdict.summary,
                        "examples": verdict.examples,
                    }
                    for verdict in examined.verdicts
                },
            }
            for examined in examination.measures
        },
        "unmoved": examination.unmoved,
        "curves": examination.curves,
    }
    return indented(fields)


def points(examination: Examination) -> str:
    """For spreadsheets: the curves, one line per point and measure."""
    rows = [
        [curve.direction, curve.order, point.pieces, point.added, id_, point.scores[id_], point.swapped.get(id_)]
        for curve in examination.curves
        for point in curve.points
        for id_ in curve.measures
    ]
    return csv(["direction", "order", "pieces", "added", "measure", "score", "swapped"], rows)


def figure(examination: Examination) -> Figure:
    """The curves: one row per kind of piece, growth to gold beside the way to chaos."""
    rows: dict[tuple[str, ...], dict[str, list[Curve]]] = {}
    for curve in examination.curves:
        rows.setdefault(curve.measures, {}).setdefault(curve.direction, []).append(curve)
    panels = tuple(tuple(map(_panel, ways.values())) for ways in rows.values())
    return Figure(panels, title(examination), (f"signature {examination.base.signature}",))


def title(examination: Examination) -> str:
    base = examination.base
    others = len({curve.order for curve in examination.curves}) - 1
    thin = f"; thin: {counted(others, 'other order')} of pieces" if others else ""
    return f"{base.protocol} on {base.gold.name}{thin}"


def _panel(curves: Sequence[Curve]) -> Curves:
    first = curves[0]
    lines = [
        Line(
            id_,
            tuple(curve.values(id_)),
            tuple(point.pieces / max(curve.pieces, 1) for point in curve.points),
            index > 0,
        )
        for index, curve in enumerate(curves)
        for id_ in curve.measures
    ]
    across = f"{KINDS[first.direction]} {plural(first.noun, 2)} [% of {first.pieces}]"
    return Curves(WAYS[first.direction], across, tuple(lines))
