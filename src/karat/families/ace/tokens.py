"""Counts of ACE tokens: each reference and each system token with what it was mapped to, and what it cost.

The plan's word for what an element has in a document is token; counts, outcomes and details all list tokens.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import fsum, inf
from typing import Any, Self

from msgspec import Struct

from karat.counts import Counts, Ratio, Scores, harmonic
from karat.families.ace.detection import DetectionTable
from karat.families.ace.plan import head_text
from karat.families.ace.recognition import RecognitionTable, ValueTable
from karat.families.ace.records import (
    Argument,
    Element,
    Location,
    ScoredMention,
    differing,
    wrong_mention_attributes,
)
from karat.model import Mention, Value
from karat.plugin import Detail, ElementItem
from karat.problems import Origin, quoted
from karat.regions import place


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

    def shown(self, total: Self) -> dict[str, float | Ratio]:
        """Tokens and costs, also as shares of the reference's tokens and value; the share of all value that this is."""
        counts = {"false alarm": self.false_alarm, "miss": self.miss, "error": self.error}
        costs = {"false alarm": self.false_alarm_cost, "miss": self.miss_cost, "error": self.error_cost}
        return {
            "tokens": self.reference,
            **counts,
            **{f"{name} %": Ratio(count, self.reference) for name, count in counts.items()},
            **{f"{name} cost %": Ratio(cost, self.reference_value) for name, cost in costs.items()},
            "share of value %": Ratio(self.reference_value, total.reference_value),
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
        yield TokenOutcome(gold, system, worth, worth if system is None else worth - table.pairs[gold, system])
    mapped = set(mapping.values())
    for system in table.system:
        if system not in mapped:
            yield TokenOutcome(None, system, table.own[system], -table.unmapped[system])


def is_correct(table: ValueTable, gold: str, system: str) -> bool:
    """Return whether a mapped reference is right in all attributes and arguments; else it is an error."""
    if wrong_attributes(table, gold, system):
        return False
    return not (isinstance(table, RecognitionTable) and table.wrong_arguments(gold, system))


def wrong_attributes(table: ValueTable, gold: str, system: str) -> list[str]:
    """Attributes in which two mapped elements differ."""
    return differing(table.compared, table.gold[gold].element, table.system[system].element)


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


def token_details(kind: str, table: ValueTable) -> Iterator[Detail]:
    """Each token with what it was mapped to, what it lost and why; then the parts of those that are mapped."""
    for token in token_outcomes(table):
        gold = None if token.gold is None else table.gold[token.gold].element
        system = None if token.system is None else table.system[token.system].element
        listed = _listed(token, table)
        wrong: tuple[str, ...] = ()
        is_nominal = False
        if token.gold is not None and token.system is not None:
            wrong = tuple(wrong_attributes(table, token.gold, token.system))
            is_nominal = (
                not wrong and isinstance(table, RecognitionTable) and table.is_wrong_by_rule(token.gold, token.system)
            )
        yield Detail(
            kind,
            None if gold is None else _compared_attributes(table, gold),
            None if system is None else _compared_attributes(table, system),
            listed,
            listed.get("reference"),
            listed.get("system"),
            wrong,
            token.cost,
            is_nominal,
            table.reading.compares(is_mapped=gold is not None and system is not None),
        )
        if token.gold is not None and token.system is not None:
            yield from _parts(table, token.gold, token.system)


def _compared_attributes(table: ValueTable, element: Element) -> ElementItem:
    """The attributes of an element that can be confused."""
    attributes = element.attributes
    return ElementItem(element.kind, {name: attributes[name] for name in table.compared if name in attributes})


def _parts(table: ValueTable, gold: str, system: str) -> Iterator[Detail]:
    """The mentions or arguments of two elements that are mapped to each other: mapped, missed, and spurious."""
    if isinstance(table, RecognitionTable):
        for gold_argument, system_argument in table.argument_pairs(gold, system):
            gold_role = None if gold_argument is None else {"role": gold_argument.role}
            system_role = None if system_argument is None else {"role": system_argument.role}
            yield _part("argument", gold_role, system_role)
    else:
        for gold_mention, system_mention in table.mention_pairs(gold, system):
            is_right = same_extent(_extent(gold_mention), _extent(system_mention))
            extent = "wrong" if is_right is False else "right"
            gold_part = None if gold_mention is None else {**gold_mention.attributes, "extent": "right"}
            system_part = None if system_mention is None else {**system_mention.attributes, "extent": extent}
            yield _part("mention", gold_part, system_part, is_right)
        gold_type, system_type = (
            {"type": side.element.attributes.get("type", "")} for side in (table.gold[gold], table.system[system])
        )
        for gold_name, system_name in table.name_pairs(gold, system):
            gold_part = None if gold_name is None else gold_type
            system_part = None if system_name is None else system_type
            yield _part("name", gold_part, system_part, same_extent(gold_name, system_name))


def _extent(mention: ScoredMention | None) -> Location | None:
    return None if mention is None else place(mention.mention)


def _part(
    part: str, gold: Mapping[str, Value] | None, system: Mapping[str, Value] | None, is_right: bool | None = None
) -> Detail:
    gold_item, system_item = (None if side is None else ElementItem(part, side) for side in (gold, system))
    return Detail(part, gold_item, system_item, has_right_extent=is_right)


def same_extent(gold: Location | None, system: Location | None) -> bool | None:
    """Return whether both ends are within four characters of each other; in an image, whether the boxes are equal.

    None: only one side has an extent.
    """
    if gold is None or system is None:
        return None
    if gold and len(gold[0]) == 5:
        return gold == system
    return bool(gold and system) and abs(gold[0][0] - system[0][0]) <= 4 and abs(gold[-1][1] - system[-1][1]) <= 4


def _listed(token: TokenOutcome, table: ValueTable) -> dict[str, Any]:
    """The entry of a token in the list of outcomes."""
    listed: dict[str, Any] = {}
    for name, id_, side in (("reference", token.gold, table.gold), ("system", token.system, table.system)):
        if id_ is not None:
            element = side[id_].element
            listed[name] = _written_id(element)
            if text := _text(element):
                listed[f"{name}_text"] = text
    if token.gold is None:
        return listed | {"outcome": "false alarm", "worth": 0.0, "value": 0.0 - token.cost, "lost": []}
    if token.system is None:
        return listed | {"outcome": "miss", "worth": token.worth, "value": 0.0, "lost": []}
    return listed | {
        "outcome": "correct" if is_correct(table, token.gold, token.system) else "error",
        "worth": token.worth,
        "value": token.worth - token.cost,
        "lost": list(_losses(table, token.gold, token.system)),
    }


def _written_id(element: Element) -> str:
    """The id in the file: of a promoted element, that of the mention."""
    return element.id if element.parent is None else element.mentions[0].id


def _text(element: Element) -> str:
    """The head of the first mention of an entity's level; the words of others that are mentioned."""
    level = element.attributes.get("level")
    named = [mention for mention in element.mentions if level in (None, mention.attributes.get("type"))]
    return head_text(named[0]) if named else ""


def _losses(table: ValueTable, gold: str, system: str) -> Iterator[str]:
    """The reasons why a mapped element is not worth all that its reference is."""
    gold_attributes, system_attributes = table.gold[gold].element.attributes, table.system[system].element.attributes
    for name in wrong_attributes(table, gold, system):
        yield f"{name} {system_attributes.get(name, '-')} for {gold_attributes.get(name, '-')}"
    if isinstance(table, RecognitionTable):
        yield from _lost_arguments(table, gold, system)
    else:
        yield from _lost_mentions(table, gold, system)


def _lost_mentions(table: DetectionTable, gold: str, system: str) -> Iterator[str]:
    for gold_mention, system_mention in table.mention_pairs(gold, system):
        if system_mention is None and gold_mention is not None:
            yield f"{_named(gold_mention.mention)} missed"
        elif gold_mention is None and system_mention is not None:
            yield f"{_named(system_mention.mention)} {'spurious' if system_mention.unmapped else 'of another element'}"
        elif gold_mention is not None and system_mention is not None:
            for name in wrong_mention_attributes(gold_mention, system_mention):
                values = f"{system_mention.attributes[name]} for {gold_mention.attributes[name]}"
                yield f"{_named(system_mention.mention)}: {name} {values}"


def _named(mention: Mention) -> str:
    """A mention by its id and head."""
    return " ".join(["mention", mention.id, *([quoted(text)] if (text := head_text(mention)) else ())])


def _lost_arguments(table: RecognitionTable, gold: str, system: str) -> Iterator[str]:
    for gold_argument, system_argument in table.argument_pairs(gold, system):
        if gold_argument is None and system_argument is not None:
            yield f"{system_argument.role} {_named_argument(system_argument, table, 'system')} spurious"
        elif gold_argument is not None and system_argument is None:
            yield f"{gold_argument.role} {_named_argument(gold_argument, table, 'gold')} missed"
        elif gold_argument is not None and system_argument is not None:
            values = table.arguments[gold_argument.kind]
            ids = gold_argument.element, system_argument.element
            value = table.argument_value(values.by_document, ids, table.system[system].documents)
            own = table.argument_value(values.gold_values, gold_argument.element, table.gold[gold].documents)
            if gold_argument.role != system_argument.role:
                yield f"{system_argument.role} for {gold_argument.role} {_named_argument(gold_argument, table, 'gold')}"
            if value < own:
                named = _named_argument(system_argument, table, "system")
                yield f"{gold_argument.role} {named} is worth {value:.5f} of {own:.5f}"


def _named_argument(argument: Argument, table: RecognitionTable, origin: Origin) -> str:
    """An argument by the id and head of its element."""
    values = table.arguments[argument.kind]
    element = (values.gold if origin == "gold" else values.system)[argument.element].element
    return " ".join([_written_id(element), *([quoted(text)] if (text := _text(element)) else ())])
