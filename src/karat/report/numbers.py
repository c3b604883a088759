"""Scores as they are printed: percentages, with short names."""

from collections.abc import Iterable, Mapping, Sequence

from karat.counts import Interval, ScoreValues
from karat.results import main_score

SHORT: Mapping[str, str] = {
    "value": "value",
    "precision": "P",
    "recall": "R",
    "f1": "F1",
    "value_precision": "value P",
    "value_recall": "value R",
    "value_f1": "value F1",
}
UNDEFINED = "-"


def percentage(value: float | None, digits: int) -> str:
    """A fraction as a percentage."""
    return UNDEFINED if value is None else f"{100 * value:.{digits}f}"


def printed(leaf: ScoreValues | None, name: str, digits: int) -> str:
    """One score as a percentage; nothing if there is no such score.

    An F1 whose precision and recall are both 0 is undefined, but people read it as 0.
    """
    if leaf is None or name not in leaf.values:
        return ""
    value = leaf.values[name]
    if value is None and name.endswith("f1"):
        before = name.removesuffix("f1")
        if leaf.values.get(f"{before}precision") == leaf.values.get(f"{before}recall") == 0:
            value = 0.0
    return percentage(value, digits)


def bounds(interval: Interval | None, digits: int) -> tuple[str, str] | None:
    """An interval as percentages. One digit less than scores have is enough, since bounds are estimates."""
    if interval is None:
        return None
    low, high = (percentage(bound, max(digits - 1, min(digits, 1))) for bound in interval)
    return low, high


def level(fraction: float) -> str:
    """A confidence level as a percentage: `95 %`."""
    return f"{100 * fraction:.10g} %"


def score_names(leaves: Iterable[ScoreValues]) -> list[str]:
    """The names of all scores, the well-known ones first."""
    names = dict.fromkeys(name for leaf in leaves for name in leaf.values)
    return [*(name for name in SHORT if name in names), *(name for name in names if name not in SHORT)]


def column_names(leaves: Iterable[ScoreValues]) -> dict[str, str]:
    """The names of all scores, each with its short form."""
    return {name: SHORT.get(name, name) for name in score_names(leaves)}


def summary(names: Sequence[str]) -> list[str]:
    """The main score of a measure, if it has any."""
    return [main_score(names)] if names else []
