"""The JSON values of a file, each with its place.

A file has one value per line, or is one list of values, or one value over several lines: files of all three kinds are
called `.json`.
"""

import re
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple, TypeVar

import msgspec

from karat.errors import KaratError, Rule, quoted
from karat.formats._text import decode
from karat.plugin.json_keys import repeated_key

BROKEN = Rule("json-broken", "fatal", "Write one JSON object per line, or one list of objects.")
KEY_TWICE = Rule("json-key-twice", "fatal", "Write each key of an object once; only one of the values could be read.")

T = TypeVar("T")

Unreadable = msgspec.DecodeError, UnicodeDecodeError, RecursionError
_any = msgspec.json.Decoder()
_raw = msgspec.json.Decoder(msgspec.Raw)
_list = msgspec.json.Decoder(list[msgspec.Raw])
_object = msgspec.json.Decoder(dict[str, msgspec.Raw])
_BEFORE_ELEMENT = re.compile(rb"[\s,\[]*")
STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_BEFORE_ENTRY = re.compile(rb'[\s,{]*"[^"\\]*(?:\\.[^"\\]*)*"\s*:\s*', re.DOTALL)


class Value(NamedTuple):
    """A JSON value in a file, and where it begins."""

    data: bytes
    offset: int
    line: int
    key: str | None = None
    """Its key, if it is an entry of an object."""


def values(stream: BinaryIO, file: str) -> Iterator[Value]:
    """The values of a file: its lines, the elements of its list, or the only one."""
    offset = stream.tell()
    first = next((line for line in stream if not line.isspace()), b"")
    is_list = first.lstrip().startswith(b"[")
    stream.seek(offset)
    if is_list or not is_value(first):
        data = stream.read()
        if is_list:
            yield from elements(data, offset, file)
            return
        if is_value(data):
            blank = len(data) - len(data.lstrip())
            yield Value(data[blank:], offset + blank, 1 + data.count(b"\n", 0, blank))
            return
        stream.seek(offset)
    for line, data in enumerate(stream, 1):
        if not data.isspace():
            yield Value(data, offset, line)
        offset += len(data)


def is_value(data: bytes) -> bool:
    """Whether data are one JSON value."""
    try:
        _raw.decode(data)
    except Unreadable:
        return False
    return True


def is_truncated(data: bytes) -> bool:
    """Whether data are the beginning of a JSON value."""
    try:
        _raw.decode(data)
    except Unreadable as error:
        return "truncated" in str(error)
    return False


def elements(data: bytes, offset: int, file: str) -> Iterator[Value]:
    """The elements of a list that begins at this offset of a file."""
    decoded_elements = decoded(_list, data, BROKEN, file=file, line=1)
    at, line = 0, 1
    for element in decoded_elements:
        begin = _end(_BEFORE_ELEMENT, data, at)
        line += data.count(b"\n", at, begin)
        own = bytes(element)
        yield Value(own, offset + begin, line)
        at = begin + len(own)
        line += own.count(b"\n")


def entries(value: Value, file: str) -> Iterator[Value]:
    """The entries of an object, each with its key."""
    by_key = decoded(_object, value.data, BROKEN, file=file, line=value.line)
    refuse_repeated_keys(value.data, file=file, line=value.line)
    at, line = 0, value.line
    for key, entry in by_key.items():
        begin = _end(_BEFORE_ENTRY, value.data, at)
        line += value.data.count(b"\n", at, begin)
        own = bytes(entry)
        yield Value(own, value.offset + begin, line, key)
        at = begin + len(own)
        line += own.count(b"\n")


def _end(pattern: re.Pattern[bytes], data: bytes, at: int) -> int:
    match = pattern.match(data, at)
    assert match is not None, "the data were decoded before"
    return match.end()


def refuse_repeated_keys(data: bytes, *, file: str, line: int) -> None:
    """Refuse an object that gives a key twice."""
    # Fields that a format does not read were skipped before, and may hold anything.
    value = decoded(_any, data, BROKEN, file=file, line=line)
    repeated = repeated_key(data, value)
    if repeated is not None:
        message = f"the key {quoted(repeated)} is given twice in one object"
        line += data.count(b"\n", 0, max(data.rfind(msgspec.json.encode(repeated)), 0))
        raise KEY_TWICE.error(message, file=file, line=line, found=repeated)


def decoded(decoder: msgspec.json.Decoder[T], data: bytes, rule: Rule, *, file: str, line: int) -> T:
    """What a decoder reads; if it cannot, the error says where it gave up."""
    try:
        return decoder.decode(data)
    except Unreadable as error:
        raise _refusal(error, data, rule, file=file, line=line) from None


def _refusal(error: Exception, data: bytes, rule: Rule, *, file: str, line: int) -> KaratError:
    """The error for data that cannot be decoded."""
    if isinstance(error, RecursionError):
        return rule.error("the value is nested too deeply", file=file, line=line)
    text = decode(data, file=file, line=line)
    message = str(error).replace("$", "the document")
    if "truncated" in message:
        return rule.error(message, file=file, line=line + data.rstrip().count(b"\n"), found="")
    if byte := re.search(r"\(byte (\d+)\)", message):
        at = int(byte[1])
        found = data[at:].decode("utf-8", "replace").rstrip()[:1]
        return rule.error(message, file=file, line=line + data.count(b"\n", 0, at), found=found)
    field = re.search(r"field `(\w+)`", message)
    found_field = f'"{field[1]}"' if field and f'"{field[1]}"' in text else None
    return rule.error(message, file=file, line=line, found=found_field)
