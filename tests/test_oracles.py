"""Conformance: what the reference scorers printed, case by case."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from karat.cli import cli
from karat.errors import KaratError
from tests import recorded


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


@pytest.mark.parametrize("case", [*recorded.packed(), *recorded.not_packed()])
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
