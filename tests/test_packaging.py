"""The package as users get it: built, and installed into an environment that has only what it declares."""

import os
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = {
    "baselines": ("karat", "baseline", "lemma", "gold.jsonl"),
    "dask": ("python", "-c", "import karat.run.cluster, distributed"),
    "plots": ("karat", "score", "gold.jsonl", "system.jsonl", "-p", "tac-2017", "--plot", "scores.svg"),
    "testing": ("python", "-m", "pytest", "-q", "--pyargs", "karat.testing.suite", "-k", "formats and jsonl"),
}
"""For each extra, a command that fails without it."""

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")]


def run(*command: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """A command without anything of this environment or of the repository."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST"))}
    return subprocess.run(
        [*map(str, command)], cwd=cwd, env=environment, capture_output=True, encoding="utf-8", check=False
    )


def build(source: Path, target: Path, kind: str) -> Path:
    done = run(sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", target, cwd=source)
    assert done.returncode == 0, done.stderr
    (made,) = target.iterdir()
    return made


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT, tmp_path_factory.mktemp("sdist"), "sdist")


@pytest.fixture(scope="module")
def unpacked(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    return folder / sdist.name.removesuffix(".tar.gz")


@pytest.fixture(scope="module")
def wheel(unpacked: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from the source distribution, as on a machine for which there is no wheel."""
    return build(unpacked, tmp_path_factory.mktemp("wheel"), "wheel")


class Environment:
    """A virtual environment with the wheel. Its libraries are links to those of the tests: no network is needed."""

    def __init__(self, folder: Path, wheel: Path) -> None:
        self.folder = folder
        venv.create(folder / "venv", with_pip=False)
        self.bin = folder / "venv" / "bin"
        python = f"python{sys.version_info.major}.{sys.version_info.minor}"
        self._packages = folder / "venv" / "lib" / python / "site-packages"
        pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "--python"]
        done = run(*pip, self.bin / "python", "install", "--no-index", "--no-deps", wheel, cwd=folder)
        assert done.returncode == 0, done.stderr
        self.add(PROJECT["dependencies"])

    def add(self, requirements: Iterable[str]) -> None:
        for name in needed(requirements):
            for top in {Path(file).parts[0] for file in distribution(name).files or ()} - {"..", "__pycache__"}:
                link = self._packages / top
                if not link.exists():
                    link.symlink_to(str(distribution(name).locate_file(top)))

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        return run(self.bin / command[0], *command[1:], cwd=self.folder)


def needed(requirements: Iterable[str]) -> Iterator[str]:
    """The names of packages that requirements lead to, each once."""
    waiting, seen = [(Requirement(one), "") for one in requirements], set()
    while waiting:
        requirement, extra = waiting.pop()
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": extra}):
            continue
        if requirement.name.lower() not in seen:
            seen.add(requirement.name.lower())
            yield requirement.name
        for inner in ("", *requirement.extras):
            key = f"{requirement.name.lower()}[{inner}]"
            if key not in seen:
                seen.add(key)
                waiting += [(Requirement(one), inner) for one in distribution(requirement.name).requires or ()]


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """One environment for all tests: no extra needs what another one adds."""
    folder = tmp_path_factory.mktemp("environment")
    made = Environment(folder, wheel)
    demo = ROOT / "src" / "karat" / "demo"
    for name, source in (("gold.jsonl", "gold.jsonl"), ("system.jsonl", "eager.jsonl")):
        (folder / name).write_bytes((demo / source).read_bytes())
    return made


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if ".dist-info/" not in name}
        licences = [name for name in archive.namelist() if name.endswith("/licenses/LICENSE")]
    files = run("git", "ls-files", "src", cwd=ROOT).stdout.split()
    assert not files or packed == {name.removeprefix("src/") for name in files}
    assert len(licences) == 1
    assert all(name.startswith("karat/") for name in packed)


def test_the_source_holds_what_its_tests_need(unpacked: Path) -> None:
    """Everything of the repository but what only the repository needs."""
    listed = run("git", "ls-files", cwd=ROOT).stdout.split("\n")[:-1]
    if not listed:
        pytest.skip("not a git repository")
    left_out = {name for name in listed if not (unpacked / name.strip('"')).exists()}
    assert all(name.startswith((".ci/", ".github/", ".git", ".pre-commit")) for name in left_out), left_out
    done = run(sys.executable, "-m", "pytest", "-q", "tests/test_nuggets.py", "tests/test_contract.py", cwd=unpacked)
    assert done.returncode == 0, done.stdout


def test_it_works_with_what_it_declares_and_nothing_else(environment: Environment) -> None:
    for command in (
        "score gold.jsonl system.jsonl -p tac-2017",
        "score gold.jsonl system.jsonl -f html -o report.html",
        "compare gold.jsonl gold.jsonl system.jsonl -p tac-2017 --resamples 20",
        "convert gold.jsonl gold.tbf --lossy",
        "simulate gold.jsonl --miss 0.2 -o simulated.jsonl",
        "reproduce araki-2014",
        "demo",
    ):
        done = environment.run("karat", *command.split())
        assert done.returncode == 0, f"karat {command}\n{done.stderr}"
    assert {"report.html", "gold.tbf", "karat-demo.html"} <= {path.name for path in environment.folder.iterdir()}
    version = environment.run("karat", "--version").stdout
    assert version.split()[-1] == distribution("karat").version


def test_every_extra_is_tried() -> None:
    assert set(EXTRAS) == {*PROJECT["optional-dependencies"]} - {"dev", "docs"}


@pytest.mark.parametrize("extra", EXTRAS)
def test_an_extra_adds_what_it_says(extra: str, environment: Environment) -> None:
    requirements = PROJECT["optional-dependencies"][extra]
    try:
        list(needed(requirements))
    except PackageNotFoundError as error:
        pytest.skip(f"{error} is not installed")
    without = environment.run(*EXTRAS[extra])
    assert without.returncode != 0
    if EXTRAS[extra][0] == "karat":
        assert f"pip install 'karat[{extra}]'" in without.stderr
    environment.add(requirements)
    done = environment.run(*EXTRAS[extra])
    assert done.returncode == 0, done.stdout + done.stderr
