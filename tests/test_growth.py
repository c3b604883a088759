"""Small files that ask for much: each within limits of CPU time and memory that a careless program exceeds."""

import gzip
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.event_files import GTT, MAVEN_ARG, WIKIEVENTS, changed, saved
from tests.running import limited, run

pytestmark = pytest.mark.slow


def tbf(path: Path, spans: Iterable[tuple[int, int]], *more: str) -> str:
    """A document with a mention on each span."""
    lines = [f"s\td\tE{n}\t{begin},{end}\tx\tT{n % 7}\tActual" for n, (begin, end) in enumerate(spans)]
    path.write_text("\n".join(["#BeginOfDocument d", *lines, *more, "#EndOfDocument", ""]))
    return str(path)


def apart(count: int) -> list[tuple[int, int]]:
    return [(10 * n, 10 * n + 5) for n in range(count)]


@pytest.mark.parametrize("protocol", ["tac-2017", "exact-2013", "muc-5"])
def test_10000_mentions_on_one_span_are_refused(tmp_path: Path, protocol: str) -> None:
    file = tbf(tmp_path / "many.tbf", [(0, 5)] * 10000)
    refused = limited("score", file, file, "-p", protocol, megabytes=700)
    assert (refused.code, "[too-many-pairs]" in refused.err) == (1, True), refused.err
    assert f"{file}, line 1" in refused.err
    assert "document 'd' has 1,000,001 or more pairs of alike mentions; karat compares 1,000,000 at most" in refused.err


def jsonl(path: Path, mentions: list[dict[str, Any]], **more: Any) -> str:
    path.write_text(json.dumps({"id": "d", "mentions": mentions, **more}) + "\n")
    return str(path)


def at(count: int, kind: str, cluster: str = "e{}") -> list[dict[str, Any]]:
    """Mentions in one place."""
    return [{"id": f"m{n}", "span": [[0, 4]], "kind": kind, "cluster": cluster.format(n)} for n in range(count)]


@pytest.mark.parametrize("protocol", ["ace-2005", "ace-2005-nist"])
def test_2000_different_entities_that_all_overlap_are_refused(tmp_path: Path, protocol: str) -> None:
    mentions = [one | {"span": [[n % 40, 50 + n // 40]]} for n, one in enumerate(at(2000, "entity"))]
    file = jsonl(tmp_path / "many.jsonl", mentions)
    refused = limited("score", file, file, "-p", protocol, megabytes=500)
    assert (refused.code, "[too-many-pairs]" in refused.err) == (1, True), refused.err
    assert f"{file}, line 1" in refused.err
    assert "4,000,000 pairs" in refused.err




def test_clusters_that_all_cross_are_paired(tmp_path: Path) -> None:
    def side(cluster: Callable[[int], int]) -> str:
        mentions = [{"id": f"m{n}", "span": [[9 * n, 9 * n + 5]], "cluster": f"c{cluster(n)}"} for n in range(10_000)]
        return jsonl(tmp_path / f"{cluster(100)}.jsonl", mentions)

    gold, system = side(lambda n: n // 100), side(lambda n: n % 100)
    done = limited("score", gold, system, "-p", "pure-cdec", "--set", "representative=aligned", seconds=30)
    assert done.code == 0, done.err


def test_a_component_of_thousands_of_clusters_is_paired(tmp_path: Path) -> None:
    """A cluster of gold overlaps all of the system in two documents."""

    def side(name: str, cluster: Callable[[int], int]) -> str:
        mentions = [{"id": f"m{n}", "span": [[9 * n, 9 * n + 5]], "cluster": f"c{cluster(n)}"} for n in range(3600)]
        lines = [json.dumps({"id": f"d{number}", "mentions": mentions}) + "\n" for number in range(2)]
        (tmp_path / name).write_text("".join(lines))
        return str(tmp_path / name)

    gold, system = side("gold.jsonl", lambda _: 0), side("system.jsonl", lambda n: n)
    done = limited("score", gold, system, "-p", "pure-cdec", "--set", "representative=aligned")
    assert done.code == 0, done.err


@pytest.mark.parametrize("shape", ["(0{children})", "{nested}"])
def test_a_hierarchy_of_10000_events(tmp_path: Path, shape: str) -> None:
    """All of them siblings, or each below the one before."""
    children = "".join(f"({n})" for n in range(1, 10_000))
    nested = "".join(f"({n}" for n in range(10_000)) + ")" * 10_000
    file = tmp_path / "large.forest"
    file.write_text(f"d\t{shape.format(children=children, nested=nested)}\n")
    done = limited("score", str(file), str(file), seconds=20, megabytes=1000)
    assert done.code == 0, done.err


def test_errors_in_a_hierarchy_of_60000_events(tmp_path: Path) -> None:
    """Whether an error makes a cycle is looked for along thousands of links, but not for thousands of errors."""
    file, out = tmp_path / "deep.forest", str(tmp_path / "out.jsonl")
    file.write_text("d\t" + "".join(f"({n}" for n in range(60_000)) + ")" * 60_000 + "\n")
    errors = [f"--{name}=0.2" for name in ("merge", "break", "conflate", "drop-link", "reverse-link", "spurious")]
    done = limited("simulate", str(file), "--to", "jsonl", "-o", out, *errors, seconds=30)
    assert done.code == 0, done.err
    assert limited("validate", out, seconds=20).code == 0


def linked(tmp_path: Path, mark: str) -> tuple[str, str]:
    """Two clusters of gold with one link between them; the system has their mentions, alone, in a chain of links."""
    names = [",".join(f"E{n}" for n in range(first, 3000, 2)) for first in (0, 1)]
    clusters = [f"@Coreference\tC{n}\t{own}" for n, own in enumerate(names)]
    gold = tbf(tmp_path / "gold.tbf", apart(3000), *clusters, f"{mark}\tR0\tE0,E1")
    chain = [f"{mark}\tR{n}\tE{n},E{n + 1}" for n in range(2999)]
    return gold, tbf(tmp_path / "system.tbf", apart(3000), *chain)


def test_a_link_between_two_clusters_of_thousands_of_events_is_refused(tmp_path: Path) -> None:
    """It would be compared with the links of each mention of the one to each of the other."""
    gold, system = linked(tmp_path, "@After")
    refused = limited("score", gold, system, megabytes=500)
    assert (refused.code, "too-many-pairs" in refused.err) == (1, True), refused.err
    assert f"{gold}, line 1" in refused.err


def test_errors_in_links_of_two_clusters_of_thousands_of_events(tmp_path: Path) -> None:
    """Whether a link is the same as one of the other side is known when two are found, and few are tried."""
    gold, system = linked(tmp_path, "@Subevent")
    done = limited("score", gold, system, "-p", "araki-2014", "--errors")
    assert done.code == 0, done.err


@pytest.mark.parametrize("option", ["--details", "--format=html"])
def test_details_of_millions_of_siblings_are_refused(tmp_path: Path, option: str) -> None:
    """All children of one event are siblings of each other, and the system has none of these pairs."""
    star = tbf(tmp_path / "star.tbf", apart(4000), *(f"@Subevent\tR{n}\tE0,E{n}" for n in range(1, 4000)))
    chain = tbf(tmp_path / "chain.tbf", apart(4000), *(f"@Subevent\tR{n}\tE{n - 1},E{n}" for n in range(1, 4000)))
    refused = limited("score", star, chain, "-p", "araki-2014", option, seconds=14, megabytes=1000)
    assert (refused.code, "outcomes-too-many" in refused.err) == (1, True), refused.err
    assert f"{star}, line 1" in refused.err


def test_thousands_of_kinds_of_links_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "kinds.forest"
    file.write_text("".join(f"#kind k{n}\nd\t(1(2))\n" for n in range(16_000)))
    refused = limited("score", str(file), str(file), seconds=10)
    assert (refused.code, "[link-kinds-too-many]" in refused.err) == (1, True), refused.err
    assert f"{file}: gold has 16,000 kinds of links, such as 'k0'" in refused.err
    done = limited("score", str(file), str(file), "--set", "links=k7,k8", seconds=10)
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


def corefud(path: Path, *cells: str) -> str:
    rows = [f"{number}\tw\t_\t_\t_\t_\t_\t_\t_\t{cell}" for number, cell in enumerate(cells, 1)]
    path.write_text("\n".join(["# newdoc id = d", "# global.Entity = eid-etype-head-other", *rows, "", ""]))
    return str(path)


def test_14000_mentions_in_one_cell_of_corefud(tmp_path: Path) -> None:
    begins, ends = ("".join(form.format(n) for n in range(14000)) for form in ("(e{}-x-1-", "e{})"))
    file = corefud(tmp_path / "one.conllu", f"Entity={begins}", f"Entity={ends}")
    done = limited("validate", file, megabytes=500)
    assert (done.code, "14,000 mentions" in done.out) == (1, True), done.out


def test_nested_mentions_of_corefud_are_refused(tmp_path: Path) -> None:
    begins, ends = ["Entity=(e1-x-1-"] * 1900, ["Entity=e1)"] * 1900
    gold = corefud(tmp_path / "gold.conllu", *begins, "_", *ends)
    system = corefud(tmp_path / "system.conllu", "_", *begins, *ends)
    refused = limited("score", gold, system, "-p", "crac-2022")
    assert (refused.code, "[too-many-pairs]" in refused.err) == (1, True), refused.err


def test_60000_lines_that_are_wrong(tmp_path: Path) -> None:
    file = tmp_path / "wrong.jsonl"
    file.write_text("x\n" * 60_000)
    refused = limited("validate", str(file))
    assert (refused.code, "60,000 fatal" in refused.out) == (1, True)


@pytest.mark.parametrize("error", ["break", "reverse-link"])
def test_errors_of_links_that_cannot_all_be_made(tmp_path: Path, error: str) -> None:
    mentions = [{"id": f"m{n}", "span": [[10 * n, 10 * n + 5]], "cluster": f"c{n // 2}"} for n in range(8000)]
    ends = [(n, n + 2) for n in range(7990)] + [(n, n + 4) for n in range(7990)] + [(0, 1), (1, 0)]
    links = [{"kind": "after", "from": f"m{one}", "to": f"m{other}"} for one, other in ends]
    file = jsonl(tmp_path / "links.jsonl", mentions, links=links)
    done = limited("simulate", file, f"--{error}", "0.5", "-o", str(tmp_path / "out.jsonl"))
    assert done.code == 0, done.err


def test_a_breakdown_by_6000_values(tmp_path: Path) -> None:
    lines = [f"s\td\tE{n}\t{10 * n},{10 * n + 5}\tx\tT{n}\tActual" for n in range(6000)]
    file = tmp_path / "types.tbf"
    file.write_text("\n".join(["#BeginOfDocument d", *lines, "#EndOfDocument", ""]))
    done = limited("score", str(file), str(file), "--by", "type", seconds=20)
    assert done.code == 0, done.err


@pytest.mark.parametrize("options", [["--by", "type"], ["-f", "html"]])
def test_a_breakdown_by_more_values_than_anyone_can_read_is_refused(tmp_path: Path, options: list[str]) -> None:
    lines = [f"s\td\tE{n}\t{10 * n},{10 * n + 5}\tx\tT{n}\tActual" for n in range(12_000)]
    file = tmp_path / "types.tbf"
    file.write_text("\n".join(["#BeginOfDocument d", *lines, "#EndOfDocument", ""]))
    refused = limited("score", str(file), str(file), *options, megabytes=500)
    assert (refused.code, refused.out, "[breakdown-too-many]" in refused.err) == (1, "", True), refused.err
    assert f"{file}, line 1: type has more than 6,000 values" in refused.err


@pytest.mark.parametrize("error", ["conflate", "spurious"])
def test_errors_in_12000_mentions(tmp_path: Path, error: str) -> None:
    mentions = [{"id": f"m{n}", "span": [[10 * n, 10 * n + 5]], "cluster": f"c{n // 2}"} for n in range(12000)]
    file = jsonl(tmp_path / "many.jsonl", mentions)
    done = limited("simulate", file, f"--{error}", "0.5", "-o", str(tmp_path / "out.jsonl"), seconds=5)
    assert done.code == 0, done.err


def test_400_mentions_of_200_segments(tmp_path: Path) -> None:
    """Few mentions, but millions of pairs of segments."""
    gold, system = (
        jsonl(tmp_path / f"{shift}.jsonl", [{"id": f"m{n}", "span": span} for n in range(400)])
        for shift in (0, 1)
        for span in [[[4 * k, 4 * k + 1 + shift] for k in range(200)]]
    )
    done = limited("score", gold, system, "-p", "tac-2017")
    assert done.code == 0, done.err


def test_a_boundary_in_18000_segments(tmp_path: Path) -> None:
    file = jsonl(tmp_path / "one.jsonl", [{"id": "m", "span": [[10 * n, 10 * n + 5] for n in range(18000)]}])
    done = limited("simulate", file, "--boundary", "1", "-o", str(tmp_path / "out.jsonl"), seconds=5)
    assert done.code == 0, done.err


def test_8000_crossing_mentions_of_one_cluster_as_conll(tmp_path: Path) -> None:
    mentions = [{"id": f"m{n}", "span": [[n, n + 9000]], "cluster": "c"} for n in range(8000)]
    file = jsonl(tmp_path / "cross.jsonl", mentions, unit="token")
    done = limited("convert", file, str(tmp_path / "out.conll"), "--to", "conll", "--lossy", seconds=5)
    assert done.code == 0, done.err


def test_one_cluster_id_many_times(tmp_path: Path) -> None:
    clusters = [f"@Coreference\tC\tE{2 * n},E{2 * n + 1}" for n in range(8000)]
    done = limited("validate", tbf(tmp_path / "same.tbf", apart(16000), *clusters))
    assert done.code == 0, done.err


def test_a_mention_id_given_twice_at_the_end(tmp_path: Path) -> None:
    mentions = ",".join(f'{{"id":"{n}","span":[[{n},{n + 1}]]}}' for n in (*range(14000), 13999))
    file = tmp_path / "twice.jsonl"
    file.write_text(f'{{"id":"d","mentions":[{mentions}]}}\n')
    refused = limited("validate", str(file), seconds=3)
    assert (refused.code, "'13999' is used twice" in refused.out) == (1, True)


@pytest.mark.parametrize("form", ["tbf", "conll"])
def test_a_span_of_a_million_million_tokens_is_not_written_out(tmp_path: Path, form: str) -> None:
    file = tmp_path / "long.jsonl"
    file.write_text('{"id":"d","unit":"token","mentions":[{"id":"a","span":[[0,1000000000000]]}]}\n')
    refused = limited("convert", str(file), str(tmp_path / "out"), "--to", form, "--lossy")
    assert (refused.code, "1,000,000,000,000 tokens" in refused.err) == (1, True)


def test_spans_of_any_length_are_merged(tmp_path: Path) -> None:
    file, out = tmp_path / "long.jsonl", tmp_path / "out.jsonl"
    file.write_text(
        '{"id":"d","mentions":[{"id":"a","span":[[0,1000000000000]]},{"id":"b","span":[[5,2000000000000]]}]}\n'
    )
    done = limited("simulate", str(file), "--merge", "1", "-o", str(out))
    assert done.code == 0, done.err
    assert "[[0,2000000000000]]" in out.read_text()


def test_what_is_unpacked_has_a_limit(tmp_path: Path) -> None:
    file = tmp_path / "bomb.tbf.gz"
    file.write_bytes(gzip.compress(b"#BeginOfDocument d\n" + b"#\n" * 1_000_000))
    refused = run("validate", str(file), "--max-bytes", "1000000")
    assert (refused.code, "more than 1,000,000 bytes" in refused.out) == (1, True)
    refused = run("score", "-", str(file), "--max-bytes", "1000", stdin=b"#\n" * 1000)
    assert (refused.code, "[input-too-large]" in refused.err) == (1, True)


def test_20000_documents_by_number(tmp_path: Path) -> None:
    """Each number is looked up among gold's ids; a search through all of them would take minutes."""
    template = {"incident_type": "attack", "Target": [["a"]]}
    system = {str(10_000 + number): {"pred_templates": [template]} for number in range(20_000)}
    gold = [{"docid": f"TST{1 + n // 10_000}-MUC3-{n % 10_000}", "templates": []} for n in range(20_000)]
    (tmp_path / "gold.json").write_text("".join(f"{json.dumps(one)}\n" for one in gold))
    (tmp_path / "system.json").write_text(json.dumps(system))
    done = limited("validate", str(tmp_path / "system.json"), "--against", str(tmp_path / "gold.json"), seconds=20)
    assert "ready to submit" in done.out, done.err


@pytest.mark.parametrize("options", [["-p", "wikievents-2021"], ["-p", "textee-2024", "-f", "html"]])
def test_an_argument_of_a_million_million_tokens(tmp_path: Path, options: list[str]) -> None:
    """Its words are not listed, neither for heads nor for the report."""
    path = saved(tmp_path / "a.json", changed(WIKIEVENTS, "entity_mentions", 0, "end", to=10**12))
    done = limited("score", path, path, *options)
    assert (done.code, "memory-full" in done.err) == (1 if "wikievents-2021" in options else 0, False)


def test_3000_events_on_one_trigger(tmp_path: Path) -> None:
    """Each is compared with all system events there, whose strings are the same."""
    event = MAVEN_ARG["events"][0]
    triggers = [changed(event["mention"][0], "id", to=f"m{n}") for n in range(3000)]
    events = [event | {"id": f"E{n}", "mention": [trigger]} for n, trigger in enumerate(triggers)]
    path = saved(tmp_path / "a.maven.jsonl", changed(MAVEN_ARG, "events", to=events))
    done = limited("score", path, path, "-p", "maven-arg-2024")
    assert done.code == 0, done.err


def test_20000_equal_entities_of_a_template(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.muc4.json", changed(GTT, "templates", 0, "Target", to=[[["the bridge", 11]]] * 20_000))
    done = limited("score", path, path, "-p", "gtt-2021", "-p", "rme-2023", "-p", "ree-2021")
    assert done.code == 0, done.err


def test_errors_in_10000_entities_of_a_template(tmp_path: Path) -> None:
    """Only those that share a string are compared."""
    gold, system = (
        saved(tmp_path / f"{name}.muc4.json", changed(GTT, "templates", 0, "Target", to=[[[w, 0]] for w in words]))
        for name, words in (("gold", [f"w{n}" for n in range(10_000)]), ("system", [f"w{n}" for n in range(1, 10_001)]))
    )
    done = limited("score", gold, system, "-p", "gtt-2021", "--errors", seconds=12)
    assert done.code == 0, done.err


def test_errors_in_5000_entities_that_share_a_string_with_those_of_another_role(tmp_path: Path) -> None:
    """Too many to look for the best pairs: they are missed and spurious."""
    gold, system = (
        saved(tmp_path / f"{name}.muc4.json", changed(GTT, "templates", 0, role, to=entities))
        for name, role in (("gold", "PerpInd"), ("system", "Weapon"))
        for entities in [[[["the bridge", 11], [f"{name} {n}", 0]] for n in range(5000)]]
    )
    done = limited("score", gold, system, "-p", "gtt-2021", "--errors", seconds=12, megabytes=500)
    assert done.code == 0, done.err


def test_12000_missed_events_with_arguments(tmp_path: Path) -> None:
    def document(name: str, count: int) -> str:
        events = [{"id": f"t{n}", "span": [[2 * n, 2 * n + 1]], "attributes": {"type": "A"}} for n in range(count)]
        entities = [{"id": f"e{n}", "span": [[2 * n + 1, 2 * n + 2]], "kind": "entity"} for n in range(count)]
        links = [{"kind": "Agent", "from": f"t{n}", "to": f"e{n}"} for n in range(count)]
        return jsonl(tmp_path / f"{name}.jsonl", [*events, *entities], links=links)

    done = limited("score", document("gold", 12_000), document("system", 1), "-p", "li-2013", "--errors", seconds=14)
    assert done.code == 0, done.err


def test_5000_templates_that_share_a_string_are_refused(tmp_path: Path) -> None:
    templates = [changed(GTT["templates"][0], "Weapon", to=[[[f"w{n}", 0]]]) for n in range(5000)]
    path = saved(tmp_path / "a.muc4.json", changed(GTT, "templates", to=templates))
    refused = limited("score", path, path, "-p", "rme-2023")
    assert (refused.code, "argument-too-many-pairs" in refused.err) == (1, True), refused.err
    assert f"{path}, line 1" in refused.err


def test_6000_events_and_entities_in_two_places(tmp_path: Path) -> None:
    """Every entity is a candidate of every event; those in one place are looked at once."""
    events = [{"id": f"t{n}", "span": [[0, 3]], "attributes": {"type": "A"}} for n in range(6000)]
    entities = [{"id": f"e{n}", "span": [[4, 6]], "kind": "entity"} for n in range(6000)]
    links = [{"kind": "Agent", "from": f"t{n}", "to": f"e{n}"} for n in range(6000)]
    file = jsonl(tmp_path / "one.jsonl", [*events, *entities], links=links, text="ran he")
    done = limited("score", file, file, "-p", "omnievent-2023")
    assert done.code == 0, done.err


# Reports of one large document


def divided(tmp_path: Path, count: int) -> tuple[str, str]:
    """One cluster of gold, whose mentions are each alone in the system."""
    names = ",".join(f"E{n}" for n in range(count))
    gold = tbf(tmp_path / "gold.tbf", apart(count), f"@Coreference\tC1\t{names}")
    return gold, tbf(tmp_path / "system.tbf", apart(count))


@pytest.mark.parametrize("option", ["--details", "--errors", "--format=html"])
def test_lines_of_10000_mentions_of_one_document(tmp_path: Path, option: str) -> None:
    gold, system = tbf(tmp_path / "gold.tbf", apart(10000)), tbf(tmp_path / "system.tbf", apart(9999))
    done = limited("score", gold, system, option, seconds=14, megabytes=1000)
    assert done.code == 0, done.err


@pytest.mark.parametrize("form", ["text", "json"])
def test_details_that_name_each_mention_thousands_of_times_are_refused(tmp_path: Path, form: str) -> None:
    gold, system = divided(tmp_path, 10000)
    refused = limited("score", gold, system, "--details", "-f", form)
    assert (refused.code, refused.out, "[details-too-long]" in refused.err) == (1, "", True), refused.err
    assert "the details name 300," in refused.err
    done = limited("score", gold, system, "--details", "-f", form, "-m", "nugget.span")
    assert done.code == 0, done.err


def test_a_page_names_the_mentions_of_a_cluster_once(tmp_path: Path) -> None:
    done = limited("score", *divided(tmp_path, 10000), "-f", "html", seconds=14, megabytes=1000)
    assert done.code == 0, done.err
    assert len(done.out) < 8_000_000


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


def test_a_page_of_9000_nested_mentions_of_tokens(tmp_path: Path) -> None:
    cells = [*(f"({n}" for n in range(9000)), *(f"{n})" for n in reversed(range(9000)))]
    rows = [f"d\t0\t{number}\tw\t{cell}" for number, cell in enumerate(cells)]
    file = tmp_path / "nested.conll"
    file.write_text("\n".join(["#begin document (d); part 000", *rows, "", "#end document", ""]))
    done = limited("score", str(file), str(file), "-f", "html", "-m", "coref.muc", seconds=14, megabytes=1500)
    assert done.code == 0, done.err


def test_a_long_text_of_other_letters_is_cut_in_one_pass(tmp_path: Path) -> None:
    file = tmp_path / "long.jsonl"
    mention = {"id": "m", "kind": "event", "span": [[0, 60_000]], "attributes": {"type": "T"}}
    file.write_text(json.dumps({"id": "d", "text": "ä" * 60_000, "mentions": [mention]}))
    done = limited("score", str(file), str(file), "-p", "tac-2017", "--details")
    assert done.code == 0, done.err
    assert "ä" * 31 + "…" in done.out


def test_an_audit_of_4000_mentions_with_one_head_is_refused(tmp_path: Path) -> None:
    mentions = [{"id": f"m{n}", "span": [[5 * n, 5 * n + 4]], "cluster": f"c{n // 2}"} for n in range(4000)]
    file = jsonl(tmp_path / "one.jsonl", mentions, text="word " * 4000)
    refused = limited("audit", file, seconds=20, megabytes=1600)
    assert (refused.code, "audit-too-many-pairs" in refused.err) == (1, True), refused.err


def test_a_comparison_by_thousands_of_values_in_thousands_of_documents(tmp_path: Path) -> None:
    """What is kept of a value are the units that have it, not all units."""
    mentions = [{"id": "m", "span": [[0, 2]], "attributes": {"type": f"T{n}"}} for n in range(1500)]
    file = tmp_path / "x.jsonl"
    file.write_text("\n".join(json.dumps({"id": f"d{n}", "mentions": [one]}) for n, one in enumerate(mentions)))
    for form in ("html", "json"):
        done = limited("compare", str(file), f"same={file}", "--by", "type", "-f", form, seconds=30, megabytes=900)
        assert done.code == 0, done.err[-300:]


# Long texts


def wide(path: Path, count: int = 4000, **more: Any) -> str:
    """Mentions that each cover nearly all of a long text: together, they have a thousand times its characters."""
    text = "the attack on the town " * 10_000
    mentions = [{"id": f"m{n}", "span": [[n, len(text) - n]], "cluster": f"c{n // 2}", **more} for n in range(count)]
    return jsonl(path, mentions, text=text)


@pytest.mark.parametrize("options", [["--details"], ["--errors"], ["--errors", "--details"], ["--format=html"]])
def test_excerpts_of_4000_long_mentions(tmp_path: Path, options: list[str]) -> None:
    gold, system = wide(tmp_path / "gold.jsonl"), wide(tmp_path / "system.jsonl", 3999)
    done = limited("score", gold, system, "-p", "tac-2017", *options, seconds=20, megabytes=800)
    assert (done.code, len(done.out) < 20_000_000) == (0, True), done.err


@pytest.mark.parametrize("options", [["--details"], ["--errors", "--details"]])
def test_json_with_the_texts_of_4000_long_mentions_is_refused(tmp_path: Path, options: list[str]) -> None:
    gold, system = wide(tmp_path / "gold.jsonl"), wide(tmp_path / "system.jsonl", 3999)
    refused = limited("score", gold, system, "-p", "tac-2017", *options, "-f", "json", seconds=20)
    assert (refused.code, refused.out, "[details-too-long]" in refused.err) == (1, "", True), refused.err
    compared = limited("compare", gold, system, gold, "-p", "tac-2017", *options, "-f", "json", seconds=30)
    assert (compared.code, compared.out, "[details-too-long]" in compared.err) == (1, "", True), compared.err


@pytest.mark.parametrize("to", ["tbf", "brat"])
@pytest.mark.parametrize("command", ["convert", "simulate"])
def test_writing_the_texts_of_4000_long_mentions_is_refused(tmp_path: Path, command: str, to: str) -> None:
    gold, out = wide(tmp_path / "gold.jsonl", attributes={"type": "T"}), tmp_path / "out"
    options = ["--lossy", str(out)] if command == "convert" else ["--miss", "0.1", "-o", str(out)]
    refused = limited(command, gold, "--to", to, *options, megabytes=500)
    assert (refused.code, "[output-too-long]" in refused.err, out.exists()) == (1, True, False), refused.err
    assert "gold.jsonl, line 1: the texts of the mentions of document 'd'" in refused.err


def test_writing_windows_with_4000_long_mentions_is_refused(tmp_path: Path) -> None:
    mentions = [{"id": f"m{n}", "span": [[n, 30_000]], "attributes": {"type": "T"}} for n in range(4000)]
    file = jsonl(tmp_path / "forms.jsonl", mentions, unit="token", forms=["a"] * 30_000)
    refused = limited("convert", file, str(tmp_path / "out"), "--to", "textee", "--lossy", megabytes=500)
    assert (refused.code, "[output-too-long]" in refused.err) == (1, True), refused.err


@pytest.mark.parametrize("command", [["audit"], ["baseline", "lemma"], ["baseline", "lemma-delta"]])
def test_baselines_refuse_4000_long_mentions(tmp_path: Path, command: list[str]) -> None:
    refused = limited(*command, wide(tmp_path / "gold.jsonl"), megabytes=1500)
    assert (refused.code, "[baseline-too-long]" in refused.err) == (1, True), refused.err
    assert "gold.jsonl, line 1: the mentions of document 'd' have more than" in refused.err


def test_an_audit_refuses_4000_mentions_of_one_long_sentence(tmp_path: Path) -> None:
    mentions = [{"id": f"m{n}", "span": [[n, n + 1]], "cluster": f"c{n // 2}"} for n in range(4000)]
    more: dict[str, Any] = {"unit": "token", "forms": ["attack"] * 30_000, "sentences": [{"begin": 0}]}
    refused = limited("audit", jsonl(tmp_path / "one.jsonl", mentions, **more), megabytes=1500)
    assert (refused.code, "[baseline-too-long]" in refused.err) == (1, True), refused.err


def stories(path: Path, count: int) -> str:
    """A document in each of two topics, with so many events in it."""
    text = "Police said the attack killed 12 in Paris . " * 4000
    spans = [[12 * n % 44_000 // 44 * 44 + 16, 12 * n % 44_000 // 44 * 44 + 22] for n in range(count)]
    mentions = [{"id": f"m{n}", "span": [span], "cluster": f"c{n // 2}"} for n, span in enumerate(spans)]
    documents = [{"id": f"d{n}", "topic": str(n), "text": text, "mentions": mentions} for n in range(2)]
    path.write_text("".join(json.dumps(document) + "\n" for document in documents))
    return str(path)


def test_sac_compares_400000_pairs_in_parts(tmp_path: Path) -> None:
    options = ["--train-topics", "0", "--topics", "1", "-o", str(tmp_path / "out.jsonl")]
    done = limited("baseline", "sac", stories(tmp_path / "gold.jsonl", 900), *options, seconds=25, megabytes=1600)
    assert done.code == 0, done.err


def test_sac_refuses_pairs_of_2000_mentions(tmp_path: Path) -> None:
    file = stories(tmp_path / "gold.jsonl", 2000)
    refused = limited("baseline", "sac", file, "--train-topics", "0", megabytes=1500)
    assert (refused.code, "[baseline-too-many-pairs]" in refused.err) == (1, True), refused.err


@pytest.mark.parametrize(("protocol", "kind"), [("maven-arg-2024", "event"), ("rme-2023", "template")])
def test_strings_of_2000_long_arguments_are_refused(tmp_path: Path, protocol: str, kind: str) -> None:
    text = "the attack on the town " * 10_000
    events = [{"id": f"e{n}", "span": [[n, n + 1]], "kind": kind, "attributes": {"type": "T"}} for n in range(1000)]
    fillers = [{"id": f"m{n}", "span": [[n, len(text) - n]], "kind": "entity"} for n in range(2000)]
    links = [{"kind": "Agent", "from": f"e{n // 2}", "to": f"m{n}"} for n in range(2000)]
    file = jsonl(tmp_path / "gold.jsonl", [*events, *fillers], links=links, text=text)
    refused = limited("score", file, file, "-p", protocol)
    assert (refused.code, "[argument-too-long]" in refused.err) == (1, True), refused.err
    assert "gold.jsonl, line 1: the texts that fill roles in document 'd' have more than" in refused.err


@pytest.mark.parametrize("protocol", ["wikievents-2021", "omnievent-2023"])
def test_only_the_first_words_of_2000_long_arguments_are_read(tmp_path: Path, protocol: str) -> None:
    text = "the attack on the town " * 10_000
    events = [{"id": f"e{n}", "span": [[n, n + 1]], "attributes": {"type": "T"}} for n in range(1000)]
    fillers = [{"id": f"m{n}", "span": [[n, len(text) - n]], "head": [[4, 10]], "kind": "entity"} for n in range(2000)]
    links = [{"kind": "Agent", "from": f"e{n // 2}", "to": f"m{n}"} for n in range(2000)]
    file = jsonl(tmp_path / "gold.jsonl", [*events, *fillers], links=links, text=text)
    done = limited("score", file, file, "-p", protocol)
    assert done.code == 0, done.err


def test_the_laboratory_refuses_4000_long_mentions(tmp_path: Path) -> None:
    refused = limited("lab", "nugget.span", "--gold", wide(tmp_path / "gold.jsonl"))
    assert (refused.code, "[lab-too-long]" in refused.err) == (1, True), refused.err
    assert "gold.jsonl, line 1: the texts of the mentions of document 'd' have more than" in refused.err


def test_thousands_of_mentions_of_two_long_words(tmp_path: Path) -> None:
    begin, end = "|".join(f"({n}" for n in range(9000)), "|".join(f"{n})" for n in range(9000))
    rows = [f"d\t0\t{number}\t{'x' * 100_000}\t{cell}" for number, cell in enumerate((begin, end))]
    file = tmp_path / "long.conll"
    file.write_text("\n".join(["#begin document (d); part 000", *rows, "", "#end document", ""]))
    done = limited("describe", str(file), megabytes=500)
    assert done.code == 0, done.err
