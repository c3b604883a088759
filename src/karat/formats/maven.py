"""MAVEN and MAVEN-Arg: events with all their mentions, and arguments of events; one document per line. Only read.

MAVEN has sentences of tokens; offsets count the tokens of the sentence:

    {"id": "d1", "title": "...", "content": [{"sentence": "Rebels attacked.", "tokens": ["Rebels", "attacked", "."]}],
     "events": [{"id": "E1", "type": "Attack",
                 "mention": [{"id": "m1", "trigger_word": "attacked", "sent_id": 0, "offset": [1, 2]}]}]}

MAVEN-Arg has a text and arguments; offsets count its characters:

    {"id": "d1", "document": "Rebels attacked.", "entities": [{"id": "N1", "type": "Organization",
                                                    "mention": [{"id": "n1", "mention": "Rebels", "offset": [0, 6]}]}],
     "events": [{"id": "E1", "type": "Attack", "mention": [{"id": "m1", "trigger_word": "attacked", "offset": [7, 15]}],
                 "argument": {"Agent": [{"entity_id": "N1"}], "Time": [{"content": "...", "offset": [20, 24]}]}}]}

An event is the cluster of its mentions, an entity that of its mentions. Arguments belong to the event: each of its
mentions has a link to the entity as a whole, or to a mention of kind `argument` where the file has just a text.
`negative_triggers` are kept as what the file says about the document.

A submission to MAVEN-Arg has strings for the roles of triggers, and can only be read as a system: gold's documents say
where the triggers are. A trigger of `negative_triggers` is an event that gold does not have:

    {"id": "d1", "preds": {"m1": {"event_type": "Attack", "Agent": ["the rebels"]}}}

The form that MAVEN-Arg's own program and OmniEvent read is also read: `text`, and `events` with `triggers`, which have
a `position` and `arguments` with `role` (perhaps after the type and a dot) and `mentions`. There an argument with one
mention is this mention, and one with several is an entity as a whole.

Gold with arguments is scored by `maven-arg-2024`, gold without by `exact-2013`.
"""

from collections.abc import Iterable

import msgspec
from msgspec import Struct

from karat.formats._events import EventDocument, event_format, typed
from karat.formats._text import DANGLING
from karat.model import Document, Id, Mention, qualified
from karat.plugin.formats import GoldDocuments
from karat.problems import Rule, quoted

SHAPE = Rule(
    "maven-shape",
    "fatal",
    'A line has "id", "events", and "content" (MAVEN) or "document" (MAVEN-Arg); or "id" and "preds" (a submission).',
)
NEEDS_GOLD = Rule(
    "maven-needs-gold",
    "fatal",
    "Score it with gold: karat score GOLD SUBMISSION. Check it with: karat validate SUBMISSION --against GOLD.",
)
EMPTY_ROLE = Rule("maven-role-empty", "note", "Omit roles without a string; they count as not given.")

NEGATIVE = "negative_triggers"

_Span = tuple[int, int]


class _Sentence(Struct, frozen=True):
    tokens: tuple[str, ...]


class _Mention(Struct, frozen=True, gc=False):
    """A mention of an event or an entity, in any of the forms."""

    id: str | None = None
    trigger_word: str | None = None
    mention: str | None = None
    sent_id: int | None = None
    offset: _Span | None = None
    position: _Span | None = None


class _Filler(Struct, frozen=True, gc=False):
    entity_id: str | None = None
    content: str | None = None
    offset: _Span | None = None


class _Argument(Struct, frozen=True):
    role: str
    mentions: tuple[_Mention, ...]


class _Trigger(Struct, frozen=True):
    position: _Span
    id: str | None = None
    trigger_word: str | None = None
    arguments: tuple[_Argument, ...] = ()


class _Event(Struct, frozen=True):
    type: str | None = None
    id: str | None = None
    mention: tuple[_Mention, ...] = ()
    argument: dict[str, tuple[_Filler, ...]] = {}
    triggers: tuple[_Trigger, ...] = ()


class _Entity(Struct, frozen=True):
    id: str | None = None
    type: str | None = None
    mention: tuple[_Mention, ...] = ()
    mentions: tuple[_Mention, ...] = ()


class _Record(Struct, frozen=True):
    id: Id
    title: str | None = None
    content: tuple[_Sentence, ...] | None = None
    document: str | None = None
    text: str | None = None
    events: tuple[_Event, ...] = ()
    entities: tuple[_Entity, ...] = ()
    negative_triggers: tuple[_Mention, ...] = ()
    preds: dict[str, dict[str, str | tuple[str, ...] | None]] | None = None


_negative = msgspec.json.Decoder(dict[str, _Span])


def _read(record: _Record, content: EventDocument) -> Document:
    if record.preds is not None:
        gold = content.context.options.gold
        if gold is None:
            message = "this is a submission to MAVEN-Arg, which names the triggers of gold by their ids"
            raise content.refusal(NEEDS_GOLD, message)
        return _submitted(record.preds, content, gold)
    content.refuse_unit("char" if record.content is None else "token")
    reader = _Reader(record, content)
    reader.read()
    return reader.document()


class _Reader:
    """Reads the events and entities of a document."""

    def __init__(self, record: _Record, content: EventDocument) -> None:
        self._record, self._content = record, content
        if record.content is not None:
            content.add_sentences([sentence.tokens for sentence in record.content])
        self._entities: dict[_Span, tuple[str, str]] = {}
        """Id and cluster of the entity mention at a place."""

    def read(self) -> None:
        """Add entities, then events with their arguments."""
        for index, entity in enumerate(self._record.entities, 1):
            self._add_entity(entity.id or f"entity-{index}", entity.type, (*entity.mention, *entity.mentions))
        for index, event in enumerate(self._record.events, 1):
            cluster = qualified(self._record.id, event.id or f"event-{index}")
            for mention in event.mention:
                self._add_event(event, mention.id, mention.trigger_word, self._place(mention), cluster)
            for trigger in event.triggers:
                self._add_event(event, trigger.id, trigger.trigger_word, trigger.position, cluster, trigger.arguments)

    def _place(self, mention: _Mention) -> _Span:
        """Where a mention is in the document."""
        offset = mention.position if mention.offset is None else mention.offset
        if offset is None:
            raise self._content.refusal(SHAPE, f"mention {quoted(mention.id or '')} has no offset")
        if self._record.content is None:
            return offset
        return self._content.in_sentence(quoted(mention.id or ""), mention.sent_id, *offset)

    def _add_entity(self, id_: str, type_: str | None, mentions: tuple[_Mention, ...]) -> None:
        cluster = qualified(self._record.id, id_)
        for position, mention in enumerate(mentions, 1):
            span = self._place(mention)
            entity = Mention(
                mention.id or f"{id_}-{position}",
                (span,),
                kind="entity",
                cluster=cluster,
                attributes=typed(type_),
                text=mention.mention,
            )
            self._content.add_entity(entity)
            self._entities.setdefault(span, (entity.id, cluster))

    def _add_event(
        self,
        event: _Event,
        id_: str | None,
        text: str | None,
        span: _Span,
        cluster: str,
        arguments: tuple[_Argument, ...] = (),
    ) -> None:
        id_ = id_ or f"trigger-{self._content.events + 1}"
        if not self._content.add_event(Mention(id_, (span,), cluster=cluster, attributes=typed(event.type), text=text)):
            return
        for role, fillers in event.argument.items():
            for filler in fillers:
                self._add_filler(id_, role, filler)
        for argument in arguments:
            role = argument.role.removeprefix(f"{event.type}.")
            self._add_argument(id_, role, argument.mentions)

    def _add_filler(self, event: str, role: str, filler: _Filler) -> None:
        if filler.entity_id is not None:
            target = qualified(self._record.id, filler.entity_id)
            self._content.link(event, role, target, name=filler.entity_id)
        elif filler.offset is not None:
            self._content.fill(event, role, *filler.offset, filler.content)
        else:
            raise self._content.refusal(SHAPE, f"the {role} of {event!r} has neither an entity_id nor an offset")

    def _add_argument(self, event: str, role: str, mentions: tuple[_Mention, ...]) -> None:
        places = [self._place(mention) for mention in mentions]
        if len(places) == 1:
            known = self._entities.get(places[0])
            if known is None:
                self._content.fill(event, role, *places[0], mentions[0].mention)
            else:
                self._content.link(event, role, known[0])
        elif places:
            if places[0] not in self._entities:
                self._add_entity(f"filler-{len(self._entities) + 1}", None, mentions)
            if places[0] in self._entities:
                self._content.link(event, role, self._entities[places[0]][1])

    def document(self) -> Document:
        record, content = self._record, self._content
        about = {} if record.title is None else {"title": record.title}
        negative = {trigger.id: self._place(trigger) for trigger in record.negative_triggers if trigger.id}
        if negative:
            about[NEGATIVE] = msgspec.json.encode(negative).decode()
        if record.content is not None:
            return content.document(about=about)
        text = record.text if record.document is None else record.document
        return content.document(text=text, about=about)


def _submitted(
    preds: dict[str, dict[str, str | tuple[str, ...] | None]], content: EventDocument, gold: GoldDocuments
) -> Document:
    """A system's document, with its triggers where gold has them."""
    document = gold.read(content.id)
    if document is None:
        return Document(content.id)
    triggers = {mention.id: mention for mention in document.mentions if mention.kind == "event"}
    negative = _negative.decode(document.about.get(NEGATIVE, "{}"))
    for id_, roles in preds.items():
        type_ = roles.get("event_type")
        attributes = typed(type_ if isinstance(type_, str) else None)
        if id_ in triggers:
            content.add_event(Mention(id_, triggers[id_].span, attributes=attributes, text=triggers[id_].text))
        elif id_ in negative:
            content.add_event(Mention(id_, (negative[id_],), attributes=attributes))
        else:
            message = f"{quoted(id_)} is not a trigger of document {quoted(content.id)} in gold"
            content.report(DANGLING, message, found=id_)
            continue
        _add_strings(id_, roles, content)
    return content.document(unit=document.unit)


def _add_strings(event: str, roles: dict[str, str | tuple[str, ...] | None], content: EventDocument) -> None:
    for role, strings in roles.items():
        if role == "event_type":
            continue
        if not isinstance(strings, tuple):
            raise content.refusal(SHAPE, f"the {role} of trigger {quoted(event)} is not a list of strings")
        if not strings:
            content.report(EMPTY_ROLE, f"the {role} of trigger {quoted(event)} has no string", found=event)
        for string in strings:
            content.fill_text(event, role, string)


def choose_protocols(documents: Iterable[Document]) -> tuple[str, ...]:
    """Choose by whether events have arguments."""
    return WITH_ARGUMENTS if any(document.links for document in documents) else TRIGGERS


WITH_ARGUMENTS = ("maven-arg-2024",)
TRIGGERS = ("exact-2013",)

FORMAT = event_format(
    "maven",
    _Record,
    SHAPE,
    _read,
    key="id",
    unit="named",
    title="MAVEN, MAVEN-Arg and its submissions, JSON lines",
    about=__doc__,
    protocols=(*WITH_ARGUMENTS, *TRIGGERS),
    choose_protocols=choose_protocols,
    reasons={WITH_ARGUMENTS[0]: "with arguments", TRIGGERS[0]: "without arguments"},
    refers_to_gold=True,
)
