"""`karat describe`: a corpus made by hand, and every number of it counted by hand."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from karat.cli.program import cli
from karat.corpus.fingerprint import Fingerprint
from karat.corpus.memory import MemoryCorpus
from karat.describe.description import description
from karat.model import Cluster, Document, Link, Mention
from karat.problems import Findings, KaratError
from tests.corpora import as_jsonl, mention

DOCUMENTS = [
    Document(
        "d1",
        topic="36",
        subtopic="1",
        source="newswire",
        language="en",
        mentions=(
            mention("m1", (0, 4), cluster="E1", type="Life.Die", realis="Actual", certain=True),
            mention("m2", (5, 9), (12, 15), cluster="E1", type="Life.Die", realis="Other", certain=1),
            mention("m3", (20, 25), type="Life.Injure", realis="Actual"),
            mention("m4", (30, 35), cluster="E2", type="Contact.Meet", realis="Actual"),
            Mention("p1", ((40, 44),), kind="entity", cluster="P1", attributes={"type": "PER"}),
            Mention("p2", ((50, 54),), kind="entity", cluster="P1", attributes={"type": "PER"}),
            Mention("p3", (), kind="entity", cluster="P2"),
        ),
        clusters=(Cluster("P1", "entity", {"name": "Ann"}), Cluster("P3", "entity", {"name": "Bob"})),
        links=(Link("after", "m1", "m3"), Link("after", "m3", "m4"), Link("agent", "m1", "p1")),
    ),
    Document(
        "d2",
        topic="36",
        subtopic="2",
        source="newswire",
        mentions=(
            mention("m1", (0, 4), cluster="E1", type="Life.Die", realis="Actual"),
            mention("m2", (5, 9), cluster="E3", type="Life.Injure"),
            mention("m3", (10, 14), cluster="E3", type="Life.Injure"),
        ),
    ),
    Document("d3", topic="37", subtopic="1", source="forum", unit="token", mentions=(mention("m1", (0, 1)),)),
    Document("d4"),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.jsonl"
    path.write_bytes(as_jsonl(*DOCUMENTS))
    return path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["describe", *arguments])


def fingerprint() -> str:
    whole = Fingerprint()
    for document in DOCUMENTS:
        whole.add(document)
    return str(whole)


def values(present: int, absent: int, *listed: tuple[Any, int], more: tuple[int, int] = (0, 0)) -> dict[str, Any]:
    return {
        "present": present,
        "absent": absent,
        "distinct": len(listed) + more[0],
        "values": [{"value": value, "count": count} for value, count in listed],
        "more": {"values": more[0], "count": more[1]},
    }


def test_every_number(path: Path) -> None:
    """Events: E1 across d1 and d2 (3 mentions), E3 within d2; singletons are m3, E2 and d3's m1.

    Entities: P1 has two mentions, P2 one, P3 none. Subtopic 1 of topic 36 is not subtopic 1 of topic 37.
    """
    done = run(str(path), "-f", "json", "--most", "2")
    assert (done.exit_code, done.stderr) == (0, "")
    assert json.loads(done.stdout) == {
        "documents": 4,
        "fingerprint": fingerprint(),
        "units": {"char": 3, "token": 1},
        "topics": {"present": 3, "absent": 1, "distinct": 2},
        "subtopics": {"present": 3, "absent": 1, "distinct": 3},
        "sources": values(3, 1, ("newswire", 2), ("forum", 1)),
        "languages": values(1, 3, ("en", 1)),
        "mentions": {
            "event": {"mentions": 8, "one_segment": 7, "several_segments": 1, "no_span": 0},
            "entity": {"mentions": 3, "one_segment": 2, "several_segments": 0, "no_span": 1},
        },
        "attributes": {
            "event": {
                "type": values(7, 1, ("Life.Die", 3), ("Life.Injure", 3), more=(1, 1)),
                "realis": values(5, 3, ("Actual", 4), ("Other", 1)),
                "certain": values(2, 6, (1, 1), (True, 1)),
            },
            "entity": {"type": values(2, 1, ("PER", 2))},
        },
        "clusters": {
            "event": {"clusters": 5, "singleton": 3, "within": 1, "across": 1, "empty": 0, "largest": 3},
            "entity": {"clusters": 3, "singleton": 1, "within": 1, "across": 0, "empty": 1, "largest": 2},
        },
        "cluster_attributes": {"entity": {"name": values(2, 0, ("Ann", 1), ("Bob", 1))}},
        "links": {"after": 2},
        "arguments": {"agent": 1},
    }
    certain = json.loads(done.stdout)["attributes"]["event"]["certain"]["values"]
    assert [type(one["value"]) for one in certain] == [int, bool]


TABLES = [
    "documents                      4\ntopics                         2\ndocuments without a topic      1\n"
    "subtopics                      3\ndocuments without a subtopic   1\n"
    "mentions                      11\nclusters                       8"
    "\nlinks                          2\narguments                      1\n",
    "unit of offsets  documents\nchar                     3\ntoken                    1\n",
    "source        documents      %\nnewswire              2  50.00\n1 more value          1  25.00\n"
    "(none)                1  25.00\n",
    "mentions  all  one segment  several segments  no span\n"
    "event       8            7                 1        0\n"
    "entity      3            2                 0        1\n",
    "type of event mentions  mentions      %\nLife.Die                       3  37.50\n"
    "2 more values                  4  50.00\n(none)                         1  12.50\n",
    "certain of event mentions  mentions      %\n1                                 1  12.50\n"
    "1 more value                      1  12.50\n",
    "clusters  all  singleton  within a document  across documents  empty  largest\n"
    "event       5          3                  1                 1      0        3\n"
    "entity      3          1                  1                 0      1        2\n",
    "links  all\nafter    2\n\nroles  arguments\nagent          1\n",
]


@pytest.mark.parametrize("expected", TABLES, ids=lambda table: table.split()[0])
def test_text_shows_the_same_numbers(path: Path, expected: str) -> None:
    done = run(str(path), "--most", "1")
    assert done.exit_code == 0
    assert expected in done.stdout
    assert done.stdout.endswith(f"fingerprint  {fingerprint()}\n")


def test_the_order_of_documents_does_not_show() -> None:
    turned = description(MemoryCorpus(DOCUMENTS[::-1]), findings=Findings())
    assert turned == description(MemoryCorpus(DOCUMENTS), findings=Findings())


def test_values_that_cannot_stand_in_a_table_are_shown_as_json(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    document = Document("d", mentions=(mention("m", (0, 1), type="a\nb"), mention("n", (1, 2), type="")))
    path.write_bytes(as_jsonl(document))
    expected = '\n""                             1  50.00\n"a\\nb"                         1  50.00\n'
    assert expected in run(str(path)).stdout


def test_shares_have_as_many_digits_as_asked_for(path: Path) -> None:
    assert "\nLife.Die                       3  37.5\n" in run(str(path), "--digits", "1").stdout
    assert "type of event mentions,Life.Die,%,37.5000,karat=" in run(str(path), "--digits", "4", "-f", "csv").stdout
    latex = run(str(path), "--digits", "0", "-f", "latex").stdout
    assert "Life.Die & 3 & 38 \\\\\n" in latex
    assert f"corpus=\\allowbreak{{}}{fingerprint()}}}" in latex


def test_output_goes_to_a_file(path: Path, tmp_path: Path) -> None:
    done = run(str(path), "-o", str(tmp_path / "reported.txt"))
    assert (done.exit_code, done.stdout) == (0, "")
    assert (tmp_path / "reported.txt").read_text() == run(str(path)).stdout


def test_findings_go_to_standard_error(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text(
        '{"id": "d", "mentions": [{"id": "m", "span": [[0, 4]]}], "links": [{"kind": "after", "from": "m", "to": "x"}]}'
    )
    done = run(str(path), "-f", "json")
    assert json.loads(done.stdout)["links"] == {}
    assert done.stderr.startswith("fault: ")
    assert "argument-unknown" in done.stderr


def test_tokens_and_formats_are_read_as_told(tmp_path: Path) -> None:
    path = tmp_path / "corpus.txt"
    path.write_text("#BeginOfDocument d\ng\td\tE1\tt1,t2\tx\tA\tActual\n#EndOfDocument\n")
    done = run(str(path), "--input-format", "tbf", "--unit", "token", "-f", "json")
    assert json.loads(done.stdout)["units"] == {"token": 1}


@pytest.mark.parametrize(
    ("content", "code"),
    [("", "format-unknown"), ('{"id": "d", "mentions": [{"id": "m", "span": [[4, 4]]}]}', "jsonl-span")],
)
def test_bad_input_is_refused(tmp_path: Path, content: str, code: str) -> None:
    path = tmp_path / "corpus.x"
    path.write_text(content)
    done = run(str(path))
    assert (done.exit_code, done.stdout) == (1, "")
    assert isinstance(done.exception, KaratError)
    assert done.exception.finding.code == code


def test_unknown_words_are_usage_errors(path: Path) -> None:
    assert run(str(path), "-f", "xml").exit_code == 2
    assert run(str(path), "--most", "-1").exit_code == 2


def test_every_format_that_is_offered_is_written(tmp_path: Path) -> None:
    (option,) = [one for one in cli.commands["describe"].params if one.name == "form"]
    file = tmp_path / "gold.jsonl"
    file.write_bytes(as_jsonl(*DOCUMENTS))
    for form in option.type.choices:  # type: ignore[attr-defined]
        shown = CliRunner().invoke(cli, ["describe", str(file), "-f", form])
        assert (shown.exit_code, shown.exception) == (0, None), form
