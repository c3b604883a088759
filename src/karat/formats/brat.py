"""brat standoff: a file of annotations (`.ann`) beside each text (`.txt`), one annotation a line.

    T1  Life_Die 20 26;31 44    killed the president    text bound: label, segments, text (pieces joined by a blank)
    E1  Life_Die:T1 Victim:T4 Place:T5                  event: type and trigger, then roles and arguments
    A1  Realis E1 Actual                                attribute (also M1); without a value it is true
    R1  Coreference Arg1:E1 Arg2:E2                     relation, from Arg1 to Arg2
    *   Equiv T2 T3                                     equivalence of any number of annotations
    N1  Reference T1 Wikipedia:Q1   text                normalisation: not read, and a note says so
    #1  AnnotatorNotes T1   text                        note: not read

Events are the mentions of kind `event`, where their triggers stand; text bounds that trigger nothing are mentions of
kind `entity`. In a corpus without any event (LitBank) the text bounds themselves are the events. Where a trigger is
named in place of its event, the event is meant. Coreference and Equiv are closed into clusters; arguments become links
whose kind is the role (`Victim2` is another `Victim`), other relations links whose kind is the name in lower case.
Mentions stand in the order of their lines, and the id of a document is its file's name without `.ann`.

Offsets count code points of the text, and a line end as one, also where it is two characters in the file (CRLF).
Inside an annotation's own text line ends and tabs are written as blanks.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO, NamedTuple

from karat.errors import Item, KaratError, Report, Rule
from karat.formats._brat_writer import DIGITS, plan, write
from karat.formats._rules import DANGLING, MERGED, SINGLETON
from karat.formats._text import decode
from karat.model import Document, Link, Mention, Region, Value, qualified
from karat.model.regions import union
from karat.opened import read_bytes
from karat.plugin.formats import Block, Format, ReadOptions

UNDECIDED = "text-bound"
"""The kind of text bounds in a document without events: the corpus decides what they are."""

SHAPES = {
    "T": "T1<TAB>Label begin end<TAB>text",
    "E": "E1<TAB>Type:T1 Role:T2 ...",
    "A": "A1<TAB>Name E1 value",
    "M": "M1<TAB>Name E1 value",
    "R": "R1<TAB>Name Arg1:E1 Arg2:E2",
    "*": "*<TAB>Equiv T1 T2 ...",
}

LINE = Rule("brat-line", "fatal", "Correct the line; between columns stands one tab.")
SPAN = Rule("brat-span", "fatal", "Write begin end;begin end with begin < end, in characters of the text.")
ID_TWICE = Rule("brat-id-twice", "fatal", "Give each annotation of a file its own id.")
UNIT = Rule("brat-unit", "fatal", "Leave --unit token away; brat counts characters.")
NO_TEXT = Rule("text-missing", "note", "Put the text beside the annotations to have them checked against it.")
ATTRIBUTE_TWICE = Rule("attribute-twice", "fault", "Give each attribute of an annotation once; the first one counts.")
SHARED_TRIGGER = Rule("brat-trigger-shared", "note", "Name the event itself, not its trigger; the first one is used.")
UNKNOWN_LINE = Rule("brat-line-unknown", "note", "Known are T, E, A, M, R, N, * and #; the line is not used.")
NORMALISATIONS = Rule("brat-normalisations", "note", "Nothing to do; no score uses them.")

_BEGINNING = re.compile(
    rb"\s*(T\w+\t\S+ \d+ \d+[;\t ]|E\w+\t\S+:T\w+\s|[RAM]\w+\t\S+ \S|N\w+\tReference |#\w+\t\S+ [TERAMN]\w|\*\t\S+ T)"
)


def sniff(head: bytes) -> bool:
    """The first line is an annotation."""
    return _BEGINNING.match(head) is not None


def blocks(stream: BinaryIO, file: str) -> Iterator[Block]:
    """The whole file, which may well be empty."""
    yield Block.whole(stream, _stem(file))


def _stem(file: str) -> str:
    return re.sub(r"(\.ann)?(\.gz)?\Z", "", Path(file).name, count=1, flags=re.IGNORECASE)


def resolve_kinds(kinds: frozenset[str]) -> dict[str, str]:
    """Text bounds are entities in a corpus with events anywhere, else they are the events."""
    return {UNDECIDED: "entity" if "event" in kinds else "event"} if UNDECIDED in kinds else {}


def parse(data: bytes, block: Block, options: ReadOptions, file: str, report: Report) -> Document:
    """The mentions, clusters and links of one file."""
    if options.unit == "token":
        raise UNIT.error("offsets of a brat file do not count tokens", file=file)
    page = _Page(file, report)
    page.read(decode(data, file=file, line=block.line), block.line)
    return page.document(block.id, _text_beside(file, report))


def locate(data: bytes, block: Block, item: Item) -> int | None:
    """The line of an event or a text bound, or of the relation that is a link."""
    rows = [row.split("\t") for row in data.decode("utf-8", "replace").split("\n")]
    lines = {row[0]: line for line, row in enumerate(rows, block.line)}
    if isinstance(item, str):
        return lines.get(item)
    ends = {f"Arg1:{item[1]}", f"Arg2:{item[2]}"}
    return next((lines[row[0]] for row in rows if row[0][:1] == "R" and ends <= {*row[-1].split(" ")}), None)


def _text_beside(file: str, report: Report) -> str | None:
    beside = [Path(file).with_name(_stem(file) + suffix) for suffix in (".txt", ".TXT")]
    path = next(filter(Path.is_file, beside), beside[0])
    if not path.is_file():
        report(NO_TEXT.at(f"there is no {path.name} beside it, so nothing can be checked", file=file))
        return None
    return decode(read_bytes(path), file=str(path), line=1).replace("\r\n", "\n")


class _TextBound(NamedTuple):
    id: str
    line: int
    label: str
    segments: Region
    """As they are written."""
    text: str


class _Event(NamedTuple):
    id: str
    line: int
    type: str
    trigger: str
    arguments: list[tuple[str, str]]


class _Attribute(NamedTuple):
    id: str
    line: int
    name: str
    target: str
    value: Value


class _Relation(NamedTuple):
    id: str
    line: int
    name: str
    ends: list[str]


class _Page:
    """The lines of a file: first each for itself, then what they say together."""

    def __init__(self, file: str, report: Report) -> None:
        self._file, self._report = file, report
        self._bounds: dict[str, _TextBound] = {}
        self._events: dict[str, _Event] = {}
        self._attributes: list[_Attribute] = []
        self._relations: list[_Relation] = []
        self._triggered: dict[str, list[str]] = {}
        self._mentions: dict[str, Mention] = {}

    def read(self, text: str, first: int) -> None:
        """Take all lines."""
        ids: dict[str, int] = {}
        normalisations: list[int] = []
        for line, row in enumerate(text.split("\n"), first):
            row = row.removesuffix("\r")
            if not row or row.isspace() or row[0] == "#":
                continue
            id_ = row.partition("\t")[0]
            if "\t" not in row or not re.fullmatch(r"\*|[A-Z][^\s]+", id_):
                raise self._broken(line, row)
            if id_ in ids:
                raise ID_TWICE.error(f"the id {id_!r} was already used in line {ids[id_]}", file=self._file, line=line)
            if id_ != "*":
                ids[id_] = line
            if row[0] == "N":
                normalisations.append(line)
            elif row[0] in SHAPES:
                self._take(line, row, id_)
            else:
                self._tell(UNKNOWN_LINE, line, f"a line of unknown kind: {row[:60]!r}")
        if normalisations:
            self._tell(NORMALISATIONS, normalisations[0], f"normalisations are not read ({len(normalisations):,} here)")

    def _take(self, line: int, row: str, id_: str) -> None:
        columns = row.split("\t", 2)
        take = {"T": self._text_bound, "E": self._event, "R": self._relation, "*": self._equivalence}
        try:
            take.get(row[0], self._attribute)(line, id_, columns)
        except (ValueError, IndexError):
            raise self._broken(line, row) from None

    def _text_bound(self, line: int, id_: str, columns: list[str]) -> None:
        label, _, segments = columns[1].strip(" ").partition(" ")
        if not label:
            raise ValueError(columns)
        self._bounds[id_] = _TextBound(id_, line, label, self._segments(line, segments), columns[2])

    def _event(self, line: int, id_: str, columns: list[str]) -> None:
        (type_, trigger), *arguments = map(_named, _words(columns[1]))
        roles = [(_role(role), target) for role, target in arguments]
        self._events[id_] = _Event(id_, line, type_, trigger, roles)

    def _attribute(self, line: int, id_: str, columns: list[str]) -> None:
        name, _, rest = columns[1].strip(" ").partition(" ")
        target, _, value = rest.lstrip(" ").partition(" ")
        if not target:
            raise ValueError(columns)
        self._attributes.append(_Attribute(id_, line, name.lower(), target, value.lstrip(" ") or True))

    def _relation(self, line: int, id_: str, columns: list[str]) -> None:
        name, *ends = _words(columns[1])
        (first, source), (second, target) = map(_named, ends)
        turned = (first, second) == ("Arg2", "Arg1")
        self._relations.append(_Relation(id_, line, name, [target, source] if turned else [source, target]))

    def _equivalence(self, line: int, id_: str, columns: list[str]) -> None:
        name, *members = _words(columns[1])
        if name.lower() == "equiv":
            self._relations.append(_Relation(id_, line, name, members))
        else:
            self._tell(UNKNOWN_LINE, line, f"an unknown equivalence: {columns[1][:60]!r}")

    def _segments(self, line: int, text: str) -> Region:
        segments: list[tuple[int, int]] = []
        for segment in text.split(";"):
            numbers = _words(segment)
            if len(numbers) != 2 or not all(n.isdecimal() and n.isascii() and len(n) < 19 for n in numbers):
                found = f"the offsets {text!r} are not pairs of whole numbers"
                raise SPAN.error(found, file=self._file, line=line)
            begin, end = map(int, numbers)
            if begin >= end:
                what = "empty" if begin == end else "reversed"
                raise SPAN.error(f"the segment {segment!r} of {text!r} is {what}", file=self._file, line=line)
            segments.append((begin, end))
        if len(union(segments)) < len(segments):
            self._tell(MERGED, line, f"overlapping segments in the span {text!r}")
        return tuple(segments)

    def document(self, id_: str, text: str | None) -> Document:
        """What the lines say together."""
        for event in self._events.values():
            if event.trigger in self._bounds:
                self._triggered.setdefault(event.trigger, []).append(event.id)
            else:
                found = f"event {event.id} has the trigger {event.trigger!r}, which is no text bound, and is left out"
                self._tell(DANGLING, event.line, found)
        standing = sorted(self._standing(), key=lambda pair: pair[0])
        self._mentions = {mention.id: mention for _, mention in standing}
        attributes = self._attributes_of()
        links = tuple(self._links())
        clusters = self._clusters(id_)
        return Document(
            id_,
            text=text,
            mentions=tuple(
                Mention(m.id, m.span, None, None, None, m.kind, clusters.get(m.id), attributes[m.id], m.text)
                for m in self._mentions.values()
            ),
            links=links,
        )

    def _standing(self) -> Iterator[tuple[int, Mention]]:
        """Events where their triggers stand, and the other text bounds, each with its line."""
        bare = "entity" if self._events else UNDECIDED
        for bound in self._bounds.values():
            if bound.id not in self._triggered:
                yield bound.line, _mention(bound.id, bound, bare, bound.label)
        for trigger, events in self._triggered.items():
            for event in map(self._events.__getitem__, events):
                yield event.line, _mention(event.id, self._bounds[trigger], "event", event.type)

    def _attributes_of(self) -> dict[str, dict[str, Value]]:
        found = {mention.id: dict(mention.attributes) for mention in self._mentions.values()}
        for attribute in self._attributes:
            targets = self._triggered.get(attribute.target, [attribute.target])
            for target in targets:
                if target not in found:
                    self._dangling(attribute.line, attribute.id, target)
                elif found[target].setdefault(attribute.name, attribute.value) != attribute.value:
                    has = f"{target} has the {attribute.name} {found[target][attribute.name]!r} already"
                    self._tell(ATTRIBUTE_TWICE, attribute.line, f"{has}, so {attribute.value!r} is not used")
        return found

    def _links(self) -> Iterator[Link]:
        for event in self._events.values():
            for role, argument in event.arguments:
                target = self._meant(argument, event.line, f"{role} of {event.id}")
                if target is not None and event.id in self._mentions:
                    yield Link(role, event.id, target)
        for relation in self._relations:
            if not _is_coreference(relation):
                source, target = (self._meant(end, relation.line, relation.id) for end in relation.ends)
                if source is not None and target is not None:
                    yield Link(relation.name.lower(), source, target)

    def _clusters(self, document: str) -> dict[str, str]:
        """Coreference and Equiv, closed: the cluster of each mention that has company, named after the first one."""
        classes = _Classes()
        for relation in filter(_is_coreference, self._relations):
            if len(relation.ends) < 2:
                self._tell(SINGLETON, relation.line, f"{relation.name} with {len(relation.ends)} member(s)")
            meant = [self._meant(end, relation.line, f"{relation.name} ({relation.id})") for end in relation.ends]
            classes.join(end for end in meant if end is not None)
        members: dict[str, list[str]] = {}
        for id_ in self._mentions:
            members.setdefault(classes.find(id_), []).append(id_)
        return {id_: qualified(document, ids[0]) for ids in members.values() if len(ids) > 1 for id_ in ids}

    def _meant(self, id_: str, line: int, what: str) -> str | None:
        """The mention that an id names: itself, or the event that it triggers."""
        if id_ in self._mentions:
            return id_
        if id_ not in self._triggered:
            self._dangling(line, what, id_)
            return None
        events = self._triggered[id_]
        if len(events) > 1:
            self._tell(SHARED_TRIGGER, line, f"{what} names {id_!r}, the trigger of {' and '.join(events)}")
        return events[0]

    def _dangling(self, line: int, what: str, id_: str) -> None:
        self._tell(DANGLING, line, f"{what} names {id_!r}, which is no mention of this document")

    def _broken(self, line: int, row: str) -> KaratError:
        shape = SHAPES.get(row[0], "an id and a tab, such as T1<TAB>")
        return LINE.error(f"found {row[:60]!r}, expected {shape}", file=self._file, line=line)

    def _tell(self, rule: Rule, line: int, message: str) -> None:
        self._report(rule.at(message, file=self._file, line=line))


class _Classes:
    """Sets that are joined where they share a member."""

    def __init__(self) -> None:
        self._parents: dict[str, str] = {}

    def find(self, id_: str) -> str:
        """The member that stands for an id's set."""
        parents = self._parents
        while (parent := parents.get(id_, id_)) != id_:
            parents[id_] = parents.get(parent, parent)
            id_ = parent
        return id_

    def join(self, ids: Iterable[str]) -> None:
        """Make one set of the sets of all these."""
        for one, other in pairwise(ids):
            self._parents[self.find(other)] = self.find(one)


def _words(text: str) -> list[str]:
    return [word for word in text.split(" ") if word]


def _named(text: str) -> tuple[str, str]:
    """`role:target`, or a ValueError."""
    name, _, target = text.rpartition(":")
    if not name or not target:
        raise ValueError(text)
    return name, target


def _role(name: str) -> str:
    """brat numbers the roles of an event that it has more than once: Victim, Victim2."""
    return name.rstrip(DIGITS) or name


def _mention(id_: str, bound: _TextBound, kind: str, type_: str) -> Mention:
    span = union(bound.segments)
    # Segments that were merged or put in order do not read like the text of those that were written.
    text = bound.text if span == bound.segments else ""
    return Mention(id_, span, kind=kind, attributes={"type": type_}, text=text or None)


def _is_coreference(relation: _Relation) -> bool:
    return relation.id == "*" or relation.name.lower() == "coreference"


FORMAT = Format(
    title="brat standoff, .ann beside .txt",
    about=__doc__,
    suffixes=(".ann",),
    unit="char",
    protocols=("tac-2017",),
    sniff=sniff,
    blocks=blocks,
    parse=parse,
    locate=locate,
    write=write,
    plan=plan,
    folder="always",
    companions=(".txt",),
    resolve_kinds=resolve_kinds,
    default_attributes={"realis": "NOT_ANNOTATED"},
    local_clusters=True,
)
