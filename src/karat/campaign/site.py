"""The web site of a campaign: an index, a page for each track and each system, and the error reports.

All links are relative, and no page needs another: the folder works from a disk and on any web server.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from karat import __version__
from karat.campaign.campaign import Campaign, Entry
from karat.campaign.listing import NOTHING_TO_RANK, description, first_place, heading, listed, reasons, signatures
from karat.campaign.ranking import Ranking
from karat.campaign.submissions import Track
from karat.report.comparison import comparison_facts, comparison_tables
from karat.report.html.charts import Ranking as RankingChart
from karat.report.html.charts import ranking_chart
from karat.report.html.page import SORTING, page_script, rendered
from karat.report.layout import View, counted
from karat.report.scores import score_table
from karat.report.tables import Cell, Table, bounds, printed, score_cell, short

DOWNLOADS = ("results.json", "rankings.csv", "submissions.csv")
Link = tuple[str, str]
"""A text and its target."""

LONGEST = 80
"""Characters of a file name."""


class Part(NamedTuple):
    """A ranking or tables under one heading."""

    title: str = ""
    ranking: RankingChart | None = None
    words: Sequence[str] = ()
    tables: Sequence[Table] = ()
    folded: str = ""
    """The name of tables that are shown only on request."""


class Refused(NamedTuple):
    """A submission that was refused."""

    name: str
    link: str
    reasons: Sequence[str]


class Section(NamedTuple):
    """A part of a page."""

    title: str
    id: str = ""
    words: Sequence[str] = ()
    parts: Sequence[Part] = ()
    refused: Sequence[Refused] = ()
    findings: Sequence[str] = ()
    facts: Sequence[tuple[str, str]] = ()
    links: Sequence[Link] = ()


class HeadScore(NamedTuple):
    """A score in large figures."""

    measure: str
    value: str
    interval: tuple[str, str] | None
    about: str


class Page(NamedTuple):
    """A page with its path in the site."""

    path: str
    title: str
    links: Sequence[Link]
    words: Sequence[str] = ()
    headlines: Sequence[HeadScore] = ()
    sections: Sequence[Section] = ()

    def html(self) -> Iterator[str]:
        """Yield the page in pieces."""
        return rendered(
            "campaign.html",
            version=__version__,
            script=page_script(SORTING),
            **{k: v for k, v in self._asdict().items() if k != "path"},
        )


class Site:
    """The pages of a campaign."""

    def __init__(self, campaign: Campaign, title: str, view: View, reports: Mapping[str, str]) -> None:
        """`reports` has the path of the error report of each entry that has one, by `entry_slug`."""
        self._campaign, self._title, self._view, self._reports = campaign, title, view, reports

    def pages(self) -> Iterator[Page]:
        yield self.index()
        for track in self._tracks():
            yield self.track(track)
        for entry in self._campaign.entries:
            yield self.system(entry)

    def _tracks(self) -> list[Track]:
        return list(dict.fromkeys(ranking.track for ranking in self._campaign.rankings))

    def _links(self, root: str) -> list[Link]:
        """Return the links of a page to the index and the tracks."""
        tracks = [(track_title(track), f"{root}{track_path(track)}") for track in self._tracks()]
        return [("Results", f"{root}index.html"), *tracks]

    def _systems(self, track: Track, root: str) -> dict[str, str]:
        return {entry.name: f"{root}{entry_path(entry)}" for entry in self._campaign.entries if entry.track == track}

    def index(self) -> Page:
        """Return the first page: the best of each track, and the refused submissions."""
        campaign = self._campaign
        refused = campaign.refused()
        sections = [
            Section(
                f"{track_title(ranking.track)}" + (f", {ranking.protocol}" if self._has_protocols() else ""),
                words=[first_place(ranking)],
                parts=[Part(ranking=self._chart(ranking, ""))],
                links=[("Sources, contrastive systems and tests", track_path(ranking.track))],
            )
            for ranking in campaign.rankings
            if ranking.source is None and ranking.condition == self._first_condition(ranking)
        ]
        sections += [Section(track_title(track), words=[NOTHING_TO_RANK]) for track in campaign.unranked()]
        if refused:
            listing = [Refused(_called(entry), entry_path(entry), list(reasons(entry))) for entry in refused]
            sections.append(Section("Refused submissions", "refused", refused=listing))
        sections.append(Section("Submissions", "submissions", parts=[Part(tables=[self._submissions()])]))
        facts = [("signature", line) for line in signatures(campaign)]
        sections.append(Section("Data", "data", facts=facts, links=[(name, name) for name in DOWNLOADS]))
        return Page("index.html", self._title, self._links(""), [f"{campaign.counts()}."], (), sections)

    def _has_protocols(self) -> bool:
        return len({ranking.protocol for ranking in self._campaign.rankings}) > 1

    def _first_condition(self, ranking: Ranking) -> str:
        """Return the condition that is shown first; a track may have only contrastive systems."""
        return next(other.condition for other in self._campaign.rankings if other.track == ranking.track)

    def _chart(self, ranking: Ranking, root: str) -> RankingChart:
        return ranking_chart(ranking.comparison, self._view.digits, self._systems(ranking.track, root))

    def _submissions(self) -> Table:
        campaign = self._campaign
        rows = [
            [
                Cell(_called(entry), link=entry_path(entry)),
                Cell(entry.site),
                Cell(entry.submission.condition),
                Cell(campaign.status(entry)),
                Cell(description(entry)),
                Cell(f"{entry.check.documents:,}"),
                Cell(f"{len(entry.check.missing):,}"),
                Cell(f"{len(entry.check.extra):,}"),
            ]
            for entry in campaign.entries
        ]
        header = ["system", "site", "condition", "status", "description", "documents", "missing", "extra"]
        return Table(header, rows, left=5)

    def track(self, track: Track) -> Page:
        """Return the rankings of a track: overall and by source, primary and contrastive."""
        sections = []
        groups: dict[tuple[str, str], list[Ranking]] = {}
        for ranking in self._campaign.rankings:
            if ranking.track == track:
                groups.setdefault((ranking.protocol, ranking.condition), []).append(ranking)
        for (protocol, condition), chosen in groups.items():
            overall = chosen[0].comparison
            parts = []
            for ranking in chosen:
                tables = comparison_tables(ranking.comparison, self._view)
                folded = "Tests and all measures"
                title = "All sources" if ranking.source is None else f"Source: {ranking.source}"
                words = [first_place(ranking)]
                parts.append(Part(title, self._chart(ranking, "../"), words, tables, folded))
            facts = [*comparison_facts(overall).items(), ("signature", overall.first.signature)]
            title = f"{protocol}: {condition} systems"
            sections.append(Section(title, slug(f"{protocol}-{condition}"), parts=parts, facts=facts))
        return Page(track_path(track), f"{self._title}: {track_title(track)}", self._links("../"), sections=sections)

    def system(self, entry: Entry) -> Page:
        """Return the page of a submission: its scores and ranks, or why it was refused, and the findings on it."""
        check = entry.check
        sections = []
        if not entry.results:
            sections.append(Section("Why it is not ranked", "refused", findings=list(reasons(entry))))
        elif self._campaign.status(entry) == "ranked":
            sections.append(Section("Ranks", "ranks", parts=[Part(tables=[self._ranks(entry)])]))
        else:
            sections.append(Section("Ranks", "ranks", words=[NOTHING_TO_RANK]))
        for result in entry.results:
            sections.append(
                Section(
                    f"Scores under {result.protocol}",
                    slug(result.protocol),
                    parts=[Part(tables=[score_table(result, digits=self._view.digits)])],
                    facts=[("signature", result.signature)],
                )
            )
        facts = [
            ("site", entry.site),
            ("track", track_title(entry.track)),
            ("condition", entry.submission.condition),
            ("description", description(entry)),
            ("documents", f"{check.documents:,}"),
            ("mentions", f"{check.mentions:,}"),
            ("missing documents", listed(check.missing) or "none"),
            ("documents that gold does not have", listed(check.extra) or "none"),
        ]
        notes = [str(finding.finding()) for finding in check.findings if entry.results or finding.severity == "note"]
        sections.append(Section("Submission", "submission", findings=notes, facts=facts))
        links = self._links("../")
        if report := self._reports.get(entry_slug(entry)):
            links.append(("Error report", f"../{report}"))
            sections.insert(1, Section("Errors", "errors", links=[("Error report with all documents", f"../{report}")]))
        title = f"{_called(entry)}: refused" if not entry.results else _called(entry)
        return Page(entry_path(entry), title, links, headlines=self._headlines(entry), sections=sections)

    def _rankings(self, entry: Entry) -> Iterator[Ranking]:
        for ranking in self._campaign.rankings:
            if entry.results and (ranking.track, ranking.condition) == (entry.track, entry.submission.condition):
                yield ranking

    def _headlines(self, entry: Entry) -> list[HeadScore]:
        found = []
        for ranking in self._rankings(entry):
            if ranking.source is None:
                leaf, name = ranking.leaf(entry.name), ranking.score_name()
                ci = None if leaf.ci is None else leaf.ci.values.get(name)
                rank = ranking.comparison[entry.name].rank
                about = f"rank {rank} of {counted(len(ranking.comparison.systems), 'system')}, {ranking.protocol}"
                measure = f"{ranking.measure} {short(name)}"
                value = printed(leaf, name, self._view.digits)
                found.append(HeadScore(measure, value, bounds(ci, self._view.digits), about))
        return found

    def _ranks(self, entry: Entry) -> Table:
        rows = []
        for ranking in self._rankings(entry):
            leaf, name = ranking.leaf(entry.name), ranking.score_name()
            rows.append(
                [
                    Cell(f"{ranking.protocol}, {heading(ranking)}"),
                    Cell(ranking.measure),
                    score_cell(leaf, name, self._view.digits),
                    Cell(f"{ranking.comparison[entry.name].rank} of {len(ranking.comparison.systems)}"),
                ]
            )
        return Table(["ranking", "measure", "score", "rank"], rows, left=2)


def track_title(track: Track) -> str:
    """Return the name of a track on pages."""
    return "All systems" if track == Track() else f"{track.language.capitalize()} {track.task.upper()}"


def track_path(track: Track) -> str:
    """Return the path of a track's page."""
    return f"tracks/{slug(str(track).replace('/', '-'))}.html"


def entry_slug(entry: Entry) -> str:
    """Return the name of the files about a submission."""
    return slug(entry.name if entry.track == Track() else f"{entry.track}/{entry.name}")


def entry_path(entry: Entry) -> str:
    """Return the path of a submission's page."""
    return f"systems/{entry_slug(entry)}.html"


def _called(entry: Entry) -> str:
    return entry.name if entry.track == Track() else f"{entry.name} ({track_title(entry.track)})"


def slug(text: str) -> str:
    """Return a file name for any text, and no two texts share one: itself if it is plain, else with `--` and a hash."""
    plain = re.sub(r"[^a-z0-9_]+", "-", text.lower()).strip("-")[:LONGEST]
    return plain if plain and plain == text else f"{plain}--{hashlib.sha256(text.encode()).hexdigest()[:16]}"
