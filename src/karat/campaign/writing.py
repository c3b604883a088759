"""The files of a campaign, by their paths in the output folder."""

from collections.abc import Iterable, Iterator

from karat.campaign import listing
from karat.campaign.campaign import Campaign, Entry, Run
from karat.campaign.publication import Publication
from karat.campaign.reporting import reported
from karat.campaign.running import OnJob, Work, job_key, run_jobs
from karat.campaign.scoring import Job
from karat.campaign.site import Site, entry_slug
from karat.campaign.store import Store
from karat.report.layout import View

Pieces = str | bytes | Iterable[str]


class Outputs:
    """What a campaign writes: all of it, or what one site may publish."""

    def __init__(self, campaign: Campaign, view: View, title: str, *, site: str | None = None) -> None:
        self._campaign, self._view, self._title = campaign, view, title
        self._publication = None if site is None else Publication(campaign, site)
        self._reports: dict[str, Job] = {}

    def make_reports(self, run: Run, store: Store, *, on_job: OnJob | None = None) -> None:
        """Make the error reports that are not in the store yet."""
        entries = self._campaign.accepted() if self._publication is None else self._publication.entries
        for entry in entries:
            if entry.results and entry.job is not None:
                self._reports[entry_slug(entry)] = self._job(entry, entry.job, run)
        jobs = [*self._reports.values()]
        work = Work("report", reported, run.conditions, store.path)
        run_jobs(work, jobs, store, processes=run.processes, on_job=on_job)

    def _job(self, entry: Entry, job: Job, run: Run) -> Job:
        gold = self._campaign.golds[entry.track]
        own = job._replace(name=entry.name, gold_name=gold.name, digits=self._view.digits, naming=self._campaign.naming)
        return own._replace(key=job_key("report", own, gold, run.conditions))

    def text(self) -> str:
        """For people."""
        return (
            listing.text(self._campaign, self._view)
            if self._publication is None
            else self._publication.text(self._view)
        )

    def files(self) -> dict[str, str]:
        """The results in other formats, by name."""
        if self._publication is not None:
            return {"results.json": self._publication.json(), "rankings.csv": self._publication.csv(self._view)}
        return {
            "results.json": listing.json(self._campaign),
            "rankings.csv": listing.rankings_csv(self._campaign, self._view),
            "submissions.csv": listing.submissions_csv(self._campaign),
        }

    def site(self, store: Store) -> Iterator[tuple[str, Pieces]]:
        """The files of the web site by their paths, one after another."""
        yield from self.files().items()
        reports: dict[str, str] = {}
        for name, job in self._reports.items():
            if (report := store.get(job.key)) is not None:
                reports[name] = f"reports/{name}.html"
                yield reports[name], report
        if self._publication is not None:
            page = self._publication.page(self._title, self._view, reports)
            yield page.path, page.html()
            return
        for page in Site(self._campaign, self._title, self._view, reports).pages():
            yield page.path, page.html()
