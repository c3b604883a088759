"""Which tests reach which line, and how long each takes: recorded once by running the tests under coverage."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import coverage

from mutants.edits import Mutant

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "karat"
PYTEST = [sys.executable, "-m", "pytest", "-p", "mutants.worker", "-p", "no:cacheprovider", "-p", "no:xdist", "-q"]


def environment(state: Path, *, sources: Path = ROOT / "src", **more: str) -> dict[str, str]:
    """For a process with the plug-in; `sources` is the folder from which it imports karat."""
    return {
        **os.environ,
        **more,
        "PYTHONPATH": os.pathsep.join([str(sources), str(ROOT / "tools"), str(ROOT / "tools" / "docs")]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
        "OPENBLAS_NUM_THREADS": "1",
        "MUTANTS_STATE": str(state),
    }


class Reach:
    """Read from the folder of a run; recorded first if it is not there."""

    def __init__(self, state: Path, files: Iterable[Path], *, tests: Sequence[str], processes: int) -> None:
        if not (state / "recorded").exists():
            _record(state, files, tests, processes)
        self.seconds = {test: one for test, one in recorded(state).items() if one is not None}
        self._parts = [coverage.CoverageData(str(path)) for path in sorted(state.glob("reach.*"))]
        for part in self._parts:
            part.read()

    def tests(self, mutant: Mutant, *, budget: float, first: str | None = None) -> list[str]:
        """The tests that reach a mutant, file by file, cheap ones first, as many as the budget of seconds allows."""
        lines: dict[int, set[str]] = {}
        for part in self._parts:
            for line, listed in part.contexts_by_lineno(str(PACKAGE / mutant.file)).items():
                lines.setdefault(line, set()).update(listed)
        contexts = lines.get(mutant.line) or {context for listed in lines.values() for context in listed}
        chosen = [test for test in self.seconds if contexts.intersection((test, test.partition("::")[0]))]
        if not mutant.function or not chosen:
            chosen = list(self.seconds)  # what is declared at import is used by whoever asks for it
        files: dict[str, list[str]] = {}
        spent = 0.0
        for test in sorted(chosen, key=lambda test: (self.seconds[test], test)):
            spent += self.seconds[test] + 0.01
            if spent > budget:
                break
            files.setdefault(test.partition("::")[0], []).append(test)
        cost = {file: sum(self.seconds[test] for test in tests) / len(tests) for file, tests in files.items()}
        in_order = [test for file in sorted(files, key=lambda file: (cost[file], file)) for test in files[file]]
        return [*([first] if first in self.seconds else []), *(test for test in in_order if test != first)]


def recorded(state: Path) -> dict[str, float | None]:
    """The CPU seconds of each test that was recorded; None if it did not pass."""
    seconds: dict[str, float | None] = {}
    for path in sorted(state.glob("tests.*.json")):
        seconds |= json.loads(path.read_bytes())
    return seconds


def _record(state: Path, files: Iterable[Path], tests: Sequence[str], processes: int) -> None:
    sources = os.pathsep.join(map(str, files))
    running = [
        subprocess.Popen(
            [*PYTEST, *tests],
            cwd=ROOT,
            env=environment(state, MUTANTS_SOURCES=sources, MUTANTS_PART=f"{number}/{processes}"),
        )
        for number in range(processes)
    ]
    for process in running:
        if process.wait() not in (0, 1, 5):  # passed, failed, nothing left to do
            raise SystemExit(f"the tests do not run: pytest ended with {process.returncode}")
    (state / "recorded").touch()
