"""The APF 5.1.1 DTD as data: the attributes and children of each element, and closed lists of values.

The same table makes the DTD by which lxml validates a document, says what is wrong in one that is not valid, and tells
the reader what to expect.
"""

import re
from collections.abc import Mapping
from functools import cache
from io import StringIO
from typing import Any, NamedTuple

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

Attributes = Mapping[str, tuple[str, ...] | str]
"""For each attribute, the closed list of its values, or its type."""

TEXT, NAME = "CDATA", "NMTOKEN"
"""Types of attributes. Ids and references are names here: the reader resolves them when it knows the whole document."""


REGIONS = {"head": "head", "extent": "extent", "anchor": "anchor", "ldc_scope": "scope"}
"""The elements that are regions of a mention, with karat's names."""


class Shape(NamedTuple):
    """The shape of an element: its content, its attributes, which of them are required, and its children."""

    content: str
    attributes: Attributes
    required: frozenset[str]
    fields: Mapping[str, str]
    """For each attribute except ID: its name in lower case."""
    closed: Mapping[str, frozenset[str]]
    """The values of those that have a closed list, by name in lower case."""
    children: Mapping[str, int]
    """Each child with its rank in the order."""
    subtypes: Mapping[str, tuple[str, ...]] | None
    """The subtypes of each type, for an element with TYPE and SUBTYPE."""
    mention: str | None
    """The name of its mentions."""
    argument: str | None
    """The name of its arguments."""
    regions: Mapping[str, str]
    """Its children that are regions, with karat's names."""


def _shape(
    content: str,
    attributes: Attributes | None = None,
    *,
    required: str = "",
    subtypes: Mapping[str, tuple[str, ...]] | None = None,
) -> Shape:
    names = list(dict.fromkeys(re.findall(r"\b[a-z]\w+", content)))
    attributes = attributes or {}
    return Shape(
        content,
        attributes,
        frozenset(required.split()),
        {name: name.lower() for name in attributes if name != "ID"},
        {name.lower(): frozenset(values) for name, values in attributes.items() if not isinstance(values, str)},
        {name: 0 if "|" in content else rank for rank, name in enumerate(names)},
        subtypes,
        next((name for name in names if name.endswith("_mention")), None),
        next((name for name in names if name.endswith("_argument")), None),
        {name: REGIONS[name] for name in names if name in REGIONS},
    )


_PLACE = _shape("(charseq | charspan | timespan | bblist)")
_SPAN: Attributes = {"START": TEXT, "END": TEXT}
_OWN: Attributes = {"ID": NAME}
_TYPED: Attributes = {"ID": NAME, "TYPE": TEXT, "SUBTYPE": TEXT}
_RELATION_ROLE: Attributes = {"REFID": NAME, "ROLE": tables.RELATION_ROLES}
_EVENT_ROLE: Attributes = {"REFID": NAME, "ROLE": tables.EVENT_ROLES}

ELEMENTS: dict[str, Shape] = {
    "source_file": _shape(
        "(external_resource*, document+)",
        {
            "URI": TEXT,
            "SOURCE": TEXT,
            "TYPE": ("text", "audio", "image"),
            "VERSION": NAME,
            "AUTHOR": TEXT,
            "ENCODING": TEXT,
        },
        required="URI TYPE",
    ),
    "external_resource": _shape("(#PCDATA)", {"URN": TEXT, "NAME": NAME}, required="URN NAME"),
    "document": _shape("(entity | value | timex2 | relation | event)*", {"DOCID": TEXT}, required="DOCID"),
    "entity": _shape(
        "(entity_mention+, entity_attributes*, external_link*)",
        {**_TYPED, "CLASS": tables.CLASSES},
        required="ID TYPE SUBTYPE CLASS",
        subtypes=tables.ENTITIES,
    ),
    "entity_mention": _shape(
        "(extent, head)",
        {
            "ID": NAME,
            "TYPE": tables.MENTION_TYPES,
            "LDCTYPE": (*tables.LDC_TYPES, *tables.LATER_LDC_TYPES),
            "ROLE": tables.MENTION_ROLES,
            "METONYMY_MENTION": tables.BOOLEANS,
            "LDCATR": tables.BOOLEANS,
        },
        required="ID TYPE",
    ),
    "entity_attributes": _shape("(name*)"),
    "name": _shape(_PLACE.content, {"NAME": TEXT}),
    "external_link": _shape("EMPTY", {"RESOURCE": TEXT, "EID": TEXT}, required="RESOURCE EID"),
    "value": _shape("(value_mention)", _TYPED, required="ID TYPE", subtypes=tables.VALUES),
    "value_mention": _shape("(extent)", _OWN, required="ID"),
    "timex2": _shape(
        "(timex2_mention)",
        {
            "ID": NAME,
            "VAL": TEXT,
            "MOD": tables.TIMEX2_MODS,
            "ANCHOR_VAL": TEXT,
            "ANCHOR_DIR": tables.TIMEX2_DIRECTIONS,
            "SET": tables.YES,
            "NON_SPECIFIC": tables.YES,
            "COMMENT": TEXT,
        },
        required="ID",
    ),
    "timex2_mention": _shape("(extent)", _OWN, required="ID"),
    "relation": _shape(
        "(relation_argument, relation_argument+, relation_mention*)",
        {**_TYPED, "MODALITY": tables.MODALITIES, "TENSE": tables.TENSES},
        required="ID TYPE",
        subtypes=tables.RELATIONS,
    ),
    "relation_argument": _shape("EMPTY", _RELATION_ROLE, required="REFID ROLE"),
    "relation_mention": _shape(
        "(extent, relation_mention_argument, relation_mention_argument+)",
        {"ID": NAME, "LEXICALCONDITION": tables.LEXICAL_CONDITIONS},
        required="ID",
    ),
    "relation_mention_argument": _shape("(extent?)", _RELATION_ROLE, required="REFID ROLE"),
    "event": _shape(
        "(event_argument*, event_mention+)",
        {
            **_TYPED,
            "MODALITY": tables.MODALITIES,
            "POLARITY": tables.POLARITIES,
            "GENERICITY": tables.GENERICITIES,
            "TENSE": tables.TENSES,
        },
        required="ID TYPE SUBTYPE MODALITY POLARITY GENERICITY TENSE",
        subtypes=tables.EVENTS,
    ),
    "event_argument": _shape("EMPTY", _EVENT_ROLE, required="REFID ROLE"),
    "event_mention": _shape(
        "(extent, ldc_scope?, anchor, event_mention_argument*)", {"ID": NAME, "LEVEL": tables.LEVELS}, required="ID"
    ),
    "event_mention_argument": _shape("(extent?)", _EVENT_ROLE, required="REFID ROLE"),
    "extent": _PLACE,
    "head": _PLACE,
    "anchor": _PLACE,
    "ldc_scope": _PLACE,
    "charseq": _shape("(#PCDATA)", _SPAN, required="START END"),
    "charspan": _shape("(#PCDATA)", _SPAN, required="START END"),
    "timespan": _shape("(#PCDATA)", _SPAN, required="START END"),
    "bblist": _shape("(bbox+)"),
    "bbox": _shape(
        "(#PCDATA)", dict.fromkeys(("PAGE", "X", "Y", "WIDTH", "HEIGHT"), TEXT), required="PAGE X Y WIDTH HEIGHT"
    ),
}


@cache
def dtd() -> Any:
    from lxml import etree

    lines = []
    for name, shape in ELEMENTS.items():
        lines.append(f"<!ELEMENT {name} {shape.content}>")
        for attribute, values in shape.attributes.items():
            type_ = values if isinstance(values, str) else f"({' | '.join(values)})"
            default = "#REQUIRED" if attribute in shape.required else "#IMPLIED"
            lines.append(f"<!ATTLIST {name} {attribute} {type_} {default}>")
    return etree.DTD(StringIO("\n".join(lines)))
