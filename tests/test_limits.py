"""Limits: a file that exceeds one is refused with the code, the file and the number."""

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from karat.limits import MOST_PAIRS
from karat.run.breakdown import MOST_VALUES
from tests.event_files import GTT, WIKIEVENTS, changed, saved
from tests.running import Run, limited, run

CROWD = 1001
"""The smallest number of mentions on each side that makes more pairs than karat compares."""


def tbf(path: Path, spans: Iterable[tuple[int, int]], *more: str) -> str:
    """Write a document with a mention on each span."""
    lines = [f"s\td\tE{n}\t{begin},{end}\tx\tT{n % 7}\tActual" for n, (begin, end) in enumerate(spans)]
    path.write_text("\n".join(["#BeginOfDocument d", *lines, *more, "#EndOfDocument", ""]))
    return str(path)


def apart(count: int) -> list[tuple[int, int]]:
    return [(10 * n, 10 * n + 5) for n in range(count)]


def jsonl(path: Path, mentions: list[dict[str, Any]], **more: Any) -> str:
    path.write_text(json.dumps({"id": "d", "mentions": mentions, **more}) + "\n")
    return str(path)


def assert_refused(refused: Run, code: str, *words: str) -> None:
    """The command ended with one error of this code, and printed nothing else."""
    assert (refused.code, refused.out, f"[{code}]" in refused.err) == (1, "", True), refused.err
    for word in words:
        assert word in refused.err


# Pairs


def test_the_crowd_is_just_too_large() -> None:
    assert (CROWD - 1) ** 2 <= MOST_PAIRS < CROWD**2


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["tac-2017", "exact-2013", "muc-5"])
def test_mentions_on_one_span(tmp_path: Path, protocol: str) -> None:
    file = tbf(tmp_path / "many.tbf", [(0, 5)] * CROWD)
    what = "document 'd' has 1,000,001 or more pairs of alike mentions; karat compares 1,000,000 at most"
    assert_refused(run("score", file, file, "-p", protocol), "too-many-pairs", f"{file}, line 1", what)


@pytest.mark.parametrize("protocol", ["ace-2005", "ace-2005-nist"])
def test_entities_that_all_overlap(tmp_path: Path, protocol: str) -> None:
    mentions = [
        {"id": f"m{n}", "span": [[n % 40, 50 + n // 40]], "kind": "entity", "cluster": f"e{n}"} for n in range(CROWD)
    ]
    file = jsonl(tmp_path / "many.jsonl", mentions)
    assert_refused(run("score", file, file, "-p", protocol), "too-many-pairs", f"{file}, line 1", f"{CROWD**2:,} pairs")


def test_links_between_two_large_clusters(tmp_path: Path) -> None:
    """A link of gold is compared with the links of each mention of one cluster to each of the other."""
    names = [",".join(f"E{n}" for n in range(first, 2 * CROWD, 2)) for first in (0, 1)]
    clusters = [f"@Coreference\tC{n}\t{members}" for n, members in enumerate(names)]
    gold = tbf(tmp_path / "gold.tbf", apart(2 * CROWD), *clusters, "@After\tR0\tE0,E1")
    chain = [f"@After\tR{n}\tE{n},E{n + 1}" for n in range(2 * CROWD - 1)]
    refused = run("score", gold, tbf(tmp_path / "system.tbf", apart(2 * CROWD), *chain))
    assert_refused(refused, "too-many-pairs", f"{gold}, line 1: document 'd' has {CROWD**2:,} pairs of events")


@pytest.mark.parametrize(
    ("kind", "protocol", "what"),
    [
        ("event", "maven-arg-2024", "1,002,001 pairs of strings in the role 'Agent'"),
        ("template", "ree-2021", "1,002,001 pairs of entities in one role"),
        ("template", "gtt-2021", "1,004,004 pairs of slots to compare"),
        ("template", "rme-2023", "1,002,001 pairs of entities to compare"),
    ],
)
def test_strings_in_one_role(tmp_path: Path, kind: str, protocol: str, what: str) -> None:
    texts = [{"id": f"m{n}", "span": [[n, n + 1]], "kind": "entity", "text": f"w{n}"} for n in range(CROWD)]
    links = [{"kind": "Agent", "from": "e", "to": f"m{n}"} for n in range(CROWD)]
    holder = {"id": "e", "span": [[0, 1]], "kind": kind, "attributes": {"type": "T"}}
    file = jsonl(tmp_path / f"{kind}.jsonl", [holder, *texts], links=links)
    refused = run("score", file, file, "-p", protocol)
    assert_refused(refused, "too-many-pairs", f"{file}, line 1: document 'd' has {what}")


def test_errors_in_entities_that_all_share_two_strings(tmp_path: Path) -> None:
    gold, system = (
        saved(tmp_path / f"{name}.muc4.json", changed(GTT, "templates", 0, role, to=entities))
        for name, role in (("gold", "PerpInd"), ("system", "Weapon"))
        for entities in [[[["the bridge", 11], ["the road", 0], [f"{name} {n}", 0]] for n in range(720)]]
    )
    refused = run("score", gold, system, "-p", "gtt-2021", "--errors")
    assert_refused(refused, "too-many-pairs", f"{gold}, line 1", "1,036,800 pairs of missed and spurious arguments")


@pytest.mark.slow
def test_details_of_siblings(tmp_path: Path) -> None:
    """All children of one event are siblings of each other, and the system has none of these pairs."""
    count = 1450
    star = tbf(tmp_path / "star.tbf", apart(count), *(f"@Subevent\tR{n}\tE0,E{n}" for n in range(1, count)))
    chain = tbf(tmp_path / "chain.tbf", apart(count), *(f"@Subevent\tR{n}\tE{n - 1},E{n}" for n in range(1, count)))
    refused = run("score", star, chain, "-p", "araki-2014", "--details")
    assert_refused(refused, "too-many-pairs", f"{star}, line 1: 'd' has 1,000,001 or more outcomes of hierarchy.")


@pytest.fixture
def divided(tmp_path: Path) -> tuple[str, str]:
    """One cluster of gold, whose mentions are each alone in the system."""
    count = 2300
    names = ",".join(f"E{n}" for n in range(count))
    gold = tbf(tmp_path / "gold.tbf", apart(count), f"@Coreference\tC1\t{names}")
    return gold, tbf(tmp_path / "system.tbf", apart(count))


def test_a_page_names_the_mentions_of_a_cluster_once(divided: tuple[str, str]) -> None:
    done = run("score", *divided, "-f", "html")
    assert done.code == 0, done.err
    assert len(done.out) < 4_000_000


@pytest.mark.slow
def test_an_audit_of_mentions_with_one_head(tmp_path: Path) -> None:
    pytest.importorskip("sklearn", reason="needs the extra karat[baselines]")
    mentions = [{"id": f"m{n}", "span": [[5 * n, 5 * n + 4]], "cluster": f"c{n // 2}"} for n in range(1500)]
    file = jsonl(tmp_path / "one.jsonl", mentions, text="word " * 1500)
    assert_refused(run("audit", file), "too-many-pairs", "the corpus has", "pairs of event mentions with similar heads")


def test_a_baseline_on_a_crowded_document(tmp_path: Path) -> None:
    pytest.importorskip("sklearn", reason="needs the extra karat[baselines]")
    text = "Police said the attack killed 12 in Paris . " * 1500
    mentions = [{"id": f"m{n}", "span": [[44 * n + 16, 44 * n + 22]], "cluster": f"c{n // 2}"} for n in range(1500)]
    documents = [{"id": f"d{n}", "topic": str(n), "text": text, "mentions": mentions} for n in range(2)]
    file = tmp_path / "gold.jsonl"
    file.write_text("".join(json.dumps(document) + "\n" for document in documents))
    refused = run("baseline", "sac", str(file), "--train-topics", "0")
    assert_refused(refused, "too-many-pairs", "document 'd0' has 1,124,250 pairs of event mentions")


# Numbers that are larger than any text: nothing is written out token by token


@pytest.mark.slow
@pytest.mark.parametrize("form", ["tbf", "conll"])
def test_a_span_of_a_million_million_tokens_is_not_written_out(tmp_path: Path, form: str) -> None:
    file = tmp_path / "long.jsonl"
    file.write_text('{"id":"d","unit":"token","mentions":[{"id":"a","span":[[0,1000000000000]]}]}\n')
    refused = limited("convert", str(file), str(tmp_path / "out"), "--to", form, "--lossy")
    assert_refused(refused, "too-many-pairs", f"{file}, line 1: document 'd' has 1,000,000,000,000 tokens")


@pytest.mark.slow
def test_spans_of_any_length_are_merged(tmp_path: Path) -> None:
    file, out = tmp_path / "long.jsonl", tmp_path / "out.jsonl"
    file.write_text(
        '{"id":"d","mentions":[{"id":"a","span":[[0,1000000000000]]},{"id":"b","span":[[5,2000000000000]]}]}\n'
    )
    done = limited("simulate", str(file), "--merge", "1", "-o", str(out))
    assert done.code == 0, done.err
    assert "[[0,2000000000000]]" in out.read_text()


@pytest.mark.slow
@pytest.mark.parametrize("options", [["-p", "wikievents-2021"], ["-p", "textee-2024", "-f", "html"]])
def test_an_argument_of_a_million_million_tokens(tmp_path: Path, options: list[str]) -> None:
    """Its words are not listed, neither for heads nor for the report."""
    path = saved(tmp_path / "a.json", changed(WIKIEVENTS, "entity_mentions", 0, "end", to=10**12))
    done = limited("score", path, path, *options)
    assert (done.code, "memory-full" in done.err) == (1 if "wikievents-2021" in options else 0, False)


# Other limits


def test_what_is_unpacked_has_a_limit(tmp_path: Path) -> None:
    file = tmp_path / "bomb.tbf.gz"
    file.write_bytes(gzip.compress(b"#BeginOfDocument d\n" + b"#\n" * 1_000_000))
    refused = run("validate", str(file), "--max-bytes", "1000000")
    assert (refused.code, "more than 1,000,000 bytes" in refused.out) == (1, True)
    refused = run("score", "-", str(file), "--max-bytes", "1000", stdin=b"#\n" * 1000)
    assert (refused.code, "[input-too-large]" in refused.err) == (1, True)


def test_many_kinds_of_links_must_be_named(tmp_path: Path) -> None:
    path = tmp_path / "kinds.forest"
    path.write_text("".join(f"#kind k{n}\nd\t(1(2))\n" for n in range(1600)))
    file = str(path)
    assert_refused(
        run("score", file, file), "link-kinds-too-many", f"{file}: gold has 1,600 kinds of links, such as 'k0'"
    )
    assert run("score", file, file, "--set", "links=k7,k8").code == 0


@pytest.mark.slow
@pytest.mark.parametrize("options", [["--by", "type"], ["-f", "html"]])
def test_a_breakdown_by_more_values_than_anyone_can_read(tmp_path: Path, options: list[str]) -> None:
    lines = [f"s\td\tE{n}\t{10 * n},{10 * n + 5}\tx\tT{n}\tActual" for n in range(MOST_VALUES + 1)]
    path = tmp_path / "types.tbf"
    path.write_text("\n".join(["#BeginOfDocument d", *lines, "#EndOfDocument", ""]))
    refused = run("score", str(path), str(path), *options)
    assert_refused(refused, "breakdown-too-many", f"{path}: type has more than 6,000 values")
