"""Arguments: what fills the roles of events, identified (Arg-I) and in the right role (Arg-C).

    P = correct / |system|     R = correct / |gold|     F1 = 2PR / (P + R)

One name hides many definitions. What is compared, which arguments are one, and which triggers count, is written in the
protocol: `[[measures]]` with the keys of each row. OmniEvent and MAVEN-Arg have rules of their own.
"""

from typing import Literal

from msgspec import Struct, field

from karat.families.arg.candidates import ArgumentCandidates, CandidateArguments, Mode
from karat.families.arg.events import Place
from karat.families.arg.items import Items, KeyRow, Types
from karat.families.arg.keyed import OUTCOMES, Keyed
from karat.families.arg.strings import LEVELS, RoleMeans, RoleStrings
from karat.model import HOLDERS
from karat.plugin import Card, Entry, Family, Setting, Unscored
from karat.problems import Rule

NO_ENTITIES = Rule(
    "entities-absent",
    "fatal",
    "Add gold's entity mentions (of a kind other than event) to the file, or choose another protocol.",
)

CARD = Card(
    title="Event arguments",
    rows={
        "arg.i": "arguments identified (Arg-I), whatever their role: precision, recall, f1",
        "arg.c": "arguments in the right role (Arg-C): precision, recall, f1",
        "arg.i+, arg.c+": "the same, attached: the trigger must also be right (textee-2024)",
        "arg.i.coref, arg.c.coref": "the same, also accepting another mention of the entity (wikievents-2021)",
        "arg.mention, arg.entity, arg.event": "strings of entities (maven-arg-2024): accuracy, precision, recall, f1",
    },
    formula="""\
                               compared by                  one item is           correct
li-2013, textee-2024   arg.i   T(e), S(a)                   the same              |G ∩ Y|
                       arg.c   T(e), S(a), r                the same              |G ∩ Y|
textee-2024            arg.i+  S(e), T(e), S(a)             the same              |G ∩ Y|
                       arg.c+  S(e), T(e), S(a), r          the same              |G ∩ Y|
oneie-2020             arg.i   T(e), S(a)                   T(e), S(a), r         system items that gold has
                       arg.c   T(e), S(a), r                the same              |G ∩ Y|
dygie-2019             arg.i   T(e), S(a)                   S(e), S(a), r         system items that gold has
                       arg.c   T(e), S(a), r                S(e), S(a), r         system items that gold has
rams-2020              arg.c   S(e), S(a), r                every link            |G ∩ Y| of multisets
wikievents-2021        arg.i   e, s(a)                      e, s(a), r            system items that gold has
                       arg.c   e, s(a), r                   e, s(a), r            |G ∩ Y|
paie-2022              arg.i   e, s(a)                      e, s(a)               |G ∩ Y|
                       arg.c   e, s(a), r                   every link in gold    gold items that the system has
omnievent-2023         arg.c   candidates: gold's arguments and the mentions of other entities; equal T(e) and r
P = correct / |Y|     R = correct / |G|     F1 = 2PR / (P + R)     undefined ratios are 0
maven-arg-2024         means over items of the agreement of assigned strings; F1 is the mean of the items' F1""",
    symbols={
        "G, Y": "the arguments of gold, of the system",
        "e": "an event: in wikievents-2021 and paie-2022 only gold's, with the system's of the same trigger and type",
        "S(e), T(e)": "the span of the trigger, the type of the event",
        "S(a), s(a)": "the span of the argument; its span, its head, or the word at its head",
        "r": "the role, as written",
        "P, R": "precision, recall",
    },
    citation="Ji and Grishman (2008); Li, Ji and Huang (2013), section 4.1; Wadden et al. (2019); Lin et al. (2020); "
    "Ebner et al. (2020); Li, Ji and Han (2021); Ma et al. (2022), section 4.1; Peng et al. (2023), The Devil is in "
    "the Details; Wang et al. (2024), MAVEN-Arg; Huang et al. (2024), TextEE; each as its program computes it.",
    traps=(
        "Arg-C means nothing without its protocol: on one pair of files the programs give eight different values. Name "
        "the protocol, and print arg.c+ beside it.",
        "li-2013, oneie-2020 and arg.c of textee-2024 do not require the trigger: an argument of another trigger of "
        "the same type in the document is right.",
        "Bug of OneIE's program (oneie-2020, arg.i): a filler in two system roles counts twice; recall can exceed 1.",
        "Bug of DyGIE++ (dygie-2019): matching is not one-to-one, so that an argument of two system triggers is "
        "right twice, and recall can exceed 1. A token has one type, the last in the file, also for the arguments of "
        "other events on it.",
        "Bug of the scorer of RAMS 1.0: it prints precision and recall exchanged. rams-2020 gives the true ones, and "
        "--set swapped=true what the program prints. Distrust precision and recall in papers on RAMS.",
        "wikievents-2021 removes a leading article from gold's arguments only: the system learned from such text.",
        "Bug of gen-arg (wikievents-2021, .coref): several mentions of one gold entity all count, so that recall can "
        "exceed 1; clusters are looked up by the trimmed span or the head, but stored by the whole span, so that under "
        "match=head only mentions of one word are ever coreferent.",
        "Bug of PAIE's program (paie-2022, arg.c): an argument that gold lists twice counts twice, also for precision.",
        "Heads depend on the parser and its version, which are part of the protocol. gen-arg compares the place of the "
        "head, PAIE the word: two places with the same word agree.",
        "omnievent-2023 ignores system spans that are not candidates: a wrong boundary costs no precision. The four "
        "modes treat wrong triggers differently.",
        "maven-arg-2024 counts every mention of an entity in arg.mention: one right string for an entity with three "
        "mentions earns a third.",
        "Scores move by points with preprocessing: whether pronouns, times and values are arguments, and what was lost "
        "on the way to the file (long sentences, windows, strings that could not be located).",
    ),
    departures=(
        "Li et al. (2013) say nothing about repeated arguments; sets are the reading of DEGREE's program.",
        "OneIE (paper and program differ): arg.i divides by the number of triples of argument, type and role.",
        "PAIE says that its head match is BartGen's, which compares places; its program compares words.",
        "DyGIE++ cannot represent two roles of one argument of a trigger; dygie-2019 counts both.",
        "gen-arg locates predicted strings, and drops those that are not in the document; karat scores spans.",
    ),
    outcomes=OUTCOMES | {"partial": "maven-arg-2024: the strings agree in part"},
    laws=("perfect", "bounded", "order", "ids", "additive", "outcomes", "swap"),
)

ROWS = {"i": KeyRow(("type", "span")), "c": KeyRow(("type", "span", "role"))}
"""Sets, as in Li et al. (2013)."""


class Parameters(Struct, frozen=True, forbid_unknown_fields=True):
    """Parameters that a protocol may set."""

    rows: dict[str, KeyRow] = field(default_factory=ROWS.copy)
    """The measures: for each name (`arg.NAME`), what is compared and how it counts."""
    events: Literal["all", "given"] = "all"
    """Events whose arguments count: all, or gold's and system events with the same trigger and type."""
    types: Types = "own"
    """The type of an event: its own, or that of the last event with the same trigger."""
    place: Place = "span"
    """The place of an argument that is compared: its span, its head, or the word at its head."""
    trim: bool = False
    """True if a leading article of gold's arguments is removed."""
    swapped: bool = False
    """True if precision and recall are exchanged."""
    floor: bool = False
    """True if F1 is 0 if precision and recall are together at most 0.0001."""
    clusters: str = ""
    """The file with gold's clusters, if they come from one; without any clusters, rows with `coref` are not scored."""
    rule: Literal["keys", "candidates", "strings"] = "keys"
    """`candidates`: only gold's arguments and entities count (OmniEvent). `strings`: as in MAVEN-Arg."""
    mode: Mode = "default"
    """With candidates: the triggers whose arguments count."""


def measures(parameters: Parameters, setting: Setting) -> list[Entry]:
    """The rows of the protocol."""
    if parameters.rule == "strings":
        return [RoleMeans(RoleStrings(), level) for level in LEVELS]
    if parameters.rule == "candidates":
        if not {*setting.gold_kinds} - HOLDERS:
            raise NO_ENTITIES.error("gold has no entity mentions, and only these are candidates for arguments")
        return [CandidateArguments(ArgumentCandidates(parameters.mode))]
    items = Items(
        events=parameters.events,
        types=parameters.types,
        place=parameters.place,
        trim=parameters.trim,
        clusters=any(row.coref for row in parameters.rows.values()),
    )
    has_clusters = bool(parameters.clusters or {*setting.gold_clustered} - HOLDERS)
    return [
        Keyed(items, f"arg.{name}", row, parameters.swapped, parameters.floor)
        if has_clusters or not row.coref
        else Unscored(
            f"arg.{name}", "gold has no clusters of entities; WikiEvents has a file of them (--set clusters=FILE)"
        )
        for name, row in parameters.rows.items()
    ]


FAMILY = Family(CARD, Parameters, measures)
