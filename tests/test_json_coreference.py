"""Coreference in JSON: e2e-coref and PreCo."""

from pathlib import Path
from typing import Any

import pytest

import karat
from karat.model import Document, Sentence
from tests.event_files import E2E, PRECO, SENTENCES, changed, saved
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
    assert document.sentences == (Sentence(0), Sentence(5))


def test_spans_of_preco_are_in_their_sentences(tmp_path: Path) -> None:
    document = only(saved(tmp_path / "g.jsonl", PRECO))
    assert mentions(document) == [ANNA, TOWN, SHE, ("saw", ((6, 7),), "d1:3"), IT]
    assert document.sentences == (Sentence(0), Sentence(5))


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


BAD: dict[str, tuple[dict[str, Any], list[tuple[str, str, int]]]] = {
    "no clusters": (changed(E2E, "clusters", to=None), [("e2e-shape", "fatal", 2)]),
    "a reversed span": (changed(E2E, "clusters", 0, 0, to=[1, 0]), [("event-span", "fatal", 2)]),
    "half a span": (changed(E2E, "clusters", 0, 0, to=[1]), [("e2e-shape", "fatal", 2)]),
    "beyond the document": (changed(E2E, "clusters", 0, 1, to=[5, 8]), [("span-beyond-text", "fault", 2)]),
    "no sentences of PreCo": (changed(PRECO, "sentences", to="Anna left"), [("preco-shape", "fatal", 2)]),
    "an empty span": (changed(PRECO, "mention_clusters", 0, 0, to=[0, 1, 1]), [("event-span", "fatal", 2)]),
    "no sentence": (changed(PRECO, "mention_clusters", 0, 0, to=[2, 0, 1]), [("preco-shape", "fatal", 2)]),
    "before its sentence": (changed(PRECO, "mention_clusters", 0, 0, to=[1, -1, 1]), [("preco-shape", "fatal", 2)]),
    "beyond its sentence": (changed(PRECO, "mention_clusters", 0, 0, to=[0, 0, 6]), [("preco-shape", "fatal", 2)]),
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
