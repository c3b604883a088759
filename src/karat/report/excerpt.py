"""A line of a file with carets under what is wrong in it."""

import re

from karat.errors import Finding
from karat.report.layout import printable, width

ELLIPSIS = "..."
LEAD = 30
"""Characters shown before the carets if a line is too long."""


def excerpt(line: str, finding: Finding, columns: int) -> str:
    """Two lines: as much of a line as fits, and carets under the place of the finding."""
    begin, end = place(line, finding)
    first = max(0, begin - LEAD) if _columns(line[: columns + 1]) > columns else 0
    cells = [_shown(character) for character in line[first : first + columns]]
    room = columns - 2 * len(ELLIPSIS)
    while sum(map(width, cells)) > room:
        cells.pop()
    before, after = (ELLIPSIS * (first > 0), ELLIPSIS * (first + len(cells) < len(line)))
    indent = width(before + "".join(cells[: begin - first]))
    under = width("".join(cells[begin - first : end - first]))
    return f"{before}{''.join(cells)}{after}\n{' ' * indent}{'^' * max(under, 1)}"


def place(line: str, finding: Finding) -> tuple[int, int]:
    """Where in its line a finding is: what was found (after its item), else the item, else what the message quotes."""
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
    return "  " if character == "\t" else printable(character)
