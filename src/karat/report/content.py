"""The report of one protocol, before it has a format: of one system, or of several that are compared."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from karat.report.layout import View, finding_lines
from karat.report.scores import averages_line, bottleneck, intervals_line, quotable, score_table
from karat.report.tables import Table
from karat.result import Result, Side


class Content(NamedTuple):
    """Tables and lines in the order in which text shows them."""

    protocol: str
    title: str
    sides: Mapping[str, Side]
    """Gold and, if it is one, the system."""
    facts: Mapping[str, str]
    """Lines on how the scores were made: `unit`, `ci` for intervals, `tests`; only those that apply."""
    tables: Sequence[Table]
    words: Sequence[str]
    breakdowns: Sequence[Table]
    error_words: Sequence[str]
    errors: Sequence[Table]
    runs: Sequence[tuple[str, Result]]
    """The results whose details are listed, each with a title, which is empty if there is one."""
    findings: Sequence[str]
    signature: str
    quotes: Sequence[str]
    width: int | None = None
    """The width of breakdowns and errors where there is no terminal; None: any."""

    def comments(self) -> list[str]:
        """Lines that formats for other programs have as comments."""
        how = [self.facts[name] for name in ("ci", "tests") if name in self.facts]
        return [f"{self.protocol}: {self.title}", *how, f"signature {self.signature}", *self.error_words]


def result_content(result: Result, view: View) -> Content:
    """The report of one system."""
    facts = {"unit": averages_line(result), "ci": intervals_line(result.confidence)}
    breakdowns: list[Table] = []
    errors: list[Table] = []
    error_words: list[str] = []
    if result.by or result.units:
        from karat.report.breakdowns import breakdown_tables

        breakdowns = breakdown_tables(result, view)
    if result.errors is not None:
        from karat.report.errors import error_lines, error_tables

        error_words, errors = list(error_lines(result, digits=view.digits)), error_tables(result, digits=view.digits)
    return Content(
        result.protocol,
        result.title,
        {"gold": result.gold, "system": result.system},
        {name: line for name, line in facts.items() if line},
        [score_table(result, digits=view.digits)],
        list(bottleneck(result.scores, mentions=result.gold.mentions)),
        breakdowns,
        error_words,
        errors,
        [("", result)],
        finding_lines(result.warnings, result.warning_counts),
        result.signature,
        list(quotable(result)),
    )
