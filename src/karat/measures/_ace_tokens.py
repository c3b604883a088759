"""Counts of ACE tokens: each reference and each system token with what it was mapped to, and what it cost.

The plan's word for what an element has in a document is token; counts, outcomes and details all list tokens.
"""

from collections.abc import Iterator, Sequence
from math import fsum, inf

from msgspec import Struct

from karat.counts import Counts, Ratio, Scores, harmonic
from karat.plugin import ElementItem
from karat.tables.ace.recognition import RecognitionTable, ValueTable
from karat.tables.ace.records import Element


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
        is_right = is_correct(table, self.gold, self.system)
        return (1, is_right, not is_right, 0, 0, self.worth, 0.0, 0.0, self.cost)


def token_counts(table: ValueTable) -> ValueCounts:
    """The sums over all tokens."""
    columns = list(zip(*[token.counts(table) for token in token_outcomes(table)], strict=True)) or [()] * 9
    return ValueCounts(*map(sum, columns[:5]), *map(fsum, columns[5:]))


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


def is_correct(table: ValueTable, gold: str, system: str) -> bool:
    """Return whether a mapped reference is right in all attributes and arguments; else it is an error."""
    return not table.wrong_attributes(gold, system) and not table.wrong_arguments(gold, system)


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
