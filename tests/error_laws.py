"""What every analysis of errors must obey: errors explain the outcomes once, and repairing all of them ends at gold."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings

from karat.corpus import Corpus
from karat.engine import RunOptions, score
from karat.errors import Findings
from karat.filters.distinct import Distinct
from karat.insight.analysing import found_errors
from karat.insight.collecting import TargetErrors
from karat.insight.edits import EditedCorpus
from karat.insight.found import FoundError
from karat.plugin import Measure, Tables
from karat.protocols import PROTOCOLS, Protocol, resolve
from karat.results import Result
from karat.testing.corpora import Sides, completed, distinct
from tests.corpora import corpus

EXAMPLES = settings(
    max_examples=12,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # to shrink a corpus takes minutes
)


def of_family(*families: str) -> list[str]:
    """The protocols that have measures of some families."""
    return [name for name in PROTOCOLS.names() if any(one.name in families for one in resolve(name).families)]


ACE, ARGUMENTS, TEMPLATES = of_family("ace"), of_family("arg"), of_family("template")
QUICK = ("conll-2012", "simple-cdec", "exact-2013", "textee-2024", "gtt-2021")


def marked(protocols: Iterable[str]) -> list[Any]:
    """The protocols as parameters of a test; all but a few are slow."""
    return [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in protocols]


def scorable(both: Sides, protocol: str) -> tuple[Corpus, Corpus]:
    """Corpora that the protocol accepts: each span once on a side, or every document on both, if it wants that."""
    if protocol.startswith(("crac", "ace")):
        both = completed(both)
    chosen = resolve(protocol)
    # Where a system mention has several gold mentions on its span, not even gold is perfect under some protocols.
    if "perfect" not in chosen.laws or any(isinstance(one, Distinct) for one in chosen.filters):
        both = distinct(both)
    gold, system = both
    return corpus(gold), corpus(system)


def scored(gold: Corpus, system: Corpus, protocol: Protocol, *measures: str) -> Result:
    (result,) = score(gold, system, [protocol], RunOptions(measures), findings=Findings())
    return result


def found(gold: Corpus, system: Corpus, protocol: str | Protocol, *measures: str) -> Sequence[TargetErrors]:
    """The errors of each measure that is analysed."""
    chosen = resolve(protocol) if isinstance(protocol, str) else protocol
    options = RunOptions(measures)
    ((_, errors),) = found_errors(
        lambda observe: score(gold, system, [chosen], options, findings=Findings(), observe=observe), options
    )
    return errors


def found_for(gold: Corpus, system: Corpus, protocol: str | Protocol, measure: str) -> TargetErrors:
    (one,) = [one for one in found(gold, system, protocol, measure) if one.target.id == measure]
    return one


def repaired(
    gold: Corpus, system: Corpus, protocol: str | Protocol, measure: str, *, rounds: int = 1
) -> tuple[Corpus, TargetErrors]:
    """The system after repairing one class after another, in the order of definition, and the errors that are left."""
    chosen = resolve(protocol) if isinstance(protocol, str) else protocol
    now = found_for(gold, system, chosen, measure)
    for _ in range(rounds):
        done = set[str]()
        while errors := _next_class(now, done):
            system = EditedCorpus(gold, system, [repair for error in errors for repair in error.repairs])
            now = found_for(gold, system, chosen, measure)
        if not now.errors:
            break
    return system, now


def _next_class(now: TargetErrors, done: set[str]) -> list[FoundError]:
    """The errors of the first class that was not repaired in this round."""
    for name in now.classes():
        errors = [error for error in now.errors if error.name == name]
        if errors and name not in done:
            done.add(name)
            return errors
    return []


class Recorder:
    """Keeps every table that is counted."""

    def __init__(self) -> None:
        self.counted: list[tuple[Measure[Any, Any], Any]] = []

    def enter(self, unit: str, tables: Tables) -> None:
        """Documents are not needed."""

    def add(self, unit: str, document: str | None, measure: Measure[Any, Any], table: Any) -> None:
        self.counted.append((measure, table))

    def leave(self) -> None:
        """Tables of all documents are wanted."""

    def part(self) -> None:
        raise AssertionError("all documents are in this process")

    def merge(self, part: Any) -> None:
        raise AssertionError(part)


def counted_tables(gold: Corpus, system: Corpus, protocol: str | Protocol) -> list[tuple[Measure[Any, Any], Any]]:
    recorder = Recorder()
    chosen = resolve(protocol) if isinstance(protocol, str) else protocol
    score(gold, system, [chosen], RunOptions(), findings=Findings(), observe=lambda *_: recorder)
    return recorder.counted


def wrong_outcomes(measure: Measure[Any, Any], table: Any) -> int:
    """How many outcomes did not earn everything; of measures of links, those of the links behind them."""
    if measure.table.errors_of == "links":
        ratios = [one.counts.ratios().values() for one in measure.link_outcomes(table)]
        return sum(any(ratio.num < ratio.den for ratio in one) for one in ratios)
    if measure.table.errors_of == "elements":
        listed = [(one, one.listed) for one in measure.details(table) if one.listed is not None]
        return sum((item["outcome"] != "correct" and not one.is_nominal) or one.lost > 1e-6 for one, item in listed)
    return sum(one.counts.lost() > 0 for one in measure.outcomes(table))


def lost(result: Result, measure: str) -> float:
    counts = result[measure].micro.counts
    assert counts is not None
    return counts.lost()


def names(one: TargetErrors) -> Counter[tuple[str, str | None]]:
    """How many errors of each class each document has."""
    return Counter((error.name, error.instance.document) for error in one.errors)
