"""Scores every run against gold. Gold is surveyed once per process, and its documents are kept, up to a limit.

A run that cannot be scored stops the comparison, but only after all others have been tried: organisers of a shared task
learn at once which submissions are broken.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from karat import engine
from karat.comparison.workers import Workers
from karat.corpus import Corpus, FileCorpus
from karat.errors import CombinedError, Finding, Findings, KaratError, Rule, UsageError
from karat.protocols import Protocol, resolve_all
from karat.results import Result

REFUSED = Rule("systems-refused", "fatal", "Correct or remove them, then compare again.")

OnRun = Callable[[int, int], None]
"""Called after each run with the number done and the total."""


class Run(NamedTuple):
    """One output of a system, and what was found when it was opened."""

    system: str
    corpus: Corpus | KaratError
    """An error, if it cannot be opened."""
    findings: Sequence[Finding] = ()


class Task(NamedTuple):
    """What a process needs to score runs."""

    gold: Corpus
    protocols: Sequence[str]
    settings: Mapping[str, Any]
    options: engine.RunOptions


_task: Task
_protocols: Sequence[Protocol]


def prepare(task: Task) -> None:
    """Make this process ready to score runs."""
    global _task, _protocols
    _task, _protocols = task, resolve_all(task.protocols, task.settings)
    if isinstance(task.gold, FileCorpus):
        task.gold.keep_documents()


def scored(run: Run) -> list[Result] | KaratError:
    """The results of a run, one per protocol, or why it cannot be scored."""
    findings = Findings()
    for finding in run.findings:
        findings.add(finding)
    if isinstance(run.corpus, KaratError):
        return run.corpus
    try:
        return engine.score(_task.gold, run.corpus, _protocols, _task.options, findings=findings)
    except UsageError:
        raise
    except KaratError as error:
        # What was in memory is released.
        return error.with_traceback(None)


def scored_runs(
    workers: Workers, runs: Sequence[Run], on_run: OnRun | None = None
) -> Iterator[tuple[str, list[Result]]]:
    """The name of each run's system, and its results. If runs are refused, all of them are named at the end."""
    refused: list[tuple[str, KaratError]] = []
    for number, (run, results) in enumerate(zip(runs, workers.map(scored, runs), strict=True), 1):
        if on_run is not None:
            on_run(number, len(runs))
        if isinstance(results, KaratError):
            if any(results.finding == error.finding for _, error in refused):
                raise results  # what is wrong with two systems in the same place is wrong with gold or the options
            refused.append((run.system, results))
        elif not refused:
            yield run.system, results
    if refused:
        raise refusal(refused, runs)


def refusal(refused: Sequence[tuple[str, KaratError]], runs: Sequence[Run]) -> KaratError:
    """One error for all runs that are refused."""
    if len(refused) == 1:
        return refused[0][1]
    bad, systems = ({name for name, _ in refused}, {run.system for run in runs})
    return CombinedError(REFUSED.at(f"{len(bad):,} of {len(systems):,} systems cannot be scored"), refused)
