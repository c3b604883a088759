"""How often intervals and tests are right: simulated systems whose true scores are known.

A document has 5 to 30 gold mentions. A system finds each with a probability that varies between documents, the same for
all systems of a document, and adds spurious mentions. The true F1 of the population is that of a million documents.
"""

import argparse
import time
from array import array
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from karat.counts import Interval, PrecisionRecall
from karat.plugin import Averages
from karat.result import Confidence, Score, UnitRows
from karat.run.jackknife import MOST_LEFT_OUT
from karat.run.units import MeasureColumns, ScoreFunction
from karat.stats import paired
from karat.stats.confidence import BOOTSTRAP, JACKKNIFE, ResampleTask, intervals, resampled
from karat.stats.resampling import bootstrap, flat, observed

Counts = NDArray[np.float64]

LEVEL = 0.95
QUALITY = 0.6
F1 = ("nugget.span", "micro", "f1")
FUNCTION = ScoreFunction([MeasureColumns("nugget.span", PrecisionRecall, Averages(), has_macro=False)], ())


class Rate(NamedTuple):
    """How often something happened."""

    what: str
    units: int
    share: float
    aim: str

    def __str__(self) -> str:
        return f"| {self.what} | {self.units} | {100 * self.share:.1f} % | {self.aim} |"


def simulated(units: int, quality: float, random: np.random.Generator, *, systems: int = 1) -> Counts:
    """Counts of systems on the same documents, one block of rows after another."""
    gold = random.integers(5, 31, units)
    difficulty = random.beta(8 * quality, 8 * (1 - quality), units)
    blocks = []
    for _ in range(systems):
        found = random.binomial(gold, difficulty)
        blocks.append(np.array([found, found + random.poisson(3, units), found, gold], dtype=np.float64).T)
    return np.concatenate(blocks)


def rows_of(counts: Counts) -> UnitRows:
    """Counts as the rows of a run."""
    return UnitRows([str(number) for number in range(len(counts))], [array("d", one) for one in counts.T], FUNCTION)


def one_unit(counts: Counts) -> UnitRows:
    """The counts as a single unit whose parts are left out in turn, in groups if there are many."""
    total = counts.sum(axis=0)
    groups = [counts[n::MOST_LEFT_OUT].sum(axis=0) for n in range(min(len(counts), MOST_LEFT_OUT))]
    left_out: dict[str, dict[str, Score]] = {str(n): FUNCTION((total - one).tolist()) for n, one in enumerate(groups)}
    return UnitRows(["corpus"], [array("d", [number]) for number in total], FUNCTION, left_out, "topic")


def _interval(rows: UnitRows, how: Confidence) -> Interval | None:
    return intervals([rows], resampled(None, ResampleTask([rows], how, [*rows.left_out])), how)[F1]


def coverage(units: int, repetitions: int, resamples: int) -> Iterator[Rate]:
    """How often the interval contains the true score."""
    random = np.random.default_rng([units, 1])
    truth = observed(rows_of(simulated(1_000_000, QUALITY, random)))[F1]
    assert truth is not None
    hits = {BOOTSTRAP: 0, JACKKNIFE: 0}
    for number in range(repetitions):
        counts = simulated(units, QUALITY, random)
        for method, rows in ((BOOTSTRAP, rows_of(counts)), (JACKKNIFE, one_unit(counts))):
            interval = _interval(rows, Confidence(LEVEL, method, "document", units, resamples, number))
            hits[method] += interval is not None and interval[0] <= truth <= interval[1]
    aim = "92 to 98 %" if units == 200 else ""
    for method, number in hits.items():
        yield Rate(f"95 % interval, {method}: contains the true F1", units, number / repetitions, aim)


def null(units: int, repetitions: int, resamples: int) -> Iterator[Rate]:
    """How often two systems that are equally good differ significantly at 5 %."""
    random = np.random.default_rng([units, 2])
    rejected = {"approximate randomisation": 0, "paired bootstrap": 0, "jackknife of the difference": 0}
    for number in range(repetitions):
        both = simulated(units, QUALITY, random, systems=2)
        counts = both[:units], both[units:]
        a, b = map(rows_of, counts)
        difference = paired.difference(observed(a)[F1], observed(b)[F1])
        swapped, _ = paired.approximate_randomisation(a, b, resamples=resamples, seed=number)
        of_a, of_b = (bootstrap(one, resamples=resamples, seed=number) for one in (a, b))
        centred = paired.paired_bootstrap(of_a, of_b, {F1: difference}, units=units)
        without = [[flat(scores)[F1] for scores in one_unit(one).left_out.values()] for one in counts]
        jackknifed = paired.jackknife(difference, [paired.difference(*pair) for pair in zip(*without, strict=True)])
        for name, p in zip(rejected, (swapped[F1], centred[F1], jackknifed), strict=True):
            rejected[name] += p is not None and p < 1 - LEVEL
    for name, number in rejected.items():
        yield Rate(f"{name}: equal systems differ at 5 %", units, number / repetitions, "3 to 7 %")


def main() -> None:
    """Print a table for the page on statistics."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=4000)
    parser.add_argument("--resamples", type=int, default=1000)
    options = parser.parse_args()
    start = time.perf_counter()
    print("| what | units | measured | aim |\n| --- | ---: | ---: | --- |", flush=True)
    for study in (coverage, null):
        for units in (20, 50, 200):
            for rate in study(units, options.repetitions, options.resamples):
                print(rate, flush=True)
    print(
        f"\n{options.repetitions:,} repetitions, {options.resamples:,} resamples: {time.perf_counter() - start:.0f} s"
    )


if __name__ == "__main__":
    main()
