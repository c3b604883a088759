"""Forest files: what is read, what is refused and where, and that nothing is lost on the way through and back."""

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.corpus.fingerprint import Fingerprint
from karat.corpus.opening import open_corpus
from karat.formats import forest
from karat.model import Cluster, Document, Link
from tests.running import run
from tests.test_hierarchy import NAMES, Forest, forests, text


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def save(content: str | bytes, name: str = "a.forest") -> str:
    Path(name).write_bytes(content.encode() if isinstance(content, str) else content)
    return name


def read(content: str) -> list[Document]:
    return list(open_corpus(save(content)))


def links(document: Document) -> set[tuple[str, str, str]]:
    return {(link.kind, link.source, link.target) for link in document.links}


def test_nodes_are_events_and_links_join_them() -> None:
    (document,) = read("d\t({E6,E7}(E4)(E8(E9))) (E20)\n")
    assert [(m.id, m.span, m.cluster) for m in document.mentions] == [
        ("E6", (), "d:E6"),
        ("E7", (), "d:E6"),
        ("E4", (), None),
        ("E8", (), None),
        ("E9", (), None),
        ("E20", (), None),
    ]
    assert links(document) == {("subevent", "d:E6", "E4"), ("subevent", "d:E6", "E8"), ("subevent", "E8", "E9")}


def test_blanks_mean_nothing() -> None:
    assert read("d\t({1,2}(3)(4(5))) (6)") == read("d\t ( { 1 , 2 } ( 3 )\t(4 (5) ) )(6)  \r\n")


@pytest.mark.parametrize(
    ("newick", "trees"),
    [
        ("((6)2,(7)3,4,5)1;", "(1(2(6))(3(7))(4)(5))"),
        (" ( ({6,8} )2 , 3)1 ; (9)10; 11 ;", "(1(2({6,8}))(3)) (10(9)) (11)"),
        ("".join(["(" * 3000, "0", *(f"){number}" for number in range(1, 3001)), ";"]), None),
    ],
    ids=["the paper's", "several trees", "deep"],
)
def test_newick_is_read_as_the_same_forest(newick: str, trees: str | None) -> None:
    """With or without an id, and with its mentions in the same order."""
    trees = trees or "".join(f"({number}" for number in range(3000, -1, -1)) + ")" * 3001
    assert read(f"d\t{newick}\n") == read(f"d\t{trees}\n")
    assert read(f"\n{newick}\r\n#kind member\n7;") == read(f"\n{trees}\n#kind member\n(7)")


def test_lines_without_an_id_are_named_by_their_numbers() -> None:
    assert [document.id for document in read("# trees\n\n(1(2))\n (3)\nd\t(1)\ne\t\n")] == ["3", "4", "d", "e"]


def test_a_document_has_a_line_for_each_kind_wherever_they_stand() -> None:
    first, second = read("#kind member\nd\t(1(2)) (3)\ne\t(1)\n#kind cause\ne\t(1(4))\nd\t(3(1))\n")
    assert links(first) == {("member", "1", "2"), ("cause", "3", "1")}
    assert [mention.id for mention in first.mentions] == ["1", "2", "3"]
    assert links(second) == {("cause", "1", "4")}


def test_one_document_with_two_lines_of_a_kind_is_given_twice() -> None:
    save("d\t(1)\ne\t(1)\nd\t(2)\n")
    done = run("score", "a.forest", "a.forest")
    assert done.code == 1
    assert "a.forest, line 3: document 'd' was already given in a.forest, line 1 [document-twice]" in done.err


def test_nodes_that_share_a_mention_are_one_event() -> None:
    """Full coreference is transitive; that the event stood in two nodes stays known."""
    (document,) = read("d\t({1,2}(3)) ({2,4}(5))\n")
    assert {mention.cluster for mention in document.mentions if mention.id in "124"} == {"d:1"}
    assert links(document) == {("subevent", "d:1", "3"), ("subevent", "d:1", "5")}
    assert document.clusters == (Cluster("d:1", attributes={"nodes.subevent": 2}),)


def test_a_mention_in_two_nodes_is_a_fault_and_leaves_no_tree() -> None:
    """(1(2)) (2(3)) would be a tree if its links were all there is: the paper wants each mention in one node."""
    save("c\t(1)\nd\t(1(2)) (2(3))\n")
    for name in ("a.forest", "a.jsonl"):
        if name == "a.jsonl":
            assert run("convert", "a.forest", name).code == 0
        done = json.loads(run("score", name, name, "-p", "araki-2014", "-f", "json").out)
        assert done["scores"]["hierarchy.subevent.mucp"]["micro"]["f1"] == 1.0
        assert done["scores"]["hierarchy.subevent.nstmp"]["micro"]["score"] is None
        assert "hierarchy-undefined" in [warning["code"] for warning in done["warnings"]]


DAMAGED: dict[str, tuple[str, str, int, str, str]] = {
    "not closed": ("forest-structure", "fatal", 2, "2 parentheses are not closed", "c\t(1)\nd\t(1(2(3)\n"),
    "closes nothing": ("forest-structure", "fatal", 1, "')' (character 6) closes nothing", "d\t(1))\n"),
    "no node": ("forest-structure", "fatal", 1, "expected a node, found '('", "d\t((1))\n"),
    "nothing in it": ("forest-structure", "fatal", 1, "expected a node, found ')'", "d\t(1())\n"),
    "breaks off": ("forest-structure", "fatal", 1, "found the end of the line", "d\t(1(\n"),
    "Newick without names": (
        "forest-structure",
        "fatal",
        1,
        "name of a node, found ';'",
        "d\t(1,2);\n",
    ),
    "Newick, not closed": ("forest-structure", "fatal", 1, "';' (character 8) ends a tree", "d\t((1)2;\n"),
    "Newick, closes nothing": ("forest-structure", "fatal", 1, "')' (character 7) closes nothing", "d\t(1)2)3;\n"),
    "Newick, no semicolon": ("forest-structure", "fatal", 1, "expected a node, found '('", "d\t((6)2,3)1\n"),
    "Newick, a comma between trees": ("forest-structure", "fatal", 1, "',' (character 4) is outside", "d\t1,2;\n"),
    "Newick, a comma too many": ("forest-structure", "fatal", 1, "expected a node, found ','", "d\t(1,,2)3;\n"),
    "Newick, branch lengths": ("forest-structure", "fatal", 1, "'2:0.5' (character 4) has a branch", "d\t(2:0.5)1;\n"),
    "Newick, quoted names": ("forest-structure", "fatal", 1, "has a branch length, quotes or", "d\t('2')1;\n"),
    "a semicolon after trees": ("forest-structure", "fatal", 1, "'(' (character 5) follows a node", "d\t(1(2));\n"),
    "two words": ("forest-structure", "fatal", 1, "'attack' (character 8) is outside a node", "d\t(the attack)\n"),
    "an empty set": ("forest-structure", "fatal", 1, "expected a set of mentions", "d\t({})\n"),
    "a set that breaks off": ("forest-structure", "fatal", 1, "expected a set of mentions", "d\t({1,2(3))\n"),
    "a comma too many": ("forest-structure", "fatal", 1, "expected a set of mentions", "d\t({1,,2})\n"),
    "no tab": ("forest-structure", "fatal", 2, "neither a tab", "c\t(1)\nd (1(2))\n"),
    "no id": ("forest-structure", "fatal", 2, "an empty document id", "c\t(1)\n  \t1\n"),
    "no kind": ("forest-directive", "fatal", 2, "expected #kind NAME", "c\t(1)\n#kind\nd\t(1)\n"),
    "a kind misspelt": ("forest-directive", "fatal", 1, "'#kinds member'", "#kinds member\nd\t(1)\n"),
    "two nodes": (
        "forest-node-twice",
        "fault",
        2,
        "event '2' of document 'd' is in 2",
        "c\t(1)\nd\t(1(2)) (2(3))\n",
    ),
    "twice below one": ("forest-node-twice", "fault", 1, "event '2'", "d\t(1(2)(2))\n"),
    "two parents": ("two-parents", "fault", 1, "'8' of document 'd' has 2 parents", "d\t(6(8)) (7(8))\n"),
    "in the second line": (
        "two-parents",
        "fault",
        4,
        "member links",
        "#kind cause\nd\t(6(8))\n#kind member\nd\t(6(8)) (7(8))\n",
    ),
    "a member twice": ("member-twice", "fault", 1, "names '6' 2 times", "d\t({6,7,6})\n"),
    "a cycle": ("link-cycle", "fatal", 2, "form a cycle", "c\t(1)\nd\t({1}(2)) ({2}(3(1)))\n"),
    "blanks": ("id-trimmed", "note", 1, "'d '", "d \t(1)\n"),
    "another encoding": ("encoding", "fatal", 2, "is not UTF-8", "c\t(1)\nd\t(caf\udce9)\n"),
}


@pytest.mark.parametrize("damage", DAMAGED.values(), ids=DAMAGED)
def test_problems_are_reported_with_their_line(damage: tuple[str, str, int, str, str]) -> None:
    code, severity, line, words, content = damage
    save(content.encode("utf-8", "surrogateescape"))
    done = run("validate", "a.forest", "-f", "json")
    findings = [finding for file in json.loads(done.out)["files"] for finding in file["findings"]]
    found = [finding for finding in findings if finding["code"] == code]
    assert [(finding["severity"], finding["line"]) for finding in found] == [(severity, line)]
    assert words in found[0]["message"]
    assert found[0]["hint"]
    assert done.code == (severity != "note")


@pytest.mark.parametrize(
    ("line", "begins"),
    [("((6:0.1)2,3)1;", "6:0.1"), ("((6)2,(7)3,)1;", ")1;"), ("(1(2)(3)", ""), ("(1{2}(1))", "{2}"), ("(1(2", "")],
)
def test_a_broken_line_is_shown_where_it_breaks(line: str, begins: str) -> None:
    """The number of a line is the id of its document, and not the text that is wrong."""
    save(f"{line}\n")
    shown, carets = run("validate", "a.forest").out.splitlines()[1:3]
    assert shown[carets.index("^") :].startswith(begins)
    assert begins or not shown[carets.index("^") :]


def test_a_link_to_itself_is_a_note_beside_the_fault() -> None:
    save("d\t(1(1)) (2)\n")
    reported = [
        (w["code"], w["severity"])
        for w in json.loads(run("score", "a.forest", "a.forest", "-f", "json").out)["warnings"]
    ]
    assert ("link-inside-cluster", "note") in reported
    assert ("forest-node-twice", "fault") in reported


def test_a_forest_is_known_by_its_looks_and_chooses_its_protocol() -> None:
    for content in (
        "d\t(1(2))\n",
        "(1)\n",
        "((6)2,(7)3,4,5)1;\n",
        "d\t(2)1;\n",
        "# made by hand\n#kind member\nd\t({a,b}(c))\n",
    ):
        save(content, "trees")
        done = run("score", "trees", "trees")
        assert done.code == 0, done.err
        assert "protocol: araki-2014 (GOLD is forest" in done.err
    for head in (b"#begin document (a); part 000\n", b'{"id": "d"}\n', b"T1\tA 0 4\tAnna\n", b"1\t(\t(\tPUNCT\n", b""):
        assert not forest.sniff(head)


@settings(max_examples=60, deadline=None)
@given(forests(NAMES, single=False), forests(NAMES, single=False), st.randoms(use_true_random=False))
@pytest.mark.slow
def test_there_and_back(one: Forest, other: Forest, random: Random) -> None:
    """Forests survive JSONL and being written again, two kinds with different nodes too."""
    save(f"d\t{text(one, random)}\n#kind member\nd\t{text(other, random)}\ne\t(1)\n")
    prints = []
    for source, target in (("a.forest", "b.jsonl"), ("b.jsonl", "c.forest"), ("c.forest", "d.jsonl")):
        done = run("convert", source, target)
        if "[link-cycle]" in done.err or "[forest-cycle]" in done.err:
            return  # merged nodes can close a circle, which no file may hold
        if "order of mentions" in done.err or "links inside one event" in done.err:
            return  # so reported: the two kinds put mentions into another order, or into one event
        assert done.code == 0, done.err
        fingerprint = Fingerprint()
        for document in open_corpus(target):
            fingerprint.add(document)
        prints.append(str(fingerprint))
    assert len(set(prints)) == 1


def converted(document: dict[str, Any], *options: str) -> Any:
    save(json.dumps(document) + "\n", "a.jsonl")
    return run("convert", "a.jsonl", "-", "--to", "forest", *options)


def test_what_trees_cannot_hold_is_reported() -> None:
    mentions = [{"id": "a", "span": [[0, 4]], "attributes": {"type": "T"}}, {"id": "b", "span": []}]
    links = [{"kind": "subevent", "from": "b", "to": "a"}]
    done = converted({"id": "d", "topic": "1", "about": {"title": "T"}, "mentions": mentions, "links": links})
    assert done.code == 1
    assert done.out == ""
    document = "the document's topic", "the document's title"
    for lost in (*document, "the span of mentions", "the attribute type", "the order of mentions"):
        assert f"would be lost: {lost}" in done.err
    done = converted({"id": "d", "mentions": mentions}, "--lossy")
    assert done.out == "d\t(a) (b)\n"


@pytest.mark.parametrize(
    ("document", "code"),
    [
        ({"id": "d", "mentions": [{"id": "a b", "span": []}]}, "forest-unwritable"),
        ({"id": "(d", "mentions": []}, "forest-unwritable"),
        ({"id": "d", "mentions": [{"id": "a,b", "span": []}]}, "forest-unwritable"),
    ],
)
def test_what_would_read_back_as_something_else_is_refused(document: dict[str, Any], code: str) -> None:
    done = converted(document)
    assert done.code == 1
    assert f"[{code}]" in done.err


def test_a_cycle_cannot_be_written() -> None:
    code = "forest-cycle"
    mentions = [{"id": id_, "span": []} for id_ in "ab"]
    links = [{"kind": "subevent", "from": "a", "to": "b"}, {"kind": "subevent", "from": "b", "to": "a"}]
    done = converted({"id": "d", "mentions": mentions, "links": links})
    assert done.code == 1
    assert f"[{code}]" in done.err


def test_events_with_two_parents_are_written_under_both() -> None:
    mentions = [{"id": id_, "span": []} for id_ in "acdb"]
    ends = [("a", "c"), ("b", "c"), ("c", "d")]
    links = [{"kind": "subevent", "from": one, "to": other} for one, other in ends]
    assert converted({"id": "e", "mentions": mentions, "links": links}).out == "e\t(a(c(d))) (b(c))\n"


@pytest.mark.slow
def test_a_deep_tree_is_read_and_written() -> None:
    deep = "".join(f"({number}" for number in range(5000)) + ")" * 5000
    save(f"d\t{deep}\n")
    done = run("convert", "a.forest", "-", "--to", "forest")
    assert done.out == f"d\t{deep}\n"
    (document,) = open_corpus("a.forest")
    assert document.links[-1] == Link("subevent", "4998", "4999")
