"""The tables of a comparison: the ranking with its tests, neighbours, and all measures."""

from collections.abc import Sequence
from itertools import pairwise

from karat.comparison import ComparedSystem, Comparison, PairedTest
from karat.report.numbers import SHORT, UNDEFINED, percentage, score_names, summary
from karat.report.tables import Cell, Table, score_cell
from karat.report.view import View
from karat.results import family

SHORT_TESTS = {"approximate randomisation": "AR", "paired bootstrap": "PB", "jackknife": "JK"}
STAR = "*"


def comparison_tables(comparison: Comparison, view: View) -> list[Table]:
    """The ranking and the tests between neighbours; the rest of the headline; the main scores of all other measures.

    A summary is the ranking alone.
    """
    digits = view.digits
    ranking = _tested(comparison, comparison.sort_by, digits, ranked=True)
    if view.summary:
        return [ranking]
    headline = comparison.headline_ids()
    quoted = [_tested(comparison, id_, digits, ranked=False) for id_ in headline[1:]]
    others = [id_ for id_ in comparison.measures() if id_ not in headline]
    overviews = [_overview(comparison, name, others, digits) for name in dict.fromkeys(map(family, others))]
    return [ranking, *_neighbours(comparison, digits), *quoted, *overviews]


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
