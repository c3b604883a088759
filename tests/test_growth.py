"""Limits: a file that meets one is refused in seconds, with the code, the file and the number.

Large files that meet none are scored in time that grows with their size.
"""

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.event_files import GTT, WIKIEVENTS, changed, saved
from tests.running import Run, limited, run

pytestmark = pytest.mark.slow


def tbf(path: Path, spans: Iterable[tuple[int, int]], *more: str) -> str:
    """A document with a mention on each span."""
    lines = [f"s\td\tE{n}\t{begin},{end}\tx\tT{n % 7}\tActual" for n, (begin, end) in enumerate(spans)]
    path.write_text("\n".join(["#BeginOfDocument d", *lines, *more, "#EndOfDocument", ""]))
    return str(path)


def apart(count: int) -> list[tuple[int, int]]:
    return [(10 * n, 10 * n + 5) for n in range(count)]


def jsonl(path: Path, mentions: list[dict[str, Any]], **more: Any) -> str:
    path.write_text(json.dumps({"id": "d", "mentions": mentions, **more}) + "\n")
    return str(path)


def at(count: int, kind: str, cluster: str = "e{}") -> list[dict[str, Any]]:
    """Mentions in one place."""
    return [{"id": f"m{n}", "span": [[0, 4]], "kind": kind, "cluster": cluster.format(n)} for n in range(count)]


def assert_refused(refused: Run, code: str, *words: str) -> None:
    """The command ended with one error of this code, and printed nothing else."""
    assert (refused.code, refused.out, f"[{code}]" in refused.err) == (1, "", True), refused.err
    for word in words:
        assert word in refused.err


# Pairs


@pytest.mark.parametrize("protocol", ["tac-2017", "exact-2013", "muc-5"])
def test_10000_mentions_on_one_span_are_refused(tmp_path: Path, protocol: str) -> None:
    file = tbf(tmp_path / "many.tbf", [(0, 5)] * 10000)
    refused = limited("score", file, file, "-p", protocol, megabytes=700)
    what = "document 'd' has 1,000,001 or more pairs of alike mentions; karat compares 1,000,000 at most"
    assert_refused(refused, "too-many-pairs", f"{file}, line 1", what)


@pytest.mark.parametrize("protocol", ["ace-2005", "ace-2005-nist"])
def test_2000_different_entities_that_all_overlap_are_refused(tmp_path: Path, protocol: str) -> None:
    mentions = [one | {"span": [[n % 40, 50 + n // 40]]} for n, one in enumerate(at(2000, "entity"))]
    file = jsonl(tmp_path / "many.jsonl", mentions)
    refused = limited("score", file, file, "-p", protocol, megabytes=500)
    assert (refused.code, "[too-many-pairs]" in refused.err) == (1, True), refused.err
    assert f"{file}, line 1" in refused.err
    assert "4,000,000 pairs" in refused.err


def test_links_between_two_clusters_of_thousands_of_events(tmp_path: Path) -> None:
    """A link of gold is compared with the links of each mention of one cluster to each of the other."""
    names = [",".join(f"E{n}" for n in range(first, 3000, 2)) for first in (0, 1)]
    clusters = [f"@Coreference\tC{n}\t{own}" for n, own in enumerate(names)]
    gold = tbf(tmp_path / "gold.tbf", apart(3000), *clusters, "@After\tR0\tE0,E1")
    chain = [f"@After\tR{n}\tE{n},E{n + 1}" for n in range(2999)]
    refused = limited("score", gold, tbf(tmp_path / "system.tbf", apart(3000), *chain))
    assert_refused(refused, "too-many-pairs", f"{gold}, line 1: document 'd' has 2,250,000 pairs of events")


def test_2000_strings_in_one_role(tmp_path: Path) -> None:
    texts = [{"id": f"m{n}", "span": [[n, n + 1]], "kind": "entity", "text": f"w{n}"} for n in range(2000)]
    links = [{"kind": "Agent", "from": "e", "to": f"m{n}"} for n in range(2000)]
    for kind, protocol, what in (
        ("event", "maven-arg-2024", "4,000,000 pairs of strings in the role 'Agent'"),
        ("template", "ree-2021", "4,000,000 pairs of entities in one role"),
        ("template", "gtt-2021", "4,004,001 pairs of slots to compare"),
        ("template", "rme-2023", "4,000,000 pairs of entities to compare"),
    ):
        holder = {"id": "e", "span": [[0, 1]], "kind": kind, "attributes": {"type": "T"}}
        file = jsonl(tmp_path / f"{kind}.jsonl", [holder, *texts], links=links)
        refused = limited("score", file, file, "-p", protocol)
        assert_refused(refused, "too-many-pairs", f"{file}, line 1: document 'd' has {what}")


def test_errors_in_entities_that_all_share_two_strings(tmp_path: Path) -> None:
    gold, system = (
        saved(tmp_path / f"{name}.muc4.json", changed(GTT, "templates", 0, role, to=entities))
        for name, role in (("gold", "PerpInd"), ("system", "Weapon"))
        for entities in [[[["the bridge", 11], ["the road", 0], [f"{name} {n}", 0]] for n in range(800)]]
    )
    refused = limited("score", gold, system, "-p", "gtt-2021", "--errors")
    assert_refused(refused, "too-many-pairs", f"{gold}, line 1", "1,280,000 pairs of missed and spurious arguments")


@pytest.mark.parametrize("option", ["--details", "--format=html"])
def test_details_of_millions_of_siblings(tmp_path: Path, option: str) -> None:
    """All children of one event are siblings of each other, and the system has none of these pairs."""
    star = tbf(tmp_path / "star.tbf", apart(4000), *(f"@Subevent\tR{n}\tE0,E{n}" for n in range(1, 4000)))
    chain = tbf(tmp_path / "chain.tbf", apart(4000), *(f"@Subevent\tR{n}\tE{n - 1},E{n}" for n in range(1, 4000)))
    refused = limited("score", star, chain, "-p", "araki-2014", option, seconds=20, megabytes=1500)
    assert_refused(refused, "too-many-pairs", f"{star}, line 1: 'd' has 1,000,001 or more outcomes of hierarchy.")


def divided(tmp_path: Path, count: int) -> tuple[str, str]:
    """One cluster of gold, whose mentions are each alone in the system."""
    names = ",".join(f"E{n}" for n in range(count))
    gold = tbf(tmp_path / "gold.tbf", apart(count), f"@Coreference\tC1\t{names}")
    return gold, tbf(tmp_path / "system.tbf", apart(count))


@pytest.mark.parametrize("form", ["text", "json"])
def test_details_that_name_each_mention_thousands_of_times(tmp_path: Path, form: str) -> None:
    gold, system = divided(tmp_path, 10_000)
    refused = limited("score", gold, system, "--details", "-f", form)
    assert_refused(refused, "too-many-pairs", "mentions in its details; karat lists 5,000,000 at most")
    done = limited("score", gold, system, "--details", "-f", form, "-m", "nugget.span")
    assert done.code == 0, done.err


def test_a_page_names_the_mentions_of_a_cluster_once(tmp_path: Path) -> None:
    done = limited("score", *divided(tmp_path, 10000), "-f", "html", seconds=14, megabytes=1000)
    assert done.code == 0, done.err
    assert len(done.out) < 8_000_000


def test_an_audit_of_4000_mentions_with_one_head(tmp_path: Path) -> None:
    mentions = [{"id": f"m{n}", "span": [[5 * n, 5 * n + 4]], "cluster": f"c{n // 2}"} for n in range(4000)]
    file = jsonl(tmp_path / "one.jsonl", mentions, text="word " * 4000)
    refused = limited("audit", file, seconds=20, megabytes=1600)
    assert_refused(refused, "too-many-pairs", "the corpus has", "pairs of event mentions with similar heads")


def test_a_baseline_on_2000_mentions_of_one_document(tmp_path: Path) -> None:
    text = "Police said the attack killed 12 in Paris . " * 2000
    mentions = [{"id": f"m{n}", "span": [[44 * n + 16, 44 * n + 22]], "cluster": f"c{n // 2}"} for n in range(2000)]
    file = tmp_path / "gold.jsonl"
    documents = [{"id": f"d{n}", "topic": str(n), "text": text, "mentions": mentions} for n in range(2)]
    file.write_text("".join(json.dumps(document) + "\n" for document in documents))
    refused = limited("baseline", "sac", str(file), "--train-topics", "0", seconds=20, megabytes=1500)
    assert_refused(refused, "too-many-pairs", "document 'd0' has 1,999,000 pairs of event mentions")


@pytest.mark.parametrize("form", ["tbf", "conll"])
def test_a_span_of_a_million_million_tokens_is_not_written_out(tmp_path: Path, form: str) -> None:
    file = tmp_path / "long.jsonl"
    file.write_text('{"id":"d","unit":"token","mentions":[{"id":"a","span":[[0,1000000000000]]}]}\n')
    refused = limited("convert", str(file), str(tmp_path / "out"), "--to", form, "--lossy")
    assert_refused(refused, "too-many-pairs", f"{file}, line 1: document 'd' has 1,000,000,000,000 tokens")


# Other limits


def test_what_is_unpacked_has_a_limit(tmp_path: Path) -> None:
    file = tmp_path / "bomb.tbf.gz"
    file.write_bytes(gzip.compress(b"#BeginOfDocument d\n" + b"#\n" * 1_000_000))
    refused = run("validate", str(file), "--max-bytes", "1000000")
    assert (refused.code, "more than 1,000,000 bytes" in refused.out) == (1, True)
    refused = run("score", "-", str(file), "--max-bytes", "1000", stdin=b"#\n" * 1000)
    assert (refused.code, "[input-too-large]" in refused.err) == (1, True)


def test_thousands_of_kinds_of_links_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "kinds.forest"
    file.write_text("".join(f"#kind k{n}\nd\t(1(2))\n" for n in range(16_000)))
    refused = limited("score", str(file), str(file), seconds=10)
    assert (refused.code, "[link-kinds-too-many]" in refused.err) == (1, True), refused.err
    assert f"{file}: gold has 16,000 kinds of links, such as 'k0'" in refused.err
    done = limited("score", str(file), str(file), "--set", "links=k7,k8", seconds=10)
    assert done.code == 0, done.err


@pytest.mark.parametrize("options", [["--by", "type"], ["-f", "html"]])
def test_a_breakdown_by_more_values_than_anyone_can_read_is_refused(tmp_path: Path, options: list[str]) -> None:
    lines = [f"s\td\tE{n}\t{10 * n},{10 * n + 5}\tx\tT{n}\tActual" for n in range(12_000)]
    file = tmp_path / "types.tbf"
    file.write_text("\n".join(["#BeginOfDocument d", *lines, "#EndOfDocument", ""]))
    refused = limited("score", str(file), str(file), *options, megabytes=500)
    assert (refused.code, refused.out, "[breakdown-too-many]" in refused.err) == (1, "", True), refused.err
    assert f"{file}: type has more than 6,000 values" in refused.err


# Large files


@pytest.mark.parametrize("option", ["--details", "--errors", "--format=html"])
def test_lines_of_10000_mentions_of_one_document(tmp_path: Path, option: str) -> None:
    gold, system = tbf(tmp_path / "gold.tbf", apart(10000)), tbf(tmp_path / "system.tbf", apart(9999))
    done = limited("score", gold, system, option, seconds=14, megabytes=1000)
    assert done.code == 0, done.err


def test_lines_of_4000_findings_in_brat_and_ecbplus(tmp_path: Path) -> None:
    (tmp_path / "d.txt").write_text("a" * 10)
    (tmp_path / "d.ann").write_text("".join(f"T{n}\tX 0 5\tbbbbb\n" for n in range(4000)))
    found = limited("validate", str(tmp_path / "d.ann"))
    assert (found.code, "4,000 mentions" in found.out) == (1, True), found.out
    anchors = "".join(
        f'<ACTION_OCCURRENCE m_id="{n}"><token_anchor t_id="1"/></ACTION_OCCURRENCE>' for n in range(4000)
    )
    token = '<token t_id="1" sentence="1" number="0">w</token>'
    document = f'<Document doc_name="1_1ecb.xml" doc_id="D">{token}<Markables>{anchors}</Markables></Document>\n'
    (tmp_path / "1_1ecb.xml").write_text(document)
    found = limited("validate", str(tmp_path / "1_1ecb.xml"))
    assert "4,000 mentions" in found.out, found.out


def test_60000_lines_that_are_wrong(tmp_path: Path) -> None:
    file = tmp_path / "wrong.jsonl"
    file.write_text("x\n" * 60_000)
    refused = limited("validate", str(file))
    assert (refused.code, "60,000 fatal" in refused.out) == (1, True)


def test_a_mention_id_given_twice_at_the_end(tmp_path: Path) -> None:
    mentions = ",".join(f'{{"id":"{n}","span":[[{n},{n + 1}]]}}' for n in (*range(14000), 13999))
    file = tmp_path / "twice.jsonl"
    file.write_text(f'{{"id":"d","mentions":[{mentions}]}}\n')
    refused = limited("validate", str(file), seconds=3)
    assert (refused.code, "'13999' is used twice" in refused.out) == (1, True)


def test_20000_documents_by_number(tmp_path: Path) -> None:
    """Each number is looked up among gold's ids; a search through all of them would take minutes."""
    template = {"incident_type": "attack", "Target": [["a"]]}
    system = {str(10_000 + number): {"pred_templates": [template]} for number in range(20_000)}
    gold = [{"docid": f"TST{1 + n // 10_000}-MUC3-{n % 10_000}", "templates": []} for n in range(20_000)]
    (tmp_path / "gold.json").write_text("".join(f"{json.dumps(one)}\n" for one in gold))
    (tmp_path / "system.json").write_text(json.dumps(system))
    done = limited("validate", str(tmp_path / "system.json"), "--against", str(tmp_path / "gold.json"), seconds=20)
    assert "ready to submit" in done.out, done.err


def test_12000_missed_events_with_arguments(tmp_path: Path) -> None:
    def document(name: str, count: int) -> str:
        events = [{"id": f"t{n}", "span": [[2 * n, 2 * n + 1]], "attributes": {"type": "A"}} for n in range(count)]
        entities = [{"id": f"e{n}", "span": [[2 * n + 1, 2 * n + 2]], "kind": "entity"} for n in range(count)]
        links = [{"kind": "Agent", "from": f"t{n}", "to": f"e{n}"} for n in range(count)]
        return jsonl(tmp_path / f"{name}.jsonl", [*events, *entities], links=links)

    done = limited("score", document("gold", 12_000), document("system", 1), "-p", "li-2013", "--errors", seconds=14)
    assert done.code == 0, done.err


def test_repairs_of_12000_links_from_one_mention(tmp_path: Path) -> None:
    """Gold's links begin at one mention, and the system's at another."""
    gold, system = (
        tbf(
            tmp_path / f"{side}.tbf",
            apart(6000),
            *(f"@After\tR{n}\tE{first},E{n}" for n in range(2, 6000)),
            *(f"@Subevent\tR{n}\tE{first},E{n}" for n in range(2, 6000)),
        )
        for first, side in enumerate(("gold", "system"))
    )
    done = limited("score", gold, system, "--errors", seconds=14)
    assert done.code == 0, done.err


def test_a_comparison_by_thousands_of_values_in_thousands_of_documents(tmp_path: Path) -> None:
    """What is kept of a value are the units that have it, not all units."""
    mentions = [{"id": "m", "span": [[0, 2]], "attributes": {"type": f"T{n}"}} for n in range(1500)]
    file = tmp_path / "x.jsonl"
    file.write_text("\n".join(json.dumps({"id": f"d{n}", "mentions": [one]}) for n, one in enumerate(mentions)))
    for form in ("html", "json"):
        done = limited("compare", str(file), f"same={file}", "--by", "type", "-f", form, seconds=30, megabytes=900)
        assert done.code == 0, done.err[-300:]


@pytest.mark.parametrize("error", ["conflate", "spurious"])
def test_errors_in_12000_mentions(tmp_path: Path, error: str) -> None:
    mentions = [{"id": f"m{n}", "span": [[10 * n, 10 * n + 5]], "cluster": f"c{n // 2}"} for n in range(12000)]
    file = jsonl(tmp_path / "many.jsonl", mentions)
    done = limited("simulate", file, f"--{error}", "0.5", "-o", str(tmp_path / "out.jsonl"), seconds=5)
    assert done.code == 0, done.err


def test_spans_of_any_length_are_merged(tmp_path: Path) -> None:
    file, out = tmp_path / "long.jsonl", tmp_path / "out.jsonl"
    file.write_text(
        '{"id":"d","mentions":[{"id":"a","span":[[0,1000000000000]]},{"id":"b","span":[[5,2000000000000]]}]}\n'
    )
    done = limited("simulate", str(file), "--merge", "1", "-o", str(out))
    assert done.code == 0, done.err
    assert "[[0,2000000000000]]" in out.read_text()


@pytest.mark.parametrize("options", [["-p", "wikievents-2021"], ["-p", "textee-2024", "-f", "html"]])
def test_an_argument_of_a_million_million_tokens(tmp_path: Path, options: list[str]) -> None:
    """Its words are not listed, neither for heads nor for the report."""
    path = saved(tmp_path / "a.json", changed(WIKIEVENTS, "entity_mentions", 0, "end", to=10**12))
    done = limited("score", path, path, *options)
    assert (done.code, "memory-full" in done.err) == (1 if "wikievents-2021" in options else 0, False)
