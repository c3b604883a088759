"""What a validation found: a line a finding, then what to do, then how much there is of everything."""

from collections.abc import Iterator

import msgspec

from karat.engine.validation import Validation
from karat.report.text import table


def text(validation: Validation) -> str:
    """For people: findings by file and line, hints once a code, a summary."""
    findings = [finding for listed in validation.by_file().values() for finding in listed]
    lines = [f"{finding.place}{finding.severity}: {finding.message} [{finding.code}]" for finding in findings]
    hints = {finding.code: finding.hint for finding in findings if finding.hint}
    blocks = [
        "\n".join([*lines, *_unlisted(validation)]),
        table([], [[code, hint] for code, hint in sorted(hints.items())], left=2) if hints else "",
        summary(validation),
    ]
    return "\n\n".join(filter(None, blocks)) + "\n"


def _unlisted(validation: Validation) -> Iterator[str]:
    """Findings that were counted and not kept."""
    kept = validation.findings.KEPT
    for code, count in validation.findings.counts.items():
        if count > kept:
            yield f"... and {count - kept:,} more [{code}]"


def summary(validation: Validation) -> str:
    """What was read, and how many findings of each severity there are."""
    read = f"{_number(validation.total.documents, 'document')}, {_number(validation.total.mentions, 'mention')}"
    found = validation.findings.by_severity()
    if not any(found.values()):
        return f"{read}: nothing found"
    return f"{read}: {found['fatal']:,} fatal, {_number(found['fault'], 'fault')}, {_number(found['note'], 'note')}"


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'s' * (count != 1)}"


def json(validation: Validation) -> str:
    """For programs."""
    return msgspec.json.format(msgspec.json.encode(validation.to_dict()), indent=2).decode() + "\n"
