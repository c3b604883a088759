"""TextEE: windows of tokens with entity mentions, event mentions and their arguments, one window per line.

    {"doc_id": "d1", "wnd_id": "d1-0", "text": "Rebels attacked the town", "lang": "en",
     "tokens": ["Rebels", "attacked", "the", "town"],
     "entity_mentions": [{"id": "d1-0-E0", "entity_type": "ORG", "text": "Rebels", "start": 0, "end": 1}],
     "event_mentions": [{"id": "d1-0-EV0", "event_type": "Conflict:Attack",
                         "trigger": {"text": "attacked", "start": 1, "end": 2},
                         "arguments": [{"entity_id": "d1-0-E0", "role": "Attacker", "text": "Rebels",
                                        "start": 0, "end": 1}]}]}

A window is a document whose id is `wnd_id`; `doc_id` is kept if it differs. Offsets count the tokens of the window,
and ends are exclusive. Entity mentions come first, then event mentions, each in the order of the file. An argument is a
link from the event mention to the entity mention that it names; its own offsets, where it has any, must be those of the
entity mention. Relations between entities are not read.

Systems use the same form. A window that the system lacks is one without events. Windows and tokens depend on
preprocessing: only files of the same preprocessing can be compared.
"""

from typing import Any

import msgspec

from karat.formats._events import Annotated, EventDocument, EventMention, add_mentions, event_format
from karat.formats._writing import ENTITY_ATTRIBUTES, Writable, text_value
from karat.model import Document, Id, Mention
from karat.plugin.formats import ReportLoss, WriteOptions
from karat.problems import Rule

UNWRITABLE = Rule(
    "textee-unwritable", "fatal", "TextEE holds windows of tokens with their words; jsonl holds everything."
)


def write(document: Document, options: WriteOptions, report_loss: ReportLoss) -> bytes:
    """The line of one window; what TextEE cannot hold is reported."""
    del options
    window = Writable(
        document,
        UNWRITABLE,
        report_loss,
        lost=(),
        holds=("forms", "sentences") if len(document.sentences) < 2 else ("forms",),
        about="doc_id",
        entity_attributes=ENTITY_ATTRIBUTES,
    )
    for mention in window.others:
        if mention.kind != "entity":
            report_loss(f"that mentions are of kind {mention.kind} (read as entity)")
    if any(size > 1 for size in window.cluster_sizes.values()):
        report_loss("clusters")
    window.report_order([*window.others, *window.events])
    record = {
        "doc_id": document.about.get("doc_id", document.id),
        "wnd_id": document.id,
        "text": " ".join(window.forms) if document.text is None else document.text,
        "lang": document.language,
        "tokens": window.forms,
        "entity_mentions": [_entity(mention, window) for mention in window.others],
        "relation_mentions": [],
        "event_mentions": [_event(event, window) for event in window.events],
    }
    return msgspec.json.encode(record) + b"\n"


def _placed(mention: Mention, window: Writable) -> dict[str, Any]:
    ((begin, end),) = mention.span
    text = window.words(mention) if mention.text is None else mention.text
    return {"text": text, "start": begin, "end": end}


def _entity(mention: Mention, window: Writable) -> dict[str, Any]:
    others = {"entity_subtype": text_value(mention, "subtype"), "mention_type": text_value(mention, "mention_type")}
    known = {name: value for name, value in others.items() if value}
    return {"id": mention.id, "entity_type": text_value(mention, "type"), **known, **_placed(mention, window)}


def _event(event: Mention, window: Writable) -> dict[str, Any]:
    return {
        "id": event.id,
        "event_type": text_value(event, "type"),
        "trigger": _placed(event, window),
        "arguments": [
            {"entity_id": entity.id, "role": role, **_placed(entity, window)}
            for role, entity in window.arguments[event.id]
        ],
    }


SHAPE = Rule("textee-shape", "fatal", 'A line is one window: {"wnd_id": ..., "tokens": [...], "event_mentions": [...]}')


class _Window(Annotated, frozen=True, kw_only=True):
    wnd_id: Id
    event_mentions: tuple[EventMention, ...]
    doc_id: str | None = None
    text: str | None = None
    lang: str | None = None


def _read(window: _Window, content: EventDocument) -> Document:
    add_mentions(window, content)
    own_name = window.doc_id is None or window.doc_id == window.wnd_id
    return content.document(
        language=window.lang,
        text=window.text,
        unit="token",
        forms=window.tokens,
        sentences=((0, len(window.tokens)),) if window.tokens else (),
        about={} if own_name else {"doc_id": window.doc_id or ""},
    )


FORMAT = event_format(
    "textee",
    _Window,
    SHAPE,
    _read,
    key="wnd_id",
    unit="token",
    title="TextEE windows, JSON lines",
    about=__doc__,
    protocols=("textee-2024",),
    write=write,
)
