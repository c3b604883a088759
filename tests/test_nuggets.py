"""Nuggets under tac-2017: worked examples, and the arithmetic of every reading by hand."""

from typing import Any

import pytest

from karat.api.scoring import Result, score
from karat.match.similarities import overlaps
from karat.model import Document, Mention
from karat.problems import KaratError
from karat.result import ItemCounts
from tests.corpora import corpus, mention


def run(gold: list[Mention], system: list[Mention], **options: Any) -> Result:
    sides = [corpus([Document("d", mentions=tuple(side))]) for side in (gold, system)]
    return score(*sides, protocol="tac-2017", measures=["nugget"], **options)


def test_discontinuous_nugget_of_the_paper() -> None:
    """Liu et al. 2015, example 2: "He carried out the assassination", gold `carried out` + `assassination`.

    He=0-2 carried=3-10 out=11-14 the=15-18 assassination=19-32. Gold is 3-14 and 19-32: 11 + 13 = 24 characters.
    The whole verb phrase 3-32 has 29, of which 24 are gold's: Dice = 2 * 24 / (24 + 29) = 48/53.
    """
    result = run([mention("g", (3, 14), (19, 32), type="Life.Die")], [mention("s", (3, 32), type="Life.Die")])
    assert result["nugget.type"].f1 == pytest.approx(48 / 53)


def test_a_split_nugget_is_found_once() -> None:
    """Section 2.5, System 1: `carried` (7) and `assassination` (13) for a gold nugget of 24 characters.

    Dice 2*7/31 and 2*13/37. One-to-one, the better one counts: TP = 26/37, P = TP/2, R = TP.
    """
    gold = [mention("g", (3, 14), (19, 32), type="Life.Die")]
    system = [mention("s1", (3, 10), type="Life.Die"), mention("s2", (19, 32), type="Life.Die")]
    spans = run(gold, system)["nugget.span"]
    assert (spans.precision, spans.recall) == pytest.approx((13 / 37, 26 / 37))


def test_a_mention_within_the_reach_of_another_need_not_overlap() -> None:
    """The long gold mention reaches over both of the system; the short one has ended before them."""
    long, short = ((0, 20),), ((1, 2),)
    assert overlaps([long, short], [((5, 6),), ((10, 12),)]) == {(0, 0): 1, (1, 0): 2}


def test_each_set_of_attributes_has_its_own_alignment() -> None:
    """Two types on one span, in the other order: the span alignment pairs by line, the type alignment by type."""
    gold = [mention("g1", (0, 4), type="A", realis="x"), mention("g2", (0, 4), type="B", realis="y")]
    system = [mention("s1", (0, 4), type="B", realis="x"), mention("s2", (0, 4), type="A", realis="y")]
    result = run(gold, system)
    assert [result[f"nugget.{name}"].f1 for name in ("span", "type", "realis")] == [1, 1, 1]
    assert result["nugget.type+realis"].recall == 0


def test_greedy_is_not_optimal_and_ties_go_by_line() -> None:
    """s1 (0-4) overlaps g1 (0-4) fully and g2 (0-3) by 2*3/7; s2 (1-5) overlaps g1 by 6/8 and g2 by 4/7.

    Greedy takes s1-g1 (1), then s2-g2 (4/7): TP = 11/7. With s1 and s2 the same, the first line wins.
    """
    result = run([mention("g1", (0, 4)), mention("g2", (0, 3))], [mention("s1", (0, 4)), mention("s2", (1, 5))])
    assert result["nugget.span"].recall == pytest.approx(11 / 14)
    tie = run(
        [mention("g", (0, 4), type="A")],
        [mention("s1", (0, 4), type="B"), mention("s2", (0, 4), type="A")],
        by=["type"],
    )
    assert tie["nugget.type"].recall == 1
    assert tie.by["type"]["A"]["nugget.span"].to_dict()["micro"]["counts"]["precision_den"] == 2


@pytest.mark.parametrize(
    ("gold", "system", "right"),
    [
        ("Life_Die", "life:DIE", True),
        ("生命_死亡", "生命死亡", True),
        ("生命_死亡", "生命_受伤", False),
        ("STRASSE", "Straße", True),
        ("NOT_ANNOTATED", "anything", True),
        ("anything", "NOT_ANNOTATED", False),
    ],
)
def test_canonical_values(gold: str, system: str, right: bool) -> None:
    result = run([mention("g", (0, 4), type=gold)], [mention("s", (0, 4), type=system)])
    assert result["nugget.type"].recall == right


def test_absent_equals_only_absent() -> None:
    gold = [mention("g1", (0, 4)), mention("g2", (10, 14), type="A"), mention("g3", (20, 24))]
    system = [mention("s1", (0, 4)), mention("s2", (10, 14)), mention("s3", (20, 24), type="A")]
    assert run(gold, system)["nugget.type"].recall == pytest.approx(1 / 3)


def test_every_combination_of_the_attributes_present() -> None:
    gold = [mention("g", (0, 4), type="A", realis="x", polarity="positive", tense="past", text="ignored", id="7")]
    wrong = [mention("s", (0, 4), type="A", realis="x", polarity="negative", tense="past")]
    assert list(run(gold, wrong).scores) == ["nugget.span", "nugget.type", "nugget.realis", "nugget.type+realis"]
    result = run(gold, wrong, settings={"attributes": "all"})
    assert list(result.scores)[:5] == ["nugget.span", "nugget.type", "nugget.realis", "nugget.polarity", "nugget.tense"]
    assert len(result.scores) == 16
    right = {id_ for id_, one in result.scores.items() if one.recall == 1}
    assert right == {id_ for id_ in result.scores if "polarity" not in id_}
    named = run(gold, wrong, settings={"attributes": "polarity,type"})
    assert list(named.scores) == ["nugget.span", "nugget.polarity", "nugget.type", "nugget.polarity+type"]


@pytest.mark.parametrize("protocol", ["tac-pilot", "liu-2015", "tac-2017", "exact-2013", "muc-5"])
def test_type_and_realis_are_scored_by_default(protocol: str) -> None:
    """As in the official scorers, however many attributes gold has."""
    extra = {f"x{number}": "1" for number in range(7)}
    both, neither = mention("g", (0, 4), type="A", realis="x", **extra), mention("g", (0, 4), **extra)
    for gold, attributes in ((both, {"type", "realis", "type+realis"}), (neither, set[str]())):
        sides = (corpus([Document("d", mentions=(gold,))]) for _ in range(2))
        result = score(*sides, protocol=protocol)
        scored = {id_.split(".")[-1] for id_ in result.scores if id_.startswith(("nugget.", "muc."))}
        assert scored - {"span", "all"} == (attributes - {"type+realis"} if protocol == "muc-5" else attributes)


@pytest.mark.parametrize(("protocol", "type_right"), [("tac-pilot", 0), ("liu-2015", 1), ("tac-2017", 1)])
def test_what_is_not_annotated_is_right(protocol: str, type_right: int) -> None:
    """specs, 3.3: in the pilot only the realis of gold may be NOT_ANNOTATED."""
    gold = mention("g", (0, 4), type="NOT_ANNOTATED", realis="NOT_ANNOTATED")
    system = mention("s", (0, 4), type="A", realis="Actual")
    result = score(*(corpus([Document("d", mentions=(one,))]) for one in (gold, system)), protocol=protocol)
    if protocol == "tac-pilot":
        found = [result[f"nugget.accuracy.{name}"].accuracy for name in ("type", "realis")]
    else:
        found = [result[f"nugget.{name}"].recall for name in ("type", "realis")]
    assert found == [type_right, 1]


def test_six_attributes_must_be_named() -> None:
    gold = [mention("g", (0, 4), a="1", b="1", c="1", d="1", e="1", f="1")]
    with pytest.raises(KaratError, match="6 attributes, 64 combinations"):
        run(gold, gold, settings={"attributes": "all"})
    assert len(run(gold, gold, settings={"attributes": ["a", "b"]}).scores) == 4


def test_only_events_are_scored_unless_asked() -> None:
    gold = [mention("g", (0, 4), type="A"), Mention("e", ((8, 12),), kind="entity", attributes={"name": "x"})]
    assert list(run(gold, gold).scores) == ["nugget.span", "nugget.type"]
    assert run(gold, gold)["nugget.span"].to_dict()["micro"]["counts"]["recall_den"] == 1
    everything = run(gold, gold, settings={"kinds": "all", "attributes": "all"})
    assert everything["nugget.name"].to_dict()["micro"]["counts"]["recall_den"] == 2


def test_rows_of_a_breakdown_sum_to_the_whole() -> None:
    """By type: A has one hit (Dice 6/7), B one miss; C one false alarm."""
    gold = [mention("g1", (0, 4), type="A"), mention("g2", (10, 14), type="B")]
    system = [mention("s1", (0, 3), type="a"), mention("s2", (20, 24), type="C")]
    result = run(gold, system, by=["type"])
    rows = {key: row["nugget.type"].to_dict()["micro"] for key, row in result.by["type"].items()}
    assert list(rows) == ["A", "B", "C"]
    assert rows["A"]["f1"] == pytest.approx(6 / 7)
    assert (rows["B"]["precision"], rows["B"]["recall"], rows["C"]["precision"], rows["C"]["recall"]) == (
        None,
        0,
        0,
        None,
    )
    whole = result["nugget.type"].to_dict()["micro"]["counts"]
    assert whole == {
        key: pytest.approx(sum(row["counts"][key] for row in rows.values())) for key in rows["A"]["counts"]
    }


def test_a_gold_mention_with_several_system_mentions_is_one_item_of_a_breakdown() -> None:
    gold = [mention("g", (0, 10), type="A")]
    system = [mention("s1", (0, 9), type="A"), mention("s2", (2, 8), type="B"), mention("s3", (4, 6), type="A")]
    sides = [corpus([Document("d", mentions=tuple(side))]) for side in (gold, system)]
    row = score(*sides, protocol="tac-pilot", by=["type"]).by["type"]["A"]["nugget.accuracy.type"]
    assert row.items == ItemCounts(gold=1, system=3, missed=0, spurious=0)


def test_averages() -> None:
    """Documents: a: 1 of 2 found, no false alarm; b: nothing found; c: no gold, two false alarms.

    Micro: TP 1, N_S 1 (c is in no average), N_G 3. Macro: P = (1 + 0) / 2, R = (1/2 + 0) / 2, F = harmonic mean.
    """
    found = mention("x", (0, 4))
    gold = [Document("a", mentions=(found, mention("y", (5, 9)))), Document("b", mentions=(found,)), Document("c")]
    system = [Document("a", mentions=(found,)), Document("c", mentions=(found, mention("y", (5, 9))))]
    result = score(corpus(gold), corpus(system), protocol="tac-2017", per_unit=True)
    spans = result["nugget.span"]
    assert (spans.precision, spans.recall) == pytest.approx((1, 1 / 3))
    assert spans.macro is not None
    assert (spans.macro.precision, spans.macro.recall, spans.macro.f1) == pytest.approx((1 / 2, 1 / 4, 1 / 3))
    assert result.units["c"]["nugget.span"].values == {"precision": 0.0, "recall": None, "f1": None}
    messages = [finding.message for finding in result.warnings if finding.code == "false-alarms-uncounted"]
    assert messages == ["2 system mentions ignored: their document has no gold mentions"]


def test_attributes_that_are_named_may_be_many() -> None:
    """`all` stops at five, where nobody chose them; six that are named make 2^6 rows."""
    names = [*"abcdef"]
    documents = [Document("d", mentions=(mention("m", (0, 4), **dict.fromkeys(names, "x")),))]
    result = score(corpus(documents), corpus(documents), protocol="tac-2017", settings={"attributes": names})
    assert sum(id_.startswith("nugget.") for id_ in result.scores) == 64
    with pytest.raises(KaratError, match="6 attributes"):
        score(corpus(documents), corpus(documents), protocol="tac-2017", settings={"attributes": "all"})


def test_a_product_with_an_undefined_factor_is_undefined() -> None:
    """Without system mentions span F1 is 0/0, whatever the accuracy, which is 0 of 1."""
    gold = [Document("d", mentions=(mention("m", (0, 4), type="A"),))]
    result = score(corpus(gold), corpus([Document("d")]), protocol="tac-pilot")
    assert result["nugget.accuracy.type"].micro.values["accuracy"] == 0
    assert result["nugget.product.type"].micro.values["score"] is None
    assert score(corpus(gold), corpus(gold), protocol="tac-pilot")["nugget.product.type"].micro.values["score"] == 1
