"""Averages over classes: the mean over the values of an attribute."""

from pathlib import Path

import pytest

import karat
from karat.problems import KaratError

PROTOCOL = """\
extends = "exact-2013"
title = "by type"

[[measures]]
family = "nugget"
alignment = "nugget"
attributes = ["type"]

[measures.averages]
classes = ["type"]
"""


def document(id_: str, *types: str | None) -> karat.Document:
    mentions = [
        karat.Mention(f"m{i}", ((3 * i, 3 * i + 2),), attributes={} if type_ is None else {"type": type_})
        for i, type_ in enumerate(types)
        if type_ != "-"
    ]
    return karat.Document(id_, mentions=tuple(mentions))


@pytest.fixture
def protocol(tmp_path: Path) -> str:
    file = tmp_path / "by-type.toml"
    file.write_text(PROTOCOL)
    return str(file)


def test_each_class_that_gold_has_counts_once(protocol: str) -> None:
    """Attack: P 2/3, R 2/2, F1 4/5; Die: never predicted, all 0; Meet: only the system's, in no mean."""
    gold = [document("a", "Attack", "Attack"), document("b", "Die", "-")]
    system = [document("a", "Attack", "Attack"), document("b", "Attack", "Meet")]
    result = karat.score(gold, system, protocol=protocol)
    for measure in ("nugget.span", "nugget.type"):
        leaf = result.to_dict()["scores"][measure]["macro.type"]
        assert leaf == {"precision": pytest.approx(1 / 3), "recall": 0.5, "f1": pytest.approx(0.4)}
    assert result["nugget.span"].f1 == pytest.approx(6 / 7)
    assert karat.score(gold[::-1], system, protocol=protocol).to_dict() == result.to_dict()


def test_gold_against_itself_is_perfect_and_absent_values_are_no_class(protocol: str) -> None:
    gold = [document("a", "Attack", None, "Die")]
    result = karat.score(gold, gold, protocol=protocol)
    assert set(result.to_dict()["scores"]["nugget.type"]["macro.type"].values()) == {1.0}


def test_coreference_has_no_classes(tmp_path: Path) -> None:
    file = tmp_path / "coref.toml"
    text = 'extends = "simple-cdec"\ntitle = "x"\n[[measures]]\nfamily = "coref"\nalignment = "same"\n'
    file.write_text(text + '[measures.averages]\nclasses = ["type"]\n')
    with pytest.raises(KaratError, match="no average over classes"):
        karat.score([document("a", "Attack")], [document("a", "Attack")], protocol=str(file))
