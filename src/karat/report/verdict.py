"""The verdict of a comparison, in plain sentences."""

from collections.abc import Iterator, Sequence

from karat.comparison.comparison import ComparedSystem, Comparison
from karat.report.tables import SHORT, percentage
from karat.result import main_score

TOLERANCE = 1e-12
"""Scores closer than this are the same."""


def verdict(comparison: Comparison) -> Iterator[str]:
    """Name the best system, and those that differ from the baseline, as far as the tests show it."""
    best, *others = comparison.systems
    score = _score(comparison, best)
    if not others:
        yield f"{best.name} is the only system ({score}): there is nothing to compare it with."
        return
    if _value(comparison, best) is None:
        yield f"No system has a score: {comparison.sort_by} is undefined."
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
    if unscored := [system.name for system in comparison.systems if _value(comparison, system) is None]:
        yield f"No score for {_listed(unscored)}: {comparison.sort_by} is undefined."


def _is_tied(comparison: Comparison, best: ComparedSystem, system: ComparedSystem) -> bool:
    highest, value = _value(comparison, best), _value(comparison, system)
    return highest is not None and value is not None and highest - value < TOLERANCE


def _first_place(comparison: Comparison, best: ComparedSystem, others: Sequence[ComparedSystem], score: str) -> str:
    following = others[0]
    test = comparison.deciding_test(best.name, following.name, comparison.sort_by)
    if test is None or test.difference is None or test.p_adjusted is None:
        return f"{best.name} has the highest score ({score}); the difference to {following.name} is undefined."
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


def _score(comparison: Comparison, system: ComparedSystem) -> str:
    name = main_score([*system.scores[comparison.sort_by].micro.values])
    return f"{comparison.sort_by} {SHORT.get(name, name)} {percentage(_value(comparison, system), 1)}"


def _value(comparison: Comparison, system: ComparedSystem) -> float | None:
    values = system.scores[comparison.sort_by].micro.values
    return values[main_score([*values])]


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
