"""Rich ERE XML (and its event nugget files): entities, fillers and event hoppers of one document. Only read.

    <deft_ere doc_id="D1" source_type="multi_post">
      <entities><entity id="ent-1" type="PER" specificity="specific">
        <entity_mention id="m-1" noun_type="NAM" offset="10" length="4"><mention_text>Anna</mention_text>
      <fillers><filler id="f-1" type="time" offset="40" length="6">Monday</filler>
      <hoppers><hopper id="h-1"><event_mention id="em-1" type="contact" subtype="broadcast" realis="actual">
        <trigger offset="15" length="4">said</trigger>
        <em_arg entity_mention_id="m-1" role="entity" realis="true">Anna</em_arg>

A hopper is the cluster of its event mentions, and an entity that of its mentions. Fillers are mentions of kind `value`.
The type of an event is its type and subtype, capitalised and joined as in TAC (`Contact_Broadcast`); its realis is also
capitalised. An argument is a link whose kind is the role. Mentions are in the order of the file; two event
mentions with one trigger (double tagging) are ordinary. Offsets count code points of the source file as distributed,
including its markup; karat does not read that file.
"""

from collections.abc import Iterator
from typing import Any

from karat.formats._events import default_realis
from karat.formats._text import DANGLING, TWICE
from karat.formats._xml import ElementReader, other_attributes, root_of
from karat.model import Cluster, Document, Link, Mention, Places, Region, Value, compact_lines, qualified
from karat.plugin.formats import Context, Format, Piece
from karat.problems import Rule

SHAPE = Rule("ere-shape", "fatal", "Compare the element with the Rich ERE guidelines and correct it.")
SPAN = Rule("ere-span", "fatal", 'Give offset="N" and length="N" in whole numbers, the length at least 1.')
UNIT = Rule("ere-unit", "fatal", "Omit --unit token; Rich ERE counts characters.")
UNREAD = Rule("ere-unread", "note", "No action needed; no score uses them.")


def sniff(head: bytes) -> bool:
    """The root element is near the beginning."""
    return b"<deft_ere" in head


def read(piece: Piece, context: Context) -> Iterator[Document]:
    """Read one file."""
    file = piece.name
    if context.options.unit == "token":
        raise UNIT.error("offsets of a Rich ERE file do not count tokens", file=file)
    yield _Reader(root_of(piece.data, file=file), file, context).document()


class _Reader(ElementReader):
    """Reads a file section by section; arguments are resolved at the end, when all mentions are known."""

    def __init__(self, root: Any, file: str, context: Context) -> None:
        super().__init__(root, "deft_ere", file, context.report, SHAPE)
        self._context = context
        self._id = self.needed(root, "doc_id")
        self._mentions: dict[str, Mention] = {}
        self._clusters: list[Cluster] = []
        self._links: list[Link] = []
        self._arguments: list[tuple[str, Any]] = []
        self._cluster_ids: set[str] = set()
        self._mention_lines: list[int] = []
        self._cluster_lines: list[int] = []
        self._link_lines: list[int] = []

    def document(self) -> Document:
        """Read every known section, and report the others."""
        for section in self.root:
            if section.tag == "entities":
                self._entities(section)
            elif section.tag == "fillers":
                self._fillers(section)
            elif section.tag == "hoppers":
                self._hoppers(section)
            elif len(section):
                self.warn(UNREAD, section, f"<{section.tag}> is not read ({len(section):,} elements)")
        self._resolve_arguments()
        document = Document(
            self._id,
            source=self.root.get("source_type"),
            mentions=tuple(self._mentions.values()),
            clusters=tuple(self._clusters),
            links=tuple(self._links),
        )
        mentions, clusters, links = map(compact_lines, (self._mention_lines, self._cluster_lines, self._link_lines))
        return document.at(Places(1, mentions, clusters, links))

    def _entities(self, section: Any) -> None:
        for entity in section.iterchildren("entity"):
            id_ = self._cluster(entity)
            self._clusters.append(Cluster(id_, "entity", other_attributes(entity, "id")))
            self._cluster_lines.append(entity.sourceline)
            for mention in entity.iterchildren("entity_mention"):
                type_: dict[str, Value] = {"type": entity.get("type")} if entity.get("type") else {}
                head, text = mention.find("nom_head"), mention.find("mention_text")
                self._add(
                    mention,
                    Mention(
                        self.needed(mention, "id"),
                        self._span(mention),
                        head=None if head is None else self._span(head),
                        kind="entity",
                        cluster=id_,
                        attributes=type_ | other_attributes(mention, "id", "source", "offset", "length", "type"),
                        text=None if text is None else _text(text),
                    ),
                )

    def _fillers(self, section: Any) -> None:
        for filler in section.iterchildren("filler"):
            attributes = other_attributes(filler, "id", "source", "offset", "length")
            id_, span = self.needed(filler, "id"), self._span(filler)
            self._add(filler, Mention(id_, span, kind="value", attributes=attributes, text=_text(filler)))

    def _hoppers(self, section: Any) -> None:
        for hopper in section.iterchildren("hopper"):
            cluster = self._cluster(hopper)
            for mention in hopper.iterchildren("event_mention"):
                self._event(mention, cluster)

    def _event(self, element: Any, cluster: str) -> None:
        id_, trigger = self.needed(element, "id"), element.find("trigger")
        if trigger is None:
            raise self.error(SHAPE, element, f"event mention {id_!r} has no <trigger>")
        attributes: dict[str, Value] = {}
        if type_ := "_".join(_capitalised(element.get(name)) for name in ("type", "subtype") if element.get(name)):
            attributes["type"] = type_
        if realis := _capitalised(element.get("realis", "")):
            attributes["realis"] = realis
        attributes |= other_attributes(element, "id", "type", "subtype", "realis")
        span = self._span(trigger)
        self._add(element, Mention(id_, span, cluster=cluster, attributes=attributes, text=_text(trigger)))
        self._arguments += [(id_, argument) for argument in element.iterchildren("em_arg")]

    def _resolve_arguments(self) -> None:
        """Link each event mention to its arguments."""
        not_real = [argument for _, argument in self._arguments if argument.get("realis") == "false"]
        if not_real:
            message = f"the realis of arguments is not read ({len(not_real):,} are false here)"
            self.warn(UNREAD, not_real[0], message)
        for event, argument in self._arguments:
            target = argument.get("entity_mention_id") or argument.get("filler_id")
            role = self.needed(argument, "role")
            if target in self._mentions:
                self._links.append(Link(role, event, target))
                self._link_lines.append(argument.sourceline)
            else:
                message = f"the {role} of {event!r} names {target!r}, which is not a mention of this document"
                self.warn(DANGLING, argument, message)

    def _add(self, element: Any, mention: Mention) -> None:
        if mention.id in self._mentions:
            message = f"mention id {mention.id!r} was already used in this document"
            raise self.error(TWICE, element, message)
        self._mentions[mention.id] = mention
        self._mention_lines.append(element.sourceline)

    def _cluster(self, element: Any) -> str:
        """The corpus-wide id of an entity or a hopper."""
        id_ = qualified(self._id, self.needed(element, "id"))
        if id_ in self._cluster_ids:
            message = f"<{element.tag}> id {element.get('id')!r} was already used in this document"
            raise self.error(TWICE, element, message)
        self._cluster_ids.add(id_)
        return id_

    def _span(self, element: Any) -> Region:
        numbers = [element.get(name, "") for name in ("offset", "length")]
        whole = all(n.isdecimal() and n.isascii() and len(n) < 19 for n in numbers)
        if not whole or int(numbers[1]) == 0:
            message = f"<{element.tag}> has the offset {numbers[0]!r} and the length {numbers[1]!r}"
            finding = SPAN.at(message, file=self.file, line=element.sourceline)
            return (self._context.misplaced(finding, numbers),)
        begin = int(numbers[0])
        return ((begin, begin + int(numbers[1])),)


def _text(element: Any) -> str | None:
    return "".join(element.itertext()) or None


def _capitalised(word: str) -> str:
    return word[:1].upper() + word[1:]


FORMAT = Format(
    title="Rich ERE XML",
    about=__doc__,
    suffixes=(".rich_ere.xml", ".event_nugget.xml", ".ere.xml"),
    protocols=("tac-2017",),
    sniff=sniff,
    read=read,
    complete=default_realis,
    global_ids="none",
)
