"""The files of a campaign: all results, or what one site may publish.

ACE 2005 plan, section 4.2: sites may publish results of their own systems and the highest score achieved in a task, but
neither name other participants nor cite their results. So a publication has no ranks, no tests and no other names.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from karat import __version__
from karat.campaign import listing
from karat.campaign.campaign import Campaign, Entry, Run
from karat.campaign.listing import heading
from karat.campaign.ranking import Ranking
from karat.campaign.scoring import Job, job_key, run_jobs
from karat.campaign.site import Page, Part, Section, Site, entry_slug, track_title
from karat.campaign.store import Store
from karat.corpus.interface import Progress
from karat.problems import UsageError, nearest
from karat.report.layout import View
from karat.report.markup import csv_of_records
from karat.report.outputs import indented
from karat.report.tables import Cell, Table, as_text, percentage, score_cell, short

Pieces = str | bytes | Iterable[str]


class OwnScores(NamedTuple):
    """The systems of a site in one ranking."""

    ranking: Ranking
    systems: Sequence[str]

    def table(self, view: View) -> Table:
        """Return their scores above the best one."""
        ranking, digits = self.ranking, view.digits
        name = ranking.score_name()
        rows = [[Cell(system), score_cell(ranking.leaf(system), name, digits)] for system in self.systems]
        best = [Cell("best score"), Cell(percentage(ranking.best(), digits))]
        return Table([ranking.measure, short(name)], [*rows, best])


class Publication:
    """The results that a site may publish."""

    def __init__(self, campaign: Campaign, site: str) -> None:
        self.site = site
        self._campaign = campaign
        self.entries = [entry for entry in campaign.entries if entry.site == site]
        if not self.entries:
            sites = sorted({entry.site for entry in campaign.entries})
            raise UsageError("unknown-site", f"--site: there is no site {site!r}", nearest(site, sites))
        own = {(entry.track, entry.submission.condition, entry.name) for entry in self.entries if entry.results}
        self.scores = [
            OwnScores(ranking, systems)
            for ranking in campaign.rankings
            if (
                systems := [
                    system.name
                    for system in ranking.comparison.systems
                    if (ranking.track, ranking.condition, system.name) in own
                ]
            )
        ]

    def text(self, view: View) -> str:
        """Return one table per ranking."""
        blocks = [f"Results of {self.site}"]
        for scores in self.scores:
            blocks += [f"{scores.ranking.protocol}: {heading(scores.ranking)}", as_text(scores.table(view), view.style)]
        lines = [f"{entry.track} {entry.name}: {self._campaign.status(entry)}" for entry in self.entries]
        signatures = [f"signature  {line}" for line in self.signatures()]
        return "\n\n".join([*blocks, "\n".join(lines), "\n".join(signatures)]) + "\n"

    def signatures(self) -> list[str]:
        return list(dict.fromkeys(scores.ranking.comparison.first.signature for scores in self.scores))

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per system and ranking."""
        found = []
        for scores in self.scores:
            ranking = scores.ranking
            for system in scores.systems:
                leaf, name = ranking.leaf(system), ranking.score_name()
                low, high = (leaf.ci and leaf.ci.values.get(name)) or (None, None)
                row = {
                    **ranking.to_dict(),
                    "protocol": ranking.protocol,
                    "system": system,
                    "measure": ranking.measure,
                    "score": name,
                    "value": leaf.values[name],
                    "low": low,
                    "high": high,
                    "best": ranking.best(),
                }
                found.append(row)
        return found

    def csv(self, view: View) -> str:
        """Return the scores as one table."""
        signatures = [scores.ranking.comparison.first.signature for scores in self.scores for _ in scores.systems]
        rows = [{**row, "signature": line} for row, line in zip(self.rows(), signatures, strict=True)]
        return csv_of_records(rows, digits=view.digits)

    def json(self) -> str:
        systems = [
            {**entry.track.to_dict(), "system": entry.name, "status": self._campaign.status(entry)}
            for entry in self.entries
        ]
        content = {
            "karat": __version__,
            "site": self.site,
            "signatures": self.signatures(),
            "scores": self.rows(),
            "submissions": systems,
        }
        return indented(content)

    def page(self, title: str, view: View, reports: Mapping[str, str]) -> Page:
        """Return one page with all of it, and links to the error reports of the site."""
        sections = [
            Section(
                f"{track_title(track)}, {protocol}",
                parts=[
                    Part(heading(scores.ranking), tables=[scores.table(view)])
                    for scores in self.scores
                    if (scores.ranking.track, scores.ranking.protocol) == (track, protocol)
                ],
            )
            for track, protocol in dict.fromkeys(
                (scores.ranking.track, scores.ranking.protocol) for scores in self.scores
            )
        ]
        links = [
            (f"Error report of {entry.name}", reports[entry_slug(entry)])
            for entry in self.entries
            if entry_slug(entry) in reports
        ]
        facts = [("signature", line) for line in self.signatures()]
        data = [("results.json", "results.json"), ("rankings.csv", "rankings.csv")]
        sections.append(Section("Data", "data", facts=facts, links=[*links, *data]))
        return Page("index.html", f"{title}: results of {self.site}", [("Results", "index.html")], (), (), sections)


class Outputs:
    """The outputs of a campaign, or of one site."""

    def __init__(self, campaign: Campaign, view: View, title: str, *, site: str | None = None) -> None:
        self._campaign, self._view, self._title = campaign, view, title
        self._publication = None if site is None else Publication(campaign, site)
        self._reports: dict[str, Job] = {}

    def make_reports(self, run: Run, store: Store, *, progress: Progress | None = None) -> list[str]:
        """Make the error reports that are not in the store yet; say why some systems have none."""
        entries = self._campaign.accepted() if self._publication is None else self._publication.entries
        for entry in entries:
            if entry.results and entry.job is not None:
                self._reports[entry_slug(entry)] = self._job(entry, entry.job, run)
        jobs = [*self._reports.values()]
        _, failures = run_jobs("report", jobs, run.conditions, store, run.children, progress=progress)
        return [f"{job.name} has no error report: {failures[job.key].message}" for job in jobs if job.key in failures]

    def _job(self, entry: Entry, job: Job, run: Run) -> Job:
        job = job._replace(name=entry.name, digits=self._view.digits, naming=self._campaign.naming)
        return job._replace(key=job_key("report", job, run.conditions))

    def text(self) -> str:
        """Return the results for people."""
        return (
            listing.text(self._campaign, self._view)
            if self._publication is None
            else self._publication.text(self._view)
        )

    def files(self) -> dict[str, str]:
        """Return the results in other formats, by name."""
        if self._publication is not None:
            return {"results.json": self._publication.json(), "rankings.csv": self._publication.csv(self._view)}
        return {
            "results.json": listing.json(self._campaign),
            "rankings.csv": listing.rankings_csv(self._campaign, self._view),
            "submissions.csv": listing.submissions_csv(self._campaign),
        }

    def site(self, store: Store) -> Iterator[tuple[str, Pieces]]:
        """Yield the files of the web site with their paths."""
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
