"""Documents that are JSON values: one per line, the elements of one list, or a single value over several lines.

Files of all three kinds are called `.json`. Lines are found by a marker; other files are read whole.
"""

import re
from collections.abc import Callable, Iterator
from typing import TypeVar

import msgspec

from karat.errors import KaratError, Rule
from karat.formats._json_values import (
    STRING,
    Unreadable,
    decoded,
    elements,
    is_truncated,
    is_value,
    refuse_repeated_keys,
)
from karat.model import Document, Id, Places, compact_lines
from karat.plugin.formats import Context, Marker, Piece

T = TypeVar("T")


def lines_with(key: str) -> Marker:
    """Find a document in each line; this key has its id."""
    decoder = msgspec.json.Decoder(msgspec.defstruct("Head", [(key, Id)]))

    def find_id(line: bytes) -> str:
        try:
            id_: str = getattr(decoder.decode(line), key)
        except Unreadable:
            return ""
        return id_

    return Marker(pattern=re.compile(rb"\S[^\n]*"), find_id=find_id, applies=_is_first_of_lines)


def _is_first_of_lines(line: bytes) -> bool:
    """Whether a file with this first line has one value per line: no list, and no value that goes on in the next."""
    return not line.lstrip().startswith(b"[") and not is_truncated(line)


def each_value(read: Callable[[Piece, Context], Document]) -> Callable[[Piece, Context], Iterator[Document]]:
    """Read each value of a piece as a document; of a file that is read whole, report those that cannot be read."""

    def read_values(piece: Piece, context: Context) -> Iterator[Document]:
        if piece.line > 1 or _is_first_of_lines(piece.data.lstrip().partition(b"\n")[0]):
            yield _placed(read(piece, context), piece)
            return
        for value in _values(piece):
            try:
                document = read(value, context)
            except KaratError as error:
                context.report(error.finding)
            else:
                yield _placed(document, value)

    return read_values


def _values(piece: Piece) -> Iterator[Piece]:
    """Split a file that is read whole: a list, a single value, or lines of which the first is broken."""
    if piece.data.lstrip().startswith(b"["):
        for value in elements(piece.data, 0, piece.name):
            yield Piece(piece.name, value.data, value.line)
    elif is_value(piece.data):
        data = piece.data.lstrip()
        yield Piece(piece.name, data, 1 + piece.data.count(b"\n", 0, len(piece.data) - len(data)))
    else:
        for line, data in enumerate(piece.data.split(b"\n"), 1):
            if data and not data.isspace():
                yield Piece(piece.name, data, line)


def record_of(value: Piece, decoder: msgspec.json.Decoder[T], rule: Rule) -> T:
    """Decode a value; a value of another shape is refused by the rule."""
    record = decoded(decoder, value.data, rule, file=value.name, line=value.line)
    refuse_repeated_keys(value.data, file=value.name, line=value.line)
    return record


def _placed(document: Document, value: Piece) -> Document:
    """Add the line of each mention, that of the first string that is its id, and of each link, that of its source."""
    data, line = value.data.rstrip(), value.line
    if b"\n" not in data:
        return document.at(Places(line))
    lines: dict[bytes, int] = {}
    number, end = line, 0
    for match in STRING.finditer(data):
        number, end = number + data.count(b"\n", end, match.start()), match.start()
        lines.setdefault(match[0], number)

    def line_of(id_: str) -> int:
        return lines.get(msgspec.json.encode(id_), line)

    mentions = compact_lines([line_of(mention.id) for mention in document.mentions])
    links = compact_lines([line_of(link.source) for link in document.links])
    return document.at(Places(line, mentions, links=links))
