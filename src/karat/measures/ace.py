"""ACE 2005 value scores (The ACE 2005 Evaluation Plan, Appendix A).

    score = Σ value of system tokens / Σ value of reference tokens
          = (reference_value - miss_cost - error_cost - false_alarm_cost) / reference_value

    EDR, VAL, TERN   Value(token) = Element_Value(token) · Mentions_Value(token)
    RDR, VDR         Value(token) = Element_Value(token) · Arguments_Value(token)
    EMD, RMD, VMD    the same, each mention promoted to an element of its own

The formulas stand in `karat.tables.ace`, one function each; here mapped and unmapped tokens become counts and costs. A
mapped reference is correct if all attributes and arguments are right, else an error; what it lost is `error_cost` in
either case.
"""

from collections.abc import Iterator, Sequence
from math import inf
from typing import Any, ClassVar, Literal, NamedTuple

from msgspec import Struct

from karat.counts import Counts, Ratio, harmonic
from karat.counts import Values as Scores
from karat.errors import UsageError
from karat.measures import Card, Item, Outcome, Setting
from karat.tables.ace.arguments import ArgumentValues, Condition, Conditions, Related
from karat.tables.ace.elements import Element, Elements, Promoted
from karat.tables.ace.parameters import DETECTED, Detection, Readings, Recognition, Values
from karat.tables.ace.values import ElementValues, Valued, Weighting

TASKS = {
    "edr": "entity",
    "val": "value",
    "tern": "time",
    "rdr": "relation",
    "vdr": "event",
    "emd": "entity",
    "rmd": "relation",
    "vmd": "event",
}
"""Each task and the kind of element that it scores."""


class Parameters(Struct, frozen=True, forbid_unknown_fields=True):
    """What a protocol says to the family."""

    EDR: Detection
    VAL: Detection
    TERN: Detection
    RDR: Recognition
    VDR: Recognition
    readings: Readings = Readings()
    sets: dict[str, dict[str, dict[str, Any]]] = {}
    """Named sets of parameters: what each changes in the tables above."""
    parameters: str = "DEFAULT"
    """The set that is used."""
    weighting: Weighting = "level"
    mapping: Condition = "arguments"
    relation_arguments: Literal["0", "1", "both"] = "both"
    argument_scoring: Literal["overlapping", "mapped"] = "overlapping"
    averaging: Literal["arithmetic", "geometric"] = "arithmetic"

    def values(self) -> Values:
        """The tables, changed by the chosen set."""
        chosen = Values(self.EDR, self.VAL, self.TERN, self.RDR, self.VDR, self.readings)
        return chosen.changed(self.sets.get(self.parameters, {}))

    def conditions(self) -> Conditions:
        """What was chosen for relations and events."""
        return Conditions(self.mapping, self.relation_arguments, self.argument_scoring, self.averaging)


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
            "value_precision": Ratio(
                max(0.0, left), self.reference_value - self.miss_cost + self.false_alarm_cost
            ),
            "value_recall": Ratio(max(0.0, left), self.reference_value),
        }

    @classmethod
    def derived(cls, values: Scores) -> Scores:
        """F1 of tokens and of value."""
        return {
            "f1": harmonic(values["precision"], values["recall"]),
            "value_f1": harmonic(values["value_precision"], values["value_recall"]),
        }


class Token(NamedTuple):
    """A reference, what it is mapped to, or a system token that is mapped to nothing; and what that is worth."""

    gold: str | None
    system: str | None
    worth: float
    """The reference's value, or the system token's own where there is none."""
    cost: float

    def counts(self, table: Valued | Related) -> tuple[float, ...]:
        """The numbers of `ValueCounts`."""
        if self.gold is None:
            return (0, 0, 0, 0, 1, 0.0, 0.0, self.cost, 0.0)
        if self.system is None:
            return (1, 0, 0, 1, 0, self.worth, self.cost, 0.0, 0.0)
        ends = self.gold, self.system
        right = not table.wrong(*ends) and not table.wrong_arguments(*ends)
        return (1, right, not right, 0, 0, self.worth, 0.0, 0.0, self.cost)


def tokens(table: Valued | Related) -> Iterator[Token]:
    """References in order, then system tokens that are mapped to nothing."""
    mapping = table.mapping
    for gold, worth in table.reference.items():
        system = mapping.get(gold)
        yield Token(gold, system, worth, worth if system is None else worth - table.value(gold, system))
    mapped = set(mapping.values())
    for system in table.system:
        if system not in mapped:
            yield Token(None, system, table.own(system), -table.alarms[system])


class Task(Struct, frozen=True):
    """One of the eight tasks."""

    kind: ClassVar[type[Counts]] = ValueCounts
    fields: ClassVar[tuple[str, ...]] = (
        *("type", "subtype", "class", "level", "modality", "tense", "polarity", "genericity"),
        *("value", "mention_count", "argument_errors"),
    )
    """What its outcomes can be broken down by, beside what documents and mentions have."""

    name: str
    artefact: Any

    @property
    def id(self) -> str:
        """`ace.` and the task."""
        return f"ace.{self.name}"

    def count(self, table: Valued | Related) -> ValueCounts:
        """Sums over tokens."""
        return ValueCounts.summed([token.counts(table) for token in tokens(table)])

    def outcomes(self, table: Valued | Related) -> Iterator[Outcome]:
        """Each reference with what it is mapped to, and each system token that is mapped to nothing."""
        for token in tokens(table):
            gold = None if token.gold is None else _item(token, table, table.gold[token.gold].element)
            system = None if token.system is None else _item(token, table, table.system[token.system].element)
            yield Outcome(gold, system, ValueCounts(*token.counts(table)))


VALUES = ((0.2, "0.0-0.2"), (0.5, "0.2-0.5"), (1.0, "0.5-1.0"), (2.0, "1-2"), (4.0, "2-4"), (inf, "4 and more"))
MENTIONS = ((1, "1"), (2, "2"), (4, "3-4"), (8, "5-8"), (inf, "9 and more"))
ERRORS = ((0, "0"), (1, "1"), (inf, "2 and more"))


def _item(token: Token, table: Valued | Related, element: Element) -> Item:
    """An element with the ranges of value, mention count and argument errors that it is in."""
    derived = {"value": _range(VALUES, token.worth), "mention_count": _range(MENTIONS, len(element.mentions))}
    if isinstance(table, Related) and token.gold is not None:
        wrong = len(table.gold[token.gold].arguments)
        if token.system is not None:
            wrong = len(table.wrong_arguments(token.gold, token.system))
        derived["argument_errors"] = _range(ERRORS, wrong)
    return Item(element.kind, {**element.attributes, **derived})


def _range(ranges: Sequence[tuple[float, str]], number: float) -> str:
    return next(name for most, name in ranges if number <= most)


def measures(parameters: Parameters, setting: Setting) -> list[Task]:
    """The tasks; what has no value of arguments or no elements at all is left out where the protocol says so."""
    values, conditions = parameters.values(), parameters.conditions()
    if parameters.averaging == "geometric" and parameters.mapping not in ("all", "all+extents"):
        hint = "The plan allows it only where all arguments are mapped: --set mapping=all or mapping=all+extents."
        raise UsageError("bad-value", f"averaging=geometric with mapping={parameters.mapping}", hint)
    is_scored = values.readings.absent_kind == "scored"
    whole = Elements(values)
    entities, arguments = Promoted(whole, "entities"), Promoted(whole, "arguments")

    def detection(kind: str, elements: Elements | Promoted) -> ElementValues:
        is_worthless = not is_scored and kind not in setting.gold_kinds
        return ElementValues(kind, values, parameters.weighting, elements, is_worthless=is_worthless)

    own = {kind: detection(kind, whole) for kind in DETECTED}
    promoted = {kind: detection(kind, arguments) for kind in DETECTED}
    artefacts: dict[str, Any] = {
        **{task: own[TASKS[task]] for task in ("edr", "val", "tern")},
        **{task: ArgumentValues(TASKS[task], values, conditions, whole, own) for task in ("rdr", "vdr")},
        "emd": detection("entity", entities),
        **{
            task: ArgumentValues(TASKS[task], values, conditions, arguments, promoted, own) for task in ("rmd", "vmd")
        },
    }
    return [
        Task(task, artefacts[task])
        for task, kind in TASKS.items()
        if (is_scored or (kind in setting.gold_kinds and kind in setting.system_kinds))
        and not (parameters.averaging == "geometric" and kind == "event" and values.VDR.W_A_FA)
    ]
