"""Mutation testing: small changes of the code that computes scores, each of which some test should notice.

`make mutants` records which quick test reaches which line (pytest-cov), draws a sample of mutants, runs the tests
that reach each one on a copy of the sources, and prints the mutants that no test notices. The sample depends on a seed
and on the text of each mutant, not on its line, so a change of one module leaves most of it as it is.
"""

import argparse
import ast
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from pathlib import Path
from typing import Any, NamedTuple

import coverage

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src"
MUTATED = ("counts.py", "families", "match", "stats")
"""Modules and packages of karat that compute scores."""
PYTEST = (sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", "-q")
SECONDS = 300
"""Time of the tests of one mutant, by the clock; one that takes longer counts as noticed."""
OTHER: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd, ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}  # fmt: skip
"""An operator, and the one in its place."""
CALLS = {"min": "max", "max": "min", "any": "all", "all": "any", "sorted": "list", "fsum": "sum", "ceil": "floor"}
"""A function, and the one that is called in its place."""


class Mutant(NamedTuple):
    """A change of one line of a module."""

    file: str
    line: int
    before: str
    after: str
    source: str
    """The whole mutated module."""

    def rank(self, seed: int) -> bytes:
        """Return the key by which samples are drawn."""
        return hashlib.sha256(f"{seed} {self.file} {self.before} {self.after}".encode()).digest()


def mutants(path: Path, name: str) -> Iterator[Mutant]:
    """Yield all mutants of a module that is reported as `name`."""
    source = path.read_text(encoding="utf-8")
    lines = source.encode().splitlines(keepends=True)
    for node in _nodes(ast.parse(source)):
        first, last = node.lineno - 1, node.end_lineno - 1
        head, tail = lines[first][: node.col_offset], lines[last][node.end_col_offset :]
        for text in _replacements(node):
            changed = [*lines[:first], head + text.encode() + tail, *lines[last + 1 :]]
            before, after = (b"".join(lines[first : last + 1]).decode(), changed[first].decode())
            yield Mutant(name, node.lineno, before.strip(), after.strip(), b"".join(changed).decode())


def _nodes(node: ast.AST) -> Iterator[Any]:
    """Yield the nodes below one, except type annotations and docstrings."""
    for field, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            is_text = isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)
            if isinstance(child, ast.AST) and field not in ("annotation", "returns") and not is_text:
                if hasattr(child, "lineno"):
                    yield child
                yield from _nodes(child)


def _replacements(node: ast.AST) -> Iterator[str]:
    """Yield the texts that may take the place of a node."""

    def changed(**fields: object) -> str:
        other = deepcopy(node)
        for name, value in fields.items():
            setattr(other, name, value)
        return ast.unparse(other) if isinstance(node, ast.stmt) else f"({ast.unparse(other)})"

    match node:
        case ast.Compare(ops=ops):
            for index, op in enumerate(ops):
                yield changed(ops=[*ops[:index], OTHER[type(op)](), *ops[index + 1 :]])
        case ast.BinOp(op=op) | ast.BoolOp(op=op) | ast.AugAssign(op=op) if type(op) in OTHER:
            yield changed(op=OTHER[type(op)]())
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=operand):
            yield f"({ast.unparse(operand)})"
        case ast.IfExp(test=test):
            yield changed(test=ast.UnaryOp(ast.Not(), test))
        case ast.Constant(value=bool(value)):
            yield str(not value)
        case ast.Constant(value=int() | float() as value):
            yield str(value + 1)
        case ast.Call(func=ast.Name(id=called) | ast.Attribute(attr=called)) if called in CALLS:
            yield changed(func=ast.Name(CALLS[called]), keywords=node.keywords if CALLS[called] != "list" else [])
        case ast.Expr() | ast.Raise() | ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield "pass"


def record(file: Path, tests: list[str]) -> coverage.CoverageData:
    """Run the quick tests, and record which of them reach which line."""
    command = [*PYTEST, "-m", "not slow", "--cov", "--cov-context=test", "--cov-report=", *tests]
    subprocess.run(command, cwd=ROOT, env={**os.environ, "COVERAGE_FILE": str(file)}, check=True)
    data = coverage.CoverageData(str(file))
    data.read()
    return data


def reaching(mutant: Mutant, data: coverage.CoverageData) -> list[str]:
    """Return the tests that reach a mutant; those that reach its module if it runs at import."""
    lines = data.contexts_by_lineno(str(SOURCES / "karat" / mutant.file))
    found = {*lines.get(mutant.line, ())} - {""} or {name for names in lines.values() for name in names} - {""}
    return sorted({name.rpartition("|")[0] for name in found})


def is_noticed(mutant: Mutant, tests: list[str]) -> bool:
    """Run tests on a copy of the sources with the mutated module."""
    if not tests:
        return False
    with tempfile.TemporaryDirectory(prefix="karat-mutant-") as folder:
        shutil.copytree(SOURCES, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
        Path(folder, "karat", mutant.file).write_text(mutant.source, encoding="utf-8")
        environment = {**os.environ, "PYTHONPATH": folder, "PYTHONDONTWRITEBYTECODE": "1"}
        command = [*PYTEST, "-x", "--basetemp", f"{folder}/tmp", *tests]
        try:
            done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return True
        return done.returncode != 0


def main() -> int:
    """Try a sample, and print the mutants that no test notices; 1 if they are more than a tenth."""
    parser = argparse.ArgumentParser(prog="mutants", description=__doc__)
    parser.add_argument("--sample", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("tests", nargs="*", default=["tests"], help="the tests that take part")
    options = parser.parse_args()
    packages = [SOURCES / "karat" / name for name in MUTATED]
    paths = [path for package in packages for path in (sorted(package.rglob("*.py")) or [package])]
    every = [mutant for path in paths for mutant in mutants(path, path.relative_to(SOURCES / "karat").as_posix())]
    sample = sorted(every, key=lambda mutant: mutant.rank(options.seed))[: options.sample]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        data = record(Path(folder, "reach"), options.tests)
        results = list(pool.map(is_noticed, sample, [reaching(mutant, data) for mutant in sample]))
    survivors = sorted(mutant for mutant, noticed in zip(sample, results, strict=True) if not noticed)
    for mutant in survivors:
        print(f"{mutant.file}:{mutant.line}\n  - {mutant.before}\n  + {mutant.after}")
    print(f"{len(sample)} of {len(every):,} mutants, {len(survivors)} not noticed")
    return int(10 * len(survivors) > len(sample))


if __name__ == "__main__":
    sys.exit(main())
