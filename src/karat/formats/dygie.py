"""DyGIE++: documents of sentences with events, entity mentions and coreference, one document per line.

    {"doc_key": "d1", "dataset": "ace", "sentences": [["Rebels", "attacked", "the", "town"], ["They", "fled"]],
     "ner": [[[0, 0, "ORG"]], []], "clusters": [[[0, 0], [4, 4]]],
     "events": [[[[1, "Conflict.Attack"], [0, 0, "Attacker"], [2, 3, "Target"]]], []]}

`events` has, for each sentence, its events: the token of the trigger with the type, then arguments with their roles.
Offsets count the tokens of the document, not of the sentence, and ends are inclusive. Triggers have one token.

A system's file has `predicted_events`, with two scores after each type and role, which are not read. It may also have
gold's `events`: a file that is given as the system is read by its predictions if it has any, any other file by
`events`. The same holds for `predicted_ner` and `predicted_clusters`.

A document has the mentions of `ner` and `clusters` (kind `entity`), then arguments that are none of these (kind
`argument`), then events, each in the order of the file; two mentions of one span and type are one. Relations between
entities are not read.

Written are `sentences`, `ner`, `clusters` and `events`.
"""

from bisect import bisect_right
from collections import Counter
from itertools import chain, pairwise
from typing import Any, NamedTuple

import msgspec
from msgspec import Raw, Struct

from karat.formats._events import EventDocument, event_format, typed
from karat.formats._writing import Writable, text_value
from karat.model import Document, Id, Mention, qualified
from karat.plugin.formats import ReportLoss, WriteOptions
from karat.problems import Rule, quoted

UNWRITABLE = Rule(
    "dygie-unwritable", "fatal", "DyGIE++ holds documents of tokens with their words; jsonl holds everything."
)


def write(document: Document, options: WriteOptions, report_loss: ReportLoss) -> bytes:
    """The line of one document; what DyGIE++ cannot hold is reported."""
    del options
    content = Writable(
        document,
        UNWRITABLE,
        report_loss,
        lost=("language", "text"),
        holds=("forms", "sentences"),
        about="dataset",
        entity_attributes=("type",),
    )
    return msgspec.json.encode(_Written(document, content, report_loss).fields()) + b"\n"


class _Written:
    """The fields of a document."""

    def __init__(self, document: Document, content: Writable, report_loss: ReportLoss) -> None:
        self._document, self._content, self._report_loss = document, content, report_loss
        self._begins = sorted({0, *(begin for begin, _ in document.sentences)})
        self._events = sorted(content.events, key=self._sentence)
        fillers = {filler.id for event in self._events for _, filler in content.arguments[event.id]}
        self._arguments = [other for other in content.others if other.kind == "argument" and other.id in fillers]
        self._entities = [other for other in content.others if other.kind != "argument" or other.id not in fillers]
        self._report_losses()

    def _sentence(self, mention: Mention) -> int:
        """The number of the sentence in which a mention begins."""
        return bisect_right(self._begins, mention.span[0][0]) - 1

    def _report_losses(self) -> None:
        for event in self._events:
            if event.span[0][1] - event.span[0][0] > 1:
                self._report_loss("triggers of several tokens (written as their first token)")
            if self._content.cluster_sizes[event.cluster] > 1:
                self._report_loss("clusters of events")
        for mention in self._entities:
            if mention.kind != "entity":
                self._report_loss(f"that mentions are of kind {mention.kind} (read as entity)")
        for mention in self._arguments:
            if mention.attributes or self._content.cluster_sizes[mention.cluster] > 1:
                self._report_loss("attributes and clusters of arguments that are not entities")
        if max(Counter(mention.span for mention in self._content.others).values(), default=1) > 1:
            self._report_loss("mentions that share a span with another")
        for mention in self._content.mentions:
            if mention.text is not None and mention.text != self._content.words(mention):
                self._report_loss("the text of mentions")

    def fields(self) -> dict[str, Any]:
        forms, ends = self._content.forms, [*self._begins, max(len(self._content.forms), self._begins[-1])]
        sentences = [list(forms[begin:end]) for begin, end in pairwise(ends)]
        ner: list[list[list[Any]]] = [[] for _ in sentences]
        events: list[list[list[list[Any]]]] = [[] for _ in sentences]
        typed = sorted((entity for entity in self._entities if text_value(entity, "type")), key=self._sentence)
        for mention in typed:
            ner[self._sentence(mention)].append([*_span(mention), text_value(mention, "type")])
        clusters = self._clusters()
        untyped = [mention for cluster in clusters for mention in cluster if not text_value(mention, "type")]
        used: dict[str, Mention] = {}
        for event in self._events:
            arguments = self._content.arguments[event.id]
            used |= {
                filler.id: filler for _, filler in arguments if filler.kind == "argument" and filler.id not in used
            }
            parts = [[*_span(filler), role] for role, filler in arguments]
            events[self._sentence(event)].append([[event.span[0][0], text_value(event, "type")], *parts])
        self._content.report_order([*typed, *untyped, *used.values(), *self._events])
        fields: dict[str, Any] = {"doc_key": self._document.id}
        if "dataset" in self._document.about:
            fields["dataset"] = self._document.about["dataset"]
        spans = [[_span(mention) for mention in cluster] for cluster in clusters]
        return {**fields, "sentences": sentences, "ner": ner, "clusters": spans, "events": events}

    def _clusters(self) -> list[list[Mention]]:
        """Clusters of several entity mentions, and mentions without a type, which `ner` cannot hold."""
        clusters: dict[str | tuple[str], list[Mention]] = {}
        for mention in self._entities:
            clusters.setdefault((mention.id,) if mention.cluster is None else mention.cluster, []).append(mention)
        return [cluster for cluster in clusters.values() if len(cluster) > 1 or not text_value(cluster[0], "type")]


def _span(mention: Mention) -> list[int]:
    """The first and the last token of a mention."""
    return [mention.span[0][0], mention.span[0][1] - 1]


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
    """One side of a file that may hold both."""

    events: _Events
    ner: _Entities
    clusters: _Entities


def _read(record: _Record, content: EventDocument) -> Document:
    content.add_sentences(record.sentences)
    side = _side(record, content)
    entities = _add_entities(side, content)
    for index, event in enumerate(chain.from_iterable(side.events), 1):
        try:
            _add_event(index, event, entities, content)
        except ValueError as error:
            message = f"event {index} of document {quoted(record.doc_key)}: {error}"
            raise content.refusal(SHAPE, message) from None
    content.report_unread(tuple(chain.from_iterable(record.relations)))
    return content.document(about={} if record.dataset is None else {"dataset": record.dataset})


def _side(record: _Record, content: EventDocument) -> _Side:
    gold = _Side(record.events or (), record.ner or (), record.clusters or ())
    predicted = record.predicted_events, record.predicted_ner, record.predicted_clusters
    # A system may predict some of the three only: then the others are gold's, and not the system's.
    if predicted == (None, None, None):
        return gold
    events, ner, clusters = predicted
    system = _Side(events or (), ner or (), clusters or ())
    return system if record.events is None else content.choose_side(gold, system, "events and predictions")


def _add_entities(side: _Side, content: EventDocument) -> dict[tuple[int, int], str]:
    """Add the mentions of entities; the first of each span, by its begin and its (inclusive) end."""
    clusters = {
        (mention.begin, mention.end): qualified(content.id, str(index))
        for index, cluster in enumerate(side.clusters, 1)
        for mention in cluster
    }
    unique = dict.fromkeys(((entity.begin, entity.end), entity.type) for entity in chain.from_iterable(side.ner))
    known = {span for span, _ in unique}
    first: dict[tuple[int, int], str] = {}
    for index, (span, type_) in enumerate([*unique, *((span, None) for span in clusters if span not in known)], 1):
        begin, end = span[0], span[1] + 1
        mention = Mention(
            f"entity-{index}",
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
    index: int, event: tuple[_Part, ...], entities: dict[tuple[int, int], str], content: EventDocument
) -> None:
    """Add an event with its arguments; a part that is not a trigger or argument is a ValueError."""
    if not event or not isinstance(event[0].end, str):
        raise ValueError('it does not begin with [token, "TYPE"]')
    token, type_ = event[0].begin, event[0].end
    id_ = f"event-{index}"
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


FORMAT = event_format(
    "dygie",
    _Record,
    SHAPE,
    _read,
    key="doc_key",
    unit="token",
    title="DyGIE++, JSON lines",
    about=__doc__,
    protocols=("dygie-2019",),
    write=write,
)
