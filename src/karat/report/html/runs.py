"""The documents of a comparison's runs, gathered while they are scored: what a page does not hold is let go."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from karat.comparison.scoring import Run
from karat.corpus import Corpus, FileCorpus
from karat.errors import KaratError
from karat.protocols import Protocol
from karat.report.html.gather import Gathered
from karat.results import Result
from karat.stats.confidence import changed


def default_fields(gold: FileCorpus, protocols: Sequence[Protocol]) -> tuple[str, ...]:
    """How a report breaks scores down if the user does not say: by type, where gold's mentions have one."""
    survey = gold.survey()
    return ("type",) if all("type" in survey.attributes_of(protocol.kinds) for protocol in protocols) else ()


class GatheredRuns:
    """The documents of all runs, and the results of each run by its name, without outcomes."""

    def __init__(self, gold: Corpus, runs: Sequence[Run], *, breakdowns: bool) -> None:
        """`breakdowns`: whether the comparison has those of the results, too."""
        self.documents = Gathered(gold)
        self.results: dict[str, list[Result]] = {}
        self._breakdowns = breakdowns
        self._runs = Counter(run.system for run in runs)
        self._seen: Counter[str] = Counter()

    def add(self, run: Run, results: list[Result]) -> list[Result]:
        """Gather a run, whose results have outcomes and errors; what the comparison needs of them."""
        self._seen[run.system] += 1
        number = f" (run {self._seen[run.system]})" if self._runs[run.system] > 1 else ""
        name = f"{run.system}{number}"
        assert not isinstance(run.corpus, KaratError), "a run that was scored was read"
        self.documents.add(name, run.corpus, results)
        self.results[name] = [changed(result, outcomes={}, details={}) for result in results]
        parts: dict[str, Any] = {} if self._breakdowns else {"by": {}, "by_rows": {}}
        return [changed(result, errors=None, **parts) for result in self.results[name]]

    def sort(self, systems: Sequence[str]) -> None:
        """Put the runs in the order of their systems."""
        place = {name: number for number, name in enumerate(systems)}
        order = sorted(self.results, key=lambda name: place[name if name in place else name.rpartition(" (run ")[0]])
        self.results = {name: self.results[name] for name in order}
        self.documents.sort(order)
