"""`make fuzz`: runs cases in worker processes and prints the problems. See the package's docstring."""

import argparse
import multiprocessing
import os
import shlex
import sys
import tempfile
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from fuzz.cases import case
from fuzz.checks import Problem
from fuzz.worker import Result, prepare, run

ROOT = Path(__file__).parents[2]
CHUNK = 20
"""Runs that a worker gets at once."""


def main() -> int:
    """Run, and print the first case of each problem; 1 if there is any."""
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--runs", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--show", type=int, metavar="RUN", help="write the files of one run to .fuzz/RUN")
    options = parser.parse_args()
    if options.show is not None:
        show(options.seed, options.show, ROOT / ".fuzz" / str(options.show))
        return 0
    results: list[Result] = []
    with (
        tempfile.TemporaryDirectory(prefix="karat-fuzz-") as folder,
        ProcessPoolExecutor(
            options.workers, multiprocessing.get_context("spawn"), initializer=prepare, initargs=(folder,)
        ) as pool,
    ):
        seeds = [options.seed] * options.runs
        try:
            results.extend(pool.map(run, seeds, range(options.runs), chunksize=CHUNK))
        except BrokenProcessPool:
            near = f"run {len(results)}, or one of the next {CHUNK * options.workers}"
            results.append(Result("", False, [(len(results), (), Problem("the process survives", near))]))
    print_summary(results)
    return 1 if any(result.problems for result in results) else 0


def show(seed: int, number: int, folder: Path) -> None:
    """Write the files of a case, and print its commands."""
    shown = case(seed, number)
    for name, data in shown.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    print(f"cd {folder}", *(f"karat {_printable(shlex.join(arguments))}" for arguments in shown.commands), sep="\n")


def print_summary(results: list[Result]) -> None:
    """Print how much was run, and the first case of each problem."""
    accepted = Counter(result.kind for result in results if result.is_accepted)
    print(f"{len(results):,} inputs, {accepted.total():,} accepted")
    for kind, count in sorted(Counter(result.kind for result in results).items()):
        print(f"  {kind:14}{count:>9,} inputs {accepted[kind]:>9,} accepted")
    problems = [problem for result in results for problem in result.problems]
    kinds = Counter(problem[:2] for _, _, problem in problems)
    for number, arguments, problem in problems:
        if times := kinds.pop(problem[:2], 0):
            print(f"\nrun {number} (and {times - 1:,} like it): {problem.property}: {_printable(problem.what)}")
            print(f"  karat {_printable(shlex.join(arguments))}")
            print("  " + _printable(problem.detail[-1500:]).replace("\n", "\n  "))
    print(f"\n{len(problems):,} problems" if problems else "no problems found")


def _printable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


if __name__ == "__main__":
    sys.exit(main())
