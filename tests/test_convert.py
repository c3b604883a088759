"""`karat convert`: nothing is lost without a word, and nothing is left behind where it is refused."""

import gzip
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from msgspec.structs import replace

import karat
from karat.cli.program import cli
from karat.convert import Conversion
from karat.corpus.fingerprint import Fingerprint
from karat.formats import FORMATS, tbf
from karat.model import Cluster, Document, Link, Mention
from karat.plugin import WriteOptions
from karat.problems import KaratError
from tests.conftest import shared_path
from tests.corpora import as_jsonl, mention
from tests.running import run

TBF = """\
#BeginOfDocument d1
gold\td1\tE1\t9,15\tkilled\tLife_Die\tActual
gold\td1\tE2\t31,37;43,47\tattack hurt\tConflict_Attack\tOther
gold\td1\tE3\t9,15\tkilled\tLife_Injure\tActual
@Coreference\tC1\tE1,E2
@After\tR1\tE1,E3
#EndOfDocument
#BeginOfDocument d2
#EndOfDocument
"""


def test_an_empty_document_as_apf_is_valid_and_has_no_source_again(tmp_path: Path) -> None:
    (tmp_path / "in.forest").write_text("a\t\n")
    made = str(tmp_path / "out")
    assert run("convert", str(tmp_path / "in.forest"), made, "--to", "apf").code == 0
    done = run("score", made, made, "-p", "ace-2005")
    assert done.code == 0, done.err
    assert [document.source for document in karat.read(made)] == [None]


def convert(*args: str | Path) -> Result:
    return CliRunner().invoke(cli, ["convert", *map(str, args)])


def done(*args: str | Path) -> str:
    result = convert(*args)
    assert result.exception is None, result.exception
    return result.stderr


def refused(*args: str | Path, code: int = 1) -> tuple[KaratError, str]:
    result = convert(*args)
    assert isinstance(result.exception, KaratError), result.exception
    assert result.exception.exit_code == code
    return result.exception, result.stderr


def fingerprint(path: Path, **options: str) -> str:
    whole = Fingerprint()
    for document in karat.read(path, **options):  # type: ignore[call-overload]
        whole.add(document)
    return str(whole)


def jsonl(path: Path, *documents: Document) -> Path:
    path.write_bytes(as_jsonl(*documents))
    return path


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    path = tmp_path / "gold.tbf"
    path.write_text(TBF)
    return path


def test_there_and_back_through_every_format(gold: Path, tmp_path: Path) -> None:
    """tbf -> jsonl -> brat -> jsonl -> tbf: the same corpus at every stop, and the same lines at the end."""
    stops = [tmp_path / name for name in ("a.jsonl", "b", "c.jsonl.gz", "d.tbf")]
    done(gold, stops[0])
    done(stops[0], stops[1], "--to", "brat")
    said = done(stops[1], stops[2])
    done(stops[2], stops[3])
    assert {fingerprint(stop) for stop in [gold, *stops]} == {fingerprint(gold)}
    assert "note: " in said
    assert "(and 1 more)" in said  # neither document has a text beside it
    assert f"{stops[2]} (jsonl): 2 documents, 3 mentions" in said
    again = stops[3].read_text().replace("karat\td1", "gold\td1").replace("\tE1\tE1,", "\tC1\tE1,")
    assert again == TBF


def test_the_same_input_gives_the_same_bytes(gold: Path, tmp_path: Path) -> None:
    outs = [tmp_path / "one.jsonl.gz", tmp_path / "another.jsonl.gz"]
    for out in outs:
        done(gold, out)
    assert outs[0].read_bytes() == outs[1].read_bytes()
    assert gzip.decompress(outs[0].read_bytes()).startswith(b'{"id":"d1"')


def test_standard_output(gold: Path, tmp_path: Path) -> None:
    done(gold, tmp_path / "a.jsonl")
    result = convert(gold, "-", "--to", "jsonl")
    assert result.stdout_bytes == (tmp_path / "a.jsonl").read_bytes()


def test_what_would_be_lost_is_said_once_with_its_count_and_refused(tmp_path: Path) -> None:
    lossy = Document("d", topic="36", text="Anna left", mentions=(mention("m1", (0, 4), type="A", tense="past"),))
    path = jsonl(tmp_path / "in.jsonl", lossy, replace(lossy, id="e", topic=None))
    before = sorted(tmp_path.rglob("*"))
    for out, to in (("out.tbf", "tbf"), ("out", "brat")):
        error, said = refused(path, tmp_path / out, "--to", to)
        assert error.finding.code == "convert-lossy"
        assert "would be lost: the document's topic (1)\n" in said
        assert sorted(tmp_path.rglob("*")) == before
    lines = done(path, tmp_path / "out.tbf", "--lossy").splitlines()
    assert lines[:4] == [
        "lost: the document's topic (1)",
        "lost: the document's text (2)",
        "lost: the attribute tense (2)",
        "lost: that mentions have no realis (written NOT_ANNOTATED) (2)",
    ]
    assert [len(document.mentions) for document in karat.read(tmp_path / "out.tbf")] == [1, 1]


@pytest.mark.parametrize("to", ["tbf", "brat"])
def test_clusters_across_documents_are_a_loss_where_ids_are_local(tmp_path: Path, to: str) -> None:
    one, other = (mention(id_, (0, 4), cluster="c", type="A", realis="Actual") for id_ in ("E1", "E2"))
    shared = [Document(id_, mentions=(one, replace(other, cluster="s"))) for id_ in ("d", "e", "f")]
    path = jsonl(tmp_path / "in.jsonl", *shared, Document("g", mentions=(replace(one, cluster="own"),)))
    _, said = refused(path, tmp_path / "out", "--to", to)
    assert "would be lost: that clusters are in several documents (one is written in each) (2)\n" in said
    done(path, tmp_path / "out", "--to", to, "--lossy")
    done(path, tmp_path / "out.jsonl")


def test_an_absent_realis_is_a_loss_where_it_would_be_read_as_another(tmp_path: Path) -> None:
    """brat events without realis are NOT_ANNOTATED as soon as any event of the corpus has one."""
    documents = [
        Document("d", mentions=(mention("E1", (0, 4), type="A", realis="Actual"),)),
        Document("e", mentions=(mention("E1", (0, 4), type="A"),)),
    ]
    _, said = refused(jsonl(tmp_path / "in.jsonl", *documents), tmp_path / "out", "--to", "brat")
    assert "would be lost: that mentions have no realis (read as NOT_ANNOTATED) (1)\n" in said
    done(jsonl(tmp_path / "in.jsonl", documents[1]), tmp_path / "out", "--to", "brat")


def test_what_was_written_is_read_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A corpus of entities alone would be read as events from brat, which is reported; writers are checked."""
    typed = Document("d", mentions=(Mention("T1", ((0, 4),), kind="entity", attributes={"type": "PER"}),))
    entities = jsonl(tmp_path / "in.jsonl", typed)
    before = sorted(tmp_path.rglob("*"))
    error, _ = refused(entities, tmp_path / "out", "--to", "brat")
    assert error.finding.code == "convert-lossy"
    monkeypatch.setitem(FORMATS._loaded, "tbf", replace(tbf.FORMAT, write=lambda *_: b"nonsense\n"))
    error, _ = refused(entities, tmp_path / "out.tbf")
    assert error.finding.code == "convert-changed"
    assert sorted(tmp_path.rglob("*")) == before


def test_faults_are_summed_up_by_code(gold: Path, tmp_path: Path) -> None:
    gold.write_text(TBF.replace("E1,E2", "E1,E2,E8,E9"))
    said = done(gold, tmp_path / "out.jsonl")
    assert "fault: " in said
    assert said.count("argument-unknown") == 1
    assert "1 more" in said


def test_what_is_read_is_not_written_over(gold: Path, tmp_path: Path) -> None:
    done(gold, tmp_path / "a.jsonl")
    done(gold, tmp_path / "brat", "--to", "brat")
    text = tmp_path / "brat" / "d1.txt"
    text.write_text("x" * 60)
    link = tmp_path / "link.jsonl"
    link.symlink_to(tmp_path / "a.jsonl")
    for source, out, to in [
        (gold, gold, "tbf"),
        (tmp_path / "a.jsonl", link, "jsonl"),
        (tmp_path / "brat", tmp_path / "brat", "brat"),
        (tmp_path / "brat", text, "jsonl"),
        (tmp_path / "brat" / "d1.ann", text, "jsonl"),
    ]:
        error, _ = refused(source, out, "--to", to)
        assert error.finding.code == "output-unwritable"
    assert gold.read_text() == TBF


def test_a_folder_with_files_is_not_written_into(gold: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    done(gold, out, "--to", "brat")
    assert sorted(path.name for path in out.iterdir()) == ["d1.ann", "d2.ann"]
    error, _ = refused(gold, out, "--to", "brat")
    assert error.finding.code == "folder-not-empty"


def test_places_that_cannot_be_written_are_named(gold: Path, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    for out in (tmp_path / "no" / "out.tbf", tmp_path):
        error, _ = refused(gold, out, "--to", "tbf")
        assert error.finding.code in ("output-unwritable", "output-unwritable")
    error, _ = refused(gold, tmp_path / "no" / "out", "--to", "brat")
    assert error.finding.code == "output-unwritable"
    other = tmp_path.parent / f"{tmp_path.name}-file"
    other.write_text("")
    error, _ = refused(gold, other, "--to", "brat")
    assert error.finding.code == "output-unwritable"
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    ("code", "args"),
    [
        ("output-format", ["out.xyz"]),
        ("output-format", ["out.ann"]),
        ("format-only-read", ["out.xml", "--to", "ere"]),
        ("unknown-format", ["out", "--to", "brot"]),
        ("unknown-format", ["out.tbf", "--input-format", "tfb"]),
        ("folder-needed", ["-", "--to", "brat"]),
        ("folder-needed", ["out.gz", "--to", "brat"]),
    ],
)
def test_what_the_command_line_alone_shows_to_be_wrong(
    gold: Path, monkeypatch: pytest.MonkeyPatch, code: str, args: list[str]
) -> None:
    monkeypatch.chdir(gold.parent)
    error, _ = refused(gold, *args, code=2)
    assert error.finding.code == code
    assert list(gold.parent.iterdir()) == [gold]


def test_tokens_keep_their_ids(tmp_path: Path) -> None:
    tables = tmp_path / "tables"
    tables.mkdir()
    (tables / "d.tab").write_text("".join(f"t{row}\tword\t{row}\t{row}\n" for row in range(4)))
    source = tmp_path / "in.tbf"
    source.write_text("#BeginOfDocument d\ng\td\tE1\tt3,t1\tx\tA\tActual\n#EndOfDocument\n")
    done(source, tmp_path / "a.jsonl", "--tokens", tables)
    done(tmp_path / "a.jsonl", tmp_path / "b.tbf", "--tokens", tables)
    assert "\tt1,t3\t" in (tmp_path / "b.tbf").read_text()
    error, _ = refused(source, tmp_path / "c", "--to", "brat", "--unit", "token")
    assert error.finding.code == "brat-unwritable"
    assert not (tmp_path / "c").exists()


def test_ere_becomes_anything(tmp_path: Path) -> None:
    event = '<event_mention id="e{0}" type="life" realis="actual"><trigger offset="{0}" length="4"/></event_mention>'
    hopper = f'<hopper id="h">{event.format(1)}{event.format(9)}</hopper>'
    source = tmp_path / "D.rich_ere.xml"
    source.write_text(f'<deft_ere doc_id="D"><hoppers>{hopper}</hoppers></deft_ere>')
    for out, to in (("a.jsonl", "jsonl"), ("b.tbf", "tbf"), ("c", "brat")):
        done(source, tmp_path / out, "--to", to)
        assert fingerprint(tmp_path / out) == fingerprint(source)


def test_links_between_clusters_and_roles(tmp_path: Path) -> None:
    document = Document(
        "d",
        mentions=(
            mention("m1", (0, 4), cluster="c1", type="A"),
            mention("m2", (5, 9), cluster="c2", type="A"),
            Mention("m3", ((10, 14),), kind="entity", attributes={"type": "PER"}),
        ),
        clusters=(Cluster("c1"),),
        links=(Link("agent", "m1", "m3"), Link("Cause", "m1", "m2")),
    )
    path = jsonl(tmp_path / "in.jsonl", document)
    done(path, tmp_path / "out", "--to", "brat")
    assert fingerprint(tmp_path / "out") == fingerprint(path)
    clusters = jsonl(tmp_path / "clusters.jsonl", replace(document, links=(Link("after", "c1", "c2"),)))
    _, said = refused(clusters, tmp_path / "again", "--to", "brat")
    assert "that links join clusters (written between their first mentions) (1)" in said


@pytest.mark.slow
def test_litbank_goes_to_jsonl_and_back_without_loss(tmp_path: Path) -> None:
    source = shared_path("data", "litbank-events")
    done(source, tmp_path / "a.jsonl")
    said = done(tmp_path / "a.jsonl", tmp_path / "back", "--to", "brat")
    assert said.endswith("100 documents, 7,849 mentions\n")
    assert list(karat.read(tmp_path / "back")) == list(karat.read(source))
    for path in sorted(source.glob("*.txt")):
        assert (tmp_path / "back" / path.name).read_bytes() == path.read_bytes()
    for path in sorted(source.glob("*.ann")):
        kept = [line for line in path.read_bytes().splitlines(keepends=True) if not line.startswith(b"#")]
        assert (tmp_path / "back" / path.name).read_bytes() == b"".join(kept)


@pytest.mark.slow
def test_litbank_goes_to_tbf_with_all_mentions_spans_and_types(tmp_path: Path) -> None:
    source = shared_path("data", "litbank-events")
    refused(source, tmp_path / "a.tbf")
    assert list(tmp_path.iterdir()) == []
    done(source, tmp_path / "a.tbf", "--lossy")
    before, after = Fingerprint(), Fingerprint()
    for document in karat.read(source):
        before.add(document)
    for document in karat.read(tmp_path / "a.tbf"):
        types = [replace(m, attributes={"type": m.attributes["type"]}) for m in document.mentions]
        after.add(replace(document, mentions=tuple(types)))
    assert str(after) == str(before)


def test_a_corpus_of_nothing_is_nothing(tmp_path: Path) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text("\n")
    conversion = Conversion(karat.read(source, format="jsonl"), "tbf", WriteOptions())
    assert list(conversion.pieces(print)) == []
    conversion.verify("nowhere")
