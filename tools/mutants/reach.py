"""Which tests reach which line, and how long each takes: recorded once by running the tests under coverage."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable
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

    def __init__(self, state: Path, files: Iterable[Path]) -> None:
        if not (state / "recorded").exists():
            _record(state, files)
        seconds: dict[str, float | None] = json.loads((state / "tests.json").read_bytes())
        self.seconds = {test: one for test, one in seconds.items() if one is not None}
        self._data = coverage.CoverageData(str(state / "reach"))
        self._data.read()

    def tests(self, mutant: Mutant, *, budget: float) -> list[str]:
        """The tests that reach a mutant, file by file, cheap ones first, as many as the budget of seconds allows."""
        lines = self._data.contexts_by_lineno(str(PACKAGE / mutant.file))
        every = {context for listed in lines.values() for context in listed}
        contexts = set(lines.get(mutant.line, ())) or every
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
        return [test for file in sorted(files, key=lambda file: (cost[file], file)) for test in files[file]]


def _record(state: Path, files: Iterable[Path]) -> None:
    sources = os.pathsep.join(map(str, files))
    done = subprocess.run([*PYTEST, "tests"], cwd=ROOT, env=environment(state, MUTANTS_SOURCES=sources), check=False)
    if done.returncode not in (0, 1, 5):  # passed, failed, nothing left to do
        raise SystemExit(f"the tests do not run: pytest ended with {done.returncode}")
    (state / "recorded").touch()
