"""A result as text: tables of scores, findings, and the signature."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from karat.errors import Finding, Origin
from karat.report.breakdowns import by_field, main_scores
from karat.report.definitions import definitions
from karat.report.elements import elements
from karat.report.errors import error_lines, error_listing, error_tables
from karat.report.layout import PLAIN, SEVERITY_TONES, Style, counted, paragraph, table
from karat.report.listing import listings, refuse_long
from karat.report.numbers import SHORT, UNDEFINED, printed, score_names, summary
from karat.report.scores import intervals_line, quotable, score_table
from karat.report.tables import Table, as_text
from karat.report.view import DEFAULT, View
from karat.report.words import bottleneck
from karat.results import Result, family

__all__ = ["UNDEFINED", "counted", "finding_lines", "main_line", "summary", "table", "text", "texts"]


def texts(results: Sequence[Result], view: View = DEFAULT) -> str:
    """The result of one protocol, or of several: side by side, then each on its own, then what concerns several."""
    if view.summary:
        return _summary(results, view)
    if len(results) == 1:
        return text(results[0], view)
    repeated = _repeated(results)
    each = [text(result, view, omitted=repeated) for result in results]
    shared = _definitions(results, view) + side_by_side(results, digits=view.digits, style=view.style)
    return "\n\n".join([*shared, *each, *_painted(repeated, view.style)]) + "\n" * bool(repeated)


def _summary(results: Sequence[Result], view: View) -> str:
    """One row per protocol with the main score of each measure; each finding once; the signatures."""
    style = view.style
    rows = {result.protocol: result.scores for result in results}
    sides = table([], [["gold", results[0].gold.name], ["system", results[0].system.name]], left=2, style=style)
    ids = list(dict.fromkeys(id_ for result in results for id_ in result.counted_ids()))
    having: dict[str, list[str]] = {}
    for result in results:
        for line in _lines(result):
            having.setdefault(line, []).append(result.protocol)
    lines = [line if len(own) == len(results) else _named(line, own) for line, own in having.items()]
    signatures = [paragraph(result.signature, style, first="signature  ", indent=" " * 11) for result in results]
    tables = [*main_scores("protocol", rows, ids, digits=view.digits), *summary_breakdowns(results, view)]
    blocks = [sides, *_definitions(results, view), *(as_text(one, style) for one in tables), *_painted(lines, style)]
    return "\n\n".join([*blocks, "\n".join(signatures)]) + "\n"


def _definitions(results: Sequence[Result], view: View) -> list[str]:
    """The definitions of Arg-C side by side, and why they differ."""
    table = definitions(results, digits=view.digits)
    if table is None:
        return []
    blocks = [as_text(table._replace(notes=[]), view.style), *(paragraph(note, view.style) for note in table.notes)]
    return ["\n".join(blocks)]


def _named(line: str, protocols: Sequence[str]) -> str:
    """A line about a finding with the protocols that it concerns."""
    severity, _, rest = line.partition(": ")
    return f"{severity}: {', '.join(protocols)}: {rest}"


def side_by_side(results: Sequence[Result], *, digits: int, style: Style = PLAIN) -> list[str]:
    """One table per shared family, one row per protocol, to show how much each setting inflates scores."""
    ids = dict.fromkeys(id_ for result in results for id_ in result.scores)
    families = [set(map(family, result.scores)) for result in results]
    shared = [id_ for id_ in ids if sum(family(id_) in own for own in families) > 1]
    rows = {result.protocol: result.scores for result in results}
    return [as_text(one, style) for one in main_scores("protocol", rows, shared, digits=digits)]


def text(result: Result, view: View = DEFAULT, *, omitted: Collection[str] = ()) -> str:
    """The whole report: what was scored, the scores, breakdowns, details, findings, the signature.

    `omitted` are lines of findings that are printed elsewhere.
    """
    style, digits = view.style, view.digits
    ids = result.counted_ids()
    sides = table([], [_side("gold", result), _side("system", result)], left=2, style=style)
    blocks = [
        style.paint(f"{result.protocol}: {result.title}", "bold"),
        "\n".join([sides, *_settings(result, style)]),
        as_text(score_table(result, digits=digits), style) if ids else "nothing to score",
        *(paragraph(line, style) for line in bottleneck(result.scores, mentions=result.gold.mentions)),
        *(as_text(one, style) for one in breakdown_tables(result, view)),
        *errors(result, digits=digits, style=style),
        *details(result, digits=digits, style=style),
        *_painted([line for line in _lines(result) if line not in omitted], style),
        paragraph(result.signature, style, first="signature  ", indent=" " * 11),
        *(paragraph(line, style, first="to quote   ", indent=" " * 11) for line in quotable(result)),
    ]
    return "\n\n".join(blocks) + "\n"


def _side(name: str, result: Result) -> list[str]:
    side = result.gold if name == "gold" else result.system
    return [name, side.name, counted(side.documents, "document"), counted(side.mentions, "mention")]


def _settings(result: Result, style: Style) -> list[str]:
    """How the scores were made, and their intervals."""
    lines = {"unit": averages_line(result), "ci": intervals_line(result.confidence)}
    return [paragraph(line, style, first=f"{name:<8}", indent=" " * 8) for name, line in lines.items() if line]


def averages_line(result: Result) -> str:
    """What the scores are averaged over, and how."""
    units = counted(result.unit_count, result.unit) if result.unit != "corpus" else "the corpus as a whole"
    if result.unit_count < 2:
        return units
    averages = {average for score in result.scores.values() for average in score.averages()}
    if averages == {"macro"}:
        return f"{units}; macro is the mean over the items of all of them"
    if "macro" in averages:
        return f"{units}; micro adds the counts, macro is the mean of the scores"
    return f"{units}, whose counts are added"


def breakdown_tables(result: Result, view: View) -> list[Table]:
    """The tables of `--by` and `--per-unit`."""
    ids = result.counted_ids()
    tables = [
        one
        for field, rows in result.by.items()
        for one in by_field(field, rows, ids, digits=view.digits, sort=view.sort, width=view.style.width)
    ]
    return tables + (main_scores(result.unit, result.units, ids, digits=view.digits) if result.units else [])


def summary_breakdowns(results: Sequence[Result], view: View) -> Iterator[Table]:
    """The same of each result; with several, each table names its protocol."""
    for result in results:
        for one in breakdown_tables(result, view):
            named = f"{one.header[0]} ({result.protocol})" if len(results) > 1 else one.header[0]
            yield one._replace(header=[named, *one.header[1:]])


def errors(result: Result, *, digits: int, style: Style = PLAIN) -> list[str]:
    """The errors by class: what to look at first, then the tables."""
    tables = [as_text(one, style) for one in error_tables(result, digits=digits) if one.rows]
    lines = [paragraph(line, style, indent="  ") for line in error_lines(result, digits=digits)]
    return ["\n".join(lines), *tables] if lines else []


def details(result: Result, *, digits: int, style: Style = PLAIN) -> list[str]:
    """The outcomes of each measure, or what it lists in their place; with error classes, the errors of each class."""
    if result.errors is not None and result.errors.is_listed:
        return list(error_listing(result, style))
    refuse_long(result)
    blocks = [*listings(result.outcomes, style)]
    for id_, listed in result.details.items():
        blocks += elements(id_, listed, digits=digits, style=style)
    return blocks


def _lines(result: Result) -> list[str]:
    return finding_lines(result.warnings, result.warning_counts)


def _repeated(results: Sequence[Result]) -> list[str]:
    """Findings that several results have."""
    numbers = Counter(line for result in results for line in _lines(result))
    return [line for line, number in numbers.items() if number > 1]


def _painted(lines: Iterable[str], style: Style) -> list[str]:
    """Lines of findings as one block, if there are any."""
    painted = [paint_finding(line, style) for line in lines]
    return ["\n".join(painted)] if painted else []


def paint_finding(line: str, style: Style) -> str:
    """A line about a finding, fitted to the terminal, its severity in colour."""
    severity, separator, rest = line.partition(":")
    wrapped = paragraph(rest.strip(), style, first=f"{severity}{separator} ", indent="  ")
    return style.paint(severity, SEVERITY_TONES.get(severity, "bold")) + wrapped[len(severity) :]


def main_line(result: Result) -> str:
    """The main score of the last measure of each family, which takes the most into account, in percent."""
    last = {family(id_): id_ for id_ in result.counted_ids()}
    return ", ".join(
        f"{id_} {SHORT.get(name, name)} {printed(result.scores[id_].micro, name, 2)}"
        for id_ in last.values()
        for name in summary(score_names([result.scores[id_].micro]))
    )


def finding_lines(findings: Iterable[Finding], counts: Mapping[tuple[str, Origin | None], int]) -> list[str]:
    """One line per code and side: its first finding, and how many more there are. The side is named if both have it."""
    lines: dict[tuple[str, Origin | None], str] = {}
    for finding in findings:
        more = counts[finding.group] - 1
        both = sum(code == finding.code for code, _ in counts) > 1
        side = f" ({finding.origin})" if both and finding.origin else ""
        line = f"{finding.severity}{side}: {finding}" + (f" (and {more:,} more)" if more else "")
        lines.setdefault(finding.group, line)
    return list(lines.values())
