"""TextEE, OneIE, DyGIE++, RAMS and WikiEvents: what their files mean, and what is wrong with them."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import karat
from karat.counts import PrecisionRecall
from karat.formats import FORMATS
from karat.model import Document
from karat.problems import Finding
from karat.testing import check
from karat.testing.checks import documents_in
from tests.event_files import (
    CASIE,
    COREFERENCE,
    DOCUMENTS,
    DUEE,
    DYGIE,
    E2E,
    FEWFC,
    FURTHER,
    GEN_ARG,
    GRAPH,
    GRIT,
    GTT,
    MAVEN,
    MAVEN_ARG,
    ONEIE,
    ONEIE_OUTPUT,
    PRECO,
    RAMS,
    RAMS_PREDICTIONS,
    STOLE,
    TEXTEE,
    TOKENS,
    WEC,
    WIKIEVENTS,
    changed,
    saved,
)
from tests.running import run

Told = tuple[str, str, int | None]


def only(path: str) -> Document:
    (document,) = karat.read(path)
    return document


def arguments(document: Document) -> set[tuple[object, ...]]:
    """Type and span of an event, role, kind and span of each argument."""
    mentions = {mention.id: mention for mention in document.mentions}
    return {
        (
            mentions[link.source].attributes.get("type"),
            mentions[link.source].span[0],
            link.kind,
            mentions[link.target].kind,
            mentions[link.target].span[0],
        )
        for link in document.links
    }


def findings(*args: str) -> list[Told]:
    """Code, severity and line of everything that validating finds."""
    result = json.loads(run("validate", *args, "-f", "json").out)
    return [(one["code"], one["severity"], one["line"]) for file in result["files"] for one in file["findings"]]


def spans(document: Document, kind: str) -> list[tuple[int, int]]:
    return [mention.span[0] for mention in document.mentions if mention.kind == kind]


# What files mean

ATTACK = {
    ("Attack", (2, 3), "Attacker", "entity", (0, 2)),
    ("Attack", (2, 3), "Target", "entity", (3, 5)),
}


def test_a_window_of_textee(tmp_path: Path) -> None:
    document = only(saved(tmp_path / "w.json", TEXTEE))
    assert (document.id, document.about, document.language) == ("d1-0", {"doc_id": "d1"}, "en")
    assert (document.unit, document.forms) == ("token", tuple(TOKENS))
    assert [mention.id for mention in document.mentions] == ["T1", "T2", "E1"]
    assert arguments(document) == ATTACK


def test_windows_are_documents_of_their_own(tmp_path: Path) -> None:
    """A window that only one side has does not shift the others."""
    windows = [changed(TEXTEE, "wnd_id", to=f"d1-{number}") for number in range(3)]
    gold, system = saved(tmp_path / "g.json", *windows), saved(tmp_path / "s.json", windows[2], windows[0])
    scores = karat.score(gold, system, protocol="exact-2013")
    assert scores["nugget.type"].micro.counts == PrecisionRecall(2, 2, 2, 3)


def test_a_sentence_of_oneie(tmp_path: Path) -> None:
    document = only(saved(tmp_path / "w.json", ONEIE))
    assert arguments(document) == ATTACK
    assert [mention.cluster for mention in document.mentions] == ["d1-0:d1-E1", "d1-0:d1-E2", None]
    assert document.mentions[0].attributes == {"type": "ORG", "mention_type": "NOM"}


@pytest.mark.parametrize("scores", [True, False], ids=["with scores", "older files"])
def test_a_graph_of_oneie(tmp_path: Path, *, scores: bool) -> None:
    graph = GRAPH if scores else {name: [row[:-1] for row in rows] for name, rows in GRAPH.items()}
    document = only(saved(tmp_path / "w.json", changed(ONEIE_OUTPUT, "graph", to=graph)))
    assert arguments(document) == ATTACK
    assert [mention.text for mention in document.mentions] == ["The rebels", "the town", "attacked"]


def test_a_result_file_of_oneie_has_both_sides(tmp_path: Path) -> None:
    """As the system it is `pred`, whichever way it is given; else `gold`, with a note."""
    pred = changed(GRAPH, "triggers", 0, 2, to="Die")
    path = saved(
        tmp_path / "r.json", {"doc_id": "d1", "sent_id": "d1-0", "tokens": TOKENS, "gold": GRAPH, "pred": pred}
    )
    assert only(path).mentions[-1].attributes == {"type": "Attack"}
    assert findings(path) == [("both-sides", "note", 1)]
    for system in (path, karat.read(path)):
        scores = karat.score(path, system, protocol="exact-2013")
        assert (scores["nugget.span"].precision, scores["nugget.type"].precision) == (1, 0)
    done = json.loads(run("score", path, path, "-p", "exact-2013", "-f", "json").out)
    assert done["scores"]["nugget.type"]["micro"]["precision"] == 0
    compared = karat.compare(path, {"a": path, "b": path}, protocol="exact-2013")
    assert {compared[name].runs[0]["nugget.type"].precision for name in "ab"} == {0}
    assert findings(path, "--against", path) == []


def test_a_document_of_dygie(tmp_path: Path) -> None:
    """Offsets are those of the document, and the last token is included."""
    document = only(saved(tmp_path / "w.json", DYGIE))
    assert arguments(document) == {
        ("Attack", (2, 3), "Attacker", "entity", (0, 2)),
        ("Attack", (2, 3), "Target", "argument", (3, 5)),
        ("Flee", (7, 8), "Agent", "entity", (6, 7)),
    }
    assert [mention.cluster for mention in document.mentions if mention.kind == "entity"] == ["d1:1", "d1:1"]
    assert document.sentences == ((0, 6), (6, 8))
    assert document.about == {"dataset": "ace"}


def test_a_system_of_dygie_is_its_predictions(tmp_path: Path) -> None:
    predicted = [[[[2, "Die", 9.1, 0.9], [0, 1, "Victim", 8.0, 0.8]]], []]
    both, alone = DYGIE | {"predicted_events": predicted}, DYGIE | {"predicted_events": predicted}
    del alone["events"]
    path = saved(tmp_path / "both.json", both)
    assert spans(only(path), "event") == [(2, 3), (7, 8)]
    assert arguments(only(saved(tmp_path / "alone.json", alone))) == {("Die", (2, 3), "Victim", "argument", (0, 2))}
    scores = karat.score(path, path, protocol="exact-2013")
    assert scores["nugget.span"].micro.counts == PrecisionRecall(1, 1, 1, 2)
    assert scores["nugget.type"].micro.precision == 0
    only_gold = saved(tmp_path / "gold.json", DYGIE)
    assert karat.score(only_gold, only_gold, protocol="exact-2013")["nugget.type"].f1 == 1


def test_predicted_entities_of_dygie(tmp_path: Path) -> None:
    """Gold's entities are not the system's."""
    predicted = {"predicted_ner": [[[3, 4, "GPE", 1.0, 1.0]], []], "predicted_clusters": [[[3, 4], [6, 6]]]}
    record = DYGIE | {"predicted_events": DYGIE["events"]} | predicted
    del record["events"]
    document = only(saved(tmp_path / "w.json", record))
    assert spans(document, "entity") == [(3, 5), (6, 7)]
    assert spans(document, "argument") == [(0, 2)]


@pytest.mark.parametrize("record", [RAMS, RAMS_PREDICTIONS], ids=["gold", "predictions"])
def test_a_document_of_rams(record: dict[str, Any], tmp_path: Path) -> None:
    document = only(saved(tmp_path / "w.jsonlines", record))
    type_ = "conflict.attack" if record is RAMS else None
    assert arguments(document) == {
        (type_, (2, 3), "attacker", "argument", (0, 2)),
        (type_, (2, 3), "place", "argument", (3, 5)),
    }
    assert document.forms == (None if record is RAMS_PREDICTIONS else (*TOKENS, "They", "fled"))


def test_filled_templates_with_links_are_rams(tmp_path: Path) -> None:
    """Systems of gen-arg keep the texts that they predicted. By hand: one of two arguments is right; rams-2020 asks for
    span and role, and triggers are where the links say, if that is all there is."""
    links = [[[2, 2], [0, 1], "evt043arg01attacker"], [[2, 2], [4, 4], "evt043arg02place"]]
    system = {"predicted": "rebels attacked town", "gold": "<arg> attacked <arg>", **RAMS, "gold_evt_links": links}
    gold, path = saved(tmp_path / "g.jsonlines", RAMS), saved(tmp_path / "s.jsonlines", system)
    short = saved(tmp_path / "t.jsonlines", {name: system[name] for name in ("doc_key", "predicted", "gold_evt_links")})
    for predictions in (path, short):
        assert karat.read(predictions).format == "rams"
        scores = karat.score(gold, predictions)
        assert scores["arg.c"].micro.counts == PrecisionRecall(1, 2, 1, 2)


@pytest.mark.parametrize(
    ("label", "role"), [("evt043arg02place", "place"), ("evt1arg2a3b", "b"), ("place", "place"), ("evt1-é", "-é")]
)
def test_a_role_of_rams_follows_the_last_digits(label: str, role: str, tmp_path: Path) -> None:
    document = only(saved(tmp_path / "w.json", changed(RAMS, "gold_evt_links", 0, 2, to=label)))
    assert document.links[0].kind == role


def test_repeated_links_of_rams_are_kept(tmp_path: Path) -> None:
    """One filler, as often as it is listed; no predictions are no event."""
    document = only(saved(tmp_path / "w.json", changed(RAMS, "gold_evt_links", to=RAMS["gold_evt_links"] * 2)))
    assert len(document.links) == 4
    assert spans(document, "argument") == [(0, 2), (3, 5)]
    assert only(saved(tmp_path / "n.json", changed(RAMS_PREDICTIONS, "predictions", to=[]))).mentions == ()


def test_a_document_of_wikievents(tmp_path: Path) -> None:
    document = only(saved(tmp_path / "w.jsonl", WIKIEVENTS))
    assert arguments(document) == {("Conflict.Attack.Unspecified", *rest) for _, *rest in ATTACK}
    assert document.sentences == ((0, 6),)


@pytest.mark.parametrize("record", [FEWFC, DUEE], ids=["FewFC", "DuEE"])
def test_a_text_of_fewfc_and_of_duee(record: dict[str, Any], tmp_path: Path) -> None:
    """A span that two events share is one mention; the order of mentions does not matter."""
    document = only(saved(tmp_path / "w.json", record))
    assert arguments(document) == {
        ("buy", (5, 9), "sub", "argument", (0, 4)),
        ("buy", (5, 9), "obj", "argument", (10, 13)),
        ("sell", (18, 23), "sub", "argument", (0, 4)),
        ("sell", (18, 23), "obj", "argument", (24, 27)),
    }
    assert [mention.text for mention in document.mentions] == ["ACME", "Foo", "Bar", "buys", "sells"]
    assert (document.unit, document.text) == ("char", "ACME buys Foo and sells Bar.")


def test_scores_of_fewfc_by_hand(tmp_path: Path) -> None:
    """`sells` is called buy, Foo is its sub, and Bar is not found: of gold's two events and four arguments one event
    has its type, and one argument its event's type and its role; Foo has the type, but another role."""
    gold = saved(tmp_path / "g.json", FEWFC)
    system = changed(FEWFC, "events", 1, "type", to="buy")
    system["events"][0]["mentions"].pop()
    system["events"][1]["mentions"] = [
        {"word": "sells", "span": [18, 23], "role": "trigger"},
        {"word": "Foo", "span": [10, 13], "role": "sub"},
    ]
    for of_gold in (gold, saved(tmp_path / "d.json", DUEE)):
        scores = karat.score(of_gold, saved(tmp_path / "s.json", system))
        counts = {id_: scores[id_].micro.counts for id_ in ("trig.i", "trig.c", "arg.i", "arg.c", "arg.c+")}
        assert counts == {
            "trig.i": PrecisionRecall(2, 2, 2, 2),
            "trig.c": PrecisionRecall(1, 2, 1, 2),
            "arg.i": PrecisionRecall(2, 2, 2, 4),
            "arg.c": PrecisionRecall(1, 2, 1, 4),
            "arg.c+": PrecisionRecall(1, 2, 1, 4),
        }


def test_a_document_of_casie(tmp_path: Path) -> None:
    """A hopper is a cluster; an argument of two events is one mention. Files are printed over many lines."""
    path = tmp_path / "d1.json"
    path.write_text(json.dumps(CASIE, indent=4))
    document = only(str(path))
    assert arguments(document) == {
        ("Attack_Databreach", (8, 13), "Attacker", "entity", (0, 7)),
        ("Attack_Databreach", (8, 13), "Loot", "entity", (14, 18)),
        ("Attack_Databreach", (24, 29), "Loot", "entity", (14, 18)),
    }
    assert [mention.cluster for mention in document.mentions] == [None, None, "d1:hopper-1", "d1:hopper-1"]
    assert [mention.attributes for mention in document.mentions[:3]] == [
        {"type": "Person"},
        {"type": "Data"},
        {"type": "Attack_Databreach", "realis": "Actual"},
    ]
    assert (document.id, only(saved(tmp_path / "lines.json", CASIE))) == ("d1", document)


def test_scores_of_casie_by_hand(tmp_path: Path) -> None:
    """A folder of files: the Attacker of `stole` has another role, and `theft` is missing. The Loot of
    both events is one argument where the trigger does not count."""
    gold, system = tmp_path / "gold", tmp_path / "system"
    other = changed(CASIE, "cyberevent", "hopper", 0, "events", to=[STOLE])
    other = changed(other, "cyberevent", "hopper", 0, "events", 0, "argument", 0, "role", "type", to="Victim")
    for folder, record in ((gold, CASIE), (system, other)):
        folder.mkdir()
        (folder / "d1.json").write_text(json.dumps(record, indent=1))
        (folder / "d2.json").write_text(json.dumps({**record, "sourcefile": "d2.txt"}, indent=1))
    scores = karat.score(str(gold), str(system))
    counts = {id_: scores[id_].micro.counts for id_ in ("trig.c", "arg.c", "arg.c+")}
    assert counts == {
        "trig.c": PrecisionRecall(2, 2, 2, 4),
        "arg.c": PrecisionRecall(2, 4, 2, 4),
        "arg.c+": PrecisionRecall(2, 4, 2, 6),
    }


@pytest.mark.parametrize("record", [FEWFC, DUEE, CASIE], ids=["FewFC", "DuEE", "CASIE"])
def test_as_jsonl_they_are_the_same(record: dict[str, Any], tmp_path: Path) -> None:
    path, out = saved(tmp_path / "w.json", record), str(tmp_path / "out.jsonl")
    assert run("convert", path, out).code == 0
    assert only(out) == only(path)


def test_tokens_of_both_sides_are_compared(tmp_path: Path) -> None:
    for name, key in (("textee", "tokens"), ("oneie", "tokens"), ("wikievents", "tokens")):
        document = DOCUMENTS[name]
        gold = saved(tmp_path / "g.json", document)
        system = saved(tmp_path / "s.json", changed(document, key, 1, to="troops"))
        result = karat.score(gold, system, protocol="exact-2013")
        assert [finding["code"] for finding in result.to_dict()["warnings"]] == ["tokens-differ"], name


# What is wrong with them

EVENTS = ("event_mentions", 0)
BAD: dict[str, tuple[dict[str, Any], list[Told]]] = {
    "no window id": (changed(TEXTEE, "wnd_id", to=""), [("textee-shape", "fatal", 1)]),
    "an offset in words": (changed(TEXTEE, *EVENTS, "trigger", "start", to="two"), [("textee-shape", "fatal", 1)]),
    "an empty span": (changed(TEXTEE, *EVENTS, "trigger", "end", to=2), [("event-span", "fatal", 1)]),
    "a negative offset": (changed(TEXTEE, *EVENTS, "trigger", "start", to=-1), [("event-span", "fatal", 1)]),
    "a large offset": (changed(TEXTEE, *EVENTS, "trigger", "end", to=10**19), [("event-span", "fatal", 1)]),
    "a reversed entity": (changed(TEXTEE, "entity_mentions", 0, "start", to=4), [("event-span", "fatal", 1)]),
    "an unknown entity": (
        changed(TEXTEE, *EVENTS, "arguments", 0, "entity_id", to="T9"),
        [("argument-unknown", "fault", 1)],
    ),
    "an unknown entity of OneIE": (
        changed(ONEIE, *EVENTS, "arguments", 0, "entity_id", to="T9"),
        [("argument-unknown", "fault", 1)],
    ),
    "an unknown entity of WikiEvents": (
        changed(WIKIEVENTS, *EVENTS, "arguments", to=[{"entity_id": "T9", "role": "Attacker"}]),
        [("argument-unknown", "fault", 1)],
    ),
    "an index beyond the entities": (
        changed(ONEIE_OUTPUT, "graph", "roles", 0, 1, to=7),
        [("argument-unknown", "fault", 1)],
    ),
    "an index beyond the triggers": (
        changed(ONEIE_OUTPUT, "graph", "roles", 0, 0, to=-1),
        [("argument-unknown", "fault", 1)],
    ),
    "other offsets than the entity's": (
        changed(TEXTEE, *EVENTS, "arguments", 0, "end", to=1),
        [("argument-offsets", "fault", 1)],
    ),
    "half of the offsets": (
        changed(TEXTEE, *EVENTS, "arguments", 0, "end", to=None),
        [("argument-offsets", "fault", 1)],
    ),
    "beyond the tokens": (changed(ONEIE, "entity_mentions", 1, "end", to=7), [("span-beyond-text", "fault", 1)]),
    "beyond the tokens of DyGIE++": (
        changed(DYGIE, "events", 1, 0, 1, to=[6, 8, "Agent"]),
        [("span-beyond-text", "fault", 1)],
    ),
    "beyond the tokens of RAMS": (
        changed(RAMS, "gold_evt_links", 0, 1, to=[0, 8]),
        [("span-beyond-text", "fault", 1)],
    ),
    "an entity id twice": (
        changed(TEXTEE, "entity_mentions", 1, "id", to="T1"),
        [("mention-twice", "fatal", 1), ("argument-unknown", "fault", 1)],
    ),
    "an event named as an entity": (changed(TEXTEE, *EVENTS, "id", to="T1"), [("mention-twice", "fatal", 1)]),
    "relations": (changed(TEXTEE, "relation_mentions", to=[{"id": "R1"}]), [("relations-unread", "note", 1)]),
    "relations of DyGIE++": (DYGIE | {"relations": [[[0, 1, 3, 4, "AT"]], []]}, [("relations-unread", "note", 1)]),
    "a sentence of nothing": ({"sent_id": "s", "graph": None}, [("oneie-shape", "fatal", 1)]),
    "a trigger of two tokens": (changed(DYGIE, "events", 0, 0, 0, to=[2, 3, "A"]), [("dygie-shape", "fatal", 1)]),
    "an event of nothing": (changed(DYGIE, "events", 0, 0, to=[]), [("dygie-shape", "fatal", 1)]),
    "an argument without a role": (changed(DYGIE, "events", 0, 0, 1, to=[0, 1]), [("dygie-shape", "fatal", 1)]),
    "a link of another trigger": (
        changed(RAMS, "gold_evt_links", 0, 0, to=[1, 2]),
        [("argument-unknown", "fault", 1)],
    ),
    "a prediction without a role": (
        changed(RAMS_PREDICTIONS, "predictions", 0, 1, to=[0, 1]),
        [("rams-shape", "fatal", 1)],
    ),
    "a prediction of nothing": (changed(RAMS_PREDICTIONS, "predictions", to=[[]]), [("rams-shape", "fatal", 1)]),
    "links that are none": (changed(RAMS, "gold_evt_links", to=None), [("rams-shape", "fatal", 1)]),
    "no trigger": (changed(FEWFC, "events", 0, "mentions", 0, "role", to="sub"), [("fewfc-shape", "fatal", 1)]),
    "two triggers": (changed(FEWFC, "events", 0, "mentions", 1, "role", to="trigger"), [("fewfc-shape", "fatal", 1)]),
    "a reversed span of FewFC": (
        changed(FEWFC, "events", 0, "mentions", 1, "span", to=[4, 0]),
        [("event-span", "fatal", 1)],
    ),
    "no events": (changed(DUEE, "event_list", to=None), [("fewfc-shape", "fatal", 1)]),
    "DuEE without offsets": (
        changed(DUEE, "event_list", 0, to={"event_type": "buy", "trigger": "buys", "arguments": []}),
        [("fewfc-shape", "fatal", 1)],
    ),
    "another word than the text has": (
        changed(DUEE, "event_list", 0, "trigger_start_index", to=4),
        [("text-differs", "fault", 1)],
    ),
    "no hopper": (changed(CASIE, "cyberevent", to={}), [("casie-shape", "fatal", 1)]),
    "an argument of CASIE without a role": (
        changed(CASIE, "cyberevent", "hopper", 0, "events", 0, "argument", 0, "role", to=None),
        [("casie-shape", "fatal", 1)],
    ),
    "beyond the text of CASIE": (
        changed(CASIE, "cyberevent", "hopper", 0, "events", 1, "nugget", "endOffset", to=99),
        [("span-beyond-text", "fault", 1)],
    ),
    "tokens that are no words": (changed(WIKIEVENTS, "tokens", to=[1, 2]), [("wikievents-shape", "fatal", 1)]),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_wrong_is_found_in_its_line(name: str, tmp_path: Path) -> None:
    document, expected = BAD[name]
    path = saved(tmp_path / "w.json", document)
    assert findings(path) == expected
    done = run("score", path, path, "-p", "exact-2013")
    assert "Traceback" not in done.err
    assert (done.code == 1) == any(severity == "fatal" for _, severity, _ in expected)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_units_are_those_of_the_format(name: str, tmp_path: Path) -> None:
    path = saved(tmp_path / "w.json", DOCUMENTS[name])
    right, wrong = ("char", "token") if name in ("maven", "muc4", "fewfc", "casie") else ("token", "char")
    assert findings(path, "--unit", wrong) == [("event-unit", "fatal", 1)]
    exact = ["--set", "match=exact"] if name == "wikievents" else []  # it has no heads, by which its protocol matches
    assert findings(path, "--unit", right, *exact) == []


@pytest.mark.parametrize(
    ("record", "says"),
    [(COREFERENCE, "--set clusters=FILE"), (GEN_ARG, "write each argument with its tokens")],
    ids=["coreference", "gen-arg"],
)
def test_files_beside_wikievents_say_what_to_do(record: dict[str, Any], says: str, tmp_path: Path) -> None:
    gold, other = saved(tmp_path / "g.jsonl", WIKIEVENTS), saved(tmp_path / "o.jsonl", record)
    for args in (("score", gold, other), ("score", other, gold), ("validate", other), ("describe", other)):
        done = run(*args)
        assert done.code == 1
        assert says in done.err + done.out
        assert "[file-kin]" in done.err + done.out


def test_the_coreference_of_wikievents_is_a_file_of_its_own(tmp_path: Path) -> None:
    """Without it, there are no coreference scores, and a note says how to have them."""
    gold, clusters = saved(tmp_path / "g.jsonl", WIKIEVENTS), saved(tmp_path / "c.jsonl", COREFERENCE)
    other = changed(WIKIEVENTS, *EVENTS, "arguments", to=[{"entity_id": "T2", "role": "Attacker"}])
    system = saved(tmp_path / "s.jsonl", other)
    settings = {"match": "exact"}
    alone = karat.score(gold, system, settings=settings)
    assert "arg.c.coref" not in alone.scores
    assert "--set clusters=FILE" in json.dumps(alone.to_dict()["warnings"])
    found = karat.score(gold, system, settings=settings | {"clusters": clusters})
    assert "arg.c.coref" in found.scores
    assert found.to_dict()["warnings"] == []


# All of them


@pytest.mark.parametrize(
    ("record", "protocols"),
    [
        (TEXTEE, "textee-2024"),
        (ONEIE, "oneie-2020"),
        (DYGIE, "dygie-2019"),
        (RAMS, "rams-2020"),
        (WIKIEVENTS, "wikievents-2021"),
        (GTT, "gtt-2021, rme-2023"),
        (GRIT, "ree-2021"),
        (MAVEN_ARG, "maven-arg-2024"),
        (MAVEN, "exact-2013"),
        (E2E, "conll-2012"),
        (PRECO, "conll-2012"),
        (WEC, "simple-cdec, pure-cdec"),
        (FEWFC, "textee-2024"),
        (DUEE, "textee-2024"),
        (CASIE, "textee-2024"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_gold_chooses_its_protocols(record: dict[str, Any], protocols: str, tmp_path: Path) -> None:
    path = saved(tmp_path / "w.json", record)
    assert run("score", path, path).err.startswith(f"protocol: {protocols} (GOLD is ")


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_laws_of_formats(name: str, tmp_path: Path) -> None:
    """Samples are read, garbage is read or refused, and what is written without loss is the same."""
    check(FORMATS.get(name), samples=[saved(tmp_path / f"sample.{name}.json", DOCUMENTS[name])], examples=20)


def parts(value: Any, path: tuple[str | int, ...] = ()) -> Iterable[tuple[str | int, ...]]:
    """The path of every value within a value."""
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield (*path, key)
        yield from parts(child, (*path, key))


@pytest.mark.parametrize("value", [None, -1, 1e300, "", [], {}, [[]], True], ids=repr)
@pytest.mark.parametrize("name", [*DOCUMENTS, *FURTHER])
def test_any_value_anywhere_is_read_or_refused(name: str, value: Any, tmp_path: Path) -> None:
    """Never a traceback: each value of a document is replaced by another one."""
    format_name, document = FURTHER.get(name) or (name, DOCUMENTS[name])
    format_ = FORMATS.get(format_name)
    for path in parts(document):
        data = json.dumps(changed(document, *path, to=value)).encode()
        reported: list[Finding] = []
        try:
            for read in documents_in(data, format_, report=reported.append):
                ends = {mention.id for mention in read.mentions} | {mention.cluster for mention in read.mentions}
                assert all(link.source in ends and link.target in ends for link in read.links)
                assert len({mention.id for mention in read.mentions}) == len(read.mentions)
        except karat.KaratError:
            continue
