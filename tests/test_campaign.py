"""`karat campaign`: who is ranked, who is refused and why, what is kept, and what may be published."""

import gzip
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from multiprocessing import get_context
from pathlib import Path
from random import Random
from typing import Any

import pytest

from karat.campaign import children, scoring
from karat.campaign.pseudonyms import NamelessCorpus
from karat.campaign.ranking import resamples_for
from karat.campaign.scoring import gold_path
from karat.campaign.site import slug
from karat.campaign.store import Store
from karat.campaign.submissions import Track
from karat.corpus.opening import open_corpus
from karat.limits import check_pairs
from karat.problems import Finding, Findings, KaratError
from karat.protocols import resolve_all
from karat.report.html.report import score_report
from karat.run.plan import Options
from karat.run.scoring import score
from tests.running import command, run
from tests.submissions import DOCUMENTS, TEXT, folder, jsonl, tar, tar_header, zipped

SYSTEMS = {"alpha": 0, "beta_primary": 1, "gamma_contrastive1": 2, "delta_contrastive1": 4}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Gold, four systems packed in different ways, and three that are refused."""
    (tmp_path / "gold.jsonl").write_bytes(jsonl())
    submissions = tmp_path / "submissions"
    folder(submissions / "alpha", {"out.jsonl": jsonl(), "description.md": b"Alpha."})
    tar(submissions / "beta_primary.tar.gz", {"b/out.jsonl": jsonl(wrong=1)})
    tar(submissions / "gamma_contrastive1.tar.xz", {"out.jsonl": jsonl(wrong=2)})
    zipped(submissions / "delta_contrastive1.zip", {"out.jsonl": jsonl(wrong=4)})
    folder(submissions / "invalid", {"out.jsonl": jsonl() + b"{not JSON\n"})
    folder(submissions / "short", {"out.jsonl": jsonl(documents=DOCUMENTS[:2])})
    tar(submissions / "hostile.tar.gz", {"../evil": b"evil"})
    return tmp_path


def campaign(place: Path, *options: str, output: str = "out") -> tuple[dict[str, Any], Path]:
    """The JSON of a run that ends with 0, and its output folder."""
    done = run(*arguments(place, *options, output=output))
    assert done.code == 0, done.err
    return json.loads((place / output / "results.json").read_text()), place / output


def arguments(place: Path, *options: str, output: str = "out") -> list[str]:
    gold, results = str(place / "gold.jsonl"), str(place / output)
    return [
        "campaign",
        str(place / "submissions"),
        "--gold",
        gold,
        "-p",
        "tac-2017",
        "--sort-by",
        "nugget.type",
        "--resamples",
        "40",
        "-o",
        results,
        "--jobs",
        "1",
        *options,
    ]


def outputs(folder: Path) -> dict[str, bytes]:
    """Everything but the store, by path."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix != ".sqlite"
    }


def test_rankings_by_condition_and_source(place: Path) -> None:
    content, _ = campaign(place, "--no-reports")
    rankings = content["rankings"]
    found = [(one["condition"], one["source"], [system["system"] for system in one["systems"]]) for one in rankings]
    primary, contrastive = ["alpha", "beta_primary"], ["gamma_contrastive1", "delta_contrastive1"]
    assert found == [
        ("primary", None, primary),
        ("primary", "nw", primary),
        ("primary", "wl", primary),
        ("contrastive", None, contrastive),
        ("contrastive", "nw", contrastive[::-1]),  # equal
        ("contrastive", "wl", contrastive),
    ]
    assert all(one["tests"] for one in rankings)
    leaf = rankings[3]["systems"][0]["scores"]["nugget.type"]["micro"]
    assert leaf["f1"] == 0.75
    assert leaf["ci"]["f1"][0] < 0.75 < leaf["ci"]["f1"][1]


def test_scores_are_those_of_karat_score_and_compare(place: Path) -> None:
    """A result that went through the store has the same numbers, bit by bit; a source is a breakdown."""
    content, _ = campaign(place, "--no-reports")
    system = folder(place / "s", {"out.jsonl": jsonl(wrong=4)})
    scored = run("score", str(place / "gold.jsonl"), str(system), "-p", "tac-2017", "-f", "json", "--by", "source")
    alone = json.loads(scored.out)
    rankings = content["rankings"]
    own = [
        {one["system"]: one["scores"] for one in ranking["systems"]}["delta_contrastive1"] for ranking in rankings[3:]
    ]
    for id_, averages in alone["scores"].items():
        for average, leaf in averages.items():
            assert {key: own[0][id_][average][key] for key in leaf} == leaf
    for source, scores in (("nw", own[1]), ("wl", own[2])):
        for id_, averages in alone["by"]["source"][source].items():
            assert scores[id_]["micro"]["f1"] == averages["micro"]["f1"], (source, id_)


@pytest.mark.slow
def test_a_campaign_says_what_ranks(tmp_path: Path) -> None:
    """Gold has no link, so that the first headline measure ranks all the same: both systems score 0 in it."""
    (tmp_path / "gold.forest").write_text("d\t(1) (2)\n")
    for name, trees in (("alpha", "(1) (2)"), ("beta", "(1(2))")):
        folder(tmp_path / "submissions" / name, {"out.forest": f"d\t{trees}\n".encode()})
    options = ("--gold", str(tmp_path / "gold.forest"), "-p", "araki-2014", "-o", str(tmp_path / "out"), "--no-reports")
    shown = run("campaign", str(tmp_path / "submissions"), *options, "--jobs", "1").out
    assert "\naraki-2014: primary systems, all sources; ranked by hierarchy.subevent.mucp (--sort-by)\n" in shown
    assert "\nalpha and beta tie for first place (hierarchy.subevent.mucp F1 0.0).\nnote: gold supports no" in shown


def test_bad_submissions_are_explained_and_stop_no_other(place: Path) -> None:
    content, out = campaign(place, "--no-reports")
    submissions = content["submissions"]
    refused = {one["system"]: one for one in submissions if one["status"] == "refused"}
    assert {name: [finding["code"] for finding in one["findings"]] for name, one in refused.items()} == {
        "hostile": ["archive-path"],
        "invalid": ["jsonl-shape"],
        "short": ["document-missing", "document-missing"],
    }
    assert refused["short"]["missing"] == ["c", "d"]
    text = (out / "results.txt").read_text()
    assert "7 submissions: 4 ranked, 3 refused" in text
    assert "2 documents missing: c, d" in text
    assert "out.jsonl, line 5" in text


def test_the_layout_follows_from_the_protocol(place: Path) -> None:
    """One archive in the layout of the ACE plan is refused; a folder of a language is a folder like any other."""
    tar(place / "submissions" / "evil.tar.gz", {"english/edr/EVIL1_primary/out.jsonl": jsonl()})
    folder(place / "submissions" / "zed", {"english/out.jsonl": jsonl()})
    content, _ = campaign(place, "--no-reports")
    found = {one["system"]: one["status"] for one in content["submissions"]}
    refused = dict.fromkeys(("invalid", "short", "hostile", "evil"), "refused")
    assert found == {**dict.fromkeys((*SYSTEMS, "zed"), "ranked"), **refused}


@pytest.mark.slow
def test_archives_are_never_unpacked_to_disk(place: Path) -> None:
    """A hook sees each file that is opened to be written: only results are, also where a member is compressed."""
    tar(place / "submissions" / "packed.tar.gz", {"out.jsonl.gz": gzip.compress(jsonl(wrong=3))})
    watch = """
import os, sys, tempfile
from karat.cli import main
tempfile.gettempdir()  # which tries out whether it can be written to
def seen(event, arguments):
    if event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR):
        print("written:", arguments[0])
    if event.startswith("tempfile."):
        print("written:", *arguments)
sys.addaudithook(seen)
main()
"""
    done = subprocess.run(
        [sys.executable, "-c", watch, *arguments(place, "--no-reports")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    written = [line.split(": ", 1)[1] for line in done.stdout.splitlines() if line.startswith("written:")]
    inside = str(place / "out")
    assert written
    assert [path for path in written if not path.startswith((inside, "/dev/"))] == []
    overall = json.loads((place / "out" / "results.json").read_text())["rankings"][0]
    assert [system["system"] for system in overall["systems"]] == ["alpha", "beta_primary", "packed"]


def test_extra_documents_and_descriptions_are_listed(place: Path) -> None:
    folder(place / "submissions" / "extra", {"out.jsonl": jsonl(documents=(*DOCUMENTS, "e\nf"))})
    content, out = campaign(place, "--no-reports")
    submissions = {one["system"]: one for one in content["submissions"]}
    assert submissions["extra"]["extra"] == ["e\nf"]
    assert submissions["extra"]["status"] == "ranked"
    assert [name for name, one in submissions.items() if one["description"]] == ["alpha"]
    text = (out / "results.txt").read_text()
    assert re.search(r"alpha +alpha +present", text)
    assert "\n  extra: e\\u000af\n" in text


def test_a_small_archive_makes_no_large_pages(place: Path) -> None:
    """Each of its findings names a document whose id is as long as the archive may be when unpacked."""
    mentions = [{"id": f"m{n}", "span": [[5, 13]], "text": "wrong"} for n in range(20)]
    line = json.dumps({"id": "x" * 500_000, "text": TEXT, "mentions": mentions})
    zipped(place / "submissions" / "long.zip", {"out.jsonl": jsonl() + line.encode()})
    _, out = campaign(place, "--no-reports")
    sizes = {name: len(data) for name, data in outputs(out).items() if not name.endswith("results.json")}
    assert max(sizes.values()) < 300_000, sizes
    assert len(outputs(out)["results.json"]) < 1_000_000


@pytest.mark.slow
def test_faults_are_refused_unless_they_are_accepted(place: Path) -> None:
    """As for participants, who run `karat validate --against`."""
    faulty = jsonl().replace(b'"text": "They', b'"text": "Thex', 1)
    folder(place / "submissions" / "faulty", {"out.jsonl": faulty})
    content, _ = campaign(place, "--no-reports")
    status = {one["system"]: one["status"] for one in content["submissions"]}
    assert status["faulty"] == "refused"
    assert run("validate", str(place / "submissions" / "faulty"), "--against", str(place / "gold.jsonl")).code == 1
    content, _ = campaign(place, "--no-reports", "--accept-faults")
    status = {one["system"]: one["status"] for one in content["submissions"]}
    assert (status["faulty"], status["short"]) == ("ranked", "refused")


@pytest.mark.slow
def test_what_was_scored_is_not_scored_again(place: Path) -> None:
    """Only a late or changed submission is; another protocol is another score."""

    def scored(*options: str) -> str:
        return run(*arguments(place, "--no-reports", *options)).err.splitlines()[0]

    assert scored() == "6 submissions scored, 0 known from earlier runs"
    assert scored() == "0 submissions scored, 6 known from earlier runs"
    zipped(place / "submissions" / "late.zip", {"out.jsonl": jsonl(wrong=3)})
    assert scored() == "1 submission scored, 6 known from earlier runs"
    folder(place / "submissions" / "alpha", {"out.jsonl": jsonl(wrong=8)})
    assert scored() == "1 submission scored, 6 known from earlier runs"
    assert scored("-p", "exact-2013") == "7 submissions scored, 0 known from earlier runs"
    (place / "gold.jsonl").write_bytes(jsonl(wrong=1))
    assert scored() == "7 submissions scored, 0 known from earlier runs"


@pytest.mark.slow
def test_any_number_of_processes_and_hash_seed_give_the_same_bytes(place: Path) -> None:
    done = [
        command(*arguments(place, "--jobs", jobs, output=jobs), PYTHONHASHSEED=seed)
        for jobs, seed in (("1", "0"), ("2", "1"))
    ]
    assert [one.code for one in done] == [0, 0], done
    assert done[0].out == done[1].out
    assert outputs(place / "1") == outputs(place / "2")


def hang() -> None:
    time.sleep(600)


def burn() -> None:
    while True:
        pass


def take_memory() -> None:
    bytes(10**10)


def die() -> None:
    """As the system ends a process that needs too much memory."""
    os.kill(os.getpid(), signal.SIGKILL)


def recurse() -> None:
    recurse()


def fail() -> None:
    raise ValueError("a mistake of karat")


def misbehave(monkeypatch: pytest.MonkeyPatch, act: Callable[[], None], *names: str) -> None:
    """Act in the child process that validates a submission of one of these names."""
    validated = scoring._validated

    def acting(conditions: scoring.Conditions, job: scoring.Job) -> Any:
        if job.submission.system in names:
            act()
        return validated(conditions, job)

    monkeypatch.setattr(scoring, "_validated", acting)


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="a child that is no fork does not misbehave")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("act", "options", "code", "words"),
    [
        (burn, ("--cpu-limit", "1"), "submission-limit", "it needs more than 1 second of CPU time"),
        (take_memory, ("--memory-limit", "0.5"), "submission-limit", "it needs more than 0.5 GB of memory"),
        (hang, ("--time-limit", "3"), "submission-limit", "it takes more than 3 seconds"),
        (die, (), "submission-too-much", "it runs out of memory, or is nested too deeply"),
        (recurse, (), "submission-too-much", "it runs out of memory, or is nested too deeply"),
        (fail, (), "submission-failed", "karat fails with ValueError: a mistake of karat"),
    ],
)
def test_a_submission_that_meets_a_limit_is_refused_alone(
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
    act: Callable[[], None],
    options: tuple[str, ...],
    code: str,
    words: str,
) -> None:
    misbehave(monkeypatch, act, "beta_primary")
    content, out = campaign(place, "--no-reports", *options)
    found = {one["system"]: [finding["code"] for finding in one["findings"]] for one in content["submissions"]}
    assert found["beta_primary"] == [code]
    ranked = {system["system"] for one in content["rankings"] for system in one["systems"]}
    assert ranked == {"alpha", "gamma_contrastive1", "delta_contrastive1"}
    assert words in (out / "results.txt").read_text()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems may not limit memory")
@pytest.mark.slow
def test_files_that_need_too_much_memory_are_refused_alone(place: Path) -> None:
    """Where they are unpacked, and where they are parsed. They are tried again in the next run."""
    parsed = b'{"id": "a", "text": "%s"}' % (b"a" * 50_000_000)
    tar(place / "submissions" / "parsed.tar.gz", {"out.jsonl": parsed})
    with gzip.open(place / "submissions" / "unpacked.tar.gz", "wb", 1) as stream:
        stream.write(tar_header(b"a", 120 << 20, b"L") + bytes(120 << 20))  # a long name, which is no member
    found = []
    for limit in ("0.05", "4"):
        content, _ = campaign(place, "--no-reports", "--max-ratio", "100000", "--memory-limit", limit)
        codes = {one["system"]: [finding["code"] for finding in one["findings"]] for one in content["submissions"]}
        found.append((codes["parsed"][0], codes["unpacked"][0], codes["alpha"]))
    assert found == [
        ("submission-limit", "submission-limit", []),
        ("texts-differ", "archive-damaged", []),
    ]


def test_a_reason_does_not_say_where_gold_is(tmp_path: Path) -> None:
    mention = {"span": [[0, 5]], "attributes": {"type": "A", "realis": "Actual"}}
    crowded = json.dumps({"id": "d", "text": "She left.", "mentions": 1001 * [mention]}).encode()
    folder(tmp_path / "secret", {"gold.jsonl": crowded})
    folder(tmp_path / "submissions" / "crowded", {"out.jsonl": crowded})
    command = arguments(tmp_path, "--no-reports")
    command[command.index("--gold") + 1] = str(tmp_path / "secret" / "gold.jsonl")
    done = run(*command)
    assert (done.code, "1 submission: 0 ranked, 1 refused" in done.out) == (0, True)
    assert re.search(r"\n  gold.jsonl, line 1: document 'd' has 1,000,001 or more .* \[too-many-pairs\]", done.out)


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="a child that is no fork does not misbehave")
def test_a_report_that_meets_a_limit_is_left_out(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A system may have few enough pairs to be scored, and too many outcomes to be listed."""

    def limited(results: Any, *rest: Any, **options: Any) -> Any:
        if results[0].system.name == "beta_primary":
            check_pairs(1_000_001, "outcomes", where="document 'a'")
        return score_report(results, *rest, **options)

    monkeypatch.setattr(scoring, "score_report", limited)
    done, out = run(*arguments(place)), place / "out"
    content = json.loads((out / "results.json").read_text())
    assert "beta_primary has no error report: document 'a' has 1,000,001 outcomes; karat compares" in done.err
    assert len([one for one in content["submissions"] if one["status"] == "ranked"]) == 4
    assert {path.stem for path in (out / "site" / "reports").iterdir()} == {*SYSTEMS} - {"beta_primary"}


@pytest.mark.slow
def test_processes_that_are_no_forks_give_the_same_bytes(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("gamma_contrastive1.tar.xz", "delta_contrastive1.zip", "hostile.tar.gz"):
        (place / "submissions" / name).unlink()
    campaign(place, output="forks")
    monkeypatch.setattr(children, "_CONTEXT", get_context("spawn"))
    campaign(place, output="others")
    assert outputs(place / "forks") == outputs(place / "others")


def test_the_store_can_be_asked_in_sql(place: Path) -> None:
    _, out = campaign(place, "--no-reports")
    with sqlite3.connect(out / "results.sqlite") as database:
        best = database.execute(
            "SELECT system, value FROM rankings WHERE source IS NULL AND measure = 'nugget.type' ORDER BY value DESC"
        ).fetchall()
        refused = database.execute("SELECT count(*) FROM submissions WHERE status = 'refused'").fetchone()
    database.close()
    assert [name for name, _ in best] == ["alpha", "beta_primary", "gamma_contrastive1", "delta_contrastive1"]
    assert refused == (3,)


class Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.policy = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.targets += [value for name in ("href", "src") if (value := given.get(name))]
        if given.get("http-equiv") == "Content-Security-Policy":
            self.policy = given.get("content") or ""


def pages(site: Path) -> Iterator[tuple[Path, Links]]:
    for path in site.rglob("*.html"):
        links = Links()
        links.feed(path.read_text())
        yield path, links


@pytest.mark.slow
def test_every_page_of_the_site_is_there_and_safe(place: Path) -> None:
    _, out = campaign(place)
    site = out / "site"
    found = dict(pages(site))
    assert len(found) == 1 + 1 + 7 + 4  # the index, the track, the systems, the error reports
    for path, links in found.items():
        assert links.policy.startswith("default-src 'none'"), path
        for target in links.targets:
            if not target.startswith("#"):
                assert not re.match(r"[a-z]+:|/", target), (path, target)
                assert (path.parent / target).is_file(), (path, target)
    reached = {site / "index.html"}
    waiting = [site / "index.html"]
    while waiting:
        path = waiting.pop()
        for target in found[path].targets if path in found else ():
            there = (path.parent / target).resolve()
            if not target.startswith("#") and there not in reached:
                reached.add(there)
                waiting.append(there)
    assert set(found) <= reached


@pytest.mark.slow
def test_an_old_page_does_not_stay(place: Path) -> None:
    _, out = campaign(place)
    shutil.rmtree(place / "submissions" / "alpha")
    campaign(place)
    assert not list(out.rglob("alpha*"))


def test_what_a_site_may_publish(place: Path) -> None:
    """4.2: its own scores and the best score, and no other name."""
    folder(place / "submissions" / "beta_contrastive1", {"out.jsonl": jsonl(wrong=3)})
    done = run(*arguments(place, "--site", "beta"))
    assert done.code == 0, done.err
    published = outputs(place / "out" / "sites" / "beta")
    rows = json.loads(published["results.json"])["scores"]
    overall = [row for row in rows if row["source"] is None]
    assert [row["system"] for row in overall] == ["beta_primary", "beta_contrastive1"]
    assert overall[0]["best"] == 1.0 > overall[0]["value"]
    assert sorted(name for name in published if name.startswith("site/reports")) == [
        "site/reports/beta_contrastive1.html",
        "site/reports/beta_primary.html",
    ]
    for name, data in published.items():
        for other in ("alpha", "gamma", "delta", "invalid", "short", "hostile"):
            if other in ("invalid", "short") and name.startswith("site/"):
                continue  # words of the style and the script
            assert other.encode() not in data.lower(), (name, other)
    folder(place / "submissions" / "beta7_primary", {"out.jsonl": jsonl(wrong=6)})
    run(*arguments(place, "--site", "beta", "--no-reports"))
    assert b"beta7" not in b"".join(outputs(place / "out" / "sites" / "beta").values())
    wrong = run(*arguments(place, "--site", "betta"))
    assert wrong.code == 2
    assert "Did you mean beta?" in wrong.err


def signed(name: str) -> bytes:
    """The output of a system that leaves its name wherever it can."""
    first, *others = map(json.loads, jsonl(wrong=5, ids=f"{name}-").splitlines())
    first["about"] = {name: name}
    first["producer"] = name
    first["mentions"][0]["attributes"] |= {name: "x", "type": f"Type of {name}"}
    first["mentions"][1]["kind"] = name
    first["links"] = [{"kind": name, "from": f"{name}-0", "to": f"{name}-1"}]
    extra = {**first, "id": name, "text": f"by {name}", "source": name, "topic": name}
    return "".join(f"{json.dumps(line)}\n" for line in (first, *others, extra)).encode()


@pytest.mark.slow
def test_a_blind_phase_has_no_names(place: Path) -> None:
    """Not even where a system signs its output; pseudonyms stay the same from run to run, and times tell nothing."""
    folder(place / "submissions" / "omega", {"omega-run.jsonl": signed("omega")})
    folder(place / "submissions" / "sigma", {"sigma.jsonl": jsonl(ids="sigma-") + b"sigma was here\n"})
    folder(place / "submissions" / "SIGMA", {"out.jsonl": jsonl(wrong=6)})
    run(*arguments(place, "--anonymous"))
    (place / "submissions" / "alpha" / "out.jsonl").write_bytes(jsonl(wrong=7))
    done = run(*arguments(place, "--anonymous"))
    assert done.code == 0, done.err
    first = outputs(place / "out")
    names = ("alpha", "beta", "gamma", "delta", "omega", "sigma", "hostile")
    for name, data in {
        **first,
        "stdout": done.out.encode(),
        "store": (place / "out/results.sqlite").read_bytes(),
    }.items():
        for own in names:
            assert own.encode() not in data.lower(), (name, own)
            assert own not in name
    assert len({path.stat().st_mtime_ns for path in (place / "out/anonymous/site").rglob("*") if path.is_file()}) == 1
    listed = json.loads(first["anonymous/results.json"])["submissions"]
    systems = {one["system"] for one in listed}
    assert len(systems) == len(listed) == 10
    assert all(re.fullmatch(r"system-[0-9a-f]{12}", one) for one in systems)
    assert [one["extra"] for one in listed if one["extra"]] == [["extra document 1"]]
    shutil.rmtree(place / "submissions" / "omega")
    run(*arguments(place, "--anonymous"))
    fewer = {one["system"] for one in json.loads(outputs(place / "out")["anonymous/results.json"])["submissions"]}
    assert fewer < systems
    assert run(*arguments(place, "--anonymous", "--site", "beta")).code == 2


@pytest.mark.parametrize("name", ["tac-2017", "araki-2014"])
def test_a_nameless_system_has_the_same_scores(tmp_path: Path, name: str) -> None:
    """Also where documents that gold lacks count."""
    folder(tmp_path, {"gold.jsonl": jsonl(), "omega.jsonl": signed("omega")})
    gold, system = (open_corpus(str(tmp_path / name)) for name in ("gold.jsonl", "omega.jsonl"))
    nameless = NamelessCorpus(system, gold, lambda text: text.replace("omega", "site"))
    assert "omega" not in str([*nameless])
    protocols = resolve_all([name], {})
    before, after = (score(gold, corpus, protocols, Options(), findings=Findings()) for corpus in (system, nameless))
    assert before[0].scores == after[0].scores


def test_inputs_are_never_overwritten(place: Path) -> None:
    """Neither results among the submissions, nor a folder of somebody else."""
    for output in ("submissions/out", "submissions"):
        done = run(*arguments(place, output=output))
        assert done.code == 1
        assert "output-unwritable" in done.err
    folder(place / "other", {"thesis.tex": b"years of work"})
    done = run(*arguments(place, output="other"))
    assert (done.code, "folder-not-empty" in done.err) == (1, True)
    folder(place / "foreign", {"results.sqlite": b"something else entirely, and longer than a header of 100 bytes" * 3})
    done = run(*arguments(place, output="foreign"))
    assert (done.code, "store-unusable" in done.err) == (1, True)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["results.json", "gold.jsonl", "site/gold.jsonl", "types.txt"])
def test_an_input_in_the_folder_of_results_is_refused_before_anything_is_written(place: Path, name: str) -> None:
    campaign(place, "--no-reports")
    before, store = outputs(place / "out"), place / "out" / "results.sqlite"
    before[name] = b"Attack\n" if name == "types.txt" else jsonl(wrong=1)
    (place / "out" / name).write_bytes(before[name])
    given = ["--set", f"types={place / 'out' / name}"] if name == "types.txt" else ["--gold", str(place / "out" / name)]
    size = store.stat().st_size
    done = run(*arguments(place, "--no-reports", *given))
    assert (done.code, "output-unwritable" in done.err) == (1, True)
    assert outputs(place / "out") == before
    assert store.stat().st_size == size or name == "types.txt"


@pytest.mark.slow
def test_what_is_damaged_in_the_store_is_made_again(place: Path) -> None:
    """Also a result of another submission, which is sound in itself, and what another version has stored."""
    whole, out = campaign(place, "--no-reports")
    swapped = "UPDATE results SET content = (SELECT content FROM results WHERE kind = 'score' LIMIT 1) WHERE kind = "
    for changes, words in (
        ((f"{swapped}'score'", "UPDATE results SET content = x'00' WHERE kind = 'statistics'"), "5 submissions scored"),
        (("DROP TABLE karat",), "another version of karat made it, so everything is scored again\n6 submissions"),
    ):
        with sqlite3.connect(out / "results.sqlite") as database:
            for change in changes:
                database.execute(change)
        database.close()
        done = run(*arguments(place, "--no-reports"))
        assert words in done.err
        assert json.loads((out / "results.json").read_text()) == whole
    (out / "results.sqlite").write_bytes((out / "results.sqlite").read_bytes()[:5000])
    done = run(*arguments(place, "--no-reports"))
    assert done.code == 1
    assert done.err.endswith("[store-unusable]\n  Choose another output folder, or move the file away.\n")
    assert done.err.startswith(f"error: {out / 'results.sqlite'}: ")


def test_a_damaged_store_is_refused_or_what_it_returns_is_sound(tmp_path: Path) -> None:
    path, random = tmp_path / "results.sqlite", Random(7)
    contents = {f"{number:064x}": random.randbytes(300) for number in range(60)}
    with Store(path) as store:
        store.put("score", contents.items())
        store.replace("rankings", [{"system": "a", "value": 1.0}])
    sound = path.read_bytes()
    refused = []
    for number in range(50):
        place_ = random.randrange(len(sound) if number % 2 else 200)
        damage = random.randbytes(random.choice((1, 64)))
        path.write_bytes(sound[:place_] + damage + (sound[place_ + len(damage) :] if number % 5 else b""))
        try:
            with Store(path) as store:
                known = store.keys("score")
                assert all(store.get(key) == contents[key] for key in known)
                store.put("score", [("late", b"content")])
                store.replace("rankings", [{"system": "b", "value": 2.0}])
        except KaratError as error:
            refused.append(error.finding.code)
    assert set(refused) == {"store-unusable"}
    assert 5 < len(refused) < 45


def test_a_new_store_is_made_once(tmp_path: Path) -> None:
    """By processes that start at the same time."""
    for number in range(10):
        path = tmp_path / f"{number}.sqlite"
        barrier = threading.Barrier(4)

        def opened(path: Path = path, barrier: threading.Barrier = barrier) -> bool:
            barrier.wait()
            with Store(path) as store:
                store.put("score", [("key", b"content")])
                store.replace("rankings", [{"a": 1}])
                return store.get("key") == b"content" and not store.is_rebuilt

        with ThreadPoolExecutor(4) as threads:
            assert all(future.result() for future in [threads.submit(opened) for _ in range(4)])


def test_a_folder_that_karat_has_not_made_is_not_replaced(place: Path) -> None:
    """Nor one into which somebody has moved the submissions."""
    campaign(place, "--no-reports")
    shutil.rmtree(place / "out" / "site")
    folder(place / "out" / "site", {"index.html": b"<title>My own page</title>"})
    done = run(*arguments(place, "--no-reports"))
    assert (done.code, "output-unwritable" in done.err) == (1, True)
    assert (place / "out" / "site" / "index.html").read_bytes() == b"<title>My own page</title>"
    shutil.rmtree(place / "out" / "site")
    campaign(place, "--no-reports")
    moved = place / "out" / "site" / "submissions"
    (place / "submissions").rename(moved)
    (place / "submissions").symlink_to(moved)
    done = run(*arguments(place, "--no-reports"))
    assert (done.code, "output-unwritable" in done.err) == (1, True)
    assert (moved / "alpha" / "out.jsonl").is_file()


def test_gold_that_cannot_be_used_stops_the_campaign(place: Path) -> None:
    (place / "gold.jsonl").write_bytes(jsonl() + b"{broken\n")
    done = run(*arguments(place))
    assert done.code == 1
    assert "jsonl-shape" in done.err
    assert (
        run("campaign", str(place / "submissions"), "--gold", str(place / "none"), "-o", str(place / "new")).code == 1
    )
    assert not (place / "new").exists()


def test_gold_of_each_language(tmp_path: Path) -> None:
    folder(tmp_path, {"english/a": b"", "chinese/edr/a": b""})
    assert gold_path(str(tmp_path), Track("english", "edr")) == str(tmp_path / "english")
    assert gold_path(str(tmp_path), Track("chinese", "edr")) == str(tmp_path / "chinese" / "edr")
    assert isinstance(gold_path(str(tmp_path), Track("arabic", "edr")), Finding)
    assert gold_path(str(tmp_path / "english"), Track("arabic", "edr")) == str(tmp_path / "english")


def test_resamples_grow_in_steps() -> None:
    """A late submission must not change the resamples of all others."""
    assert [resamples_for(systems) for systems in (1, 13, 14, 15, 26, 27, 100)] == [
        1000,
        1000,
        1000,
        2000,
        2000,
        4000,
        8000,
    ]
    for systems in range(2, 200):
        assert resamples_for(systems) >= 40 * (2 * systems - 3)


def test_file_names_of_pages() -> None:
    assert slug("team-1_primary") == "team-1_primary"
    texts = ("nist", "NIST", "NIST!", "nist--38ca4dd5ba2a5c91", slug("NIST"), "", "-", "a-b", "a/b")
    assert len({*map(slug, texts)}) == len(texts)
    assert re.fullmatch(r"[a-z0-9_-]+", slug("../Ünïcode/\x1b" + "x" * 300))
    assert len(slug("x" * 300)) < 100
