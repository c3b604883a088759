"""Writing TextEE: one window per document."""

from typing import Any

import msgspec

from karat.errors import Rule
from karat.formats._event_writing import ENTITY_ATTRIBUTES, Writable, text_value
from karat.model import Document, Mention
from karat.plugin.formats import ReportLoss, WriteOptions

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
        holds=("forms",),
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
