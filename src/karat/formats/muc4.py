"""MUC-4 templates as GRIT, GTT and IterX write them: roles filled with strings. Only read.

Gold has one document per line, with one table of roles (`extracts`, as in GRIT) or with templates (`templates`, as in
GTT and IterX). A role has a list of entities, and an entity a list of strings with their offsets:

    {"docid": "TST1-MUC3-0001", "doctext": "a bomb ...", "extracts": {"PerpInd": [], "Weapon": [[["a bomb", 0]]]}}
    {"docid": "TST1-MUC3-0002", "doctext": "...",
     "templates": [{"incident_type": "bombing", "Weapon": [[["bomb", 2]]]}]}

Systems of GRIT and GTT write one object with all documents by number. The number is the last digit of the first part of
the id times 10000, plus the last part; gold's documents tell which id that is, and an id is as good as its number:

    {"10001": {"pred_extracts": {"Weapon": [["a bomb"]]}}}
    {"10002": {"pred_templates": [{"incident_type": "bombing", "Weapon": [["bomb"]]}]}}

Systems of IterX write one document per line; several lines of one document add up. Names of roles may be in lower case,
and other roles than PerpInd, PerpOrg, Target, Victim and Weapon are left out, with a note:

    {"TST1-MUC3-0002": [{"incident_type": "bombing", "Weapon": [["bomb"]]}]}

A template is a mention of kind `template` without a span; its type is the type of the incident. Each entity of a
template is a cluster, its strings are mentions, and the role is a link from the template to the cluster. An entity in
two templates is two clusters. Offsets are those of the first occurrence of a string in the text, and nothing is matched
by them. Entities without strings are left out, with a note. Gold with types is scored by `gtt-2021` and `rme-2023`,
gold without by `ree-2021`.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from karat.formats._events import EventDocument, typed
from karat.formats._forms import recognises
from karat.formats._json import Unreadable, decoded, entries, lines_with, record_of, values
from karat.model import Document, Id, Mention, Places, Region, qualified
from karat.plugin.formats import Context, Format, GoldDocuments, Piece, ReadOptions
from karat.problems import KaratError, Rule, quoted

TYPE = "incident_type"
ROLES = {role.lower(): role for role in ("PerpInd", "PerpOrg", "Target", "Victim", "Weapon")}
"""The roles that IterX knows, by their names in lower case."""

SHAPE = Rule(
    "muc4-shape",
    "fatal",
    'Write roles as lists of entities, and entities as lists of strings: {"Target": [[["the bridge", 5], ...], ...]}.',
)
NUMBER = Rule("muc4-number", "fatal", "Give the document by its id.")
EMPTY = Rule("muc4-entity-empty", "note", "Write at least one string for each entity.")
ROLE = Rule("muc4-role-unknown", "note", f"IterX knows the roles {', '.join(ROLES.values())}; others are left out.")


class _Located(Struct, frozen=True, gc=False, array_like=True):
    string: str
    offset: int | None = None


_Entity = tuple[str | _Located, ...]
_Template = dict[str, str | float | bool | tuple[_Entity, ...] | None]


class _Gold(Struct, frozen=True):
    docid: Id
    doctext: str | None = None
    extracts: _Template | None = None
    templates: tuple[_Template, ...] | None = None


class _System(Struct, frozen=True):
    pred_extracts: _Template | None = None
    pred_templates: tuple[_Template, ...] | None = None


_gold = msgspec.json.Decoder(_Gold)
_system = msgspec.json.Decoder(_System)
_templates = msgspec.json.Decoder(tuple[_Template, ...])
_keys = msgspec.json.Decoder(dict[str, Raw])


def _has_gold_in_lines(lines: Iterable[bytes], options: ReadOptions) -> bool:
    """Return whether the first line is a document of gold: only such lines are read one by one."""
    del options
    keys = _keys_of(next(iter(lines), b""))
    return keys is not None and "docid" in keys


def _keys_of(data: bytes) -> Mapping[str, Raw] | None:
    try:
        return _keys.decode(data)
    except Unreadable:
        return None


def read(piece: Piece, context: Context) -> Iterator[Document]:
    """Gold's documents, and those of a system by their keys; lines of one key are one document."""
    by_key: dict[str, list[Piece]] = {}
    for value in values(piece):
        keys = _keys_of(value.data)
        if keys is None or "docid" in keys:
            yield from _reported(_gold_document, [value], context)
            continue
        for entry in entries(value):
            if entry.data.startswith(b"["):
                by_key.setdefault(entry.id, []).append(entry)
            else:
                yield from _reported(_system_document, [entry], context)
    for lines in by_key.values():
        yield from _reported(_system_document, lines, context)


def _reported(
    document: Callable[[list[Piece], Context], Document], lines: list[Piece], context: Context
) -> Iterator[Document]:
    """The document in these values, unless it cannot be read."""
    try:
        read = document(lines, context)
    except KaratError as error:
        context.report(error.finding)
    else:
        yield read.at(Places(lines[0].line))


def _gold_document(lines: list[Piece], context: Context) -> Document:
    (value,) = lines
    gold = record_of(value, _gold.decode, SHAPE, context)
    content = EventDocument(gold.docid, context, value)
    reader = _Reader(content, text=gold.doctext or None)
    reader.add(gold.extracts, gold.templates)
    return reader.document()


def _system_document(lines: list[Piece], context: Context) -> Document:
    first, gold = lines[0], context.options.gold
    file = first.name
    id_ = first.id if gold is None else _id(first.id, gold, file, first.line)
    if not id_:
        raise SHAPE.error("the document has no id", file=file, line=first.line)
    is_iterx = first.data.startswith(b"[")
    reader = _Reader(EventDocument(id_, context, first), is_iterx=is_iterx)
    for value in lines:
        if is_iterx:
            reader.add(None, decoded(_templates.decode, value.data, SHAPE, file=file, line=value.line))
        else:
            system = decoded(_system.decode, value.data, SHAPE, file=file, line=value.line)
            reader.add(system.pred_extracts, system.pred_templates)
    return reader.document()


def _id(key: str, gold: GoldDocuments, file: str, line: int) -> str:
    """The id of the document that a system calls by its number; any other key is an id itself."""
    ids = gold.ids()
    if key in ids or not (key.isdecimal() and key.isascii() and len(key) < 19):
        return key
    matches = _by_number(gold).get(int(key), [])
    if len(matches) > 1:
        message = f"document {key} is {quoted(matches[0])} or {quoted(matches[1])} of gold"
        raise NUMBER.error(message, file=file, line=line, found=key)
    return matches[0] if matches else key


@lru_cache(maxsize=1)
def _by_number(gold: GoldDocuments) -> dict[int, list[str]]:
    """The ids of gold's documents, by their numbers."""
    by_number: dict[int, list[str]] = {}
    for id_ in gold.ids():
        if (number := _number(id_)) is not None:
            by_number.setdefault(number, []).append(id_)
    return by_number


def _number(id_: str) -> int | None:
    """The number of a document: 10001 for TST1-MUC3-0001."""
    first, *_, last = id_.split("-")
    digits = first[-1:] + last
    if not (first[-1:].isdecimal() and last.isdecimal() and digits.isascii() and len(digits) < 19):
        return None
    return int(first[-1]) * 10000 + int(last)


class _Reader:
    """Adds templates to a document."""

    def __init__(self, content: EventDocument, *, text: str | None = None, is_iterx: bool = False) -> None:
        content.refuse_unit("char")
        self._content, self._text, self._is_iterx = content, text, is_iterx

    def add(self, extracts: _Template | None, templates: tuple[_Template, ...] | None) -> None:
        """Add templates, or the one that is the table of a document."""
        if extracts is None and templates is None:
            raise self._content.refusal(SHAPE, f"document {quoted(self._content.id)} has no templates and no extracts")
        if extracts is not None:
            self._add(extracts)
        for template in templates or ():
            self._add(template)

    def _add(self, template: Mapping[str, object]) -> None:
        type_ = template.get(TYPE)
        id_ = f"template-{self._content.events + 1}"
        attributes = typed(type_ if isinstance(type_, str) else None)
        self._content.add_event(Mention(id_, (), kind="template", attributes=attributes))
        for name, entities in template.items():
            role = ROLES.get(name.lower()) if self._is_iterx else name
            if name == TYPE:
                continue
            if role is None:
                self._content.report(
                    ROLE, f"document {quoted(self._content.id)} has the role {quoted(name)}", found=name
                )
            elif isinstance(entities, tuple):
                self._add_entities(id_, role, entities)
            elif entities is not None:
                message = f"the {name} of a template of document {quoted(self._content.id)} is not a list"
                raise self._content.refusal(SHAPE, message, found=name)

    def _add_entities(self, template: str, role: str, entities: tuple[_Entity, ...]) -> None:
        for number, strings in enumerate(entities, 1):
            if not strings:
                self._content.report(EMPTY, f"document {quoted(self._content.id)} has a {role} without a string")
                continue
            cluster = qualified(self._content.id, f"{template}-{role}-{number}")
            for position, string in enumerate(strings, 1):
                text = string if isinstance(string, str) else string.string
                self._content.add_entity(
                    Mention(
                        f"{template}-{role}-{number}-{position}",
                        self._span(string),
                        kind="entity",
                        cluster=cluster,
                        text=text,
                    )
                )
            self._content.link(template, role, cluster)

    def _span(self, string: str | _Located) -> Region:
        """The place of a string in gold's text, if the file has both."""
        if isinstance(string, str) or self._text is None or string.offset is None or not string.string:
            return ()
        return ((string.offset, string.offset + len(string.string)),)

    def document(self) -> Document:
        return self._content.document(text=self._text)


def choose_protocols(documents: Iterable[Document]) -> tuple[str, ...]:
    """Choose by whether templates have types."""
    templates = (mention for document in documents for mention in document.mentions if mention.kind == "template")
    return TYPED if any("type" in template.attributes for template in templates) else UNTYPED


TYPED = ("gtt-2021", "rme-2023")
UNTYPED = ("ree-2021",)

FORMAT = Format(
    title="MUC-4 templates of GRIT, GTT and IterX, JSON",
    about=__doc__,
    suffixes=(".muc4.json", ".muc4.jsonl"),
    unit="char",
    protocols=(*TYPED, *UNTYPED),
    choose_protocols=choose_protocols,
    reasons={TYPED[0]: "with types", UNTYPED[0]: "without types"},
    sniff=recognises("muc4"),
    read=read,
    marker=replace(lines_with("docid"), applies=_has_gold_in_lines),
    refers_to_gold=True,
    global_ids="none",
)
