"""Corrections of p-values for many comparisons."""

from collections.abc import Sequence


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm (1979): the smallest p-value times m, the next times m - 1, and so on, never decreasing and at most 1.

    Undefined p-values stay undefined and are no comparisons.
    """
    known = sorted((p, number) for number, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    largest = 0.0
    for rank, (p, number) in enumerate(known):
        largest = max(largest, min(1.0, (len(known) - rank) * p))
        adjusted[number] = largest
    return adjusted
