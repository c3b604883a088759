"""Every code that `karat validate` can give: files that have it, how bad it is, and in which file and line it stands.

The small damages of TBF and JSONL files are in `test_validate.py`; here are those of the other formats, of files as
such, and of corpora.
"""

import gzip
import importlib
import json
import pkgutil
import re
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from karat import checks, corpus, filters, formats
from karat.problems import Rule
from karat.run import plan, validation
from tests.running import run
from tests.test_validate import JSONL, TBF

TEXT = "Anna was killed on Monday.\nThe attack also hurt Bo and Cy."
#       0    5   9      16 19      27  31     38   43   48 51  55
BOUND = "T1\tA 0 4\tAnna\n"
PAIR = "T1\tA 9 15\tkilled\nE1\tA:T1\nT2\tB 31 37\tattack\nE2\tB:T2\n"
EVENT = '<event_mention id="{0}" type="life"{2}><trigger offset="{1}" length="4">died</trigger>{3}</event_mention>\n'
BLOCK = "#BeginOfDocument {0}\ns\t{0}\tE1\t{1}\tx\tA\tActual\n#EndOfDocument\n"


class Case(NamedTuple):
    """Files, and the one finding that validating them gives."""

    code: str
    severity: str
    file: str
    line: int | None
    files: Mapping[str, str | bytes]
    args: str = ""
    """The command's arguments; none: the folder `in`."""


@pytest.mark.parametrize(
    ("arguments", "code"), [(("baseline", "lemma"), "baseline-words"), (("audit",), "baseline-text")]
)
def test_refusals_of_baselines_name_the_file(tmp_path: Path, arguments: tuple[str, ...], code: str) -> None:
    text = "" if code == "baseline-words" else ',"text":"ran"'
    mentions = ",".join(f'{{"id":"{id_}","span":[[0,3]],"cluster":"{id_}"{text}}}' for id_ in "ab")
    file = tmp_path / "in.jsonl"
    file.write_text("".join(f'{{"id":"{id_}","topic":"1","mentions":[{mentions}]}}\n' for id_ in "de"))
    refused = run(*arguments, str(file))
    assert (refused.code, f"[{code}]" in refused.err, f"error: {file}" in refused.err) == (1, True, True), refused.err


def brat(code: str, severity: str, line: int | None, ann: str, *, args: str = "") -> Case:
    files = {"in/d.ann": ann, "in/d.txt": TEXT, "types.txt": "A\nB\nLife\n"}
    return Case(code, severity, "in/d.ann", line, files, args)


def ere(code: str, severity: str, line: int | None, inner: str, *, args: str = "") -> Case:
    """The content of the root begins in line 2."""
    files = {"in/d.ere.xml": f'<deft_ere doc_id="D">\n{inner}</deft_ere>\n', "types.txt": "A\nB\n"}
    return Case(code, severity, "in/d.ere.xml", line, files, args)


def hopper(*events: str) -> str:
    """The first event is in line 3."""
    return f'<hoppers><hopper id="h">\n{"".join(events)}</hopper></hoppers>\n'


def event(id_: str, offset: object = 0, attributes: str = "", arguments: str = "") -> str:
    return EVENT.format(id_, offset, attributes, arguments)


def unsupported(name: str, content: str) -> Case:
    return Case("format-unsupported", "fatal", f"in/{name}", 1, {f"in/{name}": content})


CASES = {
    # brat: what the reader finds
    "a line without tabs": brat("brat-line", "fatal", 2, BOUND + "T2 E 9 15 killed\n"),
    "a broken line, in a file from Windows": brat("brat-line", "fatal", 3, "\r\nT1\tA 0 4\tAnna\r\nE1\t\r\n"),
    "offsets in words": brat("brat-span", "fatal", 2, BOUND + "T2\tA 9 fifteen\tkilled\n"),
    "a reversed segment": brat("brat-span", "fatal", 2, BOUND + "T2\tA 9 15;30 20\tkilled\n"),
    "an id twice": brat("brat-id-twice", "fatal", 2, BOUND + "T1\tA 9 15\tkilled\n"),
    "brat in tokens": brat("brat-unit", "fatal", None, BOUND, args="in --unit token"),
    "other text": brat("text-differs", "fault", 2, "\nT1\tA 9 15\tkissed\n"),
    "no text": Case("text-missing", "note", "in/d.ann", None, {"in/d.ann": BOUND}),
    "an attribute twice": brat("attribute-twice", "fault", 3, BOUND + "A1\tTense T1 past\nA2\tTense T1 future\n"),
    "the trigger of two": brat("brat-trigger-shared", "note", 6, f"{PAIR}E3\tC:T1\nR1\tAfter Arg1:T1 Arg2:E2\n"),
    "a line of no kind": brat("brat-line-unknown", "note", 2, BOUND + "X1\tsomething else\n"),
    "an equivalence of no kind": brat("brat-line-unknown", "note", 2, BOUND + "*\tOther T1 T1\n"),
    "a text over a line break": brat("brat-line-break", "note", 2, "T1\tA 9 18\tkilled\non\n"),
    "perhaps coreference": brat("brat-identity", "note", 5, f"{PAIR}R1\tSameAs Arg1:E1 Arg2:E2\n"),
    "coreference by another name": brat("brat-coreference", "note", 5, f"{PAIR}R1\tCoref_Of Arg1:E1 Arg2:E2\n"),
    "normalisations": brat("brat-normalisations", "note", 2, BOUND + "N1\tReference T1 Wiki:Q1\tAnna\n"),
    "an event without a trigger": brat("argument-unknown", "fault", 2, BOUND + "E1\tA:T9\n"),
    "a role that names nothing": brat("argument-unknown", "fault", 2, "T1\tA 0 4\tAnna\nE1\tA:T1 Victim:T9\n"),
    "a relation that names nothing": brat("argument-unknown", "fault", 3, BOUND + "\nR1\tAfter Arg1:T1 Arg2:T9\n"),
    "an attribute of nothing": brat("argument-unknown", "fault", 2, BOUND + "A1\tTense T9 past\n"),
    "an equivalence of one": brat("cluster-of-one", "note", 2, BOUND + "*\tEquiv T1\n"),
    "overlapping segments": brat("segments-merged", "note", 2, BOUND + "T2\tA 9 13;11 15\tkill lled\n"),
    "annotations in another encoding": Case(
        "encoding", "fatal", "in/d.ann", 2, {"in/d.ann": b"T1\tA 0 4\tAnna\nT2\tA 5 8\tf\xefre\n", "in/d.txt": TEXT}
    ),
    "a text in another encoding": Case(
        "encoding", "fatal", "in/d.txt", 2, {"in/d.ann": BOUND, "in/d.txt": b"Anna\ncaf\xe9\n"}
    ),
    # brat: what checks find
    "brat beyond the text": brat("span-beyond-text", "fault", 2, BOUND + "T2\tA 55 99\tCy.\n"),
    "brat, a cycle": brat("link-cycle", "fatal", 6, PAIR + "R1\tAfter Arg1:E1 Arg2:E2\nR2\tAfter Arg1:E2 Arg2:E1\n"),
    "brat, a link inside a cluster": brat(
        "link-inside-cluster", "note", 6, PAIR + "*\tEquiv E1 E2\nR1\tAfter Arg1:E1 Arg2:E2\n"
    ),
    "brat, a mention said twice": brat("span-twice", "note", 6, PAIR + "T3\tB 31 37\tattack\nE3\tB:T3\n"),
    "brat, a span twice in a cluster": brat("span-twice-in-cluster", "fault", 5, PAIR + "E3\tA:T2\n*\tEquiv E2 E3\n"),
    "brat, an unknown realis": brat("realis-unknown", "note", 4, PAIR + "A1\tRealis E2 Maybe\n"),
    "text bounds, an unknown realis": brat("realis-unknown", "note", 2, "\nT1\tA 0 4\tAnna\nA1\tRealis T1 Maybe\n"),
    "brat, another type": brat(
        "type-unknown", "fault", 6, PAIR + "T3\tC 0 4\tAnna\nE3\tC:T3\n", args="in --types types.txt"
    ),
    "text bounds, another type": brat(
        "type-unknown", "fault", 2, BOUND + "T2\tC 9 15\tkilled\n", args="in --types types.txt"
    ),
    # Rich ERE: what the reader finds
    "XML that breaks off": Case(
        "xml-broken", "fatal", "in/d.ere.xml", 2, {"in/d.ere.xml": '<deft_ere doc_id="D">\n<a'}
    ),
    "elements that cross": ere("xml-broken", "fatal", 3, "<fillers>\n</filers>\n"),
    "a declared entity": Case(
        "xml-entity",
        "fatal",
        "in/d.ere.xml",
        2,
        {"in/d.ere.xml": '<!DOCTYPE deft_ere [\n<!ENTITY a "b">]>\n<deft_ere doc_id="D"/>'},
    ),
    "another root": Case(
        "ere-shape", "fatal", "in/d.ere.xml", 2, {"in/d.ere.xml": '<!-- <deft_ere> -->\n<deft_era doc_id="D"/>'}
    ),
    "no trigger": ere("ere-shape", "fatal", 4, hopper(event("e1"), '<event_mention id="e2" type="life"/>\n')),
    "no role": ere("ere-shape", "fatal", 4, hopper(event("e1"), event("e2", 9, "", '<em_arg filler_id="f"/>'))),
    "an offset that is no number": ere("ere-span", "fatal", 4, hopper(event("e1"), event("e2", "nine"))),
    "a negative offset": ere("ere-span", "fatal", 3, hopper(event("e1", -1))),
    "ERE in tokens": ere("ere-unit", "fatal", None, hopper(event("e1")), args="in --unit token"),
    "a section that is not read": ere("ere-unread", "note", 5, f"{hopper(event('e1'))}<relations><r/></relations>"),
    "an argument that is not real": ere(
        "ere-unread",
        "note",
        5,
        '<fillers><filler id="f" offset="9" length="1"/></fillers>\n'
        + hopper(event("e", 0, "", '\n<em_arg filler_id="f" role="time" realis="false"/>')),
    ),
    "an argument that names nothing": ere(
        "argument-unknown", "fault", 4, hopper(event("e1", 0, "", '\n<em_arg filler_id="f" role="time"/>'))
    ),
    "an event mention twice": ere("mention-twice", "fatal", 4, hopper(event("e1"), event("e1", 9))),
    "a hopper twice": ere("mention-twice", "fatal", 5, hopper(event("e1")) + hopper(event("e2", 9))),
    "ERE, an unknown realis": ere(
        "realis-unknown", "note", 4, hopper(event("e1"), event("e2", 9, ' realis="perhaps"'))
    ),
    # Rich ERE: what checks find
    "ERE, a mention said twice": ere(
        "span-twice",
        "note",
        6,
        hopper(event("e1")) + hopper(event("e2")).replace('"h"', '"h2"'),
    ),
    "ERE, a span twice in a cluster": ere("span-twice-in-cluster", "fault", 4, hopper(event("e1"), event("e2"))),
    "ERE, another type": ere("type-unknown", "fault", 3, hopper(event("e1")), args="in --types types.txt"),
    # files and corpora
    "no such file": Case("file-missing", "fatal", "nowhere.tbf", None, {}, "nowhere.tbf"),
    "no such list": Case("file-missing", "fatal", "nowhere", None, {}, "@nowhere"),
    "a file in a list": Case("file-missing", "fatal", "list", 2, {"list": "\nnowhere.tbf\n"}, "@list"),
    "a list with a form feed": Case("file-missing", "fatal", "list", 1, {"list": "no\fwhere.tbf"}, "@list"),
    "a socket": Case("file-unreadable", "fatal", "socket", None, {}, "socket"),
    "a folder without files": Case("folder-empty", "fatal", "in", None, {"in/.hidden": ""}),
    "a list of nothing": Case("list-empty", "fatal", "list", None, {"list": "\n \n"}, "@list"),
    "a list of lists": Case("list-empty", "fatal", "list", 1, {"list": "@list\n"}, "@list"),
    "UTF-16": Case("encoding", "fatal", "in/a.tbf", 1, {"in/a.tbf": BLOCK.encode("utf-16")}, "in/a.tbf"),
    "a damaged archive": Case(
        "gzip-damaged", "fatal", "in/a.gz", None, {"in/a.gz": gzip.compress(BLOCK.encode())[:-9]}
    ),
    "no format": Case("format-unknown", "fatal", "in/a", None, {"in/a": "hello\n"}, "in/a"),
    "an empty file": Case("format-unknown", "fatal", "in/a", None, {"in/a": ""}, "in/a"),
    "two formats": Case(
        "format-mixed", "fatal", "in", None, {"in/a.tbf": BLOCK.format("a", "0,4"), "in/b.jsonl": '{"id": "b"}\n'}
    ),
    "a file beside": Case(
        "file-skipped", "note", "in/README", None, {"in/a.tbf": BLOCK.format("a", "0,4"), "in/README": "hello\n"}
    ),
    "a text without annotations": Case(
        "file-skipped", "note", "in/e.txt", None, {"in/d.ann": BOUND, "in/d.txt": TEXT, "in/e.txt": TEXT}
    ),
    "a document in two folders": Case(
        "document-twice",
        "fatal",
        "in/b/d.ann",
        1,
        {f"in/{folder}/d.{end}": text for folder in "ab" for end, text in (("ann", BOUND), ("txt", TEXT))},
    ),
    "no document": Case("no-documents", "fatal", "in/a.tbf", None, {"in/a.tbf": "# nothing\n"}, "in/a.tbf"),
    # tokens and units
    "no table": Case(
        "token-table-missing",
        "note",
        "t/d.tab",
        None,
        {"d.tbf": BLOCK.format("d", "t0"), "t/x": ""},
        "d.tbf --tokens t",
    ),
    "a token in no table": Case(
        "token-unknown",
        "note",
        "d.tbf",
        2,
        {"d.tbf": BLOCK.format("d", "t0,t9"), "t/d.tab": "t0\n"},
        "d.tbf --tokens t",
    ),
    "a table in another encoding": Case(
        "encoding",
        "fatal",
        "t/d.tab",
        2,
        {"d.tbf": BLOCK.format("d", "t0"), "t/d.tab": b"t0\nt\xe9\n"},
        "d.tbf --tokens t",
    ),
    "APF of ACE 2004": unsupported("d.apf.xml", '<!DOCTYPE source_file SYSTEM "apf.v4.0.1.dtd">\n<source_file/>'),
    "HiEve": unsupported("d.xml", '<?xml version="1.0"?>\n<ArticleInfo><Text>x</Text></ArticleInfo>'),
    "Cattan et al.": unsupported("d.json", '[{"doc_id": "d", "tokens_ids": [3], "cluster_id": 1, "topic": "1"}]'),
    "empty nodes out of order": Case(
        "tokens-order",
        "fatal",
        "d.jsonl",
        1,
        {"d.jsonl": '{"id":"d","empty_nodes":[{"token":2,"number":1},{"token":1,"number":1}]}'},
        "d.jsonl",
    ),
    "more than may be unpacked": Case(
        "input-too-large",
        "fatal",
        "d.tbf.gz",
        None,
        {"d.tbf.gz": gzip.compress(BLOCK.encode() * 9)},
        "d.tbf.gz --max-bytes 100",
    ),
    "no heads to match by": Case(
        "heads-absent",
        "fatal",
        "d.jsonl",
        1,
        {"d.jsonl": '{"id":"d","unit":"token","mentions":[{"id":"a","span":[[0,2]]},{"id":"b","span":[[2,3]]}]}\n'},
        "d.jsonl -p conll-2012 --set match=head",
    ),
    "nothing to score": Case(
        "kind-absent",
        "fatal",
        "d.jsonl",
        None,
        {"d.jsonl": '{"id":"d","mentions":[{"id":"a","span":[[0,2]],"kind":"entity"}]}\n'},
        "d.jsonl",
    ),
    "JSONL in another unit": Case(
        "jsonl-unit", "fatal", "d.jsonl", 2, {"d.jsonl": '\n{"id":"d"}\n'}, "d.jsonl --unit token"
    ),
}

NEVER_FOUND = {
    "row-twice": "only a score has rows",
    "tbf-unwritable": "only writing TBF refuses an id with a tab in it",
    "brat-unwritable": "only writing brat refuses an id that cannot be the name of a file",
    "vocabulary-empty": "an option that cannot be used ends the command: --types names a file without types",
    "parameter-file": "an option that cannot be used ends the command: --types names no file",
    "types-empty": "only a score may have a filter of no types",
    "validated-absent": "only a score may ask for validated sentences",
    "validated-unknown": "validate takes no --validated",
    "validated-nearest": "only a score may ask for validated sentences",
    "element-twice": "only a score document by document minds an element in two of them",
    "element-differs": "only a score across documents minds what they say of one element",
    "topics-absent": "validate takes no topics",
    "not-a-document": "only what a program builds in memory can be something else",
    "heads-first-word": "only a score that matches by heads minds",
    "singletons-removed": "only a score may leave out singletons",
    "spool-full": "only a full disk has it; tests/test_outputs.py fills one",
    "file-changed": "only a file that changes meanwhile has it; tests/test_outputs.py changes one",
    "invisible-no-words": "only a score may leave out invisible words",
    "given-differs": "only a score of a diagnostic task knows what was given",
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_one_damage_one_finding(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, content in case.files.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_bytes(content.encode() if isinstance(content, str) else content)
    if case.args == "socket":
        with socket.socket(socket.AF_UNIX) as unreadable:
            unreadable.bind("socket")
    done = run("validate", *(case.args or "in").split(), "-f", "json")
    findings = [finding for file in json.loads(done.out)["files"] for finding in file["findings"]]
    reported = [(finding["code"], finding["severity"], finding["file"], finding["line"]) for finding in findings]
    assert reported == [(case.code, case.severity, case.file, case.line)]
    assert findings[0]["hint"]
    assert done.code == (case.severity != "note")


def rules() -> dict[str, set[Rule]]:
    """Every rule of whatever reads and checks files, by code."""
    modules = [validation, plan]
    for package in (corpus, formats, checks, filters):
        modules += [
            importlib.import_module(f"{package.__name__}.{found.name}")
            for found in pkgutil.iter_modules(package.__path__)
        ]
    known: dict[str, set[Rule]] = {}
    for module in modules:
        for rule in vars(module).values():
            if isinstance(rule, Rule):
                known.setdefault(rule.code, set()).add(rule)
    return known


def test_every_code_has_a_case() -> None:
    damaged = {damage.code: damage.severity for damage in TBF.values()}
    damaged |= {code: severity for _, code, severity in JSONL.values()}
    damaged |= {case.code: case.severity for case in CASES.values()}
    known = rules()
    tests = [path for path in Path(__file__).parent.glob("test_*.py") if path.name != Path(__file__).name]
    said = {word for path in tests for word in re.findall(r"[\w-]+", path.read_text(encoding="utf-8"))}
    elsewhere = said & known.keys() - damaged.keys()
    assert damaged.keys() | NEVER_FOUND.keys() | elsewhere == known.keys()
    assert not damaged.keys() & NEVER_FOUND.keys()
    for code, severity in damaged.items():
        assert {rule.severity for rule in known[code]} == {severity}, code


def test_what_formats_share_has_a_case_in_each() -> None:
    shared = {"argument-unknown", "realis-unknown", "span-twice", "span-twice-in-cluster", "type-unknown"}
    for end in (".ann", ".xml"):
        assert shared <= {case.code for case in CASES.values() if case.file.endswith(end)}
