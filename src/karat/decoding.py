"""Problems of what libraries decode (JSON, TOML, plain values), in karat's words: the field, what it is, an example.

A decoder keeps only one value of a key that a JSON object gives twice, and does not report it. So colons are counted:
in the text, and in what was decoded, encoded again. Each key has one, and those inside strings are the same on both
sides; a key that was dropped leaves fewer.
"""

import re
from typing import Any, Literal, get_args, get_origin

import msgspec

_PLACE = re.compile(r" - at `(?:key` in `)?\$\.?(.*)`$")
_NAMED = re.compile(r"Object (contains unknown|missing required) field `(.*)`")
_TYPES = re.compile(r"Expected `([^`]+)`, got `([^`]+)`")
_LENGTH = re.compile(r"Expected `(\w+)` of (at least |at most )?length (>= |<= )?(\d+)(?:, got (\d+))?")
_BOUND = re.compile(r"Expected `\w+` (<|>|<=|>=) (\S+)$")
_CHOICE = re.compile(r"Invalid enum value (.+)")
_KINDS = {
    "int": ("a whole number", "3"),
    "float": ("a number", "0.5"),
    "str": ("a string", '"a"'),
    "bool": ("a boolean", "true"),
    "array": ("a list", "[1, 2]"),
    "object": ("an object", '{"id": "a"}'),
    "null": ("null", "null"),
}
_BOUNDS = {"<": "below", ">": "above", "<=": "at most", ">=": "at least"}


UNUSABLE = (msgspec.ValidationError, TypeError, UnicodeEncodeError, RecursionError)
"""Raised for a value of a program that has another form than expected."""


def builtins(value: object) -> Any:
    """Return a value as lists, dicts, strings and numbers; those of numpy and the like become Python's."""
    return msgspec.to_builtins(value, builtin_types=(bytes, bytearray), enc_hook=_python_value)


def _python_value(value: Any) -> object:
    if hasattr(value, "tolist"):
        return value.tolist()
    message = f"found an object of the type {type(value).__name__}, expected lists, dicts, strings and numbers"
    raise msgspec.ValidationError from ValueError(message)


def choices(kind: Any) -> list[Any]:
    """Return the values of a Literal, which may be a part of a union."""
    return [value for part in (kind, *get_args(kind)) if get_origin(part) is Literal for value in get_args(part)]


def explained(error: Exception, name: str = "", record: type[msgspec.Struct] | None = None) -> str:
    """Say what is wrong with decoded data, from an error of msgspec (or of Python, for text and depth).

    `name` is that of the data as a whole, by default a document; `record` is the type that was expected.
    """
    prefix = f"{name}: " if name else ""
    if isinstance(error, RecursionError):
        return f"{prefix}the value is nested too deeply"
    if isinstance(error, UnicodeError):
        return f"{prefix}the text is not UTF-8"
    if isinstance(error.__cause__, ValueError):  # karat's own, about a value
        return f"{prefix}{error.__cause__}"
    message = str(error)
    place = _PLACE.search(message)
    message = _PLACE.sub("", message)
    field = place[1] if place else ""
    field = f"{name}{field}" if field.startswith("[") else field
    if field.endswith("[...]"):
        field = f"a value of {field.removesuffix('[...]')}"
    if named := _NAMED.match(message):
        what = "is not known" if "unknown" in named[1] else "is missing"
        return f"the field {named[2]!r} {what}{f' in {field}' if field else ''}"
    subject = field or name or "the document"
    if types := _TYPES.match(message):
        return f"{subject} is {_kind(types[2])}, expected {_kind(types[1])}, such as {_example(types[1])}"
    if length := _LENGTH.match(message):
        return f"{subject} {_length_problem(*length.groups())}"
    if bound := _BOUND.match(message):
        return f"{subject} must be {_BOUNDS[bound[1]]} {bound[2]}, such as {_within(*bound.groups())}"
    if choice := _CHOICE.match(message):
        fields = () if record is None else msgspec.structs.fields(record)
        allowed = [value for known in fields if known.encode_name == field for value in choices(known.type)]
        expected = f"expected one of: {', '.join(allowed)}" if allowed else "which is not allowed"
        return f"{subject} has the value {choice[1]}, {expected}"
    if "range" in message:
        return f"{subject} is a number that is out of range"
    if "truncated" in message:
        return "the text ends within a value: the file is not complete, or a bracket or quotation mark is missing"
    if "trailing comma" in message:
        return "there is a comma after the last value of a list or an object"
    if "trailing" in message:
        return "there is text after the value"
    return "this is not JSON" if "malformed" in message else f"{subject} does not have the expected form"


def _kind(type_: str) -> str:
    *others, last = [_KINDS.get(name, (name, ""))[0] for name in type_.split(" | ")]
    return f"{', '.join(others)} or {last}" if others else last


def _example(type_: str) -> str:
    types = type_.split(" | ")
    return _KINDS.get("str" if "str" in types else types[0], ("", "null"))[1]


def _length_problem(type_: str, word: str | None, sign: str | None, length: str, found: str | None) -> str:
    if type_ == "str":
        return 'is empty, expected a string such as "a"' if length == "1" else f"must have {length} characters"
    least = "at least " if ">=" in (sign or "") else "at most " if "<=" in (sign or "") else word or ""
    has = "" if found is None else f"has {found}, "
    return f"{has}must have {least}{length} values, such as {[*range(1, int(length) + 1)]}"


def _within(sign: str, bound: str) -> str:
    """A number within a bound."""
    if "=" in sign:
        return bound
    return str(int(float(bound)) + (1 if sign == ">" else -1))


def repeated_key(data: bytes) -> str | None:
    """Return a key that an object gives twice."""
    return None if holds_all(msgspec.json.decode(data), data) else _first_repeated(data)


def holds_all(decoded: object, data: bytes) -> bool:
    """Return whether a value has all keys of the data that it was decoded from; encoded, it must not have others."""
    if b"\\" in data and b"\\u003" in data:  # a colon may be hidden in an escape
        return False
    return data.count(b":") == msgspec.json.encode(decoded).count(b":")


def _first_repeated(data: bytes) -> str | None:
    import json

    repeated: list[str] = []

    def look(pairs: list[tuple[str, Any]]) -> None:
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                repeated.append(key)
            seen.add(key)

    json.loads(data, object_pairs_hook=look)
    return repeated[0] if repeated else None


def toml_problem(error: ValueError, text: str) -> tuple[str, int | None]:
    """Say what is wrong with a text that is not TOML, and in which line, from an error of tomllib.

    An error that is none of tomllib's, about a value, speaks for itself.
    """
    reason = str(error)
    if type(error) is ValueError:
        return reason, None
    place = re.search(r"\(at line (\d+), column (\d+)\)", reason)
    twice = "twice" in reason or "overwrite" in reason or "uplicate" in reason or "redefine" in reason
    what = "a key or table is given twice" if twice else "this is not TOML"
    if place is None:
        return f"{what}: the file ends within a value", text.count("\n") + 1
    line = int(place[1])
    row = text.split("\n")[line - 1].strip()
    found = f": found {row[:60]!r} (column {place[2]})" if row else ""
    return what + (found if twice else f'{found}, expected such as name = "value"'), line
