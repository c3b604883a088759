"""Measures what has a limit beside the table of `run.py`: start-up, protocols at once, refusals, resampling.

They are ratios within one run: noise of the machine affects both sides of a ratio alike. Each area is a function that
yields rows; `AREAS` lists them. A row says what was measured and where its limit lies. The exit code is always 0: this
is a measurement, not a test.
"""

import argparse
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from corpus import write_bad_conll, write_topics
from measurement import megabytes, read_bare

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
HEAVY = ("numpy", "scipy", "lxml", "msgspec")
REFUSED = """
import resource, sys, karat, karat.api.scoring, karat.problems
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    karat.score(sys.argv[1], sys.argv[1])
except karat.problems.KaratError:
    print(before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


class Row(NamedTuple):
    """One line of the table; without a limit, it is only shown."""

    what: str
    value: float
    remark: str
    limit: float | None = None

    def __str__(self) -> str:
        limit = "-" if self.limit is None else f"{self.limit:g}"
        verdict = "" if self.limit is None else "ok" if self.value <= self.limit else "OVER"
        return f"{self.what:<44}{self.value:>9.2f}{limit:>7}  {verdict:<6}{self.remark}".rstrip()


class Times(NamedTuple):
    """Seconds of two tasks that were run in turn."""

    ours: list[float]
    bare: list[float]

    @property
    def ratio(self) -> float:
        """The median of the ratios of neighbouring runs."""
        return median(one / other for one, other in zip(self.ours, self.bare, strict=True))

    def __str__(self) -> str:
        return f"at best {min(self.ours):.3f} s against {min(self.bare):.3f} s"


def taking_turns(ours: Callable[[], object], bare: Callable[[], object], *, rounds: int) -> Times:
    """Time two tasks one after the other, several times."""
    times = Times([], [])
    for _ in range(rounds):
        for work, seconds in ((bare, times.bare), (ours, times.ours)):
            start = time.perf_counter()
            work()
            seconds.append(time.perf_counter() - start)
    return times


def start_up(scale: int) -> Iterator[Row]:
    """`karat --help` against an interpreter that does nothing."""
    del scale
    karat = str(Path(sys.executable).with_name("karat"))
    times = taking_turns(lambda: _run(karat, "--help"), lambda: _run(sys.executable, "-c", "pass"), rounds=15)
    yield Row("karat --help / python -c pass", times.ratio, str(times), 10)
    code = "import sys, karat.cli; karat.cli.cli(['--help'], standalone_mode=False); print('\\n', *sys.modules)"
    modules = _run(sys.executable, "-c", code).splitlines()[-1].split()
    heavy = [name for name in HEAVY if name in modules]
    yield Row("heavy modules that --help imports", len(heavy), ", ".join(heavy), 0)


def protocols(scale: int) -> Iterator[Row]:
    """All cross-document protocols at once against one of them: what they share is done once."""
    import karat

    def compared(what: str, files: Sequence[Path], rounds: int) -> Row:
        gold, system = map(str, files)
        every, one = (partial(karat.score, gold, system, protocol=names) for names in (CROSS_DOCUMENT, "simple-cdec"))
        one()
        times = taking_turns(every, one, rounds=rounds)
        return Row(f"{len(CROSS_DOCUMENT)} protocols / simple-cdec: {what}", times.ratio, str(times), 2)

    with tempfile.TemporaryDirectory() as folder:
        yield compared("topics", write_topics(Path(folder), 1_000 // scale), 5)
    ecb = SHARED / "data" / "ecbplus"
    if ecb.is_dir():
        yield compared("ECB+", (ecb, ecb), 1 if scale > 1 else 3)


def refusal(scale: int) -> Iterator[Row]:
    """One bad line at the end of a CoNLL file of 40 MB."""
    with tempfile.TemporaryDirectory() as folder:
        path = write_bad_conll(Path(folder), 40 // scale)
        before, after = map(int, _run(sys.executable, "-c", REFUSED, str(path)).split())
        peak = f"peak {megabytes(after):.1f} MB"
        yield Row(f"conll: memory to refuse {40 // scale} MB, MB", megabytes(after - before), peak, 10)
        refused = partial(_run, sys.executable, "-c", REFUSED, str(path))
        times = taking_turns(refused, partial(read_bare, "split", path, path), rounds=1)
        yield Row("conll: score and refuse / split the lines", times.ratio, str(times))


def statistics(scale: int) -> Iterator[Row]:
    """The scores of 1,000 resamples of 5,000 documents against a bare gather and sum of the same matrix."""
    import numpy as np

    from calibrate import rows_of, simulated
    from karat.stats.resampling import bootstrap

    units, resamples = 5_000 // scale, 1_000 // scale
    random = np.random.default_rng(0)
    counts = simulated(units, 0.7, random)
    rows = rows_of(counts)
    drawn = random.integers(0, units, size=(resamples, units))
    bare = partial(_gather, counts, drawn)
    times = taking_turns(lambda: bootstrap(rows, resamples=resamples, seed=0), bare, rounds=7)
    yield Row(f"bootstrap: {resamples:,} x {units:,} / gather and sum", times.ratio, str(times), 3)


def _gather(counts: "NDArray[np.float64]", drawn: "NDArray[np.int64]") -> None:
    """The minimum in numpy: take the rows that were drawn, and sum them."""
    for units in drawn:
        counts[units].sum(axis=0)


def _run(*command: str) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


AREAS: list[Callable[[int], Iterator[Row]]] = [start_up, protocols, refusal, statistics]


def main() -> None:
    """Print the table row by row. Each area runs in its own process, since peaks are per process."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="use a tenth of the sizes")
    parser.add_argument("--area", choices=[area.__name__ for area in AREAS], help="measure only this area")
    options = parser.parse_args()
    if options.area is not None:
        for area in AREAS:
            for row in area(10 if options.quick else 1) if area.__name__ == options.area else ():
                print(row, flush=True)
        return
    print(f"Python {platform.python_version()}, {platform.system()} {platform.machine()}")
    print(f"\n{'what':<44}{'measured':>9}{'limit':>7}", flush=True)
    for area in AREAS:
        subprocess.run([sys.executable, __file__, "--area", area.__name__, *["--quick"] * options.quick], check=True)


if __name__ == "__main__":
    main()
