"""brat: every kind of line, what is wrong said with its line, and what is written reads back the same."""

import json
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import karat
from karat.checks import check
from karat.corpus.fingerprint import Fingerprint
from karat.counts import PrecisionRecall
from karat.formats._brat_writer import write
from karat.model import Cluster, Document, Link, Mention, Value
from karat.plugin import WriteOptions
from karat.problems import Finding, KaratError
from tests.conftest import shared_path
from tests.corpora import mention, regions
from tests.running import run

TEXT = "Anna was killed on Monday.\nThe attack also hurt Bo and Cy."
#       0    5   9      16 19      27  31     38   43   48 51  55
EVENTS = """\
T1\tPER 0 4\tAnna
T2\tLife_Die 9 15\tkilled
E1\tLife_Die:T2 Victim:T1 Time:T3
T3\tTime 19 25\tMonday
T4\tConflict_Attack 31 37\tattack
E2\tConflict_Attack:T4
T5\tLife_Injure 43 47\thurt
E3\tLife_Injure:T5 Victim:T6 Victim2:T7 Cause:E2
T6\tPER 48 50\tBo
T7\tPER 55 57\tCy
A1\tRealis E1 Actual
M1\tNegated E1
A2\tRealis E2 not sure
A3\tNoun_Type T1 NAM
R1\tCoreference Arg1:E1 Arg2:E2\t
R2\tSubevent Arg1:E2 Arg2:E3
R3\tAfter Arg2:E1 Arg1:E3
*\tEquiv T6 T7
#1\tAnnotatorNotes E1\twho did it?
N1\tReference T1 Wikipedia:Q1\tAnna
"""

PAIR = "T1\tLife_Die 9 15\tkilled\nE1\tLife_Die:T1\nT2\tAttack 31 37\tattack\nE2\tAttack:T2\n"


def put(folder: Path, name: str, ann: str, text: str | None = TEXT) -> Path:
    """A document in files."""
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.ann").write_bytes(ann.encode())
    if text is not None:
        (folder / f"{name}.txt").write_bytes(text.encode())
    return folder / f"{name}.ann"


def read(folder: Path, ann: str, text: str | None = TEXT) -> tuple[Document, list[Finding]]:
    """A document of its own, and what was found in it: by the reader and by the checks."""
    corpus = karat.read(put(folder, "d", ann, text), format="brat")
    found: list[Finding] = []
    with closing(corpus):
        document = corpus.read("d", found.append)
        found.extend(check(document, partial(corpus.where, "d")))
        return document, found


def codes(found: list[Finding]) -> list[tuple[str, int | None]]:
    return [(finding.code, finding.line) for finding in found]


def fingerprint(*documents: Document) -> str:
    whole = Fingerprint()
    for document in documents:
        whole.add(document)
    return str(whole)


def test_every_kind_of_line(tmp_path: Path) -> None:
    document, found = read(tmp_path, EVENTS)
    assert [(m.id, m.kind, m.span, m.cluster, m.attributes) for m in document.mentions] == [
        ("T1", "entity", ((0, 4),), None, {"type": "PER", "noun_type": "NAM"}),
        ("E1", "event", ((9, 15),), "d:E1", {"type": "Life_Die", "realis": "Actual", "negated": True}),
        ("T3", "entity", ((19, 25),), None, {"type": "Time"}),
        ("E2", "event", ((31, 37),), "d:E1", {"type": "Conflict_Attack", "realis": "not sure"}),
        ("E3", "event", ((43, 47),), None, {"type": "Life_Injure", "realis": "NOT_ANNOTATED"}),
        ("T6", "entity", ((48, 50),), "d:T6", {"type": "PER"}),
        ("T7", "entity", ((55, 57),), "d:T6", {"type": "PER"}),
    ]
    assert document.links == (
        Link("Victim", "E1", "T1"),
        Link("Time", "E1", "T3"),
        Link("Victim", "E3", "T6"),
        Link("Victim", "E3", "T7"),
        Link("Cause", "E3", "E2"),
        Link("subevent", "E2", "E3"),
        Link("after", "E3", "E1"),
    )
    assert (document.id, document.text, document.mentions[1].text) == ("d", TEXT, "killed")
    assert codes(found) == [("brat-normalisations", 20), ("realis-unknown", 6)]


@pytest.mark.parametrize("name", ["Coref_Of", "Coreference-Link", "COREF", "CorefersWith"])
def test_coreference_under_another_name(tmp_path: Path, name: str) -> None:
    """It makes clusters, so that a perfect system is perfect; a note says so."""
    ann = PAIR + f"R1\t{name} Arg1:E1 Arg2:E2\n"
    document, found = read(tmp_path, ann)
    assert ([m.cluster for m in document.mentions], document.links) == (["d:E1", "d:E1"], ())
    assert codes(found) == [("brat-coreference", 5)]
    assert f"relations called {name} are read as coreference (1 here)" in str(found[0])
    assert karat.score(tmp_path, tmp_path)["coref.conll"].f1 == 1


@pytest.mark.parametrize(
    ("name", "noted"),
    [
        ("SameAs", True),
        ("same_event", True),
        ("Is-Identical-To", True),
        ("Equiv", True),
        ("SameTime", False),
        ("After", False),
    ],
)
def test_a_relation_that_may_be_meant_as_coreference(tmp_path: Path, name: str, noted: bool) -> None:
    """It stays a link, and a note tells how to have it read as coreference."""
    document, found = read(tmp_path, PAIR + f"R1\t{name} Arg1:E1 Arg2:E2\n")
    assert document.links == (Link(name.lower(), "E1", "E2"),)
    assert codes(found) == [("brat-identity", 5)] * noted
    if noted:
        assert f"relations called {name} are not read as coreference (1 here)" in str(found[0])
        assert "--coreference" in found[0].hint
        assert "no problems found" in run("validate", str(tmp_path), "--coreference", name).out


def test_the_user_names_coreference(tmp_path: Path) -> None:
    ann = PAIR + "R1\tSame_Event Arg1:E1 Arg2:E2\n"
    put(tmp_path, "d", ann)
    (plain,), (named,) = karat.read(tmp_path), karat.read(tmp_path, coreference=["same_event"])
    assert (plain.links, plain.mentions[0].cluster) == ((Link("same_event", "E1", "E2"),), None)
    assert (named.links, named.mentions[0].cluster) == ((), "d:E1")
    args = ["score", str(tmp_path), str(tmp_path), "-m", "coref.conll", "-f", "json"]
    for options, expected in (((), 2 / 3), (("--coreference", "Same_Event"), 1)):
        scores = json.loads(run(*args, *options).out)["scores"]
        assert scores["coref.conll"]["micro"]["f1"] == pytest.approx(expected)
    for command in ("validate", "describe"):
        assert run(command, str(tmp_path), "--coreference", "Same_Event").code == 0


def test_a_name_of_coreference_that_no_relation_has_is_a_fault(tmp_path: Path) -> None:
    """One of the two sides is enough."""
    gold, plain = str(tmp_path / "gold"), str(tmp_path / "plain")
    for folder, ann in ((gold, PAIR + "R1\tSame_Event Arg1:E1 Arg2:E2\n"), (plain, PAIR)):
        Path(folder).mkdir()
        put(Path(folder), "d", ann)
    message = "--coreference: no relation is called 'SameEvent'. Did you mean Same_Event? [coreference-absent]"
    for command in (
        ["score", gold, plain],
        ["compare", gold, plain],
        ["describe", gold],
        ["convert", gold, str(tmp_path / "gold.jsonl")],
        ["simulate", gold, "-o", str(tmp_path / "system")],
    ):
        done = run(*command, "--coreference", "SameEvent")
        assert done.code == 0
        assert message in done.out + done.err
    assert run("score", gold, plain, "--coreference", "SameEvent", "--strict").code == 1
    assert message in run("validate", gold, plain, "--coreference", "SameEvent").out
    assert run("validate", gold, plain, "--coreference", "same_event").code == 0
    assert "coreference-absent" not in run("score", plain, gold, "--coreference", "Same_Event").out


def test_one_name_of_coreference_may_stand_for_a_list(tmp_path: Path) -> None:
    put(tmp_path, "d", PAIR + "R1\tSame_Event Arg1:E1 Arg2:E2\n")
    (document,) = karat.read(tmp_path, coreference="same_event")
    assert document.mentions[0].cluster == "d:E1"


def test_a_finding_about_a_given_entity_has_its_file_and_line(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text(TEXT)
    (tmp_path / "x.a1").write_text("T1\tProtein 0 4\tAnna\nT2\tProtein 0 3\tBob\n")
    (tmp_path / "x.a2").write_text("T3\tDie 9 15\tkilled\nE1\tDie:T3 Theme:T1\nT4\tDie 0 4\tBill\nE2\tDie:T4\n")
    found = json.loads(run("validate", str(tmp_path), "-f", "json").out)["files"]
    lines = {(Path(finding["file"]).name, finding["line"]) for file in found for finding in file["findings"]}
    assert lines == {("x.a1", 2), ("x.a2", 4)}


def test_a_text_over_a_line_break(tmp_path: Path) -> None:
    """The next lines belong to the text as long as it is shorter than its span; each line break is a blank."""
    ann = "T1\tAttack 0 37\tAnna was killed on Monday.\r\nThe attack\r\nE1\tAttack:T1\r\n"
    document, found = read(tmp_path, ann)
    assert [(m.text, m.span) for m in document.mentions] == [(TEXT[:37].replace("\n", " "), ((0, 37),))]
    assert codes(found) == [("brat-line-break", 2)]
    document, found = read(tmp_path, "T1\tA 0 6\tx\n\ny\nz\n", "x\n\ny\nz")
    assert [m.text for m in document.mentions] == ["x  y z"]
    assert codes(found) == [("brat-line-break", 3), ("brat-line-break", 4)]
    with pytest.raises(KaratError, match=r"line 2: found 'and more', expected an id and a tab"):
        read(tmp_path, "T1\tA 0 4\tAnna\nand more\n")


def test_bionlp_files_are_one_document(tmp_path: Path) -> None:
    """`.a1` has the given entities, `.a2` the events that refer to them; either may be named."""
    given, events = "T1\tProtein 0 4\tAnna\n", "T2\tDie 9 15\tkilled\nE1\tDie:T2 Theme:T1\nM1\tNegation E1\n"
    for name, part, content in (("x", "a1", given), ("x", "a2", events), ("y", "a1", given), ("z", "a2", "")):
        (tmp_path / f"{name}.{part}").write_text(content)
        (tmp_path / f"{name}.txt").write_text(TEXT)
    for corpus in (karat.read(tmp_path), karat.read(tmp_path, format="brat")):
        documents = {document.id: document for document in corpus}
        assert corpus.format == "brat"
        assert list(documents) == ["x", "y", "z"]
        assert [(m.id, m.kind) for m in documents["x"].mentions] == [("T1", "entity"), ("E1", "event")]
        assert documents["x"].mentions[1].attributes == {"type": "Die", "negation": True}
        assert documents["x"].links == (Link("Theme", "E1", "T1"),)
        assert [(m.id, m.kind) for m in documents["y"].mentions] == [("T1", "entity")]
    for part in ("a1", "a2"):
        (document,) = karat.read(tmp_path / f"x.{part}")
        assert document == documents["x"]
    (tmp_path / "x.rel").write_text("T3\tPart 31 37\tattack\nR1\tProtein-Component Arg1:T1 Arg2:T3\n")
    for part in ("a1", "a2", "rel"):
        (document,) = karat.read(tmp_path / f"x.{part}")
        assert document.links == (*documents["x"].links, Link("protein-component", "T1", "T3"))
    assert len(list(karat.read(tmp_path))) == 3
    (tmp_path / "x.a2").write_text("T1\tDie 9 15\tkilled\n")
    with pytest.raises(KaratError, match=r"x\.a2, line 1: the id 'T1' was already used in line 1 of .*x\.a1"):
        list(karat.read(tmp_path))


def test_given_entities_are_never_events(tmp_path: Path) -> None:
    """Not even in a corpus without any event: a test set as it is handed out."""
    (tmp_path / "x.a1").write_text("T1\tProtein 0 4\tAnna\n")
    (document,) = karat.read(tmp_path)
    assert [mention.kind for mention in document.mentions] == ["entity"]


@pytest.mark.parametrize("found", [".a2", ".a2.t1", ".a2.t123", ".rel"])
def test_a_submission_takes_given_entities_and_texts_from_gold(tmp_path: Path, found: str) -> None:
    """By hand: of two arguments, the submission has one; it has no event in y, for which gold has no `.a2`."""
    gold, mine = tmp_path / "gold", tmp_path / "mine"
    gold.mkdir()
    mine.mkdir()
    for name in "xy":
        (gold / f"{name}.a1").write_text("T1\tProtein 0 4\tAnna\nT2\tProtein 31 37\tattack\n")
        (gold / f"{name}.txt").write_text(TEXT)
    events = "T3\tDie 9 15\tkilled\nE1\tDie:T3 Theme:T1 {}\n"
    (gold / f"x{found}").write_text(events.format("Cause:T2"))
    (mine / f"x{found}").write_text(events.format(""))
    (mine / f"y{found}").write_text("")
    result = karat.score(gold, mine, protocol="textee-2024")
    assert result["arg.c"].micro.counts == PrecisionRecall(1, 1, 1, 2)
    assert result.warnings == []
    assert karat.score(gold, gold, protocol="textee-2024")["arg.c"].f1 == 1
    validation = run("validate", str(mine), "--against", str(gold), "-p", "textee-2024")
    assert validation.code == 0, validation.out
    alone = run("validate", str(mine))
    assert "'T1', which is not a mention of this document, and there is no x.a1 beside the file" in alone.out


def test_text_bounds_alone_are_the_events(tmp_path: Path) -> None:
    ann = "T1\tEVENT 9 15\tkilled\nT2\tEVENT 31 37\tattack\nR1\tcoreference Arg1:T1 Arg2:T2\n"
    document, found = read(tmp_path, ann)
    assert [(m.kind, m.attributes, m.cluster) for m in document.mentions] == [("event", {"type": "EVENT"}, "d:T1")] * 2
    assert found == []


def test_the_corpus_decides_what_text_bounds_are_and_whether_there_is_realis(tmp_path: Path) -> None:
    """A document without events in a corpus with events has entities; events without realis are not annotated."""
    put(tmp_path, "a", "T1\tLife_Die 9 15\tkilled\nE1\tLife_Die:T1\n")
    put(tmp_path, "b", "T1\tPER 0 4\tAnna\nA1\tNoun_Type T1 NAM\n")
    put(tmp_path, "c", "")
    corpus = karat.read(tmp_path)
    assert [[(m.kind, m.attributes) for m in document.mentions] for document in corpus] == [
        [("event", {"type": "Life_Die"})],
        [("entity", {"type": "PER", "noun_type": "NAM"})],
        [],
    ]
    assert corpus.facts().attributes == {("event", "type"), ("entity", "type"), ("entity", "noun_type")}
    put(tmp_path, "c", "T1\tLife_Die 9 15\tkilled\nE1\tLife_Die:T1\nA1\trealis T1 Generic\n")
    assert [m.attributes.get("realis") for document in karat.read(tmp_path) for m in document.mentions] == [
        "NOT_ANNOTATED",
        None,
        "Generic",
    ]


def test_a_trigger_stands_for_its_event(tmp_path: Path) -> None:
    ann = (
        "T1\tA 9 15\tkilled\nE1\tA:T1\nE2\tB:T1\nT2\tA 31 37\tattack\nE3\tA:T2 Cause:T1\n"
        "A1\tRealis T1 Actual\nR1\tAfter Arg1:T2 Arg2:E1\n*\tEquiv T2 E2\n"
    )
    document, found = read(tmp_path, ann)
    assert [m.attributes["realis"] for m in document.mentions] == ["Actual", "Actual", "NOT_ANNOTATED"]
    assert document.links == (Link("Cause", "E3", "E1"), Link("after", "E3", "E1"))
    assert [m.cluster for m in document.mentions] == [None, "d:E2", "d:E2"]
    assert codes(found) == [("brat-trigger-shared", 5)]


def test_coreference_is_closed_however_the_pairs_stand(tmp_path: Path) -> None:
    """A chain of pairs, two chains that meet, and a set: one cluster, in linear time."""
    count = 3000
    bounds = "".join(f"T{n}\tE {n} {n + 1}\t\n" for n in range(count))
    pairs = "".join(f"R{n}\tCoreference Arg1:T{n} Arg2:T{n + 2}\n" for n in range(count - 2))
    document, _ = read(tmp_path, bounds + pairs, "x" * count)
    assert {m.cluster for m in document.mentions} == {"d:T0", "d:T1"}
    document, _ = read(tmp_path, bounds + pairs + "*\tEquiv T2 T2001\n", "x" * count)
    assert {m.cluster for m in document.mentions} == {"d:T0"}


def test_segments_may_be_apart_touch_and_hold_line_ends(tmp_path: Path) -> None:
    """Pieces are joined by a blank in the order written; a line end inside a segment is a blank in the line."""
    ann = "T1\tE 43 47;31 37\thurt attack\nT2\tE 0 2;2 4\tAn na\nT3\tE 19 30\tMonday. The\nT4\tE 0 4;2 6\tAnna na w\n"
    document, found = read(tmp_path, ann)
    assert [m.span for m in document.mentions] == [((31, 37), (43, 47)), ((0, 2), (2, 4)), ((19, 30),), ((0, 6),)]
    assert codes(found) == [("segments-merged", 4)]


def test_offsets_count_code_points_and_line_ends_as_one(tmp_path: Path) -> None:
    """CRLF is one of them, and so are a byte-order mark and a letter outside the basic plane."""
    document, found = read(tmp_path, "T1\tE 3 7\tfell\r\nA1\tSure T1\r\n", "\ufeff\U00010330\r\nfell")
    assert (document.text, found) == ("\ufeff\U00010330\nfell", [])
    assert document.mentions[0].attributes == {"type": "E", "sure": True}


def test_without_a_text_nothing_can_be_checked(tmp_path: Path) -> None:
    document, found = read(tmp_path, "T1\tE 4 8\tfell\n", None)
    assert (document.text, document.mentions[0].text) == (None, "fell")
    assert codes(found) == [("text-missing", None)]


def test_texts_beside_are_no_documents_and_other_files_are_named(tmp_path: Path) -> None:
    put(tmp_path, "a", "T1\tE 0 4\tAnna\n", '{"this": "looks like", "another": "format"}')
    (tmp_path / "annotation.conf").write_text("[entities]\n")
    (tmp_path / "alone.txt").write_text("not annotated")
    found: list[Finding] = []
    corpus = karat.corpus.opening.open_corpus(str(tmp_path), report=found.append)
    assert (corpus.format, list(corpus.ids())) == ("brat", ["a"])
    assert sorted((finding.code, Path(finding.file or "").name) for finding in found) == [
        ("file-skipped", "alone.txt"),
        ("file-skipped", "annotation.conf"),
    ]


@pytest.mark.parametrize(
    ("code", "line", "ann"),
    [
        ("brat-line", 2, "T1\tE 0 4\tAnna\nT2 E 9 15 killed\n"),
        ("brat-line", 1, "T1\tE 0 4\n"),
        ("brat-line", 3, "\n\nkilled\n"),
        ("brat-line", 1, "T\tE 0 4\tAnna\n"),
        ("brat-line", 2, "T1\tE 0 4\tAnna\nE1\t\n"),
        ("brat-line", 2, "T1\tE 0 4\tAnna\nE1\tE:T1 Victim\n"),
        ("brat-line", 2, "T1\tE 0 4\tAnna\nE1\tE:\n"),
        ("brat-line", 2, "T1\tE 0 4\tAnna\nR1\tAfter Arg1:T1\n"),
        ("brat-line", 2, "T1\tE 0 4\tAnna\nR1\tAfter T1 T1\n"),
        ("brat-line", 2, "T1\tE 0 4\tAnna\nA1\tRealis\n"),
        ("brat-line", 2, "T1\tE 0 4\tAnna\n*\t\n"),
        ("brat-id-twice", 3, "T1\tE 0 4\tAnna\nT2\tE 9 15\tkilled\nT1\tE 9 15\tkilled\n"),
        ("brat-id-twice", 3, "T1\tE 0 4\tAnna\nA1\tX T1\nA1\tY T1\n"),
        ("brat-span", 1, "T1\tE 0 four\tAnna\n"),
        ("brat-span", 1, "T1\tE 0\tAnna\n"),
        ("brat-span", 1, "T1\tE -4 0\tAnna\n"),
        ("brat-span", 1, "T1\tE 0 ٤\tAnna\n"),
        ("brat-span", 1, f"T1\tE 0 {'9' * 5000}\tAnna\n"),
        ("brat-span", 2, "T1\tE 0 4\tAnna\nT2\tE 4 4\t\n"),
        ("brat-span", 2, "T1\tE 0 4\tAnna\nT2\tE 15 9\tkilled\n"),
        ("brat-span", 1, "T1\tE 0 4;\tAnna\n"),
    ],
)
def test_what_cannot_be_trusted_is_refused(tmp_path: Path, code: str, line: int, ann: str) -> None:
    with pytest.raises(KaratError) as refused:
        read(tmp_path, ann)
    finding = refused.value.finding
    assert (finding.code, finding.line, Path(finding.file or "").name) == (code, line, "d.ann")
    assert finding.hint


@pytest.mark.parametrize(
    ("expected", "ann"),
    [
        (("argument-unknown", 2), "T1\tE 0 4\tAnna\nE1\tE:T9\n"),
        (("argument-unknown", 2), "T1\tE 0 4\tAnna\nE1\tE:T1 Victim:T9\n"),
        (("argument-unknown", 3), "T1\tE 0 4\tAnna\n\nR1\tAfter Arg1:T1 Arg2:T9\n"),
        (("argument-unknown", 2), "T1\tE 0 4\tAnna\nR1\tCoreference Arg1:T9 Arg2:T1\n"),
        (("argument-unknown", 2), "T1\tE 0 4\tAnna\n*\tEquiv T1 T9\n"),
        (("argument-unknown", 2), "T1\tE 0 4\tAnna\nA1\tRealis T9 Actual\n"),
        (("attribute-twice", 3), "T1\tE 0 4\tAnna\nA1\tRealis T1 Actual\nA2\trealis T1 Other\n"),
        (("attribute-twice", 2), "T1\tE 0 4\tAnna\nA1\tType T1 F\n"),
        (("text-differs", 2), "\nT1\tE 9 15\tkissed\n"),
        (("span-beyond-text", 1), "T1\tE 55 99\tCy\n"),
        (("cluster-of-one", 2), "T1\tE 0 4\tAnna\n*\tEquiv T1\n"),
        (("brat-line-unknown", 2), "T1\tE 0 4\tAnna\nX1\tsomething else\n"),
        (("brat-line-unknown", 2), "T1\tE 0 4\tAnna\n*\tOther T1 T1\n"),
    ],
)
def test_what_can_be_read_around_is_said(tmp_path: Path, expected: tuple[str, int], ann: str) -> None:
    document, found = read(tmp_path, ann)
    assert codes(found) == [expected]
    assert len(document.mentions) == 1
    assert document.links == ()
    notes = ("cluster-of-one", "brat-line-unknown")
    assert found[0].severity == ("note" if expected[0] in notes else "fault")


def test_bytes_that_are_not_utf8_are_named_by_line(tmp_path: Path) -> None:
    path = put(tmp_path, "d", "T1\tE 0 4\tAnna\n", None)
    (tmp_path / "d.txt").write_bytes(b"Anna\ncaf\xe9\n")
    with pytest.raises(KaratError, match=r"d\.txt, line 2: byte 0xe9 is not UTF-8"):
        list(karat.read(path))


def test_token_units_are_refused(tmp_path: Path) -> None:
    with pytest.raises(KaratError, match="brat-unit"):
        list(karat.read(put(tmp_path, "d", EVENTS), unit="token"))


# Writing


def through(document: Document, folder: Path) -> tuple[Document, list[str]]:
    """A document written and read back, and what was lost."""
    lost: list[str] = []
    for name, data in write(document, WriteOptions(), lost.append).items():
        (folder / name).write_bytes(data)
    (back,) = karat.read(folder)
    return back, lost


def test_what_was_read_is_written_again(tmp_path: Path) -> None:
    document, _ = read(tmp_path / "in", EVENTS)
    (tmp_path / "out").mkdir()
    back, lost = through(document, tmp_path / "out")
    assert lost == []
    clusters = {"d:E1", "d:T6", None}
    assert {m.cluster for m in back.mentions} == {m.cluster for m in document.mentions} == clusters
    assert back.mentions == document.mentions
    assert set(back.links) == set(document.links)
    assert fingerprint(back) == fingerprint(document)


def test_text_bounds_are_written_as_they_came(tmp_path: Path) -> None:
    ann = "T7\tEVENT 9 15\tkilled\nT3\tEVENT 31 37;43 47\tattack hurt\n"
    document, _ = read(tmp_path, ann)
    assert write(document, WriteOptions(plain=True), print) == {"d.ann": ann.encode(), "d.txt": TEXT.encode()}


WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\0 \t\n\r"), min_size=1, max_size=5)
LOWER = WORDS.map(str.lower).filter(
    lambda word: word.lower() == word and word != "type" and not word.startswith("coref")
)
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), min_size=16, max_size=30)
VALUES: st.SearchStrategy[Value] = st.just(True) | WORDS | st.tuples(WORDS, WORDS).map(" ".join)


@st.composite
def holdable(draw: st.DrawFn) -> Document:
    """A document that brat can hold, with ids of every sort."""
    names = draw(st.lists(WORDS | st.sampled_from(["T1", "T2", "E1", "E7", "T03"]), max_size=6, unique=True))
    bare = all(name.startswith("T") and name[1:].isascii() and name[1:].isdecimal() for name in names)
    realis = draw(st.booleans())
    mentions = []
    for number, name in enumerate(names):
        attributes = draw(st.dictionaries(LOWER, VALUES, max_size=2)) | {"type": draw(WORDS)}
        attributes.pop("realis", None)
        kind = "event" if number == 0 or bare else draw(st.sampled_from(["event", "entity"]))
        if realis and kind == "event":
            attributes["realis"] = draw(st.sampled_from(["Actual", "NOT_ANNOTATED"]))
        cluster = draw(st.sampled_from([None, "c1", "d:c2"]))
        mentions.append(Mention(name, draw(regions), kind=kind, cluster=cluster, attributes=attributes))
    links = []
    for _ in range(draw(st.integers(0, 3)) if names else 0):
        ends = draw(st.sampled_from(mentions)), draw(st.sampled_from(mentions))
        roles = WORDS.filter(lambda word: word[-1] not in "0123456789")
        kinds = LOWER | roles if ends[0].kind == "event" and not bare else LOWER
        links.append(Link(draw(kinds), ends[0].id, ends[1].id))
    return Document("d", text=draw(st.none() | TEXTS), mentions=tuple(mentions), links=tuple(links))


@settings(max_examples=150, deadline=None)
@given(holdable())
@pytest.mark.slow
def test_brat_holds_what_brat_can_say(tmp_path_factory: pytest.TempPathFactory, document: Document) -> None:
    back, lost = through(document, tmp_path_factory.mktemp("brat"))
    assert lost == []
    assert fingerprint(back) == fingerprint(document)
    assert back.text == document.text


def test_brat_tells_what_it_cannot_hold(tmp_path: Path) -> None:
    document = Document(
        "d",
        topic="36",
        source="newswire",
        text=TEXT,
        tokens=((0, 4),),
        mentions=(
            Mention("m1", ((9, 15),), head=((9, 15),), attributes={"type": "Life Die", "Tense": "past"}),
            Mention("m2", ((31, 37),), cluster="E", confidence=("0.9",), attributes={"type": 3, "empty": "", "n": 1.5}),
            Mention("m3", ((0, 4),), kind="time", cluster="E"),
            mention("m4", type="X"),
        ),
        clusters=(Cluster("E", attributes={"type": "A"}), Cluster("F")),
        links=(Link("after", "m1", "E"), Link("After", "m3", "m1"), Link("coref_of", "m3", "m1")),
    )
    back, lost = through(document, tmp_path)
    assert [(m.span, m.kind, m.attributes) for m in back.mentions] == [
        (((9, 15),), "event", {"type": "Life_Die"}),
        (((31, 37),), "event", {"type": "3", "n": "1.5"}),
        (((0, 4),), "entity", {"type": "Entity"}),
    ]
    assert [link.kind for link in back.links] == ["after"]
    assert sorted(lost) == sorted(
        [
            "the document's topic",
            "the document's source",
            "the document's tokens",
            "the head of mentions",
            "confidences",
            "blanks in types (written _)",
            "that type is not text",
            "that mentions have no type (written Entity)",
            "the attribute Tense",
            "the attribute empty",
            "that n is not text",
            "that mentions are of kind time (written as entity)",
            "mentions without a span",
            "kinds and attributes of clusters",
            "that links join clusters (written between their first mentions)",
            "links of kind After",
            "links of kind coref_of",
        ]
    )


@pytest.mark.parametrize("id_", ["", ".", "..", ".hidden", "a/b", "a\\b", "a\nb", "x" * 300])
def test_ids_that_cannot_be_files_are_refused(id_: str) -> None:
    with pytest.raises(KaratError, match="cannot be the name of a file"):
        write(Document(id_), WriteOptions(), print)


def test_tokens_cannot_be_written() -> None:
    with pytest.raises(KaratError, match="counts in tokens"):
        write(Document("d", unit="token"), WriteOptions(), print)


def test_litbank() -> None:
    corpus = karat.read(shared_path("data", "litbank-events"))
    found: list[Finding] = []
    documents = [corpus.read(id_, found.append) for id_ in corpus.ids()]
    corpus.close()
    assert (len(documents), sum(len(document.mentions) for document in documents)) == (100, 7849)
    assert {(m.kind, *m.attributes.items()) for d in documents for m in d.mentions} == {("event", ("type", "EVENT"))}
    assert found == []
    bare = replace(documents[0], text=None)
    assert write(bare, WriteOptions(), print).keys() == {f"{bare.id}.ann"}


def test_arguments_that_are_events_are_no_hierarchy(tmp_path: Path) -> None:
    """One event is the Theme of two others, and not their part; a subevent link still makes a parent."""
    ann = "T1\tReg 0 4\tAnna\nT2\tReg 9 15\tkilled\nT3\tBind 16 18\tin\nT4\tProtein 31 37\tattack\n"
    ann += "E1\tReg:T1 Theme:E3\nE2\tReg:T2 Theme:E3\nE3\tBind:T3 Theme:T4\n"
    assert "two-parents" not in {finding.code for finding in check(read(tmp_path, ann)[0])}
    ann += "R1\tSubevent Arg1:E1 Arg2:E3\nR2\tSubevent Arg1:E2 Arg2:E3\n"
    (tmp_path / "d.ann").write_text(ann)
    findings = json.loads(run("validate", str(tmp_path / "d.ann"), "-f", "json").out)["files"][0]["findings"]
    assert ("two-parents", 9) in {(finding["code"], finding["line"]) for finding in findings}
