"""Divided scoring: chunks of documents are scored in other processes, and what they send is merged in order.

A worker is given the paths and places of its documents, and sends back tables and counts, never documents. A chunk that
cannot be scored there is scored again here, after all earlier ones: so errors are the same, and come in the same order,
as in one process.
"""

import pickle
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

from karat.corpus import Corpus, Executor, Progress, chunks
from karat.engine.scoring import RunOptions, Scoring, ScoringPart
from karat.errors import Findings, KaratError, Rule
from karat.protocols import Protocol

UNSCORED = Rule(
    "worker-unable", "fatal", "Check that workers have the same files and packages; --jobs 1 needs no other process."
)


class Shared(NamedTuple):
    """What all chunks of a run have in common."""

    protocols: Sequence[Protocol]
    options: RunOptions


class Chunk(NamedTuple):
    """Documents for one worker: their ids, and where it finds them."""

    ids: Sequence[str]
    gold: Corpus
    system: Corpus


def add_divided(scoring: Scoring, ids: Sequence[str], executor: Executor, progress: Progress | None = None) -> None:
    """Add documents to scoring: in this process if there is no other, or if they cannot be divided."""
    surveys = scoring.gold.survey(), scoring.system.survey()
    groups = chunks(ids, surveys, executor) if scoring.merges else [ids]
    made = (_chunk(scoring, group) for group in groups)
    first = next(made)
    if first is None or len(groups) == 1:
        scoring.add(ids, progress)
        return
    done = 0
    shared = Shared(scoring.protocols, scoring.options)
    tasks = (chunk for chunk in chain([first], made) if chunk is not None)
    for group, sent in zip(groups, executor.map(scored_chunk, shared, tasks), strict=True):
        part: ScoringPart | None = None if isinstance(sent, str) else pickle.loads(sent)
        if part is None or not scoring.merge(part):
            scoring.add(group)
        if isinstance(sent, str):
            raise UNSCORED.error(f"a worker could not score documents that this process can: {sent}")
        done += len(group)
        if progress is not None:
            progress(done, len(ids))


def _chunk(scoring: Scoring, ids: Sequence[str]) -> Chunk | None:
    """The documents of a chunk; None if they cannot be sent."""
    gold, system = (
        corpus.part([id_ for id_ in ids if id_ in corpus.survey().rows]) for corpus in (scoring.gold, scoring.system)
    )
    return None if gold is None or system is None else Chunk(ids, gold, system)


def scored_chunk(shared: Shared, chunk: Chunk) -> bytes | str:
    """What scoring has of a chunk, pickled; or why it cannot be scored, or not be sent."""
    scoring = Scoring(chunk.gold, chunk.system, shared.protocols, shared.options, Findings())
    try:
        scoring.prepare()
        scoring.findings = Findings()  # what filters report when they are prepared is known already
        scoring.add(chunk.ids)
        return pickle.dumps(scoring.part(), pickle.HIGHEST_PROTOCOL)
    except KaratError as error:
        return str(error.finding)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    finally:
        scoring.close()
