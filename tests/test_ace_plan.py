"""The protocols against the text of the ACE 2005 evaluation plan: Tables 12 to 20, value for value."""

import importlib
import inspect
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from karat import protocols
from karat.families import MEASURES
from karat.families.ace.nist import Nist
from karat.families.ace.plan import Plan
from karat.protocols import PROTOCOLS
from tests.conftest import shared_path


@pytest.fixture(scope="module")
def plan() -> str:
    return shared_path("papers", "ace-2005-evaluation-plan.txt").read_text(encoding="utf-8")


def table(plan: str, number: int) -> list[list[str]]:
    """The rows of a table, without markup; it ends where something else than a row comes."""
    start = plan.index(f"Table {number} ", plan.index("## APPENDIX A"))
    while "\n\n" not in plan[start : start + 200] or not re.match(r"Table \d+ (Default|Conditions)", plan[start:]):
        start = plan.index(f"Table {number} ", start + 1)
    body = plan[start:].split("\n\n")[1]
    return [re.sub(r"<[^>]*>", "", line).split("\t") for line in body.splitlines()]


def written() -> dict[str, Any]:
    """The measures as they stand in the protocol's file."""
    whole = tomllib.loads(PROTOCOLS.get("ace-2005").read_text(encoding="utf-8"))
    family: dict[str, Any] = whole["measures"][0]
    return whole | family


def number(plan_rows: list[list[str]], name: str) -> float:
    """A value of the form `name = 0.30`, or in the cell after its name."""
    for row in plan_rows:
        for cell, after in zip(row, [*row[1:], ""], strict=True):
            if found := re.search(rf"{re.escape(name)} *\$? *= *([0-9.]+)", cell.replace("$", "")):
                return float(found[1])
            if cell.strip() == name and re.fullmatch(r"[0-9.]+", after):
                return float(after)
    raise AssertionError(f"the table has no {name}")


def plain(rows: list[list[str]]) -> list[list[str]]:
    """Cells in mathematics without braces, subscripts and signs."""
    return [[re.sub(r"[${}]|\\_", "", cell).replace("W_", "W") for cell in row] for row in rows]


def test_table_12(plan: str) -> None:
    rows, edr = table(plan, 12), written()["EDR"]
    by_name = {row[0]: row for row in rows if len(row) > 3}
    assert edr["W_err"] == {name.lower(): float(by_name[name][1]) for name in ("Class", "Subtype")} | {
        "type": float(rows[2][1])
    }
    assert rows[2][:3] == ["Type", "0.50", "(all types)"]
    assert edr["AttrValue"]["type"] == float(rows[2][3])
    assert edr["AttrValue"]["class"] == {"SPC": float(rows[3][3]), "*": float(rows[4][3])}
    mentions = rows[rows.index(next(row for row in rows if row[0].startswith("Mentions_Value"))) :]
    assert edr["MTypeValue"] == {row[2]: float(row[3]) for row in mentions[2:5]}
    assert edr["W_Merr"] == {row[0].lower(): float(row[1]) for row in mentions if row[0] in ("Type", "Role", "Style")}
    assert edr["W_FA"] == number(rows, "WE-FA")
    assert (edr["W_M_FA"], edr["W_M_CR"]) == (number(rows, "WM-FA"), number(rows, "WM-CR"))
    assert (edr["min_overlap"], edr["min_text_match"]) == (number(rows, "min_overlap"), number(rows, "min_text_match"))
    assert "level-weighted" in rows[-3][0]
    assert written()["parameters"] == "{parameters}"
    assert protocols.resolve("ace-2005").values["weighting"] == "level"


def test_table_13(plan: str) -> None:
    rows, val = plain(table(plan, 13)), written()["VAL"]
    by_name = {row[0]: row for row in rows}
    assert val["W_err"] == {"type": float(by_name["Type"][1]), "subtype": float(by_name["Subtype"][1])}
    assert val["AttrValue"] == {"type": float(by_name["Type"][3])}
    assert by_name["Type"][2] == "(all types)"
    assert (val["W_M_FA"], val["W_M_CR"]) == (number(rows, "WM-FA"), number(rows, "WM-CR"))
    assert (val["W_FA"], val["min_overlap"]) == (number(rows, "WFA"), number(rows, "min_overlap"))


def test_table_14(plan: str) -> None:
    rows, tern = plain(table(plan, 14)), written()["TERN"]
    assert tern["AttrValue"] == {
        name: float(value) for name, value in zip(rows[1][1:], rows[2][1:], strict=True) if value
    }
    assert (tern["W_M_FA"], tern["W_M_CR"]) == (number(rows, "WM-FA"), number(rows, "WM-CR"))
    assert (tern["W_FA"], tern["min_overlap"]) == (number(rows, "WE-FA"), number(rows, "min_overlap"))


@pytest.mark.parametrize(("which", "task"), [(17, "RDR"), (20, "VDR")])
def test_tables_17_and_20(plan: str, which: int, task: str) -> None:
    rows, values = plain(table(plan, which)), written()[task]
    names = [name.lower() for name in rows[1][1:] if name]
    inherent = dict(zip(names, rows[2][1:], strict=False))
    assert values["AttrValue"] == {
        name: float(re.sub(r" for all .*", "", value)) for name, value in inherent.items() if value != "n/a"
    }
    assert values["W_err"] == dict(zip(names, map(float, filter(None, rows[3][1:])), strict=True))
    assert values["W_FA"] == number(rows, "WFA")
    assert (values["W_err_role"], values["W_A_FA"]) == (number(rows, "Werr-role"), number(rows, "WA-FA"))
    reported = " ".join(cell for row in rows for cell in row)
    defaults = protocols.resolve("ace-2005").values
    assert f"“{defaults['mapping']}”" in reported
    assert f"“{defaults['averaging']}”" in reported
    assert "optional requirement NOT invoked" in reported
    assert defaults["argument_scoring"] == "overlapping"
    assert defaults["relation_arguments"] == "both"
    assert ("Both Arg-1 and Arg-2 arguments must be mappable" in reported) == (task == "RDR")


@pytest.mark.parametrize("which", [15, 18])
def test_tables_15_and_18_are_the_conditions_for_mapping(plan: str, which: int) -> None:
    names = [row[0] for row in table(plan, which)[1:]]
    for protocol in ("ace-2005", "ace-2005-nist"):
        assert list(protocols.resolve(protocol).parameters["mapping"].choices or ()) == names


@pytest.mark.parametrize(("which", "rows"), [(16, 4), (19, 2)])
def test_tables_16_and_19_are_the_conditions_for_arguments(plan: str, which: int, rows: int) -> None:
    """Always, if `mapped` is invoked, and for relations by symmetry; what each asks is tried in test_ace."""
    found = table(plan, which)[1:]
    assert len(found) == rows
    assert found[0][0] == "Always"
    assert "“mapped”" in found[1][0].replace("**", "").replace('"', "”") or "mapped" in found[1][0]


def test_symmetric_relations_are_those_of_footnote_21(plan: str) -> None:
    note = plan[plan.index("<sup>21</sup> For") :].split("\n")[0]
    assert re.findall(r"“([A-Z-]+)”", note) == written()["RDR"]["symmetric"]


def test_the_scorer_differs_from_the_plan_where_it_says_so() -> None:
    """Every other value of `ace-2005-nist` is the plan's, and `karat explain ace` describes each reading."""
    files = {name: PROTOCOLS.get(name) for name in PROTOCOLS.own}
    plan, nist = (
        tomllib.loads(files[name].read_text(encoding="utf-8"))["measures"][0] for name in ("ace-2005", "ace-2005-nist")
    )
    assert plan["sets"] == nist["sets"]
    assert nist["EDR"].pop("AttrValue")["class"] == plan["EDR"].pop("AttrValue")["class"]
    for task in ("RDR", "VDR"):
        ours, theirs = plan[task].pop("W_err"), nist[task].pop("W_err")
        assert theirs == pytest.approx(ours, abs=1.1e-8)
    assert all(plan[task] == nist[task] for task in ("EDR", "VAL", "TERN", "RDR", "VDR"))
    assert (plan["reading"], nist["reading"]) == ("plan", "nist")


def test_every_departure_is_one_override_and_every_override_a_departure() -> None:
    """Under the same number in `karat explain ace` and in the class; what has no override says so by naming none."""
    departures = {re.match(r"\((\d+)\)", text)[1]: text for text in MEASURES.get("ace").card.departures}  # type: ignore[index]
    listed = {number: set(re.findall(r"Nist\.(\w+)", text)) for number, text in departures.items()}
    overrides = {name: value for name, value in vars(Nist).items() if hasattr(Plan, name) and not name.startswith("__")}
    numbered: dict[str, set[str]] = {number: set() for number in departures}
    for name, override in overrides.items():
        numbers = re.match(r"\d+(, \d+)* ", inspect.getdoc(override) or "")
        assert numbers, f"{name} does not begin with the number of its departure"
        for number in re.findall(r"\d+", numbers[0]):
            numbered[number].add(name)
    assert numbered == listed
    assert [name for name in vars(Nist) if not name.startswith("_") and name not in overrides] == []


PAGE = Path(__file__).parents[1] / "docs" / "ace-values.md"
FORMULAS = re.findall(
    r"^\| (.+?) \| `karat\.([a-z.]+)\.([A-Za-z_.]+)` \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE
)


@pytest.mark.parametrize(("formula", "module", "name"), FORMULAS)
def test_the_page_names_the_function_and_the_function_its_formula(formula: str, module: str, name: str) -> None:
    found: Any = importlib.import_module(f"karat.{module}")
    for part in name.split("."):
        found = getattr(found, part)
    reported = " ".join((inspect.getdoc(getattr(found, "func", found)) or "").split())
    assert reported
    for words in re.findall(r"`(\w+)", formula):
        if not words.endswith("_Value") or words in ("Element_Value", "Mentions_Value", "Arguments_Value"):
            assert words in reported, f"{name} does not say {words}"


def test_the_page_has_every_formula() -> None:
    assert len(FORMULAS) == 30
