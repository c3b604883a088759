"""Corpora in files: what is parsed, how often, and what is reported when."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

import karat
from karat.corpus.index import DocumentReader, Entry
from karat.formats import FORMATS
from karat.model import Document, Mention
from karat.plugin import Context, Piece
from karat.problems import Item, Report
from tests.corpora import as_jsonl, mention
from tests.running import run
from tests.test_codes import EVENT, PAIR
from tests.test_ecbplus import FILE as ECB

ERE = '<deft_ere doc_id="{}">\n<hoppers><hopper id="h">\n{}</hopper></hoppers>\n</deft_ere>\n'
JSON = '{"id": "d0", "mentions": [{"id": "m", "span": [[0, 4]]}], "links": [{"kind": "after", "from": "m", "to": "x"}]}'

PARSED: dict[str, dict[str, str]] = {
    "jsonl": {"a.jsonl": f"{JSON}\n\n{JSON.replace('d0', 'd1')}\n", "b.jsonl": JSON.replace("d0", "d2")},
    "brat": {f"d{n}.ann": f"{PAIR}R1\tAfter Arg1:E1 Arg2:E9\n" for n in range(3)},
    "ere": {
        f"d{n}.ere.xml": ERE.format(f"d{n}", EVENT.format("m", 0, "", '<em_arg entity_mention_id="x" role="r"/>'))
        for n in range(3)
    },
    "ecbplus": {
        f"1_{n}ecb.xml": ECB.replace('<token_anchor t_id="15"/>', '<token_anchor t_id="99"/>') for n in range(3)
    },
}
"""Three documents in each of these formats, with something to report in every one."""
WHOLE = ["ere"]
"""Formats whose files are read whole."""


def put(folder: Path, files: dict[str, str]) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[str]]:
    """A function that makes a format list the documents that it parses."""

    def listing(name: str) -> list[str]:
        format_, ids = FORMATS.get(name), list[str]()

        def read(piece: Piece, context: Context) -> Iterator[Document]:
            for document in format_.read(piece, context):
                ids.append(document.id)
                yield document

        monkeypatch.setitem(FORMATS._loaded, name, replace(format_, read=read))
        return ids

    return listing


@pytest.mark.parametrize("name", WHOLE)
def test_a_file_that_is_read_whole_is_read_once(name: str, tmp_path: Path, parsed: Callable[[str], list[str]]) -> None:
    ids = parsed(name)
    gold, system = (karat.read(put(tmp_path / side, PARSED[name])) for side in ("gold", "system"))
    karat.score(gold, system)
    assert gold.format == name
    assert sorted(ids) == sorted([*gold.ids()] * 2)
    assert len(ids) == 6


def test_each_document_of_a_larger_corpus_is_read_once(tmp_path: Path, parsed: Callable[[str], list[str]]) -> None:
    ids = parsed("jsonl")
    (tmp_path / "gold.jsonl").write_text("".join(JSON.replace("d0", f"d{n:03}") + "\n" for n in range(120)))
    karat.score(tmp_path / "gold.jsonl", tmp_path / "gold.jsonl", protocol="tac-2017")
    assert sorted(ids) == sorted([f"d{n:03}" for n in range(120)] * 2)


@pytest.mark.parametrize("name", PARSED)
def test_each_finding_is_in_the_report_of_a_score_and_of_a_validation_once(name: str, tmp_path: Path) -> None:
    path = put(tmp_path / "in", PARSED[name])
    gold = put(tmp_path / "gold", PARSED[name])
    code = "ecb-anchor" if name == "ecbplus" else "argument-unknown"
    result = karat.score(gold, path)
    assert sorted(finding.file or "" for finding in result.warnings if finding.code == code) == sorted(
        str(folder / file)
        for folder in (gold, path)
        for file, text in PARSED[name].items()
        for _ in range(max(1, text.count('"id": "d')))
    )
    assert json.loads(run("validate", str(path), "-f", "json").out)["summary"]["codes"][code] == 3


def test_topics_of_other_files_are_not_parsed(tmp_path: Path, parsed: Callable[[str], list[str]]) -> None:
    """The name of an ECB+ file says its topic."""
    ids = parsed("ecbplus")
    files = dict.fromkeys(("1_1ecb.xml", "2_1ecb.xml", "3_1ecb.xml"), ECB)
    corpus = karat.read(put(tmp_path / "in", files))
    done = run("describe", str(tmp_path / "in"), "--topics", "2", "-f", "json")
    assert json.loads(done.out)["documents"] == 1
    assert (ids, corpus.format) == (["2_1ecb"], "ecbplus")


def test_kinds_are_those_of_mentions_and_of_clusters_without_mentions(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    clusters = ({"id": "c"}, {"id": "r", "kind": "relation"})
    path.write_text(
        json.dumps(
            {
                "id": "d",
                "mentions": [{"id": "m", "span": [[0, 1]], "kind": "entity", "cluster": "c"}],
                "clusters": clusters,
            }
        )
    )
    assert karat.read(path).facts().kinds == {"entity", "relation"}


def test_a_broken_line_does_not_hide_what_is_wrong_with_the_others(tmp_path: Path) -> None:
    fine = as_jsonl(Document("d", mentions=(mention("m", (0, 4)), Mention("n", ((0, 4),)))))
    path = tmp_path / "d.jsonl"
    path.write_bytes(fine + b'{"id": \n' + fine.replace(b'"d"', b'"e"') + fine)
    done = json.loads(run("validate", str(path), "-f", "json").out)
    found = [(finding["code"], finding["line"]) for finding in done["files"][0]["findings"]]
    assert found == [
        ("span-twice", 1),
        ("jsonl-shape", 2),
        ("span-twice", 3),
        ("document-twice", 4),
        ("span-twice", 4),
    ]
    assert (done["summary"]["documents"], done["summary"]["mentions"]) == (4, 6)


def test_a_missing_file_of_a_list_is_refused_with_the_line_of_the_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in").mkdir()
    Path("in/d.jsonl").write_bytes(as_jsonl(Document("d")))
    Path("in/list").write_text("in/d.jsonl\n\nin/e.jsonl\n")
    done = run("score", "@in/list", "in/d.jsonl")
    assert (done.code, done.err.splitlines()[0]) == (
        1,
        "error: in/list, line 3: there is no such file or folder: 'in/e.jsonl' [file-missing]",
    )
    assert "Did you mean in/d.jsonl?" in done.err
    Path("in/list").write_text("d.jsonl\n")
    assert "Paths in a list are relative to the working folder" in run("describe", "@in/list").err


@pytest.mark.parametrize("kind", ["zip", "tar", "bztar", "xztar", "gztar"])
def test_an_archive_is_called_what_it_is(tmp_path: Path, kind: str) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "d.jsonl").write_bytes(as_jsonl(Document("d")))
    archive = shutil.make_archive(str(tmp_path / "all"), kind, tmp_path / "in")
    name = {"bztar": "a bzip2", "xztar": "an xz", "zip": "a zip"}.get(kind, "a tar")
    done = run("describe", archive)
    assert (done.code, f"this is {name} archive [file-packed]" in done.err) == (1, True)


def test_a_mixed_folder_is_refused_with_a_file_of_each_format(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(as_jsonl(Document("d")))
    (tmp_path / "b.tbf").write_text("#BeginOfDocument d\n#EndOfDocument\n")
    done = run("describe", str(tmp_path))
    assert "files of several formats: jsonl (a.jsonl), tbf (b.tbf) [format-mixed]" in done.err


LOCATED = {
    "d.ann": "".join(f"T{n}\tX {2 * n} {2 * n + 1}\ta\n" for n in range(9)) + "R1\tafter Arg1:T0 Arg2:T3\n",
    "d.tbf": "#BeginOfDocument d\n"
    + "".join(f"s\td\tT{n}\t{2 * n},{2 * n + 1}\ta\tX\tActual\n" for n in range(9))
    + "@After\tR1\tT0,T3\n#EndOfDocument\n",
}


@pytest.mark.parametrize("name", LOCATED)
def test_a_document_is_read_once_for_the_lines_of_its_items(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / name).write_text(LOCATED[name])
    corpus, reads = karat.read(tmp_path / name), list[str]()
    documents = DocumentReader.documents

    def counted(reader: DocumentReader, number: int, entry: Entry, report: Report) -> Iterator[Document]:
        reads.append(entry.id)
        return documents(reader, number, entry, report)

    monkeypatch.setattr(DocumentReader, "documents", counted)
    items: list[Item] = [*(f"T{n}" for n in range(9)), ("after", "T0", "T3"), ("after", "T3", "T0"), "T99"]
    first = 1 if name == "d.ann" else 2
    lines = [corpus.where("d", item)[1] for item in items]
    corpus.close()
    assert lines == [*range(first, first + 10), 1, 1]
    assert len(reads) == 1
