"""The store: one SQLite file with everything that was scored, so that an interrupted campaign resumes.

`results` has the outcome and the error report of each submission, and statistics, each under a key that covers all it
depends on. A row is written as soon as it is made, and never changed. It has a hash of its content and its key: one
that is damaged, or stands under another key, is made again. `submissions` and `rankings` are the tables of the last
run, for people who ask in SQL.

An outcome has what was found in a submission and, if it was scored, the counts of each unit. Everything else that a
report shows is computed from these: a score from the sums of counts, an interval from resamples.
"""

import hashlib
import sqlite3
import zlib
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import fsum
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from karat import __version__
from karat.counts import Scores, ScoreValues
from karat.plugin import Facts
from karat.problems import Finding, Findings, Group, KaratError, Origin, Rule, Severity
from karat.protocols import Protocol
from karat.result import Result, Score, Side, UnitRows
from karat.run.plan import Options, Plan

NOT_A_STORE = Rule("store-unusable", "fatal", "Choose another output folder, or move the file away.")

DAMAGED = "it is damaged, or karat did not write it"

APPLICATION = 0x6B617261
"""Marks the file as karat's."""
SCHEMA = 5
WAIT = 60
"""Seconds to wait for another process that writes."""
LISTED = 100
"""Findings of each code that are kept."""

CONCEALED = "details are not shown"
"""The message of a finding that may say whose submission it is about."""


class Store:
    """Contents by key."""

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()
        with self._refusing():
            self._open = sqlite3.connect(path, timeout=WAIT, isolation_level=None)
        self.is_rebuilt = self._prepare()
        """True: another version of karat made it, so that nothing in it is known."""

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        """Refuse a file that is damaged, locked for long, or on a full disk."""
        try:
            yield
        except (sqlite3.Error, OSError, ValueError, TypeError) as error:  # what SQLite raises on a damaged file
            reasons = {"locked": "another program uses it", "full": "the disk is full", "readonly": "it is read-only"}
            known = [reason for word, reason in reasons.items() if word in str(error)]
            raise self.unusable([*known, DAMAGED][0]) from None

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Change all or nothing; other processes wait until this is done."""
        with self._refusing():
            self._open.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._open.execute("COMMIT")
            finally:
                if self._open.in_transaction:
                    self._open.execute("ROLLBACK")

    def _prepare(self) -> bool:
        """Make the table in a new file, or in one of another version, which is emptied; return if it was."""
        with self._writing():
            (application,) = self._open.execute("PRAGMA application_id").fetchone()
            tables = [name for (name,) in self._open.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            if tables and application != APPLICATION:
                raise self.unusable("this is a database of another program")
            if self._open.execute("PRAGMA integrity_check").fetchone() != ("ok",):
                raise self.unusable(DAMAGED)
            versions = [(SCHEMA, __version__)]
            if "karat" in tables and self._open.execute("SELECT schema, version FROM karat").fetchall() == versions:
                return False
            for table in tables:
                self._open.execute(f'DROP TABLE "{table}"')
            self._open.execute(f"PRAGMA application_id = {APPLICATION}")
            self._open.execute("CREATE TABLE karat (schema, version)")
            self._open.executemany("INSERT INTO karat VALUES (?, ?)", versions)
            self._open.execute(
                "CREATE TABLE results (key TEXT PRIMARY KEY, kind TEXT NOT NULL, content BLOB, hash BLOB)"
            )
            return bool(tables)

    def unusable(self, message: str) -> KaratError:
        """Return the error for a file that is not what it should be."""
        return NOT_A_STORE.error(message, file=str(self.path))

    def keys(self, kind: str) -> set[str]:
        """Return the known keys of one kind. Rows that are damaged are removed."""
        known, damaged = set(), []
        with self._writing():
            for key, content, digest in self._open.execute(
                "SELECT key, content, hash FROM results WHERE kind = ?", (kind,)
            ):
                if isinstance(content, bytes) and digest == _digest(key, kind, content):
                    known.add(key)
                else:
                    damaged.append((key,))
            self._open.executemany("DELETE FROM results WHERE key = ?", damaged)
        return known

    def put(self, kind: str, contents: Iterable[tuple[str, bytes]]) -> None:
        """Keep contents by their keys. Once this returns, they survive whatever happens to the process."""
        packed = ((key, zlib.compress(content)) for key, content in contents)
        rows = [(key, kind, content, _digest(key, kind, content)) for key, content in packed]
        with self._writing():
            self._open.executemany("INSERT OR IGNORE INTO results VALUES (?, ?, ?, ?)", rows)

    def get(self, key: str) -> bytes | None:
        """Return the content under a key, if it is known."""
        with self._refusing():
            row = self._open.execute("SELECT content FROM results WHERE key = ?", (key,)).fetchone()
            return None if row is None else zlib.decompress(row[0])

    def replace(self, table: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Fill a table with rows of the last run; all rows have the same keys."""
        with self._writing():
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
        self._open.close()


def _digest(key: str, kind: str, content: bytes) -> bytes:
    return hashlib.sha256(f"{key} {kind} ".encode(errors="surrogatepass") + content).digest()


class StoredFinding(Struct, frozen=True, omit_defaults=True):
    """A finding without the fields that only the run needs."""

    code: str
    severity: Severity
    message: str
    hint: str = ""
    file: str | None = None
    line: int | None = None
    origin: Origin | None = None

    @classmethod
    def of(cls, finding: Finding, place: str) -> "StoredFinding":
        """Store a finding with files relative to `place`, which is the package; those of gold have no folders."""
        file = None if finding.file == place else finding.file and finding.file.removeprefix(f"{place}/")
        if file and finding.origin == "gold":
            file = Path(file).name
        message = finding.message.replace(f"{place}/", "")
        return cls(finding.code, finding.severity, message, finding.hint, file or None, finding.line, finding.origin)

    def finding(self) -> Finding:
        """Return it as reports read it."""
        return Finding(self.code, self.severity, self.message, self.hint, self.file, self.line, None, self.origin)

    def concealed(self) -> "StoredFinding":
        """Leave out what it quotes from a submission: its message, and its place."""
        return self if self.origin == "gold" else replace(self, message=CONCEALED, file=None, line=None)


class StoredResult(Struct, frozen=True):
    """A result under one protocol, as the counts of its units."""

    conditions: str
    unit_count: int
    gold: Side
    system: Side
    kinds: tuple[str, ...]
    """Kinds of the system's mentions."""
    units: tuple[str, ...]
    columns: tuple[tuple[float, ...], ...]
    left_out: dict[str, dict[str, tuple[Scores, Scores | None]]]
    """The micro and macro scores of each measure without a part of the corpus."""
    part: str
    warnings: tuple[StoredFinding, ...]
    counts: tuple[tuple[Group, int], ...]
    """The number of findings of each group."""

    @classmethod
    def of(cls, result: Result, kinds: Sequence[str], place: str) -> "StoredResult":
        """Store a result, which must have rows."""
        rows = result.rows
        assert rows is not None, "the run was asked to keep rows"
        left_out = {
            part: {
                id_: (score.micro.values, None if score.macro is None else score.macro.values)
                for id_, score in scores.items()
            }
            for part, scores in rows.left_out.items()
        }
        return cls(
            result.conditions,
            result.unit_count,
            replace(result.gold, name=""),
            replace(result.system, name=""),
            tuple(sorted(kinds)),
            tuple(rows.units),
            tuple(tuple(column) for column in rows.columns),
            left_out,
            rows.part,
            tuple(StoredFinding.of(finding, place) for finding in result.warnings),
            tuple(result.warning_counts.items()),
        )

    def result(self, protocol: Protocol, gold: Facts, measures: tuple[str, ...], names: tuple[str, str]) -> Result:
        """Rebuild the result; `names` are those of gold and the system in reports."""
        plan = Plan(protocol, gold, Facts(kinds=self.kinds), Options(measures))
        finish = plan.score_function
        left_out = {
            part: {
                id_: Score(ScoreValues(micro), None if macro is None else ScoreValues(macro))
                for id_, (micro, macro) in scores.items()
            }
            for part, scores in self.left_out.items()
        }
        sums = [fsum(column) for column in self.columns]
        rows = UnitRows(self.units, [array("d", column) for column in self.columns], finish, left_out, self.part)
        headline, is_supported = plan.headline(plan.measures.score_function(sums))
        return Result(
            version=__version__,
            protocol=protocol.name,
            title=protocol.title,
            conditions=self.conditions,
            unit=protocol.unit,
            unit_count=self.unit_count,
            gold=replace(self.gold, name=names[0]),
            system=replace(self.system, name=names[1]),
            scores=finish(sums),
            by={},
            units={},
            warnings=[warning.finding() for warning in self.warnings],
            warning_counts=dict(self.counts),
            headline=headline,
            is_headline_supported=is_supported,
            rows=rows,
        )


class Check(Struct, frozen=True):
    """The findings on a submission."""

    accepted: bool
    documents: int
    mentions: int
    missing: tuple[str, ...] = ()
    """Ids of gold's documents that it does not have."""
    extra: tuple[str, ...] = ()
    """Ids of documents that gold does not have."""
    findings: tuple[StoredFinding, ...] = ()
    counts: dict[Severity, int] = {}

    @classmethod
    def refused(cls, problems: Sequence[Finding], place: str) -> "Check":
        """Return the check of a submission that was refused before its documents were read."""
        findings = Findings()
        for problem in problems:
            findings.add(problem)
        return cls(False, 0, 0, (), (), kept(findings, place), findings.by_severity())


def numbered(number: int) -> str:
    """Name a document that gold does not have, in place of its id."""
    return f"extra document {number}"


def kept(findings: Findings, place: str) -> tuple[StoredFinding, ...]:
    """Return the first findings of each code, the worst first."""
    of_code: dict[str, int] = {}
    first = []
    for finding in findings.kept:
        of_code[finding.code] = of_code.get(finding.code, 0) + 1
        if of_code[finding.code] <= LISTED:
            first.append(StoredFinding.of(finding, place))
    order = ("fatal", "fault", "note")
    return tuple(sorted(first, key=lambda finding: order.index(finding.severity)))


class Outcome(Struct, frozen=True):
    """The check of a submission, and its results, one per protocol, if it was accepted."""

    check: Check
    results: tuple[StoredResult, ...] = ()

    def encoded(self) -> bytes:
        return msgspec.json.encode(self)

    def concealed(self) -> "Outcome":
        """Leave out all text that comes from the submission itself."""
        check = replace(
            self.check,
            extra=tuple(numbered(number) for number, _ in enumerate(self.check.extra, 1)),
            findings=tuple(finding.concealed() for finding in self.check.findings),
        )
        results = tuple(
            replace(result, warnings=tuple(warning.concealed() for warning in result.warnings))
            for result in self.results
        )
        return Outcome(check, results)

    @classmethod
    def decoded(cls, content: bytes) -> "Outcome":
        """Read it from JSON."""
        return msgspec.json.decode(content, type=cls)
