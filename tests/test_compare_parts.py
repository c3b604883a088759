"""`karat compare` with the options of `karat score`: breakdowns, units, details, a summary; broken submissions."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

import karat
from karat.report.layout import Style, View
from karat.report.outputs import text as report_text
from tests.running import run

DEMO = Path(karat.__file__).parent / "demo"
GOLD, *SYSTEMS = (str(DEMO / f"{name}.jsonl") for name in ("gold", "literal", "eager", "cautious"))
COMPARE = ("compare", GOLD, *SYSTEMS, "-p", "tac-2017", "-m", "nugget")
BROKEN = '{"id": "x", "mentions": [{}]}\n'


def columns(text: str, title: str) -> list[list[str]]:
    """The cells of the table whose header starts with `title`, the header first."""
    lines = text[text.index(f"\n{title}") + 1 :].partition("\n\n")[0].splitlines()
    return [lines[0].removeprefix(title).split(), *(line.split() for line in lines[1:])]


# Breakdowns


@pytest.mark.slow
def test_each_system_has_the_parts_that_score_gives() -> None:
    options = ("--by", "type", "--by", "realis", "--per-unit", "--details", "-f", "json")
    compared = json.loads(run(*COMPARE, *options).out)["systems"]
    for name, path in zip(("literal", "eager", "cautious"), SYSTEMS, strict=True):
        alone = json.loads(run("score", GOLD, path, "-p", "tac-2017", "-m", "nugget", "--ci", "95", *options).out)
        for part in ("by", "documents", "details", "scores", "system"):
            assert compared[name][part] == alone[part], (name, part)


@pytest.mark.slow
def test_systems_stand_side_by_side() -> None:
    """The values that lost most first, as `karat score` says for each system."""
    out = run(*COMPARE, "--by", "type", "--per-document").out
    header, *rows = columns(out, "nugget.type+realis F1 by type")
    assert header == ["gold", "eager", "cautious", "literal"]
    assert rows[0] == ["Conflict_Demonstrate", "23", "74.84", "68.42", "56.86"]
    by_type = [
        karat.score(GOLD, path, protocol="tac-2017", by="type").by["type"]
        for path in (SYSTEMS[1], SYSTEMS[2], SYSTEMS[0])
    ]

    def lost(value: str) -> float:
        scores = [by[value]["nugget.type+realis"].micro.counts for by in by_type]
        return sum(counts.lost() for counts in scores if counts is not None)

    losses = [lost(row[0]) for row in rows]
    assert losses == sorted(losses, reverse=True)
    assert [row[0] for row in columns(run(*COMPARE, "--by", "type", "--sort", "name").out, header_of("type"))[1:]] == (
        sorted(row[0] for row in rows)
    )
    header, *rows = columns(out, "nugget.type+realis F1 per document")
    assert header == ["eager", "cautious", "literal"]
    assert [row[0] for row in rows] == sorted(row[0] for row in rows)
    assert len(rows) == 12


def header_of(field: str) -> str:
    return f"nugget.type+realis F1 by {field}"


def test_a_composite_is_broken_down_by_what_its_family_counts() -> None:
    args = ("compare", GOLD, *SYSTEMS, "-p", "tac-2017", "--by", "type", "--resamples", "20")
    header, *rows = columns(run(*args, "-m", "coref", "--sort-by", "coref.conll").out, "coref.conll F1 by type")
    assert header[0] == "gold"
    assert rows[0][:2] == ["Conflict_Demonstrate", "23"]
    header, *alone = columns(run(*args, "-m", "coref.conll").out, "coref.conll F1 by type")
    assert header == ["cautious", "eager", "literal"]
    assert sorted(row[1:] for row in alone) == sorted(row[2:] for row in rows)
    score = run("score", GOLD, SYSTEMS[0], "-p", "tac-2017", "--by", "type", "-m", "coref.conll").out
    assert len(columns(score, "coref by type")) == len(rows) + 1


def test_a_field_that_the_headline_does_not_know_is_shown_for_others() -> None:
    """Every event has a topic; the tables are of the headline. An attribute of nuggets only is not shown for links."""
    out = run("compare", GOLD, *SYSTEMS, "-p", "tac-2017", "--by", "topic", "--resamples", "20").out
    assert "coref.avg4 F1 by topic" in out
    assert "nugget.type+realis F1 by topic" in out


def test_runs_of_a_system_are_averaged_in_every_part() -> None:
    args = ("compare", GOLD, SYSTEMS[0], f"mix={SYSTEMS[1]},{SYSTEMS[2]}", "-p", "tac-2017", "-m", "nugget.type")
    content = json.loads(run(*args, "--by", "realis", "--per-unit", "-f", "json").out)["systems"]["mix"]
    runs = [karat.score(GOLD, path, protocol="tac-2017", by="realis", per_unit=True) for path in SYSTEMS[1:]]
    f1 = [run.by["realis"]["Actual"]["nugget.type"].f1 or 0 for run in runs]
    mean = content["by"]["realis"]["Actual"]["nugget.type"]["micro"]
    assert mean["f1"] == pytest.approx(sum(f1) / 2)
    assert mean["ci"]["f1"][0] < mean["f1"] < mean["ci"]["f1"][1]
    f1 = [run.units["tessen-1"]["nugget.type"].f1 or 0 for run in runs]
    assert content["documents"]["tessen-1"]["nugget.type"]["f1"] == pytest.approx(sum(f1) / 2)
    assert [list(run["by"]["realis"]) for run in content["runs"]] == [["Actual", "Generic", "Other"]] * 2
    header, *rows = columns(run(*args, "--by", "realis").out, "nugget.type F1 by realis")
    assert header == ["gold", "mix", "literal"]
    assert rows[0][:2] == ["Actual", "115"]


@pytest.mark.slow
def test_processes_change_nothing() -> None:
    """In JSON, which holds every part; the other reports are made of the same."""
    args = (*COMPARE, "--by", "type", "--per-unit", "--details", "--seed", "0", "--resamples", "20", "-f", "json")
    assert run(*args).out == run(*args, "--jobs", "2").out


def test_many_systems_fit_the_terminal() -> None:
    systems = {f"system-{number:02}": SYSTEMS[number % 3] for number in range(12)}
    comparison = karat.compare(
        GOLD, systems, protocol="tac-2017", measures="nugget.type", by="type", per_unit=True, resamples=20
    )
    for width in (None, 80):
        text = report_text([comparison], View(style=Style(width)))
        tables = text[text.index("\nnugget.type F1 by type") :].partition("\n\nnote")[0]
        assert max(map(len, tables.splitlines())) <= (width or 120)
        assert all(f"system-{number:02}" in tables for number in range(12))


def test_details_name_the_system() -> None:
    out = run(*COMPARE[:-1], "nugget.span", "--details", "--resamples", "20").out
    for name in ("literal", "eager", "cautious"):
        assert f"\n\ndetails of {name}\n\nnugget.span by item: " in out


@pytest.mark.slow
def test_a_summary_is_the_ranking() -> None:
    args = ("compare", GOLD, *SYSTEMS, "-p", "tac-2017", "--summary", "--resamples", "100")
    out = run(*args).out
    assert out.count("\nrank ") == 1
    assert "next" not in out
    assert "eager is best" in out
    assert "holds" not in out
    assert run(*args, "-f", "latex").out.count(r"\begin{table}") == 1


def test_a_summary_has_the_breakdowns_that_were_asked_for() -> None:
    """In `score` as in `compare`; under several protocols, each table names its own."""
    options = ("-p", "tac-2017", "-p", "liu-2015", "-m", "nugget.type", "--summary", "--by", "realis")
    for out in (run("score", GOLD, SYSTEMS[0], *options).out, run("compare", GOLD, *SYSTEMS, *options).out):
        assert out.count("by realis") == 2
        assert out.count("\nGeneric ") == 2
    assert "nugget.type by realis (liu-2015)" in run("score", GOLD, SYSTEMS[0], *options, "-f", "markdown").out


@pytest.mark.parametrize("form", ["csv", "markdown", "latex", "html"])
@pytest.mark.slow
def test_breakdowns_are_in_every_table_format(form: str) -> None:
    out = run(*COMPARE, "--by", "type", "--per-unit", "-f", form, "--digits", "1").out
    cells = {
        "csv": "literal,1,type,Conflict_Attack,nugget.type,f1,38.1,",
        "markdown": r"| Conflict\_Attack | 4 | **66.7** | - | 38.1 |",
        "latex": r"Conflict\_Attack & 4 & \textbf{66.7} &",
        "html": 'Conflict_Attack</bdi></th><td class="number">4</td><td class="number"><b>66.7</b></td>',
    }
    assert cells[form] in out
    assert "tessen-1" in out
    assert "karat=0.1.0|protocol=tac-2017" in out.replace(r"\allowbreak{}", "").replace(r"\textbar{}", "|")


def test_rows_of_parts_have_no_tests() -> None:
    lines = run(*COMPARE, "--by", "realis", "-f", "csv").out.splitlines()
    rows = list(csv.DictReader(lines))
    whole = [row for row in rows if not row["by"]]
    parts = [row for row in rows if row["by"]]
    assert len(whole) == 3 * 4
    assert {row["by_value"] for row in parts} == {"Actual", "Generic", "Other"}
    assert all(row["p_randomisation_next"] == "" for row in parts)
    assert any(row["low"] for row in parts)


def test_the_object_that_python_gets_has_parts() -> None:
    comparison = karat.compare(
        GOLD,
        {"a": SYSTEMS[0], "b": SYSTEMS[1]},
        protocol="tac-2017",
        measures="nugget.span",
        by="realis",
        per_unit=True,
        details=True,
        resamples=20,
    )
    assert comparison["a"].by["realis"]["Actual"]["nugget.span"].f1 is not None
    assert len(comparison["a"].units) == 12
    content = comparison.to_dict()["systems"]["a"]
    assert content["details"]["nugget.span"][0]["outcome"] == "match"
    assert "ci" in content["by"]["realis"]["Actual"]["nugget.span"]["micro"]
    assert "nugget.span F1 by realis" in comparison._repr_html_()
    assert json.loads(json.dumps(comparison.to_dict())) == comparison.to_dict()


# Submissions that cannot be scored


def submissions(folder: Path, **contents: str) -> str:
    for name, content in contents.items():
        (folder / f"{name}.jsonl").write_text(content)
    (folder / "good.jsonl").write_bytes(Path(SYSTEMS[0]).read_bytes())
    return str(folder)


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_every_broken_submission_is_named_at_once(tmp_path: Path, jobs: str) -> None:
    folder = submissions(tmp_path, a=BROKEN, b='{"id": ', c="")
    (tmp_path / "d").mkdir()
    done = run("compare", GOLD, folder, "-p", "tac-2017", "--jobs", jobs)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("error: 3 of 5 systems cannot be scored [systems-refused]\n  Correct or remove them")
    for name, problem in (("a", ", line 1: "), ("b", ", line 1: "), ("d", ": the folder has no files")):
        file = tmp_path / (name if name == "d" else f"{name}.jsonl")
        assert f"\n  {name}: {file}{problem}" in done.err
    assert "Traceback" not in done.err


def test_faults_of_all_systems_are_refused_together(tmp_path: Path) -> None:
    fault = '{"id": "tessen-1", "mentions": [], "links": [{"kind": "after", "from": "m", "to": "x"}]}\n'
    done = run("compare", GOLD, submissions(tmp_path, a=fault, b=fault), "-p", "tac-2017", "--strict")
    assert done.code == 1
    assert done.err.startswith("error: 2 of 3 systems cannot be scored")


def test_one_broken_submission_is_an_ordinary_error(tmp_path: Path) -> None:
    done = run("compare", GOLD, submissions(tmp_path, a=BROKEN), "-p", "tac-2017")
    assert done.code == 1
    assert done.err.startswith(f"error: {tmp_path / 'a.jsonl'}, line 1: ")


def test_what_is_wrong_with_gold_is_said_once(tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    gold.write_text(BROKEN)
    done = run("compare", str(gold), *SYSTEMS, "-p", "tac-2017")
    assert done.code == 1
    assert done.err.startswith(f"error: {gold}, line 1: ")
    assert done.err.count("gold.jsonl") == 1


def test_missing_files_are_named_together(tmp_path: Path) -> None:
    missing = [str(tmp_path / name) for name in ("x.jsonl", "y.jsonl")]
    done = run("compare", GOLD, SYSTEMS[0], missing[0], f"runs={SYSTEMS[1]},{missing[1]}", "-p", "tac-2017")
    assert done.code == 1
    assert done.err.startswith("error: 2 of 3 systems cannot be scored")
    assert all(f"{path}: there is no such file or folder" in done.err for path in missing)


def test_python_names_every_broken_system(tmp_path: Path) -> None:
    submissions(tmp_path, a=BROKEN, b="{")
    systems: dict[str, Any] = {name: str(tmp_path / f"{name}.jsonl") for name in ("a", "b", "good", "absent")}
    with pytest.raises(karat.KaratError, match="3 of 4 systems cannot be scored") as raised:
        karat.compare(GOLD, systems, protocol="tac-2017")
    assert all(f"{name}.jsonl" in str(raised.value) for name in ("a", "b", "absent"))


# What a user may do wrong, and what is said where there is little to say


def test_a_folder_without_systems_is_named(tmp_path: Path) -> None:
    (tmp_path / "README").write_text("hello")
    done = run("compare", GOLD, str(tmp_path), "-p", "tac-2017")
    assert done.code == 1
    assert f"{tmp_path}: no file in this folder has a format that karat recognises [systems-none]" in done.err


def test_a_system_given_twice() -> None:
    done = run("compare", GOLD, SYSTEMS[0], SYSTEMS[0])
    assert done.code == 2
    assert f"{str(SYSTEMS[0])!r} is given twice" in done.err


def test_gold_as_a_system_is_noted() -> None:
    out = run("compare", GOLD, GOLD, SYSTEMS[0], "-p", "tac-2017", "-m", "nugget.span").out
    assert "gold is also compared as a system [system-is-gold]" in out


def test_a_problem_of_gold_is_listed_once(tmp_path: Path) -> None:
    """One of the systems has the same problem, so that the side is named; gold's is not a problem of the other."""
    mentions = "".join(f"s\td\te{n}\t{n}0,{n}5\tw\tA\tActual\n" for n in (1, 2))
    for name, relation in (("gold", "@Causes\tR\te1,e2\n"), ("a", "@Causes\tR\te1,e2\n"), ("b", "")):
        (tmp_path / f"{name}.tbf").write_text(f"#BeginOfDocument d\n{mentions}{relation}#EndOfDocument\n")
    out = run("compare", *(str(tmp_path / f"{name}.tbf") for name in ("gold", "a", "b")), "-p", "tac-2017").out
    lines = [line for line in out.splitlines() if "relation-unknown" in line]
    assert [line.partition(str(tmp_path))[0] for line in lines] == ["note (gold): ", "note (system): a: "]


def test_an_unknown_baseline_is_refused_before_anything_is_scored() -> None:
    done = run("compare", GOLD, *SYSTEMS, "--baseline", "literl")
    assert done.code == 2
    assert done.err.startswith("error: --baseline: there is no system 'literl'")
    assert "Did you mean literal?" in done.err


def test_a_system_without_mentions_has_no_score(tmp_path: Path) -> None:
    out = run("compare", GOLD, submissions(tmp_path, empty=""), "-p", "tac-2017", "-m", "nugget").out
    assert "No score for empty: nugget.type+realis is undefined." in out
    assert "good has the highest score" in out


def test_two_systems_need_no_second_sentence() -> None:
    out = run("compare", GOLD, *SYSTEMS[:2], "-p", "tac-2017", "-m", "nugget.type").out
    assert "eager is best (nugget.type F1 76.0): it is significantly better than literal" in out
    assert "Significantly better than the baseline" not in out


def test_one_document_can_be_quoted_without_an_interval(tmp_path: Path) -> None:
    paths = []
    for path in (GOLD, *SYSTEMS[:2]):
        paths.append(str(tmp_path / Path(path).name))
        Path(paths[-1]).write_text(Path(path).read_text().splitlines()[0] + "\n")
    out = run("compare", *paths, "-p", "tac-2017", "-m", "nugget").out
    assert "whether the difference is due to chance cannot be tested" in out
    assert "\nto quote   eager: nugget.type+realis F1 72.5 (tac-2017, signature karat=" in out
    out = run("score", *paths[:2], "-p", "tac-2017", "-m", "nugget", "--ci", "95").out
    assert "\nto quote   nugget.type+realis F1 44.4 (tac-2017, signature karat=" in out


def test_the_bottleneck_needs_no_intervals() -> None:
    out = run("score", GOLD, SYSTEMS[0], "-p", "tac-2017", "--by", "realis").out
    sentence = "\n\n34 points are lost between span and type: the type is the bottleneck\n\n"
    assert sentence in out
    assert out.index(sentence) < out.index(" by realis")
    assert "to quote" not in out
    assert "bottleneck" not in run("score", GOLD, SYSTEMS[0], "-p", "conll-2012").out
