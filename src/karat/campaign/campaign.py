"""A campaign: every submission checked and scored, and what is ranked with what."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec

from karat.campaign.golds import Gold, gold_path, secret
from karat.campaign.layouts import Submission, Track
from karat.campaign.naming import Naming
from karat.campaign.ranking import Ranking, Statistics, rankings
from karat.campaign.running import OnJob, Work, executor_for, job_key, run_jobs
from karat.campaign.scoring import Conditions, Job, scored
from karat.campaign.statistics import KeptStatistics
from karat.campaign.store import Store
from karat.campaign.stored import Check, Outcome
from karat.comparison.comparing import NO_MEASURE
from karat.errors import Finding, Rule, nearest
from karat.results import Result

TOO_MUCH = Rule("submission-too-much", "fatal", "Check that the files are not damaged, and not much larger than gold.")


class Entry(NamedTuple):
    """A submission, and what became of it."""

    submission: Submission
    name: str
    """What the system is called in reports."""
    site: str
    check: Check
    results: Sequence[Result]
    """One per protocol, if it was accepted."""
    job: Job | None
    """How it was scored; None if it was refused before."""

    @property
    def track(self) -> Track:
        """Where it competes."""
        return self.submission.track


class Campaign(NamedTuple):
    """All submissions and their rankings."""

    gold: str
    entries: Sequence[Entry]
    rankings: Sequence[Ranking]
    golds: Mapping[Track, Gold]
    naming: Naming
    newly_scored: int
    """How many submissions this run has scored; the others were known."""

    def accepted(self) -> list[Entry]:
        """Those that are ranked."""
        return [entry for entry in self.entries if entry.results]

    def refused(self) -> list[Entry]:
        """Those that are not."""
        return [entry for entry in self.entries if not entry.results]


class Run(NamedTuple):
    """What a campaign is run with."""

    gold: str
    conditions: Conditions
    statistics: Statistics = Statistics()
    sort_by: str | None = None
    processes: int = 1

    def campaign(
        self, submissions: Sequence[Submission], store: Store, *, blind: bool = False, on_job: OnJob | None = None
    ) -> Campaign:
        """Score what is not in the store yet, then rank; `blind`: under pseudonyms."""
        golds, submissions = self._golds(submissions)
        naming = Naming(secret(self.gold) if blind else None)
        jobs = {
            submission.key: self._job(submission, golds[submission.track])
            for submission in submissions
            if not submission.problems
        }
        work = Work("score", scored, self.conditions, store.path)
        new = run_jobs(work, [*jobs.values()], store, processes=self.processes, on_job=on_job)
        entries = [self._entry(one, jobs.get(one.key), golds, store, naming) for one in submissions]
        entries.sort(key=lambda entry: (entry.track, entry.name))
        return Campaign(
            Path(self.gold).resolve().name, entries, self._rankings(entries, golds, store), golds, naming, new
        )

    def _golds(self, submissions: Sequence[Submission]) -> tuple[dict[Track, Gold], list[Submission]]:
        """The gold of each track, and the submissions, refused where there is none."""
        opened: dict[str, Gold] = {}
        golds: dict[Track, Gold] = {}
        lacking: dict[Track, Finding] = {}
        for track in sorted({one.track for one in submissions if not one.problems}):
            path = gold_path(self.gold, track)
            if isinstance(path, Finding):
                lacking[track] = path
            else:
                if path not in opened:
                    opened[path] = Gold(path, self.conditions)
                golds[track] = opened[path]
        checked = [
            one._replace(problems=(lacking[one.track],)) if one.track in lacking and not one.problems else one
            for one in submissions
        ]
        return golds, checked

    def measures(self, track: Track) -> tuple[str, ...]:
        """What is scored in a track: of an ACE task, its measure."""
        return (f"ace.{track.task}",) if track.task else self.conditions.measures

    def _job(self, submission: Submission, gold: Gold) -> Job:
        job = Job("", submission, gold.path, self.measures(submission.track))
        return job._replace(key=job_key("score", job, gold, self.conditions))

    def _entry(
        self, submission: Submission, job: Job | None, golds: Mapping[Track, Gold], store: Store, naming: Naming
    ) -> Entry:
        content = None if job is None else store.get(job.key)
        if content is None or job is None:
            problems = submission.problems or [TOO_MUCH.at("it needs more memory or deeper nesting than there is")]
            outcome = Outcome(Check.refused(problems, submission.package.name))
        else:
            try:
                outcome = Outcome.decoded(content)
            except msgspec.MsgspecError as error:
                raise store.unusable(f"a result in it is damaged: {error}") from None
        outcome = outcome.changed(partial(naming.hidden, submission))
        name, gold = naming.system(submission), golds.get(submission.track)
        results = [
            stored.result(protocol, gold.corpus.survey(), job.measures, (gold.name, name))
            for stored, protocol in zip(outcome.results, () if gold is None else gold.protocols, strict=False)
            if job is not None and gold is not None
        ]
        return Entry(submission, name, naming.site(submission), outcome.check, results, job)

    def _rankings(self, entries: Sequence[Entry], golds: Mapping[Track, Gold], store: Store) -> list[Ranking]:
        found: list[Ranking] = []
        accepted = [entry for entry in entries if entry.results]
        with executor_for(self.processes) as processes:
            executor = KeptStatistics(processes, store)
            for track, gold in golds.items():
                for number, sources in enumerate(gold.sources):
                    systems = {
                        entry.name: (entry.submission.condition, entry.results[number])
                        for entry in accepted
                        if entry.track == track
                    }
                    found += rankings(track, systems, sources, self.statistics, executor, sort_by=self.sort_by)
        if self.sort_by is not None and found and all(one.measure != self.sort_by for one in found):
            known = list(dict.fromkeys(id_ for entry in accepted for result in entry.results for id_ in result.scores))
            message = f"--sort-by: there is no measure {self.sort_by!r} here. {nearest(self.sort_by, known)}"
            raise NO_MEASURE.error(message)
        return found
