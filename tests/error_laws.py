"""Laws of every analysis of errors: errors explain the outcomes once, and repairing all of them ends at gold."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, Phase, settings

from karat.corpus.interface import Corpus
from karat.families.hierarchy.errors import link_outcomes
from karat.filters.distinct import Distinct
from karat.insight import units as insight_found
from karat.insight.repairs import Repair, edited_system, merged_edits
from karat.insight.units import FoundError
from karat.plugin import DetailedMeasure, Measure
from karat.problems import Findings
from karat.protocols import PROTOCOLS, Protocol, resolve
from karat.records import MeasureErrors
from karat.result import Result
from karat.run.errors import Analysis
from karat.run.plan import Options
from karat.run.scoring import score
from karat.run.targets import TargetErrors
from karat.testing.corpora import Sides, completed, distinct
from tests.corpora import corpus

EXAMPLES = settings(
    max_examples=8,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # to shrink a corpus takes minutes
)


def of_family(*families: str) -> list[str]:
    """The protocols that have measures of some families."""
    return [name for name in PROTOCOLS.names() if any(one.name in families for one in resolve(name).families)]


ACE, ARGUMENTS, TEMPLATES = of_family("ace"), of_family("arg"), of_family("template")
RELATIONS = of_family("relation", "temporal")


def one_of_each_kind(protocols: Iterable[str]) -> list[str]:
    """The first protocol of each kind: others with the same families, units and filters differ in parameters alone."""
    kinds: dict[object, str] = {}
    for protocol in map(resolve, protocols):
        families = tuple(choice.name for choice in protocol.families)
        unit = protocol.unit.removeprefix("sub")
        kinds.setdefault((families, unit, tuple(map(type, protocol.filters))), protocol.name)
    return [*kinds.values()]


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
    (result,) = score(gold, system, [protocol], Options(measures), findings=Findings())
    return result


def found(gold: Corpus, system: Corpus, protocol: str | Protocol, *measures: str) -> Sequence[TargetErrors]:
    """The errors of each measure that is analysed."""
    return [errors for errors, _ in analysed(gold, system, protocol, *measures, score_repaired=False)]


def analysed(
    gold: Corpus, system: Corpus, protocol: str | Protocol, *measures: str, score_repaired: bool = True
) -> Sequence[tuple[TargetErrors, MeasureErrors]]:
    """The errors of each measure that is analysed, and what the result says of them."""
    chosen = resolve(protocol) if isinstance(protocol, str) else protocol
    found: list[tuple[TargetErrors, MeasureErrors]] = []
    measure_errors = Analysis.measure_errors

    def noted(analysis: Analysis, errors: TargetErrors) -> MeasureErrors:
        empty = MeasureErrors(errors.target.id, {}, "", (), ())
        found.append((errors, measure_errors(analysis, errors) if score_repaired else empty))
        return found[-1][1]

    with patch.object(Analysis, "measure_errors", noted):
        score(gold, system, [chosen], Options(measures, errors=True), findings=Findings())
    return found


def edited(gold: Corpus, system: Corpus, repairs: Iterable[Repair]) -> Corpus:
    """The system as some repairs leave it."""
    edits = merged_edits(repairs)
    golds, systems = ({document.id: document for document in side} for side in (gold, system))
    return corpus(
        edited_system(golds.get(id_), systems.get(id_), edits[id_]) if id_ in edits else systems[id_]
        for id_ in dict.fromkeys([*systems, *edits])
    )


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
            system = edited(gold, system, [repair for error in errors for repair in error.repairs])
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


def counted_tables(gold: Corpus, system: Corpus, protocol: str | Protocol) -> list[tuple[Measure[Any, Any], Any]]:
    """Every table that is counted, with its measure."""
    counted: list[tuple[Measure[Any, Any], Any]] = []
    chosen = resolve(protocol) if isinstance(protocol, str) else protocol
    tables_of = insight_found.counted_tables

    def noted(*args: Any) -> Iterator[insight_found.CountedTable]:
        for table in tables_of(*args):
            counted.append((table.measure, table.table))
            yield table

    with patch.object(insight_found, "counted_tables", noted):
        score(gold, system, [chosen], Options(details=True), findings=Findings())
    return counted


def wrong_outcomes(measure: Measure[Any, Any], table: Any) -> int:
    """How many outcomes did not earn everything; of measures of links, those of the links behind them."""
    if measure.table.errors_of == "links":
        ratios = [one.counts.ratios().values() for one in link_outcomes(measure, table)]
        return sum(any(ratio.num < ratio.den for ratio in one) for one in ratios)
    if isinstance(measure, DetailedMeasure):
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
