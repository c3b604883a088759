"""Several runs of one system: the means and deviations of their scores."""

from collections.abc import Callable, Mapping, Sequence
from math import fsum
from statistics import stdev
from typing import TypeVar

from karat.counts import ScoreValues
from karat.results import Result, Score
from karat.stats.resampling import ScoreName, flat

T = TypeVar("T", Score, ScoreValues)


def mean_values(runs: Sequence[Mapping[ScoreName, float | None]]) -> dict[ScoreName, float | None]:
    """The mean of each score over runs; None if a run has none."""
    return {name: _mean([one.get(name) for one in runs]) for name in runs[0]}


def mean_scores(runs: Sequence[Mapping[str, Score]]) -> dict[str, Score]:
    """The scores of each measure that all runs have."""
    return {id_: mean_score([run[id_] for run in runs]) for id_ in runs[0] if all(id_ in run for run in runs)}


def mean_rows(
    runs: Sequence[Mapping[str, Mapping[str, T]]], mean: Callable[[Sequence[T | None]], T]
) -> dict[str, dict[str, T]]:
    """The scores of each part of a corpus, by part and measure. They are undefined if a run does not have the part."""
    parts = [*runs[0]] if len(runs) == 1 else sorted({part for run in runs for part in run})
    together = {part: [run.get(part, {}) for run in runs] for part in parts}
    return {
        part: {id_: mean([row.get(id_) for row in rows]) for id_ in dict.fromkeys(id_ for row in rows for id_ in row)}
        for part, rows in together.items()
    }


def mean_score(runs: Sequence[Score | None]) -> Score:
    """The score of the only run, or the mean of several, without counts."""
    known = [score for score in runs if score is not None]
    if len(runs) == 1:
        return known[0]
    micro = mean_leaf([None if score is None else score.micro for score in runs])
    macro = [score.macro for score in known]
    return Score(micro, mean_leaf(macro) if None not in macro and len(known) == len(runs) else None)


def mean_leaf(runs: Sequence[ScoreValues | None]) -> ScoreValues:
    """The values of the only run, or the means of several, without counts."""
    known = [leaf for leaf in runs if leaf is not None]
    if len(runs) == 1:
        return known[0]
    names = dict.fromkeys(name for leaf in known for name in leaf.values)
    return ScoreValues(
        {name: _mean([None if leaf is None else leaf.values.get(name) for leaf in runs]) for name in names}
    )


def deviations(runs: Sequence[Result]) -> dict[ScoreName, float]:
    """The standard deviation of each score over several runs."""
    if len(runs) == 1:
        return {}
    of_runs = [flat(run.scores) for run in runs]
    known = {name: [one.get(name) for one in of_runs] for name in of_runs[0]}
    return {
        name: stdev([value for value in values if value is not None])
        for name, values in known.items()
        if None not in values
    }


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fsum(known) / len(known) if len(known) == len(values) else None
