"""Answers of language models: events without offsets, whose strings are found in gold's text. Only read.

    {"id": "d1", "events": [{"type": "Conflict.Attack", "trigger": "raided",
                             "arguments": [{"role": "Attacker", "text": "soldiers"}]}]}

One document per line, or a list of documents. `arguments` may also be an object: `{"Attacker": ["soldiers"]}`. Other
fields are not read.

A string is looked for in the text of gold's document, never among its annotations: as it is written, between word
boundaries; if that is nowhere, ignoring case; else ignoring case, punctuation and blanks. Scripts that are written
without blanks have no word boundaries. Where gold counts in tokens, they are joined by blanks, and a string begins and
ends with whole tokens.

A trigger with several places takes the first that no earlier trigger with the same string has taken (the first of all,
if each is taken). An argument takes the place nearest to its trigger, by the distance of their nearest ends (of two,
the earlier), or its first place if the trigger was not found. What is not found counts as spurious.
"""

import re
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from operator import itemgetter

from msgspec import Struct

from karat.formats._events import EventDocument, event_format, typed
from karat.model import Declared, Document, Id, Mention, Places
from karat.problems import Finding, Rule, quoted
from karat.regions import nowhere

SHAPE = Rule(
    "answers-shape",
    "fatal",
    'Write {"id": "d1", "events": [{"type": "Attack", "trigger": "raided", "arguments": {"Target": ["camp"]}}]}.',
)
NO_GOLD = Rule(
    "answers-gold", "fatal", "Give gold with its text: karat score GOLD ANSWERS, or validate --against GOLD."
)

Place = tuple[int, int]
WAYS = ("found as written", "found ignoring case", "found ignoring case, punctuation and blanks")
"""How a string is found; the first way that finds it is taken."""
SEVERAL, ABSENT = "found in several places", "not found"
STRINGS = Rule("answers-strings", "note", "Compare only scores of answers whose strings were found by the same rule.")


class _Argument(Struct, frozen=True):
    role: str
    text: str


class _Event(Struct, frozen=True):
    type: str | None = None
    trigger: str | None = None
    arguments: tuple[_Argument, ...] | dict[str, str | tuple[str, ...] | None] | None = None

    def fillers(self) -> Iterator[tuple[str, str]]:
        """Yield the role and the string of each argument."""
        if isinstance(self.arguments, dict):
            for role, texts in self.arguments.items():
                for text in (texts,) if isinstance(texts, str) else texts or ():
                    yield role, text
        else:
            yield from ((argument.role, argument.text) for argument in self.arguments or ())


class _Answer(Struct, frozen=True):
    id: Id
    events: tuple[_Event, ...] = ()


def _read(record: _Answer, content: EventDocument) -> Document:
    gold = content.context.options.gold
    if gold is None:
        raise content.refusal(NO_GOLD, "the strings of answers are found in gold's text, and there is no gold")
    known = gold.read(record.id) or Document(record.id)
    content.refuse_unit(known.unit)
    text = _Text.of(known)
    if text is None:
        message = f"gold has no text for document {quoted(record.id)}, so that no string can be found in it"
        raise content.refusal(NO_GOLD, message)
    counts: Counter[str] = Counter()
    taken: Counter[str] = Counter()
    for index, event in enumerate(record.events, 1):
        trigger: Place | None = None
        if event.trigger:
            places = _places(event.trigger, text, counts)
            if places:
                trigger = places[taken[event.trigger] if taken[event.trigger] < len(places) else 0]
                taken[event.trigger] += 1
        id_ = f"event-{index}"
        span, words = text.located(trigger, event.trigger, f"{index}")
        content.add_event(Mention(id_, (span,), attributes=typed(event.type), text=words))
        for role, string in event.fillers():
            if string:
                span, words = text.located(_nearest(_places(string, text, counts), trigger), string, f"{index} {role}")
                content.fill(id_, role, *span, text=words)
    return content.document(unit=known.unit).at(Places(content.value.line), Declared(strings=counts))


def _places(string: str, text: "_Text", counts: Counter[str]) -> list[Place]:
    """Return the places of a string, found in the first way that finds any, and count how it was found."""
    for way, name in enumerate(WAYS):
        places = text.places(string, way)
        if places:
            counts[name] += 1
            counts[SEVERAL] += len(places) > 1
            return places
    counts[ABSENT] += 1
    return []


def note_on_strings(counts: Mapping[str, int]) -> Finding:
    """Say how many strings were found, and how."""
    listed = [f"{counts[how]:,} {how}" for how in (*WAYS, ABSENT) if counts[how]]
    if counts[SEVERAL]:
        listed.append(f"{counts[SEVERAL]:,} of those found {'is' if counts[SEVERAL] == 1 else 'are'} in several places")
    return STRINGS.at(f"strings of the answers in gold's text: {', '.join(listed)}")


def _nearest(places: Sequence[Place], trigger: Place | None) -> Place | None:
    """Return the place nearest to a trigger; of two, the earlier."""
    if trigger is None:
        return next(iter(places), None)
    return min(places, key=lambda place: (max(0, place[0] - trigger[1], trigger[0] - place[1]), place), default=None)


class _Text:
    """The text of a document of gold, in which strings are found."""

    def __init__(self, text: str, tokens: Sequence[Place] | None) -> None:
        """`tokens` are the places of tokens, if offsets count them."""
        self._text, self._tokens = text, tokens
        self._begins = None if tokens is None else [begin for begin, _ in tokens]
        self._ends = None if tokens is None else {end for _, end in tokens}
        self._normal: dict[int, tuple[str, list[int]]] = {}

    @classmethod
    def of(cls, document: Document) -> "_Text | None":
        """Return the text of a document; None if it has mentions, but no text."""
        if document.unit == "token" and document.forms is not None:
            begins = accumulate((len(form) + 1 for form in document.forms), initial=0)
            tokens = [(begin, begin + len(form)) for begin, form in zip(begins, document.forms, strict=False)]
            return cls(" ".join(document.forms), tokens)
        if document.unit == "char" and document.text is not None:
            return cls(document.text, None)
        return None if document.mentions else cls("", None)

    def places(self, string: str, way: int) -> list[Place]:
        """Return all places of a string in their order."""
        wanted, _ = _normalised(string, way)
        if way not in self._normal:
            self._normal[way] = _normalised(self._text, way)
        text, characters = self._normal[way]
        found: list[Place] = []
        at = text.find(wanted) if wanted else -1
        while at >= 0:
            place = characters[at], characters[at + len(wanted) - 1] + 1
            if self._has_borders(*place):
                found.append(place)
            at = text.find(wanted, at + 1)
        return found

    def _has_borders(self, begin: int, end: int) -> bool:
        """Return whether a place begins and ends with a word, or with a token."""
        if self._begins is not None and self._ends is not None:
            index = bisect_left(self._begins, begin)
            return index < len(self._begins) and self._begins[index] == begin and end in self._ends
        return not (self._is_inside_word(begin) or self._is_inside_word(end))

    def _is_inside_word(self, place: int) -> bool:
        return 0 < place < len(self._text) and _is_of_word(self._text[place - 1]) and _is_of_word(self._text[place])

    def located(self, place: Place | None, string: str | None, item: str) -> tuple[Place, str | None]:
        """Return a place in offsets of the document, with its text; after all texts for an item without a place."""
        if place is None:
            return nowhere(f"{item} {string}"), string or None
        words = self._text[slice(*place)]
        if self._begins is None or self._tokens is None:
            return place, words
        first, last = bisect_left(self._begins, place[0]), bisect_left(self._tokens, place[1], key=itemgetter(1))
        return (first, last + 1), words


def _normalised(text: str, way: int) -> tuple[str, list[int]]:
    """Return the characters that one of the `WAYS` compares, and where each of them was."""
    if way == 0:
        return text, [*range(len(text))]
    folded = [
        (character, index)
        for index, written in enumerate(text)
        if way == 1 or _is_letter(written)
        for character in written.casefold()
    ]
    return "".join([character for character, _ in folded]), [index for _, index in folded]


def _is_letter(character: str) -> bool:
    """Return whether a character is a letter, a digit, or a mark on one."""
    return character.isalnum() or unicodedata.category(character).startswith("M")


_WITHOUT_BLANKS = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""Thai, Lao, Burmese, Khmer, Japanese and Chinese."""


def _is_of_word(character: str) -> bool:
    return _is_letter(character) and not _WITHOUT_BLANKS.match(character)


FORMAT = event_format(
    "answers",
    _Answer,
    SHAPE,
    _read,
    key="id",
    unit="given",
    title="answers of language models, events without offsets",
    about=__doc__,
    suffixes=(".answers.jsonl", ".answers.json"),
    protocols=("textee-2024",),
    refers_to_gold=True,
    reading="strings=found-in-text",
)
