"""The events of both sides with their arguments, as spans that protocols compare."""

from collections.abc import Callable, Hashable
from itertools import chain
from typing import Literal

from msgspec import Struct

from karat.errors import KaratError, Origin, Rule, quoted
from karat.model import Document, Mention, Pair, Region
from karat.model.arguments import Event, events_of
from karat.model.texts import region_text, without_article, words_of
from karat.plugin import Tables, TableSpec

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

Place = Literal["span", "head", "head-word"]
"""What of an argument is compared: its span, its head, or the word at its head, wherever that is."""

Sides = tuple[list[Event], list[Event]]


class BothEvents(TableSpec[Sides], Struct, frozen=True, cache_hash=True):
    """The events (or templates) of both sides."""

    kind: str = "event"

    def make(self, tables: Tables) -> Sides:
        """Gold's and the system's."""
        return events_of(tables.pair.gold, self.kind), events_of(tables.pair.system, self.kind)


class SpanEvents(TableSpec[Sides], Struct, frozen=True, cache_hash=True):
    """The events of both sides, all of whose arguments are mentions with a span."""

    def make(self, tables: Tables) -> Sides:
        """Gold's and the system's; refuses what cannot be compared by its span."""
        gold, system = tables.get(BothEvents())
        _refuse(gold, tables.pair.gold, "gold")
        _refuse(system, tables.pair.system, "system")
        return gold, system


def _refuse(events: list[Event], document: Document, side: Origin) -> None:
    for event in events:
        if not event.mention.span:
            what = f"the trigger {quoted(event.mention.id)} of document {quoted(document.id)} has no span"
            raise KaratError(NO_SPAN.at(what, item=event.mention.id, origin=side))
        for argument in event.arguments:
            named = f"{argument.role} of {quoted(event.mention.id)} in document {quoted(document.id)}"
            if argument.cluster is not None:
                what = f"{named} is the cluster {quoted(argument.cluster)}, but this protocol compares spans"
                item = argument.role, event.mention.id, argument.cluster
                raise KaratError(CLUSTER.at(what, item=item, origin=side))
            (mention,) = argument.mentions
            if not mention.span:
                what = f"{named} is {quoted(mention.id)}, which has no span"
                raise KaratError(NO_SPAN.at(what, item=mention.id, origin=side))


def place_function(place: Place, pair: Pair, side: Origin, *, trim: bool) -> Callable[[Mention], Hashable]:
    """What is compared in place of an argument's mention."""
    documents = (pair.gold, pair.system) if side == "gold" else (pair.system, pair.gold)

    def span(mention: Mention) -> Region:
        return without_article(mention, *documents) if trim else mention.span

    def head(mention: Mention) -> Region:
        own = span(mention)
        words = [word for word in words_of(mention, *documents) if word.begin >= own[0][0]]
        if len(words) < 2:
            return own
        # The filter `heads` refuses the corpus when it has counted how many heads are missing.
        return own if mention.head is None else mention.head

    def head_word(mention: Mention) -> str:
        own = head(mention)
        words = (word.form for word in words_of(mention, *documents) if own[0][0] <= word.begin < own[-1][1])
        texts = chain([mention.texts.get("head")], (region_text(one, own) for one in documents), words)
        text = next((one for one in texts if one is not None), None)
        if text is None:
            what = f"the word at the head of {quoted(mention.id)} in document {quoted(pair.gold.id)} is not known"
            raise KaratError(NO_HEAD_TEXT.at(what, item=mention.id, origin=side))
        return text

    if place == "head-word":
        return head_word
    return head if place == "head" else span
