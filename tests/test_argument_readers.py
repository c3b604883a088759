"""Events with arguments in brat, Rich ERE, APF and JSON Lines: the protocols of arguments score them as any others."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.running import run

SAMPLES = Path(__file__).parents[1] / "tools" / "fuzz" / "samples"
TEXT = "Anna attacked the town on Monday."
BRAT = """\
T1\tPER 0 4\tAnna
T2\tAttack 5 13\tattacked
T3\tGPE 14 22\tthe town
T4\tTime 26 32\tMonday
E1\tAttack:T2 Attacker:T1 Target:T3 Time:T4 Target2:T1
"""
ARGUMENTS = {"brat": 4, "ere": 4, "apf": 2}


@pytest.fixture
def corpora(tmp_path: Path) -> dict[str, Path]:
    """One small corpus of each format."""
    for name in ("ere", "apf"):
        shutil.copytree(SAMPLES / name, tmp_path / name)
    brat(tmp_path / "brat", BRAT)
    return {name: tmp_path / name for name in ARGUMENTS}


def brat(folder: Path, annotations: str) -> Path:
    folder.mkdir()
    (folder / "D1.txt").write_text(TEXT)
    (folder / "D1.ann").write_text(annotations)
    return folder


def counts(gold: Path, system: Path) -> dict[str, tuple[float, ...]]:
    """Right system items, system items, right gold items, gold items."""
    done = run("score", str(gold), str(system), "-p", "textee-2024", "-f", "json", "--accept-faults")
    assert done.code == 0, done.err
    scores: Any = json.loads(done.out)["scores"]
    return {id_: tuple(leaf["micro"]["counts"].values()) for id_, leaf in scores.items()}


@pytest.mark.parametrize("name", ARGUMENTS)
def test_arguments_of_mentions_are_scored(name: str, corpora: dict[str, Path], tmp_path: Path) -> None:
    """As they are, and as JSON Lines; arguments of ACE events as a whole are not counted again."""
    gold, converted = corpora[name], tmp_path / "converted.jsonl"
    assert run("convert", str(gold), str(converted)).code == 0
    for system in (gold, converted):
        found = counts(gold, system)
        assert found["arg.c"] == found["arg.c+"] == (ARGUMENTS[name],) * 4


def test_a_role_a_type_and_a_span(tmp_path: Path) -> None:
    """By hand: Attacker is right, Target is called Victim, Time is elsewhere, and the second Target is missing."""
    gold = brat(tmp_path / "gold", BRAT)
    changed = (
        BRAT.replace(" Target:", " Victim:").replace("26 32\tMonday", "23 32\ton Monday").replace(" Target2:T1", "")
    )
    system = brat(tmp_path / "system", changed)
    found = counts(gold, system)
    assert found["trig.c"] == (1, 1, 1, 1)
    assert found["arg.i"] == (2, 3, 2, 3)
    assert found["arg.c"] == found["arg.c+"] == (1, 3, 1, 4)
    other_type = brat(tmp_path / "type", BRAT.replace("Attack:T2", "Injure:T2"))
    assert counts(gold, other_type)["arg.i"] == (0, 3, 0, 3)
    assert counts(gold, other_type)["trig.i"] == (1, 1, 1, 1)
