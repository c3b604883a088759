"""The analysis of a run: find the errors, and score the system again with each class repaired."""

from collections.abc import Sequence

from karat.corpus import Corpus, Executor, Progress
from karat.counts import Scores
from karat.engine import RunOptions, score
from karat.engine.observer import ObserveLines, Rows
from karat.engine.records import Line
from karat.errors import Findings, KaratError
from karat.insight.collecting import Collector, TargetErrors
from karat.insight.edits import EditedCorpus, Repair
from karat.plugin import Composite
from karat.protocols import Protocol
from karat.results import Result, main_score
from karat.results.errors import ErrorAnalysis, ErrorClass, MeasureErrors

PERFECT = 1.0
"""What a system without errors scores."""


def analysed(
    gold: Corpus,
    system: Corpus,
    protocol: Protocol,
    result: Result,
    *,
    measures: Sequence[str] = (),
    by: Sequence[str] = (),
    list_all: bool = False,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> ErrorAnalysis:
    """The errors behind a result, and what each class costs.

    `result` is that of the two corpora under the protocol; `measures` and `by` are those that it was made with. With
    `list_all`, reports list every error. With an `executor`, repaired systems are scored in other processes.
    """
    analysis = Analysis(gold, system, protocol, result, measures=measures, by=by, progress=progress, executor=executor)
    return ErrorAnalysis(analysis.errors(), list_all)


class Analysis:
    """Scores a system, and scores it again after repairs."""

    def __init__(
        self,
        gold: Corpus,
        system: Corpus,
        protocol: Protocol,
        result: Result,
        *,
        measures: Sequence[str] = (),
        by: Sequence[str] = (),
        progress: Progress | None = None,
        executor: Executor | None = None,
    ) -> None:
        self._gold, self._system, self._protocol, self._result = gold, system, protocol, result
        self._measures, self._by, self._progress, self._executor = measures, by, progress, executor

    def errors(self) -> tuple[MeasureErrors, ...]:
        """Errors by class, for each main measure."""
        return tuple(map(self._measure_errors, self.found()))

    def found(self) -> Sequence[TargetErrors]:
        """The errors of each main measure, with what repairs them."""
        collectors: list[Collector] = []

        def observe(line: Line, protocol: Protocol, rows: Rows) -> Collector:
            hidden = {row.id for row in rows if not isinstance(row, Composite) and row.hidden}
            ids = [id_ for id_ in self._result.counted_ids() if id_ not in hidden]
            collectors.append(Collector(line, protocol, rows, ids=ids, named=self._measures, by=self._by))
            return collectors[-1]

        self._scored(self._system, self._measures, observe)
        return collectors[0].found

    def _scored(self, system: Corpus, measures: Sequence[str], observe: ObserveLines | None = None) -> Result:
        """The result of a system; its findings are known already."""
        options = RunOptions(tuple(measures), accept_faults=True)
        (result,) = score(
            self._gold,
            system,
            [self._protocol],
            options,
            findings=Findings(),
            progress=self._progress,
            observe=observe,
            executor=self._executor,
        )
        return result

    def _measure_errors(self, found: TargetErrors) -> MeasureErrors:
        id_ = found.target.id
        before = self._result[id_].micro.values
        main = main_score(list(before))
        classes = [self._error_class(found, name, text, before, main) for name, text in found.classes().items()]
        classes.sort(key=lambda one: -(one.share if one.share is not None else 0.0))
        return MeasureErrors(id_, before, main, tuple(classes), found.confusions(self._protocol))

    def _error_class(self, found: TargetErrors, name: str, text: str, before: Scores, main: str) -> ErrorClass:
        errors = [error for error in found.errors if error.name == name]
        fixed, why_not = self.repaired(found.target.id, [repair for error in errors for repair in error.repairs])
        lost, gained = PERFECT - _worth(before[main]), _worth(fixed[main]) - _worth(before[main])
        return ErrorClass(
            name,
            text,
            len(errors),
            fixed,
            None if why_not or not lost else gained / lost,
            [error.instance for error in errors],
            {field: dict(sorted(values.items())) for field, values in found.by.get(name, {}).items()},
            why_not,
        )

    def repaired(self, id_: str, repairs: Sequence[Repair]) -> tuple[Scores, str]:
        """The scores of a measure after some repairs; or why the repaired system cannot be scored."""
        scores = self._result[id_].micro.values
        if not repairs:
            return scores, ""
        try:
            repaired = self._scored(EditedCorpus(self._gold, self._system, repairs), (id_,))
        except KaratError as error:
            return dict.fromkeys(scores), error.finding.message
        return repaired[id_].micro.values, ""


def _worth(value: float | None) -> float:
    """An undefined score is one of a system that has earned nothing."""
    return 0.0 if value is None else value
