"""Comparison: intervals of one system, ranks and tests of several, and what they say where there is little to say."""

import csv
import json
import math
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from msgspec.structs import replace

import karat
from karat.comparison.systems import named_systems
from karat.corpus.index import DocumentReader
from karat.counts import ScoreValues
from karat.model import Document, Mention
from karat.protocols import PROTOCOLS
from karat.report import markup
from karat.report.scores import bottleneck
from karat.result import Score
from karat.stats.resampling import flat, observed
from tests.corpora import ace
from tests.running import run

DEMO = Path(karat.__file__).parent / "demo"
GOLD, *SYSTEMS = (str(DEMO / f"{name}.jsonl") for name in ("gold", "literal", "eager", "cautious"))
COMPARE = ("compare", GOLD, *SYSTEMS, "-p", "tac-2017")
QUICK = ("--resamples", "100")


def documents(number: int, *, found: int = 3, spurious: int = 0, gold: bool = False, topic: str | None = None) -> Any:
    """Documents with four events each, of which the system finds some."""
    made = []
    for index in range(number):
        events = range(4) if gold else [*range(found), *range(10, 10 + spurious)]
        mentions = tuple(
            Mention(f"m{n}", ((10 * n, 10 * n + 5),), attributes={"type": "A", "realis": "Actual"}) for n in events
        )
        made.append(Document(f"d{index:03}", topic=topic, mentions=mentions))
    return made


def compared(systems: dict[str, Any], *, units: int = 30, **options: Any) -> karat.Comparison:
    return karat.compare(
        documents(units, gold=True), systems, **{"protocol": "tac-2017", "measures": "nugget", **options}
    )


# karat score --ci


def test_every_score_has_an_interval() -> None:
    done = run("score", *(GOLD, SYSTEMS[0]), "-p", "tac-2017", "--ci", "95", "--by", "type", "-f", "json", *QUICK)
    content = json.loads(done.out)
    for id_, averages in content["scores"].items():
        for leaf in averages.values():
            scores = {name for name in leaf if name not in ("counts", "ci")}
            assert leaf["ci"].pop("method") == "percentile bootstrap"
            assert set(leaf["ci"]) == scores, id_
            for name, interval in leaf["ci"].items():
                low, high = interval
                assert low <= leaf[name] <= high, (id_, name)
    assert "macro" in content["scores"]["nugget.type"]
    by_type = content["by"]["type"]["Conflict_Attack"]
    low, high = by_type["nugget.type"]["micro"]["ci"]["f1"]
    assert low < by_type["nugget.type"]["micro"]["f1"] < high
    assert "ci" in by_type["coref.conll"]["micro"]


def test_a_breakdown_is_resampled_over_all_units() -> None:
    """A document field has values in one unit each: nothing to resample, and a note says so."""
    by_type = karat.score(GOLD, SYSTEMS[0], protocol="tac-2017", by=["document", "type"], measures="nugget", ci=0.95)
    rows = by_type.by["document"]
    assert all(row["nugget.span"].micro.ci is None for row in rows.values())
    assert any("by document: " in finding.message for finding in by_type.warnings)
    assert by_type.by["type"]["Conflict_Attack"]["nugget.span"].micro.ci is not None


def test_scores_are_the_same_with_intervals() -> None:
    plain = karat.score(GOLD, SYSTEMS[0], protocol="tac-2017", by="type")
    with_ci = karat.score(GOLD, SYSTEMS[0], protocol="tac-2017", by="type", ci=0.9, seed=3, resamples=50)
    assert with_ci.confidence is not None
    assert (with_ci.confidence.level, with_ci.confidence.resamples, with_ci.confidence.seed) == (0.9, 50, 3)
    for id_, score in plain.scores.items():
        assert with_ci[id_].micro.values == score.micro.values
        assert with_ci[id_].micro.counts == score.micro.counts


@pytest.mark.parametrize("level", ["0.95", "95", "95%"])
def test_levels_are_fractions_or_percentages(level: str) -> None:
    done = run("score", GOLD, SYSTEMS[0], "-p", "tac-2017", "-m", "nugget.type", "--ci", level)
    assert (
        "ci      95 % intervals in brackets: percentile bootstrap, 1,000 resamples of 12 documents, seed 0" in done.out
    )
    assert re.search(r"^nugget.type +59.44 +61.09 +60.25 \[54.1, 66.9\]", done.out, re.MULTILINE)
    quoted = "to quote   nugget.type F1 60.3 [54.1, 66.9] (tac-2017, signature karat="
    assert quoted in done.out


@pytest.mark.parametrize("level", ["0", "1", "100", "-1", "nan", "high"])
def test_a_level_that_is_none_is_refused(level: str) -> None:
    done = run("score", GOLD, SYSTEMS[0], "--ci", level)
    assert done.code == 2
    assert "is not a confidence level; write 0.95 or 95" in done.err


def test_resamples_need_a_level() -> None:
    assert run("score", GOLD, SYSTEMS[0], "--seed", "0").code == 2


@pytest.mark.parametrize("seed", ["0", "7"])
def test_any_seed_gives_the_same_bytes(seed: str) -> None:
    args = ("score", GOLD, SYSTEMS[0], "-p", "tac-2017", "-m", "nugget", "--ci", "95", "--seed", seed, "-f", "json")
    assert run(*args).out == run(*args).out


def test_lines_fit_a_hundred_columns() -> None:
    done = run("score", GOLD, SYSTEMS[0], "-p", "tac-2017", "--ci", "95", *QUICK)
    tables = done.out.partition("\n\nmeasure")[2].partition("\n\n34 points")[0]
    assert max(map(len, tables.splitlines())) <= 100


def test_tables_of_many_measures_leave_intervals_out() -> None:
    done = run("score", GOLD, SYSTEMS[0], "-p", "simple-cdec", "-p", "pure-cdec", "--ci", "95", "--summary")
    assert max(map(len, done.out.split("\n\n")[1].splitlines())) <= 120
    few = run("score", GOLD, SYSTEMS[0], "-p", "simple-cdec", "-p", "pure-cdec", "--ci", "95", "-m", "coref.conll")
    assert "simple-cdec" in few.out.split("\n\n")[0]
    assert "[" in few.out.split("\n\n")[0]


@pytest.mark.slow
@pytest.mark.parametrize("protocol", PROTOCOLS.names())
def test_every_protocol_has_intervals_and_tests(protocol: str) -> None:
    """And resampling nothing away gives the scores themselves: the sum of all rows."""
    try:
        result = karat.score(GOLD, SYSTEMS[0], protocol=protocol, ci=0.95, resamples=30)
        comparison = karat.compare(GOLD, {"a": SYSTEMS[0], "b": SYSTEMS[1]}, protocol=protocol, resamples=30)
    except karat.KaratError as error:
        assert error.finding.code in ("kind-absent", "entities-absent", "tokens-absent", "span-repeated"), error  # noqa: PT017
        return
    assert result.rows is not None
    assert observed(result.rows) == flat(result.scores)
    assert all(score.micro.ci is not None for score in result.scores.values())
    assert {system.name for system in comparison.systems} == {"a", "b"}
    assert comparison.tests
    assert str(comparison)


# One unit


def test_one_unit_has_a_jackknife_by_topic() -> None:
    """The interval is score ± t · se, from the scores of the corpus without each of its three topics."""
    args = ("score", GOLD, SYSTEMS[0], "-p", "simple-cdec", "-f", "json")
    content = json.loads(run(*args, "--ci", "95").out)
    leaf = content["scores"]["coref.b3"]["micro"]
    gold = list(karat.read(GOLD))
    system = list(karat.read(SYSTEMS[0]))
    topics = sorted({str(document.topic) for document in gold})
    without = [
        karat.score(
            [document for document in gold if document.topic != topic],
            [document for document in system if document.topic != topic],
            protocol="simple-cdec",
        )["coref.b3"].micro.values["f1"]
        or 0.0
        for topic in topics
    ]
    mean = sum(without) / 3
    error = (2 / 3 * sum((value - mean) ** 2 for value in without)) ** 0.5
    assert leaf["ci"]["method"] == "jackknife"
    assert leaf["ci"]["f1"] == pytest.approx([leaf["f1"] - 4.302653 * error, leaf["f1"] + 4.302653 * error])
    text = run(*args[:-2], "--ci", "95").out
    assert "jackknife, leaving out each of 3 topics" in text
    assert "over 3 topics are rough [units-few]" in text


def test_many_documents_of_one_unit_are_left_out_in_groups() -> None:
    """Each hundredth document is left out at once; those of the system alone do not change the groups of gold's."""
    gold = [
        Document(f"d{n:03}", mentions=tuple(Mention(f"m{k}", ((k, k + 1),), cluster=f"c{n % 7}") for k in range(2)))
        for n in range(110)
    ]
    system = [
        replace(one, mentions=tuple(replace(mention, cluster=f"c{n % 5}") for mention in one.mentions))
        for n, one in enumerate(gold)
    ]
    score = partial(karat.score, protocol="simple-cdec", measures=["coref.b3"])
    found = score(gold, system, ci=0.95)
    without = [
        score(*([one for number, one in enumerate(side) if number % 100 != group] for side in (gold, system)))
        for group in range(100)
    ]
    values = [one["coref.b3"].micro.values["f1"] or 0.0 for one in without]
    error = math.sqrt(99 / 100 * sum((value - sum(values) / 100) ** 2 for value in values))
    leaf = found["coref.b3"].micro
    assert leaf.ci is not None
    (low, high), f1 = leaf.ci.values["f1"] or (0.0, 0.0), leaf.values["f1"] or 0.0
    assert (low, high) == pytest.approx((f1 - 1.984217 * error, f1 + 1.984217 * error))
    assert "leaving out each of 100 document groups" in str(found)
    extra = Document("a", mentions=(Mention("m", ((0, 1),), cluster="other"),))
    rows, more = (score(gold, one, ci=0.95).rows for one in (system, [extra, *system]))
    assert rows is not None
    assert more is not None
    assert rows.left_out.keys() == more.left_out.keys()


def test_one_unit_is_compared_by_the_jackknife() -> None:
    done = run("compare", GOLD, *SYSTEMS, "-p", "simple-cdec", "-f", "json")
    content = json.loads(done.out)
    assert {test["test"] for test in content["tests"]} == {"jackknife"}
    assert {test["unit"] for test in content["tests"]} == {"topic"}
    assert {test["resamples"] for test in content["tests"]} == {None}
    assert "JK jackknife of the difference" in run("compare", GOLD, *SYSTEMS, "-p", "simple-cdec").out


def test_ace_across_documents_is_one_unit() -> None:
    """And under NIST's reading, a task that a system does not attempt is not scored, nor compared."""
    gold = [ace(f"d{n}", entities="A B C", events="V(A,B)", relations="R(A,C)") for n in range(4)]
    events = [ace(f"d{n}", entities="A B", events="V(A,B)") for n in range(4)]
    relations = [ace(f"d{n}", entities="A B C", relations="R(A,C)") for n in range(4)]
    systems = {"events": events, "relations": relations}
    settings = {"processing": "cross-document"}
    comparison = karat.compare(gold, systems, protocol="ace-2005-nist", settings=settings)
    assert {test.test for test in comparison.tests} == {"jackknife"}
    assert {test.unit for test in comparison.tests} == {"document"}
    assert {test.measure for test in comparison.tests} == {"ace.edr", "ace.emd"}
    by_documents = karat.compare(gold, systems, protocol="ace-2005-nist", resamples=50)
    assert {test.test for test in by_documents.tests} == {"approximate randomisation", "paired bootstrap"}


def test_one_document_has_no_interval() -> None:
    result = karat.score(documents(1, gold=True), documents(1), protocol="tac-2017", measures="nugget", ci=0.95)
    assert result["nugget.span"].micro.ci is None
    assert "intervals-none" in {finding.code for finding in result.warnings}
    comparison = compared({"a": documents(1), "b": documents(1, found=2)}, units=1)
    assert [(system.name, system.rank) for system in comparison.systems] == [("a", 1), ("b", 2)]
    assert comparison.tests == []
    assert "cannot be tested" in str(comparison)
    assert comparison.resamples("nugget.span") == {}


def test_no_mentions_at_all() -> None:
    empty = [Document(f"d{number}") for number in range(5)]
    result = karat.score(empty, empty, protocol="conll-2012", ci=0.95)
    assert result["coref.muc"].micro.ci is not None
    nothing = karat.compare(empty, {"a": empty, "b": empty}, protocol="tac-2017", measures="nugget")
    assert [system.rank for system in nothing.systems] == [1, 1]
    assert all(test.p is None and test.p_adjusted is None for test in nothing.tests)
    assert "No system has a score: nugget.span is undefined." in str(nothing)
    assert "to quote" not in str(nothing)


# Several systems


def test_the_best_system_is_first_and_is_tested() -> None:
    comparison = compared({"base": documents(30, found=2), "good": documents(30), "same": documents(30)})
    assert [(system.name, system.rank) for system in comparison.systems] == [("good", 1), ("same", 1), ("base", 3)]
    assert comparison.baseline == "base"
    assert comparison.comparisons == 3
    test = comparison.test("base", "good", "nugget.type", "approximate randomisation")
    assert test is not None
    assert (test.a, test.b, test.unit, test.resamples) == ("base", "good", "document", 1000)
    assert test.difference == pytest.approx(6 / 7 - 4 / 6)
    assert test.p == 1 / 1001
    assert test.p_adjusted == pytest.approx(3 / 1001)
    text = str(comparison)
    assert "good and same tie for first place (nugget.type+realis F1 85.7)." in text
    assert "Significantly better than the baseline base: good and same." in text


def test_resamples_grow_with_the_comparisons() -> None:
    """40 systems: 39 comparisons with the baseline, and 37 more between neighbours, since it has two of its own."""
    systems = {f"s{number:02}": documents(6, found=1 + number % 4) for number in range(40)}
    comparison = compared(systems, units=6, measures="nugget.span")
    assert len(comparison.systems) == 40
    assert comparison.comparisons == 76
    assert comparison.confidence is not None
    assert comparison.confidence.resamples == 40 * 76
    # All 64 ways to swap six documents were tried.
    assert {test.resamples for test in comparison.tests} == {64, 40 * 76}
    assert comparison.systems[0].rank == 1
    assert max(map(len, str(comparison).split("\n\n")[2].splitlines())) <= 80


@pytest.mark.slow
def test_p_values_are_corrected_within_a_measure_and_test() -> None:
    content = json.loads(run(*COMPARE, "-f", "json").out)
    keys = ["measure", "score", "a", "b", "test", "unit", "resamples", "difference", "p", "p_adjusted"]
    assert all(list(test) == keys for test in content["tests"])
    groups: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for test in content["tests"]:
        groups.setdefault((test["measure"], test["test"]), []).append((test["p"], test["p_adjusted"]))
    assert all(len(group) == content["comparisons"] == 3 for group in groups.values())
    for group in groups.values():
        smallest, adjusted = min(group)
        assert adjusted == pytest.approx(min(1, 3 * smallest))
    assert {test for _, test in groups} == {"approximate randomisation", "paired bootstrap"}


@pytest.mark.slow
def test_the_json_has_every_system_as_score_does() -> None:
    content = json.loads(run(*COMPARE, "-f", "json").out)
    assert list(content["systems"]) == ["eager", "cautious", "literal"]
    assert content["baseline"] == "literal"
    alone = json.loads(run("score", GOLD, SYSTEMS[0], "-p", "tac-2017", "--ci", "95", "-f", "json").out)
    assert content["systems"]["literal"]["scores"] == alone["scores"]


@pytest.mark.slow
def test_an_error_of_another_process_is_reported_as_here(tmp_path: Path) -> None:
    (tmp_path / "bad.jsonl").write_text('{"id": "x", "mentions": [{}]}\n')
    args = ("compare", GOLD, SYSTEMS[0], str(tmp_path / "bad.jsonl"), "-p", "tac-2017")
    one, two = run(*args), run(*args, "--jobs", "2")
    assert one.code == two.code == 1
    assert one.err == two.err
    assert "bad.jsonl, line 1" in one.err


def test_gold_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the number of systems."""
    gold = tmp_path / "gold.tbf"
    assert run("convert", GOLD, str(gold), "--lossy").code == 0
    parsed: list[str] = []
    read = DocumentReader.documents

    def counted(self: DocumentReader, number: int, *args: Any) -> Iterator[Document]:
        parsed.append(self._files[number].name)
        return read(self, number, *args)

    monkeypatch.setattr(DocumentReader, "documents", counted)
    assert run("compare", str(gold), *SYSTEMS, "-m", "nugget.span", *QUICK).code == 0
    assert parsed.count(str(gold)) == 12


def test_a_system_without_some_documents_misses_them() -> None:
    comparison = compared({"all": documents(30), "half": documents(15)})
    half = comparison["half"].scores["nugget.span"]
    assert half.recall == pytest.approx(45 / 120)
    assert comparison.is_significant(comparison.deciding_test("all", "half", "nugget.span"))


def test_a_document_that_only_one_system_has_is_a_unit_of_all() -> None:
    """Under araki-2014, documents that only the system has are scored."""
    gold = str(DEMO / "gold.jsonl")
    more = [*karat.read(gold), Document("extra", mentions=(Mention("m", ((0, 3),)),))]
    comparison = karat.compare(gold, {"gold": gold, "more": more}, protocol="araki-2014")
    assert {len(rows[0].units) for rows in comparison.rows.values()} == {13}


def test_no_errors_at_all() -> None:
    perfect = documents(30, gold=True)
    comparison = compared({"perfect": perfect, "also": perfect})
    assert [system.rank for system in comparison.systems] == [1, 1]
    ci = comparison["perfect"].scores["nugget.type"].micro.ci
    assert ci is not None
    assert ci.values["f1"] == (1.0, 1.0)
    assert {test.p_adjusted for test in comparison.tests} == {1.0}
    assert "tie for first place" in str(comparison)


def test_one_system() -> None:
    comparison = compared({"only": documents(30)})
    assert comparison.tests == []
    assert [system.rank for system in comparison.systems] == [1]
    assert "only is the only system" in str(comparison)
    assert "vs " not in str(comparison)


def test_runs_of_a_system_are_averaged() -> None:
    done = run("compare", GOLD, SYSTEMS[0], f"mix={SYSTEMS[1]},{SYSTEMS[2]}", "-p", "tac-2017", "-m", "nugget.type")
    assert done.code == 0
    f1 = [float(karat.score(GOLD, path, protocol="tac-2017")["nugget.type"].f1 or 0) for path in SYSTEMS[1:]]
    mean, deviation = sum(f1) / 2, abs(f1[0] - f1[1]) / 2**0.5
    assert re.search(rf"^1     mix +{100 * mean:.2f} \[.*\] +{100 * deviation:.2f} ", done.out, re.MULTILINE)
    content = json.loads(run("compare", GOLD, f"mix={SYSTEMS[1]},{SYSTEMS[2]}", "-p", "tac-2017", "-f", "json").out)
    leaf = content["systems"]["mix"]["scores"]["nugget.type"]["micro"]
    assert leaf["f1"] == pytest.approx(mean)
    assert leaf["deviation"]["f1"] == pytest.approx(deviation)
    assert len(content["systems"]["mix"]["runs"]) == 2


@pytest.mark.slow
def test_a_folder_has_one_system_per_file(tmp_path: Path) -> None:
    folder = tmp_path / "submissions"
    (folder / "b").mkdir(parents=True)
    (folder / "a.jsonl").write_bytes(Path(SYSTEMS[0]).read_bytes())
    (folder / "b" / "part.jsonl").write_bytes(Path(SYSTEMS[1]).read_bytes())
    (folder / "README").write_text("Thanks for all the submissions.\n")
    done = run("compare", GOLD, str(folder), "-p", "tac-2017", "-m", "nugget")
    assert done.out.startswith(
        "tac-2017: TAC KBP event nuggets 2015-2017 (scorer v1.8); ranked by nugget.type+realis (--sort-by)\n"
    )
    assert "systems  2; the baseline is a\n" in done.out
    assert "README: skipped: the format is not recognised [system-skipped]" in done.out
    assert "the baseline is b" in run("compare", GOLD, str(folder), "-p", "tac-2017", "--baseline", "b").out
    wrong = run("compare", GOLD, str(folder), "-p", "tac-2017", "--baseline", "c")
    assert wrong.code == 2
    assert "there is no system 'c'" in wrong.err


def test_gold_in_the_folder_is_no_system(tmp_path: Path) -> None:
    assert run("demo", "--into", str(tmp_path)).code == 0
    gold = str(tmp_path / "gold.jsonl")
    done = run("compare", gold, str(tmp_path), "-p", "tac-2017", "-m", "nugget.type", "-f", "csv")
    rows = list(csv.DictReader(done.out.splitlines()))
    assert {row["system"] for row in rows} == {"cautious", "eager", "literal"}


def test_a_folder_named_as_gold_is_one_system(tmp_path: Path) -> None:
    for side in ("gold", "system"):
        (tmp_path / side).mkdir()
        (tmp_path / side / "doc.tbf").write_text("#BeginOfDocument d\n#EndOfDocument\n")
    named = named_systems([str(tmp_path / "system")], str(tmp_path / "gold"))
    assert named.paths == {"system": (str(tmp_path / "system"),)}


def test_an_existing_path_is_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a=b.jsonl").write_bytes(Path(SYSTEMS[0]).read_bytes())
    Path("x,y.jsonl").write_bytes(Path(SYSTEMS[0]).read_bytes())
    named = named_systems(["a=b.jsonl", "two=x,y.jsonl", "three=p,q"], "gold")
    assert named.paths == {"a=b": ("a=b.jsonl",), "two": ("x,y.jsonl",), "three": ("p", "q")}


def test_systems_of_one_name_are_told_apart() -> None:
    assert list(named_systems(["one/out.jsonl", "two/out.jsonl", "c.tbf.gz"], "g").paths) == [
        "one/out.jsonl",
        "two/out.jsonl",
        "c",
    ]
    with pytest.raises(karat.UsageError, match="two systems are called 'a'"):
        named_systems(["a=x", "a=y"], "g")


def test_several_systems_are_for_compare() -> None:
    done = run("score", GOLD, *SYSTEMS)
    assert done.code == 2
    assert "karat compare" in done.err


def test_sorting_by_another_measure() -> None:
    done = run(*COMPARE, *QUICK, "--sort-by", "nugget.span")
    assert "ranked by nugget.span (--sort-by)" in done.out
    assert re.search(r"^1     literal +93.91 ", done.out, re.MULTILINE)
    wrong = run(*COMPARE, *QUICK, "--sort-by", "nugget.spam")
    assert wrong.code == 1
    assert "Did you mean nugget.span?" in wrong.err


@pytest.mark.parametrize(("sort_by", "hint"), [("foo", "Known: ace, arg"), ("b3", "Did you mean coref.b3?")])
@pytest.mark.parametrize("command", [COMPARE, ("campaign", ".", "--gold", GOLD)])
def test_sorting_by_a_measure_of_no_family(command: tuple[str, ...], sort_by: str, hint: str) -> None:
    done = run(*command, "--sort-by", sort_by)
    assert done.code == 2
    assert hint in done.err


def test_systems_are_ranked_by_the_first_headline_that_gold_supports() -> None:
    """Nobody annotated coreference: gold has no cluster of two, and the coreference of singletons does not rank."""
    systems = {"few": documents(8, found=1), "many": documents(8, found=4)}
    comparison = karat.compare(documents(8, gold=True), systems, protocol="tac-2017", resamples=50)
    assert comparison.sort_by == "nugget.type+realis"
    assert comparison.headline_ids() == ["nugget.type+realis", "nugget.type", "nugget.span"]
    assert [system.name for system in comparison.systems] == ["many", "few"]
    assert "ranked by nugget.type+realis (--sort-by)" in str(comparison).split("\n")[0]
    clustered = karat.compare(GOLD, {"a": SYSTEMS[0], "b": SYSTEMS[1]}, protocol="tac-2017", resamples=50)
    assert clustered.headline_ids()[-1] == "coref.avg4"


def test_headlines_of_other_protocols(tmp_path: Path) -> None:
    forest = tmp_path / "gold.forest"
    forest.write_text("#kind member\nd\t(1(2))\n#kind subevent\nd\t(3(4)(5))\n")
    hierarchies = karat.compare(forest, {"same": forest, "again": forest}, protocol="araki-2014")
    assert hierarchies.headline_ids() == ["hierarchy.subevent.mucp", "hierarchy.member.mucp"]
    elements = [ace(entities="E F", events="V(E,F)")]
    values = karat.compare(elements, {"mine": elements, "other": elements}, protocol="ace-2005")
    assert values.headline_ids() == ["ace.edr", "ace.vdr"]


def test_gold_that_supports_no_headline_is_noted() -> None:
    """Clusters are all that `conll-2012` scores, and gold has none of two mentions."""
    systems = {"one": documents(4), "other": documents(4, spurious=1)}
    comparison = karat.compare(documents(4, gold=True), systems, protocol="conll-2012", resamples=50)
    assert comparison.sort_by == "coref.conll"
    note = "note: gold supports no headline measure of conll-2012: systems are ranked by coref.conll"
    assert f"{note} [headline-unsupported]" in str(comparison)


def test_gold_without_links_is_noted_where_hierarchies_rank() -> None:
    """Then araki-2014 has only the score of mentions, which ranks; a selection of it needs no note."""
    systems = {"one": documents(4), "other": documents(4, spurious=1)}
    comparison = karat.compare(documents(4, gold=True), systems, protocol="araki-2014", resamples=50)
    assert comparison.sort_by == "coref.mention"
    shown = str(comparison)
    assert "gold supports no headline measure of araki-2014: systems are ranked by coref.mention [" in shown
    assert "hierarchy is not scored: gold has no links of a hierarchy [row-absent]" in shown
    chosen = karat.compare(documents(4, gold=True), systems, protocol="araki-2014", resamples=50, measures="coref")
    assert "not scored" not in str(chosen)
    assert "supports no headline" not in str(chosen)


def test_a_tie_is_called_a_tie() -> None:
    for units in (1, 10):  # without tests, and with them
        systems = {name: documents(units, found=2) for name in ("a", "b", "c")} | {"worse": documents(units, found=1)}
        words = str(compared(systems, units=units, resamples=50))
        assert "a, b and c tie for first place (nugget.type+realis F1 66.7)." in words
        assert "highest score" not in words


def test_several_protocols() -> None:
    args = ("compare", GOLD, *SYSTEMS[:2], "-p", "simple-cdec", "-p", "pure-cdec", "-m", "coref.conll")
    content = json.loads(run(*args, "-f", "json").out)
    assert list(content["protocols"]) == ["simple-cdec", "pure-cdec"]
    assert "pure-cdec: PURE-CDEC" in run(*args).out


# Tables for papers


def test_latex() -> None:
    out = run(*COMPARE, "-m", "nugget", "-f", "latex").out
    assert r"Signature: \texttt{karat=" in out
    assert r"*: significantly different from literal (approximate randomisation, p \textless{} 0.05" in out
    assert r"& \multicolumn{1}{c}{nugget.type+realis} & \multicolumn{1}{c}{nugget.type} &" in out
    assert "\nsystem & F1 & F1 & F1 " in out
    assert r"eager & \textbf{68.91}$^{*}$ {\scriptsize [64.6, 72.7]} & \textbf{75.98}$^{*}$" in out
    assert out.count(r"\begin{table}") == out.count(r"\label{tab:karat-") == 2
    rows = [line for line in out.splitlines() if line.endswith(r"\\")]
    assert rows
    one = run("score", GOLD, SYSTEMS[0], "-p", "tac-2017", "--by", "type", "-m", "nugget.type", "-f", "latex").out
    assert r"Conflict\_Attack & 4 & 17 &" in one
    for options in (("-m", "nugget.type"), ("-m", "nugget", "--wide")):
        full = run(*COMPARE, *options, "-f", "latex").out
        assert "\nsystem & P & R & F1 " in full
        assert full.count(r"\begin{table*}") == full.count(r"\end{table*}") == 2 * ("--wide" in options)
    assert r"Conflict\_Attack & 4 & 2.78 \\" in run("describe", GOLD, "-f", "latex").out


def test_latex_escapes_everything_special() -> None:
    from karat.report.latex import latex
    from karat.report.tables import Page, Table

    table = Table.of([r"a&b", r"50%"], [[r"[x]_{y}\~^", "-1.5"], ["$#", "-"]])
    page = Page([table], caption=["line\nbreak"], signatures=["a_b|c=d"])
    assert latex([page]) == (
        "% needs \\usepackage{booktabs}\n\n"
        "\\begin{table}[t]\n\\centering\\small\\setlength{\\tabcolsep}{3pt}\n"
        "\\begin{tabular}{lr}\n\\toprule\na\\&b & 50\\% \\\\\n\\midrule\n"
        "{[}x]\\_\\{y\\}\\textbackslash{}\\textasciitilde{}\\textasciicircum{} & $-$1.5 \\\\\n\\$\\# & - \\\\\n"
        "\\bottomrule\n\\end{tabular}\n"
        "\\caption{line\\textbackslash{}u000abreak. -: undefined. "
        "Signature: \\texttt{a\\_b\\textbar{}\\allowbreak{}c=\\allowbreak{}d}}\n"
        f"\\label{{tab:karat-{crc32(repr(page).encode()):08x}-1}}\n\\end{{table}}\n"
    )


def test_markdown() -> None:
    out = run(*COMPARE, "-m", "nugget", "-f", "markdown").out
    assert "\n\nsignature `karat=0.1.0|protocol=tac-2017|unit=char|gold=sha256:" in out
    assert "<!--" not in out, "readers see how the scores were made"
    assert r"| 1 | eager | **68.91** [64.6, 72.7] | +20.99\* |" in out
    rows = [line for line in out.splitlines() if line.startswith("| ")]
    assert {line.count(" | ") for line in rows} == {7, 4, 1}
    assert r"| Conflict\_Attack | 4 |" in run("describe", GOLD, "-f", "markdown").out


@pytest.mark.slow
def test_csv_is_one_table() -> None:
    for args in (
        (*COMPARE, *QUICK),
        ("score", GOLD, SYSTEMS[0], "-p", "tac-2017", "--by", "type", "--per-document", "--ci", "95", *QUICK),
        ("score", GOLD, SYSTEMS[0], "-p", "tac-2017", "-p", "muc-5", "--digits", "1"),
        ("describe", GOLD),
    ):
        out = run(*args, "-f", "csv").out
        rows = list(csv.reader(out.splitlines()))
        assert rows[0][-1] == "signature"
        assert all(row[-1].startswith("karat=") for row in rows[1:])
        assert len({len(row) for row in rows}) == 1
        assert len(rows) > 10
    lines = run(*COMPARE, "-m", "nugget", "-f", "csv", "--digits", "1").out.splitlines()
    row = next(csv.DictReader(lines))
    assert (row["system"], row["measure"], row["value"], row["low"]) == ("eager", "nugget.span", "77.7", "74.0")


def test_cells_of_csv_are_no_formulas() -> None:
    names = ["=1+1", "+x", "-m", "@SUM(A1)", "\t=1", "-", "-1.5", "+2e-05", "plain", "'"]
    out = list(csv.reader(markup.csv(["=head"], [[name] for name in names] + [[-1.5]]).splitlines()))
    assert [row[0] for row in out] == [
        *("'=head", "'=1+1", "'+x", "'-m", "'@SUM(A1)", "'\t=1", "-", "-1.5", "+2e-05", "plain", "'", "-1.5")
    ]


def test_details_are_no_table() -> None:
    done = run("score", GOLD, SYSTEMS[0], "-p", "tac-2017", "--details", "-f", "csv")
    assert done.code == 2
    assert "Use text or json." in done.err


# In words


def scores(**f1: float) -> dict[str, Score]:
    return {f"nugget.{name}": Score(ScoreValues({"f1": value})) for name, value in f1.items()}


@pytest.mark.parametrize(
    ("f1", "sentence"),
    [
        (
            {"span": 0.81, "type": 0.60, "realis": 0.7},
            "21 points are lost between span and type: the type is the bottleneck",
        ),
        (
            {"span": 0.81, "type": 0.80, "realis": 0.5},
            "31 points are lost between span and realis: the realis is the bottleneck",
        ),
        ({"span": 0.60, "type": 0.59}, "40 points are lost on spans alone: detection is the bottleneck"),
    ],
)
def test_the_bottleneck_in_words(f1: dict[str, float], sentence: str) -> None:
    assert list(bottleneck(scores(**f1), mentions=20)) == [sentence]


@pytest.mark.parametrize(
    "f1", [{"span": 0.97, "type": 0.96}, {"span": 0.8, "type": 0.602}, {"span": 0.7}, {"type": 0.3}, {}]
)
def test_no_bottleneck_where_it_is_not_clear(f1: dict[str, float]) -> None:
    """Little is lost, two losses are alike, or nothing is known about attributes."""
    assert list(bottleneck(scores(**f1), mentions=20)) == []


def test_no_bottleneck_of_a_few_mentions() -> None:
    assert list(bottleneck(scores(span=0.9, type=0.5), mentions=19)) == []


ERRORS = ("compare", GOLD, f"a={SYSTEMS[0]}", f"b={SYSTEMS[1]},{SYSTEMS[2]}", "-p", "tac-2017", "--errors")


@pytest.mark.slow
def test_errors_of_systems_side_by_side() -> None:
    """Errors of two runs are means; the class that all systems together would gain most from comes first."""
    out = run(*ERRORS, "-m", "nugget.type").out
    alone = [
        run("score", GOLD, one, "-p", "tac-2017", "-m", "nugget.type", "--errors", "-f", "json") for one in SYSTEMS
    ]
    missed = [json.loads(one.out)["errors"]["missed"] for one in alone]
    mean = (missed[1]["count"] + missed[2]["count"]) / 2
    fixed = 100 * (missed[1]["fixed"]["f1"] + missed[2]["fixed"]["f1"]) / 2
    lines = [line.split() for line in out.splitlines()]
    assert ["nugget.type", "errors", "b", "a"] in lines
    assert ["missed", f"{mean:g}", str(missed[0]["count"])] in lines
    assert ["missed", f"{fixed:.2f}", f"{100 * missed[0]['fixed']['f1']:.2f}"] in lines
    for form in ("markdown", "latex"):
        assert "nugget.type F1 if fixed" in run(*ERRORS, "-m", "nugget.type", "-f", form).out


def test_errors_of_systems_in_json_and_csv() -> None:
    systems = json.loads(run(*ERRORS, "-m", "nugget.type", "-f", "json").out)["systems"]
    assert set(systems["a"]["errors"]) == {"split", "merged", "wrong type", "boundary", "missed", "spurious"}
    assert "errors" not in systems["b"]
    assert all(one["errors"]["missed"]["count"] for one in systems["b"]["runs"])
    rows = run(*ERRORS, "-m", "nugget.type", "-f", "csv").out.splitlines()
    (wrong,) = (row for row in rows if row.startswith("tac-2017,") and ",a,1,error,wrong type," in row)
    assert ",,52," in wrong
    assert ",nugget.type,f1,93.91," in wrong


# Python


def test_the_object_that_python_gets() -> None:
    comparison = karat.compare(GOLD, dict(zip("abc", SYSTEMS, strict=True)), protocol="tac-2017", measures="nugget")
    rows = comparison.to_dicts()
    assert len(rows) == 12
    assert len({tuple(row) for row in rows}) == 1
    values = comparison.resamples("nugget.type")
    assert {name: len(own) for name, own in values.items()} == {"a": 1000, "b": 1000, "c": 1000}
    assert repr(comparison) == "<Comparison tac-2017, by nugget.type+realis: 1. b, 2. c, 2. a>"
    html = comparison._repr_html_()
    assert "<b>68.91" in html
    assert comparison.first.signature in html
    alone = karat.score(GOLD, SYSTEMS[0], protocol="tac-2017", measures="nugget.type", ci=0.95)
    assert "60.25 [54.1, 66.9]" in alone._repr_html_()
    with pytest.raises(KeyError, match="'d' was not compared"):
        comparison["d"]
    with pytest.raises(karat.UsageError):
        karat.compare(GOLD, {}, protocol="tac-2017")


@pytest.mark.slow
def test_calibration_prints_its_table() -> None:
    """With few repetitions the rates are rough; that equal systems rarely differ can still be seen."""
    script = Path(__file__).parents[1] / "bench" / "calibrate.py"
    command = [sys.executable, str(script), "--repetitions", "20", "--resamples", "100"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    rows = re.findall(r"^\| (.+?) \| (\d+) \| ([\d.]+) % \|", printed, re.MULTILINE)
    assert len(rows) == 15
    assert all(float(share) >= 70 if "interval" in what else float(share) <= 30 for what, _, share in rows)


def test_a_system_that_matches_nothing_is_not_tested() -> None:
    """F1 is undefined where precision and recall are 0; it is printed as 0."""
    systems = {name: documents(4, found=1) for name in ("a", "b")} | {"wrong": documents(4, found=0, spurious=1)}
    words = str(compared(systems, units=4, resamples=50))
    assert "No test for wrong: precision and recall of nugget.type+realis are 0, so that F1 is undefined." in words
    assert "No score for" not in words
    assert "-0.00" not in words
    all_wrong = str(compared(dict.fromkeys(("a", "b"), systems["wrong"]), units=4, resamples=50))
    assert "No system has a score above 0: precision and recall of nugget.type+realis are 0." in all_wrong
    assert "to quote   a: nugget.type+realis F1 0.0" in all_wrong
