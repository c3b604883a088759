"""Gold's coreference clusters from a file of their own (`--set clusters=FILE`)."""

import json
from pathlib import Path

import pytest

from karat.filters.clusters import Clusters
from karat.model import Document, Mention, Pair
from karat.plugin import Comparison
from karat.problems import Finding, KaratError, refusing
from tests.event_files import COREFERENCE, changed, saved

MENTIONS = tuple(Mention(f"T{number}", ((number, number + 1),), kind="entity") for number in range(1, 4))
DOCUMENT = Document("d1", mentions=MENTIONS)


def applied(path: str, *documents: Document) -> tuple[list[Pair], list[Finding]]:
    reported: list[Finding] = []
    filter_ = Clusters(file=path)
    transform = filter_.prepare(Comparison(), reported.append)
    pairs = [Pair(document, document) for document in documents]
    left = [*map(transform, pairs)]
    observed = {pair.gold.id: bool(filter_.observe(pair, own)) for pair, own in zip(pairs, left, strict=True)}
    for finding in filter_.across(observed) if path else ():
        refusing(reported.append)(finding)
    return left, reported


def test_only_golds_mentions_get_clusters(tmp_path: Path) -> None:
    ((pair,), reported) = applied(saved(tmp_path / "c.jsonlines", COREFERENCE), DOCUMENT)
    assert [mention.cluster for mention in pair.gold.mentions] == ["d1:1", "d1:1", None]
    assert pair.system is DOCUMENT
    assert reported == []
    assert applied("", DOCUMENT)[0][0].gold is DOCUMENT


def test_unknown_mentions_and_documents_are_reported(tmp_path: Path) -> None:
    other = changed(changed(COREFERENCE, "clusters", 0, 1, to="T9"), "doc_key", to="d1")
    path = saved(tmp_path / "c.jsonlines", {"doc_key": "d0", "clusters": []}, other)
    (_, reported) = applied(path, DOCUMENT, Document("d2"))
    assert [(one.code, one.severity, one.file, one.line) for one in reported] == [
        ("clusters-member-unknown", "fault", path, 2),
        ("clusters-absent", "note", path, None),
    ]


@pytest.mark.parametrize(
    ("content", "code", "line"),
    [
        (json.dumps(COREFERENCE) + '\n{"doc_key": "d2"}', "clusters-shape", 2),
        ("{", "clusters-shape", 1),
        ('{"doc_key": "d1", "clusters": [["T1", "T2"]], "clusters": []}', "clusters-shape", 1),
        (f"{json.dumps(COREFERENCE)}\n\n{json.dumps(COREFERENCE)}", "clusters-document-twice", 3),
        ('{"doc_key": "d1", "clusters": [["T1", "T2"], ["T2", "T3"]]}', "clusters-member-twice", 1),
        ('{"doc_key": "d2", "clusters": []}', "clusters-none", None),
        ("", "clusters-none", None),
    ],
)
def test_what_cannot_be_the_clusters_of_gold_is_refused(
    content: str, code: str, line: int | None, tmp_path: Path
) -> None:
    path = tmp_path / "c.jsonlines"
    path.write_text(content)
    with pytest.raises(KaratError) as caught:
        applied(str(path), DOCUMENT)
    finding = caught.value.finding
    assert (finding.code, finding.line, finding.file) == (code, line, str(path))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(KaratError, match="cannot read the clusters"):
        applied(str(tmp_path / "nowhere"), DOCUMENT)
