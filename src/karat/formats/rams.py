"""RAMS: one event per document with arguments in the sentences around it, one document per line. Only read.

    {"doc_key": "nw_1", "sentences": [["Rebels", "attacked"], ["The", "town", "burnt"]],
     "evt_triggers": [[1, 1, [["conflict.attack", 1.0]]]],
     "gold_evt_links": [[[1, 1], [0, 0], "evt001arg01attacker"], [[1, 1], [2, 3], "evt001arg02target"]]}

Offsets count the tokens of the document, and ends are inclusive. The role is what follows the last digits of a label.
An argument is a mention of kind `argument`, one for each span; a link that is given twice counts twice. The type of the
event is the first that its trigger has. `ent_spans` repeats the arguments, and is not read.

Systems use the same form, with triggers of their own (the texts `predicted` and `gold` of gen-arg are not read; without
`evt_triggers`, those of the links count, without a type), or give the predicted arguments of the trigger:

    {"doc_key": "nw_1", "predictions": [[[1, 1], [0, 0, "attacker", 0.9], [3, 3, "target", 0.4]]]}

Such an event has no type, the document no tokens, and confidences are not read.

Gold for the evaluation by heads, and by coreference, is distributed in files of its own (`test_head`,
`test_head_coref`): they have the same form, and the fingerprint in the signature tells them apart.
"""

import re

from msgspec import Struct

from karat.formats._events import EventDocument, event_format, typed
from karat.formats._text import DANGLING
from karat.model import Document, Id, Mention
from karat.problems import Rule, quoted

SHAPE = Rule(
    "rams-shape",
    "fatal",
    'A line has "doc_key" and either "evt_triggers" and "gold_evt_links", or "predictions".',
)

_LABEL = re.compile(r".*\d", re.DOTALL)

_Span = tuple[int, int]
"""The first and the last token."""


class _Type(Struct, frozen=True, gc=False, array_like=True):
    name: str


class _Trigger(Struct, frozen=True, gc=False, array_like=True):
    begin: int
    end: int
    types: tuple[_Type, ...] = ()


class _Link(Struct, frozen=True, gc=False, array_like=True):
    trigger: _Span
    argument: _Span
    label: str


class _Part(Struct, frozen=True, gc=False, array_like=True):
    """The span of a trigger, or an argument with its role."""

    begin: int
    end: int
    role: str | None = None


class _Record(Struct, frozen=True):
    doc_key: Id
    sentences: tuple[tuple[str, ...], ...] | None = None
    evt_triggers: tuple[_Trigger, ...] | None = None
    gold_evt_links: tuple[_Link, ...] | None = None
    predictions: tuple[tuple[_Part, ...], ...] | None = None
    language_id: str | None = None


def _read(record: _Record, content: EventDocument) -> Document:
    if record.sentences is not None:
        content.add_sentences(record.sentences)
    if record.gold_evt_links is not None:
        _add_links(record, record.gold_evt_links, content)
    elif record.predictions is not None:
        for event in record.predictions:
            if not event or any(part.role is None for part in event[1:]):
                message = "a prediction is not [[begin, end], [begin, end, ROLE, confidence], ...]"
                raise content.refusal(SHAPE, message)
            _add_prediction(event, content)
    else:
        raise content.refusal(SHAPE, "the document has neither gold_evt_links nor predictions")
    return content.document(language=record.language_id, unit="token")


def _add_links(record: _Record, links: tuple[_Link, ...], content: EventDocument) -> None:
    events: dict[_Span, str | None] = {}
    triggers = record.evt_triggers
    for trigger in [_Trigger(*link.trigger) for link in links] if triggers is None else triggers:
        type_ = trigger.types[0].name if trigger.types else None
        if (trigger.begin, trigger.end) not in events:
            events[trigger.begin, trigger.end] = _add_trigger(trigger.begin, trigger.end, type_, content)
    for link in links:
        role = _LABEL.sub("", link.label)
        if link.trigger not in events:
            tokens = "{} to {}".format(*link.trigger)
            message = f"{quoted(link.label)} of document {quoted(content.id)} is an argument of tokens {tokens}"
            content.report(DANGLING, f"{message}, where there is no trigger", found=link.label)
        elif (event := events[link.trigger]) is not None:
            content.fill(event, role, link.argument[0], link.argument[1] + 1)


def _add_prediction(event: tuple[_Part, ...], content: EventDocument) -> None:
    id_ = _add_trigger(event[0].begin, event[0].end, None, content)
    for part in event[1:]:
        if id_ is not None and part.role is not None:
            content.fill(id_, part.role, part.begin, part.end + 1)


def _add_trigger(begin: int, end: int, type_: str | None, content: EventDocument) -> str | None:
    """Add an event at these tokens; its id, if it can be used."""
    text = content.words(begin, end + 1)
    event = Mention(f"event-{content.events + 1}", ((begin, end + 1),), attributes=typed(type_), text=text)
    return event.id if content.add_event(event) else None


FORMAT = event_format(
    "rams",
    _Record,
    SHAPE,
    _read,
    key="doc_key",
    unit="token",
    title="RAMS, JSON lines",
    about=__doc__,
    suffixes=(".rams.json", ".rams.jsonl", ".rams.jsonlines"),
    protocols=("rams-2020",),
    global_ids="clusters",
)
