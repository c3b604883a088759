"""Tables of what the code declares: fields of records, laws, and what a protocol file may name."""

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, get_args, get_origin

import sources
from markup import code, prose, shown, table
from msgspec import Struct, structs

from karat import plugin
from karat.filters import FILTERS
from karat.match.matchings import MATCHINGS
from karat.match.similarities import SIMILARITIES
from karat.plugin import AlignmentChoice, Averages, DocumentSimilarity
from karat.registry import Registry

MARKER = re.compile(r"^<!-- table: (\w+) -->$", re.MULTILINE)

TOML_TYPES = {str: "text", float: "number", int: "whole number", bool: "true or false"}
"""Names of the types of values in TOML."""


def similarities_table() -> str:
    """Similarities of two mentions."""
    return _documented(SIMILARITIES)


def methods_table() -> str:
    """Methods of matching."""
    return _documented(MATCHINGS)


def filters_table() -> str:
    """Filters."""
    return _documented(FILTERS)


def alignment_table() -> str:
    """The keys of an `[alignments.NAME]` table."""
    return fields_table(AlignmentChoice)


def averages_table() -> str:
    """The keys of a `[measures.averages]` table."""
    return fields_table(Averages)


def all_laws_table() -> str:
    """Every law."""
    return laws_table(tuple(_laws()))


TABLES: dict[str, Callable[[], str]] = {
    "similarities": similarities_table,
    "methods": methods_table,
    "filters": filters_table,
    "alignment": alignment_table,
    "averages": averages_table,
    "laws": all_laws_table,
}


def filled(markdown: str) -> str:
    """A written page with its `<!-- table: NAME -->` lines replaced by tables."""
    return MARKER.sub(lambda found: TABLES[found[1]](), markdown)


def laws_table(laws: Sequence[str]) -> str:
    """Laws and their meaning."""
    known = _laws()
    return table(["law", "meaning"], [[code(law), prose(known[law])] for law in laws]) if laws else "None."


def _laws() -> dict[str, str]:
    """The laws, from the remark below their declaration."""
    lines = sources.remarks(plugin.protocols, "Law").partition("\n\n")[2].splitlines()
    return {name: what.strip() for name, _, what in (line.partition(" ") for line in lines)}


def fields_table(type_: type[Any], types: Mapping[Any, str] = TOML_TYPES) -> str:
    """The fields of a record, with their types, defaults and remarks."""
    rows = [
        [
            code(field.encode_name),
            type_name(field.type, types),
            "required" if field.required else code(shown(_default(field))),
            prose(sources.field_remarks(type_).get(field.name, "")),
        ]
        for field in structs.fields(type_)
    ]
    return table(["key", "type", "default", "meaning"], rows) if rows else "None."


def _default(field: structs.FieldInfo) -> Any:
    return field.default_factory() if callable(field.default_factory) else field.default


def type_name(hint: Any, types: Mapping[Any, str]) -> str:
    """A type in words, which `types` gives for whole types; optional values are described by their type alone."""
    if hint in types:
        return types[hint]
    origin, arguments = get_origin(hint), [one for one in get_args(hint) if one is not type(None)]
    if isinstance(hint, type) and issubclass(hint, Struct):
        return "table"
    if origin is Annotated:
        return type_name(arguments[0], types)
    if all(isinstance(value, str) for value in arguments):
        return " ".join(code(value) for value in arguments)
    if origin is tuple and Ellipsis not in arguments:
        return f"[{', '.join(type_name(one, types) for one in arguments)}]"
    if origin in (tuple, list):
        return f"list of {type_name(arguments[0], types)}"
    if origin is dict and get_origin(arguments[1]) is not dict:
        return f"object: name to {type_name(arguments[1], types)}"
    if origin is dict:
        return "table"
    return " or ".join(type_name(one, types) for one in arguments)


def _documented(named: Registry[Any]) -> str:
    return table(["name", "meaning"], [[code(name), prose(summary(thing))] for name, thing in named])


def summary(thing: Any) -> str:
    """The first paragraph of a docstring, in one line."""
    if isinstance(thing, DocumentSimilarity):
        thing = thing.compare
    return " ".join((inspect.getdoc(thing) or "").partition("\n\n")[0].split())
