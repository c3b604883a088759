"""Documents divided among processes: the same bytes as in one, whatever is asked for, whatever is wrong."""

import pickle
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from math import fsum
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import msgspec
import pytest

import karat
from karat.corpus.chunks import LARGEST, chunks
from karat.corpus.files import FileCorpus
from karat.corpus.index import Entry, Index
from karat.corpus.interface import Executor, workers
from karat.corpus.memory import MemoryCorpus
from karat.corpus.opening import open_corpus
from karat.describe.description import description
from karat.model import Cluster, Document, Mention
from karat.problems import Finding, Findings, KaratError
from karat.protocols import PROTOCOLS, resolve_all
from karat.result import Result, UnitRows
from karat.run.executors import LEAST, Processes, cores
from karat.run.pipeline import Task
from karat.run.plan import Options
from karat.run.scoring import FIRST_DOCUMENTS, score
from karat.run.validation import validate
from tests.corpora import ace, as_jsonl, mention
from tests.error_laws import one_of_each_kind
from tests.running import run

S = TypeVar("S")
T = TypeVar("T")
R = TypeVar("R")

DEMO = Path(karat.__file__).parent / "demo"
GOLD, SYSTEM = DEMO / "gold.jsonl", DEMO / "eager.jsonl"


class Pickling:
    """An executor of this process whose tasks and results are pickled, as if they went to another one."""

    def __init__(self, width: int = 3) -> None:
        self._width = width
        self.tasks: list[object] = []
        self.shared: list[object] = []
        """The part that the tasks of each call share."""

    def width(self, size: int) -> int:
        del size
        return self._width

    def map(self, function: Callable[[S, T], R], shared: S, tasks: Iterable[T]) -> Iterator[R]:
        self.shared.append(shared)
        for task in tasks:
            self.tasks.append(task)
            given = pickle.loads(pickle.dumps((function, shared, task)))
            result: R = pickle.loads(pickle.dumps(given[0](*given[1:])))
            yield result


def results(gold: Path, system: Path, executor: Executor, *protocols: str, **options: Any) -> list[Result]:
    settings = options.pop("settings", {})
    return score(
        open_corpus(str(gold)),
        open_corpus(str(system)),
        resolve_all(protocols or ["tac-2017"], settings),
        Options(**options),
        findings=Findings(),
        executor=executor,
    )


def content(result: Result) -> tuple[bytes, object, object]:
    """Everything in a result: what is printed, and the rows that intervals are made of."""
    by_rows = result.by_rows or {}
    return (
        msgspec.json.encode(result.to_dict()),
        numbers(result.rows),
        {field: {key: numbers(rows) for key, rows in values.items()} for field, values in by_rows.items()},
    )


def numbers(rows: UnitRows | None) -> object:
    return rows and (rows.units, [*map(list, rows.columns)], rows.left_out, rows.finish([*map(fsum, rows.columns)]))


def refusal(gold: Path, system: Path, executor: Executor, *protocols: str, **options: Any) -> Finding:
    with pytest.raises(KaratError) as error:
        results(gold, system, executor, *protocols, **options)
    return error.value.finding


def put(folder: Path, *documents: Document, name: str = "corpus") -> Path:
    path = folder / f"{name}.jsonl"
    path.write_bytes(as_jsonl(*documents))
    return path


EVERYTHING: dict[str, Any] = {"by": ("type", "document", "kind"), "per_unit": True, "details": True, "keep_rows": True}


@pytest.mark.parametrize("name", one_of_each_kind(PROTOCOLS.names()))
@pytest.mark.parametrize("options", [{}, EVERYTHING], ids=["plain", "everything"])
@pytest.mark.slow
def test_every_protocol_gives_the_same_result(name: str, options: dict[str, Any]) -> None:
    """Or the same error, under those that need other data."""
    pickling = Pickling()
    found: list[object] = []
    for each in (Processes(1), pickling):
        try:
            found.append([*map(content, results(GOLD, SYSTEM, each, name, **options))])
        except KaratError as error:
            found.append(error.finding)
    assert found[0] == found[1]
    assert isinstance(found[0], Finding) or len(pickling.tasks) > 5


@pytest.mark.parametrize(
    "path", sorted((Path(__file__).parents[1] / "tools/fuzz/samples").iterdir()), ids=lambda path: path.name
)
def test_every_format_is_read_by_workers(path: Path) -> None:
    """With companions, tables of the corpus, and gold beside a system where its files need it."""
    folders = [path / side if (path / side).is_dir() else path for side in ("gold", "system")]
    gold, system = map(str, folders)
    corpus = open_corpus(gold)
    options = Options(details=True, accept_faults=True)
    found: list[object] = []
    for each in (Processes(1), Pickling()):
        sides = open_corpus(gold), open_corpus(system).beside(corpus)
        protocols = resolve_all(corpus.protocols, {})
        try:
            results = score(*sides, protocols, options, findings=Findings(), executor=each)
            found.append([*map(content, results)])
        except KaratError as error:
            found.append(error.finding)
    assert found[0] == found[1]


def test_clusters_are_paired_by_all_documents(tmp_path: Path) -> None:
    """A worker knows only some of them, so that it must not pair clusters."""
    random = Random(1)

    def document(number: int) -> Document:
        mentions = [Mention(f"m{n}", ((n, n + 1),), cluster=random.choice("abc")) for n in range(6)]
        return Document(f"d{number}", mentions=tuple(mentions))

    sides = [put(tmp_path, *map(document, range(12)), name=name) for name in ("gold", "system")]
    settings = {"representative": "aligned"}
    one, many = (
        results(sides[0], sides[1], each, "pure-cdec", settings=settings) for each in (Processes(1), Pickling())
    )
    assert [*map(content, one)] == [*map(content, many)]


def test_several_protocols_share_what_they_read() -> None:
    names = ["simple-cdec", "pure-cdec", "yang-2015", "tac-2017"]
    one, many = (results(GOLD, SYSTEM, each, *names) for each in (Processes(1), Pickling(2)))
    assert [*map(content, one)] == [*map(content, many)]


@pytest.mark.parametrize("processing", ["document", "cross-document"])
def test_ace_elements_and_their_ids(tmp_path: Path, processing: str) -> None:
    """Tables of elements are sent whole where units span documents; ids are compared across processes."""
    gold = [ace(f"d{n}", entities=f"E@{10 + n} F G", events="V(E,F)", relations="R(E,G)") for n in range(12)]
    system = [ace(f"d{n}", entities="E F@70 G", events="V(F,G)", relations="R(E,F)") for n in range(12)]
    paths = put(tmp_path, *gold, name="gold"), put(tmp_path, *system, name="system")
    options: dict[str, Any] = {"settings": {"processing": processing}, "details": True, "keep_rows": True}
    for name in ("ace-2005", "ace-2005-nist"):
        (one,), (many,) = (results(*paths, each, name, **options) for each in (Processes(1), Pickling()))
        assert content(one) == content(many)


@pytest.mark.parametrize("processing", ["document", "cross-document"])
def test_an_element_in_two_processes_is_refused_as_in_one(tmp_path: Path, processing: str) -> None:
    """Each process sees it once only: the documents are read again where the others are known."""
    documents = [ace(f"d{n}", entities="E F G") for n in range(12)]
    again = msgspec.structs.replace(documents[9].clusters[0], id="d2-E", attributes={"type": "ORG"})
    documents[9] = msgspec.structs.replace(documents[9], clusters=(*documents[9].clusters, again))
    path = put(tmp_path, *documents)
    options = {"settings": {"processing": processing}}
    found = [refusal(path, path, each, "ace-2005", **options) for each in (Processes(1), Pickling())]
    assert found[0] == found[1]
    assert found[0].code == ("element-twice" if processing == "document" else "element-differs")


def test_an_element_described_in_the_same_way_everywhere_is_one(tmp_path: Path) -> None:
    documents = [ace(f"d{n}", entities="E") for n in range(12)]
    shared = Cluster("shared", "entity", {"type": "PER", "subtype": "Individual", "class": "SPC"})
    documents = [msgspec.structs.replace(one, clusters=(*one.clusters, shared)) for one in documents]
    path = put(tmp_path, *documents)
    options = {"settings": {"processing": "cross-document"}}
    (one,), (many,) = (results(path, path, each, "ace-2005", **options) for each in (Processes(1), Pickling()))
    assert content(one) == content(many)


def test_ids_are_compared_across_processes(tmp_path: Path) -> None:
    """APF: an id means one thing in all documents; the number of an id is the same in every process."""
    apf = tmp_path / "apf"
    path = put(tmp_path, *(ace(f"d{n}", entities="E F") for n in range(8)))
    assert run("convert", str(path), str(apf), "--to", "apf", "--lossy").code == 0
    options = {"accept_faults": True}
    (one,), (many,) = (results(apf, apf, each, "ace-2005", **options) for each in (Processes(1), Pickling()))
    assert content(one) == content(many)
    file = sorted(apf.glob("*.xml"))[5]
    file.write_text(file.read_text().replace('"d5-E-1"', '"d2-E-1"'))
    found = [refusal(apf, apf, each, "ace-2005", **options) for each in (Processes(1), Pickling())]
    assert found[0] == found[1]
    assert found[0].code == "mention-in-documents"


def test_ids_are_compared_without_numpy(tmp_path: Path) -> None:
    """Importing it takes a third of the memory in which a corpus of the size of ACE 2005 is scored."""
    apf = tmp_path / "apf"
    path = put(tmp_path, *(ace(f"d{n}", entities="E F") for n in range(2)))
    assert run("convert", str(path), str(apf), "--to", "apf", "--lossy").code == 0
    code = (
        "import sys, karat\n"
        "karat.score(sys.argv[1], sys.argv[1], protocol='ace-2005', accept_faults=True)\n"
        "print('numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(apf)], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_what_filters_count_is_added(tmp_path: Path) -> None:
    """CRAC: heads that are missing, and singletons that are removed, in all processes together."""
    documents = [
        Document(
            f"d{n:02}",
            unit="token",
            mentions=(
                mention("a", (0, 2), cluster=f"d{n}:x"),
                mention("b", (3, 5), cluster=f"d{n}:x"),
                mention("c", (7, 8)),
            ),
        )
        for n in range(10)
    ]
    path = put(tmp_path, *documents)
    (one,), (many,) = (results(path, path, each, "crac-2024") for each in (Processes(1), Pickling()))
    assert content(one) == content(many)
    assert {"singletons-removed", "heads-first-word"} <= {code for code, _, _ in one.warning_counts}


# What is wrong


def noisy(count: int) -> list[Document]:
    """Documents with more notes and faults than are kept, on both sides."""
    many = tuple(mention(f"m{n}", (0, 4), type="Life_Die", realis="sic") for n in range(95))
    return [Document(f"d{n:02}", mentions=many) for n in range(count)]


def test_findings_are_the_same_and_in_the_same_order(tmp_path: Path) -> None:
    """More than are kept of a code, with lines up to the last one that is kept."""
    gold, system = put(tmp_path, *noisy(12), name="gold"), put(tmp_path, *noisy(11), name="system")
    for name in ("tac-2017", "conll-2012"):
        (one,), (many,) = (results(gold, system, each, name) for each in (Processes(1), Pickling()))
        assert one.warnings == many.warnings
        assert one.warning_counts == many.warning_counts
        assert max(one.warning_counts.values()) > Findings.KEPT


def test_findings_add_up_as_if_added_one_by_one() -> None:
    listed = [Finding(f"code{n % 3}", "note" if n % 2 else "fault", str(n)) for n in range(5000)]
    whole, parts = Findings(), [Findings(), Findings(), Findings()]
    for number, finding in enumerate(listed):
        whole.add(finding)
        parts[number // 1700].add(finding)
    merged = Findings()
    for part in parts:
        merged.merge(part)
    assert merged.listed() == whole.listed()
    assert (merged.by_severity(), merged.by_code()) == (whole.by_severity(), whole.by_code())


def test_the_first_error_is_raised(tmp_path: Path) -> None:
    """Of several, the one in the first document, with its line, as if no other process had seen the others."""
    lines = as_jsonl(*noisy(12)).splitlines(keepends=True)
    broken = lines[7].replace(b"[0,4]", b"[4,0]", 1), lines[10].replace(b"[0,4]", b"[9,1]", 1)
    path = tmp_path / "broken.jsonl"
    path.write_bytes(b"".join([*lines[:7], broken[0], *lines[8:10], broken[1], lines[11]]))
    gold = put(tmp_path, *noisy(12), name="gold")
    found = [refusal(gold, path, each, "tac-2017") for each in (Processes(1), Pickling())]
    assert found[0] == found[1]
    assert (found[0].code, found[0].line) == ("jsonl-span", 8)
    strict = [refusal(gold, gold, each, "conll-2012", strict=True) for each in (Processes(1), Pickling())]
    assert strict[0] == strict[1]


def test_a_file_that_changes_is_noticed_by_workers(tmp_path: Path) -> None:
    path = put(tmp_path, *noisy(12))
    corpus = open_corpus(str(path))
    corpus.facts()
    part = pickle.loads(pickle.dumps(corpus.part(["d03"])))
    path.write_bytes(path.read_bytes() + b"\n")
    with pytest.raises(KaratError, match="changed while karat"):
        part.read("d03", print)
    part.close()


def test_a_worker_that_cannot_do_what_this_process_can_is_reported() -> None:
    """Scoring goes on here only to find out whether there is an error in the documents: there is none."""

    class Unreachable(Pickling):
        def map(self, function: Callable[[S, T], R], shared: S, tasks: Iterable[T]) -> Iterator[R]:
            for task in tasks:
                sent = pickle.loads(pickle.dumps(task))
                corpus = sent.gold if isinstance(sent, Task) else sent
                assert isinstance(corpus, FileCorpus)
                corpus.files = [file._replace(path="/nowhere") for file in corpus.files]
                yield from super().map(function, shared, [sent])

    found = refusal(GOLD, SYSTEM, Unreachable(), "tac-2017")
    assert found.code == "worker-unable"
    assert "No such file" in found.message


# How documents are divided


def test_documents_in_memory_stay_here() -> None:
    pickling = Pickling()
    memory = MemoryCorpus(open_corpus(str(GOLD)))
    score(memory, memory, resolve_all(["tac-2017"], {}), Options(), findings=Findings(), executor=pickling)
    assert not pickling.tasks


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] * (name != "tac-2017"))
        for name in one_of_each_kind(PROTOCOLS.names())
    ],
)
def test_errors_are_the_same(name: str) -> None:
    """Errors of each document, and the scores of repaired systems. Where a unit has several documents, it is whole."""
    found: list[object] = []
    pickling = Pickling()
    (protocol,) = resolve_all([name], {})
    options = Options(by=("type", "document"), details=True, errors=True)
    for each in (Processes(1), pickling):
        sides = open_corpus(str(GOLD)), open_corpus(str(SYSTEM))
        try:
            results = score(*sides, [protocol], options, findings=Findings(), executor=each)
            found.append([*map(content, results)])
        except KaratError as error:
            found.append(error.finding)
    assert found[0] == found[1]
    assert isinstance(found[0], Finding) or len(pickling.tasks) > 5


def test_errors_by_type_are_spelt_as_in_the_first_document(tmp_path: Path) -> None:
    types = ["Attack", "ATTACK", "attack"]
    documents = [
        Document(f"d{number}", mentions=(Mention("m", ((0, 5),), attributes={"type": type_, "realis": "Actual"}),))
        for number, type_ in enumerate(types)
    ]
    empty = [Document(document.id) for document in documents]
    gold, system = put(tmp_path, *documents, name="gold"), put(tmp_path, *empty, name="system")
    for each in (Processes(1), Pickling()):
        sides = open_corpus(str(gold)), open_corpus(str(system))
        options = Options(("nugget.type",), by=("type",), errors=True)
        (result,) = score(*sides, resolve_all(["tac-2017"], {}), options, findings=Findings(), executor=each)
        assert result.errors is not None
        (missed,) = result.errors.measures[0].found()
        assert missed.by == {"type": {"Attack": 3}}


def test_a_description_is_the_same() -> None:
    """Attributes, clusters within and across documents, topics, and the fingerprint."""
    pickling = Pickling()
    one, many = (
        description(open_corpus(str(GOLD)), findings=Findings(), executor=each) for each in (Processes(1), pickling)
    )
    assert len(pickling.tasks) > 5
    assert msgspec.json.encode(one) == msgspec.json.encode(many)


# Validation


def found(executor: Executor, *paths: Path, **options: Any) -> bytes:
    return msgspec.json.encode(validate([*map(str, paths)], executor=executor, **options).to_dict())


def test_validation_finds_the_same(tmp_path: Path) -> None:
    """Several files and corpora, with documents that are given twice, broken ones, and files that end too early."""
    lines = as_jsonl(*noisy(12)).splitlines(keepends=True)
    broken = b"".join([*lines[:5], b'{"id": "x", "mentions": 3}\n', lines[2], *lines[5:], lines[11], b'{"id": "cut'])
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.jsonl").write_bytes(broken)
    (folder / "b.jsonl").write_bytes(lines[3].replace(b'"d03"', b'"d33"') + lines[4])
    types = tmp_path / "types.txt"
    types.write_text("Conflict_Attack\n")
    pickling = Pickling()
    gold = put(tmp_path, *noisy(11), name="gold")
    for options in ({}, {"types": str(types)}, {"against": str(gold)}):
        assert found(Processes(1), folder, gold, **options) == found(pickling, folder, gold, **options)
    assert len(pickling.tasks) > 20


def test_validation_compares_ids_across_processes(tmp_path: Path) -> None:
    """A process that knows only its own documents cannot find them: they are checked again."""
    apf = tmp_path / "apf"
    path = put(tmp_path, *(ace(f"d{n}", entities="E F") for n in range(8)))
    assert run("convert", str(path), str(apf), "--to", "apf", "--lossy").code == 0
    one, many = (found(each, apf) for each in (Processes(1), Pickling()))
    assert one == many
    file = sorted(apf.glob("*.xml"))[5]
    file.write_text(file.read_text().replace('"d5-E-1"', '"d2-E-1"').replace('"d5-F"', '"d1-F"'))
    for processing in ("document", "cross-document"):
        one, many = (found(each, apf, settings={"processing": processing}) for each in (Processes(1), Pickling()))
        assert one == many
        assert b"mention-in-documents" in one
    assert b"element-twice" in found(Pickling(), apf)


def test_chunks_are_of_one_size() -> None:
    """Each document once, in order; large ones alone; enough for each worker; one where there is one worker."""
    index = Index()
    sizes = [100_000] * 50 + [5_000_000] + [10] * 1000
    for number, size in enumerate(sizes):
        index.add(0, Entry(0, size, 1, f"d{number:04}"))
    ids = [*index.rows]
    divided_ids = chunks(ids, [index], 2)
    assert [id_ for group in divided_ids for id_ in group] == ids
    assert max(sum(index.size(id_) for id_ in group) for group in divided_ids) < 5_000_000 + LARGEST
    assert len(divided_ids) == 6  # five of a mebibyte, and one with the largest document
    assert len(chunks(ids[-100:], [index], 4)) >= 12
    assert workers(Processes(1), ids, [index]) == 1


def test_many_tiny_documents_are_divided() -> None:
    """Each takes time, however small it is."""
    index, ids = Index(), [str(number) for number in range(40_000)]
    for number, id_ in enumerate(ids):
        index.add(0, Entry(8 * number, 8, number, id_))
    assert index.total_size() < LEAST / 10
    assert cores() == 1 or workers(Processes(), ids, [index]) > 1


def test_the_part_of_an_index_has_all_that_is_known_of_its_documents() -> None:
    index = Index()
    index.add(3, Entry(0, 10, 1, "a"))
    index.add(5, Entry(10, 20, 2, "b", b"above", is_unnamed=True))
    index.add(3, Entry(30, 5, 3, "c", more=(Entry(50, 7, 9, "c"),)))
    part, files = index.part(["b", "c"])
    assert files == [5, 3]
    for number, id_ in enumerate(["b", "c"]):
        assert part.place(id_) == (number, index.place(id_)[1])
        assert part.size(id_) == index.size(id_)


def test_small_inputs_need_no_other_process() -> None:
    assert Processes().width(LEAST - 1) == 1
    assert Processes().width(LEAST) == cores()
    assert Processes(3).width(0) == 3


def test_what_only_a_late_document_holds_is_scored(tmp_path: Path) -> None:
    """A run assumes what the first documents hold, and makes its rows again if others hold more."""
    plain = [Document(f"d{n:03}", mentions=(mention("m", (0, 4)),)) for n in range(FIRST_DOCUMENTS + 20)]
    late = [*plain[:-1], Document(plain[-1].id, mentions=(mention("m", (0, 4), type="Life_Die", realis="Actual"),))]
    path = put(tmp_path, *late)
    (one,), (many,) = (results(path, path, each, "tac-2017", by=("type",)) for each in (Processes(1), Pickling()))
    assert content(one) == content(many)
    assert {"nugget.type", "nugget.type+realis"} <= set(one.scores)
    assert list(one.by["type"]) == ["(none)", "Life_Die"]
