"""The report of a validation: one line per finding, then hints, then a summary."""

from collections.abc import Iterator

import msgspec

from karat.engine.validation import Validation
from karat.errors import visible
from karat.report.text import table


def text(validation: Validation) -> str:
    """Findings by file and line, one hint per code, and a summary."""
    findings = [finding for listed in validation.by_file().values() for finding in listed]
    lines = [f"{finding.place}{finding.severity}: {visible(finding.message)} [{finding.code}]" for finding in findings]
    hints = {finding.code: finding.hint for finding in findings if finding.hint}
    blocks = [
        "\n".join([*lines, *_unlisted(validation)]),
        table([], [[code, hint] for code, hint in sorted(hints.items())], left=2) if hints else "",
        summary(validation),
    ]
    return "\n\n".join(filter(None, blocks)) + "\n"


def _unlisted(validation: Validation) -> Iterator[str]:
    """How many findings were counted but not kept, by code."""
    kept = validation.findings.KEPT
    for code, count in validation.findings.counts.items():
        if count > kept:
            yield f"... and {count - kept:,} more [{code}]"


def summary(validation: Validation) -> str:
    """How much was read, and how many findings of each severity there are."""
    read = f"{_number(validation.total.documents, 'document')}, {_number(validation.total.mentions, 'mention')}"
    number = validation.findings.by_severity()
    if not any(number.values()):
        return f"{read}: no problems found"
    return f"{read}: {number['fatal']:,} fatal, {_number(number['fault'], 'fault')}, {_number(number['note'], 'note')}"


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"


def json(validation: Validation) -> str:
    """The same as JSON."""
    return msgspec.json.format(msgspec.json.encode(validation.to_dict()), indent=2).decode() + "\n"
