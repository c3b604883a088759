"""Answers of language models: strings found in gold's text."""

import json
from pathlib import Path
from typing import Any

import pytest

import karat
from karat.regions import is_nowhere
from tests.running import run

TEXT = "Soldiers raided the town. The U.S. raid killed Anna; Anna's raids go on."
#       0         1         2         3         4         5         6         7


def gold(tmp_path: Path, **fields: Any) -> Path:
    mention = {"id": "m", "span": [[0, 1]], "attributes": {"type": "Attack"}}
    path = tmp_path / "gold.jsonl"
    path.write_text(json.dumps({"id": "d", "mentions": [mention], **({"text": TEXT} | fields)}) + "\n")
    return path


def events(tmp_path: Path, *answers: dict[str, Any], **fields: Any) -> list[tuple[Any, list[tuple[str, Any]]]]:
    """The span of each trigger, with its roles and the spans of what fills them; None: not found."""
    path = tmp_path / "answers.json"
    path.write_text(json.dumps([{"id": "d", "events": answers}]))
    system = karat.read(path).beside(karat.read(gold(tmp_path, **fields)))
    (document,) = system
    spans = {m.id: None if is_nowhere(m.span) else m.span[0] for m in document.mentions}
    return [
        (spans[m.id], [(link.kind, spans[link.target]) for link in document.links if link.source == m.id])
        for m in document.mentions
        if m.kind == "event"
    ]


def event(trigger: str, arguments: Any = None) -> dict[str, Any]:
    return {"type": "Attack", "trigger": trigger, "arguments": arguments}


@pytest.mark.parametrize(
    ("string", "span"),
    [
        ("raid", (35, 39)),  # neither "raided" nor "raids"
        ("soldiers", (0, 8)),
        ("US", (30, 33)),
        ("the Town", (16, 24)),
        ("attack", None),
        ("...", None),
    ],
)
def test_a_string_is_found_as_written_else_ignoring_case_else_punctuation(
    tmp_path: Path, string: str, span: object
) -> None:
    assert events(tmp_path, event(string)) == [(span, [])]


def test_equal_triggers_take_one_place_after_the_other(tmp_path: Path) -> None:
    found = events(tmp_path, event("Anna"), event("Anna"), event("Anna"))
    assert [span for span, _ in found] == [(47, 51), (53, 57), (47, 51)]


def test_an_argument_is_the_nearest_to_its_trigger(tmp_path: Path) -> None:
    """Of two at one distance, the earlier; without a place of the trigger, the first."""
    arguments = [{"role": "Victim", "text": "Anna"}]
    assert events(tmp_path, event("raids", arguments)) == [((60, 65), [("Victim", (53, 57))])]
    assert events(tmp_path, event("attack", {"Victim": ["Anna"], "Place": "town"})) == [
        (None, [("Victim", (47, 51)), ("Place", (20, 24))])
    ]
    text = "Anna hit Anna."
    assert events(tmp_path, event("hit", arguments), text=text) == [((5, 8), [("Victim", (0, 4))])]


def test_scripts_without_blanks_have_no_word_boundaries(tmp_path: Path) -> None:
    assert events(tmp_path, event("袭击"), text="军队袭击了城市") == [((2, 4), [])]


def test_strings_begin_and_end_with_tokens_of_gold(tmp_path: Path) -> None:
    forms = ["The", "U.S.", "raid", "-", "raids"]
    fields: dict[str, Any] = {"unit": "token", "forms": forms, "text": None}
    found = events(tmp_path, event("raid"), event("US raid"), event("raid - raids"), event("U.S"), **fields)
    assert [span for span, _ in found] == [(2, 3), (1, 3), (2, 5), None]


def test_what_is_not_found_counts_and_the_note_says_how_many(tmp_path: Path) -> None:
    system = tmp_path / "answers.jsonl"
    answers = [event("attack"), event("attack"), event("raided", {"Victim": ["Anna"], "Place": [], "Time": None})]
    system.write_text(json.dumps({"id": "d", "events": answers}) + "\n")
    mentions = [{"id": "m", "span": [[9, 15]], "attributes": {"type": "Attack"}}]
    result = karat.score(gold(tmp_path, mentions=mentions), system, protocol="tac-2017", measures="nugget.type")
    assert (result["nugget.type"].precision, result["nugget.type"].recall) == (1 / 3, 1)
    assert "|strings=found-in-text|" in result.signature
    (note,) = [finding.message for finding in result.warnings if finding.code == "answers-strings"]
    assert note == (
        "strings of the answers in gold's text: 2 found as written, 2 not found, 1 of those found is in several places"
    )


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        (
            '\n```json\n{"id": "d", "events": []}\n```\n',
            "line 2: this is Markdown, which karat does not read; remove the",
        ),
        (
            '{"id": "d", "events": [{"type": "A", "trigger": "raid",}]}\n',
            "line 1: there is a comma after the last value",
        ),
        ("{'id': 'd', 'events': []}\n", "line 1: this is not JSON: found \"'id'"),
        ('Here it is:\n{"id": "d", "events": []}\n', "line 1: this is text before JSON, which"),
        ('{"id": "d", "events": [{"type": "A", "trigger": ["raid"]}]}\n', "line 1"),
        ('{"id": "d", "events": [{"type": "A", "trigger": "raid"}]}\nHope this helps!\n', "line 2"),
    ],
)
def test_text_around_the_json_is_refused(tmp_path: Path, answers: str, message: str) -> None:
    (tmp_path / "answers.jsonl").write_text(answers)
    done = run("score", str(gold(tmp_path)), str(tmp_path / "answers.jsonl"), "-p", "textee-2024")
    assert (done.code, done.out) == (1, "")
    assert message in done.err


@pytest.mark.parametrize("start", ['{"id": "d"', '[\n  {"id": "d"'])
def test_text_before_json_is_named_in_a_file_of_any_name(tmp_path: Path, start: str) -> None:
    (tmp_path / "answers.txt").write_text("Here are the events:\n\n" + start)
    done = run("score", str(gold(tmp_path)), str(tmp_path / "answers.txt"), "-p", "textee-2024")
    assert "line 1: this is text before JSON, which karat does not read; remove all text around the JSON" in done.err


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ({"id": "d", "text": TEXT, "events": [event("raid")]}, "[answers-gold]"),
        ({"id": "d", "text": TEXT, "events": []}, "[answers-gold]"),
        ({"id": "d", "events": [{"trigger": "raid", "start": 35}]}, "[format-unknown]"),
        ({"doc_id": "d", "events": [event("raid")]}, "answers, the nearest, also has 'id'"),
    ],
)
def test_answers_are_recognised_by_triggers_without_offsets(tmp_path: Path, answer: object, message: str) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps(answer) + "\n")
    done = run("describe", str(tmp_path / "a.jsonl"))
    assert message in done.err


def test_answers_need_the_text_of_gold(tmp_path: Path) -> None:
    """Code answers-shape for other objects, answers-gold without a text."""
    (tmp_path / "a.jsonl").write_text(json.dumps({"id": "d", "events": [event("raid")]}) + "\n")
    assert "there is no gold" in run("validate", str(tmp_path / "a.jsonl")).out
    done = run("score", str(gold(tmp_path, text=None)), str(tmp_path / "a.jsonl"), "-p", "textee-2024")
    assert "gold has no text for document 'd'" in done.err
