"""`--topics`: what a SPEC names, in every command that takes it."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

import karat
from karat.corpus.files import FileCorpus
from karat.corpus.memory import MemoryCorpus
from karat.corpus.topics import Topics
from karat.model import Document
from karat.problems import KaratError, UsageError
from tests.corpora import as_jsonl, mention
from tests.running import run


def put(path: Path, topics: Sequence[str | None]) -> Path:
    """A document d0, d1, ... for each topic."""
    documents = [
        Document(f"d{number}", topic=topic, mentions=(mention("m", (0, number + 1), type=f"of-{topic}"),))
        for number, topic in enumerate(topics)
    ]
    path.write_bytes(as_jsonl(*documents))
    return path


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return put(tmp_path / "corpus.jsonl", ["1", "2", "26", "30", "45", "46", "sports", None, "026"])


def of(path: Path, spec: str) -> list[str]:
    return list(karat.read(path).of_topics(Topics.parse(spec)).ids())


@pytest.mark.parametrize(
    ("spec", "documents"),
    [
        ("26-45", ["d2", "d3", "d4", "d8"]),
        ("1,3,7-9", ["d0"]),
        (" 1 , 30 - 45 ", ["d0", "d3", "d4"]),
        ("1,sports", ["d0", "d6"]),
        ("26", ["d2", "d8"]),
        ("2-2,2,1-2", ["d0", "d1"]),
    ],
)
def test_a_spec_names_topics(corpus: Path, spec: str, documents: list[str]) -> None:
    assert of(corpus, spec) == documents


@pytest.mark.parametrize(
    ("spec", "one_way"),
    [("45-45,1,2", "1-2,45"), ("sports,3-9,5-12,art", "3-12,art,sports"), ("7,8-9,11", "7-9,11"), ("007", "7")],
)
def test_one_way_to_write_it(spec: str, one_way: str) -> None:
    assert str(Topics.parse(spec)) == one_way
    assert str(Topics.parse(one_way)) == one_way


@pytest.mark.parametrize(
    ("spec", "hint"),
    [
        ("45-26", "Did you mean 26-45?"),
        ("1,26..45", "Did you mean 26-45?"),
        ("26\N{EN DASH}45", "Did you mean 26-45?"),
        ("26:45", "Did you mean 26-45?"),
        ("26 to 45", "Did you mean 26-45?"),
        ("26--45", "Did you mean 26-45?"),
        ("26-", "26-45, or 1,3,7-9"),
        ("-", "26-45, or 1,3,7-9"),
        ("1,,2", "26-45, or 1,3,7-9"),
        ("", "26-45, or 1,3,7-9"),
    ],
)
@pytest.mark.parametrize("command", ["describe", "convert"])
def test_what_is_no_spec_is_a_usage_error(corpus: Path, command: str, spec: str, hint: str) -> None:
    with pytest.raises(UsageError) as refused:
        Topics.parse(spec)
    assert refused.value.finding.code == "bad-topics"
    done = run(command, str(corpus), *["out.jsonl"][: command == "convert"], "--topics", spec)
    assert (done.code, done.out) == (2, "")
    assert hint in done.err


@pytest.mark.parametrize(
    ("spec", "topics"),
    [
        ("cybulska-2015:train", "1,3-4,6-11,13-14,16,19-20,22,24-33"),
        ("cybulska-2015:dev", "2,5,12,18,21,23,34-35"),
        ("cybulska-2015:test", "36-45"),
        ("yang-2015:train", "1-22"),
        ("yang-2015:dev", "23-25"),
        ("yang-2015:test,sports", "26-45,sports"),
        ("daily:uk", "daily:uk"),
    ],
)
def test_splits_of_papers_have_names(spec: str, topics: str) -> None:
    assert str(Topics.parse(spec)) == topics


@pytest.mark.parametrize(
    ("spec", "message", "hint"),
    [
        ("cybulsky-2015:test", "there is no split 'cybulsky-2015'", "Did you mean cybulska-2015?"),
        ("yang-2015:tset", "yang-2015 has no part 'tset'", "Write yang-2015:train, yang-2015:dev, yang-2015:test."),
        ("1,yang-2015", "yang-2015 is a split", "Write yang-2015:train"),
    ],
)
def test_unknown_splits_are_usage_errors(corpus: Path, spec: str, message: str, hint: str) -> None:
    done = run("describe", str(corpus), "--topics", spec)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert hint in done.err


def test_numbers_too_long_to_be_topics_are_names() -> None:
    assert "9" * 5000 in Topics.parse("9" * 5000)
    assert "9" * 5000 not in Topics.parse("1-9")


def test_describe_tells_of_these_documents_only(corpus: Path) -> None:
    done = run("describe", str(corpus), "--topics", "26-45", "-f", "json")
    reported = json.loads(done.out)
    assert (done.code, done.err) == (0, "")
    assert (reported["documents"], reported["topics"]["distinct"]) == (4, 4)
    assert reported["attributes"]["event"]["type"]["distinct"] == 4


def test_convert_writes_these_documents_only(corpus: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    done = run("convert", str(corpus), str(out), "--topics", "1,sports")
    assert (done.code, done.out) == (0, "")
    assert "2 documents, 2 mentions" in done.err
    assert [document.id for document in karat.read(out)] == ["d0", "d6"]


def test_only_what_is_left_is_surveyed(corpus: Path) -> None:
    whole = karat.read(corpus)
    part = whole.of_topics(Topics.parse("1"))
    assert whole.of_topics(None) is whole
    assert [document.id for document in part] == ["d0"]
    assert len(whole.ids()) == 9


def test_a_spec_without_any_document_is_refused(corpus: Path, tmp_path: Path) -> None:
    done = run("describe", str(corpus), "--topics", "3-9,art")
    assert (done.code, done.out) == (1, "")
    assert "no document has the topic 3-9,art; the corpus has 1-2, 26, 30, 45-46, sports [topics-absent]" in done.err
    out = tmp_path / "out.jsonl"
    assert run("convert", str(corpus), str(out), "--topics", "3").code == 1
    assert not out.exists()


def test_many_topics_are_not_all_listed(tmp_path: Path) -> None:
    path = put(tmp_path / "many.jsonl", [f"t{number:03}" for number in range(50)])
    with pytest.raises(KaratError, match=r"has t000, t001, .*, t029, and 20 more \[topics-absent\]"):
        of(path, "1")


def test_a_corpus_without_topics_says_so(tmp_path: Path) -> None:
    with pytest.raises(KaratError, match="no document of the corpus has a topic"):
        of(put(tmp_path / "plain.jsonl", [None, None]), "1-45")


def test_a_system_is_restricted_to_the_documents_of_gold(tmp_path: Path) -> None:
    """It may tell no topics, other documents, or nothing about these topics at all."""
    topics = Topics.parse("2")

    def left(gold: FileCorpus | MemoryCorpus, *said: str | None) -> list[str]:
        system = karat.read(put(tmp_path / "system.jsonl", said))
        return list(system.of_topics(topics, beside=gold).ids())

    gold = karat.read(put(tmp_path / "gold.jsonl", ["1", "2", "2"])).of_topics(topics)
    assert left(gold, None, None, None, None, "2", "1") == ["d1", "d2", "d4"]
    assert left(MemoryCorpus([Document("d9", topic="2")]), "1", None) == []


def test_a_document_of_two_topics_is_refused_even_if_it_is_left_out(tmp_path: Path) -> None:
    """Of two values of one key a decoder keeps the last: the document would silently leave topic 1."""
    path = tmp_path / "twice.jsonl"
    path.write_text('{"id": "a", "topic": "1", "topic": "2"}\n{"id": "b", "topic": "1"}\n')
    with pytest.raises(KaratError, match="'topic' is given twice"):
        of(path, "1")
