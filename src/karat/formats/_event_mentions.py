"""Entity and event mentions as TextEE, OneIE and WikiEvents write them: with ids, and offsets in tokens."""

from msgspec import Raw, Struct

from karat.errors import Rule
from karat.formats._event_document import EventDocument, typed
from karat.model import Id, Mention

OFFSETS = Rule("argument-offsets", "fault", "Correct one of the two; the offsets of the entity mention count.")


class EntityMention(Struct, frozen=True, gc=False):
    """A mention of an entity, a value or a time."""

    id: Id
    start: int
    end: int
    entity_type: str | None = None
    entity_subtype: str | None = None
    mention_type: str | None = None
    text: str | None = None


class Trigger(Struct, frozen=True, gc=False):
    """The words that express an event."""

    start: int
    end: int
    text: str | None = None


class Argument(Struct, frozen=True, gc=False):
    """An entity mention in its role; only some files repeat its offsets."""

    entity_id: str
    role: str
    start: int | None = None
    end: int | None = None


class EventMention(Struct, frozen=True, gc=False):
    """An event at its trigger."""

    id: Id
    trigger: Trigger
    event_type: str | None = None
    arguments: tuple[Argument, ...] = ()


class Annotated(Struct, frozen=True, kw_only=True):
    """What the files have in common: a document, a sentence or a window of tokens."""

    tokens: tuple[str, ...] | None = None
    entity_mentions: tuple[EntityMention, ...] = ()
    event_mentions: tuple[EventMention, ...] | None
    relation_mentions: tuple[Raw, ...] = ()


def add_mentions(annotated: Annotated, to: EventDocument, clusters: dict[str, str] | None = None) -> None:
    """Add everything; `clusters` has the clusters of entity mentions, by id, as far as they are known."""
    clusters = clusters or {}
    for one in annotated.entity_mentions:
        attributes = typed(one.entity_type)
        if one.entity_subtype:
            attributes["subtype"] = one.entity_subtype
        if one.mention_type:
            attributes["mention_type"] = one.mention_type
        to.add_entity(
            Mention(
                one.id,
                ((one.start, one.end),),
                kind="entity",
                cluster=clusters.get(one.id),
                attributes=attributes,
                text=one.text,
            )
        )
    for event in annotated.event_mentions or ():
        trigger = event.trigger
        span = ((trigger.start, trigger.end),)
        if to.add_event(Mention(event.id, span, attributes=typed(event.event_type), text=trigger.text)):
            for argument in event.arguments:
                to.link(event.id, argument.role, argument.entity_id)
                if argument.start is not None or argument.end is not None:
                    _compare_offsets(event, argument, to)
    to.report_unread(annotated.relation_mentions)


def _compare_offsets(event: EventMention, argument: Argument, to: EventDocument) -> None:
    entity = to.entity(argument.entity_id)
    if entity is not None and entity.span != ((argument.start, argument.end),):
        own, others = f"{argument.start} to {argument.end}", "{} to {}".format(*entity.span[0])
        message = f"the {argument.role} of {event.id!r} goes from {own}, but entity mention {entity.id!r} from {others}"
        to.tell(OFFSETS, message, found=argument.entity_id)
