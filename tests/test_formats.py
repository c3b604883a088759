"""Formats: what is written reads back the same, and the same corpus has the same fingerprint in every format."""

import gzip
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import karat
from karat.corpus import index
from karat.corpus.fingerprint import Fingerprint
from karat.corpus.index import DocumentReader
from karat.corpus.opening import open_corpus
from karat.corpus.paths import File
from karat.formats import FORMATS, _tbf_writer, jsonl, read_options
from karat.model import Cluster, Document, Link, Mention
from karat.plugin import ReadOptions, WriteOptions
from karat.problems import Finding, KaratError
from tests.corpora import as_jsonl, documents, mention, regions

EXAMPLES = settings(max_examples=60, deadline=None)
LETTERS = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"], exclude_characters=",#@"), min_size=1)
VALUES = st.text() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False, allow_infinity=False)


def through(
    document: Document, format_: str, folder: Path, *, options: ReadOptions | None = None
) -> tuple[Document, list[str]]:
    """A document written and read back, and what was lost."""
    lost: list[str] = []
    path = folder / f"one.{format_}"
    options = options or ReadOptions()
    write = {"tbf": _tbf_writer.write, "jsonl": jsonl.write}[format_]
    path.write_bytes(write(document, WriteOptions(options.tokens), lost.append))
    (back,) = open_corpus(str(path), format=format_, options=options)
    return back, lost


def fingerprint(*documents: Document) -> str:
    whole = Fingerprint()
    for document in documents:
        whole.add(document)
    return str(whole)


@st.composite
def anything(draw: st.DrawFn) -> Document:
    """A document that uses every field there is."""
    maybe = st.none() | st.text()
    mentions = [
        Mention(
            f"m{number}",
            draw(regions | st.just(())),
            head=draw(st.none() | regions),
            extent=draw(st.none() | regions),
            anchor=draw(st.none() | regions),
            kind=draw(st.sampled_from(["event", "entity"])),
            cluster=draw(st.sampled_from([None, "c1", "c2"])),
            attributes=draw(st.dictionaries(st.text(), VALUES, max_size=3)),
            text=draw(maybe),
            confidence=tuple(draw(st.lists(st.text(), max_size=2))),
        )
        for number in range(draw(st.integers(0, 4)))
    ]
    return Document(
        draw(st.text(min_size=1)),
        topic=draw(maybe),
        subtopic=draw(maybe),
        source=draw(maybe),
        language=draw(maybe),
        producer=draw(maybe),
        text=draw(maybe),
        unit=draw(st.sampled_from(["char", "token"])),
        tokens=draw(st.none() | st.just(((0, 3), (4, 9)))),
        mentions=tuple(mentions),
        clusters=(Cluster("c1", "entity", {"type": "PER"}), Cluster("c2"), Cluster("c3")),
        links=(Link("subevent", "c1", "c2"), Link("part-of", "c3", "c1")),
    )


@EXAMPLES
@given(anything())
def test_jsonl_holds_everything(tmp_path_factory: pytest.TempPathFactory, document: Document) -> None:
    back, lost = through(document, "jsonl", tmp_path_factory.mktemp("jsonl"))
    assert (back, lost) == (document, [])


@EXAMPLES
@given(documents(), st.lists(LETTERS, min_size=3, max_size=3), st.data())
def test_tbf_holds_what_tbf_can_say(
    tmp_path_factory: pytest.TempPathFactory, document: Document, words: list[str], data: st.DataObject
) -> None:
    reported = [
        replace(m, text=data.draw(st.none() | LETTERS), confidence=tuple(data.draw(st.lists(LETTERS, max_size=2))))
        for m in document.mentions
    ]
    producer = words[0] if reported else None
    document = replace(document, id=words[1], producer=producer, mentions=tuple(reported))
    back, lost = through(document, "tbf", tmp_path_factory.mktemp("tbf"))
    assert lost == []
    assert fingerprint(back) == fingerprint(document)
    assert [(m.id, m.span, m.attributes, m.text, m.confidence) for m in back.mentions] == [
        (m.id, m.span, m.attributes, m.text, m.confidence) for m in reported
    ]
    assert (back.id, back.producer, set(back.links)) == (document.id, producer, set(document.links))


def test_tbf_tells_what_it_cannot_hold(tmp_path: Path) -> None:
    document = Document(
        "d",
        topic="36",
        text="Anna left. She returned.",
        mentions=(
            Mention("m1", ((5, 9),), head=((5, 9),), attributes={"type": "Movement", "polarity": "positive"}),
            Mention("m2", ((15, 23),), cluster="E2", attributes={"type": "Movement", "realis": "Actual"}),
            Mention("e1", ((0, 4),), kind="entity"),
        ),
        clusters=(Cluster("E2", attributes={"type": "Movement"}),),
        links=(Link("agent", "m1", "e1"), Link("after", "m1", "E2")),
    )
    back, lost = through(document, "tbf", tmp_path)
    assert [m.text for m in back.mentions] == ["left", "returned"]
    assert back.links == (Link("after", "m1", "m2"),)
    assert set(lost) == {
        "the document's topic",
        "the document's text",
        "kinds and attributes of clusters",
        "the head of mentions",
        "the attribute polarity",
        "mentions of kind entity",
        "that mentions have no realis (written NOT_ANNOTATED)",
        "links of kind agent",
        "that links join clusters (written between their first mentions)",
    }


@pytest.mark.parametrize("id_", ["a,b", "a\tb", " a"])
def test_tbf_refuses_ids_that_would_read_back_as_something_else(id_: str) -> None:
    with pytest.raises(KaratError, match="cannot be written in a TBF column"):
        _tbf_writer.write(Document("d", mentions=(mention(id_, (0, 4)),)), WriteOptions(), print)


def test_token_ids_are_rows_of_the_table(tmp_path: Path) -> None:
    """t0 to t3 are rows 0 to 3; t9 is in no table: a number after it, the same wherever it stands."""
    tables = tmp_path / "tables"
    tables.mkdir()
    (tables / "d.tab").write_text("".join(f"t{row}\tword\t{row}\t{row}\n" for row in range(4)))
    path = tmp_path / "gold.tbf"
    lines = ["g\td\tE1\tt3,t1,t0\tx\tA\tActual", "g\td\tE2\tt1,t9\tx\tA\tActual", "g\td\tE3\tt9\tx\tA\tActual"]
    path.write_text("\n".join(["#BeginOfDocument d", *lines, "#EndOfDocument", ""]))
    corpus = karat.read(path, tokens=str(tables))
    found: list[Finding] = []
    document = corpus.read("d", found.append)
    corpus.close()
    first, second, third = (m.span for m in document.mentions)
    assert (document.unit, first) == ("token", ((0, 2), (3, 4)))
    assert second == ((1, 2), third[0])
    assert third[0][0] >= 4
    assert {finding.code for finding in found} == {"token-unknown"}
    written, lost = through(
        replace(document, mentions=document.mentions[:1]),
        "tbf",
        tmp_path,
        options=read_options("token", str(tables)),
    )
    assert (written.mentions, lost) == (document.mentions[:1], [])


def test_a_compressed_file_is_the_file(tmp_path: Path) -> None:
    document = Document("d", mentions=(mention("m", (0, 4), type="A"),))
    data = as_jsonl(document)
    path = tmp_path / "gold.jsonl.gz"
    path.write_bytes(gzip.compress(data))
    corpus = karat.read(path)
    assert (corpus.format, list(corpus), list(corpus)) == ("jsonl", [document], [document])


def test_fingerprint_sees_content_and_nothing_else() -> None:
    base = Document(
        "d", mentions=(mention("m1", (0, 4), cluster="c", type="A"), mention("m2", (5, 9), cluster="c", type="A"))
    )
    same = [
        replace(base, text="abcd efgh", producer="x"),
        replace(base, mentions=tuple(replace(m, id=m.id + "x", cluster="other") for m in base.mentions)),
    ]
    other = [
        replace(base, id="e"),
        replace(base, mentions=base.mentions[::-1]),
        replace(base, mentions=(base.mentions[0], replace(base.mentions[1], cluster=None))),
        replace(base, mentions=(base.mentions[0], replace(base.mentions[1], span=((5, 10),)))),
        replace(base, mentions=(base.mentions[0], replace(base.mentions[1], attributes={"type": "B"}))),
        replace(base, links=(Link("after", "m1", "m2"),)),
        replace(base, unit="token"),
    ]
    assert {fingerprint(document) for document in same} == {fingerprint(base)}
    assert len({fingerprint(document) for document in [base, *other]}) == len(other) + 1


@pytest.mark.parametrize("window", [1, 2, 7, 40, index.WINDOW])
@pytest.mark.parametrize("end", ["\n", ""])
def test_documents_are_found_wherever_the_file_is_cut(monkeypatch: pytest.MonkeyPatch, window: int, end: str) -> None:
    """A mark in a text is none, and a mark may be indented; what comes before the first one belongs to it."""
    monkeypatch.setattr(index, "WINDOW", window)
    first = (
        "# remark\n#BeginOfDocument a\ns\ta\tE1\t0,5\t#BeginOfDocument b\tAfter\tActual\n#EndOfDocument\n\n# remark\n"
    )
    second = f"\t#BeginOfDocument b \ns\tb\tE1\t0,5\t@Subevent\tT\tActual\n#EndOfDocument{end}"
    data = (first + second).encode()
    reader = DocumentReader([File("f", "", data)], FORMATS.get("tbf"), ReadOptions())
    entries = [*reader.entries(0)]
    assert [(entry.id, entry.line) for entry in entries] == [("a", 2), ("b", 7)]
    pieces = [reader.piece(0, entry) for entry in entries]
    assert [(piece.data.decode(), piece.line, piece.is_last) for piece in pieces] == [
        (first, 1, False),
        (second, 7, True),
    ]
    findings: list[Finding] = []
    documents = [document for entry in entries for document in reader.documents(0, entry, findings.append)]
    assert [len(document.mentions) for document in documents] == [1, 1]
    assert not findings


def test_blank_lines_before_the_first_document_are_no_part_of_it() -> None:
    reader = DocumentReader([File("f", "", b' \n\n{"id": "a"}\n\n{"id":\n')], FORMATS.get("jsonl"), ReadOptions())
    entries = [*reader.entries(0)]
    assert [(entry.id, entry.line, entry.lead) for entry in entries] == [("a", 3, 0), ("", 5, 0)]
    assert [reader.piece(0, entry).data for entry in entries] == [b'{"id": "a"}\n\n', b'{"id":\n']


def test_a_file_without_a_marker_is_one_entry_that_is_no_document() -> None:
    reader = DocumentReader([File("f", "", b"x\n"), File("g", "", b" \n")], FORMATS.get("tbf"), ReadOptions())
    (entry,), none = reader.entries(0), [*reader.entries(1)]
    assert (entry.is_document, none) == (False, [])
    findings: list[Finding] = []
    assert not [*reader.documents(0, entry, findings.append)]
    assert [finding.code for finding in findings] == ["tbf-structure"]


@pytest.mark.parametrize(("text", "line"), [("#BeginOfDocument a\nx\ny", 3), ("#BeginOfDocument a\nx\ny\n", 3)])
def test_a_document_of_tbf_that_is_not_closed_ends_with_the_file(text: str, line: int) -> None:
    reader = DocumentReader([File("f", "", text.encode())], FORMATS.get("tbf"), ReadOptions())
    findings: list[Finding] = []
    (entry,) = reader.entries(0)
    assert len([*reader.documents(0, entry, findings.append)]) == 1
    assert [finding.line for finding in findings if finding.code == "tbf-structure"] == [line]
