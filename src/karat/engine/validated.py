"""What validation has read and found."""

from typing import Any

from msgspec import Struct
from msgspec.structs import asdict

from karat import __version__
from karat.corpus import File
from karat.engine.against import Submission
from karat.errors import Finding, Findings

SEVERITIES = ("fatal", "fault", "note")
"""The worst first."""


class Tally(Struct):
    """How many documents (including those with fatal findings) and mentions were read."""

    documents: int = 0
    mentions: int = 0


class Validation:
    """What was read and what was found, file by file."""

    def __init__(self) -> None:
        self.files: dict[str, Tally] = {}
        self.total = Tally()
        self.findings = Findings()
        self.submissions: list[Submission] = []
        """One per path, if they were compared with gold."""
        self.sources: dict[str, File] = {}
        """The files by name, to show the lines that findings are about."""

    def count(self, file: str, *, documents: int = 0, mentions: int = 0) -> None:
        """Add to what was read of a file."""
        for tally in (self.files.setdefault(file, Tally()), self.total):
            tally.documents += documents
            tally.mentions += mentions

    def add(self, finding: Finding) -> None:
        """Add one finding; its file is listed even if nothing in it could be read."""
        self.count(finding.file or "")
        self.findings.add(finding)

    def merge(self, later: "Validation") -> None:
        """Add what was read and found after this."""
        for file, tally in later.files.items():
            self.count(file, documents=tally.documents, mentions=tally.mentions)
        self.findings.merge(later.findings)

    def by_file(self) -> dict[str, list[Finding]]:
        """The kept findings of every file, in the order of its lines."""
        by_file: dict[str, list[Finding]] = {file: [] for file in self.files}
        for finding in self.findings.kept:
            by_file[finding.file or ""].append(finding)
        return {file: sorted(listed, key=lambda finding: finding.line or 0) for file, listed in by_file.items()}

    def by_code(self) -> list[list[Finding]]:
        """The kept findings in groups of one code and side, the worst first, each in the order of files and lines."""
        groups: dict[tuple[str, str, str | None], list[Finding]] = {}
        for findings in self.by_file().values():
            for finding in findings:
                groups.setdefault((finding.severity, *finding.group), []).append(finding)
        return sorted(groups.values(), key=lambda group: SEVERITIES.index(group[0].severity))

    def line_of(self, finding: Finding) -> str | None:
        """The line of its file that a finding is about."""
        file = self.sources.get(finding.file or "")
        if file is None or finding.line is None:
            return None
        try:
            with file.open() as stream:
                for number, line in enumerate(stream, 1):
                    if number == finding.line:
                        return line.decode("utf-8", "replace").rstrip("\r\n")
        except OSError:
            pass
        return None

    @property
    def passed(self) -> bool:
        """Whether nothing worse than a note was found."""
        by_severity = self.findings.by_severity()
        return not by_severity["fatal"] and not by_severity["fault"]

    def to_dict(self) -> dict[str, Any]:
        """As in the JSON; `codes` counts all findings of each code, including those that were not kept."""
        content: dict[str, Any] = {
            "karat": __version__,
            "files": [
                {"file": file, **asdict(self.files[file]), "findings": [finding.to_dict() for finding in listed]}
                for file, listed in self.by_file().items()
            ],
            "summary": {
                **asdict(self.total),
                "findings": self.findings.by_severity(),
                "codes": dict(sorted(self.findings.by_code().items())),
            },
        }
        if self.submissions:
            content["submissions"] = [submission.to_dict() for submission in self.submissions]
        return content
