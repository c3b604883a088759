"""The README's own commands, run as they stand there, and the version to cite."""

import contextlib
import io
import os
import re
import shutil
from importlib.resources import as_file, files
from pathlib import Path

import pytest
from click.testing import CliRunner

import karat
from karat.cli import cli
from tests.pages import ELISION, matches

ROOT = Path(__file__).parents[1]
PATH = ROOT / "README.md"
README = PATH.read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(console|python)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
COMMANDS = [block.removeprefix("$ ").partition("\n") for kind, block in BLOCKS if kind == "console"]


@pytest.fixture
def demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    with as_file(files("karat") / "demo") as folder:
        for name in ("gold.jsonl", "literal.jsonl"):
            shutil.copy(folder / name, tmp_path / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("demo")
@pytest.mark.parametrize("command", [c for c in COMMANDS if c[0].startswith("karat ")], ids=lambda c: str(c[0]))
def test_commands_print_what_the_readme_shows(command: tuple[str, str, str]) -> None:
    done = CliRunner().invoke(cli, command[0].split()[1:])
    assert done.exit_code == 0
    if os.environ.get("KARAT_RENEW") and ELISION not in command[2].splitlines():
        page = PATH.read_text(encoding="utf-8")
        PATH.write_text(page.replace("".join(command), f"{command[0]}\n{done.stdout}"), encoding="utf-8")
    assert matches(command[2], done.stdout, command=command[0])


@pytest.mark.usefixtures("demo")
def test_the_python_of_the_readme_runs() -> None:
    (code,) = [block for kind, block in BLOCKS if kind == "python"]
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(code, {})
    assert "nugget.type+realis" in printed.getvalue()


def test_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = [command[0].split()[1] for command in COMMANDS if command[0].startswith("make ")]
    assert targets == ["demo", "test"]
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets)


def test_the_citation_has_the_version() -> None:
    assert f"\nversion: {karat.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
