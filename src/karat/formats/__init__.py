"""Formats: each module turns files into documents and back, and never computes a score.

A format is a module (or any object another package offers under the entry-point group `karat.formats`) with

    TITLE       what it is, in a few words
    SUFFIXES    file names end so
    PROTOCOLS   scored under these when the user names none
    sniff(head)                                  does a file that begins so look like mine?
    blocks(stream, file)                         the light pass: where in a file each document lies
    parse(data, block, options, file, report)    the documents themselves, one block at a time
    write(document, options, lost)               the bytes of one document; `lost` is told what cannot be held
                                                 (None where the format is only read)
    locate(data, block, item)                    the line of a mention or a link in a block; may be left out where a
                                                 document is a line, and is asked only when something is wrong with it

Reading is in two steps, `blocks` then `parse`, so that documents can be found in any order, read again, and handed
to another process as a name and a place.
"""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import BinaryIO, NamedTuple, Protocol

from msgspec import Struct

from karat.errors import Report
from karat.model import Document, Unit
from karat.registry import Registry


class Block(NamedTuple):
    """Where one document lies in its file, and what a light look at it tells."""

    id: str
    offset: int
    length: int
    line: int
    """Number of its first line."""
    attributes: frozenset[tuple[str, str]] = frozenset()
    """(kind of mention, attribute) that occur in it."""
    topic: str | None = None
    subtopic: str | None = None


class Options(Struct, frozen=True):
    """How to read (or write) a format that does not say it itself."""

    unit: Unit | None = None
    tokens: str | None = None
    """Folder of token tables."""


class Format(Protocol):
    """What a format module offers."""

    TITLE: str
    SUFFIXES: tuple[str, ...]
    PROTOCOLS: tuple[str, ...]
    write: Callable[[Document, Options, Callable[[str], None]], bytes] | None

    def sniff(self, head: bytes) -> bool:
        """Whether a file that begins with these bytes looks like this format."""
        ...

    def blocks(self, stream: BinaryIO, file: str) -> Iterator[Block]:
        """Where the documents of a file are, in its order."""
        ...

    def parse(self, data: bytes, block: Block, options: Options, file: str, report: Report) -> Document:
        """The document in a block's bytes."""
        ...


class _HasAttributes(Protocol):
    @property
    def kind(self) -> str: ...
    @property
    def attributes(self) -> Mapping[str, object]: ...


def attributes_in(mentions: Iterable[_HasAttributes]) -> frozenset[tuple[str, str]]:
    """(kind, attribute) pairs that occur on mentions."""
    return frozenset((mention.kind, name) for mention in mentions for name in mention.attributes)


FORMATS = Registry(sys.modules[__name__], "format", option="karat formats")
