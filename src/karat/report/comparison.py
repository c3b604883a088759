"""A comparison in every output format: as text, JSON, or tables for papers and other programs."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from karat.comparison import Comparison
from karat.report.breakdowns import WIDTH
from karat.report.comparison_breakdowns import breakdown_tables
from karat.report.comparison_errors import comparison_error_tables
from karat.report.comparison_tables import SHORT_TESTS, STAR, comparison_tables
from karat.report.csv import csv, tidy
from karat.report.json import encoded, refuse_details
from karat.report.latex import latex
from karat.report.layout import Style, counted, paragraph, table
from karat.report.markdown import markdown
from karat.report.notebook import tables_html
from karat.report.numbers import SHORT, score_names, summary
from karat.report.scores import QUOTED_DIGITS, intervals_line
from karat.report.tables import Page, Table, as_text, score_cell
from karat.report.text import details, finding_lines, paint_finding
from karat.report.verdict import verdict
from karat.report.view import DEFAULT, View
from karat.report.words import bottleneck

TEST_WORDS = {"AR": "approximate randomisation", "PB": "paired bootstrap", "JK": "jackknife of the difference"}
MOST_DISCUSSED = 10
"""Systems whose bottleneck is described: a leaderboard of forty is not a place to read about each."""


def comparison_texts(comparisons: Sequence[Comparison], view: View = DEFAULT) -> str:
    """The comparison under one protocol, or under several, one after another."""
    return "\n".join(comparison_text(one, view) for one in comparisons)


def comparison_text(comparison: Comparison, view: View = DEFAULT) -> str:
    """The whole report: what was compared, the rankings, all measures, what they say, findings, the signature."""
    first, style = comparison.first, view.style
    gold = ["gold", first.gold.name, counted(first.gold.documents, "document"), counted(first.gold.mentions, "mention")]
    settings = comparison_facts(comparison)
    lines = [paragraph(line, style, first=f"{name:<9}", indent=" " * 9) for name, line in settings.items()]
    # Columns of many systems form further tables below each other even where there is no terminal.
    folded = style._replace(width=style.width or WIDTH)
    blocks = [
        style.paint(f"{first.protocol}: {first.title}", "bold"),
        "\n".join([table([], [gold], left=2, style=style).replace("gold  ", "gold     ", 1), *lines]),
        *(as_text(one, style) for one in comparison_tables(comparison, view)),
        "\n".join(paragraph(line, style) for line in comparison_words(comparison, view)),
        *(as_text(one, folded) for one in (*breakdown_tables(comparison, view), *_errors(comparison, view))),
        *_details(comparison, view),
        *_painted(comparison_findings(comparison), style),
        paragraph(first.signature, style, first="signature  ", indent=" " * 11),
        paragraph(quotable_comparison(comparison), style, first="to quote   ", indent=" " * 11),
    ]
    return "\n\n".join(blocks) + "\n"


def comparison_facts(comparison: Comparison) -> dict[str, str]:
    """What was compared, and how: names with a line each."""
    first = comparison.first
    facts = {
        "systems": _systems_line(comparison),
        "unit": counted(first.unit_count, first.unit) if first.unit != "corpus" else "the corpus as a whole",
        "ci": intervals_line(comparison.confidence),
        "tests": _tests_line(comparison),
    }
    return {name: line for name, line in facts.items() if line}


def _systems_line(comparison: Comparison) -> str:
    """How many systems there are, in which order, and which one is the baseline."""
    number = len(comparison.systems)
    return "1" if number == 1 else f"{number}, best {comparison.sort_by} first; the baseline is {comparison.baseline}"


def _details(comparison: Comparison, view: View) -> Iterator[str]:
    """What each run matched, missed and found in excess, item by item; or its errors."""
    for system in comparison.systems:
        for run in system.runs:
            if blocks := details(run, digits=view.digits, style=view.style):
                title = system.name if len(system.runs) == 1 else f"{system.name} ({run.system.name})"
                yield view.style.paint(f"details of {title}", "bold")
                yield from blocks


def comparison_html(comparison: Comparison) -> str:
    """The tables, for notebooks."""
    title, *notes = _comments(comparison)
    return tables_html(_tables(comparison, DEFAULT), caption=title, notes=[*verdict(comparison), *notes])


def _tables(comparison: Comparison, view: View) -> list[Table]:
    return [
        *comparison_tables(comparison, view),
        *breakdown_tables(comparison, view),
        *_errors(comparison, view),
    ]


def _errors(comparison: Comparison, view: View) -> list[Table]:
    """The errors by class, where there are any."""
    return [table for table in comparison_error_tables(comparison, view) if table.rows]


def _page(comparisons: Sequence[Comparison], view: View) -> Page:
    """The tables of comparisons."""
    comments = [line for one in comparisons for line in _comments(one)]
    return Page([table for one in comparisons for table in _tables(one, view)], comments)


def _tidy(comparisons: Sequence[Comparison], view: View) -> Page:
    """One table of everything."""
    comments = [line for one in comparisons for line in _comments(one)]
    return tidy([row for one in comparisons for row in one.to_dicts()], comments, digits=view.digits)


def _tests_line(comparison: Comparison) -> str:
    """What the tests are, and what the signs in the tables mean."""
    tests = list(dict.fromkeys(SHORT_TESTS[test.test] for test in comparison.tests))
    if not tests:
        return ""
    names = ", ".join(f"{test} {TEST_WORDS[test]}" for test in tests)
    alpha = f"{1 - comparison.level:.10g}"
    pairs = counted(comparison.comparisons, "comparison")
    return f"{names}; p-values are corrected (Holm, {pairs}); {STAR} p ({tests[0]}) < {alpha}"


def comparison_words(comparison: Comparison, view: View) -> Iterator[str]:
    """What the comparison says, and what holds the best systems back."""
    yield from verdict(comparison)
    for system in () if view.summary else comparison.systems[:MOST_DISCUSSED]:
        for line in bottleneck(system.scores, mentions=comparison.first.gold.mentions, system=system.name):
            yield f"{line[0].upper()}{line[1:]}."


def comparison_findings(comparison: Comparison) -> list[str]:
    """What was found in gold and the systems; a finding of some systems names them."""
    having: dict[str, list[str]] = {}
    for system in comparison.systems:
        for run in system.runs:
            for line in finding_lines(run.warnings, run.warning_counts):
                if system.name not in having.setdefault(line, []):
                    having[line].append(system.name)
    lines = finding_lines(comparison.notes, {note.group: 1 for note in comparison.notes})
    for line, names in having.items():
        severity, _, rest = line.partition(": ")
        everyone = len(names) == len(comparison.systems)
        lines.append(line if everyone else f"{severity}: {', '.join(names)}: {rest}")
    return lines


def _painted(lines: Sequence[str], style: Style) -> list[str]:
    """Findings as one block, if there are any."""
    return ["\n".join(paint_finding(line, style) for line in lines)] if lines else []


def quotable_comparison(comparison: Comparison) -> str:
    """The best system's score, with its interval if there is one, as one line for a paper."""
    best, first = comparison.systems[0], comparison.first
    micro = best.scores[comparison.sort_by].micro
    (name,) = summary(score_names([micro]))
    score = f"{best.name}: {comparison.sort_by} {SHORT.get(name, name)} {score_cell(micro, name, QUOTED_DIGITS)}"
    return f"{score} ({first.protocol}, signature {first.signature})"


def _comments(comparison: Comparison) -> list[str]:
    first = comparison.first
    lines = [f"{first.protocol}: {first.title}", intervals_line(comparison.confidence), _tests_line(comparison)]
    return [*filter(None, lines), f"signature {first.signature}"]


def _json(comparisons: Sequence[Comparison]) -> Iterator[str]:
    refuse_details(run for one in comparisons for system in one.systems for run in system.runs)
    return encoded([one.contents() for one in comparisons])


FORMATS: Mapping[str, Callable[[Sequence[Comparison], View], str | Iterable[str]]] = {
    "text": comparison_texts,
    "json": lambda comparisons, _: _json(comparisons),
    "csv": lambda comparisons, view: csv(_tidy(comparisons, view)),
    "markdown": lambda comparisons, view: markdown(_page(comparisons, view)),
    "latex": lambda comparisons, view: latex(_page(comparisons, view)),
}
"""What `karat compare -f` prints, in each output format."""
