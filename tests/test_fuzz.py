"""The fuzzer: every format has seeds, cases are reproducible, and a short run finds nothing."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from fuzz import checking
from fuzz.cases import case
from fuzz.execution import Outcome
from fuzz.properties import problems
from fuzz.repeats import shuffled_documents
from fuzz.seeds import seeds
from fuzz.workspace import Workspace
from karat.formats import FORMATS
from tests.running import run

ROOT = Path(__file__).parents[1]


def test_every_format_has_valid_seeds(tmp_path: Path) -> None:
    for number, seed in enumerate(seeds()):
        for side, files in (("gold", seed.gold), ("system", seed.system)):
            folder = tmp_path / f"{number}-{side}"
            folder.mkdir()
            for name, data in files.items():
                (folder / name).write_bytes(data)
            result = run("validate", str(folder))
            assert result.code == 0, result.out
    lacking = sorted({*FORMATS.names()} - {seed.format for seed in seeds()})
    if lacking:
        pytest.skip(f"a format that is only read needs a sample in tools/fuzz/samples: {', '.join(lacking)}")


def test_a_case_depends_only_on_its_numbers() -> None:
    made = [[case(seed, number) for number in range(60)] for seed in (0, 0, 1)]
    assert made[0] == made[1]
    assert made[0] != made[2]
    assert sum(one.edits <= 5 for one in made[0]) > 30


GIVEN = frozenset({"gold/d.tbf"})
BROKEN: dict[str, tuple[tuple[str, ...], Outcome]] = {
    "no traceback": (("score",), Outcome(None, b"", "", 0, "KeyError in x.py, f")),
    "documented exit codes": (("score",), Outcome(3, b"", "error: gold/d.tbf: odd [odd]", 0)),
    "refusals have a message": (("score",), Outcome(1, b"", "", 0)),
    "messages have a code": (("score",), Outcome(1, b"", "error: gold/d.tbf: odd", 0)),
    "messages have a place": (("score",), Outcome(1, b"", "error: odd [odd]", 0)),
    "memory is enough": (("score",), Outcome(1, b"", "error: gold/d.tbf: no memory [memory-full]", 0)),
    "valid JSON": (("score", "-f", "json"), Outcome(0, b'{"f1": NaN}', "", 0)),
    "findings have a file": (
        ("validate", "-f", "json"),
        Outcome(1, b'{"files": [{"findings": [{"code": "odd", "file": null, "line": 1, "message": "odd"}]}]}', "", 0),
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_does_not_hold_is_reported(name: str) -> None:
    arguments, outcome = BROKEN[name]
    assert [problem.property for problem in problems(arguments, outcome, GIVEN)] == [name]


@pytest.mark.parametrize(
    "outcome", [Outcome(0, b"", "note: gold/d.tbf: odd [odd] (and 3 more)", 0), Outcome(2, b"", "error: no [usage]", 0)]
)
def test_messages_in_order_are_not_reported(outcome: Outcome) -> None:
    assert not list(problems(("score",), outcome, GIVEN))


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("", "''"),
        ("  ", "'  '"),
        ("a\nb", "a\\u000ab"),
        ("a\nb", "'a\\nb'"),
        ("\udcff\x1b", "\ufffd\\u001b"),
        ("é\r", "'é\\r'"),
    ],
)
def test_names_are_recognised_however_they_are_printed(name: str, printed: str) -> None:
    outcome = Outcome(1, b"", f"error: {printed}: there is no such file [file-missing]", 0)
    assert not list(problems(("validate", name), outcome, {name}))
    assert list(problems(("validate", name), outcome, {"other"}))


def test_a_file_that_is_left_behind_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def leave(arguments: tuple[str, ...]) -> Outcome:
        (tmp_path / "work" / "stray").touch()
        return Outcome(0, b"", "", 0)

    assert _reported(leave, tmp_path, monkeypatch) == ["no file left behind"]


def test_an_input_that_is_changed_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def change(arguments: tuple[str, ...]) -> Outcome:
        next(path for path in (tmp_path / "work").rglob("*") if path.is_file()).write_bytes(b"")
        return Outcome(0, b"", "", 0)

    assert _reported(change, tmp_path, monkeypatch) == ["inputs stay as they are"]


def _reported(
    command: Callable[[tuple[str, ...]], Outcome], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> list[str]:
    """The properties that do not hold after a command of this kind."""
    monkeypatch.setattr(checking, "execute", command)
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.chdir(folder)
    tally, space, one = checking.Tally(), Workspace(folder), case(0, 0)
    space.fill(one.files)
    checking.checked(one, ("score",), 0, space, tally)
    return [problem["property"] for problem in tally.problems]


def test_an_output_may_replace_what_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", None)
    space = Workspace(tmp_path)
    space.fill({"gold/a.jsonl": b"1", "system/a.jsonl": b"2"})
    one = case(0, 0)
    for written, found in (("system/a.jsonl", []), ("gold/a.jsonl", ["inputs stay as they are"])):
        Path(written).write_bytes(b"longer")
        monkeypatch.setattr(checking, "execute", lambda _: Outcome(0, b"", "", 0))
        tally = checking.Tally()
        checking.checked(one, ("convert", "gold/a.jsonl", "system/a.jsonl"), 0, space, tally)
        assert [problem["property"] for problem in tally.problems] == found


def test_documents_are_shuffled() -> None:
    data = b'{"id":"a","mentions":[]}\n{"id":"b","mentions":[]}\n{"id":"c","mentions":[]}\n'
    orders = {shuffled_documents(data, "x.jsonl", "jsonl", Random(number)) for number in range(30)}
    assert len(orders) == 6
    assert {b"".join(sorted((order or b"").splitlines(True))) for order in orders} == {data}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits of time and memory are those of Linux")
def test_a_short_run_finds_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "fuzz", "--runs", "1000", "--seed", "1", "--state", str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tools")}
    first, again = (subprocess.run(command, env=environment, capture_output=True, encoding="utf-8") for _ in range(2))
    assert "no problems found" in first.stdout, first.stdout
    assert again.stdout == first.stdout, "a finished run is read from its state"
