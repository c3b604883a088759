"""Formats that still find their documents themselves (`blocks`) and look up lines afterwards (`locator`).

Temporary: this module goes when the last of them has a `read` of its own.
"""

import os
from collections.abc import Callable, Iterator
from typing import BinaryIO, NamedTuple

from karat.errors import Finding, Item, Report, Target
from karat.model import Document, Line, Places
from karat.plugin.formats import Context, Format, Piece, ReadOptions


class Contents(NamedTuple):
    """What a light pass knew about a document; not used any more."""

    attributes: frozenset[tuple[str, str]] = frozenset()
    kinds: frozenset[str] = frozenset()
    links: frozenset[tuple[str, str, str]] = frozenset()
    clusters: frozenset[str] = frozenset()
    clustered: frozenset[str] = frozenset()


class Block(NamedTuple):
    """Where one document is in its file."""

    offset: int
    length: int
    line: int
    id: str = ""
    topic: str | None = None
    subtopic: str | None = None
    contents: Contents | None = None
    context: str | None = None
    more: tuple[tuple[int, int, int], ...] = ()
    is_unnamed: bool = False
    problems: tuple[Finding, ...] = ()
    numbered: bool = False

    @classmethod
    def whole(cls, stream: BinaryIO, id: str = "", *, topic: str | None = None, subtopic: str | None = None) -> "Block":
        """A file that is one document."""
        offset = stream.tell()
        return cls(offset, stream.seek(0, os.SEEK_END) - offset, 1, id, topic, subtopic)


Locate = Callable[[Item], int | None]
LocateBeside = Callable[[Item], tuple[str, int] | None]


def _first_line(data: bytes, block: Block) -> Locate:
    del data
    return lambda _: block.line


def _nowhere_beside(file: str) -> LocateBeside:
    del file
    return lambda _: None


def _first_line_of_token(data: bytes, block: Block, token: int) -> int | None:
    del data, token
    return block.line


def _by_blocks(piece: Piece, context: Context) -> Iterator[Document]:
    raise AssertionError(f"the corpus calls read_block: {piece.name}, {context}")


class BlockFormat(Format, frozen=True, kw_only=True):
    """A format of the old contract."""

    read: Callable[[Piece, Context], Iterator[Document]] = _by_blocks
    blocks: Callable[[BinaryIO, str], Iterator[Block]]
    parse: Callable[[bytes, Block, ReadOptions, str, Report], Document]
    locator: Callable[[bytes, Block], Locate] = _first_line
    locator_beside: Callable[[str], LocateBeside] = _nowhere_beside
    locates_regions: bool = False
    locate_token: Callable[[bytes, Block, int], int | None] = _first_line_of_token

    def read_block(self, piece: Piece, block: Block, context: Context) -> Iterator[Document]:
        """The document of a block."""
        document = self.parse(piece.data, block, context.options, piece.name, context.report)
        yield document.at(BlockPlaces(block.line, of=(self, piece, block)))


class BlockPlaces(Places, frozen=True, kw_only=True):
    """Places that are looked up when they are asked for."""

    of: tuple[BlockFormat, Piece, Block]

    def lookup(self) -> Callable[[Target], Line | None]:
        """What finds the lines of items."""
        format_, piece, block = self.of
        locate, beside = format_.locator(piece.data, block), format_.locator_beside(piece.name)

        def find(item: Target) -> Line | None:
            if isinstance(item, int):
                return format_.locate_token(piece.data, block, item)
            if len(item) == 2 and not isinstance(item, str) and not format_.locates_regions:
                item = item[0]
            line = locate(item)
            return beside(item) if line is None else line

        return find
