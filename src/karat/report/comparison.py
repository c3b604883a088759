"""A comparison as text, tables or JSON: the ranking with its tests, all measures, and what it says in words."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import msgspec

from karat.comparison import ComparedSystem, Comparison, PairedTest
from karat.report.csv import tidy
from karat.report.layout import PLAIN, Style, counted, paragraph, table
from karat.report.notebook import tables_html
from karat.report.numbers import SHORT, UNDEFINED, percentage, score_names, summary
from karat.report.scores import intervals_line
from karat.report.tables import Cell, Page, Table, as_text, score_cell
from karat.report.text import finding_lines, paint_finding
from karat.report.verdict import verdict
from karat.report.words import bottleneck
from karat.results import family

SHORT_TESTS = {"approximate randomisation": "AR", "paired bootstrap": "PB", "jackknife": "JK"}
TEST_WORDS = {"AR": "approximate randomisation", "PB": "paired bootstrap", "JK": "jackknife of the difference"}
STAR = "*"
MOST_DISCUSSED = 10
"""Systems whose bottleneck is described: a leaderboard of forty is not a place to read about each."""


def comparison_texts(comparisons: Sequence[Comparison], *, digits: int, style: Style = PLAIN) -> str:
    """The comparison under one protocol, or under several, one after another."""
    return "\n".join(comparison_text(one, digits=digits, style=style) for one in comparisons)


def comparison_text(comparison: Comparison, *, digits: int, style: Style = PLAIN) -> str:
    """The whole report: what was compared, the rankings, all measures, what they say, findings, the signature."""
    first = comparison.first
    gold = ["gold", first.gold.name, counted(first.gold.documents, "document"), counted(first.gold.mentions, "mention")]
    settings = comparison_facts(comparison)
    lines = [paragraph(line, style, first=f"{name:<9}", indent=" " * 9) for name, line in settings.items()]
    blocks = [
        style.paint(f"{first.protocol}: {first.title}", "bold"),
        "\n".join([table([], [gold], left=2, style=style).replace("gold  ", "gold     ", 1), *lines]),
        *(as_text(one, style) for one in comparison_tables(comparison, digits=digits)),
        "\n".join(paragraph(line, style) for line in comparison_words(comparison)),
        *_painted(comparison_findings(comparison), style),
        paragraph(first.signature, style, first="signature  ", indent=" " * 11),
        *(paragraph(line, style, first="to quote   ", indent=" " * 11) for line in quotable_lines(comparison)),
    ]
    return "\n\n".join(blocks) + "\n"


def comparison_facts(comparison: Comparison) -> dict[str, str]:
    """What was compared, and how: names with a line each."""
    first = comparison.first
    facts = {
        "systems": f"{len(comparison.systems)}, best {comparison.sort_by} first; the baseline is {comparison.baseline}",
        "unit": counted(first.unit_count, first.unit) if first.unit != "corpus" else "the corpus as a whole",
        "ci": intervals_line(comparison.confidence),
        "tests": _tests_line(comparison),
    }
    return {name: line for name, line in facts.items() if line}


def comparison_html(comparison: Comparison) -> str:
    """The tables, for notebooks."""
    title, *notes = _comments(comparison)
    tables = comparison_tables(comparison, digits=2)
    return tables_html(tables, caption=title, notes=[*verdict(comparison), *notes])


def comparison_json(comparisons: Sequence[Comparison]) -> str:
    """The comparison under one protocol, or those under several by their names."""
    contents = [one.to_dict() for one in comparisons]
    content: dict[str, Any] = (
        contents[0] if len(contents) == 1 else {"protocols": {one["protocol"]: one for one in contents}}
    )
    return msgspec.json.format(msgspec.json.encode(content), indent=2).decode() + "\n"


def comparison_page(comparisons: Sequence[Comparison], form: str, *, digits: int) -> Page:
    """The tables of comparisons; for CSV, one table of everything."""
    comments = [line for one in comparisons for line in _comments(one)]
    if form == "csv":
        return tidy([row for one in comparisons for row in one.to_dicts()], comments, digits=digits)
    return Page([table for one in comparisons for table in comparison_tables(one, digits=digits)], comments)


def comparison_tables(comparison: Comparison, *, digits: int) -> list[Table]:
    """The ranking and the tests between neighbours; the rest of the headline; the main scores of all other measures."""
    headline = comparison.headline_ids()
    ranking, *tables = [_tested(comparison, id_, digits, ranked=id_ == comparison.sort_by) for id_ in headline]
    tables = [ranking, *_neighbours(comparison, digits), *tables]
    others = [id_ for id_ in comparison.measures() if id_ not in headline]
    return tables + [_overview(comparison, name, others, digits) for name in dict.fromkeys(map(family, others))]


def _tested(comparison: Comparison, id_: str, digits: int, *, ranked: bool) -> Table:
    """Systems in their order with one measure, tested against the baseline."""
    name = _main_name(comparison, id_)
    tests = _tests_of(comparison, id_)
    has_runs = any(system.deviations for system in comparison.systems)
    header = ["rank"] * ranked + [id_, SHORT.get(name, name)] + ["sd"] * has_runs
    header += [f"vs {comparison.baseline}", *_p_columns(tests)] if tests else []
    best = _best(comparison, id_, digits)
    rows = []
    for system in comparison.systems:
        cell = _score(system, id_, digits)
        row = [Cell(str(system.rank))] * ranked + [Cell(system.name), cell._replace(is_best=cell.text == best)]
        if has_runs:
            deviation = system.deviations.get((id_, "micro", name))
            row.append(Cell("" if deviation is None else percentage(deviation, digits)))
        row += _test_cells(comparison, system.name, comparison.baseline, id_, tests, digits) if tests else []
        rows.append(row)
    return Table(header, rows, left=1 + ranked)


def _neighbours(comparison: Comparison, digits: int) -> list[Table]:
    """Each system tested against the next one; nothing if there are only two, one of which is the baseline."""
    id_ = comparison.sort_by
    tests = _tests_of(comparison, id_)
    if not tests or len(comparison.systems) < 3:
        return []
    rows = [
        [Cell(one.name), Cell(other.name), *_test_cells(comparison, one.name, other.name, id_, tests, digits)]
        for one, other in pairwise(comparison.systems)
    ]
    return [Table([id_, "next", "vs next", *_p_columns(tests)], rows, left=2)]


def _tests_of(comparison: Comparison, id_: str) -> list[str]:
    return list(dict.fromkeys(test.test for test in comparison.tests if test.measure == id_))


def _p_columns(tests: Sequence[str]) -> list[str]:
    return [f"p ({SHORT_TESTS[test]})" for test in tests]


def _test_cells(
    comparison: Comparison, system: str, other: str, id_: str, tests: Sequence[str], digits: int
) -> list[Cell]:
    """The difference to another system, marked if it is significant, and p-values."""
    found = [comparison.test(system, other, id_, test) for test in tests]
    first = found[0]
    if first is None:
        return [Cell("")] * (1 + len(tests))
    sign = -1 if first.a == system else 1
    difference = UNDEFINED if first.difference is None else f"{100 * sign * first.difference:+.{digits}f}"
    mark = STAR if comparison.is_significant(first) else ""
    return [Cell(difference, mark=mark), *(Cell(_p(test)) for test in found)]


def _p(test: PairedTest | None) -> str:
    """A p-value to three digits."""
    if test is None or test.p_adjusted is None:
        return UNDEFINED
    return "<0.001" if test.p_adjusted < 0.001 else f"{test.p_adjusted:.3f}"


def _overview(comparison: Comparison, name: str, measures: Sequence[str], digits: int) -> Table:
    """The main scores of the measures of one family, marked where they differ significantly from the baseline's."""
    ids = [id_ for id_ in measures if family(id_) == name]
    names = list(dict.fromkeys(SHORT.get(_main_name(comparison, id_), _main_name(comparison, id_)) for id_ in ids))
    rows = []
    best = {id_: _best(comparison, id_, digits) for id_ in ids}
    for system in comparison.systems:
        row = [Cell(system.name)]
        for id_ in ids:
            cell = _score(system, id_, digits)._replace(interval=None)
            test = comparison.deciding_test(comparison.baseline, system.name, id_)
            mark = STAR if comparison.is_significant(test) else ""
            row.append(cell._replace(is_best=cell.text == best[id_], mark=mark))
        rows.append(row)
    return Table([f"{name} {' '.join(names)}", *(id_.partition(".")[2] for id_ in ids)], rows)


def _score(system: ComparedSystem, id_: str, digits: int) -> Cell:
    if id_ not in system.scores:
        return Cell("")
    micro = system.scores[id_].micro
    return score_cell(micro, summary(score_names([micro]))[0], digits)


def _best(comparison: Comparison, id_: str, digits: int) -> str | None:
    """The best score of a measure as it is printed; None if there is only one system."""
    if len(comparison.systems) == 1:
        return None
    scores = [
        value
        for system in comparison.systems
        if id_ in system.scores
        if (value := system.scores[id_].micro.values[_main_name(comparison, id_)]) is not None
    ]
    return percentage(max(scores), digits) if scores else None


def _main_name(comparison: Comparison, id_: str) -> str:
    micro = next(system.scores[id_].micro for system in comparison.systems if id_ in system.scores)
    return summary(score_names([micro]))[0]


def _tests_line(comparison: Comparison) -> str:
    """What the tests are, and what the signs in the tables mean."""
    tests = list(dict.fromkeys(SHORT_TESTS[test.test] for test in comparison.tests))
    if not tests:
        return ""
    names = ", ".join(f"{test} {TEST_WORDS[test]}" for test in tests)
    alpha = f"{1 - comparison.level:.10g}"
    pairs = counted(comparison.comparisons, "comparison")
    return f"{names}; p-values are corrected (Holm, {pairs}); {STAR} p ({tests[0]}) < {alpha}"


def comparison_words(comparison: Comparison) -> Iterator[str]:
    """What the comparison says, and what holds the best systems back."""
    yield from verdict(comparison)
    for system in comparison.systems[:MOST_DISCUSSED]:
        for line in bottleneck(system.scores, system=system.name):
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


def quotable_lines(comparison: Comparison) -> Iterator[str]:
    """The best system's score with its interval, as one line for a paper."""
    best, first = comparison.systems[0], comparison.first
    if comparison.confidence is not None:
        cell = _score(best, comparison.sort_by, 1)
        name = _main_name(comparison, comparison.sort_by)
        score = f"{best.name}: {comparison.sort_by} {SHORT.get(name, name)} {cell}"
        yield f"{score} ({first.protocol}, signature {first.signature})"


def _comments(comparison: Comparison) -> list[str]:
    first = comparison.first
    lines = [f"{first.protocol}: {first.title}", intervals_line(comparison.confidence), _tests_line(comparison)]
    return [*filter(None, lines), f"signature {first.signature}"]
