"""Documents of event-extraction formats: entity mentions, event mentions at their triggers, and arguments.

An argument is a link from the event mention whose kind is the role. It leads to an entity mention or to a cluster;
where the file gives just a span, to a mention of kind `argument`, one for each span.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, chain, pairwise
from typing import Any, Literal, TypeVar

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from karat.formats._columns import LONGEST_TEXT
from karat.formats._text import DANGLING, TWICE
from karat.model import EMPTY, Document, Id, Link, Mention, Region, Unit, Value, qualified
from karat.plugin.formats import Completion, Context, Facts, Format, Piece
from karat.problems import KaratError, Rule, quoted
from karat.regions import NOWHERE, is_nowhere

SPAN = Rule("event-span", "fatal", "Write offsets in whole numbers, 0 or more; a span has at least one token.")
LARGEST = 2 * NOWHERE
"""Offsets are smaller: no sum of them exceeds a float."""
UNIT = Rule("event-unit", "fatal", "Omit --unit; the format says what offsets count.")
T = TypeVar("T")
UNREAD = Rule("relations-unread", "note", "No action needed; no score uses them.")


BOTH = Rule("both-sides", "note", "Give the file as SYSTEM to have its predictions read.")


def default_realis(facts: Facts) -> Completion:
    """Events without a realis are not annotated, in a corpus in which others have one."""
    return Completion(attributes={"realis": "NOT_ANNOTATED"} if ("event", "realis") in facts.attributes else {})


class EventDocument:
    """Collects the annotations of a document. What cannot be used is reported and left out."""

    def __init__(self, id_: str, context: Context, value: Piece) -> None:
        self.id = id_
        self.value = value
        self.tokens: Sequence[str] | None = None
        """The tokens that spans count, if mentions have no text of their own."""
        self._begins: list[int] | None = None
        """The first token of each sentence, and the number of all tokens, if the file has sentences."""
        self.context = context
        self._entities: dict[str, Mention] = {}
        self._clusters: set[str] = set()
        """Clusters of entity mentions."""
        self._events: dict[str, Mention] = {}
        self._fillers: dict[Region | str | None, Mention] = {}
        self._ids: set[str] = set()
        self._links: list[Link] = []

    def report(self, rule: Rule, message: str, *, found: str | None = None) -> None:
        """Report what is wrong with the document."""
        self.context.report(rule.at(message, file=self.value.name, line=self.value.line, found=found))

    def misplaced(self, message: str, written: object, rule: Rule = SPAN) -> tuple[int, int]:
        """Report an item with an impossible span, and return one in its place."""
        return self.context.misplaced(rule.at(message, file=self.value.name, line=self.value.line), written)

    def choose_side(self, gold: T, system: T, names: str) -> T:
        """Return what to read of a file that has both sides: the system's in SYSTEM, else gold's, with a note."""
        if self.context.options.is_system:
            return system
        self.report(BOTH, f"document {quoted(self.id)} has {names}; only the first is read")
        return gold

    def refusal(self, rule: Rule, message: str, *, found: str | None = None) -> KaratError:
        """The error for a document that cannot be read."""
        return rule.error(message, file=self.value.name, line=self.value.line, found=found)

    def refuse_unit(self, unit: Unit) -> None:
        """Refuse `--unit` with another unit than this one."""
        refuse_unit(self.context.options.unit, unit, self.value)

    def add_entity(self, mention: Mention) -> None:
        """Add a mention that events may have as an argument."""
        usable = self._usable(mention)
        if usable is not None:
            self._entities[mention.id] = usable
            if mention.cluster is not None:
                self._clusters.add(mention.cluster)

    def add_event(self, mention: Mention) -> bool:
        """Add an event mention, and say whether it can be used."""
        usable = self._usable(mention)
        if usable is None:
            return False
        self._events[mention.id] = usable
        return True

    @property
    def events(self) -> int:
        """How many event mentions there are."""
        return len(self._events)

    def entity(self, id_: str) -> Mention | None:
        return self._entities.get(id_)

    def link(self, event: str, role: str, target: str, *, name: str | None = None) -> None:
        """Add an argument that is a mention or a cluster; `name` is what the file calls it."""
        if target in self._entities or target in self._clusters:
            self._links.append(Link(role, event, target))
        else:
            name = target if name is None else name
            message = f"the {role} of {event!r} names {quoted(name)}, which is not an entity"
            self.report(DANGLING, f"{message} of document {quoted(self.id)}", found=name)

    def fill(self, event: str, role: str, begin: int, end: int, text: str | None = None) -> None:
        """Add an argument that is just a span."""
        self._fill(event, role, ((begin, end),), text)

    def fill_text(self, event: str, role: str, text: str) -> None:
        """Add an argument that is just a string."""
        self._fill(event, role, (), text)

    def _fill(self, event: str, role: str, span: Region, text: str | None) -> None:
        key = span or text
        filler = self._fillers.get(key)
        if filler is None:
            if text is None:
                text = self.words(*span[0])
            filler = self._usable(Mention(f"argument-{len(self._fillers) + 1}", span, kind="argument", text=text))
            if filler is None:
                return
            self._fillers[key] = filler
        self._links.append(Link(role, event, filler.id))

    def add_sentences(self, sentences: Sequence[Sequence[str]]) -> None:
        """Set the tokens of the document, sentence by sentence."""
        self.tokens = tuple(chain.from_iterable(sentences))
        self._begins = [*accumulate(map(len, sentences), initial=0)]

    def in_sentence(self, mention: str, sentence: int | None, begin: int, end: int) -> tuple[int, int]:
        """Return a span of a sentence as one of the document; report that of a mention if it is impossible."""
        begins = self._begins or [0]
        if sentence is None or not 0 <= sentence < len(begins) - 1:
            problem = "is in no sentence of the document"
        elif begin < 0:
            problem = f"begins at token {begin:,} of its sentence"
        elif end > (length := begins[sentence + 1] - begins[sentence]):
            problem = f"ends at token {end:,} of its sentence, which has {length:,}"
        elif begin >= end:
            problem = f"begins at token {begin:,} of its sentence and ends before token {end:,}"
        else:
            return begins[sentence] + begin, begins[sentence] + end
        return self.misplaced(f"mention {mention} {problem}", (sentence, begin, end))

    def words(self, begin: int, end: int) -> str | None:
        """The text of a span of tokens, if they are known."""
        if self.tokens is None or not 0 <= begin < end <= min(len(self.tokens), begin + LONGEST_TEXT):
            return None
        return " ".join(self.tokens[begin:end])

    def _usable(self, mention: Mention) -> Mention | None:
        """Return the mention, with a span that matches nothing if its own is impossible; None if it cannot be used."""
        if mention.id in self._ids:
            self.report(TWICE, f"mention id {quoted(mention.id)} is used twice in this document", found=mention.id)
            return None
        for begin, end in mention.span:
            if not 0 <= begin < end < LARGEST:
                message = f"mention {quoted(mention.id)} of document {quoted(self.id)} begins at {begin:,}"
                place = self.misplaced(f"{message} and ends before {end:,}", mention.span)
                mention = replace(mention, span=(place,))
        self._ids.add(mention.id)
        return mention

    def report_unread(self, relations: Sequence[object]) -> None:
        """Report relations between entities."""
        if relations:
            self.report(UNREAD, f"relations between entities are not read ({len(relations):,} here)")

    def document(self, **fields: Any) -> Document:
        """Return the document: entities, other fillers, and events, each in the order of the file, and arguments."""
        mentions = (*self._entities.values(), *self._fillers.values(), *self._events.values())
        if self._begins is not None:
            fields |= {"unit": "token", "forms": self.tokens, "sentences": sentences_of(self._begins)}
        return Document(self.id, mentions=mentions, links=tuple(self._links), **fields)


def typed(type_: str | None) -> dict[str, Value]:
    """The type as an attribute, if there is one."""
    return {"type": type_} if type_ else {}


def sentences_of(begins: Iterable[int]) -> Region:
    """Return the tokens of sentences from where each begins and the last ends; those without a token are left out."""
    return tuple([(begin, end) for begin, end in pairwise(begins) if begin < end])


def add_clusters(clusters: Iterable[Iterable[tuple[int, int]]], to: EventDocument) -> None:
    """Add the mentions of coreference clusters in the order of CoNLL: by their first tokens, longer ones first."""
    spans = [(begin, -end, number) for number, spans in enumerate(clusters, 1) for begin, end in spans]
    for index, (begin, minus_end, number) in enumerate(sorted(spans), 1):
        cluster, text = qualified(to.id, str(number)), to.words(begin, -minus_end)
        to.add_event(Mention(f"m{index}", ((begin, -minus_end),), cluster=cluster, text=text))


def refuse_unit(given: Unit | None, unit: Unit, value: Piece) -> None:
    """Refuse `--unit` with another unit than that of the format."""
    if given not in (None, unit):
        message = f"offsets of this format count {unit}s, but --unit says {given}"
        raise UNIT.error(message, file=value.name, line=value.line)


def event_format(
    name: str,
    record: type[T],
    shape: Rule,
    read: Callable[[T, EventDocument], Document],
    *,
    key: str,
    unit: Unit | Literal["named", "given"],
    id_of: Callable[[str], str] = str,
    **fields: Any,
) -> Format:
    """Return a format of JSON objects, each a record of one document, whose id is under a key.

    `shape` refuses anything else; the other fields are those of `Format`.
    """
    from karat.formats._forms import recognises
    from karat.formats._json import each_value, lines_with, record_of

    decoder = msgspec.json.Decoder(record)

    def read_value(value: Piece, context: Context) -> Document:
        decoded = record_of(value, decoder.decode, shape, context)
        content = EventDocument(id_of(getattr(decoded, key)), context, value)
        if unit == "char" or unit == "token":
            content.refuse_unit(unit)
        return read(decoded, content)

    return Format(
        **{"suffixes": (f".{name}.json", f".{name}.jsonl"), "global_ids": "none", **fields},
        unit=unit,
        sniff=recognises(name),
        read=each_value(read_value),
        marker=lines_with(key, id_of),
    )


OFFSETS = Rule("argument-offsets", "fault", "Correct one of the two; the offsets of the entity mention count.")


class EntityMention(Struct, frozen=True, gc=False):
    """A mention of an entity, a value or a time."""

    id: Id
    start: int
    end: int
    entity_type: str | None = None
    entity_subtype: str | None = None
    mention_type: str | None = None
    text: str | None = None


class Trigger(Struct, frozen=True, gc=False):
    """The words that express an event."""

    start: int
    end: int
    text: str | None = None


class Argument(Struct, frozen=True, gc=False):
    """An entity mention in its role; only some files repeat its offsets."""

    entity_id: str
    role: str
    start: int | None = None
    end: int | None = None


class EventMention(Struct, frozen=True, gc=False):
    """An event at its trigger."""

    id: Id
    trigger: Trigger
    event_type: str | None = None
    arguments: tuple[Argument, ...] = ()


class Annotated(Struct, frozen=True, kw_only=True):
    """Fields that the files have in common: a document, a sentence or a window of tokens."""

    tokens: tuple[str, ...] | None = None
    entity_mentions: tuple[EntityMention, ...] = ()
    event_mentions: tuple[EventMention, ...] | None
    relation_mentions: tuple[Raw, ...] = ()


def add_mentions(annotated: Annotated, to: EventDocument, clusters: Mapping[str, str] = EMPTY) -> None:
    """Add everything; `clusters` has the clusters of entity mentions, by id, as far as they are known."""
    for entity in annotated.entity_mentions:
        attributes = attributes_of(entity.entity_type, entity.entity_subtype, entity.mention_type)
        span, cluster = ((entity.start, entity.end),), clusters.get(entity.id)
        to.add_entity(made(entity.id, span, "entity", cluster, attributes, entity.text))
    for event in annotated.event_mentions or ():
        trigger = event.trigger
        span = ((trigger.start, trigger.end),)
        if to.add_event(made(event.id, span, "event", None, attributes_of(event.event_type), trigger.text)):
            for argument in event.arguments:
                to.link(event.id, argument.role, argument.entity_id)
                if argument.start is not None or argument.end is not None:
                    _compare_offsets(event, argument, to)
    to.report_unread(annotated.relation_mentions)


@lru_cache(maxsize=4096)
def attributes_of(type_: str | None, subtype: str | None = None, mention_type: str | None = None) -> dict[str, Value]:
    """Return attributes, which equal mentions share: few have attributes of their own."""
    values = {"type": type_, "subtype": subtype, "mention_type": mention_type}
    return {name: value for name, value in values.items() if value}


def made(
    id_: str, span: Region, kind: str, cluster: str | None, attributes: dict[str, Value], text: str | None
) -> Mention:
    """Make a mention; by position, which takes half as long."""
    return Mention(id_, span, None, None, None, kind, cluster, attributes, text, (), None, EMPTY, EMPTY)


def _compare_offsets(event: EventMention, argument: Argument, to: EventDocument) -> None:
    entity = to.entity(argument.entity_id)
    if entity is not None and entity.span != ((argument.start, argument.end),) and not is_nowhere(entity.span):
        own, others = f"{argument.start} to {argument.end}", "{} to {}".format(*entity.span[0])
        message = f"the {argument.role} of {event.id!r} goes from {own}, but entity mention {entity.id!r} from {others}"
        to.report(OFFSETS, message, found=argument.entity_id)
