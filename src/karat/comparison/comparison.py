"""A comparison of systems under one protocol, as reports read it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import fsum, isnan
from typing import Any, NamedTuple

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from karat.comparison.tests import PAIRED_BOOTSTRAP, RANDOMISATION, PairedTest, mean_rows, mean_score
from karat.counts import ScoreValues
from karat.problems import Finding
from karat.records import MeasureErrors
from karat.result import Confidence, Result, Score, main_ids
from karat.stats.confidence import JACKKNIFE, ByField, SystemRows, mean, with_breakdown_intervals
from karat.stats.resampling import ScoreName, bootstrap


def mean_breakdowns(runs: Sequence[Result]) -> ByField:
    """The scores for each value of each field."""
    return {field: mean_rows([run.by[field] for run in runs], mean_score) for field in runs[0].by}


class ClassMean(Struct, frozen=True):
    """A class of errors."""

    count: float
    fixed: float | None
    """The main score of the measure if this class were repaired; None where a run has none."""


class SystemErrors(NamedTuple):
    """The errors of a system behind one measure."""

    measure: str
    main: str
    """The name of the score."""
    score: float | None
    """Without any repair."""
    classes: Mapping[str, ClassMean]
    """The classes that occur."""


def system_errors(runs: Sequence[Result]) -> dict[str, SystemErrors]:
    """The errors behind each measure that was analysed in all runs."""
    by_run = [{measure.id: measure for measure in run.errors.measures} for run in runs if run.errors is not None]
    shared = [id_ for id_ in by_run[0] if all(id_ in errors for errors in by_run)] if by_run else []
    return {id_: _mean_errors([errors[id_] for errors in by_run]) for id_ in shared}


def _mean_errors(runs: Sequence[MeasureErrors]) -> SystemErrors:
    first = runs[0]
    names = dict.fromkeys(error_class.name for run in runs for error_class in run.classes if error_class.count)
    classes = {}
    for name in names:
        # A class that a run does not have costs it nothing.
        of_runs = [next((error_class for error_class in run.classes if error_class.name == name), None) for run in runs]
        fixed = [
            (run.score if error_class is None else error_class.fixed)[first.main]
            for run, error_class in zip(runs, of_runs, strict=True)
        ]
        classes[name] = ClassMean(
            fsum(error_class.count for error_class in of_runs if error_class is not None) / len(runs), mean(fixed)
        )
    return SystemErrors(first.id, first.main, mean([run.score[first.main] for run in runs]), classes)


class ComparedSystem(NamedTuple):
    """A system, with the scores of its only run or the means of its runs."""

    name: str
    runs: Sequence[Result]
    scores: Mapping[str, Score]
    by: ByField
    """Scores by field and value, if breakdowns were asked for; `Comparison.breakdowns` has their intervals."""
    units: Mapping[str, Mapping[str, ScoreValues]]
    """Scores of each unit, if they were asked for."""
    deviations: Mapping[ScoreName, float]
    """With several runs: the standard deviation of each score."""
    rank: int

    def content(self, by: ByField, of_run: Callable[[Result], dict[str, Any]]) -> dict[str, Any]:
        """Return the content of the JSON, with these breakdowns; `of_run` makes the content of a run."""
        first = self.runs[0]
        if len(self.runs) == 1:
            return of_run(replace(first, scores=self.scores, by=by))
        only = replace(first, scores=self.scores, by=by, units=self.units, outcomes={}, details={}, errors=None)
        content = only.to_dict()
        for (id_, average, name), deviation in self.deviations.items():
            content["scores"][id_][average].setdefault("deviation", {})[name] = deviation
        # Each run has its own, and its own errors.
        del content["system"], content["warnings"]
        return {**content, "runs": [of_run(run) for run in self.runs]}


class Comparison(Struct, kw_only=True, eq=False):
    """The systems, best first, and the tests between them."""

    systems: Sequence[ComparedSystem]
    baseline: str
    sort_by: str
    tests: Sequence[PairedTest]
    comparisons: int
    """The number of pairs of systems that are compared, which p-values are corrected for."""
    level: float
    confidence: Confidence | None
    """The method of intervals; None if there is nothing to resample."""
    rows: Mapping[str, SystemRows]
    """The counts of each unit, of every run of each system."""
    notes: Sequence[Finding]

    @property
    def first(self) -> Result:
        """A result, for what all have in common: protocol, gold, unit, signature."""
        return self.systems[0].runs[0]

    def __getitem__(self, name: str) -> ComparedSystem:
        for system in self.systems:
            if system.name == name:
                return system
        raise KeyError(f"{name!r} was not compared; compared: {', '.join(system.name for system in self.systems)}")

    def measures(self) -> list[str]:
        """The measures of any system that counted something in one."""
        counted = {id_ for system in self.systems for run in system.runs for id_ in run.counted_ids()}
        return list(dict.fromkeys(id_ for system in self.systems for id_ in system.scores if id_ in counted))

    def headline_ids(self) -> list[str]:
        """The scores to quote, the one that systems are sorted by first."""
        return list(dict.fromkeys([self.sort_by, *self.first.headline_ids()]))

    def main_ids(self) -> list[str]:
        """Return the most important of these scores for each family."""
        return main_ids(self.headline_ids())

    def test(self, a: str, b: str, measure: str, test: str) -> PairedTest | None:
        """The test of this pair of systems, in either order."""
        return self._tests_of(a, b, measure).get(test)

    def deciding_test(self, a: str, b: str, measure: str) -> PairedTest | None:
        """The test that decides whether two systems differ."""
        tests = self._tests_of(a, b, measure)
        return tests.get(RANDOMISATION, tests.get(JACKKNIFE))

    def is_significant(self, test: PairedTest | None) -> bool:
        """Return whether two systems differ, after the correction."""
        return test is not None and test.p_adjusted is not None and test.p_adjusted < 1 - self.level

    def resamples(self, measure: str) -> dict[str, list[float | None]]:
        """The main score of a measure in every resample, by system; empty where nothing is resampled."""
        how = self.confidence
        if how is None or how.resamples is None or how.seed is None:
            return {}
        values: dict[str, list[float | None]] = {}
        for name, rows in self.rows.items():
            of_runs = [bootstrap(run_rows.only([measure]), resamples=how.resamples, seed=how.seed) for run_rows in rows]
            key = (measure, "micro", self[name].scores[measure].micro.main_name)
            runs = zip(*(resampled[key].tolist() for resampled in of_runs), strict=True)
            means = [fsum(scores) / len(of_runs) for scores in runs]
            values[name] = [None if isnan(value) else value for value in means]
        return values

    def breakdowns(self, system: ComparedSystem) -> ByField:
        """The scores of a system by field and value, with intervals, which take a while for many values."""
        if self.confidence is None:
            return system.by
        return with_breakdown_intervals(system.by, system.runs, self.rows[system.name][0].units, self.confidence)

    def to_dict(self) -> dict[str, Any]:
        """The JSON that `karat compare -f json` prints."""
        return self._content(Result.to_dict)

    def contents(self) -> dict[str, Any]:
        """The JSON, with outcomes as records that are still to be converted."""
        return self._content(Result.contents)

    def _content(self, of_run: Callable[[Result], dict[str, Any]]) -> dict[str, Any]:
        first = self.first
        return {
            "karat": first.version,
            "protocol": first.protocol,
            "signature": first.signature,
            "unit": first.unit,
            "gold": first.gold.to_dict(),
            "baseline": self.baseline,
            "sort_by": self.sort_by,
            "level": self.level,
            "comparisons": self.comparisons,
            "ranks": {system.name: system.rank for system in self.systems},
            "systems": {system.name: system.content(self.breakdowns(system), of_run) for system in self.systems},
            "tests": [to_builtins(test) for test in self.tests],
            "warnings": [{key: value for key, value in note.to_dict().items() if value} for note in self.notes],
        }

    def to_dicts(self) -> list[dict[str, Any]]:
        """One row per system and measure: its main score, interval, and tests against the baseline and the next system.

        Then one row for each value of a breakdown (its field and value are `by` and `by_value`), for each unit, and for
        each class of errors (`by` is error), whose score is that after its repair; all without tests. All rows have the
        same keys. Scores and differences are unrounded fractions.
        """
        measures = self.measures()
        rows = []
        for index, system in enumerate(self.systems):
            following = self.systems[index + 1].name if index + 1 < len(self.systems) else None
            for id_ in measures:
                if id_ in system.scores:
                    deviation = system.deviations.get((id_, "micro", system.scores[id_].micro.main_name))
                    row = {**self._row(system, id_, system.scores[id_].micro), "deviation": deviation}
                    rows.append({**row, **self._tested(system, id_, following)})
        if any(run.errors is not None for system in self.systems for run in system.runs):
            rows = [{**row, "count": None} for row in rows]
        for system in self.systems:
            for by, value, leaves in self._parts(system):
                for id_ in measures:
                    if id_ in leaves:
                        row = self._row(system, id_, leaves[id_])
                        rows.append({**dict.fromkeys(rows[0]), **row, "by": by, "by_value": value})
        for system in self.systems:
            for id_, errors in system_errors(system.runs).items():
                for name, error_class in errors.classes.items():
                    row = self._row(system, id_, ScoreValues({errors.main: error_class.fixed}))
                    part = {"by": "error", "by_value": name, "count": error_class.count}
                    rows.append({**dict.fromkeys(rows[0]), **row, **part})
        return rows

    def _parts(self, system: ComparedSystem) -> Iterator[tuple[str, str, Mapping[str, ScoreValues]]]:
        """The field, the value and the scores of each part that scores are broken down into."""
        for field, values in self.breakdowns(system).items():
            for value, scores in values.items():
                yield field, value, {id_: score.micro for id_, score in scores.items()}
        for unit, leaves in system.units.items():
            yield self.first.unit, unit, leaves

    def _row(self, system: ComparedSystem, id_: str, leaf: ScoreValues) -> dict[str, Any]:
        name = leaf.main_name
        low, high = (leaf.ci and leaf.ci.values[name]) or (None, None)
        return {
            "protocol": self.first.protocol,
            "rank": system.rank,
            "system": system.name,
            "runs": len(system.runs),
            "by": None,
            "by_value": None,
            "measure": id_,
            "score": name,
            "value": leaf.values[name],
            "deviation": None,
            "low": low,
            "high": high,
        }

    def _tested(self, system: ComparedSystem, id_: str, following: str | None) -> dict[str, Any]:
        """Differences and p-values against the baseline and the next system."""
        row: dict[str, Any] = {}
        for side, other in (("baseline", self.baseline), ("next", following)):
            tests = {} if other is None else self._tests_of(system.name, other, id_)
            difference = next(iter(tests.values())).difference if tests else None
            if difference is not None and next(iter(tests.values())).a == system.name:
                difference = -difference
            row[f"difference_{side}"] = difference
            for test in (RANDOMISATION, PAIRED_BOOTSTRAP, JACKKNIFE):
                row[f"p_{test.split()[-1]}_{side}"] = tests[test].p_adjusted if test in tests else None
        return row

    def _tests_of(self, a: str, b: str, measure: str) -> dict[str, PairedTest]:
        """Return the tests of a pair of systems by name: two where there are several units, or else the jackknife."""
        return {test.test: test for test in self.tests if test.measure == measure and {test.a, test.b} == {a, b}}
