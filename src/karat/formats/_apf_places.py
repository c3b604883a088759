"""Where something stands in a source: characters of a text, seconds of a recording, boxes of an image."""

import re
from decimal import Decimal
from typing import Any

from karat.errors import quoted
from karat.formats._apf_dtd import ELEMENTS
from karat.formats._apf_rules import BLANKS, NEGATIVE, OFFSET, ROUNDED, UNKNOWN, Page
from karat.model import Box, Boxes, Place, Region, Unit

Told = tuple[Region | Boxes, str | None]
"""A region and its text."""

_WHOLE = re.compile(r"-?[0-9]{1,18}")
_DECIMAL = re.compile(r"-?[0-9]{1,12}(\.[0-9]{0,40})?([eE][-+]?[0-9]{1,2})?")


LOCATORS = ("charseq", "charspan", "timespan", "bblist")


class Places:
    """Reads the locators of a document: each unit has its own."""

    def __init__(self, unit: Unit, page: Page) -> None:
        self._unit, self._page = unit, page
        self._locators = {"charseq": self._charseq, "charspan": self._charspan}
        if unit == "microsecond":
            self._locators = {"timespan": self._timespan}
        elif unit == "box":
            self._locators = {"bblist": self._bblist}

    def place(self, holder: Any) -> Place:
        """The same as a record."""
        region, text = self.told(holder)
        return Place((), text, region) if self._unit == "box" else Place(region, text)  # type: ignore[arg-type]

    def told(self, holder: Any) -> Told:
        """The one locator inside an extent, a head, an anchor, ..."""
        if len(holder) == 1:
            locator = holder[0]
            if read := self._locators.get(locator.tag):
                return read(locator)
        locators = [child for child in holder if child.tag in LOCATORS]
        wanted = " or ".join(f"<{name}>" for name in self._locators)
        if len(locators) != 1 or locators[0].tag not in self._locators:
            said = ", ".join(f"<{locator.tag}>" for locator in locators) or "nothing"
            raise self._page.broken(holder, f"<{holder.tag}> holds {said}, expected one {wanted}")
        for child in holder:
            if child is not locators[0]:
                self._page.tell(UNKNOWN, child, f"<{child.tag}> stands in <{holder.tag}>, where it is not known")
        return self._locators[locators[0].tag](locators[0])

    def _charseq(self, locator: Any) -> Told:
        """Both offsets are those of characters."""
        start, end = locator.get("START", ""), locator.get("END", "")
        both = start + end
        # Digits and nothing else, as nearly always; a regular expression takes three times as long.
        if both.isdecimal() and both.isascii() and len(both) <= 18 and start and end and not len(locator):
            begin, last = int(start), int(end)
            if begin <= last:
                return ((begin, last + 1),), locator.text or ""
        begin, last = self._offsets(locator)
        if last < begin:
            raise self._page.error(OFFSET, locator, f"<charseq> ends at {last:,}, before it starts at {begin:,}")
        return ((begin, last + 1),), self._text(locator)

    def _charspan(self, locator: Any) -> Told:
        """The end is the gap after the last character."""
        begin, end = self._offsets(locator)
        if end <= begin:
            raise self._page.error(OFFSET, locator, f"<charspan> from {begin:,} to {end:,} holds no character")
        return ((begin, end),), self._text(locator)

    def _offsets(self, locator: Any) -> tuple[int, int]:
        found = []
        for name in ("START", "END"):
            value = locator.get(name)
            if value is None:
                raise self._page.broken(locator, f"<{locator.tag}> has no {name}")
            if not (value.isascii() and _WHOLE.fullmatch(value.strip())):
                raise self._page.error(
                    OFFSET, locator, f"<{locator.tag}> has the {name} {quoted(value)}, which is no number"
                )
            if value != value.strip():
                self._page.tell(BLANKS, locator, f"blanks around {quoted(value.strip())} in {name} of <{locator.tag}>")
            found.append(int(value))
        if min(found) < 0:
            self._page.tell(NEGATIVE, locator, f"<{locator.tag}> has the negative offset {min(found):,}")
        return found[0], found[1]

    def _timespan(self, locator: Any) -> Told:
        """Seconds, kept as microseconds."""
        times = [self._number(locator, name).scaleb(6) for name in ("START", "END")]
        begin, end = (int(time.to_integral_value()) for time in times)
        told = f"<timespan> from {locator.get('START')} to {locator.get('END')}"
        if times != [begin, end]:
            self._page.tell(ROUNDED, locator, f"{told} is finer than microseconds")
        if end <= begin:
            raise self._page.error(OFFSET, locator, f"{told} does not end after it starts")
        if begin < 0:
            self._page.tell(NEGATIVE, locator, f"{told} starts before the recording")
        return ((begin, end),), None

    def _bblist(self, locator: Any) -> Told:
        """The boxes, each on a page."""
        boxes: list[Box] = []
        for box in self._page.children(locator, ELEMENTS["bblist"]):
            page, x, y, width, height = (self._number(box, name) for name in ("PAGE", "X", "Y", "WIDTH", "HEIGHT"))
            if page != int(page) or width <= 0 or height <= 0:
                told = f"<bbox> has the PAGE {page}, the WIDTH {width} and the HEIGHT {height}"
                raise self._page.error(OFFSET, box, f"{told}; expected a whole number, and two above 0")
            if x < 0 or y < 0:
                self._page.tell(NEGATIVE, box, f"<bbox> at {x}, {y} begins outside of its page")
            boxes.append((int(page), float(x), float(y), float(width), float(height)))
        if not boxes:
            raise self._page.broken(locator, "<bblist> holds no <bbox>")
        return tuple(boxes), None

    def _number(self, element: Any, name: str) -> Decimal:
        value = element.get(name)
        if value is None:
            raise self._page.broken(element, f"<{element.tag}> has no {name}")
        bare = value.strip()
        number = Decimal(bare) if _DECIMAL.fullmatch(bare) else None
        if number is None or number.adjusted() >= 12:
            raise self._page.error(
                OFFSET, element, f"<{element.tag}> has the {name} {quoted(value)}, which is no number"
            )
        if value != bare:
            self._page.tell(BLANKS, element, f"blanks around {quoted(bare)} in {name} of <{element.tag}>")
        return number

    def _text(self, locator: Any) -> str:
        for child in locator:
            self._page.tell(UNKNOWN, child, f"<{child.tag}> stands in <{locator.tag}>, where it is not known")
        return "".join([locator.text or "", *(child.tail or "" for child in locator)])
