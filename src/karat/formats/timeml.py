"""TimeML: events and times marked in a text, and links between them; one `.tml` file per document.

    <TimeML><DCT><TIMEX3 tid="t0" type="DATE" value="2031-05-01" functionInDocument="CREATION_TIME">...</TIMEX3></DCT>
    <TEXT>They <EVENT eid="e1" class="OCCURRENCE">left</EVENT> on
    <TIMEX3 tid="t1" type="DATE" value="2031-04-07">Monday</TIMEX3>.</TEXT>
    <MAKEINSTANCE eiid="ei1" eventID="e1" tense="PAST"/>
    <TLINK relType="IS_INCLUDED" eventInstanceID="ei1" relatedToTime="t1"/></TimeML>

Each MAKEINSTANCE is a mention (`eiid` is its id) at the place of its EVENT, with the attributes of both; each TIMEX3 is
one of kind `time`. Offsets count the characters of the text in TEXT, without tags. A TIMEX3 elsewhere, such as the
creation time of the document, has no span. Mentions are in the order of the text, several instances of an event in the
order of the file, and links in the order of the file, on which the score of `tempeval-3` depends. SLINK, ALINK and
CLINK also become links, which no protocol scores. The name of the file, without `.tml`, is the id of the document.
"""

import re
from collections.abc import Iterator
from itertools import count
from typing import Any

from karat.formats._relations import END, RelationLinks
from karat.formats._text import TWICE, named_after_file, stem
from karat.formats._writing import refuse_unit, report_document, report_regions
from karat.formats._xml import ElementReader, other_attributes, root_of
from karat.model import TEMPORAL, Document, Mention, Places, Region, compact_lines
from karat.plugin.formats import Context, Format, Piece, ReportLoss, WriteOptions
from karat.problems import Report, Rule, quoted

SUFFIXES = (".tml",)
SOURCES = ("eventInstanceID", "timeID")
RELATED_TO = ("relatedToEventInstance", "relatedToTime")
OF_EVENT = ("class", "stem")
"""Attributes of EVENT; all others are those of MAKEINSTANCE."""
FUNCTION, IN_FILE = "function", "functionInDocument"
_XML_NAME = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)

SHAPE = Rule("timeml-shape", "fatal", "Compare the element with TimeML 1.2.1 and correct it.")
UNIT = Rule("timeml-unit", "fatal", "Omit --unit token; TimeML counts characters.")
NO_INSTANCES = Rule(
    "timeml-no-instances", "fatal", 'Add <MAKEINSTANCE eiid="ei1" eventID="e1"/> for each event; links name instances.'
)
NO_INSTANCE = Rule("timeml-no-instance", "fault", "Add a <MAKEINSTANCE> for the event; without one it is ignored.")
NO_EVENT = Rule("timeml-no-event", "fault", "Name an <EVENT> of the text by its eid; the instance is ignored.")
NO_END = Rule(
    "timeml-no-end",
    "fault",
    "Give both ends: eventInstanceID or timeID, and relatedToEventInstance or relatedToTime; the link is ignored.",
)
NO_TYPE = Rule("timeml-no-type", "fault", 'Add a relType, such as relType="BEFORE"; the link is ignored.')
UNWRITABLE = Rule("timeml-unwritable", "fatal", "Convert to a format that can hold it, such as jsonl.")

TARGETS = (*RELATED_TO, "subordinatedEventInstance")
OTHER_LINKS = ("SLINK", "ALINK", "CLINK")


def sniff(head: bytes) -> bool:
    """The root element is near the beginning."""
    return b"<TimeML" in head


def read(piece: Piece, context: Context) -> Iterator[Document]:
    """Read one file."""
    if context.options.unit == "token":
        raise UNIT.error("offsets of a TimeML file do not count tokens", file=piece.name)
    yield _Reader(root_of(piece.data, file=piece.name), piece.name, context.report).document()


class _Reader(ElementReader):
    """Reads the text with its marks, then instances and links."""

    def __init__(self, root: Any, file: str, report: Report) -> None:
        super().__init__(root, "TimeML", file, report, SHAPE)
        self._id = stem(file, SUFFIXES)
        self._text: list[str] = []
        self._length = 0
        self._marked: list[tuple[Any, Region]] = []
        """Events and times in the order of the text, with their places; without one outside of it."""
        self._instances: dict[str, str] = {}
        """The eiid of the first instance of each event, by its eid."""

    def document(self) -> Document:
        body = self.root.find(".//TEXT")
        if body is None:
            raise self.error(SHAPE, self.root, "there is no <TEXT>")
        times = self.root.iter("TIMEX3")
        self._marked = [(time, ()) for time in times if next(time.iterancestors("TEXT"), None) is None]
        self._walk(body)
        mentions, lines = self._mentions()
        ends = {mention.id: mention.id for mention in mentions}
        relations = RelationLinks(self._id, ends, self.file, self.report)
        for element in self.root.iter("TLINK", *OTHER_LINKS):
            self._add_link(element, relations)
        text = "".join(self._text)
        document = Document(self._id, text=text, mentions=tuple(mentions))
        return relations.added_to(document.at(Places(1, compact_lines(lines))))

    def _walk(self, element: Any) -> None:
        """Collect the text of an element, and what is marked in it."""
        begin, place = self._length, len(self._marked)
        self._add_text(element.text)
        for child in element:
            self._walk(child)
            self._add_text(child.tail)
        if element.tag in ("EVENT", "TIMEX3"):
            span = ((begin, self._length),) if self._length > begin else ()
            self._marked.insert(place, (element, span))

    def _add_text(self, text: str | None) -> None:
        if text:
            self._text.append(text)
            self._length += len(text)

    def _mentions(self) -> tuple[list[Mention], list[int]]:
        text = "".join(self._text)
        instances: dict[str, list[Any]] = {}
        for instance in self.root.iter("MAKEINSTANCE"):
            instances.setdefault(self.needed(instance, "eventID"), []).append(instance)
        mentions: dict[str, Mention] = {}
        lines: list[int] = []
        for element, span in self._marked:
            said = text[span[0][0] : span[0][1]] if span else "".join(element.itertext()) or None
            if element.tag == "TIMEX3":
                attributes = other_attributes(element, "tid")
                if function := attributes.pop(IN_FILE, None):
                    attributes[FUNCTION] = function
                found = [
                    (
                        element,
                        Mention(self.needed(element, "tid"), span, kind="time", attributes=attributes, text=said),
                    )
                ]
            else:
                eid = self.needed(element, "eid")
                made = instances.pop(eid, [])
                if not made and not self.root.findall(".//MAKEINSTANCE"):
                    message = f"event {quoted(eid)} has no instance, and no other event has one"
                    raise self.error(NO_INSTANCES, element, message)
                if not made:
                    self.warn(NO_INSTANCE, element, f"event {quoted(eid)} has no <MAKEINSTANCE>", eid)
                of_event = other_attributes(element, "eid")
                found = [
                    (instance, Mention(self.needed(instance, "eiid"), span, attributes=of_event | more, text=said))
                    for instance in made
                    for more in [other_attributes(instance, "eiid", "eventID")]
                ]
                if made:
                    self._instances[eid] = self.needed(made[0], "eiid")
            for owner, mention in found:
                if mention.id in mentions:
                    message = f"id {quoted(mention.id)} was already used in this document"
                    raise self.error(TWICE, owner, message)
                mentions[mention.id] = mention
                lines.append(owner.sourceline)
        for eid, left in instances.items():
            self.warn(NO_EVENT, left[0], f"<MAKEINSTANCE> names the event {quoted(eid)}, which the text lacks", eid)
        return [*mentions.values()], lines

    def _add_link(self, element: Any, relations: RelationLinks) -> None:
        label = element.get("relType") or ("" if element.tag == "TLINK" else element.tag)
        source, target = (next(filter(None, map(element.get, names)), "") for names in (SOURCES, TARGETS))
        if not label:
            self.warn(NO_TYPE, element, f"a <TLINK> from {quoted(source)} to {quoted(target)} has no relType")
            return
        if element.tag == "TLINK":
            relations.check_label(label, TEMPORAL, element.sourceline)
        for end, names in ((source, SOURCES), (target, TARGETS[: len(TARGETS) - (element.tag == "TLINK")])):
            if not end:
                self.warn(NO_END, element, f"a <{element.tag}> of type {label} has no {' or '.join(names)}")
                return
            if end in self._instances and end not in relations.ends:
                instance = f"links name instances: here, {quoted(self._instances[end])}"
                message = f"a <{element.tag}> of type {label} names the event {quoted(end)} by its eid; {instance}"
                self.warn(END, element, message, end)
                return
        relations.add(label, source, target, element.sourceline)


def write(document: Document, options: WriteOptions, report_loss: ReportLoss) -> dict[str, bytes]:
    """The `.tml` file of a document."""
    del options
    refuse_unit(document, ("char",), UNWRITABLE)
    if document.text is None:
        raise UNWRITABLE.error(f"the text of document {quoted(document.id)} is not known")
    if document.id != stem(f"{document.id}.tml", SUFFIXES) or "/" in document.id or "\0" in document.id:
        raise UNWRITABLE.error(f"the document id {quoted(document.id)} cannot be the name of a file")
    fields = ("topic", "subtopic", "source", "language", "tokens", "producer", "clusters")
    report_document(document, fields, report_loss)
    try:
        return {f"{document.id}.tml": _Writer(document, document.text, report_loss).written()}
    except ValueError as error:
        raise UNWRITABLE.error(f"document {quoted(document.id)} holds what XML cannot: {error}") from None


class _Writer:
    """Builds the tree of a document."""

    def __init__(self, document: Document, text: str, report_loss: ReportLoss) -> None:
        self._document, self._text, self._report_loss = document, text, report_loss
        self._eids = (f"e{number}" for number in count(1))
        self._kinds: dict[str, str] = {}
        """The kinds of the mentions that are written."""

    def written(self) -> bytes:
        from lxml import etree

        mentions = [mention for mention in self._document.mentions if self._can_hold(mention)]
        in_order = sorted(mentions, key=lambda m: (m.span[0][0], -m.span[0][1]) if m.span else (-1, 0))
        if in_order != mentions:
            self._report_loss("the order of mentions")
        self._kinds = {mention.id: mention.kind for mention in mentions}
        builder = etree.TreeBuilder()
        builder.start("TimeML", {})
        for mention in in_order:
            if not mention.span:
                section = "DCT" if mention.attributes.get(FUNCTION) == "CREATION_TIME" else "TITLE"
                builder.start(section, {})
                builder.start("TIMEX3", self._of_time(mention))
                builder.data(mention.text or "")
                builder.end("TIMEX3")
                builder.end(section)
        builder.data("\n")
        instances = self._body(builder, [mention for mention in in_order if mention.span])
        for name, attributes in (*instances, *self._links()):
            builder.data("\n")
            builder.start(name, attributes)
            builder.end(name)
        builder.data("\n")
        builder.end("TimeML")
        data: bytes = etree.tostring(builder.close(), xml_declaration=True, encoding="UTF-8")
        return data + b"\n"

    def _can_hold(self, mention: Mention) -> bool:
        """Return whether a mention can be written, and report what of it cannot."""
        is_placed = len(mention.span) == 1 and mention.span[0][1] <= len(self._text)
        if mention.kind not in ("event", "time") or not (is_placed or (mention.kind == "time" and not mention.span)):
            self._report_loss("mentions that are not an event or time at one piece of the text")
            return False
        report_regions(mention, self._report_loss)
        if mention.cluster is not None:
            self._report_loss("clusters")
        if mention.confidence:
            self._report_loss("confidences")
        if mention.span and mention.text not in (None, self._text[slice(*mention.span[0])]):
            self._report_loss("texts that differ from the span")
        return True

    def _body(self, builder: Any, mentions: list[Mention]) -> list[tuple[str, dict[str, str]]]:
        """Write the text with its marks, and return the instances of its events."""
        instances: list[tuple[str, dict[str, str]]] = []
        marked: list[tuple[int, int, str, dict[str, str]]] = []
        eids: dict[tuple[Region, tuple[tuple[str, str], ...]], str] = {}
        for mention in mentions:
            begin, end = mention.span[0]
            if any(begin < last < end for first, last, *_ in marked if first < begin):
                self._report_loss("mentions that cross others")
                del self._kinds[mention.id]
            elif mention.kind == "time":
                marked.append((begin, end, "TIMEX3", self._of_time(mention)))
            else:
                attributes = self._written_attributes(mention, "eiid", "eventID", "eid")
                of_event = {name: attributes.pop(name) for name in OF_EVENT if name in attributes}
                known = mention.span, tuple(of_event.items())
                if known not in eids:
                    eids[known] = next(self._eids)
                    marked.append((begin, end, "EVENT", {"eid": eids[known], **of_event}))
                instances.append(("MAKEINSTANCE", {"eiid": mention.id, "eventID": eids[known], **attributes}))
        builder.start("TEXT", {})
        place, opened = 0, list[tuple[int, str]]()
        for begin, end, name, attributes in [*marked, (len(self._text), len(self._text), "", {})]:
            while opened and opened[-1][0] <= begin:
                last, closed = opened.pop()
                builder.data(self._text[place:last])
                builder.end(closed)
                place = last
            builder.data(self._text[place:begin])
            place = begin
            if name:
                builder.start(name, attributes)
                opened.append((end, name))
        builder.end("TEXT")
        return instances

    def _links(self) -> Iterator[tuple[str, dict[str, str]]]:
        for number, link in enumerate(self._document.links, 1):
            if link.kind not in TEMPORAL or not {link.source, link.target} <= self._kinds.keys():
                self._report_loss("links that are not TLINKs between mentions")
                continue
            ends = {
                names[self._kinds[end] == "time"]: end
                for names, end in ((SOURCES, link.source), (RELATED_TO, link.target))
            }
            yield "TLINK", {"lid": f"l{number}", "relType": link.kind, **ends}

    def _of_time(self, mention: Mention) -> dict[str, str]:
        attributes = self._written_attributes(mention, "tid", IN_FILE)
        if FUNCTION in attributes:
            attributes[IN_FILE] = attributes.pop(FUNCTION)
        return {"tid": mention.id, **attributes}

    def _written_attributes(self, mention: Mention, *taken: str) -> dict[str, str]:
        written = {}
        for name, value in mention.attributes.items():
            if not _XML_NAME.fullmatch(name) or name in taken or not isinstance(value, str) or not value:
                self._report_loss(f"the attribute {name}")
            else:
                written[name] = value
        return written


FORMAT = Format(
    title="TimeML, one .tml per document",
    about=__doc__,
    suffixes=SUFFIXES,
    unit="char",
    protocols=("tempeval-3",),
    sniff=sniff,
    read=read,
    identify=named_after_file(SUFFIXES),
    write=write,
    folder="always",
    global_ids="none",
)
