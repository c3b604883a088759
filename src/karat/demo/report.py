"""The demo's report: its three systems compared, with the documents."""

from collections.abc import Iterator
from pathlib import Path

from karat.comparison import Run, Task, compared
from karat.corpus import open_corpus
from karat.demo.showcase import PROTOCOL, SYSTEMS
from karat.engine.plan import Options
from karat.report.html.gather import GatheredRuns
from karat.report.html.report import comparison_report

SORT_BY = "nugget.type+realis"
BASELINE = "literal"


def report(folder: Path) -> Iterator[str]:
    """The page, in pieces; `folder` has the bundled files."""
    gold = open_corpus(str(folder / "gold.jsonl"))
    gold.name = "the demo's gold"
    task = Task(gold, (PROTOCOL,), {}, Options(by=("type",), details=True, errors=True, keep_rows=True))
    runs = [Run(name, open_corpus(str(folder / f"{name}.jsonl"))) for name in SYSTEMS]
    gathered = GatheredRuns(gold, runs, breakdowns=False)
    comparisons = compared(task, runs, baseline=BASELINE, sort_by=SORT_BY, keep=gathered.add)
    gathered.sort([system.name for system in comparisons[0].systems])
    return comparison_report(comparisons, gathered)
