"""Breakdowns of a system: the means of its runs for each value of a field, with intervals."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from karat.comparison.runs import mean_rows, mean_score
from karat.comparison.testing import ResampleTask, resampled, system_intervals
from karat.results import Confidence, Result, Score, UnitRows
from karat.stats.confidence import is_resampled, scored

ByField = Mapping[str, Mapping[str, Mapping[str, Score]]]
"""Scores by field, value and measure."""


class BreakdownTask(NamedTuple):
    """The breakdowns of every run of a system: scores, and counts of each unit."""

    by: Sequence[ByField]
    rows: Sequence[Mapping[str, Mapping[str, UnitRows]]]
    units: Sequence[str]
    how: Confidence | None

    @classmethod
    def of(cls, runs: Sequence[Result], units: Sequence[str], how: Confidence | None) -> "BreakdownTask":
        """The task for the runs of one system; `units` are those of all systems, which are resampled together."""
        return cls([run.by for run in runs], [run.by_rows for run in runs], units, how)


def broken_down(task: BreakdownTask) -> ByField:
    """The breakdowns of a system. A value that occurs in several units has intervals."""
    found: dict[str, dict[str, dict[str, Score]]] = {}
    for field in task.by[0]:
        found[field] = mean_rows([by[field] for by in task.by], mean_score)
        for value, scores in found[field].items():
            rows = [one[field][value].over(task.units) for one in task.rows if value in one[field]]
            if task.how is not None and len(rows) == len(task.by) and all(is_resampled(one, task.how) for one in rows):
                intervals = system_intervals(rows, resampled(ResampleTask(rows, task.how, ())), task.how)
                found[field][value] = scored(scores, intervals, task.how.method)
    return found
