"""Tries mutants: those of functions in children of one process, those of what runs at import each in its own."""

import json
import shutil
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from mutants.edits import Mutant
from mutants.reach import PACKAGE, PYTEST, ROOT, Reach, environment

LIMIT = 2
"""A mutant may take this many times as long as the tests take without it, and 10 seconds more."""
PAUSE = 0.2
"""Seconds between two looks at what the processes have found."""


class Result(NamedTuple):
    """What became of a mutant: `killed`, `survived` or `not tried`, and the test that failed."""

    result: str
    by: str


class Execution:
    """Tries mutants with the tests that reach them, within a budget of seconds per mutant, in several processes.

    `killers` are tests that noticed a mutant in an earlier run, on other code: they come first.
    """

    def __init__(
        self, state: Path, reach: Reach, *, budget: float, processes: int, killers: Mapping[str, str] | None = None
    ) -> None:
        self._state = state
        self._reach = reach
        self._budget = budget
        self._processes = processes
        self._killers = killers or {}

    def results(self, mutants: Iterable[Mutant]) -> Iterator[tuple[Mutant, Result]]:
        """Each mutant's result as it comes."""
        mutants = list(mutants)
        named = {mutant.name: mutant for mutant in mutants}
        alone = [mutant for mutant in mutants if not mutant.function]
        jobs = [self._job(mutant) for mutant in mutants if mutant.function]
        shares = [jobs[number :: self._processes] for number in range(self._processes)]
        running = [self._start(number, share) for number, share in enumerate(shares) if share]
        while running:
            for process in running:
                for name, result in process.results():
                    if result.result == "not tried":  # what happens at import replaced the function by something else
                        alone.append(named[name])
                    else:
                        yield named[name], result
            running = [process for process in running if not process.has_ended]
            time.sleep(PAUSE)
        yield from self._alone(alone)

    def _alone(self, mutants: list[Mutant]) -> Iterator[tuple[Mutant, Result]]:
        """Each in a process of its own, which finds the mutated module on its path.

        Such a process imports the files of its tests, so the test that noticed the mutant before is tried by itself.
        """
        waiting = [(mutant, self._killers.get(mutant.name) in self._reach.seconds) for mutant in reversed(mutants)]
        running: dict[int, tuple[Mutant, bool, _Process]] = {}
        while waiting or running:
            for number in range(self._processes):
                if number not in running and waiting:
                    mutant, by_killer = waiting.pop()
                    job = {**self._job(mutant), "function": ""}
                    if by_killer:
                        job["tests"] = [self._killers[mutant.name]]
                    running[number] = mutant, by_killer, self._start(number, [job], self._mutated(mutant, number))
            for number, (mutant, by_killer, process) in [*running.items()]:
                found = list(process.results())
                if process.has_ended:
                    del running[number]
                    result = found[0][1] if found else Result("killed", "import of the tests")
                    if by_killer and result.result != "killed":
                        waiting.append((mutant, False))
                    else:
                        yield mutant, result
            time.sleep(PAUSE)

    def _mutated(self, mutant: Mutant, number: int) -> Path:
        """A folder with the sources and one mutated module."""
        sources = self._state / f"sources.{number}"
        shutil.rmtree(sources, ignore_errors=True)
        shutil.copytree(PACKAGE, sources / "karat", ignore=shutil.ignore_patterns("__pycache__"))
        (sources / "karat" / mutant.file).write_text(mutant.source, encoding="utf-8")
        return sources

    def _start(self, number: int, jobs: list[dict[str, object]], sources: Path = ROOT / "src") -> "_Process":
        return _Process(self._state, number, jobs, sources)

    def _job(self, mutant: Mutant) -> dict[str, object]:
        tests = self._reach.tests(mutant, budget=self._budget, first=self._killers.get(mutant.name))
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


class _Process:
    """Pytest with the plug-in, which tries some mutants and writes the results to a file as they come."""

    def __init__(self, state: Path, number: int, jobs: list[dict[str, object]], sources: Path) -> None:
        path = state / f"jobs.{number}.json"
        path.write_text(json.dumps(jobs), encoding="utf-8")
        self._results = path.with_suffix(".results")
        self._results.write_text("", encoding="utf-8")
        self._read = 0
        self.has_ended = False
        files = sorted({test.partition("::")[0] for job in jobs for test in _tests(job)})
        self._process = subprocess.Popen(
            [*PYTEST, *files],
            cwd=ROOT,
            env=environment(state, sources=sources, MUTANTS_JOBS=str(path)),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def results(self) -> Iterator[tuple[str, Result]]:
        """What has come since the last time."""
        ended = self._process.poll() is not None
        lines = self._results.read_text(encoding="utf-8").splitlines(keepends=True)
        complete = [line for line in lines if line.endswith("\n")]
        for line in complete[self._read :]:
            entry = json.loads(line)
            yield entry["name"], Result(entry["result"], entry["by"])
        self._read = len(complete)
        self.has_ended = ended


def _tests(job: dict[str, object]) -> list[str]:
    tests = job["tests"]
    assert isinstance(tests, list)
    return tests
