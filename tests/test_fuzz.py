"""The fuzzer: every format has corpora, cases are reproducible, problems are reported, a short run finds none."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from karat.formats import FORMATS
from tests.running import run

if sys.platform == "win32":
    pytest.skip("limits of time and memory are those of Unix", allow_module_level=True)

from fuzz import checks
from fuzz.cases import case
from fuzz.checks import Outcome, Workspace, problems
from fuzz.corpora import corpora

ROOT = Path(__file__).parents[1]


def test_every_format_has_valid_corpora(tmp_path: Path) -> None:
    for number, corpus in enumerate(corpora()):
        for name, data in corpus.files.items():
            path = tmp_path / str(number) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        gold, system = (str(tmp_path / str(number) / side) for side in ("gold", "system"))
        results = [run("validate", gold), run("validate", system)]
        if FORMATS.get(corpus.format).refers_to_gold and results[1].code:
            results[1] = run("validate", system, "--against", gold)
        for result in results:
            assert result.code == 0, result.out
    assert {*FORMATS.names()} == {corpus.format for corpus in corpora()}, "a sample is missing in tools/fuzz/samples"


def test_a_case_depends_only_on_its_numbers() -> None:
    made = [[case(seed, number) for number in range(30)] for seed in (0, 0, 1)]
    assert made[0] == made[1]
    assert made[0] != made[2]


GIVEN = frozenset({"gold/d.tbf"})
BROKEN: dict[str, tuple[tuple[str, ...], Outcome]] = {
    "no traceback": (("score",), Outcome(None, b"", "", "KeyError in x.py, f")),
    "documented exit codes": (("score",), Outcome(3, b"", "error: gold/d.tbf: odd [odd]")),
    "refusals have a message": (("score",), Outcome(1, b"", "")),
    "messages have a code": (("score",), Outcome(1, b"", "error: gold/d.tbf: odd")),
    "messages have a place": (("score",), Outcome(1, b"", "error: odd [odd]")),
    "memory is enough": (("score",), Outcome(1, b"", "error: gold/d.tbf: no memory [memory-full]")),
    "valid JSON": (("score", "-f", "json"), Outcome(0, b'{"f1": NaN}', "")),
    "findings have a file": (
        ("validate", "-f", "json"),
        Outcome(1, b'{"files": [{"findings": [{"code": "odd", "file": null, "line": 1, "message": "odd"}]}]}', ""),
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_does_not_hold_is_reported(name: str) -> None:
    arguments, outcome = BROKEN[name]
    assert [problem.property for problem in problems(arguments, outcome, GIVEN)] == [name]


@pytest.mark.parametrize(
    "outcome", [Outcome(0, b"", "note: gold/d.tbf: odd [odd] (and 3 more)"), Outcome(2, b"", "error: no [usage]")]
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
    outcome = Outcome(1, b"", f"error: {printed}: there is no such file [file-missing]")
    assert not list(problems(("validate", name), outcome, {name}))
    assert list(problems(("validate", name), outcome, {"other"}))


def _leave(folder: Path) -> None:
    (folder / "stray").touch()


def _change(folder: Path) -> None:
    (folder / "gold" / "a.jsonl").write_bytes(b"")


def _replace_output(folder: Path) -> None:
    (folder / "system" / "a.jsonl").write_bytes(b"")


@pytest.mark.parametrize(
    ("effect", "reported"),
    [(_leave, ["no file left behind"]), (_change, ["inputs stay as they are"]), (_replace_output, [])],
)
def test_side_effects_are_reported(
    effect: Callable[[Path], None], reported: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def execute(arguments: tuple[str, ...]) -> Outcome:
        effect(tmp_path / "work")
        return Outcome(0, b"", "")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(checks, "execute", execute)
    space = Workspace(tmp_path)
    space.fill({"gold/a.jsonl": b"1", "system/a.jsonl": b"2"})
    _, found = space.checked(("convert", "gold/a.jsonl", "system/a.jsonl"))
    assert [problem.property for problem in found] == reported
    assert (tmp_path / "work" / "gold" / "a.jsonl").read_bytes() == b"1", "the next command finds the files of the case"
    assert not (tmp_path / "work" / "stray").exists()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits address space")
def test_a_short_run_finds_nothing() -> None:
    command = [sys.executable, "-m", "fuzz", "--runs", "60", "--seed", "1"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "tools"), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(command, env=environment, capture_output=True, encoding="utf-8")
    assert "no problems found" in done.stdout, done.stdout + done.stderr
