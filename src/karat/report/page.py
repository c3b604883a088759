"""The results of one system in every output format: as text, JSON, or tables for papers and other programs."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from karat.report.breakdowns import main_scores
from karat.report.csv import csv, tidy
from karat.report.errors import error_lines, error_tables
from karat.report.json import json
from karat.report.latex import latex
from karat.report.markdown import markdown
from karat.report.scores import intervals_line, score_table
from karat.report.tables import Page
from karat.report.text import breakdown_tables, summary_breakdowns, texts
from karat.report.view import View
from karat.results import Result


def _page(results: Sequence[Result], view: View) -> Page:
    """The tables of results."""
    comments = [line for result in results for line in _comments(result, view)]
    if view.summary:
        ids = list(dict.fromkeys(id_ for result in results for id_ in result.counted_ids()))
        rows = {result.protocol: result.scores for result in results}
        tables = [*main_scores("protocol", rows, ids, digits=view.digits), *summary_breakdowns(results, view)]
        return Page(tables, comments)
    tables = []
    for result in results:
        scores = score_table(result, digits=view.digits)
        if len(results) > 1:
            scores = scores._replace(header=[result.protocol, *scores.header[1:]])
        tables += [scores, *breakdown_tables(result, view)]
        tables += [one for one in error_tables(result, digits=view.digits) if one.rows]
    return Page(tables, comments)


def _tidy(results: Sequence[Result], view: View) -> Page:
    """One table of everything."""
    comments = [line for result in results for line in _comments(result, view)]
    return tidy([row for result in results for row in _full(results, result)], comments, digits=view.digits)


def _full(results: Sequence[Result], result: Result) -> list[dict[str, object]]:
    """The rows of a result with the columns of all results."""
    keys = dict.fromkeys(key for one in results for row in one.to_dicts()[:1] for key in row)
    return [{**dict.fromkeys(keys), **row} for row in result.to_dicts()]


def _comments(result: Result, view: View) -> list[str]:
    intervals = intervals_line(result.confidence)
    lines = [f"{result.protocol}: {result.title}", *([intervals] if intervals else []), f"signature {result.signature}"]
    return [*lines, *error_lines(result, digits=view.digits)]


FORMATS: Mapping[str, Callable[[Sequence[Result], View], str | Iterable[str]]] = {
    "text": texts,
    "json": lambda results, _: json(results),
    "csv": lambda results, view: csv(_tidy(results, view)),
    "markdown": lambda results, view: markdown(_page(results, view)),
    "latex": lambda results, view: latex(_page(results, view)),
}
"""What `karat score -f` prints, in each output format."""
