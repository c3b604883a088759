"""Events (or templates) with their arguments, and the table and measure of what is compared in each document."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import chain
from operator import attrgetter
from typing import Generic, Literal, Protocol, TypeVar

from msgspec import Struct

from karat.arguments import Event, events_of
from karat.counts import Counts
from karat.model import Document, Mention, Pair, Region
from karat.plugin import ArgumentMeasure, DocumentArguments, ErrorsOf, Item, Outcome, Tables, TableSpec
from karat.problems import KaratError, Origin, Rule, quoted
from karat.words import region_text, without_article, words_of

CLUSTER = Rule(
    "argument-cluster",
    "fatal",
    "Link the event to one mention of the entity, or choose a protocol that scores entities, such as maven-arg-2024.",
)
NO_SPAN = Rule(
    "argument-no-span",
    "fatal",
    "Give its span, or choose a protocol that compares strings, such as maven-arg-2024.",
)
NO_HEAD_TEXT = Rule("head-text-absent", "fatal", "Give the text of the documents, or choose --set match=exact.")

Sides = tuple[list[Event], list[Event]]
_span = attrgetter("span")


class BothEvents(TableSpec[Sides], Struct, frozen=True, cache_hash=True):
    """The events (or templates) of both sides, in the order of their mentions."""

    kind: str = "event"

    def make(self, tables: Tables) -> Sides:
        """List gold's and the system's."""
        return events_of(tables.pair.gold, self.kind), events_of(tables.pair.system, self.kind)


EVENTS = BothEvents()


class SpanEvents(TableSpec[Sides], Struct, frozen=True, cache_hash=True):
    """The events of both sides, all of whose arguments are mentions with a span."""

    def make(self, tables: Tables) -> Sides:
        """List them, or refuse what cannot be compared by its span."""
        gold, system = tables.get(EVENTS)
        _refuse(gold, tables.pair.gold, "gold")
        _refuse(system, tables.pair.system, "system")
        return gold, system


SPAN_EVENTS = SpanEvents()


def _refuse(events: Iterable[Event], document: Document, side: Origin) -> None:
    for event in events:
        trigger = event.mention
        if not trigger.span:
            what = f"the trigger {quoted(trigger.id)} of document {quoted(document.id)} has no span"
            raise KaratError(NO_SPAN.at(what, item=trigger.id, origin=side))
        for argument in event.arguments:
            if argument.cluster is None and argument.mentions[0].span:
                continue
            named = f"{argument.role} of {quoted(trigger.id)} in document {quoted(document.id)}"
            if argument.cluster is not None:
                what = f"{named} is the cluster {quoted(argument.cluster)}, but this protocol compares spans"
                item = argument.role, trigger.id, argument.cluster
                raise KaratError(CLUSTER.at(what, item=item, origin=side))
            filler = argument.mentions[0].id
            raise KaratError(NO_SPAN.at(f"{named} is {quoted(filler)}, which has no span", item=filler, origin=side))


Place = Literal["span", "head", "head-word"]
"""The place of an argument that is compared: its span, its head, or the word at its head, wherever that is."""


def place_function(place: Place, pair: Pair, side: Origin, *, trim: bool) -> Callable[[Mention], Hashable]:
    """Return the function that gives what is compared of an argument's mention."""
    if place == "span" and not trim:
        return _span
    documents = (pair.gold, pair.system) if side == "gold" else (pair.system, pair.gold)

    def span(mention: Mention) -> Region:
        return without_article(mention, *documents) if trim else mention.span

    def head(mention: Mention) -> Region:
        whole = span(mention)
        words = [word for word in words_of(mention, *documents) if word.begin >= whole[0][0]]
        # The filter `heads` refuses the corpus when it has counted how many heads are missing.
        return whole if len(words) < 2 or mention.head is None else mention.head

    def head_word(mention: Mention) -> str:
        region = head(mention)
        words = (word.form for word in words_of(mention, *documents) if region[0][0] <= word.begin < region[-1][1])
        texts = chain([mention.texts.get("head")], (region_text(document, region) for document in documents), words)
        text = next((text for text in texts if text is not None), None)
        if text is None:
            what = f"the word at the head of {quoted(mention.id)} in document {quoted(pair.gold.id)} is not known"
            raise KaratError(NO_HEAD_TEXT.at(what, item=mention.id, origin=side))
        return text

    if place == "head-word":
        return head_word
    return head if place == "head" else span


class InDocument(Protocol):
    """The items that are compared in one document."""

    @property
    def document(self) -> str:
        """The id of the document."""


D = TypeVar("D", bound=InDocument)
C = TypeVar("C", bound=Counts)


class DocumentsSpec(TableSpec[tuple[D, ...]], Struct, frozen=True, cache_hash=True):
    """The items that are compared in each document: documents have no events in common."""

    @property
    def errors_of(self) -> ErrorsOf:
        """Arguments."""
        return "arguments"

    def add(self, tables: Sequence[tuple[D, ...]]) -> tuple[D, ...]:
        return tuple(chain.from_iterable(tables))


Compared = tuple[Item | None, Item | None, C, str]
"""A gold item, a system item, or both; what that counts; and its class, if its sides do not tell."""


class DocumentsMeasure(ArgumentMeasure[tuple[D, ...], C], Generic[D, C], frozen=True):
    """A measure of documents one by one."""

    @property
    def fields(self) -> tuple[str, ...]:
        """Arguments have roles, triggers have none."""
        return ("role",) if self.table.errors_of == "arguments" else ()

    def outcomes(self, table: tuple[D, ...]) -> Iterator[Outcome[C]]:
        """List the outcomes of each document."""
        for document in table:
            for gold, system, counts, label in self.compared(document):
                yield Outcome(gold, system, counts, label, document.document)

    def compared(self, document: D) -> Iterator[Compared[C]]:
        """List the outcomes of a document."""
        raise NotImplementedError

    def arguments(self, table: tuple[D, ...]) -> Iterator[DocumentArguments]:
        """List the arguments of each document."""
        return map(self.document_arguments, table)

    def document_arguments(self, document: D) -> DocumentArguments:
        """List the arguments behind the outcomes of a document."""
        raise NotImplementedError
