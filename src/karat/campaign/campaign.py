"""A campaign: every submission checked and scored, and systems ranked."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from karat.campaign.children import Children
from karat.campaign.pseudonyms import Naming
from karat.campaign.ranking import CachedStatistics, Ranking, Statistics, rankings
from karat.campaign.scoring import Conditions, Gold, Job, gold_path, job_key, run_jobs, secret
from karat.campaign.store import Check, Outcome, Store
from karat.campaign.submissions import Submission, Track
from karat.comparison.comparing import NO_MEASURE
from karat.corpus.interface import Progress
from karat.problems import Finding, nearest
from karat.report.layout import counted
from karat.result import Result
from karat.run.executors import Processes


class Entry(NamedTuple):
    """A submission with its check and its results."""

    submission: Submission
    name: str
    """The name of the system in reports."""
    site: str
    check: Check
    results: Sequence[Result]
    """One per protocol, if it was accepted."""
    job: Job | None
    """The job that scored it; None if it was refused before."""

    @property
    def track(self) -> Track:
        """Return the track in which it competes."""
        return self.submission.track


class Campaign(NamedTuple):
    """All submissions and their rankings."""

    gold: str
    entries: Sequence[Entry]
    rankings: Sequence[Ranking]
    naming: Naming
    newly_scored: int
    """Number of submissions that this run has scored; the others were known."""

    def accepted(self) -> list[Entry]:
        """Return the submissions that were scored."""
        return [entry for entry in self.entries if entry.results]

    def refused(self) -> list[Entry]:
        """Return the submissions that were refused."""
        return [entry for entry in self.entries if not entry.results]

    def status(self, entry: Entry) -> str:
        """Return `ranked`, `refused`, or `not ranked` if gold has nothing to rank by."""
        if not entry.results:
            return "refused"
        place = entry.track, entry.submission.condition
        return "ranked" if place in {(other.track, other.condition) for other in self.rankings} else "not ranked"

    def unranked(self) -> list[Track]:
        """Return the tracks in which gold has nothing to rank by."""
        return sorted({entry.track for entry in self.entries if self.status(entry) == "not ranked"})

    def counts(self) -> str:
        """Return how many submissions there are of each status."""
        counts = Counter(map(self.status, self.entries))
        statuses = [name for name in ("ranked", "not ranked", "refused") if counts[name] or name != "not ranked"]
        total = counted(len(self.entries), "submission")
        return f"{total}: {', '.join(f'{counts[name]} {name}' for name in statuses)}"


class Run(NamedTuple):
    """The settings of a campaign."""

    gold: str
    conditions: Conditions
    children: Children
    statistics: Statistics = Statistics()
    sort_by: str | None = None

    def campaign(
        self, submissions: Sequence[Submission], store: Store, *, blind: bool = False, progress: Progress | None = None
    ) -> Campaign:
        """Score what is not in the store yet, then rank; `blind`: under pseudonyms."""
        golds, submissions = self._golds(submissions)
        naming = Naming(secret(self.gold) if blind else None)
        jobs = {
            submission.key: self._job(submission, golds[submission.track])
            for submission in submissions
            if not submission.problems
        }
        new, failures = run_jobs("score", [*jobs.values()], self.conditions, store, self.children, progress=progress)
        entries = []
        for submission in submissions:
            job = jobs.get(submission.key)
            problems = submission.problems or ((failures[job.key],) if job is not None and job.key in failures else ())
            entries.append(_entry(submission._replace(problems=problems), job, store, naming))
        entries.sort(key=lambda entry: (entry.track, entry.name))
        name = Path(self.gold).resolve().name
        return Campaign(name, entries, self._rankings(entries, golds, store), naming, new)

    def _golds(self, submissions: Sequence[Submission]) -> tuple[dict[Track, Gold], list[Submission]]:
        """Return the gold of each track, and the submissions, refused where there is none."""
        read: dict[str, Gold] = {}
        golds: dict[Track, Gold] = {}
        lacking: dict[Track, Finding] = {}
        for track in sorted({submission.track for submission in submissions if not submission.problems}):
            path = gold_path(self.gold, track)
            if isinstance(path, Finding):
                lacking[track] = path
            else:
                if path not in read:
                    read[path] = Gold(path, self.conditions)
                golds[track] = read[path]
        checked = [
            submission._replace(problems=(lacking[submission.track],))
            if submission.track in lacking and not submission.problems
            else submission
            for submission in submissions
        ]
        return golds, checked

    def _job(self, submission: Submission, gold: Gold) -> Job:
        task = submission.track.task
        job = Job("", submission, gold, (f"ace.{task}",) if task else self.conditions.measures)
        return job._replace(key=job_key("score", job, self.conditions))

    def _rankings(self, entries: Sequence[Entry], golds: Mapping[Track, Gold], store: Store) -> list[Ranking]:
        found: list[Ranking] = []
        accepted = [entry for entry in entries if entry.results]
        with Processes(self.children.processes) as processes:
            executor = CachedStatistics(processes, store)
            for track, gold in golds.items():
                for index, sources in enumerate(gold.sources):
                    systems = {
                        entry.name: (entry.submission.condition, entry.results[index])
                        for entry in accepted
                        if entry.track == track
                    }
                    found += rankings(track, systems, sources, self.statistics, executor, sort_by=self.sort_by)
        if self.sort_by is not None and found and all(ranking.measure != self.sort_by for ranking in found):
            known = list(dict.fromkeys(id_ for entry in accepted for result in entry.results for id_ in result.scores))
            message = f"--sort-by: there is no measure {self.sort_by!r} here. {nearest(self.sort_by, known)}"
            raise NO_MEASURE.error(message)
        return found


def _entry(submission: Submission, job: Job | None, store: Store, naming: Naming) -> Entry:
    content = None if job is None or submission.problems else store.get(job.key)
    if content is None:
        outcome = Outcome(Check.refused(submission.problems, submission.package.name))
    else:
        outcome = Outcome.decoded(content)
    if naming.is_blind:
        outcome = outcome.concealed()
    name = naming.system(submission)
    results = []
    if job is not None:
        names, facts = (job.gold.name, name), job.gold.corpus.facts()
        for stored, protocol in zip(outcome.results, job.gold.protocols, strict=False):
            results.append(stored.result(protocol, facts, job.measures, names))
    return Entry(submission, name, naming.site(submission), outcome.check, results, job)
