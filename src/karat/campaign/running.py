"""Runs jobs in processes, and keeps what each returns at once: a stopped run goes on where it was."""

import hashlib
from collections.abc import Callable, Sequence
from concurrent.futures.process import BrokenProcessPool

import msgspec

from karat.campaign.golds import Gold
from karat.campaign.scoring import Conditions, Job, prepare
from karat.campaign.store import Store
from karat.comparison import Workers

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


def run_jobs(
    kind: str,
    function: Callable[[Job], bytes | None],
    jobs: Sequence[Job],
    conditions: Conditions,
    store: Store,
    *,
    processes: int,
    on_job: OnJob | None = None,
) -> int:
    """Run those jobs whose keys are not known; return how many there were.

    A job that returns nothing, or ends its process, is not kept, and so tried again in the next run.
    """
    known = store.keys(kind)
    new = {job.key: job for job in jobs if job.key not in known}
    left = dict(new)

    def keep(job: Job, content: bytes | None) -> None:
        del left[job.key]
        if content is not None:
            store.put(kind, [(job.key, content)])
        if on_job is not None:
            on_job(len(new) - len(left), len(new))

    try:
        with Workers(min(processes, len(new)), prepare, (conditions,)) as workers:
            for job, content in workers.completed(function, new.values()):
                keep(job, content)
    except BrokenProcessPool:
        # A process died, for want of memory or in a library. Each job that is left has one of its own: the one that
        # dies again is refused, and the others are not.
        for job in [*left.values()]:
            keep(job, _alone(function, job, conditions))
    return len(new)


def _alone(function: Callable[[Job], bytes | None], job: Job, conditions: Conditions) -> bytes | None:
    try:
        with Workers(2, prepare, (conditions,)) as workers:
            ((_, content),) = workers.completed(function, [job])
            return content
    except BrokenProcessPool:
        return None
