"""Problems of the user's input, described in one place and reported in one way.

    KaratError            refused; exit 1
    ├── CombinedError     several inputs are refused, each for a reason of its own; exit 1
    └── UsageError        the command line alone shows it to be wrong; exit 2

A rule is declared beside the code that applies it. It makes findings: where, what was found, what to do. A fatal
finding is raised as an error; faults and notes are reported and counted, and scoring continues.
"""

import re
import reprlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple

Severity = Literal["fatal", "fault", "note"]

Origin = Literal["gold", "system"]
"""The side that a finding is about, where two are scored."""

Group = tuple[str, Severity, Origin | None]
"""Findings that are counted together: of one code, severity and side."""

Item = str | tuple[str, str] | tuple[str, str, str]
"""An annotation that a finding is about: the id of a mention or cluster, one of its regions (id, region), or a link
(kind, source, target)."""

Target = Item | int
"""Target of a finding: an annotation, or a token by its number."""


LONGEST = 6000
"""Characters of a message: more than a hundred usual names need."""


class Finding(NamedTuple):
    """One problem in one place."""

    code: str
    severity: Severity
    message: str
    hint: str = ""
    file: str | None = None
    line: int | None = None
    item: Target | None = None
    """Used to find the line; never shown."""
    origin: Origin | None = None
    """The side it is about, where two are compared."""
    found: str | None = None
    """The text in that line that is wrong, for reports that point at it; empty: the end of the line."""
    document: str | None = None
    """Used to find the file of a finding about the whole corpus, which names the first document with the problem."""

    @property
    def group(self) -> Group:
        """A code may have two severities: a cycle of links is fatal for some kinds of links, and a note for others."""
        return self.code, self.severity, self.origin

    @property
    def place(self) -> str:
        """File and line, as the beginning of a message; empty if there is no file."""
        if self.file is None:
            return ""
        file = visible(self.file) if self.file.strip() else repr(self.file)  # else nobody would see it
        return f"{file}: " if self.line is None else f"{file}, line {self.line}: "

    def __str__(self) -> str:
        return f"{self.place}{visible(self.message)} [{self.code}]"

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON."""
        return {
            "code": self.code,
            "severity": self.severity,
            "file": self.file,
            "line": self.line,
            "message": self.message,
            "hint": self.hint,
        }


Report = Callable[[Finding], None]
"""Receives the findings of readers and checks that are not fatal."""


class Rule(NamedTuple):
    """A kind of problem: its code, how bad it is, and what a person can do about it."""

    code: str
    severity: Severity
    hint: str

    def at(
        self,
        message: str,
        *,
        file: str | None = None,
        line: int | None = None,
        item: Target | None = None,
        origin: Origin | None = None,
        found: str | None = None,
        document: str | None = None,
    ) -> Finding:
        """This problem in a place; code that knows no file names the item, the side and, if need be, the document."""
        if len(message) > LONGEST:  # a name may have megabytes, and be in thousands of messages
            message = f"{message[: LONGEST // 2]} ... {message[-LONGEST // 2 :]}"
        return Finding(self.code, self.severity, message, self.hint, file, line, item, origin, found, document)

    def error(
        self, message: str, *, file: str | None = None, line: int | None = None, found: str | None = None
    ) -> "KaratError":
        """This problem as an error to raise."""
        return KaratError(self.at(message, file=file, line=line, found=found))


def escalate(report: Report, faults: Collection[str], refusals: Collection[str] = ()) -> Report:
    """A report that turns notes with these codes into faults, and raises findings whose codes are in `refusals`."""

    def report_escalated(finding: Finding) -> None:
        if finding.code in refusals:
            raise KaratError(finding._replace(severity="fatal"))
        is_fault = finding.code in faults and finding.severity == "note"
        report(finding._replace(severity="fault") if is_fault else finding)

    return report_escalated if faults or refusals else report


def without(report: Report, codes: Collection[str]) -> Report:
    """A report that ignores findings with these codes."""

    def report_others(finding: Finding) -> None:
        if finding.code not in codes:
            report(finding)

    return report_others if codes else report


def refusing(report: Report) -> Report:
    """A report that raises fatal findings, for callers that cannot continue after one."""

    def report_or_raise(finding: Finding) -> None:
        if finding.severity == "fatal":
            raise KaratError(finding)
        report(finding)

    return report_or_raise


def of_side(report: Report, origin: Origin) -> Report:
    """A report that marks findings as gold's or the system's."""

    def report_side(finding: Finding) -> None:
        report(finding if finding.origin is not None else finding._replace(origin=origin))

    return report_side


class KaratError(Exception):
    """Something the user gave cannot be used; the finding says where, what, and what to do."""

    exit_code = 1

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding)
        self.finding = finding

    def __str__(self) -> str:
        return f"{self.finding}\n  {self.finding.hint}" if self.finding.hint else str(self.finding)


class CombinedError(KaratError):
    """Several inputs that cannot be used, so that all of them can be corrected at once."""

    def __init__(self, finding: Finding, errors: Sequence[tuple[str, KaratError]]) -> None:
        super().__init__(finding)
        self.errors = errors
        """The name of each input, and its error."""

    def __str__(self) -> str:
        lines = [line for name, error in self.errors for line in f"{visible(name)}: {error}".split("\n")]
        return "\n  ".join([super().__str__(), *lines])

    def __reduce__(self) -> tuple[type["CombinedError"], tuple[Finding, Sequence[tuple[str, KaratError]]]]:
        return CombinedError, (self.finding, self.errors)


@contextmanager
def placed(where: Callable[[], tuple[str, int | None]]) -> Iterator[None]:
    """Give errors of code that knows no file, such as a writer of a format, the file and line that `where` returns."""
    try:
        yield
    except KaratError as error:
        if error.finding.file is not None or isinstance(error, UsageError):
            raise
        file, line = where()
        raise KaratError(error.finding._replace(file=file, line=line)) from None


class UsageError(KaratError):
    """An unknown name, or a value of the wrong kind, on the command line or in an argument."""

    exit_code = 2

    def __init__(self, code: str, message: str, hint: str = "") -> None:
        super().__init__(Finding(code, "fatal", message, hint))

    def __reduce__(self) -> tuple[type["UsageError"], tuple[str, str, str]]:
        return UsageError, (self.finding.code, self.finding.message, self.finding.hint)


class PluginWarning(UserWarning):
    """A plug-in of another package cannot be used; everything else works without it."""


def ignore(finding: Finding) -> None:
    """Drop a finding that has been reported before, or that is of no interest."""


class Findings:
    """Collects findings: counts all and keeps the first of each group, so that memory stays flat."""

    KEPT = 1000

    def __init__(self) -> None:
        self.kept: list[Finding] = []
        self.counts: dict[Group, int] = {}

    def add(self, finding: Finding) -> None:
        """Count one, and keep it if there are not too many in its group."""
        seen = self.counts.get(finding.group, 0)
        self.counts[finding.group] = seen + 1
        if seen < self.KEPT:
            self.kept.append(finding)

    def copy(self) -> "Findings":
        """Return the same findings, to which others can be added."""
        copy = Findings()
        copy.kept, copy.counts = [*self.kept], {**self.counts}
        return copy

    def merge(self, later: "Findings") -> None:
        """Add what was found after these findings, as if it had been added one by one."""
        room = {group: self.KEPT - self.counts.get(group, 0) for group in later.counts}
        for finding in later.kept:
            room[finding.group] -= 1
            if room[finding.group] >= 0:
                self.kept.append(finding)
        for group, count in later.counts.items():
            self.counts[group] = self.counts.get(group, 0) + count

    def listed(self) -> list[Finding]:
        """The kept findings, and one more for each group with findings that were not kept."""
        more = [
            Finding(code, severity, _more(count - self.KEPT), origin=origin)
            for (code, severity, origin), count in self.counts.items()
            if count > self.KEPT
        ]
        return [*self.kept, *more]

    def by_severity(self) -> dict[Severity, int]:
        """Return the number of findings of each severity, kept or not."""
        totals: dict[Severity, int] = {"fatal": 0, "fault": 0, "note": 0}
        for (_, severity, _), count in self.counts.items():
            totals[severity] += count
        return totals

    def by_code(self) -> dict[str, int]:
        """Return the number of findings of each code, kept or not."""
        totals: dict[str, int] = {}
        for (code, _, _), count in self.counts.items():
            totals[code] = totals.get(code, 0) + count
        return totals


def _more(count: int) -> str:
    return f"and {count:,} more like these"


_INVISIBLE = (
    "\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\xad\u034f\u061c\u070f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u2800\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffc\ufffe\uffff"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Control and bidirectional characters, and others that show nothing (Unicode: default ignorable) or break a line."""


def visible(text: str, *, lines: bool = False) -> str:
    """Text with each character that a reader cannot see escaped as in JSON; `lines`: but for line ends and tabs."""
    if text.isascii() and (text.replace("\n", "").replace("\t", "") if lines else text).isprintable():
        return text
    return re.sub(f"[{_INVISIBLE}]" if lines else f"[{_INVISIBLE}\t\n]", _escaped, text)


def _escaped(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def quoted(value: object, most: int = 60) -> str:
    """Text from a file, or a value of a program, in a message: escaped, and no longer than a person reads."""
    if not isinstance(value, str):
        return " ".join(reprlib.repr(value).split())
    return repr(value) if len(value) <= most else f"{value[:most]!r}... ({len(value):,} characters)"


LISTED = 100
"""Names that a message lists; a corpus may have thousands."""


def closest(word: str, known: Sequence[str], *, cutoff: float = 0.5) -> str | None:
    """The known word nearest to another one; None if none is near."""
    from difflib import get_close_matches

    lowered = {name.lower(): name for name in reversed(known)}
    close = get_close_matches(word.lower(), lowered, n=1, cutoff=cutoff)
    return lowered[close[0]] if close else None


def install_hint(extra: str) -> str:
    """Say how to install an extra: from the index that karat came from, or from its checkout."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        origin = distribution("karat").read_text("direct_url.json") or ""
    except PackageNotFoundError:
        origin = ""
    if '"dir_info"' in origin:
        return f"Install it from your checkout of karat: pip install '.[{extra}]'"
    return f"Install it: pip install 'karat[{extra}]'"


def nearest(word: str, known: Iterable[str]) -> str:
    """A sentence that names the known word nearest to a misspelt one, or lists them if none is near."""
    names = list(known)
    if (close := closest(word, names)) is not None:
        return f"Did you mean {close}?"
    if len(names) > LISTED:
        return f"Known: {', '.join(names[:LISTED])} and {len(names) - LISTED:,} more."
    return f"Known: {', '.join(names)}." if names else "There is none."
