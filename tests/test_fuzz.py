"""The fuzzer: every format has seeds, cases are reproducible, and a short run finds nothing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fuzz.cases import case
from fuzz.seeds import seeds
from karat.formats import FORMATS
from tests.running import run

ROOT = Path(__file__).parents[1]


def test_every_format_has_valid_seeds(tmp_path: Path) -> None:
    assert {seed.format for seed in seeds()} == {*FORMATS.names()}, "add a sample to tools/fuzz/samples"
    for number, seed in enumerate(seeds()):
        for side, files in (("gold", seed.gold), ("system", seed.system)):
            folder = tmp_path / f"{number}-{side}"
            folder.mkdir()
            for name, data in files.items():
                (folder / name).write_bytes(data)
            result = run("validate", str(folder))
            assert result.code == 0, result.out


def test_a_case_depends_only_on_its_numbers() -> None:
    made = [[case(seed, number) for number in range(60)] for seed in (0, 0, 1)]
    assert made[0] == made[1]
    assert made[0] != made[2]
    assert sum(one.edits <= 5 for one in made[0]) > 30


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="limits of time and memory need a Unix")
def test_a_short_run_finds_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "fuzz", "--runs", "1000", "--seed", "1", "--state", str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tools")}
    first, again = (subprocess.run(command, env=environment, capture_output=True, encoding="utf-8") for _ in range(2))
    assert "no problems found" in first.stdout, first.stdout
    assert again.stdout == first.stdout, "a finished run is read from its state"
