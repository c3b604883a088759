"""MUC-4 templates: gold of GRIT, GTT and IterX, and systems whose documents only gold can name."""

import json
from pathlib import Path
from typing import Any

import pytest

import karat
from karat.corpus.memory import MemoryCorpus
from karat.formats import FORMATS
from karat.model import Document, Mention
from karat.problems import KaratError
from tests.event_files import GRIT, GRIT_SYSTEM, GTT, GTT_SYSTEM, ITERX_SYSTEM, changed, saved
from tests.running import run
from tests.test_event_formats import findings

ID = "TST1-MUC3-0001"


def templates(document: Document) -> list[tuple[object, dict[str, list[list[str | None]]]]]:
    """Type and roles of each template, an entity as the list of its strings."""
    strings: dict[str | None, list[str | None]] = {}
    for mention in document.mentions:
        strings.setdefault(mention.cluster, []).append(mention.text)
    found: list[tuple[object, dict[str, list[list[str | None]]]]] = []
    for template in document.mentions:
        if template.kind == "template":
            roles: dict[str, list[list[str | None]]] = {}
            for link in document.links:
                if link.source == template.id:
                    roles.setdefault(link.kind, []).append(strings[link.target])
            found.append((template.attributes.get("type"), roles))
    return found


def only(path: str) -> Document:
    (document,) = karat.read(path)
    return document


def system(path: Path, *records: dict[str, Any], gold: tuple[str, ...] = (ID,)) -> list[Document]:
    """The documents of a system's file, read beside gold's documents of these ids."""
    return list(karat.read(saved(path, *records)).beside(MemoryCorpus(map(Document, gold))))


def test_gold_with_one_table(tmp_path: Path) -> None:
    document = only(saved(tmp_path / "g.json", GRIT))
    assert document.id == ID
    assert templates(document) == [(None, {"Target": [["the bridge", "bridge"]], "Weapon": [["a bomb"]]})]
    assert [mention.span for mention in document.mentions] == [((11, 21),), ((15, 21),), ((0, 6),), ()]
    assert document.text == GRIT["doctext"]


def test_gold_with_templates(tmp_path: Path) -> None:
    """An entity of two templates is two clusters, which nothing complains about."""
    path = saved(tmp_path / "g.json", GTT)
    assert templates(only(path)) == [
        ("bombing", {"Target": [["the bridge"]], "Weapon": [["a bomb"]]}),
        ("attack / bombing", {"Target": [["the bridge", "bridge"]]}),
    ]
    assert findings(path) == []


def test_without_a_text_there_are_no_places(tmp_path: Path) -> None:
    document = only(saved(tmp_path / "g.json", changed(GTT, "doctext", to="")))
    assert {mention.span for mention in document.mentions} == {()}
    assert document.text is None


@pytest.mark.parametrize("record", [GTT_SYSTEM, ITERX_SYSTEM], ids=["GTT", "IterX"])
def test_systems_name_documents_in_their_own_ways(record: dict[str, Any], tmp_path: Path) -> None:
    (document,) = system(tmp_path / "s.json", record)
    assert document.id == ID
    assert templates(document) == [("bombing", {"Target": [["the bridge"], ["bomb", "a bomb"]]})]
    assert {mention.span for mention in document.mentions} == {()}


def test_a_system_of_grit(tmp_path: Path) -> None:
    (document,) = system(tmp_path / "s.json", GRIT_SYSTEM)
    assert (document.id, templates(document)) == (ID, [(None, {"Target": [["the bridge"]]})])


@pytest.mark.parametrize(
    ("key", "gold", "id_"),
    [
        ("10001", ("TST1-MUC3-0001", "TST2-MUC4-0001"), "TST1-MUC3-0001"),
        ("20001", ("TST1-MUC3-0001", "TST2-MUC4-0001"), "TST2-MUC4-0001"),
        ("20101", ("TST2-MUC4-0101", "TST2-MUC4-1"), "TST2-MUC4-0101"),
        ("TST1-MUC3-0001", ("TST1-MUC3-0001",), "TST1-MUC3-0001"),
        ("DEV-MUC3-0001", ("DEV-MUC3-0001", "TST1-MUC3-0001"), "DEV-MUC3-0001"),
        ("10001", ("10001", "TST1-MUC3-0001"), "10001"),
        ("10002", ("TST1-MUC3-0001",), "10002"),
        ("1", ("DEV-MUC3-0001",), "1"),
        ("9" * 30, ("TST1-MUC3-0001",), "9" * 30),
    ],
)
def test_gold_tells_which_document_a_number_is(key: str, gold: tuple[str, ...], id_: str, tmp_path: Path) -> None:
    """An id is as good as its number; a number that gold does not have stays as it is."""
    (document,) = system(tmp_path / "s.json", {key: GTT_SYSTEM["10001"]}, gold=gold)
    assert document.id == id_


def test_a_number_of_two_documents_is_refused(tmp_path: Path) -> None:
    with pytest.raises(KaratError, match="'TST1-MUC3-0001' or 'TST1-MUC4-0001'") as caught:
        system(tmp_path / "s.json", GTT_SYSTEM, gold=("TST1-MUC3-0001", "TST1-MUC4-0001"))
    assert (caught.value.finding.code, caught.value.finding.line) == ("muc4-number", 1)


def test_documents_of_one_object_are_in_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text(json.dumps({"10001": GTT_SYSTEM["10001"], "10002": {"pred_templates": [{"Target": 3}]}}, indent=1))
    assert findings(str(path)) == [("muc4-shape", "fatal", path.read_text().split("\n").index(' "10002": {') + 1)]


def test_several_lines_of_iterx_add_up(tmp_path: Path) -> None:
    other = {ID: [{"incident_type": "attack", "VICTIM": [["a guard"]]}]}
    documents = system(tmp_path / "s.json", ITERX_SYSTEM, {"TST1-MUC3-0002": []}, other)
    assert [document.id for document in documents] == [ID, "TST1-MUC3-0002"]
    assert templates(documents[0])[1:] == [("attack", {"Victim": [["a guard"]]})]
    assert documents[1].mentions == ()


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (changed(ITERX_SYSTEM, ID, 0, "weather", to=[["rain"]]), [("muc4-role-unknown", "note", 1)]),
        (changed(GTT, "templates", 0, "Target", to=[[]]), [("muc4-entity-empty", "note", 1)]),
        (changed(GTT, "templates", 0, "Target", to=[["the bridge", 11]]), [("muc4-shape", "fatal", 1)]),
        (changed(GTT, "templates", 0, "Target", to="the bridge"), [("muc4-shape", "fatal", 1)]),
        (changed(GTT, "templates", to=None), [("muc4-shape", "fatal", 1)]),
        (changed(GTT, "templates", 0, "Target", 0, 0, 1, to=3), [("text-differs", "fault", 1)]),
        (changed(GTT, "templates", 0, "Target", 0, 0, 1, to=-3), [("event-span", "fatal", 1)]),
        (changed(GTT, "templates", 0, "Target", 0, 0, 1, to=99), [("span-beyond-text", "fault", 1)]),
        ({"": [{"incident_type": "attack"}]}, [("muc4-shape", "fatal", 1)]),
    ],
    ids=str,
)
def test_what_is_wrong(record: dict[str, Any], expected: list[tuple[str, str, int]], tmp_path: Path) -> None:
    path = saved(tmp_path / "g.json", record)
    assert findings(path)[: len(expected)] == expected


def test_a_type_may_be_missing(tmp_path: Path) -> None:
    for type_ in (None, 3, ""):
        document = only(saved(tmp_path / "g.json", changed(GTT, "templates", 0, "incident_type", to=type_)))
        assert templates(document)[0][0] is None


def test_the_number_of_templates_and_types_choose_the_protocol() -> None:
    choose = FORMATS.get("muc4").choose_protocols
    assert choose is not None
    with_types = Document("d", mentions=(Mention("t", (), kind="template", attributes={"type": "bombing"}),))
    assert {*choose([with_types]), *choose([Document("e")])} == {*FORMATS.get("muc4").protocols}


def test_other_strings_are_another_gold(tmp_path: Path) -> None:
    """Fillers have no place, so that the fingerprint covers their strings."""
    prints = set()
    for string in ("bridge", "tower"):
        record = changed(changed(GTT, "templates", 0, "Target", 0, 0, to=[string, 0]), "doctext", to="")
        prints.add(json.loads(run("describe", saved(tmp_path / "g.json", record), "-f", "json").out)["fingerprint"])
    assert len(prints) == 2
