"""How well an audit finds errors: some are planted in a copy of the corpus, and looked for.

Links are hidden by making mentions singletons, and wrong ones made by moving singletons into the cluster of a candidate
that they do not corefer with. Three ways to order the same candidates are compared: by anchor weight, at random, and by
the margin that a classifier without anchors has on pairs that it was not trained on.
"""

from collections.abc import Iterable, Sequence
from random import Random

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from karat.audit.anchored import anchor_weights, margins
from karat.audit.pairs import Pairs, clusters
from karat.audit.suspicions import CLASSES, Class, linked, numbered, ranked
from karat.baselines.similarity import library
from karat.baselines.texts import Text

FOLDS = 5
ORDERS = ("anchors", "random", "cross-validated by pair", "cross-validated by topic")
MISSING = "missing links"
"""Both classes of missing links together."""


class Planted(Struct, frozen=True):
    """How one order did on one class of errors."""

    order: str
    kind: str
    errors: int
    """How many pairs of this class are planted errors."""
    precision: dict[int, float]
    """The share of planted errors in the first k."""
    recall: dict[int, float]
    """The share of the planted errors that are in the first k."""


def plant(
    texts: Sequence[Text], found: Pairs, *, rate: float, seed: int, file: str, at: Sequence[int] = (20, 50, 100, 200)
) -> list[Planted]:
    """Hide links of this share of linked mentions, make half as many wrong ones, audit, and compare."""
    true = numbered(clusters(texts))
    copy = damaged(found, true, rate=rate, seed=seed)
    corefer = linked(found, copy, file)
    first, second = found.candidates.first, found.candidates.second
    is_planted = (true[first] == true[second]) != corefer
    results = []
    for order, weights in _orders(found, corefer, seed).items():
        lists: dict[str, list[tuple[float, int]]] = {
            kind: [(float(-weights[row]), row) for row, _ in rows]
            for kind, rows in ranked(found, copy, weights).items()
        }
        missing: tuple[Class, ...] = ("missing-singleton-singleton", "missing-singleton-cluster")
        lists[MISSING] = sorted(entry for kind in missing for entry in lists[kind])
        for kind in (*CLASSES, MISSING):
            hits = np.array([is_planted[row] for _, row in lists[kind]], dtype=bool)
            errors = int(hits.sum())
            counts = {k: int(hits[:k].sum()) for k in at}
            results.append(
                Planted(
                    order,
                    kind,
                    errors,
                    {k: count / min(k, len(hits)) if len(hits) else 0.0 for k, count in counts.items()},
                    {k: count / errors if errors else 0.0 for k, count in counts.items()},
                )
            )
    return results


def damaged(found: Pairs, true: NDArray[np.int64], *, rate: float, seed: int) -> NDArray[np.int64]:
    """The clusters of mentions after links were hidden and wrong ones made."""
    random = Random(seed)
    copy = true.copy()
    sizes = np.bincount(true)
    in_clusters = [number for number, label in enumerate(true.tolist()) if sizes[label] > 1]
    hidden = random.sample(in_clusters, round(rate * len(in_clusters)))
    copy[hidden] = np.arange(len(sizes), len(sizes) + len(hidden))
    both = zip(found.candidates.first.tolist(), found.candidates.second.tolist(), strict=True)
    possible = [pair for pair in both if sum(sizes[true[end]] == 1 for end in pair) == 1]
    random.shuffle(possible)
    moved: set[int] = set()
    gone = set(hidden)
    for pair in possible:
        single, other = sorted(pair, key=lambda end: sizes[true[end]])
        if len(moved) < len(hidden) // 2 and single not in moved and other not in gone:
            copy[single] = copy[other]
            moved.add(single)
    return copy


def _orders(found: Pairs, corefer: NDArray[np.bool_], seed: int) -> dict[str, NDArray[np.float64]]:
    """How suspicious each pair is, in each order."""
    selection = library("sklearn.model_selection")
    by_pair = selection.KFold(min(FOLDS, len(corefer)), shuffle=True, random_state=seed).split(found.rows)
    topics = found.topics
    folds = min(FOLDS, len(set(topics)))
    by_topic = selection.GroupKFold(folds).split(found.rows, groups=topics) if folds > 1 else []
    signs = np.where(corefer, 1.0, -1.0)
    chosen = (
        anchor_weights(found.rows, corefer),
        np.random.default_rng(seed).random(len(corefer)),
        *(-signs * _held_out(found, corefer, split) for split in (by_pair, by_topic)),
    )
    return dict(zip(ORDERS, chosen, strict=True))


def _held_out(
    found: Pairs, corefer: NDArray[np.bool_], split: Iterable[tuple[NDArray[np.int64], NDArray[np.int64]]]
) -> NDArray[np.float64]:
    """The margin of each pair, by a classifier that was trained without it; 0 where that has nothing to learn from."""
    values = np.zeros(len(corefer))
    for train, test in split:
        if len(set(corefer[train].tolist())) > 1:
            values[test] = margins(found.rows[train], corefer[train], found.rows[test])
    return values
