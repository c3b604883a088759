"""DyGIE++: documents of sentences with events, entity mentions and coreference, one document per line.

    {"doc_key": "d1", "dataset": "ace", "sentences": [["Rebels", "attacked", "the", "town"], ["They", "fled"]],
     "ner": [[[0, 0, "ORG"]], []], "clusters": [[[0, 0], [4, 4]]],
     "events": [[[[1, "Conflict.Attack"], [0, 0, "Attacker"], [2, 3, "Target"]]], []]}

`events` has, for each sentence, its events: the token of the trigger with the type, then arguments with their roles.
Offsets count the tokens of the document, not of the sentence, and ends are inclusive. Triggers have one token.

A system's file has `predicted_events`, with two scores after each type and role, which are not read. It may have gold's
`events`, too: a file that is given as the system is read by its predictions if it has any, any other file by `events`.
The same holds for `predicted_ner` and `predicted_clusters`.

A document has the mentions of `ner` and `clusters` (kind `entity`), then arguments that are none of these (kind
`argument`), then events, each in the order of the file; two mentions of one span and type are one. Relations between
entities are not read.

Written are `sentences`, `ner`, `clusters` and `events`.
"""

from itertools import chain
from typing import NamedTuple

import msgspec
from msgspec import Raw, Struct

from karat.errors import Rule, quoted
from karat.formats._dygie_writer import write
from karat.formats._event_document import EventDocument, refuse_unit, sentences_of, typed
from karat.formats._json_documents import each_value, lines_with, record_of
from karat.formats._json_sniffing import recognises
from karat.model import Document, Id, Mention, qualified
from karat.plugin.formats import Context, Format, Piece

SHAPE = Rule(
    "dygie-shape",
    "fatal",
    'Write events as [[token, "TYPE"], [begin, end, "ROLE"], ...], for each sentence a list of them.',
)


class _Part(Struct, frozen=True, gc=False, array_like=True):
    """A trigger, [token, type, ...], or an argument, [begin, end, role, ...]."""

    begin: int
    end: int | str
    role: str | float | None = None


class _Entity(Struct, frozen=True, gc=False, array_like=True):
    begin: int
    end: int
    type: str | None = None


_Events = tuple[tuple[tuple[_Part, ...], ...], ...]
_Entities = tuple[tuple[_Entity, ...], ...]


class _Record(Struct, frozen=True):
    doc_key: Id
    sentences: tuple[tuple[str, ...], ...]
    dataset: str | None = None
    events: _Events | None = None
    predicted_events: _Events | None = None
    ner: _Entities | None = None
    predicted_ner: _Entities | None = None
    clusters: _Entities | None = None
    predicted_clusters: _Entities | None = None
    relations: tuple[tuple[Raw, ...], ...] = ()


class _Side(NamedTuple):
    """What is read of a file that may hold both sides."""

    events: _Events
    ner: _Entities
    clusters: _Entities


_decoder = msgspec.json.Decoder(_Record)


def read(value: Piece, context: Context) -> Document:
    """Read one document."""
    refuse_unit(context.options, "token", file=value.name, line=value.line)
    record = record_of(value, _decoder, SHAPE)
    forms = tuple(chain.from_iterable(record.sentences))
    content = EventDocument(record.doc_key, context.report, file=value.name, line=value.line, tokens=forms)
    side = _side(record, is_system=context.options.gold is not None)
    entities = _add_entities(side, content)
    for number, event in enumerate(chain.from_iterable(side.events), 1):
        try:
            _add_event(number, event, entities, content)
        except ValueError as error:
            message = f"event {number} of document {quoted(record.doc_key)}: {error}"
            raise content.refusal(SHAPE, message) from None
    content.report_unread(tuple(chain.from_iterable(record.relations)))
    return Document(
        record.doc_key,
        unit="token",
        forms=forms,
        sentences=sentences_of([len(sentence) for sentence in record.sentences]),
        about={} if record.dataset is None else {"dataset": record.dataset},
        mentions=content.mentions(),
        links=content.links(),
    )


def _side(record: _Record, *, is_system: bool) -> _Side:
    gold = record.events, record.ner, record.clusters
    system = record.predicted_events, record.predicted_ner, record.predicted_clusters
    # A system may predict some of the three only: then the others are gold's, and not the system's.
    predicts = any(part is not None for part in system)
    events, ner, clusters = system if predicts and (is_system or record.events is None) else gold
    return _Side(events or (), ner or (), clusters or ())


def _add_entities(side: _Side, content: EventDocument) -> dict[tuple[int, int], str]:
    """Add the mentions of entities; the first of each span, by its begin and its (inclusive) end."""
    clusters = {
        (one.begin, one.end): qualified(content.id, str(number))
        for number, cluster in enumerate(side.clusters, 1)
        for one in cluster
    }
    unique = dict.fromkeys(((one.begin, one.end), one.type) for one in chain.from_iterable(side.ner))
    known = {span for span, _ in unique}
    first: dict[tuple[int, int], str] = {}
    for number, (span, type_) in enumerate([*unique, *((span, None) for span in clusters if span not in known)], 1):
        begin, end = span[0], span[1] + 1
        mention = Mention(
            f"entity-{number}",
            ((begin, end),),
            kind="entity",
            cluster=clusters.get(span),
            attributes=typed(type_),
            text=content.words(begin, end),
        )
        content.add_entity(mention)
        first.setdefault(span, mention.id)
    return first


def _add_event(
    number: int, event: tuple[_Part, ...], entities: dict[tuple[int, int], str], content: EventDocument
) -> None:
    """Add an event with its arguments; a part that is no trigger or argument is a ValueError."""
    if not event or not isinstance(event[0].end, str):
        raise ValueError('it does not begin with [token, "TYPE"]')
    token, type_ = event[0].begin, event[0].end
    id_ = f"event-{number}"
    usable = content.add_event(
        Mention(id_, ((token, token + 1),), attributes=typed(type_), text=content.words(token, token + 1))
    )
    for part in event[1:]:
        if isinstance(part.end, str) or not isinstance(part.role, str):
            raise ValueError('an argument is not [begin, end, "ROLE"]')
        span = part.begin, part.end
        if usable and content.entity(entities.get(span, "")) is not None:
            content.link(id_, part.role, entities[span])
        elif usable:
            content.fill(id_, part.role, part.begin, part.end + 1)


FORMAT = Format(
    title="DyGIE++, JSON lines",
    about=__doc__,
    suffixes=(".dygie.json", ".dygie.jsonl"),
    unit="token",
    protocols=("dygie-2019",),
    sniff=recognises("dygie"),
    read=each_value(read),
    marker=lines_with("doc_key"),
    write=write,
    refers_to_gold=True,
    local_clusters=True,
)
