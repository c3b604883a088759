"""Conformance: what the reference scorers printed, case by case."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from karat.cli.program import cli
from karat.problems import KaratError
from tests import recorded

QUICK = 5
"""Cases of each pack that are among the quick tests."""


def differences(expected: Any, actual: Any, tolerance: float, where: str = "") -> Iterator[str]:
    """One line for each expected value that is not there."""
    if isinstance(expected, dict):
        for key, value in expected.items():
            there = isinstance(actual, dict) and key in actual
            yield from (
                differences(value, actual[key], tolerance, f"{where}/{key}") if there else [f"{where}/{key}: missing"]
            )
    elif expected is None or actual is None:
        if expected is not actual:
            yield f"{where}: expected {expected}, got {actual}"
    elif abs(expected - actual) > tolerance * max(1.0, abs(expected)):
        yield f"{where}: expected {expected}, got {actual}"


def cases() -> Iterator[Any]:
    """All cases; after the first few of each pack, they are slow together."""
    seen: Counter[str] = Counter()
    for case in (*recorded.packed(), *recorded.not_packed()):
        pack = case.partition("/")[0]
        seen[pack] += 1
        yield case if seen[pack] <= QUICK else pytest.param(case, marks=pytest.mark.slow)


@pytest.mark.parametrize("case", [*cases()])
def test_case(case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(recorded.folder(case, tmp_path))
    spec = json.loads(Path("expected.json").read_text())
    for run in spec["runs"]:
        command = ["score", spec["gold"], spec["system"], *run["args"], "-f", "json"]
        done = CliRunner().invoke(cli, command)
        if run.get("exit"):
            assert isinstance(done.exception, KaratError), f"{command} was not refused"
            assert done.exception.exit_code == run["exit"]
            continue
        assert done.exception is None, f"{command}: {done.exception}"
        wanted = {part: run[part] for part in ("scores", "documents", "by") if part in run}
        assert list(differences(wanted, json.loads(done.stdout), run["tolerance"])) == []


def test_no_case_is_lost() -> None:
    assert len(recorded.packed()) >= 559
    assert len(recorded.not_packed()) >= 57
