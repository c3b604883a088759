"""Results as tables for papers and for other programs."""

from collections.abc import Callable, Mapping, Sequence

from karat.report.breakdowns import Sort, main_scores
from karat.report.csv import csv, tidy
from karat.report.errors import error_lines, error_tables
from karat.report.latex import latex
from karat.report.markdown import markdown
from karat.report.scores import intervals_line, score_table
from karat.report.tables import Page
from karat.report.text import breakdown_tables
from karat.results import Result

WRITERS: Mapping[str, Callable[[Page], str]] = {"latex": latex, "markdown": markdown, "csv": csv}
"""What writes a page in each format."""


def results_page(results: Sequence[Result], form: str, *, digits: int, sort: Sort, summary: bool) -> Page:
    """The tables of results; for CSV, one table of everything."""
    comments = [line for result in results for line in (*_comments(result), *error_lines(result, digits=digits))]
    if form == "csv":
        return tidy([row for result in results for row in _full(results, result)], comments, digits=digits)
    if summary:
        ids = list(dict.fromkeys(id_ for result in results for id_ in result.counted_ids()))
        rows = {result.protocol: result.scores for result in results}
        return Page(main_scores("protocol", rows, ids, digits=digits), comments)
    tables = []
    for result in results:
        scores = score_table(result, digits=digits)
        if len(results) > 1:
            scores = scores._replace(header=[result.protocol, *scores.header[1:]])
        tables += [scores, *breakdown_tables(result, digits=digits, sort=sort)]
        tables += [one for one in error_tables(result, digits=digits) if one.rows]
    return Page(tables, comments)


def _full(results: Sequence[Result], result: Result) -> list[dict[str, object]]:
    """The rows of a result with the columns of all results."""
    keys = dict.fromkeys(key for one in results for row in one.to_dicts()[:1] for key in row)
    return [{**dict.fromkeys(keys), **row} for row in result.to_dicts()]


def _comments(result: Result) -> list[str]:
    intervals = intervals_line(result.confidence)
    return [f"{result.protocol}: {result.title}", *([intervals] if intervals else []), f"signature {result.signature}"]
