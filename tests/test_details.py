"""`--details`: what was matched, missed and spurious, item by item, for every family and protocol."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from msgspec.structs import astuple

import karat.result
from karat.api.scoring import Result, score
from karat.corpus.memory import MemoryCorpus
from karat.model import Document, Link, Mention
from karat.problems import Findings
from karat.protocols import PROTOCOLS, resolve
from karat.records import ClusterRecord, LinkRecord, MentionRecord, TreeRecord
from karat.report.layout import DEFAULT
from karat.report.outputs import FORMATS
from karat.run import scoring
from karat.run.plan import Options
from karat.testing.corpora import Sides
from tests.corpora import corpus, mention, sides
from tests.error_laws import marked
from tests.running import run

DATA = Path(__file__).parent / "data"
DEMO = Path(karat.__file__).parent / "demo"
LISTED = [
    name
    for name, _ in PROTOCOLS
    if "ace" not in {choice.name for choice in resolve(name).families} and name != "omnievent-2023"  # needs entities
]


def detailed(gold: Document, system: Document, protocol: str, **options: Any) -> Result:
    return score(corpus([gold]), corpus([system]), protocol=protocol, details=True, **options)


def listed(result: Result, measure: str) -> list[tuple[str, str | None, str | None]]:
    """The outcomes of a measure with the names of their items."""
    return [(one.outcome, _name(one.gold), _name(one.system)) for one in result.outcomes[measure]]


def _name(record: Any) -> str | None:
    if record is None:
        return None
    return f"{record.source}>{record.target}" if isinstance(record, LinkRecord) else record.id


def assert_sums(result: karat.result.Result) -> None:
    """The listed counts of a measure sum to its counts."""
    assert result.outcomes
    for id_, records in result.outcomes.items():
        counts = result[id_].micro.counts
        assert counts is not None
        sums = type(counts).summed(astuple(record.counts) for record in records)
        assert astuple(sums) == pytest.approx(astuple(counts)), id_


@pytest.mark.parametrize("protocol", marked(LISTED))
@settings(max_examples=15, deadline=None)
@given(both=sides())
def test_listed_counts_sum_to_the_scores(protocol: str, both: Sides) -> None:
    """In every protocol and unit, with singletons dropped, clusters collapsed and documents ignored."""
    gold, system = (MemoryCorpus(side) for side in both)
    try:
        (result,) = scoring.score(gold, system, [resolve(protocol)], Options(details=True), findings=Findings())
    except karat.KaratError:
        return
    if result.outcomes:
        assert_sums(result)


@pytest.mark.parametrize("protocol", LISTED)
def test_every_protocol_lists_the_demo(protocol: str) -> None:
    result = score(DEMO / "gold.jsonl", DEMO / "literal.jsonl", protocol=protocol, details=True)
    assert_sums(result)
    assert all(record.outcome for records in result.outcomes.values() for record in records)


def test_nuggets_by_mention() -> None:
    """A wrong type is a miss and, next to it, a spurious mention; text comes from the document."""
    text = "They attack and died out."
    gold = Document("d", text=text, mentions=(mention("a", (5, 11), type="Attack"), mention("b", (16, 20), type="Die")))
    system = Document("d", mentions=(mention("x", (16, 24), type="Injure"), mention("y", (5, 11), type="Attack")))
    result = detailed(gold, system, "tac-2017", measures=["nugget.type"])
    assert listed(result, "nugget.type") == [("match", "a", "y"), ("miss", "b", None), ("spurious", None, "x")]
    spurious = result.outcomes["nugget.type"][2].system
    assert spurious == MentionRecord("x", "event", ((16, 24),), "died out", None, {"type": "Injure"})


def test_lines_are_those_of_the_file() -> None:
    result = score(DATA / "gold.tbf", DATA / "system.tbf", measures=["nugget.type"], details=True)
    records = result.outcomes["nugget.type"]
    (carried,) = [one for one in records if isinstance(one.gold, MentionRecord) and one.gold.text == "carry out"]
    assert isinstance(carried.gold, MentionRecord)
    assert isinstance(carried.system, MentionRecord)
    assert (carried.gold.line, carried.system.line) == (9, 10)


def test_a_document_that_does_not_count_is_not_listed() -> None:
    """tac-2017 ignores documents without gold mentions for nuggets, but not for coreference."""
    gold = Document("d")
    system = Document("d", mentions=(mention("x", (0, 4), type="A"),))
    more = Document("e", mentions=(mention("m", (0, 4), type="A"),))
    result = score(corpus([gold, more]), corpus([system, more]), protocol="tac-2017", details=True)
    assert listed(result, "nugget.span") == [("match", "m", "m")]
    assert listed(result, "coref.mention") == [("spurious", None, "x"), ("match", "m", "m")]


def test_muc_slots_have_classes() -> None:
    gold = Document("d", mentions=(mention("a", (0, 4), type="A"), mention("b", (9, 12), type="B")))
    system = Document("d", mentions=(mention("x", (0, 5), type="A"), mention("y", (9, 12), type="C")))
    result = detailed(gold, system, "muc-5")
    assert listed(result, "muc.span") == [("partial", "a", "x"), ("match", "b", "y")]
    assert listed(result, "muc.type") == [("match", "a", "x"), ("incorrect", "b", "y")]


def test_a_second_system_mention_of_the_pilot_is_a_duplicate() -> None:
    gold = Document("d", mentions=(mention("a", (0, 10), type="A", realis="x"),))
    system = Document("d", mentions=(mention("x", (0, 4), type="A"), mention("y", (5, 10), type="A")))
    result = detailed(gold, system, "tac-pilot", measures=["nugget.span"])
    assert listed(result, "nugget.span") == [("match", "a", "y"), ("duplicate", "a", "x")]


def clustered(*clusters: str) -> Document:
    """A mention for each letter, at its place in the alphabet; each word is a cluster."""
    mentions = [
        mention(letter, (ord(letter), ord(letter) + 1), cluster=word if len(word) > 1 else None)
        for word in clusters
        for letter in word
    ]
    return Document("d", mentions=tuple(sorted(mentions, key=lambda one: one.span)))


def test_coreference_lists_clusters_with_their_mentions() -> None:
    result = detailed(clustered("abc", "d", "e"), clustered("ab", "cd", "f"), "conll-2012")
    assert listed(result, "coref.b3") == [
        ("partial", "abc", "ab"),
        ("partial", "abc", "cd"),
        ("partial", "d", "cd"),
        ("miss", "e", None),
        ("spurious", None, "f"),
    ]
    assert listed(result, "coref.muc") == [("partial", "abc", None), ("match", None, "ab"), ("spurious", None, "cd")]
    assert ("partial", "abc", "ab") in listed(result, "coref.ceafe")
    cluster = result.outcomes["coref.b3"][0].gold
    assert isinstance(cluster, ClusterRecord)
    assert [one.id for one in cluster.mentions] == ["a", "b", "c"]
    missed, spurious = (
        [(one.id, one.matched) for one in record.mentions]
        for outcome in result.outcomes["coref.mention"]
        for record in (outcome.gold or outcome.system,)
        if isinstance(record, ClusterRecord) and outcome.outcome != "match"
    )
    assert missed == [("e", False)]
    assert spurious == [("f", False)]


def test_clusters_across_documents_name_the_documents_of_their_mentions() -> None:
    one, other = (
        Document(id_, topic="1", mentions=(Mention("m", ((0, 4),), cluster="E", text=text),))
        for id_, text in (("d1", "quit"), ("d2", "left"))
    )
    result = score(corpus([one, other]), corpus([one, other]), protocol="simple-cdec", details=True)
    (record,) = result.outcomes["coref.ceafe"]
    assert (record.outcome, record.document, record.unit) == ("match", None, "corpus")
    assert isinstance(record.gold, ClusterRecord)
    assert [(one.document, one.text) for one in record.gold.mentions] == [("d1", "quit"), ("d2", "left")]
    assert "quit [d1, 0-4], left [d2, 0-4]" in str(result)


def test_mentions_that_do_not_count_are_said() -> None:
    """With `drop-gold`, a system cluster loses the mentions that are singletons in gold."""
    result = detailed(clustered("ab", "c"), clustered("abc"), "conll-2012", settings={"singletons": "drop-gold"})
    (record,) = result.outcomes["coref.ceafe"]
    assert isinstance(record.system, ClusterRecord)
    assert (record.system.size, len(record.system.mentions)) == (2, 3)
    assert "abc (2 of 3 mentions count)" in str(result)


def linked(*links: tuple[str, str], kind: str) -> Document:
    document = clustered(*"abcd")
    return Document("d", mentions=document.mentions, links=tuple(Link(kind, *link) for link in links))


def test_hierarchies_list_links_and_trees() -> None:
    gold, system = linked(("a", "b"), ("a", "c"), kind="subevent"), linked(("a", "b"), ("c", "d"), kind="subevent")
    result = detailed(gold, system, "araki-2014")
    assert listed(result, "hierarchy.subevent.mucp") == [
        ("match", "a>b", "a>b"),
        ("miss", "a>c", None),
        ("spurious", None, "c>d"),
    ]
    trees = result.outcomes["hierarchy.subevent.nstmp"]
    assert (trees[0].outcome, _name(trees[0].gold), _name(trees[0].system)) == ("partial", "a", "a")
    assert isinstance(trees[0].gold, TreeRecord)
    assert [event.id for event in trees[0].gold.events] == ["a", "b", "c"]
    assert "subevent: a {a [97-98]} -> c {c [99-100]}" in str(result)


def test_sequences_list_links_and_what_is_implied() -> None:
    gold = linked(("a", "b"), ("b", "c"), kind="after")
    result = detailed(gold, linked(("a", "c"), kind="after"), "tac-2017", measures=["sequence.after"])
    assert listed(result, "sequence.after") == [
        ("miss", "a>b", None),
        ("implied", None, "a>c"),
        ("miss", "b>c", None),
    ]


def test_the_json_of_details() -> None:
    done = run(
        "score", str(DATA / "gold.tbf"), str(DATA / "system.tbf"), "--details", "-m", "nugget.type", "-f", "json"
    )
    content = json.loads(done.out)["details"]["nugget.type"]
    assert all(set(one) == {"document", "outcome", "gold", "system", "counts"} for one in content)
    assert set(content[0]["gold"]) == {"id", "kind", "span", "text", "line", "attributes"}
    result = score(DATA / "gold.tbf", DATA / "system.tbf", measures=["nugget.type"], details=True)
    assert result.to_dict()["details"]["nugget.type"] == content


def test_the_dummy_root_is_listed_in_each_document(tmp_path: Path) -> None:
    """NSTMp counts one event more above the trees of each document, also if the corpus is one unit."""
    own = tmp_path / "whole.toml"
    own.write_text('title = "Whole"\nextends = "araki-2014"\nunit = "corpus"\n')
    documents = [
        Document(id_, mentions=(mention("a", (0, 4)), mention("b", (5, 9))), links=(Link("subevent", "a", "b"),))
        for id_ in ("d", "e")
    ]
    settings = {"root": "counted"}
    result = score(corpus(documents), corpus(documents), protocol=str(own), details=True, settings=settings)
    assert [one.document for one in result.outcomes["hierarchy.subevent.nstmp"]] == ["d", "d", "e", "e"]


def test_without_details_nothing_is_listed() -> None:
    result = score(DATA / "gold.tbf", DATA / "system.tbf")
    assert not result.outcomes
    assert "details" not in result.to_dict()


TOPICS = """
title = "Nuggets by topic"
unit = "topic"

[alignments.any]

[[measures]]
family = "nugget"
alignment = "any"
averages = { units = "with-gold" }
"""


def test_mentions_of_a_unit_of_several_documents_are_listed_by_document(tmp_path: Path) -> None:
    """Mention ids are names within a document; a topic without gold mentions does not count."""
    (tmp_path / "topics.toml").write_text(TOPICS)
    gold = [
        Document("d1", topic="1", mentions=(mention("m", (0, 4)),)),
        Document("d2", topic="1", mentions=(mention("m", (6, 9)),)),
        Document("d3", topic="2"),
    ]
    system = [*gold[:1], Document("d2", topic="1"), Document("d3", topic="2", mentions=(mention("x", (0, 4)),))]
    protocol = str(tmp_path / "topics.toml")
    result = score(corpus(gold), corpus(system), protocol=protocol, details=True)
    assert_sums(result)
    assert [(one.unit, one.document, one.outcome) for one in result.outcomes["nugget.span"]] == [
        ("topic 1", "d1", "match"),
        ("topic 1", "d2", "miss"),
    ]
    assert result.to_dict()["details"]["nugget.span"][0]["unit"] == "topic 1"


def test_a_long_text_is_listed_as_it_is() -> None:
    text = "it   was " * 100
    spans = [((3, 450),), ((0, 200), (210, 500)), ((0, 9000),), ((300, 301),)]
    gold = Document("d", text=text, mentions=tuple(Mention(f"m{n}", span) for n, span in enumerate(spans)))
    result = detailed(gold, gold, "tac-2017")
    texts = {one["gold"]["id"]: one["gold"]["text"] for one in result.to_dict()["details"]["nugget.span"]}
    assert texts == {"m0": text[3:450], "m1": f"{text[:200]} {text[210:500]}", "m2": text, "m3": text[300]}
    assert json.loads("".join(FORMATS["json"]([result], DEFAULT))) == result.to_dict()
    assert "it was it was it was it was it …" in "".join(FORMATS["text"]([result], DEFAULT))
