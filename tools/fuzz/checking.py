"""Runs one command of a case in a folder of its own, counts what it did, and reports what does not hold."""

import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fuzz.cases import Arguments, Case
from fuzz.execution import Outcome, execute
from fuzz.properties import Problem, codes, problems, refusal

FOLDERS = ("gold", "system")
"""Folders that nearly every case has."""


class Tally:
    """What happened in some runs: numbers that add up, and problems."""

    def __init__(self) -> None:
        self.counts: dict[str, Counter[str]] = {}
        self.problems: list[dict[str, Any]] = []

    def count(self, table: str, key: str, number: int = 1) -> None:
        """Add to a number."""
        self.counts.setdefault(table, Counter())[key] += number

    def report(self, run: int, arguments: Arguments, problem: Problem) -> None:
        """Add a problem."""
        self.count("problems", f"{problem.property}: {problem.what}")
        self.problems.append({"run": run, "arguments": arguments, **problem._asdict()})


def checked(one: Case, arguments: Arguments, number: int, folder: Path, tally: Tally) -> Outcome:
    """Run one command of a case, count what it did, and report what does not hold."""
    with prepared(one, folder) as (work, scratch):
        before = _entries(work)
        outcome = execute(arguments)
        named = {name for word in arguments for name in (word, Path(word).name, word.partition("=")[2]) if name}
        given = named | {part for name in one.files for part in (name, Path(name).name)}
        given |= {line.strip() for line in one.files.get("gold.list", b"").decode(errors="replace").splitlines()} - {""}
        found = list(problems(arguments, outcome, given))
        found += _left_behind(arguments, outcome, _entries(work) - before, scratch)
    for problem in found:
        tally.report(number, arguments, problem)
    tally.count("commands", f"{arguments[0]} {'crashed' if outcome.code is None else f'exit {outcome.code}'}")
    tally.count("slowest", "milliseconds", 0)
    tally.counts["slowest"]["milliseconds"] = max(tally.counts["slowest"]["milliseconds"], int(outcome.seconds * 1000))
    for code, times in codes(arguments, outcome).items():
        tally.count("codes", code, times)
    if outcome.code and (ended_by := refusal(outcome)):
        tally.count("refusals", ended_by)
    return outcome


@contextmanager
def prepared(one: Case, folder: Path) -> Iterator[tuple[Path, Path]]:
    """The files of a case in a new working folder, and a folder for temporary files."""
    work, scratch = folder / "work", folder / "tmp"
    for old in sorted(map(Path, _entries(work)), reverse=True):  # making folders anew would take most of the time
        if not old.is_dir() or old.is_symlink():
            old.unlink()
        elif old.parent != work or old.name not in FOLDERS:
            old.rmdir()
    for name, data in one.files.items():
        path = work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    scratch.mkdir(exist_ok=True)
    tempfile.tempdir = str(scratch)
    os.chdir(work)
    yield work, scratch
    os.chdir(folder)


def _entries(folder: Path) -> set[str]:
    return {f"{parent}/{name}" for parent, folders, files in os.walk(folder) for name in (*folders, *files)}


def _left_behind(arguments: Arguments, outcome: Outcome, new: set[str], scratch: Path) -> list[Problem]:
    """Files that no one asked for. Copies of streams may stay in `karat-*` until the process ends."""
    stray = [name for name in (path.name for path in scratch.iterdir()) if not name.startswith(("karat-", ".karat-"))]
    for name in stray:
        (scratch / name).unlink()
    asked_for = {"out", *arguments[2:3]} if arguments[0] == "convert" else {"out", "out.jsonl"}
    wanted = {str(Path.cwd() / name) for name in asked_for if name}
    unwanted = [name for name in new if not any(name == one or name.startswith(f"{one}/") for one in wanted)]
    found = []
    if stray or unwanted:
        found.append(Problem("no file left behind", f"{arguments[0]}, exit {outcome.code}", str([*stray, *unwanted])))
    elif new and outcome.code and arguments[0] != "validate":
        found.append(Problem("no file left behind", f"{arguments[0]}: output after a refusal", str(new)))
    return found
