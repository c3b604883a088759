"""ACE 2005 value scores (The ACE 2005 Evaluation Plan, Appendix A).

    score = Σ value of system tokens / Σ value of reference tokens
          = (reference_value - miss_cost - error_cost - false_alarm_cost) / reference_value

    EDR, VAL, TERN   Value(token) = Element_Value(token) · Mentions_Value(token)
    RDR, VDR         Value(token) = Element_Value(token) · Arguments_Value(token)
    EMD, RMD, VMD    the same, each mention promoted to an element of its own

The formulas are methods of `Plan` in `karat.tables.ace`; its subclass `Nist` overrides what NIST's scorer computes
otherwise. Here mapped and unmapped tokens become counts and costs. A mapped reference is correct if all attributes and
arguments are right, else an error; what it lost is `error_cost` in either case.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import inf
from typing import Any

from msgspec import Struct

from karat.counts import Counts, Ratio, Scores, harmonic
from karat.errors import UsageError
from karat.model import Value
from karat.plugin import Card, Detail, ElementItem, Family, Measure, Outcome, Row, Setting, TableSpec, Unscored
from karat.tables.ace.detection import DetectionTable, DetectionValues
from karat.tables.ace.elements import WholeElements
from karat.tables.ace.explanation import compared_attributes, compared_parts, losses
from karat.tables.ace.mentions import MentionCorrespondences
from karat.tables.ace.nist import Nist
from karat.tables.ace.parameters import (
    ARGUED,
    DETECTED,
    AceOptions,
    ArgumentScoring,
    Averaging,
    DetectionParameters,
    MappingCondition,
    RecognitionParameters,
    RelationArguments,
    ValueParameters,
    Weighting,
)
from karat.tables.ace.plan import Plan
from karat.tables.ace.promotion import PromotedEntities, PromotedRelations
from karat.tables.ace.recognition import RecognitionTable, RecognitionValues
from karat.tables.ace.records import Element

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


CARD = Card(
    title="ACE 2005 value scores",
    rows={
        "ace.edr": "entities: value; precision, recall, f1 of tokens, and of value",
        "ace.val": "values (quantities, crimes, job titles, ...)",
        "ace.tern": "temporal expressions (timex2)",
        "ace.rdr": "relations and their arguments",
        "ace.vdr": "events and their arguments",
        "ace.emd": "entity mentions, each promoted to an entity",
        "ace.rmd": "relation mentions, each promoted to a relation",
        "ace.vmd": "event mentions, each promoted to an event",
    },
    formula="""\
value = Σ Value(sys token) / Σ Value(ref token)
      = (reference_value - miss_cost - error_cost - false_alarm_cost) / reference_value
EDR, VAL, TERN  Value = Element_Value · Mentions_Value
RDR, VDR        Value = Element_Value · Arguments_Value
Element_Value   min(Π AttrValue(sys), Π AttrValue(ref)) · Π W_err;  unmapped: Π AttrValue · W_FA
                TERN: Σ AttrValue over attributes that both have and that are the same
Mentions_Value  Σ MMV;  level-weighted: min(level_sys, level_ref) · Σ MMV(sys) / Σ MMV(ref)
MMV             min(MTypeValue(sys), MTypeValue(ref)) · Π W_Merr;  unmapped: -MTypeValue · W_M-FA (· W_M-CR)
Arguments_Value Σ MAV over the system's arguments, or their product
MAV             Value(sys, ref) · W_err-role - (Value(sys, sys) - Value(sys, ref)) · W_A-FA
precision = correct / (correct + error + false_alarm)     recall = correct / (correct + error + miss)
value_recall = max(0, reference_value - miss_cost - error_cost) / reference_value
value_precision = the same / (reference_value - miss_cost + false_alarm_cost)""",
    citation="NIST (2005), The ACE 2005 (ACE05) Evaluation Plan, Appendix A, Tables 12 to 20; in ace-2005-nist as the "
    "distributed scorer v14 computes it.",
    traps=(
        "The score is not bounded below: false alarms cost value, and a bad system scores less than nothing.",
        "Only specific (SPC) entities have value. An event without arguments has none, and a relation or event has "
        "the value of its arguments: bad entities make bad relations.",
        "A mapped reference is correct if its attributes and arguments are right, however many mentions it lost; that "
        "loss is part of error_cost, which is why a correct one can cost something.",
        "A system mention that lies on any reference mention costs nothing if it stays unmapped (W_M-CR is 0): "
        "splitting an entity is cheap, inventing one costs 0.75 · 0.75 of its value.",
        "Values of one task depend on others: RDR and VDR read those of EDR, VAL and TERN. Scores are compared "
        "under one protocol and one set of parameters only.",
    ),
    departures=(
        "1 min_text_match: 0.30 in Table 12, 0 in the scorer unless its set DEFAULT is chosen (parameters).",
        "2 TERN: the weights of Table 14; the scorer's default set 2005-TERN pays 0.50 for detection (parameters).",
        "3 An absent SET is absent; the scorer reads NO and pays for it (Nist.default_attributes).",
        "4 An absent mention ROLE is not compared; the scorer takes the entity's TYPE, so that a wrong TYPE is a wrong "
        "ROLE of each mention too (Nist.mention_role).",
        "5 Arg-1 against Arg-2 in an asymmetric relation do not correspond (Table 16); in the scorer they do, at the "
        "price of TYPE and SUBTYPE (Nist.argument_pair, Nist.relation_element_value).",
        "6 An unmapped relation is worth nothing, since W_A-FA is 0; the scorer takes 0.75 of its arguments' value "
        "(Nist.unmapped_relation_value).",
        "7 An unmapped event loses 0.75 · 0.50 of its arguments' value; in the scorer 0.75 "
        "(Nist.unmapped_relation_value).",
        "8 Arguments in RMD and VMD are worth 1 if their score is not 0; in the scorer what the reference's element is "
        "worth (Nist.promoted_argument_value, Nist.promoted_arguments_value).",
        "9 Spurious arguments in RMD and VMD cost W_A-FA; in the scorer nothing (Nist.promoted_arguments_value).",
        "10 The scorer's false alarms in RMD and VMD cost what the promoted mention is worth: a consequence of 6 to 8.",
        "11 Mappings are true optima; the scorer's tables of one row are mapped at any price, and full ones nearly so "
        "(Nist.assign, Nist.assign_elements), and its conditions look at that mapping alone (Nist.argument_mapping).",
        "12 `argument_scoring=mapped` in RMD and VMD: the mention's own element must be mapped to the reference; in "
        "the scorer nothing ever is (Nist.promoted_is_mapped).",
        "13 Correct in RMD and VMD: an argument is right when it is mapped; in the scorer none is, so that a perfect "
        "system has precision 0 (Nist.promoted_is_right).",
        "14 What the system has of a kind that the reference lacks keeps its value as an argument; in the scorer it is "
        "worth nothing and is no false alarm (Nist.has_value, Nist.reason_to_omit).",
        "15 A kind that the system lacks scores 0; the scorer prints nothing (Nist.reason_to_omit).",
        "16 W_M-CR: the formula multiplies it into every unmapped mention, the text only into those that correspond to "
        "some reference mention. Both protocols do as the text says.",
        "17 Level-weighted false alarms have no reference to divide by; both protocols take the token's own mentions.",
        "18 A reference event without arguments cannot meet the condition `arguments`; in the scorer it can be mapped "
        "by its extent (Nist.shares_argument).",
        "19 With processing=cross-document a level is that of all mentions of an entity; the scorer stops if documents "
        "differ. An element whose attributes differ between documents is refused by both.",
        "20 The scorer's document scores are 100 minus the score for all tasks but entities; --per-document is right.",
        "21 Weights of 1.00 are 1 in the plan, 1 - 1e-8 in the scorer, which adds 1e-8 in many places to break ties "
        "(Nist.inherent_value, Nist.element_value, Nist.own_mmv, Nist.mmv, Nist.arguments_value, "
        "Nist.own_arguments_value), and prefers what is worth so little more (Nist.gain).",
        "22 A relation without MODALITY or TENSE: in the scorer they are Unspecified (Nist.default_attributes); either "
        "way absent against Asserted is a wrong modality.",
        "23 Symmetry is judged by the reference's TYPE in both.",
        "24 averaging=geometric: allowed for relations with mapping=all or all+extents; the scorer always refuses it.",
        "25 An unknown entity TYPE: worth 1 like all others by Table 12, nothing in the scorer (AttrValue).",
        "26 Text match: characters of the heads; in the scorer bytes in capitals, of ASCII texts only letters and "
        "digits (Nist.texts_match).",
        "27 RMD and VMD: two mentions of one element in one role of a reference mention are two arguments; in the "
        "scorer one (Nist.promoted_arguments).",
        "28 RMD: spans of heads must share a character; in the scorer they may touch (Nist.heads_meet).",
    ),
    laws=("order", "ids", "additive", "outcomes"),
)


READINGS: dict[str, type[Plan]] = {"plan": Plan, "nist": Nist}
"""What a protocol can name as its reading."""


class Parameters(Struct, frozen=True, forbid_unknown_fields=True):
    """What a protocol gives to the family."""

    reading: str
    """Whose formulas: those of the plan, or those of NIST's scorer."""
    EDR: DetectionParameters
    VAL: DetectionParameters
    TERN: DetectionParameters
    RDR: RecognitionParameters
    VDR: RecognitionParameters
    sets: dict[str, dict[str, dict[str, Any]]] = {}
    """Named sets of parameters: what each changes in the tables above."""
    parameters: str = "DEFAULT"
    """The set that is used."""
    weighting: Weighting = "level"
    mapping: MappingCondition = "arguments"
    relation_arguments: RelationArguments = "both"
    argument_scoring: ArgumentScoring = "overlapping"
    averaging: Averaging = "arithmetic"

    def __post_init__(self) -> None:
        """Check names, and that every set fits the tables, whichever is chosen."""
        if self.reading not in READINGS:
            raise ValueError(f"there is no reading {self.reading!r}; there are {' and '.join(READINGS)}")
        if self.parameters not in ("DEFAULT", *self.sets):
            raise ValueError(f"there is no set of parameters {self.parameters!r}")
        for changes in self.sets.values():
            self._tables.changed(changes)

    @property
    def _tables(self) -> ValueParameters:
        return ValueParameters(self.EDR, self.VAL, self.TERN, self.RDR, self.VDR)

    def formulas(self) -> Plan:
        """The formulas of the reading, with the tables as the chosen set changes them."""
        tables = self._tables.changed(self.sets.get(self.parameters, {}))
        options = AceOptions(
            self.weighting, self.mapping, self.relation_arguments, self.argument_scoring, self.averaging
        )
        return READINGS[self.reading](tables, options)


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


ValueTable = DetectionTable | RecognitionTable


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


FIELDS = (
    *("type", "subtype", "class", "level", "modality", "tense", "polarity", "genericity"),
    *("value", "mention_count", "argument_errors"),
)


class Task(Measure[ValueTable, ValueCounts], frozen=True):
    """One of the eight tasks."""

    name: str
    kind: str
    """Of the elements that it scores."""

    @property
    def id(self) -> str:
        """`ace.` and the task."""
        return f"ace.{self.name}"

    @property
    def fields(self) -> tuple[str, ...]:
        """Attributes of elements, and the ranges that they are in."""
        return FIELDS

    def count(self, table: ValueTable) -> ValueCounts:
        """Sums over tokens."""
        return ValueCounts.summed([token.counts(table) for token in token_outcomes(table)])

    def outcomes(self, table: ValueTable) -> Iterator[Outcome[ValueCounts]]:
        """Each reference with what it is mapped to, and each system token that is mapped to nothing."""
        for token in token_outcomes(table):
            gold = None if token.gold is None else _item(token, table, table.gold[token.gold].element)
            system = None if token.system is None else _item(token, table, table.system[token.system].element)
            yield Outcome(gold, system, ValueCounts(*token.counts(table)))

    @property
    def lists_details(self) -> bool:
        """Tokens with what they lost, and their attributes."""
        return True

    def details(self, table: ValueTable) -> Iterator[Detail]:
        """Each token with what it was mapped to, what it lost and why; then the parts of those that are mapped."""
        kind = self.kind
        for token in token_outcomes(table):
            gold, system = compared_attributes(table, token.gold, token.system)
            yield Detail(kind, _attributes_item(kind, gold), _attributes_item(kind, system), _listed(token, table))
            if token.gold is not None and token.system is not None:
                for part, gold, system in compared_parts(table, token.gold, token.system):
                    yield Detail(part, _attributes_item(part, gold), _attributes_item(part, system))


def _attributes_item(kind: str, attributes: Mapping[str, Value] | None) -> ElementItem | None:
    return None if attributes is None else ElementItem(kind, attributes)


def _listed(token: TokenOutcome, table: ValueTable) -> dict[str, Any]:
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


def _item(token: TokenOutcome, table: ValueTable, element: Element) -> ElementItem:
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


def measures(parameters: Parameters, setting: Setting) -> list[Row]:
    """The tasks; those that cannot be scored here with the reason."""
    reading = parameters.formulas()
    if parameters.averaging == "geometric" and parameters.mapping not in ("all", "all+extents"):
        hint = "The plan allows it only where all arguments are mapped: --set mapping=all or mapping=all+extents."
        raise UsageError("bad-value", f"averaging=geometric with mapping={parameters.mapping}", hint)
    whole = WholeElements(reading)
    promoted_entities = PromotedEntities(whole)
    promoted = PromotedRelations(promoted_entities)
    mentions = {kind: MentionCorrespondences(kind, whole) for kind in DETECTED}

    def detection(kind: str, elements: WholeElements | PromotedEntities | PromotedRelations) -> DetectionValues:
        return DetectionValues(mentions[kind], elements, has_value=reading.has_value(kind, setting.gold_kinds))

    values = {kind: detection(kind, whole) for kind in DETECTED}
    promoted_values = {kind: detection(kind, promoted) for kind in DETECTED}
    specs: dict[str, TableSpec[Any]] = {
        **{task: values[TASKS[task]] for task in ("edr", "val", "tern")},
        **{task: RecognitionValues(TASKS[task], whole, values) for task in ("rdr", "vdr")},
        "emd": detection("entity", promoted_entities),
        **{task: RecognitionValues(TASKS[task], promoted, promoted_values, values) for task in ("rmd", "vmd")},
    }
    reasons = _reasons_to_omit(parameters, setting)
    tasks = [Task(specs[task], task, kind) for task, kind in TASKS.items()]
    return [Unscored(task.id, reasons[task.name]) if task.name in reasons else task for task in tasks]


def _reasons_to_omit(parameters: Parameters, setting: Setting) -> dict[str, str]:
    """Tasks that are left out, and why: no elements of a kind at all, or a product where W_A-FA is not 0."""
    reading = parameters.formulas()
    reasons: dict[str, str] = {}
    for task, kind in TASKS.items():
        reason = reading.reason_to_omit(kind, setting.gold_kinds, setting.system_kinds)
        if reason is not None:
            reasons[task] = reason
        elif parameters.averaging == "geometric" and kind in ARGUED and (weight := reading.recognition[kind].W_A_FA):
            reasons[task] = f"a product of arguments is allowed where W_A-FA is 0, and here it is {weight:g}"
    return reasons


FAMILY = Family(CARD, Parameters, measures)
