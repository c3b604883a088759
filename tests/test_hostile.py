"""Mistakes of tired people, and files that are damaged or meant to do harm.

Whatever comes in, `karat score` ends with a message that says where, what and what to do, or with scores and a counted
warning; never with a traceback, and never with half an output. A case is a few lines of data; `|` stands for a tab.
"""

import gzip
import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterable
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.running import Run, command, run


def cases(names: Iterable[str]) -> list[Any]:
    """The names of a table as parameters."""
    return [pytest.param(name, id=name[:75] or "empty") for name in names]


def block(*lines: str, id_: str = "d1") -> str:
    """A TBF document; its first line is line 1, the first of `lines` line 2."""
    return "\n".join([f"#BeginOfDocument {id_}", *lines, "#EndOfDocument", ""]).replace("|", "\t")


def mention(id_: str, span: str, type_: str = "Life_Die", realis: str = "Actual", document: str = "d1") -> str:
    return f"s|{document}|{id_}|{span}|word|{type_}|{realis}"


E1, E2, E3, E4, E5 = (mention(f"E{n}", f"{10 * n},{10 * n + 5}") for n in range(1, 6))
FINE = block(E1, E2, E3, E4, E5)
SECOND = block(mention("E1", "3,9", document="d2"), id_="d2")
JSON_FINE = (
    '{"id": "d1", "text": "A storm killed two.", "mentions": [{"id": "m1", "span": [[2, 7]], "cluster": "c"}]}\n'
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to stand in, with good files in it, and an empty one for what should not be written."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fine.tbf").write_text(FINE)
    (tmp_path / "fine.jsonl").write_text(JSON_FINE)
    (tmp_path / "out").mkdir()
    return tmp_path


def save(name: str, content: str | bytes) -> str:
    Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return name


def assert_refused(done: Run, code: str, *says: str, file: str | None = None, line: int | None = None) -> None:
    """Exit 1, one message with place, finding, code and hint, no result, nothing written. Line 0: any line."""
    assert done.code == 1, done
    assert done.out == ""
    assert "Traceback" not in done.err
    first, hint = re.findall(r"^error: (.*)\n  (\S.*)$", done.err, re.MULTILINE)[0]
    if file is not None:
        place = re.escape(file) + (r"(, line \d+)?" if line is None else rf", line {line or '[1-9][0-9]*'}")
        assert re.match(rf"{place}: ", first), first
    assert first.endswith(f" [{code}]"), first
    for said in says:
        assert said in f"{first}\n{hint}"
    assert not list(Path("out").iterdir())


def score(gold: str, system: str, *options: str, stdin: bytes = b"") -> Run:
    return run("score", gold, system, "-o", "out/scores.txt", *options, stdin=stdin)


def assert_both_sides_refused(name: str, good: str, code: str, *says: str, line: int | None) -> None:
    assert_refused(score(good, name), code, *says, file=name, line=line)
    assert_refused(score(name, good), code, *says, file=name, line=line)


def assert_gold_refused_system_warned(name: str, good: str, code: str, *says: str, line: int) -> None:
    """Of a system, one bad item is a fault: it is counted, and matches nothing."""
    assert_refused(score(name, good), code, *says, file=name, line=line)
    scored = results(good, name)
    (warning,) = [warning for warning in scored["warnings"] if warning["code"] == code]
    assert (warning["severity"], warning["file"], warning["line"]) == ("fault", name, line)
    assert all(text in warning["message"] + warning["hint"] for text in says)
    measure = "nugget.span"
    counts = scored["scores"][measure]["micro"]["counts"]
    assert counts["precision_den"] == scored["system"]["mentions"]


def results(gold: str, system: str, *options: str, stdin: bytes = b"") -> Any:
    done = run("score", gold, system, "-f", "json", *options, stdin=stdin)
    assert done.code == 0, done.err
    return json.loads(done.out)


# TBF that cannot be trusted: name, what is said, line, content

BROKEN_TBF: dict[str, tuple[str, str | tuple[str, ...], int | None, str]] = {
    "not closed, next begins": ("tbf-structure", ("next document begins", "'d1'", "line 1"), 3, block(E1)[:-15] + FINE),
    "not closed, file ends": ("tbf-structure", ("the file ends", "'d1'", "line 1"), None, FINE[:-15]),
    "document twice": ("document-twice", ("'d1'", "broken.tbf, line 1"), 8, FINE + FINE),
    "end without begin": ("tbf-structure", "#EndOfDocument outside", 8, FINE + "#EndOfDocument\n"),
    "begin without id": ("tbf-structure", "without a document id", 1, block(E1, id_="")),
    "mention before documents": ("tbf-structure", "outside a document", 1, block(E1).split("\n")[1] + "\n" + FINE),
    "mention after documents": ("tbf-structure", "outside a document", 8, FINE + block(E1).split("\n")[1]),
    "relation outside": ("tbf-structure", "'@After", 8, FINE + "@After\tR1\tE1,E2\n"),
    "begin misspelt": ("tbf-structure", "outside a document", 2, FINE.replace("#Begin", "#begin")),
    "mark of a joined file": ("tbf-structure", "outside a document", 4, block(E1) + "\ufeff" + SECOND),
    "other document": ("tbf-other-document", ("'d2'", "'d1'"), 3, block(E1, mention("E2", "1,2", document="d2"))),
    "too few columns": ("tbf-columns", "6 columns", 3, block(E1, "s|d1|E2|20,25|word|Life_Die")),
    "realis empty at line end": ("tbf-columns", "6 columns", 2, block(mention("E1", "0,3", realis=""))),
    "system id empty": ("tbf-columns", "6 columns", 2, block(E1[1:])),
    "blanks for tabs": ("tbf-columns", ("1 column,", "blanks instead of tabs"), 3, block(E1, E2.replace("|", "  "))),
    "id twice": ("mention-twice", "'E1' was already used", 3, block(E1, mention("E1", "20,25"))),
    "id twice but for blanks": ("mention-twice", "'E1' was already used", 3, block(E1, mention(" E1 ", "20,25"))),
    "id empty": ("tbf-columns", "without an id", 3, block(E1, mention("", "20,25"))),
    "clusters overlap": (
        "clusters-overlap",
        "'E2'",
        6,
        block(E1, E2, E3, "@Coreference|C1|E1,E2", "@Coreference|C2|E2,E3"),
    ),
    "relation, 2 columns": ("tbf-relation", "2 columns", 4, block(E1, E2, "@Coreference|E1,E2")),
    "relation, 4 columns": ("tbf-relation", "4 columns", 4, block(E1, E2, "@Coreference|C1|E1|E2")),
    "relation, blanks for tabs": ("tbf-relation", "1 column,", 4, block(E1, E2, "@Coreference C1 E1,E2")),
    "relation, only @": ("tbf-relation", "1 column,", 3, block(E1, "@")),
    "After, 1 argument": ("tbf-relation", ("@After with 1", "expected 2"), 4, block(E1, E2, "@After|R1|E1")),
    "After, 3 arguments": ("tbf-relation", ("@After with 3", "expected 2"), 5, block(E1, E2, E3, "@After|R1|E1,E2,E3")),
    "After, cycle of 2": (
        "link-cycle",
        ("after", "'d1'", "E1", "E2"),
        0,
        block(E1, E2, "@After|R1|E1,E2", "@After|R2|E2,E1"),
    ),
    "After, cycle of 5": (
        "link-cycle",
        "E1 -> E2 -> E3 -> E4 -> E5 -> E1",
        0,
        block(E1, E2, E3, E4, E5, *(f"@After|R{n}|E{n},E{n % 5 + 1}" for n in range(1, 6))),
    ),
    "Subevent, cycle": ("link-cycle", "subevent", 0, block(E1, E2, "@Subevent|R1|E1,E2", "@Subevent|R2|E2,E1")),
    "After, cycle through clusters": (
        "link-cycle",
        ("A", "B"),
        0,
        block(E1, E2, E3, E4, "@Coreference|A|E1,E4", "@Coreference|B|E2,E3", "@After|R1|E1,E2", "@After|R2|E3,E4"),
    ),
}


@pytest.mark.parametrize("name", BROKEN_TBF)
def test_broken_tbf(name: str) -> None:
    code, says, line, content = BROKEN_TBF[name]
    save("broken.tbf", content)
    reported = (says,) if isinstance(says, str) else says
    assert_both_sides_refused("broken.tbf", "fine.tbf", code, *reported, line=line)


@pytest.mark.parametrize(
    "span",
    [
        *("1_0,20", "a,b", "3", "3,5,7", "", ",", ";", "-3,4", "+3,4", "0,3;", ";0,3", "0,3;;5,6", "3.0,5", "0x1,5"),
        *("3;5", "3,\v5", "5,5", "5,3", "0,0", "0,3;9,7", "t1", "³,⁵", "3,5 6,7"),
        "1 0,20",
        "\u00a03,5",
        "\v3,5",
        "9" * 5000 + ",3",
    ],
)
def test_span_that_is_none(span: str) -> None:
    save("broken.tbf", block(E1, mention("E2", span)))
    assert_gold_refused_system_warned("broken.tbf", "fine.tbf", "tbf-span", repr(span)[:20], "begin,end", line=3)


@pytest.mark.parametrize("span", ["", ",", "t1,", "t1,,t2"])
def test_token_span_that_is_none(span: str) -> None:
    save("broken.tbf", block(E1, mention("E2", span)))
    done = score("broken.tbf", "fine.tbf", "--unit", "token")
    assert_refused(done, "tbf-span", repr(span), file="broken.tbf", line=3)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("broken.jsonl", '{"id": "d1", "x": ' + '"\\' * 10_000),
        ("broken.conll", f"#begin document (d1); part 000\nd1 0 0 x {'( | ' * 10_000}x\n#end document\n"),
    ],
)
def test_time_grows_with_the_size_of_a_line(name: str, content: str) -> None:
    before = time.process_time()
    assert run("validate", save(name, content)).code == 1
    assert time.process_time() - before < 3


@pytest.mark.parametrize("name", ["document", "mention"])
def test_messages_do_not_grow_with_an_id(name: str) -> None:
    """Else a small archive would have a huge log: many messages may name the same document."""
    ids = {"document": "d", "mention": "m"} | {name: "x" * 100_000}
    mentions = [{"id": f"{ids['mention']}{n}", "span": [[2, 7]], "text": "wrong"} for n in range(5)]
    line = {"id": ids["document"], "text": "A storm killed two.", "mentions": mentions}
    done = run("validate", save("long.jsonl", f"{json.dumps(line)}\n"))
    assert (done.code, "[text-differs]" in done.out) == (1, True)
    assert len(done.out) < 100_000


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(block(E1, mention("E2", "x" * 5000))),
        pytest.param(
            block(E1, mention("y" * 5000, "1,2"), mention("y" * 5000, "3,4")),
        ),
        block(E1, "s|d1 " + "z" * 5000),
        pytest.param(FINE.replace("\n", "\r") * 50),
    ],
    ids=["span", "id", "line", "old line ends"],
)
def test_messages_stay_short(content: str) -> None:
    done = score(save("broken.tbf", content), "fine.tbf")
    assert done.code == 1
    assert max(map(len, done.err.splitlines())) < 1000
    assert "\r" not in done.err


# Files that are damaged, or not what they seem: name, what is said, line, content

DAMAGED: dict[str, tuple[str, str, int | None, bytes]] = {
    "utf-16.tbf": ("encoding", "UTF-16", None, FINE.encode("utf-16")),
    "utf-16-without-mark.tbf": ("encoding", "UTF-16", None, FINE.encode("utf-16-le")),
    "utf-16.jsonl": ("encoding", "UTF-16", None, JSON_FINE.encode("utf-16")),
    "latin-1.tbf": ("encoding", "0xe9", 4, block(E1, E2, mention("E3", "5,9", "Décès")).encode("latin-1")),
    "latin-1-id.tbf": ("encoding", "0xe9", 8, (FINE + block(id_="é")).encode("latin-1")),
    "latin-1-comment.tbf": ("encoding", "0xe9", 3, block(E1, "# é", E2).encode("latin-1")),
    "latin-1.jsonl": ("encoding", "0xe9", 2, JSON_FINE.encode() + '{"id": "é"}'.encode("latin-1")),
    "cut.tbf.gz": ("gzip-damaged", "compressed", None, gzip.compress(FINE.encode())[:-20]),
    "head-only.tbf.gz": ("gzip-damaged", "compressed", None, gzip.compress(FINE.encode())[:12]),
    "wrong-sum.tbf.gz": ("gzip-damaged", "compressed", None, gzip.compress(FINE.encode())[:-8] + b"\1" * 8),
    "overwritten.tbf.gz": ("gzip-damaged", "compressed", None, gzip.compress(FINE.encode())[:10] + b"\xff" * 60),
    "picture.png": ("encoding", "binary", None, b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"),
    "letter.txt": ("format-unknown", "the format is not recognised", None, b"Dear Sir,\n"),
    "letter.tbf": ("tbf-structure", "outside a document", 1, b"Dear Sir,\n"),
    "blank-then-letter": ("format-unknown", "the format is not recognised", None, b"\nDear Sir,\n"),
}


@pytest.mark.parametrize("name", cases(DAMAGED))
def test_damaged_file(name: str) -> None:
    code, says, line, content = DAMAGED[name]
    good = "fine.jsonl" if name.endswith(".jsonl") else "fine.tbf"
    assert_refused(score(save(name, content), good), code, says, file=name, line=line)
    if code != "format-unknown":
        assert_refused(score(good, name), code, says, file=name, line=line)


# What does not name a corpus

PLACES: dict[str, tuple[str, str, str]] = {
    "missing.tbf": ("file-missing", "no such file", "missing.tbf"),
    "no/such/folder": ("file-missing", "no such file", "no/such/folder"),
    "@missing.list": ("file-missing", "no such list", "missing.list"),
    "@": ("file-missing", "no such list", ""),
    "@empty.list": ("list-empty", "is empty", "empty.list"),
    "@blank.list": ("list-empty", "is empty", "blank.list"),
    "@wrong.list": ("file-missing", "no such file", "wrong.list, line 2"),
    "@folder-of-lists": ("file-missing", "no such list", "folder-of-lists"),
    "hollow": ("folder-empty", "no file", "hollow"),
    "hidden": ("folder-empty", "no file", "hidden"),
    "twice": ("document-twice", "'d1'", "twice/b.tbf, line 1"),
    "@twice.list": ("document-twice", "'d1'", "fine.tbf, line 1"),
    "mixed": ("format-mixed", "jsonl (b.jsonl), tbf (a.tbf)", "mixed"),
    "": ("file-missing", "no such file", ""),
    "@itself.list": ("list-empty", "", "itself.list"),
    "@latin-1.list": ("encoding", "UTF-8", "latin-1.list"),
}


@pytest.mark.parametrize("place", cases(PLACES))
def test_no_corpus_there(place: str) -> None:
    for name in ("folder-of-lists", "hollow/inner", "hidden", "twice", "mixed"):
        Path(name).mkdir(parents=True)
    for name in ("hidden/.gold.tbf", "twice/a.tbf", "twice/b.tbf", "mixed/a.tbf"):
        save(name, FINE)
    save("mixed/b.jsonl", JSON_FINE)
    for name, lines in (
        ("empty", ""),
        ("blank", "\n \n"),
        ("wrong", "fine.tbf\ngone.tbf\n"),
        ("itself", "@itself.list\n"),
    ):
        save(f"{name}.list", lines)
    save("twice.list", "fine.tbf\nfine.tbf\n")
    save("latin-1.list", "d\xe9c\xe8s.tbf\n".encode("latin-1"))
    code, says, file = PLACES[place]
    assert_refused(score(place, "fine.tbf"), code, says, file=file or None)
    assert_refused(score("fine.tbf", place), code, says, file=file or None)


@pytest.mark.parametrize(
    ("gold", "code", "says"),
    [
        ("", "gold-empty", "no document"),
        ("# nothing yet\n", "gold-empty", "no document"),
        (SECOND, "documents-differ", "gold has 'd2', the system 'd1'"),
    ],
)
def test_gold_of_nothing_or_of_another_corpus(gold: str, code: str, says: str) -> None:
    done = score(save("gold.tbf", gold), "fine.tbf")
    assert_refused(done, code, says, file="fine.tbf" if code == "documents-differ" else "gold.tbf")
    assert ("GOLD comes before SYSTEM" in done.err) == (code == "documents-differ")


def test_an_empty_gold_file_without_a_telling_name() -> None:
    assert_refused(score(save("gold", ""), "fine.tbf"), "format-unknown", "is empty", file="gold")


def test_swapped_sides_swap_precision_and_recall() -> None:
    """The files alone cannot show it; the sizes in the report do."""
    save("few.tbf", block(E1, E2))
    right = results("fine.tbf", "few.tbf")["scores"]["nugget.type"]["micro"]
    wrong = results("few.tbf", "fine.tbf")["scores"]["nugget.type"]["micro"]
    assert (right["precision"], right["recall"]) == (1.0, 0.4)
    assert (wrong["precision"], wrong["recall"]) == (0.4, 1.0)


def test_characters_against_tokens() -> None:
    save("tokens.jsonl", JSON_FINE.replace('"text"', '"unit": "token", "text"'))
    assert_refused(
        score("fine.jsonl", "tokens.jsonl"), "units-differ", "char offsets in gold", "token offsets in the system"
    )
    assert_refused(
        score("fine.jsonl", "fine.jsonl", "--unit", "token"), "jsonl-unit", "--unit", file="fine.jsonl", line=1
    )


# JSONL: what is said, and what stands in line 2

ONE = '{"id": "d2", "mentions": [{"id": "m", "span": [[1, 3]]'
DEEP_TEXT = '{"id": "d2", "text": ' + "[" * 100_000 + "]" * 100_000 + "}"
DEEP_VALUE = ONE + ', "attributes": {"a": ' + "[" * 100_000
BROKEN_JSONL: dict[str, tuple[str, str]] = {
    "{'id': 'd2'}": ("jsonl-shape", "this is not JSON: found"),
    '{"id": "d2"': ("jsonl-shape", "ends within a value"),
    '{"id": "d2"} {"id": "d3"}': ("jsonl-shape", "there is text after the value: found"),
    '["d2"]': ("jsonl-shape", "object"),
    "d2": ("jsonl-shape", "this is not JSON: found 'd2'"),
    "{}": ("jsonl-shape", "the field 'id' is missing"),
    '{"id": 2}': ("jsonl-shape", "id is a whole number, expected a string, such as "),
    '{"id": null}': ("jsonl-shape", "id is null, expected a string"),
    '{"id": "d1"}': ("document-twice", "'d1'"),
    '{"id": "d2", "mention": []}': ("jsonl-shape", "the field 'mention' is not known"),
    '{"id": "d2", "mentions": {}}': ("jsonl-shape", "mentions is an object, expected a list"),
    '{"id": "d2", "unit": "chars"}': ("jsonl-shape", "'chars'"),
    '{"id": "d2", "mentions": [{"id": "m"}]}': ("jsonl-shape", "the field 'span' is missing in mentions[0]"),
    '{"id": "d2", "mentions": [{"span": []}]}': ("jsonl-shape", "the field 'id' is missing in mentions[0]"),
    '{"id": "d2", "mentions": [{"id": "m", "span": [3, 5]}]}': ("jsonl-shape", "span[0]"),
    '{"id": "d2", "mentions": [{"id": "m", "span": [[3]]}]}': ("jsonl-shape", "must have 2 values, such as [1, 2]"),
    '{"id": "d2", "mentions": [{"id": "m", "span": [[3, 5, 7]]}]}': (
        "jsonl-shape",
        "mentions[0].span[0] must have 2 values",
    ),
    '{"id": "d2", "mentions": [{"id": "m", "span": [[5, 5]]}]}': ("jsonl-span", "'m'"),
    '{"id": "d2", "mentions": [{"id": "m", "span": [[5, 3]]}]}': ("jsonl-span", "'m'"),
    '{"id": "d2", "mentions": [{"id": "m", "span": [[-1, 3]]}]}': ("jsonl-span", "'m'"),
    ONE + ', "head": [[3, 3]]}]}': ("jsonl-span", "'m'"),
    ONE + ', "type": "Life.Die"}]}': ("jsonl-shape", "the field 'type' is not known in mentions[0]"),
    ONE + ', "attributes": {"type": []}}]}': ("jsonl-shape", "attributes"),
    ONE + ', "attributes": {"n": 1e999}}]}': ("jsonl-shape", "range"),
    ONE + '}, {"id": "m", "span": [[4, 5]]}]}': ("mention-twice", "'m'"),
    '{"id": "d2", "clusters": [{"id": "c"}, {"id": "c"}]}': ("mention-twice", "cluster id 'c'"),
    '{"id": "d2", "links": [{"kind": "after", "from": "m"}]}': ("jsonl-shape", "the field 'to' is missing in links[0]"),
    '{"id": "d2", "mentions": [{"id": "a", "span": [[1, 3]]}, {"id": "b", "span": [[4, 5]]}], "links": [{"kind": '
    '"after", "from": "a", "to": "b"}, {"kind": "after", "from": "b", "to": "a"}]}': ("link-cycle", "a -> b -> a"),
    '{"id": ""}': ("jsonl-shape", "id"),
    '{"id": "d2", "unit": "token", "sentence_ids": ["a"]}': ("tokens-order", "0 sentences, but 1 ids of sentences"),
    '{"id": "d2", "mentions": [{"id": "", "span": [[1, 3]]}]}': ("jsonl-shape", "id"),
    DEEP_TEXT: ("jsonl-shape", "the value is nested too deeply"),
    DEEP_VALUE: ("jsonl-shape", "the value is nested too deeply"),
}


@pytest.mark.parametrize("line", cases(BROKEN_JSONL))
def test_broken_jsonl(line: str) -> None:
    code, says = BROKEN_JSONL[line]
    save("broken.jsonl", f"{JSON_FINE}{line}\n")
    check = assert_gold_refused_system_warned if code == "jsonl-span" else assert_both_sides_refused
    check("broken.jsonl", "fine.jsonl", code, says, line=2)


# Scored with a counted warning: code, severity, line, what is said, system file

WARNED: dict[str, tuple[str, str, int | None, str, str]] = {
    "dangling argument of After": ("argument-unknown", "fault", 4, "'E9'", block(E1, E2, "@After|R1|E1,E9")),
    "dangling argument of Coreference": (
        "argument-unknown",
        "fault",
        4,
        "'E9'",
        block(E1, E2, "@Coreference|C1|E1,E9,E2"),
    ),
    "overlapping segments": ("segments-merged", "note", 2, "'10,14;12,15'", block(mention("E1", "10,14;12,15"))),
    "blanks around a mention id": ("id-trimmed", "note", 2, "' E1'", block(mention(" E1", "10,15"))),
    "blanks around arguments": ("id-trimmed", "note", 4, "'E1, E2'", block(E1, E2, "@Coreference|C1|E1, E2")),
    "unknown relation": ("relation-unknown", "note", 4, "@Causes", block(E1, E2, "@Causes|R1|E1,E2")),
    "relation in other letters": ("relation-unknown", "note", 4, "@after", block(E1, E2, "@after|R1|E1,E2")),
    "cluster of one": ("cluster-of-one", "note", 3, "'E1'", block(E1, "@Coreference|C1|E1")),
    "link inside a cluster": (
        "link-inside-cluster",
        "note",
        0,
        "'E1'",
        block(E1, E2, "@Coreference|C1|E1,E2", "@After|R1|E1,E2"),
    ),
    "link to itself": ("link-inside-cluster", "note", 0, "'E1'", block(E1, "@After|R1|E1,E1")),
    "document only in system": ("document-system-only", "note", 8, "'d2'", FINE + SECOND),
    "nothing said": ("no-mentions", "note", None, "the system", ""),
    "nothing said of a document": ("no-mentions", "note", None, "the system", block()),
    "unknown realis": ("realis-unknown", "note", 2, "'Perhaps'", block(mention("E1", "10,15", realis="Perhaps"))),
    "same span twice in a cluster": (
        "span-twice-in-cluster",
        "fault",
        0,
        "'C1'",
        block(E1, mention("E2", "10,15"), "@Coreference|C1|E1,E2"),
    ),
    "same span and type twice": ("span-twice", "note", 0, "E2", block(E1, mention("E2", "10,15"))),
}


@pytest.mark.parametrize("name", cases(WARNED))
def test_warned(name: str) -> None:
    code, severity, line, says, content = WARNED[name]
    assert_warned("fine.tbf", save("system.tbf", content), code, severity, line, says)


def assert_warned(
    gold: str, system: str, code: str, severity: str, line: int | None, says: str, *options: str, file: str = ""
) -> None:
    """One warning of that code, in its place; `--strict` refuses it if it is a fault. Line 0: any line."""
    found = [warning for warning in results(gold, system, *options)["warnings"] if warning["code"] == code]
    assert len(found) == 1
    (warning,) = found
    assert warning["severity"] == severity
    assert warning["file"] == (file or system)
    assert warning.get("line") == line or (line == 0 and warning["line"] > 0)
    assert says in warning["message"]
    assert warning["hint"]
    assert f"{severity}: " in run("score", gold, system, *options).out
    strict = score(gold, system, "--strict", *options)
    if severity == "fault":
        assert_refused(strict, code, says, "--strict", file=file or system, line=line)
    else:
        assert strict.code == 0


def test_warnings_are_counted() -> None:
    save("system.tbf", block(E1, *(f"@Causes|R{n}|E1,E1" for n in range(1500))))
    done = run("score", "fine.tbf", "system.tbf")
    assert (
        "note: system.tbf, line 3: unknown relation @Causes, read as links of kind 'causes' [relation-unknown] (and"
        in done.out
    )
    reported = [warning["message"] for warning in results("fine.tbf", "system.tbf", "-m", "nugget")["warnings"]]
    assert reported[0].startswith("unknown relation @Causes")
    assert reported[-1] == "and 500 more like these"


def test_document_that_the_system_lacks() -> None:
    save("two.tbf", FINE + SECOND)
    assert_warned("two.tbf", "fine.tbf", "document-gold-only", "note", None, "'d2'")
    assert results("two.tbf", "fine.tbf")["scores"]["nugget.span"]["micro"]["recall"] == 5 / 6


def test_dangling_arguments_change_no_nugget() -> None:
    save("system.tbf", FINE.replace("#End", "@After\tR1\tE1,E9\n@Coreference\tC1\tE8,E7\n#End"))
    found = results("fine.tbf", "system.tbf", "-m", "nugget")
    assert found["scores"] == results("fine.tbf", "fine.tbf", "-m", "nugget")["scores"]
    assert [warning["line"] for warning in found["warnings"]] == [7, 8, 8]


def test_false_alarms_that_the_protocol_does_not_count() -> None:
    gold = save("gold.tbf", FINE + block(id_="d2"))
    found = results(gold, save("system.tbf", FINE + SECOND), "-m", "nugget")
    assert [(w["code"], w["severity"]) for w in found["warnings"]] == [("false-alarms-uncounted", "note")]
    assert found["scores"]["nugget.span"]["micro"]["precision"] == 1.0


WARNED_JSONL: dict[str, tuple[str, str, str, str]] = {
    "span beyond the text": (
        "span-beyond-text",
        "fault",
        "ends at 99",
        '"text": "short", "mentions": [{"id": "m", "span": [[2, 99]]}]',
    ),
    "span beyond the tokens": (
        "span-beyond-text",
        "fault",
        "2 tokens",
        '"unit": "token", "tokens": [[0, 1], [2, 3]], "mentions": [{"id": "m", "span": [[2, 3]]}]',
    ),
    "dangling link": (
        "argument-unknown",
        "fault",
        "'gone'",
        '"mentions": [{"id": "m", "span": []}], "links": [{"kind": "after", "from": "gone", "to": "m"}]',
    ),
    "overlapping segments": (
        "segments-merged",
        "note",
        "'m'",
        '"mentions": [{"id": "m", "span": [[2, 5], [4, 6]]}]',
    ),
    "text that differs": (
        "text-differs",
        "fault",
        "'m'",
        '"text": "short", "mentions": [{"id": "m", "span": [[0, 5]], "text": "long"}]',
    ),
}


@pytest.mark.parametrize("name", cases(WARNED_JSONL))
def test_warned_jsonl(name: str) -> None:
    code, severity, says, fields = WARNED_JSONL[name]
    unit = "token" if "token" in fields else "char"
    save("gold.jsonl", f'{{"id": "d1"}}\n{{"id": "d2", "unit": "{unit}"}}\n')
    save("system.jsonl", f'{{"id": "d1"}}\n{{"id": "d2", {fields}}}\n')
    assert_warned("gold.jsonl", "system.jsonl", code, severity, 2, says)


@pytest.fixture
def tables(folder: Path) -> str:
    """A folder of token tables under its full name, since karat remembers them by name."""
    (folder / "tables").mkdir()
    return str(folder / "tables")


def test_token_tables(tables: str) -> None:
    gold = save("gold.tbf", block(mention("E1", "t1,t2")))
    assert_refused(score(gold, gold, "--tokens", "nowhere"), "file-missing", "token tables", file="nowhere")
    assert_refused(score(gold, gold), "tbf-span", "--tokens DIR", file=gold, line=2)
    save("tables/d1.tab", "t1\tA\t0\t1\nt2\tstorm\t2\t7\nt3\tkilled\t8\t14\n")
    assert results(gold, gold, "--tokens", tables, "-m", "nugget")["warnings"] == []
    half = results(gold, save("system.tbf", block(mention("E1", "t2,t3"))), "--tokens", tables)
    assert half["scores"]["nugget.span"]["micro"]["f1"] == 0.5


@pytest.mark.parametrize("reported", ["line", "all else"])
def test_token_that_is_not_in_the_table(reported: str, tables: str) -> None:
    save("tables/d1.tab", "t1\tA\t0\t1\n")
    gold = save("gold.tbf", block(mention("E1", "t1")))
    system = save("system.tbf", block(mention("E1", "t1,elsewhere-99")))
    (warning,) = results(gold, system, "--tokens", tables, "-m", "nugget")["warnings"]
    if reported == "line":
        assert warning["line"] == 2
    else:
        assert (warning["code"], warning["severity"], warning["file"]) == ("token-unknown", "note", system)
        assert "'elsewhere-99'" in warning["message"]


def test_missing_token_table(tables: str) -> None:
    gold = save("gold.tbf", block(mention("E1", "t1,t2")))
    (warning,) = results(gold, gold, "--tokens", tables, "-m", "nugget")["warnings"]
    assert (warning["code"], warning["severity"]) == ("token-table-missing", "note")
    assert warning["file"] == str(Path(tables, "d1.tab"))


def test_token_tables_are_read_afresh_in_every_run(tables: str) -> None:
    gold = save("gold.tbf", block(mention("E1", "t1,t2")))
    first, second = (results(gold, gold, "--tokens", tables)["warnings"] for _ in range(2))
    assert first == second


# The very same content in another coat

COATS: dict[str, Callable[[bytes], tuple[str, bytes]]] = {
    "CRLF": lambda plain: ("coat", plain.replace(b"\n", b"\r\n")),
    "CR at some line ends": lambda plain: ("coat", plain.replace(b"\n", b"\r\n", 3)),
    "byte-order mark": lambda plain: ("coat", b"\xef\xbb\xbf" + plain),
    "gz": lambda plain: ("coat.gz", gzip.compress(plain)),
    "gz under another name": lambda plain: ("coat", gzip.compress(plain)),
    "gz, mark, CRLF": lambda plain: ("coat.gz", gzip.compress(b"\xef\xbb\xbf" + plain.replace(b"\n", b"\r\n"))),
    "gz in two parts": lambda plain: ("coat.gz", gzip.compress(plain[:99]) + gzip.compress(plain[99:])),
    "blank lines": lambda plain: ("coat", b"\n" + plain.replace(b"\n", b"\n \n")),
    "blanks at line ends": lambda plain: ("coat", plain.replace(b"\n", b" \t\n")),
    "no end of the last line": lambda plain: ("coat", plain.rstrip(b"\n")),
}
CONTENTS = {"tbf": FINE + SECOND, "jsonl": JSON_FINE + JSON_FINE.replace("d1", "d2")}


@pytest.mark.parametrize("form", CONTENTS)
@pytest.mark.parametrize("coat", COATS)
def test_same_content_in_another_coat(coat: str, form: str) -> None:
    plain = CONTENTS[form].encode()
    save(f"plain.{form}", plain)
    (name, content), suffix = COATS[coat](plain), f".{form}"
    worn = save(name.replace("coat", f"coat{suffix}"), content)
    wanted = results(f"plain.{form}", f"plain.{form}", "--per-document", "-p", "tac-2017")
    assert wanted["scores"]["nugget.span"]["micro"]["f1"] == 1.0
    assert results(worn, f"plain.{form}", "--per-document", "-p", "tac-2017") == wanted
    assert results(f"plain.{form}", worn, "--per-document", "-p", "tac-2017") == wanted


def test_comments_change_nothing() -> None:
    save("commented.tbf", "# made by hand\n" + FINE.replace("\n", "\n# so it goes\n"))
    assert results("commented.tbf", "commented.tbf") == results("fine.tbf", "fine.tbf")


@pytest.mark.parametrize("form", CONTENTS)
def test_same_content_from_elsewhere(form: str) -> None:
    """Standard input, a list, a folder of several files, and both in one."""
    plain = save(f"plain.{form}", CONTENTS[form])
    Path("folder/deeper").mkdir(parents=True)
    half = CONTENTS[form].index("#BeginOfDocument d2") if form == "tbf" else len(JSON_FINE)
    parts = [
        save(f"folder/z.{form}", CONTENTS[form][:half]),
        save(f"folder/deeper/a.{form}", CONTENTS[form][half:]),
    ]
    save("parts.list", "\n".join(parts))
    save("folder.list", "\r\nfolder\r\n")
    wanted = results(plain, plain)
    assert results(plain, "-", stdin=CONTENTS[form].encode()) == wanted
    assert results("-", plain, stdin=CONTENTS[form].encode()) == wanted
    for place in ("@parts.list", "folder", "@folder.list"):
        assert results(place, plain) == wanted
        assert results(plain, place) == wanted


def test_stray_file_in_a_folder() -> None:
    Path("folder").mkdir()
    save("folder/a.tbf", FINE)
    save("folder/README", "what this is\n")
    assert_warned("fine.tbf", "folder", "file-skipped", "note", None, "skipped", file=str(Path("folder", "README")))


def test_stray_picture_in_a_folder() -> None:
    Path("folder").mkdir()
    save("folder/a.tbf", FINE)
    save("folder/figure.png", DAMAGED["picture.png"][3])
    assert results("folder", "fine.tbf", "--gold-format", "tbf")["scores"] == results("fine.tbf", "fine.tbf")["scores"]


def test_empty_system_in_python() -> None:
    import karat

    save("system", "")
    wanted = results("fine.tbf", "system")
    assert karat.score("fine.tbf", "system", protocol="tac-2017").to_dict() == wanted


def test_entry_points_are_not_looked_up_for_every_file(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def counted(*, group: str) -> Any:
        asked.append(group)
        return entry_points(group=group)

    Path("folder").mkdir()
    for n in range(30):
        save(f"folder/{n}.tbf", block(mention("E1", "1,2", document=f"d{n}"), id_=f"d{n}"))
    monkeypatch.setattr("importlib.metadata.entry_points", counted)
    assert results("folder", "folder")["gold"]["documents"] == 30
    assert len(asked) < 30


def test_broken_standard_input() -> None:
    done = score("-", "fine.tbf", stdin=block(E1, mention("E2", "5,3")).encode())
    assert_refused(done, "tbf-span", "'5,3'", file="standard input", line=3)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no /dev/fd")
def test_pipe_in_place_of_a_file() -> None:
    reading, writing = os.pipe()
    os.write(writing, FINE.encode())
    os.close(writing)
    try:
        done = command("score", "fine.tbf", f"/dev/fd/{reading}", "-f", "json", inherit=(reading,))
    finally:
        os.close(reading)
    assert done.code == 0
    assert json.loads(done.out) == results("fine.tbf", "fine.tbf")


# The command line

MISSPELT: dict[str, tuple[int, str]] = {
    "-p tac-2071": (2, "Did you mean tac-2017?"),
    "-p TAC2017": (2, "Did you mean tac-2017?"),
    "-m nuget.span": (2, "Did you mean nugget?"),
    "-m nugget.tpye": (1, "Did you mean nugget.type?"),
    "--by tpye": (1, "Did you mean type?"),
    "--by documents": (1, "Did you mean document?"),
    "--set atributes=type": (2, "Did you mean attributes?"),
    "--set coref.maping=type": (2, "Did you mean coref.mapping?"),
    "--set coref.mapping=tpye": (2, "Did you mean type?"),
    "--set coref.threshold=high": (2, "expected a number"),
    "--set coref.threshold=true": (2, "expected a number"),
    "--set attributes": (2, "key=value"),
    "--set =type": (2, "no parameter ''"),
    "--set attributes=tpye": (1, "Did you mean type?"),
    "--set types=no-such-file": (1, "no-such-file"),
    "-p tac-2017 --set atributes=type": (2, "Did you mean attributes?"),
    "-f jsn": (2, "Did you mean json?"),
    "-f JSON": (2, "Did you mean json?"),
    "--gold-format tfb": (2, "Did you mean tbf?"),
    "--system-format json": (2, "Did you mean jsonl?"),
    "--unit chr": (2, "Did you mean char?"),
    "--digits two": (2, "two"),
    "--digits 99": (2, "99"),
    "--stict": (2, "--strict"),
    "-p none.toml": (1, "none.toml"),
    "-o no/folder/scores.txt": (1, "no/folder/scores.txt"),
    "--system-format jsonl": (1, "fine.tbf, line 1"),
    "--unit char --tokens nowhere": (1, "nowhere"),
    "--set kinds=evnt": (1, "evnt"),
    "--set kinds=": (2, "kinds"),
}


@pytest.mark.parametrize("options", cases(MISSPELT))
def test_misspelt(options: str) -> None:
    code, says = MISSPELT[options]
    done = run("score", "fine.tbf", "fine.tbf", *options.split())
    assert (done.code, done.out) == (code, "")
    assert says in done.err


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ("scroe fine.tbf fine.tbf", "error: no such command 'scroe'"),
        ("score fine.tbf", "error: missing argument 'SYSTEM'"),
        ("score fine.tbf fine.tbf fine.tbf", "unexpected extra argument"),
        ("score - -", "cannot both be standard input"),
        ("explain nuget.type", "Did you mean nugget.type?"),
        ("protocols tac2017", "Did you mean tac-2017?"),
    ],
)
def test_wrong_commands(args: str, says: str) -> None:
    done = run(*args.split())
    assert (done.code, done.out) == (2, "")
    assert says in done.err


@pytest.mark.slow
@pytest.mark.parametrize("args", ["score missing.tbf fine.tbf", "score fine.tbf fine.tbf -p tac-2071", "explain nuget"])
def test_messages_of_the_real_program_are_the_same(args: str) -> None:
    assert command(*args.split()) == run(*args.split())


BROKEN_PROTOCOLS: dict[str, tuple[str | bytes, str]] = {
    "not TOML": ("title = \n", "not TOML"),
    "empty": ("", "the field 'title' is missing"),
    "no measures": ("title = 'mine'\n", "the field 'measures' is missing"),
    "unknown key": ("title = 'mine'\nmeasures = []\nunits = 'document'\n", "the field 'units' is not known"),
    "wrong unit": ("title = 'mine'\nmeasures = []\nunit = 'sentence'\n", "'sentence'"),
    "unknown family": ("title = 'mine'\n[[measures]]\nfamily = 'nuget'\n", "Did you mean nugget?"),
    "unknown alignment": ("title = 'mine'\n[[measures]]\nfamily = 'nugget'\nalignment = 'a'\n", "'a'"),
    "unknown alignment of words": (
        "title = 'mine'\n[alignments.a]\n[[measures]]\nfamily = 'coref'\nalignment = 'a'\noverlap = 'words'\n",
        "there is no alignment 'words'. Known: a.",
    ),
    "unknown parameter": ("title = 'mine'\n[[measures]]\nfamily = 'nugget'\nalignment = '{a}'\n", "{a}"),
    "not UTF-8": (b"title = '\xe9'\nmeasures = []\n", "UTF-8"),
}


@pytest.mark.parametrize(
    "name",
    BROKEN_PROTOCOLS,
)
def test_broken_protocol_file(name: str) -> None:
    content, says = BROKEN_PROTOCOLS[name]
    save("mine.toml", content)
    assert_refused(score("fine.tbf", "fine.tbf", "-p", "mine.toml"), "protocol-file", says, file="mine.toml")


def test_a_file_name_that_is_too_long() -> None:
    refused = score("fine.tbf", "fine.tbf", "-p", "liu-2015", "--set", f"types={'5' * 300}")
    assert_refused(refused, "parameter-file", "there is no such file", file="5" * 300)


def test_systems_that_have_no_measure_in_common() -> None:
    save("t.jsonl", '{"id": "d", "mentions": [{"id": "t", "span": [[0, 2]], "kind": "template"}]}\n')
    assert_refused(run("compare", "t.jsonl", "t.jsonl", "-p", "ace-2005-nist"), "sort-absent", file="t.jsonl")


def test_two_protocol_files_of_one_name() -> None:
    own = run("protocols", "tac-2017").out.partition("name yours with -p)\n\n")[2]
    for name in ("a", "b"):
        Path(name).mkdir()
        save(f"{name}/mine.toml", own.replace("macro = true", f"macro = {'true' if name == 'a' else 'false'}"))
    done = run("score", "fine.tbf", "fine.tbf", "-f", "json", "-p", "a/mine.toml", "-p", "b/mine.toml")
    assert done.code != 0 or len(json.loads(done.out)["protocols"]) == 2


# Outputs


def test_nothing_is_left_beside_an_output_that_cannot_be_written() -> None:
    before = sorted(Path().rglob("*"))
    assert_refused(
        run("score", "fine.tbf", "fine.tbf", "-o", "no/scores.txt"), "output-unwritable", file="no/scores.txt"
    )
    assert sorted(Path().rglob("*")) == before


def test_nothing_is_left_beside_an_output_that_is_a_folder() -> None:
    before = sorted(Path().rglob("*"))
    assert_refused(run("score", "fine.tbf", "fine.tbf", "-o", "out"), "output-unwritable", file="out")
    assert sorted(Path().rglob("*")) == before


def test_thousands_of_names_are_not_listed() -> None:
    mentions = ",".join(f'{{"id":"m{n}","span":[[0,2]],"kind":"k{n}"}}' for n in range(2000))
    save("kinds.jsonl", f'{{"id":"d","mentions":[{mentions}]}}\n')
    refused = run("score", "kinds.jsonl", "kinds.jsonl", "-p", "tac-2017")
    assert "and 1,900 more. [kind-absent]" in refused.err
    assert len(refused.err) < 2000


def test_a_file_name_of_blanks_can_be_seen() -> None:
    assert "error: ' ': cannot read the types" in run("validate", "fine.tbf", "--types", " ").err


def test_output_over_an_input() -> None:
    done = run("score", "fine.tbf", "fine.tbf", "-o", "fine.tbf")
    assert done.code != 0
    assert Path("fine.tbf").read_text() == FINE


def test_an_old_output_survives_a_refusal() -> None:
    save("scores.txt", "yesterday's\n")
    assert run("score", "fine.tbf", "missing.tbf", "-o", "scores.txt").code == 1
    assert Path("scores.txt").read_text() == "yesterday's\n"


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(
            block(mention("E1", "1,2", document="d\x1b]0;title\x071"), id_="d\x1b]0;title\x071"),
        ),
        pytest.param(block(mention("E1", "1,2", "Life\x1b]0;title\x07Die"))),
    ],
    ids=["document id", "type"],
)
def test_control_characters_do_not_reach_the_terminal(content: str) -> None:
    save("gold.tbf", content)
    done = run("score", "gold.tbf", "gold.tbf", "--per-document", "--by", "type")
    assert done.code == 0
    assert "\x1b" not in done.out + done.err


def test_control_characters_in_messages() -> None:
    save("system.tbf", block(mention("E1", "\x1b[31m")))
    done = run("score", "system.tbf", "fine.tbf")
    assert done.code == 1
    assert "\x1b" not in done.err


@pytest.mark.skipif(sys.platform != "linux", reason="file names are Unicode on this system")
def test_file_name_that_is_not_unicode(folder: Path) -> None:
    name = b"caf\xe9.tbf"
    with open(os.path.join(os.fsencode(folder), name), "wb") as stream:  # noqa: PTH118 (a name of bytes)
        stream.write(block(E1, "@Causes|R1|E1,E1").encode())
    done = command("score", "fine.tbf", name, "-f", "json")
    assert (done.code, "Traceback" in done.err) == (0, False)


def test_terminal_that_is_not_unicode() -> None:
    done = command("explain", "nugget", PYTHONIOENCODING="cp1252")
    assert (done.code, "Traceback" in done.err) == (0, False)


@pytest.mark.parametrize(
    ("values", "rows"),
    [
        (('"a"', '"b"'), 2),
        (('"a"', '"A!"'), 1),
        (("1", '"1"'), 1),
        (("true", '"True"'), 1),
        ((None, '"None"'), 2),
    ],
)
def test_rows_of_a_breakdown_that_look_alike(values: tuple[str | None, str], rows: int) -> None:
    first, second = ("" if value is None else f'"type": {value}' for value in values)
    found = ", ".join(
        f'{{"id": "{id_}", "span": [[{begin}, {begin + 2}]], "attributes": {{{attribute}}}}}'
        for id_, begin, attribute in (("a", 0, first), ("b", 3, second))
    )
    save("gold.jsonl", f'{{"id": "d1", "mentions": [{found}]}}\n')
    by = results("gold.jsonl", "gold.jsonl", "--by", "type")["by"]["type"]
    assert len(by) == rows
    assert sum(row["nugget.span"]["micro"]["counts"]["recall_den"] for row in by.values()) == 2


def test_attribute_called_span() -> None:
    save(
        "gold.jsonl",
        '{"id": "d1", "mentions": [{"id": "a", "span": [[0, 2]], "attributes": {"span": "x", "type": "y"}}]}\n',
    )
    done = run("score", "gold.jsonl", "gold.jsonl", "-f", "json", "--set", "attributes=all", "-m", "nugget")
    assert done.code == 1 or len(json.loads(done.out)["scores"]) == 4


# Anything at all

SEED_TBF = (
    FINE[:-15] + "@Coreference\tC1\tE1,E2\n@After\tR1\tE3,E1\n@Subevent\tR2\tE4,E5\n#EndOfDocument\n" + SECOND
).encode()
SEED_JSONL = (
    JSON_FINE.replace("]}\n", '], "links": [{"kind": "after", "from": "m1", "to": "c"}]}\n')
    + '{"id": "d2", "mentions": []}\n'
).encode()
PLAIN = b'\t\n\r #@,;-019aE"{}[]:\\\0'
Change = tuple[str, int, int, bytes]


def changes(alphabet: bytes) -> st.SearchStrategy[list[Change]]:
    """A few changes: what is done, where, to how much, and with which bytes."""
    piece = st.lists(st.sampled_from(alphabet), max_size=4).map(bytes)
    what = st.sampled_from(
        ["delete", "double", "swap", "insert", "delete line", "double line", "swap lines", "insert line"]
    )
    return st.lists(st.tuples(what, st.integers(0, 999), st.integers(1, 40), piece), min_size=1, max_size=5)


def changed(content: bytes, plan: list[Change]) -> bytes:
    for what, where, length, piece in plan:
        parts = content.splitlines(keepends=True) if "line" in what else [bytes([byte]) for byte in content]
        size = 1 if "line" in what else length
        at = where % (len(parts) + 1)
        part, rest = parts[at : at + size], parts[at + size :]
        middle = {"delete": [], "double": [*part, *part], "swap": [*rest[:size], *part], "insert": [piece, *part]}
        after = rest[size:] if what.startswith("swap") else rest
        content = b"".join([*parts[:at], *middle[what.split()[0]], *after])
    return content


fuzz = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def assert_scored_or_refused(name: str, content: bytes) -> None:
    Path(name).write_bytes(content)
    for pair in ((name, name), (f"fine.{name.split('.')[1]}", name)):
        done = run("score", *pair)
        assert done.code in (0, 1)
        assert (done.out == "") == (done.code == 1)
        assert done.code == 0 or re.search(r"^error: .+\[[a-z0-9-]+\]\n  \S", done.err, re.MULTILINE)


@fuzz
@given(changes(PLAIN))
def test_any_change_of_a_tbf_file(plan: list[Change]) -> None:
    assert_scored_or_refused("any.tbf", changed(SEED_TBF, plan))


@fuzz
@given(changes(PLAIN))
def test_any_change_of_a_jsonl_file(plan: list[Change]) -> None:
    assert_scored_or_refused("any.jsonl", changed(SEED_JSONL, plan))


@fuzz
@given(changes(bytes(range(256))))
@example([("insert", SEED_TBF.index(b"10,15"), 1, b"\v")])
def test_any_bytes_in_a_tbf_file(plan: list[Change]) -> None:
    assert_scored_or_refused("any.tbf", changed(SEED_TBF, plan))


@fuzz
@given(changes(bytes(range(256))))
@example([("insert", SEED_JSONL.index(b"storm"), 1, b"\xff")])
def test_any_bytes_in_a_jsonl_file(plan: list[Change]) -> None:
    assert_scored_or_refused("any.jsonl", changed(SEED_JSONL, plan))
