"""Triggers and arguments as answers for candidates (Peng et al. 2023, OmniEvent)."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import count

from karat.counts import PrecisionRecall
from karat.measures._differences import NO_CANDIDATE, NOT_FOUND
from karat.model import Mention, Region
from karat.plugin import (
    ArgumentItem,
    ArgumentOutcome,
    ArgumentPart,
    ComparedArgument,
    DocumentArguments,
    Filler,
    Measure,
    Outcome,
)
from karat.tables.candidates import ArgumentCandidates, ArgumentTable, Candidate, DocumentEvents


def _count(candidates: Sequence[Candidate]) -> PrecisionRecall:
    """Candidates with the right answer, over those with an answer, and over those that gold has one for."""
    correct = sum([one.is_correct for one in candidates])
    answers = sum([one.system is not None for one in candidates])
    return PrecisionRecall(correct, answers, correct, sum([one.gold is not None for one in candidates]))


def _outcomes(candidates: Sequence[Candidate]) -> Iterator[Outcome[PrecisionRecall]]:
    """A correct answer; else what gold has and what the system has, each by itself."""
    for one in candidates:
        if one.is_correct:
            yield Outcome(one.gold, one.system, PrecisionRecall(1, 1, 1, 1), "", one.document)
            continue
        label = _label(one)
        if one.gold is not None:
            yield Outcome(one.gold, None, PrecisionRecall(0, 0, 0, 1), label, one.document)
        if one.system is not None:
            yield Outcome(None, one.system, PrecisionRecall(0, 1, 0, 0), label, one.document)


def _label(one: Candidate) -> str:
    if one.gold is None or one.system is None:
        return ""
    if isinstance(one.gold, ArgumentItem) and isinstance(one.system, ArgumentItem):
        return "wrong role" if one.gold.role != one.system.role else "wrong type"
    return "wrong type"


def _place(item: Mention | ArgumentItem | None) -> tuple[str, Region] | None:
    """The event of an argument, and what fills it."""
    return (item.event.id, item.mentions[0].span) if isinstance(item, ArgumentItem) else None


def _by_trigger(events: Sequence[Mention]) -> dict[Hashable, Mention]:
    """The first event of each trigger."""
    return {one.span: one for one in reversed(events)}


class CandidateTriggers(Measure[tuple[Candidate, ...], PrecisionRecall], frozen=True):
    """Triggers, with their types."""

    id = "trig.c"

    @property
    def attributes(self) -> tuple[str, ...]:
        """The type."""
        return ("type",)

    def count(self, table: tuple[Candidate, ...]) -> PrecisionRecall:
        """By candidate."""
        return _count(table)

    def outcomes(self, table: tuple[Candidate, ...]) -> Iterator[Outcome[PrecisionRecall]]:
        """By candidate."""
        return _outcomes(table)


class CandidateArguments(Measure[ArgumentTable, PrecisionRecall], frozen=True):
    """Arguments, with the types of their events and their roles."""

    id = "arg.c"

    @property
    def fields(self) -> tuple[str, ...]:
        """Arguments have roles."""
        return ("role",)

    def count(self, table: ArgumentTable) -> PrecisionRecall:
        """By candidate."""
        return _count(table.candidates)

    def outcomes(self, table: ArgumentTable) -> Iterator[Outcome[PrecisionRecall]]:
        """By candidate."""
        return _outcomes(table.candidates)

    @property
    def attributes(self) -> tuple[str, ...]:
        """The type, if it must be right."""
        return ("type",) if "type" in self.argument_parts else ()

    @property
    def argument_parts(self) -> tuple[ArgumentPart, ...]:
        """Everything; types are given in one mode."""
        assert isinstance(self.table, ArgumentCandidates), "it reads candidates"
        parts: tuple[ArgumentPart, ...] = ("trigger", "type", "role", "span")
        return tuple(part for part in parts if part != "type" or self.table.mode != "gold")

    def arguments(self, table: ArgumentTable) -> Iterator[DocumentArguments]:
        """Those of each document. Of several system events with the same trigger, the first counts."""
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
        values = {part: every[part] for part in self.argument_parts}
        return ComparedArgument(key, (item,), item.event.span, values, (Filler(item.mentions),), is_attainable)

    def _about(self, event: Mention) -> tuple[Hashable, ...]:
        return event.span, None, event.attributes.get("type") if "type" in self.argument_parts else None

    def differences(self, table: ArgumentTable) -> Mapping[str, int]:
        """What is ignored."""
        return {NO_CANDIDATE: table.ignored, NOT_FOUND: table.not_found}
