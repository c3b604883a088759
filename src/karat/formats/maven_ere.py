"""MAVEN-ERE: events with their mentions, times, and temporal, causal and subevent relations; one document per line.

    {"id": "d1", "title": "...", "tokens": [["Rebels", "attacked", "."]], "sentences": ["Rebels attacked."],
     "events": [{"id": "E1", "type": "Attack",
                 "mention": [{"id": "m1", "trigger_word": "attacked", "sent_id": 0, "offset": [1, 2]}]}],
     "TIMEX": [{"id": "T1", "mention": "Monday", "type": "DATE", "sent_id": 0, "offset": [3, 4]}],
     "temporal_relations": {"BEFORE": [["E1", "T1"]]}, "causal_relations": {"CAUSE": [["E1", "E2"]]},
     "subevent_relations": [["E1", "E2"]]}

An event is the cluster of its mentions; relations of gold hold between events (clusters) and times. Offsets count the
tokens of a sentence. The input of the test set has `event_mentions` in place of events and relations.

A submission names the mentions of gold by their ids, and can only be read as a system. Mentions that gold lacks, as the
distractors of the test set, are left out with their relations:

    {"id": "d1", "coreference": [["m1", "m2"]], "temporal_relations": {"BEFORE": [["m1", "T1"]]},
     "causal_relations": {"CAUSE": [["m1", "m3"]]}, "subevent_relations": [["m3", "m1"]]}
"""

from collections.abc import Iterator

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from karat.formats._events import EventDocument, event_format, typed
from karat.formats._relations import RelationLinks
from karat.formats._text import REPEATED
from karat.model import Document, Id, Mention, qualified
from karat.plugin.formats import GoldDocuments
from karat.problems import Rule, quoted

SHAPE = Rule(
    "maven-ere-shape",
    "fatal",
    'A line has "id", "tokens", "events" and relations by label; or "id", "coreference" and relations (a submission).',
)
NEEDS_GOLD = Rule(
    "maven-ere-needs-gold",
    "fatal",
    "Score it with gold: karat score GOLD SUBMISSION. Check it with: karat validate SUBMISSION --against GOLD.",
)
EVENT_IDS = Rule(
    "maven-ere-event-ids", "fault", "Name mentions by their ids; relations between ids of events are ignored."
)
OTHERS = Rule("maven-ere-distractors", "note", "No action needed; the test set has mentions that are not gold's.")

TEMPORAL = ("BEFORE", "OVERLAP", "CONTAINS", "SIMULTANEOUS", "ENDS-ON", "BEGINS-ON")
CAUSAL = ("CAUSE", "PRECONDITION")
SUBEVENT = "subevent"
_Pairs = tuple[tuple[str, str], ...]


class _Mention(Struct, frozen=True, gc=False):
    """A mention of an event, or a time."""

    id: Id
    sent_id: int
    offset: tuple[int, int]
    type: str | None = None
    trigger_word: str | None = None
    mention: str | None = None


class _Event(Struct, frozen=True):
    id: Id
    mention: tuple[_Mention, ...]
    type: str | None = None


class _Record(Struct, frozen=True):
    id: Id
    title: str | None = None
    tokens: tuple[tuple[str, ...], ...] | None = None
    events: tuple[_Event, ...] | None = None
    event_mentions: tuple[_Mention, ...] | None = None
    times: tuple[_Mention, ...] | None = msgspec.field(default=None, name="TIMEX")
    temporal_relations: dict[str, _Pairs] | None = None
    causal_relations: dict[str, _Pairs] | None = None
    subevent_relations: _Pairs | None = None
    coreference: tuple[tuple[str, ...], ...] | None = None


def _read(record: _Record, content: EventDocument) -> Document:
    if record.tokens is not None:
        return _gold(record, record.tokens, content)
    if record.events or record.event_mentions or record.times:
        raise content.refusal(SHAPE, 'the document has mentions, but no "tokens"')
    if content.context.options.gold is None:
        message = "this is a submission to MAVEN-ERE, which names the mentions of gold by their ids"
        raise content.refusal(NEEDS_GOLD, message)
    return _submitted(record, content, content.context.options.gold)


def _gold(record: _Record, tokens: tuple[tuple[str, ...], ...], content: EventDocument) -> Document:
    content.add_sentences(tokens)
    events = [
        (mention, event.type, qualified(record.id, event.id))
        for event in record.events or ()
        for mention in event.mention
    ]
    listed = [
        *((mention, "event", type_, cluster) for mention, type_, cluster in events),
        *((mention, "event", mention.type, None) for mention in record.event_mentions or ()),
        *((mention, "time", mention.type, None) for mention in record.times or ()),
    ]
    ends = {event.id: qualified(record.id, event.id) for event in record.events or ()}
    for mention, kind, type_, cluster in listed:
        span = content.in_sentence(quoted(mention.id), mention.sent_id, *mention.offset)
        text = mention.trigger_word if kind == "event" else mention.mention
        if content.add_event(
            Mention(mention.id, (span,), kind=kind, cluster=cluster, attributes=typed(type_), text=text)
        ):
            ends[mention.id] = mention.id
    relations = RelationLinks(record.id, ends, content.value.name, content.context.report)
    for label, pairs in _labelled(record, relations, content.value.line):
        for source, target in relations.add_all(label, pairs):
            relations.add(label, source, target, content.value.line)
    document = content.document(about={} if record.title is None else {"title": record.title})
    return replace(document, links=tuple(relations.links))


def _labelled(record: _Record, relations: RelationLinks, line: int) -> Iterator[tuple[str, _Pairs]]:
    """Yield the relations of each label; unknown labels are reported."""
    for known, family in ((TEMPORAL, record.temporal_relations), (CAUSAL, record.causal_relations)):
        for label, pairs in (family or {}).items():
            relations.check_label(label, known, line)
            yield label, pairs
    yield SUBEVENT, record.subevent_relations or ()


def _submitted(record: _Record, content: EventDocument, gold: GoldDocuments) -> Document:
    """A system's document, with gold's mentions in its clusters."""
    document = gold.read(record.id)
    if document is None:
        return Document(record.id)
    known = {mention.id: mention for mention in document.mentions}
    events = {
        mention.cluster.removeprefix(qualified(record.id, "")) for mention in document.mentions if mention.cluster
    }
    cluster_of: dict[str, str] = {}
    for number, chain in enumerate(record.coreference or (), 1):
        for id_ in chain:
            if id_ in cluster_of:
                content.report(REPEATED, f"mention {quoted(id_)} is given twice in the coreference", found=id_)
            cluster_of.setdefault(id_, qualified(record.id, str(number)))
    relations = RelationLinks(record.id, {id_: id_ for id_ in known}, content.value.name, content.context.report)
    unknown = {id_ for id_ in cluster_of if id_ not in known}
    dropped: list[str] = []
    for label, pairs in _labelled(record, relations, content.value.line):
        for pair in relations.add_all(label, pairs):
            others = [id_ for id_ in pair if id_ not in known]
            if named := [id_ for id_ in others if id_ in events]:
                dropped.append(named[0])
            else:
                unknown.update(others)
    if dropped:
        what = "1 relation names" if len(dropped) == 1 else f"{len(dropped):,} relations name"
        message = f"in document {quoted(record.id)}, {what} events by their ids, such as {quoted(dropped[0])}"
        content.report(EVENT_IDS, message, found=dropped[0])
    if unknown:
        first = min(unknown)
        what = "1 mention is" if len(unknown) == 1 else f"{len(unknown):,} mentions are"
        message = f"in document {quoted(record.id)}, {what} not gold's, such as {quoted(first)}"
        content.report(OTHERS, message, found=first)
    mentions = [
        Mention(id_, mention.span, kind=mention.kind, cluster=cluster_of.get(id_), text=mention.text)
        for id_, mention in known.items()
    ]
    return Document(record.id, unit="token", mentions=tuple(mentions), links=tuple(relations.links))


FORMAT = event_format(
    "maven-ere",
    _Record,
    SHAPE,
    _read,
    key="id",
    unit="token",
    title="MAVEN-ERE and its submissions, JSON lines",
    about=__doc__,
    protocols=("maven-ere-2022",),
    refers_to_gold=True,
)
