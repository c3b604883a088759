"""The Python API: documents in memory, several protocols, a scorer for loops, and how results show themselves."""

import json
from html.parser import HTMLParser
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import karat
from karat import Cluster, Document, KaratError, Link, Mention, Scorer, UsageError
from karat.api.scoring import Result, Results
from karat.run.pairs import PreparedPair
from karat.run.plan import Plan
from karat.run.rows import DocumentRow
from tests.corpora import ace

with as_file(files("karat") / "demo") as FOLDER:
    GOLD, SYSTEM = (list(karat.read(FOLDER / f"{name}.jsonl")) for name in ("gold", "literal"))

PAIRS = [(gold, system) for gold in GOLD for system in SYSTEM if gold.id == system.id]
ATTACK = Mention("m1", ((7, 15),), cluster="E1", attributes={"type": "Attack", "realis": "Actual"})
DEATH = Mention("m2", ((21, 25),), attributes={"type": "Die", "realis": "Actual"})


def document(*mentions: Mention, id_: str = "d1") -> Document:
    return Document(id_, text="Rebels attacked; two died.", mentions=mentions)


# karat.score


def test_lists_of_documents_score_as_their_files_do() -> None:
    in_memory = karat.score(GOLD, SYSTEM, protocol="tac-2017")
    in_files = karat.score(FOLDER / "gold.jsonl", FOLDER / "literal.jsonl", protocol="tac-2017")
    assert in_memory.to_dict() == in_files.to_dict()
    assert karat.score(iter(GOLD), SYSTEM).protocol == karat.score(FOLDER / "gold.jsonl", SYSTEM).protocol
    assert karat.score(document(ATTACK), document(ATTACK))["nugget.type"].f1 == 1


def test_several_protocols() -> None:
    results = karat.score(GOLD, SYSTEM, protocol=["simple-cdec", "conll-2012"])
    assert isinstance(results, Results)
    assert list(results) == ["simple-cdec", "conll-2012"]
    one = karat.score(GOLD, SYSTEM, protocol="conll-2012")
    assert results["conll-2012"].to_dict() == one.to_dict()
    assert results.to_dict() == {"protocols": {name: result.to_dict() for name, result in results.items()}}
    assert str(results).startswith("protocol: coref F1")
    assert repr(results) == "<Results simple-cdec, conll-2012: 12 documents>"
    with pytest.raises(KeyError, match="scored: simple-cdec, conll-2012"):
        results["tac-2017"]
    with pytest.raises(UsageError, match="empty"):
        karat.score(GOLD, SYSTEM, protocol=[])


def test_a_string_stands_for_a_list_of_one() -> None:
    in_strings = karat.score(GOLD, SYSTEM, protocol="tac-2017", measures="nugget", by="realis")
    in_lists = karat.score(GOLD, SYSTEM, protocol="tac-2017", measures=["nugget"], by=["realis"])
    assert in_strings.to_dict() == in_lists.to_dict()


# Documents in memory are checked


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        (document(ATTACK, ATTACK), "mention-twice"),
        (document(Mention("m", (("a", 4),))), "not-a-document"),  # type: ignore[arg-type]
        (document(Mention("m", ((0, 4),), attributes={"type": ["a"]})), "not-a-document"),  # type: ignore[dict-item]
        (document(Mention("", ((0, 4),))), "not-a-document"),
        (Document("d\ud800"), "not-a-document"),
        ("gold.jsonl", "not-a-document"),
        (Document("d1", clusters=(Cluster("c"), Cluster("c"))), "mention-twice"),
        (
            Document("d1", mentions=(ATTACK, DEATH), links=(Link("after", "m1", "m2"), Link("after", "m2", "m1"))),
            "link-cycle",
        ),
    ],
)
@pytest.mark.parametrize("side", ["gold", "system"])
def test_what_is_refused(wrong: Document, code: str, side: str) -> None:
    sides = {"gold": [document(ATTACK)], "system": [document(ATTACK)], side: [wrong]}
    with pytest.raises(KaratError) as refused:
        karat.score(sides["gold"], sides["system"], protocol="tac-2017")
    assert refused.value.finding.code == code
    assert refused.value.finding.file == f"{side} in memory"


def test_an_impossible_span_is_fatal_in_gold_only() -> None:
    """In a system it is a fault: one of its two mentions is right, and one spurious."""
    wrong = document(ATTACK, Mention("m", ((9, 4),)))
    with pytest.raises(KaratError, match="jsonl-span"):
        karat.score([wrong], [wrong], protocol="tac-2017")
    result = karat.score([document(ATTACK)], [wrong], protocol="tac-2017")
    assert result["nugget.span"].precision == 0.5
    assert ("jsonl-span", "fault") in [(finding.code, finding.severity) for finding in result.warnings]


def test_what_is_counted() -> None:
    links = (Link("after", "m1", "m9"),)
    system = Document("d1", text="Rebels", mentions=(ATTACK,), links=links)
    result = karat.score([document(ATTACK)], [system], protocol="tac-2017", measures=["nugget"])
    assert [finding.code for finding in result.warnings] == ["argument-unknown", "span-beyond-text"]
    assert {finding.origin for finding in result.warnings} == {"system"}


def test_lists_are_as_good_as_tuples() -> None:
    listed = Document("d1", mentions=[Mention("m1", [[12, 15], [7, 11]])])  # type: ignore[arg-type]
    tuples = Document("d1", mentions=(Mention("m1", ((7, 11), (12, 15))),))
    assert karat.score([listed], [tuples], protocol="tac-2017")["nugget.span"].f1 == 1
    for span in ([(7, 15)], ([7, 15],), [[7, 15]]):
        listed = document(replace(ATTACK, span=span))
        assert karat.score([listed], [document(ATTACK)], protocol="conll-2012")["coref.mention"].f1 == 1


# karat.Scorer


def test_a_scorer_is_a_score_of_all_pairs() -> None:
    scorer = Scorer("tac-2017", measures="nugget", by="type")
    for gold, system in PAIRS:
        scorer.add(gold, system)
    whole = karat.score(GOLD, SYSTEM, protocol="tac-2017", measures="nugget", by="type")
    assert scorer.result().to_dict() == whole.to_dict()
    assert (len(scorer), repr(scorer)) == (12, "<Scorer tac-2017: 12 documents>")


@pytest.mark.parametrize(
    ("protocol", "options"),
    [
        ("tac-2017", {}),
        ("tac-2017", {"per_unit": True, "by": ["type", "document"]}),
        ("conll-2012", {}),
        ("conll-2012", {"settings": {"singletons": "drop-gold"}}),
        ("simple-cdec", {}),
        ("pure-cdec", {"measures": "coref"}),
        ("araki-2014", {}),
        ("muc-5", {"by": "realis"}),
    ],
)
def test_each_result_of_a_scorer_is_that_of_all_pairs_so_far(protocol: str, options: dict[str, Any]) -> None:
    """Byte for byte, in whatever order pairs arrive: sums are exact, and warnings are in the order of documents."""
    scorer = Scorer(protocol, **options)
    for count, (gold, system) in enumerate(reversed(PAIRS), 1):
        scorer.add(gold, system)
        if count in (1, 5, 12):
            golds, systems = zip(*PAIRS[-count:], strict=True)
            whole = karat.score(golds, systems, protocol=protocol, **options)
            result = scorer.result()
            assert json.dumps(result.to_dict()) == json.dumps(whole.to_dict())
            assert str(result) == str(whole)


def test_a_scorer_counts_each_pair_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Until a pair has a new attribute: then there are other measures, and each pair is counted once more."""
    counted: list[str] = []
    row = Plan.row

    def noted(plan: Plan, prepared: PreparedPair, *rest: Any) -> DocumentRow:
        counted.append(prepared.filtered.gold.id)
        return row(plan, prepared, *rest)

    monkeypatch.setattr(Plan, "row", noted)
    scorer = Scorer("tac-2017", measures="nugget")
    typed = replace(ATTACK, attributes={"type": "Attack"})
    for id_ in "abc":
        scorer.add(document(typed, id_=id_), document(id_=id_))
        assert "nugget.realis" not in scorer.result().scores
    scorer.add(document(ATTACK, id_="d"), document(ATTACK, id_="d"))
    assert scorer.result()["nugget.realis"].recall == 1 / 4
    scorer.add(document(typed, id_="e"), document(ATTACK, id_="e"))
    assert scorer.result()["nugget.span"].recall == 2 / 5
    assert counted == [*"abc", *"abcd", "e"]


def test_a_scorer_whose_result_is_refused_goes_on() -> None:
    scorer = Scorer("tac-2017", strict=True)
    scorer.add(document(ATTACK), document(ATTACK))
    links = (Link("after", "m1", "m2"), Link("after", "m2", "m1"))
    cyclic = Document("d0", mentions=(ATTACK, DEATH), links=links)
    scorer.add(cyclic, cyclic)
    for _ in range(2):
        with pytest.raises(KaratError, match="form a cycle"):
            scorer.result()
    scorer.reset()
    with pytest.raises(KaratError, match="no document"):
        scorer.result()
    scorer.add(document(ATTACK), document(ATTACK))
    assert scorer.result().to_dict() == karat.score(document(ATTACK), document(ATTACK), protocol="tac-2017").to_dict()


def test_a_refused_pair_is_not_added() -> None:
    scorer = Scorer("tac-2017")
    scorer.add(document(ATTACK), document(ATTACK))
    pairs = {
        "not-a-pair": (document(id_="d2"), document(id_="d3")),
        "document-twice": (document(), document()),
        "mention-twice": (document(id_="d2"), document(ATTACK, ATTACK, id_="d2")),
    }
    for code, pair in pairs.items():
        with pytest.raises(KaratError) as refused:
            scorer.add(*pair)
        assert refused.value.finding.code == code
    assert scorer.result()["nugget.span"].f1 == 1
    with pytest.raises(UsageError, match="tac-2017"):
        Scorer("tac-2071")


# karat.coref


def test_a_mention_in_two_clusters_is_refused() -> None:
    with pytest.raises(KaratError, match=r"mention 'b' is in system\[0\] and in system\[2\]"):
        karat.coref([{"a", "b"}], [["b", "c"], ["a"], ["d", "c", "b"]])
    with pytest.raises(KaratError, match=r"mention None is in gold\[0\] and in gold\[1\]"):
        karat.coref([[None], [None]], [])
    assert karat.coref([["a", "a", "b"]], [{"a", "b"}])["b3"].f1 == 1


# How results show themselves


def test_reprs_are_one_useful_line() -> None:
    result = karat.score(GOLD, SYSTEM, protocol="tac-2017")
    assert repr(result) == (
        "<Result tac-2017: 12 documents; nugget.type+realis F1 47.92, coref.avg4 F1 30.89, sequence.all F1 6.32>"
    )
    assert repr(result["coref.muc"]) == "<Score precision 0.0000, recall 0.0000, f1 0.0000>"
    assert repr(result["nugget.span"].macro) == "<ScoreValues precision 0.9276, recall 0.9517, f1 0.9395>"
    assert repr(karat.read(FOLDER / "gold.jsonl")).endswith("gold.jsonl: jsonl, 1 file>")
    assert repr(karat.coref([{"a", "b"}], [{"a", "b"}])).startswith("<Coref F1: mention 100.00, muc 100.00, b3 100.00")
    document = next(iter(karat.read(FOLDER / "gold.jsonl")))
    assert repr(document) == "<Document norhaven-1: 13 mentions, 0 clusters, 11 links>"
    assert repr(karat.Mention("m1", ((4, 9),))) == "Mention(id='m1', span=((4, 9),))"


def test_rows_for_data_frames() -> None:
    result = karat.score(GOLD, SYSTEM, protocol="tac-2017", measures="nugget", by="type", per_unit=True)
    rows = result.to_dicts()
    assert len({tuple(row) for row in rows}) == 1
    first = {"protocol": "tac-2017", "by": None, "value": None, "measure": "nugget.span", "average": "micro"}
    assert rows[0] == first | result["nugget.span"].micro.values
    assert rows[1] == first | {"average": "macro"} | result["nugget.span"].macro.values  # type: ignore[union-attr]
    (row,) = [row for row in rows if row["value"] == "norhaven-1" and row["measure"] == "nugget.type"]
    assert (row["by"], row["f1"]) == ("document", result.units["norhaven-1"]["nugget.type"].f1)
    assert {row["by"] for row in rows} == {None, "type", "document"}
    json.dumps(rows)


def test_rows_of_a_score_that_is_called_value() -> None:
    """The score of ACE must not hide the value of the field."""
    gold, system = ace(entities="E F"), ace(entities="E")
    result = karat.score([gold], [system], protocol="ace-2005", measures="ace.emd", by="type", errors=True)
    rows = result.to_dicts()
    assert len({tuple(row) for row in rows}) == 1
    found = {(row["by"], row["by_value"]): row["value"] for row in rows}
    assert found == {(None, None): 0.5, ("type", "PER"): 0.5, ("error", "miss"): 1, ("error", "false alarm"): 0.5}


class Tags(HTMLParser):
    """The tags and the text of a piece of HTML."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def test_html_is_escaped(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>&\"'"
    mine = tmp_path / "mine.toml"
    mine.write_text(f"extends = 'tac-2017'\ntitle = '''{evil}'''\n")
    mention = Mention("m1", ((7, 15),), attributes={evil: "x", "type": "A"})
    settings = {"attributes": [evil]}
    result = karat.score([document(mention)], [document(mention)], protocol=str(mine), settings=settings)
    shown = Tags(result._repr_html_())
    assert shown.tags == {"table", "caption", "thead", "tbody", "tr", "th", "td", "p", "small"}
    assert evil in shown.text
    assert f"nugget.{evil}" in shown.text
    assert isinstance(result, Result)
    both = karat.score([document(mention)], [document(mention)], protocol=["tac-2017", "conll-2012"])
    assert both._repr_html_().count("<table>") == 2
