"""Problems of an APF file or its source are reported with the line; also those that the old scorer accepted silently.

One small document, valid in every way, is damaged in one place at a time.
"""

import json
import re
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest
from lxml import etree

import karat
from karat.formats import apf as module
from karat.formats._apf_dtd import dtd
from karat.plugin import Context, Piece
from karat.problems import Finding, KaratError
from tests.ace_files import BODY, SGM, TEXT, apf, entity_mention, seq
from tests.running import limited, run
from tests.test_codes import rules

GOOD = apf()


class Damage(NamedTuple):
    """A replacement of text, and the one finding that it gives: there, or in the line that holds `at`."""

    code: str
    severity: str
    old: str
    new: str
    at: str = ""
    file: str = "D1.apf.xml"


def fatal(code: str, old: str, new: str, at: str = "", file: str = "D1.apf.xml") -> Damage:
    return Damage(code, "fatal", old, new, at, file)


def fault(code: str, old: str, new: str, at: str = "", file: str = "D1.apf.xml") -> Damage:
    return Damage(code, "fault", old, new, at, file)


def note(code: str, old: str, new: str, at: str = "", file: str = "D1.apf.xml") -> Damage:
    return Damage(code, "note", old, new, at, file)


E1 = '<entity ID="E1" TYPE="PER" SUBTYPE="Individual" CLASS="SPC">'
VALUE = '<value ID="V1" TYPE="Numeric" SUBTYPE="Money">'
RELATION = '<relation ID="R1" TYPE="ORG-AFF" SUBTYPE="Employment" MODALITY="Asserted" TENSE="Past">'
EVENT_ARGUMENT = '<event_argument REFID="E1" ROLE="Victim"/>'
MONDAY = seq("Monday")
OSLO = seq("Oslo")
BEGIN = TEXT.index("Monday")

DAMAGES = {
    # structure
    "no TYPE of the source": fatal("apf-shape", ' TYPE="text"', "", "<document"),
    "another TYPE of the source": fatal("apf-shape", 'TYPE="text"', 'TYPE="video"', "<document"),
    "no DOCID": fatal("apf-shape", '<document DOCID="D1">', "<document>"),
    "another root": fatal("apf-shape", "source_file", "source_fil", "<?xml"),
    "no ID": fatal("apf-shape", '<entity ID="E3"', "<entity"),
    "an empty ID": fatal("apf-shape", 'ID="E3-1"', 'ID=""'),
    "no CLASS": fatal("apf-shape", ' CLASS="SPC"', "", E1.replace(' CLASS="SPC"', "")),
    "no TYPE of a mention": fatal("apf-shape", ' TYPE="PRO"', "", 'ID="E1-3"'),
    "no tense of an event": fatal("apf-shape", 'GENERICITY="Specific" TENSE="Past"', 'GENERICITY="Specific"'),
    "no REFID": fatal("apf-shape", EVENT_ARGUMENT, '<event_argument ROLE="Victim"/>'),
    "no ROLE": fatal("apf-shape", EVENT_ARGUMENT, '<event_argument REFID="E1"/>'),
    "no head": fatal("apf-shape", f"<head>{OSLO}</head>\n", "", 'ID="E3-1"'),
    "no extent": fatal("apf-shape", f"<extent>{MONDAY}</extent>\n", "", 'ID="T1-1"'),
    "no anchor": fatal("apf-shape", f"<anchor>{seq('died')}</anchor>\n", "", 'ID="V2-1"'),
    "two heads": fatal("apf-shape", f"<head>{OSLO}</head>", f"<head>{OSLO}</head><head>{OSLO}</head>"),
    "no locator": fatal("apf-shape", f"<extent>{MONDAY}</extent>", "<extent></extent>"),
    "two locators": fatal("apf-shape", f"<extent>{MONDAY}</extent>", f"<extent>{MONDAY}{MONDAY}</extent>"),
    "a locator of another kind": fatal(
        "apf-shape", f"<extent>{MONDAY}</extent>", '<extent><timespan START="1" END="2"/></extent>'
    ),
    "an entity without mentions": fatal(
        "apf-shape",
        "<value ID",
        '<entity ID="E9" TYPE="PER" SUBTYPE="Group" CLASS="SPC"></entity>\n<value ID',
        'ID="E9"',
    ),
    "no START": fatal("apf-shape", MONDAY, MONDAY.replace(f' START="{BEGIN}"', "")),
    "a resource without a name": fatal("apf-shape", ' NAME="wiki"/>', "/>"),
    "no document": fatal("apf-shape", GOOD[GOOD.index("<document") : GOOD.index("</source_file>")], "", "<?xml"),
    # ids and references
    "an element id twice": fatal("mention-twice", 'ID="E3" TYPE', 'ID="E1" TYPE'),
    "a mention id twice": fatal("mention-twice", 'ID="E3-1"', 'ID="E1-1"'),
    "an element and a mention of one id": fatal("mention-twice", 'ID="T2-1"', 'ID="E1"'),
    "an id that begins with a digit": fault("apf-id", 'ID="T2"', 'ID="2T"'),
    "an argument that names nothing": fault("argument-unknown", EVENT_ARGUMENT, EVENT_ARGUMENT.replace("E1", "E9")),
    "an argument that names a mention": fault(
        "argument-unknown", '<relation_argument REFID="E3"', '<relation_argument REFID="E3-1"'
    ),
    "a mention argument that names nothing": fault("argument-unknown", 'REFID="E2-1"', 'REFID="E9-1"'),
    "a mention argument that names an element": fault("argument-unknown", 'REFID="E2-1"', 'REFID="E2"'),
    "a mention argument of another element": fault("apf-argument", 'REFID="E2-1"', 'REFID="E3-1"'),
    "an argument twice": fault(
        "apf-argument-twice", EVENT_ARGUMENT, f"{EVENT_ARGUMENT}\n{EVENT_ARGUMENT} ", f"{EVENT_ARGUMENT} "
    ),
    "a mention argument twice": fault(
        "apf-argument-twice",
        '<event_mention_argument REFID="T1-1" ROLE="Time-Within"/>',
        '<event_mention_argument REFID="T1-1" ROLE="Time-Within"/>\n'
        '<event_mention_argument REFID="T1-1" ROLE="Time-Within"/> ',
        'ROLE="Time-Within"/> ',
    ),
    "a mention argument in the words of another mention": fault(
        "apf-argument-extent",
        f'ROLE="Arg-1"><extent>{seq("Anna Keller")}',
        f'ROLE="Arg-1"><extent>{seq("the director")}',
    ),
    "an argument in two places": fault(
        "apf-invalid",
        f"<extent>{seq('Anna Keller')}</extent></relation_mention_argument>",
        f"<extent>{seq('Anna Keller')}</extent><extent>{OSLO}</extent></relation_mention_argument>",
    ),
    "a link to a resource that is not declared": fault("apf-resource", 'RESOURCE="wiki"', 'RESOURCE="wikt"'),
    "a resource twice": fatal(
        "apf-shape", "<document", '<external_resource URN="x" NAME="wiki"/>\n<document', 'URN="x"'
    ),
    # relations
    "no Arg-2": fatal("apf-relation", '<relation_argument REFID="E2" ROLE="Arg-2"/>\n', "", 'ID="R1"'),
    "two Arg-1": fatal("apf-relation", 'REFID="E2" ROLE="Arg-2"', 'REFID="E2" ROLE="Arg-1"', 'ID="R1"'),
    "a relation mention without Arg-2": fatal(
        "apf-relation", '<relation_mention_argument REFID="E2-1" ROLE="Arg-2"/>\n', "", 'ID="R1-1"'
    ),
    "a relation without mentions": fault(
        "apf-no-mention",
        '<relation ID="R2" TYPE="METONYMY"',
        '<relation ID="R2" TYPE="PHYS" SUBTYPE="Near"',
    ),
    "one entity in both arguments": note(
        "apf-same-entity", 'REFID="E2" ROLE="Arg-1"', 'REFID="E3" ROLE="Arg-1"', 'ID="R2"'
    ),
    "METONYMY without modality": note("apf-unmarked", ' MODALITY="Asserted" TENSE="Unspecified"', "", 'ID="R2"'),
    "a relation without tense": note("apf-unmarked", RELATION, RELATION.replace(' TENSE="Past"', "")),
    "a relation without modality": note("apf-unmarked", RELATION, RELATION.replace(' MODALITY="Asserted"', "")),
    # who may hold a role
    "an entity in a time role": fault(
        "apf-role", EVENT_ARGUMENT, f'{EVENT_ARGUMENT}<event_argument REFID="E3" ROLE="Time-Before"/>'
    ),
    "a time in another role": fault(
        "apf-role", EVENT_ARGUMENT, f'{EVENT_ARGUMENT}<event_argument REFID="T2" ROLE="Place"/>'
    ),
    "a value as Arg-1": fault(
        "apf-role", '<relation_argument REFID="E2" ROLE="Arg-1"/>', '<relation_argument REFID="V1" ROLE="Arg-1"/>'
    ),
    # closed lists
    "an unknown entity type": fault("apf-value", E1, E1.replace("PER", "PERS")),
    "an unknown event type": fault("apf-value", 'TYPE="Life"', 'TYPE="Death"'),
    "a relation type in another case": fault("apf-value", 'TYPE="ORG-AFF"', 'TYPE="Org-Aff"'),
    "an unknown class": fault("apf-value", E1, E1.replace("SPC", "SPEC")),
    "an unknown mention type": fault("apf-value", 'TYPE="PRO"', 'TYPE="PRE"'),
    "a mention role of facilities": fault("apf-value", 'ROLE="PER"', 'ROLE="FAC"'),
    "metonymy in lower case": fault("apf-value", 'METONYMY_MENTION="FALSE"', 'METONYMY_MENTION="false"'),
    "any MOD": fault("apf-value", 'MOD="APPROX"', 'MOD="ABOUT"'),
    "any ANCHOR_DIR": fault("apf-value", 'ANCHOR_DIR="AS_OF"', 'ANCHOR_DIR="ASOF"'),
    "any SET": fault("apf-value", 'SET="YES"', 'SET="NO"'),
    "an unknown modality": fault("apf-value", 'TYPE="METONYMY" MODALITY="Asserted"', 'TYPE="METONYMY" MODALITY="Said"'),
    "an unknown polarity": fault("apf-value", 'POLARITY="Positive"', 'POLARITY="positive"'),
    "an unknown genericity": fault("apf-value", 'GENERICITY="Specific"', 'GENERICITY="Special"'),
    "an unknown tense": fault("apf-value", 'TENSE="Unspecified"', 'TENSE="None"'),
    "an unknown LDCTYPE": fault("apf-value", 'LDCTYPE="WHQ"', 'LDCTYPE="WHO"'),
    "an LDCTYPE of ACE 2007": fault("apf-value", 'LDCTYPE="WHQ"', 'LDCTYPE="NAMPOST"'),
    "an unknown LEXICALCONDITION": fault("apf-value", 'N="Preposition"', 'N="Prepositional"'),
    "a VERSION of two words": fault("apf-invalid", 'TYPE="text"', 'TYPE="text" VERSION="5.1.1 beta"'),
    "an empty VERSION": fault("apf-invalid", 'TYPE="text"', 'TYPE="text" VERSION=""'),
    "an unknown level": fault("apf-value", 'LEVEL="SEN"', 'LEVEL="DOC"'),
    "a subtype of another type": fault("apf-subtype", E1, E1.replace("Individual", "Commercial")),
    "an event subtype that was removed": fault("apf-subtype", 'SUBTYPE="Die"', 'SUBTYPE="Date"'),
    "a value without its subtype": fault("apf-subtype", VALUE, '<value ID="V1" TYPE="Numeric">'),
    "a subtype where there is none": fault("apf-subtype", VALUE, '<value ID="V1" TYPE="Crime" SUBTYPE="Money">'),
    "a subtype of METONYMY": fault("apf-subtype", 'TYPE="METONYMY"', 'TYPE="METONYMY" SUBTYPE="Near"'),
    "a relation without its subtype": fault("apf-subtype", ' SUBTYPE="Employment"', "", 'ID="R1"'),
    "blanks around a value": note("apf-blanks", 'TENSE="Unspecified"', 'TENSE=" Unspecified "'),
    # what does not belong there
    "an unknown element": fault("apf-unknown", "<value ID", '<quote ID="Q1"/>\n<value ID', "<quote"),
    "an element in another": fault(
        "apf-unknown", f"<head>{OSLO}</head>\n", f"<head>{OSLO}</head>\n<value ID='X'/>\n", "<value ID='X'/>"
    ),
    "an unknown element in the source file": fault("apf-unknown", "<document", "<kit/>\n<document", "<kit/>"),
    "an unknown attribute": fault("apf-unknown", E1, E1.replace("<entity ", '<entity NOTE="x" ')),
    "an unknown attribute of the source file": fault("apf-unknown", 'URI="D1.sgm"', 'URI="D1.sgm" KIT="1"'),
    "an unknown attribute of the document": fault("apf-unknown", 'DOCID="D1"', 'DOCID="D1" KIT="1"', "<document"),
    "an unknown attribute of a resource": fault("apf-unknown", 'NAME="wiki"/>', 'NAME="wiki" KIT="1"/>'),
    "an element in a resource": fault("apf-unknown", 'NAME="wiki"/>', 'NAME="wiki">Wikidata<b/></external_resource>'),
    "text before the document": fault("apf-unknown", "<document", "and\n<document", "and\n"),
    "text after the document": fault("apf-unknown", "</document>", "</document>\nand", "and\n"),
    "a resource after the document": fault(
        "apf-order", "</document>", '</document>\n<external_resource URN="x" NAME="y"/>', 'URN="x"'
    ),
    "text between elements": fault("apf-unknown", "<value ID", "and\n<value ID", "and\n"),
    "an element in a locator's holder": fault(
        "apf-unknown", f"<extent>{MONDAY}</extent>", f"<extent><b/>{MONDAY}</extent>"
    ),
    "an element in a locator": fault("apf-unknown", ">Monday</charseq>", ">Mon<i/>day</charseq>"),
    "the head before the extent": fault(
        "apf-order",
        f"<extent>{OSLO}</extent>\n<head>{OSLO}</head>",
        f"<head>{OSLO}</head>\n<extent>{OSLO}</extent>",
        f"<extent>{OSLO}",
    ),
    "an annotation in a comment": fault("apf-comment", "<value ID", "<!--\n<entity ID='X'/> -->\n<value ID", "<!--"),
    "a document in a comment": fault(
        "apf-comment", "<document", "<!-- <document DOCID='D0'></document> -->\n<document", "<!--"
    ),
    "two mentions of a value": fault(
        "apf-mentions",
        "</value>",
        f'<value_mention ID="V1-2"><extent>{seq("paid")}</extent></value_mention></value>',
    ),
    "a document without annotations": fault("apf-empty", BODY, "", "<document"),
    # where things stand
    "a START that is no number": fatal("apf-offset", MONDAY, MONDAY.replace(f'"{BEGIN}"', '"x9"')),
    "a START in other digits": fatal("apf-offset", MONDAY, MONDAY.replace(f'"{BEGIN}"', '"٣"')),
    "a START of too many digits": fatal("apf-offset", MONDAY, MONDAY.replace(f'"{BEGIN}"', f'"{"9" * 30}"')),
    "an END before its START": fatal("apf-offset", MONDAY, MONDAY.replace(f'START="{BEGIN}"', 'START="9999"')),
    "an empty charspan": fatal(
        "apf-offset", MONDAY, f'<charspan START="{BEGIN}" END="{BEGIN}"></charspan>', "<charspan"
    ),
    "blanks around an offset": note("apf-blanks", MONDAY, MONDAY.replace(f'"{BEGIN}"', f'" {BEGIN} "')),
    "a negative offset": fault("apf-negative", seq("2003-05-15"), '<charseq START="-1" END="3"></charseq>'),
    "a head outside of its extent": fault("apf-head", f"<head>{OSLO}</head>", f"<head>{MONDAY}</head>"),
    "an anchor outside of its extent": note(
        "apf-anchor", f"<anchor>{seq('died')}</anchor>", f"<anchor>{seq('paid')}</anchor>"
    ),
    "heads that overlap": fault(
        "apf-overlap",
        f"<head>{seq('director')}</head>",
        f"<head>{seq('Keller')}</head>",
        'ID="E1-2"',
    ),
    # against the source
    "other text": fault("text-differs", seq("five dollars"), seq("five dollars", said="six dollars"), 'ID="V1-1"'),
    "other text of a head": fault("text-differs", f"<head>{OSLO}</head>", f"<head>{seq('Oslo', said='Olso')}</head>"),
    "other text of a name": fault(
        "text-differs",
        f'<name NAME="Anna Keller">{seq("Anna Keller")}',
        f'<name NAME="Anna Keller">{seq("Anna Keller", said="Ann Keller")}',
    ),
    "other text of an argument": fault(
        "text-differs",
        f'ROLE="Arg-1"><extent>{seq("Anna Keller")}',
        f'ROLE="Arg-1"><extent>{seq("Anna Keller", said="Ann Keller")}',
    ),
    "beyond the text": fault(
        "span-beyond-text", MONDAY, f'<charseq START="{BEGIN}" END="9999">Monday</charseq>', 'ID="T1-1"'
    ),
    "a blank after the last character": note(
        "apf-blank-end", MONDAY, seq("Monday.\n"), "<extent>" + seq("Monday.\n")[:20]
    ),
    "outside of TEXT": note("apf-outside", f"<extent>{seq('five dollars')}", f"<extent>{seq('D1')}", 'ID="V1-1"'),
    "no URI": fault("apf-source", 'URI="D1.sgm" ', ""),
    "no SOURCE": fault("apf-source", 'SOURCE="newswire" ', ""),
    "the DTD of ACE 2007": note("apf-later", "apf.v5.1.1.dtd", "apf.v5.1.2.dtd", "<source_file URI"),
    "the DTD of ACE 2008": note("apf-later", "apf.v5.1.1.dtd", "apf.v5.2.0.dtd", "<source_file URI"),
    "another SOURCE": note("apf-source-odd", 'SOURCE="newswire"', 'SOURCE="newspaper"'),
    "a tag of three lines": fault("apf-value", E1, E1.replace(" ", "\n").replace("SPC", "SPEC")),
    # the source itself
    "no TEXT": fault("sgm-structure", "TEXT>", "TXT>", "<DOC>", "D1.sgm"),
    "a TEXT that is not closed": fault("sgm-structure", "</TEXT>", "", "<DOC>", "D1.sgm"),
    "a source of another document": fault("sgm-structure", "<DOCID> D1 ", "<DOCID> D2 ", "<DOC>", "D1.sgm"),
    "a bracket that is not closed": fault("sgm-structure", "</DOC>", "</DOC>\n<", "<\n", "D1.sgm"),
    "an end that has no beginning": fault("sgm-structure", "</BODY>", "</BODY></TURN>", "", "D1.sgm"),
    "two times of writing": fault("sgm-structure", "<BODY>", "<DATETIME></DATETIME><BODY>", "<DOC>", "D1.sgm"),
}
ALSO = {
    "an argument that names nothing": {"apf-argument"},
    "a negative offset": {"apf-outside"},
    "beyond the text": {"apf-outside"},
    "heads that overlap": {"apf-head"},
}
"""Further findings that a damage rightly gives."""


def damaged(damage: Damage) -> tuple[dict[str, str], int]:
    """The files, and the line where the damage is reported."""
    files = {"D1.apf.xml": GOOD, "D1.sgm": SGM}
    assert damage.old in files[damage.file], damage.old
    every = damage.old in ("source_file", "TEXT>")
    place = files[damage.file].index(damage.old)
    text = files[damage.file] = files[damage.file].replace(damage.old, damage.new, -1 if every else 1)
    return files, 1 + text.count("\n", 0, text.index(damage.at) if damage.at else place)


def reported(folder: Path, *args: str) -> tuple[int, list[tuple[str, str, str, int | None]]]:
    done = run("validate", str(folder), "-f", "json", *args)
    found = [finding for file in json.loads(done.out)["files"] for finding in file["findings"]]
    assert all(finding["hint"] for finding in found)
    return done.code, [(f["code"], f["severity"], Path(f["file"]).name, f["line"]) for f in found]


def put(folder: Path, files: dict[str, str]) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / name).write_bytes(text.encode())
    return folder


def test_the_document_is_valid(tmp_path: Path) -> None:
    assert reported(put(tmp_path, {"D1.apf.xml": GOOD, "D1.sgm": SGM})) == (0, [])


@pytest.mark.parametrize("name", DAMAGES)
def test_one_damage_one_finding(name: str, tmp_path: Path) -> None:
    damage = DAMAGES[name]
    files, line = damaged(damage)
    code, found = reported(put(tmp_path, files))
    others = ALSO.get(name, set())
    assert [finding for finding in found if finding[0] not in others] == [
        (damage.code, damage.severity, damage.file, line)
    ]
    assert {finding[0] for finding in found} == {damage.code} | others
    assert code == (damage.severity != "note")


def test_every_code_of_apf_has_a_damage() -> None:
    elsewhere = {"apf-unit", "apf-unwritable", "apf-rounded", "apf-text"}  # in test_apf.py, and below
    known = {code for code in rules() if code.startswith(("apf-", "sgm-"))}
    assert known - {damage.code for damage in DAMAGES.values()} == elsewhere


def mutated(random: Random, data: str) -> str:
    """The document with one element, attribute or value of it removed, copied, moved or renamed."""
    root = etree.fromstring(data.encode())
    elements = list(root.find("document").iter())[1:]
    element, other = random.choice(elements), random.choice(elements)
    parent = element.getparent()
    match random.randrange(7):
        case 0:
            parent.remove(element)
        case 1:
            parent.append(deepcopy(element))
        case 2 if other not in element.iter():
            other.append(element)
        case 3:
            element.tag = other.tag
        case 4 if element.attrib:
            del element.attrib[random.choice(list(element.attrib))]
        case 5 if element.attrib:
            element.set(random.choice(list(element.attrib)), random.choice(["", "x", " SPC", "-1", "E1", "E1-1"]))
        case 6:
            element.set(random.choice(["ID", "id", "TYPE", "ROLE", "NOTE"]), "PER")
        case _:
            parent.insert(0, element)
    return str(etree.tostring(root, encoding="unicode"))


def test_what_the_dtd_refuses_never_passes_without_a_word() -> None:
    """Whatever is done to a document: if it is not valid any more, something is reported, and nothing crashes."""
    random, invalid = Random(2005), 0
    for _ in range(400):
        data = mutated(random, GOOD).encode()
        found: list[Finding] = []
        valid = dtd().validate(etree.fromstring(data).find("document"))
        list(module.read(Piece("nowhere/D1.apf.xml", data), Context(report=found.append)))
        reported = {finding.code for finding in found} - {"text-missing"}
        assert valid or reported, data.decode()
        invalid += not valid
    assert invalid > 200


@pytest.mark.parametrize(("said", "is_noted"), [(" Osl", True), ("slo ", True), ("Oslo", False), (" Oslo ", False)])
def test_blanks_at_the_ends_of_a_span_show_in_a_text_of_its_length(tmp_path: Path, said: str, is_noted: bool) -> None:
    text = GOOD.replace(f"<head>{OSLO}</head>", f"<head>{seq('Oslo', said=said)}</head>")
    code, found = reported(put(tmp_path, {"D1.apf.xml": text}))
    assert code == 0
    assert [finding[0] for finding in found if finding[0] != "text-missing"] == ["apf-blank-end"] * is_noted


def test_an_earlier_year_is_refused(tmp_path: Path) -> None:
    folder = put(tmp_path, {"D1.apf.xml": GOOD.replace("apf.v5.1.1.dtd", "apf.v4.0.1.dtd"), "D1.sgm": SGM})
    assert reported(folder) == (1, [("format-unsupported", "fatal", "D1.apf.xml", 1)])
    refused = run("score", str(folder), str(folder))
    assert refused.code == 1
    assert "APF of ACE 2004 or earlier" in refused.err


def test_a_later_year_is_scored_by_the_rules_of_ace_2005(tmp_path: Path) -> None:
    """Its LDCTYPE may be one that ACE 2005 does not have."""
    text = GOOD.replace("apf.v5.1.1.dtd", "ace2007_apf.v5.1.2.dtd").replace('LDCTYPE="WHQ"', 'LDCTYPE="NAMPOST"')
    folder = put(tmp_path, {"D1.apf.xml": text, "D1.sgm": SGM})
    done = run("score", str(folder), str(folder), "-p", "ace-2005", "-m", "ace.edr", "-f", "json")
    assert done.code == 0, done.err
    content = json.loads(done.out)
    assert content["scores"]["ace.edr"]["micro"]["value"] == 1
    assert {warning["code"] for warning in content["warnings"]} == {"apf-later"}
    assert "ace2007_apf.v5.1.2.dtd', the DTD of ACE 2007" in content["warnings"][0]["message"]


@pytest.mark.parametrize(
    ("words", "source", "message"),
    [
        ("أوسلو", "usenet", "is in Arabic, and its source is usenet, which was evaluated in English (Table 8)"),
        ("奥斯陆", "telephone", "is in Chinese, and its source is telephone, which was evaluated in English (Table 8)"),
        ("أوسلو", "weblog", None),
        ("Oslo", "broadcast conversation", None),
        ("1999", "usenet", None),
    ],
)
def test_sources_by_language(tmp_path: Path, words: str, source: str, message: str | None) -> None:
    """Table 8. Neither APF nor its source names a language, but the letters tell."""
    place = f'<charseq START="0" END="{len(words) - 1}">{words}</charseq>'
    body = (
        '<entity ID="E1" TYPE="GPE" SUBTYPE="Population-Center" CLASS="SPC"><entity_mention ID="E1-1" TYPE="NAM">'
        f"<extent>{place}</extent><head>{place}</head></entity_mention></entity>"
    )
    header = f'URI="D1.sgm" SOURCE="{source}" TYPE="text"'
    done = run("validate", str(put(tmp_path, {"D1.apf.xml": apf(body, header=header)})), "-f", "json")
    found = [finding for file in json.loads(done.out)["files"] for finding in file["findings"]]
    noted = [(one["code"], one["severity"], one["message"]) for one in found if one["code"] != "text-missing"]
    assert noted == ([] if message is None else [("apf-source-odd", "note", f"document 'D1' {message}")])
    assert done.code == 0


# The submission rule.


def test_faults_are_refused_unless_they_are_accepted(tmp_path: Path) -> None:
    """Evaluation plan, section 3.5.1: results that are not valid are not accepted."""
    gold = put(tmp_path / "gold", {"D1.apf.xml": GOOD, "D1.sgm": SGM})
    system = put(tmp_path / "system", {"D1.apf.xml": GOOD.replace("FALSE", "False"), "D1.sgm": SGM})
    for sides in ((gold, system), (system, gold)):
        refused = run("score", *map(str, sides), "-p", "tac-2017")
        assert refused.code == 1
        assert "apf-value" in refused.err
        assert "--accept-faults" in refused.err
    accepted = run("score", str(gold), str(system), "-p", "tac-2017", "-m", "nugget", "--accept-faults", "-f", "json")
    assert accepted.code == 0
    assert [w["code"] for w in json.loads(accepted.out)["warnings"]] == ["apf-value", "apf-value"]
    with pytest.raises(KaratError, match="apf-value"):
        karat.score(gold, system, protocol="tac-2017")
    assert karat.score(gold, system, protocol="tac-2017", accept_faults=True)["nugget.type"].f1 == 1
    assert run("score", str(gold), str(system), "--strict", "--accept-faults").code == 2


def test_two_relations_in_the_same_words_are_ordinary(tmp_path: Path) -> None:
    relation = GOOD[GOOD.index(RELATION) : GOOD.index("</relation>") + len("</relation>")]
    second = relation.replace(' ID="R1', ' ID="R9').replace('TYPE="ORG-AFF" SUBTYPE="Employment"', 'TYPE="METONYMY"')
    text = GOOD.replace(relation, f"{relation}\n{second}")
    assert text.count("<relation_mention ID") == GOOD.count("<relation_mention ID") + 1
    assert reported(put(tmp_path / "D", {"D1.apf.xml": text, "D1.sgm": SGM})) == (0, [])


def again(kind: str, old: str = "", new: str = "") -> str:
    """The document with a second mention of its relation or event in the same words, and perhaps another argument."""
    mention = GOOD[GOOD.index(f"<{kind}_mention ID") : GOOD.index(f"</{kind}_mention>")] + f"</{kind}_mention>\n"
    second = mention.replace('-1"', '-2"', 1).replace(old, new)
    assert new in second
    return GOOD.replace(mention, mention + second)


@pytest.mark.parametrize(("kind", "severity"), [("relation", None), ("event", "note")])
def test_two_mentions_in_the_same_words_are_a_fault_if_their_arguments_are_equal(
    kind: str, severity: str | None, tmp_path: Path
) -> None:
    """Section 2.4.3: the extent of a relation mention may be the sentence. The same anchor twice is worth a note."""
    name = {"relation": "R1", "event": "V2"}[kind]
    role, extent = ("Arg-1", "Anna Keller") if kind == "relation" else ("Victim", "Anna Keller of Acme &amp; Sons")
    argument = f'REFID="E1-1" ROLE="{role}"><extent>{seq(extent)}'
    other = again(kind, argument, f'REFID="E1-2" ROLE="{role}"><extent>{seq("the director")}')
    line = 1 + other[: other.index(f'ID="{name}-2"')].count("\n")
    found = [] if severity is None else [("span-twice", severity, "D1.apf.xml", line)]
    assert reported(put(tmp_path / "other", {"D1.apf.xml": other, "D1.sgm": SGM})) == (0, found)
    same = put(tmp_path / "same", {"D1.apf.xml": again(kind), "D1.sgm": SGM})
    assert reported(same) == (1, [("span-twice-in-cluster", "fault", "D1.apf.xml", line)])
    out = run("validate", str(same)).out
    assert f"{kind} '{name}' of document 'D1' has the span" in out
    assert "twice, with the same arguments [span-twice-in-cluster]" in out


def test_messages_use_the_words_of_ace(tmp_path: Path) -> None:
    """Of a document whose every line is damaged, and of elements that share a span."""
    texts = [damaged(damage)[0] for damage in DAMAGES.values()]
    value = GOOD[GOOD.index(VALUE) : GOOD.index("</value>")] + "</value>\n"
    same = entity_mention("E1-9", "PRO", "She", "She")
    twins = value + value.replace('"V1', '"V9') + BODY[BODY.index(E1) : BODY.index("<entity_attributes>")] + "</entity>"
    texts += [{"D1.apf.xml": text, "D1.sgm": SGM} for text in (again("relation"), again("event"), apf(twins))]
    texts += [{"D1.apf.xml": GOOD.replace("<entity_attributes>", f"{same}<entity_attributes>"), "D1.sgm": SGM}]
    for number, files in enumerate(texts):
        put(tmp_path / str(number), files)
    findings = run("validate", str(tmp_path), "-f", "json")
    messages = [
        f"{finding['message']} {finding['hint']}"
        for file in json.loads(findings.out)["files"]
        for finding in file["findings"]
    ]
    assert len(messages) > len(DAMAGES)
    assert not [message for message in messages if re.search("cluster|realis", message)]
    assert any("value 'V1' and value 'V9' of document 'D1' share the span" in message for message in messages)


def test_notes_about_valid_files_do_not_stop_scoring(tmp_path: Path) -> None:
    """These are faults that published corpora have: they are reported, and do not stop a score."""
    gold = put(tmp_path / "gold", {"D1.apf.xml": GOOD, "D1.sgm": SGM})
    same, other = entity_mention("E1-9", "PRO", "She", "She"), entity_mention("E1-9", "NAM", "Anna Keller", "Keller")
    texts = {
        "span-twice-in-cluster": GOOD.replace("<entity_attributes>", f"{same}<entity_attributes>"),
        "apf-overlap": GOOD.replace("<entity_attributes>", f"{other}<entity_attributes>"),
        "apf-empty": apf(""),
    }
    assert {*texts, "span-repeated"} == {*(module.FORMAT.tolerated_faults or ())}
    for code, text in texts.items():
        system = put(tmp_path / code, {"D1.apf.xml": text, "D1.sgm": SGM})
        failed, found = reported(system)
        assert failed
        assert [finding[:2] for finding in found] == [(code, "fault")]
        for args in (["-p", "tac-2017"], ["-p", "conll-2012", "--set", "kinds=entity"]):
            assert run("score", str(gold), str(system), *args).code == 0


@pytest.mark.parametrize(
    ("words", "said", "is_fault"),
    [
        ("five dollars", "six", True),
        ("Oslo", "Oslo ", False),
        ("Oslo", "Osl", True),
        ("Oslo", "", False),
        ("Acme &amp; Sons", "Acme & Sons", False),
        ("five dollars", "five\n dollars", False),
        ("the director, died", "the director,died", False),
        ("Anna Keller of Acme", "Anna Keller", True),
    ],
)
def test_a_text_of_another_length_needs_no_source_to_be_a_fault(
    tmp_path: Path, words: str, said: str, is_fault: bool
) -> None:
    value = f"<extent>{seq('five dollars')}</extent>"
    files = {"D1.apf.xml": GOOD.replace(value, f"<extent>\n{seq(words, said=said)}</extent>")}
    line = 1 + files["D1.apf.xml"][: files["D1.apf.xml"].index("<extent>\n")].count("\n") + 1
    code, found = reported(put(tmp_path, files))
    expected = [("apf-text", "fault", "D1.apf.xml", line)] if is_fault else []
    assert [finding for finding in found if finding[0] != "text-missing"] == expected
    assert code == is_fault


def test_a_mention_in_two_documents_is_fatal(tmp_path: Path) -> None:
    files = {"D1.apf.xml": GOOD, "D2.apf.xml": apf(docid="D2")}
    code, found = reported(put(tmp_path, files))
    codes = [finding[:2] for finding in found if finding[0] != "text-missing"]
    assert code == 1
    assert set(codes) == {("mention-in-documents", "fatal"), ("element-twice", "fatal")}
    assert codes.count(("element-twice", "fatal")) == 9
    assert all(file == "D2.apf.xml" and line for c, _, file, line in found if c != "text-missing")


def test_an_element_in_two_documents_is_fatal_unless_it_may_be_there(tmp_path: Path) -> None:
    """`validate` refuses what `score` refuses, and the same option allows it."""
    second = apf(BODY.replace('-1"', '-9"').replace("Arg-9", "Arg-1"), docid="D2").replace("E1-2", "E1-8")
    folder = put(tmp_path / "both", {"D1.apf.xml": GOOD, "D2.apf.xml": second.replace("E1-3", "E1-7")})
    code, found = reported(folder)
    assert code == 1
    assert {finding[:2] for finding in found} == {("element-twice", "fatal"), ("text-missing", "note")}
    assert ("element-twice", "fatal", "D2.apf.xml", 6) in found
    refused = run("score", str(folder), str(folder), "-p", "ace-2005")
    assert refused.code == 1
    assert "D2.apf.xml, line 6: " in refused.err
    allowed = "--set", "processing=cross-document"
    assert reported(folder, *allowed)[0] == 0
    assert run("score", str(folder), str(folder), "-p", "ace-2005", *allowed).code == 0
    other = put(tmp_path / "other", {"D1.apf.xml": GOOD, "D2.apf.xml": folder.joinpath("D2.apf.xml").read_text()})
    text = (other / "D2.apf.xml").read_text().replace('SUBTYPE="Commercial" CLASS="SPC"', 'SUBTYPE="Media" CLASS="SPC"')
    (other / "D2.apf.xml").write_text(text)
    code, found = reported(other, *allowed)
    line = 1 + text[: text.index('SUBTYPE="Media"')].count("\n")
    assert [finding for finding in found if finding[0] != "text-missing"] == [
        ("element-differs", "fatal", "D2.apf.xml", line)
    ]
    assert code == 1
    assert run("validate", str(folder), "--set", "procesing=cross-document").code == 2


@pytest.mark.parametrize(
    ("name", "text", "what"),
    [
        ("D1.ag.xml", '<?xml version="1.0"?>\n<AGSet id="x"/>\n', "annotation graph"),
        ("graph.xml", '<?xml version="1.0"?>\n<!DOCTYPE AGSet SYSTEM "ag.dtd">\n<AGSet id="x"/>\n', "annotation graph"),
        ("D1.tab", "D1-E1\tE1\n", "table of ids"),
    ],
)
def test_graphs_and_tables_are_refused_by_name(tmp_path: Path, name: str, text: str, what: str) -> None:
    folder = put(tmp_path, {name: text})
    for args in (["describe", str(folder / name)], ["validate", str(folder)], ["score", str(folder / name), "x"]):
        refused = run(*args)
        assert refused.code == 1
        assert what in refused.out + refused.err
        assert "give the .apf.xml" in refused.out + refused.err
        assert "file-kin" in refused.out + refused.err
    # Beside the APF file that they were made from they are passed over, as all four were distributed together.
    if name != "graph.xml":
        assert reported(put(tmp_path, {"D1.apf.xml": GOOD, "D1.sgm": SGM})) == (0, [])


# Input that means harm.

BOMB = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 30))
HOSTILE = {
    "a fetched file": ("xml-entity", '<!DOCTYPE source_file [<!ENTITY x SYSTEM "file:///etc/passwd">]>' + GOOD[100:]),
    "a bomb": ("xml-entity", f'<!DOCTYPE source_file [<!ENTITY a0 "x">{BOMB}]>' + apf("&a29;")[38:]),
    "an unknown reference": ("xml-entity", GOOD.replace("five dollars<", "&dollars;<")),
    "deep nesting": ("xml-broken", apf("<entity>" * 200_000)),
    "deep nesting, closed": ("xml-broken", apf("<entity>" * 200_000 + "</entity>" * 200_000)),
    "deep nesting of documents": ("xml-broken", apf('<document DOCID="x">' * 200_000)),
    "many comments that are not closed": ("xml-broken", apf("<!-- " * 200_000)),
    "a tag that is not closed": ("xml-broken", GOOD[: GOOD.index("<document")] + "<document " + "a='" * 200_001),
    "nothing after the first half": ("xml-broken", GOOD[: len(GOOD) // 2]),
    "nothing after the document": ("xml-broken", GOOD[: GOOD.index("</source_file>")]),
    "something after the end": ("apf-shape", GOOD + "<entity/>"),
    "bytes of another encoding": ("encoding", GOOD.replace("Anna", "Ann\udce9")),
    "another encoding": ("encoding", GOOD.replace("UTF-8", "ISO-8859-1")),
    "an empty file": ("xml-broken", ""),
    "many elements without anything": ("apf-shape", apf("<entity ID='x'/>" * 100_000)),
}


@pytest.mark.slow
def test_hostile_files_are_refused_cheaply(tmp_path: Path) -> None:
    for number, (name, (_, text)) in enumerate(HOSTILE.items()):
        text = text.replace('DOCID="D1"', f'DOCID="D{number}"')
        (tmp_path / f"{name}.apf.xml").write_bytes(text.encode("utf-8", "surrogateescape"))
    refused = limited("validate", str(tmp_path), "--input-format", "apf", "-f", "json")
    assert refused.code == 1, refused.err
    last = {Path(file["file"]).name: file["findings"][-1] for file in json.loads(refused.out)["files"]}
    assert {name: finding["code"] for name, finding in last.items()} == {
        f"{name}.apf.xml": code for name, (code, _) in HOSTILE.items()
    }
    assert all(finding["line"] for finding in last.values())


@pytest.mark.parametrize(
    "body",
    ["<x/>" * 50_000 + BODY, BODY.replace("<head>", f"{'<x/>' * 50_000}<head>", 1)],
    ids=["between elements", "inside a mention"],
)
@pytest.mark.slow
def test_many_faults_are_counted_cheaply(tmp_path: Path, body: str) -> None:
    """They are counted; memory holds the first of them."""
    folder = put(tmp_path, {"D1.apf.xml": apf(body), "D1.sgm": SGM})
    done = limited("validate", str(folder), "-f", "json")
    assert json.loads(done.out)["summary"]["codes"] == {"apf-unknown": 50_000}


def test_a_broken_source_file_does_not_hide_the_next(tmp_path: Path) -> None:
    """In a file with several, such as karat writes."""
    text = GOOD.replace("</entity>", "", 1) + GOOD.replace('DOCID="D1"', 'DOCID="D2"').replace("SPC", "XXX", 1)
    code, found = reported(put(tmp_path, {"D1.apf.xml": text, "D1.sgm": SGM}))
    assert code == 1
    assert [finding[0] for finding in found if finding[0] != "sgm-structure"] == ["xml-broken", "apf-value"]


def test_sources_are_looked_for_only_where_the_user_says(tmp_path: Path) -> None:
    """A URI is a name: its folders, and files that are no sources, are not opened."""
    put(tmp_path, {"secret.sgm": SGM, "secret": "x"})
    for uri in ("../secret.sgm", str(tmp_path / "secret.sgm"), "..", "secret", "a\\..\\secret.sgm"):
        folder = put(tmp_path / "in", {"D1.apf.xml": apf(header=f'URI="{uri}" SOURCE="newswire" TYPE="text"')})
        assert reported(folder) == (0, [("text-missing", "note", "D1.apf.xml", None)])


@pytest.mark.slow
def test_a_source_full_of_brackets_is_read_cheaply(tmp_path: Path) -> None:
    sources = ("<" * 1_000_000, '<"' * 500_000, "<>" * 500_000, '<">' * 300_000, "<a b='>" * 200_000)
    for number, source in enumerate(sources):
        put(tmp_path / str(number), {"D1.apf.xml": GOOD, "D1.sgm": source})
    done = limited("validate", str(tmp_path), "-f", "json")
    wrong = [Path(file["file"]) for file in json.loads(done.out)["files"] if file["findings"]]
    assert {path.parent.name for path in wrong if path.name == "D1.sgm"} == {"0", "1", "2", "3", "4"}
