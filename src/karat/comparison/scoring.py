"""Scores every run against gold: side by side if there are enough of them, else one after another, each divided.

Gold is read once to see what it holds, and a process that scores whole runs keeps its documents, up to a limit.

A run that cannot be scored stops the comparison, but only after all others have been tried: organisers of a shared task
learn at once which submissions are broken.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from karat.corpus import Corpus, Executor, FileCorpus
from karat.engine.plan import Options
from karat.engine.scoring import score
from karat.errors import CombinedError, Finding, Findings, KaratError, Rule, UsageError
from karat.protocols import resolve_all
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


Keep = Callable[[Run, list[Result]], list[Result]]
"""What is kept of the results of a run: the outcomes of forty systems at once would need much memory."""


class Task(NamedTuple):
    """What all runs have in common."""

    gold: Corpus
    protocols: Sequence[str]
    settings: Mapping[str, Any]
    options: Options


def scored(task: Task, run: Run, executor: Executor | None = None) -> list[Result] | KaratError:
    """The results of a run, one per protocol, or why it cannot be scored. Without an executor, gold is kept."""
    findings = Findings()
    for finding in run.findings:
        findings.add(finding)
    if isinstance(run.corpus, KaratError):
        return run.corpus
    if executor is None and isinstance(task.gold, FileCorpus):
        task.gold.keep_documents()
    protocols = resolve_all(task.protocols, task.settings)
    try:
        return score(task.gold, run.corpus, protocols, task.options, findings=findings, executor=executor)
    except UsageError:
        raise
    except KaratError as error:
        # What was in memory is released.
        return error.with_traceback(None)


def scored_runs(
    task: Task, runs: Sequence[Run], executor: Executor, on_run: OnRun | None = None
) -> Iterator[tuple[Run, list[Result]]]:
    """Each run with its results. If runs are refused, all of them are named at the end."""
    refused: list[tuple[str, KaratError]] = []
    width = executor.width(size(task, runs))
    every: Iterator[list[Result] | KaratError]
    if width == 1:
        every = (scored(task, run) for run in runs)
    elif len(runs) >= width and isinstance(task.gold, FileCorpus):
        task.gold.facts()  # once, for all processes
        every = executor.map(scored, task, runs)
    else:
        every = (scored(task, run, executor) for run in runs)
    for number, (run, results) in enumerate(zip(runs, every, strict=True), 1):
        if on_run is not None:
            on_run(number, len(runs))
        if isinstance(results, KaratError):
            if any(results.finding == error.finding for _, error in refused):
                raise results  # what is wrong with two systems in the same place is wrong with gold or the options
            refused.append((run.system, results))
        elif not refused:
            yield run, results
    if refused:
        raise refusal(refused, runs)


def size(task: Task, runs: Sequence[Run]) -> int:
    """The bytes that are read."""
    corpora = [run.corpus for run in runs]
    return sum(corpus.size() for corpus in (task.gold, *corpora) if isinstance(corpus, FileCorpus))


def refusal(refused: Sequence[tuple[str, KaratError]], runs: Sequence[Run]) -> KaratError:
    """One error for all runs that are refused."""
    if len(refused) == 1:
        return refused[0][1]
    bad, systems = ({name for name, _ in refused}, {run.system for run in runs})
    return CombinedError(REFUSED.at(f"{len(bad):,} of {len(systems):,} systems cannot be scored"), refused)
