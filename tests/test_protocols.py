"""The nugget protocols beside tac-2017, worked by hand, and protocols of a user's own."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import fields

from karat import protocols
from karat.api.scoring import Result, score
from karat.families import MEASURES
from karat.model import Document, Mention
from karat.problems import KaratError, UsageError
from karat.protocols import PROTOCOLS
from tests.corpora import corpus, mention


def run(gold: list[Mention], system: list[Mention], protocol: str, **options: Any) -> Result:
    sides = [corpus([Document("d", mentions=tuple(side))]) for side in (gold, system)]
    return score(*sides, protocol=protocol, **options)


# Liu et al. 2015, section 2.5, in tokens: He=0 carried=1 out=2 the=3 assassination=4
GOLD = [mention("g", (1, 3), (4, 5), type="Life.Die", realis="Actual")]
SYSTEM_1 = [mention("s1", (1, 2), type="Life.Die"), mention("s2", (4, 5), type="Life.Die")]
SYSTEM_2 = [mention("s1", (1, 2), type="Business.MERGE"), mention("s2", (4, 5), type="Life.Die")]


@pytest.mark.parametrize(("system", "accuracy"), [(SYSTEM_1, 1.0), (SYSTEM_2, 0.5)])
def test_section_2_5_of_the_paper(system: list[Mention], accuracy: float) -> None:
    """Both systems omit "out": Dice = 2*1/(3+1) = 1/2 for each mention. TP = 1/2, FP = 2 - 1 = 1.

    P = (1/2) / (1/2 + 1) = 1/3, R = 1/2, F1 = 2/5. Of the two mentions that g holds, both or one have its type.
    The product of Figure 2 is F1 times the accuracy.
    """
    result = run(GOLD, system, "tac-pilot")
    spans = result["nugget.span"]
    assert (spans.precision, spans.recall, spans.f1) == pytest.approx((1 / 3, 1 / 2, 2 / 5))
    assert result["nugget.accuracy.type"].accuracy == accuracy
    assert result["nugget.accuracy.realis"].accuracy == 0
    assert result["nugget.product.type"].score == pytest.approx(2 / 5 * accuracy)
    assert result["nugget.product.type+realis"].score == 0
    assert result["nugget.product.type"].to_dict()["micro"].keys() == {"score"}


def test_algorithm_3_takes_a_set_of_attributes() -> None:
    """Section 2.5: s1 has the right type and s2 the right realis, so each attribute has 1/2, and both together 0.

    Details list both mentions, which share the credit of g; g2 is missed.
    """
    system = [mention("s1", (1, 3), type="Life.Die", realis="Other"), mention("s2", (4, 5), type="B", realis="Actual")]
    missed = mention("g2", (7, 8), type="Life.Die", realis="Actual")
    result = run([*GOLD, missed], system, "tac-pilot", measures=["nugget.accuracy"], details=True)
    assert {id_: row.accuracy for id_, row in result.scores.items()} == {
        "nugget.accuracy.type": 1 / 4,
        "nugget.accuracy.realis": 1 / 4,
        "nugget.accuracy.type+realis": 0,
    }
    listed = [record.to_dict() for record in result.outcomes["nugget.accuracy.type"]]
    found = [
        (one["gold"]["id"], one["system"] and one["system"]["id"], one["outcome"], one["counts"]) for one in listed
    ]
    assert found == [
        ("g", "s1", "match", {"correct": 0.5, "total": 0.5}),
        ("g", "s2", "incorrect", {"correct": 0, "total": 0.5}),
        ("g2", None, "miss", {"correct": 0, "total": 1}),
    ]


def test_a_wrong_mention_beside_a_right_one_is_spurious_for_an_accuracy() -> None:
    """Without s2, g has its type: removing it repairs the accuracy."""
    system = [mention("s1", (1, 3), type="Life.Die"), mention("s2", (4, 5), type="Business.MERGE")]
    result = run(GOLD, system, "tac-pilot", measures=["nugget.accuracy.type"], errors=True)
    assert result.errors is not None
    assert [(found.name, found.count, found.fixed) for found in result.errors.measures[0].found()] == [
        ("spurious", 1, {"accuracy": 1})
    ]


def test_algorithm_4_takes_the_best_mention_that_has_the_attributes() -> None:
    """s1 (tokens 1-2) has Dice 2*2/(3+2) = 4/5 with g and the wrong type; s2 has 1/2 and the right one.

    liu-2015: span TP 4/5, type TP 1/2, both over N_S = 2 and N_G = 1.
    """
    system = [mention("s1", (1, 3), type="Business.MERGE"), mention("s2", (4, 5), type="Life.Die")]
    result = run(GOLD, system, "liu-2015")
    assert (result["nugget.span"].precision, result["nugget.span"].recall) == pytest.approx((2 / 5, 4 / 5))
    assert (result["nugget.type"].precision, result["nugget.type"].recall) == pytest.approx((1 / 4, 1 / 2))


def test_attributes_are_compared_as_written_before_2016() -> None:
    system = [mention("s", (1, 3), (4, 5), type="life.die")]
    assert run(GOLD, system, "liu-2015")["nugget.type"].recall == 0
    assert run(GOLD, system, "tac-2017")["nugget.type"].recall == 1


def test_exact_2013() -> None:
    """Gold: three mentions. System: one exact with the right type, one exact with the wrong type, one off by one,
    one repeated. Spans: 2 right of 4 and of 3 (a gold mention is found once). Types: 1 of 4 and of 3.
    """
    gold = [mention("g1", (0, 4), type="A"), mention("g2", (6, 9), type="B"), mention("g3", (12, 15), type="C")]
    system = [
        mention("s1", (0, 4), type="A"),
        mention("s2", (6, 9), type="A"),
        mention("s3", (12, 16), type="C"),
        mention("s4", (0, 4), type="A"),
    ]
    result = run(gold, system, "exact-2013")
    assert (result["nugget.span"].precision, result["nugget.span"].recall) == (2 / 4, 2 / 3)
    assert (result["nugget.type"].precision, result["nugget.type"].recall) == (1 / 4, 1 / 3)


def test_muc_5() -> None:
    """A page of arithmetic. Slots are span (S), type (T), realis (R).

        gold                         system
        g1  0-10  A  Actual          s1  0-10  A  Other
        g2 20-30  B  Actual          s2 22-30  B  Actual
        g3 40-50  C  Other           s3 60-70  C  Other
        g4 80-90  D  Actual, optional

    s1 overlaps g1 only: S correct, T correct, R incorrect. s2 overlaps g2 only: S partial, T correct, R correct.
    s3 overlaps nothing: three spurious slots. g3: three missing slots. g4 is optional and not aligned: left out.

              COR PAR INC MIS SPU   POS ACT
        S      1   1   0   1   1     3   3
        T      2   0   0   1   1     3   3
        R      1   0   1   1   1     3   3
        all    4   1   1   3   3     9   9

        recall(S)    = (1 + 1/2) / 3 = 1/2          precision(S) the same
        recall(all)  = (4 + 1/2) / 9 = 1/2          precision(all) the same
        undergeneration(all) = 3/9                  overgeneration(all) = 3/9
        substitution(all)    = (1 + 1/2) / (4 + 1 + 1) = 1/4
        error(all)           = (1 + 1/2 + 3 + 3) / (4 + 1 + 1 + 3 + 3) = 7.5/12
    """
    gold = [
        mention("g1", (0, 10), type="A", realis="Actual"),
        mention("g2", (20, 30), type="B", realis="Actual"),
        mention("g3", (40, 50), type="C", realis="Other"),
        mention("g4", (80, 90), type="D", realis="Actual", optional=True),
    ]
    system = [
        mention("s1", (0, 10), type="A", realis="Other"),
        mention("s2", (22, 30), type="B", realis="Actual"),
        mention("s3", (60, 70), type="C", realis="Other"),
    ]
    result = run(gold, system, "muc-5")
    assert list(result.scores) == ["muc.span", "muc.type", "muc.realis", "muc.all"]
    expected = {"span": (1, 1, 0, 1, 1, 3, 3), "type": (2, 0, 0, 1, 1, 3, 3), "realis": (1, 0, 1, 1, 1, 3, 3)}
    for slot, counts in (expected | {"all": (4, 1, 1, 3, 3, 9, 9)}).items():
        assert tuple(result[f"muc.{slot}"].to_dict()["micro"]["counts"].values()) == counts
    assert (result["muc.span"].recall, result["muc.span"].precision) == (1 / 2, 1 / 2)
    found = result["muc.all"]
    assert (found.recall, found.precision, found.f1) == (1 / 2, 1 / 2, 1 / 2)
    assert (found.undergeneration, found.overgeneration, found.substitution) == (3 / 9, 3 / 9, 1 / 4)
    assert found.error == 7.5 / 12


def test_muc_5_aligns_for_all_slots_together() -> None:
    """s overlaps g1 exactly with a wrong type and realis (1 point), and g2 partly with both right (2.5 points).

    The alignment takes g2, so muc.span has a partial slot where an exact one was to be had.
    """
    gold = [mention("g1", (0, 10), type="A", realis="x"), mention("g2", (5, 15), type="B", realis="y")]
    result = run(gold, [mention("s", (0, 10), type="B", realis="y")], "muc-5")
    assert result["muc.span"].to_dict()["micro"]["counts"]["partial"] == 1
    assert result["muc.type"].to_dict()["micro"]["counts"]["correct"] == 1


def test_muc_5_ties() -> None:
    """More correct slots first: of two alignments with the same sum, the one with two exact spans.

    g1-s1 scores 1.5 (partial span, type right), g1-s2 1 (exact span, type wrong), g2-s2 0.5 (partial, type wrong),
    g2-s1 1 (exact span, type wrong): {g1-s1, g2-s2} = 2 with 1 correct, {g1-s2, g2-s1} = 2 with 2 correct.
    """
    gold = [mention("g1", (0, 10), type="A"), mention("g2", (5, 15), type="B")]
    system = [mention("s1", (5, 15), type="A"), mention("s2", (0, 10), type="C")]
    assert run(gold, system, "muc-5")["muc.span"].to_dict()["micro"]["counts"]["correct"] == 2
    # Line order last: two gold mentions that are alike; the system mention meets the first.
    twins = [mention("g1", (0, 10), type="A", name="first"), mention("g2", (0, 10), type="A", name="second")]
    by = run(twins, [mention("s", (0, 10), type="A")], "muc-5", by=["name"], settings={"attributes": "type"}).by["name"]
    assert (by["first"]["muc.all"].recall, by["second"]["muc.all"].recall) == (1, 0)


def test_optimal_and_many_to_one_in_a_protocol_of_ones_own(tmp_path: Path) -> None:
    """g1 0-4, g2 2-8; s1 0-6, s2 0-2. Dice: s1-g1 8/10, s1-g2 8/12, s2-g1 4/6.

    Greedy takes s1-g1 and leaves s2: TP 4/5. Optimal takes s1-g2 and s2-g1: TP 2/3 + 2/3 = 4/3.
    Many-to-one gives both to g1, whose best is 4/5.
    """
    text = PROTOCOLS.get("tac-2017").read_text(encoding="utf-8")
    gold = [mention("g1", (0, 4)), mention("g2", (2, 8))]
    system = [mention("s1", (0, 6)), mention("s2", (0, 2))]
    found = {}
    for method in ("greedy", "optimal", "many-to-one"):
        path = tmp_path / f"{method}.toml"
        path.write_text(text.replace('method = "greedy"', f'method = "{method}"', 1), encoding="utf-8")
        found[method] = run(gold, system, str(path))["nugget.span"].recall
    assert found == pytest.approx({"greedy": 2 / 5, "optimal": 2 / 3, "many-to-one": 2 / 5})


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('method = "greedy"', 'method = "gredy"', "Did you mean greedy"),
        ('similarity = "dice"', 'similarity = "dise"', "Did you mean dice"),
        ('family = "nugget"', 'family = "nuget"', "Did you mean nugget"),
        ('alignment = "nugget"', 'alignment = "nuget"', "Did you mean nugget"),
        ('name = "kinds"', 'name = "kind"', "Did you mean kinds"),
        ('keep = "{kinds}"', 'keep = "{kind}"', "Did you mean kinds"),
        ("macro = true", "makro = true", "makro"),
        ('unit = "document"', 'unit = "paragraph"', "paragraph"),
        ("[[measures]]", "[[measures]", "not TOML"),
    ],
)
def test_a_mistake_in_a_protocol_file_is_named(tmp_path: Path, old: str, new: str, says: str) -> None:
    path = tmp_path / "mine.toml"
    text = PROTOCOLS.get("tac-2017").read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(KaratError, match=says) as caught:
        protocols.resolve(str(path))
    assert caught.value.finding.file == str(path)


def test_settings_reach_the_signature_only_where_they_change_something(tmp_path: Path) -> None:
    gold = [mention("g", (0, 4), type="A")]
    plain = run(gold, gold, "tac-2017").signature
    assert run(gold, gold, "tac-2017", settings={"coref.mapping": "type"}).signature == plain
    types = tmp_path / "types.txt"
    types.write_text("A\n")
    set_ = run(gold, gold, "tac-2017", settings={"coref.threshold": 0.5, "types": str(types)}).signature
    assert "|coref.threshold=0.5|types=types.txt@sha256:" in set_
    types.write_text("A\nB\n")
    assert run(gold, gold, "tac-2017", settings={"coref.threshold": 0.5, "types": str(types)}).signature != set_


def test_a_setting_goes_to_the_protocols_that_know_it() -> None:
    one, two = protocols.resolve_all(["tac-2017", "muc-5"], {"coref.threshold": 0.5, "attributes": "type"})
    assert (one.values["coref.threshold"], one.values["attributes"], two.values["attributes"]) == (
        0.5,
        ["type"],
        ["type"],
    )
    with pytest.raises(UsageError, match=r"coref\.treshold"):
        protocols.resolve_all(["tac-2017", "muc-5"], {"coref.treshold": 0.5})


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            b'title = "x"\nunit = = 3\n',
            "line 2: this is not TOML: found 'unit = = 3' (column 8), expected such as name = \"value\"",
        ),
        (b'title = "x"\n\n# \xff\n', "line 3: this is not UTF-8"),
    ],
)
def test_a_file_that_is_not_toml_is_refused_with_its_line(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "own.toml"
    path.write_bytes(data)
    with pytest.raises(KaratError) as error:
        protocols.resolve(str(path))
    assert str(error.value.finding) == f"{path}, {message} [protocol-file]"


@pytest.mark.parametrize("name", MEASURES.names())
def test_a_default_is_a_value_that_a_protocol_could_set(name: str) -> None:
    for field in fields(MEASURES.get(name).parameters):
        if not field.required:
            default = field.default_factory() if field.default is msgspec.NODEFAULT else field.default
            assert msgspec.convert(msgspec.to_builtins(default), field.type) == default
