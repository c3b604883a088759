"""Writing TimeML, as `karat.formats.timeml` reads it.

Several mentions at one place with the same class are instances of one EVENT. A creation time is written into DCT, other
times without a place into a TITLE. Only links of temporal relations between mentions can be held.
"""

import re
from collections.abc import Iterator
from itertools import count
from typing import Any

from karat.formats._text import stem
from karat.formats._writing import refuse_unit, report_fields, report_rare, report_regions
from karat.model import TEMPORAL, Document, Mention, Region
from karat.plugin.formats import ReportLoss, WriteOptions
from karat.problems import Rule, quoted

UNWRITABLE = Rule("timeml-unwritable", "fatal", "Convert to a format that can hold it, such as jsonl.")

SUFFIXES = (".tml",)
SOURCES = ("eventInstanceID", "timeID")
RELATED_TO = ("relatedToEventInstance", "relatedToTime")
OF_EVENT = ("class", "stem")
"""Attributes of EVENT; all others are those of MAKEINSTANCE."""
FUNCTION, IN_FILE = "function", "functionInDocument"
_XML_NAME = re.compile(r"[A-Za-z_][\w.-]*", re.ASCII)


def write(document: Document, options: WriteOptions, report_loss: ReportLoss) -> dict[str, bytes]:
    """The `.tml` file of a document."""
    del options
    refuse_unit(document, ("char",), UNWRITABLE)
    if document.text is None:
        raise UNWRITABLE.error(f"the text of document {quoted(document.id)} is not known")
    if document.id != stem(f"{document.id}.tml", SUFFIXES) or "/" in document.id or "\0" in document.id:
        raise UNWRITABLE.error(f"the document id {quoted(document.id)} cannot be the name of a file")
    fields = ("topic", "subtopic", "source", "language", "tokens", "producer", "clusters")
    report_fields(document, fields, report_loss)
    report_rare(document, report_loss)
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
