"""The errors of a system by class; of several runs, the means."""

from collections.abc import Mapping, Sequence
from math import fsum
from typing import NamedTuple

from msgspec import Struct

from karat.results import Result
from karat.results.errors import MeasureErrors


class ClassMean(Struct, frozen=True):
    """A class of errors."""

    count: float
    fixed: float | None
    """The main score of the measure if this class were repaired; None where a run has none."""


class SystemErrors(NamedTuple):
    """The errors of a system behind one measure."""

    measure: str
    main: str
    """The name of the score."""
    score: float | None
    """As the system is."""
    classes: Mapping[str, ClassMean]
    """Those that occur."""


def system_errors(runs: Sequence[Result]) -> dict[str, SystemErrors]:
    """The errors behind each measure that was analysed in all runs."""
    by_run = [{one.id: one for one in run.errors.measures} for run in runs if run.errors is not None]
    shared = [id_ for id_ in by_run[0] if all(id_ in own for own in by_run)] if by_run else []
    return {id_: _mean_errors([own[id_] for own in by_run]) for id_ in shared}


def _mean_errors(runs: Sequence[MeasureErrors]) -> SystemErrors:
    first = runs[0]
    names = dict.fromkeys(one.name for run in runs for one in run.classes if one.count)
    classes = {}
    for name in names:
        # A class that a run does not have costs it nothing.
        own = [next((one for one in run.classes if one.name == name), None) for run in runs]
        fixed = [(run.score if one is None else one.fixed)[first.main] for run, one in zip(runs, own, strict=True)]
        classes[name] = ClassMean(fsum(one.count for one in own if one is not None) / len(runs), _mean(fixed))
    return SystemErrors(first.id, first.main, _mean([run.score[first.main] for run in runs]), classes)


def _mean(values: Sequence[float | None]) -> float | None:
    defined = [value for value in values if value is not None]
    return fsum(defined) / len(values) if len(defined) == len(values) else None
