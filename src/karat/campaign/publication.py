"""What one site may publish: the scores of its own systems, and the best score of each ranking.

ACE 2005 plan, section 4.2: sites may publish results of their own systems and the highest score achieved in a task, but
neither name other participants nor cite their results. So there are no ranks and no tests here, and no other names.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from karat import __version__
from karat.campaign.campaign import Campaign, Entry
from karat.campaign.listing import encoded, heading, status
from karat.campaign.pages import Page, Part, Section
from karat.campaign.ranking import Ranking
from karat.campaign.site import entry_slug, track_title
from karat.errors import UsageError, nearest
from karat.report.layout import View
from karat.report.markup import csv, tidy
from karat.report.tables import SHORT, Cell, Table, as_text, percentage, score_cell


class OwnScores(NamedTuple):
    """The own systems of a site in one ranking."""

    ranking: Ranking
    systems: Sequence[str]

    def table(self, view: View) -> Table:
        """Their scores above the best one."""
        ranking, digits = self.ranking, view.digits
        name = ranking.score_name()
        rows = [[Cell(system), score_cell(ranking.leaf(system), name, digits)] for system in self.systems]
        best = [Cell("best score"), Cell(percentage(ranking.best(), digits))]
        return Table([ranking.measure, SHORT.get(name, name)], [*rows, best])


class Publication:
    """What a site may publish."""

    def __init__(self, campaign: Campaign, site: str) -> None:
        self.site = site
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
                    one.name
                    for one in ranking.comparison.systems
                    if (ranking.track, ranking.condition, one.name) in own
                ]
            )
        ]

    def text(self, view: View) -> str:
        """One table per ranking."""
        blocks = [f"Results of {self.site}"]
        for own in self.scores:
            blocks += [f"{own.ranking.protocol}: {heading(own.ranking)}", as_text(own.table(view), view.style)]
        lines = [f"{entry.track} {entry.name}: {status(entry)}" for entry in self.entries]
        signatures = [f"signature  {line}" for line in self.signatures()]
        return "\n\n".join([*blocks, "\n".join(lines), "\n".join(signatures)]) + "\n"

    def signatures(self) -> list[str]:
        """How the scores were made."""
        return list(dict.fromkeys(own.ranking.comparison.first.signature for own in self.scores))

    def rows(self) -> list[dict[str, Any]]:
        """One row per system and ranking."""
        return list(self._rows())

    def _rows(self) -> Iterator[dict[str, Any]]:
        for own in self.scores:
            ranking = own.ranking
            for system in own.systems:
                leaf, name = ranking.leaf(system), ranking.score_name()
                low, high = (leaf.ci and leaf.ci.values.get(name)) or (None, None)
                yield {
                    "language": ranking.track.language or None,
                    "task": ranking.track.task or None,
                    "condition": ranking.condition,
                    "source": ranking.source,
                    "protocol": ranking.protocol,
                    "system": system,
                    "measure": ranking.measure,
                    "score": name,
                    "value": leaf.values[name],
                    "low": low,
                    "high": high,
                    "best": ranking.best(),
                }

    def csv(self, view: View) -> str:
        """The same as one table."""
        return csv(tidy(self.rows(), [f"signature {line}" for line in self.signatures()], digits=view.digits))

    def json(self) -> str:
        """The same as JSON."""
        systems = [
            {"language": entry.track.language or None, "task": entry.track.task or None, "system": entry.name}
            | {"status": status(entry)}
            for entry in self.entries
        ]
        content = {
            "karat": __version__,
            "site": self.site,
            "signatures": self.signatures(),
            "scores": self.rows(),
            "submissions": systems,
        }
        return encoded(content)

    def page(self, title: str, view: View, reports: Mapping[str, str]) -> Page:
        """One page with all of it, and links to the site's own error reports."""
        sections = [
            Section(
                f"{track_title(track)}, {protocol}",
                parts=[
                    Part(heading(own.ranking), tables=[own.table(view)])
                    for own in self.scores
                    if (own.ranking.track, own.ranking.protocol) == (track, protocol)
                ],
            )
            for track, protocol in dict.fromkeys((own.ranking.track, own.ranking.protocol) for own in self.scores)
        ]
        links = [(f"Error report of {entry.name}", path) for entry, path in self._reports(reports)]
        facts = [("signature", line) for line in self.signatures()]
        data = [("results.json", "results.json"), ("rankings.csv", "rankings.csv")]
        sections.append(Section("Data", "data", facts=facts, links=[*links, *data]))
        return Page("index.html", f"{title}: results of {self.site}", [("Results", "index.html")], (), (), sections)

    def _reports(self, reports: Mapping[str, str]) -> Iterator[tuple[Entry, str]]:
        for entry in self.entries:
            if path := reports.get(entry_slug(entry)):
                yield entry, path
