"""Single scores for scripts: `--value` prints one, and `--fail-under` makes low ones an exit code."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import click

from karat.problems import Rule, UsageError, closest, nearest

if TYPE_CHECKING:
    from karat.result import Result

BELOW = 3
"""The exit code if a score is below its threshold."""
ABSENT = Rule(
    "score-absent", "fatal", "Name a measure of the protocol, with or without one of its scores: nugget.type.precision"
)


class Threshold(NamedTuple):
    """The lowest score, in percent, that is good enough."""

    name: str
    """A measure, or a measure and one of its scores: `nugget.type` or `nugget.type.precision`."""
    percent: float
    written: str


def parse(given: Sequence[str]) -> tuple[Threshold, ...]:
    """Read `ID=VALUE`."""
    return tuple(map(_parsed, given))


def _parsed(text: str) -> Threshold:
    from karat.run.scoring import refuse_unknown_family

    name, _, written = text.partition("=")
    try:
        percent = float(written.removesuffix("%"))
    except ValueError:
        percent = math.nan
    if not name or not math.isfinite(percent):
        message = f"--fail-under: {text!r} is not a measure with a percentage"
        raise UsageError("threshold-form", message, "Write it like nugget.type=60 or nugget.type.precision=75.")
    refuse_unknown_family(name)
    return Threshold(name, percent, written)


def find(result: "Result", name: str) -> tuple[str, str] | None:
    """Return the measure with the longest id that a name begins with, and its score that the rest names."""
    for id_ in sorted(result.scores, key=len, reverse=True):
        micro = result.scores[id_].micro
        if name == id_:
            return id_, micro.main_name
        leaf = name.removeprefix(f"{id_}.")
        if leaf != name and leaf in micro.values:
            return id_, leaf
    return None


def _found(results: "Sequence[Result]", name: str) -> "list[tuple[Result, str, str]]":
    """Return the score in each result that has it; at least one must."""
    found = [(result, *place) for result in results if (place := find(result, name)) is not None]
    if not found:
        scores = {id_: score for result in results for id_, score in result.scores.items()}
        leaves = [f"{id_}.{leaf}" for id_, score in scores.items() for leaf in score.micro.values]
        near = closest(name, [*scores, *leaves])
        raise ABSENT.error(f"there is no score {name!r} here. {nearest(name, scores if near is None else [near])}")
    return found


def one_value(result: "Result", name: str, digits: int) -> str:
    """Return a score as a bare percentage."""
    from karat.report.tables import printed

    ((_, id_, leaf),) = _found([result], name)
    return printed(result.scores[id_].micro, leaf, digits) + "\n"


def exit_if_below(results: "Sequence[Result]", thresholds: Sequence[Threshold], digits: int) -> None:
    """Say which scores are below their thresholds, and exit if any is. An undefined score is below."""
    from karat.report.tables import printed

    messages = []
    for name, percent, written in thresholds:
        for result, id_, leaf in _found(results, name):
            micro = result.scores[id_].micro
            value = micro.values[leaf]
            if value is None or 100 * value < percent:
                under = f" under {result.protocol}" if len(results) > 1 else ""
                messages.append(f"{id_} {leaf}{under} is {printed(micro, leaf, digits)}, below {written}")
    for name, percent, written in thresholds:
        if 0 < percent < 1:
            advice = f"{name}={100 * percent:g} is {100 * percent:g} %"
            click.echo(f"note: --fail-under takes percentages: {name}={written} is {percent:g} %, {advice}", err=True)
    for message in messages:
        click.echo(f"--fail-under: {message}", err=True)
    if messages:
        click.get_current_context().exit(BELOW)
