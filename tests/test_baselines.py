"""Baselines: heads by rule, who is linked with whom, what the output keeps, and what is refused."""

import json
import subprocess
import sys
from itertools import combinations, pairwise
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.baselines.features import FEATURES, OF_SAME_LEMMA, candidates, matrix
from karat.baselines.sac import agglomerate
from karat.baselines.texts import ANALYSERS, analysed
from karat.model import Document, Mention
from karat.problems import install_hint
from karat.studies.reproduction import recomputed
from tests.conftest import shared_path
from tests.corpora import as_jsonl
from tests.running import run

pytest.importorskip("lemminflect")
pytest.importorskip("sklearn")


def document(id_: str, text: str, *, topic: str | None = None, **clusters: str) -> Document:
    """A document in token units; words in brackets are event mentions, `w_x` gives the cluster of a word."""
    words = text.split()
    mentions = [
        Mention(f"{id_}-{at}", ((at, at + 1),), cluster=clusters.get(word[1:-1]), attributes={"relation": "CROSS"})
        for at, word in enumerate(words)
        if word.startswith("[")
    ]
    sentences = [0, *(at + 1 for at, word in enumerate(words[:-1]) if word == ".")]
    return Document(
        id_,
        topic=topic,
        unit="token",
        forms=tuple(word.strip("[]") for word in words),
        sentences=tuple(pairwise([*sentences, len(words)])),
        mentions=tuple(mentions),
    )


ALIKE = "A big [fire] in a Surrey supermarket was [fought] by firemen who [said] the fires were out ."
COACH = "The 76ers [fired] coach Cheeks and then [hired] somebody else for the rest of the season he [said] ."
CORPUS = (document("a", ALIKE), document("b", f"Surrey news : {ALIKE}"), document("c", COACH))


@pytest.fixture
def corpus(tmp_path: Path) -> str:
    path = tmp_path / "gold.jsonl"
    path.write_bytes(as_jsonl(*CORPUS))
    return str(path)


def clusters(*args: str) -> list[set[str]]:
    """The links of a baseline, by the ids of mentions."""
    done = run("baseline", *args)
    assert done.code == 0, done.err
    found: dict[str, set[str]] = {}
    for line in done.out.splitlines():
        for mention in json.loads(line)["mentions"]:
            found.setdefault(mention["cluster"], set()).add(mention["id"])
    return sorted(found.values(), key=min)


@pytest.mark.parametrize(
    ("mention", "head"),
    [
        ("checked into", "check"),
        ("on fire", "fire"),
        ("opened fire", "open"),
        ("heart attack", "attack"),
        ("tour of duty", "tour"),
        ("Academy Awards", "award"),
        ("into", "into"),
        ("- - -", "-"),
    ],
)
def test_head(mention: str, head: str) -> None:
    forms = mention.split()
    text = analysed(
        Document("d", unit="token", forms=tuple(forms), mentions=(Mention("m", ((0, len(forms)),)),)),
        ANALYSERS.get("lemminflect"),
    )
    assert text.lemma(text.mentions[0]) == head


def test_lemma_links_across_documents(corpus: str) -> None:
    linked = clusters("lemma", corpus)
    assert {"a-2", "b-5", "c-2"} in linked, "fire, fire and fired"
    assert {"a-12", "b-15", "c-17"} in linked, "said"


def test_lemma_wd_links_within_documents(corpus: str) -> None:
    assert all(len({id_[0] for id_ in cluster}) == 1 for cluster in clusters("lemma-wd", corpus))


def test_lemma_delta_links_similar_documents(corpus: str) -> None:
    linked = clusters("lemma-delta", corpus)
    assert {"a-2", "b-5"} in linked
    assert {"c-2"} in linked


def test_delta_0_is_lemma(corpus: str) -> None:
    assert clusters("lemma-delta", corpus, "--delta", "0") == clusters("lemma", corpus)


def test_links_are_transitive(tmp_path: Path) -> None:
    """The first and the last document have nothing in common but what each shares with the second."""
    words = ["alpha", "beta", "gamma", "delta", "epsilon"]
    texts = (" ".join(words[:3]), " ".join(words[1:4]), " ".join(words[2:]))
    documents = [document(str(number), f"{text} [exploded]") for number, text in enumerate(texts)]
    documents += [document(f"x{number}", f"other{number} words{number} [slept]") for number in range(4)]
    path = tmp_path / "gold.jsonl"
    path.write_bytes(as_jsonl(*documents))
    assert {"0-3", "1-3", "2-3"} in clusters("lemma-delta", str(path), "--delta", "0.35")


def test_the_signature_names_what_found_the_lemmas(corpus: str) -> None:
    """A corpus has the same fingerprint as under `karat describe`; another engine would be another signature."""
    (line,) = (line for line in run("baseline", "lemma", corpus).err.splitlines() if line.startswith("signature  "))
    parts = dict(part.split("=", 1) for part in line.removeprefix("signature  ").split("|"))
    assert list(parts) == ["karat", "baseline", "words", "corpus"]
    assert (parts["baseline"], parts["words"].split()[0]) == ("lemma", "lemminflect")
    gold = json.loads(run("score", corpus, corpus, "-p", "simple-cdec", "-f", "json").out)["gold"]
    assert parts["corpus"] == gold["fingerprint"]


def test_output_says_nothing_about_gold_coreference(corpus: str) -> None:
    done = run("baseline", "lemma", corpus)
    first = json.loads(done.out.splitlines()[0])
    assert first["about"]["baseline"] == "lemma"
    assert first["about"]["words"].startswith("lemminflect ")
    assert not any("relation" in mention.get("attributes", {}) for mention in first["mentions"])
    assert "clusters" not in first


def test_documents_in_characters_and_mentions_with_text_only(tmp_path: Path) -> None:
    text = "Fires broke out. Another fire broke out."
    inside = Document("a", text=text, mentions=(Mention("1", ((0, 5),)), Mention("2", ((25, 29),))))
    bare = Document("b", mentions=(Mention("3", ((4, 8),), text="fire"),))
    path = tmp_path / "gold.jsonl"
    path.write_bytes(as_jsonl(inside, bare))
    assert clusters("lemma", str(path)) == [{"1", "2", "3"}]
    refused = run("baseline", "lemma-delta", str(path))
    assert refused.code == 1
    assert "[baseline-text]" in refused.err


@pytest.mark.parametrize(
    ("documents", "code"),
    [
        ((Document("a", mentions=(Mention("1", ((0, 4),)),)),), "baseline-words"),
        ((Document("a", text="fire", mentions=(Mention("1", ((0, 4),), kind="entity"),)),), "baseline-events"),
    ],
)
def test_refused_corpora(documents: tuple[Document, ...], code: str, tmp_path: Path) -> None:
    path = tmp_path / "gold.jsonl"
    path.write_bytes(as_jsonl(*documents))
    refused = run("baseline", "lemma", str(path))
    assert refused.code == 1
    assert f"[{code}]" in refused.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("lemma", "--delta", "0.2"),
        ("lemma-wd", "--dev-topics", "1"),
        ("lemma-delta", "--train-topics", "1"),
        ("lemma-delta", "--gold-arguments"),
        ("lemma-delta", "--delta", "0.2", "--dev-topics", "1"),
        ("sac",),
        ("lema",),
    ],
)
def test_options_that_a_baseline_does_not_have(arguments: tuple[str, ...], corpus: str) -> None:
    assert run("baseline", arguments[0], corpus, *arguments[1:]).code == 2


# SAC


def story(topic: int, number: int, random: Random) -> Document:
    """A document about one of the two events of a topic; the same verb means the event that its names belong to."""
    which = number % 2
    names = [f"Name{topic}x{which}x{place}" for place in range(6)]
    random.shuffle(names)
    verb = ("exploded", "collapsed", "resigned", "crashed")[topic % 4]
    text = (
        f"Yesterday {names[0]} {names[1]} [{verb}] near {names[2]} . Officials [said] that {names[3]} {names[4]} left ."
    )
    found = document(f"{topic}_{number}", text, topic=str(topic))
    first, second = found.mentions
    linked = Mention(first.id, first.span, cluster=f"E{topic}-{which}", attributes=first.attributes)
    return Document(
        found.id,
        topic=found.topic,
        unit="token",
        forms=found.forms,
        sentences=found.sentences,
        mentions=(linked, second),
    )


@pytest.fixture
def stories(tmp_path: Path) -> str:
    random = Random(0)
    path = tmp_path / "stories.jsonl"
    path.write_bytes(as_jsonl(*(story(topic, number, random) for topic in range(1, 9) for number in range(6))))
    return str(path)


def test_sac_learns_to_tell_events_apart(stories: str, tmp_path: Path) -> None:
    outputs = {}
    for name, *options in (("lemma-delta",), ("sac", "--train-topics", "1-6", "--delta", "0.05")):
        output = tmp_path / f"{name}.jsonl"
        assert run("baseline", name, stories, "--topics", "7-8", "-o", str(output), *options).code == 0
        scored = run("score", stories, str(output), "--topics", "7-8", "-p", "simple-cdec", "-f", "json")
        outputs[name] = json.loads(scored.out)["scores"]["coref.conll"]["micro"]["f1"]
    assert outputs["sac"] > outputs["lemma-delta"]
    about = json.loads(output.read_text().splitlines()[0])["about"]
    assert about["trained on topics"] == "1-6"


def test_without_topics_what_was_learned_from_is_left_out(stories: str) -> None:
    done = run("baseline", "sac", stories, "--train-topics", "1-5", "--dev-topics", "6", "--gold-arguments")
    assert done.code == 0
    documents = [json.loads(line) for line in done.out.splitlines()]
    assert {document["topic"] for document in documents} == {"7", "8"}
    assert documents[0]["about"]["arguments"] == "gold"
    assert "is best on topics 6" in done.err


def test_a_baseline_on_what_it_has_seen_is_noted(stories: str) -> None:
    done = run("baseline", "lemma-delta", stories, "--dev-topics", "1-2", "--topics", "2-3")
    assert "[baseline-seen]" in done.err


def test_nothing_to_learn_from(corpus: str, tmp_path: Path) -> None:
    path = tmp_path / "gold.jsonl"
    path.write_bytes(as_jsonl(*(document(str(number), ALIKE, topic=str(number)) for number in range(3))))
    refused = run("baseline", "sac", str(path), "--train-topics", "0-1")
    assert refused.code == 1
    assert "[baseline-training]" in refused.err


@pytest.mark.slow
def test_same_bytes_for_any_hash_seed(stories: str) -> None:
    command = [sys.executable, "-m", "karat", "baseline", "sac", stories, "--train-topics", "1-6"]
    outputs = {
        subprocess.run(command, env={"PYTHONHASHSEED": seed}, capture_output=True, check=True).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ("baseline", "sac", "--train-topics", "1-5", "--topics", "36-40"),
        ("audit", "--topics", "1-9", "--most", "0"),
    ],
)
def test_same_bytes_on_any_processor(arguments: tuple[str, ...]) -> None:
    """A classifier that stops early has other weights where BLAS rounds otherwise."""
    command = [sys.executable, "-m", "karat", *arguments, str(shared_path("data", "ecbplus"))]
    outputs = {
        subprocess.run(command, env=environment, capture_output=True, check=True).stdout
        for environment in ({}, {"OPENBLAS_CORETYPE": "Nehalem"})
    }
    assert len(outputs) == 1


def test_each_feature_is_described_and_counted() -> None:
    analyser = ANALYSERS.get("lemminflect")
    texts = [analysed(one, analyser) for one in CORPUS]
    pairs = candidates(texts, gate=0.0, analyser=analyser, arguments=lambda *_: ())
    values = matrix(pairs)
    assert values.shape == (len(pairs.first), 2 * len(FEATURES) - 2 + len(OF_SAME_LEMMA))
    assert np.isfinite(values).all()
    assert all(feature.says for feature in (*FEATURES, *OF_SAME_LEMMA))
    assert len(pairs.first) == 9 * 8 // 2


@given(st.data())
def test_agglomeration_is_greedy_average_link(data: st.DataObject) -> None:
    """Against a search through all pairs of clusters."""
    count = data.draw(st.integers(2, 7))
    pairs = list(combinations(range(count), 2))
    random = data.draw(st.randoms(use_true_random=True))  # no two averages are the same
    values = [random.uniform(0.03, 0.97) for _ in pairs]
    similar = dict(zip(pairs, values, strict=True))
    stop = 0.5

    def average(one: frozenset[int], other: frozenset[int]) -> float:
        every = [similar[min(a, b), max(a, b)] for a in sorted(one) for b in sorted(other)]
        return sum(every) / len(every)

    groups = [frozenset([number]) for number in range(count)]
    while True:
        best = max(combinations(groups, 2), key=lambda pair: average(*pair), default=None)
        if best is None or average(*best) < stop:
            break
        groups = [group for group in groups if group not in best] + [best[0] | best[1]]
    first, second = np.array(pairs).T
    labels = agglomerate(count, first, second, np.array(values), stop=stop)
    found = {frozenset(at for at, label in enumerate(labels) if label == one) for one in labels}
    assert found == set(groups)


@pytest.mark.slow
@pytest.mark.parametrize("missing", ["lemminflect", "sklearn"])
def test_without_the_extra(missing: str, corpus: str) -> None:
    script = f"import sys; sys.modules[{missing!r}] = None\nfrom karat.cli import main\nmain()"
    command = [sys.executable, "-c", script, "baseline", "lemma-delta", corpus]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert install_hint("baselines") in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_tables_of_upadhyay_2016() -> None:
    """Table 1 is exact; F of MUC, B3 and CEAFe is within 4.5 points of the paper, the CoNLL average within 2.5."""
    found = recomputed("upadhyay-2016", [str(shared_path("data", "ecbplus"))], quick=True)
    first, second, third, pure, clusters, *_ = found.numbers
    off = {name for name, row in first.rows.items() if any(cell.difference for cell in row[:3])}
    assert not off
    names = [column.name for column in second.columns]
    for row in (*second.rows.values(), *third.rows.values()):
        for name, cell in zip(names, row, strict=True):
            if cell.published is not None and name in ("MUC F", "B3 F", "CEAFe F", "CoNLL"):
                assert cell.difference is not None
                assert abs(cell.difference) < (0.025 if name == "CoNLL" else 0.045)
    assert len(pure.rows) == 4 * 5
    assert {name: [cell.found for cell in row] for name, row in clusters.rows.items()} == {
        "Lemma-WD": [7297, 7297, 7340],
        "Lemma": [1728, 1726, 1648],
        "Lemma-delta": [3769, 4904, 3748],
        "Lemma-delta at 0.435": [None, None, 4895],
    }
    assert [claim.says[:24] for claim in found.claims if not claim.holds] == [
        "the evaluation becomes m",
        "a system which exclusive",
        "the Lemma-WD average F-s",
    ]
    (within,) = (claim.found for claim in found.claims if claim.says.startswith("a system which exclusively"))
    assert within.startswith("CoNLL of Lemma-WD: SIMPLE-CDEC 60.0, B&H 60.0, YCF 26.5;")
    (high,) = (claim.found for claim in found.claims if claim.says.startswith("Lemma-WD predicts lots"))
    assert high.endswith(
        "SIMPLE B3 77.9 and 69.0, SIMPLE CEAFe 74.3 and 57.0, PURE B3 77.6 and 67.5, PURE CEAFe 73.8 and 58.0"
    )
    (linked,) = (claim.found for claim in found.claims if "non-zero MUC and Blanc-PW" in claim.says)
    assert linked == "MUC F and PW Lemma-WD 0.0 and 0.0, Lemma 33.3 and 9.4, Lemma-delta 44.5 and 35.1"
    (singletons,) = (claim.found for claim in found.claims if claim.says.startswith("singletons constitute"))
    assert "4,407 of them (78 %) are in sentences whose coreference nobody validated" in singletons
    assert any("in points: B&H 5.6, S.T. 3.5, YCF 3.7" in remark for remark in found.remarks)
    assert not any("Nearest to the published" in remark for remark in found.remarks)
