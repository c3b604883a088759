"""An examination as text, JSON or CSV."""

import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from karat.report.figures.figure import Curves, Figure, Line
from karat.report.layout import counted, table
from karat.report.markup import csv_text
from karat.report.outputs import indented
from karat.studies.curves import Curve
from karat.studies.lab import Examination
from karat.studies.properties import PROPERTIES, percent, plural

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
    return csv_text(["direction", "order", "pieces", "added", "measure", "score", "swapped"], rows)


def figure(examination: Examination) -> Figure:
    """The curves: one row per kind of piece, growth to gold beside the way to chaos."""
    rows: dict[tuple[str, ...], dict[str, list[Curve]]] = {}
    for curve in examination.curves:
        rows.setdefault(curve.measures, {}).setdefault(curve.direction, []).append(curve)
    panels = tuple(tuple(map(_panel, ways.values())) for ways in rows.values())
    return Figure(panels, title(examination), (f"signature {examination.base.signature}",))


def title(examination: Examination) -> str:
    """Title of the picture."""
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
