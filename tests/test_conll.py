"""CoNLL: what a file says, what is wrong in it said with line, column and character, and what is written read back."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import karat
from karat.corpus.files import FileCorpus
from karat.corpus.fingerprint import Fingerprint
from karat.formats import FORMATS, _columns, _conll_writer, conll
from karat.model import Cluster, Document, Link, Mention
from karat.plugin import WriteOptions
from karat.problems import Finding, KaratError, Rule
from tests import recorded
from tests.conftest import shared_path
from tests.corpora import mention
from tests.running import limited, run

FILE = """\
# made by hand
#begin document (nw/x); part 000
nw/x 0 0 He (1)
nw/x 0 1 said -
nw/x 0 2 the (2|(3
nw/x 0 3 attack 3)|2)

nw/x 0 0 killed (01
nw/x 0 1 him (1)|01)

#end document

#begin document (nw/x); part 001
#end document
"""


def put(folder: Path, text: str, name: str = "x.conll") -> Path:
    path = folder / name
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    return path


def read(path: Path, **options: str) -> tuple[list[Document], list[Finding]]:
    """The documents of a file, and what was found in them."""
    found: list[Finding] = []
    with closing(karat.read(path, **options)) as corpus:  # type: ignore[call-overload]
        return [corpus.read(id_, found.append) for id_ in corpus.ids()], found


def cells(folder: Path, *column: str) -> list[tuple[int, int, str]]:
    """First token, token after the last, and cluster of the mentions of a document with these cells."""
    lines = [f"w\t{cell}" for cell in column]
    ((document,), _) = read(put(folder, "\n".join(["#begin document d", *lines, "#end document"])))
    return [(*m.span[0], str(m.cluster).removeprefix("d:")) for m in document.mentions]


# What a file says.


def test_a_file_is_documents_mentions_and_clusters(tmp_path: Path) -> None:
    (first, second), found = read(put(tmp_path, FILE))
    assert (first.id, first.unit, first.text) == ("(nw/x); part 000", "token", None)
    assert [(m.id, m.span, m.kind, m.cluster, m.text) for m in first.mentions] == [
        ("m1", ((0, 1),), "event", "(nw/x); part 000:1", "He"),
        ("m2", ((2, 4),), "event", "(nw/x); part 000:2", "the attack"),
        ("m3", ((2, 4),), "event", "(nw/x); part 000:3", "the attack"),
        ("m4", ((4, 6),), "event", "(nw/x); part 000:01", "killed him"),
        ("m5", ((5, 6),), "event", "(nw/x); part 000:1", "him"),
    ]
    assert second == Document("(nw/x); part 001", unit="token")
    assert found == []


@pytest.mark.parametrize(
    ("line", "id_"),
    [
        ("#begin document (nw/x); part 000", "(nw/x); part 000"),
        ("#begin document(metadoc);", "metadoc"),
        ("#begin document(metadoc)\r", "metadoc"),
        ("#begin document(nw/x); part 000", "(nw/x); part 000"),
        ("# begin document \t d1; ", "d1; "),
        ("#begin document d1\r", "d1"),
        (" #begin document d 1", "d 1"),
    ],
)
def test_the_id_is_all_that_follows(tmp_path: Path, line: str, id_: str) -> None:
    ((document,), _) = read(put(tmp_path, f"{line}\nw\t(1)\n# end document;\n"))
    assert (document.id, len(document.mentions)) == (id_, 1)


def test_columns_stand_between_tabs_else_between_blanks(tmp_path: Path) -> None:
    """A no-break space parts no columns; blanks after the last column are none, and so is an empty one."""
    lines = [
        "d 0 0  (7)   (1)",
        "d\t0\t0\tNew York\t(2)",
        "d\t0\t0\t(7)\t-\t",
        "  d  0 0 a\u00a0b NN\t(3)",
        "d 0 0 a\u00a0b NN (4) \r",
        "  -",
    ]
    ((document,), _) = read(put(tmp_path, "\n".join(["#begin document d", *lines, "#end document"])))
    assert [(m.span[0][0], m.cluster, m.text) for m in document.mentions] == [
        (0, "d:1", "(7)"),
        (1, "d:2", "New York"),
        (3, "d:3", None),
        (4, "d:4", "a\u00a0b"),
    ]


def test_brackets_are_joined_or_packed(tmp_path: Path) -> None:
    joined = cells(tmp_path, "(1|(2|(3)", "(4)|2)", "_", "1)")
    assert joined == [(0, 4, "1"), (0, 2, "2"), (0, 1, "3"), (1, 2, "4")]
    assert cells(tmp_path, "(1(2(3)", "(4)2)", "-", "1)") == joined


def test_mentions_of_one_cluster_nest(tmp_path: Path) -> None:
    assert cells(tmp_path, "(0", "(0|(0)", "0)", "0)") == [(0, 4, "0"), (1, 3, "0"), (1, 2, "0")]
    assert cells(tmp_path, "(0|(0", "0)", "0)|(0)") == [(0, 3, "0"), (0, 2, "0"), (2, 3, "0")]


def test_mentions_of_several_clusters_cross(tmp_path: Path) -> None:
    assert cells(tmp_path, "(0", "(1", "0)", "1)") == [(0, 3, "0"), (1, 4, "1")]


def test_what_begins_in_a_cell_is_read_before_what_ends(tmp_path: Path) -> None:
    """`0)|(0` ends the mention that begins there."""
    assert cells(tmp_path, "(0", "0)|(0", "0)") == [(0, 3, "0"), (1, 2, "0")]


def test_ids_are_text(tmp_path: Path) -> None:
    assert [id_ for *_, id_ in cells(tmp_path, "(1)", "(01)", "(e-1)|(a+b)", "(é", "é)")] == [
        "1",
        "01",
        "e-1",
        "a+b",
        "é",
    ]


def test_a_span_in_several_clusters_is_kept_and_the_cluster_that_appeared_first_stands_first(tmp_path: Path) -> None:
    assert cells(tmp_path, "(5)", "(7)|(5)|(7)") == [(0, 1, "5"), (1, 2, "5"), (1, 2, "7"), (1, 2, "7")]


def test_double_antecedents_are_left_out_with_a_counted_note(tmp_path: Path) -> None:
    text = "#begin document d\nw\t(1)|(12+3)\nw\t-\nw\t(1+2+3)\n#end document\n"
    ((document,), found) = read(put(tmp_path, text))
    assert [m.cluster for m in document.mentions] == ["d:1"]
    assert [(f.code, f.severity, f.line, f.message) for f in found] == [
        ("conll-double-antecedent", "note", 2, "double antecedents are not read (2 here)")
    ]


def test_words_that_are_not_known_are_no_text(tmp_path: Path) -> None:
    lines = ["d\t0\t0\t-\t(1", "d\t0\t1\t-\t1)", "d\t0\t2\tbin\t(1", "d\t0\t3\t-\t-", "d\t0\t4\tLaden\t1)", "d\t(1)"]
    ((document,), _) = read(put(tmp_path, "\n".join(["#begin document d", *lines, "#end document"])))
    assert [m.text for m in document.mentions] == [None, "bin - Laden", None]


@pytest.mark.parametrize(
    ("lines", "forms"),
    [
        (["1 Zèbre Zèbre NOUN _ (2)", "2 court courir VERB _ -", "", "1 Il il PRON _ (2)"], ("Zèbre", "court", "Il")),
        (["0\tAu port\t(1", "1\t-\t-", "2\tfin\t1)"], ("Au port", "", "fin")),
        (["0 Zebra NOUN (2)", "1 runs VERB -"], ("Zebra", "runs")),
        (["1-2 du _ _ -", "1 de de ADP -", "2 le le DET -", "2.1 _ _ _ -"], ("du", "de", "le", "_")),
        (["1 0 0 He PRP (1)", "1 0 1 left VBD -", "", "1 0 0 She PRP (1)"], ("He", "left", "She")),
        (["1 a 0 He (1)", "3 b 1 left -"], ("He", "left")),
        (["1 (1)", "2 -"], ("", "")),
    ],
    ids=[
        "CoNLL-U",
        "from 0",
        "from 0 to 1",
        "words of several tokens",
        "a document called 1",
        "numbers that do not count",
        "no words",
    ],
)
def test_the_word_is_in_the_second_column_if_the_first_counts(
    lines: list[str], forms: tuple[str, ...], tmp_path: Path
) -> None:
    ((document,), _) = read(put(tmp_path, "\n".join(["#begin document d", *lines, "#end document"])))
    assert document.forms == forms


def test_the_text_of_a_very_long_mention_is_left_out(tmp_path: Path) -> None:
    most = _columns.LONGEST_TEXT
    lines = [f"d\t0\t{n}\tw\t-" for n in range(1, most)]
    one = ["#begin document a", "d\t0\t0\tw\t(1", *lines[1:], "d\t0\t0\tw\t1)", "#end document"]
    other = ["#begin document b", "d\t0\t0\tw\t(1", *lines, "d\t0\t0\tw\t1)", "#end document"]
    documents, _ = read(put(tmp_path, "\n".join([*one, *other])))
    assert [m.text is None for document in documents for m in document.mentions] == [False, True]


def test_it_is_known_by_its_beginning(tmp_path: Path) -> None:
    """TBF files, which begin alike, are not taken for it."""
    for name in ("x.conll", "x.v4_gold_conll", "anything"):
        with closing(karat.read(put(tmp_path, FILE, name))) as corpus:
            assert (corpus.format, corpus.protocols) == ("conll", ("conll-2012",))
    with closing(karat.read(put(tmp_path, "#BeginOfDocument d\n#EndOfDocument\n", "other"))) as corpus:
        assert corpus.format == "tbf"
    for no in (b"#Begin document d", b"#BeginOfDocument d", b"x\n#begin document d", b"", b"# begin\n"):
        assert not conll.sniff(no)


UNNAMED = "#begin document\nw\t(1)\nw\t(1)\nw\t{}\n#end document\n"


def test_documents_without_an_id_are_called_what_their_files_are_called(tmp_path: Path) -> None:
    for side, cell in (("gold", "(2)"), ("system", "(1)")):
        for name in ("GUM_news_a.conll", "GUM.b.v4_gold_conll", "c.txt"):
            (tmp_path / side).mkdir(exist_ok=True)
            put(tmp_path / side, UNNAMED.format(cell), name)
    documents, found = read(tmp_path / "gold")
    assert [document.id for document in documents] == ["GUM.b", "GUM_news_a", "c"]
    assert [(finding.code, finding.severity, finding.line) for finding in found] == [("conll-no-id", "note", 1)] * 3
    assert run("validate", str(tmp_path / "gold")).code == 0
    assert karat.score(tmp_path / "gold", tmp_path / "gold")["coref.conll"].f1 == 1
    result = karat.score(tmp_path / "gold", tmp_path / "system", per_unit=True)
    assert list(result.units) == ["GUM.b", "GUM_news_a", "c"]
    assert result["coref.mention"].f1 == 1


def test_one_document_without_an_id_on_each_side_is_one_document(tmp_path: Path) -> None:
    gold, system = put(tmp_path, UNNAMED.format("(2)"), "g.conll"), put(tmp_path, UNNAMED.format("(2)|(3)"), "s.conll")
    result = karat.score(gold, system, per_unit=True)
    assert list(result.units) == ["g"]
    assert result["coref.conll"].f1 == 1
    codes = [(finding.code, finding.file, finding.line) for finding in result.warnings]
    assert ("documents-unnamed", None, None) in codes
    assert ("span-repeated", str(system), 4) in codes
    named = put(tmp_path, UNNAMED.format("(2)").replace("document", "document d", 1), "n.conll")
    with pytest.raises(KaratError, match="share no document: gold has 'g', the system 'd'"):
        karat.score(gold, named)


def test_blanks_beside_the_bars_of_a_cell(tmp_path: Path) -> None:
    """Between tabs or between blanks, no bracket is lost; a bar that is a word stays one."""
    for line in ("d 0 0 | (1)| (2) |(3", "d\t0\t0\t|\t(1)| (2) | (3"):
        documents, found = read(put(tmp_path, f"#begin document d\n{line}\nd 0 1 | 3)\n#end document\n"))
        assert [(m.cluster, m.span, m.text) for m in documents[0].mentions] == [
            ("d:3", ((0, 2),), "| |"),
            ("d:1", ((0, 1),), "|"),
            ("d:2", ((0, 1),), "|"),
        ]
        assert [(finding.code, finding.severity, finding.line) for finding in found] == [("conll-blanks", "note", 2)]
    hostile = f"#begin document d\nd 0 0 w {'(1)|' * 20000}x\n#end document\n"
    with pytest.raises(KaratError, match="cannot be read as brackets"):
        read(put(tmp_path, hostile))


def test_findings_name_the_line_in_which_a_mention_begins(tmp_path: Path) -> None:
    path = put(tmp_path, "\n#begin document d\nw\t(1|(1\n\nw\t-\nw\t1)|1)|(2)|(2)\n#end document\n")
    reported = json.loads(run("validate", str(path), "-f", "json").out)["files"][0]["findings"]
    assert [(finding["code"], finding["line"]) for finding in reported] == [
        ("span-repeated", 3),
        ("span-repeated", 6),
    ]
    assert reported[1]["message"] == "cluster '2' of document 'd' has the span 2-3 twice; it counts once"
    with closing(karat.read(path)) as corpus:
        assert corpus.where("d", ("after", "m1", "m2")) == (str(path), 2)


# What cannot be trusted.


def changed(old: str, new: str) -> str:
    assert FILE.count(old) == 1
    return FILE.replace(old, new)


BAD = {
    "text before": ("conll-structure", 1, "a line outside a document: 'made", changed("# made", "made")),
    "text between": ("conll-structure", 12, "outside a document: 'x'", changed("\n\n#begin", "\nx\n#begin")),
    "no id twice": (
        "conll-no-id-twice",
        13,
        "a second document without an id (the first is in line 2)",
        FILE.replace("(nw/x); part 000", " \r").replace("(nw/x); part 001", ""),
    ),
    "begun in another": (
        "conll-structure",
        12,
        "before #end document of '(nw/x); part 000' (begun in line 2)",
        FILE.replace("#end document\n", "", 1),
    ),
    "not closed": ("conll-structure", 13, "the file ends before", FILE.removesuffix("#end document\n")),
    "closed twice": ("conll-structure", 12, "#end document outside", changed("\n\n#begin", "\n#end document\n#begin")),
    "twice": ("document-twice", 13, "line 2", changed("part 001", "part 000")),
    "an end alone": ("conll-bracket", 6, "column 5, character 20: '4)' ends", changed("3)|2)", "3)|4)")),
    "two ends": ("conll-bracket", 6, "column 5, character 23: '2)' ends", changed("3)|2)", "3)|2)|2)")),
    "a beginning alone": (
        "conll-bracket",
        5,
        "column 5, character 17: '(3' begins a mention that has no end",
        changed("3)|2)", "2)"),
    ),
    "the first of them": ("conll-bracket", 3, "character 13: '(1' begins", changed("He (1)", "He (1|(1|(5")),
    "words": ("conll-cell", 4, "column 4, character 10: 'said' cannot be read", changed("said -", "said")),
    "a broken bracket": ("conll-cell", 5, "column 5, character 17: '(2|3' cannot", changed("(2|(3", "(2|3")),
    "an empty bracket": ("conll-cell", 3, "character 13: '()'", changed("He (1)", "He ()")),
    "two pipes": ("conll-cell", 6, "character 20: '3)||2)'", changed("3)|2)", "3)||2)")),
    "a pipe first": ("conll-cell", 6, "character 17: '|3)|2)'", changed("3)|2)", "|3)|2)")),
    "a pipe last": ("conll-cell", 6, "character 23: '3)|2)|'", changed("3)|2)", "3)|2)|")),
    "two blanks in a cell": ("conll-cell", 3, "column 2, character 10: '(1) (2)'", changed("0 0 He (1)", "\t(1) (2)")),
    "a double antecedent of two tokens": ("conll-cell", 3, "character 13", changed("He (1)", "Hé (1+2")),
    "a comment inside": ("conll-cell", 4, "'comment'", changed("nw/x 0 1 said -", "# a comment")),
    "another encoding": ("encoding", 4, "0xe9", changed("said", "sa\udce9d")),
    "another encoding of an id": ("encoding", 2, "0xe9", changed("(nw/x); part 000", "\udce9")),
}
UNCOVERED = {"conll-unit", "conll-double-antecedent", "conll-unwritable", "conll-no-id", "conll-blanks"}
UNCOVERED |= {"conll-meta-document", "conll-meta-row", "conll-meta-token"}
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
    rules = [rule for module in (conll, _conll_writer) for rule in vars(module).values() if isinstance(rule, Rule)]
    assert {rule.code for rule in rules} <= UNCOVERED | {code for code, *_ in BAD.values()}


def test_what_is_wrong_in_one_document_hides_no_other(tmp_path: Path) -> None:
    path = put(tmp_path, "".join(f"#begin document {d}\nw\t(1\n#end document\n" for d in "abc"))
    reported = json.loads(run("validate", str(path), "-f", "json").out)["files"][0]["findings"]
    assert [(finding["code"], finding["line"]) for finding in reported] == [("conll-bracket", n) for n in (2, 5, 8)]


def test_character_units_are_refused(tmp_path: Path) -> None:
    with pytest.raises(KaratError, match="conll-unit"):
        read(put(tmp_path, FILE), unit="char")
    assert read(put(tmp_path, FILE), unit="token") == read(put(tmp_path, FILE))


@pytest.mark.parametrize("bad", ["d\t0\t7\tword\t(9", "d\t0\t7\tword\tNN", "#begin document x"])
@pytest.mark.slow
def test_one_bad_line_in_a_large_file(tmp_path: Path, bad: str) -> None:
    """Some megabytes in one document, and again in a hundred."""
    lines = [f"d\t0\t{n}\tword\t{'(1)' if n % 4 == 0 else '-'}" for n in range(1000)]
    for begin, end in (("", ""), ("#begin document d{}\n", "#end document\n")):
        bodies = [begin.format(number) + "\n".join(lines) + "\n" + end for number in range(100)]
        bodies[70] = bodies[70].replace(lines[500], bad)
        whole = "".join(bodies) if begin else f"#begin document d\n{''.join(bodies)}#end document\n"
        refused = limited("validate", str(put(tmp_path, whole)))
        assert refused.code == 1
        line = whole[: whole.index(bad + "\n")].count("\n") + 1
        assert f"x.conll, line {line}: fatal: " in refused.out


# What is written.


def written(document: Document) -> tuple[str, list[str]]:
    lost: list[str] = []
    data = _conll_writer.write(document, WriteOptions(), lost.append)
    return data.decode(), lost


def fingerprint(*documents: Document) -> str:
    whole = Fingerprint()
    for document in documents:
        whole.add(document)
    return str(whole)


def test_what_is_written(tmp_path: Path) -> None:
    (document, _), _ = read(put(tmp_path, FILE))
    text, lost = written(document)
    assert lost == []
    assert text == (
        "#begin document (nw/x); part 000\n"
        "nw/x\t0\t0\tHe\t(0)\n"
        "nw/x\t0\t1\tsaid\t-\n"
        "nw/x\t0\t2\tthe\t(1|(2\n"
        "nw/x\t0\t3\tattack\t2)|1)\n"
        "\n"
        "nw/x\t0\t0\tkilled\t(3\n"
        "nw/x\t0\t1\thim\t(0)|3)\n"
        "\n"
        "#end document\n"
    )
    ((back,), _) = read(put(tmp_path, text))
    assert [(m.span, m.text) for m in back.mentions] == [(m.span, m.text) for m in document.mentions]
    assert fingerprint(back) == fingerprint(document)
    assert written(back) == (text, [])


def test_tokens_and_text_of_a_document(tmp_path: Path) -> None:
    """Every token is written, with its word; spans in characters become tokens where they are made of whole ones."""
    text = "Anna left the\ttown"
    tokens = ((0, 4), (5, 9), (10, 18))
    chars = (mention("m1", (0, 4), cluster="c"), mention("m2", (0, 9)), mention("m3", (0, 4), (10, 18), cluster="c"))
    expected = "\n".join(
        [
            "#begin document d 1",
            "d_1\t0\t0\tAnna\t(0|(1|(0)",
            "d_1\t0\t1\tleft\t1)",
            "d_1\t0\t2\tthe town\t0)",
            "#end document",
            "",
        ]
    )
    reported = ["the document's text", "the document's tokens"]
    gaps = "segments of spans (written from the first token to the last)"
    got, lost = written(Document("d 1", text=text, tokens=tokens, mentions=chars))
    assert got == expected
    assert lost == [*reported, "character offsets (written as tokens)", gaps, "the order of mentions"]
    rows = (mention("m1", (0, 1), cluster="c"), mention("m2", (0, 2)), mention("m3", (0, 1), (2, 3), cluster="c"))
    assert written(Document("d 1", text=text, unit="token", tokens=tokens, mentions=rows)) == (
        got,
        [*reported, gaps, "the order of mentions"],
    )


@pytest.mark.parametrize(
    ("document", "says"),
    [
        (Document("d", mentions=(mention("m", (0, 4)),)), "'d' counts in characters and has no tokens"),
        (Document("d", tokens=((0, 4), (5, 9)), mentions=(mention("m", (0, 5)),)), "mention 'm' of document 'd'"),
        (Document("d", tokens=((0, 4), (5, 9)), mentions=(mention("m", (0, 3)),)), "whole tokens"),
        (Document("d", tokens=((0, 4), (5, 9)), mentions=(mention("m", (1, 4)),)), "whole tokens"),
        (Document("d", tokens=((0, 4), (5, 9)), mentions=(mention("m", (0, 10)),)), "whole tokens"),
        (Document("d", tokens=(), mentions=(mention("m", (0, 10)),)), "whole tokens"),
        (Document(" d", unit="token"), "id ' d'"),
        (Document("d\n", unit="token"), "id 'd\\n'"),
        (Document("d\r", unit="token"), "id 'd\\r'"),
        (Document("d\0", unit="token"), "id 'd\\x00'"),
    ],
)
def test_what_cannot_be_written_is_refused(document: Document, says: str) -> None:
    with pytest.raises(KaratError) as refused:
        written(document)
    assert refused.value.finding.code == "conll-unwritable"
    assert says in refused.value.finding.message


def test_what_is_lost_is_told() -> None:
    document = Document(
        "d",
        topic="36",
        source="newswire",
        unit="token",
        mentions=(
            Mention("m1", ((5, 9),), head=((5, 6),), kind="entity", attributes={"type": "PER"}, text="an old man"),
            Mention("m2", (), cluster="E2"),
            Mention("m3", ((1, 2),), cluster="E2", text="left", confidence=("0.5",)),
        ),
        clusters=(Cluster("E2", attributes={"type": "Movement"}), Cluster("E3")),
        links=(Link("agent", "m3", "m1"),),
    )
    text, lost = written(document)
    assert text.count("(") == 2
    assert sorted(lost) == [
        "confidences",
        "kinds and attributes of clusters",
        "links of kind agent",
        "mentions without a span",
        "that mentions are of kind entity (read as event)",
        "the attribute type",
        "the document's source",
        "the document's topic",
        "the head of mentions",
        "the order of mentions",
        "the text of mentions",
    ]


def test_mentions_of_one_cluster_that_cross_are_a_loss(tmp_path: Path) -> None:
    """An end closes what began last: they would be read as two others."""
    spans = [(0, 3), (1, 2), (2, 5), (3, 7), (5, 6), (6, 9)]
    document = Document(
        "d",
        unit="token",
        mentions=tuple(mention(f"m{n}", span, cluster="d:c") for n, span in enumerate(spans)),
    )
    text, lost = written(document)
    ((back,), _) = read(put(tmp_path, text))
    assert [m.span[0] for m in back.mentions] == spans
    assert [m.cluster for m in back.mentions] == ["d:0", "d:0", "d:1", "d:0", "d:0", "d:1"]
    assert set(lost) == {"clusters with mentions that cross each other (written as several)"}


SPANS = st.tuples(st.integers(0, 9), st.integers(1, 6)).map(lambda pair: (pair[0], pair[0] + pair[1]))


@pytest.mark.parametrize(
    "other", ['[[0,1],[2,3]],"kind":"event"', '[[0,3]],"kind":"entity"', '[[0,3]],"attributes":{"type":"x"}']
)
def test_mentions_that_differ_in_what_is_lost_do_not_become_one_span_in_two_clusters(
    tmp_path: Path, other: str
) -> None:
    spans = {"b": '[[0,3]],"kind":"event"', "a": other, "c": "[[5,6]]"}
    mentions = ",".join(f'{{"id":"{id_}","span":{span},"cluster":"{id_}"}}' for id_, span in spans.items())
    given, made = tmp_path / "in.jsonl", tmp_path / "out.conll"
    given.write_text(f'{{"id":"d","unit":"token","mentions":[{mentions}]}}\n')
    done = run("convert", str(given), str(made), "--lossy")
    assert "mentions that differ from another one only in kind, attributes or the gaps of their spans (1)" in done.err
    assert run("validate", str(made)).code == 0
    assert [mention.span for document in karat.read(made) for mention in document.mentions] == [((0, 3),), ((5, 6),)]


@st.composite
def coreference(draw: st.DrawFn) -> Document:
    """A document with mentions that nest and cross, in order; those of one cluster do not cross."""
    found: list[tuple[tuple[int, int], int]] = []
    for span, cluster in draw(st.lists(st.tuples(SPANS, st.integers(0, 4)), max_size=12)):
        if not any(cluster == other and _cross(span, there) for there, other in found):
            found.append((span, cluster))
    found.sort(key=lambda pair: (pair[0][0], -pair[0][1]))
    ranks: dict[int, int] = {}
    for _, cluster in found:
        ranks.setdefault(cluster, len(ranks))
    found.sort(key=lambda pair: (pair[0][0], -pair[0][1], ranks[pair[1]]))
    mentions = [mention(f"x{n}", span, cluster=f"c{cluster}") for n, (span, cluster) in enumerate(found)]
    id_ = draw(st.text(st.characters(codec="utf-8", exclude_characters="\n\r\0"), min_size=1).map(str.strip))
    return Document(id_ or "d", unit="token", mentions=tuple(mentions))


def _cross(one: tuple[int, int], other: tuple[int, int]) -> bool:
    """True if two mentions of several tokens share some, but neither holds the other."""
    (_, b), (c, d) = sorted((one, other), key=lambda span: (span[0], -span[1]))
    return c < b < d and d - c > 1


@settings(max_examples=100, deadline=None)
@given(coreference())
def test_what_is_written_is_read_back(tmp_path_factory: pytest.TempPathFactory, document: Document) -> None:
    text, lost = written(document)
    assert lost == []
    ((back,), found) = read(put(tmp_path_factory.mktemp("conll"), text))
    assert found == []
    assert back.id == document.id
    assert [m.span for m in back.mentions] == [m.span for m in document.mentions]
    assert _partition(back) == _partition(document)
    assert fingerprint(back) == fingerprint(document)


def _partition(document: Document) -> set[frozenset[int]]:
    members: dict[str | None, set[int]] = {}
    for position, m in enumerate(document.mentions):
        members.setdefault(m.cluster, set()).add(position)
    return {frozenset(positions) for positions in members.values()}


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(SPANS, st.none() | st.sampled_from(["c0", "c1"])), max_size=10))
def test_whatever_is_written_keeps_its_spans(
    tmp_path_factory: pytest.TempPathFactory, found: list[tuple[tuple[int, int], str | None]]
) -> None:
    """In any order and with any crossing: without a loss it is the same, with one the spans still are."""
    mentions = tuple(mention(f"x{n}", span, cluster=cluster) for n, (span, cluster) in enumerate(found))
    document = Document("d", unit="token", mentions=mentions)
    text, lost = written(document)
    ((back,), _) = read(put(tmp_path_factory.mktemp("conll"), text))
    assert sorted(m.span for m in back.mentions) == sorted(m.span for m in document.mentions)
    assert (fingerprint(back) == fingerprint(document)) == (not lost)


def test_conversion(tmp_path: Path) -> None:
    """conll -> jsonl -> conll says the same, and the second file is written again byte for byte."""
    path = put(tmp_path, FILE)
    stops = [str(tmp_path / name) for name in ("a.jsonl", "b.conll", "c.v4_gold_conll.gz", "d.conll")]
    for source, out in zip([str(path), *stops], stops, strict=False):
        done = run("convert", source, out)
        assert (done.code, "lost" in done.err) == (0, False), done.err
    assert Path(stops[1]).read_bytes() == Path(stops[3]).read_bytes()
    assert run("convert", str(path), str(tmp_path / "x.tbf")).code == 1


# Files of others.


def documents_of(corpus: FileCorpus) -> Iterator[Document]:
    with closing(corpus):
        for id_ in corpus.ids():
            yield corpus.read(id_, _fail)


def _fail(finding: Finding) -> None:
    if finding.code != "conll-meta-document":
        pytest.fail(str(finding))


def test_outputs_of_real_systems() -> None:
    files = sorted(shared_path("data", "cdcr-outputs").rglob("*.conll"))
    assert files
    for file in files:
        documents = list(documents_of(karat.read(file)))
        tokens = sum(1 for line in file.read_text().split("\n") if line and line[0] != "#")
        assert sum(len(document.mentions) for document in documents) == tokens
        assert len(documents) > 70
        assert not any("metadoc" in document.id or ";" in document.id for document in documents)


@pytest.mark.parametrize("case", [*recorded.packed("conll"), *recorded.not_packed("conll")])
def test_recorded_cases_are_read_and_written(case: str, tmp_path: Path) -> None:
    """Nothing but crossing mentions is lost; documents are those that the reference scorer listed."""
    folder = recorded.folder(case, tmp_path)
    expected = json.loads((folder / "expected.json").read_text())
    if any(one.get("exit") for one in expected["runs"]):
        with pytest.raises(KaratError):
            karat.score(folder / expected["gold"], folder / expected["system"], protocol="conll-2012")
        return
    for side in ("gold", "system"):
        for document in documents_of(karat.read(folder / expected[side])):
            text, lost = written(document)
            assert set(lost) <= {"clusters with mentions that cross each other (written as several)"}
            assert text.startswith(f"#begin document {document.id}\n")
            if side == "gold":
                for one in expected["runs"]:
                    assert document.id in one.get("documents", [document.id])


def test_the_format_is_listed() -> None:
    assert FORMATS.get("conll").title in run("formats").out


def test_what_is_wrong_before_a_broken_line_has_its_line(tmp_path: Path) -> None:
    """A line that cannot be read, or is not UTF-8, used to end the search for the lines of other findings."""
    types = put(tmp_path, "Life_Die\n", "types.txt")
    for broken in ("w\t(\udcb3)", "w\t)("):
        path = put(tmp_path, f"#begin document d\nw\t-\nw\t(1)\n{broken}\n#end document\n")
        result = run("validate", str(path), "--types", str(types), "-f", "json")
        findings = json.loads(result.out)["files"][0]["findings"]
        assert [(one["severity"], one["line"]) for one in findings] == [("fault", 3), ("fatal", 4)]


def test_a_repeated_span_is_named_by_its_clusters(tmp_path: Path) -> None:
    """Under protocols without exact matching, too: ids of mentions are made up."""
    path = put(tmp_path, "#begin document d\nd 0 0 the (1|(2|(1\nd 0 1 attack 1)|2)|1)\nd 0 2 it (1)\n#end document\n")
    done = run("score", str(path), str(path), "-p", "tac-2017", "-m", "coref.b3")
    assert (
        "line 2: cluster '1' of document 'd' has the span 0-2 ('the attack') twice [span-twice-in-cluster]" in done.out
    )
    shared = (
        "cluster '1' and cluster '2' of document 'd' share the span 0-2 ('the attack'), with the same type and realis"
    )
    assert f"line 2: {shared} [span-twice]" in done.out
    assert "'m1'" not in done.out


def test_the_carets_are_under_the_cluster_and_not_under_a_number_before_it(tmp_path: Path) -> None:
    path = put(tmp_path, "#begin document d\nd 0 0 a (0)|(1)\nd 0 1 b (0)\nd 0 2 c (1)\n#end document\n")
    _, line, carets, *_ = run("validate", str(path)).out.splitlines()
    assert (line, carets) == ("    d 0 0 a (0)|(1)", "             ^")


# Twelve columns, as OntoNotes has them.

OFFICIAL = """\
#begin document (bc/x); part 001
bc/x   1   0    Anna   NNP  (TOP(S(NP*)   -   -   -   Speaker#1  (PERSON)  (4)
bc/x   1   1    left   VBD         (VP*)) leave 01 1   Speaker#1      *      -

bc/x   1   0     The    DT  (TOP(S(NP*    -   -   -   Speaker#1      *      (7
bc/x   1   1  attack    NN         *)     -   -   -   Speaker#1      *      7)
bc/x   1   2    hurt   VBD         (VP*   -   -   -   Speaker#1      *      -
bc/x   1   3     her   PRP  (NP*))))      -   -   -   Speaker#1      *     (4)

#end document
"""


def test_sentences_are_kept_and_columns_that_are_not_are_lost(tmp_path: Path) -> None:
    path, copy, lines = put(tmp_path, OFFICIAL), tmp_path / "copy.conll", tmp_path / "x.jsonl"
    ((document,), _) = read(path)
    assert document.sentences == ((0, 2), (2, 6))
    refused = run("convert", str(path), str(copy))
    assert (refused.code, copy.exists()) == (1, False)
    columns = "the columns after the fourth, except the last one (1)"
    assert columns in refused.err
    assert columns in run("convert", str(path), str(copy), "--lossy").err
    assert copy.read_text() == (
        "#begin document (bc/x); part 001\n"
        "bc/x\t1\t0\tAnna\t(0)\n"
        "bc/x\t1\t1\tleft\t-\n"
        "\n"
        "bc/x\t1\t0\tThe\t(1\n"
        "bc/x\t1\t1\tattack\t1)\n"
        "bc/x\t1\t2\thurt\t-\n"
        "bc/x\t1\t3\ther\t(0)\n"
        "\n"
        "#end document\n"
    )
    assert run("convert", str(path), str(lines), "--lossy").code == 0
    assert json.loads(lines.read_text())["sentences"] == [[0, 2], [2, 6]]
    for other in (copy, lines):
        ((back,), _) = read(other)
        assert (back.forms, back.sentences) == (document.forms, document.sentences)
        assert fingerprint(back) == fingerprint(document) == fingerprint(replace(document, sentences=()))
        done = run("convert", str(other), str(tmp_path / "again.conll"))
        assert (done.code, "lost" in done.err) == (0, False), done.err


@pytest.mark.parametrize(
    ("lines", "sentences"),
    [
        (["w\t-", "w\t-"], ()),
        (["w\t-", "w\t-", ""], ((0, 2),)),
        (["", "w\t-", "", " \t", "w\t-", "w\t-"], ((0, 1), (1, 3))),
    ],
    ids=["no empty lines", "one at the end", "several together"],
)
def test_sentences_are_between_empty_lines(
    tmp_path: Path, lines: list[str], sentences: tuple[tuple[int, int], ...]
) -> None:
    ((document,), _) = read(put(tmp_path, "\n".join(["#begin document d", *lines, "#end document"])))
    assert document.sentences == sentences


def test_columns_without_content_are_no_loss(tmp_path: Path) -> None:
    path = put(tmp_path, "#begin document d\nd 0 0 He - * _ (1)\n#end document\n")
    assert run("convert", str(path), str(tmp_path / "x.jsonl")).code == 0


def test_other_empty_lines_in_the_system_change_nothing(tmp_path: Path) -> None:
    """Neither the scores nor what is reported."""
    gold = put(tmp_path, OFFICIAL)
    system = put(tmp_path, OFFICIAL.replace("\n\n", "\n"), "system.conll")
    done = json.loads(run("score", str(gold), str(system), "-f", "json").out)
    assert (done["scores"]["coref.conll"]["micro"]["f1"], done["warnings"]) == (1, [])


def test_words_are_made_when_someone_asks(tmp_path: Path) -> None:
    """Equal lines have equal words only if these are in the same column."""
    ((document,), _) = read(put(tmp_path, OFFICIAL))
    words = document.forms
    assert words is not None
    assert "_words" not in vars(words)
    other = put(tmp_path, OFFICIAL.replace("(4)", "-").replace("her", "she"), "other.conll")
    assert read(other)[0][0].forms != words
    assert read(put(tmp_path, OFFICIAL.replace("(4)", "-"), "other.conll"))[0][0].forms == words
    assert "_words" not in vars(words)
    assert words == ("Anna", "left", "The", "attack", "hurt", "her")
    assert words[2:4] == ("The", "attack")
    row = "1\ta\tx\tb\t-\n"
    counted = read(put(tmp_path, f"#begin document d\n{row}2\ta\tx\tb\t-\n#end document\n"))[0][0].forms
    not_counted = read(put(tmp_path, f"#begin document d\n{row}{row}#end document\n"))[0][0].forms
    assert (counted, not_counted) == (("a", "a"), ("b", "b"))
    assert counted != not_counted
