"""What must hold between the parts of an APF document, beyond its DTD: subtypes, roles, and where things are."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from karat.errors import Rule, quoted
from karat.formats import _apf_tables as tables
from karat.formats._apf_rules import (
    HOLDER,
    NO_MENTION,
    OUTSIDE,
    OVERLAP,
    RELATION,
    SAME,
    SUBTYPE,
    UNMARKED,
    UNMARKED_METONYMY,
    VALUE,
)
from karat.formats._apf_validation import Validation
from karat.formats._sgm import Source
from karat.model import Boxes, Mention, Region, Value
from karat.model.regions import extension, shared

HELD = {"time": "a time", "entity": "an entity", "value": "a value"}
"""Kinds of elements that can be arguments, as a message names them."""


def check_subtype(
    validation: Validation, element: Any, attributes: Mapping[str, Value], subtypes: Mapping[str, tuple[str, ...]]
) -> None:
    """The type is known, and the subtype is one of its subtypes."""
    type_, subtype = str(attributes["type"]), attributes.get("subtype")
    known = subtypes.get(type_)
    if known is None:
        message = f"<{element.tag}> has the TYPE {quoted(type_)}, which is none of {', '.join(subtypes)}"
        validation.report(VALUE, element, message)
    elif subtype is None and known:
        validation.report(SUBTYPE, element, f"<{element.tag}> of TYPE {type_} has no SUBTYPE")
    elif subtype is not None and subtype not in known:
        message = f"<{element.tag}> has the SUBTYPE {quoted(str(subtype))}"
        validation.report(SUBTYPE, element, f"{message}, but {type_} has {', '.join(known) or 'none'}")


def check_relation(
    validation: Validation,
    element: Any,
    attributes: Mapping[str, Value],
    arguments: Sequence[tuple[str, str]],
    *,
    is_mentioned: bool,
) -> None:
    """A relation has Arg-1 and Arg-2 once, a modality, a tense and a mention; `arguments` are roles and targets."""
    id_, is_metonymy = element.get("ID"), attributes["type"] == "METONYMY"
    check_entity_roles(validation, element, f"relation {id_!r}", [role for role, _ in arguments])
    holders = {target for role, target in arguments if role in tables.ENTITY_ROLES}
    if len(holders) == 1:
        validation.report(SAME, element, f"relation {id_!r} has {quoted(str(*holders))} as Arg-1 and as Arg-2")
    if lacking := [name.upper() for name in ("modality", "tense") if name not in attributes]:
        rule = UNMARKED_METONYMY if is_metonymy else UNMARKED
        validation.report(rule, element, f"relation {id_!r} has no {' and '.join(lacking)}")
    if not is_mentioned and not is_metonymy:
        validation.report(NO_MENTION, element, f"relation {id_!r} has no <relation_mention>")


def check_entity_roles(validation: Validation, element: Any, owner: str, roles: Sequence[str]) -> None:
    """A relation, or a mention of one, has Arg-1 and Arg-2 once."""
    for role in tables.ENTITY_ROLES:
        if roles.count(role) != 1:
            raise validation.error(RELATION, element, f"{owner} has {roles.count(role)} arguments {role}, not one")


def check_holder(validation: Validation, element: Any, *, role: str, owner: str, of_relation: bool, kind: str) -> None:
    """Times have time roles and no others; in a relation, entities have the other two roles."""
    if role in tables.TIME_ROLES:
        allowed: tuple[str, ...] = ("time",)
    else:
        allowed = ("entity",) if of_relation else ("entity", "value")
    if kind not in allowed:
        expected = " or ".join(HELD[name] for name in allowed)
        validation.report(HOLDER, element, f"the {role} of {owner!r} is {HELD[kind]}, not {expected}")


def check_inside(
    validation: Validation, name: str, rule: Rule, mention: Any, regions: Mapping[str, Region | Boxes]
) -> None:
    """The head or anchor of a mention, as `name` says, is inside its extent."""
    inner, outer = regions[name], regions["extent"]
    if inner and len(inner[0]) > 2:  # boxes
        if shared(inner, outer) < extension(inner) * (1 - 1e-9):
            message = f"the {name} of mention {mention.get('ID')!r} has boxes that its extent does not cover"
            validation.report(rule, mention.find(name), message)
    elif not (outer[0][0] <= inner[0][0] and inner[-1][1] <= outer[-1][1]):
        message = f"the {name} of mention {mention.get('ID')!r} is at {shown(inner)}"
        validation.report(rule, mention.find(name), f"{message}, not inside its extent at {shown(outer)}")


def check_overlaps(validation: Validation, mentions: Sequence[Mention], elements: Sequence[Any]) -> None:
    """Heads or anchors of one element do not overlap; a general check reports the same span twice."""
    regions = sorted((mention.head or mention.span, number) for number, mention in enumerate(mentions))
    end, holder = regions[0][0][-1][1], regions[0][1]
    for region, number in regions[1:]:
        if region[0][0] < end and mentions[number].span != mentions[holder].span:
            pair = f"mentions {mentions[holder].id!r} and {mentions[number].id!r}"
            what = "heads" if mentions[number].head else "anchors"
            validation.report(OVERLAP, elements[number], f"{what} of {pair} of one element overlap")
        if region[-1][1] > end:
            end, holder = region[-1][1], number


def outside_of_text(mentions: Sequence[Mention], source: Source) -> Iterator[Mention]:
    """Mentions outside of the TEXT of a source; only one time may be in its DATETIME instead."""
    if "TEXT" not in source.zones:
        return
    is_dated = False
    for mention in mentions:
        regions = [mention.span] if mention.extent is None else [mention.span, mention.extent]
        if all(source.holds("TEXT", region[0][0], region[-1][1]) for region in regions):
            continue
        begin, end = mention.span[0][0], mention.span[-1][1]
        if mention.kind == "time" and not is_dated and source.holds("DATETIME", begin, end):
            is_dated = True
        else:
            yield mention


def check_zones(
    validation: Validation, mentions: Sequence[Mention], source: Source, element_of: Callable[[str], Any]
) -> None:
    """Only the TEXT of a source is annotated."""
    for mention in outside_of_text(mentions, source):
        message = f"mention {mention.id!r} at {shown(mention.span)} is outside of <TEXT>"
        validation.report(OUTSIDE, element_of(mention.id), message)


def shown(region: Region | Boxes) -> str:
    """From the beginning to the end of a region."""
    return f"{region[0][0]:,}-{region[-1][1]:,}"
