"""Averages over classes: the mean of the scores of each value of an attribute, such as macro F1 over event types.

Each outcome belongs to the class of its items. A pair whose values differ is missed in gold's class and spurious in the
system's. A class without system items has precision 0, and only classes that gold has are averaged.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import fsum
from typing import Any

from msgspec.structs import astuple

from karat.counts import PrecisionRecall, Scores, ScoreValues, scores_of_counts
from karat.model import Value
from karat.plugin import Comparison, Measure, Outcome
from karat.problems import Rule
from karat.result import Score
from karat.run.rows import ClassCounts, UnitRow
from karat.run.units import AveragedMeasure, MeasureSet

NO_CLASSES = Rule(
    "classes-no-parts", "fatal", "Remove `classes` from the averages of this family, or use --by on the command line."
)
SPURIOUS, MISSED = (0, 1, 0, 0), (0, 0, 0, 1)
"""The counts that a pair with two values leaves in each class: precision_den and recall_den."""


def has_classes(measure: Measure[Any, Any]) -> bool:
    """Return whether the outcomes of a measure can be divided into classes."""
    return measure.table.alignment is None and issubclass(measure.counts_type(), PrecisionRecall)


def check_classes(measures: Sequence[AveragedMeasure]) -> None:
    """Refuse an average over classes if no measure that asks for it has outcomes that add up."""
    asking = [measure for measure, averages in measures if averages.classes]
    if asking and not any(map(has_classes, asking)):
        raise NO_CLASSES.error(f"{asking[0].id} has no average over classes: its outcomes do not add up")


def all_class_counts(
    measures: MeasureSet, tables: Sequence[Any], comparison: Comparison, *, has_gold: bool
) -> dict[tuple[str, str], ClassCounts]:
    """Return the counts of a unit by measure and attribute, for the measures that average it over classes."""
    return {
        (measure.id, attribute): class_counts(measure.outcomes(tables[index]), attribute, comparison)
        for (measure, averages), (_, index, _) in zip(measures.measures, measures.counting, strict=True)
        if has_classes(measure) and (averages.units == "all" or has_gold)
        for attribute in averages.classes
    }


def class_counts(outcomes: Iterable[Outcome[Any]], attribute: str, comparison: Comparison) -> ClassCounts:
    """Return the counts of each value of an attribute."""
    counts: dict[Value, list[tuple[float, ...]]] = {}
    for outcome in outcomes:
        gold, system = (None if item is None else _value(item, attribute) for item in (outcome.gold, outcome.system))
        parts = astuple(outcome.counts)
        if outcome.gold is None:
            shares = [(system, parts)]
        elif outcome.system is None or comparison.agrees(attribute, gold, system):
            shares = [(gold, parts)]
        else:
            shares = [
                (value, tuple(part * kept for part, kept in zip(parts, mask, strict=True)))
                for value, mask in ((gold, MISSED), (system, SPURIOUS))
            ]
        for value, share in shares:
            if (key := comparison.key(value)) is not None:
                counts.setdefault(key, []).append(share)
    return {key: tuple(map(fsum, zip(*shares, strict=True))) for key, shares in counts.items()}


def _value(item: Any, attribute: str) -> Value | None:
    value: Value | None = item.attributes.get(attribute)
    return value


def with_class_averages(scores: Mapping[str, Score], units: Sequence[UnitRow]) -> dict[str, Score]:
    """Return the scores with their averages over classes."""
    parts: dict[tuple[str, str], dict[Value, list[Sequence[float]]]] = {}
    for unit in units:
        for place, counts in unit.classes.items():
            for value, numbers in counts.items():
                parts.setdefault(place, {}).setdefault(value, []).append(numbers)
    averages: dict[str, dict[str, ScoreValues]] = {}
    for (id_, attribute), by_value in parts.items():
        counts_of = [PrecisionRecall(*map(fsum, zip(*rows, strict=True))) for rows in by_value.values()]
        classes = [scores_of_counts(counts, undefined=0.0) for counts in counts_of if counts.recall_den]
        if classes:
            means: Scores = {name: fsum(row[name] or 0.0 for row in classes) / len(classes) for name in classes[0]}
            averages.setdefault(id_, {})[attribute] = ScoreValues(means)
    return {id_: Score(score.micro, score.macro, classes=averages.get(id_, {})) for id_, score in scores.items()}
