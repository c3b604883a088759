"""Settings of coreference: breakdowns by restriction, meta-mentions paired by overlap, and what a report must say."""

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import karat
from karat.api.scoring import Result, score
from karat.model import Document
from karat.result import ItemCounts
from tests import running
from tests.corpora import corpus, mention
from tests.test_coref import GOLD, SYSTEMS, documents, run

Labels = list[list[int]]
"""For each document, the cluster of each mention; mentions of one place are the same on both sides."""


@st.composite
def labellings(draw: st.DrawFn) -> tuple[Labels, Labels]:
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    clusters = st.integers(0, 3)
    gold, system = ([[draw(clusters) for _ in range(size)] for size in sizes] for _ in "gs")
    return gold, system


def sides_of(labels: Labels, order: list[list[int]] | None = None) -> list[Document]:
    """Documents whose mentions stand in this order in the text (none: as they come)."""
    places = order or [list(range(len(own))) for own in labels]
    return [
        Document(
            f"d{number}",
            mentions=tuple(
                mention(f"m{place}", (place, place + 1), cluster=f"c{label}")
                for place, label in sorted(zip(places[number], own, strict=True))
            ),
        )
        for number, own in enumerate(labels)
    ]


def pure(gold: list[Document], system: list[Document], representative: str) -> Result:
    return score(corpus(gold), corpus(system), protocol="pure-cdec", settings={"representative": representative})


@pytest.mark.slow
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(labellings(), st.randoms(use_true_random=False))
@example(([[0, 0], [0, 0]], [[1, 2], [1, 2]]), random.Random(1))  # one tie in each of two documents
def test_no_choice_of_representative_moves_aligned(both: tuple[Labels, Labels], chance: random.Random) -> None:
    """Whichever mention of a cluster comes first, or last, in the text: every count stays as it was."""
    order = [chance.sample(range(len(own)), len(own)) for own in both[0]]
    there = pure(sides_of(both[0]), sides_of(both[1]), "aligned").to_dict()["scores"]
    back = pure(sides_of(both[0], order), sides_of(both[1], order), "aligned").to_dict()["scores"]
    assert there == back


def test_a_representative_moves_the_score_otherwise() -> None:
    """The purpose of `aligned`: the same clusters, the text read from the other end."""
    gold, system = [[0, 0], [0]], [[1, 2], [2]]
    scores = [pure(sides_of(gold), sides_of(system), name)["coref.muc"].f1 for name in ("first", "last", "aligned")]
    assert scores == [0, 1, 1]


def test_each_side_may_have_its_own_representative() -> None:
    """Both orders agree on a system that is gold, unless the two sides use different ones."""
    gold, system = sides_of([[0, 0], [0]]), sides_of([[1, 2], [2]])
    scores = {name: pure(gold, system, name)["coref.muc"].f1 for name in ("first/last", "last/first")}
    assert scores == {"first/last": 0, "last/first": 1}
    mentions = {name: pure(gold, gold, name)["coref.mention"].f1 for name in ("first", "last", "random", "first/last")}
    assert mentions == {"first": 1, "last": 1, "random": 1, "first/last": 1 / 2}


def test_a_random_representative_depends_on_the_seed_alone() -> None:
    """By place and document, neither by ids nor by the order in the file; and every mention has a chance."""
    gold, system = sides_of([[0, 0], [0]]), sides_of([[1, 2], [2]])
    renamed = [
        replace(document, mentions=tuple(replace(one, id=f"x{one.id}") for one in reversed(document.mentions)))
        for document in reversed(system)
    ]
    found = []
    for seed in range(8):
        settings_ = {"representative": "random", "seed": seed}
        results = [
            score(corpus(gold), corpus(side), protocol="pure-cdec", settings=settings_) for side in (system, renamed)
        ]
        assert results[0].scores == results[1].scores
        found.append(results[0]["coref.muc"].f1)
    assert set(found) == {0, 1}


def test_signatures_name_the_representative_only_where_it_is_set(tmp_path: Path) -> None:
    file = str(tmp_path / "gold.jsonl")
    Path(file).write_text('{"id": "a", "mentions": [{"id": "1", "span": [[0, 3]], "cluster": "E"}]}\n')
    default = running.run("score", file, file, "-p", "pure-cdec").out
    assert "|protocol=pure-cdec|unit=char|" in default
    told = running.run(
        *("score", file, file, "-p", "pure-cdec", "--set", "representative=random", "--set", "seed=7")
    ).out
    assert "|protocol=pure-cdec|representative=random|seed=7|unit=char|" in told
    refused = running.run("score", file, file, "-p", "pure-cdec", "--set", "representative=first/aligned")
    assert (refused.code, "It takes: first, last, random, aligned, first/last" in refused.err) == (2, True)


def test_overlap_comes_before_the_number_of_documents() -> None:
    """In the first document, two of three gold mentions are in cluster 1; cluster 2 is in two documents more."""
    gold, system = [[0, 0, 0], [0], [0]], [[1, 1, 2], [2], [2]]
    assert pure(sides_of(gold), sides_of(system), "aligned")["coref.muc"].recall == 1 / 2


def test_figure_3_with_aligned_representatives() -> None:
    """System 2 > 3 > 1, as under the first mention."""
    found = [run("pure-cdec", system, representative="aligned") for system in SYSTEMS]
    assert [result["coref.muc"].f1 for result in found] == [0, 1, 1]
    averages = [result["coref.avg4"].f1 or 0 for result in found]
    assert averages[1] > averages[2] > averages[0]


def test_aligned_of_gold_with_itself_is_perfect() -> None:
    result = run("pure-cdec", GOLD, representative="aligned")
    assert result["coref.mention"].micro.to_dict()["counts"]["recall_den"] == 3  # crosses in A and B, circles in A
    assert result["coref.muc"].f1 == result["coref.b3"].f1 == result["coref.ceafe"].f1 == 1


# cattan-2021

CATTAN = [["a1", "a2"], ["s"], ["b1", "b2", "b3"]]
"""Clusters of gold; mentions a and s are in topic 1, mentions b in topic 2."""


def by_topic(clusters: list[list[str]]) -> list[Document]:
    def topic(number: str, letters: str) -> Document:
        mentions = [
            mention(name, (ord(name[0]) * 10 + int(name[1:] or 0), ord(name[0]) * 10 + 10), cluster=cluster[0])
            for cluster in clusters
            for name in cluster
            if name[0] in letters
        ]
        return Document(f"d{number}", topic=number, mentions=tuple(mentions))

    return [topic("1", "asx"), topic("2", "b")]


def test_cattan_2021_drops_the_singletons_of_each_side() -> None:
    """Gold keeps a1 a2 and b1 b2 b3; the system keeps s x, since its own cluster has two mentions."""
    result = score(by_topic(CATTAN), by_topic([["a1", "a2"], ["s", "x"], ["b1", "b2"], ["b3"]]), protocol="cattan-2021")
    assert result.unit == "topic"
    assert result["coref.mention"].micro.values == pytest.approx({"precision": 4 / 6, "recall": 4 / 5, "f1": 8 / 11})
    assert result["coref.muc"].micro.values == pytest.approx({"precision": 2 / 3, "recall": 2 / 3, "f1": 2 / 3})
    assert result["coref.b3"].micro.values == pytest.approx({"precision": 4 / 6, "recall": 2 / 3, "f1": 2 / 3})


@pytest.mark.parametrize(("unit", "precision"), [("topic", 2 / 2), ("corpus", 2 / 3)])
def test_cattan_2021_by_topic_or_corpus(unit: str, precision: float) -> None:
    """The link between topics, of a2 and b1, is wrong in the corpus and not scored by topic."""
    system = by_topic([["a1", "a2", "b1", "b2"], ["s"], ["b3"]])
    result = score(by_topic(CATTAN), system, protocol="cattan-2021", settings={"unit": unit})
    assert result.unit == unit
    assert result["coref.muc"].precision == precision
    assert result["coref.muc"].recall == 2 / 3


def test_cattan_2021_has_no_other_unit() -> None:
    with pytest.raises(karat.UsageError, match="unit"):
        score(by_topic(CATTAN), by_topic(CATTAN), protocol="cattan-2021", settings={"unit": "subtopic"})


# --by


def typed(types: dict[str, str], clusters: list[list[str]]) -> list[Document]:
    return [
        replace(
            document,
            mentions=tuple(
                replace(m, attributes={"type": types[m.id]} if m.id in types else {}) for m in document.mentions
            ),
        )
        for document in documents(clusters)
    ]


GOLD_TYPES = {"o1": "Die", "o2": "Die"} | {f"x{number}": "Attack" for number in range(1, 6)}


@pytest.mark.parametrize("protocol", ["simple-cdec", "pure-cdec", "conll-2012"])
def test_by_is_the_protocol_on_the_restricted_corpus(protocol: str) -> None:
    """The system's own types are wrong, but aligned mentions go with gold's."""
    gold, system = typed(GOLD_TYPES, GOLD), typed(dict.fromkeys(GOLD_TYPES, "Other"), SYSTEMS[1])
    whole = score(corpus(gold), corpus(system), protocol=protocol, by=["type"])
    assert list(whole.by["type"]) == ["Attack", "Die"]
    for value, rows in whole.by["type"].items():
        parts = [
            [
                replace(document, mentions=tuple(m for m in document.mentions if GOLD_TYPES[m.id] == value))
                for document in side
            ]
            for side in (gold, system)
        ]
        alone = score(corpus(parts[0]), corpus(parts[1]), protocol=protocol)
        assert {id_: row.micro for id_, row in rows.items()} == {id_: row.micro for id_, row in alone.scores.items()}
    assert [w.code for w in whole.warnings if w.code.startswith("breakdown")] == ["breakdown-restricted"]


def test_by_an_unaligned_system_mention_goes_with_its_own_value() -> None:
    gold = [Document("d", mentions=(mention("1", (0, 1), type="A"),))]
    system = [Document("d", mentions=(mention("1", (0, 1), type="B"), mention("2", (5, 6), type="B")))]
    rows = score(corpus(gold), corpus(system), protocol="simple-cdec", by=["type"]).by["type"]
    assert {value: row["coref.mention"].micro.to_dict()["counts"] for value, row in rows.items()} == {
        "A": {"precision_num": 1, "precision_den": 1, "recall_num": 1, "recall_den": 1},
        "B": {"precision_num": 0, "precision_den": 1, "recall_num": 0, "recall_den": 0},
    }


@pytest.mark.parametrize(
    ("protocol", "settings", "items"),
    [
        ("simple-cdec", {}, {"Attack": (3, 3, 0, 0), "Die": (3, 3, 1, 1)}),
        ("upadhyay-2016-is", {}, {"Attack": (2, 2, 0, 0), "Die": (0, 1, 0, 1)}),
        ("cattan-2021", {"unit": "corpus"}, {"Attack": (2, 3, 0, 1), "Die": (0, 2, 0, 2)}),
    ],
)
def test_by_counts_the_mentions_that_singletons_leave(
    protocol: str, settings: dict[str, str], items: dict[str, tuple[int, ...]]
) -> None:
    """Of Attack, gold has {a0, b0} and {a1}, the system one cluster; of Die, gold has singletons only."""

    def side(clusters: dict[str, str]) -> list[Document]:
        return [
            Document(
                id_,
                topic="1",
                mentions=tuple(
                    mention(name, (int(name[1]), int(name[1]) + 1), cluster=cluster, type=types[name])
                    for name, cluster in clusters.items()
                    if name[0] == id_
                ),
            )
            for id_ in "ab"
        ]

    types = dict.fromkeys(("a0", "a1", "b0"), "Attack") | dict.fromkeys(("a2", "a3", "b1", "b2"), "Die")
    gold = side({"a0": "X", "a1": "Y", "a2": "S", "b0": "X", "b1": "Y", "b2": "T"})
    system = side({"a0": "X", "a1": "X", "a3": "Z", "b0": "X", "b1": "Z", "b2": "T"})
    rows = score(corpus(gold), corpus(system), protocol=protocol, settings=settings, by=["type"]).by["type"]
    found = {value: row["coref.mention"].items for value, row in rows.items()}
    assert found == {value: ItemCounts(*numbers) for value, numbers in items.items()}


def test_by_topic_with_nuggets_beside() -> None:
    """Measures whose parts add up and those whose parts do not stand in the same rows."""
    gold, system = typed(GOLD_TYPES, GOLD), typed(GOLD_TYPES, SYSTEMS[0])
    rows = score(corpus(gold), corpus(system), protocol="tac-2017", by=["document"]).by["document"]
    assert list(rows) == ["A", "B"]
    assert rows["A"]["nugget.type"].f1 == rows["A"]["coref.muc"].f1 == 1


# What a report must say


def reported(result: Result) -> dict[str, str]:
    return {warning.code: warning.message for warning in result.warnings}


def test_identical_mentions_are_told() -> None:
    assert "mentions-given" in reported(run("simple-cdec", SYSTEMS[2]))
    assert "mentions-given" not in reported(run("simple-cdec", GOLD)), "everything is the same, not just the mentions"
    assert "mentions-given" in reported(run("pure-cdec", SYSTEMS[2])), "as they were before clusters became one mention"
    fewer = [cluster for cluster in SYSTEMS[2] if "x3" not in cluster]
    system = [
        replace(document, mentions=tuple(m for m in document.mentions if m.id != "x3"))
        for document in documents([*fewer, ["x3"]])
    ]
    result = score(corpus(documents(GOLD)), corpus(system), protocol="simple-cdec")
    assert "mentions-given" not in reported(result)


def test_links_between_topics_are_told() -> None:
    """The cross in B is coreferent with four in A: 4 of 11 links of gold; in system 1 it stands alone."""
    sides = [
        [replace(document, topic=document.id) for document in documents(clusters)] for clusters in (GOLD, SYSTEMS[0])
    ]
    result = score(corpus(sides[0]), corpus(sides[1]), protocol="bejan-harabagiu-2014")
    assert reported(result)["links-hidden"] == (
        "links between topics are not scored: 4 of 11 pairs of coreferent mentions in gold, 0 of 7 in the system"
    )
    assert "links-hidden" not in reported(run("simple-cdec", SYSTEMS[0]))


def test_collapsed_and_dropped_mentions_are_told() -> None:
    assert reported(run("pure-cdec", SYSTEMS[2]))["mentions-collapsed"] == (
        "each cluster within a document was collapsed to one mention: "
        "7 gold mentions became 3, 7 system mentions became 5"
    )
    assert reported(run("simple-cdec", SYSTEMS[2], singletons="drop-each"))["singletons-dropped"] == (
        "mentions that are singletons on their side are not scored: 0 of 7 gold mentions, 2 of 7 system mentions"
    )


# What is scored when nothing is named


def test_clusters_across_documents_choose_the_protocols(tmp_path: Path) -> None:
    lines = ['{"id":"d1","mentions":[{"id":"m","span":[[0,1]],"cluster":"E1"}]}', "", '{"id":"d2"}']
    file = tmp_path / "gold.jsonl"
    for cluster, chosen in (("E2", ("tac-2017",)), ("E1", ("simple-cdec", "pure-cdec"))):
        second = f'{{"id":"d3","mentions":[{{"id":"m","span":[[0,1]],"cluster":"{cluster}"}}]}}'
        file.write_text("\n".join([*lines, second]))
        assert karat.read(file).protocols == chosen
    done = running.run("score", str(file), str(file))
    reason = "jsonl with clusters across documents"
    assert done.err.startswith(f"protocol: simple-cdec, pure-cdec (GOLD is {reason}; choose with -p)")
    assert done.out.startswith("protocol: coref F1"), "the settings side by side come first"
