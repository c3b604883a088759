"""The report of a validation: findings grouped by code, the first of each with its line, and a summary."""

import re
import textwrap
from collections.abc import Sequence

from karat.problems import Finding, visible
from karat.report.layout import PLAIN, SEVERITY_TONES, Style, counted, places_of, width
from karat.report.outputs import indented
from karat.run.submissions import LISTED, Submission
from karat.run.validation import Validation

WIDTH = 100
"""Columns of hints and excerpts, where no terminal says how many there are."""
MESSAGES = 5
"""Findings of one code that are shown; the others are only counted."""


COMPARED = ("units", "offsets", "texts", "tokens")
"""Checks against gold, in the order of the report."""


def text(validation: Validation, *, style: Style = PLAIN) -> str:
    """Findings by code, and a summary; on a terminal, messages are wrapped and severities have their colours."""
    blocks = [_group(validation, group, style) for group in validation.by_code()]
    return "\n\n".join([*blocks, "\n".join([summary(validation), *map(verdict, validation.submissions)])]) + "\n"


def _group(validation: Validation, group: Sequence[Finding], style: Style) -> str:
    """The first finding of a code with its line and what to do, then the others."""
    first, columns = group[0], style.width or WIDTH
    side = " in gold" if first.origin == "gold" else ""
    message = _wrapped(f"{first.place}{first.severity}{side}: {first.message} [{first.code}]", style.width, "  ")
    lines = [_painted(message, first.severity, style)]
    line = validation.line_of(first)
    if line is not None and line.strip():
        lines.append(textwrap.indent(_excerpt(line, first, columns - 4), "    "))
    if first.hint:
        lines.append(textwrap.fill(first.hint, columns, initial_indent="  ", subsequent_indent="  "))
    others = validation.findings.counts[first.group] - 1
    if others and all(finding.message == first.message and finding.line is not None for finding in group):
        places = "; ".join(places_of(group[1:MESSAGES], first.file))
        lines.append(f"  {others:,} more with this message: {places}{', ...' if others >= MESSAGES else ''}")
    elif others:
        lines.append(f"  {others:,} more:" if others < MESSAGES else f"  {others:,} more, the first of them:")
        messages = [f"    {finding.place}{finding.message}" for finding in group[1:MESSAGES]]
        lines += [_wrapped(message, style.width, "      ") for message in messages]
    return "\n".join(lines)


def _painted(message: str, severity: str, style: Style) -> str:
    """A message that is already wrapped, since colours have no width, with its severity in colour."""
    word = re.compile(rf"(?<!\S){severity}(?=:|\s+in\s+gold:)")
    return word.sub(style.paint(severity, SEVERITY_TONES[severity]), message, count=1)


def _wrapped(message: str, columns: int | None, indent: str) -> str:
    """A message as one line, or as several on a terminal that is narrower."""
    if columns is None:
        return message
    return textwrap.fill(message, columns, subsequent_indent=indent, break_on_hyphens=False)


def summary(validation: Validation) -> str:
    """Documents and mentions read, and findings of each severity."""
    read = f"{counted(validation.total.documents, 'document')}, {counted(validation.total.mentions, 'mention')}"
    number = validation.findings.by_severity()
    if not any(number.values()):
        return f"{read}: no problems found"
    return f"{read}: {number['fatal']:,} fatal, {counted(number['fault'], 'fault')}, {counted(number['note'], 'note')}"


def verdict(submission: Submission) -> str:
    """Say that a submission can be sent, or what is missing."""
    gold = submission.gold
    if submission.ready:
        number = len(gold.documents)
        documents = f"{'all ' if number > 1 else ''}{counted(number, 'document')}"
        checked = ", ".join(name for name in COMPARED if name in submission.compared)
        notes = submission.findings["note"]
        seen = f"; {counted(notes, 'note')} above" if notes else ""
        return f"{submission.path}: ready to submit ({documents} of {gold.corpus.name}; checked: {checked}{seen})"
    reasons = []
    if fatal := gold.findings["fatal"]:
        reasons.append(f"{gold.corpus.name} has {counted(fatal, 'fatal finding')} and cannot be compared as a whole")
    if missing := submission.missing:
        more = f" and {len(missing) - LISTED:,} more" if len(missing) > LISTED else ""
        listed = f"{', '.join(missing[:LISTED])}{more}"
        share = f"{len(missing):,} of {counted(len(gold.documents), 'document')}"
        reasons.append(f"{share} {'is' if len(missing) == 1 else 'are'} missing: {listed}")
    if fatal := submission.findings["fatal"]:
        reasons.append(counted(fatal, "fatal finding"))
    if faults := submission.findings["fault"] - len(missing):
        reasons.append(f"{counted(faults, 'fault')} to correct")
    return f"{submission.path}: not ready to submit: {'; '.join(reasons)}"


def json(validation: Validation) -> str:
    return indented(validation.to_dict())


# A line of a file with carets under what is wrong in it

ELLIPSIS = "..."
LEAD = 30
"""Characters shown before the carets if a line is too long."""


def _excerpt(line: str, finding: Finding, columns: int) -> str:
    """Two lines: as much of a line as fits, and carets under the place of the finding."""
    begin, end = _place(line, finding)
    first = max(0, begin - LEAD) if _columns(line[: columns + 1]) > columns else 0
    cells = [_shown(character) for character in line[first : first + columns]]
    room = columns - 2 * len(ELLIPSIS)
    while sum(map(width, cells)) > room:
        cells.pop()
    before, after = (ELLIPSIS * (first > 0), ELLIPSIS * (first + len(cells) < len(line)))
    indent = width(before + "".join(cells[: begin - first]))
    under = width("".join(cells[begin - first : end - first]))
    return f"{before}{''.join(cells)}{after}\n{' ' * indent}{'^' * max(under, 1)}"


def _place(line: str, finding: Finding) -> tuple[int, int]:
    """Find the columns of a finding in its line: what was found (after its item), else the item, else a quotation."""
    if finding.found == "":
        return len(line), len(line)
    item = finding.item[-1] if isinstance(finding.item, tuple) else finding.item
    at_item = _position(line, item, 0) if isinstance(item, str) and item else None
    if finding.found:
        for start in ([] if at_item is None else [at_item[1]]) + [0]:
            at_found = _position(line, finding.found, start)
            if at_found is not None:
                return at_found
    if at_item is not None:
        return at_item
    # Messages quote what was found. In columns, annotations stand last: numbers before them may look the same.
    for quotation in re.findall(r"'([^']+)'", finding.message):
        if (at_quotation := _last_position(line, quotation)) is not None:
            return at_quotation
    start = len(line) - len(line.lstrip())
    return start, start


def _position(line: str, text: str, start: int) -> tuple[int, int] | None:
    """The position of a text, as a whole word if possible."""
    alone = _alone(text).search(line, start)
    begin = alone.start() if alone else line.find(text, start)
    return None if begin < 0 else (begin, begin + len(text))


def _last_position(line: str, text: str) -> tuple[int, int] | None:
    begin = max((alone.start() for alone in _alone(text).finditer(line)), default=line.rfind(text))
    return None if begin < 0 else (begin, begin + len(text))


def _alone(text: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(text)}(?!\w)")


def _columns(text: str) -> int:
    return sum(width(_shown(character)) for character in text)


def _shown(character: str) -> str:
    return "  " if character == "\t" else visible(character)
