"""Compares systems by the results of their runs: order, intervals, tests and ranks."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise

from karat.comparison.comparison import ComparedSystem, Comparison, mean_breakdowns
from karat.comparison.systems import Keep, OnRun, Run, scored_runs, size
from karat.comparison.tests import (
    PAIRED_BOOTSTRAP,
    RANDOMISATION,
    PairedTest,
    SwapTask,
    adjusted,
    deviations,
    mean_leaf,
    mean_rows,
    mean_scores,
    swapped,
)
from karat.corpus.interface import Corpus, Executor
from karat.counts import main_score
from karat.problems import Finding, Rule, nearest
from karat.result import Confidence, Result, UnitRows
from karat.run.executors import Processes
from karat.run.plan import Options
from karat.stats import paired
from karat.stats.confidence import (
    JACKKNIFE,
    Resampled,
    ResampleTask,
    SystemRows,
    confidence,
    intervals,
    observed_means,
    remarks,
    resampled,
    scored,
)
from karat.stats.resampling import ScoreName, flat

LEAST_RESAMPLES = 1000
PER_COMPARISON = 40
"""Resamples per comparison: then the smallest p-value is still below 0.05 after the correction."""

UNSUPPORTED = Rule("headline-unsupported", "note", "Choose another measure with --sort-by.")
NO_MEASURE = Rule("sort-absent", "fatal", "Choose a measure that every system has, by its full id.")


def compared(
    gold: Corpus,
    options: Options,
    runs: Sequence[Run],
    *,
    baseline: str,
    sort_by: str | None = None,
    level: float = 0.95,
    resamples: int | None = None,
    seed: int = 0,
    executor: Executor | None = None,
    on_run: OnRun | None = None,
    keep: Keep | None = None,
) -> list[Comparison]:
    """Score every run, then compare the systems under each protocol.

    `keep` receives the results of each run, and returns what the comparison needs of them.
    """
    if executor is None or executor.width(size([gold, *(run.corpus for run in runs)])) == 1:
        executor = Processes(1)
    by_protocol: list[dict[str, list[Result]]] = []
    for run, results in scored_runs(gold, options, runs, executor, on_run):
        by_protocol = by_protocol or [{} for _ in results]
        for systems, result in zip(by_protocol, results if keep is None else keep(run, results), strict=True):
            systems.setdefault(run.system, []).append(result)
    sort_ids = [sorting(systems, sort_by) for systems in by_protocol]
    if sort_by is not None and sort_by not in sort_ids:
        known = list(dict.fromkeys(id_ for systems in by_protocol for id_ in _shared(systems)))
        raise NO_MEASURE.error(f"--sort-by: there is no measure {sort_by!r} here. {nearest(sort_by, known)}")
    return [
        compare(systems, executor, baseline=baseline, sort_by=ids, level=level, resamples=resamples, seed=seed)
        for systems, ids in zip(by_protocol, sort_ids, strict=True)
    ]


def compare(
    results: Mapping[str, Sequence[Result]],
    executor: Executor,
    *,
    baseline: str | None,
    sort_by: str,
    level: float,
    resamples: int | None,
    seed: int,
    shared_ranks: bool = True,
) -> Comparison:
    """Compare systems by the results of their runs, which must have rows; without a baseline, with the best system.

    Systems whose difference is not significant share a rank, unless `shared_ranks` is false.
    """
    units = sorted({unit for runs in results.values() for run in runs for unit in _rows(run).units})
    rows = {name: [_rows(run).over(units) for run in runs] for name, runs in results.items()}
    means = {name: observed_means(of_system) for name, of_system in rows.items()}
    names = sorted(results, key=lambda name: (*_place(_main(means[name], sort_by)), name))
    baseline = names[0] if baseline is None else baseline
    pairs = _pairs(names, baseline)
    if resamples is None:
        resamples = max(LEAST_RESAMPLES, PER_COMPARISON * len(pairs))
    some = next(iter(rows.values()))[0]
    first = next(iter(results.values()))[0]
    unit = first.unit
    how = confidence(some, unit=unit, level=level, resamples=resamples, seed=seed)
    resamples_of: dict[str, Resampled] = {}
    tests: list[PairedTest] = []
    if how is not None:
        parts = sorted({part for of_system in rows.values() for run in of_system for part in run.left_out})
        tasks = [ResampleTask(rows[name], how, parts) for name in names]
        resamples_of = dict(zip(names, executor.map(resampled, None, tasks), strict=True))
        tests = _tests(pairs, rows, means, resamples_of, how, executor)
    systems = []
    for name in names:
        runs = results[name]
        scores = mean_scores([run.scores for run in runs])
        if how is not None:
            scores = scored(scores, intervals(rows[name], resamples_of[name], how), how.method)
        own_units = mean_rows([run.units for run in runs], mean_leaf)
        systems.append(ComparedSystem(name, runs, scores, mean_breakdowns(runs), own_units, deviations(runs), 0))
    comparison = Comparison(
        systems=systems,
        baseline=baseline,
        sort_by=sort_by,
        tests=tests,
        comparisons=len(pairs),
        level=level,
        confidence=how,
        rows=rows,
        notes=[*_unsupported(first, sort_by), *remarks(how, unit=unit)],
    )
    comparison.systems = _ranked(comparison, shared=shared_ranks)
    return comparison


def _unsupported(result: Result, sort_by: str) -> Iterator[Finding]:
    """Yield a note if systems are ranked by a measure that gold does not support, since it supports none."""
    if not result.is_headline_supported and sort_by in (result.headline or [sort_by]):
        message = f"gold supports no headline measure of {result.protocol}: systems are ranked by {sort_by}"
        yield UNSUPPORTED.at(message, origin="gold")


def _rows(run: Result) -> UnitRows:
    assert run.rows is not None, "the run was asked to keep rows"
    return run.rows


def _shared(results: Mapping[str, Sequence[Result]]) -> list[str]:
    """The measures that every run has."""
    first, *others = [run for of_system in results.values() for run in of_system]
    return [id_ for id_ in first.scores if all(id_ in run.scores for run in others)]


def sorting(results: Mapping[str, Sequence[Result]], sort_by: str | None) -> str:
    """Return the measure that ranks: the one that the user chose, else the first of the headline that all have."""
    shared = _shared(results)
    if sort_by in shared:
        return str(sort_by)
    runs = [run for of_system in results.values() for run in of_system]
    if not shared:
        raise NO_MEASURE.error("the systems have no measure in common", file=runs[0].gold.name)
    return next((id_ for id_ in runs[0].headline_ids() if id_ in shared), shared[-1])


def _place(score: float | None) -> tuple[bool, float]:
    """Return the sort key of a system: the best first, undefined scores last."""
    return score is None, 0.0 if score is None else -score


def _main(scores: Mapping[ScoreName, float | None], id_: str) -> float | None:
    return scores[_main_name(scores, id_)]


def _main_name(scores: Mapping[ScoreName, float | None], id_: str) -> ScoreName:
    names = [name for measure, average, name in scores if measure == id_ and average == "micro"]
    return id_, "micro", main_score(names)


def _pairs(names: Sequence[str], baseline: str) -> list[tuple[str, str]]:
    """The pairs to compare: the baseline with each, then each with the next; no pair twice."""
    pairs = [(baseline, name) for name in names if name != baseline]
    for better, worse in pairwise(names):
        if baseline not in (better, worse):
            pairs.append((worse, better))
    return pairs


def _tests(
    pairs: Sequence[tuple[str, str]],
    rows: Mapping[str, SystemRows],
    means: Mapping[str, Mapping[ScoreName, float | None]],
    resamples_of: Mapping[str, Resampled],
    how: Confidence,
    executor: Executor,
) -> list[PairedTest]:
    """Every test of every pair in every measure that both have."""
    measures = {name: dict.fromkeys(id_ for id_, _, _ in of_system) for name, of_system in means.items()}
    shared = [[id_ for id_ in measures[a] if id_ in measures[b]] for a, b in pairs]
    tests: list[PairedTest] = []
    swaps: list[SwapTask] = []
    if how.resamples is not None and how.seed is not None:
        swaps = [
            SwapTask(rows[a], rows[b], ids, how.resamples, how.seed) for (a, b), ids in zip(pairs, shared, strict=True)
        ]
    randomised = iter([*executor.map(swapped, None, swaps)])
    for (a, b), ids in zip(pairs, shared, strict=True):
        names = [_main_name(means[b], id_) for id_ in ids]
        differences = {name: paired.difference(means[a].get(name), means[b].get(name)) for name in names}
        values: list[tuple[str, Mapping[ScoreName, float | None], int | None]]
        if how.method == JACKKNIFE:
            values = [(JACKKNIFE, _jackknifed(differences, resamples_of[a], resamples_of[b]), None)]
        else:
            swapped_p, swaps_made = next(randomised)
            centred = paired.paired_bootstrap(
                resamples_of[a].values, resamples_of[b].values, differences, units=how.units
            )
            values = [(RANDOMISATION, swapped_p, swaps_made), (PAIRED_BOOTSTRAP, centred, how.resamples)]
        for name in names:
            make = partial(PairedTest, name[0], name[2], a, b)
            tests += [make(test, how.unit, made, differences[name], p[name], None) for test, p, made in values]
    return adjusted(tests)


def _jackknifed(
    differences: Mapping[ScoreName, float | None], a: Resampled, b: Resampled
) -> dict[ScoreName, float | None]:
    """The p-value of each difference by the jackknife of the difference."""
    return {
        name: paired.jackknife(
            value, [paired.difference(*both) for both in zip(a.left_out[name], b.left_out[name], strict=True)]
        )
        for name, value in differences.items()
    }


def _ranked(comparison: Comparison, *, shared: bool) -> list[ComparedSystem]:
    """Systems with ranks: if ranks are shared, a system that is not significantly worse than the one before it has its.

    Otherwise, or without a test, systems share a rank only if their scores are equal. All undefined scores are last.
    """
    ranked: list[ComparedSystem] = []
    before: float | None = None
    for place, system in enumerate(comparison.systems, 1):
        score = _main(flat(system.scores), comparison.sort_by)
        rank = place
        if ranked and (score is None) == (before is None):
            test = comparison.deciding_test(ranked[-1].name, system.name, comparison.sort_by)
            untested = not shared or test is None or test.p_adjusted is None
            if score == before if untested else not comparison.is_significant(test):
                rank = ranked[-1].rank
        ranked.append(system._replace(rank=rank))
        before = score
    return ranked
