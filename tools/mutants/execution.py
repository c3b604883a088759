"""Tries mutants: those of functions in children of one process, those of what runs at import each in its own."""

import json
import shutil
import subprocess
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from mutants.edits import Mutant
from mutants.reach import PACKAGE, PYTEST, ROOT, Reach, environment

LIMIT = 2
"""A mutant may take this many times as long as the tests take without it, and 10 seconds more."""


class Result(NamedTuple):
    """What became of a mutant: `killed`, `survived` or `not tried`, and the test that failed."""

    result: str
    by: str


class Execution:
    """Tries mutants with the tests that reach them, within a budget of seconds per mutant."""

    def __init__(self, state: Path, reach: Reach, *, budget: float) -> None:
        self._state = state
        self._reach = reach
        self._budget = budget

    def results(self, mutants: Iterable[Mutant]) -> Iterator[tuple[Mutant, Result]]:
        """Each mutant's result as it comes."""
        mutants = list(mutants)
        alone = [mutant for mutant in mutants if not mutant.function]
        together = [mutant for mutant in mutants if mutant.function]
        for mutant, result in self._together(together) if together else ():
            if result.result == "not tried":  # what happens at import replaced the function by something else
                alone.append(mutant)
            else:
                yield mutant, result
        for mutant in alone:
            yield mutant, self._alone(mutant)

    def _together(self, mutants: list[Mutant]) -> Iterator[tuple[Mutant, Result]]:
        jobs = [self._job(mutant) for mutant in mutants]
        files = sorted({test.partition("::")[0] for job in jobs for test in _tests(job)})
        named = {mutant.name: mutant for mutant in mutants}
        for name, result in self._run(jobs, files, ROOT / "src"):
            yield named[name], result

    def _alone(self, mutant: Mutant) -> Result:
        sources = self._state / "sources"
        shutil.copytree(PACKAGE, sources / "karat", dirs_exist_ok=True)
        (sources / "karat" / mutant.file).write_text(mutant.source, encoding="utf-8")
        for stale in (sources / "karat" / mutant.file).parent.glob("__pycache__/*.pyc"):
            stale.unlink()
        job = {**self._job(mutant), "function": ""}
        try:
            for _, result in self._run([job], sorted({test.partition("::")[0] for test in _tests(job)}), sources):
                return result
        finally:
            shutil.copy(PACKAGE / mutant.file, sources / "karat" / mutant.file)
        return Result("killed", "import of the tests")

    def _job(self, mutant: Mutant) -> dict[str, object]:
        tests = self._reach.tests(mutant, budget=self._budget)
        seconds = sum(self._reach.seconds[test] for test in tests)
        return {
            "name": mutant.name,
            "path": str(PACKAGE / mutant.file),
            "module": ".".join(Path("karat", mutant.file).with_suffix("").parts).removesuffix(".__init__"),
            "function": mutant.function,
            "source": mutant.source,
            "tests": tests,
            "seconds": int(LIMIT * seconds) + 10,
        }

    def _run(self, jobs: list[dict[str, object]], files: list[str], sources: Path) -> Iterator[tuple[str, Result]]:
        """Start pytest with the plug-in, and read its results as it writes them."""
        path = self._state / "jobs.json"
        path.write_text(json.dumps(jobs), encoding="utf-8")
        results = path.with_suffix(".results")
        results.write_text("", encoding="utf-8")
        process = subprocess.Popen(
            [*PYTEST, *files],
            cwd=ROOT,
            env=environment(self._state, sources=sources, MUTANTS_JOBS=str(path)),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        with results.open(encoding="utf-8") as stream:
            line = ""
            while True:
                ended = process.poll() is not None
                line += stream.readline()
                if line.endswith("\n"):
                    entry = json.loads(line)
                    yield entry["name"], Result(entry["result"], entry["by"])
                    line = ""
                elif ended:
                    return
                else:
                    time.sleep(0.2)


def _tests(job: dict[str, object]) -> list[str]:
    tests = job["tests"]
    assert isinstance(tests, list)
    return tests
