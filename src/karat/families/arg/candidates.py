"""Candidates: what a classifier over gold's triggers and entities may answer for (Peng et al. 2023, OmniEvent).

A system span that is not a candidate is ignored, so a wrong boundary of an argument costs recall, but no precision.
"""

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence, Set
from itertools import count
from typing import Literal, NamedTuple

from karat.arguments import Argument, Event
from karat.counts import PrecisionRecall
from karat.families.arg.events import SPAN_EVENTS, Compared, DocumentsMeasure, DocumentsSpec
from karat.match.similarities import overlaps
from karat.model import HOLDERS, Document, Mention, Pair, Region
from karat.plugin import (
    ArgumentItem,
    ArgumentOutcome,
    ArgumentPart,
    ComparedArgument,
    DocumentArguments,
    Filler,
    Tables,
)
from karat.problems import Report
from karat.words import words_of

Mode = Literal["gold", "strict", "default", "loose"]
"""The triggers whose arguments count.

gold     gold's triggers, with gold's types
strict   gold's triggers, and the system's on other tokens
default  gold's triggers that the system found, and the system's on other tokens
loose    gold's triggers that the system found
"""

Answer = Mention | ArgumentItem | None
"""The trigger or argument that a side has for a candidate."""


class Candidate(NamedTuple):
    """A candidate with the answers of gold and of the system."""

    gold: Answer
    system: Answer
    is_correct: bool
    event: Mention | None = None
    """The event of gold whose argument it could be."""


class DocumentCandidates(NamedTuple):
    """The candidates of a document that either side has an answer for; and about arguments, what does not count."""

    document: str
    candidates: tuple[Candidate, ...]
    gold: tuple[Mention, ...] = ()
    """All events of gold."""
    system: tuple[Mention, ...] = ()
    """The events of the system that count."""
    no_candidates: tuple[ArgumentItem, ...] = ()
    """Arguments of these that do not count."""
    ignored: int = 0
    """The number of all system arguments that are not candidates."""
    not_found: int = 0
    """Arguments of gold's events that do not count, since the system lacks the event."""


class TriggerCandidates(DocumentsSpec[DocumentCandidates], frozen=True, cache_hash=True):
    """Gold's triggers and every single token outside them, each with the first system trigger there.

    A system trigger whose type gold never has does not count: this is known when the whole corpus is.
    """

    counted = "corpus"
    errors_of = "mentions"

    def make(self, tables: Tables) -> tuple[DocumentCandidates, ...]:
        """List the candidates of one document."""
        gold, system = tables.get(SPAN_EVENTS)
        first = _first_on_span(system)
        found = [_trigger(event, first.get(event.mention.span)) for event in gold]
        found += [_trigger(None, event) for event in _on_other_tokens(tables.pair, gold, first)]
        return (DocumentCandidates(tables.pair.gold.id, tuple(found)),)

    def finish(
        self, tables: Sequence[tuple[DocumentCandidates, ...]], report: Report
    ) -> Sequence[tuple[DocumentCandidates, ...]]:
        """Remove system triggers of types that gold does not have."""
        del report
        documents = [document for table in tables for document in table]
        known = {_type(candidate.gold) for document in documents for candidate in document.candidates} - {None}

        def counted(candidate: Candidate) -> Candidate:
            return candidate if _type(candidate.system) in known else candidate._replace(system=None)

        return [
            tuple(
                document._replace(
                    candidates=tuple(
                        left for left in map(counted, document.candidates) if left.gold is not None or left.system
                    )
                )
                for document in table
            )
            for table in tables
        ]


def _type(answer: Answer) -> object:
    return None if answer is None else answer.attributes.get("type")


def _trigger(gold: Event | None, system: Event | None) -> Candidate:
    correct = gold is not None and system is not None and gold.type == system.type
    return Candidate(_mention(gold), _mention(system), correct)


def _mention(event: Event | None) -> Mention | None:
    return None if event is None else event.mention


def _first_on_span(events: Sequence[Event]) -> dict[Region, Event]:
    return {event.mention.span: event for event in reversed(events)}


def _on_other_tokens(pair: Pair, gold: Iterable[Event], system: Mapping[Region, Event]) -> list[Event]:
    """Return system events whose trigger is a single token outside gold's triggers."""
    spans = sorted(system)
    taken = {index for index, _ in overlaps([event.mention.span for event in gold], spans)}
    return [
        system[span]
        for index, span in enumerate(spans)
        if index not in taken and len(words_of(system[span].mention, pair.system, pair.gold)) == 1
    ]


class ArgumentCandidates(DocumentsSpec[DocumentCandidates], frozen=True, cache_hash=True):
    """For each trigger that counts: gold's arguments, and the mentions of all entities that are none of them."""

    mode: Mode

    def make(self, tables: Tables) -> tuple[DocumentCandidates, ...]:
        """List the candidates of one document."""
        gold, system = tables.get(SPAN_EVENTS)
        first = _first_on_span(system)
        entities = _entities(tables.pair.gold)
        found: list[Candidate] = []
        not_found = 0
        for event in gold:
            answer = first.get(event.mention.span)
            if answer is not None or self.mode in ("gold", "strict"):
                found += self._candidates(event, answer, entities)
            else:
                not_found += len(event.arguments)
        triggers = {event.mention.span for event in gold}
        counted = [event for span, event in first.items() if span in triggers]
        if self.mode in ("strict", "default"):
            for event in _on_other_tokens(tables.pair, gold, first):
                found += self._candidates(None, event, entities)
                counted.append(event)
        places = [_place(candidate.system) for candidate in found if candidate.system is not None]
        arguments = [_item(event, argument) for event in counted for argument in event.arguments]
        document = DocumentCandidates(
            tables.pair.gold.id,
            tuple(found),
            tuple(event.mention for event in gold),
            tuple(event.mention for event in counted),
            tuple(item for item in arguments if item is not None and _place(item) not in places),
            max(0, sum(len(event.arguments) for event in system) - len(places)),
            not_found,
        )
        return (document,)

    def _candidates(
        self, gold: Event | None, system: Event | None, entities: Mapping[Region, Set[frozenset[Region]]]
    ) -> Iterator[Candidate]:
        answers: dict[Region, Argument] = {}
        for argument in () if system is None else system.arguments:
            answers.setdefault(argument.mentions[0].span, argument)
        right_type = gold is not None and system is not None and (self.mode == "gold" or gold.type == system.type)
        trigger = _mention(gold)
        spans = []
        for argument in () if gold is None else gold.arguments:
            spans.append(argument.mentions[0].span)
            answer = answers.get(spans[-1])
            correct = answer is not None and right_type and answer.role == argument.role
            yield Candidate(_item(gold, argument), _item(system, answer), correct, trigger)
        for span in sorted(answers.keys() & entities.keys()):
            if not all(overlaps(spans, [*entity]) for entity in entities[span]):
                yield Candidate(None, _item(system, answers[span]), False, trigger)


def _item(event: Event | None, argument: Argument | None) -> ArgumentItem | None:
    if event is None or argument is None:
        return None
    return ArgumentItem(argument.role, event.mention, argument.mentions)


def _entities(document: Document) -> Mapping[Region, Set[frozenset[Region]]]:
    """Return, for each span, the entities of gold there, as the spans of each.

    A mention without a cluster is an entity of its own.
    """
    spans: dict[object, set[Region]] = {}
    for index, mention in enumerate(document.mentions):
        if mention.kind not in HOLDERS and mention.span:
            spans.setdefault(index if mention.cluster is None else mention.cluster, set()).add(mention.span)
    found: dict[Region, set[frozenset[Region]]] = {}
    for entity in map(frozenset, spans.values()):
        for span in entity:
            found.setdefault(span, set()).add(entity)
    return found


def _place(answer: Answer) -> tuple[str, Region] | None:
    """Return the event of an argument, and what fills it."""
    return (answer.event.id, answer.mentions[0].span) if isinstance(answer, ArgumentItem) else None


class CandidateTriggers(DocumentsMeasure[DocumentCandidates, PrecisionRecall], frozen=True):
    """Triggers, with their types."""

    id = "trig.c"

    @property
    def parts(self) -> tuple[ArgumentPart, ...]:
        return ("type",)

    def compared(self, document: DocumentCandidates) -> Iterator[Compared[PrecisionRecall]]:
        """A correct answer; else what gold has and what the system has, each by itself."""
        for gold, system, is_correct, _ in document.candidates:
            if is_correct:
                yield gold, system, PrecisionRecall(1, 1, 1, 1), ""
                continue
            label = "" if gold is None or system is None else "wrong type"
            if isinstance(gold, ArgumentItem) and isinstance(system, ArgumentItem) and gold.role != system.role:
                label = "wrong role"
            if gold is not None:
                yield gold, None, PrecisionRecall(0, 0, 0, 1), label
            if system is not None:
                yield None, system, PrecisionRecall(0, 1, 0, 0), label


NO_CANDIDATE = "ignored where gold has no argument or other entity"
NOT_FOUND = "of gold not counted, since the system lacks the event"


class CandidateArguments(CandidateTriggers, frozen=True):
    """Arguments, with the types of their events and their roles."""

    table: ArgumentCandidates
    id = "arg.c"

    @property
    def parts(self) -> tuple[ArgumentPart, ...]:
        """Everything; types are given in one mode."""
        return ("trigger", "role", "span") if self.table.mode == "gold" else ("trigger", "type", "role", "span")

    def document_arguments(self, document: DocumentCandidates) -> DocumentArguments:
        """List the arguments. Of several system events with the same trigger, the first counts."""
        keys = count()
        golds, systems = _attainable(document), {event.span: event for event in reversed(document.system)}
        outcomes: list[ArgumentOutcome] = []
        met = [(answer, _is_attainable(answer.event, golds)) for answer in document.candidates]
        # A system argument meets every gold event of its trigger, but is one argument: of the one that it can have.
        listed = {_place(candidate.system) for candidate, is_attainable in met if is_attainable}
        for candidate, is_attainable in met:
            gold = self._argument(candidate.gold, next(keys), is_attainable=is_attainable)
            is_new = is_attainable or _place(candidate.system) not in listed
            listed.add(_place(candidate.system))
            system = self._argument(candidate.system, next(keys), is_attainable=is_new)
            if candidate.is_correct:
                outcomes.append(ArgumentOutcome(gold, system))
                continue
            outcomes += [ArgumentOutcome(gold, None, 1)] if gold is not None else []
            outcomes += [ArgumentOutcome(None, system, 1)] if system is not None else []
        outcomes += [ArgumentOutcome(None, self._argument(item, next(keys))) for item in document.no_candidates]
        known = [frozenset(map(self._about, side)) for side in (document.gold, document.system)]
        return DocumentArguments(document.document, tuple(outcomes), golds, systems, *known)

    def _argument(self, item: Answer, key: int, *, is_attainable: bool = True) -> ComparedArgument | None:
        if not isinstance(item, ArgumentItem):
            return None
        trigger, span = item.event.span, item.mentions[0].span
        every: dict[ArgumentPart, Hashable] = {"trigger": trigger, "type": _type(item), "role": item.role, "span": span}
        values = {part: every[part] for part in self.parts}
        return ComparedArgument(key, (item,), trigger, values, (Filler(item.mentions),), is_attainable)

    def _about(self, event: Mention) -> tuple[Hashable, ...]:
        return event.span, None, _type(event) if "type" in self.parts else None

    def differences(self, table: tuple[DocumentCandidates, ...]) -> Mapping[str, int]:
        """Count system arguments and gold arguments that are ignored."""
        return {
            NO_CANDIDATE: sum(document.ignored for document in table),
            NOT_FOUND: sum(document.not_found for document in table),
        }


def _is_attainable(event: Mention | None, golds: Mapping[Region, Mention]) -> bool:
    return event is None or golds[event.span].id == event.id


def _attainable(document: DocumentCandidates) -> dict[Region, Mention]:
    """Of gold events with one trigger, return the one a system can have: of its type, else the first with arguments."""
    types = {event.span: _type(event) for event in reversed(document.system)}
    arguing = {answer.gold.event.id for answer in document.candidates if isinstance(answer.gold, ArgumentItem)}
    order = sorted(
        document.gold,
        key=lambda event: (_type(event) != types.get(event.span), event.id not in arguing),
        reverse=True,
    )
    return {event.span: event for event in order}
