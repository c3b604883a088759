"""The HTML report: one file with everything in it, which requests nothing."""

from collections.abc import Iterator, Sequence

from karat.comparison.comparison import Comparison
from karat.corpus.files import FileCorpus
from karat.protocols import Protocol
from karat.report.html.gather import Gathered, GatheredRuns
from karat.report.html.page import as_json, document_script, rendered
from karat.report.html.sections import ProtocolSection, comparison_section, result_section, short_name, view_first
from karat.report.html.sides import IndexData
from karat.report.layout import Sort
from karat.result import Result


def default_fields(gold: FileCorpus, protocols: Sequence[Protocol]) -> tuple[str, ...]:
    """The breakdown of a report if the user does not choose one: by type, where gold's mentions have one."""
    facts = gold.facts()
    return ("type",) if all("type" in facts.attributes_of(protocol.kinds) for protocol in protocols) else ()


def score_report(
    results: Sequence[Result], documents: Gathered | None = None, *, digits: int = 2, sort: Sort = "loss"
) -> Iterator[str]:
    """The report of one system under one or more protocols, in pieces; without `documents`, only its scores."""
    first = results[0]
    index = None
    if documents is not None:
        index = documents.index(view=view_first(first, documents, by_class=True), a=short_name(first))
    sections = [result_section(result, documents, digits=digits, sort=sort) for result in results]
    return _page(first, first.system.name, sections, documents, index)


def comparison_report(
    comparisons: Sequence[Comparison], runs: GatheredRuns | None = None, *, digits: int = 2
) -> Iterator[str]:
    """The report of several systems, in pieces; without `runs`, only their scores.

    The first run is shown first, and beside it the first one of the baseline.
    """
    comparison, first = comparisons[0], comparisons[0].first
    documents, index = None, None
    if runs is not None:
        documents = runs.documents
        best, *others = runs.results
        baseline = [name for name in others if name.removesuffix(" (run 1)") == comparison.baseline]
        beside = next(iter([*baseline, *others]), None)
        index = documents.index(view=view_first(first, documents, by_class=False), a=best, b=beside)
    sections = []
    for position, item in enumerate(comparisons):
        results = {} if runs is None else {name: of_run[position] for name, of_run in runs.results.items()}
        sections.append(comparison_section(item, documents, results, digits=digits))
    count = len(comparison.systems)
    return _page(first, f"{count} system{'s' * (count != 1)}", sections, documents, index)


def _page(
    first: Result,
    systems: str,
    sections: Sequence[ProtocolSection],
    documents: Gathered | None,
    index: IndexData | None,
) -> Iterator[str]:
    """The page in pieces, so that a large one is never in memory as a whole."""
    return rendered(
        "page.html",
        title=f"{systems} against {first.gold.name}",
        version=first.version,
        script=document_script(),
        sections=sections,
        has_breakdowns=any(section.breakdowns or section.breakdown_tables for section in sections),
        has_errors=any(section.errors or section.compared_errors or section.outcomes for section in sections),
        index=index,
        index_json=None if index is None else as_json(index),
        documents=() if documents is None else map(as_json, documents.documents()),
    )
