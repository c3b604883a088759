"""ACE in crowded documents: pairs of twins are valued once and mapped as groups, with the results of the plain way."""

from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from karat.api import Result, score
from karat.model import Document, Link
from karat.tables.ace import mentions
from tests.ace_by_hand import some_corpus
from tests.corpora import corpus
from tests.test_ace_by_hand import CHOICES


def with_twins(random: Random, document: Document) -> Document:
    """Some of the clusters several times over, with their mentions and links; some mentions several times over."""
    copies: dict[str, list[str]] = {}
    for cluster in document.clusters:
        copies[cluster.id] = [f"{cluster.id}{mark}" for mark in ("", "'", '"', "*")[: random.choice((1, 1, 2, 4))]]
    marks = {id_: [name.removeprefix(id_) for name in names] for id_, names in copies.items()}
    found = [
        replace(mention, id=f"{mention.id}{mark}{again}", cluster=f"{mention.cluster}{mark}")
        for mention in document.mentions
        for mark in marks[str(mention.cluster)]
        for again in ("", *"ab"[: random.choice((0, 0, 0, 2)) if mention.kind == "entity" else 0])
    ]
    owner = {mention.id: str(mention.cluster) for mention in document.mentions}
    links: list[Link] = []
    for link in document.links:
        source_marks = marks[owner.get(link.source, link.source)]
        target_marks = marks[owner.get(link.target, link.target)]
        for mark in source_marks:
            target = mark if mark in target_marks and random.random() < 0.5 else ""
            links.append(Link(link.kind, f"{link.source}{mark}", f"{link.target}{target}"))
    random.shuffle(found)
    clusters = [replace(cluster, id=name) for cluster in document.clusters for name in copies[cluster.id]]
    main: dict[tuple[str, str], str] = {}
    kept = [
        link
        for link in links
        if not link.kind.startswith("Arg-") or main.setdefault((link.kind, link.source), link.target) == link.target
    ]
    return Document(document.id, mentions=tuple(found), clusters=tuple(clusters), links=tuple(kept))


def both_ways(seed: int, protocol: str, patch: pytest.MonkeyPatch, **options: Any) -> tuple[Result, Result]:
    random = Random(seed)
    names = ["d1", "d2"][: random.randint(1, 2)]
    gold, system = (
        [with_twins(random, document) for document in some_corpus(random, side, names, shared=False)] for side in "gs"
    )
    settings = {name: random.choice(values) for name, values in CHOICES.items()}
    plain = score(corpus(gold), corpus(system), protocol=protocol, settings=settings, **options)
    with patch.context() as context:
        context.setattr(mentions, "MANY", -1)
        crowded = score(corpus(gold), corpus(system), protocol=protocol, settings=settings, **options)
    return plain, crowded


@pytest.mark.parametrize("seed", range(60))
def test_the_plan_with_twins(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    plain, crowded = both_ways(seed, "ace-2005", monkeypatch, details=True, per_unit=True)
    assert crowded.to_dict() == plain.to_dict()


@pytest.mark.parametrize("seed", range(60))
def test_the_scorer_with_twins(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    plain, crowded = both_ways(seed, "ace-2005-nist", monkeypatch, details=True, per_unit=True)
    assert crowded.to_dict() == plain.to_dict()
