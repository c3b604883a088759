"""Fields of breakdowns: main types, and several attributes at once."""

import json
import random
from pathlib import Path
from typing import Any

import pytest

import karat
from karat.api.scoring import score
from karat.corpus.interface import Corpus
from karat.match.alignment import Alignment
from karat.model import Document
from tests.corpora import corpus, mention
from tests.running import run

GOLD = [
    mention("g1", (0, 4), type="Life_Die", realis="Actual"),
    mention("g2", (5, 9), type="Life.Injure", realis="Other"),
    mention("g3", (10, 14), type="Conflict:Attack", realis="Actual"),
]
SYSTEM = [
    mention("s1", (0, 4), type="life_die", realis="Actual"),
    mention("s2", (5, 9), type="Life_Injure", realis="Actual"),
    mention("s3", (20, 24), type="Conflict_Attack", realis="Actual"),
    mention("s4", (30, 34), type="Justice"),
]
ACE = Path(karat.__file__).parent / "studies" / "data" / "ace" / "norvik.apf.xml"


def sides() -> list[Corpus]:
    return [corpus([Document("d", topic="1", mentions=tuple(side))]) for side in (GOLD, SYSTEM)]


def test_main_types_end_at_the_first_separator() -> None:
    """Life has two of two; Conflict one miss and one false alarm; Justice, without a separator, a false alarm."""
    rows = score(*sides(), protocol="tac-2017", by=["type.main"]).by["type.main"]
    found = {value: row["nugget.type"].to_dict()["micro"]["counts"] for value, row in rows.items()}
    assert {value: [*map(int, counts.values())] for value, counts in found.items()} == {
        "Conflict": [0, 1, 0, 1],
        "Justice": [0, 1, 0, 0],
        "Life": [2, 2, 2, 2],
    }


def test_a_joint_field_has_a_row_for_each_combination() -> None:
    """The rows of a joint field add up to those of its parts; parts that nothing has are (none)."""
    result = score(
        *sides(), protocol="tac-2017", measures="nugget.span", by=["type.main,realis", "topic,kind", "realis"]
    )
    rows = {
        value: row["nugget.span"].to_dict()["micro"]["counts"] for value, row in result.by["type.main,realis"].items()
    }
    assert list(rows) == ["Conflict,Actual", "Justice,(none)", "Life,Actual", "Life,Other"]
    for realis, by_realis in result.by["realis"].items():
        parts = [counts["precision_den"] for value, counts in rows.items() if value.endswith(f",{realis}")]
        assert sum(parts) == by_realis["nugget.span"].to_dict()["micro"]["counts"]["precision_den"]
    assert [*result.by["topic,kind"]] == ["1,event"]


def test_values_that_are_equal_for_the_protocol_share_a_row() -> None:
    """`life_die` is Life_Die in tac-2017, in joint rows as in others; liu-2015 compares values as they are written."""
    combined = {
        protocol: [*score(*sides(), protocol=protocol, measures="nugget.span", by=["type,realis"]).by["type,realis"]]
        for protocol in ("tac-2017", "liu-2015")
    }
    assert combined["tac-2017"] == ["Conflict:Attack,Actual", "Justice,(none)", "Life.Injure,Other", "Life_Die,Actual"]
    assert "Conflict_Attack,Actual" in combined["liu-2015"]


def test_coreference_is_restricted_to_combinations() -> None:
    rows = score(*sides(), protocol="tac-2017", by=["type.main,realis"]).by["type.main,realis"]
    assert rows["Life,Actual"]["coref.b3"].micro.values["f1"] == 1


def test_errors_are_counted_by_combination() -> None:
    result = score(*sides(), protocol="tac-2017", measures="nugget.type", by=["type.main,realis"], errors=True)
    assert result.errors is not None
    assert result.errors.by() == {
        "type.main,realis": {
            "Conflict,Actual": {"missed": 1, "spurious": 1},
            "Justice,(none)": {"spurious": 1},
        }
    }


def test_elements_of_ace_by_type_and_subtype() -> None:
    rows = score(str(ACE), str(ACE), protocol="ace-2005", measures="ace.edr", by=["type,subtype"]).by["type,subtype"]
    assert [*rows] == ["GPE,Population-Center", "ORG,Commercial", "ORG,Non-Governmental", "PER,Individual"]


@pytest.mark.parametrize(
    ("field", "message"),
    [
        ("type,realiz", "there is no field 'realiz' in these corpora. Did you mean realis?"),
        ("type.mian", "Did you mean type.main?"),
        ("subtype.main", "there is no field 'subtype.main'"),
        ("type,", "there is no field ''"),
    ],
)
def test_an_unknown_part_is_named(field: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "gold.jsonl"
    mentions = [{"span": [[0, 4]], "id": "m", "attributes": {"type": "A", "realis": "B"}}]
    path.write_text(json.dumps({"id": "d", "mentions": mentions}))
    done = run("score", str(path), str(path), "-p", "tac-2017", "--by", field)
    assert done.code == 1
    assert message in done.err
    assert "several of these joined by commas" in done.err


def crowded(seed: int) -> list[Corpus]:
    """Two sides with overlapping spans, coreference, and thirds and sevenths as similarities."""
    rng = random.Random(seed)

    def document(name: int) -> Document:
        places = [(begin, begin + rng.choice((3, 4, 7))) for begin in rng.choices(range(12), k=8)]
        clusters = rng.choices("ABCDEF", k=8)
        types = rng.choices(("Life", "Conflict", "Justice"), k=8)
        mentions = [
            mention(f"m{index}", place, cluster=f"{name}{cluster}", type=type_, realis="Actual")
            for index, (place, cluster, type_) in enumerate(zip(places, clusters, types, strict=True))
        ]
        return Document(f"d{name}", mentions=tuple(mentions[: rng.randrange(9)]))

    return [corpus([document(name) for name in range(9)]) for _ in range(2)]


def rows_of(seed: int, **options: Any) -> Any:
    """Values, counts and items of each row."""
    result = score(*crowded(seed), protocol="tac-2017", by=["type"], **options)
    return {
        value: {id_: (one.micro.values, one.micro.counts, one.items) for id_, one in row.items()}
        for value, row in result.by["type"].items()
    }


@pytest.mark.parametrize("seed", range(4))
def test_a_breakdown_does_not_depend_on_how_its_documents_are_added(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In batches of any size, or, for intervals, one by one."""
    expected = rows_of(seed)
    assert rows_of(seed, ci=0.95) == expected
    for size in (1, 4):
        monkeypatch.setattr("karat.run.pipeline.BATCH", size)
        assert rows_of(seed) == expected


@pytest.mark.parametrize("seed", range(4))
def test_parts_are_aligned_as_the_whole_document(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = rows_of(seed)
    monkeypatch.setattr(Alignment, "is_divisible", False)
    assert rows_of(seed) == expected
