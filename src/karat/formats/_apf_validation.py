"""Validation of an APF document, element by element: each finding has the line of the element it is about."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

from karat.errors import KaratError, Report, Rule, quoted
from karat.formats._apf_dtd import ELEMENTS, Element, dtd
from karat.formats._apf_rules import BLANKS, INVALID, ORDER, SHAPE, UNKNOWN, VALUE
from karat.model import Value

MOST = 500
"""Children of an element that lxml validates; with many invalid ones it takes the square of their number."""


class Validation:
    """Reads children and attributes as the DTD allows, and reports the rest."""

    def __init__(self, data: bytes, line: int, file: str, report: Report) -> None:
        self._data = data
        self._first_line = line
        self._report = report
        self.file = file
        self.count = 0
        """How many findings were reported."""
        self._most_children = 0

    @cached_property
    def _lines(self) -> list[bytes]:
        return self._data.split(b"\n")

    def report(self, rule: Rule, element: Any, message: str) -> None:
        """Report a finding about an element."""
        self.report_at(rule, self.line(element), message)

    def report_at(self, rule: Rule, line: int | None, message: str) -> None:
        """Report a finding in a line of the file."""
        self.count += 1
        self._report(rule.at(message, file=self.file, line=line))

    def error(self, rule: Rule, element: Any, message: str) -> KaratError:
        """A fatal finding about an element, to be raised."""
        return rule.error(message, file=self.file, line=self.line(element))

    def malformed(self, element: Any, message: str) -> KaratError:
        """The error for an element that cannot be read, since it is not as the DTD has it."""
        return self.error(SHAPE, element, message)

    def children(self, element: Any, shape: Element) -> Iterator[Any]:
        """The children that the DTD allows there; anything else is reported and ignored."""
        last, ranks = 0, shape.children
        count = len(element)
        if count > self._most_children:
            self._most_children = count
        if (text := element.text) and not text.isspace():
            self._report_text(element, text, int(element.sourceline))
        for child in element:
            rank = ranks.get(child.tag)
            if rank is None:
                self.report(UNKNOWN, child, f"<{child.tag}> is not allowed in <{element.tag}>")
            else:
                if rank < last:
                    self.report(ORDER, child, f"<{child.tag}> comes too late in <{element.tag}>")
                last = rank
                yield child
            if (text := child.tail) and not text.isspace():
                self._report_text(element, text, last_line(child))

    def _report_text(self, element: Any, text: str, line: int) -> None:
        """Report text where only elements are allowed; it starts in that line."""
        line += self._first_line - 1 + text[: len(text) - len(text.lstrip())].count("\n")
        self.report_at(UNKNOWN, line, f"<{element.tag}> contains text: {quoted(text.strip())}")

    def attributes(self, element: Any, shape: Element) -> dict[str, Value]:
        """Attributes other than the id, by name in lower case; values are checked against closed lists."""
        found: dict[str, Value] = {}
        fields = shape.fields
        for name, value in element.items():
            if name in fields:
                field, values = fields[name]
                found[field] = value if not values or value in values else self._unlisted(element, name, value, values)
            elif name not in shape.attributes:
                self.report(UNKNOWN, element, f"<{element.tag}> has an unknown attribute {quoted(name)}")
        if not found.keys() >= shape.required_fields:
            lacking = min(name for name in shape.required if name in fields and fields[name][0] not in found)
            raise self.malformed(element, f"<{element.tag}> has no {lacking}")
        return found

    def _unlisted(self, element: Any, name: str, value: str, values: tuple[str, ...]) -> str:
        """The value to read in place of one that is not in its closed list."""
        bare = value.strip()
        if bare in values:
            self.report(BLANKS, element, f"blanks around {quoted(bare)} in {name} of <{element.tag}>")
            return bare
        message = f"<{element.tag}> has the {name} {quoted(value)}, which is none of {', '.join(values)}"
        self.report(VALUE, element, message)
        return value

    def validate(self, root: Any, is_reported: set[Any]) -> None:
        """Ask the DTD about elements for which nothing else was reported.

        That finds what reading item by item does not, such as an argument with two extents.
        """
        # If nothing was reported, all children were read.
        is_small = _is_small(root) and all(map(_is_small, root)) if self.count else self._most_children < MOST
        if is_small and dtd().validate(root):
            return
        for element in root.iterchildren(*ELEMENTS["document"].children):
            if element not in is_reported and _is_small(element) and not dtd().validate(element):
                error = next(iter(dtd().error_log))
                message = f"<{element.tag}> is not valid by the DTD: {error.message}"
                self.report_at(INVALID, self._first_line + error.line - 1, message)

    def line(self, element: Any) -> int:
        """The line of the file in which an element starts."""
        return self._first_line + start_line(element, self._lines) - 1


def start_line(element: Any, lines: Sequence[bytes]) -> int:
    """The line in which the tag of an element starts; lxml only knows where that tag ends."""
    line = int(element.sourceline or 1)
    tag = f"<{element.tag}".encode()
    while line > 1 and tag not in lines[line - 1]:
        line -= 1
    return line


def last_line(element: Any) -> int:
    """The line in which an element ends, counted as lxml counts."""
    line = int(element.sourceline)
    if not len(element):
        return line + (element.text or "").count("\n")
    return last_line(element[-1]) + (element[-1].tail or "").count("\n")


def _is_small(element: Any) -> bool:
    return len(element) < MOST and max(map(len, element), default=0) < MOST
