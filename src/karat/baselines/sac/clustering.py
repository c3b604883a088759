"""Greedy agglomerative clustering with average link, on sparse similarities."""

from heapq import heapify, heappop, heappush

import numpy as np
from numpy.typing import NDArray

LEAST = 0.01
"""Pairs that are less likely than this count as 0: they are most pairs, and cannot bring two clusters together."""


def agglomerate(
    count: int, first: NDArray[np.int64], second: NDArray[np.int64], similarity: NDArray[np.float64], *, stop: float
) -> list[int]:
    """The cluster of each item: the two clusters with the highest average similarity are merged, until it is too low.

    Pairs of items that are not given have the similarity 0.
    """
    kept = np.flatnonzero(similarity >= LEAST)
    items = list(range(count))  # each number is one object, in whichever places
    sums: list[dict[int, float]] = [{} for _ in items]
    """For each cluster the sum of similarities to each other cluster."""
    queue: list[tuple[float, int, int]] = []
    for edge in kept.tolist():
        one, other, value = items[first[edge]], items[second[edge]], float(similarity[edge])
        sums[one][other] = sums[other][one] = value
        if value >= stop:
            queue.append((-value, one, other))
    sizes = [1] * count
    merged_into: dict[int, int] = {}
    heapify(queue)
    while queue:
        average, one, other = heappop(queue)
        if one in merged_into or other in merged_into:
            continue
        assert -average == sums[one][other] / (sizes[one] * sizes[other])
        new = len(sums)
        merged_into[one] = merged_into[other] = new
        sizes.append(sizes[one] + sizes[other])
        sums.append({})
        for old in (one, other):
            for neighbour, value in sums[old].items():
                if neighbour not in merged_into:
                    sums[new][neighbour] = sums[new].get(neighbour, 0.0) + value
                    del sums[neighbour][old]
        for neighbour, value in sums[new].items():
            sums[neighbour][new] = value
            average = value / (sizes[new] * sizes[neighbour])
            if average >= stop:
                heappush(queue, (-average, neighbour, new))
    return [_last(item, merged_into) for item in range(count)]


def _last(item: int, merged_into: dict[int, int]) -> int:
    while item in merged_into:
        item = merged_into[item]
    return item
