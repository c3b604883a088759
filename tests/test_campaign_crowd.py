"""A campaign of 40 submissions, of which 12 are hostile, damaged or wrong: each is refused, and harms no other."""

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from karat.campaign.site import slug
from tests.running import run
from tests.submissions import DOCUMENTS, folder, jsonl, tar, zipped

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform == "win32", reason="links and signals of Unix")]

NAMES = ("NIST", "nist", slug("NIST"), "x (1)", "Team7_primary", "Team8_primary", "zed", "C++", "Ünï", "-")
RANKED = (*NAMES, *(f"site{letter}" for letter in "abcdefghijklmnopqr"))
REFUSED = {
    "evil": "layout-other",
    "x (2)": "submission-twice",
    "x (3)": "submission-twice",
    "link": "archive-link",
    "inside": "archive-link",
    "parent": "archive-path",
    "bomb": "archive-ratio",
    "digits": "no-documents",
    "empty": "submission-empty",
    "short": "document-missing",
    "broken": "jsonl-shape",
    "damaged": "archive-damaged",
}
POINTS = (("score", 3), ("score", 20), ("statistics", 1), ("report", 2), ("report", 15))


def output(name: str, number: int = 0) -> bytes:
    """The output of a system, with its name in the ids of its mentions and of a document of its own."""
    mark = f"mark-of-{name}."
    return jsonl(wrong=number % 8, documents=(*DOCUMENTS, mark), ids=mark)


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("crowd")
    (place / "gold.jsonl").write_bytes(jsonl())
    submissions = place / "submissions"
    for number, name in enumerate(RANKED):
        if name == "zed":
            folder(submissions / name, {"english/out.jsonl": output(name, number)})
        elif number % 3 == 0:
            folder(submissions / name, {"out.jsonl": output(name, number)})
        elif number % 3 == 1:
            tar(submissions / f"{name}.tar.gz", {"out/out.jsonl": output(name, number)})
        else:
            zipped(submissions / f"{name}.zip", {"out.jsonl": output(name, number)})
    tar(submissions / "evil.tar.gz", {"english/edr/EVIL1_primary/out.jsonl": output("evil")})
    folder(submissions / "x", {"out.jsonl": output("x (2)")})
    zipped(submissions / "x.zip", {"out.jsonl": output("x (3)")})
    (submissions / "link").symlink_to(submissions / "NIST")
    folder(submissions / "inside", {"a.jsonl": output("inside")})
    (submissions / "inside" / "b.jsonl").symlink_to("../NIST/out.jsonl")
    tar(submissions / "parent.tar.bz2", {"../NIST/out.jsonl": output("parent")})
    zipped(submissions / "bomb.zip", {"a.jsonl": bytes(12 << 20)})
    zipped(submissions / "digits.zip", {f"{number:04}{'1' * 900}_primary": b"" for number in range(500)})
    (submissions / "empty").mkdir()
    folder(submissions / "short", {"out.jsonl": jsonl(documents=DOCUMENTS[:2], ids="mark-of-short.")})
    folder(submissions / "broken", {"out.jsonl": output("broken") + b"{mark-of-broken.\n"})
    (submissions / "damaged.tar.gz").write_bytes((submissions / "evil.tar.gz").read_bytes()[:100])
    return place


def arguments(place: Path, results: str, *options: str) -> list[str]:
    given = ("--gold", str(place / "gold.jsonl"), "-p", "tac-2017", "--sort-by", "nugget.type", "--resamples", "20")
    return ["campaign", str(place / "submissions"), *given, "-o", str(place / results), *options]


@pytest.fixture(scope="module")
def whole(crowd: Path) -> Path:
    """The results of a run that nobody disturbs."""
    done = run(*arguments(crowd, "whole"))
    assert done.code == 0, done.err
    return crowd / "whole"


def written(results: Path) -> dict[str, bytes]:
    """All files but the store."""
    return {
        str(path.relative_to(results)): path.read_bytes()
        for path in results.rglob("*")
        if path.is_file() and path.suffix != ".sqlite"
    }


def test_each_is_ranked_or_refused_for_its_own_reason(whole: Path) -> None:
    content = json.loads((whole / "results.json").read_text())
    listed = {one["system"]: one for one in content["submissions"]}
    assert len(listed) == len(content["submissions"]) == 40
    refused = {name: one["findings"][0]["code"] for name, one in listed.items() if one["status"] == "refused"}
    assert refused == REFUSED
    overall = next(one for one in content["rankings"] if one["source"] is None)
    assert {system["system"] for system in overall["systems"]} == {*RANKED} == {*listed} - {*REFUSED}
    text = (whole / "results.txt").read_text()
    assert text.startswith("40 submissions: 28 ranked, 12 refused\n")
    for name, code in REFUSED.items():
        assert re.search(rf"^{re.escape(name)}\n  .*\[{code}\]", text, re.MULTILINE) or code == "document-missing"
    assert "\nshort\n  2 documents missing: c, d\n" in text


def test_nothing_of_one_is_in_the_pages_of_another(whole: Path, crowd: Path) -> None:
    marks = {
        page.relative_to(whole): re.findall(r"mark-of-([^.]+)\.", page.read_text()) for page in whole.rglob("*.html")
    }
    systems = [{*found} for page, found in marks.items() if page.parent.name == "systems"]
    reports = [{*found} for page, found in marks.items() if page.parent.name == "reports"]
    assert (len(systems), len(reports)) == (40, 28)
    assert all(len(found) <= 1 for found in systems)
    assert all(len(found) == 1 for found in reports)
    assert {name for found in reports for name in found} == {*RANKED}
    done = run(*arguments(crowd, "whole", "--site", "Team7"))
    assert done.code == 0, done.err
    published = b"".join(written(whole / "sites" / slug("Team7")).values()).decode()
    assert {*re.findall(r"mark-of-([^.]+)\.", published)} == {"Team7_primary"}
    assert "Team8" not in published


def known(store: Path, kind: str) -> int:
    with suppress(sqlite3.Error):
        database = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
        with suppress(sqlite3.Error):
            (count,) = database.execute("SELECT count(*) FROM results WHERE kind = ?", (kind,)).fetchone()
            database.close()
            return int(count)
        database.close()
    return 0


def test_a_run_that_is_killed_five_times_writes_the_same_bytes(whole: Path, crowd: Path) -> None:
    store = crowd / "killed" / "results.sqlite"
    for kind, count in POINTS:
        command = [sys.executable, "-m", "karat", *arguments(crowd, "killed", "--jobs", "2")]
        process = subprocess.Popen(command, stdout=-3, stderr=-3, start_new_session=True)
        while process.poll() is None and known(store, kind) < count:
            time.sleep(0.005)
        process.kill()
        assert process.wait() == -signal.SIGKILL, (kind, count)
        with suppress(ProcessLookupError):
            while True:  # its processes end with it
                os.killpg(process.pid, 0)
                time.sleep(0.01)
    done = run(*arguments(crowd, "killed"))
    assert done.code == 0, done.err
    assert done.err.startswith("0 submissions scored, ")
    expected = {name: data for name, data in written(whole).items() if not name.startswith("sites/")}
    assert written(crowd / "killed") == expected
