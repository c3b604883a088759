"""OneIE: sentences with entity mentions, event mentions and their arguments, one sentence per line. Only read.

Input files, and the input itself as gold:

    {"doc_id": "d1", "sent_id": "d1-0", "tokens": ["Rebels", "attacked"],
     "entity_mentions": [{"id": "d1-E1-1", "entity_type": "ORG", "mention_type": "NOM", "start": 0, "end": 1}],
     "event_mentions": [{"id": "d1-EV1", "event_type": "Conflict:Attack", "trigger": {"start": 1, "end": 2},
                         "arguments": [{"entity_id": "d1-E1-1", "role": "Attacker"}]}]}

Output of the program: entities and triggers with their offsets, and roles with the indices of trigger and entity:

    {"doc_id": "d1", "sent_id": "d1-0", "tokens": ["Rebels", "attacked"],
     "graph": {"entities": [[0, 1, "ORG", "NOM", 0.9]], "triggers": [[1, 2, "Conflict:Attack", 0.8]],
               "roles": [[0, 0, "Attacker", 0.7]]}}

Result files have two graphs, `gold` and `pred`: a file that is given as the system is read as `pred`, any other as
`gold`. Scores, which older files lack, and relations between entities are not read.

A sentence is a document whose id is `sent_id`; `doc_id` is kept. Offsets count the tokens of the sentence, and ends are
exclusive. Entity mentions whose ids are `...-E12-3`, as in ACE, are in the cluster `...-E12` of their sentence.
Everything in the file is scored, including what OneIE's own reader leaves out: a second role of an entity mention,
overlapping entity mentions, long sentences.
"""

import re

from msgspec import Raw, Struct

from karat.formats._events import Annotated, EventDocument, EventMention, add_mentions, event_format, typed
from karat.formats._text import DANGLING
from karat.model import Document, Id, Mention, qualified
from karat.problems import Rule, quoted

SHAPE = Rule(
    "oneie-shape",
    "fatal",
    'A line is one sentence: {"sent_id": ..., "tokens": [...], "event_mentions": [...]}, or with "graph".',
)
_ENTITY = re.compile(r"(.*-E\d+)-\d+")


class _Entity(Struct, frozen=True, gc=False, array_like=True):
    start: int
    end: int
    type: str
    mention_type: str | float | None = None


class _Trigger(Struct, frozen=True, gc=False, array_like=True):
    start: int
    end: int
    type: str


class _Role(Struct, frozen=True, gc=False, array_like=True):
    trigger: int
    entity: int
    role: str


class _Graph(Struct, frozen=True):
    entities: tuple[_Entity, ...] = ()
    triggers: tuple[_Trigger, ...] = ()
    roles: tuple[_Role, ...] = ()
    relations: tuple[Raw, ...] = ()


class _Sentence(Annotated, frozen=True, kw_only=True):
    sent_id: Id
    doc_id: str | None = None
    sentence: str | None = None
    event_mentions: tuple[EventMention, ...] | None = None
    graph: _Graph | None = None
    gold: _Graph | None = None
    pred: _Graph | None = None


def _read(sentence: _Sentence, content: EventDocument) -> Document:
    content.tokens = sentence.tokens
    graph = _side(sentence, content)
    if graph is not None:
        _add_graph(graph, content)
    elif sentence.event_mentions is not None:
        add_mentions(sentence, content, _clusters(sentence))
    else:
        raise content.refusal(SHAPE, "the sentence has neither event_mentions nor graph")
    return content.document(
        text=sentence.sentence,
        unit="token",
        forms=sentence.tokens,
        about={} if sentence.doc_id is None else {"doc_id": sentence.doc_id},
    )


def _side(sentence: _Sentence, content: EventDocument) -> _Graph | None:
    """The graph to read, if the sentence has one."""
    if sentence.gold is None or sentence.pred is None or sentence.graph is not None:
        return sentence.graph or sentence.gold or sentence.pred
    return content.choose_side(sentence.gold, sentence.pred, "gold and pred")


def _add_graph(graph: _Graph, content: EventDocument) -> None:
    """The entities, triggers and roles of a graph, named by their indices."""
    for index, entity in enumerate(graph.entities):
        attributes = typed(entity.type)
        if isinstance(entity.mention_type, str):
            attributes["mention_type"] = entity.mention_type
        span, text = ((entity.start, entity.end),), content.words(entity.start, entity.end)
        content.add_entity(Mention(f"entity-{index}", span, kind="entity", attributes=attributes, text=text))
    events = []
    for index, trigger in enumerate(graph.triggers):
        span, text = ((trigger.start, trigger.end),), content.words(trigger.start, trigger.end)
        events.append(content.add_event(Mention(f"event-{index}", span, attributes=typed(trigger.type), text=text)))
    for role in graph.roles:
        if not 0 <= role.trigger < len(events):
            message = f"the trigger {role.trigger} of a {role.role} is not among the {len(events):,} triggers"
            content.report(DANGLING, f"{message} of sentence {quoted(content.id)}")
        elif events[role.trigger]:
            content.link(f"event-{role.trigger}", role.role, f"entity-{role.entity}")
    content.report_unread(graph.relations)


def _clusters(sentence: _Sentence) -> dict[str, str]:
    """The clusters of entity mentions, by their ids, where these name the cluster."""
    named = {entity.id: _ENTITY.fullmatch(entity.id) for entity in sentence.entity_mentions}
    return {id_: qualified(sentence.sent_id, match[1]) for id_, match in named.items() if match}


FORMAT = event_format(
    "oneie",
    _Sentence,
    SHAPE,
    _read,
    key="sent_id",
    unit="token",
    title="OneIE input, output graphs and result files, JSON lines",
    about=__doc__,
    protocols=("oneie-2020",),
)
