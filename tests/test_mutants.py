"""The mutants: what is changed and what is not, and which are drawn."""

from pathlib import Path

from mutants import MUTATED, SOURCES, mutants

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
