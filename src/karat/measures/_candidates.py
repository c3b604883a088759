"""Triggers and arguments as answers for candidates (Peng et al. 2023, OmniEvent)."""

from collections.abc import Iterator, Mapping, Sequence

from karat.counts import PrecisionRecall
from karat.measures._differences import NO_CANDIDATE, NOT_FOUND
from karat.plugin import ArgumentItem, Measure, Outcome
from karat.tables.candidates import ArgumentTable, Candidate


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


class CandidateTriggers(Measure[tuple[Candidate, ...], PrecisionRecall], frozen=True):
    """Triggers, with their types."""

    id = "trig.c"

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

    def differences(self, table: ArgumentTable) -> Mapping[str, int]:
        """What is ignored."""
        return {NO_CANDIDATE: table.ignored, NOT_FOUND: table.not_found}
