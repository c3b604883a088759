"""Scores every run against gold. Gold is surveyed once per process, and its documents are kept, up to a limit."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from karat import engine
from karat.comparison.workers import Workers
from karat.corpus import Corpus, FileCorpus
from karat.errors import Finding, Findings
from karat.protocols import Protocol, resolve_all
from karat.results import Result

OnRun = Callable[[int, int], None]
"""Called after each run with the number done and the total."""


class Run(NamedTuple):
    """One output of a system, and what was found when it was opened."""

    system: str
    corpus: Corpus
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


def scored(run: Run) -> list[Result]:
    """The results of a run, one per protocol."""
    findings = Findings()
    for finding in run.findings:
        findings.add(finding)
    return engine.score(_task.gold, run.corpus, _protocols, _task.options, findings=findings)


def scored_runs(
    workers: Workers, runs: Sequence[Run], on_run: OnRun | None = None
) -> Iterator[tuple[str, list[Result]]]:
    """The name of each run's system, and its results."""
    for number, (run, results) in enumerate(zip(runs, workers.map(scored, runs), strict=True), 1):
        if on_run is not None:
            on_run(number, len(runs))
        yield run.system, results
