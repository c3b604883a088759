"""One APF document: from the tree of its elements to mentions, clusters and links.

What the DTD does not allow is reported before (`Validation`) and ignored here. A document whose structure is broken is
refused. Where one item is wrong, such as an unresolved argument, it is reported with its line, and the rest is read.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from msgspec import Struct

from karat.formats import _apf_tables as tables
from karat.formats._apf_dtd import ELEMENTS, KINDS, MENTIONS, Shape
from karat.formats._apf_locators import Locators
from karat.formats._apf_validation import (
    ANCHOR,
    ARGUMENT_TWICE,
    HEAD,
    HELD,
    ID,
    INVALID,
    MENTION_ROLE,
    NO_ANNOTATION,
    ODD_SOURCE,
    RESOURCE,
    SEVERAL,
    SOURCE,
    UNKNOWN,
    VALUE,
    Validation,
    check_argument,
    check_blanks,
    check_entity_roles,
    check_holder,
    check_inside,
    check_language,
    check_overlaps,
    check_relation,
    check_subtype,
    check_zones,
)
from karat.formats._sgm import Source, source_of
from karat.formats._text import DANGLING, TWICE
from karat.model import (
    EMPTY,
    Cluster,
    Document,
    External,
    Link,
    Mention,
    Name,
    Places,
    Unit,
    Value,
    compact_lines,
)
from karat.plugin.formats import Sources
from karat.problems import Report, quoted

UNITS: dict[str, Unit] = {"text": "char", "audio": "microsecond", "image": "box"}
"""The unit of a document, by TYPE of its source file."""

_INSIDE = {"entity": ("head", HEAD), "event": ("anchor", ANCHOR)}
"""The region that must be inside the extent of a mention."""
_NAMES = re.compile(r"(?:[^\W\d][\w.\-]* )*").fullmatch
_NAME_TOKEN = re.compile(r"[\w.\-:]+").fullmatch


class Resource(NamedTuple):
    """An external resource that entities are linked to."""

    name: str
    urn: str
    text: str


class Header(Struct):
    """The parts of a file around a document: its source file, and lines where something is odd."""

    line: int
    """The line of <source_file>."""
    attributes: dict[str, str]
    resources: list[Resource]
    is_later: bool = False
    """True if it names the DTD of a later year."""


class Reader:
    """Reads a document in one pass; arguments are resolved at the end, when all ids are known."""

    def __init__(self, root: Any, header: Header, validation: Validation, report: Report) -> None:
        self._root, self._header, self._validation, self._report = root, header, validation, report
        self.id = str(root.get("DOCID", ""))
        if not self.id:
            raise validation.malformed(root, "<document> has no DOCID")
        self._unit = self._read_unit()
        self._is_valid = False
        self._locators = Locators(self._unit, validation)
        self._kinds: dict[str, str] = {}
        """The kind of the element or mention with each id."""
        self._mentions: dict[str, Mention] = {}
        self._clusters: dict[str, Cluster] = {}
        # Arguments of elements and of mentions, each with the XML element that states it.
        self._arguments: list[tuple[Link, Any]] = []
        self._mention_arguments: list[tuple[Link, Any]] = []
        # The XML elements of all records, in their order, and of regions beside spans by id and name.
        self._mention_elements: list[Any] = []
        self._cluster_elements: list[Any] = []
        self._link_elements: list[Any] = []
        self._region_elements: dict[tuple[str, str], Any] = {}

    def document(self, sources: Sources | None) -> Document:
        """The document, with its text if there is a source."""
        self._check_header()
        self._is_valid = self._validation.examine(self._root)
        for element in self._root.iterchildren(*KINDS):
            self._read_element(element)
        self._check_ids()
        if not len(self._root):
            self._validation.report(NO_ANNOTATION, self._root, f"document {quoted(self.id)} has no annotation")
        links = tuple(self._links())
        source = self._source(sources) if self._unit == "char" else None
        about = self._header.attributes
        document = Document(
            self.id,
            source=None if about.get("SOURCE") == tables.UNKNOWN_SOURCE else about.get("SOURCE"),
            producer=about.get("AUTHOR"),
            text=None if source is None else source.text,
            unit=self._unit,
            about={name.lower(): about[name] for name in ("URI", "VERSION", "ENCODING") if name in about}
            | {f"resource {name}": urn for name, urn, _ in self._header.resources}
            | {f"text of resource {name}": text for name, _, text in self._header.resources if text},
            mentions=tuple(self._mentions.values()),
            clusters=tuple(self._clusters.values()),
            links=links,
        )
        return document.at(self._places(source))

    def _places(self, source: Source | None) -> Places:
        lines = self._validation.lines
        regions = self._region_elements
        return Places(
            self._validation.line(self._root),
            compact_lines(lines(self._mention_elements)),
            compact_lines(lines(self._cluster_elements)),
            compact_lines(lines(self._link_elements)),
            regions=dict(zip(regions, lines(regions.values()), strict=True)),
            source=None if source is None else source.file,
        )

    def _source(self, sources: Sources | None) -> Source | None:
        """The source of the document. Without one, the text of a locator can still be compared with its length."""
        header, mentions = self._header, list(self._mentions.values())
        source = source_of(self.id, header.attributes.get("URI"), self._validation.file, sources, self._report)
        check_blanks(self._validation, mentions, None if source is None else source.text, self._element)
        check_language(self._validation, header.line, self.id, header.attributes.get("SOURCE"), mentions)
        if source is None:
            self._locators.report_lengths()
        else:
            check_zones(self._validation, mentions, source, self._element)
        return source

    def _element(self, id_: str) -> Any:
        """The XML element with an id."""
        return self._elements[id_]

    @cached_property
    def _elements(self) -> dict[str, Any]:
        return {element.get("ID"): element for element in self._root.iter()}

    # The source file.

    def _read_unit(self) -> Unit:
        type_ = self._header.attributes.get("TYPE")
        if type_ not in UNITS:
            given = "no TYPE" if type_ is None else f"the TYPE {quoted(type_)}"
            message = f"the source file of document {quoted(self.id)} has {given}, expected {' or '.join(UNITS)}"
            raise self._validation.malformed(self._root, message)
        return UNITS[type_]

    def _check_header(self) -> None:
        header, validation = self._header, self._validation
        known, given = ELEMENTS["source_file"].attributes, header.attributes
        for name in given:
            if name not in known:
                validation.report_at(UNKNOWN, header.line, f"<source_file> has an unknown attribute {quoted(name)}")
        for name in ("URI", "SOURCE"):
            if not given.get(name):
                message = f"the source file of document {quoted(self.id)} has no {name}"
                validation.report_at(SOURCE, header.line, message)
        source = given.get("SOURCE")
        if (version := given.get("VERSION")) is not None and not _NAME_TOKEN(version.strip()):
            message = f"<source_file> has the VERSION {quoted(version)}"
            validation.report_at(
                INVALID, header.line, f"{message}, expected letters, digits, '.', '-', '_' and ':' only"
            )
        if source and source not in (*tables.SOURCES, tables.UNKNOWN_SOURCE):
            message = f"the source of document {quoted(self.id)} is {quoted(source)}"
            validation.report_at(ODD_SOURCE, header.line, f"{message}, which is not one of {', '.join(tables.SOURCES)}")

    # Elements and mentions.

    def _read_element(self, element: Any) -> None:
        tag = element.tag
        kind, shape = KINDS[tag], ELEMENTS[tag]
        id_, attributes = self._described(element, kind, shape)
        if shape.subtypes is not None:
            check_subtype(self._validation, element, attributes, shape.subtypes)
        mentions: list[Any] = []
        names: list[Name] = []
        external: list[External] = []
        first = len(self._arguments)
        for child in element[:]:
            name = child.tag
            if name == shape.mention:
                mentions.append(child)
            elif name == shape.argument:
                self._arguments.append(self._argument(id_, child))
            elif kind == "entity" and name == "entity_attributes":
                for inner in child.iterchildren("name"):
                    self._region_elements[id_, f"name {len(names)}"] = inner
                    names.append(Name(self._locators.place(inner), inner.get("NAME")))
            elif kind == "entity" and name == "external_link":
                external.append(self._external(child, id_))
        self._clusters[id_] = Cluster(id_, kind, attributes, tuple(names), tuple(external))
        self._cluster_elements.append(element)
        if kind == "relation":
            stated = [(link.kind, link.target) for link, _ in self._arguments[first:]]
            check_relation(self._validation, element, attributes, stated, is_mentioned=bool(mentions))
        elif not mentions:
            raise self._validation.malformed(element, f"<{tag}> {id_!r} has no <{shape.mention}>")
        elif len(mentions) > 1 and kind in ("value", "time"):
            message = f"<{tag}> {id_!r} has {len(mentions)} mentions, expected one"
            self._validation.report(SEVERAL, mentions[1], message)
        read = [self._mention(mention, kind, id_, attributes) for mention in mentions]
        if len(read) > 1 and kind in ("entity", "event") and self._unit != "box":
            check_overlaps(self._validation, read, mentions)

    def _described(self, element: Any, kind: str, shape: Shape) -> tuple[str, dict[str, Value]]:
        """The id of an element or a mention, which must be new, and its attributes."""
        id_ = element.get("ID")
        if not id_:
            raise self._validation.malformed(element, f"<{element.tag}> has no ID")
        if id_ in self._kinds:
            message = f"id {quoted(id_)} was already used in this document, for {_one(self._kinds[id_])}"
            raise self._validation.error(TWICE, element, message)
        self._kinds[id_] = kind
        fields = shape.fields
        attributes: dict[str, Value] = {fields[name]: value for name, value in element.items() if name in fields}
        if not self._is_valid:
            attributes = {name: _bare(value, shape.closed.get(name, ())) for name, value in attributes.items()}
        return id_, attributes or EMPTY

    def _check_ids(self) -> None:
        if not _NAMES("".join([f"{id_} " for id_ in self._kinds])):
            for id_ in self._kinds:
                if not _NAMES(f"{id_} "):
                    element = self._element(id_)
                    message = f"<{element.tag}> has the ID {quoted(id_)}, which is not an XML name"
                    self._validation.report(ID, element, message)

    def _mention(self, element: Any, kind: str, cluster: str, about: Mapping[str, Value]) -> Mention:
        shape = ELEMENTS[element.tag]
        id_, attributes = self._described(element, f"{kind} mention", shape)
        regions: dict[str, Any] = {}  # of segments, or of boxes if the source is an image
        texts: dict[str, str] = {}
        first = len(self._mention_arguments)
        names, located = shape.regions, self._locators.located
        span = "anchor" if kind == "event" else "extent"
        for child in element[:]:
            tag = child.tag
            if tag in names:
                name = names[tag]
                if name in regions:
                    raise self._validation.malformed(child, f"mention {id_!r} has a second <{tag}>")
                regions[name], text = located(child)
                if text is not None:
                    texts[name] = text
                if name != span:
                    self._region_elements[id_, name] = child
            elif tag == shape.argument:
                self._mention_arguments.append(self._argument(id_, child))
        if not self._is_valid:
            for name in MENTIONS[kind]:
                if name not in regions:
                    raise self._validation.malformed(element, f"mention {id_!r} has no <{name}>")
        if kind == "relation":
            roles = [link.kind for link, _ in self._mention_arguments[first:]]
            check_entity_roles(self._validation, element, f"mention {id_!r}", roles)
        if kind in _INSIDE:
            check_inside(self._validation, *_INSIDE[kind], element, regions)
        if kind == "event":
            type_ = ".".join([str(about[name]) for name in ("type", "subtype") if name in about])
            attributes = {"type": type_, **attributes}
        elif attributes.get("ldctype") in tables.LATER_LDC_TYPES and not self._header.is_later:
            message = f"<{element.tag}> has the LDCTYPE {quoted(str(attributes['ldctype']))}"
            self._validation.report(VALUE, element, f"{message}, which is not one of {', '.join(tables.LDC_TYPES)}")
        place, text = regions.pop(span), texts.pop(span, None)
        # Positional arguments, since building a record by keyword takes twice as long.
        if self._unit == "box":
            boxes = {"span": place, **regions}
            mention = Mention(id_, (), None, None, None, kind, cluster, attributes, text, (), None, texts, boxes)
        else:
            head, extent, scope = regions.get("head"), regions.get("extent"), regions.get("scope")
            mention = Mention(
                id_,
                place,
                head,
                extent,
                None,
                kind,
                cluster,
                attributes,
                text,
                (),
                scope,
                texts or EMPTY,
                EMPTY,
            )
        self._mentions[id_] = mention
        self._mention_elements.append(element)
        return mention

    def _external(self, element: Any, id_: str) -> External:
        link = External(element.get("RESOURCE"), element.get("EID"))
        if link.resource not in [resource.name for resource in self._header.resources]:
            message = f"the external link of {id_!r} names the resource {quoted(link.resource)}"
            self._validation.report(RESOURCE, element, f"{message}, which the source file does not declare")
        return link

    # Arguments.

    def _argument(self, source: str, element: Any) -> tuple[Link, Any]:
        role = element.get("ROLE")
        if not self._is_valid:
            role = _bare(role, ELEMENTS[element.tag].closed["role"])
        place = None
        if len(element) and (extents := list(element.iterchildren("extent"))):
            if len(extents) > 1:
                self._validation.report(INVALID, element, f"<{element.tag}> has {len(extents)} <extent>, expected one")
            place = self._locators.place(extents[0])
        return Link(role, source, element.get("REFID"), place), element

    def _links(self) -> Iterator[Link]:
        """Arguments of elements, then those of mentions, which must be the former's."""
        validation = self._validation
        stated: set[tuple[str, str, str]] = set()
        for link, element in self._distinct(self._arguments, self._kinds, "an entity, value or timex2", stated):
            of_relation = self._kinds[link.source] == "relation"
            check_holder(validation, element, link, self._kinds[link.target], of_relation=of_relation)
            yield link
        kinds = {id_: mention.kind for id_, mention in self._mentions.items()}
        expected = "a mention of an entity, value or timex2"
        for link, element in self._distinct(self._mention_arguments, kinds, expected, set()):
            role, source, target = link.kind, link.source, self._mentions[link.target]
            owner, held = self._mentions[source].cluster, target.cluster
            if (owner, role, held) not in stated:
                message = f"{target.id!r} is {role} of mention {source!r}, but {held!r} is not {role} of {owner!r}"
                validation.report(MENTION_ROLE, element, message)
            if link.extent is not None:
                check_argument(validation, element, link, target)
            yield link

    def _distinct(
        self,
        arguments: Sequence[tuple[Link, Any]],
        kinds: Mapping[str, str],
        expected: str,
        seen: set[tuple[str, str, str]],
    ) -> Iterator[tuple[Link, Any]]:
        """Arguments whose target has a kind that can be an argument, each once; the others are reported."""
        for link, element in arguments:
            source, role, target = link.source, link.kind, link.target
            if kinds.get(target) not in HELD:
                kind = self._kinds.get(target)
                what = "which is not an id in this document" if kind is None else f"the id of {_one(kind)}"
                message = f"the {role} of {source!r} refers to {target!r}, {what}; expected the id of {expected}"
                self._validation.report(DANGLING, element, message)
            elif (source, role, target) in seen:
                self._validation.report(ARGUMENT_TWICE, element, f"{target!r} is {role} of {source!r} twice")
            else:
                seen.add((source, role, target))
                self._link_elements.append(element)
                yield link, element


def _bare(value: Value, values: Collection[str]) -> Value:
    """A value without the blanks around it, if that makes it one of a closed list."""
    bare = str(value).strip()
    return bare if bare in values else value


def _one(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"
