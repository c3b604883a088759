"""Meta-documents of CoNLL: the documents that lines name, and what happens where they name none."""

import json
from pathlib import Path

import pytest

import karat
from karat.model import Document
from karat.problems import KaratError
from tests.conftest import shared_path
from tests.corpora import mention
from tests.running import run

COLUMN = """\
#begin document test_events
36	36_1	36_4ecbplus	1	12	wedding	True	(7
36	36_1	36_4ecbplus	1	13	day	True	7)
36	36_1	36_2ecb	0	3	wed	False	(7)
37	37_1	37_1ecb	0	5	-	True	-

37	37_1	37_1ecb	0	4	hit	True	(9)
36	36_1	36_4ecbplus	0	2	married	True	(7)
#end document
"""

PREFIX = """\
#begin document(metadoc);
metadoc_d_1_3	({})
metadoc_d_1_4	({})
metadoc_d2_0	({})
metadoc_d2_7	({})
#end document
"""
GOLD = PREFIX.format(1, 1, 1, 2)
WITHIN = PREFIX.format(1, 1, 3, 2)
"""Only the link within the document d_1."""

NAMELESS = GOLD.replace("metadoc_d_1_", "t").replace("metadoc_d2_", "t1")


def put(folder: Path, text: str, name: str = "gold.conll") -> Path:
    path = folder / name
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    return path


def read(path: Path, documents: str | None = None) -> list[Document]:
    return [*karat.read(path, documents=documents)]  # type: ignore[arg-type]


def test_a_column_names_topics_subtopics_and_documents(tmp_path: Path) -> None:
    first, second, third = read(put(tmp_path, COLUMN))
    assert [(d.id, d.topic, d.subtopic) for d in (first, second, third)] == [
        ("36_4ecbplus", "36", "36_1"),
        ("36_2ecb", "36", "36_1"),
        ("37_1ecb", "37", "37_1"),
    ]
    assert [(m.id, m.span, m.cluster, m.text) for m in first.mentions] == [
        ("m1", ((2, 3),), "test_events:7", "married"),
        ("m2", ((12, 14),), "test_events:7", "wedding day"),
    ]
    assert first.forms == ("", "", "married", *[""] * 9, "wedding", "day")
    assert [(m.span, m.cluster) for d in (second, third) for m in d.mentions] == [
        (((3, 4),), "test_events:7"),
        (((4, 5),), "test_events:9"),
    ]


def test_a_prefix_names_documents(tmp_path: Path) -> None:
    first, second = read(put(tmp_path, GOLD))
    assert (first.id, first.topic, first.forms) == ("d_1", None, None)
    assert [(m.span, m.cluster) for m in first.mentions] == [(((3, 4),), "metadoc:1"), (((4, 5),), "metadoc:1")]
    assert [(m.span, m.cluster) for m in second.mentions] == [(((0, 1),), "metadoc:1"), (((7, 8),), "metadoc:2")]


def test_lines_are_read_in_the_order_of_tokens(tmp_path: Path) -> None:
    lines = "metadoc_a_6\t1)\nmetadoc_b_0\t-\nmetadoc_a_4\t(1\n"
    first, _ = read(put(tmp_path, f"#begin document(metadoc);\n{lines}#end document\n"))
    assert [m.span for m in first.mentions] == [((4, 7),)]


def test_words_may_contain_tabs(tmp_path: Path) -> None:
    """As `news<TAB>` in 44_15ecbplus.xml."""
    first, *_ = read(put(tmp_path, COLUMN.replace("married", "married\t")))
    assert (first.mentions[0].text, first.mentions[0].cluster) == ("married\t", "test_events:7")


@pytest.mark.parametrize("begin", ["(metadoc);", " (metadoc); part 000", "(metadoc)", " (metadoc)", " metadoc"])
@pytest.mark.parametrize("separator", ["\t", " ", "  "])
def test_a_prefix_is_recognised_in_every_notation(tmp_path: Path, begin: str, separator: str) -> None:
    text = GOLD.replace("(metadoc);", begin).replace("\t", separator)
    assert [d.id for d in read(put(tmp_path, text))] == ["d_1", "d2"]
    assert [len(d.mentions) for d in read(put(tmp_path, text))] == [2, 2]


def test_columns_may_be_separated_by_blanks(tmp_path: Path) -> None:
    expected, spaced = (read(put(tmp_path, text)) for text in (COLUMN, COLUMN.replace("\t", "  ")))
    assert spaced == expected


def test_items_are_found_in_their_lines(tmp_path: Path) -> None:
    path = put(tmp_path, COLUMN)
    corpus = karat.read(path)
    places = [corpus.where("36_4ecbplus", item) for item in (None, "m1", "m2", 13)]
    assert places == [(str(path), line) for line in (2, 8, 2, 3)]


def test_each_meta_document_has_cluster_ids_of_its_own(tmp_path: Path) -> None:
    topics = "#begin document 1\n1_a_0\t(5)\n#end document\n#begin document 2\n2_b_0\t(5)\n2_a_1\t(5)\n#end document\n"
    documents = read(put(tmp_path, topics))
    clusters = {document.id: [mention.cluster for mention in document.mentions] for document in documents}
    assert clusters == {"a": ["1:5", "2:5"], "b": ["2:5"]}


def test_meta_documents_are_scored_like_their_documents(tmp_path: Path) -> None:
    def side(third: str) -> list[Document]:
        first = [mention("m1", (3, 4), cluster="1"), mention("m2", (4, 5), cluster="1")]
        second = [mention("m1", (0, 1), cluster=third), mention("m2", (7, 8), cluster="2")]
        return [
            Document("d_1", unit="token", mentions=tuple(first)),
            Document("d2", unit="token", mentions=tuple(second)),
        ]

    names = ["simple-cdec", "pure-cdec"]
    results = karat.score(put(tmp_path, GOLD), put(tmp_path, WITHIN, "system.conll"), protocol=names)
    expected = karat.score(side("1"), side("3"), protocol=names)
    for name in names:
        assert results[name].gold.fingerprint == expected[name].gold.fingerprint
        assert results[name].to_dict()["scores"] == expected[name].to_dict()["scores"]
    assert results["simple-cdec"]["coref.muc"].micro.values == {"precision": 1, "recall": 1 / 2, "f1": 2 / 3}
    assert results["pure-cdec"]["coref.muc"].micro.values == {"precision": 0, "recall": 0, "f1": 0}


@pytest.mark.parametrize("protocol", ["conll-2012", "tac-2017"])
def test_protocols_within_documents_see_one_document(tmp_path: Path, protocol: str) -> None:
    """As the Perl scorer does: a link of the meta-document is a link of a document."""
    gold, system = put(tmp_path, GOLD), put(tmp_path, WITHIN, "system.conll")
    command = ["score", str(gold), str(system), "-m", "coref", "-f", "json"]
    found = json.loads(run(*command, "-p", protocol).out)
    assert found["gold"]["documents"] == 1
    if protocol == "conll-2012":  # three mentions of gold's cluster, two of which the system links
        assert found["scores"]["coref.muc"]["micro"]["counts"] == {
            "precision_num": 1,
            "precision_den": 1,
            "recall_num": 1,
            "recall_den": 2,
        }
    assert karat.score(gold, system, protocol=protocol).gold.documents == 1
    assert karat.score(karat.read(gold), karat.read(system), protocol=protocol).gold.documents == 1
    compared = karat.compare(gold, {"a": system}, protocol=protocol, resamples=10).to_dict()
    assert compared["systems"]["a"]["gold"]["documents"] == 1
    one = [put(tmp_path, text.replace("metadoc_d", "t"), f"{n}.conll") for n, text in enumerate((GOLD, WITHIN))]
    assert found["scores"] == karat.score(*one, protocol=protocol, measures="coref").to_dict()["scores"]
    divided = json.loads(run(*command, "-p", protocol, "--documents", "prefix").out)
    assert divided["gold"]["documents"] == 2
    assert divided["scores"] != found["scores"]
    for both in (["-p", protocol, "-p", "simple-cdec"], ["-p", "simple-cdec"]):
        content = json.loads(run(*command, *both).out)
        sides = [one["gold"] for one in content["protocols"].values()] if "protocols" in content else [content["gold"]]
        assert {side["documents"] for side in sides} == {2}


def test_a_system_is_divided_as_gold_is(tmp_path: Path) -> None:
    """Documents of gold in JSONL are those of the lines of a system's meta-document."""
    gold, system = str(tmp_path / "gold.jsonl"), str(put(tmp_path, WITHIN, "system.conll"))
    assert run("convert", str(put(tmp_path, GOLD)), gold).code == 0
    result = karat.score(gold, system, protocol="conll-2012")
    assert (result.gold.documents, result["coref.mention"].f1) == (2, 1)
    assert run("validate", system, "--against", str(tmp_path / "gold.conll"), "-p", "conll-2012").code == 0


@pytest.mark.parametrize("first", [0, 1])
def test_documents_may_be_named_like_the_files_of_gold(tmp_path: Path, first: int) -> None:
    """The layout of Cattan et al. (2021) names files of ECB+, whose tokens count from 1."""
    words = [["He", "left", "home"], ["They", "left"]]
    gold = [
        Document(
            f"36_{number}ecb", topic="36", unit="token", forms=tuple(forms), mentions=(mention("m", span, cluster="c"),)
        )
        for number, forms, span in zip((1, 2), words, ((1, 2), (0, 2)), strict=True)
    ]
    cells = {(1, 1): "(7)", (2, 0): "(7", (2, 1): "7)"}
    lines = [
        f"36\t36_0\t36_{number}ecb.xml\t0\t{token + first}\t{form}\tTrue\t{cells.get((number, token), '-')}"
        for number, forms in enumerate(words, 1)
        for token, form in enumerate(forms)
    ]
    system = put(tmp_path, "\n".join(["#begin document all_events", *lines, "#end document\n"]), "system.conll")
    result = karat.score(gold, system, protocol="simple-cdec")
    assert (result["coref.mention"].f1, result["coref.muc"].f1) == (1, 1)
    (note,) = [finding for finding in result.warnings if finding.code == "conll-meta-document"]
    assert note.message.endswith(f"as files of gold (.xml), with tokens from {first}")
    assert [document.id for document in read(system)] == ["36_1ecb.xml", "36_2ecb.xml"]
    alike = karat.score(system, system, protocol="simple-cdec")
    assert (alike["coref.muc"].f1, "tokens-differ" in str(result)) == (1, False)


@pytest.mark.parametrize("text", [COLUMN, GOLD])
def test_a_perfect_system_scores_100_under_the_default_protocols(tmp_path: Path, text: str) -> None:
    gold = put(tmp_path, text)
    done = run("score", str(gold), str(gold), "-m", "coref.conll", "--summary")
    assert done.code == 0
    assert "protocol: simple-cdec, pure-cdec" in done.err
    assert done.out.count("100.00") >= 2
    assert "conll-meta-document" in done.out


def test_other_files_keep_their_documents(tmp_path: Path) -> None:
    within = "#begin document(d1);\nd1_14\t(1)\nd1_15\t(1)\n#end document\n"
    sentences = "#begin document d1\nd1_0_14\t(1)\nd1_1_15\t(1)\n#end document\n"
    for text in (within, sentences):
        (document,) = read(put(tmp_path, text))
        assert document.id == "d1"
        assert [(m.span, m.cluster) for m in document.mentions] == [
            (((0, 1),), "d1:1"),
            (((1, 2),), "d1:1"),
        ]


def test_documents_can_be_chosen(tmp_path: Path) -> None:
    gold = put(tmp_path, GOLD)
    (whole,) = read(gold, "none")
    assert (whole.id, [m.span for m in whole.mentions]) == ("metadoc", [((at, at + 1),) for at in range(4)])
    sentences = put(tmp_path, "#begin document m\nm_1_14\t(1)\nm_2_15\t(1)\n#end document\n", "numbers.conll")
    assert [document.id for document in read(sentences, "prefix")] == ["1", "2"]
    with pytest.raises(KaratError, match=r"line 2: found 'metadoc_d_1_3.*', expected eight columns"):
        read(gold, "column")
    done = run("describe", str(gold), "--documents", "colum")
    assert done.code == 2
    assert "column" in done.err


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            "metadoc_a_1\t(1)\nmetadoc_b_1\t(1)\nmetadoc_a_1\t(2)",
            "line 4: token 1 of document 'a' was already given in line 2",
        ),
        ("metadoc_a_1\t(1)\nother\t(1)", "line 3: found 'other.*', expected two columns"),
        ("metadoc_a_1\t(1\nmetadoc_b_1\t1)", "line 2: .*has no end"),
        ("metadoc_a_1\t(1)\nmetadoc_b_1\t1)", "line 3: .*ends a mention that was not begun"),
        ("metadoc_a_1\t(1)\n#begin document(metadoc);", "line 3: the next document begins before #end document"),
        ("metadoc_\udce9_1\t(1)", "line 2: .*0xe9"),
        ("metadoc_a_1\t(1)\nmetadoc_a_" + "9" * 5000 + "\t(1)", "line 3: .*, expected two columns"),
        ("metadoc_a_1000000\t(1)", "line 2: token 1,000,000 of document 'a'"),
    ],
)
def test_damaged_meta_documents_are_refused(tmp_path: Path, lines: str, message: str) -> None:
    with pytest.raises(KaratError, match=message):
        read(put(tmp_path, f"#begin document(metadoc);\n{lines}\n#end document\n"))


def test_a_document_has_one_topic(tmp_path: Path) -> None:
    with pytest.raises(KaratError, match="line 8: document '36_4ecbplus' has topic and subtopic '38, 36_1' here"):
        read(put(tmp_path, COLUMN.replace("36	36_1	36_4ecbplus	0", "38	36_1	36_4ecbplus	0")))


@pytest.mark.parametrize(("text", "options"), [(NAMELESS, ()), (GOLD, ("--documents", "none"))])
def test_without_documents_there_are_no_links_across_them(tmp_path: Path, text: str, options: tuple[str, ...]) -> None:
    gold = put(tmp_path, text)
    done = run("score", str(gold), str(gold), "-p", "pure-cdec", *options)
    assert done.code == 1
    assert "pure-cdec scores links across documents, but gold is read as one document" in done.err
    assert run("score", str(gold), str(gold), "-p", "simple-cdec", *options).code == 0


def test_the_option_is_for_conll_only(tmp_path: Path) -> None:
    gold = str(tmp_path / "gold.jsonl")
    assert run("convert", str(put(tmp_path, GOLD)), gold).code == 0
    system = str(put(tmp_path, GOLD.replace("(metadoc)", "(d2)"), "system.conll"))
    done = run("score", gold, system, "-p", "pure-cdec", "--documents", "none", "-f", "json")
    assert json.loads(done.out)["gold"]["documents"] == 2


def test_topics_of_meta_documents_without_their_documents(tmp_path: Path) -> None:
    topics = "#begin document 1\n1_a_0\t(5)\n#end document\n#begin document 2\n2_b_0\t(5)\n#end document\n"
    done = run(
        "score", str(put(tmp_path, topics)), str(put(tmp_path, topics)), "-p", "pure-cdec", "--documents", "none"
    )
    assert done.code == 1
    assert "(--documents none)" in done.err


@pytest.mark.slow
@pytest.mark.parametrize("corpus", ["ecbp", "gvc", "fcc"])
@pytest.mark.parametrize("number", ["0", "1"])
def test_recorded_scores_of_released_outputs(corpus: str, number: str) -> None:
    folder = shared_path("data/cdcr-outputs") / f"{corpus}_evaluate_clustering" / number / "cross_doc"
    result = karat.score(folder / "gold.conll", folder / "system.conll", protocol="simple-cdec")
    for line in (folder / "eval_cross_doc.txt").read_text("utf-8").splitlines()[2:]:
        name, f1, precision, recall = line.split()
        values = result[f"coref.{name.replace('bcub', 'b3')}"].micro.values
        for key, recorded in (("f1", f1), ("precision", precision), ("recall", recall)):
            if recorded != "nan":
                assert values[key] == pytest.approx(float(recorded), abs=1e-6)
