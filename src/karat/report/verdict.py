"""Plain sentences about scores: the bottleneck of one system, and the verdict of a comparison."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from karat.report.tables import SHORT, percentage
from karat.results import Score, main_score

if TYPE_CHECKING:
    from karat.comparison import ComparedSystem, Comparison

SPAN = "nugget.span"
GAP = 0.05
"""A smaller loss is not worth a sentence."""
LEAD = 0.01
"""The least difference between the largest loss and any other."""
FEW = 20
"""With fewer gold mentions, one or two of them make the gap."""
TOLERANCE = 1e-12
"""Scores closer than this are the same."""


def bottleneck(scores: Mapping[str, Score], *, mentions: int, system: str = "this system") -> Iterator[str]:
    """The bottleneck of a system, as Liu et al. (2015), section 4, read their Figure 3; nothing if it is not clear.

    A large gap between span F1 and the F1 with an attribute shows that the attribute is the bottleneck. If attributes
    cost little, it is finding the spans. `mentions` are those of gold.
    """
    span = scores[SPAN].micro.values.get("f1") if SPAN in scores else None
    if span is None or mentions < FEW:
        return
    attributes = {
        id_.removeprefix("nugget."): f1
        for id_, score in scores.items()
        if id_.startswith("nugget.") and id_ != SPAN and not {"+", "."} & set(id_.removeprefix("nugget."))
        if (f1 := score.micro.values.get("f1")) is not None
    }
    if not attributes:
        return
    losses = {name: span - f1 for name, f1 in attributes.items()} | {"span": 1 - span}
    (name, largest), (_, second) = sorted(losses.items(), key=lambda item: -item[1])[:2]
    if largest < GAP or largest - second < LEAD:
        return
    points = f"{100 * largest:.0f} points are lost"
    if name == "span":
        yield f"{points} before any attribute is compared: finding spans holds {system} back"
    else:
        yield f"from span to {name} {points}: {name} detection holds {system} back"


def verdict(comparison: "Comparison") -> Iterator[str]:
    """Name the best system, and those that differ from the baseline, as far as the tests show it."""
    best, *others = comparison.systems
    score = _score(comparison, best)
    if not others:
        yield f"{best.name} is the only system ({score}): there is nothing to compare it with."
        return
    if _value(comparison, best) is None:
        yield f"No system has a score: {comparison.sort_by} is undefined."
        return
    if comparison.confidence is None:
        yield f"{best.name} has the highest score ({score}); whether the difference is due to chance cannot be tested."
        return
    yield _first_place(comparison, best, others, score)
    if len(others) > 1:
        yield from _against_baseline(comparison)
    if unscored := [system.name for system in comparison.systems if _value(comparison, system) is None]:
        yield f"No score for {_listed(unscored)}: {comparison.sort_by} is undefined."


def _first_place(
    comparison: "Comparison", best: "ComparedSystem", others: Sequence["ComparedSystem"], score: str
) -> str:
    following = others[0]
    test = comparison.deciding_test(best.name, following.name, comparison.sort_by)
    if test is None or test.difference is None or test.p_adjusted is None:
        return f"{best.name} has the highest score ({score}); the difference to {following.name} is undefined."
    if abs(test.difference) < TOLERANCE:
        return f"{best.name} and {following.name} have the same score ({score})."
    p = "p < 0.001" if test.p_adjusted < 0.001 else f"p = {test.p_adjusted:.3f}"
    points = f"{100 * abs(test.difference):.1f} points, {p}"
    if comparison.is_significant(test):
        return f"{best.name} is best ({score}): it is significantly better than {following.name} ({points})."
    sharing = [system.name for system in others if system.rank == best.rank]
    lead = f"{best.name} has the highest score ({score}), but is not significantly better than {following.name}"
    more = f"; {_listed([best.name, *sharing])} share rank 1" if len(sharing) > 1 else ""
    return f"{lead} ({points}){more}."


def _against_baseline(comparison: "Comparison") -> Iterator[str]:
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


def _score(comparison: "Comparison", system: "ComparedSystem") -> str:
    name = main_score([*system.scores[comparison.sort_by].micro.values])
    return f"{comparison.sort_by} {SHORT.get(name, name)} {percentage(_value(comparison, system), 1)}"


def _value(comparison: "Comparison", system: "ComparedSystem") -> float | None:
    values = system.scores[comparison.sort_by].micro.values
    return values[main_score([*values])]


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
