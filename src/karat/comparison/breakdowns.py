"""Breakdowns of a system: the means of its runs for each value of a field, and their intervals."""

from collections.abc import Mapping, Sequence

from karat.comparison.runs import mean_rows, mean_score
from karat.comparison.testing import ResampleTask, resampled, system_intervals
from karat.results import Confidence, Result, Score
from karat.stats.confidence import is_resampled, scored

ByField = Mapping[str, Mapping[str, Mapping[str, Score]]]
"""Scores by field, value and measure."""


def mean_breakdowns(runs: Sequence[Result]) -> ByField:
    """The scores for each value of each field."""
    return {field: mean_rows([run.by[field] for run in runs], mean_score) for field in runs[0].by}


def with_intervals(by: ByField, runs: Sequence[Result], units: Sequence[str], how: Confidence) -> ByField:
    """Breakdowns in which each value that occurs in several units has intervals.

    `units` are those of all systems, which are resampled together.
    """
    number_of = {unit: number for number, unit in enumerate(units)}
    complete: dict[str, dict[str, Mapping[str, Score]]] = {}
    for field, values in by.items():
        complete[field] = dict(values)
        for value, scores in values.items():
            rows = [run.by_rows[field][value] for run in runs if value in run.by_rows[field]]
            if len(rows) == len(runs) and all(is_resampled(one, how) for one in rows):
                intervals = system_intervals(rows, resampled(None, ResampleTask(rows, how, (), number_of)), how)
                complete[field][value] = scored(scores, intervals, how.method)
    return complete
