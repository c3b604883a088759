"""Tables for people: breakdowns, the header, several protocols, terminals."""

import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import karat
from karat.api.scoring import Result, score
from karat.model import Document, Link, Mention
from karat.protocols import PROTOCOLS, resolve
from karat.report.layout import Style, View, table
from karat.report.outputs import text
from tests.corpora import as_jsonl, corpus, mention
from tests.running import run

DATA = Path(__file__).parent / "data"
DEMO = Path(karat.__file__).parent / "demo"
SCORE = ("score", str(DEMO / "gold.jsonl"), str(DEMO / "literal.jsonl"))


def block(output: str, title: str) -> list[list[str]]:
    """The rows of the table whose header begins so, in columns."""
    (found,) = [one for one in output.split("\n\n") if one.startswith(title)]
    return [re.split(r"\s{2,}", line) for line in found.splitlines()]


def on_terminal(*args: str, columns: int, code: int = 0, errors: bool = False, **environment: str) -> str:
    """Print to a terminal of that width: the output, or the errors."""
    main, terminal = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": str(columns), **environment}
    process = subprocess.Popen(
        [sys.executable, "-m", "karat", *args],
        stdout=subprocess.DEVNULL if errors else terminal,
        stderr=terminal if errors else subprocess.DEVNULL,
        env=environment,
    )
    os.close(terminal)
    pieces = []
    while True:
        try:
            piece = os.read(main, 1 << 16)
        except OSError:
            break
        if not piece:
            break
        pieces.append(piece)
    os.close(main)
    assert process.wait() == code
    return b"".join(pieces).decode().replace("\r\n", "\n")


# The header


def test_the_header_counts_the_mentions_that_the_protocol_scores() -> None:
    """Two of three mentions are events; one of the system's is in a document that tac-2017 ignores."""
    person = Mention("p", ((9, 12),), kind="entity")
    gold = [Document("d", mentions=(mention("a", (0, 4)), mention("b", (5, 8)), person))]
    system = [*gold, Document("e", mentions=(mention("x", (0, 4)),))]
    for protocol, numbers in (("tac-2017", (2, 2)), ("simple-cdec", (2, 3))):
        result = score(corpus(gold), corpus(system), protocol=protocol)
        assert (result.gold.mentions, result.system.mentions) == numbers
        assert result.to_dict()["gold"]["mentions"] == 2
        assert "2 mentions" in str(result)


def test_the_header_counts_before_collapsing_and_dropping_singletons() -> None:
    document = Document("d", mentions=tuple(mention(id_, (n, n + 1), cluster="C") for n, id_ in enumerate("abc")))
    alone = Document("e", mentions=(mention("x", (0, 4)),))
    for protocol, settings in (("pure-cdec", {}), ("simple-cdec", {"singletons": "drop-each"})):
        result = score(corpus([document, alone]), corpus([document, alone]), protocol=protocol, settings=settings)
        assert result.gold.mentions == 4


# Measures


def test_an_exact_id_wins_over_a_prefix() -> None:
    assert list(score(DATA / "gold.tbf", DATA / "system.tbf", measures=["nugget.type"]).scores) == ["nugget.type"]
    several = score(DATA / "gold.tbf", DATA / "system.tbf", measures=["nugget.t"]).scores
    assert list(several) == ["nugget.type", "nugget.type+realis"]
    assert list(score(DATA / "gold.tbf", DATA / "system.tbf", measures=["coref.blanc"]).scores) == ["coref.blanc"]


# Breakdowns


def test_a_breakdown_counts_items_and_sorts_by_loss() -> None:
    done = run("score", str(DATA / "gold.tbf"), str(DATA / "system.tbf"), "-m", "nugget.type", "--by", "type")
    header, *rows = block(done.out, "nugget.type by type")
    assert header == ["nugget.type by type", "gold", "system", "missed", "spurious", "P", "R", "F1"]
    by_name = {row[0]: row[1:5] for row in rows}
    assert by_name["Life_Injure"] == ["1", "0", "1", "0"]
    assert by_name["Conflict_Attack"] == ["0", "1", "0", "1"]
    alphabet = run(
        "score", str(DATA / "gold.tbf"), str(DATA / "system.tbf"), "-m", "nugget.type", "--by", "type", "--sort", "name"
    )
    names = [row[0] for row in block(alphabet.out, "nugget.type by type")[1:]]
    assert names == sorted(names)
    assert names != [row[0] for row in rows]


def test_what_lost_most_comes_first() -> None:
    gold = [mention(f"a{n}", (10 * n, 10 * n + 4), type="Alike") for n in range(5)]
    gold += [mention(f"w{n}", (100 + 10 * n, 104 + 10 * n), type="Wrong") for n in range(3)]
    system = [*gold[:5], mention("x", (900, 904), type="Extra")]
    sides = [corpus([Document("d", mentions=tuple(side))]) for side in (gold, system)]
    result = score(*sides, protocol="tac-2017", measures=["nugget.type"], by=["type"])
    assert [row[0] for row in block(str(result), "nugget.type by type")[1:]] == ["Wrong", "Extra", "Alike"]
    items = result.by["type"]["Wrong"]["nugget.type"].items
    assert items is not None
    assert items.numbers() == (3, 0, 3, 0)
    assert result.to_dict()["by"]["type"]["Wrong"]["nugget.type"]["items"]["missed"] == 3


def test_coreference_by_type_counts_mentions() -> None:
    """The items of a restricted corpus are its mentions: aligned ones under gold's type."""
    header, *rows = block(run(*SCORE, "-p", "tac-2017", "-m", "coref.b3", "--by", "realis").out, "coref.b3 by realis")
    assert header[1:5] == ["gold", "system", "missed", "spurious"]
    assert [int(row[1]) for row in rows] == [115, 23, 6]
    assert sum(int(row[2]) for row in rows) == 149


def test_an_f1_of_nothing_right_is_zero_in_text_only() -> None:
    sides = [corpus([Document("d", mentions=(mention("a", (n, n + 4), type="A"),))]) for n in (0, 10)]
    result = score(*sides, protocol="tac-2017", measures=["nugget.type"], by=["type"])
    assert result["nugget.type"].f1 is None
    assert block(str(result), "nugget.type by type")[1] == ["A", "1", "1", "1", "1", "0.00", "0.00", "0.00"]
    assert block(str(result), "measure")[1][1:4] == ["0.00", "0.00", "0.00"]


# Several protocols


def test_micro_is_not_said_where_there_is_no_macro() -> None:
    out = run(*SCORE, "-p", "simple-cdec").out
    assert block(out, "measure")[0] == ["measure", "P", "R", "F1"]
    assert "micro" not in out
    assert "micro P" in run(*SCORE, "-p", "tac-2017").out


def test_a_summary_is_one_table() -> None:
    out = run(*SCORE, "-p", "simple-cdec", "-p", "pure-cdec", "--summary").out
    rows = block(out, "protocol: coref F1")
    assert [row[0] for row in rows[1:]] == ["simple-cdec", "pure-cdec"]
    assert "measure" not in out
    assert "note: pure-cdec: each cluster within a document was collapsed" in out
    assert out.count("signature  ") == 2


def test_a_note_of_several_protocols_is_printed_once(tmp_path: Path) -> None:
    document = Document("d", mentions=(mention("a", (0, 4), cluster="C"),), links=(Link("after", "a", "a"),))
    (tmp_path / "gold.jsonl").write_bytes(as_jsonl(document))
    paths = [str(tmp_path / "gold.jsonl")] * 2
    out = run("score", *paths, "-p", "simple-cdec", "-p", "bejan-harabagiu-2014").out
    notes = [line for line in out.splitlines() if line.startswith("note")]
    assert notes
    assert len(notes) == len(set(notes))
    assert any("inside" in note or "itself" in note for note in notes)


# Terminals


WIDE: tuple[tuple[Any, ...], ...] = (
    (*SCORE, "-p", "tac-2017"),
    (*SCORE, "-p", "tac-2017", "--by", "type"),
    (*SCORE, "-p", "tac-2017", "--per-document"),
    (*SCORE, "-p", "muc-5"),
    (*SCORE, "-p", "bejan-harabagiu-2014", "-p", "upadhyay-2016-is", "-p", "araki-2014", "--summary"),
    (*SCORE, "-p", "tac-2017", "-m", "nugget.type", "-m", "coref.b3", "-m", "sequence", "--details"),
)


@pytest.mark.slow
@pytest.mark.parametrize("args", WIDE, ids=lambda args: " ".join(args[3:]))
def test_tables_fit_the_terminal(args: tuple[str, ...]) -> None:
    out = on_terminal(*args, columns=80, NO_COLOR="1")
    assert "\033" not in out
    lines = [line for line in out.splitlines() if not line.startswith("signature")]
    assert max(map(len, lines)) <= 80
    assert re.search(r"\d\d\.\d\d", out)


@pytest.mark.slow
def test_colours_are_for_terminals() -> None:
    args = (*SCORE, "-p", "tac-2017", "-m", "nugget.type", "--details")
    out = on_terminal(*args, columns=100, NO_COLOR="")
    assert "\033[36mnote\033[0m:" in out
    assert "\033[1mmeasure" in out
    assert "\033[31mmiss\033[0m" in out
    assert "\033" not in run(*args).out
    assert "\033" not in on_terminal(*args, columns=100, TERM="dumb")
    absent = ("score", "nowhere", "nowhere")
    red = on_terminal(*absent, columns=100, code=1, errors=True, NO_COLOR="")
    assert red.startswith("\033[31m\033[1merror\033[0m: nowhere")
    assert on_terminal(*absent, columns=100, code=1, errors=True, NO_COLOR="1").startswith("error: nowhere")


def test_html_for_a_terminal_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless -o asks for it on the terminal, and never in place of a file that is not a report."""
    args = ("score", str(DATA / "gold.tbf"), str(DATA / "system.tbf"), "-f", "html", "--summary")
    monkeypatch.chdir(tmp_path)
    for _ in range(2):
        assert on_terminal(*args, columns=80) == ""
    assert Path("karat-report.html").read_text(encoding="utf-8") == run(*args).out
    assert "</html>" in on_terminal(*args, "-o", "-", columns=80)
    Path("karat-report.html").write_text("mine")
    on_terminal(*args, columns=80, code=1)
    assert Path("karat-report.html").read_text() == "mine"


@pytest.mark.slow
@pytest.mark.parametrize("columns", [40, 100])
def test_severities_of_a_validation_have_their_colours(tmp_path: Path, columns: int) -> None:
    """In wrapped messages, too; a word that is part of the file's name has none."""
    path = tmp_path / "default.tbf"
    lines = (DATA / "gold.tbf").read_text().replace("\tActual", "\tPerhaps").splitlines(keepends=True)
    path.write_text("".join(lines[:-1]))
    out = on_terminal("validate", str(path), columns=columns, code=1, NO_COLOR="")
    assert "\033[31mfatal\033[0m:" in out
    assert "\033[36mnote\033[0m:" in out
    assert out.count("\033[0m") == 2
    plain = on_terminal("validate", str(path), columns=columns, code=1, NO_COLOR="1")
    assert re.sub(r"\033\[\d*m", "", out) == plain


def test_a_table_that_does_not_fit_is_cut_on_the_left_and_continued_on_the_right() -> None:
    header = ["name", *(f"column {n}" for n in range(9))]
    rows = [["a type with a very long name indeed " * 2, *map(str, range(9))]]
    shown = table(header, rows, style=Style(60))
    assert max(map(len, shown.splitlines())) <= 60
    assert len(shown.split("\n\n")) > 1
    assert all(f"column {n}" in shown for n in range(9))
    assert "…" in shown
    assert "…" not in table(header, rows)


def test_forty_values_with_long_names() -> None:
    types = [f"Conflict_Demonstrate_{'x' * 30}_{n:02}" for n in range(40)]
    mentions = tuple(mention(f"m{n}", (10 * n, 10 * n + 4), type=type_) for n, type_ in enumerate(types))
    side = corpus([Document("d", mentions=mentions)])
    result: Result = score(side, side, protocol="tac-2017", measures=["nugget.type"], by=["type"])
    shown = text([result], View(style=Style(80)))
    lines = [line for line in shown.splitlines() if not line.startswith("signature")]
    assert max(map(len, lines)) <= 80
    assert sum("100.00" in line for line in lines) == 41


ARGUMENTS = DEMO.parent / "studies" / "data" / "arguments"
RELATED = [
    Document(
        "d",
        mentions=(mention("a", (0, 1)), mention("b", (2, 3)), mention("c", (4, 5))),
        links=tuple(Link(kind, "a", "b") for kind in ("BEFORE", "CAUSE", "PRECONDITION", "subevent")),
    )
]
HEADLESS = {"wikievents-2021": {"match": "exact"}}
"""Settings for gold without heads."""


@pytest.mark.parametrize("protocol", [name for name, _ in PROTOCOLS])
def test_the_headline_of_a_protocol_is_scored(protocol: str) -> None:
    """It is emphasised on a terminal."""
    gold: Any = DEMO / "gold.jsonl"
    system: Any = DEMO / "literal.jsonl"
    families = {choice.name for choice in resolve(protocol).families}
    if {"arg", "template"} & families:  # the demo has neither
        gold = system = ARGUMENTS / ("sentences.json" if "arg" in families else "incidents.json")
    if {"relation", "temporal"} & families:
        gold = system = RELATED
    result = score(gold, system, protocol=protocol, settings=HEADLESS.get(protocol))
    assert result.headline
    assert set(result.headline) <= set(result.scores)
    shown = text([result], View(style=Style(100, colour=True)))
    assert len(result.scores) == 1 or f"\033[1;36m{result.headline[0]}" in shown


def test_elements_of_ace_that_only_one_side_has_are_in_the_html_report(tmp_path: Path) -> None:
    """A missed element names no element of the system, and a false alarm none of gold."""
    for name, place in (("gold", 0), ("system", 9)):
        mention = f'{{"id":"m","span":[[{place},{place + 3}]],"kind":"entity","cluster":"{name}"}}'
        (tmp_path / f"{name}.jsonl").write_text(f'{{"id":"d","mentions":[{mention}]}}\n')
    gold, system, page = (str(tmp_path / name) for name in ("gold.jsonl", "system.jsonl", "page.html"))
    done = run("score", gold, system, "-p", "ace-2005", "-m", "ace.edr", "-f", "html", "-o", page)
    assert done.code == 0, done.err
    assert "false alarm" in Path(page).read_text()


@pytest.mark.parametrize("protocol", ["muc-5", "tac-pilot"])
def test_html_of_items_that_are_incorrect(tmp_path: Path, protocol: str) -> None:
    """Found in the right place, with a wrong type: an outcome of its own, which has its place among the others."""
    line = "#BeginOfDocument d\ns\td\tE1\t0,4\tAnna\tA\tActual\n#EndOfDocument\n"
    gold, system = tmp_path / "gold.tbf", tmp_path / "system.tbf"
    gold.write_text(line)
    system.write_text(line.replace("\tA\t", "\tB\t"))
    done = run("score", str(gold), str(system), "-p", protocol, "-f", "html", "-o", str(tmp_path / "report.html"))
    assert done.code == 0, done.err
    assert "incorrect" in (tmp_path / "report.html").read_text()
