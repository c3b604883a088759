"""WikiEvents: documents with entity mentions, event mentions and their arguments, one document per line. Only read.

    {"doc_id": "d1", "tokens": ["The", "rebels", "attacked"], "text": "The rebels attacked",
     "entity_mentions": [{"id": "d1-T1", "start": 0, "end": 2, "entity_type": "ORG", "mention_type": "UNK",
                          "text": "The rebels", "sent_idx": 0}],
     "event_mentions": [{"id": "d1-E1", "event_type": "Conflict.Attack.Unspecified",
                         "trigger": {"start": 2, "end": 3, "text": "attacked", "sent_idx": 0},
                         "arguments": [{"entity_id": "d1-T1", "role": "Attacker", "text": "The rebels"}]}]}

Offsets count the tokens of the document, and ends are exclusive. Entity mentions come first, even those that are not
arguments, then event mentions, each in the order of the file. An argument is a link from the event mention to the
entity mention that it names. Relations between entities are not read. Systems use the same form.

Coreference is in a file of its own, with `doc_key`, `clusters` and `informative_mentions`. It is not a corpus, but
belongs to gold: `--set clusters=FILE`. The files have no heads; `match=head` needs JSON Lines with `head`. The release
with "informative" arguments has the same form, and is other gold.
"""

from itertools import accumulate

from msgspec import Raw, Struct

from karat.formats._events import Annotated, EventDocument, EventMention, add_mentions, event_format, sentences_of
from karat.formats._forms import COREFERENCE, FILLED_TEMPLATES, form
from karat.model import Document, Id
from karat.problems import Rule

SHAPE = Rule(
    "wikievents-shape", "fatal", 'A line is one document: {"doc_id": ..., "tokens": [...], "event_mentions": [...]}'
)
RELATED = {
    COREFERENCE: "this is the coreference file of WikiEvents, which has no documents: give the documents as GOLD, and "
    "this file with --set clusters=FILE",
    FILLED_TEMPLATES: "these are predictions of gen-arg, templates filled with text, which have no offsets: write each "
    "argument with its tokens, in the form of WikiEvents (entity_mentions and event_mentions) or as JSON Lines",
}


class _Sentence(Struct, frozen=True, array_like=True):
    tokens: tuple[Raw, ...]


class _Record(Annotated, frozen=True, kw_only=True):
    doc_id: Id
    event_mentions: tuple[EventMention, ...]
    text: str | None = None
    sentences: tuple[_Sentence, ...] = ()


def related(name: str, head: bytes) -> str | None:
    """Say what to do with the coreference file, and with predictions that are text."""
    del name
    return RELATED.get(form(head) or "")


def _read(record: _Record, content: EventDocument) -> Document:
    add_mentions(record, content)
    begins = [*accumulate((len(sentence.tokens) for sentence in record.sentences), initial=0)]
    return content.document(
        text=record.text,
        unit="token",
        forms=record.tokens,
        sentences=sentences_of(begins) if record.tokens is not None and begins[-1] == len(record.tokens) else (),
    )


FORMAT = event_format(
    "wikievents",
    _Record,
    SHAPE,
    _read,
    key="doc_id",
    unit="token",
    title="WikiEvents, JSON lines",
    about=__doc__,
    protocols=("wikievents-2021",),
    related=related,
)
