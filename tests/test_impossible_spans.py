"""Spans that end before they begin, are empty or negative, or are beyond their sentence: faults of systems."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.ace_files import apf
from tests.event_files import (
    CASIE,
    DYGIE,
    E2E,
    FEWFC,
    MAVEN,
    ONEIE,
    ONEIE_OUTPUT,
    PRECO,
    RAMS,
    RAMS_PREDICTIONS,
    TEXTEE,
    WEC,
    WIKIEVENTS,
    changed,
    saved,
)
from tests.running import run

MAVEN_ERE: dict[str, Any] = {
    "id": "d1",
    "tokens": [["They", "attacked", "."], ["It", "burnt"]],
    "events": [
        {"id": "E1", "type": "Attack", "mention": [{"id": "m1", "sent_id": 0, "offset": [1, 2]}]},
        {"id": "E2", "type": "Fire", "mention": [{"id": "m2", "sent_id": 1, "offset": [1, 2]}]},
    ],
    "causal_relations": {"CAUSE": [["E1", "E2"]]},
}
EVENT = ("event_mentions", 0)
NUGGET = ("cyberevent", "hopper", 0, "events", 0, "nugget")
JSON: dict[str, tuple[Any, Any, str, str, tuple[int, int]]] = {
    # gold, system, protocol, measure: right and counted items of the system, by hand
    "RAMS argument": (RAMS, changed(RAMS, "gold_evt_links", 0, 1, to=[1, 0]), "textee-2024", "arg.i", (1, 2)),
    "RAMS trigger": (
        RAMS,
        changed(changed(RAMS, "evt_triggers", 0, 1, to=1), "gold_evt_links", to=[]),
        "textee-2024",
        "trig.i",
        (0, 1),
    ),
    "OneIE trigger": (
        ONEIE,
        changed(ONEIE_OUTPUT, "graph", "triggers", 0, to=[2, 2, "Attack", 0.5]),
        "textee-2024",
        "trig.i",
        (0, 1),
    ),
    "TextEE": (TEXTEE, changed(TEXTEE, *EVENT, "trigger", "end", to=1), "textee-2024", "trig.i", (0, 1)),
    "WikiEvents": (WIKIEVENTS, changed(WIKIEVENTS, *EVENT, "trigger", "start", to=-1), "textee-2024", "trig.i", (0, 1)),
    "DyGIE++": (DYGIE, changed(DYGIE, "events", 0, 0, 1, 1, to=-1), "textee-2024", "arg.i", (2, 3)),
    "MAVEN": (
        MAVEN,
        changed(MAVEN, "events", 0, "mention", 1, "offset", to=[3, 9]),
        "exact-2013",
        "nugget.span",
        (2, 3),
    ),
    "e2e": (E2E, changed(E2E, "clusters", 1, 0, to=[3, 2]), "conll-2012", "coref.mention", (3, 4)),
    "PreCo": (PRECO, changed(PRECO, "mention_clusters", 1, 0, to=[0, 4, 9]), "conll-2012", "coref.mention", (4, 5)),
    "WEC": (WEC, changed(WEC, "tokens_number", to=[9]), "simple-cdec", "coref.mention", (0, 1)),
    "FewFC": (FEWFC, changed(FEWFC, "events", 0, "mentions", 1, "span", to=[4, 0]), "textee-2024", "arg.i", (3, 4)),
    "FewFC without a trigger": (
        FEWFC,
        changed(FEWFC, "events", 0, "mentions", 0, "role", to="place"),
        "textee-2024",
        "trig.i",
        (1, 2),
    ),
    "MAVEN-ERE": (
        MAVEN_ERE,
        changed(MAVEN_ERE, "events", 0, "mention", 0, "offset", to=[3, 9]),
        "exact-2013",
        "nugget.span",
        (1, 2),
    ),
    "CASIE": (CASIE, changed(CASIE, *NUGGET, "endOffset", to=8), "textee-2024", "trig.i", (1, 2)),
}


@pytest.mark.parametrize("name", JSON)
def test_an_item_of_a_system_counts_and_matches_nothing(name: str, tmp_path: Path) -> None:
    """A fault in the line of the item; the same file as gold, or alone, is refused."""
    gold, system, protocol, measure, expected = JSON[name]
    paths = saved(tmp_path / "gold.json", gold), saved(tmp_path / "mine.json", system)
    done = run("score", *paths, "-p", protocol, "-f", "json")
    assert done.code == 0, done.err
    result = json.loads(done.out)
    leaf = result["scores"][measure]["micro"]["counts"]
    assert (leaf["precision_num"], leaf["precision_den"]) == expected
    faults = [finding for finding in result["warnings"] if finding["severity"] == "fault"]
    assert [(finding["file"], finding["line"]) for finding in faults] == [(paths[1], 1)]
    assert "matches nothing" in faults[0]["hint"]
    assert run("score", *paths[::-1], "-p", protocol).code == 1
    assert "fatal" in run("validate", paths[1], "-p", protocol).out
    checked = run("validate", paths[1], "--against", paths[0], "-p", protocol, "-f", "json")
    assert json.loads(checked.out)["summary"]["findings"] == {"fatal": 0, "fault": 1, "note": 0}


OFFSETS: dict[str, tuple[Any, tuple[str | int, ...], str, str]] = {
    "TextEE": (TEXTEE, (*EVENT, "trigger", "start"), "textee-2024", "trig.i"),
    "inclusive ends": (E2E, ("clusters", 1, 0, 1), "conll-2012", "coref.mention"),
    "PreCo": (PRECO, ("mention_clusters", 1, 0, 1), "conll-2012", "coref.mention"),
    "WEC": (WEC, ("tokens_number", 0), "simple-cdec", "coref.mention"),
    "CASIE": (CASIE, (*NUGGET, "endOffset"), "textee-2024", "trig.i"),
    "JSON Lines": (
        {"id": "d", "mentions": [{"span": [[4, 9]]}]},
        ("mentions", 0, "span", 0, 0),
        "exact-2013",
        "nugget.span",
    ),
}


@pytest.mark.parametrize("written", [None, "4", 4.5, True, [4]], ids=str)
@pytest.mark.parametrize("name", OFFSETS)
def test_an_offset_of_a_system_that_is_not_a_number(name: str, written: object, tmp_path: Path) -> None:
    """The item counts, and is reported once; the same in gold is refused."""
    gold, place, protocol, measure = OFFSETS[name]
    paths = saved(tmp_path / "gold.json", gold), saved(tmp_path / "mine.json", changed(gold, *place, to=written))
    perfect, done = (json.loads(run("score", paths[0], path, "-p", protocol, "-f", "json").out) for path in paths)
    items, right = (result["scores"][measure]["micro"]["counts"]["precision_num"] for result in (perfect, done))
    assert right == items - 1
    assert done["scores"][measure]["micro"]["counts"]["precision_den"] == items
    faults = [finding for finding in done["warnings"] if finding["severity"] == "fault"]
    assert [(finding["code"], finding["line"]) for finding in faults] == [("json-offset", 1)]
    refused = run("score", *paths[::-1], "-p", protocol)
    assert (refused.code, "expected a whole number" in refused.err) == (1, True)


@pytest.mark.parametrize("name", OFFSETS)
def test_whole_numbers_with_a_point_are_offsets(name: str, tmp_path: Path) -> None:
    """Libraries for tables write them where a column has empty cells."""
    gold, place, protocol, measure = OFFSETS[name]
    number: Any = gold
    for step in place:
        number = number[step]
    paths = saved(tmp_path / "gold.json", gold), saved(tmp_path / "mine.json", changed(gold, *place, to=float(number)))
    for sides in (paths, paths[::-1]):
        done = json.loads(run("score", *sides, "-p", protocol, "-f", "json").out)
        assert done["scores"][measure]["micro"]["f1"] == 1


def test_spans_beyond_golds_tokens_are_found_once(tmp_path: Path) -> None:
    """The predictions of RAMS have no tokens of their own, the files of DyGIE++ have."""
    predictions = changed(RAMS_PREDICTIONS, "predictions", 0, 1, 1, to=99)
    for gold, system in ((RAMS, predictions), (DYGIE, changed(DYGIE, "events", 0, 0, 0, 0, to=99))):
        paths = saved(tmp_path / "gold.json", gold), saved(tmp_path / "mine.json", system)
        checked = run("validate", paths[1], "--against", paths[0], "-f", "json")
        assert json.loads(checked.out)["summary"]["codes"] == {"span-beyond-text": 1}


BRAT = "T1\tAttack 5 13\tattacked\nE1\tAttack:T1\nT2\tDie {}\tdied\nE2\tDie:T2\n"
ERE = """<deft_ere doc_id="d"><hoppers><hopper id="h-1"><event_mention id="em-1" type="x" subtype="y" realis="actual">
<trigger offset="0" length="4">They</trigger></event_mention><event_mention id="em-2" type="x" subtype="y">
<trigger offset="5" length="{}">ran</trigger></event_mention></hopper></hoppers></deft_ere>"""


@pytest.mark.parametrize(
    ("name", "text", "right", "wrong"),
    [("d.ann", BRAT, "18 22", "22 18"), ("d.ann", BRAT, "18 22", "-1 22"), ("d.ere.xml", ERE, "3", "0")],
)
def test_the_same_in_text_and_xml(name: str, text: str, right: str, wrong: str, tmp_path: Path) -> None:
    for side, span in (("gold", right), ("mine", wrong)):
        (tmp_path / side).mkdir()
        (tmp_path / side / name).write_text(text.format(span))
    paths = str(tmp_path / "gold"), str(tmp_path / "mine")
    done = run("score", *paths, "-p", "exact-2013", "-m", "nugget.span", "-f", "json")
    assert list(json.loads(done.out)["scores"]["nugget.span"]["micro"]["counts"].values()) == [1, 2, 1, 2]
    assert run("score", *paths[::-1], "-p", "exact-2013").code == 1


ECB = """<Document doc_name="1_1ecb.xml"><token t_id="1">ran</token><token t_id="2">fell</token>
<Markables><ACTION_OCCURRENCE m_id="1"><token_anchor t_id="1"/></ACTION_OCCURRENCE>
<ACTION_OCCURRENCE m_id="2"><token_anchor t_id="{}"/></ACTION_OCCURRENCE></Markables><Relations/></Document>"""


def test_a_mention_of_ecb_plus_without_a_token_counts(tmp_path: Path) -> None:
    """In gold, it is ignored."""
    for name, token in (("gold", "2"), ("mine", "9")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "1_1ecb.xml").write_text(ECB.format(token))
    paths = [str(tmp_path / name) for name in ("gold", "mine")]
    for sides, expected in ((paths, [1, 2, 1, 2]), (paths[::-1], [1, 2, 1, 1])):
        done = json.loads(run("score", *sides, "-p", "simple-cdec", "-m", "coref.mention", "-f", "json").out)
        assert list(done["scores"]["coref.mention"]["micro"]["counts"].values()) == expected
        assert "ecb-anchor" in {finding["code"] for finding in done["warnings"]}


HIEVE = "Text\tThey met and sang.\nEvent\t1\tmet\tOccurrence\t5\nEvent\t2\tsang\tOccurrence\t{}\n"


def test_the_same_in_hieve(tmp_path: Path) -> None:
    for side, place in (("gold", "13"), ("mine", "-13")):
        (tmp_path / side).mkdir()
        (tmp_path / side / "d.tsvx").write_text(HIEVE.format(place) + "Relation\t1\t2\tCoref\ttrue\tmet\tsang\n")
    paths = str(tmp_path / "gold"), str(tmp_path / "mine")
    done = run("score", *paths, "-m", "relation.coref", "-f", "json")
    result = json.loads(done.out)
    assert list(result["scores"]["relation.coref"]["micro"]["counts"].values()) == [0, 0, 0, 1]
    faults = [finding for finding in result["warnings"] if finding["severity"] == "fault"]
    assert [(finding["code"], finding["line"]) for finding in faults] == [("hieve-shape", 3)]
    assert run("score", *paths[::-1]).code == 1


TIME = '<timespan START="{}" END="12"/>'
BOX = '<bblist><bbox PAGE="1" X="0" Y="0" WIDTH="{}" HEIGHT="4"/></bblist>'
CHARACTERS = '<charseq START="{}" END="12"/>'


@pytest.mark.parametrize(
    ("source", "place", "right", "wrong"),
    [
        ("text", CHARACTERS, "11", "13"),
        ("text", CHARACTERS, "11", "x"),
        ("audio", TIME, "11.5", "12.5"),
        ("image", BOX, "5", "0"),
    ],
)
def test_the_same_in_apf_whose_protocols_refuse_faults(
    source: str, place: str, right: str, wrong: str, tmp_path: Path
) -> None:
    """With --accept-faults, the entity is missed and spurious."""
    for side, offset in (("gold", right), ("mine", wrong)):
        where = place.format(offset)
        mention = f"<extent>{where}</extent><head>{where}</head>"
        body = (
            '<entity ID="E1" TYPE="PER" SUBTYPE="Group" CLASS="SPC">\n<entity_mention ID="E1-1" TYPE="NAM">'
            f"{mention}</entity_mention></entity>\n"
        )
        header = f'URI="D1" SOURCE="newswire" TYPE="{source}"'
        (tmp_path / f"{side}.apf.xml").write_text(apf(body, header=header))
    gold, mine = str(tmp_path / "gold.apf.xml"), str(tmp_path / "mine.apf.xml")
    refused = run("score", gold, mine, "-p", "ace-2005")
    assert (refused.code, "mine.apf.xml, line 7: " in refused.err, "--accept-faults" in refused.err) == (1, True, True)
    options = "-p", "ace-2005", "--accept-faults", "--details", "-f", "json"
    done = run("score", gold, mine, *options)
    counts = json.loads(done.out)["scores"]["ace.edr"]["micro"]["counts"]
    assert [counts[name] for name in ("correct", "error", "miss", "false_alarm")] == [0, 0, 1, 1]
    assert "1000000" not in done.out
    assert run("score", mine, gold, *options).code == 1
    assert "fatal" in run("validate", mine).out


def test_two_items_without_a_place_are_two(tmp_path: Path) -> None:
    """Unless they are the same; details and the HTML report show no span for them."""
    links = [[[2, 2], [1, 0], "evt001arg01attacker"], [[2, 2], [5, 0], "evt001arg02target"]]
    links += [[[2, 2], [5, 0], "evt001arg02target"]]
    paths = (
        saved(tmp_path / "gold.json", RAMS),
        saved(tmp_path / "mine.json", changed(RAMS, "gold_evt_links", to=links)),
    )
    result = json.loads(run("score", *paths, "-p", "textee-2024", "--details", "-f", "json").out)
    assert result["scores"]["arg.c"]["micro"]["counts"]["precision_den"] == 2
    spurious = [item["system"] for item in result["details"]["arg.c"] if item["outcome"] == "spurious"]
    assert len(spurious) == 2
    assert "1000000" not in json.dumps(spurious)
    page = run("score", *paths, "-p", "textee-2024", "-f", "html")
    assert page.code == 0
