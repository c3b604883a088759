"""Locators: where something is in a source, in characters of a text, seconds of a recording, or boxes of an image."""

import re
from collections.abc import Callable
from decimal import Decimal
from html import escape
from typing import Any

from karat.formats._apf_validation import BLANKS, NEGATIVE, OFFSET, ROUNDED, TEXT, Validation
from karat.model import Box, Boxes, Place, Region, Unit
from karat.problems import KaratError, quoted

LocatedText = tuple[Region | Boxes, str | None]
"""A region and its text, where the locator has one."""

LOCATORS = ("charseq", "charspan", "timespan", "bblist")
INDENT = 4
"""Characters of white space in a source, such as a line break with blanks, that a text may write as one blank."""

_WHOLE = re.compile(r"-?[0-9]{1,18}")
_DECIMAL = re.compile(r"-?[0-9]{1,12}(\.[0-9]{0,40})?([eE][-+]?[0-9]{1,2})?")


class Locators:
    """Reads the locators of a document; each unit has locators of its own."""

    def __init__(self, unit: Unit, validation: Validation) -> None:
        self._unit, self._validation = unit, validation
        self._odd_lengths: list[tuple[Any, int, str]] = []
        """Locators whose text does not have as many characters as their offsets say: with these, and the text."""
        self._locators = _LOCATORS_OF[unit]

    def place(self, holder: Any) -> Place:
        """The region and text of an extent, a name, ... as a record."""
        region, text = self.located(holder)
        return Place((), text, region) if self._unit == "box" else Place(region, text)  # type: ignore[arg-type]

    def located(self, holder: Any) -> LocatedText:
        """The region and text of an extent, a head, an anchor, ..., which has one locator."""
        locator = holder[0] if len(holder) == 1 else None
        if locator is None or locator.tag not in self._locators:
            locator = self._only_locator(holder)
        try:
            return self._locators[locator.tag](self, locator)
        except KaratError as error:
            if error.finding.code != OFFSET.code:
                raise
            begin, end = self._validation.misplaced(error)
        return ((begin, 0, 0, 1, 1),) if self._unit == "box" else ((begin, end),), None

    def _only_locator(self, holder: Any) -> Any:
        """The locator of a holder that has none or several, one of another unit, or other children beside it."""
        locators = [child for child in holder if child.tag in LOCATORS]
        if len(locators) != 1 or locators[0].tag not in self._locators:
            expected = " or ".join(f"<{name}>" for name in self._locators)
            contents = ", ".join(f"<{locator.tag}>" for locator in locators) or "no locator"
            raise self._validation.malformed(holder, f"<{holder.tag}> contains {contents}, expected one {expected}")
        return locators[0]

    def report_lengths(self) -> None:
        """Report texts that cannot be what the offsets point at, whatever the source says."""
        for locator, length, text in self._odd_lengths:
            if not _can_have_length(text, length):
                message = f"<{locator.tag}> has {length:,} characters by its offsets, but its text is {quoted(text)}"
                self._validation.report(TEXT, locator, f"{message}, which has {len(text):,}")

    def _charseq(self, locator: Any) -> LocatedText:
        """END is the last character."""
        begin, last = self._offsets(locator)
        if last < begin:
            raise self._validation.error(OFFSET, locator, f"<charseq> ends at {last:,}, before it starts at {begin:,}")
        return ((begin, last + 1),), self._text(locator, last + 1 - begin)

    def _charspan(self, locator: Any) -> LocatedText:
        """END is the gap after the last character."""
        begin, end = self._offsets(locator)
        if end <= begin:
            raise self._validation.error(OFFSET, locator, f"<charspan> from {begin:,} to {end:,} has no characters")
        return ((begin, end),), self._text(locator, end - begin)

    def _offsets(self, locator: Any) -> tuple[int, int]:
        """START and END, which are nearly always digits and nothing else."""
        start, end = locator.get("START"), locator.get("END")
        both = start + end
        if both.isdecimal() and both.isascii() and len(both) <= 18 and start and end:
            return int(start), int(end)
        for name, value in (("START", start), ("END", end)):
            if not (value.isascii() and _WHOLE.fullmatch(value.strip())):
                raise self._not_a_number(locator, name, value)
            if value != value.strip():
                self._report_blanks(locator, name, value.strip())
        first, last = int(start), int(end)
        if min(first, last) < 0:
            message = f"<{locator.tag}> has the negative offset {min(first, last):,}"
            self._validation.report(NEGATIVE, locator, message)
        return first, last

    def _timespan(self, locator: Any) -> LocatedText:
        """Seconds, kept as microseconds."""
        times = [self._number(locator, name).scaleb(6) for name in ("START", "END")]
        begin, end = (int(time.to_integral_value()) for time in times)
        span = f"<timespan> from {locator.get('START')} to {locator.get('END')}"
        if times != [begin, end]:
            self._validation.report(ROUNDED, locator, f"{span} is finer than microseconds")
        if end <= begin:
            raise self._validation.error(OFFSET, locator, f"{span} does not end after it starts")
        if begin < 0:
            self._validation.report(NEGATIVE, locator, f"{span} starts before the recording")
        return ((begin, end),), self._content(locator).strip() or None

    def _bblist(self, locator: Any) -> LocatedText:
        """Boxes, each on a page; their texts are joined by blanks."""
        boxes: list[Box] = []
        texts: list[str] = []
        for box in locator.iterchildren("bbox"):
            page, x, y, width, height = (self._number(box, name) for name in ("PAGE", "X", "Y", "WIDTH", "HEIGHT"))
            if page != int(page) or width <= 0 or height <= 0:
                message = f"<bbox> has the PAGE {page}, the WIDTH {width} and the HEIGHT {height}"
                expected = "expected a whole number and two numbers above 0"
                raise self._validation.error(OFFSET, box, f"{message}; {expected}")
            if x < 0 or y < 0:
                self._validation.report(NEGATIVE, box, f"<bbox> at {x}, {y} starts outside of its page")
            boxes.append((int(page), float(x), float(y), float(width), float(height)))
            texts += self._content(box).split()
        if not boxes:
            raise self._validation.malformed(locator, "<bblist> contains no <bbox>")
        return tuple(boxes), " ".join(texts) or None

    def _number(self, element: Any, name: str) -> Decimal:
        value = element.get(name)
        bare = value.strip()
        number = Decimal(bare) if _DECIMAL.fullmatch(bare) else None
        if number is None or number.adjusted() >= 12:
            raise self._not_a_number(element, name, value)
        if value != bare:
            self._report_blanks(element, name, bare)
        return number

    def _not_a_number(self, element: Any, name: str, value: str) -> Exception:
        message = f"<{element.tag}> has the {name} {quoted(value)}, which is not a number"
        return self._validation.error(OFFSET, element, message)

    def _report_blanks(self, element: Any, name: str, value: str) -> None:
        self._validation.report(BLANKS, element, f"blanks around {quoted(value)} in {name} of <{element.tag}>")

    def _content(self, locator: Any) -> str:
        text = locator.text or ""
        return "".join([text, *(child.tail or "" for child in locator)]) if len(locator) else text

    def _text(self, locator: Any, length: int) -> str:
        text = self._content(locator)
        if text and len(text) != length:
            self._odd_lengths.append((locator, length, text))
        return text


_LOCATORS_OF: dict[Unit, dict[str, Callable[[Locators, Any], LocatedText]]] = {
    "char": {"charseq": Locators._charseq, "charspan": Locators._charspan},
    "microsecond": {"timespan": Locators._timespan},
    "box": {"bblist": Locators._bblist},
}
"""The locators of each unit, and what reads them. Methods of an instance would keep it, and its tree, in a cycle."""


def _can_have_length(text: str, length: int) -> bool:
    """Return whether a text can be that of `length` characters of a source.

    The source may write characters as references (`&amp;`), and break lines where the text has a blank.
    """
    words = text.split()
    least = len(" ".join(words))
    return least <= length <= len(escape(text)) + INDENT * max(len(words) - 1, 0)
