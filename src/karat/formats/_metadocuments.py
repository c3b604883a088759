"""Meta-documents of CoNLL: each line names its document, in a column or in a prefix of its first column."""

import re
from collections.abc import Callable
from typing import NamedTuple

TOKENS = 1_000_000
"""A document has fewer tokens."""

_COLUMN = re.compile(
    rb"(?P<topic>[^\t]*)\t(?P<subtopic>[^\t]*)\t(?P<document>[^\t]+)\t(?P<sentence>[0-9]{1,18})\t(?P<token>[0-9]{1,18})\t"
    rb"(?P<word>.*)\t(?:True|False)\t[^\t]+"
)
"""A word may contain tabs, as some of ECB+ do."""
_PREFIX = re.compile(rb"_(?P<document>[^\t]+)_(?P<token>[0-9]{1,18})\t[^\t]+")
_BRACKETED = re.compile(rb"\(([^()]+)\)(?:;.*)?")
"""The id of `#begin document (x); part 000`, which is kept as written."""


class Row(NamedTuple):
    """A token of a meta-document."""

    document: str
    token: int
    """Its number in the document."""
    topic: str | None = None
    subtopic: str | None = None
    word: bytes | None = None
    sentence: int | None = None


class Layout(NamedTuple):
    """How the lines of a meta-document name their documents."""

    read: Callable[[bytes, bytes], Row | None]
    """Returns the token of a line, if it has this layout; the second argument is the id of the meta-document."""
    expected: str
    """Describes a line."""
    place: str
    """Where the name of the document is."""


def _read_column(row: bytes, meta: bytes) -> Row | None:
    del meta
    match = _COLUMN.fullmatch(_tabbed(row))
    if match is None:
        return None
    topic, subtopic, document = (match[name].decode("utf-8", "replace") for name in ("topic", "subtopic", "document"))
    return Row(document, int(match["token"]), topic or None, subtopic or None, match["word"], int(match["sentence"]))


def _read_prefix(row: bytes, meta: bytes) -> Row | None:
    if bracketed := _BRACKETED.fullmatch(meta):
        meta = bracketed[1]
    match = _PREFIX.fullmatch(_tabbed(row), len(meta)) if row.startswith(meta) else None
    return None if match is None else Row(match["document"].decode("utf-8", "replace"), int(match["token"]))


def _tabbed(row: bytes) -> bytes:
    """Return a line with tabs between its columns, as in files of one document."""
    return row if b"\t" in row else b"\t".join(row.split())


LAYOUTS = {
    "column": Layout(
        _read_column,
        "eight columns: topic, subtopic, document, sentence, token, word, True or False, brackets",
        "in a column",
    ),
    "prefix": Layout(
        _read_prefix,
        "two columns, META_DOCUMENT_TOKEN and brackets, where META is the id after #begin document",
        "in a prefix",
    ),
}


def detect(row: bytes, meta: bytes) -> Layout | None:
    """Return the layout of a meta-document that begins with this line; None: the line names no document.

    The number of a sentence, as in DOCUMENT_SENTENCE_TOKEN, is not a name.
    """
    for layout in LAYOUTS.values():
        first = layout.read(row, meta)
        if first is not None and (layout is LAYOUTS["column"] or not first.document.isdecimal()):
            return layout
    return None
