"""Token tables (`<docid>.tab`): one row per token, with its id, word, begin and end, separated by tabs.

Spans in token units are token ids: each names a row of its document's table. The words are shown, and `invisible` reads
them. The offsets count only if spans are projected to characters (`--tokens DIR --unit char`).
"""

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path

from karat.formats._text import MISSING, decode
from karat.inputs import read_bytes
from karat.model import Region
from karat.plugin.formats import TokenTable
from karat.problems import Report, Rule, quoted
from karat.regions import runs

NO_TABLE = Rule(
    "token-table-missing", "note", "Ids are then compared as written; check --tokens if you did not intend this."
)
NO_OFFSETS = Rule(
    "token-offsets",
    "fatal",
    "Write the begin and end of each token in columns 3 and 4 of its table, or omit --unit char to compare token ids.",
)

LONGEST = 1000
"""Bytes of a token id that is in no table: Python converts only numbers of 4,300 digits."""
LONGEST_NUMBER = 18
"""Digits of an offset."""


class TableFolder:
    """The tables in a folder; the last few are kept, since both sides of a document are read one after the other."""

    KEPT = 4

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)
        self._tables: OrderedDict[str, TokenTable] = OrderedDict()
        self._lock = threading.Lock()
        if not self._folder.is_dir():
            raise MISSING.error("there is no such folder of token tables", file=folder)

    def table(self, document: str, report: Report) -> TokenTable:
        """Return the table of a document; an empty one if it has none."""
        with self._lock:
            if document not in self._tables:
                self._tables[document] = self._read(document, report)
                while len(self._tables) > self.KEPT:
                    self._tables.popitem(last=False)
            return self._tables[document]

    def __reduce__(self) -> tuple[type["TableFolder"], tuple[str]]:
        return TableFolder, (str(self._folder),)

    def _read(self, document: str, report: Report) -> TokenTable:
        path = self._folder / f"{document}.tab"
        # An id that leads out of the folder (../x, /x) has no table in it.
        inside = ".." not in Path(document).parts and path.is_relative_to(self._folder)
        if not inside or not _is_file(path):
            report(NO_TABLE.at("there is no such token table", file=str(path)))
            return TokenTable(file=str(path))
        tokens: dict[str, tuple[str, tuple[str, str]]] = {}
        for line in decode(read_bytes(path), file=str(path), line=1).removeprefix("\ufeff").split("\n"):
            token, form, begin, end = [*map(str.strip, line.split("\t", 4)), "", "", ""][:4]
            if token:
                tokens.setdefault(token, (form, (begin, end)))
        first_places = [_place(*offsets) for _, offsets in islice(tokens.values(), 2)]
        if [place is None for place in first_places] == [True, False]:
            del tokens[next(iter(tokens))]  # a header
        forms, offsets = tuple(zip(*tokens.values(), strict=True)) or ((), ())
        rows = {token: row for row, token in enumerate(tokens)}
        return TokenTable(rows, forms if any(forms) else None, offsets, str(path))


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # an id that no file name can be: too long, or with a zero byte
        return False


def number(token: str, table: Mapping[str, int]) -> int:
    """The row of a token; an id that is not in the table gets a number after it, the same on both sides.

    That number spells the id's bytes, so no two ids share one and no side needs to know of the other.
    """
    row = table.get(token)
    if row is not None:
        return row
    spelled_out = token.encode("utf-8")
    if len(spelled_out) > LONGEST:
        raise ValueError(token)
    return len(table) + int.from_bytes(spelled_out)


def char_places(table: TokenTable) -> list[tuple[int, int]]:
    """Return where each token is in the text.

    Ends are inclusive or exclusive: whichever makes most tokens as long as their words.
    """
    places = []
    for token, offsets in zip(table.rows, table.offsets, strict=True):
        place = _place(*offsets)
        if place is None:
            raise NO_OFFSETS.error(f"the token {quoted(token)} has no offsets that are whole numbers", file=table.file)
        places.append(place)
    words = [(place, len(form)) for place, form in zip(places, table.forms or (), strict=False)]
    exclusive, inclusive = (
        2 * sum(end + more - begin == length for (begin, end), length in words) > len(words) for more in (0, 1)
    )
    if places and not exclusive and not inclusive:
        message = "neither end - begin nor end - begin + 1 is the length of the word in most rows"
        raise NO_OFFSETS.error(message, file=table.file)
    return [(begin, end + inclusive) for begin, end in places]


def _place(begin: str, end: str) -> tuple[int, int] | None:
    known = all(text.isascii() and text.isdecimal() and len(text) < LONGEST_NUMBER for text in (begin, end))
    return (int(begin), int(end)) if known else None


def char_span(tokens: Sequence[str], table: TokenTable, places: Sequence[tuple[int, int]]) -> Region:
    """Return the characters of tokens; those between tokens of neighbouring rows belong to the span."""
    for token in tokens:
        if token not in table.rows:
            lacking = "is not in" if table.rows else "cannot be found: there is no token table"
            raise NO_OFFSETS.error(f"the token {quoted(token)} {lacking} {table.file}")
    span = sorted((places[begin][0], places[end - 1][1]) for begin, end in runs(table.rows[token] for token in tokens))
    if any(begin >= end for begin, end in span):
        raise NO_OFFSETS.error(f"the tokens {quoted(','.join(tokens))} end before they begin in {table.file}")
    return tuple(span)
