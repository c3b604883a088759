"""The store: one SQLite file with everything that was scored, so that a stopped campaign goes on where it was.

`results` has the outcome or the error report of each submission under a key that covers all it depends on (see
`signature`). A row is written as soon as its submission is done, and never changed. `submissions` and `rankings` are
the tables of the last run, for people who ask in SQL.
"""

import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from karat.errors import KaratError, Rule

NOT_A_STORE = Rule("store-unusable", "fatal", "Choose another output folder, or move the file away.")

APPLICATION = 0x6B617261
"""Marks the file as karat's."""
SCHEMA = 1
WAIT = 60
"""Seconds to wait for another process that writes."""


class Store:
    """Contents by key."""

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()
        with self._refusing():
            self._open = sqlite3.connect(path, timeout=WAIT)
            self._check_file()

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        """A file that is damaged, locked for long, or on a full disk."""
        try:
            yield
        except (sqlite3.Error, zlib.error) as error:
            raise self.unusable(str(error)) from None

    def _check_file(self) -> None:
        (application,) = self._open.execute("PRAGMA application_id").fetchone()
        (schema,) = self._open.execute("PRAGMA user_version").fetchone()
        (tables,) = self._open.execute("SELECT count(*) FROM sqlite_master").fetchone()
        if not tables:
            with self._open:
                self._open.execute(f"PRAGMA application_id = {APPLICATION}")
                self._open.execute(f"PRAGMA user_version = {SCHEMA}")
                self._open.execute("CREATE TABLE results (key TEXT PRIMARY KEY, kind TEXT NOT NULL, content BLOB)")
        elif application != APPLICATION:
            raise self.unusable("this is a database of another program")
        elif schema != SCHEMA:
            raise self.unusable("this was written by another version of karat")

    def unusable(self, message: str) -> KaratError:
        """The error for a file that is not what it should be."""
        return NOT_A_STORE.error(message, file=str(self.path))

    def keys(self, kind: str) -> set[str]:
        """What is known of one kind."""
        with self._refusing():
            return {key for (key,) in self._open.execute("SELECT key FROM results WHERE kind = ?", (kind,))}

    def put(self, kind: str, contents: Iterable[tuple[str, bytes]]) -> None:
        """Keep contents by their keys. Once this returns, they survive whatever happens to the process."""
        rows = ((key, kind, zlib.compress(content)) for key, content in contents)
        with self._refusing(), self._open:
            self._open.executemany("INSERT OR IGNORE INTO results VALUES (?, ?, ?)", rows)

    def get(self, key: str) -> bytes | None:
        """The content under a key, if it is known."""
        with self._refusing():
            row = self._open.execute("SELECT content FROM results WHERE key = ?", (key,)).fetchone()
            return None if row is None else zlib.decompress(row[0])

    def replace(self, table: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Fill a table with what the last run has to say; all rows have the same keys."""
        with self._refusing(), self._open:
            self._open.execute(f'DROP TABLE IF EXISTS "{table}"')
            if rows:
                columns = ", ".join(f'"{name}"' for name in rows[0])
                self._open.execute(f'CREATE TABLE "{table}" ({columns})')
                marks = ", ".join("?" * len(rows[0]))
                values: Iterable[tuple[Any, ...]] = (tuple(row.values()) for row in rows)
                self._open.executemany(f'INSERT INTO "{table}" VALUES ({marks})', values)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with closing(self._open):
            pass
