"""A third party's measure, format and protocol: the package that CONTRIBUTING.md shows, built, installed and used."""

import os
import re
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

ROOT = Path(__file__).parents[1]
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def files_in(page: str) -> dict[str, str]:
    """The files that a page shows: each block whose first line is a comment with a path."""
    return dict(re.findall(r"^```\w+\n# (\S+)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL))


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of installed packages, with the one of CONTRIBUTING.md in it as a wheel."""
    source, target = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("installed")
    for name, text in {**files_in(CONTRIBUTING), "shiny/__init__.py": ""}.items():
        (source / name).parent.mkdir(exist_ok=True)
        (source / name).write_text(text, encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "install", "--no-index"]
    options = ["--no-deps", "--no-build-isolation", "--target", str(target)]
    done = subprocess.run([*pip, *options, str(source)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (target / "test_shiny.py").write_text(files_in(CONTRIBUTING)["tests/test_shiny.py"], encoding="utf-8")
    return target


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two small files in the third party's format, and one that is damaged."""
    (tmp_path / "gold.clusters").write_text("0 4 a\n6 9 a\n10 12 b\n14 16 b\n")
    (tmp_path / "system.clusters").write_text("0 4 a\n6 9 a\n10 12 a\n")
    (tmp_path / "bad.clusters").write_text("0 4 a\n6\n")
    return tmp_path


def run(*command: str, path: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(path), *sys.path])}
    return subprocess.run(
        [sys.executable, "-m", *command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def karat(*args: str, path: Path, folder: Path) -> str:
    done = run("karat", *args, path=path, folder=folder)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("warning") == 0
    return done.stdout


def test_the_measure_is_small() -> None:
    """Pairwise F1 takes at most 20 lines, beside the card that `karat explain` prints."""
    code = files_in(CONTRIBUTING)["shiny/measure.py"]
    lines = code[code.index("class Pairs") : code.index("def measures")].strip().splitlines()
    assert len(lines) <= 20


@pytest.mark.slow
def test_all_three_are_listed(installed: Path, folder: Path) -> None:
    assert "spans with their clusters" in karat("formats", path=installed, folder=folder)
    assert "shiny.pairs" in karat("measures", path=installed, folder=folder)
    assert "The shiny task of 2027" in karat("protocols", path=installed, folder=folder)
    assert "pairs of coreferent mentions" in karat("explain", "shiny.pairs", path=installed, folder=folder)


def test_all_three_work_together(installed: Path, folder: Path) -> None:
    """The format is known by its suffix and chooses the protocol, which names the measure."""
    args = ("score", "gold.clusters", "system.clusters", "--by", "kind", "-f", "json")
    result = msgspec.json.decode(karat(*args, path=installed, folder=folder))
    assert result["protocol"] == "shiny-2027"
    score = result["scores"]["shiny.pairs"]["micro"]
    assert (score["precision"], score["recall"]) == (1 / 3, 1 / 2)
    assert result["by"]["kind"]["event"]["shiny.pairs"]["micro"] == score
    assert "protocol=shiny-2027@sha256:" in result["signature"]


@pytest.mark.slow
def test_their_measures_are_examined_in_the_laboratory(installed: Path, folder: Path) -> None:
    args = ("lab", "shiny", "--gold", "gold.clusters", "-f", "json")
    done = msgspec.json.decode(karat(*args, path=installed, folder=folder))
    assert done["protocol"] == "shiny-2027"
    assert done["measures"]["shiny.pairs"]["properties"]["P1"]["holds"]


@pytest.mark.slow
def test_their_errors_and_parameters_are_ours(installed: Path, folder: Path) -> None:
    refused = run("karat", "score", "gold.clusters", "bad.clusters", path=installed, folder=folder)
    assert refused.returncode == 1
    assert "bad.clusters, line 2: found '6' [clusters-line]" in refused.stderr
    args = ("score", "gold.clusters", "system.clusters", "--set", "least=0.5")
    assert "least=0.5" in karat(*args, path=installed, folder=folder)


@pytest.mark.slow
def test_their_promises_are_checked(installed: Path) -> None:
    done = run("pytest", "-q", "test_shiny.py", path=installed, folder=installed)
    assert done.returncode == 0, done.stdout


@pytest.mark.slow
def test_a_broken_promise_is_readable(installed: Path) -> None:
    (installed / "test_broken.py").write_text(
        "from karat.counts import PrecisionRecall\n"
        "from karat.testing import check\n"
        "from shiny.measure import FAMILY, Pairs\n\n"
        "def test_promises(monkeypatch):\n"
        "    monkeypatch.setattr(Pairs, 'count', lambda self, table: PrecisionRecall(1, 2, 1, 1))\n"
        "    check(FAMILY)\n"
    )
    done = run("pytest", "-q", "test_broken.py", path=installed, folder=installed)
    assert done.returncode == 1
    assert "Pairwise F1 promises 'perfect', but gold against itself has the precision 0.5 in shiny.pairs" in done.stdout
    assert 'gold:\nE       {"id":"d0"' in done.stdout, "the corpora are shown as short as possible"


@pytest.mark.slow
def test_their_plugins_join_the_suite_of_all_laws(installed: Path, folder: Path) -> None:
    chosen = ("-k", "shiny or clusters", "--collect-only", "--pyargs", "karat.testing.suite")
    done = run("pytest", "-q", *chosen, path=installed, folder=folder)
    assert done.returncode == 0, done.stdout
    for test in ("families[shiny]", "formats[clusters]", "protocols[shiny-2027]"):
        assert f"test_laws_of_{test}" in done.stdout


@pytest.mark.slow
def test_a_broken_package_is_named_and_stops_nothing_else(installed: Path, folder: Path) -> None:
    (folder / "dull-2.0.dist-info").mkdir()
    (folder / "dull-2.0.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: dull\nVersion: 2.0\n")
    points = (
        "[karat.formats]\ndull = dull:FORMAT\n[karat.measures]\ndull = dull:FAMILY\n[karat.protocols]\ndull = dull:X\n"
    )
    (folder / "dull-2.0.dist-info/entry_points.txt").write_text(points)
    for args in (("formats",), ("measures",), ("protocols",), ("score", "gold.clusters", "system.clusters")):
        done = run("karat", *args, path=installed, folder=folder)
        assert done.returncode == 0, done.stderr
        if args[0] != "score":
            noun = args[0].removesuffix("s")
            assert f"warning: the {noun} 'dull' of package dull 2.0 cannot be loaded" in done.stderr
    (folder / "dull.py").write_text("import sys\nsys.exit(3)\n")
    done = run("karat", "formats", path=installed, folder=folder)
    assert (done.returncode, "cannot be loaded: SystemExit: 3" in done.stderr) == (0, True), done.stderr
    (folder / "dull.py").unlink()
    refused = run("karat", "score", "gold.clusters", "system.clusters", "-p", "dull", path=installed, folder=folder)
    assert refused.returncode == 1
    assert "package dull 2.0 cannot be loaded: ModuleNotFoundError" in refused.stderr
    assert "[plugin-broken]" in refused.stderr
