"""ACE 2005 value scores (The ACE 2005 Evaluation Plan, Appendix A).

    score = Σ value of system tokens / Σ value of reference tokens
          = (reference_value - miss_cost - error_cost - false_alarm_cost) / reference_value

    EDR, VAL, TERN   Value(token) = Element_Value(token) · Mentions_Value(token)
    RDR, VDR         Value(token) = Element_Value(token) · Arguments_Value(token)
    EMD, RMD, VMD    the same, each mention promoted to an element of its own

The formulas are methods of `Plan`; its subclass `Nist` overrides what NIST's scorer computes
otherwise. Here mapped and unmapped tokens become counts and costs. A mapped reference is correct if all attributes and
arguments are right, else an error; what it lost is `error_cost` in either case.
"""

from collections.abc import Iterator
from typing import Any

from karat.families.ace.detection import DetectionValues
from karat.families.ace.elements import ElementsOfBothSides, PromotedEntities, PromotedRelations, WholeElements
from karat.families.ace.mentions import MentionCorrespondences
from karat.families.ace.nist import Nist
from karat.families.ace.plan import Plan
from karat.families.ace.recognition import RecognitionTable, RecognitionValues, ValueTable
from karat.families.ace.records import ARGUED, DETECTED, PLURALS, Parameters, lacks
from karat.families.ace.tokens import ValueCounts, element_item, token_counts, token_details, token_outcomes
from karat.plugin import (
    Card,
    Detail,
    DetailedMeasure,
    Entry,
    Family,
    Outcome,
    Setting,
    TableSpec,
    Unmatchable,
    Unscored,
)
from karat.problems import UsageError

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
value_precision = value_recall · reference_value / (reference_value - miss_cost + false_alarm_cost)""",
    symbols={
        "sys, ref": "of the system, of the reference (gold)",
        "token": "what a document says about an element: an entity, value, time, relation or event",
        "Value(a, b)": "what a is worth if it is mapped to b; Value(a) is that of its own mapping",
        "Element_Value": "what the attributes of a token are worth",
        "Mentions_Value, Arguments_Value": "what its mentions, or its arguments, are worth",
        "AttrValue": "the weight of an attribute's value (Tables 12 to 14, 17 and 20)",
        "MMV, MAV": "the value of a mapped mention, of a mapped argument",
        "MTypeValue": "the weight of a mention's type: NAM, NOM or PRO",
        "level_sys, level_ref": "the weight of the entity's most valued mention type",
        "W_err, W_Merr, W_err-role": "factors for a wrong attribute of an element, of a mention, and for a wrong role",
        "W_FA, W_M-FA, W_A-FA": "factors of what is unmapped (false alarms): elements, mentions, arguments",
        "W_M-CR": "the factor of an unmapped mention that corresponds to some reference mention",
        "value_recall, value_precision": "recall and precision of value instead of tokens",
        "reference_value": "the value of all reference tokens",
        "miss_cost": "the value of missed reference tokens",
        "error_cost": "the value that mapped reference tokens lost",
        "false_alarm_cost": "what unmapped system tokens cost",
        "correct, error, miss, false_alarm": "the number of such tokens",
    },
    citation="NIST (2005), The ACE 2005 (ACE05) Evaluation Plan, Appendix A, Tables 12 to 20; in ace-2005-nist as the "
    "distributed scorer v14 computes it.",
    traps=(
        "The score has no lower bound: false alarms cost value, and a bad system scores below 0.",
        "Only specific (SPC) entities have value. An event without arguments has none, and a relation or event has "
        "the value of its arguments: bad entities make bad relations.",
        "A mapped reference is correct if its attributes and arguments are right, even if mentions are missing. The "
        "value of missing mentions is part of error_cost, so a correct element can still cost value.",
        "An unmapped system mention that corresponds to any reference mention costs nothing (W_M-CR is 0): splitting "
        "an entity is cheap, inventing one costs 0.75 · 0.75 of its value.",
        "Tasks depend on each other: RDR and VDR use the values of EDR, VAL and TERN. Compare scores only under one "
        "protocol with the same parameters.",
    ),
    departures=(
        "(1) min_text_match: 0.30 in Table 12, 0 in the scorer unless its set DEFAULT is chosen (parameters).",
        "(2) TERN: the weights of Table 14; the scorer's default set 2005-TERN gives 0.50 for detection (parameters).",
        "(3) An absent SET is absent; the scorer reads it as NO and gives credit for it (Nist.default_attributes).",
        "(4) An absent mention ROLE is not compared; the scorer uses the entity's TYPE, so that a wrong TYPE is also a "
        "wrong ROLE of each mention (Nist.mention_role).",
        "(5) Arg-1 and Arg-2 of an asymmetric relation do not correspond (Table 16); in the scorer they do, but TYPE "
        "and SUBTYPE count as wrong (Nist.argument_pair, Nist.relation_element_value).",
        "(6) An unmapped relation is worth 0, since W_A-FA is 0; in the scorer it costs 0.75 of the value of its "
        "arguments (Nist.unmapped_relation_value).",
        "(7) An unmapped event costs 0.75 · 0.50 of the value of its arguments; in the scorer 0.75 "
        "(Nist.unmapped_relation_value).",
        "(8) Arguments in RMD and VMD are worth 1 if their score is not 0; in the scorer, as much as the reference "
        "element (Nist.promoted_argument_value, Nist.promoted_arguments_value).",
        "(9) Spurious arguments in RMD and VMD cost W_A-FA; in the scorer nothing (Nist.promoted_arguments_value).",
        "(10) In the scorer, false alarms in RMD and VMD cost the value of the promoted mention: see (6) to (8).",
        "(11) Mappings are true optima. The scorer maps a table with one row even at a loss, and nearly so full tables "
        "(Nist.assign, Nist.assign_elements); its conditions look only at that mapping (Nist.argument_mapping, "
        "Nist.mapped_at_once).",
        "(12) `argument_scoring=mapped` in RMD and VMD: the mention's own element must be mapped to the reference; in "
        "the scorer, none is (Nist.promoted_is_mapped).",
        "(13) In RMD and VMD, a mapped argument is correct; in the scorer no argument is, so that a perfect system has "
        "precision 0 (Nist.promoted_is_right).",
        "(14) System elements of a kind that the reference does not have keep their value as arguments; in the scorer "
        "they are worth 0 and are not false alarms (Nist.has_value, Nist.reason_to_omit).",
        "(15) A task for which the system has no element scores 0; the scorer prints nothing (Nist.reason_to_omit).",
        "(16) W_M-CR: the formula applies it to every unmapped mention, the text only to those that correspond to some "
        "reference mention. Both protocols follow the text.",
        "(17) Level-weighted false alarms have no reference to divide by; both protocols use the token's own mentions.",
        "(18) A reference event without arguments cannot meet the condition `arguments`; in the scorer it can be "
        "mapped by its extent (Nist.shares_argument).",
        "(19) With processing=cross-document, the level of an entity is that of all its mentions; the scorer stops if "
        "documents differ. Both refuse an element whose attributes differ between documents.",
        "(20) The scorer's document scores are 100 minus the score for all tasks except EDR; --per-document prints the "
        "score.",
        "(21) Weights of 1.00 are 1 in the plan, 1 - 1e-8 in the scorer, which adds 1e-8 in many places to break ties "
        "(Nist.inherent_value, Nist.element_value, Nist.own_mmv, Nist.mmv, Nist.arguments_value, "
        "Nist.own_arguments_value), and lets such small differences decide (Nist.gain).",
        "(22) A relation without MODALITY or TENSE: in the scorer they are Unspecified (Nist.default_attributes). In "
        "both, an absent modality differs from Asserted.",
        "(23) In both, the TYPE of the reference decides whether a relation is symmetric.",
        "(24) averaging=geometric: allowed for relations with mapping=all or all+extents; the scorer refuses it.",
        "(25) An unknown entity TYPE is worth 1, like all others in Table 12; in the scorer 0 (AttrValue).",
        "(26) Text match: characters of the heads; in the scorer upper-case bytes, and for ASCII texts only letters "
        "and digits (Nist.texts_match).",
        "(27) RMD and VMD: two mentions of one element in one role of a reference mention are two arguments; in the "
        "scorer one (Nist.promoted_arguments).",
        "(28) RMD: spans of heads must share a character; in the scorer they may touch (Nist.heads_meet).",
        "(29) The recognition table of --details covers all elements; the scorer's only those that are mapped "
        "(Nist.compares).",
    ),
    laws=("order", "ids", "additive", "outcomes"),
)


FIELDS = (
    *("type", "subtype", "class", "level", "modality", "tense", "polarity", "genericity"),
    *("val", "mod", "set", "anchor_val", "anchor_dir"),
    *("value", "mention_count", "argument_errors"),
)


class Task(DetailedMeasure[ValueTable, ValueCounts], frozen=True):
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
        return token_counts(table)

    def notes(self, table: ValueTable, counts: ValueCounts) -> Iterator[Unmatchable]:
        """Relations and events that cannot be mapped, since they have no argument."""
        del counts
        if isinstance(table, RecognitionTable):
            is_mappable = table.reading.is_mappable
            for side, tokens in (("gold", table.gold), ("system", table.system)):
                count = len([token for token in tokens.values() if not token.arguments and not is_mappable(token)])
                yield Unmatchable(f"{side} {PLURALS[self.kind]} without arguments", count)

    def outcomes(self, table: ValueTable) -> Iterator[Outcome[ValueCounts]]:
        """Each reference with what it is mapped to, and each system token that is mapped to nothing."""
        for token in token_outcomes(table):
            gold = None if token.gold is None else element_item(token, table, table.gold[token.gold].element)
            system = None if token.system is None else element_item(token, table, table.system[token.system].element)
            yield Outcome(gold, system, ValueCounts(*token.counts(table)))

    def details(self, table: ValueTable) -> Iterator[Detail]:
        """Each token with what it was mapped to, what it lost and why; then the parts of those that are mapped."""
        return token_details(self.kind, table)


def measures(parameters: Parameters, setting: Setting) -> list[Entry]:
    """The tasks; those that cannot be scored here with the reason."""
    reading = (Nist if parameters.reading == "nist" else Plan)(parameters.chosen())
    if parameters.averaging == "geometric" and parameters.mapping not in ("all", "all+extents"):
        hint = "The plan allows it only where all arguments are mapped: --set mapping=all or mapping=all+extents."
        raise UsageError("bad-value", f"averaging=geometric with mapping={parameters.mapping}", hint)
    whole = WholeElements(reading)
    promoted_entities = PromotedEntities(whole)
    promoted = PromotedRelations(promoted_entities)
    mentions = {kind: MentionCorrespondences(kind, whole) for kind in DETECTED}

    def detection(kind: str, elements: ElementsOfBothSides) -> DetectionValues:
        return DetectionValues(mentions[kind], elements, has_value=reading.has_value(kind, setting.gold_kinds))

    values = {kind: detection(kind, whole) for kind in DETECTED}
    promoted_values = {kind: detection(kind, promoted) for kind in DETECTED}
    specs: dict[str, TableSpec[Any]] = {
        **{task: values[TASKS[task]] for task in ("edr", "val", "tern")},
        **{task: RecognitionValues(TASKS[task], whole, values) for task in ("rdr", "vdr")},
        "emd": detection("entity", promoted_entities),
        **{task: RecognitionValues(TASKS[task], promoted, promoted_values, values) for task in ("rmd", "vmd")},
    }
    reasons = _reasons_to_omit(reading, setting)
    tasks = [Task(specs[task], task, kind) for task, kind in TASKS.items()]
    scored = [task for task in tasks if task.name not in reasons]
    return [
        *(Unscored(task.id, reasons[task.name]) for task in tasks if task.name in reasons),
        *scored,
        *(Unscored(task.id, lacks("gold", task.kind)) for task in scored if task.kind not in setting.gold_kinds),
    ]


def _reasons_to_omit(reading: Plan, setting: Setting) -> dict[str, str]:
    """Tasks that are left out, and why: no elements of a kind at all, or a product where W_A-FA is not 0."""
    is_product = reading.parameters.averaging == "geometric"
    reasons: dict[str, str] = {}
    for task, kind in TASKS.items():
        reason = reading.reason_to_omit(kind, setting.gold_kinds, setting.system_kinds)
        if reason is not None:
            reasons[task] = reason
        elif is_product and kind in ARGUED and (weight := reading.recognition[kind].W_A_FA):
            reasons[task] = f"a product of arguments is allowed where W_A-FA is 0, and here it is {weight:g}"
    return reasons


FAMILY = Family(CARD, Parameters, measures, weights=Parameters.weights)
