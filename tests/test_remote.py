"""Files that are named by a URL: fsspec reads them; here from memory, and as files of this machine."""

import gzip
import sys
from pathlib import Path

import pytest

import karat
from karat.corpus.opening import open_corpus
from karat.corpus.paths import is_url
from karat.problems import KaratError
from tests.running import run

fsspec = pytest.importorskip("fsspec", reason="needs fsspec")

DEMO = Path(karat.__file__).parent / "demo"
GOLD, SYSTEM = DEMO / "gold.jsonl", DEMO / "eager.jsonl"


def put(url: str, data: bytes) -> str:
    with fsspec.open(url, "wb") as stream:
        stream.write(data)
    return url


@pytest.fixture
def memory() -> str:
    """Shards of gold in a folder, one of them compressed, and a hidden file, which does not count."""
    lines = GOLD.read_bytes().splitlines(keepends=True)
    put("memory://gold/a.jsonl", b"".join(lines[:5]))
    put("memory://gold/below/b.jsonl.gz", gzip.compress(b"".join(lines[5:])))
    put("memory://gold/.hidden.jsonl", lines[0])
    return "memory://gold"


def test_shards_at_a_url_are_scored_like_files(memory: str) -> None:
    here = karat.score(GOLD, SYSTEM, protocol="tac-2017", by="type", details=True)
    there = karat.score(memory, f"file://{SYSTEM}", protocol="tac-2017", by="type", details=True)
    assert (there.scores, there.by) == (here.scores, here.by)
    assert there.gold.fingerprint == here.gold.fingerprint


def test_a_list_may_name_urls(memory: str, tmp_path: Path) -> None:
    files = tmp_path / "files.txt"
    files.write_text("memory://gold/a.jsonl\nmemory://gold/below\n")
    assert len(open_corpus(f"@{files}").ids()) == 12


def test_a_change_is_noticed(memory: str) -> None:
    corpus = open_corpus("memory://gold/a.jsonl")
    first = next(iter(corpus.ids()))
    put("memory://gold/a.jsonl", GOLD.read_bytes())
    with pytest.raises(KaratError) as error:
        corpus.read(first, print)
    corpus.close()
    assert error.value.finding.code == "file-changed"


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("memory://nowhere.jsonl", "file-missing"),
        ("bogus://a", "url-unreadable"),
        ("memory://gold/a.ann", "url-companions"),
    ],
)
def test_what_cannot_be_read_is_refused(memory: str, url: str, code: str) -> None:
    put("memory://gold/a.ann", b"T1\tA 0 4\tAnna\n")
    done = run("score", url, str(SYSTEM))
    assert (done.code, done.out) == (1, "")
    assert f"[{code}]" in done.err


def test_an_input_at_a_url_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "gold.jsonl"
    path.write_bytes(GOLD.read_bytes())
    done = run("describe", f"file://{path}", "-o", str(path))
    assert done.code == 1
    assert path.read_bytes() == GOLD.read_bytes()


def test_without_fsspec_one_sentence_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    done = run("describe", "s3://bucket/gold")
    assert done.code == 1
    assert "error: 's3://bucket/gold' is a URL, and fsspec is not installed [fsspec-missing]" in done.err


def test_a_path_is_not_a_url() -> None:
    assert [*map(is_url, ("file:///a", "s3://b/c", "simplecache::s3://b/c"))] == [True] * 3
    assert [*map(is_url, ("C:\\a", "a::b", "a/b://c", "@list", "-", "gold.tbf"))] == [False] * 6
