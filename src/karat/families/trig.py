"""Triggers: which events were found, by the span of their trigger (Trig-I), and with their type (Trig-C).

    P = correct / |system|     R = correct / |gold|     F1 = 2PR / (P + R)

What is correct, and which triggers are one, is written in the protocol: `[[measures]]` with the keys of each row.
"""

from typing import Literal

from msgspec import Struct, field

from karat.families.arg.candidates import CandidateTriggers, TriggerCandidates
from karat.families.arg.items import Items, KeyRow, Triggers, Types
from karat.families.arg.keyed import OUTCOMES, Keyed
from karat.plugin import Card, Entry, Family, Setting

CARD = Card(
    title="Event triggers",
    rows={
        "trig.i": "triggers with the right span (Trig-I): precision, recall, f1",
        "trig.c": "triggers with the right span and event type (Trig-C): precision, recall, f1",
    },
    formula="""\
trig.i compares S(e)     trig.c compares S(e) and T(e)
li-2013, textee-2024     sets: correct = |G ∩ Y|
oneie-2020               lists: correct = system triggers whose span gold has (and whose type the first of these has)
dygie-2019               maps from S(e) to the last T(e): correct = |G ∩ Y|
omnievent-2023           candidates: gold's triggers and every other token; correct = equal types
P = correct / |Y|     R = correct / |G|     F1 = 2PR / (P + R)     undefined ratios are 0""",
    symbols={
        "G, Y": "the triggers of gold, of the system",
        "S(e)": "the span of the trigger of an event, in its document",
        "T(e)": "the type of the event, as written",
        "P, R": "precision, recall",
    },
    citation="Ji and Grishman (2008), Refining Event Extraction through Cross-document Inference; Li, Ji and Huang "
    "(2013), Joint Event Extraction via Structured Prediction with Global Features; Wadden et al. (2019), Lin et al. "
    "(2020), Peng et al. (2023) and Huang et al. (2024), as their programs compute it.",
    traps=(
        "Bug of OneIE's program (oneie-2020): a repeated system trigger is right each time, so recall and F1 can "
        "exceed 1, and a gold span with two types can be right only for the first of them.",
        "Bug of DyGIE++ (dygie-2019): a token has one type, the last in the file. A second event on it is lost.",
        "omnievent-2023 ignores system triggers of several tokens that are not gold triggers, and types that gold "
        "does not have: both cost no precision.",
        "Whether triggers of several tokens are in the data at all depends on the preprocessing.",
        "exact-2013 has the same source as li-2013 and keeps repeated triggers: each counts, and is matched once.",
    ),
    departures=(
        "DyGIE++ knows only triggers of one token; dygie-2019 compares whole spans.",
        "OneIE's reader also changes gold (one role per event and entity, overlapping mentions moved). karat scores "
        "the file as it is.",
    ),
    outcomes={name: text for name, text in OUTCOMES.items() if name in ("match", "repeated", "wrong type")}
    | {"wrong trigger": "an event of this type has another trigger; gold's and the system's are listed"},
    laws=("perfect", "bounded", "order", "ids", "additive", "outcomes", "swap"),
)

ROWS = {"i": KeyRow(("trigger",)), "c": KeyRow(("trigger", "type"))}
"""Sets, as in Li et al. (2013)."""


class Parameters(Struct, frozen=True, forbid_unknown_fields=True):
    """Parameters that a protocol may set."""

    rows: dict[str, KeyRow] = field(default_factory=ROWS.copy)
    """The measures: for each name (`trig.NAME`), what is compared and how it counts."""
    types: Types = "own"
    """The type of an event: its own, or that of the last event with the same trigger."""
    rule: Literal["keys", "candidates"] = "keys"
    """`candidates`: only gold's triggers and single tokens can be triggers (OmniEvent)."""


def measures(parameters: Parameters, setting: Setting) -> list[Entry]:
    """The rows of the protocol."""
    del setting
    if parameters.rule == "candidates":
        return [CandidateTriggers(TriggerCandidates())]
    table = Triggers(Items(types=parameters.types))
    return [Keyed(table, f"trig.{name}", row) for name, row in parameters.rows.items()]


FAMILY = Family(CARD, Parameters, measures)
