"""Fields that scores are broken down by: attributes, `kind`, fields of documents, main types, and several at once.

type            an attribute of mentions, elements or arguments
type.main       the part of the type before the first `.`, `_` or `:`
type,subtype    a joint field: one row per combination of values, joined in the same way
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, Self

from karat.model import DOCUMENT_FIELDS, Document, Value
from karat.plugin import Comparison
from karat.problems import Rule, nearest

NO_FIELD = Rule(
    "field-absent",
    "fatal",
    "--by takes an attribute of mentions, type.main, kind, document, topic, subtopic, source, language, or several of "
    "these joined by commas.",
)
ABSENT = "(none)"
JOINT = ","
MAIN_TYPE = "type.main"
_SEPARATOR = re.compile("[._:]")

FieldValue = Value | None | tuple[Value | None, ...]
"""The value of a field, as the protocol compares it; of a joint field, that of each part."""


class FieldPart(NamedTuple):
    """One of the fields that are joined."""

    name: str
    attribute: str | None
    """The attribute that it is, or is derived from; None: `kind`, or a field of documents."""

    @property
    def is_of_documents(self) -> bool:
        """True if all items of a document have the same value."""
        return self.attribute is None and self.name in DOCUMENT_FIELDS

    def derived(self, value: Value | None) -> Value | None:
        """Return the value of the part, given that of the attribute."""
        if value is None or self.name == self.attribute:
            return value
        return _SEPARATOR.split(str(value), maxsplit=1)[0]


class Field(NamedTuple):
    """A field as `--by` names it."""

    name: str
    parts: tuple[FieldPart, ...]

    @classmethod
    def of(cls, name: str, attributes: Collection[str]) -> Self:
        """Return the field of that name in corpora whose items have these attributes."""
        if name in attributes:
            return cls(name, (FieldPart(name, name),))
        return cls(name, tuple([_part(part.strip(), attributes) for part in name.split(JOINT)]))

    @property
    def attributes(self) -> list[str]:
        """The attributes that it is made of."""
        return [part.attribute for part in self.parts if part.attribute is not None]

    @property
    def is_of_items(self) -> bool:
        """True if no part of it is a field of documents."""
        return not any(part.is_of_documents for part in self.parts)

    def values(self, kind: str, attributes: Mapping[str, Value], document: Document | None) -> list[Value | None]:
        """Return the value of each part for an item; a field of documents needs the document."""
        values: list[Value | None] = []
        for part in self.parts:
            if part.attribute is not None:
                values.append(part.derived(attributes.get(part.attribute)))
            elif part.name == "kind":
                values.append(kind)
            else:
                assert document is not None, "a field of documents needs one"
                values.append(DOCUMENT_FIELDS[part.name](document))
        return values

    def key(self, values: Iterable[Value | None], comparison: Comparison) -> FieldValue:
        """Return the key that values the protocol considers equal share."""
        keys = [
            value if part.attribute is None or value is None else comparison.key(str(value))
            for part, value in zip(self.parts, values, strict=True)
        ]
        return keys[0] if len(keys) == 1 else tuple(keys)


def joined(values: Sequence[Value | None]) -> str:
    """Return the name of the row of some values."""
    if all(value is None for value in values):
        return ABSENT
    return JOINT.join(ABSENT if value is None else str(value) for value in values)


def _part(name: str, attributes: Collection[str]) -> FieldPart:
    if name in attributes:
        return FieldPart(name, name)
    if name in ("kind", *DOCUMENT_FIELDS):
        return FieldPart(name, None)
    if name == MAIN_TYPE and "type" in attributes:
        return FieldPart(name, "type")
    known = [*attributes, *([MAIN_TYPE] if "type" in attributes else []), "kind", *DOCUMENT_FIELDS]
    raise NO_FIELD.error(f"there is no field {name!r} in these corpora. {nearest(name, known)}")
