"""ACE tokens: each reference and each system token with what it was mapped to, what it cost, and why.

The plan's word for what an element has in a document is token; counts, outcomes and details all list tokens.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import fsum, inf
from typing import Any

from msgspec import Struct

from karat.counts import Counts, Ratio, Scores, harmonic
from karat.model import Value
from karat.plugin import ElementItem
from karat.tables.ace.detection import DetectionTable
from karat.tables.ace.explanation import losses
from karat.tables.ace.recognition import RecognitionTable
from karat.tables.ace.records import Element

ValueTable = DetectionTable | RecognitionTable


class ValueCounts(Counts, frozen=True):
    """Tokens and what they are worth."""

    reference: float
    correct: float
    error: float
    miss: float
    false_alarm: float
    reference_value: float
    miss_cost: float
    false_alarm_cost: float
    error_cost: float

    def ratios(self) -> dict[str, Ratio]:
        """The score; precision and recall of tokens that are right in all; the same of value."""
        left = self.reference_value - self.miss_cost - self.error_cost
        found = self.correct + self.error
        return {
            "value": Ratio(left - self.false_alarm_cost, self.reference_value),
            "precision": Ratio(self.correct, found + self.false_alarm),
            "recall": Ratio(self.correct, found + self.miss),
            "value_precision": Ratio(max(0.0, left), self.reference_value - self.miss_cost + self.false_alarm_cost),
            "value_recall": Ratio(max(0.0, left), self.reference_value),
        }

    def lost(self) -> float:
        """All costs."""
        return self.miss_cost + self.error_cost + self.false_alarm_cost

    def shown(self) -> dict[str, float | Ratio]:
        """Tokens and costs, each also as a share: of the reference's tokens, and of its value."""
        counts = {"false alarm": self.false_alarm, "miss": self.miss, "error": self.error}
        costs = {"false alarm": self.false_alarm_cost, "miss": self.miss_cost, "error": self.error_cost}
        return {
            "tokens": self.reference,
            **counts,
            **{f"{name} %": Ratio(count, self.reference) for name, count in counts.items()},
            **{f"{name} cost %": Ratio(cost, self.reference_value) for name, cost in costs.items()},
        }

    @classmethod
    def derived(cls, values: Scores) -> Scores:
        """F1 of tokens and of value."""
        return {
            "f1": harmonic(values["precision"], values["recall"]),
            "value_f1": harmonic(values["value_precision"], values["value_recall"]),
        }


class TokenOutcome(Struct, frozen=True, gc=False):
    """A reference with what it is mapped to, or a system token that is mapped to nothing; and what that costs."""

    gold: str | None
    system: str | None
    worth: float
    """The reference's value, or the system token's own where there is no reference."""
    cost: float

    def counts(self, table: ValueTable) -> tuple[float, ...]:
        """The numbers of `ValueCounts`."""
        if self.gold is None:
            return (0, 0, 0, 0, 1, 0.0, 0.0, self.cost, 0.0)
        if self.system is None:
            return (1, 0, 0, 1, 0, self.worth, self.cost, 0.0, 0.0)
        is_correct = _is_correct(table, self.gold, self.system)
        return (1, is_correct, not is_correct, 0, 0, self.worth, 0.0, 0.0, self.cost)


def token_counts(table: ValueTable) -> ValueCounts:
    """What the outcomes of all tokens add up to."""
    mapping, reference = table.mapping, table.reference
    correct = sum([_is_correct(table, gold, system) for gold, system in mapping.items()])
    missed = [worth for gold, worth in reference.items() if gold not in mapping]
    mapped = set(mapping.values())
    spurious = [-table.unmapped[system] for system in table.system if system not in mapped]
    return ValueCounts(
        reference=len(reference),
        correct=correct,
        error=len(mapping) - correct,
        miss=len(missed),
        false_alarm=len(spurious),
        reference_value=fsum(reference.values()),
        miss_cost=fsum(missed),
        false_alarm_cost=fsum(spurious),
        error_cost=fsum([reference[gold] - table.value(gold, system) for gold, system in mapping.items()]),
    )


def token_outcomes(table: ValueTable) -> Iterator[TokenOutcome]:
    """References in order, then system tokens that are mapped to nothing."""
    mapping = table.mapping
    for gold, worth in table.reference.items():
        system = mapping.get(gold)
        yield TokenOutcome(gold, system, worth, worth if system is None else worth - table.value(gold, system))
    mapped = set(mapping.values())
    for system in table.system:
        if system not in mapped:
            yield TokenOutcome(None, system, table.own(system), -table.unmapped[system])


def _is_correct(table: ValueTable, gold: str, system: str) -> bool:
    """Whether a mapped reference is right in all attributes and arguments; else it is an error."""
    return not table.wrong_attributes(gold, system) and not table.wrong_arguments(gold, system)


def attributes_item(kind: str, attributes: Mapping[str, Value] | None) -> ElementItem | None:
    """The attributes that `--details` compares, as an item."""
    return None if attributes is None else ElementItem(kind, attributes)


def listed_token(token: TokenOutcome, table: ValueTable) -> dict[str, Any]:
    """One token as `--details` lists it."""
    listed: dict[str, Any] = {}
    if token.gold is not None:
        listed["reference"] = _written_id(table.gold[token.gold].element)
    if token.system is not None:
        listed["system"] = _written_id(table.system[token.system].element)
    if token.gold is None:
        return listed | {"outcome": "false alarm", "worth": 0.0, "value": 0.0 - token.cost, "lost": []}
    if token.system is None:
        return listed | {"outcome": "miss", "worth": token.worth, "value": 0.0, "lost": []}
    return listed | {
        "outcome": "correct" if _is_correct(table, token.gold, token.system) else "error",
        "worth": token.worth,
        "value": token.worth - token.cost,
        "lost": losses(table, token.gold, token.system),
    }


def _written_id(element: Element) -> str:
    """The id that the file has for it: of a promoted element, that of the mention."""
    return element.id if element.parent is None else element.mentions[0].id


VALUE_RANGES = ((0.2, "0.0-0.2"), (0.5, "0.2-0.5"), (1.0, "0.5-1.0"), (2.0, "1-2"), (4.0, "2-4"), (inf, "above 4"))
MENTION_RANGES = ((1, "1"), (2, "2"), (4, "3-4"), (8, "5-8"), (inf, "9 and more"))
ERROR_RANGES = ((0, "0"), (1, "1"), (inf, "2 and more"))


def element_item(token: TokenOutcome, table: ValueTable, element: Element) -> ElementItem:
    """An element with the ranges of value, mention count and argument errors that it is in."""
    derived = {
        "value": _range(VALUE_RANGES, token.worth),
        "mention_count": _range(MENTION_RANGES, len(element.mentions)),
    }
    if isinstance(table, RecognitionTable) and token.gold is not None:
        wrong = len(table.gold[token.gold].arguments)
        if token.system is not None:
            wrong = len(table.wrong_arguments(token.gold, token.system))
        derived["argument_errors"] = _range(ERROR_RANGES, wrong)
    return ElementItem(element.kind, {**element.attributes, **derived})


def _range(ranges: Sequence[tuple[float, str]], number: float) -> str:
    return next(name for most, name in ranges if number <= most)
