"""Token tables: ids that reports show, words that count in no span, and spans projected to characters."""

import json
from pathlib import Path
from typing import Any

import pytest

from karat.model import Document, Mention
from karat.words import token_ids
from tests.running import run

WORDS = ("He", "carried", "out", "the", "assassination")
INCLUSIVE = "t1\tHe\t0\t1\nt2\tcarried\t3\t9\nt3\tout\t11\t13\nt4\tthe\t15\t17\nt5\tassassination\t19\t31\n"
EXCLUSIVE = "t1\tHe\t0\t2\nt2\tcarried\t3\t10\nt3\tout\t11\t14\nt4\tthe\t15\t18\nt5\tassassination\t19\t32\n"


def tbf(*lines: tuple[str, str]) -> str:
    """Mentions of one document: id and token ids."""
    mentions = [f"x\td\t{id_}\t{span}\twords\tLife_Die\tActual" for id_, span in lines]
    return "\n".join(["#BeginOfDocument d", *mentions, "#EndOfDocument", ""])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Gold `carried out the assassination`, the system without `the`."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "d.tab").write_text(INCLUSIVE)
    (tmp_path / "gold.tbf").write_text(tbf(("E1", "t2,t3,t4,t5")))
    (tmp_path / "system.tbf").write_text(tbf(("E1", "t2,t3,t5")))
    return tmp_path


def scored(*options: str, tokens: str = "tables") -> dict[str, Any]:
    done = run("score", "gold.tbf", "system.tbf", "--tokens", tokens, "-f", "json", *options)
    assert done.code == 0, done.err
    content: dict[str, Any] = json.loads(done.out)
    return content


def f1(*options: str, measure: str = "nugget.span") -> float:
    value: float = scored("-m", measure, *options)["scores"][measure]["micro"]["f1"]
    return round(100 * value, 2)


def refused(*options: str, tokens: str = "tables") -> str:
    done = run("score", "gold.tbf", "system.tbf", "--tokens", tokens, *options)
    assert (done.code, done.out) == (1, "")
    return done.err


# Invisible words


@pytest.mark.parametrize(("protocol", "whole"), [("tac-pilot", 92.31), ("liu-2015", 85.71), ("tac-2017", 85.71)])
def test_invisible_words_count_in_no_span(folder: Path, protocol: str, whole: float) -> None:
    """Dice is 2*3 / (4 + 3) with `the`, and 1 without. A file may spell its words in any case."""
    assert f1("-p", protocol) == whole
    assert f1("-p", protocol, "--set", "invisible=evmeval") == 100
    (folder / "words.txt").write_text("\nTHE\n")
    assert f1("-p", protocol, "--set", "invisible=words.txt") == 100
    (folder / "words.txt").write_text("carried\n")
    assert f1("-p", protocol, "--set", "invisible=words.txt") < whole


def test_the_signature_has_invisible_words_only_where_they_are_set(folder: Path) -> None:
    (folder / "words.txt").write_text("the\n")
    signatures = [
        scored("-p", "liu-2015", *options)["signature"].split("|")[2]
        for options in ((), ("--set", "invisible=evmeval"), ("--set", "invisible=words.txt"))
    ]
    assert signatures[:2] == ["unit=token", "invisible=evmeval"]
    assert signatures[2].startswith("invisible=words.txt@sha256:")


@pytest.mark.parametrize("protocol", ["tac-pilot", "liu-2015", "tac-2017"])
def test_a_mention_of_invisible_words_matches_nothing_but_counts(folder: Path, protocol: str) -> None:
    """E2 is `the` on both sides, under the same id: N_S and N_G are 2, and neither is matched, by id or otherwise."""
    for side, type_ in (("gold", "Life_Die"), ("system", "Other")):
        text = tbf(("E1", "t2,t3,t5"), ("E2", "t4"))
        (folder / f"{side}.tbf").write_text(text.replace("\tE2\tt4\twords\tLife_Die", f"\tE2\tt4\twords\t{type_}"))
    content = scored("-p", protocol, "--set", "invisible=evmeval", "-m", "nugget", "--details", "--errors")
    counts = content["scores"]["nugget.span"]["micro"]["counts"]
    assert (counts["recall_num"], counts["recall_den"], counts["precision_den"]) == (1, 2, 2)
    outcomes = [(one["outcome"], one["counts"]["recall_den"]) for one in content["details"]["nugget.span"]]
    assert sorted(outcomes) == [("match", 1), ("miss", 1), ("spurious", 0)]
    found = {name: error["count"] for name, error in content["errors"].items() if error["count"]}
    assert found == {"missed": 1, "spurious": 1}


def test_invisible_words_of_coreference(folder: Path) -> None:
    """With exact spans, coreference aligns nothing; without `the`, the spans are equal."""
    assert [f1(*more, measure="coref.mention") for more in ((), ("--set", "invisible=evmeval"))] == [0, 100]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--set", "invisible=evmevl"),
            "evmevl: there is no such file (--set invisible=...); invisible also takes: evm",
        ),
        (("--set", "invisible=tables"), "tables: there is no such file"),
        (("--set", "invisible=empty.txt"), "empty.txt: this file has no words"),
        (
            ("--set", "invisible=evmeval", "--unit", "char"),
            "gold.tbf, line 2: invisible words cannot be found: document ",
        ),
    ],
)
def test_what_invisible_cannot_be(folder: Path, options: tuple[str, ...], message: str) -> None:
    (folder / "empty.txt").write_text("\n")
    assert message in refused("-p", "liu-2015", *options)


def test_invisible_words_need_the_words(folder: Path) -> None:
    (folder / "tables" / "d.tab").write_text("t1\nt2\n")
    assert "document 'd' has no words of its tokens" in refused("-p", "liu-2015", "--set", "invisible=evmeval")
    done = run("score", "gold.tbf", "system.tbf", "--unit", "token", "-p", "liu-2015", "--set", "invisible=evmeval")
    assert (done.code, "--tokens DIR" in done.err) == (1, True)
    assert "[invisible-no-words]" in done.err


# Token ids


@pytest.mark.parametrize("options", [("--tokens", "tables"), ("--unit", "token")])
def test_details_show_token_ids(folder: Path, options: tuple[str, ...]) -> None:
    """t9 is in no table; in JSON the spans are numbers, as before, with the ids beside them."""
    (folder / "system.tbf").write_text(tbf(("E1", "t2,t3,t5"), ("E2", "t9")))
    args = ("score", "gold.tbf", "system.tbf", *options, "-p", "liu-2015", "-m", "nugget.span", "--details")
    lines = [line.split() for line in run(*args).out.splitlines()]
    assert [line[-4] for line in lines if "words" in line] == ["t2,t3,t4,t5", "t2,t3,t5", "t9"]
    match, spurious = json.loads(run(*args, "-f", "json").out)["details"]["nugget.span"]
    assert match["gold"]["token_ids"] == ["t2", "t3", "t4", "t5"]
    assert spurious["system"]["token_ids"] == ["t9"]
    assert len(match["gold"]["span"][0]) == 2
    if options[0] == "--tokens":
        assert match["system"]["span"] == [[1, 3], [4, 5]]


def test_findings_show_token_ids(folder: Path) -> None:
    """t9 is in no table: its number spells the id."""
    (folder / "gold.tbf").write_text(
        tbf(("E1", "t2,t9"), ("E2", "t2,t9")).replace("#End", "@Coreference\tC1\tE1,E2\n#End")
    )
    done = run("validate", "gold.tbf", "--tokens", "tables")
    assert "cluster 'C1' of document 'd' has the span t2,t9 ('words') twice [span-twice-in-cluster]" in done.out


def test_the_page_shows_token_ids_and_words(folder: Path) -> None:
    (folder / "tables" / "d.tab").write_text("id\tword\tbegin\tend\n" + INCLUSIVE)
    done = run("score", "gold.tbf", "system.tbf", "--tokens", "tables", "-f", "html", "-o", "page.html")
    assert done.code == 0, done.err
    text = (folder / "page.html").read_text()
    assert '"t2,t3,t5"' in text
    assert "He carried out the assassination" in text
    assert "word He" not in text  # a header is no word


@pytest.mark.parametrize("header", ["", "token_id\tword\tbegin\tend\n"])
def test_json_lines_keep_token_ids(folder: Path, header: str) -> None:
    """Read back with the table, a converted file is the file; without it, the ids are still written."""
    (folder / "tables" / "d.tab").write_text(header + INCLUSIVE)
    convert = ("convert", "gold.tbf", "gold.jsonl", "--tokens", "tables")
    assert run(*convert).code == 0
    content = json.loads((folder / "gold.jsonl").read_text())
    assert content["mentions"][0]["span"] == [[1, 5]]
    assert (content["token_ids"], content["forms"]) == ([f"t{number}" for number in range(1, 6)], [*WORDS])
    assert run("convert", "gold.jsonl", "back.tbf", "--tokens", "tables").code == 0
    assert (folder / "back.tbf").read_text() == (folder / "gold.tbf").read_text()
    assert "would be lost: the token table" in run("convert", "gold.jsonl", "alone.tbf").err
    assert run("convert", "gold.jsonl", "alone.tbf", "--lossy").code == 0
    assert (folder / "alone.tbf").read_text() == (folder / "gold.tbf").read_text()


def test_ids_that_a_span_claims_without_end() -> None:
    """A number after the table that spells nothing has no id, and ends the search."""
    document = Document("d", unit="token", token_ids=("t1",), mentions=(Mention("m", ((0, 10**12),)),))
    assert token_ids(document, document.mentions[0].span) is None
    assert token_ids(document, ((0, 1),)) == ("t1",)
    assert token_ids(Document("d", unit="token"), ((0, 1),)) is None


# Characters


@pytest.mark.parametrize("table", [INCLUSIVE, EXCLUSIVE, "id\tword\tbegin\tend\n" + EXCLUSIVE])
def test_spans_are_projected_to_characters(folder: Path, table: str) -> None:
    """Gold covers 3-32, the system 3-14 and 19-32, which is 29 and 24 characters: Dice = 48 / 53.

    Footnote 4 of the paper: long words weigh more than in tokens, where Dice is 6 / 7.
    """
    (folder / "tables" / "d.tab").write_text(table)
    content = scored("--unit", "char", "-p", "liu-2015", "-m", "nugget.span", "--details")
    assert content["scores"]["nugget.span"]["micro"]["f1"] == pytest.approx(48 / 53)
    (match,) = content["details"]["nugget.span"]
    assert (match["gold"]["span"], match["system"]["span"]) == ([[3, 32]], [[3, 14], [19, 32]])
    assert "token_ids" not in match["gold"]
    assert "|unit=char|" in content["signature"]


def test_a_projected_file_can_be_written(folder: Path) -> None:
    assert run("convert", "system.tbf", "char.tbf", "--tokens", "tables", "--unit", "char").code == 0
    assert "\t3,14;19,32\t" in (folder / "char.tbf").read_text()


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("t1\tHe\nt2\tcarried\n", "d.tab: the token 't1' has no offsets that are whole numbers"),
        (
            "t1\tHe\t0\t0\nt2\tcarried\t0\t0\n",
            "d.tab: neither end - begin nor end - begin + 1 is the length of the word",
        ),
        (
            "t1\tHe\t0\t2\nt2\tcarried\t3\t9\n",
            "d.tab: neither end - begin nor end - begin + 1 is the length of the word",
        ),
        ("t1\tHe\t0\t1\n", "gold.tbf, line 2: the token 't2' is not in"),
        ("t1\t\t0\t2\nt2\t\t3\t9\n", "d.tab: neither end - begin nor end - begin + 1 is the length of the word"),
        (INCLUSIVE.replace("19\t31", "0\t1"), "gold.tbf, line 2: the tokens 't2,t3,t4,t5' end before they begin in"),
        (None, "gold.tbf, line 2: the token 't2' cannot be found: there is no token table tables"),
    ],
)
def test_tables_without_usable_offsets_are_refused(folder: Path, table: str | None, message: str) -> None:
    place = folder / "tables" / "d.tab"
    place.unlink()
    if table is not None:
        place.write_text(table)
    found = refused("--unit", "char", "-p", "liu-2015")
    assert message in found
    assert "[token-offsets]" in found
    assert "omit --unit char" in found
