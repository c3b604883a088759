"""Reports of several systems: the ranking with its tests, all measures, errors by class, and what they say."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import fsum

from karat.comparison.comparison import ComparedSystem, Comparison, SystemErrors, system_errors
from karat.comparison.tests import PairedTest
from karat.counts import ScoreValues
from karat.report.breakdowns import ABSENT, counts_anything, lost
from karat.report.content import Content
from karat.report.layout import View, counted, finding_lines, shared_findings
from karat.report.scores import QUOTED_DIGITS, WIDTH, bottleneck, intervals_line
from karat.report.tables import SHORT, UNDEFINED, Cell, Table, percentage, score_cell, score_names, summary
from karat.report.verdict import verdict
from karat.result import Score, family

SHORT_TESTS = {"approximate randomisation": "AR", "paired bootstrap": "PB", "jackknife": "JK"}
TEST_WORDS = {"AR": "approximate randomisation", "PB": "paired bootstrap", "JK": "jackknife of the difference"}
STAR = "*"
MOST_DISCUSSED = 10
"""Systems whose bottleneck is described: a leaderboard of forty is not a place to read about each."""


def comparison_content(comparison: Comparison, view: View) -> Content:
    """The report of a comparison. Columns of many systems are folded even where there is no terminal."""
    first = comparison.first
    return Content(
        first.protocol,
        first.title if len(comparison.systems) == 1 else f"{first.title}; {ranked_by(comparison)}",
        {"gold": first.gold},
        comparison_facts(comparison),
        comparison_tables(comparison, view),
        list(_words(comparison, view)),
        _breakdown_tables(comparison, view),
        [],
        _error_tables(comparison, view.digits),
        [
            (system.name if len(system.runs) == 1 else f"{system.name} ({run.system.name})", run)
            for system in comparison.systems
            for run in system.runs
        ],
        _findings(comparison),
        first.signature,
        [_quotable(comparison)],
        WIDTH,
    )


def comparison_facts(comparison: Comparison) -> dict[str, str]:
    """The systems, units, intervals and tests of a comparison, each as a line."""
    first = comparison.first
    facts = {
        "systems": _systems_line(comparison),
        "unit": counted(first.unit_count, first.unit) if first.unit != "corpus" else "the corpus as a whole",
        "ci": intervals_line(comparison.confidence),
        "tests": _tests_line(comparison),
    }
    return {name: line for name, line in facts.items() if line}


def ranked_by(comparison: Comparison) -> str:
    """Name the measure that ranks systems, and the option that chooses another one."""
    return f"ranked by {comparison.sort_by} (--sort-by)"


def _systems_line(comparison: Comparison) -> str:
    """The number of systems, and the baseline."""
    count = len(comparison.systems)
    return "1" if count == 1 else f"{count}; the baseline is {comparison.baseline}"


def _tests_line(comparison: Comparison) -> str:
    """The tests, and what the signs in the tables mean."""
    tests = list(dict.fromkeys(SHORT_TESTS[test.test] for test in comparison.tests))
    if not tests:
        return ""
    names = ", ".join(f"{test} {TEST_WORDS[test]}" for test in tests)
    alpha = f"{1 - comparison.level:.10g}"
    pairs = counted(comparison.comparisons, "comparison")
    return f"{names}; p-values are corrected (Holm, {pairs}); {STAR} p ({tests[0]}) < {alpha}"


def _words(comparison: Comparison, view: View) -> Iterator[str]:
    """The verdict, and the bottlenecks of the best systems."""
    yield from verdict(comparison)
    for system in () if view.summary else comparison.systems[:MOST_DISCUSSED]:
        for line in bottleneck(system.scores, mentions=comparison.first.gold.mentions, system=system.name):
            yield f"{line[0].upper()}{line[1:]}."


def _findings(comparison: Comparison) -> list[str]:
    """Findings in gold and the systems; a finding of some systems names them."""
    lines_by_system = {
        system.name: [line for run in system.runs for line in finding_lines(run.warnings, run.warning_counts)]
        for system in comparison.systems
    }
    return [*note_lines(comparison), *shared_findings(lines_by_system)]


def note_lines(comparison: Comparison) -> list[str]:
    """Notes on the comparison as a whole."""
    return finding_lines(comparison.notes, {note.group: 1 for note in comparison.notes})


def _quotable(comparison: Comparison) -> str:
    """The best system's score, with its interval if there is one, as one line for a paper."""
    best, first = comparison.systems[0], comparison.first
    micro = best.scores[comparison.sort_by].micro
    (name,) = summary(score_names([micro]))
    score = f"{best.name}: {comparison.sort_by} {SHORT.get(name, name)} {score_cell(micro, name, QUOTED_DIGITS)}"
    return f"{score} ({first.protocol}, signature {first.signature})"


# Tables


def comparison_tables(comparison: Comparison, view: View) -> list[Table]:
    """The ranking, with the other headline measures; the tests between neighbours; the scores of all other measures.

    A summary is the ranking alone.
    """
    digits = view.digits
    ranking = _ranking(comparison, digits)
    if view.summary:
        return [ranking]
    headline = comparison.headline_ids()
    others = [id_ for id_ in comparison.measures() if id_ not in headline]
    overviews = [_overview(comparison, name, others, digits) for name in dict.fromkeys(map(family, others))]
    return [ranking, *_neighbours(comparison, digits), *overviews]


def _ranking(comparison: Comparison, digits: int) -> Table:
    """Systems with the measure that ranks them, tested against the baseline, and the other headline measures."""
    id_, *others = comparison.headline_ids()
    name = _main_name(comparison, id_)
    tests = _tests_of(comparison, id_)
    has_runs = any(system.deviations for system in comparison.systems)
    header = ["rank", id_, SHORT.get(name, name), *["sd"] * has_runs]
    header += [f"vs {comparison.baseline}", *_p_columns(tests)] if tests else []
    for other in others:
        other_name = _main_name(comparison, other)
        header.append(f"{other} {SHORT.get(other_name, other_name)}")
    best = {measure: _best(comparison, measure, digits) for measure in (id_, *others)}
    rows = []
    for system in comparison.systems:
        cell = _score(system, id_, digits)
        row = [Cell(str(system.rank)), Cell(system.name), cell._replace(is_best=cell.text == best[id_])]
        if has_runs:
            deviation = system.deviations.get((id_, "micro", name))
            row.append(Cell("" if deviation is None else percentage(deviation, digits)))
        row += _test_cells(comparison, system.name, comparison.baseline, id_, tests, digits) if tests else []
        row += [_overview_cell(comparison, system, other, best[other], digits) for other in others]
        rows.append(row)
    return Table(header, rows, left=2)


def _neighbours(comparison: Comparison, digits: int) -> list[Table]:
    """Each system tested against the next one; nothing if there are only two, one of which is the baseline."""
    id_ = comparison.sort_by
    tests = _tests_of(comparison, id_)
    if not tests or len(comparison.systems) < 3:
        return []
    rows = [
        [Cell(system.name), Cell(other.name), *_test_cells(comparison, system.name, other.name, id_, tests, digits)]
        for system, other in pairwise(comparison.systems)
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
        cells = [_overview_cell(comparison, system, id_, best[id_], digits) for id_ in ids]
        rows.append([Cell(system.name), *cells])
    return Table([f"{name} {' '.join(names)}", *(id_.partition(".")[2] for id_ in ids)], rows)


def _overview_cell(comparison: Comparison, system: ComparedSystem, id_: str, best: str | None, digits: int) -> Cell:
    """The main score of a measure, marked if it differs significantly from the baseline's."""
    cell = _score(system, id_, digits)
    test = comparison.deciding_test(comparison.baseline, system.name, id_)
    mark = STAR if comparison.is_significant(test) else ""
    return cell._replace(interval=None, is_best=cell.text == best, mark=mark)


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


# Breakdowns


def _breakdown_tables(comparison: Comparison, view: View) -> list[Table]:
    """The tables of `--by` and `--per-unit`: the most important measure of each family, one table per measure.

    If none of these knows a field, all measures that know it are shown.
    """
    systems, headline = comparison.systems, comparison.main_ids()
    tables = []
    for field in systems[0].by:
        rows = [row for system in systems for value, row in system.by[field].items() if value != ABSENT]
        known = {id_ for row in rows for id_ in row}
        ids = [id_ for id_ in headline if id_ in known] or [id_ for id_ in comparison.measures() if id_ in known]
        tables += [_field_table(comparison, field, id_, view) for id_ in ids or headline]
    if any(system.units for system in systems):
        units = sorted({unit for system in systems for unit in system.units})
        for id_ in headline:
            cells = {unit: [system.units.get(unit, {}).get(id_) for system in systems] for unit in units}
            tables.append(_systems_table(f"per {comparison.first.unit}", comparison, id_, cells, view.digits))
    return [table for table in tables if table.rows]


def _field_table(comparison: Comparison, field: str, id_: str, view: View) -> Table:
    """Gold items and the scores of each system for each value, what all systems together lost most first."""
    systems = comparison.systems
    values = sorted({value for system in systems for value, row in system.by[field].items() if id_ in row})
    # For each value, the scores that each run's counts are taken from, with the number of runs of its system.
    runs = {
        value: [
            (_counted(run.by[field].get(value, {}), id_), len(system.runs)) for system in systems for run in system.runs
        ]
        for value in values
    }
    if view.sort == "loss":
        losses = {
            value: fsum(fsum(lost(score.micro) for score in scores) / count for scores, count in runs[value])
            for value in values
        }
        values.sort(key=lambda value: -losses[value])
    leaves = {
        value: [
            row[id_].micro if id_ in row else None for row in (system.by[field].get(value, {}) for system in systems)
        ]
        for value in values
        if any(counts_anything(scores) for scores, _ in runs[value])
    }
    items = {value: [score.items for scores, _ in runs[value] for score in scores if score.items] for value in leaves}
    gold = {value: max((counts.gold for counts in items[value]), default=None) for value in leaves}
    return _systems_table(f"by {field}", comparison, id_, leaves, view.digits, gold=gold if any(items.values()) else {})


def _counted(row: Mapping[str, Score], id_: str) -> list[Score]:
    """The scores that counts are taken from: for a composite, which has none, all of its family."""
    if id_ in row and row[id_].micro.counts is not None:
        return [row[id_]]
    return [score for other, score in row.items() if family(other) == family(id_)]


def _systems_table(
    title: str,
    comparison: Comparison,
    id_: str,
    cells: Mapping[str, Sequence[ScoreValues | None]],
    digits: int,
    *,
    gold: Mapping[str, int | None] | None = None,
) -> Table:
    systems = comparison.systems
    names = summary(score_names(leaf for row in cells.values() for leaf in row if leaf is not None))
    name = names[0] if names else ""
    rows = []
    for key, leaves in cells.items():
        values = [value for leaf in leaves if leaf is not None and (value := leaf.values[name]) is not None]
        best = percentage(max(values), digits) if len(systems) > 1 and values else None
        scores = [score_cell(leaf, name, digits, with_interval=False) for leaf in leaves]
        count = [Cell("" if gold[key] is None else f"{gold[key]:,}")] if gold else []
        rows.append([Cell(key), *count, *(cell._replace(is_best=cell.text == best) for cell in scores)])
    header = [f"{id_} {SHORT.get(name, name)} {title}", *(["gold"] if gold else [])]
    return Table([*header, *(system.name for system in systems)], rows)


# Errors


def _error_tables(comparison: Comparison, digits: int) -> list[Table]:
    """Two tables per measure that was analysed; what all systems together would gain most from comes first."""
    by_system = [system_errors(system.runs) for system in comparison.systems]
    names = [system.name for system in comparison.systems]
    measures = dict.fromkeys(id_ for errors in by_system for id_ in errors)
    tables = [_error_table(names, [errors.get(id_) for errors in by_system], digits) for id_ in measures]
    return [table for pair in tables for table in pair if table.rows]


def _error_table(names: Sequence[str], systems: Sequence[SystemErrors | None], digits: int) -> tuple[Table, Table]:
    """The number of errors of each class in each system, and the scores if the class were repaired."""
    known = [errors for errors in systems if errors is not None]
    measure, main = known[0].measure, SHORT.get(known[0].main, known[0].main)
    scores = [None if errors is None else errors.score for errors in systems]
    gains = dict.fromkeys((name for errors in known for name in errors.classes), 0.0)
    for errors in known:
        for name, mean in errors.classes.items():
            gains[name] += (mean.fixed or 0.0) - (errors.score or 0.0)
    counts, fixed = [], []
    for name in sorted(gains, key=lambda name: (-gains[name], name)):
        means = [None if errors is None else errors.classes.get(name) for errors in systems]
        counts.append([Cell(name), *(Cell(UNDEFINED if mean is None else _count(mean.count)) for mean in means)])
        after = [score if mean is None else mean.fixed for mean, score in zip(means, scores, strict=True)]
        fixed.append([Cell(name), *(Cell(percentage(value, digits)) for value in after)])
    as_it_is = [Cell("as it is"), *(Cell(percentage(score, digits)) for score in scores)]
    return (
        Table([f"{measure} errors", *names], counts),
        Table([f"{measure} {main} if fixed", *names], [as_it_is, *fixed] if fixed else []),
    )


def _count(count: float) -> str:
    """The mean of several runs, which may be a fraction."""
    return f"{count:,.0f}" if count == round(count) else f"{count:,.1f}"
