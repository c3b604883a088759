"""Tools that nobody runs often, so that they would break unnoticed: the benchmark and the mutants."""

import subprocess
import sys
from pathlib import Path

import pytest

from mutants import MUTATED, SOURCES, mutants

BENCH = Path(__file__).parents[1] / "bench"


@pytest.mark.slow
def test_the_table_has_each_family_at_three_sizes() -> None:
    command = [sys.executable, str(BENCH / "run.py"), "--quick", "--rounds", "1", "--family", "hierarchies"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    table, _, small = done.stdout.partition("\n\n| command or call")
    assert small
    _, _, head, _, *rows = table.splitlines()
    assert [len(row.split("|")) for row in rows] == [len(head.split("|"))] * 3
    assert [row.split("|")[2].strip() for row in rows] == ["5 documents", "50 documents", "500 documents"]
    assert float(rows[-1].split("|")[-2]) > 0  # how time grows


# Mutants: what is changed and what is not, and which are drawn

SOURCE = '''"""A module."""

LIMIT: int | None = 3


class Pair:
    """Two numbers."""

    def larger(self, one: int | None, other: int = 0) -> int:
        """The larger one."""
        if one is None or other > one:
            return other
        return min(one, LIMIT)
'''


def test_each_mutant_changes_one_place(tmp_path: Path) -> None:
    (tmp_path / "pairs.py").write_text(SOURCE)
    made = list(mutants(tmp_path / "pairs.py", "pairs.py"))
    assert sorted((mutant.line, mutant.after) for mutant in made) == [
        (3, "LIMIT: int | None = 4"),
        (9, "def larger(self, one: int | None, other: int = 1) -> int:"),
        (11, "if (one is None and other > one):"),
        (11, "if (one is not None) or other > one:"),
        (11, "if one is None or (other >= one):"),
        (13, "return (max(one, LIMIT))"),
    ]
    assert all(compile(mutant.source, "pairs.py", "exec") for mutant in made)


def test_the_sample_does_not_depend_on_lines(tmp_path: Path) -> None:
    ranks = []
    for source in (SOURCE, f"# A comment.\n{SOURCE}"):
        (tmp_path / "pairs.py").write_text(source)
        ranks.append({mutant.rank(0) for mutant in mutants(tmp_path / "pairs.py", "pairs.py")})
    assert ranks[0] == ranks[1]


def test_the_code_that_is_mutated_exists() -> None:
    assert all((SOURCES / "karat" / name).exists() for name in MUTATED)
