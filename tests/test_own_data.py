"""Data that programs hold: dicts, rows of a table, tags of tokens, documents of spaCy; results as data frames."""

import csv
import json
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

import karat
from karat import Document, KaratError, Mention, UsageError
from tests.running import run

NAN = float("nan")
RAID = {"span": [[4, 9]], "attributes": {"type": "Attack"}}
ROWS: list[dict[str, Any]] = [
    {"doc": "d1", "start": 4, "end": 9, "type": "Attack", "cluster": "3", "text": "v1.0", "id": "a"},
    {"doc": "d2", "start": None, "end": None},
    {"doc": "d1", "start": 12, "end": 15, "type": "", "cluster": None, "negated": True},
    {"doc": "d1", "start": 20, "end": 24, "type": "Attack", "cluster": "3", "text": "off", "id": "a"},
]
DOCUMENTS = [
    Document(
        "d1",
        mentions=(
            Mention("a", ((4, 9), (20, 24)), cluster="3", attributes={"type": "Attack"}, text="v1.0 off"),
            Mention("m1", ((12, 15),), attributes={"negated": True}),
        ),
    ),
    Document("d2"),
]


# Mentions without ids, and dicts


def test_mentions_without_ids_are_numbered(tmp_path: Path) -> None:
    """Names that mentions, clusters or links use are skipped, in files and in dicts."""
    mentions = [RAID, {**RAID, "id": "m2"}, {"span": [[12, 15]], "cluster": "m3"}, {"id": None, "span": [[20, 24]]}]
    gold = {"id": "d", "mentions": mentions, "links": [{"kind": "after", "from": "m2", "to": "m4"}]}
    expected = ["m1", "m2", "m5", "m6"]
    for name, text in (("g.jsonl", json.dumps(gold)), ("g.json", json.dumps([gold], indent=1))):
        (tmp_path / name).write_text(text)
        (document,) = karat.read(tmp_path / name)
        assert [mention.id for mention in document.mentions] == expected
        assert "[argument-unknown]" in run("validate", str(tmp_path / name)).out
    (document,) = karat.read([gold])
    assert [mention.id for mention in document.mentions] == expected


@pytest.mark.parametrize("nothing", ["[]", "[ ]\n", "\n[\n]\n"])
def test_an_empty_list_is_a_system_without_documents(nothing: str, tmp_path: Path) -> None:
    (tmp_path / "gold.json").write_text(json.dumps([{"id": "d", "mentions": [RAID]}]))
    (tmp_path / "mine.json").write_text(nothing)
    paths = [str(tmp_path / name) for name in ("gold.json", "mine.json")]
    assert run("score", *paths, "--value", "nugget.type.recall").out == "0.00\n"
    assert "[gold-empty]" in run("score", *reversed(paths)).err


@pytest.mark.parametrize("span", [{}, {"span": []}])
def test_an_id_is_required_where_there_is_no_span(span: Mapping[str, Any], tmp_path: Path) -> None:
    gold = {"id": "d", "mentions": [span]}
    (tmp_path / "g.jsonl").write_text(json.dumps(gold))
    done = run("validate", str(tmp_path / "g.jsonl"))
    assert "the field 'id' is missing in mentions[0] [jsonl-shape]" in done.out
    with pytest.raises(KaratError, match="document 'd': the field 'id' is missing in mentions"):
        karat.read([gold])


def test_an_attribute_that_is_null_is_absent(tmp_path: Path) -> None:
    """As programs write it that give every mention the same keys, in a file and in memory."""
    mention = {"id": "a", "span": [[0, 4]], "attributes": {"type": "Attack", "realis": None}}
    given = {"id": "d", "mentions": [mention]}
    expected = Document("d", mentions=(Mention("a", ((0, 4),), attributes={"type": "Attack"}),))
    (tmp_path / "gold.jsonl").write_text(json.dumps(given), encoding="utf-8")
    assert [*karat.read(tmp_path / "gold.jsonl")] == [*karat.read([given])] == [expected]
    twice = json.dumps(given).replace('"realis": null', '"realis": null, "type": "Die"')
    (tmp_path / "gold.jsonl").write_text(twice, encoding="utf-8")
    with pytest.raises(KaratError, match="the key 'type' is given twice"):
        [*karat.read(tmp_path / "gold.jsonl")]
    with pytest.raises(KaratError, match=r"mentions\[0\]\.kind is null"):
        karat.read([{"id": "d", "mentions": [{**mention, "kind": None}]}])


def test_dicts_are_documents() -> None:
    """With numbers of numpy, or with records in them; one is a list of one."""
    raid = {**RAID, "span": np.array([[4, 9]])}
    gold = {
        "id": "d",
        "mentions": [raid, {"span": [[np.int64(12), np.int64(15)]], "attributes": {np.str_("n"): np.True_}}],
    }
    records = {"id": "d", "mentions": (Mention("m1", ((4, 9),), attributes={"type": "Attack"}),)}
    result = karat.score([gold], [records], protocol="tac-2017", measures="nugget.type")
    assert (result["nugget.type"].precision, result["nugget.type"].recall) == (1, 0.5)
    assert karat.score(gold, records, protocol="tac-2017", measures="nugget.type").to_dict() == result.to_dict()
    comparison = karat.compare([gold], {"mine": [records]}, protocol="tac-2017", measures="nugget.type")
    assert comparison.systems[0].scores["nugget.type"].recall == 0.5
    scorer = karat.Scorer("tac-2017", measures="nugget.type")
    scorer.add(gold, records)
    assert scorer.result().to_dict() == result.to_dict()
    assert [mention.span for document in karat.read([gold]) for mention in document.mentions] == [
        ((4, 9),),
        ((12, 15),),
    ]


# Tables


class Frame:
    """A data frame, as far as pandas and polars agree."""

    def __init__(self, rows: list[dict[str, Any]], empty: object) -> None:
        self.columns = [*dict.fromkeys(name for row in rows for name in row)]
        self._cells = {name: [row.get(name, empty) for row in rows] for name in self.columns}

    def __getitem__(self, name: str) -> Any:
        return SimpleNamespace(to_list=lambda: self._cells[name])


class NAType:
    """Like the missing value of pandas, it has no truth value."""

    def __bool__(self) -> bool:
        raise TypeError

    def __eq__(self, other: object) -> "NAType":  # type: ignore[override]
        return self

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize("empty", [None, NAN, np.float64("nan"), NAType()])
def test_rows_are_mentions_as_in_a_file(empty: object, tmp_path: Path) -> None:
    """From dicts, and from frames, which fill empty cells and turn the numbers beside them into floats."""
    assert karat.from_rows(ROWS) == DOCUMENTS
    floats = [{name: float(cell) if type(cell) is int else cell for name, cell in row.items()} for row in ROWS]
    assert (
        karat.from_rows(Frame([{**row, "cluster": 3.0 if row.get("cluster") else empty} for row in floats], empty))
        == DOCUMENTS
    )
    names = [*dict.fromkeys(name for row in ROWS for name in row)]
    table = [names, *([str(cell) if (cell := row.get(name)) is not None else "" for name in names] for row in ROWS)]
    (tmp_path / "g.csv").write_text("".join(",".join(cells) + "\n" for cells in table))
    read = [*karat.read(tmp_path / "g.csv")]
    assert [[mention.span for mention in document.mentions] for document in read] == [
        [mention.span for mention in document.mentions] for document in DOCUMENTS
    ]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_of_libraries(library: str) -> None:
    frames = pytest.importorskip(library)
    assert karat.from_rows(frames.DataFrame(ROWS)) == DOCUMENTS
    result = karat.score(DOCUMENTS, DOCUMENTS, protocol="tac-2017")
    assert len(frames.DataFrame(result.to_dicts())) == len(result.to_dicts())
    if library == "pandas":
        assert result.to_frame().equals(frames.DataFrame(result.to_dicts()))


def test_a_data_frame_is_not_a_list_of_documents() -> None:
    with pytest.raises(KaratError, match=r"expected documents, found a data frame .*\n.*karat\.from_rows"):
        karat.score(DOCUMENTS, Frame(ROWS, None), protocol="tac-2017")  # type: ignore[call-overload]


def test_a_table_may_have_no_mentions() -> None:
    assert karat.from_rows([{"document": "d", "start": None, "end": NAN}]) == [Document("d")]
    assert karat.from_rows(Frame([], None)) == []


def test_rows_may_count_tokens() -> None:
    (document,) = karat.from_rows([{"document": "d", "start": np.int64(0), "last": 2}], unit="token")
    assert (document.unit, document.mentions[0].span) == ("token", ((0, 3),))


ROW = {"document": "d", "start": 1, "end": 2}


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (3, "rows: found 3, expected the rows of a table [not-rows]"),
        ("g.csv", "rows: found 'g.csv', expected the rows of a table [not-rows]"),
        (["d"], "rows[0]: found 'd', expected a dict with names of columns [not-rows]"),
        ([{**ROW, "when": object}], "rows[0]: when: found an object of the type type, expected"),
        ([ROW, {**ROW, "type": ["a"]}], "rows[1]: type is a list"),
        ([{"document": "d", "begin": 1, "stop": 2}], "rows: no column start, end (exclusive) or last (inclusive)"),
        ([ROW, {**ROW, "end": 1}], "rows[1]: start is '1' and end is '1' [csv-span]"),
        ([{**ROW, "start": 0.5}], "rows[0]: start is '0.5' and end is '2' [csv-span]"),
        ([{**ROW, "doc": "e"}], "rows[0]: 'doc' and another column mean 'document' [csv-header]"),
        (
            [{**ROW, "id": "a", "n": 1}, {**ROW, "start": 0, "id": "a", "n": 2}],
            "rows[1]: mention 'a' has the n '2', but '1'",
        ),
        ([ROW, {"start": 1, "end": 2}], "rows[1]: this row has no document [csv-row]"),
    ],
)
def test_what_rows_cannot_be(rows: Any, message: str) -> None:
    with pytest.raises(KaratError) as refused:
        karat.from_rows(rows)
    assert message in str(refused.value)


# Tags


@pytest.mark.parametrize(
    ("tags", "spans"),
    [
        ("O B-A I-A O", [(1, 3, "A")]),
        ("B-A B-A I-B", [(0, 1, "A"), (1, 2, "A"), (2, 3, "B")]),
        ("I-A I-A O I-B", [(0, 2, "A"), (3, 4, "B")]),
        ("B-A E-A S-A S-B I-B", [(0, 2, "A"), (2, 3, "A"), (3, 4, "B"), (4, 5, "B")]),
        ("U-A B-A L-A I-A", [(0, 1, "A"), (1, 3, "A"), (3, 4, "A")]),
        ("B I O", [(0, 2, None)]),
        ("B-Life-Die I-Life-Die", [(0, 2, "Life-Die")]),
        ("", []),
    ],
)
def test_tags_are_mentions(tags: str, spans: list[tuple[int, int, str | None]]) -> None:
    """An I, E or L that continues no mention of its type begins one."""
    (document,) = karat.from_bio([tags.split()])
    assert (document.id, document.unit) == ("1", "token")
    assert [(*mention.span[0], mention.attributes.get("type")) for mention in document.mentions] == spans


def test_tags_have_tokens_and_ids() -> None:
    by_id = karat.from_bio({"s7": np.array(["B-A", "I-A"])}, {"s7": ["cut", "off"]})
    assert by_id == [
        Document(
            "s7",
            unit="token",
            forms=("cut", "off"),
            mentions=(Mention("m1", ((0, 2),), attributes={"type": "A"}, text="cut off"),),
        )
    ]
    assert [document.id for document in karat.from_bio(iter([["O"], ["O"]]))] == ["1", "2"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((["O", "B-A"],), "tags[0] is a string, expected a list, such as [1, 2] [bio-tags]"),
        (([[0, 1]],), "tags[0][0] is a whole number"),
        (([["O", "Attack"]],), "tags[0][1] is 'Attack', expected a tag such as B-Attack, I-Attack or O"),
        (([["O"]], [["a", "b"]]), "tags[0]: the number of tags is 1, that of tokens 2"),
        (({"a": ["O"]}, {"b": ["x"]}), "there are no tokens for tags['a']"),
        ((None,), "tags: found None, expected a list"),
        (([["O"], None],), "tags[1] is null, expected a list"),
    ],
)
def test_what_tags_cannot_be(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(KaratError) as refused:
        karat.from_bio(*arguments)
    assert message in str(refused.value)


# spaCy


def span(start: int, end: int, text: str, label: str) -> SimpleNamespace:
    return SimpleNamespace(start_char=start, end_char=end, text=text, label_=label)


def test_spans_of_spacy_are_mentions() -> None:
    """Duck-typed; a Doc by itself is a list of one."""
    doc = SimpleNamespace(
        text="Rebels attacked.", ents=(span(7, 15, "attacked", "Attack"),), spans={"sc": [span(0, 6, "Rebels", "")]}
    )
    attack = Mention("m1", ((7, 15),), attributes={"type": "Attack"}, text="attacked")
    assert karat.from_spacy([doc]) == karat.from_spacy(doc) == [Document("1", text=doc.text, mentions=(attack,))]
    (document,) = karat.from_spacy({"d9": doc}, "sc")
    assert (document.id, document.mentions) == ("d9", (Mention("m1", ((0, 6),), text="Rebels"),))
    for docs, spans in ((["text"], "ents"), ("text", "ents"), (3, "ents")):
        with pytest.raises(KaratError, match="not-spacy"):
            karat.from_spacy(docs, spans)
    with pytest.raises(KaratError, match="document '1' has no spans 'x'; it has 'sc' "):
        karat.from_spacy([doc], "x")


# The page of the documentation: the tests of all pages run what needs no other library


def test_the_page_shows_calls_that_work(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    page = (Path(__file__).parents[1] / "docs" / "your-own-data.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    Path("own").mkdir()
    (text,) = re.findall(r'^```text title="own/gold.csv"\n(.*?)^```$', page, re.MULTILINE | re.DOTALL)
    Path("own/gold.csv").write_text(text)
    doc = SimpleNamespace(ents=[span(9, 15, "raided", "Attack")], text="Soldiers raided the camp.")
    stand_ins: dict[str, dict[str, Any]] = {
        "pandas": {
            "read_csv": lambda name: Frame([*csv.DictReader(Path(name).read_text().splitlines())], NAN),
            "DataFrame": list,
        },
        "spacy": {"load": lambda name: lambda text: doc},
    }
    recalls = []
    for block in re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        for library in re.findall(r"^import (\w+)$", block, re.MULTILINE):
            stand_in = ModuleType(library)
            vars(stand_in).update(stand_ins[library])
            monkeypatch.setitem(sys.modules, library, stand_in)
        names: dict[str, Any] = {"karat": karat}
        exec(block, names)
        recalls.append(names["result"]["nugget.type"].recall)
    assert recalls == [1, 1 / 3]


# Results as data frames


def test_frames_of_results(monkeypatch: pytest.MonkeyPatch) -> None:
    result = karat.score(DOCUMENTS, DOCUMENTS, protocol=["tac-2017"])
    comparison = karat.compare(DOCUMENTS, {"mine": DOCUMENTS}, protocol="tac-2017")
    pandas = ModuleType("pandas")
    pandas.DataFrame = list  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "pandas", pandas)
    for scored in (result, result["tac-2017"], comparison):
        assert scored.to_frame() == scored.to_dicts()
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(KaratError, match="pip install pandas"):
        result.to_frame()


# Arguments of the wrong kind

ODD = [3.5, b"x", [None], {3: 4}, object(), ..., np.array([1, 2]), [[]]]
CALLS: dict[str, Callable[..., object]] = {
    "score": lambda **given: karat.score(**{"gold": DOCUMENTS, "system": DOCUMENTS, "protocol": "tac-2017"} | given),
    "compare": lambda **given: karat.compare(
        **{"gold": DOCUMENTS, "systems": {"a": DOCUMENTS}, "protocol": "tac-2017"} | given
    ),
    "read": lambda **given: karat.read(**{"path": "nowhere"} | given),
    "Scorer": lambda **given: karat.Scorer(**{"protocol": "tac-2017"} | given),
    "add": lambda **given: karat.Scorer("tac-2017").add(**{"gold": DOCUMENTS[0], "system": DOCUMENTS[0]} | given),
    "from_rows": lambda **given: karat.from_rows(**{"rows": []} | given),
    "Document": lambda **given: karat.read([karat.Document("d1", **given)]),
    "figure": lambda **given: karat.score(DOCUMENTS, DOCUMENTS, protocol="tac-2017").figure(**given),
    "ranks": lambda **given: karat.compare(DOCUMENTS, {"a": DOCUMENTS}, protocol="tac-2017").figure(**given),
}
ARGUMENTS = """
score gold, score system, score protocol, score settings, score measures, score by, score per_unit, score strict
score accept_faults, score details, score errors, score ci, score seed, score jobs
compare gold, compare systems, compare protocol, compare settings, compare measures, compare by, compare per_unit
compare details, compare errors, compare baseline, compare sort_by, compare ci, compare resamples, compare jobs
read path, read format, read unit, read tokens, read sources, read coreference, read documents, read max_bytes
Scorer protocol, Scorer settings, Scorer measures, Scorer by, Scorer strict, add gold, add system
from_rows rows, from_rows unit, Document unit, Document tokens, Document links, figure kind, ranks kind, ranks of
"""


@pytest.mark.parametrize("argument", re.findall(r"\w+ \w+", ARGUMENTS))
def test_a_value_of_the_wrong_kind_is_refused_in_a_sentence(argument: str) -> None:
    call, name = argument.split()
    for value in ODD:
        with pytest.raises(KaratError):
            CALLS[call](**{name: value})


def test_the_sentence_names_the_argument() -> None:
    with pytest.raises(UsageError, match=r"^measures\[0\] is null, expected a string, such as \"a\" \[argument-kind\]"):
        karat.score(DOCUMENTS, DOCUMENTS, measures=[None])  # type: ignore[list-item]
    for clusters, message in (
        (3, "gold is 3, expected a list of clusters"),
        ([{"a"}, 3], r"gold\[1\] is 3, expected a set of mentions"),
        (["ab"], r"gold\[0\] is 'ab', expected a set of mentions"),
        ([[["a"]]], r"gold\[0\] is \[\['a'\]\], with a mention that cannot be in a set"),
    ):
        with pytest.raises(KaratError, match=message):
            karat.coref(clusters, [])  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"unit has the value 'words'.*\n  Choose one of char, token, "):
        karat.read("gold.csv", unit="words")  # type: ignore[call-overload]
    with pytest.raises(UsageError, match="strict: the text is not UTF-8"):
        karat.score(DOCUMENTS, DOCUMENTS, strict="\ud800")  # type: ignore[call-overload]
    with pytest.raises(UsageError, match=r"systems: expected a dict .*, found \[<Document d1:"):
        karat.compare(DOCUMENTS, DOCUMENTS[:1])  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="options-of-files"):
        karat.read(DOCUMENTS, unit="token")  # type: ignore[call-overload]


def test_numbers_of_numpy_are_numbers() -> None:
    options: dict[str, Any] = {
        "ci": np.float64(0.9),
        "seed": np.int64(1),
        "resamples": np.int32(20),
        "jobs": np.int8(1),
    }
    result = karat.score(DOCUMENTS, DOCUMENTS, protocol="tac-2017", **options)
    assert result.confidence is not None
    assert result.confidence.level == 0.9
    tokens: Any = np.array([[0, 3], [4, 7]])
    (document,) = karat.read([karat.Document("d", text="cut off", tokens=tokens, unit="token")])
    assert document.tokens == ((0, 3), (4, 7))


def test_a_missing_argument_stays_a_type_error() -> None:
    calls: list[Any] = [karat.score, karat.compare, karat.read, karat.Scorer, karat.from_rows, karat.from_bio]
    for call in calls:
        with pytest.raises(TypeError, match="missing"):
            call()
