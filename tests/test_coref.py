"""Coreference: published toys, edge rules, and the numbers that authors recorded for real systems."""

import json
import pickle
import random
from collections import Counter
from math import fsum
from pathlib import Path

import pytest
from msgspec.structs import astuple, replace

import karat
from karat.api.scoring import Result, score
from karat.counts import Counts, Ratio
from karat.families.coref.formulas import FORMULAS
from karat.families.coref.measures import Coref, TableScores
from karat.families.coref.metamentions import MetaTable
from karat.families.coref.table import CorefTable, contingency
from karat.match.assignment import assignment
from karat.match.sparse import best_matching, matching
from karat.model import Document
from karat.plugin import AlignmentSpec, Averages, Contingency
from karat.problems import KaratError
from karat.run.units import MeasureSet
from tests.conftest import shared_path
from tests.corpora import corpus, mention
from tests.running import run as command

# Upadhyay et al. 2016, Figure 3: document A holds four crosses and both circles, document B one cross.
CIRCLES, CROSSES = ["o1", "o2"], ["x1", "x2", "x3", "x4", "x5"]
PLACES = {"o1": "A", "o2": "A", "x1": "A", "x2": "A", "x3": "A", "x4": "A", "x5": "B"}
GOLD = [CIRCLES, CROSSES]
SYSTEMS = [
    [CIRCLES, ["x1", "x2", "x3", "x4"], ["x5"]],  # within documents only
    [CIRCLES, ["x1", "x2", "x3", "x5"], ["x4"]],
    [CIRCLES, ["x1", "x2", "x5"], ["x3"], ["x4"]],
]


def documents(clusters: list[list[str]]) -> list[Document]:
    cluster_of = {name: f"c{number}" for number, cluster in enumerate(clusters) for name in cluster}
    order = {name: number for number, name in enumerate(PLACES)}
    return [
        Document(
            place,
            mentions=tuple(
                mention(name, (order[name], order[name] + 1), cluster=cluster_of[name])
                for name in PLACES
                if PLACES[name] == place
            ),
        )
        for place in "AB"
    ]


def run(protocol: str, system: list[list[str]], **settings: str) -> Result:
    return score(corpus(documents(GOLD)), corpus(documents(system)), protocol=protocol, settings=settings)


@pytest.mark.parametrize(
    ("system", "expected"),
    [
        (0, {"muc": 8 / 9, "b3": 0.87097, "ceafe": 0.75556, "blanc": 0.80556}),
        (1, {"muc": 8 / 9, "b3": 0.87097, "ceafe": 0.75556, "blanc": 0.80556}),
        (2, {"muc": 3 / 4, "b3": 0.75, "ceafe": 0.58333, "blanc": 0.63704}),
    ],
)
def test_figure_3_under_simple_cdec(system: int, expected: dict[str, float]) -> None:
    """The published 88.8/87.0/75.5/80.5 and 74.9/74.9/58.3/63.7 are these, cut off."""
    result = run("simple-cdec", SYSTEMS[system])
    assert {name: result[f"coref.{name}"].f1 for name in expected} == pytest.approx(expected, abs=1e-5)
    assert {name: karat.coref(GOLD, SYSTEMS[system])[name].f1 for name in expected} == pytest.approx(expected, abs=1e-5)


def test_figure_3_under_pure_cdec() -> None:
    """System 2 is better than 3, and 3 than 1, which has no link across documents."""
    found = [run("pure-cdec", system) for system in SYSTEMS]
    assert [result["coref.muc"].f1 for result in found] == [0, 1, 1]
    assert [result["coref.avg4"].f1 for result in found] == pytest.approx([0.467, 0.861, 0.775], abs=1e-3)


def test_what_tac_called_the_conll_average() -> None:
    """Scorer v1.8 printed the mean of four as "Overall Average CoNLL score"; the usual one is the mean of three."""
    result = run("tac-2017", SYSTEMS[2])
    f1 = {name: result[f"coref.{name}"].f1 or 0 for name in ("muc", "b3", "ceafe", "blanc")}
    four, three = sum(f1.values()) / 4, (sum(f1.values()) - f1["blanc"]) / 3
    assert (result["coref.avg4"].f1, result["coref.conll"].f1) == pytest.approx((four, three))
    assert abs(four - three) > 0.01
    sentence = 'coref.avg4, the mean of four measures, as "Overall Average CoNLL score"'
    assert sentence in " ".join(command("protocols", "tac-2017").out.split())
    assert "as `Overall Average CoNLL score`" in " ".join(command("explain", "coref.avg4").out.split())
    assert "coref.avg4" in result.headline


def test_singletons() -> None:
    """Gold {1 2} {3}, system {1 3} {2}: gold's singleton is 3, on both sides; each side's own are 3 and 2."""
    gold = [
        Document(
            "d", mentions=(mention("1", (0, 1), cluster="a"), mention("2", (1, 2), cluster="a"), mention("3", (2, 3)))
        )
    ]
    system = [
        Document(
            "d", mentions=(mention("1", (0, 1), cluster="x"), mention("3", (2, 3), cluster="x"), mention("2", (1, 2)))
        )
    ]

    def mentions(singletons: str) -> list[float | None]:
        result = score(corpus(gold), corpus(system), protocol="simple-cdec", settings={"singletons": singletons})
        counts = result["coref.mention"].to_dict()["micro"]["counts"]
        return [counts["recall_num"], counts["recall_den"], counts["precision_den"]]

    assert mentions("keep") == [3, 3, 3]
    assert mentions("drop-gold") == [2, 2, 2]
    assert mentions("drop-each") == [1, 2, 2]


@pytest.mark.parametrize(
    ("gold", "system", "perl", "symmetric", "luo"),
    [
        ([[1], [2], [3], [4]], [[1, 2], [3], [4]], 0.909, 0.455, 0.455),
        ([[1], [2], [3]], [[1], [2], [3]], 1.0, 1.0, 1.0),
        ([[1]], [[1]], 0.0, 0.0, 1.0),
        ([[1, 2]], [[1, 2]], 1.0, 1.0, 1.0),
    ],
)
def test_blanc_at_its_edges(
    gold: list[list[int]], system: list[list[int]], perl: float, symmetric: float, luo: float
) -> None:
    """specs: the reference scorer looks at gold alone; one singleton on both sides scores 0 there."""

    def document(clusters: list[list[int]]) -> Document:
        found = [mention(str(n), (n, n + 1), cluster=f"c{k}") for k, cluster in enumerate(clusters) for n in cluster]
        return Document("d", mentions=tuple(found))

    for edge, expected in (("perl", perl), ("symmetric", symmetric), ("luo-2014", luo)):
        sides = corpus([document(gold)]), corpus([document(system)])
        result = score(*sides, protocol="conll-2012", settings={"blanc.edge": edge})
        assert result["coref.blanc"].f1 == pytest.approx(expected, abs=1e-3), edge


def test_muc_of_singletons_is_explained() -> None:
    """A perfect system gets 0 in MUC, 66.67 in the CoNLL average, and the reason."""
    alone = Document("d", mentions=(mention("1", (0, 1)), mention("2", (1, 2))))
    together = Document("d", mentions=tuple(mention(m.id, *m.span, cluster="c") for m in alone.mentions))
    for protocol in ("conll-2012", "tac-2017"):
        result = score(corpus([alone]), corpus([alone]), protocol=protocol)
        assert result["coref.muc"].f1 == 0
        assert result["coref.conll"].f1 == pytest.approx(2 / 3)
        assert "muc-no-links" in [finding.code for finding in result.warnings]
        assert "muc-no-links" not in str(score(corpus([together]), corpus([alone]), protocol=protocol))
    assert "muc-no-links" not in str(score(corpus([alone]), corpus([alone]), protocol="tac-2017", measures=["nugget"]))
    assert "muc-no-links" not in str(score(corpus([Document("d")]), corpus([alone]), protocol="conll-2012"))


def test_a_span_twice() -> None:
    """On both sides the first cluster keeps it, and the repeated mention is a fault."""
    once = [Document("d", mentions=(mention("1", (0, 1), cluster="a"), mention("2", (1, 2), cluster="a")))]
    twice = [Document("d", mentions=(*once[0].mentions, mention("3", (0, 1), cluster="b")))]
    for gold, system in ((once, twice), (twice, once), (twice, twice)):
        result = score(corpus(gold), corpus(system), protocol="conll-2012")
        assert result["coref.conll"].f1 == result["coref.lea"].f1 == 1
        faults = [finding.message for finding in result.warnings if finding.severity == "fault"]
        one = "cluster 'a' and cluster 'b' of document 'd' share the span 0-1; the first keeps it"
        assert faults == [one] * ((gold is twice) + (system is twice))
    within = [Document("d", mentions=(*once[0].mentions, mention("3", (0, 1), cluster="a")))]
    result = score(corpus(within), corpus(within), protocol="conll-2012")
    assert result["coref.conll"].f1 == 1
    assert "cluster 'a' of document 'd' has the span 0-1 twice; it counts once" in str(result)


def test_validate_and_score_agree_on_repeated_spans(tmp_path: Path) -> None:
    """The protocol that the format chooses decides, and each problem is reported once."""
    path = tmp_path / "gold.conll"
    path.write_text(
        "#begin document d\nd\t0\t0\tthe\t(1|(2|(3|(3\nd\t0\t1\tattack\t1)|2)|3)|3)\nd\t0\t2\twas\t(1)\n#end document\n"
    )
    findings = json.loads(command("validate", str(path), "-f", "json").out)["files"][0]["findings"]
    listed = [(finding["code"], finding["severity"], finding["line"], finding["message"]) for finding in findings]
    share = "of document 'd' share the span 0-2 ('the attack'); the first keeps it"
    assert listed == [
        ("span-repeated", "fault", 2, f"cluster '1' and cluster '2' {share}"),
        ("span-repeated", "fault", 2, f"cluster '1' and cluster '3' {share}"),
        ("span-repeated", "fault", 2, f"cluster '1' and cluster '3' {share}"),
    ]
    result = score(path, path, protocol="conll-2012")
    scored = [(one.code, one.severity, one.line, one.message) for one in result.warnings if one.code == listed[0][0]]
    assert scored == listed * 2
    assert [one.code for one in result.warnings if one.severity == "fault"] == ["span-repeated"] * 6
    assert result["coref.conll"].f1 == 1


SPANS = "#begin document d\nx\t{}\nx\t{}\n#end document\n"


def test_what_filters_and_sheets_find_has_its_line(tmp_path: Path) -> None:
    """They know of no file; the line is looked for when there is something to tell."""
    (tmp_path / "good.conll").write_text(SPANS.format("(1)", "(2)"))
    (tmp_path / "twice.conll").write_text(SPANS.format("-", "(1)|(2)"))
    good, twice = tmp_path / "good.conll", tmp_path / "twice.conll"
    for sides in ((twice, good), (good, twice)):
        faults = [finding for finding in score(*sides, protocol="conll-2012").warnings if finding.severity == "fault"]
        assert [(finding.code, finding.file, finding.line) for finding in faults] == [("span-repeated", str(twice), 3)]
        with pytest.raises(KaratError, match=r"line 3: cluster '1' and cluster '2' of document 'd'"):
            score(*sides, protocol="conll-2012", strict=True)
    whole = [finding for finding in score(good, good, protocol="yang-2015").warnings if finding.code == "topic-missing"]
    assert [(finding.file, finding.line) for finding in whole] == [(str(good), 1)]


def test_the_place_of_a_document_that_gold_lacks(tmp_path: Path) -> None:
    """Its gold side is empty, so what is missing there is reported of the system's file."""
    (tmp_path / "gold.conll").write_text(SPANS.format("(1)", "(2)"))
    (tmp_path / "system.conll").write_text(
        SPANS.format("(1)", "(2)") + SPANS.format("(1)", "-").replace(" d\n", " e\n")
    )
    result = score(tmp_path / "gold.conll", tmp_path / "system.conll", protocol="upadhyay-2016-st")
    reported = [(finding.file, finding.line) for finding in result.warnings if finding.code == "topic-missing"]
    assert reported == [(str(tmp_path / "gold.conll"), 1), (str(tmp_path / "system.conll"), 5)]


def test_leaves_and_sparse_assignment_find_the_optimum() -> None:
    rng = random.Random(7)
    for _ in range(300):
        size = rng.randint(1, 7)
        weights = {
            (row, column): rng.randint(1, 9) for row in range(size) for column in range(size) if rng.random() < 0.4
        }
        best = sum(weights[edge] for edge in assignment(weights))
        rows, columns = [row for row, _ in weights], [column for _, column in weights]
        assert best_matching(rows, columns, [*weights.values()]) == best


def test_the_sum_does_not_depend_on_the_solver() -> None:
    """A few clusters are matched without scipy; sums are the same to the last digit, even if matchings nearly tie."""
    rng = random.Random(7)
    for _ in range(1000):
        golds, systems = ([rng.randint(2, 5) for _ in range(rng.randint(2, 5))] for _ in "gs")
        cells = [(row, column) for row in range(len(golds)) for column in range(len(systems)) if rng.random() < 0.7]
        rows, columns = [row for row, _ in cells], [column for _, column in cells]
        weights = [2 * rng.randint(1, 2) / (golds[row] + systems[column]) for row, column in cells]
        best = fsum(weights[edge] for edge in matching(rows, columns, weights))
        assert best_matching(rows, columns, weights) == best


def test_tables_in_memory_and_in_documents_agree() -> None:
    """`karat.coref` is the same table as a corpus of one document."""
    table = contingency([{1, 2}, {3}], [{1}, {2, 3, 9}])
    assert (table.gold_mentions, table.system_mentions, sorted(table.overlap.values())) == (3, 4, [1, 1, 1])
    scores = karat.coref([{1, 2}, {3}], [{1}, {2, 3, 9}])
    assert scores["b3"].f1 == scores["coref.b3"].f1
    assert len(scores) == 11


def random_tables(rng: random.Random) -> list[Contingency]:
    """Tables of two to six documents with the same few clusters."""
    made, names = [], ["a", "b", "c", ("d", 1), ("d", 2)]
    for _ in range(rng.randint(2, 6)):
        golds, systems = ([rng.choice(names) for _ in range(rng.randint(0, 5))] for _ in "gs")
        pairs = [(n, n, 1.0, 0) for n in range(min(len(golds), len(systems))) if rng.random() < 0.8]
        made.append(Contingency.of_mentions(golds, systems, pairs))
    return made


def random_documents(table: type[CorefTable], rng: random.Random) -> list[Contingency]:
    """Meta-mentions are named by document and cluster."""
    made = random_tables(rng)
    if table is MetaTable:
        for document, one in enumerate(made):
            golds, systems = ([(document, name) for name in side] for side in (one.golds, one.systems))
            made[document] = replace(one, golds=golds, systems=systems)
    return made


def test_tables_of_the_same_shape_have_the_same_counts() -> None:
    """They are counted once. Names of clusters do not matter."""
    rng, spec = random.Random(3), CorefTable(AlignmentSpec())
    measures = MeasureSet([(Coref(spec, name), Averages()) for name in FORMULAS], (), unit="document")
    tables = [table for _ in range(200) for table in random_tables(rng)]
    for table in tables:
        expected = [number for formula in FORMULAS.values() for number in astuple(formula.count(table))]
        assert [*measures.counts([table])] == expected
    assert len({spec.shape(table) for table in tables}) < len(tables)


def test_tables_add_up_in_any_groups() -> None:
    """Sums of sums, some of which were sent by another process, are the sum of all, in the same order."""
    rng, spec = random.Random(2), CorefTable(AlignmentSpec())
    for _ in range(100):
        made = random_tables(rng)
        whole = spec.add(made)
        by_name = [sum((Counter(getattr(table, side)) for table in made), Counter()) for side in SIDES]
        assert [getattr(whole, side) for side in SIDES] == by_name
        parts = [pickle.loads(pickle.dumps(spec.add(part))) for part in (made[:1], made[1:])]
        for other in (spec.add(parts), Contingency.by_name(whole.gold, whole.system, whole.overlap)):
            assert listed(other) == listed(whole)
            assert TableScores(other) == TableScores(whole)


@pytest.mark.parametrize("table", [CorefTable, MetaTable])
def test_a_sum_without_a_group_is_the_sum_of_the_others(table: type[CorefTable]) -> None:
    """In the same order, which decides between matchings that are equally good."""
    rng, spec = random.Random(5), table(AlignmentSpec())
    for _ in range(50):
        made = random_documents(table, rng)
        groups = [index % max(2, len(made) - 1) for index in range(len(made))]
        rng.shuffle(groups)
        for group, total in enumerate(spec.leave_out(made, groups)):
            rest = spec.add([one for one, own in zip(made, groups, strict=True) if own != group])
            assert listed(total) == listed(rest)
            finished = [spec.finish([sums], lambda _: None)[0] for sums in (total, rest)]
            assert TableScores(finished[0]) == TableScores(finished[1])


def listed(table: Contingency) -> list[list[object]]:
    return [[*getattr(table, side).items()] for side in SIDES]


SIDES = ("gold", "system", "overlap")

NAMES = {"bcub": "b3", "ceafe": "ceafe", "lea": "lea", "muc": "muc", "conll": "conll"}


@pytest.mark.slow
def test_recorded_numbers_of_real_systems() -> None:
    """MUC, B3, CEAFe, LEA and CoNLL as the authors recorded them for ECB+, GVC and FCC, all pairs, to 1e-5."""
    tables = sorted(shared_path("data", "cdcr-outputs").rglob("eval_*.txt"))
    assert len(tables) == 12
    for table in tables:
        result = score(table.with_name("gold.conll"), table.with_name("system.conll"), protocol="conll-2012")
        _, _, *rows = table.read_text().splitlines()
        for name, f1, precision, recall in map(str.split, rows):
            found = result[f"coref.{NAMES[name]}"]
            assert found.f1 == pytest.approx(float(f1), abs=1e-5), (table, name)
            if name != "conll":
                assert (found.precision, found.recall) == pytest.approx((float(precision), float(recall)), abs=1e-5)


@pytest.mark.parametrize("name", ["b3", "lea", "ceafe", "conll", "avg4"])
def test_the_order_of_clusters_changes_no_bit(name: str) -> None:
    """Shares such as 1/3 and 1/7 add up to the same number in any order: they are summed without rounding between."""
    mentions = range(400)
    choice = random.Random(1)
    gold, system = (
        [{m for m in mentions if numbers[m] == n} for n in set(numbers)]
        for numbers in ([choice.randrange(60) for _ in mentions], [choice.randrange(90) for _ in mentions])
    )
    expected = karat.coref(gold, system)[name].values
    for _ in range(20):
        choice.shuffle(gold)
        choice.shuffle(system)
        assert karat.coref(gold, system)[name].values == expected


def test_what_is_undefined_is_zero_as_in_the_reference_scorer() -> None:
    """A single mention has neither links nor non-links, so BLANC has nothing to divide."""
    scores = karat.coref([{"a"}], [{"a"}])
    assert (scores["blanc"].f1, scores["muc"].f1, scores["b3"].f1) == (0, 0, 1)


def test_losses_add_up_without_rounding() -> None:
    class Three(Counts, frozen=True):
        x: float
        y: float
        z: float

        def ratios(self) -> dict[str, Ratio]:
            return {"x": Ratio(0, self.x), "y": Ratio(0, self.y), "z": Ratio(0, self.z)}

    assert Three(0.1, 0.2, 0.3).lost() == 0.6
    assert 0.1 + 0.2 + 0.3 != 0.6
