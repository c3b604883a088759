"""The analysis of a run: find the errors, and score the system again with each class repaired."""

from collections.abc import Callable, Sequence

from karat.corpus import Corpus, Executor, FileCorpus, Progress
from karat.counts import Scores
from karat.engine import RunOptions, score
from karat.engine.observer import Observe
from karat.errors import Findings, KaratError
from karat.insight.collecting import Collecting, TargetErrors
from karat.insight.edits import EditedCorpus, Repair
from karat.protocols import Protocol
from karat.results import Result, family, main_score
from karat.results.errors import ErrorAnalysis, ErrorClass, MeasureErrors

PERFECT = 1.0
"""What a system without errors scores."""


def score_with_errors(
    gold: Corpus,
    system: Corpus,
    protocols: Sequence[Protocol],
    options: RunOptions,
    *,
    findings: Findings,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> list[Result]:
    """Score a system as the engine does, and analyse the errors behind each result; with details, all are listed.

    The system is scored once more for each class of errors, with that class repaired, as far as its documents change;
    with an `executor`, in other processes.
    """
    for corpus in (gold, system):
        if isinstance(corpus, FileCorpus):
            corpus.keep_documents()

    def run(observe: Observe) -> list[Result]:
        return score(
            gold, system, protocols, options, findings=findings, progress=progress, observe=observe, executor=executor
        )

    results = []
    for protocol, (result, found) in zip(protocols, found_errors(run, options), strict=True):
        analysis = Analysis(gold, system, protocol, result, progress=progress, executor=executor)
        result.errors = ErrorAnalysis(tuple(map(analysis.errors, found)), options.details)
        if not options.keep_rows:  # then only the analysis needed them
            result.rows = None
        results.append(result)
    return results


def found_errors(
    run: Callable[[Observe], Sequence[Result]], options: RunOptions
) -> list[tuple[Result, list[TargetErrors]]]:
    """The result of each protocol of a run, and the errors of its main measures, with what repairs them."""
    collecting = Collecting(options.measures, options.by)
    found = []
    for result, collector in zip(run(collecting), collecting.collectors, strict=True):
        families = {family(id_) for id_ in result.counted_ids()}
        found.append((result, [one for one in collector.found if family(one.target.id) in families]))
    return found


class Analysis:
    """Scores a system again after repairs."""

    def __init__(
        self,
        gold: Corpus,
        system: Corpus,
        protocol: Protocol,
        result: Result,
        *,
        progress: Progress | None = None,
        executor: Executor | None = None,
    ) -> None:
        self._gold, self._system, self._protocol, self._result = gold, system, protocol, result
        self._progress, self._executor = progress, executor

    def errors(self, found: TargetErrors) -> MeasureErrors:
        """The errors of a measure by class, and what each class costs."""
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
        scores, rows = self._result[id_].micro.values, self._result.rows
        assert rows is not None, "a run that is observed keeps them"
        if not repairs:
            return scores, ""
        try:
            (repaired,) = score(
                self._gold,
                EditedCorpus(self._gold, self._system, repairs),
                [self._protocol],
                RunOptions((id_,), accept_faults=True, changed=frozenset(repair.document for repair in repairs)),
                findings=Findings(),  # those of the system are known
                progress=self._progress,
                executor=self._executor,
            )
        except KaratError as error:
            return dict.fromkeys(scores), error.finding.message
        assert repaired.rows is not None, "a run over some documents keeps them"
        return rows.only([id_]).replaced(repaired.rows).scores()[id_].micro.values, ""


def _worth(value: float | None) -> float:
    """An undefined score is one of a system that has earned nothing."""
    return 0.0 if value is None else value
