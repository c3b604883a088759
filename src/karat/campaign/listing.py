"""A campaign as text, JSON and CSV."""

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import to_builtins

from karat import __version__
from karat.campaign.campaign import Campaign, Entry
from karat.campaign.ranking import Ranking
from karat.campaign.submissions import Track
from karat.problems import visible
from karat.report.comparison import comparison_tables, note_lines, ranked_by, verdict
from karat.report.layout import View, counted
from karat.report.markup import csv_of_records
from karat.report.outputs import indented
from karat.report.scores import intervals_line
from karat.report.tables import Table, as_text

MOST = 10
"""Documents and findings that text lists; JSON has all."""
LONGEST = 100
"""Characters of the id of a document in text and on pages."""


NOTHING_TO_RANK = "Not ranked: gold has no mentions to rank by."


def heading(ranking: Ranking) -> str:
    """Name the systems and documents of a ranking."""
    track = "" if ranking.track == Track() else f"{ranking.track}, "
    source = "all sources" if ranking.source is None else f"source {ranking.source}"
    return f"{track}{ranking.condition} systems, {source}"


def first_place(ranking: Ranking) -> str:
    """Name the best system, and say whether the second is significantly worse, as the table does of the others."""
    return next(verdict(ranking.comparison))


def description(entry: Entry) -> str:
    """Say whether there is a description of the system."""
    return "present" if entry.submission.described else "missing"


def reasons(entry: Entry) -> Iterator[str]:
    """Explain in a few lines why a submission is refused."""
    check = entry.check
    if check.missing and check.documents:
        yield f"{counted(len(check.missing), 'document')} missing: {listed(check.missing)}"
    for finding in check.findings:
        if finding.severity != "note" and finding.code != "document-missing":
            yield f"{finding.finding()} {finding.hint}".strip()


def listed(names: Sequence[str]) -> str:
    """List some names, and count the others."""
    more = f" and {len(names) - MOST:,} more" if len(names) > MOST else ""
    return visible(", ".join(_start(name) for name in names[:MOST])) + more


def _start(name: str) -> str:
    return name if len(name) <= LONGEST else f"{name[:LONGEST]}..."


def text(campaign: Campaign, view: View) -> str:
    """Return the rankings, the refused submissions with reasons, and the missing descriptions."""
    refused = campaign.refused()
    blocks = [campaign.counts(), *(f"{track}: {NOTHING_TO_RANK}" for track in campaign.unranked())]
    for ranking in campaign.rankings:
        first = ranking.comparison.first
        lines = [f"{first.protocol}: {heading(ranking)}; {ranked_by(ranking.comparison)}"]
        if ranking.source is None:
            lines += [line for line in (intervals_line(ranking.comparison.confidence),) if line]
        blocks.append(view.style.paint(lines[0], "bold") + "".join(f"\n{line}" for line in lines[1:]))
        blocks.append(as_text(comparison_tables(ranking.comparison, view._replace(summary=True))[0], view.style))
        if ranking.source is None:
            words = [first_place(ranking), *note_lines(ranking.comparison), f"signature  {first.signature}"]
            blocks.append("\n".join(words))
    if refused:
        blocks.append(view.style.paint("refused", "bold"))
        blocks += ["\n  ".join([_called(entry), *_some([*reasons(entry)])]) for entry in refused]
    extra = [f"{_called(entry)}: {listed(entry.check.extra)}" for entry in campaign.entries if entry.check.extra]
    if extra:
        blocks.append("\n  ".join([view.style.paint("documents that gold does not have", "bold"), *extra]))
    blocks.append(as_text(descriptions(campaign), view.style))
    return "\n\n".join(blocks) + "\n"


def _called(entry: Entry) -> str:
    return entry.name if entry.track == Track() else f"{entry.track} {entry.name}"


def _some(lines: Sequence[str]) -> list[str]:
    return [*lines[:MOST], *([f"and {len(lines) - MOST:,} more"] if len(lines) > MOST else [])]


def descriptions(campaign: Campaign) -> Table:
    """Tell which sites have described their systems (ACE 2005 plan, 3.7.2)."""
    rows = [[entry.site, _called(entry), description(entry)] for entry in campaign.entries]
    return Table.of(["site", "system", "system description"], rows, left=3)


def rows(campaign: Campaign) -> list[dict[str, Any]]:
    """Return one row for each system and measure of each ranking; scores and differences are fractions."""
    return [row for ranking in campaign.rankings for row in _rows(ranking)]


def _rows(ranking: Ranking) -> Iterator[dict[str, Any]]:
    for row in ranking.comparison.to_dicts():
        chosen = {key: value for key, value in row.items() if key not in ("runs", "by", "by_value", "deviation")}
        yield {**ranking.to_dict(), **chosen}


def rankings_csv(campaign: Campaign, view: View) -> str:
    """Return the rankings as one table."""
    signed = [
        {**row, "signature": ranking.comparison.first.signature}
        for ranking in campaign.rankings
        for row in _rows(ranking)
    ]
    return csv_of_records(signed, digits=view.digits)


def signatures(campaign: Campaign) -> list[str]:
    return list(dict.fromkeys(ranking.comparison.first.signature for ranking in campaign.rankings))


def _named(campaign: Campaign, entry: Entry) -> dict[str, Any]:
    """Name a submission, and say whether it is ranked."""
    return {
        **entry.track.to_dict(),
        "site": entry.site,
        "system": entry.name,
        "condition": entry.submission.condition,
        "status": campaign.status(entry),
    }


def submission_rows(campaign: Campaign) -> list[dict[str, Any]]:
    return [
        {
            **_named(campaign, entry),
            "description": description(entry),
            "documents": entry.check.documents,
            "missing": len(entry.check.missing),
            "extra": len(entry.check.extra),
            "fatal": entry.check.counts.get("fatal", 0),
            "faults": entry.check.counts.get("fault", 0),
            "notes": entry.check.counts.get("note", 0),
            "reason": next(reasons(entry), None) if not entry.results else None,
        }
        for entry in campaign.entries
    ]


def submissions_csv(campaign: Campaign) -> str:
    """Return the submissions as one table."""
    return csv_of_records(submission_rows(campaign), digits=2)


def json(campaign: Campaign) -> str:
    content = {
        "karat": __version__,
        "gold": campaign.gold,
        "rankings": [_ranking(ranking) for ranking in campaign.rankings],
        "submissions": [_submission(campaign, entry) for entry in campaign.entries],
    }
    return indented(content)


def _ranking(ranking: Ranking) -> dict[str, Any]:
    comparison, first = ranking.comparison, ranking.comparison.first
    return {
        **ranking.to_dict(),
        "protocol": first.protocol,
        "signature": first.signature,
        "unit": first.unit,
        "units": first.unit_count,
        "sort_by": ranking.measure,
        "level": comparison.level,
        "systems": [
            {
                "rank": system.rank,
                "system": system.name,
                "scores": {id_: score.to_dict() for id_, score in system.scores.items()},
            }
            for system in comparison.systems
        ],
        "tests": [to_builtins(test) for test in comparison.tests],
    }


def _submission(campaign: Campaign, entry: Entry) -> dict[str, Any]:
    check = entry.check
    return {
        **_named(campaign, entry),
        "description": entry.submission.described,
        "documents": check.documents,
        "mentions": check.mentions,
        "missing": check.missing,
        "extra": check.extra,
        "findings": [to_builtins(finding) for finding in check.findings],
        "counts": check.counts,
    }
