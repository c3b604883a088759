"""A third party's measure, format and protocol: the package that CONTRIBUTING.md shows, built from that page."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import msgspec
import pytest

CONTRIBUTING = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text(encoding="utf-8")


def entry_points(pyproject: str) -> str:
    """What an installer makes of the entry points of a pyproject.toml."""
    groups = tomllib.loads(pyproject)["project"]["entry-points"]
    return "".join(
        f"[{g}]\n" + "".join(f"{name} = {to}\n" for name, to in points.items()) for g, points in groups.items()
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package of CONTRIBUTING.md, as an installer would leave it."""
    root = tmp_path_factory.mktemp("third-party")
    blocks = re.findall(r"^```\w+\n# (\S+)\n(.*?)^```$", CONTRIBUTING, re.MULTILINE | re.DOTALL)
    files = dict(blocks)
    files["shiny-1.0.dist-info/METADATA"] = "Metadata-Version: 2.1\nName: shiny\nVersion: 1.0\n"
    files["shiny-1.0.dist-info/entry_points.txt"] = entry_points(files.pop("pyproject.toml"))
    files |= {"shiny/__init__.py": "", "gold.pairs": "0 4\n6 9\n", "system.pairs": "0 4\n", "bad.pairs": "0 4\n6\n"}
    for name, text in files.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    return root


def run(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    command = [sys.executable, "-m", "karat", *args]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def karat(folder: Path, *args: str) -> str:
    done = run(folder, *args)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_all_three_are_listed(folder: Path) -> None:
    assert "pairs" in karat(folder, "formats")
    assert "shiny.volume" in karat(folder, "measures")
    assert "The shiny task of 2027" in karat(folder, "protocols")
    assert "how much was said" in karat(folder, "explain", "shiny.volume")


def test_all_three_work_together(folder: Path) -> None:
    """The format is known by its suffix and chooses the protocol, which names the measure."""
    result = msgspec.json.decode(karat(folder, "score", "gold.pairs", "system.pairs", "--by", "kind", "-f", "json"))
    assert result["protocol"] == "shiny-2027"
    assert result["scores"] == {"shiny.volume": {"micro": {"score": 0.5, "counts": {"system": 1, "gold": 2}}}}
    assert result["by"]["kind"]["event"] == result["scores"]
    assert "protocol=shiny-2027@sha256:" in result["signature"]


def test_their_measures_are_examined_in_the_laboratory(folder: Path) -> None:
    """Volume pays for false alarms: strangers score like gold, and a wrong mention raises it."""
    done = msgspec.json.decode(karat(folder, "lab", "shiny", "--gold", "gold.pairs", "-f", "json"))
    assert done["protocol"] == "shiny-2027"
    properties = done["measures"]["shiny.volume"]["properties"]
    assert {id_: one["holds"] for id_, one in properties.items()} == {
        "P1": True,
        "P2": False,
        "P3": False,
        "P4": False,
        "P5": True,
    }


def test_their_errors_and_parameters_are_ours(folder: Path) -> None:
    refused = run(folder, "score", "gold.pairs", "bad.pairs")
    assert refused.returncode == 1
    assert "bad.pairs, line 2: found '6' [pairs-numbers]" in refused.stderr
    assert "least=0.5" in karat(folder, "score", "gold.pairs", "system.pairs", "--set", "least=0.5")
