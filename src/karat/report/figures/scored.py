"""Systems with their scores, as figures read them, and what figures take from them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from karat.comparison import Comparison
from karat.counts import Interval, ScoreValues
from karat.report.figures.panels import Series
from karat.report.layout import Sort
from karat.report.scores import intervals_line
from karat.report.tables import SHORT, level, score_names, summary
from karat.results import Confidence, Result, Score, family
from karat.results.errors import ErrorAnalysis


class MissingDataError(Exception):
    """The scores under one protocol do not have what a figure shows."""


class System(NamedTuple):
    """A system with all that figures show of it."""

    name: str
    scores: Mapping[str, Score]
    rank: int | None = None
    by: Mapping[str, Mapping[str, Mapping[str, Score]]] = {}
    errors: ErrorAnalysis | None = None


class Scored(NamedTuple):
    """Systems under one protocol: a result or a comparison."""

    protocol: str
    comments: Sequence[str]
    systems: Sequence[System]
    measures: Sequence[str]
    """Those that counted something."""
    confidence: Confidence | None
    sort: Sort = "loss"
    sort_by: str | None = None
    """The measure that systems are ranked by, if there are several."""
    baseline: str | None = None
    headline: Sequence[str] = ()


def of_result(result: Result, sort: Sort) -> Scored:
    """One system."""
    name = Path(result.system.name).stem or result.system.name
    return Scored(
        protocol=result.protocol,
        comments=_comments(result, result.confidence),
        systems=[System(name, result.scores, by=result.by, errors=result.errors)],
        measures=result.counted_ids(),
        confidence=result.confidence,
        sort=sort,
        headline=result.headline_ids(),
    )


def of_comparison(comparison: Comparison, sort: Sort) -> Scored:
    """Several systems, best first."""
    return Scored(
        protocol=comparison.first.protocol,
        comments=_comments(comparison.first, comparison.confidence),
        systems=[System(one.name, one.scores, one.rank, by=one.by) for one in comparison.systems],
        measures=comparison.measures(),
        confidence=comparison.confidence,
        sort=sort,
        sort_by=comparison.sort_by,
        baseline=comparison.baseline,
    )


def _comments(result: Result, how: Confidence | None) -> list[str]:
    intervals = [intervals_line(how).replace(" in brackets", " (low, high)")] if how is not None else []
    return [f"{result.protocol}: {result.title}", *intervals, f"signature {result.signature}"]


def main_series(name: str, id_: str, rows: Sequence[Score | None], system: str = "") -> Series:
    """The main score of a measure."""
    known = [score.micro for score in rows if score is not None]
    main = summary(score_names(known[:1]))
    return named_series(name, main[0] if main else "", rows, id_, system)


def named_series(name: str, score: str, rows: Sequence[Score | None], measure: str = "", system: str = "") -> Series:
    """A score by its name, of one row after another."""
    leaves = [None if row is None else row.micro for row in rows]
    intervals = tuple(_interval(leaf, score) for leaf in leaves)
    values = tuple(None if leaf is None else leaf.values.get(score) for leaf in leaves)
    return Series(name, values, measure, score, intervals if any(intervals) else (), system)


def _interval(leaf: ScoreValues | None, score: str) -> Interval | None:
    return None if leaf is None or leaf.ci is None else leaf.ci.values.get(score)


def main_value(system: System, id_: str) -> float | None:
    """The main score of a measure; None if there is none."""
    return main_series("", id_, [system.scores.get(id_)]).values[0]


def place(score: float | None) -> tuple[bool, float]:
    """What systems are sorted by: the best first, undefined scores last."""
    return score is None, 0.0 if score is None else -score


def axis_of(name: str, series: Sequence[Series], how: Confidence | None) -> str:
    """What is measured, with the name of the score if all have the same."""
    kinds = {SHORT.get(one.score, one.score) for one in series}
    has_intervals = any(one.intervals for one in series)
    words = f", {level(how.level)} intervals" if how is not None and has_intervals else ""
    return f"{name} {kinds.pop() if len(kinds) == 1 else 'score'} [%]{words}".strip()


def family_of(ids: Sequence[str]) -> str:
    """The family of all these measures; empty if they are of several."""
    families = set(map(family, ids))
    return families.pop() if len(families) == 1 else ""


def short_id(id_: str, among: Sequence[str]) -> str:
    """The name of a measure in a legend: without its family, if the axis names that."""
    return id_.partition(".")[2] if len(among) > 1 and family_of(among) else id_
