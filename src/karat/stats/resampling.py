"""Resamples: sums of rows in which units are drawn with replacement, or swapped between two systems.

The sums of all resamples are one matrix product. Its result must not depend on the order of additions, which differs
between machines. So each column is first scaled and rounded to whole numbers, small enough that every sum is exact;
this moves a sum by less than one part in 10^8.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from karat.result import Score, UnitRows

Matrix = NDArray[np.float64]

ScoreName = tuple[str, str, str]
"""A measure, its average (micro or macro) and a score: ("nugget.type", "micro", "f1")."""

Values = dict[ScoreName, Matrix]
"""Each score in every resample, NaN where it is undefined."""

CHUNK = 1 << 20
"""Limit on the weights that are in memory at a time."""
KEPT = 1 << 24
"""The most weights that are kept for the values of a breakdown."""


def flat(scores: Mapping[str, Score]) -> dict[ScoreName, float | None]:
    """Scores by name."""
    return {
        (id_, average, name): value
        for id_, score in scores.items()
        for average, leaf in (("micro", score.micro), ("macro", score.macro))
        if leaf is not None
        for name, value in leaf.values.items()
    }


def observed(rows: UnitRows) -> dict[ScoreName, float | None]:
    """The scores of all units."""
    return flat(rows.scores())


def evaluate(rows: UnitRows, sums: Iterator[Matrix]) -> Values:
    """The scores of each row of sums. Few units have few different resamples, and each is scored only once."""
    scored: list[Matrix] = []
    for some in sums:
        different, places = np.unique(some, axis=0, return_inverse=True)
        values = [
            [
                value
                for score in rows.finish(sums_of_resample).values()
                for leaf in (score.micro, score.macro)
                if leaf is not None
                for value in leaf.values.values()
            ]
            for sums_of_resample in different.tolist()
        ]
        scored.append(np.array(values, dtype=np.float64)[places.ravel()])
    names = list(observed(rows))
    by_name = np.vstack([np.empty((0, len(names))), *scored]).T
    return dict(zip(names, by_name, strict=True))


def bootstrap(rows: UnitRows, *, resamples: int, seed: int, among: Mapping[str, int] | None = None) -> Values:
    """Scores of resamples of units. The same seed draws the same units, so that systems are resampled together.

    `among` are all units by number, if the others have counted nothing and have no rows.
    """
    if among is None or len(among) * resamples > KEPT:
        rows = rows if among is None else rows.over([*among])
        columns = ExactColumns(matrix(rows))
        return evaluate(rows, map(columns.sums, bootstrap_weights(len(rows.units), resamples, seed)))
    # Few units are drawn in few different ways.
    drawn = _kept_weights(len(among), resamples, seed)[:, [among[unit] for unit in rows.units]]
    different, places = np.unique(drawn, axis=0, return_inverse=True)
    columns = ExactColumns(matrix(rows), units=len(among))
    values = evaluate(rows, iter([columns.sums(different.astype(np.float64))]))
    return {name: scores[places.ravel()] for name, scores in values.items()}


def matrix(rows: UnitRows) -> Matrix:
    """The rows as a matrix: one row per unit, one column per number."""
    return np.array([np.frombuffer(column) for column in rows.columns]).reshape(len(rows.columns), len(rows.units)).T


class ExactColumns:
    """Columns of numbers whose weighted sums are exact (see the module)."""

    def __init__(self, *columns: Matrix, units: int | None = None) -> None:
        """Matrices of one shape share their scale, so that their sums can also be added.

        `units` is how many units are drawn, if that is not one per row.
        """
        largest = np.max([np.abs(matrix).max(axis=0, initial=0.0) for matrix in columns], axis=0)
        # No sum of all units is larger than this, and it must stay below 2^53.
        _, bits = np.frexp(largest * (len(columns[0]) if units is None else units))
        self._scale = np.ldexp(1.0, np.minimum(52 - bits, 1000))
        self._whole = [np.rint(matrix * self._scale) for matrix in columns]

    def sums(self, *weights: Matrix) -> Matrix:
        """The sum of each matrix times its weights, one row of sums per row of weights."""
        products = [part @ whole for part, whole in zip(weights, self._whole, strict=True)]
        sums: Matrix = np.sum(products, axis=0) / self._scale
        return sums


def bootstrap_weights(units: int, resamples: int, seed: int) -> Iterator[Matrix]:
    """Yield how often each unit is in each resample, some resamples at a time."""
    random = np.random.default_rng([seed, 1])
    for size in _chunks(units, resamples):
        drawn = random.integers(0, units, size=(size, units)) + np.arange(size)[:, None] * units
        yield np.bincount(drawn.ravel(), minlength=size * units).reshape(size, units).astype(np.float64)


@lru_cache(maxsize=1)
def _kept_weights(units: int, resamples: int, seed: int) -> NDArray[np.int32]:
    """Cache of bootstrap weights, for values of a breakdown that are resampled in turn: one row per resample."""
    return np.vstack([weights.astype(np.int32) for weights in bootstrap_weights(units, resamples, seed)])


def swap_weights(units: int, resamples: int, seed: int) -> Iterator[Matrix]:
    """Which units are swapped in each resample: 1 or 0, with equal probability."""
    random = np.random.default_rng([seed, 2])
    for size in _chunks(units, resamples):
        yield random.integers(0, 2, size=(size, units)).astype(np.float64)


def all_swaps(units: int) -> Iterator[Matrix]:
    """Every way to swap units: 2^n resamples."""
    start = 0
    for size in _chunks(units, 1 << units):
        yield (np.arange(start, start + size)[:, None] >> np.arange(units) & 1).astype(np.float64)
        start += size


def _chunks(units: int, resamples: int) -> Iterator[int]:
    most = max(1, CHUNK // max(units, 1))
    for start in range(0, resamples, most):
        yield min(most, resamples - start)
