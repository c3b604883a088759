"""JSON files of all shapes: lines, a list, one value; where each value is, and which format it has."""

import json
from pathlib import Path
from typing import Any

import pytest

import karat
from karat.corpus.opening import open_corpus
from karat.formats import FORMATS
from karat.formats._forms import FORMS, first_fields, form
from karat.formats._json import entries
from karat.plugin import Piece
from karat.problems import KaratError
from tests.event_files import (
    COREFERENCE,
    DOCUMENTS,
    DUEE,
    DYGIE,
    E2E,
    FEWFC,
    GEN_ARG,
    GRIT,
    GRIT_SYSTEM,
    GTT_SYSTEM,
    ITERX_SYSTEM,
    MAVEN,
    ONEIE_OUTPUT,
    RAMS_PREDICTIONS,
    SUBMISSION,
    TEXTEE,
    UNIFIED,
    changed,
)
from tests.running import run

WINDOWS = [changed(TEXTEE, "wnd_id", to=f"d1-{number}") for number in range(3)]
SHAPES = {
    "lines": "".join(f"{json.dumps(window)}\n" for window in WINDOWS),
    "lines of Windows, and blank ones": "\r\n\r\n".join(map(json.dumps, WINDOWS)),
    "a list on one line": json.dumps(WINDOWS),
    "a list over many lines": f"\n\n {json.dumps(WINDOWS, indent=1)}\n",
}
LINES = {
    "lines": [1, 2, 3],
    "lines of Windows, and blank ones": [1, 3, 5],
    "a list on one line": [1, 1, 1],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_file_is_read_in_every_shape(shape: str, tmp_path: Path) -> None:
    path = tmp_path / "gold.json"
    path.write_text(SHAPES[shape], encoding="utf-8")
    assert [document.id for document in karat.read(path)] == ["d1-0", "d1-1", "d1-2"]
    corpus = open_corpus(str(path))
    found = [corpus.where(id_)[1] or 0 for id_ in corpus.ids()]
    if shape in LINES:
        assert found == LINES[shape]
    else:
        lines = path.read_text().split("\n")
        assert all(lines[line - 1].strip() == "{" for line in found)


def test_one_value_over_many_lines(tmp_path: Path) -> None:
    """Findings name the line of the mention within it."""
    path = tmp_path / "gold.json"
    path.write_text(f"\n{json.dumps(changed(TEXTEE, 'event_mentions', 0, 'trigger', 'end', to=9), indent=1)}")
    corpus = karat.read(path)
    assert [document.id for document in corpus] == ["d1-0"]
    done = json.loads(run("validate", str(path), "-f", "json").out)
    (finding,) = done["files"][0]["findings"]
    assert finding["code"] == "span-beyond-text"
    assert path.read_text().split("\n")[finding["line"] - 1].strip() == '"id": "E1",'


def test_entries_have_keys_and_places() -> None:
    data = b' {"a\\"b": {"x": 1},\n "c" : [2],\n\n"d":"e"}'
    pieces = entries(Piece("f", data, 7))
    assert [(piece.id, piece.data, piece.line) for piece in pieces] == [
        ('a"b', b'{"x": 1}', 7),
        ("c", b"[2]", 8),
        ("d", b'"e"', 10),
    ]


@pytest.mark.parametrize(
    ("content", "code", "line"),
    [
        pytest.param(SHAPES["lines"] + '{"wnd_id": ', "textee-shape", 4, id="a line that breaks off"),
        pytest.param(SHAPES["a list over many lines"].rstrip()[:-1], "json-broken", None, id="a list without an end"),
        pytest.param(json.dumps(TEXTEE) + "\n[]\n", "textee-shape", 2, id="a list on a line"),
        pytest.param('{"wnd_id": "a", "event_mentions": [], "wnd_id": "b"}', "json-key-twice", 1, id="a key twice"),
        pytest.param(
            '{"wnd_id": "a", "event_mentions": [], "relation_mentions": [{"id": "r", "id": "s"}]}',
            "json-key-twice",
            1,
            id="a key twice in what is not read",
        ),
        pytest.param(
            '{"wnd_id": "a", "text": "x\\u003ay", "event_mentions": [], "event_mentions": []}',
            "json-key-twice",
            1,
            id="a key twice beside an escaped colon",
        ),
        pytest.param(
            f'{json.dumps(TEXTEE)}\n{{"wnd_id": "a", "event_mentions": [],\n "x": {{"y": 1, "y": 2}}}}',
            "textee-shape",
            2,
            id="a value over two lines after others",
        ),
        pytest.param(
            '[{"wnd_id": "a", "event_mentions": []},\n {"wnd_id": "b",\n "event_mentions": [],\n "wnd_id": "c"}]',
            "json-key-twice",
            4,
            id="a key twice in a list",
        ),
        pytest.param(
            f'{{"wnd_id": "a", "event_mentions": [], "x": {"[" * 100_000}{"]" * 100_000}}}',
            "textee-shape",
            1,
            id="nested deeply",
        ),
        pytest.param(b'{"wnd_id": "a", "event_mentions": [], "text": "\xff"}', "encoding", 1, id="not UTF-8"),
        pytest.param(b'{"wnd_id": "a", "event_mentions": [], "x": "\xff"}', "encoding", 1, id="not UTF-8, not read"),
        pytest.param('{"wnd_id": "a", "event_mentions": [], "x": "\\ud800"}', "textee-shape", 1, id="half a character"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_line(
    content: str | bytes, code: str, line: int | None, tmp_path: Path
) -> None:
    path = tmp_path / "gold.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(KaratError) as caught:
        list(open_corpus(str(path), format="textee"))
    assert caught.value.finding.code == code
    assert caught.value.finding.line == (line or path.read_text().rstrip().count("\n") + 1)


# Formats by content

OTHERS: dict[str, list[Any]] = {
    "oneie": [ONEIE_OUTPUT, {"sent_id": "s", "gold": {}, "pred": {}}],
    "dygie": [
        changed(DYGIE, "events", to=[]),
        {"doc_key": "d", "sentences": [], "relations": []},
        {**E2E, "ner": []},
        {**E2E, "predicted_ner": []},
    ],
    "e2e": [{"doc_key": "d", "sentences": [], "predicted_clusters": []}],
    "rams": [RAMS_PREDICTIONS, {"doc_key": "d", "predicted": "", "gold": "", "gold_evt_links": []}],
    "muc4": [GRIT_SYSTEM, GTT_SYSTEM, ITERX_SYSTEM, GRIT, {"TST1-MUC3-0001": []}],
    "maven": [MAVEN, UNIFIED, SUBMISSION, {"id": "d", "content": [], "candidates": []}],
    "fewfc": [
        DUEE,
        changed(FEWFC, "events", to=[]),
        changed(DUEE, "event_list", to=[]),
        {"id": "d", "text": "", "events": FEWFC["events"]},
    ],
    "maven-ere": [{"id": "d", "events": [], "temporal_relations": {}}, {"id": "d", "causal_relations": {}}],
    "answers": [
        {"id": "d", "events": []},
        {"id": "d", "events": [{"type": "A", "trigger": "raid", "arguments": [{"role": "B", "text": "town"}]}]},
    ],
    "wikievents-coreference": [COREFERENCE],
    "gen-arg": [GEN_ARG],
    "jsonl": [{"id": "d", "mentions": []}, {"id": "d", "text": '{"wnd_id":', "mentions": [{"id": "m", "span": []}]}],
}


@pytest.mark.parametrize("name", [*DOCUMENTS, *OTHERS])
def test_the_keys_of_the_first_value_tell_the_format(name: str) -> None:
    for document in [*([DOCUMENTS[name]] if name in DOCUMENTS else []), *OTHERS.get(name, ())]:
        text = json.dumps(document)
        for shaped in (text, f"\n {text}\n{text}", f"[{text}, {text}]", json.dumps([document], indent=2)):
            assert form(shaped.encode()) == name


@pytest.mark.parametrize("name", [*DOCUMENTS, *OTHERS])
def test_no_other_format_takes_it(name: str) -> None:
    """Of all formats that there are; files that belong to one, but hold no document, are of none."""
    for document in [*([DOCUMENTS[name]] if name in DOCUMENTS else []), *OTHERS.get(name, ())]:
        data = json.dumps(document).encode()
        taken = {known for known, format_ in FORMATS if format_.sniff(data)}
        assert taken == ({name} if name in FORMATS.own else set())


def test_a_beginning_is_enough() -> None:
    """The first value may be longer than what is looked at: keys before the cut count."""
    head = json.dumps({**TEXTEE, "text": "x" * 100}).encode()
    cut = head.index(b'"event_mentions"')
    assert form(head[: cut + len('"event_mentions": [{')]) == "textee"
    assert form(head[:cut]) is None
    assert first_fields(b'{"id": "a", "b": "he said \\"wnd_id\\": {')["b"].keys == set()


@pytest.mark.parametrize("text", ["", "[]", "[1]", "{}", "{]", "x", '{"a": "b', '{"a"', "}", '"a": 1'])
def test_nothing_else_is_recognised(text: str) -> None:
    assert form(text.encode()) is None


def test_every_form_is_tested() -> None:
    assert {name for name, _ in FORMS} <= {*DOCUMENTS, *OTHERS}


def test_keys_after_a_long_value_count(tmp_path: Path) -> None:
    """A long document comes before its events: more than a megabyte of its line is looked at."""
    path = tmp_path / "gold.jsonl"
    path.write_text(json.dumps({"wnd_id": "a", "text": "x" * (1 << 20), "event_mentions": []}))
    assert karat.read(path).format == "textee"


@pytest.mark.parametrize(
    ("line", "keys", "nearest"),
    [
        ({"doc_key": "d", "sentences": [["a"]], "chains": []}, "'doc_key', 'sentences', 'chains'", "'events' or 'ner'"),
        ({"id": "d", "mention": []}, "'id', 'mention'", "jsonl, the nearest, also has 'mentions'"),
        ({"target": "x", "denotations": []}, "'target', 'denotations'", ""),
    ],
)
@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".textee.json"])
def test_an_unknown_format_is_said_once(line: Any, keys: str, nearest: str, suffix: str, tmp_path: Path) -> None:
    """With the keys of its first object, not once per line, whatever the suffix, and pretty-printed or not."""
    for text in (3 * f"{json.dumps(line)}\n", json.dumps([line], indent=2)):
        path = tmp_path / f"x{suffix}"
        path.write_text(text)
        done = run("validate", str(path), "-f", "json")
        (finding,) = json.loads(done.out)["files"][0]["findings"]
        assert finding["code"] == "format-unknown"
        assert f"has the keys {keys}" in finding["message"]
        assert nearest in finding["message"]


def test_pretty_printed_documents_are_read(tmp_path: Path) -> None:
    """One value, or a list of them; findings name the line of the mention."""
    documents = [{"id": id_, "text": "abc", "mentions": [{"id": "m", "span": [[0, 9]]}]} for id_ in "ab"]
    one, both, lines = tmp_path / "one.jsonl", tmp_path / "both.json", tmp_path / "lines.jsonl"
    one.write_text(json.dumps(documents[0], indent=1))
    both.write_text(json.dumps(documents, indent=1))
    lines.write_text("".join(f"{json.dumps(document)}\n" for document in documents))
    assert list(karat.read(both)) == list(karat.read(lines))
    assert list(karat.read(one)) == list(karat.read(lines))[:1]
    (finding,) = json.loads(run("validate", str(one), "-f", "json").out)["files"][0]["findings"]
    assert (finding["code"], finding["line"]) == ("span-beyond-text", 6)


@pytest.mark.parametrize("stray", ['{"target": "x", "text": "Anna", "denotations": []}', "{}\n"])
def test_stray_json_is_no_part_of_a_folder(stray: str, tmp_path: Path) -> None:
    """Beside the files of BioNLP, for example."""
    (tmp_path / "x.a1").write_text("T1\tProtein 0 4\tAnna\n")
    (tmp_path / "x.a2").write_text("T2\tDie 9 15\tkilled\nE1\tDie:T2 Theme:T1\n")
    (tmp_path / "x.json").write_text(stray)
    done = run("validate", str(tmp_path), "-f", "json")
    codes = {finding["code"] for file in json.loads(done.out)["files"] for finding in file["findings"]}
    assert codes == {"file-skipped", "text-missing"}
    assert [document.id for document in karat.read(tmp_path)] == ["x"]


@pytest.mark.parametrize(("cut", "line"), [(-20, 9), (None, 15)], ids=["truncated", "two documents"])
def test_a_broken_value_over_many_lines_is_refused_once(cut: int | None, line: int, tmp_path: Path) -> None:
    """Not once per line."""
    pretty = json.dumps({"id": "d", "mentions": [{"id": "m", "span": [[0, 3]]}]}, indent=1)
    path = tmp_path / "mine.json"
    path.write_text(pretty[:cut] if cut else f"{pretty}\n{pretty}")
    found = json.loads(run("validate", str(path), "-f", "json").out)["files"][0]["findings"]
    assert [(finding["code"], finding["line"]) for finding in found] == [("jsonl-shape", line)]


def test_an_unknown_field_is_said_once_with_its_lines(tmp_path: Path) -> None:
    """With the field that may be meant, or where other values go; over several lines, at the field."""
    path = tmp_path / "mine.jsonl"
    mention = {"id": "m", "span": [[0, 3]], "atributes": {}}
    path.write_text("".join(json.dumps({"id": f"d{n}", "mentions": [mention]}) + "\n" for n in range(9)))
    shown = run("validate", str(path)).out
    assert "line 1: fatal: the field 'atributes' is not known in mentions[0]; did you mean 'attributes'?" in shown
    assert "  8 more with this message: lines 2, 3, 4, 5, ...\n" in shown
    assert shown.count("atributes'") == 1
    path.write_text(json.dumps({"id": "d", "mentions": [{"id": "m", "span": [[0, 3]], "type": "Die"}]}, indent=1))
    message = "line 12: fatal: the field 'type' is not known in mentions[0]; other values go into its attributes"
    assert message in run("validate", str(path)).out
    path.write_text(json.dumps({"id": "d", "mentions": [], "split": "test"}))
    assert "links; other values go into about, as strings" in " ".join(run("validate", str(path)).out.split())
    path.write_text(json.dumps({"id": "d", "unit": "chars", "mentions": []}))
    assert "unit has the value 'chars', expected one of: char, token, " in run("validate", str(path)).out


def test_lines_of_python_are_not_json(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text("{'id': 'd', 'mentions': []}\n")
    assert "line 1: fatal: this is not JSON: found" in run("validate", str(path)).out


def test_a_link_over_many_lines_is_where_it_stands(tmp_path: Path) -> None:
    mentions = [{"id": id_, "span": [[index, index + 1]]} for index, id_ in enumerate("abc")]
    links = [{"kind": "subevent", "from": id_, "to": "c"} for id_ in "ab"]
    path = tmp_path / "gold.json"
    text = json.dumps({"id": "d", "mentions": mentions, "links": links}, indent=1)
    path.write_text(text)
    last = 1 + text[: text.rindex('"from"')].count("\n")
    found = json.loads(run("validate", str(path), "-p", "araki-2014", "-f", "json").out)["files"][0]["findings"]
    assert [(finding["code"], finding["line"]) for finding in found] == [("two-parents", last)]
