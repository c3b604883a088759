"""One APF document: from the tree of its elements to mentions, clusters and links, with what is wrong on the way.

What the DTD or the tables of the plan do not allow is told with its line. A document whose structure is broken is
refused; where one item is wrong (a value outside its list, an argument that names nothing) it is told, and the rest
is read.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

from msgspec import Struct

from karat.errors import Report, Rule, quoted
from karat.formats import _apf_tables as tables
from karat.formats._apf_dtd import ELEMENTS, KINDS, MENTIONS, Element, dtd
from karat.formats._rules import DANGLING, TWICE
from karat.formats._sgm import Source, Sources, source_of
from karat.model import Box, Boxes, Cluster, Document, External, Link, Mention, Name, Place, Region, Unit, Value

SHAPE = Rule("apf-shape", "fatal", "Compare the element with the APF 5.1.1 DTD and correct it.")
OFFSET = Rule("apf-offset", "fatal", "Give START and END in numbers, START not after END.")
RELATION = Rule("apf-relation", "fatal", "Give a relation one Arg-1 and one Arg-2.")
NEGATIVE = Rule(
    "apf-negative", "fault", "Count from 0, the first character of the source; offsets are scored as given."
)
UNKNOWN = Rule("apf-unknown", "fault", "Remove it, or write it as the APF 5.1.1 DTD has it; it is not read.")
ORDER = Rule("apf-order", "fault", "Write the elements in the order of the APF 5.1.1 DTD; they are read all the same.")
ID = Rule("apf-id", "fault", "Begin an id with a letter, and go on with letters, digits, dots, hyphens, underscores.")
VALUE = Rule("apf-value", "fault", "Write one of the listed values; the value is scored as it is written.")
SUBTYPE = Rule("apf-subtype", "fault", "Write a subtype of the type (evaluation plan, Tables 1, 4, 6 and 7).")
SEVERAL = Rule("apf-mentions", "fault", "Give each mention an element of its own; all of them are scored.")
NO_MENTION = Rule("apf-no-mention", "fault", "Give the relation a mention; only a METONYMY relation may lack one.")
HEAD = Rule("apf-head", "fault", "Correct the head or the extent; both are scored as given.")
OVERLAP = Rule("apf-overlap", "fault", "Correct or remove one of the two mentions; both are scored.")
HOLDER = Rule("apf-role", "fault", "Correct the role or REFID; it is scored as given.")
MENTION_ROLE = Rule("apf-argument", "fault", "Correct the mention's argument, or the arguments of its element.")
ARGUMENT_TWICE = Rule("apf-argument-twice", "fault", "Give it once; it is scored once.")
EMPTY = Rule("apf-empty", "fault", "Check that the document has nothing to annotate; it is scored as it is.")
SOURCE = Rule("apf-source", "fault", "Give URI and SOURCE of the source file; scores by source need it.")
INVALID = Rule("apf-invalid", "fault", "Compare the document with the APF 5.1.1 DTD and correct it.")
COMMENT = Rule("apf-comment", "fault", "Remove the comment; or, if the annotations count, only its marks.")
OUTSIDE = Rule("apf-outside", "note", "Nothing to do if it should be annotated; it is scored as the others are.")
ANCHOR = Rule("apf-anchor", "note", "Correct the anchor or the extent if one of them is wrong.")
SAME = Rule(
    "apf-same-entity", "note", "Correct one of the arguments if the relation is not between an entity and itself."
)
UNMARKED = Rule("apf-unmarked", "note", "Give MODALITY and TENSE if they are known.")
ODD_SOURCE = Rule("apf-source-odd", "note", "Nothing to do if the source is right.")
BLANKS = Rule("apf-blanks", "note", "Remove the blanks; the value is read without them.")
ROUNDED = Rule("apf-rounded", "note", "Nothing to do; times are kept to the microsecond.")

UNITS: dict[str, Unit] = {"text": "char", "audio": "microsecond", "image": "box"}
"""The unit of a document, by TYPE of its source file."""

MOST = 500
"""Children of an element that lxml validates."""
LOCATORS = {"char": ("charseq", "charspan"), "microsecond": ("timespan",), "box": ("bblist",)}
HELD = {"time": "a time", "entity": "an entity", "value": "a value"}

Told = tuple[Region | Boxes, str | None]
"""A region and its text."""

_MENTION_OF = {kind: f"{kind} mention" for kind in KINDS.values()}
_ARGUMENTS = frozenset({"relation_mention_argument", "event_mention_argument"})
_REGIONS = {"head": "head", "extent": "extent", "ldc_scope": "scope"}
"""Regions beside the span: what APF and what karat calls them."""
_NOWHERE = (None, None)
_LOWER = {name: name.lower() for element in ELEMENTS.values() for name in element.attributes}
_NAME = re.compile(r"[^\W\d][\w.\-]*").fullmatch
_DIGITS = re.compile(r"[0-9]{1,18}").fullmatch
_WHOLE = re.compile(r"-?[0-9]{1,18}")


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
        self._root, self._line, self._file, self._report = root, line, file, report
        self._header = header
        self._found = 0
        """How much was told."""
        self.id = str(root.get("DOCID"))
        self._unit = self._read_unit()
        self._locators = {"charseq": self._charseq, "charspan": self._charspan}
        if self._unit != "char":
            self._locators = {"timespan": self._timespan} if self._unit == "microsecond" else {"bblist": self._bblist}
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
        for element in self._known_children(self._root, ELEMENTS["document"]):
            self._valid = _is_small(element) and dtd().validate(element)
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
            source = source_of(self.id, about.get("URI"), self._file, sources, self._report)
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
        for line, found in self._header.odd:
            self._report(UNKNOWN.at(found, file=self._file, line=line))
        for line in self._header.comments:
            self._report(COMMENT.at("a comment holds elements, which are not read", file=self._file, line=line))
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
        before = self._found
        self._read_element(element)
        if error is not None and self._found == before:
            self._tell(INVALID, element, f"<{element.tag}> is not valid by the DTD: {error.message}")

    def _read_element(self, element: Any) -> None:
        tag = element.tag
        kind, shape = KINDS[tag], ELEMENTS[tag]
        id_ = self._id(element, kind)
        attributes = self._attributes(element, shape)
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
        id_ = self._id(element, _MENTION_OF[kind])
        attributes = self._attributes(element, shape)
        regions: dict[str, Told] = {}
        for child in self._children(element, shape):
            name = child.tag
            if name in _ARGUMENTS:
                self._mention_arguments.append(self._argument(id_, child))
            elif name in regions:
                raise self._broken(child, f"mention {id_!r} has a second <{name}>")
            else:
                regions[name] = self._told(child)
        if not self._valid:
            for name in MENTIONS[kind]:
                if name not in regions:
                    raise self._broken(element, f"mention {id_!r} has no <{name}>")
        if kind == "event":
            attributes = {"type": _event_type(about), **attributes}
            self._check_inside(ANCHOR, element, id_, "anchor", regions)
            span, others = regions.pop("anchor"), regions
        elif kind == "entity":
            self._check_inside(HEAD, element, id_, "head", regions)
            span, others = regions.pop("extent"), regions
        else:
            span, others = regions["extent"], {}
        mention = self._mentions[id_] = self._made(id_, kind, cluster, attributes, span, others)
        return mention

    def _made(
        self,
        id_: str,
        kind: str,
        cluster: str,
        attributes: dict[str, Value],
        span: Told,
        others: Mapping[str, Told],
    ) -> Mention:
        texts = {_REGIONS[name]: text for name, (_, text) in others.items() if text is not None}
        if self._unit == "box":
            boxes: Any = {"span": span[0]} | {_REGIONS[name]: region for name, (region, _) in others.items()}
            return Mention(id_, (), None, None, None, kind, cluster, attributes, span[1], (), None, texts, boxes)
        head, extent, scope = (others.get(name, _NOWHERE)[0] for name in _REGIONS)
        # The fields in their order, since building by keyword takes twice as long.
        return Mention(id_, span[0], head, extent, None, kind, cluster, attributes, span[1], (), scope, texts)  # type: ignore[arg-type]

    def _name(self, element: Any) -> Name:
        attributes = self._attributes(element, ELEMENTS["name"])
        name = attributes.get("name")
        return Name(self._place(element), None if name is None else str(name))

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
        said = "which nothing in this document is called" if kind is None else f"the id of a {kind}"
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
        """A head or an anchor lies inside the extent; boxes are not compared."""
        inner, outer = regions[name][0], regions["extent"][0]
        if self._unit != "box" and not (outer[0][0] <= inner[0][0] and inner[-1][1] <= outer[-1][1]):
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
        return element if self._valid else self._known_children(element, shape)

    def _known_children(self, element: Any, shape: Element) -> Iterator[Any]:
        last = 0
        if (text := element.text) and not text.isspace():
            self._tell(UNKNOWN, element, f"text stands in <{element.tag}>: {quoted(text.strip())}")
        for child in element:
            rank = shape.children.get(child.tag)
            if rank is None:
                self._tell(UNKNOWN, child, f"<{child.tag}> stands in <{element.tag}>, where it is not known")
            else:
                if rank < last:
                    self._tell(ORDER, child, f"<{child.tag}> stands too late in <{element.tag}>")
                last = rank
                yield child
            if (text := child.tail) and not text.isspace():
                self._tell(UNKNOWN, child, f"text stands in <{element.tag}>: {quoted(text.strip())}")

    def _attributes(self, element: Any, shape: Element) -> dict[str, Value]:
        """Attributes under their names in lower case, but for the id; closed lists are checked."""
        if self._valid:
            return {_LOWER[name]: value for name, value in element.items() if name != "ID"}
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

    def _id(self, element: Any, kind: str) -> str:
        id_ = element.get("ID")
        if not id_:
            raise self._broken(element, f"<{element.tag}> has no ID")
        if not _NAME(id_):
            self._tell(ID, element, f"<{element.tag}> has the ID {quoted(id_)}, which is no XML name")
        if id_ in self._kinds:
            found = f"id {quoted(id_)} was already used in this document, for a {self._kinds[id_]}"
            raise self._error(TWICE, element, found)
        self._kinds[id_] = kind
        return str(id_)

    def _place(self, holder: Any) -> Place:
        region, text = self._told(holder)
        return Place((), text, region) if self._unit == "box" else Place(region, text)  # type: ignore[arg-type]

    def _told(self, holder: Any) -> Told:
        """The one locator inside an extent, a head, an anchor, ..."""
        if len(holder) == 1 and (read := self._locators.get(holder[0].tag)):
            return read(holder[0])
        locators = [child for child in holder if child.tag in ("charseq", "charspan", "timespan", "bblist")]
        wanted = " or ".join(f"<{name}>" for name in LOCATORS[self._unit])
        if len(locators) != 1 or locators[0].tag not in self._locators:
            said = ", ".join(f"<{locator.tag}>" for locator in locators) or "nothing"
            raise self._broken(holder, f"<{holder.tag}> holds {said}, expected one {wanted}")
        for child in holder:
            if child is not locators[0]:
                self._tell(UNKNOWN, child, f"<{child.tag}> stands in <{holder.tag}>, where it is not known")
        return self._locators[locators[0].tag](locators[0])

    def _charseq(self, locator: Any) -> Told:
        """Both offsets are those of characters."""
        start, end = locator.get("START", ""), locator.get("END", "")
        if _DIGITS(start) and _DIGITS(end) and not len(locator):
            begin, last = int(start), int(end)
            if begin <= last:
                return ((begin, last + 1),), locator.text or ""
        begin, last = self._offsets(locator)
        if last < begin:
            raise self._error(OFFSET, locator, f"<charseq> ends at {last:,}, before it starts at {begin:,}")
        return ((begin, last + 1),), self._text(locator)

    def _charspan(self, locator: Any) -> Told:
        """The end is the gap after the last character."""
        begin, end = self._offsets(locator)
        if end <= begin:
            raise self._error(OFFSET, locator, f"<charspan> from {begin:,} to {end:,} holds no character")
        return ((begin, end),), self._text(locator)

    def _offsets(self, locator: Any) -> tuple[int, int]:
        found = []
        for name in ("START", "END"):
            value = locator.get(name)
            if value is None:
                raise self._broken(locator, f"<{locator.tag}> has no {name}")
            if not (value.isascii() and _WHOLE.fullmatch(value.strip())):
                raise self._error(
                    OFFSET, locator, f"<{locator.tag}> has the {name} {quoted(value)}, which is no number"
                )
            if value != value.strip():
                self._tell(BLANKS, locator, f"blanks around {quoted(value.strip())} in {name} of <{locator.tag}>")
            found.append(int(value))
        if min(found) < 0:
            self._tell(NEGATIVE, locator, f"<{locator.tag}> has the negative offset {min(found):,}")
        return found[0], found[1]

    def _timespan(self, locator: Any) -> Told:
        """Seconds, kept as microseconds."""
        times = [self._number(locator, name).scaleb(6) for name in ("START", "END")]
        begin, end = (int(time.to_integral_value()) for time in times)
        told = f"<timespan> from {locator.get('START')} to {locator.get('END')}"
        if times != [begin, end]:
            self._tell(ROUNDED, locator, f"{told} is finer than microseconds")
        if end <= begin:
            raise self._error(OFFSET, locator, f"{told} does not end after it starts")
        if begin < 0:
            self._tell(NEGATIVE, locator, f"{told} starts before the recording")
        return ((begin, end),), None

    def _bblist(self, locator: Any) -> Told:
        """The boxes, each on a page."""
        boxes: list[Box] = []
        for box in self._children(locator, ELEMENTS["bblist"]):
            page, x, y, width, height = (self._number(box, name) for name in ("PAGE", "X", "Y", "WIDTH", "HEIGHT"))
            if page != int(page) or width <= 0 or height <= 0:
                raise self._error(OFFSET, box, "<bbox> has a PAGE that is no whole number, or no WIDTH or HEIGHT")
            boxes.append((int(page), float(x), float(y), float(width), float(height)))
        if not boxes:
            raise self._broken(locator, "<bblist> holds no <bbox>")
        return tuple(boxes), None

    def _number(self, element: Any, name: str) -> Decimal:
        value = element.get(name)
        if value is None:
            raise self._broken(element, f"<{element.tag}> has no {name}")
        try:
            number = Decimal(value)
        except InvalidOperation:
            number = Decimal("NaN")
        if not number.is_finite() or abs(number) >= 10**12 or not value.isascii():
            raise self._error(OFFSET, element, f"<{element.tag}> has the {name} {quoted(value)}, which is no number")
        return number

    def _text(self, locator: Any) -> str:
        for child in locator:
            self._tell(UNKNOWN, child, f"<{child.tag}> stands in <{locator.tag}>, where it is not known")
        return "".join([locator.text or "", *(child.tail or "" for child in locator)])

    # What is wrong, with its line.

    def _tell(self, rule: Rule, element: Any, message: str) -> None:
        self._found += 1
        self._report(rule.at(message, file=self._file, line=self._line_of(element)))

    def _broken(self, element: Any, message: str) -> Exception:
        return self._error(SHAPE, element, message)

    def _error(self, rule: Rule, element: Any, message: str) -> Exception:
        return rule.error(message, file=self._file, line=self._line_of(element))

    def _line_of(self, element: Any) -> int:
        return self._line + int(element.sourceline or 1) - 1


def _is_small(element: Any) -> bool:
    """Whether lxml can be asked about it: with many children that are wrong it takes the square of their number."""
    return len(element) < MOST and all(len(child) < MOST for child in element)


def _event_type(about: Mapping[str, Value]) -> str:
    return ".".join([str(about[name]) for name in ("type", "subtype") if name in about])


def _any(names: Mapping[str, object]) -> str:
    return " or ".join(names)


def _shown(region: Region | Boxes) -> str:
    return f"{region[0][0]:,}-{region[-1][1]:,}"
