"""Prints two tables: families of scores at three sizes, with CPU time, peak memory and growth; and commands and calls.

The ratio is to a bare read of the same bytes: splitting lines at tabs (TBF), `json.loads` of lines (JSON Lines), or
parsing with lxml (APF). Scoring and the bare read take turns in one process, after one run to warm up, and the ratio is
the median over neighbouring runs: noise of the machine affects both sides alike. Growth is the exponent from the
smallest size to the largest. The exit code is always 0: this is a measurement, not a test.
"""

import argparse
import os
import platform
import tempfile
from collections.abc import Iterator, Sequence
from math import log
from pathlib import Path
from statistics import median

from measurement import FAMILIES, Family, measured, written
from small import SMALL, table_row

HEAD = ("family", "size", "time, s", "peak, MB", "bare read, s", "ratio", "aim", "growth")


def rows(family: Family, sizes: Sequence[int], rounds: int) -> Iterator[tuple[str, ...]]:
    """Yield one row for each size."""
    first = 0.0
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            result = measured(family, written(Path(folder), family, size), rounds)
        ratio = median(ours / bare for ours, bare in zip(result.scored, result.read, strict=True))
        time = median(result.scored)
        first = first or time
        # Bare reads are compared at the middle size: in small files the start of a run shows, in large ones memory.
        aim = f"{family.aim:g}" if size == sizes[1] and family.aim is not None else ""
        growth = f"{log(time / first) / log(size / sizes[0]):.2f}" if size == sizes[2] else ""
        yield (
            f"{family.name} ({family.options['protocol']})",
            f"{size:,} {family.unit}s",
            f"{time:.2f}",
            f"{result.peak:.0f}",
            f"{median(result.read):.3f}",
            f"{ratio:.1f}",
            aim,
            growth,
        )


def machine() -> str:
    """Describe what the figures depend on."""
    model = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next(line.partition(": ")[2] for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return f"Python {platform.python_version()}, {platform.system()}, {os.cpu_count()} cores ({model})"


def main() -> None:
    """Print the table row by row, as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="use a tenth of the sizes")
    parser.add_argument("--million", action="store_true", help="up to one million mentions, where a family has these")
    parser.add_argument("--rounds", type=int, default=5, help="how often each size is scored (default: 5)")
    parser.add_argument("--family", metavar="NAME", help="measure only rows whose names start with NAME")
    options = parser.parse_args()
    chosen = [family for family in FAMILIES if family.name.startswith(options.family or "")]
    print(f"{machine()}; CPU time, median of {options.rounds}\n")
    widths = (42, 19, 9, 9, 13, 7, 5, 7)
    cells = [f"{name:<{width}}" for name, width in zip(HEAD, widths, strict=True)]
    print(f"| {' | '.join(cells)} |")
    print("".join(f"|{'-' * (width + 1)}{':' if place > 1 else '-'}" for place, width in enumerate(widths)) + "|")
    for family in chosen:
        sizes = family.million if options.million else family.sizes
        for row in rows(family, [size // (10 if options.quick else 1) for size in sizes or ()], options.rounds):
            aligned = [
                f"{cell:<{width}}" if place < 2 else f"{cell:>{width}}"
                for place, (cell, width) in enumerate(zip(row, widths, strict=True))
            ]
            print(f"| {' | '.join(aligned)} |", flush=True)
    print(f"\n| {'command or call':<28} |  time, ms |     least |\n|{'-' * 30}|----------:|----------:|")
    for small in SMALL:
        if small.name.startswith(options.family or ""):
            with tempfile.TemporaryDirectory() as folder:
                print(table_row(small, Path(folder), options.rounds), flush=True)


if __name__ == "__main__":
    main()
