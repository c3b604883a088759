"""Statistics of a comparison: means over the runs of a system, and paired tests."""

from array import array
from collections.abc import Callable, Mapping, Sequence
from math import fsum
from statistics import stdev
from typing import NamedTuple, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from karat.counts import ScoreValues
from karat.result import Result, Score, UnitRows
from karat.stats import paired
from karat.stats.confidence import SystemRows, mean
from karat.stats.resampling import ScoreName, flat

T = TypeVar("T", Score, ScoreValues)


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
        {name: mean([None if leaf is None else leaf.values.get(name) for leaf in runs]) for name in names}
    )


def deviations(runs: Sequence[Result]) -> dict[ScoreName, float]:
    """The standard deviation of each score over several runs."""
    if len(runs) == 1:
        return {}
    of_runs = [flat(run.scores) for run in runs]
    known = {name: [run.get(name) for run in of_runs] for name in of_runs[0]}
    return {
        name: stdev([value for value in values if value is not None])
        for name, values in known.items()
        if None not in values
    }


RANDOMISATION = "approximate randomisation"
PAIRED_BOOTSTRAP = "paired bootstrap"


class PairedTest(Struct, frozen=True):
    """A test of the difference between two systems in one measure."""

    measure: str
    score: str
    a: str
    b: str
    test: str
    unit: str
    resamples: int | None
    difference: float | None
    """The score of b less that of a."""
    p: float | None
    p_adjusted: float | None


class SwapTask(NamedTuple):
    """Two systems whose counts are swapped."""

    a: SystemRows
    b: SystemRows
    ids: Sequence[str]
    resamples: int
    seed: int


def swapped(shared: None, task: SwapTask) -> tuple[dict[ScoreName, float | None], int]:
    """The p-values of approximate randomisation, and from how many resamples."""
    del shared
    a, b = (_averaged([run_rows.only(task.ids) for run_rows in rows]) for rows in (task.a, task.b))
    return paired.approximate_randomisation(a, b, resamples=task.resamples, seed=task.seed)


def _averaged(rows: SystemRows) -> UnitRows:
    """The mean of the counts of runs."""
    if len(rows) == 1:
        return rows[0]
    columns = [
        array("d", (fsum(numbers) / len(rows) for numbers in zip(*same, strict=True)))
        for same in zip(*(run_rows.columns for run_rows in rows), strict=True)
    ]
    return UnitRows(rows[0].units, columns, rows[0].finish)


def adjusted(tests: Sequence[PairedTest]) -> list[PairedTest]:
    """Tests with p-values corrected over all comparisons of the same measure by the same test (Holm)."""
    groups: dict[tuple[str, str], list[int]] = {}
    for index, test in enumerate(tests):
        groups.setdefault((test.measure, test.test), []).append(index)
    complete = list(tests)
    for indexes in groups.values():
        values = paired.holm([tests[index].p for index in indexes])
        for index, p in zip(indexes, values, strict=True):
            complete[index] = replace(tests[index], p_adjusted=p)
    return complete
