"""TextEE: windows of tokens with entity mentions, event mentions and their arguments, one window per line.

    {"doc_id": "d1", "wnd_id": "d1-0", "text": "Rebels attacked the town", "lang": "en",
     "tokens": ["Rebels", "attacked", "the", "town"],
     "entity_mentions": [{"id": "d1-0-E0", "entity_type": "ORG", "text": "Rebels", "start": 0, "end": 1}],
     "event_mentions": [{"id": "d1-0-EV0", "event_type": "Conflict:Attack",
                         "trigger": {"text": "attacked", "start": 1, "end": 2},
                         "arguments": [{"entity_id": "d1-0-E0", "role": "Attacker", "text": "Rebels",
                                        "start": 0, "end": 1}]}]}

A window is a document whose id is `wnd_id`; `doc_id` is kept if it is another. Offsets count the tokens of the window,
and ends are exclusive. Entity mentions come first, then event mentions, each in the order of the file. An argument is a
link from the event mention to the entity mention that it names; its own offsets, where it has any, must be those of the
entity mention. Relations between entities are not read.

Systems use the same form. A window that the system lacks is one without events. Windows and tokens depend on
preprocessing: only files of the same preprocessing can be compared.
"""

import msgspec

from karat.errors import Rule
from karat.formats._event_document import EventDocument, refuse_unit
from karat.formats._event_mentions import Annotated, EventMention, add_mentions
from karat.formats._json_documents import each_value, lines_with, record_of
from karat.formats._json_sniffing import recognises
from karat.formats._textee_writer import write
from karat.model import Document, Id
from karat.plugin.formats import Context, Format, Piece

SHAPE = Rule("textee-shape", "fatal", 'A line is one window: {"wnd_id": ..., "tokens": [...], "event_mentions": [...]}')


class _Window(Annotated, frozen=True, kw_only=True):
    wnd_id: Id
    event_mentions: tuple[EventMention, ...]
    doc_id: str | None = None
    text: str | None = None
    lang: str | None = None


_decoder = msgspec.json.Decoder(_Window)


def read(value: Piece, context: Context) -> Document:
    """Read one window."""
    refuse_unit(context.options, "token", file=value.name, line=value.line)
    window = record_of(value, _decoder, SHAPE)
    content = EventDocument(window.wnd_id, context.report, file=value.name, line=value.line)
    add_mentions(window, content)
    own_name = window.doc_id is None or window.doc_id == window.wnd_id
    return Document(
        window.wnd_id,
        language=window.lang,
        text=window.text,
        unit="token",
        forms=window.tokens,
        about={} if own_name else {"doc_id": window.doc_id or ""},
        mentions=content.mentions(),
        links=content.links(),
    )


FORMAT = Format(
    title="TextEE windows, JSON lines",
    about=__doc__,
    suffixes=(".textee.json", ".textee.jsonl"),
    unit="token",
    protocols=("textee-2024",),
    sniff=recognises("textee"),
    read=each_value(read),
    marker=lines_with("wnd_id"),
    write=write,
    local_clusters=True,
)
