"""Confidence intervals of a score, from its resamples or from a jackknife."""

from collections.abc import Sequence
from math import fsum, sqrt

import numpy as np

from karat.counts import Interval
from karat.stats.resampling import Matrix, ScoreName, Values


def percentile(values: Matrix, level: float) -> Interval | None:
    """The percentile bootstrap (Efron 1979): the middle part of the resampled scores.

    None if the score is undefined in most resamples.
    """
    defined = values[~np.isnan(values)]
    if 2 * len(defined) <= len(values):
        return None
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def percentiles(resampled: Values, level: float) -> dict[ScoreName, Interval | None]:
    """The same for each score. Those that are defined in all resamples are computed at once, which is much faster."""
    defined = [name for name, values in resampled.items() if len(values) and not np.isnan(values).any()]
    found: dict[ScoreName, Interval | None] = {}
    if defined:
        values = [resampled[name] for name in defined]
        low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2], axis=1).tolist()
        found = dict(zip(defined, zip(low, high, strict=True), strict=True))
    return {name: found[name] if name in found else percentile(own, level) for name, own in resampled.items()}


def jackknife(score: float | None, left_out: Sequence[float | None], level: float) -> Interval | None:
    """score ± t · se, with the standard error of the delete-one jackknife and t of n - 1 degrees of freedom.

    None if there are fewer than two parts, or a score is undefined.
    """
    error = standard_error(left_out)
    if score is None or error is None:
        return None
    from scipy.special import stdtrit

    margin = float(stdtrit(len(left_out) - 1, (1 + level) / 2)) * error
    return score - margin, score + margin


def standard_error(left_out: Sequence[float | None]) -> float | None:
    """se² = (n - 1)/n · Σ (θ(-i) - mean)² over scores without one part each (Tukey 1958)."""
    defined = [value for value in left_out if value is not None]
    n = len(left_out)
    if n < 2 or len(defined) < n:
        return None
    mean = fsum(defined) / n
    return sqrt((n - 1) / n * fsum((value - mean) ** 2 for value in defined))
