"""The APF 5.1.1 DTD as data: which attributes and children each element has, and which values are listed."""

from collections.abc import Mapping
from typing import NamedTuple

from karat.formats import _apf_tables as tables

KINDS = {"entity": "entity", "value": "value", "timex2": "time", "relation": "relation", "event": "event"}
"""The kind of a cluster, by the name of its element."""

MENTIONS = {
    "entity": ("extent", "head"),
    "value": ("extent",),
    "time": ("extent",),
    "relation": ("extent",),
    "event": ("extent", "anchor"),
}
"""The regions that a mention of each kind must have."""

Listed = Mapping[str, tuple[str, ...] | None]


class Element(NamedTuple):
    """An element: attributes with their lists (None: any text), those it must have, and its children in their order."""

    attributes: Mapping[str, frozenset[str] | None]
    required: tuple[str, ...]
    children: Mapping[str, int]
    subtypes: Mapping[str, tuple[str, ...]] | None = None
    """Of an element with TYPE and SUBTYPE: which belong together."""
    mention: str | None = None
    """What its mentions are called."""


def _element(
    attributes: Listed | None = None,
    *,
    required: str = "",
    children: str = "",
    subtypes: Mapping[str, tuple[str, ...]] | None = None,
) -> Element:
    names = children.split()
    mention = next((name for name in names if name.endswith("_mention")), None)
    return Element(
        {name: None if listed is None else frozenset(listed) for name, listed in (attributes or {}).items()},
        tuple(required.split()),
        {name: rank for rank, name in enumerate(names)},
        subtypes,
        mention,
    )


_PLACE = _element(children="charseq charspan timespan bblist")
_TYPED: Listed = {"TYPE": None, "SUBTYPE": None}

ELEMENTS: dict[str, Element] = {
    "source_file": _element(dict.fromkeys(("URI", "SOURCE", "TYPE", "VERSION", "AUTHOR", "ENCODING"))),
    # The five kinds stand in any order.
    "document": _element({"DOCID": None})._replace(children=dict.fromkeys(KINDS, 0)),
    "entity": _element(
        {**_TYPED, "CLASS": tables.CLASSES},
        required="TYPE SUBTYPE CLASS",
        children="entity_mention entity_attributes external_link",
        subtypes=tables.ENTITIES,
    ),
    "entity_mention": _element(
        {
            "TYPE": tables.MENTION_TYPES,
            "LDCTYPE": None,
            "ROLE": tables.MENTION_ROLES,
            "METONYMY_MENTION": tables.BOOLEANS,
            "LDCATR": tables.BOOLEANS,
        },
        required="TYPE",
        children="extent head",
    ),
    "entity_attributes": _element(children="name"),
    "name": _element({"NAME": None}, children="charseq charspan timespan bblist"),
    "external_link": _element({"RESOURCE": None, "EID": None}, required="RESOURCE EID"),
    "value": _element(_TYPED, required="TYPE", children="value_mention", subtypes=tables.VALUES),
    "value_mention": _element(children="extent"),
    "timex2": _element(
        {
            "VAL": None,
            "MOD": tables.TIMEX2_MODS,
            "ANCHOR_VAL": None,
            "ANCHOR_DIR": tables.TIMEX2_DIRECTIONS,
            "SET": tables.YES,
            "NON_SPECIFIC": tables.YES,
            "COMMENT": None,
        },
        children="timex2_mention",
    ),
    "timex2_mention": _element(children="extent"),
    "relation": _element(
        {**_TYPED, "MODALITY": tables.MODALITIES, "TENSE": tables.TENSES},
        required="TYPE",
        children="relation_argument relation_mention",
        subtypes=tables.RELATIONS,
    ),
    "relation_argument": _element({"REFID": None, "ROLE": tables.RELATION_ROLES}, required="REFID ROLE"),
    "relation_mention": _element({"LEXICALCONDITION": None}, children="extent relation_mention_argument"),
    "relation_mention_argument": _element(
        {"REFID": None, "ROLE": tables.RELATION_ROLES}, required="REFID ROLE", children="extent"
    ),
    "event": _element(
        {
            **_TYPED,
            "MODALITY": tables.MODALITIES,
            "POLARITY": tables.POLARITIES,
            "GENERICITY": tables.GENERICITIES,
            "TENSE": tables.TENSES,
        },
        required="TYPE SUBTYPE MODALITY POLARITY GENERICITY TENSE",
        children="event_argument event_mention",
        subtypes=tables.EVENTS,
    ),
    "event_argument": _element({"REFID": None, "ROLE": tables.EVENT_ROLES}, required="REFID ROLE"),
    "event_mention": _element({"LEVEL": tables.LEVELS}, children="extent ldc_scope anchor event_mention_argument"),
    "event_mention_argument": _element(
        {"REFID": None, "ROLE": tables.EVENT_ROLES}, required="REFID ROLE", children="extent"
    ),
    "extent": _PLACE,
    "head": _PLACE,
    "anchor": _PLACE,
    "ldc_scope": _PLACE,
    "bblist": _element(children="bbox"),
}
