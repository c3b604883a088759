"""Reports of several systems: the verdict, the ranking with its tests, and all measures."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from karat.comparison.comparison import ComparedSystem, Comparison, system_errors
from karat.comparison.tests import PairedTest
from karat.report.breakdowns import compared_breakdowns
from karat.report.errors import compared_errors
from karat.report.layout import View, counted, finding_lines, shared_findings
from karat.report.scores import QUOTED_DIGITS, WIDTH, Content, bottleneck, intervals_line
from karat.report.tables import UNDEFINED, Cell, Table, as_read, percentage, score_cell, score_names, short
from karat.result import family

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
        compared_breakdowns(comparison, view),
        [],
        compared_errors({s.name: system_errors(s.runs) for s in comparison.systems}, view.digits),
        [
            (system.name if len(system.runs) == 1 else f"{system.name} ({run.system.name})", run)
            for system in comparison.systems
            for run in system.runs
        ],
        _findings(comparison),
        first.signature,
        list(_quotable(comparison)),
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
            yield f"{line}."


def _findings(comparison: Comparison) -> list[str]:
    """Findings in gold and the systems; a finding of some systems names them."""
    groups = {group for system in comparison.systems for run in system.runs for group in run.warning_counts}
    lines_by_system = {
        system.name: [line for run in system.runs for line in finding_lines(run.warnings, run.warning_counts, groups)]
        for system in comparison.systems
    }
    return [*note_lines(comparison), *shared_findings(lines_by_system)]


def note_lines(comparison: Comparison) -> list[str]:
    return finding_lines(comparison.notes, {note.group: 1 for note in comparison.notes})


def _quotable(comparison: Comparison) -> Iterator[str]:
    """The best system's score, with its interval if there is one, as one line for a paper; nothing if it has none."""
    best, first = comparison.systems[0], comparison.first
    micro = best.scores[comparison.sort_by].micro
    name = micro.main_name
    if as_read(micro, name) is not None:
        score = f"{best.name}: {comparison.sort_by} {short(name)} {score_cell(micro, name, QUOTED_DIGITS)}"
        yield f"{score} ({first.protocol}, signature {first.signature})"


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
    return [ranking, *_neighbours(comparison, digits), *_overviews(comparison, headline, digits)]


def _ranking(comparison: Comparison, digits: int) -> Table:
    """Systems with the measure that ranks them, tested against the baseline, and the other headline measures."""
    id_, *others = comparison.headline_ids()
    name = _main_name(comparison, id_)
    tests = _tests_of(comparison, id_)
    has_runs = any(system.deviations for system in comparison.systems)
    header = ["rank", id_, short(name), *["sd"] * has_runs]
    header += [f"vs {comparison.baseline}", *_p_columns(tests)] if tests else []
    for other in others:
        other_name = _main_name(comparison, other)
        header.append(f"{other} {short(other_name)}")
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


def paper_tables(comparison: Comparison, view: View) -> list[Table]:
    """The ranking as papers print it, without ranks and p-values, and the scores of all other measures.

    If there is one measure, or room for it (`wide`), its precision and recall have columns.
    """
    digits = view.digits
    headline = comparison.headline_ids()
    every = view.wide or len(comparison.measures()) == 1
    names = {id_: score_names(s.scores[id_].micro for s in comparison.systems if id_ in s.scores) for id_ in headline}
    columns = [
        (id_, name)
        for id_ in headline
        for name in names[id_]
        if name == _main_name(comparison, id_) or (every and name in ("precision", "recall"))
    ]
    best = {id_: _best(comparison, id_, digits) for id_ in headline}
    rows = []
    for system in comparison.systems:
        cells = [Cell(system.name)]
        for id_, name in columns:
            if name != _main_name(comparison, id_):
                micro = system.scores[id_].micro if id_ in system.scores else None
                cells.append(score_cell(micro, name, digits, with_interval=False))
                continue
            cell = _overview_cell(comparison, system, id_, best[id_], digits)
            interval = _score(system, id_, digits).interval
            cells.append(cell._replace(interval=interval if id_ == comparison.sort_by else None))
        rows.append(cells)
    ranking = Table(["system", *(f"{id_} {short(name)}" for id_, name in columns)], rows)
    return [ranking] if view.summary else [ranking, *_overviews(comparison, headline, digits)]


def paper_caption(comparison: Comparison) -> list[str]:
    """The protocol, the intervals, and what a star means."""
    first = comparison.first
    sentences = [f"{first.protocol}: {first.title}", intervals_line(comparison.confidence)]
    if comparison.tests:
        alpha = f"{1 - comparison.level:.10g}"
        test = f"{comparison.tests[0].test}, p < {alpha} after Holm's correction"
        sentences.append(f"{STAR}: significantly different from {comparison.baseline} ({test})")
    return sentences


def _neighbours(comparison: Comparison, digits: int) -> list[Table]:
    """Test each system against the next one; nothing if there are only two, one of which is the baseline."""
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
    difference = UNDEFINED if first.difference is None else f"{100 * sign * first.difference:+z.{digits}f}"
    mark = STAR if comparison.is_significant(first) else ""
    return [Cell(difference, mark=mark), *(Cell(_p(test)) for test in found)]


def _p(test: PairedTest | None) -> str:
    """A p-value to three digits."""
    if test is None or test.p_adjusted is None:
        return UNDEFINED
    return "<0.001" if test.p_adjusted < 0.001 else f"{test.p_adjusted:.3f}"


def _overviews(comparison: Comparison, headline: Sequence[str], digits: int) -> list[Table]:
    """Return one table per family with the measures that are not in the headline."""
    others = [id_ for id_ in comparison.measures() if id_ not in headline]
    return [_overview(comparison, name, others, digits) for name in dict.fromkeys(map(family, others))]


def _overview(comparison: Comparison, name: str, measures: Sequence[str], digits: int) -> Table:
    """The main scores of the measures of one family, marked where they differ significantly from the baseline's."""
    ids = [id_ for id_ in measures if family(id_) == name]
    names = list(dict.fromkeys(short(_main_name(comparison, id_)) for id_ in ids))
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
    return score_cell(micro, micro.main_name, digits)


def _best(comparison: Comparison, id_: str, digits: int) -> str | None:
    """The best score of a measure as it is printed; None if there is only one system."""
    if len(comparison.systems) == 1:
        return None
    scores = [
        value
        for system in comparison.systems
        if id_ in system.scores
        if (value := system.scores[id_].micro.main_value) is not None
    ]
    return percentage(max(scores), digits) if scores else None


def _main_name(comparison: Comparison, id_: str) -> str:
    return next(system.scores[id_].micro.main_name for system in comparison.systems if id_ in system.scores)


# Verdict

TOLERANCE = 1e-12
"""Scores closer than this are the same."""


def verdict(comparison: Comparison) -> Iterator[str]:
    """Name the best system, and those that differ from the baseline, as far as the tests show it."""
    best, *others = comparison.systems
    score = _main_score(comparison, best)
    if not others:
        yield f"{best.name} is the only system ({score}): there is nothing to compare it with."
        return
    if _value(comparison, best) is None:
        micros = [system.scores[comparison.sort_by].micro for system in comparison.systems]
        if all(as_read(micro, micro.main_name) is None for micro in micros):
            yield f"No system has a score: {comparison.sort_by} is undefined."
        else:
            yield f"No system has a score above 0: precision and recall of {comparison.sort_by} are 0."
        return
    tied = [best, *(system for system in others if _is_tied(comparison, best, system))]
    if len(tied) > 1:
        yield f"{_listed([system.name for system in tied])} tie for first place ({score})."
    elif comparison.confidence is None:
        yield f"{best.name} has the highest score ({score}); whether the difference is due to chance cannot be tested."
        return
    else:
        yield _first_place(comparison, best, others, score)
    if len(others) > 1:
        yield from _against_baseline(comparison)
    yield from _undefined(comparison)


def _undefined(comparison: Comparison) -> Iterator[str]:
    """Systems without a score, and those whose F1 is printed as 0 but cannot be tested."""
    unscored: list[str] = []
    zero: list[str] = []
    for system in comparison.systems:
        micro = system.scores[comparison.sort_by].micro
        if micro.main_value is None:
            (unscored if as_read(micro, micro.main_name) is None else zero).append(system.name)
    if unscored:
        yield f"No score for {_listed(unscored)}: {comparison.sort_by} is undefined."
    if zero:
        reason = f"precision and recall of {comparison.sort_by} are 0, so that F1 is undefined"
        yield f"No test for {_listed(zero)}: {reason}."


def _is_tied(comparison: Comparison, best: ComparedSystem, system: ComparedSystem) -> bool:
    highest, value = _value(comparison, best), _value(comparison, system)
    return highest is not None and value is not None and highest - value < TOLERANCE


def _first_place(comparison: Comparison, best: ComparedSystem, others: Sequence[ComparedSystem], score: str) -> str:
    following = others[0]
    test = comparison.deciding_test(best.name, following.name, comparison.sort_by)
    if test is None or test.difference is None or test.p_adjusted is None:
        return f"{best.name} has the highest score ({score}); the difference from {following.name} is undefined."
    p = "p < 0.001" if test.p_adjusted < 0.001 else f"p = {test.p_adjusted:.3f}"
    points = f"{100 * abs(test.difference):.1f} points, {p}"
    if comparison.is_significant(test):
        return f"{best.name} is best ({score}): it is significantly better than {following.name} ({points})."
    sharing = [system.name for system in others if system.rank == best.rank]
    lead = f"{best.name} has the highest score ({score}), but is not significantly better than {following.name}"
    more = f"; {_listed([best.name, *sharing])} share rank 1" if len(sharing) > 1 else ""
    return f"{lead} ({points}){more}."


def _against_baseline(comparison: Comparison) -> Iterator[str]:
    """Systems that are better, worse, or not significantly different."""
    groups: dict[str, list[str]] = {"better": [], "worse": [], "": []}
    for system in comparison.systems:
        test = comparison.deciding_test(comparison.baseline, system.name, comparison.sort_by)
        if test is None or test.difference is None:
            continue
        # The difference is that of the second system to the first.
        difference = test.difference if test.b == system.name else -test.difference
        kind = "" if not comparison.is_significant(test) else "better" if difference > 0 else "worse"
        groups[kind].append(system.name)
    for kind in ("better", "worse"):
        if names := groups[kind]:
            yield f"Significantly {kind} than the baseline {comparison.baseline}: {_listed(names)}."
    if groups[""]:
        yield f"Not significantly different from the baseline {comparison.baseline}: {_listed(groups[''])}."


def _main_score(comparison: Comparison, system: ComparedSystem) -> str:
    micro = system.scores[comparison.sort_by].micro
    return f"{comparison.sort_by} {short(micro.main_name)} {percentage(micro.main_value, 1)}"


def _value(comparison: Comparison, system: ComparedSystem) -> float | None:
    return system.scores[comparison.sort_by].micro.main_value


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
