"""A corpus through every format and every command, and input that is odd but legal."""

import gzip
import json
import shutil
from collections.abc import Callable
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import pytest

from tests.running import Run, run

TARGETS = {"jsonl": "out.jsonl", "packed": "out.jsonl.gz", "tbf": "out.tbf", "brat": "out"}
TEXT = "Anna was killed on Monday."
BOUND = "T1\tA 9 15\tkilled\n"
EVENT = (
    '<event_mention id="{0}" type="life" realis="{1}"><trigger offset="{2}" length="4">{3}</trigger></event_mention>'
)


def done(*args: str | Path) -> Run:
    result = run(*map(str, args))
    assert result.code == 0, result.err
    return result


def reported(*args: str | Path) -> Any:
    """The JSON that a command prints."""
    return json.loads(done(*args, "-f", "json").out)


def findings(*args: str | Path) -> list[tuple[str, int | None]]:
    """Codes and lines of what validating finds."""
    result = json.loads(run("validate", *map(str, args), "-f", "json").out)
    return [(finding["code"], finding["line"]) for file in result["files"] for finding in file["findings"]]


def put(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def documents(path: Path) -> list[dict[str, Any]]:
    """A corpus as JSONL, read."""
    return [json.loads(line) for line in done("convert", path, "-", "--to", "jsonl").out.split("\n") if line]


def put_documents(path: Path, *lines: dict[str, Any]) -> Path:
    return put(path, "".join(f"{json.dumps(line)}\n" for line in lines))


def mention(id_: str, begin: int = 0, **fields: object) -> dict[str, Any]:
    return {"id": id_, "span": [[begin, begin + 4]], "attributes": {"type": "A", "realis": "Actual"}, **fields}


def everything_under(folder: Path) -> dict[Path, bytes | None]:
    return {path: path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))}


# The bundled corpus, in every format.


@pytest.fixture(scope="module")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The bundled corpus: as it is, by way of brat, by way of TBF; and two documents in Rich ERE."""
    folder = tmp_path_factory.mktemp("corpora")
    made = {"jsonl": folder / "gold.jsonl", "brat": folder / "brat", "tbf": folder / "gold.tbf", "ere": folder / "ere"}
    with as_file(files("karat") / "demo") as demo:
        shutil.copy(demo / "gold.jsonl", made["jsonl"])
    done("convert", made["jsonl"], made["brat"], "--to", "brat", "--lossy")
    done("convert", made["brat"], made["tbf"], "--lossy")
    for name in ("D1", "D2"):
        events = [EVENT.format("e1", "actual", 0, "died"), EVENT.format("e2", "other", 9, "dead")]
        hoppers = f'<hoppers><hopper id="h">{"".join(events)}</hopper></hoppers>'
        put(made["ere"] / f"{name}.rich_ere.xml", f'<deft_ere doc_id="{name}">{hoppers}</deft_ere>')
    return made


@pytest.mark.parametrize("to", TARGETS)
@pytest.mark.parametrize("source", ["jsonl", "brat", "tbf", "ere"])
def test_from_every_format_to_every_other(source: str, to: str, corpora: dict[str, Path], tmp_path: Path) -> None:
    """Anything that is not lost stays the same, losses are refused first, and no score changes either way."""
    given, out = corpora[source], tmp_path / TARGETS[to]
    command = ["convert", str(given), str(out), *(["--to", "brat"] if to == "brat" else [])]
    first = run(*command)
    if first.code:
        assert "would be lost: " in first.err
        assert "[convert-lossy]" in first.err
        assert list(tmp_path.iterdir()) == []
        assert "lost: " in done(*command, "--lossy").err
    else:
        assert "lost" not in first.err
    before, after = reported("describe", given), reported("describe", out)
    assert before["fingerprint"] == after["fingerprint"] or first.code
    assert before["documents"] == after["documents"]
    assert set(findings(out)) <= {("text-missing", None)}
    result = reported("score", given, out, "-p", "tac-2017", "-m", "nugget")
    scores = result["scores"].values()
    assert {leaf[average]["f1"] for leaf in scores for average in ("micro", "macro")} == {1.0}
    assert result["gold"]["fingerprint"] == before["fingerprint"]
    back = reported("score", out, given, "-p", "tac-2017", "-m", "nugget")
    assert {leaf["micro"]["f1"] for leaf in back["scores"].values()} == {1.0}


def test_a_way_through_all_of_them(corpora: dict[str, Path], tmp_path: Path) -> None:
    """jsonl -> brat -> jsonl -> tbf -> jsonl: once the losses are taken, nothing more is lost."""
    stops = [tmp_path / name for name in ("a", "b.jsonl", "c.tbf", "d.jsonl")]
    done("convert", corpora["jsonl"], stops[0], "--to", "brat", "--lossy")
    done("convert", stops[0], stops[1])
    said = done("convert", stops[1], stops[2], "--lossy").err
    assert [line for line in said.splitlines() if line.startswith("lost")] == ["lost: the document's text (12)"]
    done("convert", stops[2], stops[3])
    assert len({reported("describe", stop)["fingerprint"] for stop in stops}) == 1
    for stop in stops:
        scores = reported("score", corpora["jsonl"], stop, "-p", "tac-2017")["scores"]
        assert {leaf["micro"]["f1"] for leaf in scores.values()} == {1.0}
        assert findings(stop) == []


@pytest.mark.parametrize(
    ("source", "to"),
    [(source, to) for source in ("jsonl", "tbf", "brat", "ere") for to in ("jsonl", "tbf", "brat")],
)
def test_a_system_in_every_format(source: str, to: str, corpora: dict[str, Path], tmp_path: Path) -> None:
    """Without errors it is gold; with some it is one that can be read."""
    for rates in ((), ("--miss", "0.3", "--spurious", "0.2", "--attribute", "type=0.2")):
        if source == "ere" and rates:
            continue  # its events have one type only
        out = tmp_path / f"{TARGETS[to]}-{len(rates)}"
        done("simulate", corpora[source], *rates, "--to", to, "-o", out)
        scores = reported("score", corpora[source], out, "-p", "tac-2017")["scores"]
        assert (scores["nugget.type"]["micro"]["f1"] == 1) == (rates == ())
        assert not {code for code, _ in findings(out)} - {"text-missing", "span-twice", "span-twice-in-cluster"}


@pytest.mark.parametrize("args", [(), ("--to", "brat")], ids=" ".join)
def test_a_system_in_brat_has_to_be_a_folder(
    args: tuple[str, ...], corpora: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `karat convert` says it."""
    monkeypatch.chdir(tmp_path)
    result = run("simulate", str(corpora["brat"]), *args)
    assert result.code == 2
    assert "folder" in result.err
    assert list(tmp_path.iterdir()) == []


# brat that is odd but legal.


def test_windows_line_ends_and_a_byte_order_mark(tmp_path: Path) -> None:
    """A mark counts as a character of the text and a line end as one; both survive the way to JSONL and back."""
    text = "\ufeffA fire.\r\nTwo died.\r\n"
    ann = "\ufeffT1\tA 3 7\tfire\r\nT2\tB 13 17\tdied\r\nA1\tSure T1\r\nR1\tAfter Arg1:T2 Arg2:T1\r\n"
    put(tmp_path / "in/d.txt", text)
    put(tmp_path / "in/d.ann", ann)
    assert findings(tmp_path / "in") == []
    (document,) = documents(tmp_path / "in")
    assert document["text"] == text.replace("\r", "")
    assert [document["text"][slice(*m["span"][0])] for m in document["mentions"]] == ["fire", "died"]
    assert document["mentions"][0]["attributes"] == {"type": "A", "sure": True}
    done("convert", put_documents(tmp_path / "d.jsonl", document), tmp_path / "out", "--to", "brat")
    assert (tmp_path / "out/d.txt").read_bytes() == text.replace("\r", "").encode()
    assert (tmp_path / "out/d.ann").read_text() == ann.removeprefix("\ufeff").replace("\r", "")


def test_offsets_after_emoji_combining_marks_and_odd_line_ends(tmp_path: Path) -> None:
    """Code points: an emoji is one, a letter with a combining accent two; U+2028 and U+0085 end no line."""
    text = "\U0001f600\U0001f468\u200d\U0001f469 e\u0301 fell\u2028now\x85and\x0bthen"
    begin = text.index("fell")
    assert begin == 8
    put(tmp_path / "in/d.txt", text)
    put(tmp_path / "in/d.ann", f"T1\tA {begin} {begin + 4}\tfell\nT2\tB {begin} {len(text)}\t{text[begin:]}\n")
    assert findings(tmp_path / "in") == []
    for name, more in (("a.jsonl", ()), ("b.tbf", ("--lossy",)), ("c", ("--to", "brat"))):
        done("convert", tmp_path / "in", tmp_path / name, *more)
        spans = [m["span"] for m in documents(tmp_path / name)[0]["mentions"]]
        assert spans == [[[begin, begin + 4]], [[begin, len(text)]]]
        assert {code for code, _ in findings(tmp_path / name)} == set()
    assert (tmp_path / "c/d.txt").read_bytes() == text.encode()


def test_annotations_without_a_text(tmp_path: Path) -> None:
    put(tmp_path / "in/a.ann", BOUND)
    put(tmp_path / "in/a.txt", TEXT)
    put(tmp_path / "in/b.ann", BOUND)
    assert findings(tmp_path / "in") == [("text-missing", None)]
    assert [document.get("text") for document in documents(tmp_path / "in")] == [TEXT, None]
    assert reported("describe", tmp_path / "in")["documents"] == 2
    assert reported("score", tmp_path / "in", tmp_path / "in")["scores"]["nugget.type"]["micro"]["f1"] == 1


def test_folders_in_folders(tmp_path: Path) -> None:
    """Names are what tells documents apart, so that equal ones in two folders are refused, by every command."""
    for folder, name in (("x", "a"), ("x/y", "b"), ("z", "c")):
        put(tmp_path / "in" / folder / f"{name}.ann", BOUND)
        put(tmp_path / "in" / folder / f"{name}.txt", TEXT)
    assert [document["id"] for document in documents(tmp_path / "in")] == ["a", "b", "c"]
    assert findings(tmp_path / "in") == []
    put(tmp_path / "in/z/a.ann", BOUND)
    put(tmp_path / "in/z/a.txt", TEXT)
    assert findings(tmp_path / "in") == [("document-twice", 1)]
    for args in (["describe"], ["score", str(tmp_path / "in/x")], ["convert"]):
        more = [str(tmp_path / "out.jsonl")] if args == ["convert"] else []
        result = run(*args, str(tmp_path / "in"), *more)
        assert result.code == 1
        assert "z/a.ann, line 1: document 'a' was already given in" in result.err
    assert not (tmp_path / "out.jsonl").exists()


def test_names_in_capitals(tmp_path: Path) -> None:
    """Whatever stands beside the annotations is read as their text, or said to be skipped."""
    put(tmp_path / "in/D.ANN", BOUND)
    put(tmp_path / "in/D.TXT", TEXT)
    if (tmp_path / "in/d.txt").exists():
        pytest.skip("letters of either size are the same to this file system")
    assert findings(tmp_path / "in") == [] or ("file-skipped", None) in findings(tmp_path / "in")


def test_compressed_annotations_beside_their_text(tmp_path: Path) -> None:
    put(tmp_path / "in/d.ann.gz", gzip.compress(BOUND.encode()))
    put(tmp_path / "in/d.txt", TEXT)
    assert findings(tmp_path / "in") == []
    assert [(document["id"], document["text"]) for document in documents(tmp_path / "in")] == [("d", TEXT)]


@pytest.mark.parametrize("line", ["T1\tA 9 13;0 4\tkill Anna\n", "T1\tA 0 4;2 8\tAnna na was\n"])
def test_pieces_in_any_order_have_the_text_that_they_say(line: str, tmp_path: Path) -> None:
    put(tmp_path / "in/d.ann", line)
    put(tmp_path / "in/d.txt", TEXT)
    assert "text-differs" not in {code for code, _ in findings(tmp_path / "in")}


def test_a_score_counts_a_fault_once(tmp_path: Path) -> None:
    put(tmp_path / "gold/d.ann", BOUND)
    put(tmp_path / "gold/d.txt", TEXT)
    put(tmp_path / "system/d.ann", BOUND.replace("killed", "kissed"))
    put(tmp_path / "system/d.txt", TEXT)
    warnings = reported("score", tmp_path / "gold", tmp_path / "system", "-m", "nugget")["warnings"]
    assert [warning["code"] for warning in warnings] == ["text-differs"]


def test_all_files_of_a_folder_in_a_list(tmp_path: Path) -> None:
    put(tmp_path / "in/d.ann", BOUND)
    put(tmp_path / "in/d.txt", TEXT)
    listed = put(tmp_path / "list", "".join(f"{path}\n" for path in sorted((tmp_path / "in").iterdir())))
    assert findings(f"@{listed}") == []


# Rich ERE that is odd but legal.


def rich_ere(inner: str, head: str = "") -> str:
    return f'{head}<deft_ere doc_id="D">\n<hoppers><hopper id="h">\n{inner}</hopper></hoppers></deft_ere>\n'


def test_character_data_comments_and_references(tmp_path: Path) -> None:
    words = "<![CDATA[a<b & ]]>R&amp;D<!-- <trigger/> --> caf&#233;<?note this?>&lt;"
    inner = f"<!-- <event_mention/> -->{EVENT.format('e', 'actual', 0, words)}".replace('"life"', '"a&amp;b"')
    path = put(tmp_path / "d.ere.xml", rich_ere(inner, '<?xml version="1.0"?>\n<!-- one & two -->\n'))
    assert findings(path) == []
    (read,) = documents(path)[0]["mentions"]
    assert read["text"] == "a<b & R&D caf\xe9<"
    assert read["attributes"] == {"type": "A&b", "realis": "Actual"}
    latin = rich_ere(EVENT.format("e", "actual", 0, "caf\xe9"), '<?xml version="1.0" encoding="ISO-8859-1"?>\n')
    path = put(tmp_path / "d.ere.xml", latin.encode("latin-1"))
    assert documents(path)[0]["mentions"][0]["text"] == "caf\xe9"
    path = put(tmp_path / "d.ere.xml", "\ufeff" + latin.replace("ISO-8859-1", "UTF-8").replace("\n", "\r\n"))
    assert documents(path)[0]["mentions"][0]["text"] == "caf\xe9"


@pytest.mark.parametrize("words", ["<![CDATA[<!ENTITY]]>", "<!-- we have no <!ENTITY here -->"])
def test_words_about_entities_declare_none(words: str, tmp_path: Path) -> None:
    assert findings(put(tmp_path / "d.ere.xml", rich_ere(EVENT.format("e", "actual", 0, words)))) == []


@pytest.mark.xfail(strict=True, reason="lxml counts lines of elements without text up to 65535")
def test_lines_of_a_long_file(tmp_path: Path) -> None:
    inner = "\n" * 70_000 + EVENT.format("e", "actual", "x", "")
    assert findings(put(tmp_path / "d.ere.xml", rich_ere(inner))) == [("ere-span", 70_003)]


# What must not happen on the way.


@pytest.mark.parametrize("producer", ["#1 team", "@team"])
def test_what_is_written_with_losses_can_still_be_read(producer: str, tmp_path: Path) -> None:
    """Refused, or written so that the mention is there."""
    source = {"id": "d", "producer": producer, "text": TEXT, "mentions": [mention("m")]}
    result = run("convert", str(put_documents(tmp_path / "d.jsonl", source)), str(tmp_path / "d.tbf"), "--lossy")
    assert result.code == 1 or len(documents(tmp_path / "d.tbf")[0].get("mentions", [])) == 1


@pytest.mark.parametrize("more", [{}, {"topic": "36"}], ids=["nothing lost", "lossy"])
def test_brat_holds_events_whatever_their_ids(more: dict[str, str], tmp_path: Path) -> None:
    """Ids like brat's own in one document, others in the next; brat can say both."""
    lines = [{"id": "a", **more, "mentions": [mention("T1")]}, {"id": "b", "mentions": [mention("m1")]}]
    source = put_documents(tmp_path / "d.jsonl", *lines)
    done("convert", source, tmp_path / "out", "--to", "brat", *(["--lossy"] if more else []))
    assert reported("score", source, tmp_path / "out")["scores"]["nugget.span"]["micro"]["f1"] == 1


def test_a_loss_does_not_hide_another(tmp_path: Path) -> None:
    """A corpus of entities alone comes back from brat as events, which is to be said or refused."""
    source = put_documents(tmp_path / "d.jsonl", {"id": "d", "topic": "36", "mentions": [mention("T1", kind="entity")]})
    result = run("convert", str(source), str(tmp_path / "out"), "--to", "brat", "--lossy")
    assert result.code == 1 or "entity" in result.err


def _brat(folder: Path) -> Path:
    put(folder / "in/d.txt", TEXT)
    put(folder / "in/d.ann", BOUND)
    return folder / "in"


def _packed_brat(folder: Path) -> Path:
    put(folder / "in/d.txt", TEXT)
    return put(folder / "in/d.ann.gz", gzip.compress(BOUND.encode()))


def _jsonl(folder: Path) -> Path:
    return put_documents(folder / "d.jsonl", {"id": "d", "mentions": [mention("m")]})


@pytest.mark.parametrize(
    ("make", "command"),
    [
        (_jsonl, "convert {in} {in}"),
        (_jsonl, "score {in} {in} -o {in}"),
        (_brat, "convert {in} {in}/d.txt --to jsonl"),
        (_jsonl, "simulate {in} -o {in}"),
        (_jsonl, "describe {in} -o {in}"),
        (_jsonl, "validate {in} -o {in}"),
        pytest.param(
            _brat,
            "score {in} {in} -o {in}/d.txt",
        ),
        pytest.param(
            _packed_brat,
            "convert {in} {up}/d.txt --to jsonl",
        ),
        pytest.param(
            _brat,
            "convert {in} {in}/again --to brat",
        ),
        pytest.param(
            _brat,
            "convert {in} {in}/all.jsonl",
        ),
    ],
)
def test_what_is_read_stays_as_it_is(make: Callable[[Path], Path], command: str, tmp_path: Path) -> None:
    """An output among the inputs is a slip of the hand; a new file in their folder makes it another corpus."""
    source = make(tmp_path)
    before = everything_under(tmp_path)
    result = run(*(word.format(**{"in": source, "up": source.parent}) for word in command.split()))
    assert result.code == 1
    assert everything_under(tmp_path) == before


def test_a_name_too_long_hides_no_other_file(tmp_path: Path) -> None:
    result = run("validate", "x" * 300, str(_jsonl(tmp_path)), "-f", "json")
    assert json.loads(result.out)["summary"]["documents"] == 1


def test_the_count_is_of_what_was_written(tmp_path: Path) -> None:
    source = {"id": "d", "mentions": [mention("m1"), mention("m2", 9, kind="entity")]}
    said = done("convert", put_documents(tmp_path / "d.jsonl", source), tmp_path / "d.tbf", "--lossy").err
    assert "d.tbf (tbf): 1 document, 1 mention" in said


def test_a_compressed_file_is_one_whatever_its_letters(tmp_path: Path) -> None:
    source = _jsonl(tmp_path)
    done("simulate", source, "-o", tmp_path / "a.jsonl.GZ")
    done("convert", source, tmp_path / "b.jsonl.GZ")
    assert gzip.decompress((tmp_path / "a.jsonl.GZ").read_bytes())
    assert gzip.decompress((tmp_path / "b.jsonl.GZ").read_bytes())
