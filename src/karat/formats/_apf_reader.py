"""One APF document: from the tree of its elements to mentions, clusters and links, with what is wrong on the way.

What the DTD or the tables of the plan do not allow is told with its line. A document whose structure is broken is
refused; where one item is wrong (a value outside its list, an argument that names nothing) it is told, and the rest
is read.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from msgspec import Struct

from karat.errors import Report, Rule, quoted
from karat.formats import _apf_tables as tables
from karat.formats._apf_dtd import ELEMENTS, KINDS, MENTIONS, Element, dtd
from karat.formats._apf_places import Places, Told
from karat.formats._apf_rules import (
    ANCHOR,
    ARGUMENT_TWICE,
    BLANKS,
    COMMENT,
    EMPTY,
    HEAD,
    HOLDER,
    ID,
    INVALID,
    MENTION_ROLE,
    NO_MENTION,
    ODD_SOURCE,
    OUTSIDE,
    OVERLAP,
    RELATION,
    RESOURCE,
    SAME,
    SEVERAL,
    SOURCE,
    SUBTYPE,
    UNKNOWN,
    UNMARKED,
    VALUE,
    Page,
)
from karat.formats._rules import DANGLING, TWICE
from karat.formats._sgm import Source, source_of
from karat.model import Boxes, Cluster, Document, External, Link, Mention, Name, Place, Region, Unit, Value
from karat.model.regions import extension, shared
from karat.plugin.formats import Sources

UNITS: dict[str, Unit] = {"text": "char", "audio": "microsecond", "image": "box"}
"""The unit of a document, by TYPE of its source file."""

MOST = 500
"""Children of an element that lxml validates."""
HELD = {"time": "a time", "entity": "an entity", "value": "a value"}

_MENTION_OF = {kind: f"{kind} mention" for kind in KINDS.values()}
_REGIONS = {"head": "head", "extent": "extent", "anchor": "anchor", "ldc_scope": "scope"}
"""Regions of a mention: what APF and what karat calls them; its other children are arguments."""
_NOWHERE = (None, None)
_LOWER = {name: name.lower() for element in ELEMENTS.values() for name in element.attributes}
# Ids of all languages are names; those in ASCII, nearly all, are found so in half the time.
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.\-]*+|[^\W\d][\w.\-]*").fullmatch


class Header(Struct):
    """What a file says around a document: its source file, and what is odd there, by lines."""

    attributes: dict[str, str]
    resources: list[tuple[str, str]]
    """Name and URN of each."""
    odd: list[tuple[int, str]] = []
    comments: list[int] = []
    """Lines of comments that hold elements."""


class _Argument(NamedTuple):
    """An argument of an element or a mention: who has it, its role, whom it names, where, and what says so."""

    source: str
    role: str
    target: str
    extent: Place | None
    element: Any


class Reader:
    """Walks through a document once; arguments are looked up at the end, when all ids are known."""

    def __init__(self, root: Any, header: Header, line: int, file: str, report: Report) -> None:
        self._root, self._header = root, header
        self._page = page = Page(line, file, report)
        self._tell, self._error, self._broken = page.tell, page.error, page.broken
        self.id = str(root.get("DOCID"))
        self._unit = self._read_unit()
        places = Places(self._unit, self._page)
        self._told, self._place = places.told, places.place
        self._valid = False
        """Whether the element at hand is valid by the DTD, so that it need not be looked at again, item by item."""
        self._kinds: dict[str, str] = {}
        """Of every id: the kind of the element or mention."""
        self._mentions: dict[str, Mention] = {}
        self._clusters: dict[str, Cluster] = {}
        self._arguments: list[_Argument] = []
        self._mention_arguments: list[_Argument] = []

    def document(self, sources: Sources | None) -> Document:
        """Everything that the document says, with its text if there is a source."""
        self._read_header()
        self._valid = whole = self._is_valid()
        for element in self._children(self._root, ELEMENTS["document"]):
            self._valid = whole or (_is_small(element) and dtd().validate(element))
            if self._valid:
                self._read_element(element)
            else:
                self._read_invalid(element)
        if not len(self._root):
            self._tell(EMPTY, self._root, f"document {quoted(self.id)} has no annotation")
        links = (*self._element_links(), *self._mention_links())
        about = self._header.attributes
        text = None
        if self._unit == "char":
            source = source_of(self.id, about.get("URI"), self._page.file, sources, self._page.report)
            if source is not None:
                text = source.text
                self._check_zones(source)
        return Document(
            self.id,
            source=about.get("SOURCE"),
            producer=about.get("AUTHOR"),
            text=text,
            unit=self._unit,
            about={name.lower(): about[name] for name in ("URI", "VERSION", "ENCODING") if name in about}
            | {f"resource {name}": urn for name, urn in self._header.resources},
            mentions=tuple(self._mentions.values()),
            clusters=tuple(self._clusters.values()),
            links=links,
        )

    def _is_valid(self) -> bool:
        """Whether the DTD is content with the whole document, as it mostly is: asked once, not for each element."""
        return len(self._root) < MOST and all(map(_is_small, self._root)) and bool(dtd().validate(self._root))

    # The source file.

    def _read_unit(self) -> Unit:
        type_ = self._header.attributes.get("TYPE")
        if type_ not in UNITS:
            said = "no TYPE" if type_ is None else f"the TYPE {quoted(type_)}"
            raise self._broken(
                self._root, f"the source file of document {quoted(self.id)} has {said}, not {_any(UNITS)}"
            )
        return UNITS[type_]

    def _read_header(self) -> None:
        known, told = ELEMENTS["source_file"].attributes, self._header.attributes
        for name in told:
            if name not in known:
                self._tell(UNKNOWN, self._root, f"<source_file> has an unknown attribute {quoted(name)}")
        for name in self._root.attrib:
            if name != "DOCID":
                self._tell(UNKNOWN, self._root, f"<document> has an unknown attribute {quoted(name)}")
        for line, found in self._header.odd:
            self._page.report(UNKNOWN.at(found, file=self._page.file, line=line))
        for line in self._header.comments:
            self._page.report(
                COMMENT.at("a comment holds elements, which are not read", file=self._page.file, line=line)
            )
        for name in ("URI", "SOURCE"):
            if not told.get(name):
                self._tell(SOURCE, self._root, f"the source file of document {quoted(self.id)} has no {name}")
        source = told.get("SOURCE")
        if source and source not in tables.SOURCES:
            found = f"the source of document {quoted(self.id)} is {quoted(source)}"
            self._tell(ODD_SOURCE, self._root, f"{found}, which is none of {', '.join(tables.SOURCES)}")

    # Elements and mentions.

    def _read_invalid(self, element: Any) -> None:
        """Read an element item by item; if nothing in it seems to be wrong, the DTD has the last word."""
        error = next(iter(dtd().error_log), None) if _is_small(element) else None
        before = self._page.told
        self._read_element(element)
        if error is not None and self._page.told == before:
            self._tell(INVALID, element, f"<{element.tag}> is not valid by the DTD: {error.message}")

    def _read_element(self, element: Any) -> None:
        tag = element.tag
        kind, shape = KINDS[tag], ELEMENTS[tag]
        id_, attributes = self._named(element, shape, kind)
        if shape.subtypes is not None:
            self._check_subtype(element, attributes, shape.subtypes)
        mentions: list[Any] = []
        names: list[Name] = []
        external: list[External] = []
        arguments: list[Any] = []
        for child in self._children(element, shape):
            name = child.tag
            if name == shape.mention:
                mentions.append(child)
            elif name == "entity_attributes":
                names += [self._name(inner) for inner in self._children(child, ELEMENTS[name])]
            elif name == "external_link":
                found = self._attributes(child, ELEMENTS[name])
                external.append(External(str(found["resource"]), str(found["eid"])))
                if external[-1].resource not in dict(self._header.resources):
                    told = f"the external link of {id_!r} names the resource {quoted(external[-1].resource)}"
                    self._tell(RESOURCE, child, f"{told}, which the source file does not declare")
            else:
                arguments.append(child)
        self._clusters[id_] = Cluster(id_, kind, attributes, tuple(names), tuple(external))
        if kind == "relation":
            self._check_relation(element, id_, attributes, mentions, arguments)
        elif not mentions:
            raise self._broken(element, f"<{tag}> {id_!r} has no <{shape.mention}>")
        elif len(mentions) > 1 and kind in ("value", "time"):
            self._tell(SEVERAL, mentions[1], f"<{tag}> {id_!r} has {len(mentions)} mentions, not one")
        self._arguments += [self._argument(id_, argument) for argument in arguments]
        read = [self._mention(mention, kind, id_, attributes) for mention in mentions]
        if len(read) > 1 and kind in ("entity", "event"):
            self._check_overlaps(read, mentions)

    def _mention(self, element: Any, kind: str, cluster: str, about: Mapping[str, Value]) -> Mention:
        shape = ELEMENTS[element.tag]
        id_, attributes = self._named(element, shape, _MENTION_OF[kind])
        regions: dict[str, Told] = {}
        for child in self._children(element, shape):
            name = _REGIONS.get(child.tag)
            if name is None:
                self._mention_arguments.append(self._argument(id_, child))
            elif name in regions:
                raise self._broken(child, f"mention {id_!r} has a second <{child.tag}>")
            else:
                regions[name] = self._told(child)
        if not self._valid:
            for name in MENTIONS[kind]:
                if name not in regions:
                    raise self._broken(element, f"mention {id_!r} has no <{name}>")
        if kind == "event":
            attributes = {"type": _event_type(about), **attributes}
            self._check_inside(ANCHOR, element, id_, "anchor", regions)
        elif kind == "entity":
            self._check_inside(HEAD, element, id_, "head", regions)
        mention = self._mentions[id_] = self._made(id_, kind, cluster, attributes, regions)
        return mention

    def _made(
        self, id_: str, kind: str, cluster: str, attributes: dict[str, Value], regions: dict[str, Told]
    ) -> Mention:
        span, text = regions.pop("anchor" if kind == "event" else "extent")
        texts = {name: said for name, (_, said) in regions.items() if said is not None} if regions else {}
        if self._unit == "box":
            boxes: Any = {"span": span} | {name: region for name, (region, _) in regions.items()}
            return Mention(id_, (), None, None, None, kind, cluster, attributes, text, (), None, texts, boxes)
        head, extent, scope = (
            regions.get("head", _NOWHERE)[0],
            regions.get("extent", _NOWHERE)[0],
            regions.get("scope", _NOWHERE)[0],
        )
        # The fields in their order, since building by keyword takes twice as long.
        return Mention(id_, span, head, extent, None, kind, cluster, attributes, text, (), scope, texts)  # type: ignore[arg-type]

    def _name(self, element: Any) -> Name:
        if not self._valid:
            self._attributes(element, ELEMENTS["name"])  # what is wrong with them is told
        return Name(self._place(element), element.get("NAME"))

    # Arguments.

    def _element_links(self) -> Iterator[Link]:
        taken: set[tuple[str, str, str]] = set()
        for argument in self._arguments:
            source, role, target, _, element = argument
            if self._kinds.get(target) not in HELD:
                self._dangling(argument, "an entity, value or timex2")
            elif (source, role, target) in taken:
                self._tell(ARGUMENT_TWICE, element, f"{target!r} is {role} of {source!r} twice")
            else:
                taken.add((source, role, target))
                self._check_holder(argument, self._kinds[target])
                yield Link(role, source, target)

    def _mention_links(self) -> Iterator[Link]:
        held = {argument[:3] for argument in self._arguments}
        taken: set[tuple[str, str, str]] = set()
        for argument in self._mention_arguments:
            source, role, target, extent, element = argument
            mention = self._mentions.get(target)
            if mention is None or mention.kind not in HELD:
                self._dangling(argument, "a mention of an entity, value or timex2")
            elif (source, role, target) in taken:
                self._tell(ARGUMENT_TWICE, element, f"{target!r} is {role} of {source!r} twice")
            else:
                taken.add((source, role, target))
                owner = self._mentions[source].cluster
                if (owner, role, mention.cluster) not in held:
                    found = f"{target!r} is {role} of mention {source!r}"
                    self._tell(MENTION_ROLE, element, f"{found}, but {mention.cluster!r} is not {role} of {owner!r}")
                yield Link(role, source, target, extent)

    def _argument(self, source: str, element: Any) -> _Argument:
        """Its role, whom it names, and where."""
        if self._valid:
            extent = self._place(element[0]) if len(element) else None
            return _Argument(source, element.get("ROLE"), element.get("REFID"), extent, element)
        shape = ELEMENTS[element.tag]
        attributes, extents = self._attributes(element, shape), list(self._children(element, shape))
        extent = self._place(extents[0]) if extents else None
        return _Argument(source, str(attributes["role"]), str(attributes["refid"]), extent, element)

    def _dangling(self, argument: _Argument, wanted: str) -> None:
        kind = self._kinds.get(argument.target)
        said = "which nothing in this document is called" if kind is None else f"the id of {_one(kind)}"
        found = f"the {argument.role} of {argument.source!r} names {argument.target!r}, {said}"
        self._tell(DANGLING, argument.element, f"{found}; expected the id of {wanted}")

    def _check_holder(self, argument: _Argument, kind: str) -> None:
        """Times hold time roles and nothing else; of a relation, entities hold the other two."""
        if argument.role in tables.TIME_ROLES:
            wanted: tuple[str, ...] = ("time",)
        elif self._clusters[argument.source].kind == "relation":
            wanted = ("entity",)
        else:
            wanted = ("entity", "value")
        if kind not in wanted:
            found = f"the {argument.role} of {argument.source!r} is {HELD[kind]}"
            self._tell(HOLDER, argument.element, f"{found}, not {' or '.join(HELD[name] for name in wanted)}")

    # What must hold between the parts.

    def _check_subtype(
        self, element: Any, attributes: Mapping[str, Value], table: Mapping[str, tuple[str, ...]]
    ) -> None:
        type_, subtype = str(attributes["type"]), attributes.get("subtype")
        subtypes = table.get(type_)
        if subtypes is None:
            found = f"<{element.tag}> has the TYPE {quoted(type_)}"
            self._tell(VALUE, element, f"{found}, which is none of {', '.join(table)}")
        elif subtype is None and subtypes:
            self._tell(SUBTYPE, element, f"<{element.tag}> of TYPE {type_} has no SUBTYPE")
        elif subtype is not None and subtype not in subtypes:
            known = f"{type_} has {', '.join(subtypes) or 'none'}"
            self._tell(SUBTYPE, element, f"<{element.tag}> has the SUBTYPE {quoted(str(subtype))}, but {known}")

    def _check_relation(
        self, element: Any, id_: str, attributes: Mapping[str, Value], mentions: list[Any], arguments: list[Any]
    ) -> None:
        self._check_roles(element, f"relation {id_!r}", arguments)
        for mention in mentions:
            self._check_roles(
                mention, f"mention {mention.get('ID')!r}", list(mention.iterchildren("relation_mention_argument"))
            )
        holders = {a.get("REFID") for a in arguments if a.get("ROLE") in tables.ENTITY_ROLES}
        if len(holders) == 1:
            self._tell(SAME, element, f"relation {id_!r} has {quoted(str(*holders))} as Arg-1 and as Arg-2")
        if "modality" not in attributes or "tense" not in attributes:
            lacking = " and ".join(name.upper() for name in ("modality", "tense") if name not in attributes)
            self._tell(UNMARKED, element, f"relation {id_!r} has no {lacking}")
        if not mentions and attributes["type"] != "METONYMY":
            self._tell(NO_MENTION, element, f"relation {id_!r} has no <relation_mention>")

    def _check_roles(self, element: Any, whose: str, arguments: list[Any]) -> None:
        roles = [argument.get("ROLE") for argument in arguments]
        for role in tables.ENTITY_ROLES:
            if roles.count(role) != 1:
                raise self._error(RELATION, element, f"{whose} has {roles.count(role)} arguments {role}, not one")

    def _check_inside(self, rule: Rule, element: Any, id_: str, name: str, regions: Mapping[str, Told]) -> None:
        """A head or an anchor lies inside the extent."""
        inner, outer = regions[name][0], regions["extent"][0]
        if self._unit == "box":
            if shared(inner, outer) < extension(inner) * (1 - 1e-9):
                self._tell(rule, element, f"the {name} of mention {id_!r} has boxes that its extent does not cover")
        elif not (outer[0][0] <= inner[0][0] and inner[-1][1] <= outer[-1][1]):
            found = f"the {name} of mention {id_!r} lies at {_shown(inner)}"
            self._tell(rule, element, f"{found}, not inside its extent at {_shown(outer)}")

    def _check_overlaps(self, mentions: list[Mention], elements: list[Any]) -> None:
        """Heads, or anchors, of one element overlap only by mistake; the same place twice is told by a general rule."""
        if self._unit == "box":
            return
        regions = [(mention.head or mention.span, number) for number, mention in enumerate(mentions)]
        regions.sort()
        reach, holder = regions[0][0][-1][1], regions[0][1]
        for region, number in regions[1:]:
            if region[0][0] < reach and mentions[number].span != mentions[holder].span:
                pair = f"mentions {mentions[holder].id!r} and {mentions[number].id!r}"
                what = "heads" if mentions[number].head else "anchors"
                self._tell(OVERLAP, elements[number], f"{what} of {pair} of one element overlap")
            if region[-1][1] > reach:
                reach, holder = region[-1][1], number

    def _check_zones(self, source: Source) -> None:
        """Only the TEXT of a source is annotated, and one time in its DATETIME."""
        if "TEXT" not in source.zones:
            return
        dated, elements = False, dict[str, Any]()
        for mention in self._mentions.values():
            regions = [mention.span] if mention.extent is None else [mention.span, mention.extent]
            if all(source.holds("TEXT", region[0][0], region[-1][1]) for region in regions):
                continue
            begin, end = mention.span[0][0], mention.span[-1][1]
            if mention.kind == "time" and not dated and source.holds("DATETIME", begin, end):
                dated = True
                continue
            elements = elements or {element.get("ID"): element for element in self._root.iter()}
            self._tell(
                OUTSIDE,
                elements[mention.id],
                f"mention {mention.id!r} at {_shown(mention.span)} stands outside of <TEXT>",
            )

    # Attributes, ids and regions.

    def _children(self, element: Any, shape: Element) -> Iterable[Any]:
        """The children that may stand there; what else does is told and passed over."""
        return element if self._valid else self._page.children(element, shape)

    def _named(self, element: Any, shape: Element, kind: str) -> tuple[str, dict[str, Value]]:
        """The id of an element or a mention, which must be new, and its attributes."""
        if self._valid:
            attributes: dict[str, Value] = {_LOWER[name]: value for name, value in element.items()}
            return self._id(element, str(attributes.pop("id")), kind), attributes
        return self._id(element, element.get("ID"), kind), self._attributes(element, shape)

    def _attributes(self, element: Any, shape: Element) -> dict[str, Value]:
        """Attributes under their names in lower case, but for the id; closed lists are checked."""
        if self._valid:
            return {_LOWER[name]: value for name, value in element.items()}
        found: dict[str, Value] = {}
        for name, value in element.items():
            if name == "ID":
                continue
            if name not in shape.attributes:
                self._tell(UNKNOWN, element, f"<{element.tag}> has an unknown attribute {quoted(name)}")
                continue
            values = shape.attributes[name]
            if not isinstance(values, str) and value not in values:
                value = self._listed(element, name, value, values)
            found[_LOWER[name]] = value
        for name in sorted(shape.required):
            if _LOWER[name] not in found and name != "ID":
                raise self._broken(element, f"<{element.tag}> has no {name}")
        return found

    def _listed(self, element: Any, name: str, value: str, values: tuple[str, ...]) -> str:
        """A value of a closed list that is not written as it should be."""
        bare = value.strip()
        if bare in values:
            self._tell(BLANKS, element, f"blanks around {quoted(bare)} in {name} of <{element.tag}>")
            return bare
        known = ", ".join(values)
        self._tell(VALUE, element, f"<{element.tag}> has the {name} {quoted(value)}, which is none of {known}")
        return value

    def _id(self, element: Any, id_: str | None, kind: str) -> str:
        if not id_:
            raise self._broken(element, f"<{element.tag}> has no ID")
        if not _NAME(id_):
            self._tell(ID, element, f"<{element.tag}> has the ID {quoted(id_)}, which is no XML name")
        if id_ in self._kinds:
            found = f"id {quoted(id_)} was already used in this document, for {_one(self._kinds[id_])}"
            raise self._error(TWICE, element, found)
        self._kinds[id_] = kind
        return id_


def _is_small(element: Any) -> bool:
    """Whether lxml can be asked about it: with many children that are wrong it takes the square of their number."""
    return len(element) < MOST and max(map(len, element), default=0) < MOST


def _event_type(about: Mapping[str, Value]) -> str:
    return ".".join([str(about[name]) for name in ("type", "subtype") if name in about])


def _one(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"


def _any(names: Mapping[str, object]) -> str:
    return " or ".join(names)


def _shown(region: Region | Boxes) -> str:
    return f"{region[0][0]:,}-{region[-1][1]:,}"
