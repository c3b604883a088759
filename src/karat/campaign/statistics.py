"""Resamples and tests that are kept: a late submission is compared with the others, which are not compared again."""

import hashlib
import pickle
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import msgspec
import numpy as np

from karat import __version__
from karat.campaign.store import Store
from karat.comparison.testing import Resampled
from karat.corpus import Executor
from karat.stats.resampling import ScoreName

S = TypeVar("S")
T = TypeVar("T")
R = TypeVar("R")

KIND = "statistics"

PER_COMPARISON = 40
LEAST = 1000


def resamples_for(systems: int) -> int:
    """Enough resamples for every test that may be made between so many systems, in steps.

    A late submission seldom needs another step, and so finds what is known of the others.
    """
    comparisons = max(2 * systems - 3, 1)  # the best with each, and each with the next
    steps = -(-PER_COMPARISON * comparisons // LEAST)
    return LEAST << max(steps - 1, 0).bit_length()


class KeptStatistics:
    """An executor that asks the store first."""

    def __init__(self, executor: Executor, store: Store) -> None:
        self._executor, self._store = executor, store
        self._known = store.keys(KIND)

    def width(self, size: int) -> int:
        """That of the executor."""
        return self._executor.width(size)

    def map(self, function: Callable[[S, T], R], shared: S, tasks: Iterable[T]) -> Iterator[R]:
        """The result of each task, in the order of the tasks."""
        keyed = [(_key(function, shared, task), task) for task in tasks]
        new = [(key, task) for key, task in keyed if key not in self._known]
        results = self._executor.map(function, shared, [task for _, task in new])
        self._store.put(KIND, [(key, _encoded(result)) for (key, _), result in zip(new, results, strict=True)])
        self._known.update(key for key, _ in new)
        for key, _ in keyed:
            content = self._store.get(key)
            assert content is not None, "it is known"
            yield _decoded(content)


def _key(function: Callable[..., Any], shared: Any, task: Any) -> str:
    """A hash of all that a result depends on. Nothing is ever read from a pickle."""
    return hashlib.sha256(pickle.dumps((__version__, function.__qualname__, shared, task))).hexdigest()


def _encoded(result: Any) -> bytes:
    if isinstance(result, Resampled):
        values = [(*name, column.tobytes()) for name, column in result.values.items()]
        left_out = [(*name, scores) for name, scores in result.left_out.items()]
        return msgspec.msgpack.encode(("resampled", values, left_out))
    p_values, made = result
    return msgspec.msgpack.encode(("swapped", [(*name, p) for name, p in p_values.items()], made))


def _decoded(content: bytes) -> Any:
    kind, first, second = msgspec.msgpack.decode(content)
    named: dict[ScoreName, Any] = {(id_, average, name): value for id_, average, name, value in first}
    if kind == "resampled":
        left_out = {(id_, average, name): scores for id_, average, name, scores in second}
        return Resampled({name: np.frombuffer(value) for name, value in named.items()}, left_out)
    return named, second
