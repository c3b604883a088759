"""Event hierarchies: the paper's examples, the recorded curves, and the formulas written out naively."""

import json
from fractions import Fraction
from itertools import permutations
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from karat import read
from karat.api.scoring import Result, score
from karat.corpus.memory import MemoryCorpus
from karat.families import MEASURES
from karat.formats import forest
from karat.model import Document, Link, Mention
from karat.testing.checks import documents_in
from tests.conftest import shared_path
from tests.corpora import as_jsonl
from tests.running import run

FIGURE_2 = "({E6,E7}(E4)(E5)(E8(E9))(E11(E12))(E13(E14)))"
EXAMPLES = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def document(trees: str, id_: str = "d") -> Document:
    """A document from a line of a forest file."""
    data = f"{id_}\t{trees}".encode()
    (read,) = documents_in(data, forest.FORMAT)
    return read


def corpus(*trees: str) -> MemoryCorpus:
    return MemoryCorpus([document(one, f"d{number}") for number, one in enumerate(trees)])


def scored(gold: str, system: str, **parameters: Any) -> Result:
    return score(corpus(gold), corpus(system), protocol="araki-2014", settings=parameters)


def f1(result: Result, name: str) -> float | None:
    leaf = result[f"hierarchy.subevent.{name}"]
    return leaf.score if name in ("nstmp", "ceafp") else leaf.f1


# The paper


def test_systems_a_b_and_c_of_section_3_2_score_the_same() -> None:
    """E6 -> E8, E7 -> E8 and both are one link where E6 and E7 are one event."""

    def linked(*links: tuple[str, str]) -> MemoryCorpus:
        ids = [f"E{number}" for number in (4, 5, 6, 7, 8, 9, 11, 12, 13, 14)]
        mentions = tuple(Mention(id_, (), cluster="attack" if id_ in ("E6", "E7") else None) for id_ in ids)
        joined = tuple(Link("subevent", source, target) for source, target in links)
        return MemoryCorpus([Document("d0", mentions=mentions, links=joined)])

    gold = corpus(FIGURE_2)
    systems = [linked(("E6", "E8")), linked(("E7", "E8")), linked(("E6", "E8"), ("E7", "E8")), linked(("attack", "E8"))]
    reported = [score(gold, system, protocol="araki-2014").to_dict()["scores"] for system in systems]
    assert all(one == reported[0] for one in reported)
    assert reported[0]["hierarchy.subevent.mucp"]["micro"]["recall"] == 1 / 8


def test_siblings_put_system_a_of_section_3_3_before_system_b() -> None:
    """Both have two right links; only A's make siblings of two events."""
    a = scored(FIGURE_2, "({E6,E7}(E8)(E11)) (E4) (E5) (E9) (E12) (E13) (E14)")
    b = scored(FIGURE_2, "(E8(E9)) (E11(E12)) ({E6,E7}) (E4) (E5) (E13) (E14)")
    assert f1(a, "mucp") == f1(b, "mucp")
    assert a["hierarchy.subevent.siblings"].to_dict()["micro"] == {
        "precision": 1.0,
        "recall": 0.1,
        "f1": pytest.approx(2 / 11),
        "counts": {"precision_num": 1, "precision_den": 1, "recall_num": 1, "recall_den": 10},
    }
    assert f1(b, "siblings") == 0.0


def test_ceafp_does_not_stop_at_a_wrong_root() -> None:
    """A tree under another root keeps what hangs in its place; NSTMp loses all of it. A merged tree counts once."""
    moved = scored("(1(2(3)(4))(5))", "(9(2(3)(4))(5)) (1)")
    assert (f1(moved, "nstmp"), f1(moved, "ceafp")) == (1 / 6, 2 / 6)
    merged = scored("(1(2)(3)) (4(5))", "(1(2)(3)(4(5)))")
    assert (f1(merged, "nstmp"), f1(merged, "ceafp")) == (3 / 5, 3 / 5)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a_deepest_first", "a_reverse_preorder", "b_chain", "b_star"])
def test_recorded_curves(name: str) -> None:
    """Figure 4: each point of four curves, with the dummy root uncounted and counted."""
    curve = json.loads(shared_path("oracles", "partial", f"curve_{name}", "curve.json").read_text())
    assert len(curve["points"]) >= 20
    for point in curve["points"]:
        plain, counted = (scored(curve["gold"], point["response"], root=root) for root in ("uncounted", "counted"))
        found = f1(plain, "mucp"), f1(plain, "blancp"), f1(plain, "nstmp"), f1(counted, "nstmp")
        names = ("muc_p", "blanc_p", "nstm_p", "nstm_p_counting_root")
        assert found == pytest.approx([point[name] for name in names], abs=1e-12)


def test_the_edge_rule_of_gold_is_not_symmetric() -> None:
    """Table 1, System 3 against gold and gold against it: .4977 twice, or .4977 and .9955."""
    gold = "(1(2(6))(3(7))(4)(5)) (8(9(11)(12))(10)) (13(14)(15)(16)(17)(18)) (19(20(21))(22)) (23(24)(25)) (26(27))"
    gold += " (28(29)) " + " ".join(f"({number})" for number in range(30, 51))
    none = " ".join(f"({number})" for number in range(1, 51))
    no_links = MemoryCorpus([document(none, "d0")])
    assert f1(scored(gold, none), "blancp") == pytest.approx(0.4977, abs=5e-5)
    assert f1(scored(gold, none, edge="gold"), "blancp") == pytest.approx(0.4977, abs=5e-5)
    assert "hierarchy.subevent.blancp" not in score(no_links, corpus(gold), protocol="araki-2014").scores
    # Gold without any link has a row only if its file says so: one link in another document does.
    for edge, expected in (("symmetric", 0.4977), ("gold", 0.9955)):
        golds, systems = MemoryCorpus([document(none), document("(1(2))", "e")]), MemoryCorpus([document(gold)])
        result = score(golds, systems, protocol="araki-2014", settings={"edge": edge}, per_unit=True)
        assert result.units["d"]["hierarchy.subevent.blancp"].f1 == pytest.approx(expected, abs=5e-5)


def test_explain_tells_why_b3_and_ceaf_do_not_apply_and_what_is_wrong_with_mucp() -> None:
    reported = " ".join(run("explain", "hierarchy").out.split())
    assert "B3 and CEAF cannot be used unchanged" in reported
    assert "two disadvantages" in reported


# Parameters


def test_transitive_links() -> None:
    """(1(2)(3)) implies nothing; (1(2(3))) implies 1 -> 3. NSTMp counts chains: 3 common ones, 4 in gold."""
    result = scored("(1(2(3)))", "(1(2)(3))", transitive=True)
    mucp = result["hierarchy.subevent.mucp"]
    assert (mucp.precision, mucp.recall) == (1.0, 2 / 3)
    assert result["hierarchy.subevent.nstmp"].to_dict()["micro"]["counts"] == {"num": 3, "den": 4, "undefined": 0}
    assert f1(scored("(1(2(3(4))(5)))", "(1(2(3(4))(5)))", transitive=True), "nstmp") == 1.0


def test_twinless_mentions() -> None:
    """Gold has 3 alone, the system 9 alone; pairs of each side's own, without both, or without what links nowhere."""
    gold, system = "(1(2)(3))", "(1(2)) (9)"
    assert f1(scored(gold, system), "blancp") is None
    own = scored(gold, system, twinless="own-pairs")["hierarchy.subevent.blancp"].micro
    # Links: 1 of 2 and 1 of 1. Non-links: 2 -> 1 is the only one that both have, of 4 and of 5.
    assert own.to_dict()["counts"] == {
        "link_precision_num": 1,
        "link_precision_den": 1,
        "link_recall_num": 1,
        "link_recall_den": 2,
        "nonlink_precision_num": 1,
        "nonlink_precision_den": 5,
        "nonlink_recall_num": 1,
        "nonlink_recall_den": 4,
        "undefined": 0,
    }
    assert own.f1 == pytest.approx((2 / 3 + 2 / 9) / 2)
    assert f1(scored(gold, system, twinless="ignore"), "blancp") == 1.0
    dropped = scored(gold, system, twinless="drop-system")["hierarchy.subevent.blancp"].micro
    assert dropped.to_dict()["counts"]["nonlink_precision_den"] == 1
    linked = scored(gold, "(1(2)(9))", twinless="drop-system")["hierarchy.subevent.blancp"].micro
    assert linked.to_dict()["counts"]["link_precision_den"] == 2


def test_one_undefined_document_leaves_the_corpus_undefined_and_is_named() -> None:
    result = score(corpus("(1(2))", "(1(2))"), corpus("(1(2))", "(1(2)) (3)"), protocol="araki-2014", per_unit=True)
    assert result["hierarchy.subevent.blancp"].f1 is None
    assert result.units["d0"]["hierarchy.subevent.blancp"].f1 == 1.0
    (reported,) = [finding for finding in result.warnings if finding.code == "hierarchy-undefined"]
    assert reported.severity == "note"
    assert "document 'd1'" in reported.message
    assert "gold lacks 1 of the system's" in reported.message
    assert "--set twinless=own-pairs, ignore or drop-system gives a score" in reported.message


def test_documents_add() -> None:
    """NSTMp: the sum of matches over the sum of the larger sizes; a document of one side meets an empty forest."""
    result = score(corpus("(1(2))", "(1)(2)(3)"), corpus("(1(2)(3))"), protocol="araki-2014")
    assert result["hierarchy.subevent.nstmp"].to_dict()["micro"]["counts"] == {"num": 2, "den": 6, "undefined": 0}
    result = score(corpus("(1(2))"), corpus("(1(2))", "(1(2))"), protocol="araki-2014")
    assert result["hierarchy.subevent.mucp"].precision == 0.5


def test_each_kind_is_scored_for_itself(tmp_path: Path) -> None:
    gold, system = tmp_path / "gold.forest", tmp_path / "system.forest"
    gold.write_text("d\t(1(2)) (3)\n#kind member\nd\t(1(3))\n")
    system.write_text("d\t(1(2)) (3)\n#kind member\nd\t(3(1))\n")
    result = score(str(gold), str(system), protocol="araki-2014")
    assert result["hierarchy.subevent.mucp"].f1 == 1.0
    assert result["hierarchy.member.mucp"].f1 == 0.0
    assert result["coref.mention"].f1 == 1.0


def test_links_can_be_chosen_and_order_is_no_hierarchy(tmp_path: Path) -> None:
    mentions = '"mentions":[{"id":"a","span":[[0,1]]},{"id":"b","span":[[2,3]]}]'
    path = tmp_path / "gold.jsonl"
    path.write_text(
        f'{{"id":"d",{mentions},"links":[{{"kind":"after","from":"a","to":"b"}},{{"kind":"cause","from":"a","to":"b"}}]}}\n'
    )
    given = str(path), str(path)
    ids = [id_ for id_ in score(*given, protocol="araki-2014").scores if id_.startswith("hierarchy")]
    assert ids == [f"hierarchy.cause.{name}" for name in ("mucp", "siblings", "blancp", "nstmp", "ceafp")]
    after = score(*given, protocol="araki-2014", settings={"links": ["after"]})
    assert after["hierarchy.after.mucp"].f1 == 1.0
    done = run("score", *given, "-p", "araki-2014", "--set", "links=cuase")
    assert done.code == 1
    assert "Did you mean cause?" in done.err


# What is wrong with links


def reported(done: Any) -> list[tuple[str, str, int | None]]:
    return [(w["code"], w["severity"], w.get("line")) for w in json.loads(done.out)["warnings"]]


def test_two_parents_leave_no_tree_but_links(tmp_path: Path) -> None:
    path = tmp_path / "gold.forest"
    path.write_text("c\t(1)\nd\t(6(8)) (7(8))\n")
    done = run("score", str(path), str(path), "-p", "araki-2014", "-f", "json")
    scores = json.loads(done.out)["scores"]
    assert scores["hierarchy.subevent.mucp"]["micro"]["f1"] == 1.0
    assert scores["hierarchy.subevent.blancp"]["micro"]["f1"] == 1.0
    assert scores["hierarchy.subevent.nstmp"]["micro"]["score"] is None
    assert scores["hierarchy.subevent.ceafp"]["micro"]["score"] is None
    assert ("two-parents", "fault", 2) in reported(done)
    assert run("score", str(path), str(path), "-p", "araki-2014", "--strict").code == 1
    assert run("validate", str(path)).code == 1


def test_two_parents_in_tbf_are_a_fault_only_where_hierarchies_are_scored(tmp_path: Path) -> None:
    lines = ["#BeginOfDocument d", *(f"s\td\tE{n}\t{10 * n},{10 * n + 4}\tx\tA\tActual" for n in (1, 2, 3))]
    lines += ["@Subevent\tR1\tE1,E3", "@Subevent\tR2\tE2,E3", "#EndOfDocument", ""]
    path = tmp_path / "gold.tbf"
    path.write_text("\n".join(lines))
    for protocol, severity in (("araki-2014", "fault"), ("tac-2017", "note")):
        done = run("score", str(path), str(path), "-p", protocol, "-f", "json")
        assert ("two-parents", severity, 6) in reported(done)
    assert run("validate", str(path)).code == 0


def test_a_link_to_itself_a_cycle_and_an_unknown_mention(tmp_path: Path) -> None:
    path = tmp_path / "gold.jsonl"

    def linked(*ends: tuple[str, str]) -> Any:
        links = [{"kind": "part-of", "from": one, "to": other} for one, other in ends]
        mentions = [{"id": id_, "span": []} for id_ in "abc"]
        path.write_text('{"id":"c"}\n' + json.dumps({"id": "d", "mentions": mentions, "links": links}) + "\n")
        return run("score", str(path), str(path), "-p", "araki-2014", "-f", "json")

    assert ("link-inside-cluster", "note", 2) in reported(linked(("a", "b"), ("b", "b")))
    assert ("argument-unknown", "fault", 2) in reported(linked(("a", "b"), ("b", "x")))
    cycle = linked(("a", "b"), ("b", "c"), ("c", "a"))
    assert cycle.code == 1
    assert "gold.jsonl, line 2" in cycle.err
    assert "[link-cycle]" in cycle.err


def test_merged_and_split_events_are_counted_once() -> None:
    """MUCp does not show them: three events in one, and one in two; the note is the same for every kind and measure."""
    merging = scored("(1(2)(3)(4))", "(1({2,3,4}))")
    assert f1(merging, "mucp") == 1.0
    gold = corpus("(1(2)(3)(4))", "(1({2,3}))", "(1(2))")
    system = corpus("(1({2,3,4}))", "(1(2)(3))", "(1(2))")
    for measures in ((), ("hierarchy.subevent.mucp",), ("hierarchy.subevent.blancp",), ("hierarchy.subevent.ceafp",)):
        result = score(gold, system, protocol="araki-2014", measures=list(measures))
        assert [finding.message for finding in result.warnings if finding.code == "events-differ"] == [
            "gold events that the system merges with others: 3; gold events that the system splits: 1"
        ]
    same, mentions = (
        score(gold, gold, protocol="araki-2014"),
        score(gold, system, protocol="araki-2014", measures=["coref"]),
    )
    assert "events-differ" not in {finding.code for finding in (*same.warnings, *mentions.warnings)}


def linked(path: Path, kind: str, *ends: str) -> str:
    links = tuple(Link(kind, *end) for end in ends)
    document = Document("d", mentions=tuple(Mention(id_, ()) for id_ in "abcd"), links=links)
    path.write_bytes(as_jsonl(document))
    return str(path)


def test_an_implied_link_is_no_second_parent_if_implied_links_count(tmp_path: Path) -> None:
    """a -> c follows from a -> b -> c; d has two parents in any case."""
    gold = linked(tmp_path / "gold.jsonl", "subevent", "ab", "bc", "ac")
    system = linked(tmp_path / "system.jsonl", "subevent", "ab", "bc")
    both = linked(tmp_path / "both.jsonl", "subevent", "ab", "bc", "ac", "bd", "cd", "ad")
    mixed = linked(tmp_path / "mixed.jsonl", "subevent", "ac", "bc", "cd", "ad")
    transitive = ("-p", "araki-2014", "--set", "transitive=true")
    for one, other in ((gold, system), (system, gold), (both, both)):
        done = run("score", one, other, *transitive, "-f", "json")
        assert "two-parents" not in done.out
        scores = json.loads(done.out)["scores"]
        leaves = [scores[f"hierarchy.subevent.{name}"]["micro"] for name in ("mucp", "blancp", "nstmp", "ceafp")]
        assert [leaf.get("f1", leaf.get("score")) for leaf in leaves] == [1.0] * 4
        assert scores["hierarchy.subevent.siblings"]["micro"]["f1"] is None  # an implied link makes none
        assert run("validate", one, "--against", other, *transitive).code == 0
    for path, options in ((gold, transitive[:2]), (mixed, transitive)):
        done = run("score", path, path, *options, "-f", "json")
        assert ("two-parents", "fault", 1) in reported(done)
        assert json.loads(done.out)["scores"]["hierarchy.subevent.nstmp"]["micro"]["score"] is None
        assert run("validate", path, *options).code == 1
    shown = run("score", mixed, mixed, *transitive).out
    hint = "in gold (--set transitive=true ignores parents that other links imply) [hierarchy-undefined]"
    assert hint in run("score", gold, system, *transitive[:2]).out
    assert "--set transitive" not in shown + run("score", mixed, system, *transitive[:2]).out
    assert "'c' of document 'd' has 2 parents by subevent links: 'a' and 'b' [two-parents]\n" in shown


def test_siblings_are_undefined_if_neither_side_has_any() -> None:
    """MUCp stays 0 without links, as MUC; a side without siblings scores 0 against one that has some."""
    leaf = {"precision": None, "recall": None, "f1": None}
    result = scored("(1(2))", "(1(2))")
    assert result["hierarchy.subevent.siblings"].micro.values == leaf
    for gold, system in (("(1(2)(3))", "(1(2(3)))"), ("(1(2(3)))", "(1(2)(3))")):
        assert scored(gold, system)["hierarchy.subevent.siblings"].micro.values == dict.fromkeys(leaf, 0.0)
    both = corpus("(1(2))", "(1)(2)")
    unit = score(both, both, protocol="araki-2014", per_unit=True).units["d1"]
    assert unit["hierarchy.subevent.mucp"].values == dict.fromkeys(leaf, 0.0)
    assert unit["hierarchy.subevent.siblings"].values == leaf


def test_rows_are_grouped_by_kind(tmp_path: Path) -> None:
    path = tmp_path / "gold.forest"
    path.write_text("d\t(1(2)) (3)\n#kind member\nd\t(1(3))\n")
    ids = [id_ for id_ in score(str(path), str(path), protocol="araki-2014").scores if id_.startswith("hierarchy")]
    names = ("mucp", "siblings", "blancp", "nstmp", "ceafp")
    assert ids == [f"hierarchy.{kind}.{name}" for kind in ("member", "subevent") for name in names]


def tbf(path: Path, *relations: str) -> str:
    """Five mentions, and relations between them."""
    lines = ["#BeginOfDocument d", *(f"s\td\tE{n}\t{10 * n},{10 * n + 4}\tx\tA\tActual" for n in range(1, 6))]
    path.write_text("\n".join([*lines, *(line.replace("|", "\t") for line in relations), "#EndOfDocument", ""]))
    return str(path)


KNOWN = ("@Coreference|C|E1,E2", "@After|R1|E1,E3", "@Subevent|R2|E3,E4")


def test_tbf_reads_and_writes_every_relation_of_two_mentions(tmp_path: Path) -> None:
    gold = tbf(tmp_path / "gold.tbf", *KNOWN, "@Member|R3|E3,E5", "@Causes|R4|E1,E5", "@part-of|R5|E5,E4")
    system = tbf(tmp_path / "system.tbf", *KNOWN, "@Member|R3|E5,E3", "@member|R4|E3,E5")
    (document,) = read(gold)
    assert [link.kind for link in document.links] == ["after", "subevent", "member", "causes", "part-of"]
    result = score(gold, gold, protocol="araki-2014")
    assert [result[f"hierarchy.{kind}.mucp"].f1 for kind in ("causes", "member", "part-of", "subevent")] == [1.0] * 4
    assert "[link-cycle]" in run("score", gold, system, "-p", "araki-2014").err
    again = tmp_path / "again.tbf"
    assert run("convert", gold, str(again)).code == 0
    assert again.read_text().splitlines()[6:-1] == [
        *("@Coreference\tC\tE1,E2", "@After\tR1\tE1,E3", "@Subevent\tR2\tE3,E4"),
        *("@Member\tR3\tE3,E5", "@Causes\tR4\tE1,E5", "@Part-of\tR5\tE5,E4"),
    ]
    assert score(gold, str(again), protocol="araki-2014").gold.fingerprint == result.gold.fingerprint


def test_other_spellings_of_tac_relations_are_ignored(tmp_path: Path) -> None:
    """As by TAC's scorer; and a relation of three mentions is no link."""
    gold = tbf(tmp_path / "gold.tbf", *KNOWN)
    odd = ["@coreference|C|E4,E5", "@Coref|C|E4", "@after|R|E4,E5", "@SUBEVENT|R|E4,E5", "@Member|R|E1,E2,E3"]
    system = tbf(tmp_path / "system.tbf", *KNOWN, *odd)
    assert [document.links for document in read(system)] == [document.links for document in read(gold)]
    found = reported(run("score", gold, system, "-f", "json"))
    assert [line for code, _, line in found if code == "relation-unknown"] == [10, 11, 12, 13]
    assert ("relation-arguments", "note", 14) in found
    kinds = [Link(kind, "E1", "E3") for kind in ("Subevent", "coref", "AFTER", "a b")]
    (tmp_path / "a.jsonl").write_bytes(as_jsonl(replace(next(iter(read(gold))), links=tuple(kinds))))
    refused = run("convert", str(tmp_path / "a.jsonl"), str(tmp_path / "a.tbf"))
    assert [kind for kind in ("Subevent", "coref", "AFTER", "a b") if f"links of kind {kind}" in refused.err] == [
        *("Subevent", "coref", "AFTER")
    ]


def test_tac_reads_only_after_and_subevent(tmp_path: Path) -> None:
    plain = tbf(tmp_path / "plain.tbf", *KNOWN)
    more = tbf(tmp_path / "more.tbf", *KNOWN, "@Member|R3|E3,E5", "@Causes|R4|E4,E3", "@Causes|R5|E3,E4")
    results = [score(*pair, protocol="tac-2017") for pair in ((plain, plain), (plain, more), (more, plain))]
    assert results[0].scores == results[1].scores == results[2].scores
    assert results[0].gold.fingerprint == results[1].gold.fingerprint != results[2].gold.fingerprint


@pytest.mark.parametrize(
    ("options", "severity"),
    [
        (("-p", "tac-2017"), "note"),
        (("-p", "araki-2014"), "fatal"),
        (("-p", "araki-2014", "--set", "links=causes,subevent"), "fatal"),
        (("-p", "araki-2014", "--set", "links=subevent"), "note"),
    ],
    ids=" ".join,
)
def test_a_cycle_is_fatal_where_its_kind_is_read(options: tuple[str, ...], severity: str, tmp_path: Path) -> None:
    """The protocol, not the choice of measures, says what is read; `validate` agrees with `score`."""
    cycle = tbf(tmp_path / "gold.tbf", *KNOWN, "@Causes|R3|E3,E4", "@Causes|R4|E4,E3")
    plain = tbf(tmp_path / "plain.tbf", *KNOWN)
    for more in ((), ("-m", "coref.mention")):
        done = run("score", cycle, cycle, *options, *more, "-f", "json")
        assert done.code == (severity == "fatal")
        assert "[link-cycle]" in done.err if done.code else ("link-cycle", "note", 11) in reported(done)
    checked = run("validate", cycle, *options, "-f", "json")
    assert f'"link-cycle",\n          "severity": "{severity}"' in checked.out
    assert run("validate", cycle, "--against", cycle, *options).code == checked.code == (severity == "fatal")
    if "links=causes,subevent" not in options:
        assert (
            run("score", plain, cycle, *options).code == run("validate", cycle, "--against", plain, *options).code == 0
        )


def test_kinds_of_links_that_gold_lacks(tmp_path: Path) -> None:
    """They would match nothing without a word; the nearest kind of gold is named."""
    gold = tbf(tmp_path / "gold.tbf", "@Subevent|R1|E1,E2", "@Member|R2|E1,E3")
    (document,) = read(gold)
    kinds = {"Subevent": 2, "causes": 1}
    links = tuple(Link(kind, "E1", f"E{n + 2}") for kind, count in kinds.items() for n in range(count))
    (tmp_path / "system.jsonl").write_bytes(as_jsonl(replace(document, links=links)))
    expected = (
        "the system has links of kinds that gold lacks: 'Subevent' (2; did you mean subevent?), "
        "'causes' (1; known: member, subevent)"
    )
    system = str(tmp_path / "system.jsonl")
    for options in (("-p", "araki-2014"), ("-p", "tac-2017"), ("-p", "araki-2014", "--jobs", "2")):
        assert f"note: {system}: {expected} [link-kind-absent]" in run("score", gold, system, *options).out
    done = run("validate", system, "--against", gold)
    assert (done.code, f"{system}: note: {expected} [link-kind-absent]" in done.out) == (0, True)
    assert "link-kind-absent" not in run("score", gold, gold, "-p", "araki-2014").out
    assert "link-kind-absent" not in run("validate", system, "--against", tbf(tmp_path / "blind.tbf")).out


@pytest.mark.parametrize("transitive", [False, True])
def test_a_tree_2000_deep(transitive: bool) -> None:
    """No recursion; as deep as this there are more chains of events than a number can hold."""
    deep = "".join(f"({number}" for number in range(2000)) + ")" * 2000
    result = scored(deep, deep, transitive=transitive)
    assert f1(result, "mucp") == f1(result, "blancp") == f1(result, "ceafp") == 1.0
    assert f1(result, "nstmp") == (None if transitive else 1.0)


# Random forests, and the formulas as one would write them down


class Node(NamedTuple):
    """A node of a random forest, and the number of its parent."""

    mentions: frozenset[str]
    parent: int | None


Forest = list[Node]


@st.composite
def forests(draw: st.DrawFn, names: list[str], *, single: bool) -> Forest:
    """Some of the mentions, in some nodes, in some trees."""
    left = draw(st.permutations(names))[: draw(st.integers(0, len(names)))]
    nodes: Forest = []
    while left:
        size = 1 if single else draw(st.integers(1, min(2, len(left))))
        parent = draw(st.none() | st.integers(0, len(nodes) - 1)) if nodes else None
        nodes.append(Node(frozenset(left[:size]), parent))
        left = left[size:]
    return nodes


NAMES = [f"E{number}" for number in range(7)]
sides = st.booleans().flatmap(lambda single: st.tuples(*[forests(NAMES, single=single)] * 2))


def text(nodes: Forest, random: Random) -> str:
    """As a line, the children in any order."""

    def tree(number: int) -> str:
        below = [tree(other) for other, node in enumerate(nodes) if node.parent == number]
        random.shuffle(below)
        ids = sorted(nodes[number].mentions)
        random.shuffle(ids)
        return f"({ids[0] if len(ids) == 1 else '{' + ','.join(ids) + '}'}{''.join(below)})"

    trees = [tree(number) for number, node in enumerate(nodes) if node.parent is None]
    random.shuffle(trees)
    return " ".join(trees)


Pair = tuple[frozenset[str], frozenset[str]]


def links(nodes: Forest, transitive: bool) -> set[Pair]:
    found = set()
    for node in nodes:
        above = node.parent
        while above is not None:
            found.add((nodes[above].mentions, node.mentions))
            above = nodes[above].parent if transitive else None
    return found


def nonlinks(nodes: Forest, transitive: bool) -> set[Pair]:
    return set(permutations([node.mentions for node in nodes], 2)) - links(nodes, transitive)


def siblings(nodes: Forest) -> set[Pair]:
    children = [node for node in nodes if node.parent is not None]
    return {(a.mentions, b.mentions) for a in children for b in children if a is not b and a.parent == b.parent}


def common(own: set[Pair], other: set[Pair]) -> int:
    return sum(any(a & c and b & d for c, d in other) for a, b in own)


def stm(gold: Forest, system: Forest, *, transitive: bool) -> int:
    """Algorithm 1, with the best one-to-one matching of children in place of the double loop."""

    def below(nodes: Forest, number: int | None) -> list[int]:
        if number is None:
            return [other for other, node in enumerate(nodes) if node.parent is None]
        pairs = links(nodes, transitive)
        return [other for other, node in enumerate(nodes) if (nodes[number].mentions, node.mentions) in pairs]

    def value(g: int | None, s: int | None) -> int:
        values = {
            (a, b): value(a, b)
            for a in below(gold, g)
            for b in below(system, s)
            if gold[a].mentions & system[b].mentions
        }
        return 1 + best(values)

    return value(None, None) - 1


def best(values: dict[tuple[int, int], int]) -> int:
    """Every matching tried."""
    if not values:
        return 0
    a = min(values)[0]
    without = {pair: v for pair, v in values.items() if pair[0] != a}
    taken = [
        v + best({q: w for q, w in without.items() if q[1] != pair[1]}) for pair, v in values.items() if pair[0] == a
    ]
    return max([best(without), *taken])


def ceaf(gold: Forest, system: Forest) -> int:
    def root(nodes: Forest, number: int) -> int:
        while (above := nodes[number].parent) is not None:
            number = above
        return number

    pairs: dict[tuple[int, int], dict[tuple[int, int], int]] = {}
    for a, one in enumerate(gold):
        for b, other in enumerate(system):
            roots = one.parent is other.parent is None
            inner = one.parent is not None and other.parent is not None
            in_place = roots or (inner and gold[one.parent or 0].mentions & system[other.parent or 0].mentions)
            if one.mentions & other.mentions and in_place:
                pairs.setdefault((root(gold, a), root(system, b)), {})[a, b] = 1
    return best({trees: best(found) for trees, found in pairs.items()})


def ratios(numbers: tuple[int, int, int, int]) -> list[Fraction]:
    """Precision, recall, F1; nothing over nothing is 0."""
    p, r = (Fraction(num, den) if den else Fraction(0) for num, den in (numbers[:2], numbers[2:]))
    return [p, r, 2 * p * r / (p + r) if p + r else Fraction(0)]


def counted(gold: set[Pair], system: set[Pair]) -> tuple[int, int, int, int]:
    return common(system, gold), len(system), common(gold, system), len(gold)


@pytest.mark.slow
@EXAMPLES
@given(sides, st.booleans(), st.randoms(use_true_random=False))
def test_the_formulas_written_out(both: tuple[Forest, Forest], transitive: bool, random: Random) -> None:
    gold, system = both
    documents = [MemoryCorpus([document(text(side, random)), document("(1(2))", "e")]) for side in both]
    result = score(
        documents[0],
        documents[1],
        protocol="araki-2014",
        settings={"transitive": transitive, "twinless": "own-pairs"},
        per_unit=True,
    )
    unit = result.units["d"]

    def values(name: str) -> list[float | None]:
        found = unit[f"hierarchy.subevent.{name}"].values
        return [found[key] for key in ("precision", "recall", "f1")]

    linked = counted(links(gold, transitive), links(system, transitive))
    apart = counted(nonlinks(gold, transitive), nonlinks(system, transitive))
    assert values("mucp") == pytest.approx([float(x) for x in ratios(linked)])
    pairs = counted(siblings(gold), siblings(system))
    assert values("siblings") == pytest.approx([float(x) for x in ratios(pairs)] if any(pairs) else [None] * 3)
    classes = [ratios(one) for one in (linked, apart) if one[1] or one[3]]
    expected = [float(sum(column) / len(classes)) for column in zip(*classes, strict=True)] if classes else [None] * 3
    assert values("blancp") == pytest.approx(expected)
    larger = max(len(gold), len(system))
    nstmp, ceafp = (unit[f"hierarchy.subevent.{name}"].to_dict()["counts"] for name in ("nstmp", "ceafp"))
    if transitive:
        larger_self = max(stm(side, side, transitive=True) for side in both)
        assert nstmp == {"num": stm(gold, system, transitive=True), "den": larger_self, "undefined": 0}
    else:
        assert nstmp == {"num": stm(gold, system, transitive=False), "den": larger, "undefined": 0}
    assert ceafp == {"num": ceaf(gold, system), "den": larger, "undefined": 0}


@pytest.mark.slow
@EXAMPLES
@given(sides, st.booleans(), st.randoms(use_true_random=False))
def test_laws_of_random_forests(both: tuple[Forest, Forest], transitive: bool, random: Random) -> None:
    """Symmetric, bounded, blind to order and ids; gold against itself is 1 where there is anything."""

    def measured(gold: str, system: str) -> dict[str, dict[str, float | None]]:
        documents = [[document("(1(2))", "a"), document(one, "b")] for one in (gold, system)]
        random.shuffle(documents[1])
        result = score(
            MemoryCorpus(documents[0]),
            MemoryCorpus(documents[1]),
            protocol="araki-2014",
            settings={"transitive": transitive},
        )
        return {id_: dict(one.micro.values) for id_, one in result.scores.items()}

    gold, system = (text(side, random) for side in both)
    there, back = measured(gold, system), measured(system, gold)
    for id_, values in there.items():
        assert all(value is None or 0 <= value <= 1 for value in values.values())
        if "score" in values:
            assert values == back[id_]
        else:
            assert values == back[id_] | {"precision": back[id_]["recall"], "recall": back[id_]["precision"]}
    assert measured(text(both[0], random), text(both[1], random)) == there
    names = dict(zip(NAMES, random.sample([f"x{number}" for number in range(9)], len(NAMES)), strict=True))
    renamed = [[Node(frozenset(names[m] for m in node.mentions), node.parent) for node in side] for side in both]
    assert measured(*(text(side, random) for side in renamed)) == there
    own = measured(gold, gold)
    has_siblings = bool(siblings(both[0]))
    for id_, values in own.items():
        assert set(values.values()) == {1.0 if has_siblings or not id_.endswith("siblings") else None}


def test_the_family_promises_what_is_tested_here() -> None:
    assert {"perfect", "bounded", "order", "ids", "swap"} <= set(MEASURES.get("hierarchy").card.laws)


def test_outcomes_name_the_events_of_either_side() -> None:
    """Each side's own pairs: (1(2)) against (1(3)) has an event that only gold has, and one that the system has."""
    found = score(
        corpus("(1(2))"), corpus("(1(3))"), protocol="araki-2014", settings={"twinless": "own-pairs"}, details=True
    )
    listed = found.to_dict()["details"]["hierarchy.subevent.blancp"]
    ends = [(one["outcome"], one["gold"] is None, one["system"] is None) for one in listed]
    assert ("miss", False, True) in ends
    assert ("spurious", True, False) in ends
    assert all(one["document"] == "d0" for one in listed), listed


def test_the_root_that_is_counted_belongs_to_the_document() -> None:
    found = score(corpus("(1(2))"), corpus("(1(2))"), protocol="araki-2014", settings={"root": "counted"}, details=True)
    listed = found.to_dict()["details"]["hierarchy.subevent.nstmp"]
    assert [one["document"] for one in listed] == ["d0", "d0"]
    assert sum(one["counts"]["num"] for one in listed) == 3


def test_spurious_siblings_are_outcomes() -> None:
    found = score(corpus("(1(2)(3)(4))"), corpus("(1(2)(3))(4)"), protocol="araki-2014", details=True)
    back = score(corpus("(1(2)(3))(4)"), corpus("(1(2)(3)(4))"), protocol="araki-2014", details=True)
    for result, name in ((found, "miss"), (back, "spurious")):
        listed = result.to_dict()["details"]["hierarchy.subevent.siblings"]
        assert sorted(one["outcome"] for one in listed) == ["match", *[name] * 2]
