"""Scores the same files with two versions of karat in turns, and prints how many times the time of BASE this one takes.

    python bench/compare.py BASE

BASE is a commit. Its source is checked out into a temporary folder and runs with the libraries of this environment.
Each family has one row: the median of the ratios of neighbouring runs, with the least and the greatest.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from measurement import FAMILIES, Family, Measurement, measured, written

ROOT = Path(__file__).parents[1]


def turns(family: Family, size: int, base: Path, rounds: int) -> tuple[list[float], list[float]]:
    """Return ratios of CPU time and of peak memory, this version over the base, in neighbouring processes."""
    times, peaks = [], []
    with tempfile.TemporaryDirectory() as folder:
        files = written(Path(folder), family, size)
        for _ in range(rounds):
            theirs, ours = (_measured(family, files, source) for source in (base, ROOT / "src"))
            times.append(min(ours.scored) / min(theirs.scored))
            peaks.append(ours.peak / theirs.peak)
    return times, peaks


def _measured(family: Family, files: tuple[str, str], source: Path) -> Measurement:
    result = measured(family, files, 3, bare=False, source=source)
    assert Path(result.source).is_relative_to(source), f"scored with {result.source}"
    return result


def main() -> None:
    """Print one row per family."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("base", help="the commit to compare with")
    parser.add_argument("--rounds", type=int, default=7, help="how often the two take turns (default: 7)")
    parser.add_argument("--family", metavar="NAME", help="measure only families whose names start with NAME")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder) / "base"
        _git("worktree", "add", "--detach", str(base), options.base)
        try:
            print(f"{'family':<32}{'size':<19}{'time':>6}{'least':>7}{'most':>7}{'peak':>7}", flush=True)
            for family in FAMILIES:
                if family.name.startswith(options.family or ""):
                    size = family.sizes[1]
                    what = f"{family.name:<32}{f'{size:,} {family.unit}s':<19}"
                    try:
                        times, peaks = turns(family, size, base / "src", options.rounds)
                    except subprocess.CalledProcessError:
                        print(f"{what} one of the two versions cannot score these files", flush=True)
                    else:
                        spread = f"{median(times):>6.3f}{min(times):>7.3f}{max(times):>7.3f}"
                        print(f"{what}{spread}{median(peaks):>7.3f}", flush=True)
        finally:
            _git("worktree", "remove", "--force", str(base))


def _git(*arguments: str) -> None:
    done = subprocess.run(["git", "-C", str(ROOT), *arguments], stderr=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(done.stderr)


if __name__ == "__main__":
    main()
