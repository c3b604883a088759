"""Relations between events: the worked example, readings of the protocols, formats, and bad input."""

import json
from collections.abc import Iterable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

import karat
from karat.arguments import events_of
from karat.counts import PrecisionRecall
from karat.families.relation.intervals import INVERSE, SIGNS, Intervals
from karat.match.closure import PointOrder
from karat.model import Document, Link, Mention, Region
from karat.problems import KaratError
from karat.result import Result
from tests.running import command, run

GOLD = [("BEFORE", 1, 2), ("BEFORE", 2, 3), ("BEFORE", 1, 3), ("SIMULTANEOUS", 3, 4), ("VAGUE", 2, 5)]
SYSTEM = [
    ("BEFORE", 1, 2),
    ("BEFORE", 1, 3),
    ("BEFORE", 2, 4),
    ("SIMULTANEOUS", 4, 3),
    ("BEFORE", 2, 5),
    ("BEFORE", 1, 2),
]


def document(
    links: Iterable[tuple[str, Any, Any]], *, events: int = 4, clusters: dict[int, str] | None = None
) -> Document:
    """Events and a time, by number, with links between them or between clusters."""
    clusters = clusters or {}
    mentions = [
        Mention(f"m{n}", ((2 * n, 2 * n + 1),), kind="event" if n <= events else "time", cluster=clusters.get(n))
        for n in range(1, events + 2)
    ]
    ends = [(kind, *(end if isinstance(end, str) else f"m{end}" for end in pair)) for kind, *pair in links]
    named = [Link(kind, source, target) for kind, source, target in ends]
    return Document("d", unit="token", mentions=tuple(mentions), links=tuple(named))


def score(gold: Document, system: Document, protocol: str, **settings: Any) -> Result:
    return karat.score([gold], [system], protocol=protocol, settings=settings)


# The worked example

EXAMPLE = [
    ("maven-ere-2022", {}, "relation.temporal", (2, 5, 2, 4), 44.44),
    ("matres-2018", {"vague": "count"}, "relation.temporal", (2, 3, 2, 4), 57.14),
    ("tieval-2023", {}, "relation.temporal", (3, 5, 3, 5), 60.00),
    ("tb-dense-2014", {"pairs": "all"}, "relation.temporal", (3, 5, 3, 5), 60.00),
    ("matres-2018", {}, "relation.temporal", (2, 3, 2, 3), 66.67),
    ("tb-dense-2014", {}, "relation.temporal", (3, 4, 3, 5), 66.67),
    ("tb-dense-2014", {"vague": "ignore"}, "relation.temporal", (3, 4, 3, 4), 75.00),
    ("tempeval-3", {}, "temporal.awareness", (4, 5, 3, 4), 77.42),
    ("tieval-2023", {}, "temporal.awareness", (4, 5, 4, 5), 80.00),
    ("tempeval-3", {"awareness": "implicit"}, "temporal.awareness", (4, 5, 3.2475, 4), 80.59),
    ("tempeval-3", {"awareness": "acl-2011"}, "temporal.awareness", (5, 6, 4, 5), 81.63),
]


@pytest.mark.parametrize(("protocol", "settings", "measure", "counts", "f1"), EXAMPLE)
def test_one_pair_of_files_has_nine_temporal_f1(
    protocol: str, settings: dict[str, Any], measure: str, counts: tuple[float, ...], f1: float
) -> None:
    leaf = score(document(GOLD), document(SYSTEM), protocol, **settings)[measure].micro
    assert leaf.counts is not None
    assert [*leaf.counts.to_dict().values()][:4] == pytest.approx(counts)
    assert round(100 * (leaf.f1 or 0), 2) == f1


def test_several_protocols_say_why_they_differ(tmp_path: Path) -> None:
    gold, system = (written(tmp_path / name, document(links)) for name, links in (("g", GOLD), ("s", SYSTEM)))
    out = run("score", gold, system, "-p", "maven-ere-2022", "-p", "tempeval-3", "--summary").out
    assert "temporal F1 by" in out
    for reason in (
        "2 links right by closure alone",
        "1 link right but for the direction",
        "1 link entailed by links before",
    ):
        assert reason in out
    assert "on a pair that has one already" not in out, "what all definitions do is no difference"


@pytest.mark.parametrize("form", ["markdown", "latex", "html"])
def test_every_output_has_the_table_of_definitions(tmp_path: Path, form: str) -> None:
    gold, system = (written(tmp_path / name, document(links)) for name, links in (("g", GOLD), ("s", SYSTEM)))
    both = ("score", gold, system, "-p", "tieval-2023", "-p", "tempeval-3", "--summary", "-f", form)
    out = run(*both, "-o", "-").out
    assert "temporal F1 by" in out
    assert "They differ here: 2 links" in out
    assert "(tieval-2023 temporal.awareness, tempeval-3)" in out


def written(path: Path, *documents: Document) -> str:
    """A file of documents."""
    import msgspec

    path = path.with_suffix(".jsonl")
    path.write_bytes(b"".join(msgspec.json.encode(one) + b"\n" for one in documents))
    return str(path)


# Closure


def test_the_closure_is_exact() -> None:
    order = PointOrder()
    assert order.put_before(1, 2)
    assert order.put_together(2, 3)
    assert order.put_before(3, 4)
    assert order.precedes(1, 4)
    assert not order.put_before(4, 1)
    assert not order.put_together(1, 3)
    assert order.later(1) == 1 << 2 | 1 << 3 | 1 << 4


def test_every_label_has_an_inverse_which_follows_from_it() -> None:
    for label, inverse in INVERSE.items():
        assert INVERSE[inverse] == label
        known = Intervals()
        known.add((label, 0, 1))
        assert [other for other in SIGNS if known.entail((other, 1, 0))] == [inverse]
        assert [other for other in SIGNS if not known.contradict((other, 0, 1))] == [label]


@pytest.mark.parametrize("seed", range(30))
def test_steps_of_a_timeline_agree_with_its_links(seed: int) -> None:
    """Each end point lies where the relations put it relative to all others."""
    random = Random(seed)
    known, added = Intervals(), list[tuple[str, int, int]]()
    for _ in range(12):
        first, second = random.sample(range(6), 2)
        link = random.choice(list(SIGNS)), first, second
        if not known.contradict(link):
            known.add(link)
            added.append(link)
    steps = known.steps()
    for label, first, second in added:
        ends = [(steps[2 * first + i], steps[2 * second + j]) for i in (0, 1) for j in (0, 1)]
        signs = "".join("<" if one < other else ">" if one > other else "=" for one, other in ends)
        assert signs == SIGNS[label]


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1)])
def test_tempeval_counts_links_in_the_order_of_the_file(order: tuple[int, ...]) -> None:
    """A < B, B < C, A < C are two reduced links, A < C, A < B, B < C are three; the signature tells them apart."""
    links = [("BEFORE", 1, 2), ("BEFORE", 2, 3), ("BEFORE", 1, 3)]
    gold = document([links[index] for index in order])
    result = score(gold, document(links[:1]), "tempeval-3")
    leaf = result["temporal.awareness"].micro
    assert leaf.counts is not None
    assert leaf.counts.to_dict()["recall_den"] == (2 if order == (0, 1, 2) else 3)
    other = score(document(links[::-1]), document(links[:1]), "tempeval-3")
    assert "|links=sha256:" in result.signature
    assert result.gold.fingerprint == other.gold.fingerprint
    assert result.signature != other.signature


def test_labels_without_meaning_match_themselves_in_either_direction() -> None:
    """OVERLAP has a meaning, and so an inverse, in tieval only."""
    gold = document([("OVERLAP", 1, 2)])
    for system, tempeval, tieval in ((("OVERLAP", 2, 1), 1, 0), (("OVERLAPPED", 2, 1), 0, 1)):
        assert score(gold, document([system]), "tempeval-3")["temporal.awareness"].f1 == tempeval
        assert score(gold, document([system]), "tieval-2023")["temporal.awareness"].f1 == tieval


def test_documents_without_links_count_in_the_macro_average_of_tieval() -> None:
    empty = Document("empty")
    result = karat.score([document(GOLD[:1]), empty], [document(GOLD[:1]), empty], protocol="tieval-2023")
    assert result["temporal.awareness"].f1 == 1
    macro = result["temporal.awareness"].macro
    assert macro is not None
    assert macro.f1 == 0.5


def test_one_cycle_leaves_nothing_in_tieval() -> None:
    links = [("BEFORE", 1, 2), ("BEFORE", 2, 3), ("BEFORE", 3, 1), ("BEFORE", 4, 5)]
    result = score(document(links), document(links), "tieval-2023")
    assert (result["temporal.awareness"].f1, result["relation.temporal"].f1) == (0, 1)


# Readings


def test_a_link_between_clusters_counts_per_pair_of_mentions_and_a_mention_id_is_that_mention() -> None:
    clusters = {1: "A", 2: "A", 3: "B", 4: "B"}
    gold = document([("BEFORE", "A", "B")], clusters=clusters)
    system = document([("BEFORE", 1, 3)], clusters=clusters)
    counts = score(gold, system, "maven-ere-2022")["relation.temporal"].micro.counts
    assert counts is not None
    assert counts.to_dict() == {"precision_num": 1, "precision_den": 1, "recall_num": 1, "recall_den": 4}


def test_a_perfect_system_without_coreference_has_half_of_blanc_under_maven_ere() -> None:
    result = score(document(GOLD), document(GOLD), "maven-ere-2022")
    assert (result["coref.blanc"].f1, result["relation.temporal"].f1) == (0.5, 1)
    assert score(document(GOLD), document(GOLD), "maven-ere-2022", **{"blanc.edge": "perl"})["coref.blanc"].f1 == 1


def test_a_temporal_link_from_an_event_to_a_time_is_no_argument() -> None:
    result = score(document([("BEFORE", 1, 5)]), document([("AFTER", 5, 1)]), "matres-2018")
    assert result["relation.temporal"].f1 == 1
    assert events_of(document([("BEFORE", 1, 5), ("Time", 1, 5)]))[0].arguments[0].role == "Time"


@pytest.mark.parametrize("span", [(), ((1, 2),)])
def test_creation_times_are_the_same_whatever_their_ids(span: Region) -> None:
    def side(id_: str, span: Region = ()) -> Document:
        event = Mention("m", ((0, 1),))
        time = Mention(id_, span, kind="time", attributes={"function": "CREATION_TIME"})
        return Document("d", unit="token", mentions=(event, time), links=(Link("BEFORE", "m", id_),))

    for protocol in ("tempeval-3", "tb-dense-2014", "maven-ere-2022"):
        result = score(side("t0"), side("other", span), protocol)
        assert result["temporal.awareness" if protocol == "tempeval-3" else "relation.temporal"].f1 == 1


def test_an_event_of_tempeval_is_golds_if_its_first_token_is_and_a_time_if_it_overlaps() -> None:
    def side(begin: int, end: int, time: tuple[int, int]) -> Document:
        mentions = (Mention("e", ((begin, end),)), Mention("t", (time,), kind="time"))
        return Document("d", text="They took off on Monday.", mentions=mentions, links=(Link("BEFORE", "e", "t"),))

    gold = side(5, 13, (17, 23))
    assert score(gold, side(6, 9, (14, 20)), "tempeval-3")["temporal.awareness"].f1 == 1
    assert score(gold, side(10, 13, (17, 23)), "tempeval-3")["temporal.awareness"].f1 == 0


def test_links_are_put_into_text_order_and_labels_change_places() -> None:
    gold = document([("PRECONDITION", 1, 2), ("PRECONDITION", 3, 2)])
    system = document([("FALLING_ACTION", 2, 1), ("PRECONDITION", 2, 3)])
    counts = {
        key: result["relation.causal"].micro.counts
        for key, result in {
            "esc": score(gold, system, "esc-2017"),
            "missed": score(gold, system, "esc-2017", missed="pairs"),
            "count": score(gold, system, "eci-2019", direction="count"),
            "ilif": score(gold, system, "eci-2019", direction="as-ilif"),
            "ignore": score(gold, system, "eci-2019"),
        }.items()
    }
    assert {key: [*one.to_dict().values()] for key, one in counts.items() if one is not None} == {
        "esc": [1, 2, 1, 2],
        "missed": [1, 2, 1, 1],
        "count": [1, 2, 1, 2],
        "ilif": [1, 1, 1, 2],
        "ignore": [2, 2, 2, 2],
    }


def test_causal_pairs_within_sentences_need_sentences() -> None:
    result = score(document([("CAUSE", 1, 2)]), document([("CAUSE", 1, 2)]), "eci-2019")
    assert "relation.causal.intra" not in result.scores
    assert [finding.code for finding in result.warnings] == ["row-absent"]


def test_what_is_not_scored_is_said() -> None:
    links = [("BEFORE", 1, 1), ("NEAR", 1, 2), ("BEFORE", 1, 2)]
    result = score(document([("BEFORE", 2, 3)]), document(links), "matres-2018")
    codes = {finding.code for finding in result.warnings}
    assert codes >= {"relation-to-itself", "relation-kind-ignored", "relation-outside"}
    child = score(document([("subevent", 1, 2)]), document([("PC", 1, 2)]), "hieve-2020")
    assert "links of kind 'PC' that are not scored (system): 1" in str([found.message for found in child.warnings])
    assert child["relation.subevent"].f1 == 0
    nowhere = Document("d", mentions=(Mention("a", ()), Mention("b", ())), links=(Link("PRECONDITION", "a", "b"),))
    assert "relation-unplaced" in {finding.code for finding in score(nowhere, nowhere, "esc-2017").warnings}
    timed = document([("CAUSE", 1, 5), ("CAUSE", 1, 2), ("BEFORE", 1, 5)])
    result = score(timed, timed, "maven-ere-2022")
    assert [found.message for found in result.warnings if found.code == "relation-with-time"] == [
        "causal or subevent relations with a time that are ignored: 2"
    ]
    assert result["relation.causal"].micro.counts == PrecisionRecall(1, 1, 1, 1)


def test_cycles_of_relations_are_notes_and_cycles_of_hierarchies_are_fatal(tmp_path: Path) -> None:
    cyclic = document([("SIMULTANEOUS", 1, 2), ("SIMULTANEOUS", 2, 1), ("BEFORE", 1, 2), ("BEFORE", 2, 1)])
    result = score(cyclic, cyclic, "tempeval-3")
    assert {(finding.code, finding.severity) for finding in result.warnings} == {("link-cycle", "note")}
    tree = document([("subevent", 1, 2), ("subevent", 2, 1)])
    assert score(tree, tree, "hieve-2020")["relation.subevent"].f1 == 1
    with pytest.raises(KaratError) as error:
        score(tree, tree, "araki-2014")
    assert error.value.finding.code == "link-cycle"
    done = run("validate", written(tmp_path / "g", cyclic))
    assert (done.code, "note: BEFORE links" in done.out) == (0, True)


def test_an_event_may_have_two_causes(tmp_path: Path) -> None:
    """Causes are no hierarchy, unless a protocol reads them as one."""
    path = written(tmp_path / "g", document([("CAUSE", 1, 3), ("CAUSE", 2, 3)]))
    assert "two-parents" not in run("validate", path).out
    assert "two-parents" in run("validate", path, "-p", "araki-2014").out


def test_cycles_that_do_not_matter_are_one_note_for_each_kind() -> None:
    """A noisy system has many, and each costs a walk over its links."""
    cyclic = document([("BEFORE", 1, 2), ("BEFORE", 2, 1), ("BEFORE", 3, 4), ("BEFORE", 4, 3)])
    warnings = score(cyclic, cyclic, "tieval-2023").warnings
    assert [(warning.code, warning.origin) for warning in warnings] == [
        ("link-cycle", "gold"),
        ("link-cycle", "system"),
    ]


# Details, breakdowns, errors


def test_a_differing_pair_is_in_the_rows_of_both_labels() -> None:
    result = karat.score(
        [document([("BEFORE", 1, 2), ("VAGUE", 1, 3)])],
        [document([("EQUAL", 2, 1), ("AFTER", 3, 1)])],
        protocol="matres-2018",
        by=["kind"],
    )
    rows = result.to_dict()["by"]["kind"]
    counts = {label: [*row["relation.temporal"]["micro"]["counts"].values()][:4] for label, row in rows.items()}
    assert counts == {"BEFORE": [0, 1, 0, 1], "EQUAL": [0, 1, 0, 0]}  # no row for VAGUE


@pytest.mark.slow
def test_outcomes_of_labels_that_are_read_alike_have_one_order(tmp_path: Path) -> None:
    """For every hash seed."""
    links = [("SIMULTANEOUS", 2, 3), ("IDENTITY", 2, 3), ("EQUAL", 3, 4), ("DURING", 2, 4), ("IDENTITY", 4, 1)]
    path = written(tmp_path / "d", document(links))
    args = ("score", path, path, "-p", "tieval-2023", "--details", "-f", "json")
    assert len({command(*args, PYTHONHASHSEED=str(seed)) for seed in range(3)}) == 1


def test_errors_by_class() -> None:
    gold = document([("BEFORE", 1, 2), ("BEFORE", 2, 3), ("BEFORE", 3, 4), ("BEFORE", 1, 5)])
    system = document([("BEFORE", 2, 1), ("INCLUDES", 3, 4), ("BEFORE", 4, 5)])
    result = karat.score([gold], [system], protocol="tempeval-3", errors=True)
    assert result.errors is not None
    (measure,) = result.errors.measures
    found = {one.name: one.count for one in measure.found()}
    assert found == {"reversed": 1, "wrong label": 1, "missed": 2, "spurious": 1}


def test_awareness_knows_contradictions_by_closure() -> None:
    gold = document([("BEFORE", 1, 2), ("BEFORE", 2, 3)])
    against = karat.score([gold], [document([("BEFORE", 3, 1)])], protocol="tempeval-3", errors=True)
    assert against.errors is not None
    assert {one.name: one.count for one in against.errors.measures[0].found()} == {"contradicts": 1, "missed": 2}
    implied = karat.score([document([("BEFORE", 3, 1)])], [gold], protocol="tempeval-3", errors=True, details=True)
    assert implied.errors is not None
    assert {one.name: one.count for one in implied.errors.measures[0].found()} == {"entailed": 1, "spurious": 2}
    assert implied.outcomes is not None
    assert [one.outcome for one in implied.outcomes["temporal.awareness"]].count("contradicts") == 1


# Formats

MAVEN = {
    "id": "d",
    "title": "t",
    "tokens": [["a", "b"], ["c", "on", "Monday"]],
    "events": [
        {"id": "E1", "type": "X", "mention": [{"id": "m1", "trigger_word": "a", "sent_id": 0, "offset": [0, 1]}]},
        {"id": "E2", "type": "X", "mention": [{"id": "m2", "trigger_word": "c", "sent_id": 1, "offset": [0, 1]}]},
    ],
    "TIMEX": [{"id": "T1", "mention": "Monday", "type": "DATE", "sent_id": 1, "offset": [2, 3]}],
    "temporal_relations": {"BEFORE": [["E1", "E2"], ["E1", "T1"]]},
    "causal_relations": {"CAUSE": [["E1", "E2"]]},
    "subevent_relations": [["E1", "E2"]],
}


def put(path: Path, content: Any) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content) + "\n")
    return str(path)


def maven(tmp_path: Path, prediction: dict[str, Any], *options: str) -> Any:
    gold = put(tmp_path / "test.jsonl", MAVEN)
    return run("score", gold, put(tmp_path / "test_prediction.jsonl", {"id": "d"} | prediction), "-f", "json", *options)


def test_maven_ere_and_its_submission(tmp_path: Path) -> None:
    prediction = {
        "coreference": [["m1", "m2"]],
        "temporal_relations": {"BEFORE": [["m1", "m2"], ["m1", "distractor"]]},
        "causal_relations": {"CAUSE": [["m1", "m2"]]},
        "subevent_relations": [],
    }
    result = json.loads(maven(tmp_path, prediction).out)
    assert result["protocol"] == "maven-ere-2022"
    assert result["scores"]["relation.temporal"]["micro"]["counts"]["recall_den"] == 2
    assert [warning["code"] for warning in result["warnings"]][-1] == "maven-ere-distractors"
    assert result["warnings"][-1]["line"] == 1


def test_a_submission_may_begin_with_documents_without_relations(tmp_path: Path) -> None:
    documents = [MAVEN | {"id": id_} for id_ in "abcd"]
    gold = put(tmp_path / "gold.jsonl", "".join(json.dumps(one) + "\n" for one in documents))
    lines = ('{"id": "a"}', '{"id":"b"}', json.dumps({"id": "d", "temporal_relations": {"BEFORE": [["m1", "m2"]]}}))
    done = run("score", gold, put(tmp_path / "system.jsonl", "\n".join(lines)), "-f", "json")
    counts = json.loads(done.out)["scores"]["relation.temporal"]["micro"]["counts"]
    assert counts == {"precision_num": 1, "precision_den": 1, "recall_num": 1, "recall_den": 8}


@pytest.mark.parametrize(
    ("prediction", "code"),
    [
        ({"temporal_relations": {"BEFORE": [["E1", "E2"]]}}, "maven-ere-event-ids"),
        ({"temporal_relations": {"BEFOR": [["m1", "m2"]]}}, "relation-label"),
        ({"coreference": [["m1", "m1"], ["m1", "m2"]]}, "member-twice"),
    ],
)
def test_a_submission_to_maven_ere_with_a_mistake(tmp_path: Path, prediction: dict[str, Any], code: str) -> None:
    warnings = json.loads(maven(tmp_path, prediction).out)["warnings"]
    (found,) = [warning for warning in warnings if warning["code"] == code][:1]
    assert (Path(found["file"]).name, found["line"]) == ("test_prediction.jsonl", 1)


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ({"id": "d", "coreference": [["m1"]]}, "maven-ere-needs-gold"),
        (MAVEN | {"tokens": None, "sentences": []}, "maven-ere-shape"),
        (MAVEN | {"subevent_relations": [["E1", "E9"]]}, "relation-end-unknown"),
    ],
)
def test_maven_ere_that_cannot_be_read(tmp_path: Path, content: dict[str, Any], code: str) -> None:
    done = run("validate", put(tmp_path / "x.jsonl", content))
    assert done.code == 1
    assert "x.jsonl, line 1" in done.out
    assert f"[{code}]" in done.out


def test_kinds_that_only_the_system_has_are_no_mistake_if_they_are_read(tmp_path: Path) -> None:
    """AFTER is BEFORE in the other direction."""
    gold = written(tmp_path / "gold", document([("BEFORE", 1, 2)]))
    system = written(tmp_path / "system", document([("AFTER", 2, 1), ("BEFOR", 1, 3)]))
    expected = "the system has links of a kind that gold lacks: 'BEFOR' (1; did you mean BEFORE?)"
    for done in (
        run("score", gold, system, "-p", "matres-2018"),
        run("validate", system, "--against", gold, "-p", "matres-2018"),
    ):
        assert f"{expected} [link-kind-absent]" in done.out


def test_mentions_that_are_not_golds_leave_with_their_links() -> None:
    gold = document([("BEFORE", 1, 2)])
    other = document([("BEFORE", 1, 2), ("BEFORE", 1, 6)], events=5)
    result = score(gold, other, "maven-ere-2022")
    assert result["relation.temporal"].f1 == 1
    assert "mentions-not-golds" in {finding.code for finding in result.warnings}


def test_links_keep_their_ends_where_gold_has_a_mention_of_that_id() -> None:
    """A cluster of the system may be named like a mention that the system lacks."""
    gold = document([("BEFORE", 1, 2)])
    both = document([("BEFORE", "m1", 2)], clusters={3: "m1"})
    system = replace(both, mentions=both.mentions[1:])
    assert score(gold, system, "maven-ere-2022")["relation.temporal"].micro.counts == PrecisionRecall(0, 1, 0, 1)


def test_a_document_that_the_system_lacks_has_its_links_missed(tmp_path: Path) -> None:
    """It has gold's mentions, which are in no line of the system."""
    gold = document(GOLD)
    other = Document("e", unit="token", mentions=gold.mentions, links=gold.links)
    paths = written(tmp_path / "g", gold, other), written(tmp_path / "s", document(SYSTEM))
    done = run("score", *paths, "-p", "maven-ere-2022", "-m", "relation.temporal", "--details")
    assert done.code == 0, done.err
    assert "\ne, line 2\n  miss" in done.out


TML = """<?xml version="1.0"?>
<TimeML><DCT><TIMEX3 tid="t0" type="DATE" value="2031-05-01" functionInDocument="CREATION_TIME">today</TIMEX3></DCT>
<TEXT>They <EVENT eid="e1" class="OCCURRENCE">left</EVENT> on
<TIMEX3 tid="t1" type="DATE" value="2031-04-07">Monday</TIMEX3>.</TEXT>
<MAKEINSTANCE eiid="ei1" eventID="e1" tense="PAST"/>
<TLINK lid="l1" relType="IS_INCLUDED" eventInstanceID="ei1" relatedToTime="t1"/>
<TLINK lid="l2" relType="BEFORE" eventInstanceID="ei1" relatedToTime="t0"/>
</TimeML>
"""


def test_timeml_is_read_and_written_with_the_order_of_its_links(tmp_path: Path) -> None:
    put(tmp_path / "gold" / "d.tml", TML)
    (document_,) = karat.read(tmp_path / "gold")
    assert document_.text == "They left on\nMonday."
    assert [(m.id, m.kind, m.span) for m in document_.mentions] == [
        ("t0", "time", ()),
        ("ei1", "event", ((5, 9),)),
        ("t1", "time", ((13, 19),)),
    ]
    assert document_.mentions[1].attributes == {"class": "OCCURRENCE", "tense": "PAST"}
    assert [link.kind for link in document_.links] == ["IS_INCLUDED", "BEFORE"]
    jsonl, again = str(tmp_path / "d.jsonl"), str(tmp_path / "again")
    assert run("convert", str(tmp_path / "gold"), jsonl).code == 0
    assert run("convert", jsonl, again, "--to", "timeml").code == 0
    signatures = {
        json.loads(run("score", side, side, "-p", "tempeval-3", "-f", "json").out)["signature"]
        for side in (str(tmp_path / "gold"), jsonl, again)
    }
    assert len(signatures) == 1


@pytest.mark.parametrize(
    ("old", "new", "code", "line"),
    [
        ('<MAKEINSTANCE eiid="ei1" eventID="e1" tense="PAST"/>', "", "timeml-no-instances", 3),
        ('eventID="e1"', 'eventID="e9"', "timeml-no-event", 5),
        (' relType="BEFORE"', "", "timeml-no-type", 7),
        (' relatedToTime="t0"', "", "timeml-no-end", 7),
        (
            'eventInstanceID="ei1" relatedToTime="t0"',
            'eventInstanceID="e1" relatedToTime="t0"',
            "relation-end-unknown",
            7,
        ),
        ('"BEFORE"', '"BEFROE"', "relation-label", 7),
        ('relatedToTime="t0"', 'relatedToTime="t7"', "relation-end-unknown", 7),
        ("<TEXT>", "<BODY>", "timeml-shape", 2),
        ('eid="e1" class', "class", "timeml-shape", 3),
        ('eiid="ei1"', 'eiid="t1"', "mention-twice", 4),
        ("They ", '<EVENT eid="e2">They</EVENT> ', "timeml-no-instance", 3),
    ],
)
def test_timeml_with_a_mistake(tmp_path: Path, old: str, new: str, code: str, line: int) -> None:
    text = TML.replace(old, new)
    done = run("validate", put(tmp_path / "d.tml", text.replace("</TEXT>", "</BODY>") if "BODY" in text else text))
    assert f"[{code}]" in done.out
    assert f"d.tml, line {line}:" in done.out


def test_units_and_documents_that_formats_of_relations_refuse(tmp_path: Path) -> None:
    refused = {
        "timeml-unit": ("score", put(tmp_path / "a" / "d.tml", TML), "--unit", "token"),
        "hieve-unit": ("score", put(tmp_path / "b" / "d.tsvx", HIEVE), "--unit", "token"),
        "esc-unit": ("score", put(tmp_path / "c" / "d.tab", "1\t2\tPRECONDITION\n"), "--unit", "char"),
    }
    for code, (name, file, *options) in refused.items():
        assert f"[{code}]" in run(name, file, file, *options).err
    gold = written(tmp_path / "g", document(GOLD))
    assert "[timeml-unwritable]" in run("convert", gold, str(tmp_path / "out"), "--to", "timeml").err


HIEVE = """Text\tThe council met and sang.
Event\t1\tmet\tOccurrence\t12
Event\t2\tsang\tOccurrence\t20
Relation\t1\t2\tSubSuper\ttrue\tmet\tsang
"""


def test_hieve(tmp_path: Path) -> None:
    (document_,) = karat.read(put(tmp_path / "d.tsvx", HIEVE))
    assert [(m.id, m.span, m.text) for m in document_.mentions] == [
        ("1", ((12, 15),), "met"),
        ("2", ((20, 24),), "sang"),
    ]
    assert document_.links == (Link("subevent", "2", "1"),)
    assert karat.read(tmp_path / "d.tsvx").protocols == ("hieve-2020",)
    for damaged in ("Event\tx\n", "Happening\t1\n"):
        assert "d.tsvx, line 5" in run("validate", put(tmp_path / "d.tsvx", HIEVE + damaged)).out
    assert "[hieve-shape]" in run("validate", str(tmp_path / "d.tsvx")).out


@pytest.mark.parametrize(
    ("good", "bad", "code", "protocol"),
    [
        ("d1\tleft\tsang\t1\t2\tBEFORE\n", "d1\tleft\tsang\t1\tBEFORE\n", "matres-shape", "matres-2018"),
        ("d1\te1\tt0\tii\n", "d1\te1\tt0\tx\n", "tb-dense-shape", "tb-dense-2014"),
        ("65_66\t80\tPRECONDITION\n", "65_66 70\t80\tPRECONDITION\n", "esc-chains", "esc-2017"),
        ("65_66\t80\tPRECONDITION\n", "65_66\tPRECONDITION\n", "esc-shape", "esc-2017"),
        ("d1\tleft\tsang\t1\t2\tBEFORE\n", "d1\tleft\tsang\t1\t2\tBEFOR\n", "relation-label", "matres-2018"),
    ],
)
def test_tables_of_relations(tmp_path: Path, good: str, bad: str, code: str, protocol: str) -> None:
    assert karat.read(put(tmp_path / "gold.tab", good)).protocols == (protocol,)
    done = run("validate", put(tmp_path / "gold.tab", good + bad))
    assert "gold.tab, line 2" in done.out
    assert f"[{code}]" in done.out


ESC = """<Document doc_name="1_1ecb.xml">
<token t_id="1" sentence="0" number="0">Quake</token>
<token t_id="2" sentence="0" number="1">kills</token>
<token t_id="3" sentence="1" number="0">quake</token>
<Markables><ACTION_OCCURRENCE m_id="10"><token_anchor t_id="1"/></ACTION_OCCURRENCE>
<ACTION_OCCURRENCE m_id="11"><token_anchor t_id="2"/></ACTION_OCCURRENCE>
<ACTION_OCCURRENCE m_id="12"><token_anchor t_id="3"/></ACTION_OCCURRENCE>
<ACTION_OCCURRENCE m_id="90" instance_id="K"/></Markables>
<Relations>
<CROSS_DOC_COREF r_id="1" note="K"><source m_id="10"/><source m_id="12"/><target m_id="90"/></CROSS_DOC_COREF>
<PLOT_LINK r_id="2" relType="PRECONDITION"><source m_id="10"/><target m_id="11"/></PLOT_LINK>
<TLINK r_id="3" relType="BEFORE"><source m_id="10"/><target m_id="11"/></TLINK></Relations></Document>
"""
COREFERENCE = ESC[ESC.index("<CROSS") : ESC.index("<PLOT")]


def test_links_of_event_story_line_hold_between_clusters_of_gold(tmp_path: Path) -> None:
    gold = put(tmp_path / "gold" / "1_1ecb.xml.xml", ESC)
    assert karat.read(gold).protocols == ("esc-2017", "eci-2019")
    (document_,) = karat.read(gold)
    assert (document_.id, document_.links) == ("1_1ecb", (Link("PRECONDITION", "K", "11"),))
    both = ("score", str(tmp_path / "gold"), str(tmp_path / "system"), "-p", "esc-2017", "-f", "json")
    for table, f1 in (("1\t2\tPRECONDITION\n2\t3\tFALLING_ACTION\n", 1), ("", 0)):
        put(tmp_path / "system" / "1_1ecb.tab", table)
        assert json.loads(run(*both).out)["scores"]["relation.causal"]["micro"]["f1"] == f1


def test_event_story_line_is_told_from_ecb_by_its_links(tmp_path: Path) -> None:
    plain = ESC.replace(ESC[ESC.index("<PLOT") : ESC.index("<TLINK")], "")
    assert karat.read(put(tmp_path / "1_1ecb.xml", plain)).protocols == ("simple-cdec", "pure-cdec")
    put(tmp_path / "1_2ecb.xml", ESC)
    assert [len(document_.links) for document_ in karat.read(tmp_path)] == [0, 1]
    done = run("validate", put(tmp_path / "x" / "1_1ecb.xml", ESC.replace(' relType="PRECONDITION"', "")))
    assert "[esc-no-type]" in done.out
    assert "1_1ecb.xml, line 11:" in done.out


def test_coreference_of_ecb_for_event_story_line(tmp_path: Path) -> None:
    gold = put(tmp_path / "gold" / "1_1ecb.xml.xml", ESC.replace(COREFERENCE, ""))
    system = put(tmp_path / "system" / "1_1ecb.tab", "1\t2\tPRECONDITION\n2\t3\tFALLING_ACTION\n")
    ecb = put(tmp_path / "ecb" / "1" / "1_1ecb.xml", ESC[: ESC.index("<PLOT")] + "</Relations></Document>")
    both = ("score", gold, system, "-p", "esc-2017", "-f", "json")
    assert json.loads(run(*both).out)["scores"]["relation.causal"]["micro"]["precision"] == 0.5
    done = run(*both, "--set", f"clusters={tmp_path / 'ecb'}")
    assert json.loads(done.out)["scores"]["relation.causal"]["micro"]["f1"] == 1
    Path(ecb).rename(tmp_path / "ecb" / "other.xml")
    assert "[ecb-clusters-absent]" in run(*both[:-2], "--set", f"clusters={tmp_path / 'ecb'}").out
