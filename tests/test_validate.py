"""Validation: small damages of a valid file, each found with its code and in its line, none hiding another."""

import gzip
import importlib
import json
import pkgutil
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner, Result

from karat import __version__, checks
from karat.cli.program import cli
from karat.problems import Findings, KaratError, Rule

VALID = """\
#BeginOfDocument d1
s	d1	E1	0,4	fire	Conflict_Attack	Actual
s	d1	E2	5,9	shot	Conflict_Attack	Actual	0.5
s	d1	E3	10,14;16,18	took off	Movement	Generic
# a comment with E3 in it
s	d1	E4	20,24	dies	Life_Die	other
s	d1	E5	20,24	dies	Life_Injure	NOT_ANNOTATED

@Coreference	C1	E1,E2
@After	R1	E1,E3
@After	R2	E3,E4
@Subevent	R3	E4,E1
#EndOfDocument
#BeginOfDocument d2
s	d2	E1	0,4	left	Movement	Actual
s	d2	E2	5,9	came	Movement	Actual
@After	R1	E1,E2
#EndOfDocument
"""
E3 = "s\td1\tE3\t10,14;16,18\ttook off\tMovement\tGeneric"


class Damage(NamedTuple):
    """A small edit of the valid text, and what is to be found then."""

    old: str
    new: str
    code: str
    severity: str
    line: int


D2, END = "#BeginOfDocument d2", "#EndOfDocument\n"


TBF = {
    "too few columns": Damage(E3, E3.rpartition("\t")[0], "tbf-columns", "fatal", 4),
    "blanks for tabs": Damage(E3, E3.replace("\t", " "), "tbf-columns", "fatal", 4),
    "another document's mention": Damage("s\td1\tE4", "s\td7\tE4", "tbf-other-document", "fatal", 6),
    "a mention id twice": Damage("s\td1\tE5", "s\td1\tE1", "mention-twice", "fatal", 7),
    "no mention id": Damage("s\td1\tE5", "s\td1\t", "tbf-columns", "fatal", 7),
    "offsets in words": Damage("10,14", "ten,14", "tbf-span", "fatal", 4),
    "offsets out of order": Damage("16,18", "18,16", "tbf-span", "fatal", 4),
    "an empty span": Damage("E2\t5,9\tshot", "E2\t5,5\tshot", "tbf-span", "fatal", 3),
    "a negative offset": Damage("E2\t5,9\tshot", "E2\t-5,9\tshot", "tbf-span", "fatal", 3),
    "overlapping segments": Damage("16,18", "13,18", "segments-merged", "note", 4),
    "blanks in a mention id": Damage("s\td1\tE3", "s\td1\t E3", "id-trimmed", "note", 4),
    "blanks in arguments": Damage("E1,E2\n@After", "E1, E2\n@After", "id-trimmed", "note", 9),
    "a relation without an id": Damage("@After\tR1\tE1,E3", "@After\tE1,E3", "tbf-relation", "fatal", 10),
    "a link with one end": Damage("R1\tE1,E3", "R1\tE1", "tbf-relation", "fatal", 10),
    "a link with three ends": Damage("R2\tE3,E4", "R2\tE3,E4,E5", "tbf-relation", "fatal", 11),
    "an unknown relation": Damage("@Subevent", "@subevent", "relation-unknown", "note", 12),
    "a member with three ends": Damage(
        "@Subevent\tR3\tE4,E1", "@Member\tR3\tE4,E1,E5", "relation-arguments", "note", 12
    ),
    "a relation that names nothing": Damage("R3\tE4,E1", "R3\tE4,E9", "argument-unknown", "fault", 12),
    "a cluster that names nothing": Damage("C1\tE1,E2", "C1\tE1,E2,E9", "argument-unknown", "fault", 9),
    "a cluster of one": Damage("C1\tE1,E2", "C1\tE1", "cluster-of-one", "note", 9),
    "a member twice": Damage("C1\tE1,E2", "C1\tE1,E2,E1", "member-twice", "fault", 9),
    "a mention in two clusters": Damage(
        "@After\tR2", "@Coreference\tC2\tE3,E2\n@After\tR2", "clusters-overlap", "fatal", 11
    ),
    "a cycle of two": Damage("@Subevent\tR3\tE4,E1", "@After\tR3\tE4,E3", "link-cycle", "fatal", 12),
    "a cycle of three": Damage("@Subevent\tR3\tE4,E1", "@After\tR3\tE4,E1", "link-cycle", "fatal", 12),
    "a cycle over a cluster": Damage("@Subevent\tR3\tE4,E1", "@After\tR3\tE4,E2", "link-cycle", "fatal", 12),
    "a cycle closed early": Damage("s\td1\tE1", "@After\tR0\tE4,E1\ns\td1\tE1", "link-cycle", "fatal", 12),
    "a link inside a cluster": Damage("R3\tE4,E1", "R3\tE2,E1", "link-inside-cluster", "note", 12),
    "a link written as its cluster": Damage("R1\tE1,E3", "R1\tE1,E2", "link-inside-cluster", "note", 10),
    "two parents": Damage("R3\tE4,E1", "R3\tE4,E1\n@Subevent\tR4\tE3,E2", "two-parents", "note", 13),
    "a link to itself": Damage("R3\tE4,E1", "R3\tE5,E5", "link-inside-cluster", "note", 12),
    "a span twice in a cluster": Damage("E2\t5,9\tshot", "E2\t0,4\tshot", "span-twice-in-cluster", "fault", 3),
    "a mention said twice": Damage("Life_Injure\tNOT_ANNOTATED", "Life_Die\tother", "span-twice", "note", 7),
    "an unknown realis": Damage("Generic", "Maybe", "realis-unknown", "note", 4),
    "a document twice": Damage(D2, "#BeginOfDocument d1\n#EndOfDocument\n" + D2, "document-twice", "fatal", 14),
    "a document without an id": Damage(D2, "#BeginOfDocument", "tbf-structure", "fatal", 14),
    "a document not closed": Damage(END + D2, D2, "tbf-structure", "fatal", 13),
    "the end cut off": Damage("E1,E2\n" + END, "E1,E2\n", "tbf-structure", "fatal", 17),
    "a line outside": Damage(D2, "x\n" + D2, "tbf-structure", "fatal", 14),
    "an end too many": Damage(D2, END + D2, "tbf-structure", "fatal", 14),
    "another encoding": Damage("fire", "f\udcefre", "encoding", "fatal", 2),
}

DOCUMENT: dict[str, Any] = {
    "id": "d2",
    "text": "Anna left the\nold  town. She died.",
    "mentions": [
        {"id": "m1", "span": [[5, 9]], "text": "left", "attributes": {"type": "Movement", "realis": "Actual"}},
        {"id": "m2", "span": [[5, 9], [14, 17]], "text": "left old", "cluster": "c"},
        {"id": "m3", "span": [[10, 23]], "text": "the old town", "kind": "entity", "attributes": {"realis": 3}},
        {"id": "m4", "span": [[29, 33]], "cluster": "c"},
        {"id": "m5", "span": []},
        {"id": "m6", "span": [], "text": "anything"},
    ],
    "links": [{"kind": "after", "from": "m1", "to": "m4"}],
}
M1 = DOCUMENT["mentions"][0]
JSONL: dict[str, tuple[dict[str, Any] | str, str, str]] = {
    "no JSON": ("{", "jsonl-shape", "fatal"),
    "a key twice": (
        '{"id": "d3", "mentions": [{"id": "m1", "span": [[0, 3]]}], "mentions": []}',
        "json-key-twice",
        "fatal",
    ),
    "an unknown field": (DOCUMENT | {"mention": []}, "jsonl-shape", "fatal"),
    "no span": (DOCUMENT | {"mentions": [{"id": "m1"}]}, "jsonl-shape", "fatal"),
    "an empty segment": (DOCUMENT | {"mentions": [M1 | {"span": [[9, 9]]}], "links": []}, "jsonl-span", "fatal"),
    "a mention id twice": (DOCUMENT | {"mentions": [M1, M1], "links": []}, "mention-twice", "fatal"),
    "overlapping segments": (
        DOCUMENT | {"mentions": [{"id": "m1", "span": [[5, 9], [8, 13]]}], "links": []},
        "segments-merged",
        "note",
    ),
    "a link that names nothing": (
        DOCUMENT | {"links": [{"kind": "after", "from": "m1", "to": "m9"}]},
        "argument-unknown",
        "fault",
    ),
    "other text": (DOCUMENT | {"mentions": [M1 | {"text": "right"}], "links": []}, "text-differs", "fault"),
    "beyond the text": (
        DOCUMENT | {"mentions": [M1 | {"span": [[5, 99]]}], "links": []},
        "span-beyond-text",
        "fault",
    ),
    "beyond the tokens": (
        {"id": "d2", "unit": "token", "tokens": [[0, 3]], "mentions": [{"id": "m1", "span": [[0, 2]]}]},
        "span-beyond-text",
        "fault",
    ),
    "an unknown realis": (
        DOCUMENT | {"mentions": [M1 | {"attributes": {"realis": True}}], "links": []},
        "realis-unknown",
        "note",
    ),
    "a cycle of clusters": (
        DOCUMENT | {"links": [{"kind": "member", "from": a, "to": b} for a, b in (("c", "m1"), ("m1", "m4"))]},
        "link-cycle",
        "fatal",
    ),
    "a document twice": (DOCUMENT | {"id": "d1"}, "document-twice", "fatal"),
}


def run(*args: str | Path, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(cli, ["validate", *map(str, args)], input=stdin)


def found(*args: str | Path) -> list[tuple[str, str, int | None]]:
    """Code, severity and line of every finding; the exit code is right."""
    done = run(*args, "-f", "json")
    reported = json.loads(done.stdout)
    findings = [finding for file in reported["files"] for finding in file["findings"]]
    assert done.exit_code == any(finding["severity"] != "note" for finding in findings)
    return [(finding["code"], finding["severity"], finding["line"]) for finding in findings]


def damaged(*damages: Damage) -> str:
    text = VALID
    for damage in damages:
        assert text.count(damage.old) == 1, damage.old
        text = text.replace(damage.old, damage.new)
    return text


def file(folder: Path, text: str, name: str = "system.tbf") -> Path:
    path = folder / name
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    return path


def jsonl(folder: Path, *lines: dict[str, Any] | str) -> Path:
    reported = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    return file(folder, "\n".join(reported) + "\n", "system.jsonl")


# One damage, one finding.


@pytest.mark.parametrize("damage", TBF.values(), ids=TBF)
def test_a_damaged_tbf_file(damage: Damage, tmp_path: Path) -> None:
    assert found(file(tmp_path, damaged(damage))) == [(damage.code, damage.severity, damage.line)]


@pytest.mark.parametrize(("line", "code", "severity"), JSONL.values(), ids=JSONL)
def test_a_damaged_jsonl_file(line: dict[str, Any] | str, code: str, severity: str, tmp_path: Path) -> None:
    """The document of line 3; the one before it is fine."""
    path = jsonl(tmp_path, DOCUMENT | {"id": "d1"}, "", line)
    assert found(path) == [(code, severity, 3)]


def test_token_tables(tmp_path: Path) -> None:
    lines = ["#BeginOfDocument d", "s\td\tE1\tt0\tx\tA\tActual", "s\td\tE2\tt0,t9\tx\tA\tActual", "#EndOfDocument"]
    path = file(tmp_path, "\n".join(lines))
    tables = tmp_path / "tables"
    tables.mkdir()
    assert found(path, "--tokens", tables) == [("token-table-missing", "note", None)]
    other = tmp_path / "other"
    other.mkdir()
    (other / "d.tab").write_text("t0\tx\t0\t0\n")
    assert found(path, "--tokens", other) == [("token-unknown", "note", 3)]
    assert found(path) == [("tbf-span", "fatal", 2), ("tbf-span", "fatal", 3)]
    missing = [("token-offsets", "fatal", 2), ("token-offsets", "fatal", 3), ("token-table-missing", "note", None)]
    assert found(path, "--tokens", tables, "--unit", "char") == missing


def test_the_unit_of_jsonl(tmp_path: Path) -> None:
    assert found(jsonl(tmp_path, DOCUMENT), "--unit", "token") == [("jsonl-unit", "fatal", 1)]


def test_a_closed_vocabulary(tmp_path: Path) -> None:
    """Compared in canonical form; event mentions only; no type is outside, too."""
    types = file(tmp_path, "conflict attack\nMOVEMENT\n\nlife.die\n", "types.txt")
    assert found(file(tmp_path, VALID), "--types", types) == [("type-unknown", "fault", 7)]
    reported = run(jsonl(tmp_path, DOCUMENT | {"mentions": DOCUMENT["mentions"][:3], "links": []}), "--types", types)
    assert reported.exit_code == 1
    assert "mention 'm2' of document 'd2' has no type [type-unknown]" in reported.stdout
    assert reported.stdout.count("[type-unknown]") == 1


def rules() -> dict[str, Rule]:
    """Every rule that reading or checking a TBF or JSONL file applies, by code."""
    names = ["tbf", "jsonl", "_text", "_tokens"]
    modules = [importlib.import_module(f"karat.formats.{name}") for name in names]
    modules += [
        importlib.import_module(f"karat.checks.{found.name}") for found in pkgutil.iter_modules(checks.__path__)
    ]
    return {rule.code: rule for module in modules for rule in vars(module).values() if isinstance(rule, Rule)}


def test_every_rule_has_its_damage() -> None:
    only_writing = {"tbf-unwritable"}
    # karat.formats._tokens uses the first for its folder; the others are for formats whose ids are those of a corpus.
    elsewhere = {"file-missing", "mention-in-documents", "cluster-in-documents", "id-of-two-kinds"}
    elsewhere |= {"tokens-differ", "link-kind-absent"}  # a submission against gold
    by_hand = {"token-table-missing", "token-unknown", "token-offsets", "tokens-order", "jsonl-unit", "type-unknown"}
    covered = {damage.code for damage in TBF.values()} | {code for _, code, _ in JSONL.values()} | by_hand
    assert set(rules()) <= covered | only_writing | elsewhere
    severities = {damage.code: damage.severity for damage in TBF.values()}
    severities |= {code: severity for _, code, severity in JSONL.values()}
    assert all(severities.get(code, rule.severity) == rule.severity for code, rule in rules().items())


# Several damages, and what stands between them.


def test_nothing_is_hidden_by_what_comes_before(tmp_path: Path) -> None:
    """A fault, a note and a cycle in the first document, a span in the third."""
    several = [TBF[name] for name in ("a member twice", "an unknown realis", "a cycle of two")]
    text = damaged(*several) + VALID.replace("d1", "d3").replace("d2", "d4").replace("10,14", "10,xx")
    first = [("realis-unknown", "note", 4), ("member-twice", "fault", 9), ("link-cycle", "fatal", 12)]
    assert found(file(tmp_path, text)) == [*first, ("tbf-span", "fatal", 22)]


def test_what_a_reader_told_before_it_gave_up_is_told(tmp_path: Path) -> None:
    text = damaged(TBF["an unknown relation"], TBF["blanks in a mention id"], TBF["another document's mention"])
    reported = [("id-trimmed", "note", 4), ("tbf-other-document", "fatal", 6), ("relation-unknown", "note", 12)]
    assert found(file(tmp_path, text)) == reported


def test_broken_structure_ends_its_file_only(tmp_path: Path) -> None:
    """Lines before the break are checked, and so is the next file."""
    folder = tmp_path / "folder"
    folder.mkdir()
    file(folder, damaged(TBF["an unknown realis"], TBF["a document without an id"]), "a.tbf")
    file(folder, damaged(TBF["a cluster of one"]).replace("d1", "x1").replace("d2", "x2"), "b.tbf")
    file(folder, "\ufeff" + VALID.replace("d1", "y1").replace("d2", "y2").replace("\n", "\r\n"), "c.tbf")
    (folder / "d.tbf.gz").write_bytes(gzip.compress(VALID.encode())[:50])
    file(folder, "hello", "readme")
    codes = [
        ("gzip-damaged", "fatal", None),
        ("file-skipped", "note", None),
        ("realis-unknown", "note", 4),
        ("tbf-structure", "fatal", 14),
        ("cluster-of-one", "note", 9),
    ]
    assert found(folder) == codes


def test_several_cycles_are_several_findings(tmp_path: Path) -> None:
    mentions = [{"id": f"m{number}", "span": [[number, number + 1]]} for number in range(6)]
    pairs = [(0, 1), (1, 0), (2, 3), (3, 4), (4, 2), (4, 5)]
    links = [{"kind": "after", "from": f"m{a}", "to": f"m{b}"} for a, b in pairs]
    reported = run(jsonl(tmp_path, {"id": "d", "mentions": mentions, "links": links})).stdout
    assert reported.count("form a cycle") == 2
    assert any(cycle in reported for cycle in ("m2 -> m3 -> m4 -> m2", "m3 -> m4 -> m2 -> m3", "m4 -> m2 -> m3 -> m4"))


def test_a_group_counts_findings_of_one_severity(tmp_path: Path) -> None:
    """A cycle of `after` links is fatal, one of a kind that is not a hierarchy a note: each stands alone."""
    mentions = [{"id": f"m{number}", "span": [[number, number + 1]]} for number in range(2)]
    links = [{"kind": kind, "from": f"m{a}", "to": f"m{1 - a}"} for kind in ("after", "causes") for a in range(2)]
    reported = run(jsonl(tmp_path, {"id": "d", "mentions": mentions, "links": links})).stdout
    assert "1 fatal, 0 faults, 1 note" in reported
    assert " more" not in reported


@pytest.mark.slow
def test_many_findings_are_counted_and_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    kept = Findings.KEPT
    lines = [f"s\td\tE{number}\t0,4\tx\tA\tActual\n" for number in range(kept + 6)]
    path = file(tmp_path, "".join(["#BeginOfDocument d\n", *lines, "#EndOfDocument\n"]))
    reported = json.loads(run(path, "-f", "json").stdout)
    findings = reported["files"][0]["findings"]
    assert [finding["line"] for finding in findings] == list(range(3, kept + 3))
    assert reported["summary"]["findings"] == {"fatal": 0, "fault": 0, "note": kept + 5}
    assert reported["summary"]["codes"] == {"span-twice": kept + 5}
    reported = run(path.name).stdout
    assert f"  {kept + 4:,} more, the first of them:\n    system.tbf, line 4: mention 'E0' and mention 'E2'" in reported
    assert reported.count("system.tbf, line") == 5, "five places are enough"


@pytest.mark.parametrize(("code", "span"), [("text-differs", [0, 2]), ("span-beyond-text", [2, 4])])
def test_what_is_wrong_with_every_mention_is_counted(tmp_path: Path, code: str, span: list[int]) -> None:
    """Those that are kept one by one, and all others at once."""
    mentions = [{"id": f"m{n}", "span": [span], "text": "no", "kind": f"k{n}"} for n in range(Findings.KEPT + 3)]
    path = jsonl(tmp_path, {"id": "d", "text": "yes", "mentions": mentions})
    reported = json.loads(run(path, "-f", "json").stdout)
    findings = reported["files"][0]["findings"]
    assert [one["message"].split()[1] for one in findings] == [f"'m{n}'" for n in range(Findings.KEPT)]
    assert reported["summary"]["codes"] == {code: Findings.KEPT + 3}
    assert reported["summary"]["findings"]["fault"] == Findings.KEPT + 3
    assert f"{Findings.KEPT + 2:,} more, the first of them:" in run(path).stdout


def test_a_truncated_file_hides_nothing(tmp_path: Path) -> None:
    """Neither what stands before the break in its document, nor a document that follows."""
    cut = VALID.replace("Generic", "Maybe").partition("#EndOfDocument")[0]
    before = [("realis-unknown", "note", 4), ("tbf-structure", "fatal", 12)]
    assert found(file(tmp_path, cut)) == before
    assert found(file(tmp_path, cut.replace("R3\tE4,E1\n", "R3"))) == [*before, ("tbf-relation", "fatal", 12)]
    after = VALID.partition("#EndOfDocument\n")[2].replace("came\tMovement\tActual", "came\tMovement\tMaybe")
    assert found(file(tmp_path, cut + after)) == [
        before[0],
        ("tbf-structure", "fatal", 13),
        ("realis-unknown", "note", 15),
    ]


def test_a_broken_line_hides_no_other_line_of_its_document(tmp_path: Path) -> None:
    """Columns, ids, spans, relations, text that is not UTF-8, and what checks find; nothing follows from another."""
    names = ["blanks for tabs", "a link with three ends", "an empty span", "a mention said twice", "a member twice"]
    text = damaged(*(TBF[name] for name in names)).replace("dies\tLife_Die\tother", "d\udcefes\tLife_Die\tother", 1)
    codes = [
        ("tbf-span", "fatal", 3),
        ("tbf-columns", "fatal", 4),
        ("encoding", "fatal", 6),
        ("span-twice", "note", 7),
        ("member-twice", "fault", 9),
        ("tbf-relation", "fatal", 11),
    ]
    assert found(file(tmp_path, text)) == codes


def test_a_truncated_line_hides_nothing_before_it_in_other_formats(tmp_path: Path) -> None:
    """Where the parser gives up, what comes before that line is checked by itself."""
    folder = tmp_path / "brat"
    folder.mkdir()
    file(folder, "Anna was killed.", "d.txt")
    file(folder, "T1\tA 9 15\tkilld\nE1\tA:T1\nA1\tRealis E1 Maybe\nT2\tB 31", "d.ann")
    assert found(folder) == [
        ("text-differs", "fault", 2),
        ("realis-unknown", "note", 2),
        ("brat-line", "fatal", 4),
    ]


def test_a_broken_jsonl_line_hides_no_other_finding(tmp_path: Path) -> None:
    """Not in other lines, and, where it is JSON at all, not in its own."""
    mentions = [M1, M1, {"id": "m3", "span": [[9, 9]]}, {"id": "m4", "span": [[1, 2]], "attributes": {"realis": "x"}}]
    links = [{"kind": "after", "from": "m1", "to": "m9"}, {"kind": "after", "from": "m3", "to": "m4"}]
    bad = {"id": "d3", "mentions": mentions, "links": links}
    path = jsonl(tmp_path, DOCUMENT, "{", bad, DOCUMENT | {"mentions": [M1 | {"text": "right"}], "links": []})
    assert found(path) == [
        ("jsonl-shape", "fatal", 2),
        ("mention-twice", "fatal", 3),
        ("jsonl-span", "fatal", 3),
        ("argument-unknown", "fault", 3),
        ("realis-unknown", "note", 3),
        ("document-twice", "fatal", 4),
        ("text-differs", "fault", 4),
    ]


def test_an_overlong_id_hides_no_other_finding(tmp_path: Path) -> None:
    """A file name of a token table that no system allows."""
    text = damaged(TBF["an unknown realis"]).replace("d1", "d" * 5000)
    codes = sorted(code for code, _, _ in found(file(tmp_path, text), "--tokens", tmp_path))
    assert codes == ["realis-unknown", "token-table-missing", "token-table-missing"]


# Against gold.


TEXT = "Anna left the\nold  town. She died."


def against(
    folder: Path, gold: list[dict[str, Any]], *system: dict[str, Any]
) -> tuple[list[tuple[str, str, int]], str]:
    """Code, severity and line of every finding, and the last line of the report."""
    name = str(file(folder, "".join(json.dumps(line) + "\n" for line in gold), "gold.jsonl"))
    path = jsonl(folder, *system)
    reported = json.loads(run(path, "--against", name, "-f", "json").stdout)
    done = run(path, "--against", name)
    findings = [finding for one in reported["files"] for finding in one["findings"]]
    assert done.exit_code == (not reported["submissions"][0]["ready"])
    codes = [(finding["code"], finding["severity"], finding["line"]) for finding in findings]
    return codes, done.stdout.splitlines()[-1].replace(f"{folder}/", "")


def test_a_submission_that_is_ready(tmp_path: Path) -> None:
    """Gold needs no annotations; notes do no harm."""
    system = {"id": "d1", "mentions": [M1, M1 | {"id": "m2"}]}
    verdict = "system.jsonl: ready to submit (1 document of gold.jsonl; checked: units, offsets, texts; 1 note above)"
    assert against(tmp_path, [{"id": "d1", "text": TEXT}], system) == ([("span-twice", "note", 1)], verdict)


def test_documents_that_are_missing_or_too_many(tmp_path: Path) -> None:
    gold = [{"id": name, "text": TEXT} for name in ("d1", "d2", "d3")]
    codes, verdict = against(tmp_path, gold, {"id": "d2"}, {"id": "D1"})
    missing = ("document-missing", "fault", None)
    assert codes == [missing, missing, ("document-system-only", "note", 2)]
    assert verdict == "system.jsonl: not ready to submit: 2 of 3 documents are missing: d1, d3"


@pytest.mark.parametrize(
    ("gold", "system", "code"),
    [
        ({"text": TEXT}, {"mentions": [M1 | {"span": [[5, 99]], "text": None}]}, "span-beyond-text"),
        ({"text": TEXT}, {"mentions": [M1 | {"text": "right"}]}, "text-differs"),
        ({"text": TEXT}, {"text": TEXT.replace("  ", " ")}, "texts-differ"),
        ({"mentions": [M1]}, {"mentions": [M1 | {"text": "town"}]}, "text-unlike-gold"),
        ({"unit": "token", "tokens": [[0, 1], [2, 3]]}, {"unit": "char"}, "units-differ"),
        ({"unit": "token", "tokens": [[0, 1]]}, {"unit": "token", "mentions": [M1]}, "span-beyond-text"),
        (
            {"unit": "token", "tokens": [[0, 1], [2, 3]]},
            {"unit": "token", "tokens": [[0, 1], [2, 4], [5, 6]]},
            "tokens-differ",
        ),
        ({"source": "weblog"}, {"source": "newswire"}, "sources-differ"),
    ],
)
def test_what_differs_from_gold(gold: dict[str, Any], system: dict[str, Any], code: str, tmp_path: Path) -> None:
    reported, verdict = against(tmp_path, [{"id": "d1"} | gold], {"id": "d1"} | system)
    severity = "fatal" if code == "units-differ" else "fault"
    assert reported == [(code, severity, 1)]
    assert (
        verdict
        == f"system.jsonl: not ready to submit: {'1 fatal finding' if severity == 'fatal' else '1 fault to correct'}"
    )


def test_a_broken_document_is_not_missing(tmp_path: Path) -> None:
    gold = [{"id": "d1"}, {"id": "d2"}]
    codes, verdict = against(tmp_path, gold, {"id": "d1", "mentions": [M1, M1]}, {"id": "d2"})
    assert codes == [("mention-twice", "fatal", 1)]
    assert verdict == "system.jsonl: not ready to submit: 1 fatal finding"
    brat = tmp_path / "brat"
    brat.mkdir()
    for name in ("d1", "d2"):
        file(brat, "Anna", f"{name}.txt")
        file(brat, "T1\tA 0 4\tAnna\n" if name == "d1" else "T1\tA 0", f"{name}.ann")
    reported = json.loads(run(brat, "--against", tmp_path / "gold.jsonl", "-f", "json").stdout)
    assert reported["submissions"][0]["missing"] == []


def test_faults_of_gold_are_not_the_submissions(tmp_path: Path) -> None:
    """A fault of gold does not matter; where gold cannot be read, the report says whose line it is."""
    gold = {"id": "d1", "text": TEXT, "mentions": [M1 | {"text": "right"}]}
    assert against(tmp_path, [gold], {"id": "d1"})[0] == []
    codes, verdict = against(tmp_path, [gold, {"id": "d2", "mentions": [M1, M1]}], {"id": "d1"}, {"id": "d2"})
    assert codes == [("mention-twice", "fatal", 2)]
    assert (
        verdict == "system.jsonl: not ready to submit: gold.jsonl has 1 fatal finding and cannot be compared as a whole"
    )
    assert (
        "line 2: fatal in gold: mention id 'm1'"
        in run(tmp_path / "system.jsonl", "--against", tmp_path / "gold.jsonl").stdout
    )


def test_formats_need_not_be_the_same(tmp_path: Path) -> None:
    gold = jsonl(tmp_path, {"id": "d1"}, {"id": "d2"})
    done = run(file(tmp_path, VALID), "--against", gold)
    assert (done.exit_code, done.stdout.splitlines()[-1]) == (
        0,
        f"{tmp_path / 'system.tbf'}: ready to submit (all 2 documents of {gold}; checked: units)",
    )


# What is printed, and the exit code.


def test_a_clean_file_says_so(tmp_path: Path) -> None:
    done = run(file(tmp_path, VALID), jsonl(tmp_path, DOCUMENT))
    assert (done.exit_code, done.stdout) == (0, "3 documents, 13 mentions: no problems found\n")


def test_lines_hints_and_a_summary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    a, b = TBF["an unknown realis"], TBF["a member twice"]
    file(tmp_path, damaged(a, b))
    file(tmp_path, damaged(a), "other.tbf")
    done = run("system.tbf", "other.tbf")
    assert done.exit_code == 1
    assert done.stdout == (
        "system.tbf, line 9: fault: @Coreference names 'E1' 2 times [member-twice]\n"
        "    @Coreference  C1  E1,E2,E1\n"
        "                      ^^\n"
        "  Name each mention once; it counts once.\n"
        "\n"
        "system.tbf, line 4: note: mention 'E3' of document 'd1' has the unknown realis 'Maybe' [realis-unknown]\n"
        "    s  d1  E3  10,14;16,18  took off  Movement  Maybe\n"
        "                                                ^^^^^\n"
        "  Known values: Actual, Generic, Other, NOT_ANNOTATED; the value is compared as given.\n"
        "  1 more with this message: other.tbf, line 4\n"
        "\n"
        "4 documents, 14 mentions: 0 fatal, 1 fault, 2 notes\n"
    )


def test_long_lines_are_cut_around_the_place(tmp_path: Path) -> None:
    mentions = [M1 | {"id": f"m{n}", "span": [[n, n + 1]], "text": "字\t\x1b"} for n in range(200)]
    mentions[150]["attributes"] = {"realis": "Perhaps"}
    shown = run(jsonl(tmp_path, {"id": "d", "mentions": mentions})).stdout.splitlines()
    line, carets = shown[1:3]
    assert len(line) <= 100
    assert line.startswith("    ...")
    assert line.endswith("...")
    assert line[carets.index("^") : carets.rindex("^") + 1] == "Perhaps"


def test_findings_of_the_two_sides_are_told_apart(tmp_path: Path) -> None:
    """Each side has its own line and its own count, in the text and in the JSON of a score."""
    gold = file(tmp_path, damaged(TBF["an unknown realis"]), "gold.tbf")
    system = file(tmp_path, VALID.replace("Actual", "Perhaps"))
    command = ["score", str(gold), str(system), "-m", "nugget"]
    reported = CliRunner().invoke(cli, command).stdout
    assert (
        f"note (gold): {gold}, line 4: mention 'E3' of document 'd1' has the unknown realis 'Maybe' [realis-unknown]\n"
        in reported
    )
    assert f"note (system): {system}, line 2: " in reported
    assert "[realis-unknown] (and 1 more: line 15)\n" in reported
    warnings = json.loads(CliRunner().invoke(cli, [*command, "-f", "json"]).stdout)["warnings"]
    assert [finding["side"] for finding in warnings] == ["gold", "system", "system"]


def test_the_shape_of_the_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file(tmp_path, damaged(TBF["a member twice"]))
    assert run("system.tbf", "-f", "json", "-o", "out.json").exit_code == 1
    assert json.loads((tmp_path / "out.json").read_text()) == {
        "karat": __version__,
        "files": [
            {
                "file": "system.tbf",
                "documents": 2,
                "mentions": 7,
                "findings": [
                    {
                        "code": "member-twice",
                        "severity": "fault",
                        "file": "system.tbf",
                        "line": 9,
                        "message": "@Coreference names 'E1' 2 times",
                        "hint": "Name each mention once; it counts once.",
                    }
                ],
            }
        ],
        "summary": {
            "documents": 2,
            "mentions": 7,
            "findings": {"fatal": 0, "fault": 1, "note": 0},
            "codes": {"member-twice": 1},
        },
    }


def test_paths_of_every_sort(tmp_path: Path) -> None:
    """A missing one does not hide the others; one list is one corpus."""
    path = file(tmp_path, damaged(TBF["a cluster of one"]))
    listed = file(tmp_path, f"{tmp_path / 'nowhere'}\n{path}\n", "list")
    note = ("cluster-of-one", "note", 9)
    assert found(tmp_path / "missing.tbf", path) == [("file-missing", "fatal", None), note]
    assert found(f"@{listed}") == [("file-missing", "fatal", 1), note]
    done = run("-", stdin=path.read_bytes())
    assert (done.exit_code, "standard input, line 9: note" in done.stdout) == (0, True)
    assert [code for code, _, _ in found(path, path)] == ["cluster-of-one"] * 2
    twice = file(tmp_path, f"{path}\n{path}\n", "twice")
    assert {code for code, _, _ in found(f"@{twice}")} == {"cluster-of-one", "document-twice"}


def test_files_that_say_nothing(tmp_path: Path) -> None:
    assert found(file(tmp_path, "# nothing\n")) == [("no-documents", "fatal", None)]
    assert found(file(tmp_path, "", "empty")) == [("format-unknown", "fatal", None)]
    assert found(file(tmp_path, "#BeginOfDocument d\n#EndOfDocument\n")) == []


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (["--input-format", "tbff"], 2),
        (["--unit", "word"], 2),
        (["-f", "yaml"], 2),
        (["--nothing"], 2),
        (["-", "-"], 2),
        (["-", "--against", "-"], 2),
        (["--against", "nowhere"], 1),
        (["--tokens", "nowhere"], 1),
        (["--types", "nowhere"], 1),
        (["--types", "blank"], 1),
    ],
)
def test_refused(args: list[str], code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file(tmp_path, "\n", "blank")
    done = run(file(tmp_path, VALID), *args)
    assert done.stdout == ""
    assert (done.exception.exit_code if isinstance(done.exception, KaratError) else done.exit_code) == code


# The same checks when a system is scored.


CHECKED = {name: damage for name, damage in TBF.items() if damage.severity != "fatal"}


@pytest.mark.parametrize("damage", CHECKED.values(), ids=CHECKED)
def test_a_score_warns_of_the_same_lines(damage: Damage, tmp_path: Path) -> None:
    gold, system = file(tmp_path, VALID, "gold.tbf"), file(tmp_path, damaged(damage))
    command = ["score", str(gold), str(system), "-f", "json", "-p", "tac-2017", "-m", "nugget"]
    warnings = json.loads(CliRunner().invoke(cli, command).stdout)["warnings"]
    ((finding,),) = [file["findings"] for file in json.loads(run(system, "-f", "json").stdout)["files"]]
    assert warnings == [finding | {"side": "system"}]
    strict = CliRunner().invoke(cli, [*command, "--strict"])
    assert isinstance(strict.exception, KaratError) == (damage.severity == "fault")


@pytest.mark.parametrize("name", ["a cycle of three", "a mention in two clusters", "the end cut off"])
def test_a_score_refuses_in_the_same_line(name: str, tmp_path: Path) -> None:
    gold, system = file(tmp_path, VALID, "gold.tbf"), file(tmp_path, damaged(TBF[name]))
    refused = CliRunner().invoke(cli, ["score", str(gold), str(system), "-p", "tac-2017"]).exception
    assert isinstance(refused, KaratError)
    assert (refused.finding.code, refused.finding.line) == (TBF[name].code, TBF[name].line)
