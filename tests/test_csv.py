"""Tables of mentions: CSV and TSV."""

import json
from pathlib import Path
from typing import Any

import pytest

import karat
from karat.model import Document, Mention
from tests.running import run

GOLD = """\
document,start,end,text,type,cluster,id,polarity
d1,4,9,raids,Attack,E1,a,
d2,0,5,walks,Move,,,
d1,20,24,"cut, ",Attack,E1,b,Negative
d1,30,33,off,,,b,
"""


def documents(tmp_path: Path, text: str, name: str = "g.csv") -> dict[str, Document]:
    (tmp_path / name).write_text(text)
    return {document.id: document for document in karat.read(tmp_path / name)}


def test_rows_are_mentions_or_their_segments(tmp_path: Path) -> None:
    """Rows of a document are scattered, rows with one id are segments, other columns are attributes."""
    read = documents(tmp_path, GOLD)
    assert [*read] == ["d1", "d2"]
    assert read["d1"].mentions == (
        Mention("a", ((4, 9),), cluster="E1", attributes={"type": "Attack"}, text="raids"),
        Mention(
            "b",
            ((20, 24), (30, 33)),
            cluster="E1",
            attributes={"type": "Attack", "polarity": "Negative"},
            text="cut,  off",
        ),
    )
    assert read["d2"].mentions == (Mention("m1", ((0, 5),), attributes={"type": "Move"}, text="walks"),)
    places = read["d1"].places
    assert places is not None
    assert [*places.mentions] == [2, 4]


@pytest.mark.parametrize(
    "text",
    [
        "doc\tstart\tlast\td1\t4\t8\n",
        "DOC_ID;Start;Last\nd1;4;8\n",
        "document,start,end\r\nd1,4.0,9.0\r\n",
        "\ufeffdocument,end,start\nd1,9,4\n\n,,\n",
    ],
)
def test_names_ends_and_separators(tmp_path: Path, text: str) -> None:
    text = text.replace("last\td1", "last\nd1")
    (document,) = documents(tmp_path, text, "g.tsv").values()
    assert [mention.span for mention in document.mentions] == [((4, 9),)]


def test_case_of_known_columns_does_not_matter(tmp_path: Path) -> None:
    """A column of another name is an attribute, and a note says that no mention has a type."""
    read = documents(tmp_path, "Document;Start;End;Type;REALIS;Polarity\nd1;4;9;Attack;Actual;Negative\n")
    assert read["d1"].mentions[0].attributes == {"type": "Attack", "realis": "Actual", "Polarity": "Negative"}
    documents(tmp_path, "document,start,end,Typ\nd1,4,9,Attack\n", "s.csv")
    result = karat.score(tmp_path / "g.csv", tmp_path / "s.csv", protocol="exact-2013")
    (note,) = [finding.message for finding in result.warnings if finding.code == "labels-unknown"]
    assert note == "gold has types, such as 'Attack', but no item of the system has one"


@pytest.mark.parametrize("first", ["d1,4,9,Attack", "Dokument;Anfang;Ende", "doc_id,author"])
def test_a_table_of_something_else_is_described(tmp_path: Path, first: str) -> None:
    (tmp_path / "g.csv").write_text(first + "\n")
    done = run("describe", str(tmp_path / "g.csv"))
    assert done.code == 1
    assert f"such as: document,start,end,type,cluster; found: '{first}'" in done.err


def test_an_empty_table_has_no_document(tmp_path: Path) -> None:
    documents(tmp_path, GOLD)
    (tmp_path / "s.csv").write_text("")
    assert karat.score(tmp_path / "g.csv", tmp_path / "s.csv", protocol="tac-2017").system.documents == 0


def test_heads_kinds_and_a_document_without_mentions(tmp_path: Path) -> None:
    text = "document,start,last,kind,head_start,head_last\nd1,4,9,entity,7,9\nd2,,,,,\n"
    read = documents(tmp_path, text)
    assert read["d1"].mentions == (Mention("m1", ((4, 10),), kind="entity", head=((7, 10),)),)
    assert read["d2"].mentions == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("document,start\n", "g.csv, line 1: no column end (exclusive) or last (inclusive); found: document, start"),
        ("document,begin,end\n", "g.csv, line 1: no column start; found: document, begin, end [csv-header]"),
        ("document,start,end,last\n", "g.csv, line 1: both end (exclusive) and last (inclusive) are given"),
        ("document,start,end,doc\n", "g.csv, line 1: two columns mean 'document'"),
        (",document,start,end\n0,d,1,2\n", "g.csv, line 1: column 1 has no name; pandas leaves out its index with"),
        ("document,start,end,\n", "g.csv, line 1: column 4 has no name [csv-header]"),
        ("document,start,end\nd,1\n", "g.csv, line 2: found 2 cells, expected 3, as the first row has"),
        ("document,start,end\n,1,2\n", "g.csv, line 2: this row has no document"),
        ('document,start,end\nd,1,"2\n', "g.csv, line 2: a cell in quotes does not end"),
        ("document,start,end\nd,1,x\n", "g.csv, line 2: start is '1' and end is 'x'"),
        ("document,start,end,type\nd,,,A\n", "g.csv, line 2: start is '' and end is '' [csv-span]"),
        ("document,start,last\nd,4,3\n", "g.csv, line 2: start is '4' and last is '3'"),
        ("document,start,end,id,type\nd,1,2,a,A\nd,4,5,a,B\n", "line 3: mention 'a' has the type 'B', but 'A' before"),
    ],
)
def test_what_a_table_cannot_be(tmp_path: Path, text: str, message: str) -> None:
    """Codes csv-header, csv-row, csv-span and csv-segments; a row of a system with an impossible span is spurious."""
    (tmp_path / "g.csv").write_text(text)
    done = run("score", str(tmp_path / "g.csv"), str(tmp_path / "g.csv"))
    assert (done.code, done.out) == (1, "")
    assert message in done.err
    if "[csv-span]" in done.err:
        (tmp_path / "gold.csv").write_text("document,start,end\nd,1,2\n")
        result = karat.score(tmp_path / "gold.csv", tmp_path / "g.csv", protocol="tac-2017")
        assert (result.system.mentions, result["nugget.span"].precision) == (1, 0)


@pytest.mark.parametrize("name", ["copy.csv", "copy.tsv.gz"])
def test_written_tables_hold_the_same(tmp_path: Path, name: str) -> None:
    documents(tmp_path, GOLD)
    done = run("convert", str(tmp_path / "g.csv"), str(tmp_path / name))
    assert done.code == 0, done.err
    once, again = (karat.score(tmp_path / side, tmp_path / side, protocol="tac-2017") for side in ("g.csv", name))
    assert once.gold.fingerprint == again.gold.fingerprint
    assert again["nugget.type"].f1 == again["coref.b3"].f1 == 1


def test_what_a_table_cannot_hold_is_a_loss(tmp_path: Path) -> None:
    mentions: list[dict[str, Any]] = [
        {"id": "m", "span": [[0, 1]], "attributes": {"type": "A", "start": "x", "Realis": "y", "score": 2}},
        {"id": "n", "span": [[1, 2]]},
    ]
    document = {"id": "d", "text": "ab", "mentions": mentions, "links": [{"kind": "after", "from": "m", "to": "n"}]}
    (tmp_path / "g.jsonl").write_text(json.dumps(document) + "\n")
    done = run("convert", str(tmp_path / "g.jsonl"), str(tmp_path / "g.csv"))
    assert done.code == 1
    assert not (tmp_path / "g.csv").exists()
    lost = {line.removeprefix("would be lost: ") for line in done.err.splitlines() if line.startswith("would be lost")}
    assert lost == {
        "the document's text (1)",
        "the attribute start, whose name means something else in a table (1)",
        "the attribute Realis, whose name means something else in a table (1)",
        "the type of the attribute score, which is not text (1)",
        "links of kind after (1)",
    }


def test_a_spreadsheet_is_saved_as_a_table_first(tmp_path: Path) -> None:
    (tmp_path / "g.xlsx").write_bytes(b"PK\x03\x04\x14\x00\x06\x00")
    done = run("describe", str(tmp_path / "g.xlsx"))
    assert done.code == 1
    assert "this is a spreadsheet, which karat does not read [file-spreadsheet]\n  Save the sheet as CSV" in done.err


def test_recordings_are_no_tables(tmp_path: Path) -> None:
    mention = {"id": "m", "span": [[0, 1]]}
    (tmp_path / "g.jsonl").write_text(json.dumps({"id": "d", "unit": "microsecond", "mentions": [mention]}) + "\n")
    done = run("convert", str(tmp_path / "g.jsonl"), str(tmp_path / "g.csv"))
    assert done.code == 1
    assert "[csv-unit]" in done.err
