"""The web site of a campaign: an index, a page for each track and each system, and the error reports.

All links are relative, and no page needs another: the folder works from a disk and on any web server.
"""

from collections.abc import Iterator, Mapping

from karat.campaign.campaign import Campaign, Entry
from karat.campaign.layouts import Track
from karat.campaign.listing import first_place, heading, listed, reasons, signatures, status
from karat.campaign.pages import HeadScore, Link, Page, Part, Refused, Section, slug
from karat.campaign.ranking import Ranking
from karat.report.comparison import comparison_facts, comparison_tables
from karat.report.html.charts import Ranking as RankingChart
from karat.report.html.charts import ranking_chart
from karat.report.layout import View, counted
from karat.report.scores import score_table
from karat.report.tables import SHORT, Cell, Table, bounds, printed, score_cell

DOWNLOADS = ("results.json", "rankings.csv", "submissions.csv")


class Site:
    """The pages of a campaign."""

    def __init__(self, campaign: Campaign, title: str, view: View, reports: Mapping[str, str]) -> None:
        """`reports` has the path of the error report of each entry that has one, by `entry_slug`."""
        self._campaign, self._title, self._view, self._reports = campaign, title, view, reports

    def pages(self) -> Iterator[Page]:
        """All pages."""
        yield self.index()
        for track in self._tracks():
            yield self.track(track)
        for entry in self._campaign.entries:
            yield self.system(entry)

    def _tracks(self) -> list[Track]:
        return list(dict.fromkeys(ranking.track for ranking in self._campaign.rankings))

    def _links(self, root: str) -> list[Link]:
        """The way from a page to all others that matter."""
        tracks = [(track_title(track), f"{root}{track_path(track)}") for track in self._tracks()]
        return [("Results", f"{root}index.html"), *tracks]

    def _systems(self, track: Track, root: str) -> dict[str, str]:
        return {entry.name: f"{root}{entry_path(entry)}" for entry in self._campaign.entries if entry.track == track}

    def index(self) -> Page:
        """The first page: who is best in each track, and what was refused."""
        campaign = self._campaign
        ranked, refused = campaign.accepted(), campaign.refused()
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
        if refused:
            own = [Refused(_called(entry), entry_path(entry), list(reasons(entry))) for entry in refused]
            sections.append(Section("Refused submissions", "refused", refused=own))
        sections.append(Section("Submissions", "submissions", parts=[Part(tables=[self._submissions()])]))
        facts = [("signature", line) for line in signatures(campaign)]
        sections.append(Section("Data", "data", facts=facts, links=[(name, name) for name in DOWNLOADS]))
        words = f"{counted(len(campaign.entries), 'submission')}: {len(ranked)} ranked, {len(refused)} refused."
        return Page("index.html", self._title, self._links(""), [words], (), sections)

    def _has_protocols(self) -> bool:
        return len({ranking.protocol for ranking in self._campaign.rankings}) > 1

    def _first_condition(self, ranking: Ranking) -> str:
        """Primary systems are shown first; a track may have only contrastive ones."""
        own = [one.condition for one in self._campaign.rankings if one.track == ranking.track]
        return own[0]

    def _chart(self, ranking: Ranking, root: str) -> RankingChart:
        return ranking_chart(ranking.comparison, self._view.digits, self._systems(ranking.track, root))

    def _submissions(self) -> Table:
        rows = [
            [
                Cell(_called(entry), link=entry_path(entry)),
                Cell(entry.site),
                Cell(entry.submission.condition),
                Cell(status(entry)),
                Cell("present" if entry.submission.described else "missing"),
                Cell(f"{entry.check.documents:,}"),
                Cell(f"{len(entry.check.missing):,}"),
                Cell(f"{len(entry.check.extra):,}"),
            ]
            for entry in self._campaign.entries
        ]
        header = ["system", "site", "condition", "status", "description", "documents", "missing", "extra"]
        return Table(header, rows, left=5)

    def track(self, track: Track) -> Page:
        """The rankings of a track: overall and by source, primary and contrastive."""
        sections = []
        own = [ranking for ranking in self._campaign.rankings if ranking.track == track]
        for protocol, condition in dict.fromkeys((one.protocol, one.condition) for one in own):
            chosen = [one for one in own if (one.protocol, one.condition) == (protocol, condition)]
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
        """One submission: its scores and ranks, or why it was refused, and what was found in it."""
        check, submission = entry.check, entry.submission
        sections = []
        if not entry.results:
            sections.append(Section("Why it is not ranked", "refused", findings=list(reasons(entry))))
        else:
            sections.append(Section("Ranks", "ranks", parts=[Part(tables=[self._ranks(entry)])]))
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
            ("condition", submission.condition),
            ("description", "present" if submission.described else "missing"),
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
        title = f"{_called(entry)}: {status(entry)}" if not entry.results else _called(entry)
        return Page(entry_path(entry), title, links, headlines=self._headlines(entry), sections=sections)

    def _own(self, entry: Entry) -> Iterator[Ranking]:
        """The rankings that a system is in."""
        for ranking in self._campaign.rankings:
            if entry.results and (ranking.track, ranking.condition) == (entry.track, entry.submission.condition):
                yield ranking

    def _headlines(self, entry: Entry) -> list[HeadScore]:
        found = []
        for ranking in self._own(entry):
            if ranking.source is None:
                leaf, name = ranking.leaf(entry.name), ranking.score_name()
                ci = None if leaf.ci is None else leaf.ci.values.get(name)
                rank = ranking.comparison[entry.name].rank
                about = f"rank {rank} of {counted(len(ranking.comparison.systems), 'system')}, {ranking.protocol}"
                measure = f"{ranking.measure} {SHORT.get(name, name)}"
                value = printed(leaf, name, self._view.digits)
                found.append(HeadScore(measure, value, bounds(ci, self._view.digits), about))
        return found

    def _ranks(self, entry: Entry) -> Table:
        rows = []
        for ranking in self._own(entry):
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
    """What a track is called on pages."""
    return "All systems" if track == Track() else f"{track.language.capitalize()} {track.task.upper()}"


def track_path(track: Track) -> str:
    """Where the page of a track is."""
    return f"tracks/{slug(str(track).replace('/', '-'))}.html"


def entry_slug(entry: Entry) -> str:
    """The name of the files about a submission."""
    place = "" if entry.track == Track() else f"{entry.track.language}-{entry.track.task}-"
    return f"{place}{slug(entry.name)}"


def entry_path(entry: Entry) -> str:
    """Where the page of a submission is."""
    return f"systems/{entry_slug(entry)}.html"


def _called(entry: Entry) -> str:
    return entry.name if entry.track == Track() else f"{entry.name} ({track_title(entry.track)})"
