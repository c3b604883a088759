"""CorefUD: what a file says, and what is wrong in it said with line, column and character."""

import gzip
import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import karat
from karat.corpus.fingerprint import Fingerprint
from karat.formats import _corefud_writer, corefud
from karat.model import Cluster, Document, EmptyNode, Link, Mention
from karat.plugin import WriteOptions
from karat.problems import Finding, KaratError, Rule
from karat.regions import runs
from tests import recorded
from tests.running import limited, run

HEADER = "# global.Entity = eid-etype-head-other"


def token(id_: int | str, form: str, misc: str = "_", *, deps: str = "_") -> str:
    return "\t".join([str(id_), form, *"______", deps, misc])


def sentence(*tokens: tuple[str, str]) -> list[str]:
    """The lines of a sentence of forms, each with its last column."""
    return [*(token(number, *reported) for number, reported in enumerate(tokens, 1)), ""]


FILE = "\n".join(
    [
        "# newdoc id = D1",
        HEADER,
        "# newpar",
        "# sent_id = D1-1",
        *sentence(
            ("Research", "SpaceAfter=No|Entity=(e1-abstract-2-new(e2-person-1-)"),
            ("acquisition", "Entity=e1)|Bridge=e1<e2:part"),
            ("by", "_"),
            ("it", "SpaceAfter=No|Entity=(e2--1)"),
        ),
        "# sent_id = D1-2",
        *sentence(("ends", "Entity=(e3-event-1"), (".", "Entity=(e1)e3)|SplitAnte=e1<e3")),
        "# newdoc id = D2",
        "# text = a, b, c",
        token("1-2", "ab", "SpaceAfter=No"),
        token(1, "a", "Entity=(e1[1/2]-person-3-x:1"),
        token("1.1", "_", "Entity=e1[1/2])", deps="2:nsubj|0:root"),
        token(2, "b"),
        token("2.1", "c", "Entity=(e1[2/2]-place)(e1[1/1])(e4", deps="1.1:obj:x"),
        token(3, "d", "Entity=e4)(e4)"),
        "",
        "",
    ]
)


def put(folder: Path, text: str, name: str = "x.conllu") -> Path:
    path = folder / name
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    return path


def read(path: Path, **options: str) -> tuple[list[Document], list[Finding]]:
    """The documents of a file, and what was found in them."""
    found: list[Finding] = []
    with closing(karat.read(path, **options)) as corpus:  # type: ignore[call-overload]
        return [corpus.read(id_, found.append) for id_ in corpus.ids()], found


def cells(folder: Path, *column: str, header: str = HEADER) -> list[tuple[str, list[int]]]:
    """Cluster and tokens of the mentions of a document with these entities."""
    lines = sentence(*(("w", f"Entity={cell}" if cell else "_") for cell in column))
    ((document,), _) = read(put(folder, "\n".join(["# newdoc id = d", header, *lines])))
    return [(str(m.cluster)[2:], [t for span in m.span for t in range(*span)]) for m in document.mentions]


# What a file says.


def test_a_file_is_documents_mentions_and_clusters(tmp_path: Path) -> None:
    (first, second), found = read(put(tmp_path, FILE))
    assert (first.id, first.unit, second.id) == ("D1", "token", "D2")
    assert [(m.id, m.span, m.head, m.kind, m.cluster, m.attributes, m.text) for m in first.mentions] == [
        ("m1", ((0, 2),), ((1, 2),), "event", "D1:e1", {"type": "abstract", "other": "new"}, "Research acquisition"),
        ("m2", ((0, 1),), ((0, 1),), "event", "D1:e2", {"type": "person"}, "Research"),
        ("m3", ((3, 4),), ((3, 4),), "event", "D1:e2", {}, "it"),
        ("m4", ((4, 6),), ((4, 5),), "event", "D1:e3", {"type": "event"}, "ends ."),
        ("m5", ((5, 6),), None, "event", "D1:e1", {}, "."),
    ]
    assert [(f.code, f.severity, f.line, f.message) for f in found] == [
        ("corefud-unread", "note", 6, "Bridge= and SplitAnte= are not read (2 here)")
    ]


def test_pieces_empty_nodes_and_multiword_tokens(tmp_path: Path) -> None:
    """Fields are those of the first document; what is said at the first piece counts, and the head is among all."""
    _, second = read(put(tmp_path, FILE))[0]
    assert [(m.span, m.head, m.cluster, m.attributes, m.text) for m in second.mentions] == [
        (((0, 2), (3, 4)), ((3, 4),), "D2:e1", {"type": "person", "other": "x:1"}, "a c"),
        (((3, 5),), None, "D2:e4", {}, "c d"),
        (((3, 4),), None, "D2:e1", {}, "c"),
        (((4, 5),), None, "D2:e4", {}, "d"),
    ]


def test_brackets_are_read_in_their_order(tmp_path: Path) -> None:
    assert cells(tmp_path, "(e1", "e1)(e1", "e1)") == [("e1", [0, 1]), ("e1", [1, 2])]
    assert cells(tmp_path, "(e1(e1", "e1)", "e1)(e1)") == [("e1", [0, 1, 2]), ("e1", [0, 1]), ("e1", [2])]
    assert cells(tmp_path, "(e1", "(e2", "e1)", "e2)") == [("e1", [0, 1, 2]), ("e2", [1, 2, 3])]
    assert cells(tmp_path, "(e2)(e1)", "(e1)(e2)") == [("e2", [0]), ("e1", [0]), ("e1", [1]), ("e2", [1])]


def test_pieces_of_several_mentions(tmp_path: Path) -> None:
    """Pieces that touch are one stretch; mentions in pieces may be inside each other."""
    assert cells(tmp_path, "(e1[1/2])", "(e1[2/2])", "(e1[1/3]", "e1[1/3])", "(e1[2/3])", "", "(e1[3/3])") == [
        ("e1", [0, 1]),
        ("e1", [2, 3, 4, 6]),
    ]
    nested = cells(tmp_path, "(e1[1/2])", "(e1[1/2])", "(e1[2/2])", "(e1[2/2])")
    assert nested == [("e1", [0, 3]), ("e1", [1, 2])]


@pytest.mark.parametrize("header", ["# global.Entity = GRP-etype", "#global.Entity=GRP-etype-other-head\r"])
def test_fields_have_the_names_that_are_declared(tmp_path: Path, header: str) -> None:
    assert cells(tmp_path, "(e1-person", "e1)", header=header) == [("e1", [0, 1])]
    assert cells(tmp_path, "(person-1-e1", "e1)", header="# global.Entity = etype-head-eid") == [("e1", [0, 1])]
    path = put(tmp_path, "\n".join(["# global.Entity = eid-infstat-link", *sentence(("w", "Entity=(e1-new-)"))]))
    ((document,), _) = read(path)
    assert [(m.attributes, m.head) for m in document.mentions] == [({"infstat": "new"}, None)]


def test_fields_may_be_declared_before_their_document_and_anew(tmp_path: Path) -> None:
    a, b, c, d = (["", f"# newdoc id = {name}", *sentence(("w", "Entity=(e1-x-1)"))] for name in "abcd")
    other = "# global.Entity = eid-other-head"
    path = put(tmp_path, "\n".join([HEADER, *a, *b, other, *c, *d[:2], HEADER, *d[2:]]))
    expected: list[dict[str, str]] = [{"type": "x"}, {"type": "x"}, {"other": "x"}, {"type": "x"}]
    assert [dict(m.attributes) for document in read(path)[0] for m in document.mentions] == expected
    with closing(karat.read(path)) as corpus:
        assert corpus.facts().attributes == {("event", "type"), ("event", "other")}


def test_only_fields_that_say_something_are_attributes_of_the_corpus(tmp_path: Path) -> None:
    with closing(karat.read(put(tmp_path, FILE.replace("-new(", "-(").replace("-x:1", "-")))) as corpus:
        assert corpus.facts().attributes == {("event", "type")}
        assert corpus.facts().kinds == {"event"}


def test_without_declared_fields_there_are_ids(tmp_path: Path) -> None:
    text = "\n".join(sentence(("w", "Entity=(e1-person-1"), ("w", "Entity=e1)(e2)"), ("w", "Entity=(e1-person-1)")))
    ((document,), found) = read(put(tmp_path, text))
    assert [(m.span, m.cluster, m.attributes) for m in document.mentions] == [
        (((0, 2),), "1:e1", {}),
        (((1, 2),), "1:e2", {}),
        (((2, 3),), "1:e1", {}),
    ]
    assert [(f.code, f.severity, f.line) for f in found] == [("corefud-undeclared", "note", 1)]
    assert "(2 here)" in found[0].message


def test_names_of_documents(tmp_path: Path) -> None:
    """A document without an id has its number in the file, and a file without `# newdoc` is such a document."""
    lines = "\n".join(["# sent_id = 1", *sentence(("w", "Entity=(e1)"))])
    ((document,), _) = read(put(tmp_path, lines, "story.CONLLU"))
    assert document.id == "1"
    packed = tmp_path / "story.conllu.gz"
    packed.write_bytes(gzip.compress(f"# newdoc\n{lines}\n# newdoc id=b \r\n{lines}\n#newdoc\n{lines}".encode()))
    documents, _ = read(packed)
    assert [document.id for document in documents] == ["1", "b", "3"]
    assert [len(document.mentions) for document in documents] == [1, 1, 1]
    assert read(put(tmp_path, f"# nothing\n{HEADER}\n\n"))[0] == []


def test_line_ends_of_windows(tmp_path: Path) -> None:
    assert read(put(tmp_path, FILE.replace("\n", "\r\n"))) == read(put(tmp_path, FILE))


def test_it_is_known_by_its_beginning(tmp_path: Path) -> None:
    bare = "\n".join(["# newdoc id = d", *sentence(("w", "_"), ("w", "SpaceAfter=No|Entity=(e1)"))])
    for name, text in (("x.conllu", FILE), ("anything", FILE), ("anything", bare), ("x.conllu", "# newdoc id = d\n")):
        with closing(karat.read(put(tmp_path, text, name))) as corpus:
            assert (corpus.format, corpus.protocols) == ("corefud", ("crac-2024",))
    for no in (b"#begin document d\n1\t(1)\n", bare.replace("Entity", "MyEntity").encode(), b""):
        assert not corefud.sniff(no)


def test_findings_name_the_line_in_which_a_mention_begins(tmp_path: Path) -> None:
    path = put(tmp_path, FILE.replace("Entity=e4)(e4)", "Entity=e4)(e4)(e4)"))
    reported = json.loads(run("validate", str(path), "-f", "json").out)["files"][0]["findings"]
    assert [(finding["code"], finding["line"]) for finding in reported] == [
        ("corefud-unread", 6),
        ("span-repeated", 21),
    ]
    with closing(karat.read(path)) as corpus:
        assert corpus.where("D2", "m1") == (str(path), 17)
        assert corpus.where("D2", ("after", "m1", "m2")) == (str(path), 14)


def test_conversion(tmp_path: Path) -> None:
    refused = run("convert", str(put(tmp_path, FILE)), str(tmp_path / "x.jsonl"))
    assert (
        refused.code,
        "listed above from corefud; nothing was written [convert-unread]" in refused.err,
    ) == (
        1,
        True,
    )
    done = run("convert", str(put(tmp_path, FILE)), str(tmp_path / "x.jsonl"), "--lossy")
    assert [line for line in done.err.splitlines() if line.startswith("lost: ")] == [
        "lost: comments (2)",
        "lost: Bridge= in column 10 (1)",
        "lost: SpaceAfter= in column 10 (2)",
        "lost: SplitAnte= in column 10 (1)",
        "lost: multiword tokens (1)",
    ]
    done = run("convert", str(tmp_path / "x.jsonl"), str(tmp_path / "x.conll"), "--lossy")
    assert done.code == 0
    ((first, second), _) = read(tmp_path / "x.conll")
    assert [m.text for m in first.mentions] == [m.text for m in read(put(tmp_path, FILE))[0][0].mentions]
    assert [m.span for m in second.mentions] == [((0, 4),), ((3, 5),), ((3, 4),), ((4, 5),)]


def test_words_sentences_and_empty_nodes_are_kept(tmp_path: Path) -> None:
    """They survive in JSONL, and no fingerprint depends on them."""
    (first, second), _ = read(put(tmp_path, FILE))
    assert first.forms == ("Research", "acquisition", "by", "it", "ends", ".")
    assert first.sentences == ((0, 4), (4, 6))
    assert first.sentence_ids == ("D1-1", "D1-2")
    assert second.forms == ("a", "", "b", "c", "d")
    assert (second.sentences, second.sentence_ids) == (((0, 5),), ("",))
    assert second.empty_nodes == (EmptyNode(1, 1, ((2, "nsubj"), (None, "root"))), EmptyNode(3, 1, ((1, "obj:x"),)))
    done = run("convert", str(tmp_path / "x.conllu"), str(tmp_path / "x.jsonl"), "--lossy")
    assert done.code == 0, done.err
    assert read(tmp_path / "x.jsonl")[0] == [first, second]
    nothing: dict[str, Any] = {"forms": None, "sentences": (), "sentence_ids": (), "empty_nodes": ()}
    bare = [replace(document, **nothing) for document in (first, second)]
    assert fingerprint(bare) == fingerprint([first, second])


def fingerprint(documents: list[Document]) -> str:
    made = Fingerprint()
    for document in documents:
        made.add(document)
    return str(made)


def test_unnamed_documents_of_several_files_have_the_names_of_their_files(tmp_path: Path) -> None:
    body = "\n".join([HEADER, *sentence(("w", "Entity=(e1)"))])
    put(tmp_path, body, "b.conllu")
    put(tmp_path, f"# newdoc\n{body}\n# newdoc id = x\n{body}\n# newdoc\n{body}", "a.CONLLU")
    assert [document.id for document in read(tmp_path)[0]] == ["a-1", "x", "a-3", "b-1"]


# What is wrong.


def test_parents_that_are_no_nodes_are_faults(tmp_path: Path) -> None:
    bad = FILE.replace("2:nsubj|0:root", "7:nsubj|2:obj|_").replace("1.1:obj:x", "_")
    (_, document), found = read(put(tmp_path, bad))
    assert [node.dependencies for node in document.empty_nodes] == [((2, "obj"),), ()]
    assert [(f.code, f.severity, f.line) for f in found[1:]] == [
        ("corefud-no-deps", "note", 20),
        ("corefud-deps", "fault", 18),
        ("corefud-deps", "fault", 18),
    ]
    assert "'7:nsubj' in DEPS does not name a node of the sentence" in found[2].message


def test_a_mention_beyond_its_sentence_is_a_fault(tmp_path: Path) -> None:
    """The shared task refuses it."""
    two = "\n".join(["# newdoc id = d", HEADER, *sentence(("w", "Entity=(e1")), *sentence(("w", "Entity=e1)(e1)"))])
    path = put(tmp_path, two)
    ((document,), found) = read(path)
    assert [m.span for m in document.mentions] == [((0, 2),), ((1, 2),)]
    assert [(f.code, f.severity, f.line) for f in found] == [("corefud-sentence", "fault", 3)]
    assert run("score", str(path), str(path), "-p", "conll-2012").code == 0
    refused = run("score", str(path), str(path))
    assert (refused.code, "[corefud-sentence]" in refused.err) == (1, True)


def test_a_head_that_is_none_is_a_fault(tmp_path: Path) -> None:
    for head in ("3", "x", "1,2", "9" * 30, "²"):
        ((document,), found) = read(
            put(tmp_path, "\n".join([HEADER, *sentence(("w", f"Entity=(e1-x-{head}"), ("w", "Entity=e1)"))]))
        )
        assert [m.head for m in document.mentions] == [None]
        assert [(f.code, f.severity, f.line) for f in found] == [("corefud-head", "fault", 2)]
        assert "of a mention of 2 words" in found[0].message


def changed(old: str, new: str) -> str:
    assert FILE.count(old) == 1
    return FILE.replace(old, new)


BAD = {
    "a sentence before": ("corefud-structure", 1, "before the first # newdoc", token(1, "w") + "\n\n" + FILE),
    "twice": ("document-twice", 14, "'D1'", changed("id = D2", "id = D1")),
    "fields without an id": ("corefud-header", 2, "entities have no ids: eid is not among", changed("= eid", "= id")),
    "fields with two ids": ("corefud-header", 2, "'eid-GRP-head-other'", changed("eid-etype", "eid-GRP")),
    "a field twice": ("corefud-header", 2, "expected different ones", changed("head-other", "head-head")),
    "no fields": ("corefud-header", 2, "''", changed("eid-etype-head-other", "")),
    "nine columns": ("corefud-line", 7, "9 columns, expected 10: '3\\tby", changed("by\t_\t", "by\t")),
    "blanks for tabs": ("corefud-line", 7, "1 columns", changed(token(3, "by"), token(3, "by").replace("\t", " "))),
    "no number": ("corefud-line", 7, "'x' is not the id of a token", changed("3\tby", "x\tby")),
    "a word left out": ("corefud-id", 7, "the id 4 after 2, expected 3 or 2.1", changed("3\tby", "4\tby")),
    "an empty node elsewhere": ("corefud-id", 18, "the id 2.1 after 1, expected 2 or 1.1", changed("1.1\t_", "2.1\t_")),
    "an empty node 0": ("corefud-id", 18, "the id 1.0 after 1", changed("1.1\t_", "1.0\t_")),
    "a first word that is none": ("corefud-id", 17, "2 at the beginning", changed("1\ta\t", "2\ta\t")),
    "an end alone": (
        "corefud-bracket",
        6,
        "column 10, character 39: 'e7)' ends a mention that was not begun",
        changed("e1)|Bridge", "e1)e7)|Bridge"),
    ),
    "an end of another document": ("corefud-bracket", 20, "'e3)' ends", changed("(e1[1/1])(e4", "e3)(e4")),
    "an end that is too early": ("corefud-bracket", 12, "'e3)' ends", changed("(e1)e3)", "(e1)e3)e3)")),
    "a beginning alone": (
        "corefud-bracket",
        11,
        "column 10, character 29: '(e3-event-1' begins a mention that has no end before its document ends",
        changed("(e1)e3)", "(e1)"),
    ),
    "the first of them": ("corefud-bracket", 5, "'(e1-abstract-2-new'", changed("e1)|Br", "(e9|Br")),
    "a piece alone": ("corefud-bracket", 17, "character 26: '(e1[1/2]-p", changed("(e1[2/2]-place)", "")),
    "a piece too many": ("corefud-bracket", 20, "'(e1[2/2])' begins a piece", changed("(e4\n", "(e1[2/2])(e4\n")),
    "a piece left out": ("corefud-bracket", 20, "'(e1[3/3]-place)'", changed("e1[2/2]", "e1[3/3]")),
    "a piece that is none": ("corefud-entity", 20, "'e1[3/2]', expected", changed("e1[2/2]", "e1[3/2]")),
    "piece 0": ("corefud-entity", 20, "'e1[0/2]'", changed("e1[2/2]", "e1[0/2]")),
    "no id": ("corefud-entity", 8, "character 41: '(--1)' has no id", changed("(e2--1)", "(--1)")),
    "an id with a dash": (
        "corefud-entity",
        8,
        "'(wsj-0001-e2--1)' has 5 fields, expected eid-etype-head-other",
        changed("(e2--1)", "(wsj-0001-e2--1)"),
    ),
    "no brackets": ("corefud-entity", 8, "character 41: 'e2' cannot be read", changed("(e2--1)", "e2")),
    "nothing": ("corefud-entity", 8, "character 41: '' cannot be read", changed("(e2--1)", "")),
    "an empty bracket": ("corefud-entity", 8, "character 45: '(e2)()'", changed("(e2--1)", "(e2)()")),
    "a multiword token": (
        "corefud-entity",
        16,
        "column 10, character 22: Entity= is on a multiword token",
        changed("ab\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No", "ab\t_\t_\t_\t_\t_\t_\t_\tEntity=(e1)"),
    ),
    "entities twice": (
        "corefud-entity",
        8,
        "character 40: Entity= is given twice",
        changed("SpaceAfter=No|Entity=(e2--1)", "Entity=(e2--1)|Xy=1|Entity=(e2)"),
    ),
    "another encoding": ("encoding", 7, "0xe9", changed("by", "b\udce9")),
    "another encoding of an id": ("encoding", 14, "0xe9", changed("D2", "\udce9")),
}
UNCOVERED = {
    "corefud-no-entity",
    "corefud-unwritable",
    "corefud-deps",
    "corefud-head",
    "corefud-no-deps",
    "corefud-sentence",
    "corefud-undeclared",
    "corefud-unit",
    "corefud-unread",
}
"""Rules that have tests of their own."""


@pytest.mark.parametrize(("code", "line", "says", "text"), BAD.values(), ids=BAD)
def test_what_cannot_be_trusted_is_refused(tmp_path: Path, code: str, line: int, says: str, text: str) -> None:
    path = put(tmp_path, text)
    with pytest.raises(KaratError) as refused:
        read(path)
    finding = refused.value.finding
    assert (finding.code, finding.line, finding.file) == (code, line, str(path))
    assert says in finding.message
    assert finding.hint
    reported = json.loads(run("validate", str(path), "-f", "json").out)["files"][0]["findings"]
    assert (code, line) in [(finding["code"], finding["line"]) for finding in reported]


def test_every_rule_is_tested() -> None:
    modules = (corefud, _corefud_writer)
    rules = [rule for module in modules for rule in vars(module).values() if isinstance(rule, Rule)]
    assert {rule.code for rule in rules} <= UNCOVERED | {code for code, *_ in BAD.values()}


def test_character_units_are_refused(tmp_path: Path) -> None:
    with pytest.raises(KaratError, match="corefud-unit"):
        read(put(tmp_path, FILE), unit="char")


@pytest.mark.slow
def test_one_bad_line_in_a_large_file(tmp_path: Path) -> None:
    lines = [token(number, "word", "Entity=(e1-x-1)(e2-y" if number % 2 else "Entity=e2)") for number in range(1, 1001)]
    bodies = [f"# newdoc id = d{number}\n" + "\n".join(lines) + "\n\n" for number in range(50)]
    bodies[40] = bodies[40].replace(lines[500], token(501, "word", "Entity=(e1-x-1)(e2-y-"))
    bodies[40] = bodies[40].replace(lines[501], token(502, "word", "_"))
    whole = f"{HEADER}\n" + "".join(bodies)
    refused = limited("validate", str(put(tmp_path, whole)))
    assert refused.code == 1
    line = whole[: whole.index("(e2-y-\n")].count("\n") + 1
    assert f"x.conllu, line {line}: fatal: " in refused.out
    assert "has no end" in refused.out


def test_a_file_without_entities_is_reported_in_these_words(tmp_path: Path) -> None:
    bare = "\n".join(["# newdoc id = d", *sentence(("w", "SpaceAfter=No"))])
    ((document,), found) = read(put(tmp_path, bare))
    assert document.mentions == ()
    assert [(f.code, f.severity, f.line, f.message) for f in found] == [
        ("corefud-no-entity", "note", 1, "no token has Entity=: there are no mentions")
    ]
    assert read(put(tmp_path, f"{HEADER}\n{bare}"))[1] == []


def test_words_are_made_when_someone_asks(tmp_path: Path) -> None:
    words = read(put(tmp_path, FILE))[0][1].forms
    assert words is not None
    assert read(put(tmp_path, FILE.replace("Entity=e4)(e4)", "_").replace("(e4\n", "\n")))[0][1].forms == words
    assert read(put(tmp_path, FILE.replace("3\td\t", "3\te\t")))[0][1].forms != words
    assert "_words" not in vars(words)
    assert words == ("a", "", "b", "c", "d")


# What is written.


def written(document: Document) -> tuple[str, list[str]]:
    lost: list[str] = []
    return corefud.write(document, WriteOptions(), lost.append).decode(), lost


def test_what_is_written(tmp_path: Path) -> None:
    (first, second), _ = read(put(tmp_path, FILE))
    assert written(first) == (
        "\n".join(
            [
                "# newdoc id = D1",
                HEADER,
                "# sent_id = D1-1",
                *sentence(
                    ("Research", "Entity=(e1-abstract-2-new(e2-person-1)"),
                    ("acquisition", "Entity=e1)"),
                    ("by", "_"),
                    ("it", "Entity=(e2--1)"),
                ),
                "# sent_id = D1-2",
                *sentence(("ends", "Entity=(e3-event-1"), (".", "Entity=e3)(e1)")),
                "",
            ]
        ),
        [],
    )
    assert written(second) == (
        "\n".join(
            [
                "# newdoc id = D2",
                HEADER,
                token(1, "a", "Entity=(e1[1/2]-person-3-x:1"),
                token("1.1", "_", "Entity=e1[1/2])", deps="2:nsubj|0:root"),
                token(2, "b"),
                token("2.1", "c", "Entity=(e1[2/2]-person-3-x:1)(e2(e1)", deps="1.1:obj:x"),
                token(3, "d", "Entity=e2)(e2)"),
                "",
                "",
            ]
        ),
        [],
    )
    for document in (first, second):
        ((back,), _) = read(put(tmp_path, written(document)[0], "back.conllu"))
        assert fingerprint([back]) == fingerprint([document])
        for name in ("forms", "sentences", "sentence_ids", "empty_nodes"):
            assert getattr(back, name) == getattr(document, name)
        assert [(m.span, m.head, m.attributes, m.text) for m in back.mentions] == [
            (m.span, m.head, m.attributes, m.text) for m in document.mentions
        ]


def test_what_is_lost_is_reported(tmp_path: Path) -> None:
    document = Document(
        "d",
        topic="1",
        unit="token",
        sentences=((0, 2), (2, 4)),
        empty_nodes=(EmptyNode(3, 1, ((0, "nsubj"),)),),
        mentions=(
            Mention("m1", ((0, 1),), kind="entity", attributes={"type": "Life-Die", "realis": "Other"}, text="He"),
            Mention("m2", ((1, 3),), head=((0, 1),), cluster="E"),
            Mention("m3", ((1, 2), (2, 3)), cluster="F"),
        ),
        clusters=(Cluster("E", attributes={"type": "x"}),),
        links=(Link("after", "m1", "m2"),),
    )
    text, lost = written(document)
    assert lost == [
        "the document's topic",
        "kinds and attributes of clusters",
        "links of kind after",
        "that mentions are of kind entity (read as event)",
        "the attribute realis",
        "characters of the attribute type (written as %2D, ...)",
        "heads that are not one word of their mentions",
        "segments of spans that touch each other (written as one)",
        "mentions across the end of a sentence, which is a fault in CorefUD",
        "dependencies of empty nodes",
    ]
    assert "1\tHe" in text
    assert "Entity=(e1-Life%2DDie)" in text
    ((back,), found) = read(put(tmp_path, text))
    assert [m.span for m in back.mentions] == [((0, 1),), ((1, 3),), ((1, 3),)]
    assert [finding.code for finding in found] == ["corefud-sentence"]
    with pytest.raises(KaratError, match="the document id ' d' cannot be written"):
        written(Document(" d", unit="token"))


@st.composite
def annotated(draw: st.DrawFn) -> Document:
    """A document of two sentences with empty nodes, and mentions with gaps, heads and attributes."""
    nodes = tuple(
        EmptyNode(token, 1, ((draw(st.sampled_from([None, 0, 1])), "nsubj"),))
        for token in sorted(draw(st.sets(st.sampled_from([2, 4]))))
    )
    spans = []
    for begin, end in draw(st.lists(st.sampled_from([(0, 6), (6, 10)]), max_size=6)):
        tokens = sorted(draw(st.sets(st.integers(begin, end - 1), min_size=1, max_size=4)))
        spans.append((runs(tokens), draw(st.none() | st.sampled_from(tokens))))
    spans.sort(key=lambda pair: (pair[0][0][0], -pair[0][-1][1]))
    mentions = tuple(
        Mention(
            f"m{number}",
            span,
            head=None if head is None else ((head, head + 1),),
            cluster=draw(st.none() | st.sampled_from(["d:a", "d:b"])),
            attributes=draw(st.sampled_from([{}, {"type": "x"}, {"other": "y:1"}])),
        )
        for number, (span, head) in enumerate(spans)
    )
    forms = tuple("" if token in {node.token for node in nodes} else f"w{token}" for token in range(10))
    return Document("d", unit="token", forms=forms, sentences=((0, 6), (6, 10)), empty_nodes=nodes, mentions=mentions)


@settings(max_examples=100, deadline=None)
@given(annotated())
def test_without_a_loss_it_is_read_back(tmp_path_factory: pytest.TempPathFactory, document: Document) -> None:
    text, lost = written(document)
    ((back,), found) = read(put(tmp_path_factory.mktemp("corefud"), text))
    assert found == []
    assert [m.span for m in back.mentions] == [m.span for m in document.mentions]
    assert (back.forms, back.empty_nodes) == (document.forms, document.empty_nodes)
    assert set(lost) <= {"clusters with mentions that cross each other (written as several)"}
    if not lost:
        assert fingerprint([back]) == fingerprint([document])
        assert [m.head for m in back.mentions] == [m.head for m in document.mentions]


@pytest.mark.parametrize("case", recorded.packed("crac")[::7])
def test_a_copy_of_gold_scores_100(case: str, tmp_path: Path) -> None:
    """As gold itself does, whatever the file has."""
    folder = recorded.folder(case, tmp_path)
    gold, copy = folder / "gold.conllu", tmp_path / "copy.conllu"
    assert run("convert", str(gold), str(copy), "--lossy").code == 0
    itself, copied = (karat.score(gold, system, protocol="crac-2024").to_dict()["scores"] for system in (gold, copy))
    assert copied == itself


def test_a_system_is_simulated(tmp_path: Path) -> None:
    gold, system = put(tmp_path, FILE), tmp_path / "system.conllu"
    assert run("simulate", str(gold), "-o", str(system), "--conflate", "1", "--seed", "1").code == 0
    result = karat.score(gold, system, protocol="crac-2024", settings={"singletons": "keep"})
    assert result["coref.mor"].f1 == 1
    assert result["coref.b3"].f1 not in (0, 1)
