"""Input is read whole or reported, output can be seen, and nothing ends in a traceback."""

import json
import multiprocessing
import os
import pickle
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import karat
from karat.corpus.files import FileCorpus
from karat.model import Document
from karat.problems import visible
from tests.running import command, run

TBF = "#BeginOfDocument d1\ns\td1\tE1\t0,4\tAnna\tLife_Die\tActual\n#EndOfDocument\n"
JSONL = '{"id": "d1", "mentions": [{"id": "m1", "span": [[0, 4]], "attributes": {"type": "A"}, "cluster": "c"}]}\n'
KARAT = shutil.which("karat", path=str(Path(sys.executable).parent)) or "karat"
UNIX = pytest.mark.skipif(sys.platform == "win32", reason="pipes, links and permissions of Unix")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("gold.tbf").write_text(TBF)
    Path("gold.jsonl").write_text(JSONL)
    return tmp_path


def findings(*args: str) -> list[tuple[str, str, str]]:
    files = json.loads(run("validate", *args, "-f", "json").out)["files"]
    return [(one["code"], one["severity"], one["file"]) for file in files for one in file["findings"]]


# Nothing is lost in silence


@UNIX
def test_what_is_not_read_in_a_folder_is_reported() -> None:
    Path("corpus/elsewhere").mkdir(parents=True)
    Path("other").mkdir()
    Path("other/b.tbf").write_text(TBF.replace("d1", "d2"))
    Path("corpus/a.tbf").write_text(TBF)
    Path("corpus/gone.tbf").symlink_to("nowhere.tbf")
    Path("corpus/linked").symlink_to(Path("other").absolute())
    os.mkfifo("corpus/pipe.tbf")
    assert sorted(findings("corpus")) == [
        ("file-special", "note", "corpus/pipe.tbf"),
        ("folder-link", "fault", "corpus/linked"),
        ("link-dangling", "fault", "corpus/gone.tbf"),
    ]
    done = run("score", "gold.tbf", "corpus", "-p", "tac-2017")
    assert done.code == 0
    assert all(code in done.out for code in ("[file-special]", "[folder-link]", "[link-dangling]"))


@UNIX
def test_what_is_not_read_in_a_folder_is_in_the_warnings_of_a_result() -> None:
    Path("corpus").mkdir()
    Path("corpus/a.tbf").write_text(TBF)
    Path("corpus/gone.tbf").symlink_to("nowhere.tbf")
    os.mkfifo("corpus/pipe.tbf")
    corpus = karat.read("corpus")
    assert [finding.code for finding in corpus.findings] == ["link-dangling", "file-special"]
    for system in ("corpus", corpus, pickle.loads(pickle.dumps(corpus))):
        result = karat.score(karat.read("gold.tbf"), system, protocol="tac-2017")
        listed = {(one.code, one.origin) for one in result.warnings}
        assert listed >= {("link-dangling", "system"), ("file-special", "system")}


@UNIX
def test_a_part_of_a_folder_that_cannot_be_read_is_fatal() -> None:
    Path("corpus/closed").mkdir(parents=True)
    Path("corpus/a.tbf").write_text(TBF)
    Path("corpus/closed/b.tbf").write_text(TBF.replace("d1", "d2"))
    Path("corpus/closed").chmod(0)
    # The superuser reads everything, so somebody else looks: nobody, who needs the way to the folder.
    for parent in [Path("corpus").absolute(), *Path("corpus").absolute().parents[:3]]:
        if os.geteuid() == 0 and parent != Path("/tmp"):
            parent.chmod(0o755)
    # Python's own files may be closed to nobody, so a first run imports all that the second one needs.
    code = (
        "import contextlib, os, sys\nfrom karat.cli import main\n"
        "sys.argv = ['karat', 'describe', 'corpus/a.tbf']\nwith contextlib.suppress(SystemExit):\n    main()\n"
        "sys.argv[-1] = 'corpus'\nos.geteuid() or os.setuid(65534)\nmain()"
    )
    try:
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=Path().absolute())
    finally:
        Path("corpus/closed").chmod(0o755)
    assert done.returncode == 1
    assert "corpus/closed: cannot list this folder: Permission denied [file-unreadable]" in done.stderr


REPEATED = [
    '{"id": "d1", "mentions": [{"id": "m1", "span": [[0, 4]]}], "mentions": []}',
    '{"id": "d1", "id": "d1"}',
    '{"id":"d1","text":"a: b","text":"a: b"}',
    '{"id": "d1", "mentions" : [], "mentions" : []}',
    '{"id": "d1", "mentions": [{"id": "m1", "span": [[0, 4]], "kind": "event", "kind": "event"}]}',
    '{"id": "d1", "mentions": [{"id": "m1", "span": [[0, 4]], "attributes": {"type": "A", "type": "B"}}]}',
    '{"id": "d1", "mentions": [{"id": "m1", "span": [[0, 4]], "attributes": {"type": "A", "t\\u0079pe": "B"}}]}',
    '{"id": "d1", "text": "\\u003a\\u003a", "mentions": [], "mentions": []}',
    '{"id": "d1", "about": {"a": "\\u003A"}, "about": {}}',
]


@pytest.mark.parametrize("line", REPEATED)
def test_a_json_key_given_twice_is_fatal(line: str) -> None:
    Path("twice.jsonl").write_text(JSONL.replace("d1", "d0") + line + "\n")
    for args in (["score", "gold.jsonl", "twice.jsonl"], ["describe", "twice.jsonl"]):
        done = run(*args)
        assert (done.code, "twice.jsonl, line 2: the key " in done.err) == (1, True), done.err
        assert "[json-key-twice]" in done.err


@pytest.mark.parametrize(
    "line",
    [
        '{"id": "d:1", "text": "\\":\\u003a\\":", "about": {"a:": "b", "\\"a\\":": ":"}}',
        '{"id" : "d1" , "unit" : "char" , "mentions" : [ ] }',
        '{"id": "d1", "mentions": [{"id": "a", "span": [[0, 1]], "head": null}, {"id": "b", "span": [[1, 2]]}]}',
    ],
)
def test_colons_elsewhere_are_no_keys(line: str) -> None:
    Path("fine.jsonl").write_text(line + "\n")
    assert findings("fine.jsonl") == []


# Every character can be seen

EVIL = "x\x1b]0;owned\x07\x1b[31m\x9b31m\u202egold\u2066\u200b\x7f"
HARMFUL = set(EVIL) - set("x]0;owned[31mgol")


def in_a_terminal(*args: str) -> str:
    """The terminal of a person."""
    import pty

    process, terminal = pty.fork()
    if process == 0:
        os.execv(KARAT, [KARAT, *args])
    shown = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    os.close(terminal)
    os.waitpid(process, 0)
    return shown.decode("utf-8", "replace")


@UNIX
@pytest.mark.slow
def test_nothing_from_a_file_reaches_the_terminal_unseen() -> None:
    line = {"id": EVIL, "text": EVIL, "mentions": [{"id": EVIL, "span": [[0, 2]], "attributes": {"type": EVIL}}]}
    Path("evil.jsonl").write_text(json.dumps(line, ensure_ascii=False) + "\n")
    Path("shape.jsonl").write_text('{"id": "d", "' + json.dumps(EVIL, ensure_ascii=False)[1:-1] + '": 1}\n')
    Path(f"{EVIL}.tbf").write_text("#BeginOfDocument\n")
    Path("evil.toml").write_text(
        f"title = {json.dumps(EVIL)}\n[[measures]]\nfamily = 'nugget'\nalignment = 'a'\n[alignments.a]\n"
    )
    Path("evil.apf.xml").write_text(f"<source_file>{EVIL}</x>")
    score = ["score", "evil.jsonl", "evil.jsonl", "-p", "evil.toml", "--per-document", "--by", "type"]
    for args in (
        score,
        [*score, "-f", "json"],
        ["describe", "evil.jsonl"],
        ["validate", "evil.jsonl", "shape.jsonl", f"{EVIL}.tbf", "evil.apf.xml"],
        ["validate", "evil.jsonl", f"{EVIL}.tbf", "-f", "json"],
        ["convert", "evil.jsonl", "-", "--to", "jsonl"],
        ["score", f"{EVIL}.tbf", f"{EVIL}.tbf"],
        ["score", EVIL, EVIL],
        ["score", "gold.tbf", "gold.tbf", "-p", EVIL],
        ["simulate", "evil.jsonl"],
        ["protocols", "evil.toml"],
    ):
        shown = in_a_terminal(*args)
        assert "\x1b]" not in shown, args
        assert "\x1b[31mx" not in shown, args
        assert "\\u202e" in shown or "\\u001b" in shown or "\\x1b" in shown, (args, shown)
        assert not (HARMFUL - {"\x1b"}) & set(shown), args


@UNIX
def test_a_terminal_shows_colours_of_karat_alone() -> None:
    shown = in_a_terminal("score", "no\x1b[31mfile", "gold.tbf")
    assert shown.startswith("\x1b[31m\x1b[1merror\x1b[0m: no\\u001b[31mfile: ")


def test_a_line_of_a_message_cannot_be_forged() -> None:
    done = run("score", "a\nerror: b", "gold.tbf")
    assert [line for line in done.err.splitlines() if line.startswith("error:")] == [done.err.splitlines()[0]]


def test_visible_keeps_what_can_be_seen() -> None:
    assert visible("naïve 漢字 ✓ \u00a0\u3000\ufffd") == "naïve 漢字 ✓ \u00a0\u3000\ufffd"
    assert json.loads(f'"{visible(EVIL + chr(0xE0001))}"') == EVIL + chr(0xE0001)
    assert (visible("a\tb\n"), visible("a\tb\n", lines=True)) == ("a\\u0009b\\u000a", "a\tb\n")


# No traceback

DEEP = "title = 'x'\nmeasures = " + "[" * 5000 + "]" * 5000 + "\n"
MEASURES = "title = 'x'\n[[measures]]\nfamily = 'nugget'\nalignment = 'a'\n[alignments.a]\n"
ODD: dict[str, tuple[dict[str, str | bytes], list[str], str]] = {
    "a lone carriage return in a forest": ({"a.forest": "d1\t(1)\r(2)\n"}, ["describe", "a.forest"], ""),
    "a cluster that is a list": (
        {"a.jsonl": JSONL.replace('"c"', "[]")},
        ["score", "a.jsonl", "a.jsonl"],
        "a.jsonl, line 1: mentions[0].cluster is a list, expected a string or null",
    ),
    "a cluster that is not UTF-8": (
        {"a.jsonl": JSONL.encode().replace(b'"c"', b'"\xff"')},
        ["score", "a.jsonl", "a.jsonl"],
        "a.jsonl, line 1: byte 0xff is not UTF-8 [encoding]",
    ),
    "a long token id": (
        {"a.tbf": TBF.replace("0,4", "x" * 3000)},
        ["score", "a.tbf", "a.tbf", "--unit", "token"],
        "more than 1,000 bytes [tbf-span]",
    ),
    "deep TOML": ({"a.toml": DEEP}, ["score", "gold.tbf", "gold.tbf", "-p", "a.toml"], "a.toml: this is nested too"),
    "long integers in TOML": (
        {"a.toml": f"title = 'x'\nmeasures = {'9' * 5000}\n"},
        ["score", "gold.tbf", "gold.tbf", "-p", "a.toml"],
        "[protocol-file]",
    ),
    "a list for the name of a filter": (
        {"a.toml": MEASURES + "[[filters]]\nname = ['kinds']\n"},
        ["score", "gold.tbf", "gold.tbf", "-p", "a.toml"],
        "there is no filter ['kinds']",
    ),
    "infinity in TOML": (
        {"a.toml": MEASURES + "threshold = inf\n"},
        ["score", "gold.tbf", "gold.tbf", "-p", "a.toml"],
        "inf is not a number",
    ),
    "a threshold in TOML": (
        {"a.toml": MEASURES + "threshold = 1.5\n"},
        ["score", "gold.tbf", "gold.tbf", "-p", "a.toml"],
        "threshold must be at most 1.0, such as 1.0",
    ),
    "a zero byte in a list": ({"a.list": "a\0b\n"}, ["score", "@a.list", "gold.tbf"], "[file-unreadable]"),
    "a long name": ({}, ["score", "x" * 5000, "gold.tbf"], "File name too long [file-unreadable]"),
    "a long name of a protocol": ({}, ["score", "gold.tbf", "gold.tbf", "-p", "x" * 5000 + ".toml"], "[system-error]"),
    "UTF-16": ({"a.tbf": TBF.encode("utf-16")}, ["score", "a.tbf", "a.tbf"], "a.tbf, line 1: "),
    "units that differ": (
        {"a.jsonl": JSONL.replace('"mentions"', '"unit": "token", "mentions"')},
        ["score", "gold.jsonl", "a.jsonl"],
        "a.jsonl, line 1: document 'd1' has char offsets",
    ),
    "other documents": (
        {"a.jsonl": "\n" + JSONL.replace("d1", "d2")},
        ["score", "gold.jsonl", "a.jsonl"],
        "a.jsonl, line 2: gold and system share no document",
    ),
    "a loss": ({}, ["convert", "gold.jsonl", "a.forest"], "gold.jsonl, line 1: forest cannot represent"),
    "what cannot be written": (
        {"a.jsonl": JSONL.replace("m1", "m 1")},
        ["convert", "a.jsonl", "a.forest", "--lossy"],
        "a.jsonl, line 1: 'm 1' in document 'd1' cannot be the id",
    ),
    "two units in TBF": (
        {"a.jsonl": JSONL + JSONL.replace('"d1"', '"d2", "unit": "token"')},
        ["convert", "a.jsonl", "a.tbf", "--lossy"],
        "a.jsonl, line 2: tbf holds offsets of one unit, and the corpus has char and token; nothing was written",
    ),
}


@pytest.mark.parametrize("name", ODD)
def test_a_message_instead_of_a_traceback(name: str) -> None:
    files, args, says = ODD[name]
    for file, content in files.items():
        Path(file).write_bytes(content.encode() if isinstance(content, str) else content)
    done = run(*args)
    assert done.code == (1 if says else 0), done.err
    assert says in done.err


@pytest.mark.parametrize("value", ["inf", "-inf", "nan", "1e999", "9" * 400, "9" * 5000, "[" * 3000, "1.5", "-0.1"])
def test_a_threshold_that_is_none(value: str) -> None:
    done = run("score", "gold.tbf", "gold.tbf", "-p", "tac-2017", "--set", f"coref.threshold={value}")
    assert (done.code, "[bad-value]" in done.err) == (2, True)


@pytest.mark.parametrize(("error", "code"), [(MemoryError, "memory-full"), (RecursionError, "nesting-deep")])
def test_errors_of_python_end_in_one_sentence(
    error: type[Exception], code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: Any, **options: Any) -> None:
        raise error

    monkeypatch.setattr("karat.run.scoring.score", fail)
    done = run("score", "gold.tbf", "gold.tbf", "-p", "tac-2017")
    assert done.code == 1
    assert [f"[{code}]" in line for line in done.err.splitlines()] == [True, False]


@pytest.mark.slow
@UNIX
@pytest.mark.parametrize(
    ("redirection", "args", "code", "says"),
    [
        (">&-", "score gold.tbf gold.tbf", 1, "standard output: it is closed"),
        (">&-", "protocols", 1, "standard output: it is closed"),
        (">&-", "convert gold.tbf - --to jsonl", 1, "standard output: it is closed"),
        ("<&-", "score gold.tbf -", 1, "standard input: standard input is closed"),
        ("2>&-", "score gold.tbf missing.tbf", 1, ""),
        ("2>&-", "score gold.tbf gold.tbf", 0, ""),
        (">/dev/full", "score gold.tbf gold.tbf", 1, "standard output: No space left on device"),
    ],
)
def test_streams_that_are_closed(redirection: str, args: str, code: int, says: str) -> None:
    done = subprocess.run(f"'{KARAT}' {args} {redirection}", shell=True, capture_output=True, text=True)
    assert done.returncode == code
    assert says in done.stderr
    assert "Traceback" not in done.stderr


# Threads and processes


def corpus_of(documents: int) -> FileCorpus:
    for number in range(documents):
        with open(f"c{number % 3}.tbf", "a") as stream:
            stream.write(TBF.replace("d1", f"d{number}"))
    Path("c.list").write_text("c0.tbf\nc1.tbf\nc2.tbf\n")
    return karat.read("@c.list")


def test_one_corpus_read_from_many_threads() -> None:
    corpus = corpus_of(60)
    before, results = sys.getswitchinterval(), list[Any]()
    sys.setswitchinterval(1e-6)
    try:
        threads = [
            threading.Thread(target=lambda: results.append(karat.score(corpus, corpus, protocol="tac-2017").to_dict()))
            for _ in range(16)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(before)
    assert results == [karat.score(corpus_of(0), corpus_of(0), protocol="tac-2017").to_dict()] * 16


def test_a_corpus_can_be_pickled() -> None:
    corpus = corpus_of(6)
    documents = list(corpus)
    assert list(pickle.loads(pickle.dumps(corpus))) == documents
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(list, [corpus]) == [documents]
    Path("tables").mkdir()
    with_tables = karat.read("gold.tbf", tokens="tables")
    assert list(pickle.loads(pickle.dumps(with_tables))) == list(with_tables)


# And also


def test_an_id_finds_no_token_table_outside_the_folder() -> None:
    Path("tables").mkdir()
    Path("outside.tab").write_text("t1\tsecret\n")
    for id_ in ("../outside", str(Path("outside").absolute()), "a/../../outside", "x" * 300):
        Path("a.tbf").write_text(TBF.replace("d1", id_).replace("0,4", "t1"))
        done = run("score", "a.tbf", "a.tbf", "--tokens", "tables", "-f", "json", "-p", "tac-2017")
        assert "token-table-missing" in {one["code"] for one in json.loads(done.out)["warnings"]}


@pytest.mark.parametrize(
    "prolog",
    [
        "<?x <y ?><!DOCTYPE deft_ere [<!ENTITY e 'x'>]>",
        '<!DOCTYPE deft_ere [<!NOTATION n SYSTEM "<y"><!ENTITY e "x">]>',
        "<!-- <y --><!DOCTYPE deft_ere [<!ENTITY % e 'x'>]>",
    ],
)
def test_an_entity_is_refused_wherever_it_is_declared(prolog: str) -> None:
    Path("a.ere.xml").write_text(f'{prolog}<deft_ere doc_id="D"></deft_ere>')
    assert [code for code, *_ in findings("a.ere.xml")] == ["xml-entity"]


@pytest.mark.parametrize("seed", range(6))
def test_simulate_writes_nothing_that_validate_faults(seed: int) -> None:
    text = "abcdefghij klmnop qrstuv"
    mentions = [
        {"id": f"m{n}", "span": [[n, n + 2 + n % 2]], "cluster": f"c{n % 3}", "attributes": {"type": "AB"[n % 2]}}
        for n in range(12)
    ]
    links = [{"kind": "subevent", "from": f"m{n}", "to": f"m{n + 4}"} for n in (0, 3, 7)]
    line = {"id": "d", "text": text, "mentions": mentions, "links": links}
    Path("rich.jsonl").write_text(json.dumps(line) + "\n")
    Path("tree.forest").write_text("d\t(1(2(3)(4))(5(6)(7)))\n")
    rates = ["--split=1", "--merge=0.5", "--boundary=1", "--conflate=0.6", "--reverse-link=0.6", "--break=0.2"]
    for gold, out in (("rich.jsonl", "out.jsonl"), ("tree.forest", "out.forest")):
        before = [one for one in findings(gold) if one[1] != "note"]
        assert run("simulate", gold, *rates, "--seed", str(seed), "-o", out).code == 0
        assert [one for one in findings(out) if one[1] != "note"] == [(*one[:2], out) for one in before]


def test_characters_with_tokens_become_conll() -> None:
    Path("a.jsonl").write_text(
        '{"id": "d", "text": "ab cd", "tokens": [[0, 2], [3, 5]], "mentions": [{"id": "m", "span": [[0, 2]], '
        '"cluster": "c"}, {"id": "n", "span": [[3, 5]], "cluster": "c"}]}\n'
    )
    assert run("convert", "a.jsonl", "a.conll", "--lossy").code == 0


@UNIX
def test_very_many_orders_begin_at_once() -> None:
    from karat.studies.curves import ways
    from karat.studies.pieces import Mentions, Pieces

    pieces: Pieces = Mentions([Document("d")])
    assert next(iter(ways(pieces, orders=10**9, seed=0))).order == "from last to first"
    assert command("lab", "nugget.span", "--orders", "0").code == 2


# What fuzzing found


def test_an_empty_realis_is_written_as_missing() -> None:
    Path("empty.jsonl").write_text(
        '{"id": "d", "mentions": [{"id": "m", "span": [[0, 4]], "attributes": {"type": "A", "realis": ""}}]}\n'
    )
    assert run("convert", "empty.jsonl", "out.tbf", "--lossy").code == 0
    assert run("validate", "out.tbf").code == 0


@pytest.mark.skipif(sys.platform != "linux", reason="file names that are not valid UTF-8")
def test_systems_in_files_whose_names_are_not_utf8() -> None:
    Path("systems").mkdir()
    Path(os.fsdecode(b"systems/\xff.tbf")).write_text(TBF)
    Path("systems/b.tbf").write_text(TBF)
    done = run("compare", "gold.tbf", "systems", "-f", "json")
    assert done.code == 0
    assert "\\udcff" in json.loads(done.out)["systems"]
