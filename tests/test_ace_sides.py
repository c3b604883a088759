"""Problems across documents, or across the two sides of a score: ids, attributes, sources, given parts."""

import re
from pathlib import Path

import pytest

from tests.ace_files import document
from tests.running import Run, run

ACROSS = "processing=cross-document"


D1, D2 = document("D1"), document("D2")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def scored(gold: str, system: str | None, *args: str) -> Run:
    """The second document of two in a gold and a system folder; the system may lack it."""
    for side, texts in (("gold", {"D1": D1, "D2": gold}), ("system", {"D1": D1, "D2": system})):
        Path(side).mkdir(exist_ok=True)
        for name, text in texts.items():
            if text is not None:
                Path(side, f"{name}.apf.xml").write_text(text, encoding="utf-8")
    return run("score", "gold", "system", "-p", "ace-2005", *args)


def line_of(text: str, words: str) -> int:
    return 1 + text.count("\n", 0, text.index(words))


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("side", ["gold", "system"])
@pytest.mark.parametrize("processing", [ACROSS, "processing=document"])
@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ('"D2-E1-1"', "D1-E1-1", "mention-in-documents"),
        ('"D2-E1-1"', "D1-E3", "id-of-two-kinds"),
        ('"D2-E3"', "D1-E3-1", "id-of-two-kinds"),
        ('"D2-E1-1"', "D1-T2-1", "id-of-two-kinds"),
    ],
)
def test_an_id_names_one_thing_in_all_documents(side: str, processing: str, old: str, new: str, code: str) -> None:
    """Refused by a score as by validation, in the line where it comes again."""
    text = D2.replace(old, f'"{new}"')
    sides = (text, D2) if side == "gold" else (D2, text)
    refused = scored(*sides, "--set", processing)
    assert refused.code == 1
    line = line_of(text, f' ID="{new}"')
    assert refused.err.startswith(f"error: {Path(side, 'D2.apf.xml')}, line {line}: ")
    assert f"[{code}]" in refused.err
    validated = run("validate", side)
    assert validated.code == 1
    assert f"fatal: {refused.err.splitlines()[0].partition(': ')[2].partition(': ')[2]}" in validated.out


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("Population-Center", "Nation", "has the subtype Nation, but Population-Center in document 'D1'"),
        ('TYPE="GPE"', 'TYPE="LOC"', "has the type LOC, but GPE in document 'D1'"),
    ],
)
def test_an_element_has_the_same_attributes_in_all_documents(old: str, new: str, says: str) -> None:
    """Entities may have only one type, one subtype and one class (evaluation plan, section 2.1.1)."""
    same = D2.replace('"D2-E3"', '"D1-E3"')
    assert scored(D2, same, "--set", ACROSS).code == 0
    refused = scored(D2, same.replace(old, new), "--set", ACROSS, "--accept-faults")
    assert refused.code == 1
    line = line_of(same, '<entity ID="D1-E3"')
    assert f"error: {Path('system/D2.apf.xml')}, line {line}: entity 'D1-E3' of document 'D2' {says}" in refused.err
    assert "[element-differs]" in refused.err


@pytest.mark.usefixtures("folder")
def test_external_links_of_an_element_agree() -> None:
    same = re.sub('D2-E1(?=")', "D1-E1", D2)
    other = same.replace('EID="Q1"', 'EID="Q2"')
    assert scored(D2, same, "--set", ACROSS).code == 0
    assert scored(D2, same.replace('<external_link RESOURCE="wiki" EID="Q1"/>', ""), "--set", ACROSS).code == 0
    assert "has the link to 'wiki' Q2, but Q1 in document 'D1'" in scored(D2, other, "--set", ACROSS).err


@pytest.mark.usefixtures("folder")
def test_a_document_has_the_source_that_gold_says() -> None:
    other = document("D2", source="weblog")
    refused = scored(D2, other)
    assert refused.code == 1
    assert "document 'D2' has the source 'weblog', but 'newswire' in gold [sources-differ]" in refused.err
    accepted = scored(D2, other, "--accept-faults", "--by", "source", "-m", "ace.edr")
    assert accepted.code == 0
    assert "weblog  " not in accepted.out


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("given", "old", "new", "says"),
    [
        (
            "mentions",
            'TYPE="PRO"',
            'TYPE="NOM"',
            "lacks 'D2-E1-3' of document 'D2': entity mention at 91-93 (head 91-93) of type PRO; 2 given",
        ),
        (
            "elements",
            "Population-Center",
            "Nation",
            "lacks 'D2-E3' of document 'D2': entity class=SPC subtype=Population-Center type=GPE, at 75-78",
        ),
        (
            "elements",
            ' VAL="2003-05-15"',
            ' VAL="2003"',
            "lacks 'D2-T2' of document 'D2': time val=2003-05-15, at 7-16; 2 given",
        ),
    ],
)
def test_given_parts_that_differ_are_named(given: str, old: str, new: str, says: str) -> None:
    refused = scored(D2, D2.replace(old, new), "--set", f"given={given}")
    assert refused.code == 1
    id_ = says.split("'")[1]
    line = 1 + D2[: D2.index(f' ID="{id_}"')].count("\n")
    assert refused.err.startswith(f"error: gold/D2.apf.xml, line {line}: the system {says}")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("given", ["mentions", "elements"])
def test_a_system_that_lacks_a_document_lacks_what_it_was_given(given: str) -> None:
    refused = scored(D2, None, "--set", f"given={given}")
    assert refused.code == 1
    assert re.match(r"error: gold/D2.apf.xml, line \d+: the system lacks 'D2-", refused.err)
