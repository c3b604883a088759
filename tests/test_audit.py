"""The audit: anchors, the classes of suspicions, planted errors, documents that look partly annotated."""

import csv
import json
from itertools import pairwise
from pathlib import Path
from random import Random

import numpy as np
import pytest
from msgspec.structs import replace
from scipy.sparse import csr_array, hstack, identity

from karat.audit.pairs import anchor_weights, pairs
from karat.audit.suspicions import MISSING, damaged, plant
from karat.baselines.features import numbered
from karat.baselines.texts import ANALYSERS, gold_clusters, texts_of
from karat.corpus.memory import MemoryCorpus
from karat.model import Document, Mention
from tests.corpora import as_jsonl
from tests.running import run

pytest.importorskip("lemminflect")
svm = pytest.importorskip("sklearn.svm")

VERBS = ("exploded", "collapsed", "resigned", "crashed", "won", "married")


def report(topic: int, number: int, random: Random) -> Document:
    """A document with three of the four events of its topic, all linked, and one that nobody else has."""
    words: list[str] = []
    mentions = []
    for place, verb in enumerate(random.sample(VERBS[topic % 3 :][:4], 3)):
        at = len(words) + 2
        words += f"The Name{topic} {verb} in Town{topic} .".split()
        mentions.append(Mention(f"{topic}-{number}-{place}", ((at, at + 1),), cluster=f"E{topic}-{verb}"))
    words += f"Somebody coughed{number} .".split()
    mentions.append(Mention(f"{topic}-{number}-own", ((len(words) - 2, len(words) - 1),)))
    begins = [0, *(at + 1 for at, word in enumerate(words[:-1]) if word == ".")]
    sentences = tuple(pairwise([*begins, len(words)]))
    return Document(
        f"{topic}_{number}",
        topic=str(topic),
        unit="token",
        forms=tuple(words),
        sentences=sentences,
        mentions=tuple(mentions),
    )


@pytest.fixture
def documents() -> list[Document]:
    random = Random(1)
    return [report(topic, number, random) for topic in range(6) for number in range(10)]


def unlinked(document: Document, mention: str) -> Document:
    """The document with one mention out of its cluster."""
    kept = [Mention(one.id, one.span, cluster=None if one.id == mention else one.cluster) for one in document.mentions]
    return Document(
        document.id,
        topic=document.topic,
        unit="token",
        forms=document.forms,
        sentences=document.sentences,
        mentions=tuple(kept),
    )


def written(documents: list[Document], tmp_path: Path) -> str:
    path = tmp_path / "gold.jsonl"
    path.write_bytes(as_jsonl(*documents))
    return str(path)


def test_anchor_weights_are_those_of_an_svm_with_an_anchor_per_example() -> None:
    """A column for each example, and a penalty that allows no error."""
    random = np.random.default_rng(0)
    rows = csr_array(random.normal(size=(60, 5)))
    positive = random.random(60) < 0.4
    explicit = svm.LinearSVC(C=1e6, loss="hinge", fit_intercept=False, max_iter=1_000_000, tol=1e-8, random_state=0)
    explicit.fit(hstack([rows, identity(60)]).tocsr(), positive)
    assert np.abs(explicit.coef_[0][5:]) == pytest.approx(anchor_weights(rows, positive), abs=2e-3)


def test_a_hidden_link_is_the_most_suspicious(documents: list[Document], tmp_path: Path) -> None:
    victim = documents[7].mentions[0]
    documents[7] = unlinked(documents[7], victim.id)
    found = json.loads(run("audit", written(documents, tmp_path), "-f", "json").out)
    first = found["suspicions"][0]
    assert first["kind"] == "missing-singleton-cluster"
    assert victim.id in (first["first"]["mention"], first["second"]["mention"])
    assert first["first"]["text"] == first["second"]["text"]
    assert first["first"]["before"].startswith("The Name")


def linked(document: Document, mention: str, cluster: str) -> Document:
    """The document with one mention in this cluster."""
    mentions = [replace(one, cluster=cluster) if one.id == mention else one for one in document.mentions]
    return replace(document, mentions=tuple(mentions))


def test_missing_links_come_first(documents: list[Document], tmp_path: Path) -> None:
    """The wrong link of two coughs is more suspicious than most missing links, and listed after all of them."""
    documents[7] = unlinked(documents[7], documents[7].mentions[0].id)
    for number in (10, 11):
        documents[number] = linked(documents[number], f"1-{number - 10}-own", "cough")
    path = written(documents, tmp_path)

    def listed(*options: str) -> list[tuple[bool, float]]:
        done = run("audit", path, "--threshold", "0", "-f", "json", *options)
        return [(one["kind"] == "suspicious-link", one["weight"]) for one in json.loads(done.out)["suspicions"]]

    both, missing, suspicious = listed(), listed("--class", "missing"), listed("--class", "suspicious")
    assert both == missing + suspicious
    assert {is_link for is_link, _ in missing} == {False}
    assert {is_link for is_link, _ in suspicious} == {True}
    for kind in (missing, suspicious):
        assert kind == sorted(kind, key=lambda one: -one[1])
    assert missing[0][1] > suspicious[0][1] > missing[1][1]
    text = run("audit", path, "--class", "missing").out
    assert "missing-singleton-cluster" in text
    assert "suspicious-link" not in text


def test_text_and_csv(documents: list[Document], tmp_path: Path) -> None:
    documents[7] = unlinked(documents[7], documents[7].mentions[0].id)
    path = written(documents, tmp_path)
    text = run("audit", path, "--most", "1", "--threshold", "0").out
    assert "[[" in text
    assert "more; --most 0 prints all" in text
    lines = run("audit", path, "-f", "csv").out.splitlines()
    rows = list(csv.DictReader(lines))
    assert rows[0]["class"] == "missing-singleton-cluster"
    assert rows[0]["text"] == rows[0]["text 2"]
    signature = text.splitlines()[-1].removeprefix("signature  ")
    assert "|words=lemminflect " in signature
    assert {row["signature"] for row in rows} == {signature.replace("audit=0|", "audit=0.95|")}


def test_planted_errors(documents: list[Document]) -> None:
    """Errors are where they were planted, and anchors find them better than chance."""
    analyser = ANALYSERS.get("lemminflect")
    texts = texts_of(MemoryCorpus(documents), analyser)
    found = pairs(texts, analyser)
    true = numbered(gold_clusters(texts))
    copy = damaged(found, true, rate=0.1, seed=3)
    assert (copy != true).sum() >= 18
    results = {(one.order, one.kind): one for one in plant(texts, found, rate=0.1, seed=3, file="memory", at=[10])}
    anchors, chance = (results[order, MISSING] for order in ("anchors", "random"))
    assert anchors.errors > 10
    assert anchors.precision[10] > chance.precision[10]
    assert plant(texts, found, rate=0.1, seed=3, file="memory", at=[10]) == list(results.values())


def test_plant_prints_a_table(documents: list[Document], tmp_path: Path) -> None:
    done = run("audit", written(documents, tmp_path), "--plant", "0.1", "--seed", "3")
    assert done.code == 0
    assert "P@100" in done.out
    assert "cross-validated by topic" in done.out
    only = run("audit", written(documents, tmp_path), "--plant", "0.1", "--seed", "3", "--class", "missing")
    assert "missing links" in only.out
    assert "suspicious-link" not in only.out
    refused = run("audit", written(documents, tmp_path), "--plant", "0.1", "-f", "json")
    assert (refused.code, refused.out) == (2, "")


def test_documents_that_look_partly_annotated(documents: list[Document], tmp_path: Path) -> None:
    forms = ("Word", ".") * 40
    sentences = tuple((2 * number, 2 * number + 2) for number in range(40))
    documents.append(
        Document("long", topic="1", unit="token", forms=forms, sentences=sentences, mentions=(Mention("x", ((0, 1),)),))
    )
    found = json.loads(run("audit", written(documents, tmp_path), "-f", "json").out)
    assert [(one["document"], one["annotated"], one["sentences"]) for one in found["partly"]] == [("long", 1, 40)]


def test_corpora_without_topics_or_with_one_document(documents: list[Document], tmp_path: Path) -> None:
    bare = [Document(one.id, unit="token", forms=one.forms, mentions=one.mentions) for one in documents]
    assert run("audit", written(bare, tmp_path)).code == 0
    refused = run("audit", written(documents[:1], tmp_path))
    assert refused.code == 1
    assert "[audit-" in refused.err


def test_a_corpus_without_coreference_is_refused(documents: list[Document], tmp_path: Path) -> None:
    loose = [
        Document(
            one.id,
            topic=one.topic,
            unit="token",
            forms=one.forms,
            mentions=tuple(Mention(mention.id, mention.span) for mention in one.mentions),
        )
        for one in documents
    ]
    refused = run("audit", written(loose, tmp_path))
    assert refused.code == 1
    assert "[audit-same]" in refused.err
