"""ECB+: what a file says, what is wrong in it said with its line, and the corpus itself by the numbers of its paper."""

import json
import os
import shutil
from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import karat
from karat.corpus.files import FileCorpus
from karat.corpus.opening import open_corpus
from karat.filters import FILTERS
from karat.filters.validated import Validated
from karat.formats import FORMATS, _text
from karat.formats import ecbplus as _sentences
from karat.model import Cluster, Document, Mention, Pair
from karat.plugin import Comparison, ReadOptions
from karat.problems import Finding, KaratError
from karat.protocols import resolve
from karat.regions import size
from tests.conftest import shared_path
from tests.running import run

FILE = """\
<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<Document doc_name="1_10ecb.xml" doc_id="DOC1">
<token t_id="3" sentence="0" number="0">http</token>
<token t_id="4" sentence="1" number="0">Lohan</token>
<token t_id="7" sentence="1" number="1">checked</token>
<token t_id="8" sentence="1" number="2">herself</token>
<token t_id="9" sentence="1" number="3">in</token>
<token t_id="10" sentence="2" number="0">She</token>
<token t_id="11" sentence="2" number="1">did</token>
<token t_id="12" sentence="2" number="2">n't</token>
<token t_id="13" sentence="2" number="3">leave</token>
<token t_id="14" sentence="2" number="4">&amp;</token>
<token t_id="15" sentence="2" number="5">stay</token>
<Markables>
<ACTION_OCCURRENCE m_id="32"><token_anchor t_id="7"/><token_anchor t_id="9"/></ACTION_OCCURRENCE>
<HUMAN_PART_PER m_id="33" note="byCROMER">
  <token_anchor t_id="4"/>
</HUMAN_PART_PER>
<HUMAN_PART_PER m_id="34"><token_anchor t_id="10"/></HUMAN_PART_PER>
<NEG_ACTION_OCCURRENCE m_id="35">
  <token_anchor t_id="12"/>
  <token_anchor t_id="13"/>
</NEG_ACTION_OCCURRENCE>
<ACTION_STATE m_id="36"><token_anchor t_id="15"/></ACTION_STATE>
<ACTION_ASPECTUAL m_id="37"><token_anchor t_id="13"/></ACTION_ASPECTUAL>
<TIME_DATE m_id="38"><token_anchor t_id="3"/></TIME_DATE>
<ACTION_OCCURRENCE m_id="48" RELATED_TO="" TAG_DESCRIPTOR="t1_checking_in" instance_id="ACT1"/>
<HUMAN_PART_PER m_id="49" RELATED_TO="" TAG_DESCRIPTOR="t1_lohan" instance_id="HUM1"/>
<UNKNOWN_INSTANCE_TAG m_id="50" RELATED_TO="" TAG_DESCRIPTOR="" />
<ACTION_OCCURRENCE m_id="51" RELATED_TO="" TAG_DESCRIPTOR="t1_nobody" instance_id="ACT2"/>
</Markables>
<Relations>
<CROSS_DOC_COREF r_id="1" note="ACT1">
  <source m_id="32"/>
  <target m_id="48"/>
</CROSS_DOC_COREF>
<CROSS_DOC_COREF r_id="2" note="HUM1"><source m_id="34"/><source m_id="33"/><target m_id="49"/></CROSS_DOC_COREF>
<INTRA_DOC_COREF r_id="3">
  <source m_id="35"/>
  <source m_id="36"/>
  <target m_id="50"/>
</INTRA_DOC_COREF>
<CROSS_DOC_COREF r_id="4" note="ACT2"><target m_id="51"/></CROSS_DOC_COREF>
</Relations>
</Document>
"""
SENTENCES = "Topic,File,Sentence Number\n1,10ecb,2\n1,11ecb,0\n2,10ecb,1\n"
SMALL = """\
<Document doc_name="x.xml"><token t_id="1" sentence="0">a</token>
<Markables><ACTION_STATE m_id="1"><token_anchor t_id="1"/></ACTION_STATE></Markables></Document>
"""


def put(folder: Path, text: str = FILE, name: str = "1/1_10ecb.xml") -> Path:
    path = folder / name
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_bytes(text.encode())
    return path


def changed(old: str, new: str) -> str:
    assert FILE.count(old) == 1
    return FILE.replace(old, new)


def read(path: Path) -> tuple[Document, list[Finding]]:
    """The one document of a file or a folder, and what was found in it."""
    found: list[Finding] = []
    with closing(karat.read(path)) as corpus:
        (id_,) = corpus.ids()
        return corpus.read(id_, found.append), found


def codes(found: Iterable[Finding]) -> list[tuple[str, str, int | None]]:
    return [(finding.code, finding.severity, finding.line) for finding in found]


# What a file says.


def test_a_file_is_mentions_and_clusters(tmp_path: Path) -> None:
    document, found = read(put(tmp_path))
    assert (document.id, document.topic, document.subtopic, document.unit) == ("1_10ecb", "1", "1ecb", "token")
    assert [(m.id, m.kind, m.span, m.cluster, m.text) for m in document.mentions] == [
        ("32", "event", ((2, 3), (4, 5)), "ACT1", "checked in"),
        ("33", "entity", ((1, 2),), "HUM1", "Lohan"),
        ("34", "entity", ((5, 6),), "HUM1", "She"),
        ("35", "event", ((7, 9),), "1_10ecb:3", "n't leave"),
        ("36", "event", ((10, 11),), "1_10ecb:3", "stay"),
        ("37", "event", ((8, 9),), None, "leave"),
        ("38", "entity", ((0, 1),), None, "http"),
    ]
    assert [m.attributes for m in document.mentions] == [
        {"type": "ACTION_OCCURRENCE", "relation": "CROSS_DOC_COREF", "sentence": 1},
        {"type": "HUMAN_PART_PER", "relation": "CROSS_DOC_COREF", "sentence": 1},
        {"type": "HUMAN_PART_PER", "relation": "CROSS_DOC_COREF", "sentence": 2},
        {"type": "NEG_ACTION_OCCURRENCE", "relation": "INTRA_DOC_COREF", "sentence": 2},
        {"type": "ACTION_STATE", "relation": "INTRA_DOC_COREF", "sentence": 2},
        {"type": "ACTION_ASPECTUAL", "sentence": 2},
        {"type": "TIME_DATE", "sentence": 0},
    ]
    cross, intra = {"relation": "CROSS_DOC_COREF"}, {"relation": "INTRA_DOC_COREF"}
    assert document.clusters == (
        Cluster("ACT1", "event", {**cross, "type": "ACTION_OCCURRENCE", "descriptor": "t1_checking_in"}),
        Cluster("HUM1", "entity", {**cross, "type": "HUMAN_PART_PER", "descriptor": "t1_lohan"}),
        Cluster("1_10ecb:3", "event", {**intra, "type": "UNKNOWN_INSTANCE_TAG"}),
        Cluster("ACT2", "event", {**cross, "type": "ACTION_OCCURRENCE", "descriptor": "t1_nobody"}),
    )
    assert (document.links, found) == ((), [])


def test_the_survey_knows_the_attributes(tmp_path: Path) -> None:
    entity = {("entity", "type"), ("entity", "sentence"), ("entity", "relation")}
    event = {("event", name) for _, name in entity}
    assert karat.read(put(tmp_path)).facts().attributes == entity | event
    put(tmp_path, SENTENCES, "sentences.csv")
    listed = {("entity", "validated"), ("event", "validated")}
    assert karat.read(tmp_path).facts().attributes == entity | event | listed


def test_the_first_source_says_what_a_relation_within_a_document_is_about(tmp_path: Path) -> None:
    """The target of most is UNKNOWN_INSTANCE_TAG."""
    mixed = changed('  <source m_id="35"/>\n', '  <source m_id="38"/>\n')
    document, _ = read(put(tmp_path, mixed))
    assert document.clusters[2].kind == "entity"
    assert [m.cluster for m in document.mentions if m.id in ("36", "38")] == ["1_10ecb:3"] * 2


def test_a_relation_without_a_note_takes_the_instance_of_its_target(tmp_path: Path) -> None:
    document, found = read(put(tmp_path, changed('r_id="1" note="ACT1"', 'r_id="1"')))
    assert (document.mentions[0].cluster, found) == ("ACT1", [])


def test_sections_and_sentences_may_be_missing(tmp_path: Path) -> None:
    document, found = read(put(tmp_path, SMALL.replace(' sentence="0"', "")))
    assert [(m.span, m.attributes) for m in document.mentions] == [(((0, 1),), {"type": "ACTION_STATE"})]
    assert found == []
    document, found = read(put(tmp_path, '<Document doc_name="1_10ecb.xml"/>'))
    assert (document, found) == (Document("1_10ecb", topic="1", subtopic="1ecb", unit="token"), [])


@pytest.mark.parametrize(
    ("name", "reported"),
    [
        ("1_10ecb.xml", ("1_10ecb", "1", "1ecb")),
        ("1_10ecbplus.xml", ("1_10ecbplus", "1", "1ecbplus")),
        ("36_2ECBplus.XML", ("36_2ECBplus", None, None)),
        ("a_1ecb.xml", ("a_1ecb", "a", "aecb")),
        ("1_10ecb.xml.gz", ("1_10ecb", "1", "1ecb")),
        ("1_10.xml", ("1_10", None, None)),
        ("10ecb.xml", ("10ecb", None, None)),
        ("1_xecb.xml", ("1_xecb", None, None)),
        ("document.txt", ("1_10ecb", "1", "1ecb")),
    ],
)
def test_names_tell_topics(tmp_path: Path, name: str, reported: tuple[str, str | None, str | None]) -> None:
    document, found = read(put(tmp_path, name=name))
    assert (document.id, document.topic, document.subtopic) == reported
    assert codes(found) == ([("ecb-name", "note", None)] if reported[1] is None else [])


def test_standard_input_is_named_by_its_document() -> None:
    done = run("convert", "-", "-", "--to", "jsonl", stdin=FILE.encode())
    assert done.code == 0
    assert json.loads(done.out)["id"] == "1_10ecb"


def test_a_folder_is_a_corpus_with_clusters_across_documents(tmp_path: Path) -> None:
    put(tmp_path)
    put(tmp_path, FILE.replace("1_10ecb.xml", "1_11ecbplus.xml"), "1/1_11ecbplus.xml")
    corpus = karat.read(tmp_path)
    one, other = corpus
    assert (corpus.format, one.subtopic, other.subtopic) == ("ecbplus", "1ecb", "1ecbplus")
    assert {m.cluster for m in one.mentions} & {m.cluster for m in other.mentions} == {"ACT1", "HUM1", None}
    assert corpus.protocols == ("simple-cdec", "pure-cdec")
    assert FORMATS.get("ecbplus").write is None


def test_nothing_is_lost_on_the_way_into_jsonl(tmp_path: Path) -> None:
    path = put(tmp_path)
    assert run("convert", str(path), str(tmp_path / "out.jsonl")).code == 0
    assert list(karat.read(tmp_path / "out.jsonl")) == list(karat.read(path))


# What is wrong in a file.


@pytest.mark.parametrize(
    ("code", "line", "text"),
    [
        ("xml-broken", 45, FILE.removesuffix("</Document>\n")),
        ("xml-broken", 5, changed("checked</token>", "checked</tocken>")),
        ("xml-entity", 3, changed("<Document", "<!DOCTYPE Document [\n<!ENTITY x 'y'>]>\n<Document")),
        ("ecb-shape", 1, '<Doc><Document doc_name="x"/></Doc>'),
        ("ecb-shape", 5, changed('t_id="7" sentence', "sentence")),
        ("ecb-shape", 25, changed('ACTION_ASPECTUAL m_id="37"', "ACTION_ASPECTUAL")),
        ("ecb-shape", 17, changed('\n  <token_anchor t_id="4"/>', "\n  <token_anchor/>")),
        ("ecb-shape", 34, changed('  <source m_id="32"/>', "  <source/>")),
        ("ecb-shape", 35, changed('  <target m_id="48"/>', "  <target/>")),
        ("ecb-shape", 38, changed('<INTRA_DOC_COREF r_id="3">', "<INTRA_DOC_COREF>")),
        ("ecb-shape", 33, changed(' note="ACT1"', "").replace(' instance_id="ACT1"', "")),
        ("ecb-shape", 4, changed('t_id="4" sentence="1"', 't_id="4" sentence="one"')),
        ("ecb-token-twice", 5, changed('<token t_id="7"', '<token t_id="4"')),
        ("mention-twice", 19, changed('<HUMAN_PART_PER m_id="34"', '<HUMAN_PART_PER m_id="32"')),
        ("mention-twice", 27, changed('m_id="48" RELATED_TO', 'm_id="32" RELATED_TO')),
        (
            "mention-twice",
            43,
            changed('<CROSS_DOC_COREF r_id="4"', '<INTRA_DOC_COREF r_id="3"/><CROSS_DOC_COREF r_id="4"'),
        ),
    ],
)
def test_what_cannot_be_trusted_is_refused(tmp_path: Path, code: str, line: int, text: str) -> None:
    path = put(tmp_path, text)
    with pytest.raises(KaratError) as refused:
        read(path)
    finding = refused.value.finding
    assert (finding.code, finding.line, finding.file) == (code, line, str(path))
    assert finding.hint


def test_character_units_are_refused(tmp_path: Path) -> None:
    with pytest.raises(KaratError, match="ecb-unit"), closing(karat.read(put(tmp_path), unit="char")) as corpus:
        list(corpus)
    assert len(list(karat.read(put(tmp_path), unit="token"))) == 1


def test_a_source_that_is_no_mention_is_left_out(tmp_path: Path) -> None:
    document, found = read(
        put(tmp_path, changed('  <source m_id="35"/>', '  <source m_id="99"/>\n  <source m_id="51"/>'))
    )
    assert codes(found) == [("argument-unknown", "fault", 39), ("argument-unknown", "fault", 40)]
    assert "'99', which is not a mention" in found[0].message
    assert [m.id for m in document.mentions if m.cluster == "1_10ecb:3"] == ["36"]


def test_a_target_that_is_no_instance_is_told(tmp_path: Path) -> None:
    """Mentions that corefer still do; the kind is then that of the first source."""
    for target in ('  <target m_id="99"/>', '  <target m_id="33"/>', ""):
        document, found = read(put(tmp_path, changed('  <target m_id="48"/>', target)))
        assert codes(found) == [("argument-unknown", "fault", 35 if target else 33)]
        assert document.mentions[0].cluster == "ACT1"
        assert document.clusters[0] == Cluster("ACT1", "event", {"relation": "CROSS_DOC_COREF"})


def test_a_mention_stays_in_its_first_relation(tmp_path: Path) -> None:
    document, found = read(put(tmp_path, changed('  <source m_id="36"/>', '  <source m_id="32"/>')))
    assert codes(found) == [("ecb-relation-twice", "fault", 40)]
    assert "mention '32' is already a source of the <CROSS_DOC_COREF> in line 33" in found[0].message
    assert document.mentions[0].cluster == "ACT1"
    assert document.mentions[0].attributes["relation"] == "CROSS_DOC_COREF"


def test_anchors_that_name_no_token(tmp_path: Path) -> None:
    """A mention keeps its other tokens; one without any is left out, and its relation does not miss it."""
    document, found = read(put(tmp_path, changed('<token_anchor t_id="7"/>', '<token_anchor t_id="5"/>')))
    assert codes(found) == [("ecb-anchor", "fault", 15)]
    assert document.mentions[0].span == ((4, 5),)
    document, found = read(put(tmp_path, changed('\n  <token_anchor t_id="4"/>', '\n  <token_anchor t_id="5"/>')))
    assert codes(found) == [("ecb-anchor", "fault", 17)]
    assert "33" not in {m.id for m in document.mentions}


def test_odd_things_are_noted(tmp_path: Path) -> None:
    text = changed('<token_anchor t_id="9"/>', '<token_anchor t_id="7"/>')
    text = text.replace("<Markables>", "<Lemmas/><Markables>").replace("</Relations>", "<TLINK/></Relations>")
    document, found = read(put(tmp_path, text))
    assert codes(found) == [
        ("ecb-unread", "note", 14),
        ("ecb-unread", "note", 44),
        ("segments-merged", "note", 15),
    ]
    assert document.mentions[0].span == ((2, 3),)


def test_other_relations_are_counted_in_one_note(tmp_path: Path) -> None:
    """Coreference after them is read as before."""
    text = changed("<Relations>", "<Relations>\n<GLINK/><TLINK/>\n<TLINK/>")
    document, found = read(put(tmp_path, text))
    line = 2 + text[: text.index("<Relations>")].count("\n")
    assert codes(found) == [("ecb-unread", "note", line)]
    assert found[0].message == "relations that are not coreference are not read: 1 GLINK, 2 TLINK"
    assert document == read(put(tmp_path))[0]


def test_checks_name_the_line_of_a_mention(tmp_path: Path) -> None:
    """Two mentions of one span in one cluster: the second is where it is declared, not where a relation names it."""
    done = run(
        "validate",
        str(put(tmp_path, changed('<token_anchor t_id="15"/>', '<token_anchor t_id="12"/><token_anchor t_id="13"/>'))),
    )
    assert done.code == 1
    assert "1_10ecb.xml, line 24: fault: event '3' of document '1_10ecb' has the span" in done.out
    corpus = karat.read(tmp_path)
    (id_,) = corpus.ids()
    items = "33", "36", "99", ("after", "33", "36")
    assert [corpus.where(id_, item)[1] for item in items] == [16, 24, 1, 1]
    corpus.close()


# The list of validated sentences.


def validated(path: Path) -> dict[str, Any]:
    document, _ = read(path)
    return {m.id: m.attributes.get("validated") for m in document.mentions}


YES = {"32": False, "33": False, "34": True, "35": True, "36": True, "37": True, "38": False}


@pytest.mark.parametrize("name", ["sentences.csv", "1/s.CSV", "../ECBplus_coreference_sentences.csv"])
def test_sentences_may_be_listed(tmp_path: Path, name: str) -> None:
    """In the folder of a document, above it, or beside the whole corpus; a list of something else is none."""
    path = put(tmp_path / "ECB+")
    put(tmp_path / "ECB+", "Topic,File\n1,2\n", "1/a.csv")
    assert set(validated(path).values()) == {None}
    put(tmp_path / "ECB+", SENTENCES.replace("\n", "\r\n"), name)
    assert validated(path) == YES


def test_the_list_is_no_file_that_was_skipped(tmp_path: Path) -> None:
    put(tmp_path)
    put(tmp_path, SENTENCES, "sentences.csv")
    put(tmp_path, "a,b\n", "other.csv")
    done = run("describe", str(tmp_path), "-f", "json")
    assert done.err == f"note: {tmp_path}/other.csv: skipped: not ecbplus [file-skipped]\n"
    values = json.loads(done.out)["attributes"]["event"]["validated"]["values"]
    assert values == [{"value": True, "count": 3}, {"value": False, "count": 1}]


def test_commands_can_use_validated_sentences_only(tmp_path: Path) -> None:
    """Of the clusters, only the one within the document and HUM1, by its second mention, are left."""
    path, out = put(tmp_path), tmp_path / "out.jsonl"
    put(tmp_path, SENTENCES, "sentences.csv")
    described = json.loads(run("describe", str(path), "--validated", "-f", "json").out)
    assert {kind: counts["mentions"] for kind, counts in described["mentions"].items()} == {"event": 3, "entity": 1}
    assert run("convert", str(path), str(out), "--validated").code == 0
    (document,) = karat.read(out)
    assert [mention.id for mention in document.mentions] == ["34", "35", "36", "37"]
    assert [cluster.id for cluster in document.clusters] == ["HUM1", "1_10ecb:3"]
    done = run("score", str(path), str(out), "--validated", "-p", "simple-cdec", "-f", "json")
    scored = json.loads(done.out)
    assert scored["gold"]["mentions"] == scored["system"]["mentions"] == 3
    assert "|validated=true|" in scored["signature"]


def test_validated_mentions_keep_their_lines(tmp_path: Path) -> None:
    path = put(tmp_path)
    put(tmp_path, SENTENCES, "sentences.csv")
    with (
        closing(karat.read(path)) as whole,
        closing(open_corpus(str(path), options=ReadOptions(validated=True))) as part,
    ):
        for item in ("34", "36", "HUM1", "1_10ecb:3"):
            assert part.where("1_10ecb", item) == whole.where("1_10ecb", item)


def test_without_the_list_no_sentence_is_known_to_be_validated(tmp_path: Path) -> None:
    path = str(put(tmp_path))
    done = run("describe", path, "--validated")
    assert done.code == 1
    assert "--validated: no mention of document '1_10ecb' says whether its sentence was validated" in done.err
    assert "ECBplus_coreference_sentences.csv" in done.err
    done = run("score", path, path, "-p", "tac-2017", "-p", "conll-2012", "--validated")
    assert done.code == 2
    assert "--validated is for the protocols across documents, not for tac-2017, conll-2012" in done.err


@pytest.mark.slow
@pytest.mark.parametrize(("part", "events"), [("train", 3808), ("dev", 1245), ("test", 1780)])
def test_validated_events_of_the_splits(part: str, events: int) -> None:
    corpus = str(shared_path("data", "ecbplus"))
    done = run("describe", corpus, "--topics", f"cybulska-2015:{part}", "--validated", "-f", "json")
    assert json.loads(done.out)["mentions"]["event"]["mentions"] == events


def test_a_document_that_is_not_listed_has_no_validated_sentence(tmp_path: Path) -> None:
    put(tmp_path, SENTENCES, "sentences.csv")
    assert set(validated(put(tmp_path, name="3/3_1ecb.xml")).values()) == {False}
    assert set(validated(put(tmp_path, name="3/odd.xml")).values()) == {None}


def test_the_list_is_read_once_and_again_when_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, sentences = put(tmp_path), put(tmp_path, SENTENCES, "sentences.csv")
    for number in range(11, 20):
        put(tmp_path, name=f"1/1_{number}ecb.xml")
    reads: list[str] = []

    def decode(data: bytes, *, file: str, line: int) -> str:
        reads.append(file)
        return _text.decode(data, file=file, line=line)

    monkeypatch.setattr(_sentences, "decode", decode)
    assert len(list(karat.read(tmp_path))) == 10
    assert reads == [str(sentences)]
    sentences.write_text(SENTENCES.replace("1,10ecb,2", "1,10ecb,1"))
    os.utime(sentences, ns=(1, 1))
    assert validated(path)["32"] is True
    assert len(reads) == 2


@pytest.mark.parametrize("row", ["1,10ecb", "1,10ecb,one", "1,10ecb,1,2", ",10ecb,1"])
def test_a_broken_list_is_refused(tmp_path: Path, row: str) -> None:
    put(tmp_path)
    path = put(tmp_path, f"{SENTENCES}\n{row}\n", "sentences.csv")
    with pytest.raises(KaratError) as refused:
        read(tmp_path)
    finding = refused.value.finding
    assert (finding.code, finding.file, finding.line) == ("ecb-sentences", str(path), 6)


def test_the_filter_keeps_validated_mentions(tmp_path: Path) -> None:
    put(tmp_path, SENTENCES, "sentences.csv")
    document, _ = read(put(tmp_path))
    found: list[Finding] = []
    pair = Pair(document, document)
    kept = Validated(only=True).prepare(Comparison(), found.append)(pair)
    assert [m.id for m in kept.gold.mentions] == [id_ for id_, yes in YES.items() if yes]
    assert kept.system == kept.gold
    assert Validated().prepare(Comparison(), found.append)(pair) is pair
    assert found == []


def test_the_filter_refuses_a_gold_that_does_not_tell() -> None:
    keep = Validated(only=True).prepare(Comparison(), print)
    assert keep(Pair(Document("empty"), Document("empty"))).gold.mentions == ()
    document = Document("d1", mentions=(Mention("m", ((0, 1),)),))
    with pytest.raises(KaratError, match="'d1' has the attribute `validated`") as refused:
        keep(Pair(document, document))
    assert refused.value.finding.code == "validated-absent"


def test_a_system_that_does_not_tell_goes_by_gold() -> None:
    """By gold's mention of that span; a spurious one, by gold's nearest mention, with a note."""
    spans = {"in": ((2, 3),), "out": ((9, 10),)}
    gold = Document(
        "d", mentions=tuple(Mention(n, span, attributes={"validated": n == "in"}) for n, span in spans.items())
    )
    said = {"a": ((2, 3),), "b": ((9, 10),), "near": ((0, 1),), "far": ((12, 14),)}
    system = Document("d", mentions=tuple(Mention(id_, span) for id_, span in said.items()))
    found: list[Finding] = []
    kept = Validated(only=True).prepare(Comparison(), found.append)(Pair(gold, system))
    assert [[m.id for m in side.mentions] for side in (kept.gold, kept.system)] == [["in"], ["a", "near"]]
    assert [finding.code for finding in found] == ["validated-nearest", "validated-nearest"]


def test_a_protocol_can_have_the_filter(tmp_path: Path) -> None:
    assert FILTERS.get("validated") is Validated
    protocol = tmp_path / "mine.toml"
    protocol.write_text("""\
title = "Validated sentences"
[parameters.validated]
default = false
help = "only validated sentences"
[[filters]]
name = "validated"
only = "{validated}"
[alignments.a]
[[measures]]
family = "nugget"
alignment = "a"
attributes = []
""")
    assert list(resolve(str(protocol), {"validated": True}).filters) == [Validated(only=True)]
    path = put(tmp_path / "c")
    put(tmp_path / "c", SENTENCES, "s.csv")
    whole = karat.score(path, path, protocol=str(protocol))
    part = karat.score(path, path, protocol=str(protocol), settings={"validated": True})
    counts = [result["nugget.type"].micro.counts for result in (whole, part)]
    assert [count.ratios()["recall"].den for count in counts if count is not None] == [7, 4]
    assert set(whole.scores) == {"nugget.span", "nugget.type"}


# Table 1 of Upadhyay et al. (2016).


def test_the_table_by_hand(tmp_path: Path) -> None:
    """Topic 1 is train, 23 dev; 99 and odd names are in no split.

    The file has the events 32 (CROSS), 35 and 36 (INTRA), 37 (none). In topic 23, 37 begins where 35 does and does not
    count; in topic 99 the relation within the document has an entity for its first source and does not count.
    """
    put(tmp_path)
    put(
        tmp_path,
        changed('<token_anchor t_id="13"/></ACTION_ASP', '<token_anchor t_id="12"/></ACTION_ASP'),
        "23_1ecb.xml",
    )
    put(
        tmp_path,
        changed('  <source m_id="35"/>\n', '  <source m_id="38"/>\n  <source m_id="35"/>\n'),
        "99_1ecbplus.xml",
    )
    put(tmp_path, SMALL, "odd.xml")
    reported = json.loads(run("describe", str(tmp_path), "-f", "json").out)["ecbplus"]
    assert {name: list(column.values()) for name, column in reported["columns"].items()} == {
        "train": [1, 1, 1, 4, 1, 2, 1, 2, 2],
        "dev": [1, 1, 1, 3, 0, 2, 1, 2, 2],
        "test": [0] * 9,
        "total": [4, 3, 3, 12, 5, 4, 3, 6, 2],
    }
    assert (reported["scored"], reported["unsplit"]) == (13, 2)
    assert "scoring uses all 13" in reported["notes"][0]
    text = run("describe", str(tmp_path)).out
    assert "\nECB+ (Upadhyay et al. 2016, Table 1)  train  dev  test  total\n" in text
    assert "\nDocuments of topics in no split, counted in the total: 2.\n" in text


def test_other_formats_have_no_such_table(tmp_path: Path) -> None:
    path = put(tmp_path)
    run("convert", str(path), str(tmp_path / "out.jsonl"))
    assert "ecbplus" not in json.loads(run("describe", str(tmp_path / "out.jsonl"), "-f", "json").out)
    assert "Upadhyay" not in run("describe", str(tmp_path / "out.jsonl")).out


# The corpus itself.


@pytest.fixture(scope="module")
def ecbplus() -> Path:
    return shared_path("data", "ecbplus")


@pytest.fixture(scope="module")
def corpus(ecbplus: Path) -> FileCorpus:
    return karat.read(ecbplus)


@pytest.mark.slow
def test_the_corpus(corpus: FileCorpus) -> None:
    """The numbers of the corpus's README and of a count of its files."""
    events: list[Mention] = []
    clusters: Counter[Any] = Counter()
    topics, subtopics, found = set(), set(), list[Finding]()
    for id_ in corpus.ids():
        document = corpus.read(id_, found.append)
        events += [m for m in document.mentions if m.kind == "event"]
        clusters.update(cluster.attributes["relation"] for cluster in document.clusters)
        topics.add(document.topic)
        subtopics.add(document.subtopic)
    corpus.close()
    assert len(corpus.ids()) == 982
    assert (len(topics), len(subtopics)) == (43, 86)
    assert len(events) == 15_003
    assert sum(size(m.span) > 1 for m in events) == 1_838
    assert sum(len(m.span) > 1 for m in events) == 83
    assert clusters == {"CROSS_DOC_COREF": 10_650, "INTRA_DOC_COREF": 185}
    assert sum(m.attributes["validated"] is True for m in events) == 6_833
    assert [finding.code for finding in found] == ["segments-merged"]


@pytest.mark.slow
def test_the_table_of_the_paper(ecbplus: Path) -> None:
    """Upadhyay et al. (2016), Table 1; its total, 14874, is not the sum of its rows."""
    done = run("describe", str(ecbplus), "--most", "1")
    assert done.code == 0
    expected = """\
ECB+ (Upadhyay et al. 2016, Table 1)  train  dev   test   total
documents                               462   73    447     982
topics                                   20    3     20      43
subtopics                                40    6     40      86
event mentions                        5,443  608  8,951  15,002
  singleton                           1,866  167  5,572   7,605
  WD                                     23    0     89     112
  CD                                  3,554  441  3,290   7,285
WD chains                             2,502  316  2,138   4,956
CD chains                               691   47    479   1,217
Mentions that begin at the same token count once: 15,002 here; scoring uses all 15,003.
A singleton is a mention in no relation; some mentions in a relation are also alone in their cluster.
The paper prints a total of 14,874 mentions, which is not the sum of its rows (15,002).
"""
    assert expected in done.out
    assert "file-skipped" in done.err
    assert ".csv" not in done.err


@pytest.mark.slow
def test_the_topics_of_the_test_split(ecbplus: Path) -> None:
    reported = json.loads(run("describe", str(ecbplus), "--topics", "26-45", "-f", "json").out)
    assert (reported["documents"], reported["topics"]["distinct"]) == (447, 20)
    assert reported["ecbplus"]["columns"]["test"] == reported["ecbplus"]["columns"]["total"]
    assert reported["ecbplus"]["columns"]["total"]["mentions"] == 8_951


def test_one_document_of_the_corpus(ecbplus: Path, tmp_path: Path) -> None:
    """A copy without the list says nothing of validation, and all else alike."""
    path = ecbplus / "1" / "1_10ecbplus.xml"
    shutil.copytree(path.parent, tmp_path / "a" / "b" / "1")
    here, _ = read(path)
    there, _ = read(tmp_path / "a" / "b" / "1" / path.name)
    assert [m.span for m in here.mentions] == [m.span for m in there.mentions]
    assert all("validated" in m.attributes for m in here.mentions)
    assert not any("validated" in m.attributes for m in there.mentions)
