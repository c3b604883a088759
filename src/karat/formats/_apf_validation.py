"""Validation of an APF document by its DTD: each finding has the line of the element it is about.

lxml says whether a document is valid, which nearly all are. Only in one that is not, elements are examined one by one,
to report each problem where it is. The reader then ignores what the DTD does not allow.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

from karat.errors import KaratError, Report, Rule, quoted
from karat.formats._apf_dtd import ELEMENTS, REGIONS, Shape, dtd
from karat.formats._apf_rules import BLANKS, INVALID, ORDER, SHAPE, UNKNOWN, VALUE

MOST = 10_000
"""Tags that lxml validates at once: with n invalid children of an element it takes time in n², here 0.2 seconds."""
SHORTEST = 4
"""Bytes of a tag, at least."""
_LINE_END = re.compile(rb"\n(?<!>\n)")
"""The end of a line that does not end with a tag."""


class Validation:
    """Reports what is wrong with a document, and where."""

    def __init__(self, root: Any, data: bytes, line: int, file: str, report: Report) -> None:
        self._root = root
        self._data = data
        self._first_line = line
        self._report = report
        self.file = file
        self._is_valid = False
        self._reported: set[Any] = set()
        """Elements in which something was reported."""

    @cached_property
    def _lines(self) -> list[bytes]:
        return self._data.split(b"\n")

    def report(self, rule: Rule, element: Any, message: str) -> None:
        """Report a finding about an element."""
        self._report_in(element, rule, self.line(element), message)

    def _report_in(self, element: Any, rule: Rule, line: int, message: str) -> None:
        self._reported |= {element, *element.iterancestors()}
        self.report_at(rule, line, message)

    def report_at(self, rule: Rule, line: int | None, message: str) -> None:
        """Report a finding in a line of the file."""
        self._report(rule.at(message, file=self.file, line=line))

    def error(self, rule: Rule, element: Any, message: str) -> KaratError:
        """A fatal finding about an element, to be raised."""
        return rule.error(message, file=self.file, line=self.line(element))

    def malformed(self, element: Any, message: str) -> KaratError:
        """The error for an element that cannot be read, since it is not as the DTD has it."""
        return self.error(SHAPE, element, message)

    def line(self, element: Any) -> int:
        """The line of the file in which an element starts."""
        return self._first_line + start_line(element, self._lines) - 1

    def lines(self, elements: Iterable[Any]) -> list[int]:
        """The lines of the file in which elements start."""
        if self._has_long_tags:
            return [self.line(element) for element in elements]
        before = self._first_line - 1
        return [before + element.sourceline for element in elements]

    @cached_property
    def _has_long_tags(self) -> bool:
        """Whether a tag has several lines; otherwise, where it ends is where it starts."""
        ends = [end.start() for end in _LINE_END.finditer(self._data)]
        return any(self._data.rfind(b"<", 0, end) > self._data.rfind(b">", 0, end) for end in ends)

    def examine(self) -> bool:
        """Whether the document is valid; if not, children and attributes that are not as in the DTD are reported."""
        is_small = len(self._data) < SHORTEST * MOST or self._data.count(b"<") < MOST
        self._is_valid = is_small and dtd().validate(self._root)
        if not self._is_valid:
            self._examine_children(self._root, ELEMENTS["document"])
        return self._is_valid

    def report_invalid(self) -> None:
        """Ask lxml about each element for which nothing else was reported.

        That finds what is not examined here, such as an argument with two extents.
        """
        if self._is_valid:
            return
        for element in self._root.iterchildren(*ELEMENTS["document"].children):
            if element not in self._reported and _is_small(element) and not dtd().validate(element):
                error = next(iter(dtd().error_log))
                message = f"<{element.tag}> is not valid by the DTD: {error.message}"
                self.report_at(INVALID, self._first_line + error.line - 1, message)

    def _examine(self, element: Any) -> None:
        """Examine an element and all that is in it, except locators, which are checked when they are read."""
        if element.tag in REGIONS:
            for boxes in element.iterchildren("bblist"):
                self._examine_children(boxes, ELEMENTS["bblist"])
            return
        shape = ELEMENTS[element.tag]
        self._examine_attributes(element, shape)
        if element.tag != "name":
            self._examine_children(element, shape)

    def _examine_children(self, element: Any, shape: Shape) -> None:
        for child in self._allowed_children(element, shape):
            if child.tag != "bbox":
                self._examine(child)

    def _allowed_children(self, element: Any, shape: Shape) -> Iterator[Any]:
        """The children that the DTD allows there; anything else is reported."""
        last = 0
        if (text := element.text) and not text.isspace():
            self._report_text(element, text, int(element.sourceline))
        for child in element:
            rank = shape.children.get(child.tag)
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
        self._report_in(element, UNKNOWN, line, f"<{element.tag}> contains text: {quoted(text.strip())}")

    def _examine_attributes(self, element: Any, shape: Shape) -> None:
        """Report unknown attributes and values outside of closed lists; refuse an element that lacks one."""
        for name, value in element.items():
            if name not in shape.attributes:
                self.report(UNKNOWN, element, f"<{element.tag}> has an unknown attribute {quoted(name)}")
            elif not isinstance(values := shape.attributes[name], str) and value not in values:
                self._report_value(element, name, value, values)
        lacking = shape.required - {"ID", *element.keys()}
        if lacking:
            raise self.malformed(element, f"<{element.tag}> has no {min(lacking)}")

    def _report_value(self, element: Any, name: str, value: str, values: tuple[str, ...]) -> None:
        bare = value.strip()
        if bare in values:
            self.report(BLANKS, element, f"blanks around {quoted(bare)} in {name} of <{element.tag}>")
        else:
            message = f"<{element.tag}> has the {name} {quoted(value)}, which is none of {', '.join(values)}"
            self.report(VALUE, element, message)


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
