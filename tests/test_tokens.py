"""Tokens of the two sides: where they differ is reported once, with the first place on both sides."""

import json
from itertools import pairwise
from pathlib import Path

import pytest

from karat.checks.pairs import difference, in_one_numbering
from karat.model import Document, EmptyNode, Mention, Pair
from tests.running import run

CONLL = "#begin document d\nd\t0\t0\tHe\t(1)\nd\t0\t1\tsaid\t-\n\nd\t0\t0\tit\t(1)\n#end document\n"
COREFUD = "# newdoc id = d\n# sent_id = a\n{}\n\n# sent_id = b\n{}\n\n"
ECB = '<Document doc_name="1_1ecb.xml">\n{}\n<Markables/><Relations/></Document>'


def line(number: int, form: str, entity: str = "_") -> str:
    return "\t".join([str(number), form, *"_______", entity])


def corefud(*forms: str) -> str:
    return COREFUD.format(
        line(1, forms[0], "Entity=(e1)"), "\n".join(line(n, form, "Entity=(e1)") for n, form in enumerate(forms[1:], 1))
    )


def tokens(*forms: str) -> str:
    elements = [f'<token t_id="{n}" sentence="0" number="{n}">{word}</token>' for n, word in enumerate(forms)]
    return ECB.format("\n".join(elements))


CASES = {
    "an extra token": (
        "x.conll",
        CONLL,
        CONLL.replace("d\t0\t1\tsaid", "d\t0\t1\toh\t-\nd\t0\t1\tsaid"),
        (3, 3),
        "word 2 is 'said' in gold, but 'oh' in the system",
    ),
    "more at the end": (
        "x.conll",
        CONLL,
        CONLL.replace("#end", "d\t0\t1\t!\t-\n#end"),
        (1, 6),
        "gold has 3 words, the system 4: gold ends before '!'",
    ),
    "no words": (
        "x.conll",
        CONLL,
        CONLL.replace("He\t", "").replace("said\t", "").replace("it\t", "").replace("#end", "d\t0\t-\n#end"),
        (1, 6),
        "gold has 3 words, the system 4",
    ),
    "another word": ("x.conllu", corefud("a", "b", "c"), corefud("a", "b", "x"), (7, 7), "word 3 is 'c' in gold"),
    "another sentence": (
        "x.conllu",
        corefud("a", "b", "c"),
        corefud("a", "b", "c").replace("sent_id = b", "sent_id = c"),
        (6, 6),
        "sentence 2 begins at word 2 and has the id 'b', in the system, sentence 2 begins at word 2 and has the id 'c'",
    ),
    "another split": (
        "x.conllu",
        corefud("a", "b", "c"),
        corefud("a", "b", "c").replace("\n2\t", "\n\n1\t"),
        (7, 8),
        "in gold, sentence 3 is missing",
    ),
    "ECB+": ("1_1ecb.xml", tokens("a", "b"), tokens("a", "c"), (3, 3), "word 2 is 'b' in gold, but 'c' in the system"),
}


@pytest.mark.parametrize(("name", "gold", "system", "lines", "message"), CASES.values(), ids=CASES)
def test_the_first_difference_is_a_fault(
    tmp_path: Path, name: str, gold: str, system: str, lines: tuple[int, int], message: str
) -> None:
    for side, text in (("gold", gold), ("system", system)):
        (tmp_path / side).mkdir()
        (tmp_path / side / name).write_text(text)
    paths = [str(tmp_path / side / name) for side in ("gold", "system")]
    protocol = "simple-cdec" if name.endswith(".xml") else "conll-2012"
    done = run("score", *paths, "-p", protocol, "-f", "json")
    assert done.code == 0, done.err
    (fault,) = [one for one in json.loads(done.out)["warnings"] if one["code"] == "tokens-differ"]
    assert (fault["severity"], fault["file"], fault["line"]) == ("fault", paths[1], lines[1])
    assert f"({paths[0]}, line {lines[0]})" in fault["message"]
    assert message in fault["message"]
    assert run("score", *paths, "-p", protocol, "--strict").code == 1
    refused = run("score", *paths, "-p", "crac-2024")
    assert (refused.code, "[tokens-differ]" in refused.err) == (1, True)
    assert "tokens-differ" not in run("score", paths[0], paths[0], "-p", protocol).err


def test_unknown_words_are_not_compared() -> None:
    """A system may lack words, or write - for them; without tokens, nothing is compared."""
    known = Document("d", unit="token", forms=("a", "b"))
    for other in (
        Document("d", unit="token", forms=("", "b")),
        Document("d", unit="token"),
        Document("d", unit="token", tokens=((0, 1), (2, 3))),
        Document("d", unit="token", text="a b", tokens=((0, 1), (2, 3))),
        Document("d", unit="token", forms=("a", "", "b"), empty_nodes=(EmptyNode(1, 1),)),
    ):
        assert difference(known, other) is None
        assert difference(other, known) is None
    assert difference(known, Document("d", unit="token", tokens=((0, 1),))) is not None
    assert difference(known, Document("d", unit="token", text="a x", tokens=((0, 1), (2, 3)))) is not None


def side(words: str, *mentions: tuple[int, int]) -> Document:
    """Words and sentences by their marks: `w` a word, `.` a sentence begins, a digit an empty node of that number."""
    rows = words.replace(".", "")
    begins = [place - number for number, place in enumerate(i for i, m in enumerate(words) if m == ".")]
    sentences = tuple(pairwise([*begins, len(rows)]))
    nodes = [EmptyNode(token, int(mark), ((0, "r"),)) for token, mark in enumerate(rows) if mark != "w"]
    found = [Mention(f"m{n}", (span,), (span,)) for n, span in enumerate(mentions)]
    return Document("d", unit="token", sentences=sentences, empty_nodes=tuple(nodes), mentions=tuple(found))


def test_one_numbering_for_both_sides() -> None:
    pair = in_one_numbering(Pair(side(".w1w.2ww", (0, 3), (3, 6)), side(".w2w3.ww", (0, 3), (4, 6))))
    # Together: w 1 2 w 3 . 2 w w
    assert [m.span for m in pair.gold.mentions] == [((0, 2), (3, 4)), ((5, 8),)]
    assert [m.span for m in pair.system.mentions] == [((0, 1), (2, 4)), ((6, 8),)]
    assert [node.token for node in pair.gold.empty_nodes] == [1, 5]
    assert [node.token for node in pair.system.empty_nodes] == [2, 4]
    assert [mention.head for mention in pair.gold.mentions] == [mention.span for mention in pair.gold.mentions]


def test_the_same_empty_nodes_change_nothing() -> None:
    pair = Pair(side(".w1w", (0, 3)), side(".w1w", (1, 2)))
    assert in_one_numbering(pair) is pair
