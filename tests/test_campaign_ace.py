"""A campaign in the layout of the ACE 2005 plan: tracks, measures, golds of languages, sources, and APF in archives."""

import json
import re
from pathlib import Path

import pytest

from tests.ace_files import BODY, SGM, apf, seq
from tests.running import run
from tests.submissions import folder, tar

DOCUMENTS = {"D1": "newswire", "D2": "weblog", "D3": "newswire"}
WRONG = BODY.replace('TYPE="GPE" SUBTYPE="Population-Center"', 'TYPE="GPE" SUBTYPE="Nation"')


def files(body: str = BODY, *, sources: bool = False) -> dict[str, bytes]:
    """Three documents of two sources; ids are those of their documents."""
    made = {}
    for id_, source in DOCUMENTS.items():
        own = body
        for name in ("E1", "E2", "E3", "V1", "V2", "T1", "T2", "R1", "R2"):
            own = own.replace(f'"{name}', f'"{id_}-{name}')
        header = f'URI="{id_}.sgm" SOURCE="{source}" TYPE="text"'
        made[f"{id_}.apf.xml"] = apf(own, header=header, docid=id_).encode()
        if sources:
            made[f"{id_}.sgm"] = SGM.replace("D1", id_).encode()
    return made


@pytest.fixture
def place(tmp_path: Path) -> Path:
    folder(tmp_path / "gold" / "english", files(sources=True))
    submissions = tmp_path / "submissions"
    packed = {f"english/{task}/BBN1_primary/{name}": data for task in ("edr", "vdr") for name, data in files().items()}
    packed |= {f"english/edr/BBN2_contrastive1/{name}": data for name, data in files(WRONG).items()}
    packed |= {f"arabic/vdr/BBN1_primary/{name}": data for name, data in files().items()}
    packed |= {f"chinese/edr/BBN1_primary/{name}": data for name, data in files().items()}
    tar(submissions / "bbn.tar.gz", {**packed, "BBN_description.txt": b"."})
    folder(submissions / "english" / "edr" / "NIST1_primary", files(WRONG))
    folder(submissions / "english" / "edr" / "SRI1_primary", {"D1.apf.xml": files()["D1.apf.xml"]})
    return tmp_path


def test_tracks_of_languages_and_tasks(place: Path) -> None:
    out = str(place / "out")
    done = run(
        *("campaign", str(place / "submissions"), "--gold", str(place / "gold"), "-p", "ace-2005", "-o", out),
        *("--jobs", "1", "--resamples", "40", "--no-reports"),
    )
    assert done.code == 0, done.err
    content = json.loads((place / "out" / "results.json").read_text())
    ranked = [
        (one["language"], one["task"], one["condition"], one["source"], [system["system"] for system in one["systems"]])
        for one in content["rankings"]
    ]
    edr = ["BBN1_primary", "NIST1_primary"]
    expected = []
    for source in (None, "newswire", "weblog"):
        expected.append(("english", "edr", "primary", source, edr))
    for source in (None, "newswire", "weblog"):
        expected.append(("english", "edr", "contrastive", source, ["BBN2_contrastive1"]))
    for source in (None, "newswire", "weblog"):
        expected.append(("english", "vdr", "primary", source, ["BBN1_primary"]))
    assert ranked == expected
    assert {one["sort_by"] for one in content["rankings"]} == {"ace.edr", "ace.vdr"}
    best = content["rankings"][0]["systems"][0]["scores"]
    assert list(best) == ["ace.edr"]
    assert best["ace.edr"]["micro"]["value"] == 1.0
    refused = {
        (one["language"], one["task"], one["system"]): {
            finding["code"] for finding in one["findings"] if finding["severity"] != "note"
        }
        for one in content["submissions"]
        if one["status"] == "refused"
    }
    assert refused == {
        ("arabic", "vdr", "BBN1_primary"): {"ace-task"},
        ("chinese", "edr", "BBN1_primary"): {"gold-no-language"},
        ("english", "edr", "SRI1_primary"): {"document-missing"},
    }
    described = {one["site"]: one["description"] for one in content["submissions"]}
    assert described == {"BBN": True, "NIST": False, "SRI": False}
    pages = {path.name for path in (place / "out" / "site" / "tracks").iterdir()}
    assert pages == {"english-edr.html", "english-vdr.html"}


def test_the_scores_of_a_task_are_those_of_the_command_line(place: Path) -> None:
    alone = run(
        *("score", str(place / "gold" / "english"), str(place / "submissions/english/edr/NIST1_primary")),
        *("-p", "ace-2005-nist", "-m", "ace.edr", "-f", "json"),
    )
    run(
        *("campaign", str(place / "submissions"), "--gold", str(place / "gold"), "-p", "ace-2005-nist"),
        *("-o", str(place / "out"), "--jobs", "1", "--resamples", "40", "--no-reports"),
    )
    content = json.loads((place / "out" / "results.json").read_text())
    (own,) = [one["scores"] for one in content["rankings"][0]["systems"] if one["system"] == "NIST1_primary"]
    expected = json.loads(alone.out)["scores"]["ace.edr"]["micro"]
    assert {key: own["ace.edr"]["micro"][key] for key in expected} == expected


def test_gold_may_tell_a_relation_twice_in_one_sentence(tmp_path: Path) -> None:
    mention = BODY[BODY.index("<relation_mention ID") : BODY.index("</relation_mention>")] + "</relation_mention>\n"
    second = mention.replace('"R1-1"', '"R1-2"').replace('"E1-1"', '"E1-2"')
    body = BODY.replace(mention, mention + second.replace(seq("Anna Keller"), seq("the director")))
    folder(tmp_path / "gold" / "english", files(body, sources=True))
    folder(tmp_path / "submissions" / "english" / "rdr" / "NIST1_primary", files(body))
    done = run(
        *("campaign", str(tmp_path / "submissions"), "--gold", str(tmp_path / "gold"), "-p", "ace-2005", "-f", "json"),
        *("-o", str(tmp_path / "out"), "--jobs", "1", "--resamples", "40", "--no-reports"),
    )
    assert done.code == 0, done.err
    content = json.loads(done.out)
    assert [one["status"] for one in content["submissions"]] != ["refused"]
    assert content["rankings"][0]["systems"][0]["scores"]["ace.rdr"]["micro"]["value"] == 1.0


def test_a_track_without_gold_is_not_ranked(place: Path) -> None:
    """All its scores are undefined; every system would come first."""
    body = re.sub(r"<relation ID.*?</relation>\n", "", BODY, flags=re.DOTALL)
    folder(place / "gold" / "english", files(body, sources=True))
    for system in ("BBN1", "NIST1"):
        folder(place / "submissions" / "english" / "rdr" / f"{system}_primary", files())
    done = run(
        *("campaign", str(place / "submissions"), "--gold", str(place / "gold"), "-p", "ace-2005"),
        *("-o", str(place / "out"), "--jobs", "1", "--resamples", "40", "--no-reports"),
    )
    assert done.code == 0, done.err
    assert done.out.startswith(
        "9 submissions: 4 ranked, 2 not ranked, 3 refused\n\nenglish/rdr: Not ranked: gold has no "
    )
    content = json.loads((place / "out" / "results.json").read_text())
    assert {one["task"] for one in content["rankings"]} == {"edr", "vdr"}
    assert {one["status"] for one in content["submissions"] if one["task"] == "rdr"} == {"not ranked"}
    site = place / "out" / "site"
    assert "English RDR" in (site / "index.html").read_text()
    assert "Not ranked" in next(site.glob("systems/english-rdr-*")).read_text()
    assert {path.name for path in (site / "tracks").iterdir()} == {"english-edr.html", "english-vdr.html"}


def test_gold_of_a_track_without_a_valid_submission_is_not_read(place: Path) -> None:
    """A hostile archive has no track; the golds of all languages together, which share ids, would be no corpus."""
    folder(place / "gold" / "chinese", files(sources=True))
    tar(place / "submissions" / "evil.tar.gz", {"../evil": b"evil"})
    done = run(
        *("campaign", str(place / "submissions"), "--gold", str(place / "gold"), "-p", "ace-2005", "-f", "json"),
        *("-o", str(place / "out"), "--jobs", "1", "--resamples", "40", "--no-reports"),
    )
    assert done.code == 0, done.err
    content = json.loads(done.out)
    refused = [
        (one["language"], one["task"], one["system"]) for one in content["submissions"] if one["status"] == "refused"
    ]
    assert refused == [(None, None, "evil"), ("arabic", "vdr", "BBN1_primary"), ("english", "edr", "SRI1_primary")]
    assert {one["language"] for one in content["rankings"]} == {"chinese", "english"}


def test_a_template_for_gold_of_several_languages(place: Path) -> None:
    made = run("campaign", "new", str(place / "task"), "--gold", str(place / "gold"), "-p", "ace-2005")
    assert made.code == 0, made.err
    assert '\nlayout = "ace"  # language/task/' in (place / "task" / "campaign.toml").read_text()
    (place / "task" / "submissions").rename(place / "empty")
    (place / "submissions").rename(place / "task" / "submissions")
    done = run("campaign", "--config", str(place / "task" / "campaign.toml"), "--no-reports", "--jobs", "1")
    assert done.code == 0, done.err
    assert done.out.startswith("7 submissions: 4 ranked, 3 refused")


def test_systems_of_the_same_content_are_not_named_to_each_other(tmp_path: Path) -> None:
    """They are checked once; findings name files, but not the folders of the site that was checked."""
    folder(tmp_path / "gold", files())
    for site in ("NIST", "SRI"):
        packed = {f"{site}/english/edr/{site}1_primary/{name}": data for name, data in files().items()}
        packed[f"{site}/english/edr/{site}1_primary/D4.apf.xml"] = b"not XML"
        tar(tmp_path / "submissions" / f"{site}.tar.gz", packed)
    given = ("--gold", str(tmp_path / "gold"), "-p", "ace-2005", "--layout", "ace", "-o", str(tmp_path / "out"))
    done = run("campaign", str(tmp_path / "submissions"), *given)
    assert (done.code, done.err.splitlines()[0]) == (0, "1 submission scored, 0 known from earlier runs")
    pages = [page.read_text() for page in (tmp_path / "out" / "site" / "systems").iterdir()]
    assert [("NIST" in page, "SRI" in page, "D4.apf.xml, line 1" in page) for page in sorted(pages)] == [
        (True, False, True),
        (False, True, True),
    ]
