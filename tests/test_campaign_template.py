"""`karat campaign new`: a template that runs at once, commands for participants, and a bundle for Codabench."""

import json
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from karat.report.html.page import is_report
from tests.running import run
from tests.submissions import folder, jsonl


@pytest.mark.slow
def test_the_template_runs_at_once(tmp_path: Path) -> None:
    made = run("campaign", "new", str(tmp_path / "task"), "--title", "The task")
    assert made.code == 0, made.err
    done = run(
        "campaign",
        "--config",
        str(tmp_path / "task" / "campaign.toml"),
        "--no-reports",
        "--resamples",
        "40",
        "--jobs",
        "1",
    )
    assert done.code == 0, done.err
    assert done.out.startswith("3 submissions: 3 ranked, 0 refused")
    assert "<title>The task</title>" in (tmp_path / "task/results/site/index.html").read_text()


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    folder(tmp_path / "task", {"campaign.toml": b"mine"})
    assert run("campaign", "new", str(tmp_path / "task")).code == 1
    assert [path.name for path in (tmp_path / "task").rglob("*") if path.is_file()] == ["campaign.toml"]
    assert (tmp_path / "task" / "campaign.toml").read_bytes() == b"mine"


def test_the_commands_for_participants_are_exact(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each command of the page runs in the folder that participants get, which has no annotations of the test set."""
    run("campaign", "new", str(tmp_path / "task"), "-p", "tac-2017", "--set", "coref.mapping=span")
    assert '\nlayout = "plain"  # system/files\n' in (tmp_path / "task" / "campaign.toml").read_text()
    participants = tmp_path / "task" / "participants"
    monkeypatch.chdir(participants)
    commands = re.findall(r"^    karat (.*)$", (participants / "README.md").read_text(), re.MULTILINE)
    assert [line.split()[0] for line in commands] == ["validate", "score"]
    for line in commands:
        done = run(*shlex.split(line))
        assert done.code == 0, (line, done)
    assert "ready to submit" in run(*shlex.split(commands[0])).out
    lines = [json.loads(line) for line in (participants / "documents.jsonl").read_text().splitlines()]
    assert len(lines) == 12
    assert not any(line.get("mentions") or line.get("clusters") or line.get("links") for line in lines)
    assert all(line["text"] for line in lines)


@pytest.mark.slow
def test_gold_of_the_user_is_copied_and_its_settings_kept(tmp_path: Path) -> None:
    folder(tmp_path / "g", {"x/one.jsonl": jsonl(documents=("a", "b")), "two.jsonl": jsonl(documents=("c", "d"))})
    made = run(
        "campaign",
        "new",
        str(tmp_path / "t"),
        "--gold",
        str(tmp_path / "g"),
        "-p",
        "tac-2017",
        "--set",
        "kinds=event,entity",
    )
    assert made.code == 0, made.err
    assert (tmp_path / "t" / "gold" / "x" / "one.jsonl").read_bytes() == jsonl(documents=("a", "b"))
    folder(tmp_path / "t" / "submissions" / "me", {"out.jsonl": jsonl()})
    done = run("campaign", "--config", str(tmp_path / "t" / "campaign.toml"), "--no-reports")
    assert done.code == 0, done.err
    assert "kinds=event,entity" in done.out


TITLE = 'Ünï \U0001f600 "quoted" \x7f \u2028 \\u0041 <b>&'
TBF = "#BeginOfDocument d\ns\td\tE1\tt1\tattacked\tConflict_Attack\tActual\ns\td\tE2\tt3\tdied\tLife_Die\tActual\n"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A protocol of the user that extends another file, a list of types and token tables: options that name them."""
    tables = "".join(f"t{n}\t{word}\t0\t0\n" for n, word in enumerate(("They", "attacked", "and", "died")))
    made = {
        "my/mine.toml": b'extends = "base.toml"\n',
        "my/base.toml": b'title = "Mine"\nextends = "tac-2017"\n',
        "types.txt": b"Conflict_Attack\n",
        "tokens/d.tab": f"token_id\ttoken_str\ttkn_begin\ttkn_end\n{tables}".encode(),
        "gold.tbf": f"{TBF}#EndOfDocument\n".encode(),
    }
    folder(tmp_path, made)
    monkeypatch.chdir(tmp_path)
    given = ("--gold", "gold.tbf", "-p", "my/mine.toml", "--set", "types=types.txt", "--tokens", "tokens")
    return [*given, "--title", TITLE]


def test_files_that_options_name_are_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: list[str]) -> None:
    """The template can be moved: nothing outside of it is read."""
    made = run("campaign", "new", "task", *files)
    assert made.code == 0, made.err
    folder(tmp_path / "task" / "submissions" / "me", {"out.tbf": (tmp_path / "gold.tbf").read_bytes()})
    (tmp_path / "elsewhere").mkdir()
    task = (tmp_path / "task").rename(tmp_path / "elsewhere" / "task")
    for path in ("my", "types.txt", "tokens"):
        (tmp_path / path).rename(tmp_path / f"{path}-gone")
    configuration = tomllib.loads((task / "campaign.toml").read_text())
    assert configuration["title"] == TITLE
    done = run("campaign", "--config", str(task / "campaign.toml"), "--no-reports", "--jobs", "1", "-f", "json")
    assert done.code == 0, done.err
    (ranking,) = json.loads(done.out)["rankings"]
    assert (ranking["protocol"], ranking["systems"][0]["scores"]["nugget.span"]["micro"]["counts"]["recall_den"]) == (
        "mine",
        1,
    )
    monkeypatch.chdir((task / "participants").rename(tmp_path / "participants"))
    folder(tmp_path / "participants", {"output/out.tbf": (tmp_path / "gold.tbf").read_bytes()})
    (line,) = re.findall(r"^    karat (validate .*)$", Path("README.md").read_text(), re.MULTILINE)
    done = run(*shlex.split(line))
    assert (done.code, "ready to submit" in done.out) == (0, True), done


@pytest.mark.slow
def test_a_scoring_program_has_its_files(tmp_path: Path, files: list[str]) -> None:
    """If one is missing, it does not blame the participant."""
    yaml = pytest.importorskip("yaml")
    made = run("campaign", "new", "bundle", *files, "--codabench")
    assert made.code == 0, made.err
    assert yaml.safe_load((tmp_path / "bundle" / "competition.yaml").read_text())["title"] == TITLE
    app = application(tmp_path)
    folder(app / "input" / "res", {"out.tbf": (tmp_path / "gold.tbf").read_bytes()})
    for path in ("my", "types.txt", "tokens"):
        (tmp_path / path).rename(tmp_path / f"{path}-gone")
    done = score(app)
    assert done.returncode == 0, done
    assert json.loads((app / "output" / "scores.json").read_text())["nugget_type_realis"] == 100
    (app / "program" / "types.txt").unlink()
    done = score(app)
    assert done.returncode == 1
    assert "this is no fault of the submission; please tell the organisers." in done.stderr


def test_a_protocol_that_extends_a_file_elsewhere_is_refused(files: list[str]) -> None:
    Path("my/base.toml").rename("base.toml")
    Path("my/mine.toml").write_text('extends = "../base.toml"\n')
    done = run("campaign", "new", "task", *files)
    assert (done.code, "a template copies only its own [template-files]" in done.err) == (1, True), done.err


def test_two_protocols_that_name_different_files_are_refused(files: list[str]) -> None:
    """Parameters of a campaign are those of all its protocols: `types.txt` would apply to the other one, too."""
    Path("my/base.toml").write_text('extends = "tac-2017"\n[parameters.types]\nfile = true\ndefault = "types.txt"\n')
    done = run("campaign", "new", "task", "--gold", "gold.tbf", "--tokens", "tokens", "-p", files[3], "-p", "tac-2017")
    assert (done.code, "the protocols have different values of types [template-files]" in done.err) == (1, True), done


def test_the_image_pins_what_it_installs(app: Path) -> None:
    lines = (app / "program" / "Dockerfile").read_text().splitlines()
    assert re.fullmatch(r"FROM python:\d+\.\d+\.\w+-slim", lines[-2])
    installed = lines[-1].removeprefix("RUN pip install --no-cache-dir ").split()
    assert {"karat", "numpy", "scipy", "lxml", "click"} < {requirement.partition("==")[0] for requirement in installed}
    assert all(re.fullmatch(r"[\w.-]+==[\w.+-]+", requirement) for requirement in installed)


@pytest.mark.parametrize(
    ("content", "code", "words"),
    [
        ('golds = "gold"', 2, "Did you mean gold?"),
        ("gold = ", 1, "campaign-file"),
        ("jobs = 0", 2, "jobs"),
        ('set = "a"', 1, "campaign-file"),
    ],
)
def test_bad_configurations_are_refused(tmp_path: Path, content: str, code: int, words: str) -> None:
    (tmp_path / "c.toml").write_text(content)
    done = run("campaign", str(tmp_path), "--gold", str(tmp_path), "--config", str(tmp_path / "c.toml"))
    assert (done.code, words in done.err) == (code, True), done


@pytest.fixture
def app(tmp_path: Path) -> Path:
    """The directories of a submission container, as Codabench's documentation lists them, for a bundle of karat."""
    folder(tmp_path / "g", {"gold.jsonl": jsonl()})
    bundle = tmp_path / "bundle"
    made = run("campaign", "new", str(bundle), "--gold", str(tmp_path / "g"), "-p", "tac-2017", "--codabench")
    assert made.code == 0, made.err
    return application(tmp_path)


def application(folder: Path) -> Path:
    """The bundle of a folder as the platform mounts it."""
    bundle, app = folder / "bundle", folder / "app"
    for name in ("input/res", "output"):
        (app / name).mkdir(parents=True)
    (bundle / "reference_data").rename(app / "input" / "ref")
    (bundle / "scoring_program").rename(app / "program")
    return app


def score(app: Path) -> subprocess.CompletedProcess[str]:
    """Run the command of metadata.yaml, as the platform does, with /app where it is here."""
    (line,) = (app / "program" / "metadata.yaml").read_text().splitlines()
    assert line.startswith("command: ")
    arguments = shlex.split(line.removeprefix("command: ").replace("/app/", f"{app}/"))
    assert arguments[0] == "python3"
    return subprocess.run([sys.executable, *arguments[1:]], capture_output=True, encoding="utf-8", cwd=app / "program")


@pytest.mark.slow
def test_the_scoring_program_in_the_layout_of_codabench(app: Path) -> None:
    yaml = pytest.importorskip("yaml")
    (app / "input" / "res" / "out.jsonl").write_bytes(jsonl(wrong=2))
    done = score(app)
    assert done.returncode == 0, done
    scores = json.loads((app / "output" / "scores.json").read_text())
    assert is_report(app / "output" / "detailed_results.html")
    competition = yaml.safe_load((app.parent / "bundle" / "competition.yaml").read_text())
    assert competition["version"] == 2
    columns = competition["leaderboards"][0]["columns"]
    assert {column["key"] for column in columns} == set(scores)
    alone = run("score", str(app / "input" / "ref"), str(app / "input" / "res"), "-p", "tac-2017", "-f", "json")
    alone_scores = json.loads(alone.out)["scores"]
    headline = {"nugget_type": "nugget.type", "nugget_span": "nugget.span"}  # gold has neither realis nor clusters
    assert scores == {key: 100 * alone_scores[id_]["micro"]["f1"] for key, id_ in headline.items()}
    for path in (competition["image"], competition["terms"], *(page["file"] for page in competition["pages"])):
        assert (app.parent / "bundle" / path).is_file()


@pytest.mark.slow
def test_a_submission_that_is_not_valid_fails_with_a_reason(app: Path) -> None:
    (app / "input" / "res" / "out.jsonl").write_bytes(jsonl(documents=("a",)))
    done = score(app)
    assert done.returncode != 0
    assert "document-missing" in done.stdout
    assert not (app / "output" / "scores.json").exists()


def test_a_link_in_a_submission_fails_with_a_reason(app: Path) -> None:
    """In a container, gold is beside the submission."""
    (app / "input" / "res" / "out.jsonl").symlink_to("../ref/gold.jsonl")
    done = score(app)
    assert (done.returncode, done.stderr) == (1, "out.jsonl is a link; submit the file itself.\n")
    assert not (app / "output" / "scores.json").exists()
