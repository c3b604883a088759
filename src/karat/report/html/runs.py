"""Scores the runs of a comparison once more, one after another, for the outcomes that a report shows.

The comparison itself keeps only counts: the outcomes of forty systems at once would need much memory.
"""

from collections.abc import Sequence
from typing import NamedTuple

from msgspec.structs import replace

from karat.comparison.scoring import OnRun, Run, Task, scored
from karat.corpus import Executor, FileCorpus
from karat.errors import KaratError
from karat.insight import analysed
from karat.protocols import Protocol
from karat.report.html.gather import Gathered
from karat.results import Result
from karat.stats.confidence import changed


def default_fields(gold: FileCorpus, protocols: Sequence[Protocol]) -> tuple[str, ...]:
    """How a report breaks scores down if the user does not say: by type, where gold's mentions have one."""
    survey = gold.survey()
    return ("type",) if all("type" in survey.attributes_of(protocol.kinds) for protocol in protocols) else ()


class GatheredRuns(NamedTuple):
    """The documents of all runs, and the results of each run by its name, without outcomes."""

    documents: Gathered
    results: dict[str, list[Result]]


def gathered_runs(
    task: Task,
    protocols: Sequence[Protocol],
    runs: Sequence[Run],
    *,
    by: Sequence[str] = (),
    on_run: OnRun | None = None,
    executor: Executor | None = None,
) -> GatheredRuns:
    """The outcomes and errors of runs, and their breakdowns by some fields. `protocols` are those of the task."""
    task = task._replace(options=replace(task.options, details=True, keep_rows=False, by=tuple(by)))
    documents = Gathered(task.gold)
    results: dict[str, list[Result]] = {}
    names = [run.system for run in runs]
    for number, run in enumerate(runs):
        name = run.system
        if names.count(name) > 1:
            name = f"{name} (run {names[: number + 1].count(name)})"
        own, corpus = scored(task, run, executor), run.corpus
        if isinstance(own, KaratError):
            raise own
        assert not isinstance(corpus, KaratError), "a run that cannot be read was refused"
        for protocol, result in zip(protocols, own, strict=True):
            result.errors = analysed(
                task.gold,
                corpus,
                protocol,
                result,
                measures=task.options.measures,
                by=task.options.by,
                executor=executor,
            )
        documents.add(name, corpus, own)
        results[name] = [changed(result, outcomes=None, details=None) for result in own]
        if on_run is not None:
            on_run(number + 1, len(runs))
    return GatheredRuns(documents, results)
