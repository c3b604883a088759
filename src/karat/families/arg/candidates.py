"""Candidates: what a classifier over gold's triggers and entities may answer for (Peng et al. 2023, OmniEvent).

A system span that is no candidate is ignored, so a wrong boundary of an argument costs recall, but no precision.
"""

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence, Set
from itertools import accumulate, chain, count
from typing import Literal, NamedTuple

from msgspec import Struct

from karat.arguments import HOLDERS, Argument, Event
from karat.counts import PrecisionRecall
from karat.families.arg.keyed import NO_CANDIDATE, NOT_FOUND
from karat.families.arg.keys import SpanEvents
from karat.model import Document, Mention, Pair, Region
from karat.plugin import (
    ArgumentItem,
    ArgumentMeasure,
    ArgumentOutcome,
    ArgumentPart,
    ComparedArgument,
    Counted,
    DocumentArguments,
    ErrorsOf,
    Filler,
    Measure,
    Outcome,
    Tables,
    TableSpec,
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


class Candidate(NamedTuple):
    """A candidate with the answers of gold and of the system."""

    document: str
    gold: Mention | ArgumentItem | None
    system: Mention | ArgumentItem | None
    is_correct: bool
    event: Mention | None = None
    """The event of gold whose argument it could be."""


class DocumentEvents(NamedTuple):
    """The events of a document: all of gold, those of the system that count, and arguments of these that do not."""

    document: str
    gold: tuple[Mention, ...]
    system: tuple[Mention, ...]
    no_candidates: tuple[ArgumentItem, ...]


class ArgumentTable(NamedTuple):
    """The candidates that either side has an argument on, and what does not count."""

    candidates: tuple[Candidate, ...]
    ignored: int
    """System arguments that are no candidates."""
    not_found: int
    """Arguments of gold's events that do not count, since the system lacks the event."""
    events: tuple[DocumentEvents, ...]


class TriggerCandidates(TableSpec[tuple[Candidate, ...]], Struct, frozen=True, cache_hash=True):
    """Gold's triggers and every single token outside them, each with the first system trigger there.

    A system trigger whose type gold never has does not count: this is known when the whole corpus is.
    """

    def make(self, tables: Tables) -> tuple[Candidate, ...]:
        """The candidates of one document that either side has a trigger on."""
        gold, system = tables.get(SpanEvents())
        first = _first_on_span(system)
        found = [_trigger(tables.pair, event, first.get(event.mention.span)) for event in gold]
        return (*found, *(_trigger(tables.pair, None, event) for event in _on_other_tokens(tables.pair, gold, first)))

    def add(self, tables: Sequence[tuple[Candidate, ...]]) -> tuple[Candidate, ...]:
        """Documents have no candidates in common."""
        return tuple(chain.from_iterable(tables))

    @property
    def counted(self) -> Counted:
        """The types of gold are known when the whole corpus is."""
        return "corpus"

    @property
    def errors_of(self) -> ErrorsOf:
        """Triggers are mentions."""
        return "mentions"

    def finish(self, tables: Sequence[tuple[Candidate, ...]], report: Report) -> Sequence[tuple[Candidate, ...]]:
        """The candidates without system triggers of types that gold does not have."""
        del report
        known = {_type(candidate.gold) for table in tables for candidate in table if candidate.gold is not None}
        return [
            tuple(
                candidate
                if candidate.system is None or _type(candidate.system) in known
                else candidate._replace(system=None)
                for candidate in table
                if candidate.gold is not None or _type(candidate.system) in known
            )
            for table in tables
        ]


def _type(item: Mention | ArgumentItem | None) -> object:
    return None if item is None else item.attributes.get("type")


def _trigger(pair: Pair, gold: Event | None, system: Event | None) -> Candidate:
    correct = gold is not None and system is not None and gold.type == system.type
    triggers = (None if event is None else event.mention for event in (gold, system))
    return Candidate(pair.gold.id, next(triggers), next(triggers), correct)


def _first_on_span(events: Sequence[Event]) -> dict[Region, Event]:
    return {event.mention.span: event for event in reversed(events)}


def _on_other_tokens(pair: Pair, gold: Sequence[Event], system: dict[Region, Event]) -> Iterator[Event]:
    """System events whose trigger is a single token outside gold's triggers."""
    is_taken = _overlap_test(event.mention.span for event in gold)
    for event in sorted(system.values(), key=lambda event: event.mention.span):
        if not is_taken(event.mention.span) and len(words_of(event.mention, pair.system, pair.gold)) == 1:
            yield event


class ArgumentCandidates(TableSpec[ArgumentTable], Struct, frozen=True, cache_hash=True):
    """For each trigger that counts: gold's arguments, and the mentions of all entities that are none of them."""

    mode: Mode

    def make(self, tables: Tables) -> ArgumentTable:
        """The candidates of one document."""
        gold, system = tables.get(SpanEvents())
        first = _first_on_span(system)
        entities = _entities(tables.pair.gold)
        found: list[Candidate] = []
        not_found = 0
        for event in gold:
            answer = first.get(event.mention.span)
            if answer is not None or self.mode in ("gold", "strict"):
                found += self._candidates(tables.pair.gold.id, event, answer, entities)
            else:
                not_found += len(event.arguments)
        triggers = {event.mention.span for event in gold}
        counted = [event for span, event in first.items() if span in triggers]
        if self.mode in ("strict", "default"):
            for event in _on_other_tokens(tables.pair, gold, first):
                found += self._candidates(tables.pair.gold.id, None, event, entities)
                counted.append(event)
        answers = [one.system for one in found if isinstance(one.system, ArgumentItem)]
        ignored = max(0, sum(len(event.arguments) for event in system) - len(answers))
        places = {(one.event.id, one.mentions[0].span) for one in answers}
        every = [ArgumentItem(one.role, event.mention, one.mentions) for event in counted for one in event.arguments]
        events = DocumentEvents(
            tables.pair.gold.id,
            tuple(event.mention for event in gold),
            tuple(event.mention for event in counted),
            tuple(one for one in every if (one.event.id, one.mentions[0].span) not in places),
        )
        return ArgumentTable(tuple(found), ignored, not_found, (events,))

    def add(self, tables: Sequence[ArgumentTable]) -> ArgumentTable:
        """Documents have no candidates in common."""
        candidates, ignored, not_found, events = zip(*tables, strict=True)
        return ArgumentTable(
            tuple(chain.from_iterable(candidates)), sum(ignored), sum(not_found), tuple(chain.from_iterable(events))
        )

    @property
    def errors_of(self) -> ErrorsOf:
        """Arguments."""
        return "arguments"

    def _candidates(
        self, document: str, gold: Event | None, system: Event | None, entities: Mapping[Region, Set[frozenset[Region]]]
    ) -> Iterator[Candidate]:
        answers: dict[Region, Argument] = {}
        for argument in () if system is None else system.arguments:
            answers.setdefault(argument.mentions[0].span, argument)
        right_type = gold is not None and system is not None and (self.mode == "gold" or gold.type == system.type)
        trigger = None if gold is None else gold.mention
        spans = []
        for argument in () if gold is None else gold.arguments:
            spans.append(argument.mentions[0].span)
            answer = answers.get(spans[-1])
            correct = answer is not None and right_type and answer.role == argument.role
            yield Candidate(document, _item(gold, argument), _item(system, answer), correct, trigger)
        is_taken = _overlap_test(spans)
        for span in sorted(answers.keys() & entities.keys()):
            if all(any(map(is_taken, entity)) for entity in entities[span]):
                continue
            yield Candidate(document, None, _item(system, answers[span]), False, trigger)


def _item(event: Event | None, argument: Argument | None) -> ArgumentItem | None:
    if event is None or argument is None:
        return None
    return ArgumentItem(argument.role, event.mention, argument.mentions)


def _entities(document: Document) -> Mapping[Region, Set[frozenset[Region]]]:
    """For each span: the entities of gold there, as the spans of each.

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


def _overlap_test(regions: Iterable[Region]) -> Callable[[Region], bool]:
    """Return a function that tests if a region overlaps any of these."""
    segments = sorted(segment for region in regions for segment in region)
    begins = [begin for begin, _ in segments]
    reach = list(accumulate([end for _, end in segments], max))

    def overlaps(region: Region) -> bool:
        before = ((bisect_left(begins, end), begin) for begin, end in region)
        return any(count and reach[count - 1] > begin for count, begin in before)

    return overlaps


def _count(candidates: Sequence[Candidate]) -> PrecisionRecall:
    """Candidates with the right answer, over those with an answer, and over those that gold has one for."""
    correct = sum([candidate.is_correct for candidate in candidates])
    answers = sum([candidate.system is not None for candidate in candidates])
    return PrecisionRecall(correct, answers, correct, sum([candidate.gold is not None for candidate in candidates]))


def _outcomes(candidates: Sequence[Candidate]) -> Iterator[Outcome[PrecisionRecall]]:
    """A correct answer; else what gold has and what the system has, each by itself."""
    for candidate in candidates:
        if candidate.is_correct:
            yield Outcome(candidate.gold, candidate.system, PrecisionRecall(1, 1, 1, 1), "", candidate.document)
            continue
        label = _label(candidate)
        if candidate.gold is not None:
            yield Outcome(candidate.gold, None, PrecisionRecall(0, 0, 0, 1), label, candidate.document)
        if candidate.system is not None:
            yield Outcome(None, candidate.system, PrecisionRecall(0, 1, 0, 0), label, candidate.document)


def _label(candidate: Candidate) -> str:
    if candidate.gold is None or candidate.system is None:
        return ""
    if isinstance(candidate.gold, ArgumentItem) and isinstance(candidate.system, ArgumentItem):
        return "wrong role" if candidate.gold.role != candidate.system.role else "wrong type"
    return "wrong type"


def _place(item: Mention | ArgumentItem | None) -> tuple[str, Region] | None:
    """The event of an argument, and what fills it."""
    return (item.event.id, item.mentions[0].span) if isinstance(item, ArgumentItem) else None


def _by_trigger(events: Sequence[Mention]) -> dict[Hashable, Mention]:
    """The first event of each trigger."""
    return {event.span: event for event in reversed(events)}


class CandidateTriggers(Measure[tuple[Candidate, ...], PrecisionRecall], frozen=True):
    """Triggers, with their types."""

    id = "trig.c"

    @property
    def attributes(self) -> tuple[str, ...]:
        """The type."""
        return ("type",)

    def count(self, table: tuple[Candidate, ...]) -> PrecisionRecall:
        """Count candidates."""
        return _count(table)

    def outcomes(self, table: tuple[Candidate, ...]) -> Iterator[Outcome[PrecisionRecall]]:
        """List candidates."""
        return _outcomes(table)


class CandidateArguments(ArgumentMeasure[ArgumentTable, PrecisionRecall], frozen=True):
    """Arguments, with the types of their events and their roles."""

    id = "arg.c"

    @property
    def fields(self) -> tuple[str, ...]:
        """Arguments have roles."""
        return ("role",)

    def count(self, table: ArgumentTable) -> PrecisionRecall:
        """Count candidates."""
        return _count(table.candidates)

    def outcomes(self, table: ArgumentTable) -> Iterator[Outcome[PrecisionRecall]]:
        """List candidates."""
        return _outcomes(table.candidates)

    @property
    def parts(self) -> tuple[ArgumentPart, ...]:
        """Everything; types are given in one mode."""
        assert isinstance(self.table, ArgumentCandidates), "it reads candidates"
        parts: tuple[ArgumentPart, ...] = ("trigger", "type", "role", "span")
        return tuple(part for part in parts if part != "type" or self.table.mode != "gold")

    def arguments(self, table: ArgumentTable) -> Iterator[DocumentArguments]:
        """List the arguments of each document. Of several system events with the same trigger, the first counts."""
        by_document: dict[str, list[Candidate]] = {}
        for one in table.candidates:
            by_document.setdefault(one.document, []).append(one)
        for events in table.events:
            yield self._arguments(events, by_document.get(events.document, ()))

    def _arguments(self, events: DocumentEvents, candidates: Sequence[Candidate]) -> DocumentArguments:
        keys = count()
        golds, systems = self._attainable(events, candidates), _by_trigger(events.system)
        outcomes: list[ArgumentOutcome] = []
        met = [(one, one.event is None or golds[one.event.span].id == one.event.id) for one in candidates]
        # A system argument meets every gold event of its trigger, but is one argument: of the one that it can have.
        listed = {_place(one.system) for one, is_attainable in met if is_attainable}
        for one, is_attainable in met:
            gold = self._compared(one.gold, next(keys), is_attainable=is_attainable)
            is_new = is_attainable or _place(one.system) not in listed
            listed.add(_place(one.system))
            system = self._compared(one.system, next(keys), is_attainable=is_new)
            if one.is_correct:
                outcomes.append(ArgumentOutcome(gold, system))
                continue
            outcomes += [ArgumentOutcome(gold, None, 1)] if gold is not None else []
            outcomes += [ArgumentOutcome(None, system, 1)] if system is not None else []
        outcomes += [ArgumentOutcome(None, self._compared(one, next(keys))) for one in events.no_candidates]
        known = [frozenset(self._about(one) for one in side) for side in (events.gold, events.system)]
        return DocumentArguments(events.document, tuple(outcomes), golds, systems, *known)

    def _attainable(self, events: DocumentEvents, candidates: Sequence[Candidate]) -> dict[Hashable, Mention]:
        """Of gold events with one trigger, the one a system can have: of its type, else the first with arguments."""
        types = {one.span: one.attributes.get("type") for one in reversed(events.system)}
        arguing = {one.gold.event.id for one in candidates if isinstance(one.gold, ArgumentItem)}
        order = sorted(
            events.gold,
            key=lambda one: (one.attributes.get("type") != types.get(one.span), one.id not in arguing),
            reverse=True,
        )
        return {one.span: one for one in order}

    def _compared(
        self, item: Mention | ArgumentItem | None, key: int, *, is_attainable: bool = True
    ) -> ComparedArgument | None:
        if not isinstance(item, ArgumentItem):
            return None
        every: dict[ArgumentPart, Hashable] = {
            "trigger": item.event.span,
            "type": item.event.attributes.get("type"),
            "role": item.role,
            "span": item.mentions[0].span,
        }
        values = {part: every[part] for part in self.parts}
        return ComparedArgument(key, (item,), item.event.span, values, (Filler(item.mentions),), is_attainable)

    def _about(self, event: Mention) -> tuple[Hashable, ...]:
        return event.span, None, event.attributes.get("type") if "type" in self.parts else None

    def differences(self, table: ArgumentTable) -> Mapping[str, int]:
        """System arguments and gold arguments that are ignored."""
        return {NO_CANDIDATE: table.ignored, NOT_FOUND: table.not_found}
