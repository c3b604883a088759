"""The bundled corpus: that it is sound, has everything a demo should show, and is what its script makes."""

import shlex
import subprocess
import sys
from collections import Counter
from importlib.resources import as_file, files
from itertools import pairwise
from pathlib import Path

import pytest
from click.testing import CliRunner

import karat
from karat.api.scoring import Result
from karat.checks import check
from karat.cli.program import cli
from karat.demo import showcase
from karat.model import Document, Link, Mention
from karat.problems import Finding, KaratError
from karat.report.breakdowns import breakdown_tables
from karat.report.html.page import GENERATOR
from karat.report.layout import View
from tests.running import run

SCRIPT = Path(__file__).parents[1] / "tools" / "demo" / "make_corpus.py"
NAMES = ("gold", *showcase.SYSTEMS)

with as_file(files("karat") / "demo") as FOLDER:
    CORPORA = {name: list(karat.read(FOLDER / f"{name}.jsonl")) for name in NAMES}
GOLD = CORPORA["gold"]
MENTIONS = [mention for document in GOLD for mention in document.mentions]


@pytest.fixture(scope="module")
def results() -> dict[str, Result]:
    return showcase.scored(FOLDER)


def depth(links: list[Link]) -> int:
    """The longest way down, in links."""
    children: dict[str, list[str]] = {}
    for link in links:
        children.setdefault(link.source, []).append(link.target)

    def below(node: str) -> int:
        return max((1 + below(child) for child in children.get(node, [])), default=0)

    return max(map(below, children), default=0)


def f1(result: Result, measure: str) -> float:
    value: float | None = result[measure].f1
    assert value is not None
    return value


@pytest.mark.slow
def test_the_files_are_what_the_script_makes(tmp_path: Path) -> None:
    subprocess.run([sys.executable, SCRIPT, tmp_path], check=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(path.name for path in FOLDER.glob("*.jsonl"))
    for name in NAMES:
        assert (tmp_path / f"{name}.jsonl").read_bytes() == (FOLDER / f"{name}.jsonl").read_bytes()


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_wrong_with_a_file(name: str) -> None:
    corpus = karat.read(FOLDER / f"{name}.jsonl")
    found: list[Finding] = []
    documents = [corpus.read(id_, found.append) for id_ in corpus.ids()]
    corpus.close()
    assert found == []
    assert [finding for document in documents for finding in check(document)] == []


@pytest.mark.parametrize("name", NAMES)
def test_spans_are_the_text_they_say(name: str) -> None:
    texts = {document.id: document.text or "" for document in GOLD}
    for document in CORPORA[name]:
        for mention in document.mentions:
            assert " ".join(texts[document.id][begin:end] for begin, end in mention.span) == mention.text
            assert all(one[1] < other[0] for one, other in pairwise(mention.span))


@pytest.mark.parametrize("name", NAMES)
def test_links_join_clusters_that_are_mentioned(name: str) -> None:
    for document in CORPORA[name]:
        clusters = {mention.cluster for mention in document.mentions}
        assert clusters >= {end for link in document.links for end in (link.source, link.target)}
        assert {link.kind for link in document.links} <= {"subevent", "after"}
        assert len(set(document.links)) == len(document.links)


def test_gold_links_agree_across_documents() -> None:
    """All documents together are as sound as each: no cycle, and an event is part of one other at most."""
    links = {link for document in GOLD for link in document.links}
    mentions = tuple(Mention(str(number), (), cluster=mention.cluster) for number, mention in enumerate(MENTIONS))
    assert list(check(Document("all", mentions=mentions, links=tuple(links)))) == []
    assert max(Counter(link.target for link in links if link.kind == "subevent").values()) == 1


def test_the_corpus_has_everything_a_demo_should_show() -> None:
    assert len(GOLD) == 12
    assert set(Counter(document.topic for document in GOLD).values()) == {4}
    assert len({document.topic for document in GOLD}) == 3
    assert len({(document.topic, document.subtopic) for document in GOLD}) == 6
    assert all(document.source and document.language and document.text for document in GOLD)
    assert {document.unit for document in GOLD} == {"char"}
    assert all(60 <= len((document.text or "").split()) <= 120 for document in GOLD)
    assert [document.id for document in GOLD if not document.mentions] == ["port-ellis-2"]
    assert 100 <= len(MENTIONS) <= 150
    assert {mention.attributes["realis"] for mention in MENTIONS} == {"Actual", "Generic", "Other"}
    assert all(mention.attributes["type"] and mention.cluster for mention in MENTIONS)


def test_some_mentions_are_in_pieces_and_no_span_is_in_two_clusters() -> None:
    """A span in two gold clusters could not be scored by protocols that match spans exactly."""
    assert sum(len(mention.span) > 1 for mention in MENTIONS) >= 5
    spans = Counter((document.id, mention.span) for document in GOLD for mention in document.mentions)
    assert set(spans.values()) == {1}


def test_events_are_told_in_several_documents_and_have_parts_of_parts() -> None:
    documents: dict[str | None, set[str]] = {}
    for document in GOLD:
        for mention in document.mentions:
            documents.setdefault(mention.cluster, set()).add(document.id)
    assert sum(len(found) > 1 for found in documents.values()) >= 20
    assert max(depth([link for link in document.links if link.kind == "subevent"]) for document in GOLD) >= 3


def test_systems_score_as_their_characters_say(results: dict[str, Result]) -> None:
    spans = {name: result["nugget.span"].micro.values for name, result in results.items()}
    gap = {name: (values["precision"] or 0) - (values["recall"] or 0) for name, values in spans.items()}
    assert gap["cautious"] > 0.3
    assert gap["eager"] < -0.2
    assert abs(gap["literal"]) < 0.1
    assert f1(results["literal"], "nugget.span") - f1(results["literal"], "nugget.type") > 0.2
    assert {m.attributes["realis"] for document in CORPORA["literal"] for m in document.mentions} == {"Actual"}


def test_systems_cluster_as_their_characters_say() -> None:
    """Sub-topics that a cluster joins: cautious never two, eager and literal many."""
    across: dict[str, tuple[int, int]] = {}
    for name in showcase.SYSTEMS:
        found: dict[str | None, set[tuple[str | None, str]]] = {}
        for document in CORPORA[name]:
            for mention in document.mentions:
                found.setdefault(mention.cluster, set()).add((document.subtopic, document.id))
        subtopics = sum(len({subtopic for subtopic, _ in places}) > 1 for places in found.values())
        across[name] = sum(len(places) > 1 for places in found.values()), subtopics
    assert 1 <= across["cautious"][0] <= 3
    assert across["cautious"][1] == 0
    assert min(across["eager"][1], across["literal"][1]) >= 10


@pytest.mark.slow
def test_demo_prints_the_scores_and_what_to_look_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(cli, ["demo"])
    assert done.exit_code == 0
    for name, result in showcase.scored(FOLDER).items():
        assert f"{name}: its widest gap" in done.stdout
        assert f"{100 * f1(result, 'nugget.type+realis'):.2f}" in done.stdout
    assert "Report: karat-demo.html\n" in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["karat-demo.html"]


@pytest.mark.slow
def test_demo_replaces_only_its_own_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = Path("page.html")
    page.write_text("<title>mine</title>")
    refused = CliRunner().invoke(cli, ["demo", "-o", "page.html"])
    assert refused.exit_code == 1
    assert page.read_text() == "<title>mine</title>"
    page.write_text(f'{GENERATOR}0.0.9">')
    assert CliRunner().invoke(cli, ["demo", "-o", "page.html"]).exit_code == 0
    assert "eager" in page.read_text()


def test_remarks_are_computed(results: dict[str, Result]) -> None:
    gaps = {name: showcase.widest(result) for name, result in results.items()}
    assert {name: (gap.above, gap.below) for name, gap in gaps.items()} == {
        "cautious": ("span P", "span R"),
        "eager": ("span R", "span P"),
        "literal": ("span F1", "type F1"),
    }
    for result in results.values():
        by_type = breakdown_tables(result, View())[1].rows[0]
        type_, gold, system, missed, spurious = (cell.text for cell in by_type[:5])
        assert showcase.remark(result).endswith(
            f"{type_}: {missed} of {gold} gold mentions missed, {spurious} of {system} system mentions spurious."
        )


def test_the_commands_that_it_names_run_one_after_another(
    results: dict[str, Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for command in showcase.commands(results):
        program, *args = shlex.split(command)
        if program == "cd":
            monkeypatch.chdir(args[0])
        else:
            assert CliRunner().invoke(cli, args).exit_code == 0


def test_demo_copies_the_files_and_overwrites_none(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "place"
    done = CliRunner().invoke(cli, ["demo", "--into", str(folder)])
    assert done.exit_code == 0
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == {
        f"{name}.jsonl": (FOLDER / f"{name}.jsonl").read_bytes() for name in NAMES
    }
    (folder / "gold.jsonl").unlink()
    (folder / "literal.jsonl").write_text("mine")
    refused = CliRunner().invoke(cli, ["demo", "--into", str(folder)])
    assert isinstance(refused.exception, KaratError)
    assert refused.exit_code == 1
    assert not (folder / "gold.jsonl").exists()
    assert (folder / "literal.jsonl").read_text() == "mine"


def test_the_corpus_has_no_fault() -> None:
    """Also under the protocols that its content chooses."""
    demo = Path(karat.__file__).parent / "demo"
    done = run("validate", *(str(demo / f"{name}.jsonl") for name in ("gold", "eager", "literal", "cautious")))
    assert (done.code, "no problems found" in done.out) == (0, True)


def test_the_choice_of_protocols_gives_its_reason() -> None:
    demo = Path(karat.__file__).parent / "demo"
    done = run("score", str(demo / "gold.jsonl"), str(demo / "literal.jsonl"), "--summary")
    reason = "protocol: simple-cdec, pure-cdec (GOLD is jsonl with clusters across documents; choose with -p)"
    assert done.err.splitlines()[0] == reason
