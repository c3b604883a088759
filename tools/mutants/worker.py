"""A plug-in of pytest that records which tests reach which lines, or runs the tests of one mutant after another.

All test modules are imported once. Each mutant is then tried in a child of that process, in which the code of the
mutated function is replaced. A mutant of what runs at import is tried in a process of its own, that finds the mutated
module on its path.
"""

import gc
import importlib
import json
import os
import resource
import shutil
import signal
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import coverage
import pytest
from hypothesis import Phase, settings

from mutants.reach import recorded

MEMORY = 8 * 2**30
"""Bytes of address space; the imported libraries reserve some of it."""
PATIENCE = 900
"""Seconds after which a child that waits for something is killed."""


def pytest_sessionstart() -> None:
    """Hypothesis tries the same examples in each run, and stops at the first that fails."""
    phases = (Phase.explicit, Phase.generate)
    settings.register_profile("mutants", deadline=None, derandomize=True, database=None, phases=phases)
    settings.load_profile("mutants")


def pytest_configure(config: pytest.Config) -> None:
    """The environment says what to do."""
    folder = Path(os.environ["MUTANTS_STATE"])
    if "MUTANTS_JOBS" in os.environ:
        config.pluginmanager.register(Jobs(folder, Path(os.environ["MUTANTS_JOBS"])))
    else:
        sources = os.environ["MUTANTS_SOURCES"].split(os.pathsep)
        config.pluginmanager.register(Recording(folder, sources, os.environ["MUTANTS_PART"]))


class Recording:
    """Which lines each test reaches, and how long it takes; a stopped recording goes on where it ended.

    Lines that are reached by a fixture count for all tests of the file: they may share it.
    """

    def __init__(self, folder: Path, sources: list[str], part: str) -> None:
        number, _, count = part.partition("/")
        self._number, self._count = int(number), int(count)
        self._known = recorded(folder)
        self._file = folder / f"tests.{number}.json"
        self._seconds: dict[str, float | None] = json.loads(self._file.read_bytes()) if self._file.exists() else {}
        self._coverage = coverage.Coverage(data_file=folder / f"reach.{number}", include=sources, config_file=False)
        self._coverage.load()
        self._coverage.start()

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Whole files, so that their fixtures are made once; other processes record the others."""
        place = {path: number for number, path in enumerate(dict.fromkeys(item.path for item in items))}
        items[:] = [
            item for item in items if place[item.path] % self._count == self._number and item.nodeid not in self._known
        ]

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None]:
        self._coverage.switch_context(item.nodeid.partition("::")[0])
        yield

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None]:
        self._coverage.switch_context(item.nodeid)
        started = _cpu()
        yield
        self._seconds[item.nodeid] = _cpu() - started

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed or report.skipped:
            self._seconds[report.nodeid] = None  # it can kill no mutant

    def pytest_sessionfinish(self) -> None:
        self._coverage.stop()
        self._coverage.save()
        self._file.write_text(json.dumps(self._seconds), encoding="utf-8")


def _cpu() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


class Jobs:
    """Runs the tests of each mutant in a child process, and writes the results to a file as they come."""

    def __init__(self, folder: Path, jobs: Path) -> None:
        self._folder = folder
        self._jobs: list[dict[str, Any]] = json.loads(jobs.read_bytes())
        self._results = jobs.with_suffix(".results")

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        items = {item.nodeid: item for item in session.items}
        with self._results.open("a", encoding="utf-8") as results:
            for job in self._jobs:
                chosen = [items[test] for test in job["tests"] if test in items]
                result = {"name": job["name"], **self._result(job, chosen)}
                results.write(f"{json.dumps(result)}\n")
                results.flush()
        return True

    def _result(self, job: dict[str, Any], items: list[pytest.Item]) -> dict[str, str]:
        folder = self._folder / f"temporary.{os.getpid()}"
        folder.mkdir(exist_ok=True)
        reader, writer = os.pipe()
        child = os.fork()
        if not child:
            os.close(reader)
            os.setpgid(0, 0)
            try:
                os.write(writer, self._tried(job, items, folder).encode())
            except BaseException as error:
                os.write(writer, f"{type(error).__name__}: {error}".encode()[:4000])
            os._exit(0)
        os.close(writer)
        status = _wait(child)
        with os.fdopen(reader, "rb") as stream:
            message = stream.read().decode()
        shutil.rmtree(folder, ignore_errors=True)
        if os.WIFSIGNALED(status):
            return {"result": "killed", "by": signal.Signals(os.WTERMSIG(status)).name}
        if message.startswith("tests/"):
            return {"result": "killed", "by": message}
        return {"result": "survived" if message == "survived" else "not tried", "by": message}

    @staticmethod
    def _tried(job: dict[str, Any], items: list[pytest.Item], folder: Path) -> str:
        """In the child: the first test that fails, or `survived`."""
        resource.setrlimit(resource.RLIMIT_CPU, (job["seconds"],) * 2)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY,) * 2)
        os.environ["PYTEST_DEBUG_TEMPROOT"] = str(folder)
        importlib.import_module(job["module"])  # it may be imported only when it is needed
        if job["function"] and not replace_function(Path(job["path"]), job["function"], job["source"]):
            return "the function was not found"
        failed: list[str] = []

        class Watch:
            def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
                if report.failed:
                    failed.append(report.nodeid)

        for number, item in enumerate(items):
            if not number:
                item.config.pluginmanager.register(Watch())
            following = items[number + 1] if number + 1 < len(items) else None
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if failed:
                return failed[0]
        return "survived"


def _wait(child: int) -> int:
    started = time.monotonic()
    while time.monotonic() - started < PATIENCE:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status
        time.sleep(0.02)
    os.killpg(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1]


def replace_function(path: Path, function: str, source: str) -> bool:
    """Give every function object of that name the mutated code; false if it is found nowhere."""
    before, after = (
        [code for code in _codes(compile(text, str(path), "exec")) if code.co_qualname == function]
        for text in (path.read_text(encoding="utf-8"), source)
    )
    changed = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
    found = [
        (one, new)
        for one in gc.get_objects()
        if isinstance(one, FunctionType)
        for old, new in changed
        if one.__qualname__ == function and one.__code__ == old
    ]
    for one, new in found:
        one.__code__ = new
    return bool(found)


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)
