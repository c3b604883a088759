"""The fields of JSONL, which are those of the data model."""

import re
from collections.abc import Iterator
from typing import Any, get_args

from declared import fields_table, summary
from markup import code, joined, prose
from msgspec import Struct, structs

from karat.model import Box, Boxes, Document, Region, Value

WHOLE_TYPES = {
    str: "string",
    float: "number",
    int: "integer",
    bool: "boolean",
    tuple[int, int]: code("[begin, end]"),
    Region: code("[[begin, end], ...]"),
    Box: code("[page, x, y, width, height]"),
    Boxes: code("[[page, x, y, width, height], ...]"),
    Value: "string, number or boolean",
}
"""Names of the types of JSON values that are not objects."""

ABOUT = """\
A line is one [document](#document). Unknown keys are refused; keys that have their default value are not written.
Offsets count from 0 and are half-open: `[4, 9]` holds the five characters (or tokens) 4 to 8. Characters are Unicode
code points."""


def fields_section() -> str:
    """The fields of each object of a line."""
    records = list(dict.fromkeys(_records(Document)))
    types = WHOLE_TYPES | {record: f"[{_name(record)}](#{_name(record).replace(' ', '-')})" for record in records}
    parts = ["## Fields", ABOUT]
    for record in records:
        parts += [f"### {_name(record).capitalize()}", prose(summary(record)), fields_table(record, types)]
    return joined(parts)


def _name(record: type[Struct]) -> str:
    """`EmptyNode` is an empty node."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", record.__name__).lower()


def _records(type_: Any) -> Iterator[type[Struct]]:
    """A record, and those that its fields hold."""
    if isinstance(type_, type) and issubclass(type_, Struct):
        yield type_
        for field in structs.fields(type_):
            yield from _records(field.type)
    else:
        for inner in get_args(type_):
            yield from _records(inner)
