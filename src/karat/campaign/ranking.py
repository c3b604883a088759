"""Rankings: systems of one track under one protocol, primary and contrastive apart, overall and by source.

Resamples and tests are kept: a late submission is compared with the others, which are not compared again.
"""

import hashlib
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import msgspec
import numpy as np
from msgspec.structs import replace

from karat import __version__
from karat.campaign.store import Store
from karat.campaign.submissions import Condition, Track
from karat.comparison.comparing import compare, sorting
from karat.comparison.comparison import Comparison
from karat.corpus.interface import Executor
from karat.counts import ScoreValues
from karat.result import Result, UnitRows
from karat.stats.confidence import Resampled
from karat.stats.resampling import ScoreName

S = TypeVar("S")
T = TypeVar("T")
R = TypeVar("R")

CONDITIONS: Sequence[Condition] = ("primary", "contrastive")
KIND = "statistics"
PER_COMPARISON = 40
LEAST = 1000


class Statistics(NamedTuple):
    """Settings of intervals and tests."""

    level: float = 0.95
    resamples: int | None = None
    seed: int = 0


class Ranking(NamedTuple):
    """The systems of one condition, best first; each is tested against the best and against the next."""

    track: Track
    condition: Condition
    source: str | None
    """None: all documents."""
    comparison: Comparison

    @property
    def protocol(self) -> str:
        return self.comparison.first.protocol

    @property
    def measure(self) -> str:
        """Return the measure that systems are ranked by."""
        return self.comparison.sort_by

    def to_dict(self) -> dict[str, str | None]:
        """Return the track, the condition and the source as in the JSON."""
        return {**self.track.to_dict(), "condition": self.condition, "source": self.source}

    def leaf(self, system: str) -> ScoreValues:
        """Return the scores of a system in this measure."""
        return self.comparison[system].scores[self.measure].micro

    def score_name(self) -> str:
        """Return the name of the score that counts."""
        return self.leaf(self.comparison.systems[0].name).main_name

    def best(self) -> float | None:
        """Return the highest score."""
        return self.leaf(self.comparison.systems[0].name).main_value


def rankings(
    track: Track,
    systems: Mapping[str, tuple[Condition, Result]],
    sources: Mapping[str, Sequence[str]],
    statistics: Statistics,
    executor: Executor,
    *,
    sort_by: str | None = None,
) -> Iterator[Ranking]:
    """Yield the rankings of a track under one protocol; `sources` has the units of each source."""
    if not systems:
        return
    measure = sorting({name: [result] for name, (_, result) in systems.items()}, sort_by)
    for condition in CONDITIONS:
        results = {name: result for name, (other, result) in systems.items() if other == condition}
        for source, units in [(None, None), *sources.items()] if results else []:
            chosen = {name: [_restricted(result, measure, units)] for name, result in results.items()}
            if not any(_is_scored(result, measure) for (result,) in chosen.values()):
                continue
            comparison = compare(
                chosen,
                executor,
                baseline=None,
                sort_by=measure,
                level=statistics.level,
                resamples=statistics.resamples or resamples_for(len(results)),
                seed=statistics.seed,
                shared_ranks=False,  # with many systems, a chain of small differences would make all of them first
            )
            yield Ranking(track, condition, source, comparison)


def _restricted(result: Result, measure: str, units: Sequence[str] | None) -> Result:
    """Restrict a result to some units, and its rows to measures that are tested."""
    assert result.rows is not None, "results of a campaign have rows"
    rows = result.rows
    fields = {}
    if units is not None:
        rows = UnitRows(units, rows.over(units).columns, rows.finish)
        fields = {"scores": rows.scores(), "unit_count": len(units)}
    tested = [id_ for id_ in dict.fromkeys([*result.headline_ids(), measure]) if id_ in result.scores]
    return replace(result, rows=rows.only(tested), **fields)


def _is_scored(result: Result, measure: str) -> bool:
    """Return whether gold has anything to rank by: then recall is defined, even if a system is empty."""
    scores = result.scores[measure].micro
    return result.gold.mentions > 0 and scores.values.get("recall", scores.main_value) is not None


def resamples_for(systems: int) -> int:
    """Return a number of resamples that suffices for every test between that number of systems, in steps.

    A late submission seldom needs another step, and so finds what is known of the others.
    """
    comparisons = max(2 * systems - 3, 1)  # the best with each, and each with the next
    steps = -(-PER_COMPARISON * comparisons // LEAST)
    return LEAST << max(steps - 1, 0).bit_length()


class CachedStatistics:
    """An executor that looks for results in the store first."""

    def __init__(self, executor: Executor, store: Store) -> None:
        self._executor, self._store = executor, store
        self._known = store.keys(KIND)

    def width(self, size: int) -> int:
        return self._executor.width(size)

    def map(self, function: Callable[[S, T], R], shared: S, tasks: Iterable[T]) -> Iterator[R]:
        """Yield the result of each task, in the order of the tasks."""
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
    """Hash all that a result depends on. Nothing is ever read from a pickle."""
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
