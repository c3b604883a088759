"""Errors by class: which errors there are, that each counts once, and that repairing all of them ends at gold."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from msgspec.structs import replace

import karat
from karat.api import Result as ApiResult
from karat.cli import cli
from karat.corpus import Corpus
from karat.engine import RunOptions, score
from karat.errors import Findings, KaratError, UsageError
from karat.filters.distinct import Distinct
from karat.insight.analysing import Analysis
from karat.insight.collecting import TargetErrors
from karat.insight.edits import EditedCorpus
from karat.insight.found import FoundError
from karat.model import Document, Link, Mention
from karat.protocols import PROTOCOLS, resolve
from karat.results import ClusterRecord, Result
from karat.testing.corpora import Sides, distinct, sides
from tests.corpora import ace_sides, corpus, mention

EXAMPLES = settings(max_examples=12, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
ACE = [name for name in PROTOCOLS.names() if name.startswith("ace-")]
OTHERS = [name for name in PROTOCOLS.names() if not name.startswith("ace-")]


def analysis(
    gold: Corpus, system: Corpus, protocol: str, *measures: str, details: bool = False
) -> tuple[Analysis, Result]:
    chosen = resolve(protocol)
    (result,) = score(gold, system, [chosen], RunOptions(measures, details=details), findings=Findings())
    return Analysis(gold, system, chosen, result, measures=measures), result


def found(gold: Corpus, system: Corpus, protocol: str, *measures: str) -> Sequence[TargetErrors]:
    return analysis(gold, system, protocol, *measures)[0].found()


def repaired(gold: Corpus, system: Corpus, protocol: str, measure: str, *, rounds: int = 1) -> Corpus:
    """The system after repairing one class after another, in the order of definition."""
    for _ in range(rounds):
        for name in found(gold, system, protocol, measure)[0].classes():
            errors = [error for error in found(gold, system, protocol, measure)[0].errors if error.name == name]
            system = EditedCorpus(gold, system, [repair for error in errors for repair in error.repairs])
    return system


def scorable(both: Sides, protocol: str) -> tuple[Corpus, Corpus]:
    """Corpora that the protocol accepts: each span once on a side, or every document on both, if it wants that."""
    gold, system = both
    if protocol.startswith(("crac", "ace")):
        there = {document.id for document in system}
        system = [*system, *(Document(one.id) for one in gold if one.id not in there)]
    chosen = resolve(protocol)
    # Where a system mention has several gold mentions on its span, not even gold is perfect under some protocols.
    if "perfect" not in chosen.laws or any(isinstance(one, Distinct) for one in chosen.filters):
        gold, system = distinct((list(gold), list(system)))
    return corpus(gold), corpus(system)


QUICK = ("conll-2012", "simple-cdec", "exact-2013")


@pytest.mark.parametrize(
    "protocol", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in OTHERS]
)
def test_repairing_all_classes_ends_at_gold(protocol: str) -> None:
    @given(both=sides())
    @EXAMPLES
    def check(both: Sides) -> None:
        gold, system = scorable(both, protocol)
        try:
            targets = found(gold, system, protocol)
            perfect = analysis(gold, gold, protocol)[1]
        except KaratError:
            return
        for one in targets:
            try:
                rounds = 1 if one.target.errors_of == "clusters" else 3
                end = repaired(gold, system, protocol, one.target.id, rounds=rounds)
                result = analysis(gold, end, protocol, one.target.id)
            except KaratError as error:  # links of repaired events may form a cycle
                if error.finding.code != "link-cycle":
                    raise
                continue
            left = result[0].found()[0].errors
            if left and all(within_one_event(error) for error in left):
                continue
            assert left == [], one.target.id
            assert result[1][one.target.id].micro.values == pytest.approx(perfect[one.target.id].micro.values)

    check()


def within_one_event(error: FoundError) -> bool:
    """A link that is missing between two events which the system takes for one: their cluster has to be divided."""
    return any(link.source == link.target for _, edit in error.repairs for link, added in edit.links.items() if added)


MENTIONS = [
    ("tac-2017", "nugget.span"),
    ("tac-2017", "nugget.type"),
    ("tac-2017", "nugget.type+realis"),
    ("liu-2015", "nugget.type+realis"),
    ("tac-pilot", "nugget.span"),
    ("tac-pilot", "nugget.accuracy.type"),
    ("exact-2013", "nugget.type"),
    ("muc-5", "muc.span"),
    ("muc-5", "muc.type"),
    ("muc-5", "muc.all"),
    ("crac-2024", "coref.mor"),
]
LINKS = [
    ("araki-2014", "hierarchy.subevent.mucp"),
    ("tac-2017", "sequence.after"),
    ("tac-2017", "sequence.subevent"),
    ("tac-2017", "sequence.all"),
]


@pytest.mark.parametrize(("protocol", "measure"), [*MENTIONS, *LINKS])
def test_every_outcome_that_is_not_right_is_explained_once(protocol: str, measure: str) -> None:
    """Errors explain as many outcomes as there are that did not earn everything."""

    @given(both=sides())
    @EXAMPLES
    def check(both: Sides) -> None:
        gold, system = scorable(both, protocol)
        try:
            chosen, result = analysis(gold, system, protocol, measure, details=True)
        except KaratError:  # gold has no such links
            return
        listed = [one.counts for one in result.outcomes.get(measure, ())]
        if (protocol, measure) in LINKS:
            wrong = sum(any(ratio.num < ratio.den for ratio in one.ratios().values()) for one in listed)
        else:
            wrong = sum(one.lost() > 0 for one in listed)
        errors = [error for one in chosen.found() for error in one.errors]
        assert sum(error.instance.outcomes for error in errors) == wrong

    check()


@pytest.mark.parametrize("protocol", ["conll-2012", "tac-2017", "simple-cdec", "pure-cdec", "bejan-harabagiu-2014"])
def test_errors_of_clusters_are_the_links_that_muc_lost(protocol: str) -> None:
    """Spans repaired, MUC's recall loses a link per division and missing mention, and all links of a missing entity."""

    @given(both=sides())
    @EXAMPLES
    def check(both: Sides) -> None:
        gold, system = scorable(both, protocol)
        chosen, _ = analysis(gold, system, protocol, "coref.muc")
        spans = [error for one in chosen.found() for error in one.errors if error.name == "span error"]
        system = EditedCorpus(gold, system, [repair for error in spans for repair in error.repairs])
        chosen, result = analysis(gold, system, protocol, "coref.muc")
        counts = result["coref.muc"].micro.counts
        assert counts is not None
        lost = counts.to_dict()
        errors = [error for one in chosen.found() for error in one.errors]
        number = Counter(error.name for error in errors)
        entities = Counter[str]()
        for error in errors:
            (record,) = (*error.instance.gold, *error.instance.system)[:1]
            if error.name in ("missing entity", "extra entity"):
                assert isinstance(record, ClusterRecord)
                entities[error.name] += record.size - 1
        missed = number["divided entity"] + number["missing mention"] + entities["missing entity"]
        spurious = number["conflated entity"] + number["extra mention"] + entities["extra entity"]
        # With a span repaired, its links are counted among the others.
        assert missed == lost["recall_den"] - lost["recall_num"]
        assert spurious == lost["precision_den"] - lost["precision_num"]

    check()


@pytest.mark.parametrize("protocol", ACE)
def test_every_element_that_is_not_right_is_one_error(protocol: str) -> None:
    @given(both=ace_sides())
    @EXAMPLES
    def check(both: Sides) -> None:
        gold, system = scorable(both, protocol)
        try:
            chosen, result = analysis(gold, system, protocol, details=True)
        except KaratError:
            return
        for one in chosen.found():
            items = result.details[one.target.id]["items"]
            wrong = [item for item in items if item["outcome"] != "correct" or item["worth"] - item["value"] > 1e-6]
            assert len(one.errors) == len(wrong)
            assert {error.instance.document for error in one.errors} <= {item["document"] for item in wrong}

    check()


ENDING = ["ace.edr", "ace.val", "ace.tern", "ace.rdr", "ace.emd"]
"""Not events: repairs of arguments that several of them share may need further rounds."""


@pytest.mark.slow
@pytest.mark.parametrize("measure", ENDING)
def test_repairing_all_elements_ends_at_gold(measure: str) -> None:
    @given(both=ace_sides())
    @settings(EXAMPLES, max_examples=6)
    def check(both: Sides) -> None:
        gold, system = scorable(both, "ace-2005")
        try:
            perfect = analysis(gold, gold, "ace-2005", measure)[1]
            found(gold, system, "ace-2005", measure)
        except KaratError:  # gold has no such elements
            return
        if found(gold, system, "ace-2005", measure):
            end = repaired(gold, system, "ace-2005", measure, rounds=4)
            after = analysis(gold, end, "ace-2005", measure)[1]
            # Elements without value cannot be mapped, so that not even gold has a precision of 1.
            assert after[measure].value == pytest.approx(perfect[measure].value)

    check()


def classes(result: ApiResult) -> dict[str, int]:
    assert result.errors is not None
    return {one.name: one.count for measure in result.errors.measures for one in measure.found()}


def one(*mentions: Mention, id_: str = "d") -> Document:
    return Document(id_, mentions=mentions)


def wrong(gold: Sequence[Mention], system: Sequence[Mention], **options: Any) -> ApiResult:
    given: dict[str, Any] = {"protocol": "tac-2017", "measures": "nugget.type+realis", "errors": True} | options
    result: ApiResult = karat.score([one(*gold)], [one(*system)], **given)
    return result


GOLD = mention("g", (10, 20), type="Die", realis="Actual")


@pytest.mark.parametrize(
    ("system", "expected"),
    [
        ([GOLD], {}),
        ([], {"missed": 1}),
        ([GOLD, mention("s", (30, 40), type="Die", realis="Actual")], {"spurious": 1}),
        ([mention("s", (10, 19), type="Die", realis="Actual")], {"boundary": 1}),
        ([mention("s", (10, 20), type="Hurt", realis="Actual")], {"wrong type": 1}),
        ([mention("s", (10, 20), type="Die", realis="Other")], {"wrong realis": 1}),
        ([mention("s", (10, 20), type="Hurt", realis="Other")], {"wrong type": 1}),
        ([mention("s", (10, 19), type="Hurt", realis="Actual")], {"wrong type": 1}),
        ([mention("s", (10, 20), type="d-i-e", realis="ACTUAL")], {}),
        ([mention("s", (10, 20), realis="Actual")], {"wrong type": 1}),
        (
            [
                mention("s", (10, 14), type="Die", realis="Actual"),
                mention("t", (15, 20), type="Die", realis="Actual"),
            ],
            {"split": 1},
        ),
        (
            [
                mention("s", (10, 16), type="Die", realis="Actual"),
                mention("t", (15, 20), type="Die", realis="Actual"),
            ],
            {"boundary": 1, "spurious": 1},
        ),
        ([GOLD, mention("s", (10, 20), type="Hurt", realis="Actual")], {"spurious": 1}),
    ],
)
def test_the_first_class_that_describes_an_error(system: Sequence[Mention], expected: dict[str, int]) -> None:
    assert classes(wrong([GOLD], system)) == expected


def test_one_mention_over_several() -> None:
    gold = [GOLD, mention("h", (22, 30), type="Die", realis="Actual")]
    result = wrong(gold, [mention("s", (10, 30), type="Die", realis="Actual")])
    assert classes(result) == {"merged": 1}
    assert result.errors is not None
    assert result.errors["merged"].fixed["f1"] == 1
    assert result.errors["merged"].share == pytest.approx(1)
    assert len(result.errors["merged"].instances[0].gold) == 2


def test_exact_matching_has_near_misses_too() -> None:
    system = [mention("s", (10, 19), type="Die", realis="Actual")]
    assert classes(wrong([GOLD], system, protocol="exact-2013", measures="nugget.type")) == {"boundary": 1}


def test_a_class_alone_is_repaired() -> None:
    """A wrong type on a wrong span: fixing types leaves the span as it is."""
    result = wrong([GOLD], [mention("s", (10, 15), type="Hurt", realis="Actual")])
    assert result.errors is not None
    dice = 2 * 5 / 15
    assert result.errors["wrong type"].fixed["f1"] == pytest.approx(dice)
    assert result.errors["wrong type"].share == pytest.approx(dice)
    assert result["nugget.type+realis"].f1 is None  # the system as it was is not touched


def test_no_errors_at_all() -> None:
    result = karat.score([one(GOLD)], [one(GOLD)], protocol="tac-2017", errors=True)
    assert classes(result) == {}
    content = result.to_dict()
    assert content["errors"]["missed"] == {
        "measure": "nugget.type+realis",
        "count": 0,
        "share": None,
        "fixed": {"precision": 1, "recall": 1, "f1": 1},
    }
    assert "nugget.type+realis F1: no errors" in str(result)


def test_an_empty_system_has_missed_everything() -> None:
    result = wrong([GOLD], [])
    assert result.errors is not None
    assert (result.errors["missed"].share, result.errors["missed"].fixed["f1"]) == (1, 1)


def test_a_document_that_the_system_lacks_is_repaired() -> None:
    gold = [one(GOLD, id_="a"), one(GOLD, id_="b")]
    result = karat.score(gold, gold[:1], protocol="tac-2017", measures="nugget.type", errors=True)
    assert classes(result) == {"missed": 1}
    assert result.errors is not None
    assert result.errors["missed"].fixed["f1"] == 1


def test_confusions_count_every_mention_once() -> None:
    gold = [GOLD, mention("h", (30, 35), type="Die", realis="Actual"), mention("i", (50, 55), type="Hurt")]
    system = [
        mention("s", (10, 20), type="Hurt", realis="Actual"),
        mention("t", (30, 35), type="die", realis="Actual"),
        mention("u", (70, 75), type="Attack"),
    ]
    result = wrong(gold, system)
    content = result.to_dict()["confusions"]["nugget.type+realis"]["type"]
    assert content == {
        "confusion": {"Die": {"Die": 1, "Hurt": 1}},
        "missed": {"Hurt": 1},
        "spurious": {"Attack": 1},
    }


def test_errors_by_field() -> None:
    gold = [GOLD, mention("h", (30, 35), type="Hurt", realis="Actual")]
    result = wrong(gold, [mention("s", (10, 20), type="Hurt", realis="Actual")], by=["type", "document"])
    assert result.to_dict()["errors_by"] == {
        "type": {"Die": {"wrong type": 1}, "Hurt": {"missed": 1}},
        "document": {"d": {"wrong type": 1, "missed": 1}},
    }
    assert "errors by type" in str(result)


def test_entities_across_documents() -> None:
    """An entity of two documents that the system divides, and one that it conflates with another."""

    def document(id_: str, *clusters: str) -> Document:
        mentions = [mention(f"m{n}", (10 * n, 10 * n + 5), cluster=cluster) for n, cluster in enumerate(clusters)]
        return Document(id_, topic="1", mentions=tuple(mentions))

    gold = [document("a", "X", "X", "Y"), document("b", "X", "Y", "Z")]
    system = [document("a", "X", "X", "Y"), document("b", "V", "Y", "Y")]
    result = karat.score(gold, system, protocol="simple-cdec", errors=True)
    assert classes(result) == {"divided entity": 1, "conflated entity": 1}
    assert result.errors is not None
    (divided,) = result.errors["divided entity"].instances
    assert divided.document == "b"
    assert [record.id for record in divided.system if isinstance(record, ClusterRecord)] == ["X", "V"]
    within = karat.score(gold, system, protocol="conll-2012", errors=True)
    assert classes(within) == {"conflated entity": 1}  # X is in one part in each document


def test_singletons_that_are_dropped_are_no_errors() -> None:
    gold = [mention("a", (0, 5), cluster="X"), mention("b", (10, 15), cluster="X"), mention("c", (20, 25))]
    options: dict[str, Any] = {"protocol": "conll-2012", "measures": "coref.conll"}
    kept = wrong(gold, gold[:2], **options)
    assert classes(kept) == {"missing entity": 1}
    assert classes(wrong(gold, gold[:2], settings={"singletons": "drop-each"}, **options)) == {}


def test_a_repair_that_cannot_be_scored() -> None:
    """Adding the missing links alone closes a cycle with a wrong one."""
    events = [mention(f"e{n}", (10 * n, 10 * n + 5)) for n in range(3)]
    gold = Document("d", mentions=tuple(events), links=(Link("subevent", "e0", "e1"), Link("subevent", "e1", "e2")))
    system = Document("d", mentions=tuple(events), links=(Link("subevent", "e2", "e0"),))
    result = karat.score([gold], [system], protocol="araki-2014", measures="hierarchy.subevent.mucp", errors=True)
    assert classes(result) == {"missing link": 2, "wrong link": 1}
    assert result.errors is not None
    missing = result.errors["missing link"]
    assert (missing.fixed["f1"], missing.share) == (None, None)
    assert "cycle" in missing.why_not
    assert "missing link cannot be repaired alone" in str(result)


def test_a_measure_that_is_named_is_analysed() -> None:
    named = wrong([GOLD], [], measures=["nugget.span", "nugget.type"])
    assert named.errors is not None
    assert [measure.id for measure in named.errors.measures] == ["nugget.span", "nugget.type"]
    every = karat.score([one(GOLD)], [one()], protocol="tac-2017", errors=True)
    assert every.errors is not None
    assert [measure.id for measure in every.errors.measures] == ["nugget.type+realis", "coref.avg4"]
    assert set(every.to_dict()["errors"]) >= {"missed", "missing entity"}
    both = named.to_dict()["errors"]
    assert {"nugget.span: missed", "nugget.type: missed", "wrong type"} <= set(both)


def test_the_order_of_documents_and_links_changes_nothing() -> None:
    @given(both=sides())
    @settings(EXAMPLES, max_examples=5)
    def check(both: Sides) -> None:
        options: dict[str, Any] = {"protocol": "tac-2017", "errors": True, "details": True}
        turned = [[replace(one, links=one.links[::-1]) for one in reversed(side)] for side in both]
        results = [karat.score(*pair, **options).to_dict()["errors"] for pair in (both, turned)]
        assert results[0] == results[1]

    check()


def test_the_command_line() -> None:
    gold, system = "tests/data/gold.tbf", "tests/data/system.tbf"
    for form in ("text", "json", "csv", "markdown", "latex"):
        options = ["score", gold, system, "-p", "tac-2017", "-m", "nugget", "--errors", "--by", "type", "-f", form]
        result = CliRunner().invoke(cli, options)
        assert result.exit_code == 0, result.output
        assert "wrong type" in result.stdout
    result = CliRunner().invoke(cli, ["score", gold, system, "-p", "tac-2017", "--errors", "--details", "-m", "coref"])
    assert "coref.avg4, missing entity: 1 error\n" in result.stdout
    refused = CliRunner().invoke(cli, ["score", gold, system, "--errors", "--summary"])
    assert isinstance(refused.exception, UsageError)
