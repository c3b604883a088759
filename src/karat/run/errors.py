"""The analysis of errors: what each class costs. A repaired system is scored again by replacing rows."""

from array import array
from collections.abc import Sequence
from itertools import chain

from karat.corpus.interface import Executor, Progress
from karat.counts import Scores, main_score
from karat.insight.repairs import Repair, merged_edits
from karat.problems import KaratError, ignore
from karat.records import ErrorAnalysis, ErrorClass, MeasureErrors
from karat.result import Result, family
from karat.run.pipeline import Batch, Pipeline, RunSetup, across
from karat.run.plan import Options
from karat.run.rows import DocumentRow, UnitRow
from karat.run.targets import TargetErrors, first_spelling
from karat.run.units import MeasureSet, UnitTable, finish

PERFECT = 1.0
"""Score of a system without errors."""


class Analysis:
    """The errors behind a result by class, and the scores of the system with each class repaired."""

    def __init__(
        self,
        pipeline: Pipeline,
        index: int,
        rows: Sequence[DocumentRow],
        result: Result,
        *,
        progress: Progress | None = None,
        executor: Executor | None = None,
    ) -> None:
        """`index` is that of the protocol, `rows` are those of its documents."""
        self._pipeline, self._plan, self._rows, self._result = pipeline, pipeline.plans[index], rows, result
        self._progress, self._executor = progress, executor

    def of(self, units: Sequence[UnitRow]) -> ErrorAnalysis:
        """Analyse the errors of all units."""
        families = {family(id_) for id_ in self._result.counted_ids()}
        by_unit, protocol = [unit.errors for unit in units if unit.errors], self._plan.protocol
        spell = first_spelling(by_unit, self._plan.fields, protocol)
        targets = [
            TargetErrors(target, [errors for unit in by_unit if (errors := unit[index])], protocol, spell)
            for index, target in enumerate(self._plan.targets)
            if family(target.id) in families
        ]
        return ErrorAnalysis(tuple(map(self.measure_errors, targets)), self._plan.options.details)

    def measure_errors(self, target_errors: TargetErrors) -> MeasureErrors:
        """Return the errors of a measure by class, and what each class costs."""
        id_ = target_errors.target.id
        before = self._result[id_].micro.values
        main = main_score(before)
        classes = [
            self._error_class(target_errors, name, text, before, main) for name, text in target_errors.classes().items()
        ]
        classes.sort(key=lambda error_class: -(error_class.share if error_class.share is not None else 0.0))
        return MeasureErrors(id_, before, main, tuple(classes), target_errors.confusions())

    def _error_class(self, target_errors: TargetErrors, name: str, text: str, before: Scores, main: str) -> ErrorClass:
        errors = [error for error in target_errors.errors if error.name == name]
        fixed, why_not = self.repaired(
            target_errors.target.id, [repair for error in errors for repair in error.repairs]
        )
        lost, gained = PERFECT - _worth(before[main]), _worth(fixed[main]) - _worth(before[main])
        return ErrorClass(
            name,
            text,
            len(errors),
            fixed,
            None if why_not or not lost else gained / lost,
            [error.instance for error in errors],
            {field: dict(sorted(values.items())) for field, values in target_errors.by.get(name, {}).items()},
            why_not,
        )

    def repaired(self, id_: str, repairs: Sequence[Repair]) -> tuple[Scores, str]:
        """Return the scores of a measure after some repairs; or why the repaired system cannot be scored."""
        scores = self._result[id_].micro.values
        if not repairs:
            return scores, ""
        whole, edits = self._pipeline, merged_edits(repairs)
        options = Options((id_,), accept_faults=True)
        setup = RunSetup([self._plan.protocol], options, self._plan.facts, edits)
        pipeline = Pipeline(whole.gold, whole.system, setup)
        try:
            (plan,) = pipeline.plans
            made = Batch.empty(1)
            ids = [document for row in self._rows if (document := _document(row)) in edits]
            for batch in pipeline.batches(ids, self._executor, self._progress):
                made.extend(batch)
            for finding in across(setup.protocols, made.observed):
                if finding.severity == "fatal":
                    raise KaratError(finding)
            replaced = dict(zip(ids, made.rows[0], strict=True))
            narrow = _Narrowing(self._plan.measures, plan.measures)
            rows = [replaced.get(_document(row)) or narrow.row(row) for row in self._rows]
            units = finish(plan.measures, rows, ignore)
        except KaratError as error:
            return dict.fromkeys(scores), error.finding.message
        return UnitTable(plan.measures, units).scores()[id_].micro.values, ""


class _Narrowing:
    """Takes from rows what a smaller set of measures needs."""

    def __init__(self, whole: MeasureSet, part: MeasureSet) -> None:
        self._part = part
        table_of = {measure.id: measure.table for measure, _ in whole.measures}
        place = {measure.table: whole.specs.index(table_of[measure.id]) for measure, _ in part.measures}
        self._specs = [place[spec] for spec in part.specs]
        ids, start = {measure.id for measure, _ in part.measures}, 0
        self._columns: list[slice] = []
        for measure, _ in whole.measures:
            end = start + len(measure.counts_type().__struct_fields__)
            if measure.id in ids:
                self._columns.append(slice(start, end))
            start = end

    def row(self, row: DocumentRow) -> DocumentRow:
        """Return the row with fewer tables, or with fewer counts."""
        if not row.tables:
            counts = array("d", chain.from_iterable(row.counts[columns] for columns in self._columns))
            return DocumentRow(row.unit, row.gold, row.system, counts)
        tables = tuple(row.tables[index] for index in self._specs)
        if self._part.is_by_document:  # other measures of the run had to wait for the whole corpus
            return DocumentRow(row.unit, row.gold, row.system, self._part.counts(tables))
        return DocumentRow(row.unit, row.gold, row.system, tables=tables)


def _document(row: DocumentRow) -> str:
    return row.unit if row.about is None else row.about.id


def _worth(value: float | None) -> float:
    """An undefined score is one of a system that has earned nothing."""
    return 0.0 if value is None else value
