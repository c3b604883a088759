"""Divided scoring: chunks of documents are scored in other processes (`karat.corpus.divided`)."""

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from karat.corpus import Corpus, Executor, Progress, chunks
from karat.corpus.divided import Sent, attempted, collected
from karat.engine.observer import Observe
from karat.engine.scoring import RunOptions, Scoring, ScoringPart
from karat.errors import Findings
from karat.protocols import Protocol


class Shared(NamedTuple):
    """What all chunks of a run have in common."""

    protocols: Sequence[Protocol]
    options: RunOptions
    observe: Observe | None


class Chunk(NamedTuple):
    """Documents for one worker: their ids, and where it finds them."""

    ids: Sequence[str]
    gold: Corpus
    system: Corpus


def add_divided(scoring: Scoring, ids: Sequence[str], executor: Executor, progress: Progress | None = None) -> bool:
    """Add documents to scoring: in this process if there is no other, or if they cannot be divided.

    Returns whether they were divided.
    """
    indexes = scoring.gold.survey().index, scoring.system.survey().index
    groups = chunks(ids, indexes, executor) if scoring.merges else [ids]
    made = (_chunk(scoring, group) for group in groups)
    first = next(made) if len(groups) > 1 else None
    if first is None:
        scoring.add(ids, progress)
        return False
    done = 0
    shared = Shared(scoring.protocols, scoring.options, scoring.observe)
    tasks = (chunk for chunk in chain([first], made) if chunk is not None)
    sent = executor.map(scored_chunk, shared, tasks)
    for group in collected(groups, sent, merge=scoring.merge, add=scoring.add):
        done += len(group)
        if progress is not None:
            progress(done, len(ids))
    return True


def _chunk(scoring: Scoring, ids: Sequence[str]) -> Chunk | None:
    """The documents of a chunk; None if they cannot be sent."""
    gold, system = (
        corpus.part([id_ for id_ in ids if id_ in corpus.survey().rows]) for corpus in (scoring.gold, scoring.system)
    )
    return None if gold is None or system is None else Chunk(ids, gold, system)


def scored_chunk(shared: Shared, chunk: Chunk) -> Sent:
    """What scoring has of a chunk."""
    scoring = Scoring(chunk.gold, chunk.system, shared.protocols, shared.options, Findings())

    def part() -> ScoringPart:
        scoring.prepare(observe=shared.observe)
        scoring.findings = Findings()  # what filters report when they are prepared is known already
        scoring.add(chunk.ids)
        return scoring.part()

    try:
        return attempted(part)
    finally:
        scoring.close()
