"""Runs jobs in processes, and keeps what each returns at once: a stopped run goes on where it was."""

import hashlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from karat.campaign.golds import Gold
from karat.campaign.scoring import Conditions, Job
from karat.campaign.store import Store
from karat.engine.executors import LOST, Processes, Serial
from karat.errors import KaratError

OnJob = Callable[[int, int], None]
"""Called after each job with the number done and the total."""


def job_key(kind: str, job: Job, gold: Gold, conditions: Conditions) -> str:
    """What a result depends on, in one hash: what is known under the same key need not be computed again."""
    reading = conditions.reading
    parts = (
        kind,
        gold.signatures,
        gold.digest,
        job.measures,
        (conditions.gold_format, conditions.system_format, reading.unit, reading.coreference),
        conditions.accept_faults,
        job.submission.digest(),
        (job.name, job.gold_name, job.digits, job.naming.is_blind) if kind == "report" else (),
    )
    return hashlib.sha256(msgspec.json.encode(parts)).hexdigest()


class Work(NamedTuple):
    """What all jobs share: what to do, how, and where results are kept."""

    kind: str
    function: Callable[[Conditions, Job], bytes | None]
    conditions: Conditions
    store: Path


def run_jobs(work: Work, jobs: Sequence[Job], store: Store, *, processes: int, on_job: OnJob | None = None) -> int:
    """Run those jobs whose keys are not known; return how many there were.

    A job that returns nothing, or ends its process, is not kept, and so tried again in the next run.
    """
    known = store.keys(work.kind)
    new = [*{job.key: job for job in jobs if job.key not in known}.values()]
    try:
        with executor_for(min(processes, len(new))) as executor:
            for number, _ in enumerate(executor.map(keep_result, work, new), 1):
                if on_job is not None:
                    on_job(number, len(new))
    except KaratError as error:
        if error.finding.code != LOST.code:
            raise
        # A process died, for want of memory or in a library. Each job that is left has one of its own: the one that
        # dies again is refused, and the others are not.
        known = store.keys(work.kind)
        for job in new:
            if job.key not in known:
                with suppress(KaratError), Processes(1) as executor:
                    list(executor.map(keep_result, work, [job]))
    return len(new)


def executor_for(processes: int) -> Serial | Processes:
    """This process, or several others."""
    return Processes(processes) if processes > 1 else Serial()


def keep_result(work: Work, job: Job) -> None:
    """Do a job and keep its result, in whatever process: it is safe even if nobody waits for it any more."""
    content = work.function(work.conditions, job)
    if content is not None:
        with Store(work.store) as store:
            store.put(work.kind, [(job.key, content)])
