"""Tables 1 to 8 of the ACE 2005 evaluation plan are data: each is compared with the text of the plan."""

import re
from collections.abc import Collection
from itertools import takewhile
from pathlib import Path

import pytest

from karat import protocols
from karat.campaign.submissions import TASKS
from karat.formats import _apf_tables as tables
from karat.formats._apf_dtd import ELEMENTS, dtd
from tests.conftest import shared_path


class Plan:
    """The tables of the plan, row by row and cell by cell."""

    def __init__(self, path: Path) -> None:
        self.lines = path.read_text(encoding="utf-8").splitlines()

    def rows(self, number: int) -> list[list[str]]:
        """The rows of a table after its title, up to the next blank line."""
        begin = next(n for n, line in enumerate(self.lines) if line.startswith(f"Table {number} "))
        after = begin + self.lines[begin:].index("") + 1
        found = takewhile(bool, self.lines[after:])
        return [[re.sub(r"<[^>]*>", "", cell).strip() for cell in line.split("\t")] for line in found]


@pytest.fixture(scope="module")
def plan() -> Plan:
    return Plan(shared_path("papers", "ace-2005-evaluation-plan.txt"))


def typed(rows: list[list[str]]) -> dict[str, tuple[str, ...]]:
    """Types with their subtypes; a row with no second cell is a heading."""
    found = {}
    for type_, subtypes in (row for row in rows if len(row) == 2 and row[1]):
        name = re.match(r"[\w\-]+", type_)
        assert name is not None
        found[name[0]] = () if subtypes == "none" else tuple(subtypes.split(", "))
    return found


@pytest.mark.parametrize(
    ("number", "table"), [(1, tables.ENTITIES), (4, tables.VALUES), (6, tables.RELATIONS), (7, tables.EVENTS)]
)
def test_types_with_their_subtypes(plan: Plan, number: int, table: dict[str, tuple[str, ...]]) -> None:
    heading, *rows = plan.rows(number)
    assert heading[0] in ("Type", "Types")
    assert {name: set(subtypes) for name, subtypes in typed(rows).items()} == {
        name: set(subtypes) for name, subtypes in table.items()
    }
    assert all(len(set(subtypes)) == len(subtypes) for subtypes in table.values())


(CHOICE,) = protocols.resolve("ace-2005").families
PARAMETERS = CHOICE.parameters
TIMEX2 = {name.upper() for name in PARAMETERS.TERN.AttrValue} - {"TYPE"}


@pytest.mark.parametrize(("number", "listed"), [(2, tables.CLASSES), (3, tables.MENTION_TYPES), (5, TIMEX2)])
def test_lists(plan: Plan, number: int, listed: Collection[str]) -> None:
    _, *rows = plan.rows(number)
    found = [row[0].split(" ")[0].replace("\\", "") for row in rows]
    assert (tuple(found) if isinstance(listed, tuple) else set(found)) == listed


def test_symmetric_relations_have_an_asterisk(plan: Plan) -> None:
    _, *rows = plan.rows(6)
    starred = {row[0].split("*")[0] for row in rows if "*" in row[0]}
    assert starred == set(PARAMETERS.RDR.symmetric)


LANGUAGES = ("arabic", "chinese", "english")
SOURCES = {
    "Newswire": "newswire",
    "Broadcast News": "broadcast news",
    "Broadcast Conversations": "broadcast conversation",
    "Weblogs": "weblog",
    "Usenet Newsgroups/Discussion Forum": "usenet",
    "Conversational Telephone Speech": "telephone",
}


def test_what_is_evaluated_in_which_language(plan: Plan) -> None:
    """Table 8: tasks, and sources, each with a tick for each language."""
    found: dict[str, tuple[str, ...]] = {}
    tasks: dict[str, set[str]] = {language: set() for language in LANGUAGES}
    for name, *ticks in plan.rows(8):
        languages = tuple(language for language, tick in zip(LANGUAGES, ticks, strict=False) if tick == "✓")
        if task := re.search(r"\(([A-Z]{3,4})\)$", name):
            for language in languages:
                tasks[language].add(task[1].lower())
        elif name in SOURCES:
            found[SOURCES[name]] = languages
    assert tasks == TASKS
    assert found == tables.SOURCES


def test_the_roles_of_relations_and_times() -> None:
    assert len(tables.TIME_ROLES) == len(set(tables.TIME_ROLES)) == 8
    assert len(tables.EVENT_ROLES) == len(set(tables.EVENT_ROLES)) == 27 + 8
    assert {*tables.RELATION_ROLES} == {"Arg-1", "Arg-2", *tables.TIME_ROLES}


def test_the_tables_make_a_dtd() -> None:
    """Every element that another may hold is declared, and lxml reads the whole."""
    declared = {element.name for element in dtd().iterelements()}
    assert declared == set(ELEMENTS)
    assert {child for element in ELEMENTS.values() for child in element.children} <= declared
