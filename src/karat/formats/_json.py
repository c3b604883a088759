"""JSON that several formats read: objects of a file, decoded, each with its line."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import msgspec

from karat.decoding import explained, repeated_key
from karat.formats._text import decode
from karat.model import Document, Id, Places, compact_lines
from karat.plugin.formats import Context, Marker, Piece, ReadOptions
from karat.problems import KaratError, Rule, quoted
from karat.regions import NO_OFFSET

BROKEN = Rule("json-broken", "fatal", "Write one JSON object per line, or one list of objects.")
OFFSET = Rule("json-offset", "fatal", "Write offsets as whole numbers, 0 or more.")
KEY_TWICE = Rule("json-key-twice", "fatal", "Write each key of an object once; only one of the values could be read.")

T = TypeVar("T")

ADVICE = "give JSON alone, with double quotes and without trailing commas"

Unreadable = msgspec.DecodeError, UnicodeDecodeError, RecursionError
_any = msgspec.json.Decoder()
_raw = msgspec.json.Decoder(msgspec.Raw)
_list = msgspec.json.Decoder(list[msgspec.Raw])
_object = msgspec.json.Decoder(dict[str, msgspec.Raw])
_BEFORE_ELEMENT = re.compile(rb"[\s,\[]*")
STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_BEFORE_ENTRY = re.compile(rb'[\s,{]*"[^"\\]*(?:\\.[^"\\]*)*"\s*:\s*', re.DOTALL)


def _problem(data: bytes) -> str:
    """Return why data are not one JSON value; empty if they are."""
    try:
        _raw.decode(data)
    except Unreadable as error:
        return str(error)
    return ""


def elements(piece: Piece) -> Iterator[Piece]:
    """Split the list that a piece is."""
    decoded_elements = decoded(_list.decode, piece.data, BROKEN, file=piece.name, line=piece.line)
    return _located(piece, (("", element) for element in decoded_elements), _BEFORE_ELEMENT)


def entries(piece: Piece) -> Iterator[Piece]:
    """Split the object that a piece is; the key of an entry is the id of its piece."""
    by_key = decoded(_object.decode, piece.data, BROKEN, file=piece.name, line=piece.line)
    refuse_repeated_keys(piece.data, file=piece.name, line=piece.line)
    return _located(piece, by_key.items(), _BEFORE_ENTRY)


def _located(piece: Piece, values: Iterable[tuple[str, msgspec.Raw]], before: re.Pattern[bytes]) -> Iterator[Piece]:
    """Yield the values of a piece, each with its line; `before` matches the bytes in front of a value."""
    end, line = 0, piece.line
    for key, value in values:
        match = before.match(piece.data, end)
        assert match is not None, "the data were decoded before"
        line += piece.data.count(b"\n", end, match.end())
        data = bytes(value)
        yield Piece(piece.name, data, line, key)
        end = match.end() + len(data)
        line += data.count(b"\n")


def refuse_repeated_keys(data: bytes, *, file: str, line: int) -> None:
    """Refuse an object that gives a key twice."""
    # Fields that a format does not read were skipped before, and may hold anything.
    repeated = decoded(repeated_key, data, BROKEN, file=file, line=line)
    if repeated is not None:
        message = f"the key {quoted(repeated)} is given twice in one object"
        line += data.count(b"\n", 0, max(data.rfind(msgspec.json.encode(repeated)), 0))
        raise KEY_TWICE.error(message, file=file, line=line, found=repeated)


def decoded(decode: Callable[[bytes], T], data: bytes, rule: Rule, *, file: str, line: int) -> T:
    """Decode data; for data that cannot be decoded, raise an error with its line."""
    try:
        return decode(data)
    except Unreadable as error:
        raise _refusal(error, data, rule, file=file, line=line) from None


def _refusal(error: Exception, data: bytes, rule: Rule, *, file: str, line: int) -> KaratError:
    """The error for data that cannot be decoded."""
    message = explained(error)
    if isinstance(error, RecursionError):
        return rule.error(message, file=file, line=line)
    text = decode(data, file=file, line=line)
    if "truncated" in str(error):
        return rule.error(message, file=file, line=line + data.rstrip().count(b"\n"), found="")
    if byte := re.search(r"\(byte (\d+)\)", str(error)):
        at = int(byte[1]) - ("trailing characters" in str(error))
        found = data[at:].decode("utf-8", "replace").rstrip()
        message = f"{message}: found {quoted(found[:20])}; {ADVICE}" if found else message
        return rule.error(message, file=file, line=line + data.count(b"\n", 0, at), found=found[:1])
    field = re.search(r"field `(\w+)`", str(error))
    place = text.find(f'"{field[1]}"') if field else -1
    if field is None or place < 0:
        return rule.error(message, file=file, line=line)
    return rule.error(message, file=file, line=line + text.count("\n", 0, place), found=f'"{field[1]}"')


_OFFSET_EXPECTED = re.compile(r"Expected `int(?: \| str)?`, got `\w+` - at `\$((?:\.\w+|\[\d+\])+)`")
_STEP = re.compile(r"\w+")


def with_offsets(decode: Callable[[bytes], T], value: Piece, context: Context) -> Callable[[bytes], T]:
    """Return a decoder that also takes 5.0 for 5, and reports other offsets of a system that are no whole numbers."""

    def decode_any(data: bytes) -> T:
        try:
            return decode(data)
        except msgspec.ValidationError as error:
            problem = error
        values = _any.decode(data)
        while place := _OFFSET_EXPECTED.fullmatch(str(problem)):
            holder, *steps = values, *[int(step) if step.isdigit() else step for step in _STEP.findall(place[1])]
            for step in steps[:-1]:
                holder = holder[step]
            written = holder[steps[-1]]
            if isinstance(written, float) and written.is_integer():
                holder[steps[-1]] = int(written)
            elif context.options.is_system:
                context.misplaced(OFFSET.at(explained(problem), file=value.name, line=value.line), written)
                holder[steps[-1]] = NO_OFFSET
            else:
                break
            try:
                return decode(msgspec.json.encode(values))
            except msgspec.ValidationError as error:
                problem = error
        raise problem

    return decode_any


def lines_with(key: str, id_of: Callable[[str], str] = str) -> Marker:
    """Find a document in each line; this key has its id, or a name from which `id_of` makes it."""
    decoder = msgspec.json.Decoder(msgspec.defstruct("Head", [(key, Id)]))

    def find_id(line: bytes) -> str:
        try:
            return id_of(getattr(decoder.decode(line), key))
        except Unreadable:
            return ""

    return Marker(pattern=re.compile(rb"\S[^\n]*"), find_id=find_id, applies=_has_values_in_lines)


def _has_values_in_lines(lines: Iterable[bytes], options: ReadOptions) -> bool:
    del options
    return _is_first_of_lines(next(iter(lines), b""))


def _is_first_of_lines(line: bytes) -> bool:
    """Return whether a file with this first line has one value per line: no list, no value over several lines."""
    return not line.lstrip().startswith(b"[") and "truncated" not in _problem(line)


def each_value(read: Callable[[Piece, Context], Document]) -> Callable[[Piece, Context], Iterator[Document]]:
    """Read each value of a piece as a document; of a file that is read whole, report those that cannot be read."""

    def read_values(piece: Piece, context: Context) -> Iterator[Document]:
        if piece.line > 1 or _is_first_of_lines(piece.data.lstrip().partition(b"\n")[0]):
            yield _placed(read(piece, context), piece)
            return
        for value in values(piece):
            try:
                document = read(value, context)
            except KaratError as error:
                context.report(error.finding)
            else:
                yield _placed(document, value)

    return read_values


def values(piece: Piece) -> Iterator[Piece]:
    """Split a file that is read whole: a list, a single value, or lines of which the first is broken.

    Where the second line does not begin an object, a broken value is pretty-printed.
    """
    data = piece.data.lstrip()
    if data.startswith(b"["):
        yield from elements(piece)
    elif data and (not _problem(data) or not data.partition(b"\n")[2].lstrip().startswith(b"{")):
        yield Piece(piece.name, data, piece.line + piece.data.count(b"\n", 0, len(piece.data) - len(data)))
    else:
        for line, data in enumerate(piece.data.split(b"\n"), piece.line):
            if data and not data.isspace():
                yield Piece(piece.name, data, line)


def record_of(value: Piece, decode: Callable[[bytes], T], rule: Rule, context: Context) -> T:
    """Decode a value; a value of another shape is refused by the rule."""
    record = decoded(with_offsets(decode, value, context), value.data, rule, file=value.name, line=value.line)
    refuse_repeated_keys(value.data, file=value.name, line=value.line)
    return record


def _placed(document: Document, value: Piece) -> Document:
    """Add the line of each mention, that of the first string that is its id, and of each link.

    A link is at its key `from`, or, if not all links are read or have one, where its source is.
    """
    data, line = value.data.rstrip(), value.line
    if b"\n" not in data:
        return document.at(Places(line))
    lines: dict[bytes, int] = {}
    link_lines: list[int] = []
    number, end = line, 0
    for match in STRING.finditer(data):
        number, end = number + data.count(b"\n", end, match.start()), match.start()
        lines.setdefault(match[0], number)
        if match[0] == b'"from"':
            link_lines.append(number)

    def line_of(id_: str) -> int:
        return lines.get(msgspec.json.encode(id_), line)

    mentions = compact_lines([line_of(mention.id) for mention in document.mentions])
    if len(link_lines) != len(document.links):
        link_lines = [line_of(link.source) for link in document.links]
    return document.at(Places(line, mentions, links=compact_lines(link_lines)))
