"""The mutants: what is changed and what is not, which are drawn, and that a changed function is the one that runs."""

import types
from pathlib import Path

import pytest

from mutants.__main__ import equivalent, sample
from mutants.edits import Mutant, mutants
from mutants.worker import replace_function

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


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "pairs.py").write_text(SOURCE)
    return tmp_path / "pairs.py"


def test_each_mutant_changes_one_place(path: Path) -> None:
    made = mutants(path, "pairs.py")
    assert {(mutant.function, mutant.kind, mutant.after) for mutant in made} == {
        ("", "constant", "LIMIT: int | None = 4"),
        ("", "constant", "def larger(self, one: int | None, other: int = 1) -> int:"),
        ("Pair.larger", "condition", "if (not (one is None or other > one)):"),
        ("Pair.larger", "boolean", "if ((one is None) and (other > one)):"),
        ("Pair.larger", "operand removed", "if ((other > one)):"),
        ("Pair.larger", "operand removed", "if ((one is None)):"),
        ("Pair.larger", "comparison", "if (one) is not (None) or other > one:"),
        ("Pair.larger", "comparison", "if one is None or (other) >= (one):"),
        ("Pair.larger", "comparison", "if one is None or (other) <= (one):"),
        ("Pair.larger", "call", "return max(one, LIMIT)"),
    }
    assert all(compile(mutant.source, "pairs.py", "exec") for mutant in made)


def test_the_sample_does_not_depend_on_lines(path: Path) -> None:
    every = mutants(path, "pairs.py")
    path.write_text(f"# A comment.\n{SOURCE}")
    moved = mutants(path, "pairs.py")

    def names(chosen: list[Mutant]) -> list[str]:
        return sorted(mutant.name for mutant in chosen)

    assert names(sample(every, 4, 0)) == names(sample(moved, 4, 0))
    assert names(sample(every, 4, 0)) != names(sample(every, 4, 1))
    assert len(sample(every, 100, 0)) == len(every)


def test_the_mutated_function_runs(path: Path) -> None:
    module = types.ModuleType("pairs")
    exec(compile(SOURCE, str(path), "exec"), vars(module))
    pair = module.Pair()
    assert pair.larger(2, 1) == 2
    (changed,) = (mutant for mutant in mutants(path, "pairs.py") if mutant.kind == "call")
    assert replace_function(path, changed.function, changed.source)
    assert pair.larger(2, 1) == 3
    assert not replace_function(path, "Pair.smaller", changed.source)


def test_every_equivalent_mutant_has_a_reason() -> None:
    assert all(reason.strip() for reason in equivalent().values())
