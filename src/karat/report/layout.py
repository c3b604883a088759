"""Layout of text: tables, paragraphs and colours, fitted to a terminal if there is one."""

import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, takewhile
from typing import Literal, NamedTuple

from karat.problems import Finding, Group, visible

TONES: Mapping[str, str] = {
    "bold": "1",
    "headline": "1;36",
    "green": "32",
    "yellow": "33",
    "red": "31",
    "magenta": "35",
    "cyan": "36",
}
SEVERITY_TONES: Mapping[str, str] = {"fatal": "red", "fault": "yellow", "note": "cyan"}
NARROWEST = 12
"""A column of text is never cut to less than this."""
GAP = "  "


class Style(NamedTuple):
    """The width and the colours of the place where text is shown; without a width, lines are not folded."""

    width: int | None = None
    colour: bool = False
    trusted: Callable[[str], str] = str
    """Marks control sequences of karat's own, for a stream that makes all others visible."""

    def paint(self, text: str, tone: str) -> str:
        """Text in a colour, or bold."""
        if not self.colour or not text:
            return text
        return self.trusted(f"\033[{TONES[tone]}m") + text + self.trusted("\033[0m")


PLAIN = Style()

Sort = Literal["loss", "name"]
"""The order of the rows of a breakdown: what lost most first, or by name."""


class View(NamedTuple):
    """Choices of a user about a report, whatever its format."""

    digits: int = 2
    """Decimal digits of percentages."""
    sort: Sort = "loss"
    summary: bool = False
    """Only the main scores."""
    style: Style = PLAIN
    """Where text is shown."""
    wide: bool = False
    """LaTeX tables span both columns of a page."""


DEFAULT = View()


def counted(number: int, noun: str) -> str:
    """`1 document`, `2 documents`."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    left: int = 1,
    style: Style = PLAIN,
    emphasised: Collection[int] = (),
) -> str:
    """Rows in columns: the first `left` columns aligned to the left, the others to the right.

    If a table is wider than the terminal, long cells on the left are cut, and columns on the right that still do not
    fit form further tables below. `emphasised` are indexes of rows.
    """
    lines = [[visible(cell) for cell in row] for row in (header, *rows) if row]
    widths = [max(map(width, column)) for column in zip(*lines, strict=True)]
    if style.width is not None and _total(widths) > style.width:
        room = style.width - _total(widths[left:]) - len(GAP) * (len(widths) > left)
        widths[:left] = _cut(widths[:left], room if room >= NARROWEST * left else style.width // 2)
    headline = {index + bool(header) for index in emphasised}
    blocks = []
    for columns in _blocks(widths, left, style.width):
        shown = []
        for index, line in enumerate(lines):
            cells = [_aligned(line[column], widths[column], left=column < left) for column in columns]
            text = GAP.join(cells).rstrip()
            tone = "bold" if header and index == 0 else "headline" if index in headline else None
            shown.append(text if tone is None else style.paint(text, tone))
        blocks.append("\n".join(shown))
    return "\n\n".join(blocks)


def table_width(header: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    """Return the width of a table of which nothing is cut."""
    return _total([max(map(width, map(visible, column))) for column in zip(header, *rows, strict=True)])


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + len(GAP) * max(len(widths) - 1, 0)


def _cut(widths: Sequence[int], most: int) -> list[int]:
    """Widths that fit: the widest column is cut until they do."""
    cut = list(widths)
    while _total(cut) > most and max(cut) > NARROWEST:
        cut[cut.index(max(cut))] -= 1
    return cut


def _blocks(widths: Sequence[int], left: int, most: int | None) -> Iterator[list[int]]:
    """The columns of each table: those on the left in every one, the others as far as they fit."""
    first = list(range(min(left, len(widths))))
    columns = list(first)
    for column in range(left, len(widths)):
        if most is not None and len(columns) > left and _total([widths[index] for index in (*columns, column)]) > most:
            yield columns
            columns = list(first)
        columns.append(column)
    yield columns


def _aligned(cell: str, wide: int, *, left: bool) -> str:
    cell = shortened(cell, wide)
    padding = " " * (wide - width(cell))
    return cell + padding if left else padding + cell


def shortened(cell: str, most: int) -> str:
    """Cut a cell to a width; an ellipsis stands for the rest."""
    if width(cell) <= most:
        return cell
    kept = takewhile(lambda wide: wide < most, accumulate(map(width, cell)))
    return cell[: len(list(kept))] + "…"


def paragraph(text: str, style: Style, *, indent: str = "", first: str = "") -> str:
    """Text in lines that fit the terminal: the first line after `first`, the others indented."""
    if style.width is None:
        return first + text
    lines, line, used = [], first, width(first)
    for word in text.split(" "):
        filled = line not in (first, indent)
        wide = width(word)
        if filled and used + 1 + wide > style.width:
            lines.append(line)
            line, used, filled = indent, width(indent), False
        line += f" {word}" if filled else word
        used += wide + filled
    return "\n".join([*lines, line])


def width(cell: str) -> int:
    """The width of a cell on a terminal: wide characters take two columns, combining marks none."""
    if cell.isascii():
        return len(cell)
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in cell)


def finding_lines(
    findings: Iterable[Finding],
    counts: Mapping[Group, int],
    listed: Iterable[Group] = (),
) -> list[str]:
    """Return one line per code and side: its first finding, the number of others, and the places of some.

    The side is named if both have it, here or in the groups of findings that are listed elsewhere beside these.
    """
    sides = Counter(code for code, _ in {(code, origin) for code, _, origin in [*counts, *listed]})
    groups: dict[Group, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(finding.group, []).append(finding)
    lines = []
    for group, (first, *others) in groups.items():
        more = counts[group] - 1
        side = f" ({first.origin})" if first.origin and sides[first.code] > 1 else ""
        places = "; ".join(places_of(others[: PLACES - 1], first.file))
        rest = f" (and {more:,} more{f': {places}' if places else ''}{', ...' if places and more >= PLACES else ''})"
        lines.append(f"{first.severity}{side}: {first}{rest if more else ''}")
    return lines


PLACES = 5
"""Findings of one code whose places are shown."""


def places_of(findings: Iterable[Finding], file: str | None) -> Iterator[str]:
    """The lines of findings; files other than this one are named."""
    by_file: dict[str | None, dict[int, None]] = {}
    for finding in findings:
        if finding.line is not None:
            by_file.setdefault(finding.file, {})[finding.line] = None
    for name, found in by_file.items():
        named = f"{visible(name)}, " if name is not None and name != file else ""
        yield f"{named}line{'s' * (len(found) > 1)} {', '.join(map(str, found))}"


def shared_findings(lines_by_name: Mapping[str, Iterable[str]]) -> list[str]:
    """Return each line of several systems or protocols once; a line that only some have names them."""
    having: dict[str, list[str]] = {}
    for name, lines in lines_by_name.items():
        for line in dict.fromkeys(lines):
            having.setdefault(line, []).append(name)
    shared = []
    for line, names in having.items():
        severity, _, rest = line.partition(": ")
        shared.append(line if len(names) == len(lines_by_name) else f"{severity}: {', '.join(names)}: {rest}")
    return shared


def paint_finding(line: str, style: Style) -> str:
    """A line about a finding, fitted to the terminal, its severity in colour."""
    severity, separator, rest = line.partition(":")
    wrapped = paragraph(rest.strip(), style, first=f"{severity}{separator} ", indent="  ")
    return style.paint(severity, SEVERITY_TONES.get(severity, "bold")) + wrapped[len(severity) :]
