"""Token tables (`<docid>.tab`): one row per token, with its id, word, begin and end, separated by tabs.

Spans in token units are token ids: each names a row of its document's table. The words are shown, and `invisible` reads
them. The offsets count only if spans are projected to characters (`--tokens DIR --unit char`).
"""

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path

from karat.formats._text import MISSING, decode
from karat.inputs import read_bytes
from karat.model import Region
from karat.plugin.formats import TokenTable
from karat.problems import Report, Rule, quoted
from karat.regions import runs

NO_TABLE = Rule("token-table-missing", "note", "Ids are then compared as written; check --tokens if that is not meant.")
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
        rows: dict[str, int] = {}
        forms: list[str] = []
        offsets: list[tuple[str, str]] = []
        for line in decode(read_bytes(path), file=str(path), line=1).removeprefix("\ufeff").split("\n"):
            token, form, begin, end = [*map(str.strip, line.split("\t", 4)), "", "", ""][:4]
            if token and token not in rows:
                rows[token] = len(rows)
                forms.append(form)
                offsets.append((begin, end))
        if [_place(*row) is None for row in offsets[:2]] == [True, False]:
            forms[0] = ""  # a header
        return TokenTable(rows, tuple(forms) if any(forms) else None, offsets, str(path))


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


def char_places(table: TokenTable) -> list[tuple[int, int] | None]:
    """Return where each token is in the text; None for a first row without numbers, which is a header.

    Ends are inclusive or exclusive: whichever makes most tokens as long as their words.
    """
    places = [_place(begin, end) for begin, end in table.offsets]
    for token, row in table.rows.items():
        if places[row] is None and row > 0:
            raise NO_OFFSETS.error(f"the token {quoted(token)} has no offsets that are whole numbers", file=table.file)
    words = [(place, len(form)) for place, form in zip(places, table.forms or (), strict=False) if place is not None]
    exclusive, inclusive = (
        2 * sum(end + more - begin == length for (begin, end), length in words) > len(words) for more in (0, 1)
    )
    if any(places) and not exclusive and not inclusive:
        message = "neither end - begin nor end - begin + 1 is the length of the word in most rows"
        raise NO_OFFSETS.error(message, file=table.file)
    return [None if place is None else (place[0], place[1] + inclusive) for place in places]


def _place(begin: str, end: str) -> tuple[int, int] | None:
    known = all(text.isascii() and text.isdecimal() and len(text) < LONGEST_NUMBER for text in (begin, end))
    return (int(begin), int(end)) if known else None


def char_span(tokens: Sequence[str], table: TokenTable, places: Sequence[tuple[int, int] | None]) -> Region:
    """Return the characters of tokens; those between tokens of neighbouring rows belong to the span."""
    for token in tokens:
        if token not in table.rows or places[table.rows[token]] is None:
            lacking = "has no offsets in" if table.rows else "cannot be found: there is no token table"
            raise NO_OFFSETS.error(f"the token {quoted(token)} {lacking} {table.file}")
    ends = [(places[begin], places[end - 1]) for begin, end in runs(table.rows[token] for token in tokens)]
    span = sorted((first[0], last[1]) for first, last in ends if first is not None and last is not None)
    if any(begin >= end for begin, end in span):
        raise NO_OFFSETS.error(f"the tokens {quoted(','.join(tokens))} end before they begin in {table.file}")
    return tuple(span)
