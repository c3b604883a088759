"""The demo's report: its three systems compared, with the documents."""

from collections.abc import Iterator
from pathlib import Path

from karat.comparison import Run, Task, compared
from karat.corpus import open_corpus
from karat.demo.showcase import PROTOCOL, SYSTEMS
from karat.engine import RunOptions
from karat.protocols import resolve_all
from karat.report.html import comparison_report, gathered_runs

SORT_BY = "nugget.type+realis"
BASELINE = "literal"


def report(folder: Path) -> Iterator[str]:
    """The page, in pieces; `folder` has the bundled files."""
    gold = open_corpus(str(folder / "gold.jsonl"))
    gold.name = "the demo's gold"
    task = Task(gold, (PROTOCOL,), {}, RunOptions(keep_rows=True))
    runs = [Run(name, open_corpus(str(folder / f"{name}.jsonl"))) for name in SYSTEMS]
    comparisons = compared(task, runs, baseline=BASELINE, sort_by=SORT_BY)
    place = {system.name: number for number, system in enumerate(comparisons[0].systems)}
    best_first = sorted(runs, key=lambda run: place[run.system])
    gathered = gathered_runs(task, resolve_all(task.protocols, task.settings), best_first, by=("type",))
    return comparison_report(comparisons, gathered)
