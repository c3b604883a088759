"""Confidence intervals for all scores of a result.

Units are resampled if there are several. A single unit cannot be resampled; it is scored again without each of its
topics (or documents), and its intervals come from the jackknife.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import fsum, sqrt
from typing import Any, NamedTuple, TypeVar

import numpy as np
from msgspec.structs import replace

from karat.counts import Interval, Intervals, ScoreValues
from karat.problems import Finding, Rule
from karat.result import Confidence, Result, Score, UnitRows
from karat.stats.resampling import Matrix, ScoreName, Values, bootstrap, flat, observed


def percentile(values: Matrix, level: float) -> Interval | None:
    """The percentile bootstrap (Efron 1979): the middle part of the resampled scores.

    None if the score is undefined in most resamples.
    """
    defined = values[~np.isnan(values)]
    if 2 * len(defined) <= len(values):
        return None
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def percentiles(resampled: Values, level: float) -> dict[ScoreName, Interval | None]:
    """The percentile bootstrap of each score; those defined in all resamples at once, which is much faster."""
    defined = [name for name, values in resampled.items() if len(values) and not np.isnan(values).any()]
    intervals: dict[ScoreName, Interval | None] = {}
    if defined:
        values = [resampled[name] for name in defined]
        low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2], axis=1).tolist()
        intervals = dict(zip(defined, zip(low, high, strict=True), strict=True))
    return {
        name: intervals[name] if name in intervals else percentile(values, level) for name, values in resampled.items()
    }


def jackknife(score: float | None, left_out: Sequence[float | None], level: float) -> Interval | None:
    """score ± t · se, with the standard error of the delete-one jackknife and t of n - 1 degrees of freedom.

    None if there are fewer than two parts, or a score is undefined.
    """
    error = standard_error(left_out)
    if score is None or error is None:
        return None
    from scipy.special import stdtrit

    margin = float(stdtrit(len(left_out) - 1, (1 + level) / 2)) * error
    return score - margin, score + margin


def standard_error(left_out: Sequence[float | None]) -> float | None:
    """se² = (n - 1)/n · Σ (θ(-i) - mean)² over scores without one part each (Tukey 1958)."""
    defined = [value for value in left_out if value is not None]
    n = len(left_out)
    if n < 2 or len(defined) < n:
        return None
    mean = fsum(defined) / n
    return sqrt((n - 1) / n * fsum((value - mean) ** 2 for value in defined))


BOOTSTRAP = "percentile bootstrap"
JACKKNIFE = "jackknife"
FEW = 20
"""With fewer units, intervals are rough."""

NO_INTERVALS = Rule("intervals-none", "note", "There must be several units, or one unit with several documents.")
FEW_UNITS = Rule("units-few", "note", "Take the intervals and p-values as rough; more units make them reliable.")
PARTS = Rule("intervals-of-parts", "note", "Only scores over several units can be resampled.")

R = TypeVar("R", bound=Result)

ByField = Mapping[str, Mapping[str, Mapping[str, Score]]]
"""Scores by field, value and measure."""
FoundIntervals = dict[ScoreName, Interval | None]


def confidence(rows: UnitRows, *, unit: str, level: float, resamples: int, seed: int) -> Confidence | None:
    """Choose the method of the intervals of a result; None if there is nothing to resample."""
    if len(rows.units) > 1:
        return Confidence(level, BOOTSTRAP, unit, len(rows.units), resamples, seed)
    if len(rows.left_out) > 1:
        return Confidence(level, JACKKNIFE, rows.part, len(rows.left_out))
    return None


SystemRows = Sequence[UnitRows]
"""The counts of each run of a system."""


class Resampled(NamedTuple):
    """A system's scores in every resample, or without every part."""

    values: Values
    left_out: Mapping[ScoreName, list[float | None]]


class ResampleTask(NamedTuple):
    """A system to resample."""

    rows: SystemRows
    how: Confidence
    parts: Sequence[str] = ()
    """The part that the jackknife leaves out."""
    among: Mapping[str, int] | None = None
    """All units by number, if only some of them have rows."""


def mean(values: Sequence[float | None]) -> float | None:
    """Return the mean; None if a value is undefined."""
    known = [value for value in values if value is not None]
    return fsum(known) / len(known) if len(known) == len(values) else None


def _mean_values(runs: Sequence[Mapping[ScoreName, float | None]]) -> dict[ScoreName, float | None]:
    return {name: mean([run.get(name) for run in runs]) for name in runs[0]}


def observed_means(rows: SystemRows) -> dict[ScoreName, float | None]:
    """The mean of each score over runs; None if a run has none."""
    return _mean_values([observed(run_rows) for run_rows in rows])


def resampled(shared: None, task: ResampleTask) -> Resampled:
    """The resamples of a system. All systems are resampled with the same seed, and so with the same units."""
    del shared
    how = task.how
    if how.method == JACKKNIFE:
        by_part = [_mean_values([_without(run_rows, part) for run_rows in task.rows]) for part in task.parts]
        return Resampled({}, {name: [means.get(name) for means in by_part] for name in observed_means(task.rows)})
    assert how.resamples is not None
    assert how.seed is not None
    of_runs = [bootstrap(run_rows, resamples=how.resamples, seed=how.seed, among=task.among) for run_rows in task.rows]
    names = [name for name in of_runs[0] if all(name in resamples for resamples in of_runs)]
    return Resampled({name: np.mean([resamples[name] for resamples in of_runs], axis=0) for name in names}, {})


def _without(rows: UnitRows, part: str) -> dict[ScoreName, float | None]:
    """The scores without a part; of a system that does not have it, all."""
    return flat(rows.left_out[part]) if part in rows.left_out else observed(rows)


def intervals(rows: SystemRows, resamples: Resampled, how: Confidence) -> FoundIntervals:
    """Return the interval of every score of a system; None if it cannot be computed."""
    means = observed_means(rows)
    if how.method == JACKKNIFE:
        return {name: jackknife(means[name], values, how.level) for name, values in resamples.left_out.items()}
    return percentiles(resamples.values, how.level)


def with_breakdown_intervals(by: ByField, runs: Sequence[Result], units: Sequence[str], how: Confidence) -> ByField:
    """Add intervals to each value that occurs in several units.

    `units` are those of all systems, which are resampled together.
    """
    index_of = {unit: index for index, unit in enumerate(units)}
    complete: dict[str, dict[str, Mapping[str, Score]]] = {}
    for field, values in by.items():
        complete[field] = dict(values)
        for value, scores in values.items():
            rows = [run.by_rows[field][value] for run in runs if value in run.by_rows[field]]
            if len(rows) == len(runs) and all(is_resampled(run_rows, how) for run_rows in rows):
                resamples = resampled(None, ResampleTask(rows, how, among=index_of))
                complete[field][value] = scored(scores, intervals(rows, resamples, how), how.method)
    return complete


def with_intervals(result: R, *, level: float, resamples: int, seed: int) -> R:
    """The result, which must have rows, with an interval for every score that has one."""
    assert result.rows is not None, "the run was asked to keep rows"
    how = confidence(result.rows, unit=result.unit, level=level, resamples=resamples, seed=seed)
    notes = [*remarks(how, unit=result.unit), *_remarks_on_parts(how, result)]
    fields: dict[str, Any] = {
        "warnings": [*notes, *result.warnings],
        "warning_counts": {**Counter(note.group for note in notes), **result.warning_counts},
    }
    if how is not None:
        fields["confidence"] = how
        resamples_of = resampled(None, ResampleTask([result.rows], how, [*result.rows.left_out]))
        fields["scores"] = scored(result.scores, intervals([result.rows], resamples_of, how), how.method)
        fields["by"] = with_breakdown_intervals(result.by, [result], result.rows.units, how)
    return replace(result, **fields)


def is_resampled(rows: UnitRows, how: Confidence) -> bool:
    """Return whether a row of a breakdown can have intervals: its value must occur in several of several units."""
    occurring = (any(column[index] for column in rows.columns) for index in range(len(rows.units)))
    return how.method == BOOTSTRAP and sum(occurring) > 1


def scored(scores: Mapping[str, Score], intervals: FoundIntervals, method: str) -> dict[str, Score]:
    """Scores with their intervals; a score that was not resampled has none."""

    def complete(id_: str, average: str, leaf: ScoreValues) -> ScoreValues:
        ci = {name: intervals[id_, average, name] for name in leaf.values if (id_, average, name) in intervals}
        return replace(leaf, ci=Intervals(ci, method)) if ci else leaf

    return {
        id_: replace(
            score,
            micro=complete(id_, "micro", score.micro),
            macro=None if score.macro is None else complete(id_, "macro", score.macro),
        )
        for id_, score in scores.items()
    }


def remarks(how: Confidence | None, *, unit: str) -> list[Finding]:
    """Return notes for readers of intervals and tests."""
    if how is None:
        return [NO_INTERVALS.at(f"no intervals: there is only one unit ({unit}), and nothing in it to leave out")]
    return [FEW_UNITS.at(f"intervals and tests over {how.units} {how.unit}s are rough")] if how.units < FEW else []


def _remarks_on_parts(how: Confidence | None, result: Result) -> Iterator[Finding]:
    """Which rows of breakdowns have no intervals."""
    if how is None:
        return
    if result.units:
        yield PARTS.at(f"the scores of a single {result.unit} have no intervals")
    for field, rows in result.by_rows.items():
        lacking = sum(not is_resampled(value, how) for value in rows.values())
        if lacking and how.method == JACKKNIFE:
            yield PARTS.at(f"rows by {field} have no intervals: there is only one unit")
        elif lacking:
            values = "1 value occurs" if lacking == 1 else f"{lacking} values occur"
            have = "has" if lacking == 1 else "have"
            yield PARTS.at(f"by {field}: {values} in one {result.unit} only, and {have} no intervals")
