"""The HTML report: one file with everything in it, which requests nothing."""

from collections.abc import Iterator, Sequence

from karat.comparison import Comparison
from karat.report.html.gather import Gathered
from karat.report.html.page import is_report, page
from karat.report.html.runs import GatheredRuns, default_fields
from karat.report.html.sections import comparison_section, result_section, short_name, view_first
from karat.report.view import Sort
from karat.results import Result

__all__ = [
    "Gathered",
    "GatheredRuns",
    "comparison_report",
    "default_fields",
    "is_report",
    "score_report",
    "short_name",
]


def score_report(
    results: Sequence[Result], documents: Gathered | None = None, *, digits: int = 2, sort: Sort = "loss"
) -> Iterator[str]:
    """The report of one system under one or more protocols, in pieces; without `documents`, only its scores."""
    first = results[0]
    index = None
    if documents is not None:
        index = documents.index(view=view_first(first, documents, by_class=True), a=short_name(first))
    return page(
        title=f"{first.system.name} against {first.gold.name}",
        version=first.version,
        sections=[result_section(result, documents, digits=digits, sort=sort) for result in results],
        documents=documents,
        index=index,
    )


def comparison_report(
    comparisons: Sequence[Comparison], runs: GatheredRuns | None = None, *, digits: int = 2
) -> Iterator[str]:
    """The report of several systems, in pieces; without `runs`, only their scores.

    The first run is shown first, and beside it the first one of the baseline.
    """
    comparison, first = comparisons[0], comparisons[0].first
    index = None
    if runs is not None:
        best, *others = runs.results
        baseline = [name for name in others if name.removesuffix(" (run 1)") == comparison.baseline]
        index = runs.documents.index(
            view=view_first(first, runs.documents, by_class=False), a=best, b=next(iter([*baseline, *others]), None)
        )
    systems = len(comparison.systems)
    return page(
        title=f"{systems} system{'s' * (systems != 1)} against {first.gold.name}",
        version=first.version,
        sections=[
            comparison_section(
                one,
                None if runs is None else runs.documents,
                {} if runs is None else {name: own[number] for name, own in runs.results.items()},
                digits=digits,
            )
            for number, one in enumerate(comparisons)
        ],
        documents=None if runs is None else runs.documents,
        index=index,
    )
