"""The APF 5.1.1 DTD as data: the attributes and children of each element, and closed lists of values.

The reader checks a document by this table, item by item. The same table makes the DTD by which lxml validates it.
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


class Element(NamedTuple):
    """An element: its content, its attributes, which of them are required, and its children."""

    content: str
    attributes: Attributes
    required: frozenset[str]
    fields: Mapping[str, tuple[str, tuple[str, ...]]]
    """For each attribute other than the id: its name in lower case, and its values, if they are a closed list."""
    required_fields: frozenset[str]
    """The required attributes other than the id, in lower case."""
    children: Mapping[str, int]
    """Each child with its rank in the order."""
    subtypes: Mapping[str, tuple[str, ...]] | None
    """The subtypes of each type, for an element with TYPE and SUBTYPE."""
    mention: str | None
    """The name of its mentions."""


def _element(
    content: str,
    attributes: Attributes | None = None,
    *,
    required: str = "",
    subtypes: Mapping[str, tuple[str, ...]] | None = None,
) -> Element:
    names = dict.fromkeys(re.findall(r"\b[a-z]\w+", content))
    ranks = {name: 0 if "|" in content else rank for rank, name in enumerate(names)}
    mention = next((name for name in names if name.endswith("_mention")), None)
    needed = frozenset(required.split())
    fields = {
        name: (name.lower(), () if isinstance(values, str) else values)
        for name, values in (attributes or {}).items()
        if name != "ID"
    }
    required_fields = frozenset(fields[name][0] for name in needed if name in fields)
    return Element(content, attributes or {}, needed, fields, required_fields, ranks, subtypes, mention)


_PLACE = _element("(charseq | charspan | timespan | bblist)")
_SPAN: Attributes = {"START": TEXT, "END": TEXT}
_OWN: Attributes = {"ID": NAME}
_TYPED: Attributes = {"ID": NAME, "TYPE": TEXT, "SUBTYPE": TEXT}
_RELATION_ROLE: Attributes = {"REFID": NAME, "ROLE": tables.RELATION_ROLES}
_EVENT_ROLE: Attributes = {"REFID": NAME, "ROLE": tables.EVENT_ROLES}

ELEMENTS: dict[str, Element] = {
    "source_file": _element(
        "(external_resource*, document+)",
        {
            "URI": TEXT,
            "SOURCE": TEXT,
            "TYPE": ("text", "audio", "image"),
            "VERSION": TEXT,
            "AUTHOR": TEXT,
            "ENCODING": TEXT,
        },
        required="URI TYPE",
    ),
    "external_resource": _element("EMPTY", {"URN": TEXT, "NAME": NAME}, required="URN NAME"),
    "document": _element("(entity | value | timex2 | relation | event)*", {"DOCID": TEXT}, required="DOCID"),
    "entity": _element(
        "(entity_mention+, entity_attributes*, external_link*)",
        {**_TYPED, "CLASS": tables.CLASSES},
        required="ID TYPE SUBTYPE CLASS",
        subtypes=tables.ENTITIES,
    ),
    "entity_mention": _element(
        "(extent, head)",
        {
            "ID": NAME,
            "TYPE": tables.MENTION_TYPES,
            "LDCTYPE": TEXT,
            "ROLE": tables.MENTION_ROLES,
            "METONYMY_MENTION": tables.BOOLEANS,
            "LDCATR": tables.BOOLEANS,
        },
        required="ID TYPE",
    ),
    "entity_attributes": _element("(name*)"),
    "name": _element(_PLACE.content, {"NAME": TEXT}),
    "external_link": _element("EMPTY", {"RESOURCE": TEXT, "EID": TEXT}, required="RESOURCE EID"),
    "value": _element("(value_mention)", _TYPED, required="ID TYPE", subtypes=tables.VALUES),
    "value_mention": _element("(extent)", _OWN, required="ID"),
    "timex2": _element(
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
    "timex2_mention": _element("(extent)", _OWN, required="ID"),
    "relation": _element(
        "(relation_argument, relation_argument+, relation_mention*)",
        {**_TYPED, "MODALITY": tables.MODALITIES, "TENSE": tables.TENSES},
        required="ID TYPE",
        subtypes=tables.RELATIONS,
    ),
    "relation_argument": _element("EMPTY", _RELATION_ROLE, required="REFID ROLE"),
    "relation_mention": _element(
        "(extent, relation_mention_argument, relation_mention_argument+)",
        {"ID": NAME, "LEXICALCONDITION": TEXT},
        required="ID",
    ),
    "relation_mention_argument": _element("(extent?)", _RELATION_ROLE, required="REFID ROLE"),
    "event": _element(
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
    "event_argument": _element("EMPTY", _EVENT_ROLE, required="REFID ROLE"),
    "event_mention": _element(
        "(extent, ldc_scope?, anchor, event_mention_argument*)", {"ID": NAME, "LEVEL": tables.LEVELS}, required="ID"
    ),
    "event_mention_argument": _element("(extent?)", _EVENT_ROLE, required="REFID ROLE"),
    "extent": _PLACE,
    "head": _PLACE,
    "anchor": _PLACE,
    "ldc_scope": _PLACE,
    "charseq": _element("(#PCDATA)", _SPAN, required="START END"),
    "charspan": _element("(#PCDATA)", _SPAN, required="START END"),
    "timespan": _element("EMPTY", _SPAN, required="START END"),
    "bblist": _element("(bbox+)"),
    "bbox": _element(
        "EMPTY", dict.fromkeys(("PAGE", "X", "Y", "WIDTH", "HEIGHT"), TEXT), required="PAGE X Y WIDTH HEIGHT"
    ),
}


@cache
def dtd() -> Any:
    """The DTD, for lxml."""
    from lxml import etree

    lines = []
    for name, element in ELEMENTS.items():
        lines.append(f"<!ELEMENT {name} {element.content}>")
        for attribute, values in element.attributes.items():
            type_ = values if isinstance(values, str) else f"({' | '.join(values)})"
            lines.append(f"<!ATTLIST {name} {attribute} {type_} #{_needed(element, attribute)}>")
    return etree.DTD(StringIO("\n".join(lines)))


def _needed(element: Element, attribute: str) -> str:
    return "REQUIRED" if attribute in element.required else "IMPLIED"
