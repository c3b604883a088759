"""What is kept of a submission: what was found in it, and, if it was scored, the counts of each unit.

Everything else that a report shows is computed from these: a score from the sums of counts, an interval from resamples.
"""

from array import array
from collections.abc import Callable, Sequence
from math import fsum

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from karat.corpus import Survey
from karat.counts import ScoreValues
from karat.engine.plan import Options, Plan
from karat.engine.scores import UnitTable
from karat.errors import Finding, Findings, Origin, Severity
from karat.protocols import Protocol
from karat.results import Result, Score, Side, UnitRows

Change = Callable[[str], str]
"""From a text about a submission to another one, for example without names."""


class StoredFinding(Struct, frozen=True, omit_defaults=True):
    """A finding without what only the run needs."""

    code: str
    severity: Severity
    message: str
    hint: str = ""
    file: str | None = None
    line: int | None = None
    origin: Origin | None = None

    @classmethod
    def of(cls, finding: Finding, place: str) -> "StoredFinding":
        """A finding with names of files relative to `place`, which is the package."""
        file = finding.file and relative(finding.file, place)
        message = finding.message.replace(f"{place}/", "")
        return cls(finding.code, finding.severity, message, finding.hint, file or None, finding.line, finding.origin)

    def finding(self) -> Finding:
        """As reports read it."""
        return Finding(self.code, self.severity, self.message, self.hint, self.file, self.line, None, self.origin)

    def changed(self, change: Change) -> "StoredFinding":
        """The finding with its text and its file changed."""
        return replace(self, message=change(self.message), file=self.file and change(self.file))


def relative(file: str, place: str) -> str:
    """The name of a file in a package; empty for the package itself."""
    return "" if file == place else file.removeprefix(f"{place}/")


class StoredScore(Struct, frozen=True):
    """The scores of a measure on a part of the corpus, without counts."""

    micro: dict[str, float | None]
    macro: dict[str, float | None] | None = None


class StoredResult(Struct, frozen=True):
    """A result under one protocol, as the counts of its units."""

    protocol: str
    signature: str
    unit_count: int
    gold: Side
    system: Side
    kinds: tuple[str, ...]
    """Kinds of the system's mentions."""
    units: tuple[str, ...]
    columns: tuple[tuple[float, ...], ...]
    left_out: dict[str, dict[str, StoredScore]]
    part: str
    warnings: tuple[StoredFinding, ...]
    counts: tuple[tuple[str, Origin | None, int], ...]
    """How many findings of each group there were."""

    @classmethod
    def of(cls, result: Result, kinds: Sequence[str], place: str) -> "StoredResult":
        """What is kept of a result, which must have rows."""
        rows = result.rows
        assert rows is not None, "the run was asked to keep rows"
        left_out = {
            part: {
                id_: StoredScore(score.micro.values, None if score.macro is None else score.macro.values)
                for id_, score in scores.items()
            }
            for part, scores in rows.left_out.items()
        }
        return cls(
            result.protocol,
            result.signature,
            result.unit_count,
            replace(result.gold, name=""),
            replace(result.system, name=""),
            tuple(sorted(kinds)),
            tuple(rows.units),
            tuple(tuple(column) for column in rows.columns),
            left_out,
            rows.part,
            tuple(StoredFinding.of(finding, place) for finding in result.warnings),
            tuple((code, origin, count) for (code, origin), count in result.warning_counts.items()),
        )

    def result(self, protocol: Protocol, gold: Survey, measures: tuple[str, ...], names: tuple[str, str]) -> Result:
        """The result as the run returned it; `names` are what gold and the system are called."""
        system = Survey()
        system.kinds = set(self.kinds)
        plan = Plan(protocol, gold, system, Options(measures))
        finish = UnitTable(plan.measures, ()).score_function(plan.selected)
        left_out = {
            part: {
                id_: Score(ScoreValues(one.micro), None if one.macro is None else ScoreValues(one.macro))
                for id_, one in scores.items()
            }
            for part, scores in self.left_out.items()
        }
        rows = UnitRows(self.units, [array("d", column) for column in self.columns], finish, left_out, self.part)
        return Result(
            version=self.signature.partition("|")[0].removeprefix("karat="),
            protocol=self.protocol,
            title=protocol.title,
            signature=self.signature,
            unit=protocol.unit,
            unit_count=self.unit_count,
            gold=replace(self.gold, name=names[0]),
            system=replace(self.system, name=names[1]),
            scores=finish([fsum(column) for column in rows.columns]),
            by={},
            units={},
            warnings=[warning.finding() for warning in self.warnings],
            warning_counts={(code, origin): count for code, origin, count in self.counts},
            headline=protocol.headline,
            rows=rows,
        )


class Check(Struct, frozen=True):
    """What the validation of a submission found."""

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
        """A submission that was refused before its documents were read."""
        findings = Findings()
        for problem in problems:
            findings.add(problem)
        return cls(False, 0, 0, (), (), kept(findings, place), findings.by_severity())


LISTED = 100
"""Findings of each code that are kept."""


def kept(findings: Findings, place: str) -> tuple[StoredFinding, ...]:
    """The first findings of each code, the worst first."""
    of_code: dict[str, int] = {}
    first = []
    for finding in findings.kept:
        of_code[finding.code] = of_code.get(finding.code, 0) + 1
        if of_code[finding.code] <= LISTED:
            first.append(StoredFinding.of(finding, place))
    order = ("fatal", "fault", "note")
    return tuple(sorted(first, key=lambda one: order.index(one.severity)))


class Outcome(Struct, frozen=True):
    """What became of a submission: its check, and its results, one per protocol, if it was accepted."""

    check: Check
    results: tuple[StoredResult, ...] = ()

    def encoded(self) -> bytes:
        """As JSON."""
        return msgspec.json.encode(self)

    def changed(self, change: Change) -> "Outcome":
        """The outcome with all text changed that comes from the submission itself."""
        check = replace(
            self.check,
            extra=tuple(map(change, self.check.extra)),
            findings=tuple(finding.changed(change) for finding in self.check.findings),
        )
        results = tuple(
            replace(result, warnings=tuple(warning.changed(change) for warning in result.warnings))
            for result in self.results
        )
        return Outcome(check, results)

    @classmethod
    def decoded(cls, content: bytes) -> "Outcome":
        """From JSON."""
        return msgspec.json.decode(content, type=cls)
