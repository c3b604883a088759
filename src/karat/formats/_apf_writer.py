"""A document as APF: what `karat.formats.apf` reads, written.

APF holds what ACE annotates, and requires all of it: a document with an entity that has no class, or an event that has
no tense, is refused. In a folder, each document is a file, with its source beside it: a copy of the `.sgm` that it was
read with, else one made of its text, if that is known. In a single file, one source file follows the other.
"""

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path

from karat.formats._apf_dtd import ELEMENTS, KINDS, MENTIONS, Shape
from karat.formats._apf_tables import EVENT_ROLES, RELATION_ROLES, UNKNOWN_SOURCE
from karat.formats._apf_validation import HELD
from karat.formats._writing import report_fields
from karat.inputs import read_bytes
from karat.model import Boxes, Cluster, Document, Link, Mention, Place, Region, Value
from karat.plugin.formats import ReportLoss, WriteOptions
from karat.problems import Rule, quoted

UNWRITABLE = Rule("apf-unwritable", "fatal", "APF holds what ACE annotates; convert to jsonl, which holds everything.")

PROLOG = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE source_file SYSTEM "apf.v5.1.1.dtd">\n'
TYPES = {"char": "text", "microsecond": "audio", "box": "image"}
TAGS = {kind: tag for tag, kind in KINDS.items()}
ROLES = {"relation": RELATION_ROLES, "event": EVENT_ROLES}
REGIONS = {"entity": ("head",), "event": ("extent", "scope")}
"""Regions that mentions of a kind have in addition to their span."""
RESOURCE = "resource "
"""Prefix of the name of an external resource in `Document.about`."""

_NAME = re.compile(r"[^\W\d][\w.\-]*")
_DATE = re.compile(r"\d{4}-?\d\d-?\d\d")
_NOT_IN_FILE_NAME = re.compile(r"[/\\\x00-\x1f\x7f]")
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_MARKUP = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}
_IN_TEXT = str.maketrans({mark: _MARKUP[mark] for mark in "&<>\r"})
_IN_ATTRIBUTE = str.maketrans(_MARKUP)


def write(document: Document, options: WriteOptions, report_loss: ReportLoss) -> bytes | dict[str, bytes]:
    """The source file of one document; what APF cannot hold is reported."""
    text = "".join(f"{line}\n" for line in _Writer(document, report_loss).lines())
    if not options.folder:
        if document.text is not None:
            report_loss("the document's text (a folder holds it, beside each file)")
        return text.encode("utf-8")
    name = _file_name(document)
    files = {f"{name}.apf.xml": (PROLOG + text).encode("utf-8")}
    if document.places is not None and document.places.source is not None:
        files[f"{name}.sgm"] = read_bytes(Path(document.places.source))
    elif document.text is not None:
        files[f"{name}.sgm"] = _source(document).encode("utf-8")
    return files


def _file_name(document: Document) -> str:
    id_ = document.id
    if id_.startswith(".") or _NOT_IN_FILE_NAME.search(id_) or len(id_.encode("utf-8")) > 240:
        raise UNWRITABLE.error(f"the document id {quoted(id_)} cannot be the name of a file")
    return id_


def _source(document: Document) -> str:
    """The text between tags, which do not count as characters. In the text itself, a tag would not count either.

    DOCID and DATETIME are around the lines of the text that are the header of a source, if it begins with one; TEXT has
    the rest (evaluation plan, section 3.3.1).
    """
    assert document.text is not None, "called only for a document with a text"
    if re.search("[<>]", document.text) or "\r\n" in document.text or '"' in document.id:
        message = (
            f"document {quoted(document.id)} has angle brackets or CRLF line ends in its text, or a quote in its id"
        )
        raise UNWRITABLE.error(f"{message}, which a .sgm cannot hold")
    doc, header, text = f'<DOC DOCID="{document.id}">', "", document.text
    if docid := re.match(rf"\s*{re.escape(document.id)}[^\S\n]*\n", text):
        doc, header, text = "<DOC>", _tagged("DOCID", docid[0]), text[docid.end() :]
        if dated := _dated(document, docid.end()):
            length = dated.end() - docid.end()
            header += text[: length - len(dated[0])] + _tagged("DATETIME", dated[0])
            text = text[length:]
    return f"{doc}{header}<BODY><TEXT>{text}</TEXT></BODY></DOC>"


def _tagged(tag: str, line: str) -> str:
    """The line that is not blank in a tag."""
    return re.sub(r".*\S.*", lambda found: f"<{tag}>{found[0]}</{tag}>", line)


def _dated(document: Document, begin: int) -> re.Match[str] | None:
    """The line with the time of writing: the first that is a date or a time, before any other mention."""
    assert document.text is not None, "its header was found in it"
    times = {mention.span for mention in document.mentions if mention.kind == "time"}
    others = [mention.extent or mention.span for mention in document.mentions if mention.kind != "time"]
    end = min((region[0][0] for region in others), default=len(document.text))
    for line in re.compile(r"[^\n]*\n").finditer(document.text, begin, end):
        stripped = line[0].strip()
        first = line.start() + line[0].index(stripped)
        if _DATE.match(stripped) or ((first, first + len(stripped)),) in times:
            return line
    return None


class _Writer:
    """The lines of one document."""

    def __init__(self, document: Document, report_loss: ReportLoss) -> None:
        self._document, self._report_loss = document, report_loss
        if document.unit not in TYPES:
            raise UNWRITABLE.error(f"document {quoted(document.id)} counts in {document.unit}s")
        self._clusters = {cluster.id: cluster for cluster in document.clusters}
        self._members: dict[str, list[Mention]] = {}
        for mention in document.mentions:
            self._members.setdefault(self._element_of(mention), []).append(mention)
        self._arguments: dict[str, list[Link]] = {}
        self._read_arguments()
        self._report_losses()

    def _element_of(self, mention: Mention) -> str:
        """The element of a mention, made for one that has none."""
        id_ = mention.cluster if mention.cluster is not None else f"{mention.id}.element"
        known = self._clusters.setdefault(id_, Cluster(id_, mention.kind))
        if known.kind != mention.kind:
            message = f"mention {quoted(mention.id)} is of kind {mention.kind}, its cluster of kind {known.kind}"
            raise UNWRITABLE.error(message)
        return id_

    def _read_arguments(self) -> None:
        mentions = {mention.id: mention.kind for mention in self._document.mentions}
        clusters = {cluster.id: cluster.kind for cluster in self._clusters.values()}
        for link in self._document.links:
            kinds = mentions if link.source in mentions else clusters
            if kinds.get(link.target) not in HELD or link.kind not in ROLES.get(kinds.get(link.source, ""), ()):
                self._report_loss(f"links of kind {link.kind}")
            else:
                self._arguments.setdefault(link.source, []).append(link)

    def _report_losses(self) -> None:
        report_fields(self._document, ("topic", "subtopic", "language", "tokens"), self._report_loss)
        for name in self._document.about:
            if name not in ("uri", "version", "encoding") and not name.removeprefix("text of ").startswith(RESOURCE):
                self._report_loss(f"the document's {name}")
        for mention in self._document.mentions:
            regions = {name for name in ("head", "extent", "anchor", "scope") if getattr(mention, name) is not None}
            for name in sorted((regions | mention.boxes.keys()) - {"span", *REGIONS.get(mention.kind, ())}):
                self._report_loss(f"the {name} of mentions of kind {mention.kind}")
            if mention.confidence:
                self._report_loss("confidences")

    # Lines.

    def lines(self) -> Iterator[str]:
        """The source file."""
        document = self._document
        header: dict[str, Value] = {
            "URI": document.about.get("uri", f"{document.id}.sgm"),
            "TYPE": TYPES[document.unit],
            "SOURCE": UNKNOWN_SOURCE if document.source is None else document.source,
        }
        for name, value in (
            ("VERSION", document.about.get("version")),
            ("AUTHOR", document.producer),
            ("ENCODING", document.about.get("encoding")),
        ):
            if value is not None:
                header[name] = value
        yield f"<source_file{self._attributes(header)}>"
        for name, urn in document.about.items():
            if name.startswith(RESOURCE):
                attributes = {"URN": urn, "NAME": name.removeprefix(RESOURCE)}
                yield self._tag("external_resource", attributes, document.about.get(f"text of {name}"))
        yield f"<document{self._attributes({'DOCID': document.id})}>"
        for cluster in self._clusters.values():
            yield from self._element(cluster)
        yield "</document>"
        yield "</source_file>"

    def _element(self, cluster: Cluster) -> Iterator[str]:
        if cluster.kind not in TAGS:
            raise UNWRITABLE.error(f"APF has no elements of kind {quoted(cluster.kind)}")
        tag = TAGS[cluster.kind]
        members = self._members.get(cluster.id, [])
        if not members and cluster.kind != "relation":
            raise UNWRITABLE.error(f"the {cluster.kind} {quoted(cluster.id)} has no mention in {self._where}")
        yield f"<{tag}{self._id_and_attributes(cluster.id, tag, cluster.attributes)}>"
        for argument in self._arguments.get(cluster.id, []):
            yield f"  <{tag}_argument{self._attributes({'REFID': argument.target, 'ROLE': argument.kind})}/>"
        for mention in members:
            yield from self._mention(mention, tag, cluster)
        if cluster.names or cluster.external:
            yield from self._names(cluster)
        yield f"</{tag}>"

    def _names(self, cluster: Cluster) -> Iterator[str]:
        if cluster.kind != "entity":
            self._report_loss(f"names and external links of clusters of kind {cluster.kind}")
            return
        if cluster.names:
            yield "  <entity_attributes>"
            for name in cluster.names:
                attributes: dict[str, Value] = {} if name.name is None else {"NAME": name.name}
                yield f"    <name{self._attributes(attributes)}>{self._located(name.place)}</name>"
            yield "  </entity_attributes>"
        for link in cluster.external:
            yield f"  <external_link{self._attributes({'RESOURCE': link.resource, 'EID': link.id})}/>"

    def _mention(self, mention: Mention, tag: str, cluster: Cluster) -> Iterator[str]:
        attributes = dict(mention.attributes)
        if mention.kind == "event":
            type_ = ".".join(
                str(cluster.attributes[name]) for name in ("type", "subtype") if name in cluster.attributes
            )
            if attributes.pop("type", None) != type_:
                self._report_loss(
                    "types of event mentions other than their event's (read as TYPE.SUBTYPE of the event)"
                )
        yield f"  <{tag}_mention{self._id_and_attributes(mention.id, f'{tag}_mention', attributes)}>"
        regions = {"head": "head", "extent": "extent", "ldc_scope": "scope"}
        regions["anchor" if mention.kind == "event" else "extent"] = "span"
        for name in ELEMENTS[f"{tag}_mention"].children:
            if name in regions and (place := self._region(mention, regions[name])) is not None:
                yield f"    <{name}>{self._located(place)}</{name}>"
            elif name in MENTIONS[mention.kind]:
                raise UNWRITABLE.error(f"mention {quoted(mention.id)} in {self._where} has no {name}")
        for argument in self._arguments.get(mention.id, []):
            start = f"<{tag}_mention_argument{self._attributes({'REFID': argument.target, 'ROLE': argument.kind})}"
            if argument.extent is None:
                yield f"    {start}/>"
            else:
                extent = self._located(argument.extent)
                yield f"    {start}><extent>{extent}</extent></{tag}_mention_argument>"
        yield f"  </{tag}_mention>"

    def _region(self, mention: Mention, name: str) -> Place | None:
        boxes: Boxes = mention.boxes.get(name, ())
        region: Region | None = getattr(mention, name)
        text = mention.text if name == "span" else mention.texts.get(name)
        return Place(region or (), text, boxes) if region or boxes else None

    def _located(self, place: Place) -> str:
        if self._document.unit == "box":
            boxes = [dict(zip(ELEMENTS["bbox"].attributes, map(_number, box), strict=True)) for box in place.boxes]
            texts = [place.text, *[None] * (len(boxes) - 1)]
            tags = [self._tag("bbox", box, text) for box, text in zip(boxes, texts, strict=True)]
            return f"<bblist>{''.join(tags)}</bblist>"
        if not place.span:
            raise UNWRITABLE.error(f"a region in {self._where} has no offsets")
        if len(place.span) > 1:
            self._report_loss("segments of regions (written from the first to the last)")
        begin, end = place.span[0][0], place.span[-1][1]
        if self._document.unit == "microsecond":
            return self._tag("timespan", {"START": _seconds(begin), "END": _seconds(end)}, place.text)
        text = place.text
        if text is None:
            text = "" if self._document.text is None else self._document.text[begin:end]
        return f'<charseq START="{begin}" END="{end - 1}">{self._clean(text).translate(_IN_TEXT)}</charseq>'

    # Attributes.

    def _id_and_attributes(self, id_: str, tag: str, attributes: Mapping[str, Value]) -> str:
        """Id and attributes of an element as the DTD has them."""
        shape: Shape = ELEMENTS[tag]
        if not _NAME.fullmatch(id_):
            raise UNWRITABLE.error(
                f"the id {quoted(id_)} in {self._where} is not an XML name, which starts with a letter"
            )
        known = {name.lower(): name for name in shape.attributes if name != "ID"}
        for name, value in attributes.items():
            if name not in known:
                self._report_loss(f"the attribute {name} of <{tag}>")
            elif not isinstance(value, str):
                self._report_loss(f"that {name} is not text")
        written: dict[str, Value] = {"ID": id_}
        written |= {name: attributes[lower] for lower, name in known.items() if lower in attributes}
        for name in shape.attributes:
            if name in shape.required and name not in written:
                raise UNWRITABLE.error(f"<{tag}> {quoted(id_)} in {self._where} has no {name}, which APF requires")
        return self._attributes(written)

    def _attributes(self, attributes: Mapping[str, Value]) -> str:
        return "".join(
            f' {name}="{self._clean(str(value)).translate(_IN_ATTRIBUTE)}"' for name, value in attributes.items()
        )

    def _tag(self, tag: str, attributes: Mapping[str, Value], text: str | None) -> str:
        """An element that may hold text."""
        start = f"<{tag}{self._attributes(attributes)}"
        return f"{start}>{self._clean(text).translate(_IN_TEXT)}</{tag}>" if text else f"{start}/>"

    def _clean(self, text: str) -> str:
        if found := _NOT_IN_XML.search(text):
            raise UNWRITABLE.error(f"{quoted(text)} in {self._where} contains {found[0]!r}, which XML does not allow")
        return text

    @property
    def _where(self) -> str:
        return f"document {quoted(self._document.id)}"


def _seconds(microseconds: int) -> str:
    return f"{Decimal(microseconds).scaleb(-6).normalize():f}"


def _number(number: float) -> str:
    return str(int(number)) if number == int(number) else repr(number)
