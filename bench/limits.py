"""Measures what has a limit beside the tables of `run.py`: several protocols at once, and resampling.

They are ratios within one run: noise of the machine affects both sides of a ratio alike. A row says what was measured
and where its limit lies. The exit code is always 0: this is a measurement, not a test.
"""

import argparse
import os
import platform
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from corpus import write_topics

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SHARED = Path(os.environ.get("KARAT_SHARED", Path(__file__).parents[2] / "shared"))
"""Corpora that are not part of the repository; rows that need one are left out where it is missing."""
CROSS_DOCUMENT = [
    "simple-cdec",
    "pure-cdec",
    "yang-2015",
    "bejan-harabagiu-2014",
    "upadhyay-2016-st",
    "upadhyay-2016-is",
]


class Row(NamedTuple):
    """One line of the table: the seconds of two tasks that were run in turn."""

    what: str
    ours: Sequence[float]
    bare: Sequence[float]
    limit: float
    """Limit of the median of the ratios of neighbouring runs."""

    def __str__(self) -> str:
        ratio = median(ours / bare for ours, bare in zip(self.ours, self.bare, strict=True))
        verdict = "ok" if ratio <= self.limit else "OVER"
        best = f"at best {min(self.ours):.3f} s against {min(self.bare):.3f} s"
        return f"{self.what:<44}{ratio:>9.2f}{self.limit:>7g}  {verdict:<6}{best}"


def row(what: str, ours: Callable[[], object], bare: Callable[[], object], limit: float, *, rounds: int) -> Row:
    """Time two tasks one after the other, several times."""
    seconds = [[_seconds(task) for task in (bare, ours)] for _ in range(rounds)]
    of_bare, of_ours = zip(*seconds, strict=True)
    return Row(what, of_ours, of_bare, limit)


def _seconds(task: Callable[[], object]) -> float:
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def protocols(scale: int) -> Iterator[Row]:
    """All cross-document protocols at once against one of them: what they share is done once."""
    import karat

    def compared(what: str, files: Sequence[Path], rounds: int) -> Row:
        gold, system = map(str, files)
        every, one = (partial(karat.score, gold, system, protocol=names) for names in (CROSS_DOCUMENT, "simple-cdec"))
        one()
        return row(f"{len(CROSS_DOCUMENT)} protocols / simple-cdec: {what}", every, one, 2, rounds=rounds)

    with tempfile.TemporaryDirectory() as folder:
        yield compared("topics", write_topics(Path(folder), 1_000 // scale), 5)
    ecb = SHARED / "data" / "ecbplus"
    if ecb.is_dir():
        yield compared("ECB+", (ecb, ecb), 1 if scale > 1 else 3)


def statistics(scale: int) -> Iterator[Row]:
    """The scores of 1,000 resamples of 5,000 documents against a bare gather and sum of the same matrix."""
    import numpy as np

    from calibrate import rows_of, simulated
    from karat.stats.resampling import bootstrap

    units, resamples = 5_000 // scale, 1_000 // scale
    random = np.random.default_rng(0)
    counts = simulated(units, 0.7, random)
    drawn = random.integers(0, units, size=(resamples, units))
    ours = partial(bootstrap, rows_of(counts), resamples=resamples, seed=0)
    what = f"bootstrap: {resamples:,} x {units:,} / gather and sum"
    yield row(what, ours, partial(_gather, counts, drawn), 3, rounds=7)


def _gather(counts: "NDArray[np.float64]", drawn: "NDArray[np.int64]") -> None:
    """The minimum in numpy: take the rows that were drawn, and sum them."""
    for units in drawn:
        counts[units].sum(axis=0)


def main() -> None:
    """Print the table row by row."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="use a tenth of the sizes")
    scale = 10 if parser.parse_args().quick else 1
    print(f"Python {platform.python_version()}, {platform.system()} {platform.machine()}")
    print(f"\n{'what':<44}{'measured':>9}{'limit':>7}", flush=True)
    for measured in chain(protocols(scale), statistics(scale)):
        print(measured, flush=True)


if __name__ == "__main__":
    main()
