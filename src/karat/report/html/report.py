"""The HTML report: one file with everything in it, which requests nothing.

Above its documents are the sections of each protocol: scores, comparisons, breakdowns, outcomes and errors.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from karat.corpus.files import FileCorpus
from karat.protocols import Protocol
from karat.records import ErrorClass, MeasureErrors
from karat.report.errors import confused_values
from karat.report.html.charts import (
    Bars,
    Headline,
    Ranking,
    Segment,
    headline,
    item_bars,
    outcome_bars,
    ranking_chart,
    stacked,
)
from karat.report.html.gather import TONES, Gathered, GatheredRuns, Selection
from karat.report.html.page import DOCUMENTS, as_json, page_script, rendered
from karat.report.html.sides import IndexData
from karat.report.layout import Sort, View, counted
from karat.report.scores import Content, definitions, result_content
from karat.report.tables import Table, percentage, short
from karat.result import Result, family

if TYPE_CHECKING:
    from karat.comparison.comparison import Comparison


class ErrorRow(NamedTuple):
    """A row of an error table: one class."""

    name: str
    explanation: str
    errors: str
    share: str
    fixed: str
    segments: Sequence[Segment]
    show: str
    """The choice that shows its instances in the documents, as JSON; empty if there are none."""


class ErrorTable(NamedTuple):
    """The classes of one measure."""

    measure: str
    score: str
    """The name of the score that classes cost."""
    now: str
    """The score that the system has."""
    rows: Sequence[ErrorRow]
    absent: Sequence[str]
    """Classes that do not occur."""
    notes: Sequence[str]
    confusions: Mapping[str, Table]
    """By attribute: the values that were confused."""


class CountCell(NamedTuple):
    """The errors of a class in a system, and the points that its repair gains."""

    errors: str
    gained: str
    show: str


class ComparedErrors(NamedTuple):
    """The classes of one measure, one column per system."""

    measure: str
    systems: Sequence[str]
    rows: Sequence[tuple[str, Sequence[CountCell]]]


class ProtocolSection(NamedTuple):
    """Everything about one protocol."""

    content: Content
    facts: Mapping[str, str]
    tables: Sequence[Table]
    words: Sequence[str]
    headlines: Sequence[Headline] = ()
    ranking: Ranking | None = None
    breakdowns: Sequence[Bars] = ()
    breakdown_tables: Sequence[Table] = ()
    outcomes: Sequence[Bars] = ()
    errors: Sequence[ErrorTable] = ()
    compared_errors: Sequence[ComparedErrors] = ()


def result_section(result: Result, gathered: Gathered | None, *, digits: int, sort: Sort) -> ProtocolSection:
    """A system's scores under one protocol."""
    content = result_content(result, View(digits, sort))
    sides = {
        name: f"{side.name}: {counted(side.documents, 'document')}, {counted(side.mentions, 'mention')}"
        for name, side in content.sides.items()
    }
    facts = {"intervals" if name == "ci" else name: line for name, line in content.facts.items()}
    listed = [] if gathered is None else gathered.measures(result.protocol)
    measure = shown_first(result, listed)
    counts = {id_: gathered.counts(short_name(result), result.protocol, id_) for id_ in listed if gathered is not None}
    return ProtocolSection(
        content,
        {**sides, **facts},
        [table for table in content.tables if table.rows],
        [*(f"{line[0].upper()}{line[1:]}." for line in content.words), *(f"{line}." for line in content.error_words)],
        headlines=[headline(id_, result.scores[id_], digits) for id_ in result.headline_ids()],
        breakdowns=[
            bars for field, rows in result.by.items() for bars in item_bars(field, rows, measure, digits, sort)
        ],
        breakdown_tables=content.breakdowns,
        outcomes=outcome_bars("", counts, "measure"),
        errors=_error_tables(result, gathered, digits),
    )


def comparison_section(
    comparison: "Comparison", gathered: Gathered | None, results: Mapping[str, Result], *, digits: int, sort: Sort
) -> ProtocolSection:
    """Several systems under one protocol; `results` have the errors of each gathered run."""
    from karat.report.comparison import comparison_content

    content = comparison_content(comparison, View(digits, sort))
    first = comparison.first
    measure = shown_first(first, [] if gathered is None else gathered.measures(first.protocol))
    counts = {
        name: gathered.counts(name, first.protocol, measure)
        for name in results
        if gathered is not None and measure is not None
    }
    return ProtocolSection(
        content,
        content.facts,
        content.tables,
        content.words,
        ranking=ranking_chart(comparison, digits),
        breakdown_tables=content.breakdowns,
        outcomes=outcome_bars(measure or "", counts, "system"),
        compared_errors=_compared_errors(results, gathered, digits),
    )


def shown_first(result: Result, listed: Sequence[str]) -> str | None:
    """The measure to show first of those that list outcomes: of the headline, or of its family; None if none does."""
    for id_ in result.headline_ids():
        related = [other for other in listed if family(other) == family(id_)]
        if related:
            return id_ if id_ in related else related[0]
    return listed[0] if listed else None


def view_first(result: Result, documents: Gathered, *, by_class: bool) -> Selection | None:
    """The marks that are shown first over the text: errors by class of the headline, if wanted, else outcomes."""
    for id_ in result.headline_ids() if by_class else ():
        view = Selection(result.protocol, id_, by_class=True)
        if documents.number(view) is not None:
            return view
    shown = shown_first(result, documents.measures(result.protocol))
    return None if shown is None else Selection(result.protocol, shown)


def short_name(result: Result) -> str:
    """The name of the system without its folder."""
    return Path(result.system.name).name or result.system.name


def _error_tables(result: Result, documents: Gathered | None, digits: int) -> list[ErrorTable]:
    """The classes of each measure that was analysed."""
    if result.errors is None:
        return []
    return [_error_table(result.protocol, measure, documents, digits) for measure in result.errors.measures]


def _error_table(protocol: str, measure: MeasureErrors, documents: Gathered | None, digits: int) -> ErrorTable:
    view = None if documents is None else documents.number(Selection(protocol, measure.id, by_class=True))
    classes = measure.found()
    widest = max((found.share or 0.0 for found in classes), default=0.0)
    rows = [
        ErrorRow(
            found.name,
            found.explanation,
            f"{found.count:,}",
            percentage(found.share, 0) + " %" * (found.share is not None),
            percentage(found.fixed.get(measure.main), digits),
            stacked([(TONES.get(found.name, "wrong"), max(found.share or 0.0, 0.0))], widest),
            _instances(view, found, 0),
        )
        for found in classes
    ]
    confusions = {}
    for confusion in measure.confusions:
        if values := confused_values(confusion):
            header = [f"gold {confusion.attribute}", f"system {confusion.attribute}", "count"]
            pairs = [[gold, system, f"{count:,}"] for gold, system, count in values]
            confusions[confusion.attribute] = Table.of(header, pairs, left=2)
    return ErrorTable(
        measure.id,
        short(measure.main),
        percentage(measure.score.get(measure.main), digits),
        rows,
        [absent.name for absent in measure.classes if not absent.count],
        [f"{found.name} cannot be fixed on its own: {found.why_not}" for found in classes if found.why_not],
        confusions,
    )


def _compared_errors(results: Mapping[str, Result], documents: Gathered | None, digits: int) -> list[ComparedErrors]:
    """The errors of each class in each system, and the points that its repair gains."""
    tables: dict[str, dict[str, dict[str, CountCell]]] = {}
    for number, (name, result) in enumerate(results.items()):
        for measure in () if result.errors is None else result.errors.measures:
            view = (
                None if documents is None else documents.number(Selection(result.protocol, measure.id, by_class=True))
            )
            classes = tables.setdefault(measure.id, {})
            for found in measure.found():
                cell = CountCell(f"{found.count:,}", _gained(found, measure, digits), _instances(view, found, number))
                classes.setdefault(found.name, {})[name] = cell
    none = CountCell("0", "", "")
    return [
        ComparedErrors(
            measure,
            list(results),
            [(name, [cells.get(system, none) for system in results]) for name, cells in rows.items()],
        )
        for measure, rows in tables.items()
        if rows
    ]


def _gained(found: ErrorClass, measure: MeasureErrors, digits: int) -> str:
    fixed, now = found.fixed.get(measure.main), measure.score.get(measure.main)
    return "" if fixed is None or now is None else f"{100 * (fixed - now):+.{max(digits - 1, 0)}f}"


def _instances(view: int | None, found: ErrorClass, system: int) -> str:
    """The choice that shows the instances of a class in the documents, as JSON; empty if there are none."""
    return "" if view is None else msgspec.json.encode({"view": view, "outcome": found.name, "system": system}).decode()


# The page


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
    return _page(
        first, first.system.name, sections, documents, index, definitions=list(definitions(results, digits=digits))
    )


def comparison_report(
    comparisons: "Sequence[Comparison]", runs: GatheredRuns | None = None, *, digits: int = 2, sort: Sort = "loss"
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
        sections.append(comparison_section(item, documents, results, digits=digits, sort=sort))
    count = len(comparison.systems)
    return _page(first, f"{count} system{'s' * (count != 1)}", sections, documents, index)


def _page(
    first: Result,
    systems: str,
    sections: Sequence[ProtocolSection],
    documents: Gathered | None,
    index: IndexData | None,
    *,
    definitions: Sequence[Table] = (),
) -> Iterator[str]:
    """The page in pieces, so that a large one is never in memory as a whole."""
    return rendered(
        "page.html",
        title=f"{systems} against {first.gold.name}",
        version=first.version,
        script=page_script(*DOCUMENTS),
        definitions=definitions,
        sections=sections,
        has_breakdowns=any(section.breakdowns or section.breakdown_tables for section in sections),
        has_errors=any(section.errors or section.compared_errors or section.outcomes for section in sections),
        index=index,
        index_json=None if index is None else as_json(index),
        documents=() if documents is None else map(as_json, documents.documents()),
    )
