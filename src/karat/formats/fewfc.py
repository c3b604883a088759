"""FewFC and DuEE: events with arguments in the characters of a text, one text per line. Only read.

    {"id": "a", "content": "ACME buys Foo.",
     "events": [{"type": "buy", "mentions": [{"word": "buys", "span": [5, 9], "role": "trigger"},
                                             {"word": "ACME", "span": [0, 4], "role": "sub"}]}]}

`span` counts characters, and ends are exclusive. One mention of each event has the role `trigger`; the others are its
arguments, mentions of kind `argument`, one for each span.

DuEE has the same in other words, and gives only where a string begins:

    {"id": "a", "text": "ACME buys Foo.",
     "event_list": [{"event_type": "buy", "trigger": "buys", "trigger_start_index": 5,
                     "arguments": [{"role": "sub", "argument": "ACME", "argument_start_index": 0, "alias": []}]}]}

`alias` and `class` are not read. Systems use the same forms; DuEE's submissions have no offsets and cannot be read.
"""

from collections.abc import Iterator

from msgspec import Struct

from karat.formats._events import EventDocument, event_format, typed
from karat.model import Document, Id, Mention
from karat.problems import Rule, quoted

SHAPE = Rule(
    "fewfc-shape",
    "fatal",
    'A line has "id", and "content" with "events" (FewFC), or "text" with "event_list" and offsets (DuEE).',
)
TRIGGER = "trigger"


class _Mention(Struct, frozen=True, gc=False):
    """A trigger or an argument of FewFC."""

    span: tuple[int, int]
    role: str
    word: str | None = None


class _Event(Struct, frozen=True):
    mentions: tuple[_Mention, ...]
    type: str | None = None


class _ListedArgument(Struct, frozen=True, gc=False):
    role: str
    argument: str
    argument_start_index: int


class _ListedEvent(Struct, frozen=True):
    """An event of DuEE."""

    trigger: str
    trigger_start_index: int
    event_type: str | None = None
    arguments: tuple[_ListedArgument, ...] = ()

    def event(self) -> _Event:
        """Return it as one of FewFC."""
        strings = [(TRIGGER, self.trigger, self.trigger_start_index)]
        strings += [(argument.role, argument.argument, argument.argument_start_index) for argument in self.arguments]
        mentions = [_Mention((begin, begin + len(string)), role, string) for role, string, begin in strings]
        return _Event(tuple(mentions), self.event_type)


class _Record(Struct, frozen=True):
    id: Id
    content: str | None = None
    text: str | None = None
    events: tuple[_Event, ...] | None = None
    event_list: tuple[_ListedEvent, ...] | None = None


def _read(record: _Record, content: EventDocument) -> Document:
    if record.events is None and record.event_list is None:
        raise content.refusal(SHAPE, "the document has neither events nor event_list")
    for index, event in enumerate(_events(record), 1):
        _add_event(f"event-{index}", event, content)
    return content.document(text=record.text if record.content is None else record.content)


def _events(record: _Record) -> Iterator[_Event]:
    yield from record.events or ()
    for listed in record.event_list or ():
        yield listed.event()


def _add_event(id_: str, event: _Event, content: EventDocument) -> None:
    triggers = [mention for mention in event.mentions if mention.role == TRIGGER]
    if len(triggers) == 1:
        span, word = triggers[0].span, triggers[0].word
    else:
        message = f"{id_} of document {quoted(content.id)} has {len(triggers)} mentions with the role trigger, not one"
        span, word = content.misplaced(message, id_, SHAPE), None
    if content.add_event(Mention(id_, (span,), attributes=typed(event.type), text=word)):
        for mention in event.mentions:
            if mention.role != TRIGGER:
                content.fill(id_, mention.role, *mention.span, mention.word)


FORMAT = event_format(
    "fewfc",
    _Record,
    SHAPE,
    _read,
    key="id",
    unit="char",
    title="FewFC and DuEE, JSON lines",
    about=__doc__,
    protocols=("textee-2024",),
)
