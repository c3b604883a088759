"""Runs one command of a case, counts what it did, and reports what does not hold."""

import pickle
from base64 import b64encode
from collections import Counter
from pathlib import Path
from typing import Any

from fuzz.cases import Arguments, Case
from fuzz.execution import Outcome, execute
from fuzz.properties import Problem, codes, problems, refusal
from fuzz.workspace import Workspace


class Tally:
    """What happened in some runs: numbers that add up, and problems with the cases that show them."""

    def __init__(self) -> None:
        self.counts: dict[str, Counter[str]] = {}
        self.problems: list[dict[str, Any]] = []

    def count(self, table: str, key: str, number: int = 1) -> None:
        """Add to a number."""
        self.counts.setdefault(table, Counter())[key] += number

    def report(self, run: int, one: Case, arguments: Arguments, problem: Problem) -> None:
        """Add a problem, with everything needed to run its case again."""
        self.count("problems", f"{problem.property}: {problem.what}")
        saved = b64encode(pickle.dumps(one)).decode()
        self.problems.append({"run": run, "arguments": arguments, **problem._asdict(), "case": saved})


def checked(one: Case, arguments: Arguments, number: int, space: Workspace, tally: Tally) -> Outcome:
    """Run one command on the files of a case; what it writes stays until the next command."""
    space.tidy()
    outcome = execute(arguments)
    named = {name for word in arguments for name in (word, *(part for part in _parts(word) if part))}
    given = named | {part for name in one.files for part in (name, Path(name).name)}
    given |= {line.strip() for line in one.files.get("gold.list", b"").decode(errors="replace").split("\n")} - {""}
    found = [*problems(arguments, outcome, given), *_unasked(arguments, outcome, space)]
    for problem in found:
        tally.report(number, one, arguments, problem)
    tally.count("commands", f"{arguments[0]} {'crashed' if outcome.code is None else f'exit {outcome.code}'}")
    tally.count("slowest", "milliseconds", 0)
    tally.counts["slowest"]["milliseconds"] = max(tally.counts["slowest"]["milliseconds"], int(outcome.seconds * 1000))
    for code, times in codes(arguments, outcome).items():
        tally.count("codes", code, times)
    if outcome.code and (ended_by := refusal(outcome)):
        tally.count("refusals", ended_by)
    return outcome


def _parts(word: str) -> tuple[str, ...]:
    """What may be named instead of a whole argument: the file without its folder, the path after `NAME=`.

    A path that is a number loses its sign.
    """
    return Path(word).name, word.partition("=")[2], word.partition("=")[2].removeprefix("+")


def _unasked(arguments: Arguments, outcome: Outcome, space: Workspace) -> list[Problem]:
    """Files that no one asked for, and inputs that are not as they were."""
    new, changed = space.changes()
    stray = space.stray()
    asked_for = {"out", *arguments[2:3]} if arguments[0] == "convert" else {"out", "out.jsonl"}
    wanted = {str(Path(name)) for name in asked_for if name}
    unwanted = [name for name in sorted(new) if not any(name == one or name.startswith(f"{one}/") for one in wanted)]
    found = []
    space.accept(changed & wanted)  # an output may replace what the command does not read
    if changed - wanted:
        found.append(Problem("inputs stay as they are", arguments[0], str(sorted(changed - wanted))))
    if stray or unwanted:
        found.append(Problem("no file left behind", f"{arguments[0]}, exit {outcome.code}", str([*stray, *unwanted])))
    elif new and outcome.code and arguments[0] != "validate":
        found.append(Problem("no file left behind", f"{arguments[0]}: output after a refusal", str(new)))
    return found
