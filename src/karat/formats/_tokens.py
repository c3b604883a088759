"""Token tables (`<docid>.tab`): which row of its document's table a token id names.

Spans in token units are token ids and nothing is projected to characters, so only the ids in the first column count.
"""

import threading
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path

from karat.formats._text import MISSING, decode
from karat.inputs import read_bytes
from karat.problems import Report, Rule

NO_TABLE = Rule("token-table-missing", "note", "Ids are then compared as written; check --tokens if that is not meant.")


LONGEST = 1000
"""Bytes of a token id that is in no table: Python converts only numbers of 4,300 digits."""


class TableFolder:
    """The tables in a folder; the last few are kept, since both sides of a document are read one after the other."""

    KEPT = 4

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)
        self._tables: OrderedDict[str, dict[str, int]] = OrderedDict()
        self._lock = threading.Lock()
        if not self._folder.is_dir():
            raise MISSING.error("there is no such folder of token tables", file=folder)

    def table(self, document: str, report: Report) -> dict[str, int]:
        """Row numbers by token id; empty where there is no table."""
        with self._lock:
            if document not in self._tables:
                self._tables[document] = self._read(document, report)
                while len(self._tables) > self.KEPT:
                    self._tables.popitem(last=False)
            return self._tables[document]

    def __reduce__(self) -> tuple[type["TableFolder"], tuple[str]]:
        return TableFolder, (str(self._folder),)

    def _read(self, document: str, report: Report) -> dict[str, int]:
        path = self._folder / f"{document}.tab"
        # An id that leads out of the folder (../x, /x) has no table in it.
        inside = ".." not in Path(document).parts and path.is_relative_to(self._folder)
        if not inside or not _is_file(path):
            report(NO_TABLE.at("there is no such token table", file=str(path)))
            return {}
        rows: dict[str, int] = {}
        for line in decode(read_bytes(path), file=str(path), line=1).removeprefix("\ufeff").split("\n"):
            token = line.split("\t", 1)[0].strip()
            if token:
                rows.setdefault(token, len(rows))
        return rows


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


def spelled(row: int, table: Mapping[str, int]) -> str | None:
    """The id that a number after the table spells; None if it spells nothing that could stand in a file."""
    beyond = row - len(table)
    try:
        token = beyond.to_bytes((beyond.bit_length() + 7) // 8).decode("utf-8") if beyond > 0 else ""
    except UnicodeDecodeError:
        return None
    return token if token.isprintable() and token and "," not in token and token == token.strip() else None
