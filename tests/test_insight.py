"""Errors by class: which errors there are, what repairing a class gains, and how they are shown."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from msgspec.structs import replace

import karat
from karat.api.scoring import Result as ApiResult
from karat.cli.program import cli
from karat.corpus.index import DocumentReader
from karat.model import Document, Link, Mention
from karat.problems import Rule, UsageError
from karat.records import ClusterRecord
from karat.testing.corpora import Sides, sides
from tests.corpora import ace, mention
from tests.error_laws import EXAMPLES
from tests.test_crac import zeros


def test_gold_has_no_errors_though_nist_counts_some() -> None:
    """NIST's scorer counts every relation mention as an error (departure 13); with nothing wrong, it is none here."""
    gold = [ace(entities="E F", relations="R(E,F)")]
    result = karat.score(gold, gold, protocol="ace-2005-nist", measures=["ace.rmd"], errors=True)
    assert result["ace.rmd"].micro.counts is not None
    assert result["ace.rmd"].micro.counts.to_dict()["error"] == 1
    assert result["ace.rmd"].value == pytest.approx(1)
    assert classes(result) == {}


def classes(result: ApiResult) -> dict[str, int]:
    assert result.errors is not None
    return {one.name: one.count for measure in result.errors.measures for one in measure.found()}


def test_a_file_is_parsed_once_for_scores_errors_and_repairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gold, system = tmp_path / "gold.tbf", tmp_path / "system.tbf"
    document = "#BeginOfDocument d\n{}#EndOfDocument\n"
    gold.write_text(document.format("s\td\tE1\t0,5\tx\tT\tActual\n"))
    system.write_text(document.format(""))
    parsed: list[int] = []
    documents = DocumentReader.documents

    def counted(reader: DocumentReader, number: int, *args: Any) -> Iterator[Document]:
        parsed.append(number)
        return documents(reader, number, *args)

    monkeypatch.setattr(DocumentReader, "documents", counted)
    for options in (["--errors"], ["-f", "html"]):
        parsed.clear()
        done = CliRunner().invoke(cli, ["score", str(gold), str(system), "-m", "nugget", *options])
        assert done.exit_code == 0, done.output
        assert len(parsed) == 2, "one document on each side"


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


def test_a_wrong_link_gives_way_to_repaired_ones() -> None:
    """Adding the missing links would close a cycle with a wrong one."""
    events = [mention(f"e{n}", (10 * n, 10 * n + 5)) for n in range(3)]
    gold = Document("d", mentions=tuple(events), links=(Link("subevent", "e0", "e1"), Link("subevent", "e1", "e2")))
    system = Document("d", mentions=tuple(events), links=(Link("subevent", "e2", "e0"),))
    result = karat.score([gold], [system], protocol="araki-2014", measures="hierarchy.subevent.mucp", errors=True)
    assert classes(result) == {"missing link": 2, "wrong link": 1}
    assert result.errors is not None
    assert result.errors["missing link"].fixed["f1"] == 1
    assert result.errors["wrong link"].fixed["f1"] == 0


def test_two_events_of_gold_that_are_one_in_the_system() -> None:
    """A link between them cannot be repaired as a link: an event would be linked to itself, or to what is above it."""
    events = [mention(f"e{n}", (10 * n, 10 * n + 5)) for n in range(3)]
    gold = Document("d", mentions=tuple(events), links=(Link("subevent", "e0", "e1"), Link("subevent", "e1", "e2")))
    options: dict[str, Any] = {"protocol": "araki-2014", "measures": "hierarchy.subevent.mucp", "errors": True}
    merged = [replace(one, cluster="C" if one.id in ("e0", "e1") else None) for one in events]
    result = karat.score([gold], [Document("d", mentions=tuple(merged))], **options)
    assert classes(result) == {"wrong event": 1, "missing link": 1}
    merged = [replace(one, cluster="C" if one.id in ("e0", "e2") else None) for one in events]
    result = karat.score([gold], [Document("d", mentions=tuple(merged))], **options)
    assert classes(result) == {"missing link": 1, "wrong event": 1}


def test_a_repair_that_cannot_be_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reason is given in place of the score."""

    def refused(*documents: object) -> Document:
        raise Rule("too-many", "fatal", "Do less.").error("there are too many")

    monkeypatch.setattr("karat.insight.repairs.edited_system", refused)
    result = wrong([GOLD], [])
    assert result.errors is not None
    missed = result.errors["missed"]
    assert (missed.fixed["f1"], missed.share, missed.why_not) == (None, None, "there are too many")
    assert "missed cannot be fixed on its own" in str(result)


def test_errors_of_anaphoric_zeros() -> None:
    gold = zeros((0, "a"), (3, "a"), (7, "a"), (4, "b"), (9, "b"), (11, "b"))
    system = zeros((0, "a"), (4, "b"), (6, "b"), (7, "c"), (8, "c"), (9, "d"), (10, "d"), (11, "a"), (13, "a"))
    result = karat.score([gold], [system], protocol="crac-2024", measures="coref.zero", errors=True)
    assert classes(result) == {"missing zero": 1, "no antecedent": 2, "wrong antecedent": 1, "spurious zero": 1}
    assert result.errors is not None
    assert result.errors["no antecedent"].fixed["recall"] == pytest.approx(2 / 4)


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


def test_a_dropped_singleton_gives_way_to_a_span_that_is_repaired() -> None:
    gold = [mention("a", (0, 1), cluster="c"), mention("b", (0, 2), cluster="c")]
    system = [mention("x", (0, 1)), mention("b", (0, 2), cluster="c"), mention("a", (0, 1), (2, 3), cluster="c")]
    result = wrong(gold, system, protocol="crac-2022", measures="coref.avg4")
    assert result.errors is not None
    (error,) = result.errors.measures[0].found()
    assert (error.name, error.count, error.fixed["f1"]) == ("span error", 1, 1)
