"""Coreference in JSON: e2e-coref, PreCo, and mention lists across documents."""

import json
from pathlib import Path
from typing import Any

import pytest

import karat
from karat.model import Document
from tests.event_files import E2E, PRECO, SENTENCES, WEC, changed, saved
from tests.running import run
from tests.test_event_formats import findings, only

ANNA = ("Anna", ((0, 1),), "d1:1")
TOWN = ("the town", ((2, 4),), "d1:2")
SHE = ("She", ((5, 6),), "d1:1")
IT = ("it", ((7, 8),), "d1:2")
CONLL = """\
#begin document d1
d1 0 0 Anna - (1)
d1 0 1 left - -
d1 0 2 the - (2
d1 0 3 town - 2)
d1 0 4 . - -

d1 0 0 She - (1)
d1 0 1 saw - -
d1 0 2 it - (2)
#end document
"""


def mentions(document: Document) -> list[tuple[object, ...]]:
    return [(mention.text, mention.span, mention.cluster) for mention in document.mentions]


def test_spans_of_e2e_are_inclusive(tmp_path: Path) -> None:
    document = only(saved(tmp_path / "g.jsonlines", E2E))
    assert mentions(document) == [ANNA, TOWN, SHE, IT]
    assert (document.unit, document.forms) == ("token", (*SENTENCES[0], *SENTENCES[1]))
    assert document.sentences == ((0, 5), (5, 8))


@pytest.mark.parametrize("ner", [[], [[0, 0, "PERSON"]]])
def test_what_e2e_coref_writes_is_not_dygie(tmp_path: Path, ner: list[Any]) -> None:
    """It writes the constituents and names of OntoNotes, too: lists of spans, not of sentences."""
    written = {**E2E, "constituents": [[0, 4, "TOP"], [0, 0, "NP"]], "ner": ner}
    assert mentions(only(saved(tmp_path / "g.jsonlines", written))) == [ANNA, TOWN, SHE, IT]


def test_spans_of_preco_are_in_their_sentences(tmp_path: Path) -> None:
    document = only(saved(tmp_path / "g.jsonl", PRECO))
    assert mentions(document) == [ANNA, TOWN, SHE, ("saw", ((6, 7),), "d1:3"), IT]
    assert document.sentences == ((0, 5), (5, 8))


def test_the_same_corpus_in_conll_and_jsonl(tmp_path: Path) -> None:
    """One fingerprint, whatever the order of clusters."""
    (tmp_path / "g.conll").write_text(CONLL)
    preco = changed(PRECO, "mention_clusters", to=PRECO["mention_clusters"][1::-1])
    corpora = [saved(tmp_path / "g.json", E2E), saved(tmp_path / "p.json", preco), str(tmp_path / "g.conll")]
    for path in corpora[:2]:
        out = f"{path}.jsonl"
        assert run("convert", path, out, "--to", "jsonl").code == 0
        corpora.append(out)
    found = {karat.score(path, corpora[2], protocol="conll-2012").to_dict()["gold"]["fingerprint"] for path in corpora}
    assert len(found) == 1
    assert {karat.score(corpora[2], path, protocol="conll-2012")["coref.conll"].f1 for path in corpora} == {1}


@pytest.mark.parametrize("keeps_gold", [True, False])
def test_predicted_clusters_are_the_systems(tmp_path: Path, *, keeps_gold: bool) -> None:
    """By hand: Anna, She and it are one cluster of the system. MUC: one of its two links is right, and one of gold's
    two is found. B-cubed: P (2/3 + 2/3 + 1/3) / 3, R (1 + 1 + 0 + 1/2) / 4. CEAF: 2 * 2 / (2 + 3) is the best phi."""
    predicted = {**E2E, "predicted_clusters": [[[0, 0], [5, 5], [7, 7]]]}
    if not keeps_gold:
        del predicted["clusters"]
    gold, system = saved(tmp_path / "g.json", E2E), saved(tmp_path / "s.json", predicted)
    scores = karat.score(gold, system)
    expected = {
        "coref.mention": (1, 3 / 4),
        "coref.muc": (1 / 2, 1 / 2),
        "coref.b3": (5 / 9, 5 / 8),
        "coref.ceafe": (4 / 5, 2 / 5),
    }
    for id_, values in expected.items():
        assert (scores[id_].precision, scores[id_].recall) == pytest.approx(values, abs=1e-15), id_
    assert len(only(system).mentions) == (4 if keeps_gold else 3)
    converted = run("convert", system, str(tmp_path / "s.conll"))
    assert ("has clusters and predicted_clusters; only the first is read [both-sides]" in converted.err) == keeps_gold


BAD: dict[str, tuple[dict[str, Any], list[tuple[str, str, int]]]] = {
    "no clusters": (changed(E2E, "clusters", to=None), [("e2e-shape", "fatal", 2)]),
    "a reversed span": (changed(E2E, "clusters", 0, 0, to=[1, 0]), [("event-span", "fatal", 2)]),
    "half a span": (changed(E2E, "clusters", 0, 0, to=[1]), [("e2e-shape", "fatal", 2)]),
    "beyond the document": (changed(E2E, "clusters", 0, 1, to=[5, 8]), [("span-beyond-text", "fault", 2)]),
    "no sentences of PreCo": (changed(PRECO, "sentences", to="Anna left"), [("preco-shape", "fatal", 2)]),
    "an empty span": (changed(PRECO, "mention_clusters", 0, 0, to=[0, 1, 1]), [("event-span", "fatal", 2)]),
    "no sentence": (changed(PRECO, "mention_clusters", 0, 0, to=[2, 0, 1]), [("event-span", "fatal", 2)]),
    "before its sentence": (changed(PRECO, "mention_clusters", 0, 0, to=[1, -1, 1]), [("event-span", "fatal", 2)]),
    "beyond its sentence": (changed(PRECO, "mention_clusters", 0, 0, to=[0, 0, 6]), [("event-span", "fatal", 2)]),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_wrong_is_found_in_its_line(name: str, tmp_path: Path) -> None:
    document, expected = BAD[name]
    key = "doc_key" if "doc_key" in document else "id"
    good = E2E if key == "doc_key" else PRECO
    path = saved(tmp_path / "w.json", {**good, key: "d0"}, document)
    assert findings(path) == expected
    done = run("score", path, path)
    assert "Traceback" not in done.err
    assert (done.code == 1) == (expected[0][1] == "fatal")
    assert done.code == 0 or f"{path}, line 2: " in done.err


# Mention lists across documents

FIRST, SECOND = WEC["mention_context"], ["It", "ended", "after", "the", "first", "show"]
LISTED: list[dict[str, Any]] = [
    WEC,
    {**WEC, "mention_id": "109", "mention_context": SECOND, "tokens_number": [0]},
    {**WEC, "mention_id": "110", "tokens_number": [2, 4], "coref_chain": 9},
    {**WEC, "mention_id": "111", "doc_id": "d2", "mention_context": SECOND, "tokens_number": [4, 5]},
]


def listed(path: Path, mentions: list[dict[str, Any]]) -> str:
    path.write_text(json.dumps(mentions, indent=2))
    return str(path)


def test_contexts_are_laid_one_after_the_other(tmp_path: Path) -> None:
    """Equal ones once; a mention may have tokens that are apart."""
    first, second = karat.read(listed(tmp_path / "g.json", LISTED))
    assert mentions(first) == [("tour", ((1, 2),), "7"), ("It", ((5, 6),), "7"), ("began May", ((2, 3), (4, 5)), "9")]
    assert mentions(second) == [("first show", ((4, 6),), "7")]
    assert (first.forms, first.sentences) == ((*FIRST, *SECOND), ((0, 5), (5, 11)))
    assert (first.topic, first.mentions[0].attributes) == ("3", {"type": "8"})
    assert next(iter(karat.read(saved(tmp_path / "t.json", {**WEC, "topic_id": -1})))).topic is None


def test_mention_lists_as_lines_and_as_jsonl(tmp_path: Path) -> None:
    """A list and lines are the same corpus, and so is what they are converted to."""
    gold, lines = listed(tmp_path / "g.json", LISTED), saved(tmp_path / "l.jsonl", *LISTED)
    assert run("convert", gold, str(tmp_path / "c.jsonl")).code == 0
    corpora = [list(karat.read(path)) for path in (gold, lines, tmp_path / "c.jsonl")]
    assert corpora[0] == corpora[1] == corpora[2]


def test_a_system_without_some_mentions(tmp_path: Path) -> None:
    """Contexts are where gold has them, and new ones after them. By hand: `It`, `began May` and a wrong `ended` in one
    cluster, `first show` apart. Three of four mentions are right, and no link of gold's two (MUC) is found."""
    gold = listed(tmp_path / "g.json", LISTED)
    extra = {**WEC, "mention_id": "7", "mention_context": ["Nobody", "came"], "tokens_number": [1]}
    predicted = [
        {**LISTED[1], "predicted_coref_chain": 1},
        {**extra, "predicted_coref_chain": 1},
        {**LISTED[2], "predicted_coref_chain": 1},
        {**LISTED[3], "predicted_coref_chain": "UNK"},
    ]
    system = listed(tmp_path / "s.json", predicted)
    scores = karat.score(gold, system, protocol="simple-cdec")
    assert (scores["coref.mention"].precision, scores["coref.mention"].recall) == (3 / 4, 3 / 4)
    assert (scores["coref.muc"].precision, scores["coref.muc"].recall) == (0, 0)
    # P: It 1/3, began May 1/3, came 0, first show 1; R: tour 0, It 1/3, began May 1, first show 1/3.
    assert (scores["coref.b3"].precision, scores["coref.b3"].recall) == pytest.approx((5 / 12, 5 / 12), abs=1e-15)
    assert karat.score(gold, listed(tmp_path / "u.json", LISTED[::-1]), protocol="simple-cdec")["coref.b3"].f1 == 1


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "no tokens": ({"tokens_number": []}, "wec-shape"),
    "a token beyond the context": ({"tokens_number": [4, 5]}, "wec-shape"),
    "a negative token": ({"tokens_number": [-1]}, "wec-shape"),
    "no document": ({"doc_id": ""}, "wec-shape"),
    "a cluster in brackets": ({"coref_chain": [7]}, "wec-shape"),
    "an id twice": ({"mention_id": "108"}, "mention-twice"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_with_a_mention_is_found_in_its_line(name: str, tmp_path: Path) -> None:
    change, code = WRONG[name]
    path = listed(tmp_path / "g.json", [WEC, {**WEC, "mention_id": "109", **change}])
    line = 1 + Path(path).read_text().split("\n").index("  {", 2)
    assert findings(path) == [(code, "fatal", line)]
    done = run("score", path, path)
    assert (done.code, f"{path}, line {line}: " in done.err) == (1, True)


def test_a_system_without_mentions_of_the_scored_kind_is_noted(tmp_path: Path) -> None:
    """Clusters of DyGIE++ are entities, those of e2e have the kind that every protocol scores."""
    paths = saved(tmp_path / "gold.json", E2E), saved(tmp_path / "mine.json", {**E2E, "ner": [[], []]})
    found = json.loads(run("score", *paths, "-p", "conll-2012", "-f", "json").out)["warnings"]
    (note,) = [finding for finding in found if finding["code"] == "kind-absent"]
    assert (note["severity"], note["file"]) == ("note", paths[1])
    assert note["message"] == "the system has no mention of kind event. Did you mean entity?"
