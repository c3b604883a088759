"""The anchored SVM (Goldberg and Elhadad 2007): how much each example has to be memorised.

With an anchor feature of its own, which is 1 for one example and 0 for all others, every example can be classified
with a margin of 1. With a penalty C that is high enough, the SVM does so, and minimises

    1/2 |w|^2 + 1/2 sum a_i^2    subject to    y_i (w x_i + a_i) >= 1    for all i.

The best anchor is as large as it has to be, a_i = y_i max(0, 1 - y_i w x_i), which leaves

    1/2 |w|^2 + 1/2 sum max(0, 1 - y_i w x_i)^2:

an SVM with squared hinge loss and C = 1/2, without a column for each example.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from karat.baselines.similarity import library

PENALTY = 0.5


def anchor_weights(rows: Any, is_positive: NDArray[np.bool_]) -> NDArray[np.float64]:
    """The size of each example's anchor weight: 0 for one that the others explain."""
    weights: NDArray[np.float64] = np.maximum(0.0, 1 - margins(rows, is_positive, rows) * _signs(is_positive))
    return weights


def margins(rows: Any, is_positive: NDArray[np.bool_], others: Any) -> NDArray[np.float64]:
    """Train on some examples; w x of others."""
    model = library("sklearn.svm").LinearSVC(C=PENALTY, fit_intercept=False, max_iter=10_000, random_state=0)
    found: NDArray[np.float64] = model.fit(rows, is_positive).decision_function(others)
    return found


def _signs(is_positive: NDArray[np.bool_]) -> NDArray[np.float64]:
    return np.where(is_positive, 1.0, -1.0)
