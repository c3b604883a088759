"""Golden command lines: whole outputs, byte for byte, for a small pair of files.

After a change that is meant, `KARAT_RENEW=1 pytest tests/test_commands.py` rewrites the golden files; read the
difference before you commit it.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from karat.families import MEASURES
from karat.formats import FORMATS
from karat.protocols import PROTOCOLS, resolve
from karat.protocols.files import source
from tests.running import command, run

DATA = Path(__file__).parent / "data"
GOLDEN = DATA / "golden"
SCORE = ("score", "gold.tbf", "system.tbf")


@pytest.fixture(autouse=True)
def _among_the_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """File names in outputs are then the same everywhere."""
    monkeypatch.chdir(DATA)


def scored(*args: str) -> Any:
    """The JSON of a run that must succeed."""
    done = run("score", *args, "-f", "json")
    assert done.code == 0, done.err
    return json.loads(done.out)


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("score", SCORE),
        ("score-per-document", (*SCORE, "--per-document")),
        ("score-by-type", (*SCORE, "--by", "type")),
        ("score-one-measure", (*SCORE, "-m", "nugget.type", "--by", "type", "--digits", "4")),
        ("score-details", (*SCORE, "--details", "-m", "nugget.type+realis", "-m", "coref.b3")),
        ("score-json-details", (*SCORE, "--details", "-m", "nugget.type+realis", "-m", "coref.b3", "-f", "json")),
        ("score-summary", (*SCORE, "-p", "tac-2017", "-p", "conll-2012", "--summary")),
        ("score-json", (*SCORE, "-f", "json")),
        ("score-json-everything", (*SCORE, "-f", "json", "--by", "type", "--per-document")),
        ("protocol-tac-2017", ("protocols", "tac-2017")),
        ("explain", ("explain", "nugget.type")),
    ],
)
def test_whole_output(name: str, args: tuple[str, ...]) -> None:
    done = run(*args)
    assert done.code == 0, done.err
    golden = GOLDEN / f"{name}.txt"
    if os.environ.get("KARAT_RENEW"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_bytes(done.out.encode())
    assert done.out.encode() == golden.read_bytes()


def rows(*args: str) -> list[list[str]]:
    """The rows of a listing, without the header; cells are separated by two blanks or more."""
    done = run(*args)
    assert done.code == 0, done.err
    return [re.split(r" {2,}", line) for line in done.out.splitlines()[1:]]


def test_every_protocol_is_listed() -> None:
    assert rows("protocols") == [[name, resolve(name).title] for name in PROTOCOLS.names()]


def test_the_file_of_a_protocol_is_printed_to_copy(tmp_path: Path) -> None:
    for name in ("ace-2005", "crac-2022"):
        done = run("protocols", name, "--file")
        assert done.out.encode() == source(name).read_bytes()
    (tmp_path / "mine.toml").write_text(run("protocols", "tac-2017", "--file").out)
    assert resolve(str(tmp_path / "mine.toml")).families == resolve("tac-2017").families


def test_weights_are_those_of_the_chosen_tables() -> None:
    weights = {row[0]: row[1:] for row in rows("protocols", "ace-2005", "--weights")}  # Tables 12 to 14, 17 and 20
    assert weights["W_err type"] == ["0.50", "0.50", "-", "1.00", "0.50"]
    assert weights["AttrValue class SPC"] == ["1.00", "-", "-", "-", "-"]
    assert weights["MTypeValue PRO"] == ["0.10", "-", "-", "-", "-"]
    assert weights["W_A_FA"] == ["-", "-", "-", "0.00", "0.50"]
    assert weights["min_text_match"][0] == "0.30"
    scorer = {row[0]: row[1:] for row in rows("protocols", "ace-2005-nist", "--weights")}
    assert scorer["min_text_match"][0] == "0.00"
    assert scorer["W_err tense"] == ["-", "-", "-", "0.99999999", "0.99999999"]
    assert scorer["AttrValue type"][2] == "0.50"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("tac-2017", "--weights"), "no-weights"),
        (("--weights",), "protocol-needed"),
        (("--file",), "protocol-needed"),
        (("ace-2005", "--file", "--weights"), "file-or-weights"),
    ],
)
def test_what_protocols_refuses(arguments: tuple[str, ...], code: str) -> None:
    done = run("protocols", *arguments)
    assert (done.code, done.out) == (2, "")
    assert f"[{code}]" in done.err


def test_every_format_is_listed() -> None:
    assert [row[0] for row in rows("formats")] == FORMATS.names()


def test_every_measure_is_listed() -> None:
    assert rows("measures") == [
        [ids, what, name] for name, family in MEASURES for ids, what in family.card.rows.items()
    ]


def test_values_by_hand() -> None:
    """The micro averages, worked out from the two files.

    storm  S1-E1 the same span: 1.  S2 (29-35) and E2 (30-35): 2*5/(6+5) = 10/11.  S3-E3: 1, but of another type.
           S4 is spurious.          span TP 32/11, type TP 21/11, N_S 4, N_G 3
    trial  S1 (5-10) and E1 (5-10, 20-23): 2*5/(5+8) = 10/13, the type is right.  S2 is spurious, E2 missed.
                                    span TP = type TP = 10/13, N_S 2, N_G 2
    quiet  has no gold mention and is in no average.
    """
    scores = scored("gold.tbf", "system.tbf")["scores"]
    for measure, storm in (("nugget.span", 32 / 11), ("nugget.type", 21 / 11)):
        micro = scores[measure]["micro"]
        hits = storm + 10 / 13
        assert micro["counts"] == {
            "precision_num": pytest.approx(hits),
            "precision_den": 6,
            "recall_num": pytest.approx(hits),
            "recall_den": 5,
        }
        assert micro["precision"] == pytest.approx(hits / 6)
        assert micro["recall"] == pytest.approx(hits / 5)
        assert micro["f1"] == pytest.approx(2 * hits / 11)
        macro = scores[measure]["macro"]
        precision, recall = (storm / 4 + 5 / 13) / 2, (storm / 3 + 5 / 13) / 2
        assert macro["precision"] == pytest.approx(precision)
        assert macro["recall"] == pytest.approx(recall)
        assert macro["f1"] == pytest.approx(2 * precision * recall / (precision + recall))


def test_rows_of_a_breakdown_by_hand() -> None:
    """Life_Die in storm, type measure: 1 + 10/11 of 3 system and 2 gold mentions; both spellings are one type."""
    row = scored("gold.tbf", "system.tbf", "--by", "type")["by"]["type"]["Life_Die"]["nugget.type"]["micro"]
    assert row["precision"] == pytest.approx(21 / 11 / 3)
    assert row["recall"] == pytest.approx(21 / 11 / 2)


def test_results_and_remarks_go_to_different_streams(tmp_path: Path) -> None:
    done = run(*SCORE)
    assert done.err == "protocol: tac-2017 (GOLD is tbf; choose with -p)\n"
    assert run(*SCORE, "-p", "tac-2017") == (0, done.out, "")
    saved = run(*SCORE, "-p", "tac-2017", "-o", str(tmp_path / "scores.txt"))
    assert saved == (0, "", "")
    assert (tmp_path / "scores.txt").read_bytes() == done.out.encode()
    assert [path.name for path in tmp_path.iterdir()] == ["scores.txt"]


@pytest.mark.parametrize("name", [(), ("score",), ("protocols",), ("formats",), ("measures",), ("explain",)])
def test_help_has_an_example(name: tuple[str, ...]) -> None:
    done = run(*name, "--help")
    assert done.code == 0
    assert re.search(rf"Examples?:\n +karat {' '.join(name)}", done.out)


@pytest.mark.slow
def test_the_same_bytes_for_every_hash_seed() -> None:
    args = (*SCORE, "-f", "json", "--by", "type", "--by", "realis", "--per-document")
    outputs = {command(*args, PYTHONHASHSEED=str(seed)) for seed in range(2)}
    assert len(outputs) == 1
    assert outputs.pop()[:2] == run(*args)[:2]


def reordered(text: str) -> str:
    """The documents from last to first."""
    begin = "#BeginOfDocument"
    return "".join(begin + block for block in reversed(text.split(begin)[1:]))


def renamed(text: str) -> str:
    """Other ids for mentions and relations, in another alphabetical order."""
    other = {"1": "zeta", "2": "alpha", "3": "mid", "4": "beta"}
    return re.sub(r"(?<=[\t,])[ESCR](\d)(?=[\t,\n])", lambda found: f"x-{other[found[1]]}", text)


@pytest.mark.parametrize("change", [reordered, renamed])
def test_nothing_depends_on(change: Callable[[str], str], tmp_path: Path) -> None:
    for name in ("gold.tbf", "system.tbf"):
        changed = change((DATA / name).read_text())
        assert changed != (DATA / name).read_text()
        (tmp_path / name).write_text(changed)
    options = ("--by", "type", "--per-document")
    before = scored("gold.tbf", "system.tbf", *options)
    assert scored(str(tmp_path / "gold.tbf"), "system.tbf", *options) == before
    assert scored(str(tmp_path / "gold.tbf"), str(tmp_path / "system.tbf"), *options) == before


def test_python_gives_the_same() -> None:
    import karat

    result = karat.score("gold.tbf", "system.tbf", protocol="tac-2017")
    assert result.to_dict() == scored("gold.tbf", "system.tbf")
    assert f"{result}" == run(*SCORE).out


def test_files_are_closed() -> None:
    done = command(*SCORE, PYTHONWARNINGS="default::ResourceWarning")
    assert (done.code, done.err) == (0, run(*SCORE).err)


def test_help_starts_at_once() -> None:
    """Nothing heavy is imported and no entry point is looked up for it."""
    program = """
import sys
from karat.cli import main
sys.argv = ["karat", "--help"]
try:
    main()
except SystemExit as end:
    assert not end.code
heavy = {"numpy", "scipy", "lxml", "msgspec", "importlib.metadata"}
print(sorted(heavy & sys.modules.keys()), file=sys.stderr)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "[]\n")
    assert "Usage:" in done.stdout


def test_runs_as_a_module() -> None:
    done = subprocess.run([sys.executable, "-m", "karat", "--version"], capture_output=True, text=True)
    assert (done.returncode, done.stdout[:5]) == (0, "karat")


@pytest.mark.parametrize(("short", "id_"), [("b3", "coref.b3"), ("LEA", "coref.lea"), ("rdr", "ace.rdr")])
def test_a_measure_by_the_last_part_of_its_id_is_suggested(short: str, id_: str) -> None:
    gold = str(files("karat") / "demo" / "gold.jsonl")
    done = run("score", gold, gold, "-m", short)
    assert (done.code, done.err.splitlines()[-1]) == (2, f"  Did you mean {id_}? `karat measures` lists them.")
