"""Paired tests: how likely a difference as large as the observed one is if the two systems are equally good.

All are two-sided, and compare the scores of two systems on the same units.
"""

from collections.abc import Iterator, Sequence
from math import sqrt

import numpy as np

from karat.result import UnitRows
from karat.stats.confidence import standard_error
from karat.stats.resampling import (
    ExactColumns,
    Matrix,
    ScoreName,
    Values,
    all_swaps,
    evaluate,
    matrix,
    observed,
    swap_weights,
)


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm (1979): the smallest p-value times m, the next times m - 1, and so on, never decreasing and at most 1.

    Undefined p-values stay undefined and do not count as comparisons.
    """
    known = sorted((p, index) for index, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, index) in enumerate(known):
        largest = max(largest, min(1.0, (len(known) - rank) * p))
        adjusted[index] = largest
    return adjusted


TOLERANCE = 1e-12
"""Differences closer than this are equal: they differ only by rounding."""


def approximate_randomisation(
    a: UnitRows, b: UnitRows, *, resamples: int, seed: int
) -> tuple[dict[ScoreName, float | None], int]:
    """p-values, and how many resamples they come from (Noreen 1989).

    In each resample, every unit's rows are swapped between the systems with a probability of one half. If there are no
    more ways to swap than `resamples`, all of them are tried and the p-values are exact.
    """
    n = len(a.units)
    is_exact = n < 63 and 1 << n <= resamples
    columns = ExactColumns(matrix(a), matrix(b))

    def swaps() -> Iterator[Matrix]:
        return all_swaps(n) if is_exact else swap_weights(n, resamples, seed)

    of_a = evaluate(a, (columns.sums(1 - swapped, swapped) for swapped in swaps()))
    of_b = evaluate(b, (columns.sums(swapped, 1 - swapped) for swapped in swaps()))
    before_a, before_b = observed(a), observed(b)
    p_values_of = {
        name: _share(of_b[name] - of_a[name], difference(before_a[name], before_b[name]), is_exact=is_exact)
        for name in of_a
    }
    return p_values_of, 1 << n if is_exact else resamples


def paired_bootstrap(
    a: Values, b: Values, differences: dict[ScoreName, float | None], *, units: int
) -> dict[ScoreName, float | None]:
    """p-values from resamples of both systems with the same seed (Efron and Tibshirani 1993, chapter 16).

    Resampled differences are centred on the observed one; the share of them that are further from the centre than the
    observed difference is from zero is corrected for the number of units.
    """
    shares = {
        name: None if shift is None else _share(b[name] - a[name] - shift, shift, is_exact=False)
        for name, shift in differences.items()
    }
    return {name: None if share is None else expanded(share, units) for name, share in shares.items()}


def expanded(p: float, units: int) -> float:
    """A two-sided p-value of a bootstrap, corrected for small samples (Hesterberg 2015, expanded percentiles).

    Resamples of n units vary less than the score, by the factor √((n - 1)/n), and their quantiles correspond to the
    normal distribution instead of Student's t. So z of p becomes t = z · √((n - 1)/n) with n - 1 degrees of freedom.
    """
    from scipy.special import ndtri, stdtr

    return float(2 * stdtr(units - 1, sqrt((units - 1) / units) * ndtri(p / 2)))


def jackknife(difference: float | None, left_out: Sequence[float | None]) -> float | None:
    """The p-value of t = difference / se, se by the delete-one jackknife; t has n - 1 degrees of freedom."""
    error = standard_error(left_out)
    if difference is None or error is None:
        return None
    if not error:
        return 1.0 if abs(difference) < TOLERANCE else 0.0
    from scipy.special import stdtr

    return float(2 * stdtr(len(left_out) - 1, -abs(difference) / error))


def difference(a: float | None, b: float | None) -> float | None:
    """b - a, undefined if one of them is."""
    return None if a is None or b is None else b - a


def _share(resampled: Matrix, threshold: float | None, *, is_exact: bool) -> float | None:
    """The share of resamples at least as extreme; an undefined one counts as such, which makes p larger.

    A random sample of resamples gets one more, the observed one, so that p is never zero.
    """
    if threshold is None:
        return None
    extreme = int(np.count_nonzero(~(np.abs(resampled) < abs(threshold) - TOLERANCE)))
    more = 0 if is_exact else 1
    return (extreme + more) / (len(resampled) + more)
