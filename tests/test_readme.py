"""The README's own commands, run as they stand there, and the version to cite."""

import contextlib
import io
import os
import re
import shlex
import subprocess
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
COMMANDS = [
    part.partition("\n")
    for kind, block in BLOCKS
    if kind == "console"
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
]
INSTALLED = (". .venv/bin/activate", "make demo", "make test")
"""Commands that need a copy of the repository; what follows needs only karat, and an empty folder."""


def test_commands_print_what_the_readme_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One after another, from an empty folder, with the Python at the end."""
    monkeypatch.chdir(tmp_path)
    assert [command[0] for command in COMMANDS[:3]] == ["make demo", "make test", ". .venv/bin/activate"]
    for line, end, output in COMMANDS:
        program, *args = shlex.split(line)
        if line in INSTALLED:
            continue
        if program == "cd":
            monkeypatch.chdir(args[0])
            continue
        assert program == "karat"
        done = CliRunner().invoke(cli, args)
        assert done.exit_code == 0, line
        if os.environ.get("KARAT_RENEW") and ELISION not in output.splitlines():
            page = PATH.read_text(encoding="utf-8")
            PATH.write_text(page.replace(f"{line}{end}{output}", f"{line}\n{done.stdout}"), encoding="utf-8")
        assert matches(output, done.stdout, command=line), line
    (code,) = [block for kind, block in BLOCKS if kind == "python"]
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(code, {})
    assert "nugget.type+realis" in printed.getvalue()


def test_other_commands_of_the_readme_run_there_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those in the text that name only files of the demo."""
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(cli, ["demo", "--to", "."]).exit_code == 0
    inline = [re.sub(r"\s+", " ", command) for command in re.findall(r"`karat ([^`]+)`", README)]
    names = {path.name for path in tmp_path.iterdir()}
    runnable = [c for c in inline if c.startswith("score ") and names.issuperset(re.findall(r"\S+(?:\.\w+|/)", c))]
    assert len(runnable) > 1
    for command in runnable:
        assert CliRunner().invoke(cli, shlex.split(command)).exit_code == 0, command


def test_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = [command[0].split()[1] for command in COMMANDS if command[0].startswith("make ")]
    assert targets == ["demo", "test"]
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets)


def test_the_demo_installs_only_what_it_needs(tmp_path: Path) -> None:
    """The tests add theirs to the same environment."""
    for target, extras in (("demo", {"."}), ("test", {".", ".[dev]"})):
        make = ["make", "--dry-run", f"VENV={tmp_path / 'none'}", target]
        planned = subprocess.run(make, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        assert set(re.findall(r"--editable '?([^'\s]+)", planned)) == extras


def test_the_citation_has_the_version() -> None:
    assert f"\nversion: {karat.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
