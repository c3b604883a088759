"""ACE values, worked by hand from Appendix A, under the plan's text and as NIST's scorer computes them."""

import re
from itertools import permutations
from math import fsum
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from karat import protocols
from karat.api.scoring import Result, score
from karat.families.ace.nist import as_bytes, forced
from karat.families.ace.plan import have_common_string, optimal
from karat.model import Cluster, Document, Link, Mention, Pair
from karat.plugin import Tables
from karat.problems import KaratError, UsageError
from karat.protocols import PROTOCOLS
from karat.testing.laws import tables
from tests.corpora import ace, ace_sides, corpus, entity_mention

PLAN, NIST = "ace-2005", "ace-2005-nist"


def run(gold: Document | list[Document], system: Document | list[Document], protocol: str, **options: Any) -> Result:
    sides = [corpus(side if isinstance(side, list) else [side]) for side in (gold, system)]
    return score(*sides, protocol=protocol, **options)


def changed(document: Document, id_: str, **attributes: str | None) -> Document:
    """The document with an element whose attributes are other ones."""

    def one(cluster: Cluster) -> Cluster:
        if not cluster.id.endswith(f"-{id_}"):
            return cluster
        merged = {**cluster.attributes, **attributes}
        return replace(cluster, attributes={name: value for name, value in merged.items() if value is not None})

    return replace(document, clusters=tuple(map(one, document.clusters)))


def mentioned(document: Document, *mentions: Mention, without: str = "") -> Document:
    """The document with other mentions of its entities."""
    kept = [mention for mention in document.mentions if mention.id != without]
    return replace(document, mentions=(*kept, *mentions))


def roles(document: Document, **new: str) -> Document:
    """The document with other roles: those of the arguments that end in these ids."""
    links = [
        replace(link, kind=new.get(link.target.split("-")[1], link.kind).replace("_", "-")) for link in document.links
    ]
    return replace(document, links=tuple(links))


def typed(document: Document, number: int, type_: str) -> Document:
    """The document with another type of one entity mention."""
    mentions = list(document.mentions)
    mentions[number] = replace(mentions[number], attributes={**mentions[number].attributes, "type": type_})
    return replace(document, mentions=tuple(mentions))


def plus(document: Document, kind: str, id_: str, begin: int, **attributes: str) -> Document:
    """The document with a value or a time of ten characters."""
    element = f"{document.id}-{id_}"
    mention = Mention(f"{element}-1", ((begin, begin + 10),), kind=kind, cluster=element)
    cluster = Cluster(element, kind, dict(attributes))
    return replace(document, mentions=(*document.mentions, mention), clusters=(*document.clusters, cluster))


def argued(document: Document, element: str, role: str, target: str) -> Document:
    """The document with one argument more, of the element and of its mention."""
    source = f"{document.id}-{element}"
    more = (
        Link(role, source, f"{document.id}-{target}"),
        Link(role, f"{source}-1", f"{document.id}-{target}-1"),
    )
    return replace(document, links=(*document.links, *more))


E = ace(entities="E")
NAM_NOM = mentioned(E, entity_mention("d-E-2", "d-E", 40, "NOM"))
TWO = ace(entities="E F")
FAMILY = ace(entities="E F", relations="R(E,F)")
WORKS = changed(FAMILY, "R", type="ORG-AFF", subtype="Employment")
DEATH = ace(entities="E F G", events="V(E,F)")
CRIME = plus(Document("d"), "value", "C", 10, type="Numeric", subtype="Money")
DATE = plus(Document("d"), "time", "T", 10, val="2003", mod="BEFORE")

WORKED: dict[str, tuple[Document, Document, str, float, float]] = {
    # what: gold, system, task, the plan's value, the scorer's
    "the same": (E, E, "edr", 1, 1),
    "nothing": (E, Document("d"), "edr", 0, None),  # type: ignore[dict-item]
    # a spurious NAM SPC entity costs 0.75 · 0.75
    "a false alarm": (E, ace(entities="E F@60"), "edr", 1 - 0.5625, 1 - 0.5625),
    # two of three: level 1 · (1 / 1.5); the other half lies on a reference mention and costs nothing
    "a split entity": (
        NAM_NOM,
        ace(entities="E F@40"),
        "edr",
        1 / 1.5,
        1 / 1.5,
    ),
    # min(1, 0.5) · (0.5 / 1.5)
    "the name is missed": (NAM_NOM, mentioned(NAM_NOM, without="d-E-1"), "edr", 1 / 6, 1 / 6),
    # level 1, MMV 0.5 · 0.9 for the NOM said to be a name, and 1
    "a wrong mention type": (NAM_NOM, typed(NAM_NOM, 1, "NAM"), "edr", 1.45 / 1.5, 1.45 / 1.5),
    # a spurious NOM costs 0.75 · 0.5 of 1 in the same entity
    "a mention too many": (E, mentioned(E, entity_mention("x", "d-E", 80, "NOM")), "edr", 1 - 0.375, 1 - 0.375),
    "a wrong type": (E, changed(E, "E", type="ORG"), "edr", 0.5, 0.5 * 0.9),
    "a wrong subtype": (E, changed(E, "E", subtype="Group"), "edr", 0.9, 0.9),
    "a wrong class": (E, changed(E, "E", **{"class": "GEN"}), "edr", 0, 0),
    "half of a head": (
        E,
        mentioned(E, entity_mention("x", "d-E", 10, "NAM", length=3), without="d-E-1"),
        "edr",
        1,
        1,
    ),
    "less than 0.30 of a head": (
        E,
        mentioned(E, entity_mention("x", "d-E", 10, "NAM", length=2), without="d-E-1"),
        "edr",
        -0.5625,
        -0.5625,
    ),
    "a metonymic mention": (
        E,
        mentioned(E, entity_mention("x", "d-E", 10, "NAM", metonymy_mention="TRUE"), without="d-E-1"),
        "edr",
        0.9,
        0.9,
    ),
    "other text in the head": (
        E,
        replace(E, mentions=tuple(replace(mention, text="y" * 10) for mention in E.mentions)),
        "edr",
        -0.5625,
        1,
    ),
    "a wrong value type": (CRIME, changed(CRIME, "C", type="Crime", subtype=None), "val", 0.45, 0.45),
    # type 0.1 and val 1 of 1.2; the scorer pays 0.5 for detection
    "a wrong modifier": (DATE, changed(DATE, "T", mod="AFTER"), "tern", 1.1 / 1.2, 1),
    "a wrong date": (DATE, changed(DATE, "T", val="2004"), "tern", 0.2 / 1.2, 1),
    "the same relation": (FAMILY, FAMILY, "rdr", 1, 1),
    "a wrong relation subtype": (FAMILY, changed(FAMILY, "R", subtype="Business"), "rdr", 0.7, 0.7),
    "a wrong relation type": (FAMILY, changed(FAMILY, "R", type="PHYS"), "rdr", 1, 1),
    "a wrong modality": (FAMILY, changed(FAMILY, "R", modality="Other"), "rdr", 0.75, 0.75),
    "swapped, symmetric": (FAMILY, roles(FAMILY, E="Arg_2", F="Arg_1"), "rdr", 1, 1),
    "swapped, asymmetric": (WORKS, roles(WORKS, E="Arg_2", F="Arg_1"), "rdr", 0, 0.7),
    # false alarms: W_A-FA is 0 for relations; the scorer takes 0.75 of all arguments
    "a spurious relation": (
        ace(entities="E F G", relations="R(E,F)"),
        ace(entities="E F G", relations="R(E,F) S(E,G)"),
        "rdr",
        1,
        1 - 0.75,
    ),
    "only one argument": (
        FAMILY,
        ace(entities="E F G@90", relations="R(E,G)"),
        "rdr",
        0,
        -0.75,
    ),
    # one of two arguments in another role: 1 + 0.75
    "a wrong role": (DEATH, roles(DEATH, F="Place"), "vdr", 1.75 / 2, 1.75 / 2),
    # an argument too many costs W_A-FA · 1
    "an argument too many": (DEATH, argued(DEATH, "V", "Place", "G"), "vdr", 0.75, 0.75),
    "a missing argument": (DEATH, ace(entities="E F G", events="V(E)"), "vdr", 0.5, 0.5),
    "a wrong event type": (DEATH, changed(DEATH, "V", type="Conflict", subtype="Attack"), "vdr", 0.45, 0.45),
    # -0.75 · 0.50 · 1, in the scorer -0.75 · 1
    "a spurious event": (
        DEATH,
        ace(entities="E F G", events="V(E,F) W(G)"),
        "vdr",
        1 - 0.375 / 2,
        1 - 0.75 / 2,
    ),
    # EMD: NOM against NAM is 0.5 · (0.5 · 0.9 / 1)
    "EMD": (E, typed(E, 0, "NOM"), "emd", 0.225, 0.225),
    "EMD, a double": (E, ace(entities="E F@10"), "emd", 1, 1),
    # RMD: any correspondence earns the whole argument
    "RMD": (
        mentioned(FAMILY, entity_mention("d-E-2", "d-E", 90, "NAM")),
        FAMILY,
        "rmd",
        1,
        1,
    ),
    "RMD, a pronoun": (FAMILY, typed(FAMILY, 0, "PRO"), "rmd", 1, 1),
    # of a reference between a NAM (1) and a PRO (0.1), the first is found: by number 1/2, by value 1/1.1
    "VMD": (
        typed(DEATH, 1, "PRO"),
        typed(ace(entities="E F G", events="V(E)"), 1, "PRO"),
        "vmd",
        1 / 2,
        1 / 1.1,
    ),
    "VMD, an argument too many": (DEATH, argued(DEATH, "V", "Place", "G"), "vmd", 0.75, 1),
}


@pytest.mark.parametrize("what", WORKED)
def test_worked(what: str) -> None:
    gold, system, task, plan, nist = WORKED[what]
    assert run(gold, system, PLAN)[f"ace.{task}"].value == pytest.approx(plan, abs=1e-12)
    found = run(gold, system, NIST).scores.get(f"ace.{task}")
    assert (found and found.value) == pytest.approx(nist, abs=1e-6)


def test_counts_and_costs() -> None:
    """Of three entities one is right, one has a wrong subtype, one is missed; one is invented: 3 - 1 - 0.1 - 0.5625."""
    gold = ace(entities="E F G")
    system = changed(ace(entities="E F H@90"), "F", subtype="Group")
    leaf = run(gold, system, PLAN)["ace.edr"].to_dict()["micro"]
    assert leaf.pop("counts") == {
        **{"reference": 3, "correct": 1, "error": 1, "miss": 1, "false_alarm": 1},
        **{"reference_value": 3, "miss_cost": 1, "false_alarm_cost": 0.5625, "error_cost": pytest.approx(0.1)},
    }
    assert leaf == {
        "value": pytest.approx((3 - 1 - 0.1 - 0.5625) / 3),
        **{"precision": pytest.approx(1 / 3), "recall": pytest.approx(1 / 3), "f1": pytest.approx(1 / 3)},
        "value_precision": pytest.approx(1.9 / 2.5625),
        "value_recall": pytest.approx(1.9 / 3),
        "value_f1": pytest.approx(2 * 1.9 / (2.5625 + 3)),
    }


def test_weighting_by_mentions() -> None:
    """Mentions_Value is Σ MMV: 0.5 of 1.5 where the name is missed."""
    missed = mentioned(NAM_NOM, without="d-E-1")
    assert run(NAM_NOM, missed, PLAN, settings={"weighting": "mention"})["ace.edr"].value == pytest.approx(1 / 3)


def test_sets_of_parameters() -> None:
    """The scorer's sets in either protocol: text match, and the weights of TERN."""
    texts, dates = WORKED["other text in the head"][:2], WORKED["a wrong date"][:2]
    for protocol, absent in ((PLAN, 0.0), (NIST, 0.1)):
        for name, text, date in (
            ("DEFAULT", -0.5625, (0.2 + absent) / (1.2 + absent)),
            ("2005+TERN", 1, (0.2 + absent) / (1.2 + absent)),
            ("2005-TERN", 1, 1),
        ):
            chosen = {"parameters": name}
            assert run(*texts, protocol, settings=chosen)["ace.edr"].value == pytest.approx(text)
            assert run(*dates, protocol, settings=chosen)["ace.tern"].value == pytest.approx(date)


# Conditions: pairs of events that share an argument (or not) and an extent (or not).

APART = replace(
    ace(entities="E F", events="V(E)"),
    mentions=tuple(
        replace(mention, span=((300, 310),)) if mention.kind == "event" else mention
        for mention in ace(entities="E F", events="V(E)").mentions
    ),
)
OTHER = changed(ace(entities="E F", events="V(F)"), "V", type="Conflict")  # mapping it is better than an alarm
GOLD = ace(entities="E F", events="V(E)")
BOTH = ace(entities="E F", events="V(E,F)")


@pytest.mark.parametrize(
    ("mapping", "same", "apart", "other", "part"),
    [
        # the same event; the argument but not the extent; the extent but not the argument; one argument of two
        ("arguments", True, True, False, True),
        ("extents", True, False, True, True),
        ("both", True, False, False, True),
        ("either", True, True, True, True),
        ("all", True, True, False, False),
        ("all+extents", True, False, False, False),
    ],
)
def test_tables_15_and_18(mapping: str, same: bool, apart: bool, other: bool, part: bool) -> None:
    for protocol in (PLAN, NIST):
        for gold, system, wanted in (
            (GOLD, GOLD, same),
            (GOLD, APART, apart),
            (GOLD, OTHER, other),
            (BOTH, GOLD, part),
        ):
            counts = run(gold, system, protocol, settings={"mapping": mapping})["ace.vdr"].to_dict()["micro"]["counts"]
            assert counts["miss"] == (not wanted), (protocol, mapping, system.id)


@pytest.mark.parametrize(("least", "value"), [("both", 0), ("1", 0.5), ("0", 0.5)])
def test_table_17_arg_1_and_arg_2(least: str, value: float) -> None:
    system = ace(entities="E F G@90", relations="R(E,G)")
    assert run(FAMILY, system, PLAN, settings={"relation_arguments": least})["ace.rdr"].value == value


def test_tables_16_and_19_mapped() -> None:
    """Two system entities lie on E; E is mapped to the one that is worth more, and V has the other."""
    gold = mentioned(GOLD, entity_mention("d-E-2", "d-E", 60, "NAM"), entity_mention("d-E-3", "d-E", 80, "NAM"))
    system = ace(entities="E F G@60", events="V(G)")
    system = mentioned(system, entity_mention("d-E-3", "d-E", 80, "NAM"))
    assert run(gold, system, PLAN)["ace.vdr"].value == pytest.approx(1 / 3 - 0.5 * (1 - 1 / 3))
    mapped = run(gold, system, PLAN, settings={"argument_scoring": "mapped"})
    assert mapped["ace.vdr"].value == pytest.approx(-0.375)
    assert mapped["ace.vmd"].value == pytest.approx(-0.375)
    assert run(gold, system, PLAN)["ace.vmd"].value == 1


def also_named(document: Document, *mentions: str) -> Document:
    """The event mention with more mentions in the role Person."""
    more = tuple(Link("Person", "d-V-1", mention) for mention in mentions)
    return replace(document, links=(*document.links, *more))


def test_two_mentions_of_one_element_are_two_arguments() -> None:
    """In VMD gold against itself is worth 1, and a repeated mention is one argument, on either side (reading 17)."""
    again = mentioned(GOLD, entity_mention("d-E-2", "d-E", 60, "NAM"))
    twice, repeated = also_named(again, "d-E-2"), also_named(again, "d-E-1")
    split = replace(twice, mentions=(*GOLD.mentions, entity_mention("d-E-2", "d-F", 60, "NAM")))
    for gold, system, reference, value in (
        (twice, twice, 2, 1),
        (twice, split, 2, 1),  # coreference does not matter
        (twice, again, 2, 1 / 2),
        (again, twice, 1, 1 - 0.5),  # one too many costs W_A-FA
        (again, repeated, 1, 1),
        (repeated, again, 1, 1),
    ):
        result = run(gold, system, PLAN)["ace.vmd"]
        assert result.to_dict()["micro"]["counts"]["reference_value"] == reference
        assert result.value == value
    scorer = run(twice, twice, NIST)["ace.vmd"]
    assert scorer.to_dict()["micro"]["counts"]["reference_value"] == pytest.approx(1)


def test_both_arguments_need_one_mapping() -> None:
    """Arg-1 and Arg-2 of the system both correspond to E alone: no one-to-one mapping has both."""
    system = ace(entities="E F", relations="R(E,E)")
    assert run(FAMILY, system, PLAN)["ace.rdr"].value == 0
    assert run(FAMILY, system, PLAN, settings={"relation_arguments": "1"})["ace.rdr"].value == 0.5


def test_events_with_many_arguments() -> None:
    """Eighty arguments in as many roles, each of which can be any other: mapped without a recursion, and soon."""
    many = DEATH
    for number in range(80):
        many = argued(many, "V", f"Role-{number}", "E")
    for mapping in ("arguments", "all"):
        assert run(many, many, PLAN, settings={"mapping": mapping})["ace.vdr"].value == pytest.approx(1)


def test_an_omitted_task_is_reported_with_the_reason() -> None:
    chosen = {"averaging": "geometric", "mapping": "all"}
    lacking = replace(FAMILY, clusters=FAMILY.clusters[:1], mentions=FAMILY.mentions[:1], links=())
    for gold, system, protocol, options, reason in (
        (FAMILY, FAMILY, PLAN, {"settings": chosen}, "a product of arguments is allowed where W_A-FA is 0"),
        (FAMILY, lacking, NIST, {}, "gold has no events"),
        (FAMILY, lacking, NIST, {}, "the system has no relations"),
    ):
        result = run(gold, system, protocol, **options)
        (finding,) = [f for f in result.warnings if f.code == "row-absent"]
        (part,) = [part for part in finding.message.split("; ") if reason in part]
        rows = part.partition(" are not scored")[0].split(", ")
        assert len(rows) == 2
        assert not set(rows) & result.scores.keys()
        with pytest.raises(KaratError, match=re.escape(f"does not score {rows[0]} here: {reason}")):
            run(gold, system, protocol, measures=rows[:1], **options)
    assert not [f for f in run(FAMILY, lacking, NIST, measures=["ace.edr"]).warnings if f.code == "row-absent"]


def test_what_cannot_be_mapped_is_noted_with_its_number() -> None:
    """An event without arguments shares none (Table 18); NIST's scorer maps it by its extent."""
    bare = ace(entities="E", events="V()")

    def noted(protocol: str, **settings: str) -> list[str]:
        found = run(bare, bare, protocol, settings=settings).warnings
        return [finding.message for finding in found if finding.code == "items-unmatchable"]

    parts = [
        f"ace.{task}: {side} events without arguments (1)" for task in ("vdr", "vmd") for side in ("gold", "system")
    ]
    assert noted(PLAN) == [f"some items cannot be matched: {'; '.join(parts)}"]
    assert noted(PLAN, mapping="extents") == noted(PLAN, mapping="either") == noted(NIST) == []
    assert not [f for f in run(FAMILY, FAMILY, PLAN).warnings if f.code == "items-unmatchable"]


def test_a_task_without_reference_items_is_worded_alike() -> None:
    gold = ace(entities="E")
    for protocol in (PLAN, NIST):
        (message,) = [finding.message for finding in run(gold, gold, protocol).warnings if finding.code == "row-absent"]
        assert message.startswith("ace.val is not scored: gold has no values; ")


def test_geometric_averaging() -> None:
    """The product of arguments: 1 · 0.5 for a NAM and a NOM; one that is missing makes it nothing."""
    chosen = {"averaging": "geometric", "mapping": "all"}
    gold = typed(FAMILY, 1, "NOM")
    assert run(gold, gold, PLAN, settings=chosen)["ace.rdr"].to_dict()["micro"]["counts"]["reference_value"] == 0.5
    split = mentioned(gold, entity_mention("x", "d-E", 80, "NAM"))
    result = run(split, gold, PLAN, settings=chosen)
    assert result["ace.rdr"].value == pytest.approx(0.5)
    assert "ace.vdr" not in result.scores
    with pytest.raises(UsageError, match="geometric"):
        run(gold, gold, PLAN, settings={"averaging": "geometric"})
    with pytest.raises(UsageError, match="not a value it takes"):
        run(gold, gold, NIST, settings={"averaging": "geometric"})


OWN = PROTOCOLS.get(PLAN).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("W_err_role = 0.75", "W_err_rol = 0.75", "the field 'W_err_rol' is not known in RDR"),
        ("W_FA = 0.75", "W_FA = nan", "nan is not a number that a protocol can use"),
        ("W_FA = 0.75", "W_FA = -0.75", "EDR.W_FA must be at least 0.0"),
        ("type = 0.50, anchor_dir", "type = -0.50, anchor_dir", "a value of TERN.AttrValue must be at least 0.0"),
        ('sets."2005-TERN".TERN', 'sets."2005-TERN".TIMEX', "changes 'TIMEX', which is not one of EDR"),
        ('reading = "plan"', 'reading = "ours"', "there is no reading 'ours'; there are plan and nist"),
        ('reading = "plan"\n', "", "the field 'reading' is missing"),
        ('default = "DEFAULT"\nchoices = ["', 'default = "MINE"\nchoices = ["MINE", "', "no set of parameters 'MINE'"),
    ],
)
def test_a_protocol_of_ones_own_is_checked(tmp_path: Path, old: str, new: str, says: str) -> None:
    assert old in OWN
    (tmp_path / "own.toml").write_text(OWN.replace(old, new), encoding="utf-8")
    with pytest.raises(KaratError, match=re.escape(says)):
        run(E, E, str(tmp_path / "own.toml"))


def test_the_product_of_arguments_wants_no_false_alarms_of_arguments(tmp_path: Path) -> None:
    """W_A-FA must be 0 (Appendix A): then events have a product, too, and else relations have none."""
    chosen = {"averaging": "geometric", "mapping": "all"}
    for old, new, task in (("0.50", "0.00", "vdr"), ("0.00", "0.50", "")):
        (tmp_path / "own.toml").write_text(OWN.replace(f"W_A_FA = {old}", f"W_A_FA = {new}"), encoding="utf-8")
        result = run(DEATH, DEATH, str(tmp_path / "own.toml"), settings=chosen)
        assert ("ace.rdr" in result.scores, "ace.vdr" in result.scores) == (bool(task), bool(task))


def test_a_kind_that_one_side_lacks() -> None:
    """The plan scores it; the scorer has no row, and what only the system has is worth nothing as an argument."""
    gold = ace(entities="E", events="V(E)")
    system = argued(plus(gold, "time", "T", 90, val="2003"), "V", "Time-Within", "T")
    assert run(gold, system, PLAN)["ace.vdr"].value == pytest.approx(1 - 0.5 * 1.1)
    assert run(gold, system, PLAN)["ace.tern"].value is None
    result = run(gold, system, NIST)
    assert result["ace.vdr"].value == pytest.approx(1)
    assert sorted(result.scores) == ["ace.edr", "ace.emd", "ace.vdr", "ace.vmd"]
    assert run(gold, Document("d"), PLAN)["ace.vdr"].value == 0


def test_forced_assignment() -> None:
    """One reference against two bad tokens: the scorer takes one at any price, the optimum none."""
    assert forced({(0, 0): (-3, 1.0), (0, 1): (-2, 1.0)}) == [(0, 1)]
    assert optimal({(0, 0): (-3, 1.0), (0, 1): (-2, 1.0)}) == []
    # Gains are whole numbers of a fine unit: cells that are no candidates cost a million-millionth of the largest.
    full = {(row, column): (-(10**15), 0.0) for row in range(2) for column in range(2)}
    assert len(forced(full)) == 1
    assert forced({(0, 0): (-(10**15), 0.0), (1, 1): (2 * 10**15, 0.0)}) == [(1, 1)]


gains = st.dictionaries(
    st.tuples(st.integers(0, 4), st.integers(0, 4)),
    st.tuples(st.sampled_from([-10, 0, 1, 3, 10, 11]), st.sampled_from([0.0, 0.5, 1.0])),
    max_size=12,
)


@settings(max_examples=150, deadline=None)
@given(gains)
def test_optimal_is_the_best_of_all(found: dict[tuple[int, int], tuple[int, float]]) -> None:
    """By gain, then the number of pairs, then overlap: against every mapping there is."""

    def key(chosen: list[tuple[int, int]]) -> tuple[int, int, float]:
        return sum(found[pair][0] for pair in chosen), len(chosen), fsum(found[pair][1] for pair in chosen)

    usable = {pair for pair, (gain, _) in found.items() if gain >= 0}
    best = max(key([pair for pair in enumerate(columns) if pair in usable]) for columns in permutations(range(5)))
    assert key(optimal(found)) == best


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(ace_sides())
@pytest.mark.slow
def test_the_mapping_is_a_global_optimum(both: tuple[list[Document], list[Document]]) -> None:
    """No one-to-one mapping of elements is worth more than the one that was found."""
    for measure, table in tables(protocols.resolve(PLAN), both):
        alarms = fsum(table.unmapped.values())
        golds, systems = list(table.gold)[:5], list(table.system)
        if len(table.gold) > 5 or len(systems) > 5:
            continue
        options = [*systems, *[None] * len(golds)]
        values = table.pairs
        best = max(
            fsum(values[g, s] - table.unmapped[s] for g, s in zip(golds, chosen, strict=True) if (g, s) in values)
            for chosen in set(permutations(options, len(golds)))
        )
        counts = measure.count(table)
        found = counts.reference_value - counts.miss_cost - counts.error_cost - counts.false_alarm_cost
        assert found == pytest.approx(best + alarms)


# Text match (Table 12): the longest common run over the longer text.


@settings(max_examples=200, deadline=None)
@given(st.text("abc", max_size=12), st.text("abc", max_size=12), st.sampled_from([0.1, 0.3, 0.5, 1.0]))
def test_have_common_string(one: str, other: str, least: float) -> None:
    if not one or not other:
        return
    runs = [one[i:j] for i in range(len(one)) for j in range(i + 1, len(one) + 1) if one[i:j] in other]
    longest = max(map(len, runs), default=0)
    assert have_common_string(one, other, least) == (longest / max(len(one), len(other)) >= least)


def test_text_match_as_the_scorer_does() -> None:
    assert as_bytes("U.S. & co", "us") == (b"USAMPCO", b"US")
    assert as_bytes("Zoë!", "zoe")[0] == b"ZO" + "ë".encode() + b"!"


@pytest.mark.parametrize(("gold", "system", "value"), [("中国政府", "中国", 1), ("中国政府", "美国总统", -0.5625)])
def test_characters_are_code_points(gold: str, system: str, value: float) -> None:
    """No tokens, no bytes: two of four characters are half, one of four is too little."""
    ours, theirs = (
        replace(E, mentions=tuple(replace(mention, text=text) for mention in E.mentions)) for text in (gold, system)
    )
    assert run(ours, theirs, PLAN)["ace.edr"].value == value


# Processing, and the diagnostic conditions.


def test_an_element_in_two_documents() -> None:
    """Refused document by document; across documents its values are summed, with the level of all its mentions."""
    first = E
    second = replace(typed(E, 0, "NOM"), id="e", mentions=(replace(typed(E, 0, "NOM").mentions[0], id="e-E-1"),))
    with pytest.raises(KaratError, match=r"entity 'd-E' of document 'e' is also in document 'd'"):
        run([first, second], [first, second], PLAN)
    chosen = {"processing": "cross-document"}
    whole = run([first, second], [first, second], PLAN, settings=chosen)
    assert whole.unit == "corpus"
    assert whole["ace.edr"].to_dict()["micro"]["counts"]["reference_value"] == 2  # a NAM-level token in two documents
    half = run([first, second], [first, Document("e")], PLAN, settings=chosen)
    assert half["ace.edr"].value == 0.5
    # the system's only mention is a NOM: level 0.5 in the one document where it is
    other = run([first, second], [Document("d"), second], PLAN, settings=chosen)
    assert other["ace.edr"].value == 0.25


def test_relations_across_documents_are_worth_the_documents_that_mention_them() -> None:
    again = tuple(replace(mention, id=f"e{mention.id}") for mention in FAMILY.mentions)
    links = tuple(link for link in FAMILY.links if link.source == "d-R")
    documents = [FAMILY, replace(FAMILY, id="e", mentions=again, links=links)]
    result = run(documents, documents, PLAN, settings={"processing": "cross-document"})
    assert result["ace.rdr"].to_dict()["micro"]["counts"]["reference_value"] == 4
    assert result["ace.rdr"].value == 1


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(ace_sides())
def test_without_shared_elements_processing_changes_no_value(both: tuple[list[Document], list[Document]]) -> None:
    for protocol in (PLAN, NIST):
        there = run(*both, protocol).scores
        across = run(*both, protocol, settings={"processing": "cross-document"}).scores
        assert {id_: one.value for id_, one in there.items()} == pytest.approx(
            {id_: one.value for id_, one in across.items()}
        )


def test_given_mentions_must_be_the_reference_s() -> None:
    regrouped = replace(TWO, mentions=tuple(replace(mention, cluster="d-E") for mention in TWO.mentions))
    assert run(TWO, regrouped, PLAN, settings={"given": "mentions"})["ace.edr"].value is not None
    for system in (E, typed(TWO, 0, "NOM"), ace(entities="E F G")):
        with pytest.raises(KaratError, match="given mentions differ"):
            run(TWO, system, PLAN, settings={"given": "mentions"})


def test_given_elements_must_be_the_reference_s() -> None:
    other = ace(entities="E F", relations="R(F,E)")
    assert run(FAMILY, other, PLAN, settings={"given": "elements"})["ace.rdr"].value == 1
    for system in (changed(FAMILY, "E", subtype="Group"), ace(entities="E"), plus(FAMILY, "time", "T", 90)):
        with pytest.raises(KaratError, match="given elements differ"):
            run(FAMILY, system, PLAN, settings={"given": "elements"})


def test_a_document_that_only_the_system_has_is_refused() -> None:
    with pytest.raises(KaratError, match="document 'e' is not in gold"):
        run([E], [E, ace("e", entities="F")], PLAN)


# Breakdowns.


def test_by_everything_an_element_has() -> None:
    """References under their own value, false alarms under theirs; every field sums to the whole."""
    gold = mentioned(
        changed(ace(entities="E F G:GEN"), "F", type="ORG", subtype="Media"), entity_mention("x", "d-F", 95, "NOM")
    )
    system = ace(entities="E F H@150")
    fields = ("type", "subtype", "class", "level", "value", "mention_count")
    result = run(gold, system, PLAN, by=fields, measures=["ace.edr"])
    whole = result["ace.edr"].to_dict()["micro"]["counts"]
    for field in fields:
        rows = [row["ace.edr"].to_dict()["micro"]["counts"] for row in result.by[field].values()]
        assert {name: fsum(row[name] for row in rows) for name in whole} == pytest.approx(whole)
    keys = {field: list(result.by[field]) for field in fields}
    assert keys["type"] == ["ORG", "PER"]
    assert keys["class"] == ["GEN", "SPC"]
    assert keys["mention_count"] == ["1", "2"]
    assert keys["value"] == ["0.0-0.2", "0.5-1.0"]
    assert result.by["type"]["ORG"]["ace.edr"].value == pytest.approx(0.5 * 0.9 / 1.5)


def test_by_argument_errors_modality_and_source() -> None:
    gold = replace(ace(entities="E F", events="V(E,F) W(E)"), source="weblog")
    system = ace(entities="E F", events="V(E) W(E)")
    result = run(gold, system, PLAN, by=["argument_errors", "modality", "source"], measures=["ace.vdr"])
    assert {key: row["ace.vdr"].value for key, row in result.by["argument_errors"].items()} == {"0": 1, "1": 0.5}
    assert list(result.by["modality"]) == ["Asserted"]
    assert list(result.by["source"]) == ["weblog"]


def test_documents_by_themselves_add_up() -> None:
    gold, system = [E, ace("e", entities="F G")], [E, ace("e", entities="F H@90")]
    result = run(gold, system, PLAN, per_unit=True)
    assert {name: row["ace.edr"].value for name, row in result.units.items()} == {"d": 1, "e": (2 - 1 - 0.5625) / 2}
    assert result["ace.edr"].value == pytest.approx((3 - 1 - 0.5625) / 3)


def test_links_to_nothing_and_mentions_without_clusters() -> None:
    """Elements need no record, and an argument that names nothing is none."""
    loose = Document(
        "d",
        mentions=(Mention("m", ((0, 5),), kind="entity", attributes={"type": "NAM"}), Mention("v", ((7, 9),))),
        links=(Link("Agent", "v", "m"), Link("Place", "v", "nowhere")),
    )
    result = run(loose, loose, PLAN)
    assert result["ace.edr"].to_dict()["micro"]["counts"]["reference"] == 1
    assert result["ace.vdr"].to_dict()["micro"]["counts"]["reference"] == 1
    assert result["ace.edr"].value is None  # without a class it is not specific


def test_boxes_and_recordings() -> None:
    """Overlap is area in images: half of each box is shared, which is enough."""

    def boxed(x: float) -> Document:
        mention = Mention(
            "d-E-1", (), kind="entity", cluster="d-E", attributes={"type": "NAM"},
            boxes={"span": ((1, x, 0.0, 10.0, 10.0),), "head": ((1, x, 0.0, 10.0, 10.0),)},
        )  # fmt: skip
        return Document("d", unit="box", mentions=(mention,), clusters=E.clusters)

    assert run(boxed(0.0), boxed(5.0), PLAN)["ace.edr"].value == 1
    assert run(boxed(0.0), boxed(8.0), PLAN)["ace.edr"].value == -0.5625
    with pytest.raises(KaratError, match="given mentions differ"):
        run(boxed(0.0), boxed(5.0), PLAN, settings={"given": "mentions"})
    timed = replace(E, unit="microsecond")
    assert run(timed, timed, PLAN)["ace.edr"].value == 1


def test_tables_are_shared() -> None:
    """Values of elements are worked out once for a document, whoever reads them."""
    measures: list[Any] = [measure for measure, _ in tables(protocols.resolve(PLAN), ([FAMILY], [FAMILY]))]
    made = Tables(Pair(FAMILY, FAMILY))
    by_id = {measure.id: made.get(measure.table) for measure in measures}
    assert by_id["ace.rdr"].arguments["entity"] is by_id["ace.edr"]
    assert by_id["ace.vmd"].whole["entity"] is by_id["ace.edr"]
    assert by_id["ace.rmd"].arguments["entity"] is by_id["ace.vmd"].arguments["entity"]


def test_both_protocols_state_their_laws() -> None:
    assert (
        set(protocols.resolve(PLAN).laws)
        == set(protocols.resolve(NIST).laws)
        == {"order", "ids", "additive", "outcomes"}
    )


# Details.


def test_details_list_what_each_element_lost_and_why() -> None:
    gold = mentioned(ace(entities="E F G", events="V(E,F)"), entity_mention("d-E-2", "d-E", 90, "NOM"))
    system = argued(
        roles(changed(ace(entities="E F H@120", events="V(E,F)"), "F", subtype="Group"), F="Place"), "V", "Agent", "H"
    )
    reported = run(gold, system, PLAN, details=True).details
    entities = {item.get("reference", item.get("system")): item for item in reported["ace.edr"]["items"]}
    assert entities["d-E"] == {
        **{"document": "d", "reference": "d-E", "system": "d-E", "outcome": "correct"},
        **{"reference_text": "xxxxxxxxxx", "system_text": "xxxxxxxxxx"},
        **{"worth": 1.0, "value": pytest.approx(1 / 1.5), "lost": ["mention d-E-2 'xxxxxxxxxx' missed"]},
    }
    assert entities["d-F"]["lost"] == ["subtype Group for Individual"]
    assert entities["d-F"]["outcome"] == "error"
    assert (entities["d-G"]["outcome"], entities["d-G"]["value"]) == ("miss", 0)
    assert (entities["d-H"]["outcome"], entities["d-H"]["value"]) == ("false alarm", -0.5625)
    (event,) = reported["ace.vdr"]["items"]
    assert event["lost"] == [
        "Person d-E 'xxxxxxxxxx' is worth 0.66667 of 1.00000",
        "Place for Person d-F 'xxxxxxxxxx'",
        "Person d-F 'xxxxxxxxxx' is worth 0.90000 of 1.00000",
        "Agent d-H 'xxxxxxxxxx' spurious",
    ]
    mentions = reported["ace.emd"]["items"]
    assert {item.get("reference") for item in mentions} == {"d-E-1", "d-E-2", "d-F-1", "d-G-1", None}


@pytest.mark.parametrize("protocol", [PLAN, NIST])
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(both=ace_sides())
def test_details_sum_to_the_counts(protocol: str, both: tuple[list[Document], list[Document]]) -> None:
    result = run(*both, protocol, details=True)
    for id_, one in result.scores.items():
        counts = one.to_dict()["micro"]["counts"]
        items = result.details[id_]["items"]
        outcomes = [item["outcome"].replace(" ", "_") for item in items]
        assert {name: outcomes.count(name) for name in ("correct", "error", "miss", "false_alarm")} == {
            name: counts[name] for name in ("correct", "error", "miss", "false_alarm")
        }
        left = counts["reference_value"] - counts["miss_cost"] - counts["error_cost"] - counts["false_alarm_cost"]
        assert fsum(item["value"] for item in items) == pytest.approx(left)
        for part in result.details[id_]["recognition"].values():
            for attribute in part.values():
                found = sum(n for row in attribute["confusion"].values() for n in row.values())
                assert attribute["reference"] == found + attribute["miss"]


def test_recognition_and_confusions() -> None:
    """Of three types one is taken for another, one is missed, one is invented."""
    gold, system = ace(entities="E F G"), changed(ace(entities="E F H@90"), "F", type="ORG")
    reported = run(gold, typed(system, 0, "NOM"), PLAN, details=True).details["ace.edr"]["recognition"]
    types = reported["entity"]["type"]
    assert {name: types[name] for name in ("reference", "false_alarm", "miss", "substitution", "error")} == {
        **{"reference": 3, "false_alarm": 1, "miss": 1, "substitution": 1, "error": 3}
    }
    assert (types["precision"], types["recall"]) == pytest.approx((2 / 3, 2 / 3))
    assert types["confusion"] == {"PER": {"ORG": 1, "PER": 1}}
    assert reported["mention"]["type"]["confusion"] == {"NAM": {"NAM": 1, "NOM": 1}}
    assert reported["mention"]["extent"]["confusion"] == {"right": {"right": 2}}


def test_details_across_documents_are_of_the_whole_mapping() -> None:
    second = replace(E, id="e", mentions=(replace(E.mentions[0], id="e-E-1"),))
    chosen = {"processing": "cross-document"}
    result = run([E, second], [E, second], PLAN, settings=chosen, details=True, by=["type"])
    (item,) = result.details["ace.edr"]["items"]
    assert (item["worth"], item["value"]) == (2, 2)
    assert result.by["type"]["PER"]["ace.edr"].to_dict()["micro"]["counts"]["reference"] == 1
    with pytest.raises(KaratError, match="cannot be broken down by source"):
        run([E, second], [E, second], PLAN, settings=chosen, by=["source"])


def test_the_report_has_a_table_for_each_task() -> None:
    result = run(ace(entities="E F"), ace(entities="E G@90"), PLAN, by=["type"], measures=["ace.edr"], details=True)
    lines = str(result).splitlines()
    row = next(line for line in lines if line.startswith("PER"))
    assert row.split()[1:5] == ["2", "1", "1", "0"]  # tokens, false alarms, misses, errors
    assert row.split()[5:11] == ["50.00", "50.00", "0.00", "28.12", "50.00", "0.00"]
    assert any("false alarm" in line and "-0.56250" in line for line in lines)
    assert any(line.startswith("ace.edr recognition") for line in lines)


def test_a_breakdown_ends_with_the_total_and_shows_shares_of_all_value() -> None:
    def with_organization(document: Document) -> Document:
        *others, last = document.clusters
        return replace(document, clusters=(*others, replace(last, attributes={**last.attributes, "type": "ORG"})))

    gold, system = map(with_organization, (ace(entities="E F W"), ace(entities="E G@90 W")))
    result = run(gold, system, PLAN, by=["type"], measures=["ace.edr"])
    lines = [line.split() for line in str(result).splitlines()]
    start = next(number for number, line in enumerate(lines) if line[:3] == ["ace.edr", "by", "type"])
    rows = {line[0]: line[1:] for line in lines[start + 1 : start + 4]}
    assert list(rows) == ["PER", "ORG", "total"]
    # tokens, false alarms, misses, errors
    assert [row[:4] for row in rows.values()] == [["2", "1", "1", "0"], ["1", "0", "0", "0"], ["3", "1", "1", "0"]]
    assert [row[10] for row in rows.values()] == ["66.67", "33.33", "100.00"]
    assert rows["total"][7:10] == ["18.75", "33.33", "0.00"]  # costs: 0.5625 and 1 of 3
    assert rows["total"][11] == f"{100 * (3 - 0.5625 - 1) / 3:.2f}"
