"""MAVEN, MAVEN-Arg, its submissions, which need gold to be read, and the form of its program."""

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

import karat
from karat.formats import FORMATS
from karat.model import Document, Link
from tests.event_files import MAVEN, MAVEN_ARG, SUBMISSION, UNIFIED, changed, saved
from tests.running import run
from tests.test_event_formats import findings


def only(path: str) -> Document:
    (document,) = karat.read(path)
    return document


def links(document: Document) -> list[tuple[str, str, str]]:
    return [(link.source, link.kind, link.target) for link in document.links]


def submitted(path: Path, *records: dict[str, Any], gold: dict[str, Any] = MAVEN_ARG) -> list[Document]:
    corpus = karat.read(saved(path / "gold.jsonl", gold))
    return list(karat.read(saved(path / "system.jsonl", *records)).beside(corpus))


def test_maven_counts_the_tokens_of_sentences(tmp_path: Path) -> None:
    document = only(saved(tmp_path / "g.jsonl", MAVEN))
    assert [(mention.id, mention.span, mention.cluster) for mention in document.mentions] == [
        ("m1", ((2, 3),), "d1:E1"),
        ("m2", ((9, 10),), "d1:E1"),
        ("m3", ((7, 8),), "d1:E2"),
    ]
    assert document.forms is not None
    assert [document.forms[mention.span[0][0]] for mention in document.mentions] == ["attacked", "it", "burnt"]
    assert document.about == {"title": "Attack", "negative_triggers": '{"n1":[8,9]}'}


def test_every_trigger_has_the_arguments_of_its_event(tmp_path: Path) -> None:
    path = saved(tmp_path / "g.jsonl", MAVEN_ARG)
    document = only(path)
    assert links(document) == [
        ("m1", "Agent", "d1:N1"),
        ("m1", "Time", "argument-1"),
        ("m2", "Agent", "d1:N1"),
        ("m2", "Time", "argument-1"),
    ]
    assert [mention.kind for mention in document.mentions] == ["entity", "entity", "argument", "event", "event"]
    assert findings(path) == []


def test_a_submission_is_placed_by_gold(tmp_path: Path) -> None:
    """Triggers have gold's spans, also those that are no events; fillers are strings."""
    (document,) = submitted(tmp_path, SUBMISSION)
    mentions = {mention.id: mention for mention in document.mentions}
    assert (mentions["m1"].span, mentions["n1"].span) == (((11, 19),), ((26, 30),))
    assert [(mentions[one].text, mentions[one].span) for one in ("argument-1", "argument-2", "argument-3")] == [
        ("the rebels", ()),
        ("they", ()),
        ("Monday", ()),
    ]
    assert links(document)[-1] == ("n1", "Agent", "argument-2")


def test_gold_may_have_become_jsonl(tmp_path: Path) -> None:
    """The triggers that are no events survive the conversion."""
    gold, system = saved(tmp_path / "g.jsonl", MAVEN_ARG), saved(tmp_path / "s.jsonl", SUBMISSION)
    converted = str(tmp_path / "converted.jsonl")
    assert run("convert", gold, converted).code == 0
    results = [run("score", one, system, "-p", "exact-2013", "-f", "json").out for one in (gold, converted)]
    assert json.loads(results[0])["scores"] == json.loads(results[1])["scores"]
    assert json.loads(results[0])["scores"]["nugget.type"]["micro"]["precision"] == 0.5
    assert [warning["code"] for warning in json.loads(results[1])["warnings"]] == ["labels-unknown"]


@pytest.mark.parametrize("command", ["describe", "validate", "score", "convert"])
def test_a_submission_without_gold_says_what_to_do(command: str, tmp_path: Path) -> None:
    path = saved(tmp_path / "s.jsonl", SUBMISSION)
    more = {"score": (path,), "convert": (str(tmp_path / "o.jsonl"),)}.get(command, ())
    done = run(command, path, *more)
    assert done.code == 1
    assert "s.jsonl, line 1" in done.err + done.out
    assert "[maven-needs-gold]" in done.err + done.out
    assert "karat score GOLD SUBMISSION" in done.err + done.out


def test_a_submission_is_validated_against_gold(tmp_path: Path) -> None:
    gold, system = saved(tmp_path / "g.jsonl", MAVEN_ARG), saved(tmp_path / "s.jsonl", SUBMISSION)
    assert findings(system, "--against", gold) == []
    wrong = saved(tmp_path / "w.jsonl", changed(SUBMISSION, "preds", "m9", to={"event_type": "Attack", "Agent": []}))
    assert findings(wrong, "--against", gold) == [("argument-unknown", "fault", 1)]
    empty = saved(tmp_path / "e.jsonl", changed(SUBMISSION, "preds", "m1", "Agent", to=[]))
    assert findings(empty, "--against", gold) == [("maven-role-empty", "note", 1)]
    text = saved(tmp_path / "t.jsonl", changed(SUBMISSION, "preds", "m1", "Agent", to="they"))
    assert ("maven-shape", "fatal", 1) in findings(text, "--against", gold)


def test_a_document_that_gold_lacks_has_no_triggers(tmp_path: Path) -> None:
    documents = submitted(tmp_path, SUBMISSION, changed(SUBMISSION, "id", to="d2"))
    assert [len(document.mentions) for document in documents] == [5, 0]


def test_the_form_of_the_program(tmp_path: Path) -> None:
    """An argument of several mentions is an entity; the type before a role is taken off."""
    document = only(saved(tmp_path / "g.jsonl", UNIFIED))
    assert links(document) == [("m1", "Agent", "d1:filler-1"), ("m1", "Time", "argument-1")]
    assert [mention.span for mention in document.mentions if mention.cluster == "d1:filler-1"] == [
        ((0, 10),),
        ((21, 25),),
    ]


def test_the_form_of_omnievent(tmp_path: Path) -> None:
    """With entities, an argument is one of their mentions, or the entity."""
    entities = [
        {"id": "N1", "type": "ORG", "mentions": UNIFIED["events"][0]["triggers"][0]["arguments"][0]["mentions"]},
        {"id": "N2", "type": "TIME", "mentions": [{"mention": "Monday", "position": [34, 40]}]},
    ]
    document = only(saved(tmp_path / "g.jsonl", changed(UNIFIED, "entities", to=entities)))
    assert links(document) == [("m1", "Agent", "d1:N1"), ("m1", "Time", "N2-1")]


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (
            changed(MAVEN_ARG, "events", 0, "argument", "Agent", 0, to={"entity_id": "N9"}),
            ("argument-unknown", "fault"),
        ),
        (changed(MAVEN_ARG, "events", 0, "argument", "Agent", 0, to={"content": "x"}), ("maven-shape", "fatal")),
        (changed(MAVEN_ARG, "events", 0, "mention", 0, "offset", to=[11, 99]), ("span-beyond-text", "fault")),
        (changed(MAVEN_ARG, "events", 0, "mention", 0, "offset", to=[10, 18]), ("text-differs", "fault")),
        (changed(MAVEN_ARG, "events", 0, "mention", 0, "offset", to=None), ("maven-shape", "fatal")),
        (changed(MAVEN_ARG, "events", 0, "mention", 1, "id", to="m1"), ("mention-twice", "fatal")),
        (changed(MAVEN, "events", 0, "mention", 0, "offset", to=[2, 7]), ("event-span", "fatal")),
        (changed(MAVEN, "events", 0, "mention", 0, "offset", to=[3, 3]), ("event-span", "fatal")),
        (changed(MAVEN, "events", 0, "mention", 0, "sent_id", to=2), ("event-span", "fatal")),
        (changed(MAVEN, "events", 0, "mention", 0, "sent_id", to=None), ("event-span", "fatal")),
    ],
)
def test_what_is_wrong(record: dict[str, Any], expected: tuple[str, str], tmp_path: Path) -> None:
    path = saved(tmp_path / "g.jsonl", record)
    assert findings(path)[0] == (*expected, 1)
    assert len({code for code, _, _ in findings(path)}) == 1


def test_arguments_choose_the_protocol() -> None:
    choose = FORMATS.get("maven").choose_protocols
    assert choose is not None
    with_arguments = Document("d", links=(Link("Agent", "m", "n"),))
    assert {*choose([with_arguments]), *choose([Document("e")])} == {*FORMATS.get("maven").protocols}


def test_another_process_reads_beside_gold_too(tmp_path: Path) -> None:
    """A corpus is sent to workers as files and options, gold included."""
    gold, system = (
        karat.read(saved(tmp_path / "g.jsonl", MAVEN_ARG)),
        karat.read(saved(tmp_path / "s.jsonl", SUBMISSION)),
    )
    sent = pickle.loads(pickle.dumps(system.beside(gold)))
    assert list(sent) == list(system.beside(gold))
