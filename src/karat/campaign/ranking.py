"""Rankings: systems of one track under one protocol, primary and contrastive apart, overall and by source."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from karat.campaign.layouts import Condition, Track
from karat.campaign.statistics import resamples_for
from karat.comparison import Comparison, compare, sorting
from karat.corpus import Executor
from karat.counts import ScoreValues
from karat.results import Result, UnitRows, main_score
from karat.stats.confidence import changed

CONDITIONS: Sequence[Condition] = ("primary", "contrastive")


class Statistics(NamedTuple):
    """How intervals and tests are made."""

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
        """The protocol."""
        return self.comparison.first.protocol

    @property
    def measure(self) -> str:
        """The measure that systems are ranked by."""
        return self.comparison.sort_by

    def leaf(self, system: str) -> ScoreValues:
        """The scores of a system in this measure."""
        return self.comparison[system].scores[self.measure].micro

    def score_name(self) -> str:
        """Which of its scores counts."""
        return main_score([*self.leaf(self.comparison.systems[0].name).values])

    def best(self) -> float | None:
        """The highest score."""
        return self.leaf(self.comparison.systems[0].name).values[self.score_name()]


def rankings(
    track: Track,
    systems: Mapping[str, tuple[Condition, Result]],
    sources: Mapping[str, Sequence[str]],
    statistics: Statistics,
    executor: Executor,
    *,
    sort_by: str | None = None,
) -> Iterator[Ranking]:
    """The rankings of a track under one protocol; `sources` has the units of each source."""
    if not systems:
        return
    measure = sorting({name: [result] for name, (_, result) in systems.items()}, sort_by)
    for condition in CONDITIONS:
        results = {name: result for name, (own, result) in systems.items() if own == condition}
        for source, units in [(None, None), *sources.items()] if results else []:
            chosen = {name: [_restricted(result, measure, units)] for name, result in results.items()}
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
    """The result on some units, with rows of only those measures that are tested."""
    assert result.rows is not None, "results of a campaign have rows"
    rows = result.rows
    fields = {}
    if units is not None:
        rows = UnitRows(units, rows.over(units).columns, rows.finish)
        scores = rows.scores()
        fields = {"scores": scores, "unit_count": len(units)}
    tested = [id_ for id_ in dict.fromkeys([*result.headline_ids(), measure]) if id_ in result.scores]
    return changed(result, rows=rows.only(tested), **fields)
