"""Measures speed and memory as ratios within one run: noise of the machine affects both sides of a ratio alike.

Each area is a function that yields rows; `AREAS` lists them. A row says what was measured and where its limit lies. The
exit code is always 0: this is a measurement, not a test.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from ace_corpus import write_apf
from corpus import write_bad_conll, write_coref, write_hierarchies, write_tbf, write_topics

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
ALONE = """
import resource, sys, karat, karat.api
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
karat.score(sys.argv[1], sys.argv[2], protocol=sys.argv[3])
print(before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""

REFUSED = """
import resource, sys, karat, karat.api, karat.errors
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    karat.score(sys.argv[1], sys.argv[1])
except karat.errors.KaratError:
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


def nuggets(scale: int) -> Iterator[Row]:
    """Event nuggets in TBF under tac-2017."""
    few, many = 2_000 // scale, 20_000 // scale
    with tempfile.TemporaryDirectory() as folder:
        *small, mentions = write_tbf(Path(folder), few)
        *large, _ = write_tbf(Path(folder), many)
        # First, while this process is small: a child process inherits the peak of its parent.
        yield from _memory("nuggets", small, few, large, many, "tac-2017")

        import karat

        def scored(files: list[Path], *measures: str) -> Callable[[], object]:
            gold, system = map(str, files)
            return lambda: karat.score(gold, system, protocol="tac-2017", measures=measures)

        _split_lines(small)
        times = taking_turns(scored(small, "nugget"), lambda: _split_lines(small), rounds=9)
        yield Row("nuggets: read and score / split the lines", times.ratio, f"{times}; the aim is 15", 25)
        times = taking_turns(scored(small), lambda: _split_lines(small), rounds=9)
        yield Row("nuggets: with coreference and sequences", times.ratio, str(times), 25)
        growth = taking_turns(scored(large), scored(small), rounds=3)
        yield Row("nuggets: time for 10 times the documents", growth.ratio, str(growth), 11)
        yield Row("nuggets: gold mentions scored in 1 ms", mentions / min(times.ours) / 1000, f"{mentions:,} in all")


def coreference(scale: int) -> Iterator[Row]:
    """All coreference measures on one unit, with a lemma baseline that joins the clusters into one component."""
    few, many = (8_951, 6_095, 1_733), (98_461, 43_337, 16_809)
    with tempfile.TemporaryDirectory() as folder:
        sizes = [tuple(number // scale for number in size) for size in (few, many)]
        # In another process, so that this one stays small: a child process inherits the peak of its parent.
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as elsewhere:
            small, large = ([*elsewhere.submit(write_coref, Path(folder), *size).result()] for size in sizes)
        yield from _memory("coreference", small, sizes[0][0], large, sizes[1][0], "simple-cdec", noun="mention")

        import karat

        for files, (mentions, _, _), rounds in ((small, sizes[0], 9), (large, sizes[1], 3)):
            gold, system = map(str, files)

            scored = partial(karat.score, gold, system, protocol="simple-cdec")
            scored()
            times = taking_turns(scored, partial(_load_lines, files), rounds=rounds)
            yield Row(f"coreference: {mentions:,} mentions / json.loads", times.ratio, str(times), 15)


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


def hierarchies(scale: int) -> Iterator[Row]:
    """Event hierarchies: 50 events and 40 links per document."""
    with tempfile.TemporaryDirectory() as folder:
        files = [*write_hierarchies(Path(folder), 2_000 // scale)]

        import karat

        gold, system = map(str, files)
        scored = partial(karat.score, gold, system, protocol="araki-2014")
        scored()
        times = taking_turns(scored, partial(_split_lines, files), rounds=5)
        yield Row("hierarchies: read and score / split the lines", times.ratio, str(times), 20)


def refusal(scale: int) -> Iterator[Row]:
    """One bad line at the end of a CoNLL file of 40 MB."""
    with tempfile.TemporaryDirectory() as folder:
        path = write_bad_conll(Path(folder), 40 // scale)
        before, after = map(int, _run(sys.executable, "-c", REFUSED, str(path)).split())
        peak = f"peak {_megabytes(after):.1f} MB"
        yield Row(f"conll: memory to refuse {40 // scale} MB, MB", _megabytes(after - before), peak, 10)
        refused = partial(_run, sys.executable, "-c", REFUSED, str(path))
        times = taking_turns(refused, partial(_split_lines, [path, path]), rounds=1)
        yield Row("conll: score and refuse / split the lines", times.ratio, str(times))


def _load_lines(files: list[Path]) -> None:
    """The minimum for JSON: read the lines and decode them."""
    for path in files:
        with open(path, encoding="utf-8") as stream:
            for line in stream:
                json.loads(line)


def values(scale: int) -> Iterator[Row]:
    """ACE: all eight tasks on a corpus of the size of the ACE 2005 test set, in APF under ace-2005."""
    few, many = 155 // scale, 1_550 // scale
    with tempfile.TemporaryDirectory() as folder:
        *small, _ = write_apf(Path(folder), few)
        *large, mentions = write_apf(Path(folder), many)
        yield from _memory("ace", small, few, large, many, "ace-2005")

        import karat

        def scored(files: list[Path]) -> Callable[[], object]:
            gold, system = map(str, files)
            return lambda: karat.score(gold, system, protocol="ace-2005")

        times = taking_turns(scored(small), lambda: _parse(small), rounds=7)
        yield Row("ace: read and score eight tasks / lxml", times.ratio, f"{times}; the aim is 8", 15)
        growth = taking_turns(scored(large), scored(small), rounds=3)
        yield Row("ace: time for 10 times the documents", growth.ratio, str(growth), 11)
        size = f"{mentions:,} entity mentions in {many:,} documents"
        yield Row("ace: gold entity mentions scored in 1 ms", mentions / min(growth.ours) / 1000, size)


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


def _parse(folders: list[Path]) -> None:
    """The minimum for XML: lxml parses every file."""
    from lxml import etree

    for folder in folders:
        for path in folder.glob("*.apf.xml"):
            etree.parse(str(path))


def _split_lines(files: list[Path]) -> None:
    """The minimum in Python: read the lines and split them into columns."""
    for path in files:
        with open(path, encoding="utf-8") as stream:
            for line in stream:
                line.split("\t")


def _memory(
    area: str, small: list[Path], few: int, large: list[Path], many: int, protocol: str, *, noun: str = "document"
) -> Iterator[Row]:
    """How much the peak of the resident set grows while a process scores, for few and for many documents."""
    grown = []
    for files, documents in ((small, few), (large, many)):
        before, after = map(int, _run(sys.executable, "-c", ALONE, *map(str, files), protocol).split())
        grown.append(_megabytes(after - before))
        yield Row(f"{area}: memory for {documents:,} {noun}s, MB", grown[-1], f"peak {_megabytes(after):.1f} MB")
    each = f"{(grown[1] - grown[0]) * 1e6 / (many - few):,.0f} bytes per additional {noun}"
    yield Row(f"{area}: memory for {many / few:.0f} times the {noun}s", grown[1] / grown[0], each)


def _megabytes(peak: int) -> float:
    """A peak as `getrusage` reports it, in kilobytes (on macOS, in bytes)."""
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6


def _run(*command: str) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


AREAS: list[Callable[[int], Iterator[Row]]] = [
    start_up,
    nuggets,
    coreference,
    protocols,
    hierarchies,
    refusal,
    values,
    statistics,
]


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
