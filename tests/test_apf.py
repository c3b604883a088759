"""APF: what a file says, read and written back; sources and their offsets; recordings and images; what is given."""

import gc
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import karat
from karat.convert import given as handed_out
from karat.corpus.fingerprint import Fingerprint
from karat.formats import _apf_tables, jsonl
from karat.formats import apf as module
from karat.formats._apf_locators import Locators
from karat.formats._apf_writer import write
from karat.model import Boxes, Cluster, Document, External, Link, Mention, Name, Place, Region, Value
from karat.plugin import Context, Piece, WriteOptions
from karat.problems import Finding, KaratError, refusing
from karat.regions import extension, place, shared
from tests import recorded
from tests.ace_files import BODY, SENTENCE, SGM, TEXT, apf, seq
from tests.running import run


def put(folder: Path, **files: str) -> Path:
    folder.mkdir(exist_ok=True, parents=True)
    for name, text in files.items():
        (folder / name.replace("_apf", ".apf.xml").replace("_sgm", ".sgm")).write_bytes(text.encode())
    return folder


def read(text: str, file: str = "nowhere/D1.apf.xml") -> tuple[list[Document], list[Finding]]:
    """The documents of a file, and what was found in it."""
    found = list[Finding]()
    documents = [*module.read(Piece(file, text.encode()), Context(report=refusing(found.append)))]
    return documents, [finding for finding in found if finding.code != "text-missing"]


def only(text: str) -> Document:
    documents, found = read(text)
    assert found == []
    (document,) = documents
    return document


def span(words: str) -> Region:
    return ((TEXT.index(words), TEXT.index(words) + len(words)),)


# Reading.


def test_a_file_is_mentions_clusters_and_links() -> None:
    document = only(apf())
    assert (document.id, document.source, document.unit, document.producer) == ("D1", "newswire", "char", None)
    assert document.about == {"uri": "D1.sgm", "resource wiki": "urn:wiki"}
    assert [(m.id, m.kind, m.cluster, m.span, m.head, m.extent, m.text) for m in document.mentions] == [
        (
            "E1-1",
            "entity",
            "E1",
            span("Anna Keller of Acme &amp; Sons"),
            span("Anna Keller"),
            None,
            document.mentions[0].text,
        ),
        ("E1-2", "entity", "E1", span("the director"), span("director"), None, "the director"),
        ("E1-3", "entity", "E1", span("She"), span("She"), None, "She"),
        ("E2-1", "entity", "E2", span("Acme &amp; Sons"), span("Acme &amp; Sons"), None, "Acme &amp; Sons"),
        ("E3-1", "entity", "E3", span("Oslo"), span("Oslo"), None, "Oslo"),
        ("V1-1", "value", "V1", span("five dollars"), None, None, "five dollars"),
        ("T1-1", "time", "T1", span("Monday"), None, None, "Monday"),
        ("T2-1", "time", "T2", span("2003-05-15"), None, None, "2003-05-15"),
        ("R1-1", "relation", "R1", span("Anna Keller of Acme &amp; Sons"), None, None, document.mentions[0].text),
        ("V2-1", "event", "V2", span("died"), None, span(SENTENCE), "died"),
    ]
    assert document.mentions[-1].scope == span("died in Oslo on Monday")
    assert document.mentions[0].text == "Anna Keller of Acme &amp; Sons"
    assert document.mentions[0].texts == {"head": "Anna Keller"}
    assert document.mentions[-1].texts == {"extent": SENTENCE, "scope": "died in Oslo on Monday"}


def test_attributes_have_the_names_of_apf_in_lower_case_and_no_defaults() -> None:
    document = only(apf())
    assert [m.attributes for m in document.mentions] == [
        {"type": "NAM", "role": "PER", "ldcatr": "FALSE"},
        {"type": "NOM"},
        {"type": "PRO", "metonymy_mention": "FALSE", "ldctype": "WHQ"},
        {"type": "NAM"},
        {"type": "NAM"},
        {},
        {},
        {},
        {"lexicalcondition": "Preposition"},
        {"type": "Life.Die", "level": "SEN"},
    ]
    event: dict[str, Value] = {"type": "Life", "subtype": "Die", "modality": "Asserted", "polarity": "Positive"}
    assert document.clusters == (
        Cluster(
            "E1",
            "entity",
            {"type": "PER", "subtype": "Individual", "class": "SPC"},
            (Name(Place(span("Anna Keller"), "Anna Keller"), "Anna Keller"),),
            (External("wiki", "Q1"),),
        ),
        Cluster("E2", "entity", {"type": "ORG", "subtype": "Commercial", "class": "SPC"}),
        Cluster("E3", "entity", {"type": "GPE", "subtype": "Population-Center", "class": "SPC"}),
        Cluster("V1", "value", {"type": "Numeric", "subtype": "Money"}),
        Cluster(
            "T1",
            "time",
            {
                "val": "2003-05-12",
                "mod": "APPROX",
                "anchor_val": "2003-05-15",
                "anchor_dir": "AS_OF",
                "set": "YES",
                "comment": "sic",
            },
        ),
        Cluster("T2", "time", {"val": "2003-05-15"}),
        Cluster(
            "R1", "relation", {"type": "ORG-AFF", "subtype": "Employment", "modality": "Asserted", "tense": "Past"}
        ),
        Cluster("R2", "relation", {"type": "METONYMY", "modality": "Asserted", "tense": "Unspecified"}),
        Cluster("V2", "event", {**event, "genericity": "Specific", "tense": "Past"}),
    )


def test_arguments_are_links_of_elements_and_of_mentions() -> None:
    whole = "Anna Keller of Acme &amp; Sons"
    assert only(apf()).links == (
        Link("Arg-1", "R1", "E1"),
        Link("Arg-2", "R1", "E2"),
        Link("Time-Within", "R1", "T1"),
        Link("Arg-1", "R2", "E2"),
        Link("Arg-2", "R2", "E3"),
        Link("Victim", "V2", "E1"),
        Link("Time-Within", "V2", "T1"),
        Link("Arg-1", "R1-1", "E1-1", Place(span("Anna Keller"), "Anna Keller")),
        Link("Arg-2", "R1-1", "E2-1"),
        Link("Time-Within", "R1-1", "T1-1"),
        Link("Victim", "V2-1", "E1-1", Place(span(whole), whole)),
        Link("Time-Within", "V2-1", "T1-1"),
    )


def test_an_end_is_the_last_character_or_the_gap_after_it() -> None:
    gaps = BODY.replace(f"<extent>{seq('Monday')}", f"<extent>{seq('Monday', tag='charspan')}")
    assert gaps != BODY
    assert only(apf(gaps)) == only(apf())


def test_several_documents_and_several_source_files() -> None:
    """One source file with two documents, then another with its own prolog, as files that were joined have it."""
    first = apf().replace("</document>", '</document><document DOCID="D2"/>\n<document DOCID="D3">\n</document>')
    second = apf(docid="D4", header='URI="D4.sgm" SOURCE="weblog" TYPE="text" AUTHOR="me"')
    documents, found = read(f"\n{first}\n<!-- and -->\n{second}\n<!-- the end -->\n".removeprefix("\n"))
    assert [(d.id, d.source, len(d.mentions)) for d in documents] == [
        ("D1", "newswire", 10),
        ("D2", "newswire", 0),
        ("D3", "newswire", 0),
        ("D4", "weblog", 10),
    ]
    assert documents[3].producer == "me"
    empty = first.index('<document DOCID="D2"/>')
    lines = [1 + first.count("\n", 0, place) for place in (empty, first.index('<document DOCID="D3"'))]
    assert [(f.code, f.line) for f in found] == [("apf-empty", line) for line in lines]


def test_marks_inside_quotes_comments_and_sections_are_no_documents() -> None:
    header = 'URI="/document> > D1.sgm" SOURCE="newswire" TYPE="text"'
    body = BODY.replace("<value ID", "<!-- </document> -->\n<?x </document> ?>\n<value ID").replace(
        ">five dollars<", "><![CDATA[five </document> dollars]]><"
    )
    documents, found = read(apf(body, header=header))
    assert [m.text for m in documents[0].mentions if m.id == "V1-1"] == ["five </document> dollars"]
    assert [finding.code for finding in found] == ["apf-text"]  # it is longer than its offsets
    assert documents[0].about["uri"] == "/document> > D1.sgm"


def test_nuggets_and_coreference_of_ace_events_are_scored(tmp_path: Path) -> None:
    gold = put(tmp_path / "gold", D1_apf=apf(), D1_sgm=SGM)
    wrong = apf(BODY.replace('SUBTYPE="Die"', 'SUBTYPE="Injure"'))
    system = put(tmp_path / "system", D1_apf=wrong, D1_sgm=SGM)
    result = karat.score(gold, system, protocol="tac-2017")
    assert (result["nugget.span"].f1, result["nugget.type"].precision) == (1, 0)


def test_apf_does_not_count_tokens(tmp_path: Path) -> None:
    refused = run("describe", str(put(tmp_path, D1_apf=apf())), "--unit", "token")
    assert refused.code == 1
    assert "apf-unit" in refused.err


# Sources.


def document_with_text(tmp_path: Path, sgm: str) -> Document:
    with_source = put(tmp_path, D1_apf=apf(), D1_sgm=sgm)
    (document,) = karat.read(with_source)
    return document


def test_tags_count_nothing_and_line_ends_count_one(tmp_path: Path) -> None:
    """Evaluation plan, section 3.3.2; references to characters count as they are written."""
    assert document_with_text(tmp_path, SGM).text == TEXT
    assert document_with_text(tmp_path, SGM.replace("\n", "\r\n")).text == TEXT
    quoting = SGM.replace("<BODY>", '<BODY><QUOTE PREVIOUSPOST="a > b\nc">')
    assert document_with_text(tmp_path, quoting).text == TEXT
    assert document_with_text(tmp_path, SGM.replace("<BODY>", "<BODY\nlang='x'>")).text == TEXT
    assert document_with_text(tmp_path, "\ufeff" + SGM).text == TEXT


def test_a_text_may_have_its_references_resolved(tmp_path: Path) -> None:
    """The source says `Acme &amp; Sons`; APF may say that as `Acme & Sons`, at the offsets of the source."""
    resolved = apf(BODY.replace(">Acme &amp;amp; Sons<", ">Acme &amp; Sons<"))
    assert resolved != apf()
    folder = put(tmp_path, D1_apf=resolved, D1_sgm=SGM)
    assert run("validate", str(folder)).code == 0


def test_sources_are_in_their_folder_or_beside(tmp_path: Path) -> None:
    """In a folder they are found below it, and by the name of URI, or of the document."""
    apfs = put(tmp_path / "apf", D1_apf=apf().replace("five dollars<", "ten dollars<"))
    sources = put(tmp_path / "sgm" / "nw", D1_sgm=SGM).parent
    for args, code in ([], "text-missing"), (["--sources", str(sources)], "text-differs"):
        found = json.loads(run("validate", str(apfs), *args, "-f", "json").out)["summary"]["codes"]
        assert found == {code: 1}
    score = run("score", str(apfs), str(apfs), "-p", "tac-2017", "--sources", str(sources))
    assert (score.code, "text-differs" in score.err) == (1, True)
    assert run("describe", str(apfs), "--sources", str(tmp_path / "nowhere")).code == 1
    other = put(tmp_path / "other", D1_apf=apf(header='URI="http://x/y.sgm" SOURCE="newswire" TYPE="text"'))
    assert [document.text for document in karat.read(other, sources=str(sources))] == [TEXT]


def test_sources_of_a_corpus_are_part_of_it(tmp_path: Path) -> None:
    """Sources beside their files or in a folder of their own are not reported as files that were not read."""
    put(tmp_path, D1_apf=apf(), D1_sgm=SGM)
    put(tmp_path / "more", D9_sgm=SGM)
    (tmp_path / "apf.v5.1.1.dtd").write_text("<!ELEMENT x ANY>")
    done = run("describe", str(tmp_path))
    assert (done.code, done.err) == (0, "")


# Recordings and images.

HEADER = 'URI="D1.sgm" SOURCE="telephone" TYPE="{}"'
SOUND = """\
<timex2 ID="T1"><timex2_mention ID="T1-1"><extent><timespan START="1.5" END="2.25"/></extent></timex2_mention></timex2>
<entity ID="E1" TYPE="PER" SUBTYPE="Group" CLASS="SPC"><entity_mention ID="E1-1" TYPE="PRO">
<extent><timespan START="10" END="12.000001"/></extent><head><timespan START="11" END="12"/></head>
</entity_mention></entity>
"""
IMAGE = """\
<entity ID="E1" TYPE="PER" SUBTYPE="Group" CLASS="SPC"><entity_mention ID="E1-1" TYPE="PRO">
<extent><bblist><bbox PAGE="1" X="0" Y="0" WIDTH="10" HEIGHT="4"/><bbox PAGE="2" X="0.5" Y="0" WIDTH="2" HEIGHT="2"/>
</bblist></extent><head><bblist><bbox PAGE="1" X="0" Y="0" WIDTH="5" HEIGHT="4"/></bblist></head>
</entity_mention><entity_attributes><name NAME="x"><bblist><bbox PAGE="1" X="1" Y="1" WIDTH="1" HEIGHT="1"/></bblist>
</name></entity_attributes></entity>
"""


def test_a_recording_counts_microseconds() -> None:
    document = only(apf(SOUND, header=HEADER.format("audio")))
    assert document.unit == "microsecond"
    assert [(m.span, m.head, m.text) for m in document.mentions] == [
        (((1_500_000, 2_250_000),), None, None),
        (((10_000_000, 12_000_001),), ((11_000_000, 12_000_000),), None),
    ]


@pytest.mark.parametrize(
    "start", ["x", "", "NaN", "Infinity", "1e20", "1e999999999", "1e-999999999", "1_0", "2.25", "3", "٣"]
)
def test_times_are_numbers_in_order(start: str) -> None:
    with pytest.raises(KaratError, match="apf-offset"):
        read(apf(SOUND.replace('"1.5"', f'"{start}"'), header=HEADER.format("audio")))


def test_odd_times_are_reported() -> None:
    _, found = read(apf(SOUND.replace('"1.5"', '"1.50000049"'), header=HEADER.format("audio")))
    assert [f.code for f in found] == ["apf-rounded"]
    _, found = read(apf(SOUND.replace('"1.5"', '"-1.5"'), header=HEADER.format("audio")))
    assert [f.code for f in found] == ["apf-negative"]
    _, found = read(apf(SOUND.replace('"1.5"', '" 1.5"'), header=HEADER.format("audio")))
    assert [f.code for f in found] == ["apf-blanks"]


def test_an_image_has_boxes() -> None:
    document = only(apf(IMAGE, header=HEADER.format("image")))
    (mention,) = document.mentions
    assert (document.unit, mention.span, mention.head) == ("box", (), None)
    assert mention.boxes == {
        "span": ((1, 0.0, 0.0, 10.0, 4.0), (2, 0.5, 0.0, 2.0, 2.0)),
        "head": ((1, 0.0, 0.0, 5.0, 4.0),),
    }
    assert document.clusters[0].names == (Name(Place((), None, ((1, 1.0, 1.0, 1.0, 1.0),)), "x"),)


def spoken(type_: str, head: str) -> str:
    """A named entity in a recording or an image, with the words of its head."""
    where = '<timespan START="1" END="2">{}</timespan>'
    if type_ == "image":
        box = '<bbox PAGE="1" X="{}" Y="0" WIDTH="5" HEIGHT="4">{{}}</bbox>'
        where = f"<bblist>{box.format(0)}{box.format(5).format(' ')}</bblist>"
    return apf(
        '<entity ID="E1" TYPE="PER" SUBTYPE="Individual" CLASS="SPC"><entity_mention ID="E1-1" TYPE="NAM">'
        f"<extent>{where.format('Anna Keller &amp; Sons')}</extent><head>{where.format(head)}</head>"
        "</entity_mention></entity>\n",
        header=HEADER.format(type_),
    )


@pytest.mark.parametrize("type_", ["audio", "image"])
def test_what_is_said_or_written_is_read_and_written_back(type_: str) -> None:
    document = only(spoken(type_, " Anna Keller\n"))
    (mention,) = document.mentions
    assert (mention.text, mention.texts) == ("Anna Keller & Sons", {"head": "Anna Keller"})
    assert only(written(document)) == document


def test_the_texts_of_boxes_are_joined() -> None:
    box = '<bbox PAGE="1" X="0" Y="{}" WIDTH="5" HEIGHT="2">{}</bbox>'
    parted = box.format(0, "Anna") + box.format(2, "Keller")
    head = '<bbox PAGE="1" X="0" Y="0" WIDTH="5" HEIGHT="4"/>'
    (mention,) = only(apf(IMAGE.replace(head, parted), header=HEADER.format("image"))).mentions
    assert (mention.text, mention.texts) == (None, {"head": "Anna Keller"})


@pytest.mark.parametrize("type_", ["audio", "image"])
def test_heads_with_other_words_do_not_correspond(type_: str, tmp_path: Path) -> None:
    """Appendix A, footnote 18: min_text_match was invoked for errors in transcribing speech and images."""
    gold = put(tmp_path / "gold", D1_apf=spoken(type_, "Anna Keller"))
    values = {}
    for head in ("Anna Keller", "Anna Köller", "qqqqqqqqqqq"):
        system = put(tmp_path / head, D1_apf=spoken(type_, head))
        for name, settings_ in (("ace-2005", {}), ("ace-2005-nist", {}), ("ace-2005-nist", {"parameters": "DEFAULT"})):
            result = karat.score(gold, system, protocol=name, measures="ace.edr", settings=settings_)
            assert {warning.severity for warning in result.warnings} <= {"note"}
            values[head, name, *settings_] = result["ace.edr"].value
    assert {key[1:]: value for key, value in values.items() if key[0] == "qqqqqqqqqqq"} == {
        ("ace-2005",): -0.5625,
        ("ace-2005-nist",): 1,
        ("ace-2005-nist", "parameters"): pytest.approx(-0.5625),
    }
    assert {value for key, value in values.items() if key[0] != "qqqqqqqqqqq"} == {1}


def test_a_resource_may_hold_text() -> None:
    text = apf().replace('NAME="wiki"/>', 'NAME="wiki">\nWikidata &amp; more\n</external_resource>')
    document = only(text)
    assert document.about["text of resource wiki"] == "Wikidata & more"
    assert only(written(document)) == document


@pytest.mark.parametrize(("old", "new"), [('WIDTH="5"', 'WIDTH="0"'), ('PAGE="2"', 'PAGE="2.5"'), ('X="0.5"', 'X="?"')])
def test_boxes_have_numbers_and_an_area(old: str, new: str) -> None:
    with pytest.raises(KaratError, match="apf-offset"):
        read(apf(IMAGE.replace(old, new), header=HEADER.format("image")))


@pytest.mark.parametrize(
    ("old", "new", "codes"),
    [
        ('X="0.5"', 'X="-0.5"', ["apf-negative"]),
        ('WIDTH="5" HEIGHT="4"', 'WIDTH="5" HEIGHT="9"', ["apf-head"]),  # of the head, lower than its extent
    ],
)
def test_odd_boxes_are_reported(old: str, new: str, codes: list[str]) -> None:
    _, found = read(apf(IMAGE.replace(old, new), header=HEADER.format("image")))
    assert [f.code for f in found] == codes


def test_an_image_needs_boxes_and_a_box() -> None:
    for image in (IMAGE.replace('<bbox PAGE="1" X="0" Y="0" WIDTH="5" HEIGHT="4"/>', ""), SOUND):
        with pytest.raises(KaratError, match="apf-shape"):
            read(apf(image, header=HEADER.format("image")))


@pytest.mark.parametrize(("body", "type_"), [(BODY, "text"), (SOUND, "audio"), (IMAGE, "image")])
def test_both_sides_have_sources_of_one_type(tmp_path: Path, body: str, type_: str) -> None:
    gold = put(tmp_path / "gold", D1_apf=apf(body, header=HEADER.format(type_)))
    other = (BODY, "text") if type_ != "text" else (SOUND, "audio")
    system = put(tmp_path / "system", D1_apf=apf(other[0], header=HEADER.format(other[1])))
    refused = run("score", str(gold), str(system), "-p", "tac-2017", "--set", "kinds=all")
    assert refused.code == 1
    assert "units-differ" in run("score", str(gold), str(system), "-p", "conll-2012", "--set", "kinds=all").err


def test_an_image_is_not_matched_by_spans(tmp_path: Path) -> None:
    """Its mentions have none: matched by ids, or not at all, they would have a score that means nothing."""
    gold = put(tmp_path / "gold", D1_apf=apf(IMAGE, header=HEADER.format("image")))
    refused = run("score", str(gold), str(gold), "-p", "conll-2012", "--set", "kinds=all")
    assert refused.code == 1
    assert "spans-absent" in refused.err


# How much two regions share.


def test_what_is_shared_is_a_length_a_duration_or_an_area() -> None:
    assert shared(((0, 10),), ((5, 20),)) == 5
    assert shared(((0, 2), (4, 6)), ((1, 5),)) == 2
    assert shared((), ((1, 5),)) == 0
    assert shared(((0, 1),), ((1, 2),)) == 0
    one: Boxes = ((1, 0.0, 0.0, 10.0, 4.0), (2, 0.0, 0.0, 2.0, 2.0))
    assert extension(one) == 44
    assert shared(one, ((1, 5.0, 2.0, 10.0, 10.0), (3, 0.0, 0.0, 2.0, 2.0))) == 10
    assert shared(one, one) == 44


def test_boxes_that_overlap_cover_an_area_once() -> None:
    assert extension(((1, 0.0, 0.0, 10.0, 4.0), (1, 5.0, 0.0, 10.0, 4.0), (1, 0.0, 0.0, 10.0, 4.0))) == 60
    assert extension(((1, 0.0, 0.0, 3.0, 1.0), (1, 1.0, 0.0, 1.0, 3.0))) == 5


def test_a_mention_tells_its_places() -> None:
    (mention,) = only(apf(IMAGE, header=HEADER.format("image"))).mentions
    assert place(mention, "head") == ((1, 0.0, 0.0, 5.0, 4.0),)
    assert place(mention, "extent") == ()
    assert place(only(apf()).mentions[1], "head") == span("director")
    assert place(only(apf()).mentions[5], "head") == ()


_box = st.tuples(st.integers(1, 2), *[st.integers(0, 6).map(float)] * 2, *[st.integers(1, 4).map(float)] * 2)
_boxes: st.SearchStrategy[Boxes] = st.lists(_box, min_size=1, max_size=4).map(tuple)


def cells(boxes: Boxes) -> set[tuple[int, int, int]]:
    """The unit squares that boxes cover."""
    return {
        (page, column, row)
        for page, x, y, width, height in boxes
        for column in range(int(x), int(x + width))
        for row in range(int(y), int(y + height))
    }


@given(_boxes, _boxes)
def test_areas_are_counted_squares(one: Boxes, other: Boxes) -> None:
    assert extension(one) == len(cells(one))
    assert shared(one, other) == shared(other, one) == len(cells(one) & cells(other))


# Writing.


def written(document: Document) -> str:
    lost: list[str] = []
    text = write(document, WriteOptions(), lost.append)
    assert lost == []
    assert isinstance(text, bytes)
    return text.decode()


FILES = {
    "text": apf(),
    "audio": apf(SOUND, header=HEADER.format("audio")),
    "image": apf(IMAGE, header=HEADER.format("image")),
}


@pytest.mark.parametrize("type_", FILES)
def test_what_is_read_is_written_back(type_: str) -> None:
    document = only(FILES[type_])
    assert only(written(document)) == document


@pytest.mark.parametrize("type_", FILES)
@pytest.mark.parametrize("out", ["out", "out.apf.xml", "out.apf.xml.gz"])
def test_through_jsonl_and_back(type_: str, out: str, tmp_path: Path) -> None:
    """A folder of files, or a single file; the fingerprint is that of the model, whatever the format."""
    source = put(tmp_path / "in", D1_apf=FILES[type_], D2_apf=FILES[type_].replace('DOCID="D1"', 'DOCID="D2"'))
    middle, target = tmp_path / "middle.jsonl", tmp_path / out
    for args in ((source, middle), (middle, target, "--to", "apf")):
        done = run("convert", *map(str, args))
        assert done.code == 0, done.err
    reported = {
        json.loads(run("describe", str(path), "-f", "json").out)["fingerprint"] for path in (source, middle, target)
    }
    assert len(reported) == 1
    assert list(karat.read(target)) == list(karat.read(source))
    assert target.is_dir() == (out == "out")


def test_a_folder_has_the_text_too(tmp_path: Path) -> None:
    source = put(tmp_path / "in", D1_apf=apf(), D1_sgm=SGM)
    assert run("convert", str(source), str(tmp_path / "out"), "--to", "apf").code == 0
    (document,) = karat.read(tmp_path / "out")
    assert document.text == TEXT
    assert run("validate", str(tmp_path / "out")).code == 0
    refused = run("convert", str(source), str(tmp_path / "out.apf.xml"))
    assert refused.code == 1
    assert "the document's text" in refused.err


@pytest.mark.parametrize("keep", [[], ["--keep", "mentions"], ["--keep", "elements"]])
def test_a_source_is_copied_byte_for_byte(tmp_path: Path, keep: list[str]) -> None:
    sgm = SGM.replace("\n", "\r\n").replace("<TEXT>", '<TEXT>\r\n<TURN ID="1">').replace("</TEXT>", "</TURN></TEXT>")
    moved = re.sub(r'(START|END)="(\d+)"', lambda found: f'{found[1]}="{int(found[2]) + (int(found[2]) > 20)}"', apf())
    source = put(tmp_path / "in", D1_apf=moved)
    sources = put(tmp_path / "sgm", D1_sgm=sgm)
    done = run("convert", str(source), str(tmp_path / "out"), "--to", "apf", "--sources", str(sources), *keep)
    assert done.code == 0, done.err
    assert (tmp_path / "out" / "D1.sgm").read_bytes() == sgm.encode()
    assert "no problems found" in run("validate", str(tmp_path / "out")).out


HEADERS = {
    "a date": (SGM, "\n<DOCID> D1 </DOCID>\n<DATETIME> 2003-05-15 </DATETIME>\n<BODY><TEXT>\n\nAnna"),
    "lines before the date": (
        SGM.replace("<DATETIME>", '<DOCTYPE SOURCE="newswire"> NEWS </DOCTYPE>\n<DATETIME>'),
        "\n<DOCID> D1 </DOCID>\n NEWS \n<DATETIME> 2003-05-15 </DATETIME>\n<BODY><TEXT>\n\nAnna",
    ),
    "no line with just a date": (
        SGM.replace("2003-05-15", "on 2003-05-15"),
        "\n<DOCID> D1 </DOCID>\n<BODY><TEXT> on 2003-05-15 \n\n\nAnna",
    ),
    "no header": (SGM.replace("<DOCID> D1 </DOCID>", ""), '<DOC DOCID="D1"><BODY><TEXT>\n\n 2003-05-15 \n\n\nAnna'),
}


@pytest.mark.parametrize("name", HEADERS)
def test_a_header_is_written_without_a_source_as_the_plan_describes(tmp_path: Path, name: str) -> None:
    text, expected = HEADERS[name]
    text = re.sub(r"<[^>]*>", "", text)
    shift = len(text) - len(TEXT)
    mentions = []
    for mention in only(apf()).mentions:
        moved = {
            region: tuple((begin + shift, end + shift) for begin, end in getattr(mention, region))
            for region in ("span", "head", "extent", "scope")
            if getattr(mention, region) is not None
        }
        mentions.append(replace(mention, **moved))
    gold = replace(only(apf()), text=text, mentions=tuple(mentions))
    gold = replace(gold, links=tuple(replace(link, extent=None) for link in gold.links))
    gold = replace(gold, clusters=tuple(replace(cluster, names=()) for cluster in gold.clusters))
    source = tmp_path / "gold.jsonl"
    source.write_bytes(jsonl.write(gold, WriteOptions(), lambda _: None))
    done = run("convert", str(source), str(tmp_path / "out"), "--to", "apf")
    assert done.code == 0, done.err
    assert expected in (tmp_path / "out" / "D1.sgm").read_text()
    (document,) = karat.read(tmp_path / "out")
    assert document == gold
    found = run("validate", str(tmp_path / "out"))
    assert (found.code, "no problems found" in found.out) == (0, True), found.out


def test_a_copy_scores_as_gold_does(tmp_path: Path) -> None:
    gold = put(tmp_path / "gold", D1_apf=apf(), D1_sgm=SGM)
    assert run("convert", str(gold), str(tmp_path / "gold.jsonl")).code == 0
    assert run("convert", str(tmp_path / "gold.jsonl"), str(tmp_path / "copy"), "--to", "apf").code == 0
    done = run("score", str(gold), str(tmp_path / "copy"), "-p", "ace-2005", "-f", "json")
    result = json.loads(done.out)
    assert {measure: leaf["micro"]["value"] for measure, leaf in result["scores"].items()} == dict.fromkeys(
        (f"ace.{task}" for task in ("edr", "val", "tern", "rdr", "vdr", "emd", "rmd", "vmd")), 1.0
    )
    assert result["warnings"] == []


def test_what_apf_cannot_represent_is_reported(tmp_path: Path) -> None:
    document = replace(
        only(apf()),
        topic="36",
        language="en",
        about={"uri": "D1.sgm", "kit": "1"},
        links=(Link("after", "V2", "V2"), Link("Victim", "V2-1", "E1-1")),
    )
    mentions = list(document.mentions)
    mentions[0] = replace(mentions[0], confidence=("0.5",), attributes={"type": "NAM", "score": 1})
    mentions[5] = replace(mentions[5], head=span("five"), span=(span("five")[0], span("dollars")[0]))
    mentions[9] = replace(mentions[9], attributes={"type": "Life.Injure"})
    lost: list[str] = []
    write(replace(document, mentions=tuple(mentions)), WriteOptions(), lost.append)
    assert sorted(lost) == [
        "confidences",
        "links of kind after",
        "segments of regions (written from the first to the last)",
        "the attribute score of <entity_mention>",
        "the document's kit",
        "the document's language",
        "the document's topic",
        "the head of mentions of kind value",
        "types of event mentions other than their event's (read as TYPE.SUBTYPE of the event)",
    ]


def test_what_apf_requires_must_be_there() -> None:
    """An event of another corpus has no modality; ids are XML names; XML holds no control characters."""
    value = Mention("V1-1", ((0, 1),), kind="value", cluster="V1")
    for document in (
        Document("d", mentions=(Mention("m", ((0, 1),)),)),
        Document("d", unit="token"),
        Document("d", clusters=(Cluster("E1", "entity", {"type": "PER"}),)),
        Document("d", clusters=(Cluster("X1", "idea"),)),
        Document("d", mentions=(value,), clusters=(Cluster("V1", "time"),)),
        Document("d", mentions=(replace(value, cluster="1"),), clusters=(Cluster("1", "value", {"type": "Crime"}),)),
        Document("d\x01", mentions=(value,), clusters=(Cluster("V1", "value", {"type": "Crime"}),)),
        Document("d", mentions=(replace(value, span=()),), clusters=(Cluster("V1", "value", {"type": "Crime"}),)),
    ):
        with pytest.raises(KaratError, match="apf-unwritable"):
            written(document)


@pytest.mark.parametrize("id_", [".hidden", "a/b", "x" * 300])
def test_a_document_of_a_folder_is_named_like_a_file(id_: str) -> None:
    with pytest.raises(KaratError, match="apf-unwritable"):
        write(replace(only(apf()), id=id_), WriteOptions(folder=True), list[str]().append)


def test_a_text_with_brackets_is_no_source() -> None:
    with pytest.raises(KaratError, match="apf-unwritable"):
        write(replace(only(apf()), text="a < b"), WriteOptions(folder=True), list[str]().append)


_words = st.text(st.characters(exclude_categories=["Cs", "Cc"], include_characters="\t\n\r&<>\"'"), max_size=8)
_values = _words.map(lambda text: text or "x")


@st.composite
def ace_documents(draw: st.DrawFn) -> Document:
    """Documents with all that APF can say."""
    counts = iter(range(1000))
    mentions: list[Mention] = []
    clusters: list[Cluster] = []

    def region() -> Region:
        begin = draw(st.integers(0, 50))
        return ((begin, begin + draw(st.integers(1, 9))),)

    def typed(table: dict[str, tuple[str, ...]]) -> dict[str, Value]:
        type_ = draw(st.sampled_from(sorted(table)))
        subtypes = table[type_]
        return {"type": type_, **({"subtype": draw(st.sampled_from(subtypes))} if subtypes else {})}

    for _ in range(draw(st.integers(1, 3))):
        id_ = f"E{next(counts)}"
        about = {**typed(_apf_tables.ENTITIES), "class": draw(st.sampled_from(_apf_tables.CLASSES))}
        names = tuple(
            Name(Place(region(), draw(_words)), draw(st.none() | _words)) for _ in range(draw(st.integers(0, 2)))
        )
        external = tuple(External(draw(_values), draw(_values)) for _ in range(draw(st.integers(0, 1))))
        clusters.append(Cluster(id_, "entity", about, names, external))
        for _ in range(draw(st.integers(1, 2))):
            attributes: dict[str, Value] = {"type": draw(st.sampled_from(_apf_tables.MENTION_TYPES))}
            if draw(st.booleans()):
                attributes |= {"role": "GPE", "metonymy_mention": "TRUE", "ldctype": draw(_values)}
            head, texts = region(), {"head": draw(_words)}
            mentions.append(
                Mention(
                    f"M{next(counts)}", region(), head, None, None, "entity", id_, attributes, draw(_words), texts=texts
                )
            )
    timex: dict[str, Value] = {"val": draw(_words), "comment": draw(_words)}
    clusters.append(Cluster("T", "time", timex if draw(st.booleans()) else {}))
    mentions.append(Mention("TM", region(), kind="time", cluster="T", text=draw(_words)))
    links: list[Link] = []
    entities = [cluster.id for cluster in clusters if cluster.kind == "entity"]
    for _ in range(draw(st.integers(0, 2))):
        id_, mention = f"V{next(counts)}", f"VM{next(counts)}"
        about = {**typed(_apf_tables.EVENTS), "modality": "Other", "polarity": "Negative", "genericity": "Generic"}
        clusters.append(Cluster(id_, "event", {**about, "tense": "Past"}))
        scope = draw(st.none() | st.just(region()))
        texts = {"extent": draw(_words)} | ({} if scope is None else {"scope": draw(_words)})
        type_ = f"{about['type']}.{about['subtype']}"
        mentions.append(
            Mention(
                mention, region(), None, region(), None, "event", id_, {"type": type_}, draw(_words), (), scope, texts
            )
        )
        target = draw(st.sampled_from(entities))
        links.append(Link("Place", id_, target))
        place = draw(st.none() | st.just(Place(region(), draw(_words))))
        links.append(Link("Place", mention, next(m.id for m in mentions if m.cluster == target), place))
    elements = [link for link in links if not link.source.startswith("VM")]
    others = [link for link in links if link.source.startswith("VM")]
    return Document(
        draw(_values),
        source=draw(_values),
        producer=draw(st.none() | _values),
        about={"uri": draw(_words) or "x", "version": draw(_values)},
        mentions=tuple(mentions),
        clusters=tuple(clusters),
        links=(*elements, *others),
    )


@settings(deadline=None, max_examples=60)
@given(ace_documents())
def test_any_document_survives_writing(document: Document) -> None:
    (back,), _ = read(written(document))
    assert back == document
    assert fingerprints([back]) == fingerprints([document])


def fingerprints(documents: list[Document]) -> str:
    found = Fingerprint()
    for document in documents:
        found.add(document)
    return str(found)


def changes(document: Document) -> Iterator[Document]:
    """The document with one thing changed that the fingerprint must tell."""
    mention, event = document.mentions[0], document.mentions[-1]
    if document.unit == "box":
        yield replace(document, mentions=(replace(mention, boxes={"span": mention.boxes["span"]}),))
        return
    yield replace(document, mentions=(*document.mentions[:-1], replace(event, scope=None)))
    links = list(document.links)
    place = next(number for number, link in enumerate(links) if link.extent is not None)
    links[place] = replace(links[place], extent=None)
    yield replace(document, links=tuple(links))


@pytest.mark.parametrize("type_", ["text", "image"])
def test_the_fingerprint_covers_scopes_boxes_and_extents_of_links(type_: str) -> None:
    document = only(FILES[type_])
    reported = [fingerprints([each]) for each in (document, *changes(document))]
    assert len(set(reported)) == len(reported)


# What a diagnostic condition gives.


def test_given_mentions_tell_nothing_of_their_entities(tmp_path: Path) -> None:
    """Each stands alone, in the order of the text, under an id that does not tell which belong together."""
    source = put(tmp_path / "in", D1_apf=apf())
    done = run("convert", str(source), str(tmp_path / "out"), "--to", "apf", "--keep", "mentions")
    assert done.code == 0, done.err
    (document,) = karat.read(tmp_path / "out")
    assert [(m.id, m.cluster, m.text) for m in document.mentions] == [
        ("D1-E1-1", "D1-E1", "Anna Keller of Acme &amp; Sons"),
        ("D1-E2-1", "D1-E2", "Acme &amp; Sons"),
        ("D1-E3-1", "D1-E3", "the director"),
        ("D1-E4-1", "D1-E4", "Oslo"),
        ("D1-E5-1", "D1-E5", "She"),
    ]
    assert [c.attributes["subtype"] for c in document.clusters][:3] == ["Individual", "Commercial", "Individual"]
    assert all(not (cluster.names or cluster.external) for cluster in document.clusters)
    assert document.links == ()
    assert run("validate", str(tmp_path / "out")).code == 0


def test_given_mentions_have_ids_of_their_own_in_each_document() -> None:
    """Ids are XML names whatever the document is called."""
    document = handed_out(replace(only(apf()), id="36_ü b"), "mentions")
    assert document.mentions[0].id == "_36_ü_b-E1-1"
    assert only(written(document)) == document


def test_given_elements_have_no_relations_and_events() -> None:
    document = handed_out(only(apf()), "elements")
    assert [cluster.id for cluster in document.clusters] == ["E1", "E2", "E3", "V1", "T1", "T2"]
    assert {mention.kind for mention in document.mentions} == {"entity", "value", "time"}
    assert document.links == ()
    assert document.clusters[0].names
    assert handed_out(Document("empty"), "elements") == Document("empty")


def test_nothing_can_be_given_of_a_corpus_of_events(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"id": "d", "mentions": [{"id": "m", "span": [[0, 1]]}]}\n')
    refused = run("convert", str(path), str(tmp_path / "b.jsonl"), "--keep", "elements")
    assert refused.code == 1
    assert "nothing-given" in refused.err
    assert run("convert", str(path), str(tmp_path / "b.jsonl"), "--keep", "element").code == 2


# The recorded files.


def test_what_reads_a_document_is_released_with_it() -> None:
    """It holds the tree of the document: in a cycle, it would stay until the next garbage collection."""

    def living() -> int:
        return sum(isinstance(thing, Locators) for thing in gc.get_objects())

    gc.collect()
    gc.disable()
    try:
        before = living()
        only(apf(BODY))
        assert living() == before
    finally:
        gc.enable()


def test_recorded_files_are_read_and_written_back(tmp_path: Path) -> None:
    """Every document of some recorded cases, with its source: offsets and texts agree, and nothing is lost."""
    for case in ("ace/case_001", "ace/case_013", "ace/case_020"):
        folder = recorded.folder(case, tmp_path)
        for side in ("ref", "sys"):
            corpus, found = karat.read(folder / side, sources=str(folder / "sgm")), list[Finding]()
            for id_ in corpus.ids():
                document = replace(corpus.read(id_, found.append), text=None)
                assert only_told(written(document)) == document
            corpus.close()
            assert not [f for f in found if f.severity == "fatal" or f.code in ("text-missing", "text-differs")]


def only_told(text: str) -> Document:
    (document,), _ = read(text)
    return document
