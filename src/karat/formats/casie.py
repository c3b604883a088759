"""CASIE: cybersecurity events with arguments in the characters of a text, one document per file. Only read.

    {"sourcefile": "10.txt", "content": "Hackers stole data.",
     "cyberevent": {"hopper": [{"index": "H1", "events": [
       {"index": "E1", "type": "Attack", "subtype": "Databreach", "realis": "Actual",
        "nugget": {"index": "T1", "text": "stole", "startOffset": 8, "endOffset": 13},
        "argument": [{"index": "T2", "text": "Hackers", "type": "Person", "startOffset": 0, "endOffset": 7,
                      "role": {"type": "Attacker"}}]}]}]}}

The id of a document is `sourcefile` without `.txt`. Offsets count characters, and ends are exclusive. A hopper is the
cluster of its events. The type of an event is its type and subtype, joined as in Rich ERE (`Attack_Databreach`). An
argument is a mention of kind `entity`, one for each span and type. Relations of hoppers are not read.

Systems use the same form. A file may also have one document per line.
"""

from msgspec import Struct

from karat.formats._events import EventDocument, event_format, typed
from karat.model import Document, Id, Mention, qualified
from karat.problems import Rule

SHAPE = Rule(
    "casie-shape",
    "fatal",
    'A document is {"sourcefile": ..., "content": ..., "cyberevent": {"hopper": [{"events": [...]}]}}.',
)


class _Role(Struct, frozen=True, gc=False):
    type: str


class _Nugget(Struct, frozen=True, gc=False, rename="camel"):
    start_offset: int
    end_offset: int
    text: str | None = None


class _Argument(_Nugget, frozen=True, gc=False, rename="camel", kw_only=True):
    role: _Role
    type: str | None = None


class _Event(Struct, frozen=True):
    nugget: _Nugget
    type: str | None = None
    subtype: str | None = None
    realis: str | None = None
    argument: tuple[_Argument, ...] | None = None


class _Hopper(Struct, frozen=True):
    events: tuple[_Event, ...]


class _Hoppers(Struct, frozen=True):
    hopper: tuple[_Hopper, ...]


class _Record(Struct, frozen=True):
    sourcefile: Id
    content: str
    cyberevent: _Hoppers


def _read(record: _Record, content: EventDocument) -> Document:
    entities: dict[tuple[int, int, str | None], str] = {}
    for number, hopper in enumerate(record.cyberevent.hopper, 1):
        for event in hopper.events:
            _add_event(event, qualified(content.id, f"hopper-{number}"), entities, content)
    return content.document(text=record.content)


def _id(source: str) -> str:
    return source.removesuffix(".txt") or source


def _add_event(
    event: _Event, cluster: str, entities: dict[tuple[int, int, str | None], str], content: EventDocument
) -> None:
    """Add an event and its arguments; `entities` has the arguments so far."""
    attributes = typed("_".join(filter(None, (event.type, event.subtype))))
    if event.realis:
        attributes["realis"] = event.realis
    id_, nugget = f"event-{content.events + 1}", event.nugget
    span = (nugget.start_offset, nugget.end_offset)
    if not content.add_event(Mention(id_, (span,), cluster=cluster, attributes=attributes, text=nugget.text)):
        return
    for argument in event.argument or ():
        key = (argument.start_offset, argument.end_offset, argument.type)
        if key not in entities:
            entities[key] = f"entity-{len(entities) + 1}"
            attributes = typed(argument.type)
            content.add_entity(
                Mention(entities[key], (key[:2],), kind="entity", attributes=attributes, text=argument.text)
            )
        content.link(id_, argument.role.type, entities[key])


FORMAT = event_format(
    "casie",
    _Record,
    SHAPE,
    _read,
    key="sourcefile",
    unit="char",
    id_of=_id,
    title="CASIE, JSON",
    about=__doc__,
    protocols=("textee-2024",),
)
