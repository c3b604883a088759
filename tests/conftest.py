"""Shared by all tests: where the shared data are, how many tests had to go without them, and no deadlines."""

import os
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import settings

# A deadline would be a clock: how long one example takes says more about the machine than about karat. On a server for
# integration, examples are the same each time: a rare counter-example is for those who look for it, not for any change.
settings.register_profile("karat", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("karat")

SHARED = Path(os.environ.get("KARAT_SHARED", Path(__file__).parents[2] / "shared"))
NO_SHARED_DATA = "no shared data"


def shared_path(*parts: str) -> Path:
    """A file or folder of the shared data; a test that asks for a missing one is skipped."""
    path = SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"{NO_SHARED_DATA} at {path if SHARED.exists() else SHARED} (set KARAT_SHARED)")
    return path


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """To make all pages of the documentation takes many seconds: every test that reads them is slow."""
    for item in items:
        if isinstance(item, pytest.Function) and "pages" in item.fixturenames:
            item.add_marker(pytest.mark.slow)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Generator[None]:
    """Last of all, count the tests without shared data, so that such a run does not look complete."""
    yield
    reports = terminalreporter.stats.get("skipped", [])
    skipped = sum(isinstance(report.longrepr, tuple) and NO_SHARED_DATA in report.longrepr[2] for report in reports)
    if skipped:
        terminalreporter.write_line(f"{skipped} tests skipped: {NO_SHARED_DATA} (set KARAT_SHARED)", yellow=True)
