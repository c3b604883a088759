"""Rich ERE: what a file says, what is wrong in it said with its line, and XML that means harm refused at once."""

import json
from contextlib import closing
from pathlib import Path

import pytest

import karat
from karat.formats import FORMATS
from karat.model import Cluster, Document, Link
from karat.problems import Finding, KaratError
from tests.running import limited

FILE = """\
<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE deft_ere SYSTEM "http://nowhere.invalid/deft_ere.dtd">
<!-- <hoppers><hopper id="no"/></hoppers> -->
<deft_ere kit_id="k" doc_id="D1" source_type="multi_post">
  <entities>
    <entity id="ent-1" type="PER" specificity="specific">
      <entity_mention id="m-1" noun_type="NAM" offset="10" length="4"><mention_text>Anna</mention_text></entity_mention>
      <entity_mention id="m-2" noun_type="NOM" source="D1" offset="30" length="9"><mention_text>the woman</mention_text>
        <nom_head source="D1" offset="34" length="5">woman</nom_head></entity_mention>
    </entity>
  </entities>
  <fillers><filler id="f-1" source="D1" offset="40" length="6" type="time">Monday</filler></fillers>
  <relations><relation id="r-1" type="physical"><relation_mention id="relm-1"/></relation></relations>
  <hoppers>
    <hopper id="h-1">
      <event_mention id="em-1" type="contact" subtype="broadcast" realis="actual" audience="oneway">
        <trigger source="D1" offset="15" length="4">sa<!-- a comment -->id</trigger>
        <em_arg entity_id="ent-1" entity_mention_id="m-1" role="entity" realis="true">Anna</em_arg>
        <em_arg filler_id="f-1" role="time" realis="false">Monday</em_arg>
        <em_arg entity_id="ent-9" entity_mention_id="m-9" role="audience" realis="true">us</em_arg>
      </event_mention>
      <event_mention id="em-2" type="contact" subtype="contact" realis="perhaps">
        <trigger source="D1" offset="50" length="4">told</trigger></event_mention>
    </hopper>
    <hopper id="h-2">
      <event_mention id="em-3" type="justice" subtype="arrest-jail">
        <trigger source="D1" offset="15" length="4">said</trigger></event_mention>
    </hopper>
  </hoppers>
</deft_ere>
"""


def put(folder: Path, text: str, name: str = "D1.rich_ere.xml") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def read(path: Path) -> tuple[Document, list[Finding]]:
    """The one document of a file, and what was found in it."""
    found: list[Finding] = []
    with closing(karat.read(path)) as corpus:
        (id_,) = corpus.ids()
        return corpus.read(id_, found.append), found


def test_a_file_is_mentions_clusters_and_links(tmp_path: Path) -> None:
    document, found = read(put(tmp_path, FILE))
    assert (document.id, document.source) == ("D1", "multi_post")
    assert [(m.id, m.kind, m.span, m.cluster, m.text) for m in document.mentions] == [
        ("m-1", "entity", ((10, 14),), "D1:ent-1", "Anna"),
        ("m-2", "entity", ((30, 39),), "D1:ent-1", "the woman"),
        ("f-1", "value", ((40, 46),), None, "Monday"),
        ("em-1", "event", ((15, 19),), "D1:h-1", "said"),
        ("em-2", "event", ((50, 54),), "D1:h-1", "told"),
        ("em-3", "event", ((15, 19),), "D1:h-2", "said"),
    ]
    assert [m.attributes for m in document.mentions] == [
        {"type": "PER", "noun_type": "NAM"},
        {"type": "PER", "noun_type": "NOM"},
        {"type": "time"},
        {"type": "Contact_Broadcast", "realis": "Actual", "audience": "oneway"},
        {"type": "Contact_Contact", "realis": "Perhaps"},
        {"type": "Justice_Arrest-jail", "realis": "NOT_ANNOTATED"},
    ]
    assert document.mentions[1].head == ((34, 39),)
    assert document.clusters == (Cluster("D1:ent-1", "entity", {"type": "PER", "specificity": "specific"}),)
    assert document.links == (Link("entity", "em-1", "m-1"), Link("time", "em-1", "f-1"))
    assert [(finding.code, finding.severity, finding.line) for finding in found] == [
        ("ere-unread", "note", 13),
        ("ere-unread", "note", 19),
        ("argument-unknown", "fault", 20),
    ]


def test_sections_may_be_missing_and_realis_too(tmp_path: Path) -> None:
    """Event nugget files have hoppers only; without any realis in the corpus none is added."""
    hoppers = '<hoppers><hopper id="h"><event_mention id="e" type="life"><trigger offset="0" length="3"/>'
    path = put(tmp_path, f'<deft_ere doc_id="D">{hoppers}</event_mention></hopper></hoppers></deft_ere>', "x.ere.xml")
    document, found = read(path)
    assert [(m.attributes, m.text) for m in document.mentions] == [({"type": "Life"}, None)]
    assert found == []


def test_types_compare_as_tac_writes_them(tmp_path: Path) -> None:
    """Canonical forms make `Justice_Arrest-jail` TAC's `Justice_Arrest-Jail`; gold without realis matches any."""
    rows = ["15,19\tsaid\tContact_Broadcast\tActual", "50,54\ttold\tContact_Contact\tPerhaps"]
    rows.append("15,19\tsaid\tJustice_Arrest-Jail\tOther")
    lines = "\n".join(f"s\tD1\tE{number}\t{row}" for number, row in enumerate(rows))
    system = tmp_path / "system.tbf"
    system.write_text(f"#BeginOfDocument D1\n{lines}\n#EndOfDocument\n")
    result = karat.score(put(tmp_path, FILE), system, protocol="tac-2017")
    assert result["nugget.type+realis"].f1 == 1


def test_it_is_known_by_its_beginning_and_only_read(tmp_path: Path) -> None:
    with closing(karat.read(put(tmp_path, FILE, "anything.xml"))) as corpus:
        assert corpus.format == "ere"
    assert FORMATS.get("ere").write is None


def changed(old: str, new: str) -> str:
    assert FILE.count(old) == 1
    return FILE.replace(old, new)


@pytest.mark.parametrize(
    ("code", "line", "text"),
    [
        ("xml-broken", 30, FILE.removesuffix("</deft_ere>\n")),
        ("xml-broken", 19, FILE[: FILE.index("<em_arg filler") + 20]),
        ("xml-broken", 12, changed("</filler>", "</fillet>")),
        ("xml-broken", 18, changed(">Anna</em_arg>", ">&undeclared\n</em_arg>")),
        ("ere-shape", 4, changed(' doc_id="D1"', "")),
        ("ere-shape", 16, changed(' id="em-1"', "")),
        ("ere-shape", 22, changed('<trigger source="D1" offset="50" length="4">told</trigger>', "")),
        ("ere-shape", 18, changed(' role="entity"', "")),
        ("ere-span", 17, FILE.replace('offset="15"', 'offset="x"', 1)),
        ("ere-span", 12, changed('length="6"', 'length="0"')),
        ("ere-span", 12, changed('length="6"', 'length="-6"')),
        ("ere-span", 8, changed('length="5"', "").replace("\n        <nom_head", "<nom_head")),
        ("mention-twice", 22, changed('id="em-2"', 'id="em-1"')),
        ("mention-twice", 26, changed('<hopper id="h-2">', '\n<hopper id="h-1">')),
        ("ere-shape", 1, '<deft_era><deft_ere doc_id="x"/></deft_era>'),
    ],
)
def test_what_cannot_be_trusted_is_refused(tmp_path: Path, code: str, line: int, text: str) -> None:
    path = put(tmp_path, text)
    with pytest.raises(KaratError) as refused:
        read(path)
    finding = refused.value.finding
    assert (finding.code, finding.line, finding.file) == (code, line, str(path))
    assert finding.hint


BOMB = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">\n' for n in range(1, 30))
HARM = {
    "a file": '<!DOCTYPE deft_ere [\n<!ENTITY x SYSTEM "file:///etc/passwd">]><deft_ere doc_id="&x;">&x;</deft_ere>',
    "a bomb": f'<!DOCTYPE deft_ere [\n<!ENTITY l0 "lol">{BOMB}]><deft_ere doc_id="&l29;">&l29;</deft_ere>',
    "a swelling": f'<!DOCTYPE deft_ere [\n<!ENTITY a "{"a" * 50000}">]><deft_ere doc_id="D">{"&a;" * 50000}</deft_ere>',
    "from outside": '<!DOCTYPE deft_ere [\n<!ENTITY % x SYSTEM "http://nowhere.invalid"> %x;]><deft_ere doc_id="D"/>',
}


def test_hostile_xml_is_refused_cheaply(tmp_path: Path) -> None:
    for name, text in HARM.items():
        put(tmp_path, text, f"{name}.rich_ere.xml")
    refused = limited("validate", str(tmp_path), "-f", "json")
    assert refused.code == 1, refused.err
    files = json.loads(refused.out)["files"]
    found = {(Path(f["file"]).name, f["code"], f["line"]) for file in files for f in file["findings"]}
    assert found == {(f"{name}.rich_ere.xml", "xml-entity", 2) for name in HARM}


def test_an_entity_that_a_dtd_might_explain_is_refused(tmp_path: Path) -> None:
    """The DTD is allowed but never loaded, so that what it may declare stays unknown."""
    path = put(tmp_path, changed(">Monday</filler>", ">&day;</filler>"))
    with pytest.raises(KaratError, match=r"line 12: the entity &day; is used.*\[xml-entity\]"):
        read(path)


def test_depth_is_limited(tmp_path: Path) -> None:
    with pytest.raises(KaratError, match="xml-broken"):
        read(put(tmp_path, '<deft_ere doc_id="D">' + "<a>" * 5000 + "</a>" * 5000 + "</deft_ere>"))


def test_token_units_are_refused(tmp_path: Path) -> None:
    with pytest.raises(KaratError, match="ere-unit"), closing(karat.read(put(tmp_path, FILE), unit="token")) as corpus:
        list(corpus)
