"""The five properties of a good measure (Araki et al. 2014, section 3.3), judged on curves, with counter-examples.

    P1  identity    gold against itself scores 1
    P2  symmetry    swapping the two sides changes nothing
    P3  zero        a system that has nothing in common with gold scores 0
    P4  monotone    every right piece raises the score, every wrong one lowers it
    P5  linear      every piece is worth the same: the curve is a straight line

Scores that differ by less than 1e-9 are equal, since they were computed in different orders. An undefined score is
reported, but not judged.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from msgspec import Struct

from karat.counts import ScoreValues
from karat.report.tables import UNDEFINED
from karat.studies.curves import Curve, Point

SAME = 1e-9

PROPERTIES = {
    "P1": "identity",
    "P2": "symmetry",
    "P3": "zero",
    "P4": "monotone",
    "P5": "linear",
}


class Verdict(Struct, frozen=True):
    """The judgement whether a measure has a property."""

    property: str
    holds: bool | None
    """None: nothing could be judged."""
    summary: str
    """In one word, or with a number."""
    examples: tuple[str, ...] = ()
    """Counter-examples, and points that could not be judged."""


def judged(
    measure: str, identity: ScoreValues, different: Mapping[str, ScoreValues], curves: Sequence[Curve]
) -> list[Verdict]:
    """All five verdicts.

    `different` are the scores of systems that have nothing in common with gold, where an F1 whose precision and recall
    are both 0 is 0.
    """
    return [
        _identity(identity.main_value),
        _symmetry(measure, curves),
        _zero(different),
        _monotone(measure, curves),
        _linear(measure, curves),
    ]


def _identity(score: float | None) -> Verdict:
    if score is None:
        return Verdict("P1", None, UNDEFINED, ("gold against itself is undefined",))
    if _same(score, 1.0):
        return Verdict("P1", True, "yes")
    return Verdict("P1", False, f"no, {percent(score)}", (f"gold against itself: {percent(score)}",))


def _symmetry(measure: str, curves: Sequence[Curve]) -> Verdict:
    worst: tuple[float, Curve, Point] | None = None
    compared = 0
    for curve in curves:
        for point in curve.points:
            if measure not in point.swapped:
                continue
            compared += 1
            distance = _distance(point.scores[measure], point.swapped[measure])
            if distance > SAME and (worst is None or distance > worst[0]):
                worst = distance, curve, point
    if worst is None:
        return Verdict("P2", True, "yes") if compared else Verdict("P2", None, UNDEFINED)
    distance, curve, point = worst
    scores = f"{percent(point.scores[measure])}, with the sides swapped {percent(point.swapped[measure])}"
    return Verdict("P2", False, f"no, {percent(distance)}", (f"{_place(curve, point)}: {scores}",))


def _zero(different: Mapping[str, ScoreValues]) -> Verdict:
    scores = {what: leaf.main_value for what, leaf in different.items()}
    known = [score for score in scores.values() if score is not None]
    odd = [what for what, score in scores.items() if score is None or not _same(score, 0)]
    examples = tuple(f"{what}: {percent(scores[what])}{_beside(different[what])}" for what in odd)
    if not known:
        return Verdict("P3", None, UNDEFINED, examples)
    worst = max(known, key=abs)
    if _same(worst, 0):
        return Verdict("P3", True, "yes", examples)
    return Verdict("P3", False, f"no, {percent(worst)}", examples)


def _beside(leaf: ScoreValues) -> str:
    """The scores that are defined if the main score is not."""
    known = [f"{name} {percent(value)}" for name, value in leaf.values.items() if value is not None]
    return f" ({', '.join(known)})" if known and leaf.main_value is None else ""


def _monotone(measure: str, curves: Sequence[Curve]) -> Verdict:
    """Strictly, as in the paper: a right piece that adds nothing is also a failure."""
    astray: list[tuple[float, str]] = []
    flat: list[str] = []
    judged_ = 0
    for curve in curves:
        for before, after in pairwise(curve.points):
            old, new = before.scores[measure], after.scores[measure]
            if old is None or new is None:
                continue
            judged_ += 1
            gain = new - old if curve.direction == "grow" else old - new
            if abs(gain) <= SAME:
                flat.append(f"{_step(curve, before, after)}: stays at {percent(new)}")
            elif gain < 0:
                verb = "falls" if curve.direction == "grow" else "rises"
                astray.append((gain, f"{_step(curve, before, after)}: {verb} from {percent(old)} to {percent(new)}"))
    examples = [_of(len(astray), min(astray)[1])] if astray else []
    examples += [_of(len(flat), flat[0])] if flat else []
    examples += _undefined(measure, curves)
    if not judged_:
        return Verdict("P4", None, UNDEFINED, tuple(examples))
    result = f"no, {len(astray)} astray" if astray else f"no, {len(flat)} flat" if flat else "yes"
    return Verdict("P4", not astray and not flat, result, tuple(examples))


def _undefined(measure: str, curves: Iterable[Curve]) -> Iterator[str]:
    """Undefined points; for each direction, those of the first order that has some."""
    reported: set[str] = set()
    for curve in curves:
        lacking = [point for point in curve.points if point.scores[measure] is None]
        if lacking and curve.direction not in reported:
            reported.add(curve.direction)
            more = f" and {len(lacking) - 1} more times" if len(lacking) > 1 else ""
            yield f"{_place(curve, lacking[0])}{more}: undefined, not judged"


def _linear(measure: str, curves: Sequence[Curve]) -> Verdict:
    bends: dict[str, tuple[float, Point, float, Curve]] = {}
    for curve in curves:
        bend = deviation(curve, measure)
        if bend is not None and (curve.direction not in bends or bend[0] > bends[curve.direction][0]):
            bends[curve.direction] = (*bend, curve)
    if not bends:
        return Verdict("P5", None, UNDEFINED)
    examples = [
        f"{_place(curve, point)}: {percent(point.scores[measure])}, on the straight line {percent(line)}"
        for share, point, line, curve in bends.values()
        if share > SAME
    ]
    if not examples:
        return Verdict("P5", True, "yes")
    shares = " / ".join(f"{bends[way][0]:.3f}" if way in bends else UNDEFINED for way in ("grow", "spoil"))
    return Verdict("P5", False, f"no, {shares}", tuple(examples))


def deviation(curve: Curve, measure: str) -> tuple[float, Point, float] | None:
    """The largest distance from the chord as a share of the range, the point, and the chord's value there."""
    known = [(point, score) for point in curve.points if (score := point.scores[measure]) is not None]
    if len(known) < 2 or _same(known[0][1], known[-1][1]):
        return None
    (first, low), (last, high) = known[0], known[-1]
    bends = []
    for point, score in known:
        line = low + (high - low) * (point.pieces - first.pieces) / (last.pieces - first.pieces)
        bends.append((abs(score - line) / abs(high - low), point, line))
    return max(bends, key=lambda bend: bend[0])


def _place(curve: Curve, point: Point) -> str:
    what = {"grow": "right", "spoil": "wrong"}[curve.direction]
    return f"with {point.pieces} of {curve.pieces} {what} {plural(curve.noun, curve.pieces)}{_order(curve)}"


def _step(curve: Curve, before: Point, after: Point) -> str:
    what = {"grow": "right", "spoil": "wrong"}[curve.direction]
    more = after.pieces - before.pieces - 1
    others = f" and {more} more" if more else ""
    return f"{what} {curve.noun} {after.pieces}, {after.added}{others}{_order(curve)}"


def _order(curve: Curve) -> str:
    return "" if curve.order.startswith("from") else f", {curve.order}"


def _of(count: int, example: str) -> str:
    return example if count == 1 else f"{example} (and {count - 1} more)"


def plural(noun: str, count: int) -> str:
    """`mention`, `mentions`."""
    return noun + "s" * (count != 1)


def percent(score: float | None) -> str:
    """A score as in every table: a percentage with two digits."""
    return UNDEFINED if score is None else f"{100 * score:.2f}"


def percent_range(scores: Iterable[float]) -> str:
    """`0.30 to 2.23`; one number if they are the same."""
    values = sorted(scores)
    low, high = percent(values[0]), percent(values[-1])
    return low if low == high else f"{low} to {high}"


def _same(score: float, other: float) -> bool:
    return abs(score - other) <= SAME


def _distance(score: float | None, other: float | None) -> float:
    """The distance of two scores; the greatest possible if only one is defined."""
    if score is None or other is None:
        return 0.0 if score is other else 1.0
    return abs(score - other)
