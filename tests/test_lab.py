"""The laboratory: pieces that are what they say, verdicts worked out by hand, and the table of the page."""

import json
import os
import sys
from collections.abc import Sequence
from fractions import Fraction
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any

import laboratory
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from karat import protocols
from karat.api.scoring import read, score
from karat.checks.links import CYCLE, check_links
from karat.counts import ScoreValues
from karat.families import MEASURES
from karat.model import Document, Link
from karat.problems import Findings, KaratError, install_hint
from karat.report.figures.figure import Curves, Figure, Line
from karat.studies import lab
from karat.studies.curves import Bench, Curve, Point, groups, stops, ways
from karat.studies.lab import Examination, Options, bar, examine, samples, setting
from karat.studies.pieces import Clusters, Elements, Links, Mentions, Pieces, kinds_of_elements, strangers
from karat.studies.properties import SAME, Verdict, judged
from tests.corpora import corpus, documents, mention
from tests.running import command, run

EXAMPLES = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])
DEMO = Path(str(files("karat"))) / "demo"
RENEW = bool(os.environ.get("KARAT_RENEW"))


# Pieces


@st.composite
def golds(draw: st.DrawFn) -> list[Document]:
    """Two documents with clusters, one of them in both, and links of two kinds that never form a cycle."""
    found = []
    for name in ("d0", "d1"):
        document = draw(documents(name))
        shared = {m.id: "both" for m in document.mentions if draw(st.booleans())}
        mentions = tuple(replace(m, cluster=shared.get(m.id, m.cluster)) for m in document.mentions)
        places = {m.id: number for number, m in enumerate(mentions)}
        lone = [m.id for m in mentions if m.cluster is None]
        pairs = draw(st.lists(st.tuples(*[st.sampled_from(lone)] * 2), max_size=4)) if lone else []
        kinds = draw(st.lists(st.sampled_from(["after", "subevent"]), min_size=len(pairs), max_size=len(pairs)))
        links = {Link(kind, a, b) for kind, (a, b) in zip(kinds, pairs, strict=True) if places[a] < places[b]}
        ordered = sorted(links, key=lambda link: (link.kind, link.source, link.target))
        found.append(replace(document, mentions=mentions, links=tuple(ordered)))
    return found


def partition(side: Sequence[Document], units: Sequence[str]) -> set[frozenset[tuple[int, int]]]:
    """Which mentions are one, inside each unit."""
    found: dict[Any, set[tuple[int, int]]] = {}
    for d, document in enumerate(side):
        for m, one in enumerate(document.mentions):
            key = (d, m) if one.cluster is None else (units[d], one.cluster)
            found.setdefault(key, set()).add((d, m))
    return set(map(frozenset, found.values()))


@EXAMPLES
@given(golds())
def test_all_right_mentions_are_gold_and_wrong_ones_overlap_nothing(gold: list[Document]) -> None:
    pieces = Mentions(gold)
    whole, chaos = pieces.system(range(len(pieces.correct)), ()), pieces.system((), range(len(pieces.wrong)))
    assert [document.mentions for document in whole] == [document.mentions for document in gold]
    assert [document.mentions for document in pieces.system((), ())] == [(), ()]
    for one, other in zip(gold, chaos, strict=True):
        assert len(one.mentions) == len(other.mentions)
        covered = {place for m in one.mentions for begin, end in m.span for place in range(begin, end)}
        assert covered.isdisjoint(place for m in other.mentions for b, e in m.span for place in range(b, e))
        assert {m.id for m in one.mentions}.isdisjoint(m.id for m in other.mentions)


@EXAMPLES
@given(golds(), st.booleans())
def test_all_right_links_of_coreference_make_the_clusters_of_each_unit(gold: list[Document], whole: bool) -> None:
    units = ["corpus", "corpus"] if whole else ["d0", "d1"]
    pieces = Clusters(gold, units)
    system = pieces.system(range(len(pieces.correct)), ())
    assert partition(system, units) == partition(gold, units)
    alone = partition(pieces.system((), ()), units)
    assert all(len(cluster) == 1 for cluster in alone)
    assert len(pieces.correct) == len(alone) - len(partition(gold, units))
    merged = partition(pieces.system(range(len(pieces.correct)), range(len(pieces.wrong))), units)
    assert len(merged) == len({unit for unit, document in zip(units, gold, strict=True) if document.mentions})
    wrong = partition(pieces.system((), range(len(pieces.wrong))), units)
    assert all(len(one & other) < 2 for one in wrong for other in partition(gold, units)), "no pair is right"


@EXAMPLES
@given(golds(), st.data())
def test_no_subset_of_wrong_links_is_right_or_makes_a_cycle(gold: list[Document], data: st.DataObject) -> None:
    pieces = Links.of(gold, ["after", "subevent"])
    assert [set(d.links) for d in pieces.system(range(len(pieces.correct)), ())] == [set(d.links) for d in gold]
    reported = {(d, link.source, link.target) for d, document in enumerate(gold) for link in document.links}
    assert reported.isdisjoint((d, link.source, link.target) for d, link in pieces.astray)
    chosen = data.draw(st.sets(st.sampled_from(range(len(pieces.wrong))))) if pieces.wrong else set()
    for document in pieces.system(range(len(pieces.correct)), chosen):
        assert CYCLE.code not in {finding.code for finding in check_links(document.links, document)}


def test_links_that_say_nothing_new_are_no_pieces() -> None:
    """One inside an event, and a second one between the same two events; ends may be clusters, silent ones too."""
    mentions = (mention("a", (0, 1), cluster="A"), mention("b", (2, 3), cluster="A"), mention("c", (4, 5)))
    links = (Link("sub", "a", "b"), Link("sub", "a", "c"), Link("sub", "A", "c"), Link("other", "c", "a"))
    pieces = Links.of([Document("d", mentions=mentions, links=links)], ["sub"])
    assert pieces.correct == ["sub a -> c"]
    assert {link.kind for link in pieces.gold[0].links} == {"sub"}


@EXAMPLES
@given(golds())
def test_strangers_share_nothing(gold: list[Document]) -> None:
    marked = [replace(d, mentions=tuple(replace(m, id=f"other-{m.id}") for m in d.mentions), links=()) for d in gold]
    for side in (gold, marked):
        others = strangers(side)
        ids = {m.id for document in side for m in document.mentions}
        assert ids.isdisjoint(m.id for document in others for m in document.mentions)
        clusters = {m.cluster for document in side for m in document.mentions} - {None}
        assert clusters.isdisjoint({m.cluster for document in others for m in document.mentions})


# What moves a measure


def moved(protocol: str, prefix: str, gold: list[Document]) -> dict[str, tuple[str, ...]]:
    return {group.pieces.noun: group.measures for group in groups(Bench(protocols.resolve(protocol), prefix), gold)}


def test_what_moves_a_measure_is_found_out() -> None:
    gold = [
        Document(
            "d",
            mentions=(mention("a", (0, 1), cluster="A"), mention("b", (2, 3), cluster="A"), mention("c", (4, 5))),
            links=(Link("subevent", "a", "c"),),
        )
    ]
    found = moved("conll-2012", "coref", gold)
    assert found["mention"] == ("coref.mention",)
    assert {"coref.muc", "coref.b3", "coref.conll"} <= set(found["coreference link"])
    assert moved("exact-2013", "nugget", gold) == {"mention": ("nugget.span",)}
    assert "hierarchy.subevent.mucp" in moved("araki-2014", "hierarchy", gold)["link"]


def test_a_measure_that_nothing_moves_is_not_judged() -> None:
    """Without a cluster of two mentions MUC is the same whatever is taken away."""
    gold = corpus([Document("d", mentions=(mention("a", (0, 1)), mention("b", (2, 3))))])
    protocol = protocols.resolve("conll-2012")
    with pytest.raises(KaratError, match="measure-unmoved"):
        examine("coref.muc", gold, protocol, Options(), findings=Findings())
    found = examine("coref", gold, protocol, Options(), findings=Findings())
    assert "coref.muc" in found.unmoved
    assert "coref.muc" not in {one.measure for one in found.measures}


# Verdicts by hand


def points(*scores: float | None, swapped: Sequence[float | None] | None = None) -> tuple[Point, ...]:
    backs = scores if swapped is None else swapped
    return tuple(
        Point(number, f"piece {number}", {"m": there}, {"m": back})
        for number, (there, back) in enumerate(zip(scores, backs, strict=True))
    )


def verdicts(*curves: Curve, identity: float | None = 1.0, zero: float | None = 0.0) -> dict[str, Verdict]:
    leaves = [ScoreValues({"f1": score}) for score in (identity, zero)]
    return {one.property: one for one in judged("m", leaves[0], {"nothing": leaves[1]}, curves)}


def grow(*scores: float | None, **more: Any) -> Curve:
    return Curve("grow", "from last to first", "link", points(*scores, **more))


def spoil(*scores: float | None, **more: Any) -> Curve:
    return Curve("spoil", "from last to first", "link", points(*scores, **more))


def test_a_measure_without_fault() -> None:
    found = verdicts(grow(0, 0.25, 0.5, 0.75, 1), spoil(1, 0.5, 0))
    assert [one.summary for one in found.values()] == ["yes"] * 5
    assert not any(one.examples for one in found.values())


def test_what_is_wrong_is_told_with_its_place() -> None:
    found = verdicts(
        grow(0.2, 0.5, 0.4, 0.4, 1, swapped=(0.2, 0.5, 0.7, 0.4, 1)), spoil(1, 0.5, 0), identity=0.9, zero=0.2
    )
    assert {id_: (one.holds, one.summary) for id_, one in found.items()} == {
        "P1": (False, "no, 90.00"),
        "P2": (False, "no, 30.00"),
        "P3": (False, "no, 20.00"),
        "P4": (False, "no, 1 astray"),
        "P5": (False, "no, 0.500 / 0.000"),
    }
    assert found["P2"].examples == ("with 2 of 4 right links: 40.00, with the sides swapped 70.00",)
    assert found["P4"].examples == (
        "right link 2, piece 2: falls from 50.00 to 40.00",
        "right link 3, piece 3: stays at 40.00",
    )
    assert found["P5"].examples == ("with 3 of 4 right links: 40.00, on the straight line 80.00",)


def test_to_spoil_is_to_fall() -> None:
    assert verdicts(spoil(1, 0.5, 0.6))["P4"].examples == ("wrong link 2, piece 2: rises from 50.00 to 60.00",)
    assert verdicts(grow(0, 0.5, 0.5, 1))["P4"].summary == "no, 1 flat"


def test_undefined_is_told_and_not_judged() -> None:
    found = verdicts(grow(None, 0.5, 1), spoil(1), identity=None, zero=None)
    assert [found[id_].holds for id_ in ("P1", "P3")] == [None, None]
    assert found["P4"].holds is True
    assert found["P4"].examples == ("with 0 of 2 right links: undefined, not judged",)
    assert found["P5"].holds is True
    one_sided = verdicts(grow(None, 1, swapped=(0.0, 1)))["P2"]
    assert one_sided.examples == ("with 0 of 1 right link: -, with the sides swapped 0.00",)


@pytest.mark.parametrize(
    ("measure", "protocol"),
    [
        ("nugget.type", "liu-2015"),
        ("muc.all", "muc-5"),
        ("nugget.product.type+realis", "tac-pilot"),
    ],
)
def test_nuggets_without_anything_right_are_zero(measure: str, protocol: str) -> None:
    """An F1 whose precision and recall are both 0 is read as 0, in a product as well."""
    gold, chosen = setting(measure, None, protocol, {})
    (row, *_) = examine(measure, gold, chosen, Options(steps=2, orders=1), findings=Findings()).measures
    assert (row.measure, row.verdicts[2]) == (measure, Verdict("P3", True, "yes"))


def test_a_measure_that_may_be_negative_is_not_zero() -> None:
    assert verdicts(grow(-3, 1), zero=-3.0)["P3"].summary == "no, -300.00"


def test_the_distance_from_the_chord_of_f1() -> None:
    """2k / (n + k) is farthest from k / n where k / n is nearest to the square root of 2, less 1."""
    scores = [float(Fraction(2 * k, 22 + k)) for k in range(23)]
    bend = max(Fraction(2 * k, 22 + k) - Fraction(k, 22) for k in range(23))
    assert verdicts(grow(*scores))["P5"].summary == f"no, {float(bend):.3f} / -"


@given(st.integers(0, 500), st.integers(1, 50))
def test_stops_are_even_and_complete(count: int, steps: int) -> None:
    found = stops(count, steps)
    assert (found[0], found[-1]) == (0, count)
    gaps = {after - before for before, after in pairwise(found)}
    assert len(found) == min(count, steps) + 1
    assert not gaps or (min(gaps) >= 1 and max(gaps) - min(gaps) <= 1)


def test_orders_by_chance_are_orders() -> None:
    pieces: Pieces = Mentions([Document("d", mentions=tuple(mention(f"m{n}", (n, n + 1)) for n in range(9)))])
    found = list(ways(pieces, orders=3, seed=1))
    assert [way.direction for way in found] == ["grow"] * 3 + ["spoil"] * 3
    assert found[0].numbers == tuple(range(9))
    assert all(sorted(way.numbers) == list(range(9)) for way in found)
    assert len({way.numbers for way in found}) == 5
    assert list(ways(pieces, orders=3, seed=1)) == found != list(ways(pieces, orders=3, seed=2))


def test_a_curve_in_a_line() -> None:
    assert bar([None, 0.0, 0.5, 1.0]) == "·▁▅█"
    assert bar([-2.0, 3.0]) == "▁█"
    assert len(bar([0.5] * 1000)) == 50


# Elements


def test_elements_are_whole_and_wrong_ones_are_linked_to_others() -> None:
    """Relations of the bundled ACE gold: what they join is given, and a wrong one joins something else."""
    (gold,) = [corpus for corpus in samples() if "ace-2005" in corpus.protocols]
    documents = list(gold)
    assert kinds_of_elements(documents) == ["event", "relation", "entity", "time", "value"]
    pieces = Elements(documents, "relation")
    everything, nothing = range(len(pieces.correct)), ()
    (whole,), (given,) = pieces.system(everything, nothing), pieces.system(nothing, nothing)
    assert {cluster.kind for cluster in given.clusters} == {"entity"}
    assert {cluster.id for cluster in whole.clusters} - {cluster.id for cluster in given.clusters} == {"R1", "R2", "R3"}
    assert len(whole.links) == 12
    assert whole.links == tuple(link for link in documents[0].links if link.source[0] == "R")
    (wrong,) = pieces.system(nothing, everything)
    ends = {(link.kind, link.target) for link in whole.links}
    assert len(wrong.links) == 12
    assert {mention.span for mention in wrong.mentions[-3:]}.isdisjoint({mention.span for mention in whole.mentions})
    assert not ends.issuperset({(link.kind, link.target) for link in wrong.links})


# The whole


@pytest.fixture(scope="module")
def examined() -> list[Examination]:
    """Everything on the page; made once, since it takes a while."""
    return laboratory.examinations()


def found(examined: list[Examination], protocol: str, measure: str) -> dict[str, Verdict]:
    (row,) = [
        one for run_ in examined if run_.base.protocol == protocol for one in run_.measures if one.measure == measure
    ]
    return {verdict.property: verdict for verdict in row.verdicts}


@pytest.mark.slow
def test_the_page_has_the_table(examined: list[Examination]) -> None:
    """`KARAT_RENEW=1` writes it anew; read the difference before you commit it."""
    page = laboratory.PAGE.read_text(encoding="utf-8")
    renewed = laboratory.filled(page, laboratory.section(examined))
    if RENEW:
        laboratory.PAGE.write_text(renewed, encoding="utf-8")
    assert renewed == page, "run with KARAT_RENEW=1 to renew the table"


@pytest.mark.slow
def test_what_the_page_makes_of_it(examined: list[Examination]) -> None:
    straight = {
        row.measure for one in examined for row in one.measures for v in row.verdicts if v.property == "P5" and v.holds
    }
    accuracies = {f"nugget.accuracy.{name}" for name in ("type", "realis", "type+realis")}
    assert straight == {*accuracies, "ace.val", "ace.tern", "ace.rmd"}
    for name in ("coref.b3", "coref.ceafm", "coref.ceafe", "coref.blanc"):
        assert found(examined, "conll-2012", name)["P3"].holds is False
    assert found(examined, "tac-2017", "nugget.span")["P2"].holds is False
    assert found(examined, "conll-2012", "coref.blanc")["P2"].holds is False
    assert "flat" in found(examined, "conll-2012", "coref.lea")["P4"].summary
    assert "flat" in found(examined, "tac-2017", "sequence.after")["P4"].summary
    for name in ("nstmp", "ceafp"):
        assert "flat" in found(examined, "araki-2014", f"hierarchy.subevent.{name}")["P4"].summary
    for name in ("coref.muc", "coref.lea", "coref.conll", "coref.avg4"):
        assert "astray" in found(examined, "pure-cdec", name)["P4"].summary


@pytest.mark.slow
def test_curves_by_hand(examined: list[Examination]) -> None:
    """Mention detection is 2k / (n + k) on the way to gold and 2n / (2n + k) on the way to chaos, in any order."""
    (coref,) = [one for one in examined if one.base.protocol == "conll-2012"]
    for curve in coref.curves:
        if curve.measures == ("coref.mention",):
            n = curve.pieces
            wanted = [2 * k / (n + k) if curve.direction == "grow" else 2 * n / (2 * n + k) for k in range(n + 1)]
            assert curve.values("coref.mention") == pytest.approx(wanted, abs=SAME)


def test_blanc_is_symmetric_where_the_edge_rule_is() -> None:
    reported = []
    for edge in ("perl", "symmetric"):
        gold, protocol = setting("coref.blanc", None, "conll-2012", {"blanc.edge": edge})
        one = examine("coref.blanc", gold, protocol, Options(steps=10, orders=1), findings=Findings())
        reported.append({row.measure: row.verdicts[1].holds for row in one.measures}["coref.blanc"])
    assert reported == [False, True]


@pytest.mark.parametrize("protocol", [name for name in protocols.PROTOCOLS.names() if name != "omnievent-2023"])
def test_the_bench_scores_as_karat_score_does(protocol: str) -> None:
    gold, system = (DEMO / f"{name}.jsonl" for name in ("gold", "literal"))
    wanted = {id_: one.micro for id_, one in score(gold, system, protocol=protocol).scores.items()}
    sides = [sorted(read(side), key=lambda document: document.id) for side in (gold, system)]
    assert Bench(protocols.resolve(protocol), "").leaves(sides[0], sides[1]) == wanted


# Gold and protocol, where the user names only one of them


@pytest.mark.parametrize(
    ("measure", "protocol", "gold"),
    [
        ("nugget", "tac-2017", "demo/gold.jsonl (bundled)"),
        ("muc", "muc-5", "demo/gold.jsonl (bundled)"),
        ("nugget.accuracy", "tac-pilot", "demo/gold.jsonl (bundled)"),
        ("hierarchy", "araki-2014", "studies/data/araki-2014/gold.forest (bundled)"),
        ("relation.causal", "maven-ere-2022", "studies/data/relations/maven-ere.jsonl (bundled)"),
        ("temporal", "tempeval-3", "studies/data/relations/quake.tml (bundled)"),
    ],
)
def test_the_usual_protocol_that_has_the_measure(measure: str, protocol: str, gold: str) -> None:
    corpus_, chosen = setting(measure, None, None, {})
    assert (corpus_.name, chosen.name) == (gold, protocol)


def test_a_protocol_chooses_the_bundled_gold() -> None:
    assert setting("coref.mention", None, "araki-2014", {})[0].name == "studies/data/araki-2014/gold.forest (bundled)"
    assert setting("coref.mention", None, "conll-2012", {})[0].name == "demo/gold.jsonl (bundled)"


# The command


def test_the_command(tmp_path: Path) -> None:
    done = run("lab", "hierarchy.subevent.mucp", "--orders", "1")
    assert (done.code, done.err) == (0, "protocol: araki-2014 (choose with -p)\n")
    assert "hierarchy.subevent.mucp  f1     links   yes          yes          yes      yes" in done.out
    saved = run("lab", "hierarchy.subevent.mucp", "--orders", "1", "-p", "araki-2014", "-o", str(tmp_path / "lab.txt"))
    assert saved == (0, "", "")
    assert (tmp_path / "lab.txt").read_text() == done.out


def test_json_and_csv_have_every_point() -> None:
    args = ("lab", "hierarchy.subevent.mucp", "--orders", "2", "-p", "araki-2014")
    reported = json.loads(run(*args, "-f", "json").out)
    assert reported["measures"]["hierarchy.subevent.mucp"]["properties"]["P5"]["holds"] is False
    assert [len(curve["points"]) for curve in reported["curves"]] == [23, 23, 28, 28]
    lines = run(*args, "-f", "csv").out.splitlines()
    assert lines[0] == "direction,order,pieces,added,measure,score,swapped"
    assert len(lines) == 1 + 2 * 23 + 2 * 28
    assert lines[2] == (
        "grow,from last to first,1,subevent 28 -> 29,hierarchy.subevent.mucp,0.08695652173913045,0.08695652173913045"
    )


@pytest.mark.slow
def test_the_same_bytes_for_every_hash_seed() -> None:
    args = ("lab", "coref", "-p", "simple-cdec", "--steps", "3", "--orders", "1", "-f", "json")
    assert len({command(*args, PYTHONHASHSEED=str(seed)) for seed in range(2)}) == 1


def test_a_system_that_could_not_be_gold_is_no_reason_to_stop() -> None:
    """Exchanged, a system without mentions has none of the attributes that the settings name."""
    done = run("lab", "nugget.type", "--set", "attributes=type", "--steps", "3", "--orders", "1", "-p", "tac-2017")
    assert done.code == 0, done.err


@pytest.mark.parametrize(
    ("args", "code", "reported"),
    [
        (["nuggets.span"], 2, "[unknown-measure]"),
        (["nugget.sapn"], 1, "[measure-absent]"),
        (["nugget", "-p", "tac-2071"], 2, "[unknown-protocol]"),
        (["nugget", "--set", "sise=3"], 2, "[unknown-key]"),
        (["nugget", "--gold", "nowhere.tbf"], 1, "[file-missing]"),
        (["nugget", "--plot", "curves.gif"], 2, "[plot-format]"),
        (["nugget", "--steps", "0"], 2, "--steps"),
        (["coref.muc", "--gold", "alone.jsonl", "-p", "conll-2012"], 1, "[measure-unmoved]"),
        (["nugget", "--gold", "alone.jsonl", "-o", "alone.jsonl"], 1, "[output-unwritable]"),
        (["nugget", "--gold", "empty.jsonl", "-p", "tac-2017"], 1, "[gold-empty]"),
    ],
)
def test_refusals(args: list[str], code: int, reported: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("alone.jsonl").write_text('{"id": "d", "mentions": [{"id": "m", "span": [[0, 1]]}]}\n')
    Path("empty.jsonl").write_text("")
    done = run("lab", *args)
    assert done.code == code, done.err
    assert reported in done.err
    assert done.out == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["alone.jsonl", "empty.jsonl"]


def test_gold_with_one_mention_or_none(tmp_path: Path) -> None:
    """Curves of one step, and nothing to examine."""
    one, none = tmp_path / "one.jsonl", tmp_path / "none.jsonl"
    one.write_text('{"id": "d", "mentions": [{"id": "m", "span": [[0, 1]]}]}\n')
    none.write_text('{"id": "d", "mentions": []}\n')
    done = run("lab", "nugget", "--gold", str(one))
    assert done.code == 0, done.err
    assert "1 right mention," in done.out
    refused = run("lab", "nugget", "--gold", str(none))
    assert (refused.code, "[measure-unmoved]" in refused.err) == (1, True)


def test_what_is_odd_about_gold_is_told_once(tmp_path: Path) -> None:
    path = tmp_path / "odd.jsonl"
    path.write_text('{"id": "d", "mentions": [{"id": "m", "span": [[0, 1]], "attributes": {"realis": "Maybe"}}]}\n')
    done = run("lab", "nugget.span", "--gold", str(path), "-p", "tac-2017")
    assert done.code == 0
    assert done.err.splitlines() == [
        f"note: {path}, line 1: mention 'm' of document 'd' has the unknown realis 'Maybe' [realis-unknown]"
    ]


# Pictures


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".svg", ".png", ".pdf"])
def test_pictures_are_the_same_twice(suffix: str) -> None:
    pytest.importorskip("matplotlib", reason="pictures need matplotlib (karat[plots])")
    lines = [Line(f"m{n}", (None, 0.1 * n, 1.0), (0.0, 0.5, 1.0), behind=n == 3) for n in range(12)]
    one = Curves("a title", "links", tuple(lines))
    drawn = [Figure(((one, one), (one,)), "all").drawn(suffix) for _ in range(2)]
    assert drawn[0] == drawn[1]
    assert len(drawn[0]) > 5000


@pytest.mark.slow
def test_the_command_draws(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="pictures need matplotlib (karat[plots])")
    path = tmp_path / "curves.svg"
    assert run("lab", "hierarchy.subevent", "--plot", str(path)).code == 0
    assert b"<svg" in path.read_bytes()


def test_a_picture_without_the_library_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    path = tmp_path / "curves.svg"
    done = run("lab", "hierarchy.subevent.mucp", "--orders", "1", "--plot", str(path))
    assert (done.code, "[plots-missing]" in done.err, path.exists()) == (1, True, False)
    assert install_hint("plots") in done.err


def test_the_laboratory_names_no_measure() -> None:
    folder = Path(lab.__file__).parent
    modules = [path for path in folder.rglob("*.py") if "papers" not in path.relative_to(folder).parts]
    texts = [path.read_text(encoding="utf-8") for path in modules]
    assert texts
    assert [f"{name}." for name in MEASURES.names() if any(f'"{name}.' in text for text in texts)] == []


def test_a_hierarchy_that_only_clusters_move_is_left_out(tmp_path: Path) -> None:
    """Without its only link, inside one event, BLANCp is the same; without clusters, there is no link to score."""
    file = tmp_path / "gold.forest"
    file.write_text(
        "#kind after\nn\t({m2,m3}(m4(m5))) (m2)\n#kind subevent\nn\t(m2({m1,m3}))\n"
        "#kind after\no\t(m4(m3(m1(m2)))) (m5)\n"
    )
    refused = run("lab", "hierarchy", "--gold", str(file), "--steps", "3", "--orders", "1")
    assert (refused.code, "hierarchy.subevent.ceafp reads nothing that this gold has" in refused.err) == (1, True), (
        refused.err
    )
