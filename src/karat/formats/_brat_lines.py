"""The lines of brat files: each becomes a record, before it is known what they say together."""

import re
from typing import NamedTuple

from karat.formats._brat_writer import DIGITS
from karat.formats._text import MERGED
from karat.model import Region, Value
from karat.plugin.formats import Context
from karat.problems import KaratError, Rule, quoted
from karat.regions import union

SHAPES = {
    "T": "T1<TAB>Label begin end<TAB>text",
    "E": "E1<TAB>Type:T1 Role:T2 ...",
    "A": "A1<TAB>Name E1 value",
    "M": "M1<TAB>Name E1 value",
    "R": "R1<TAB>Name Arg1:E1 Arg2:E2",
    "*": "*<TAB>Equiv T1 T2 ...",
}

LINE = Rule("brat-line", "fatal", "Correct the line; columns are separated by one tab.")
SPAN = Rule("brat-span", "fatal", "Write begin end;begin end with begin < end, in characters of the text.")
ID_TWICE = Rule("brat-id-twice", "fatal", "Give each annotation of a document its own id.")
LINE_BREAK = Rule(
    "brat-line-break", "note", "Write a line break inside an annotation's text as a blank; it is read as one."
)
UNKNOWN_LINE = Rule(
    "brat-line-unknown", "note", "Known lines start with T, E, A, M, R, N, * or #; this one is ignored."
)
NORMALISATIONS = Rule("brat-normalisations", "note", "No action needed; no score uses them.")

_ID = re.compile(r"(\*|[A-Z]\S+)\t")


class Place(NamedTuple):
    """Where a record is. A document may have two files; the records of the first come first."""

    part: int
    line: int
    file: str


class TextBound(NamedTuple):
    """A `T` line."""

    id: str
    place: Place
    label: str
    segments: Region
    """As written."""
    text: str

    @property
    def is_short(self) -> bool:
        """Return whether the text is shorter than its span, so that it may continue in the next line."""
        return len(self.text) < sum(end - begin for begin, end in self.segments) + len(self.segments) - 1


class Event(NamedTuple):
    """An `E` line."""

    id: str
    place: Place
    type: str
    trigger: str
    arguments: list[tuple[str, str]]


class Attribute(NamedTuple):
    """An `A` or `M` line."""

    id: str
    place: Place
    name: str
    target: str
    value: Value


class Relation(NamedTuple):
    """An `R` line, or an equivalence, whose id is `*`."""

    id: str
    place: Place
    name: str
    ends: list[str]


class Records:
    """The records of a document, by kind."""

    def __init__(self, context: Context) -> None:
        self.bounds: dict[str, TextBound] = {}
        self.events: dict[str, Event] = {}
        self.attributes: list[Attribute] = []
        self.relations: list[Relation] = []
        self._context = context
        self._places: dict[str, Place] = {}

    def give(self, bound: TextBound) -> None:
        """Add a text bound of another file."""
        self._enter(bound.id, bound.place)
        self.bounds[bound.id] = bound

    def read(self, text: str, start: Place) -> None:
        """Read the lines of a file, which start at a place."""
        normalisations: list[Place] = []
        last: str | None = None  # the text bound in the last line
        blank = 0  # how many blank lines follow it
        for line, row in enumerate(text.split("\n"), start.line):
            row, place = row.removesuffix("\r"), start._replace(line=line)
            if not row or row.isspace():
                blank += 1
                continue
            if row[0] == "#":
                continue
            if not (match := _ID.match(row)):
                if last is None or not self.bounds[last].is_short:
                    raise _broken(place, row)
                self._continue_text(last, " " * (blank + 1) + row, place)
            else:
                id_ = match[1]
                self._enter(id_, place)
                if row[0] == "N":
                    normalisations.append(place)
                elif row[0] in SHAPES:
                    self._take(place, row, id_)
                else:
                    self.report(UNKNOWN_LINE, place, f"unknown kind of line: {quoted(row)}")
                last = id_ if row[0] == "T" else None
            blank = 0
        if normalisations:
            message = f"normalisations are not read ({len(normalisations):,} here)"
            self.report(NORMALISATIONS, normalisations[0], message)

    def report(self, rule: Rule, place: Place, message: str) -> None:
        """Report a finding in its place."""
        self._context.report(rule.at(message, file=place.file, line=place.line))

    def _enter(self, id_: str, place: Place) -> None:
        if id_ == "*":
            return
        first = self._places.setdefault(id_, place)
        if first is not place:
            where = f"line {first.line}" if first.file == place.file else f"line {first.line} of {first.file}"
            raise ID_TWICE.error(f"the id {id_!r} was already used in {where}", file=place.file, line=place.line)

    def _continue_text(self, id_: str, text: str, place: Place) -> None:
        bound = self.bounds[id_]
        self.report(LINE_BREAK, place, f"the text of {id_} continues in this line: {quoted(text.strip())}")
        self.bounds[id_] = bound._replace(text=bound.text + text)

    def _take(self, place: Place, row: str, id_: str) -> None:
        columns = row.split("\t", 2)
        take = {"T": self._text_bound, "E": self._event, "R": self._relation, "*": self._equivalence}
        try:
            take.get(row[0], self._attribute)(place, id_, columns)
        except (ValueError, IndexError):
            raise _broken(place, row) from None

    def _text_bound(self, place: Place, id_: str, columns: list[str]) -> None:
        label, _, segments = columns[1].strip(" ").partition(" ")
        if not label:
            raise ValueError(columns)
        text = columns[2]
        self.bounds[id_] = TextBound(id_, place, label, self._segments(place, segments), text)

    def _event(self, place: Place, id_: str, columns: list[str]) -> None:
        (type_, trigger), *arguments = map(_named, _words(columns[1]))
        roles = [(_role(role), target) for role, target in arguments]
        self.events[id_] = Event(id_, place, type_, trigger, roles)

    def _attribute(self, place: Place, id_: str, columns: list[str]) -> None:
        name, _, rest = columns[1].strip(" ").partition(" ")
        target, _, value = rest.lstrip(" ").partition(" ")
        if not target:
            raise ValueError(columns)
        self.attributes.append(Attribute(id_, place, name.lower(), target, value.lstrip(" ") or True))

    def _relation(self, place: Place, id_: str, columns: list[str]) -> None:
        name, *ends = _words(columns[1])
        (first, source), (second, target) = map(_named, ends)
        turned = (first, second) == ("Arg2", "Arg1")
        self.relations.append(Relation(id_, place, name, [target, source] if turned else [source, target]))

    def _equivalence(self, place: Place, id_: str, columns: list[str]) -> None:
        name, *members = _words(columns[1])
        if name.lower() == "equiv":
            self.relations.append(Relation(id_, place, name, members))
        else:
            self.report(UNKNOWN_LINE, place, f"unknown equivalence: {quoted(columns[1])}")

    def _segments(self, place: Place, text: str) -> Region:
        segments: list[tuple[int, int]] = []
        for segment in text.split(";"):
            numbers = _words(segment)
            if len(numbers) != 2 or not all(n.isdecimal() and n.isascii() and len(n) < 19 for n in numbers):
                return self._misplaced(place, f"the offsets {quoted(text)} are not pairs of whole numbers", text)
            begin, end = map(int, numbers)
            if begin >= end:
                what = "empty" if begin == end else "reversed"
                return self._misplaced(place, f"the segment {quoted(segment)} of {quoted(text)} is {what}", text)
            segments.append((begin, end))
        if len(union(segments)) < len(segments):
            self.report(MERGED, place, f"overlapping segments in the span {quoted(text)}")
        return tuple(segments)

    def _misplaced(self, place: Place, message: str, text: str) -> Region:
        return (self._context.misplaced(SPAN.at(message, file=place.file, line=place.line), text),)


def _broken(place: Place, row: str) -> KaratError:
    shape = SHAPES.get(row[0], "an id and a tab, such as T1<TAB>")
    return LINE.error(f"found {quoted(row)}, expected {shape}", file=place.file, line=place.line)


def _words(text: str) -> list[str]:
    return [word for word in text.split(" ") if word]


def _named(text: str) -> tuple[str, str]:
    """`role:target`, or a ValueError."""
    name, _, target = text.rpartition(":")
    if not name or not target:
        raise ValueError(text)
    return name, target


def _role(name: str) -> str:
    """The role without its number: brat numbers roles that an event has more than once (Victim, Victim2)."""
    return name.rstrip(DIGITS) or name
