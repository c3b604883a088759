"""A process that runs cases, with limits for time and memory.

It reads lines `first last skipped,...` from standard input, announces each run by its number on standard output, so
that the one that kills the process is known, and answers each line with a tally in one line of JSON.
"""

import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any

from fuzz.cases import Arguments, Case, case
from fuzz.execution import Outcome, execute, limit_time
from fuzz.properties import Problem, codes, comparable, parsed, problems, refusal
from karat.errors import KaratError, PluginWarning
from karat.formats import FORMATS
from karat.formats._text import BYTE_ORDER_MARK

BYTES = 3_000_000_000
"""Most address space of a worker."""
FOLDERS = ("gold", "system")
"""Folders that nearly every case has."""
EVERY = 250
"""One run in so many is repeated in a process of its own with another hash seed."""


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


def main() -> None:
    """Run what standard input asks for."""
    seed, folder = int(sys.argv[1]), Path(sys.argv[2])
    sys.setrecursionlimit(1000)
    limit_time()
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("error")
    warnings.simplefilter("default", PluginWarning)
    announce = sys.stdout
    for line in sys.stdin:
        first, last, *skipped = map(int, line.replace(",", " ").split())
        tally = Tally()
        for number in range(first, last):
            if number not in skipped:
                print("run", number, file=announce, flush=True)
                run(case(seed, number), number, folder, tally)
        content = {"counts": tally.counts, "problems": tally.problems}
        print("done", json.dumps(content), file=announce, flush=True)


def run(one: Case, number: int, folder: Path, tally: Tally) -> None:
    """Run the commands of a case in an empty folder, and check everything that must hold."""
    tally.count("inputs", one.kind)
    tally.count("edits", "at most five" if one.edits <= 5 else "more")
    outcomes = []
    for arguments in one.commands:
        outcome = checked(one, arguments, number, folder, tally)
        outcomes.append(outcome)
    first, last, command = outcomes[0], outcomes[-1], one.commands[-1]
    is_accepted = first.code == 0
    tally.count("accepted" if is_accepted else "refused", one.kind)
    if is_accepted and one.clean is not None:
        score = checked(one, one.clean, number, folder, tally)
        if score.code:
            code = refusal(score) or "no code"
            tally.report(number, one.clean, Problem("validate clean implies score works", code, score.err))
    if last.code == 0 and command[0] == "score" and "json" in command and "-o" not in command:
        for files, arguments in _reordered(one, number):
            if "--details" not in command:
                _compare_orders(one._replace(files=files), arguments, last, number, folder, tally)
    if is_accepted and last.code == 0 and command[0] in ("convert", "simulate") and "out" in command:
        _check_output(one, command, number, folder, tally)
    if number % EVERY == 0 and last.raised is None and "-o" not in command:
        _compare_processes(one, command, last, number, folder, tally)


def checked(one: Case, arguments: Arguments, number: int, folder: Path, tally: Tally) -> Outcome:
    """Run one command of a case, count what it did, and report what does not hold."""
    with _prepared(one, folder) as (work, scratch):
        before = _entries(work)
        outcome = execute(arguments)
        named = {name for word in arguments for name in (word, Path(word).name) if name}
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


def _check_output(one: Case, arguments: Arguments, number: int, folder: Path, tally: Tally) -> None:
    """What is made of a valid corpus is valid, too; some formats do not say what offsets count."""
    format_ = arguments[arguments.index("--to") + 1] if "--to" in arguments else one.kind
    validate = ("validate", "out", "--input-format", format_, "-f", "json")
    with _prepared(one, folder):
        execute(arguments)
        found = min((_wrong(execute((*validate, *unit)), format_) for unit in ((), ("--unit", "token"))), key=len)
    tally.count("repeated", "output validated")
    if found:
        problem = Problem("output is valid", f"{arguments[0]}: {found[0]['code']}", str(found))
        tally.report(number, arguments, problem)


def _wrong(validation: Outcome, format_: str) -> list[dict[str, Any]]:
    """Findings that keep a file from being scored."""
    listed = [finding for file in parsed(validation.out)["files"] for finding in file["findings"]]
    tolerated = FORMATS.get(format_).tolerated_faults
    return [one for one in listed if one["severity"] != "note" and one["code"] not in tolerated]


@contextmanager
def _prepared(one: Case, folder: Path) -> Iterator[tuple[Path, Path]]:
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


def _reordered(one: Case, number: int) -> list[tuple[dict[str, bytes], Arguments]]:
    """The same corpora with their files or documents in another order."""
    if one.shuffled is not None:
        return [one.shuffled]
    command = one.commands[-1]
    name = command[1]
    if number % 5 or one.kind not in FORMATS.names() or name not in one.files or name.endswith(".gz"):
        return []
    data = shuffled_documents(one.files[name], name, one.kind, random.Random(number))
    return [] if data is None else [({**one.files, name: data}, command)]


def shuffled_documents(data: bytes, name: str, format_: str, chance: random.Random) -> bytes | None:
    """A file with its documents in another order; None if its documents depend on what is before them."""
    if data.startswith(BYTE_ORDER_MARK):
        return None
    try:
        blocks = list(FORMATS.get(format_).blocks(BytesIO(data), name))
    except KaratError:
        return None
    if len(blocks) < 2 or any(
        block.more or block.context or block.is_unnamed or block.numbered or block.problems or not block.id
        for block in blocks
    ):
        return None
    places = [(block.offset, block.offset + block.length) for block in blocks]
    gaps = [data[: places[0][0]], *(data[a:b] for (_, a), (b, _) in pairwise(places))]
    if any(gap.strip() for gap in [*gaps, data[places[-1][1] :]]):
        return None
    pieces = [data[begin:end].rstrip(b"\n") + b"\n\n" for begin, end in places]
    if format_ == "jsonl":
        pieces = [piece.strip() + b"\n" for piece in pieces]
    chance.shuffle(pieces)
    return b"".join(pieces)


def _compare_orders(one: Case, arguments: Arguments, before: Outcome, number: int, folder: Path, tally: Tally) -> None:
    after = checked(one, arguments, number, folder, tally)
    tally.count("repeated", "in another order")
    if after.code != 0 or comparable(after) != comparable(before):
        detail = f"{after.code} {after.err}\n{before.out[:3000]!r}\n{after.out[:3000]!r}"
        tally.report(number, arguments, Problem("order does not matter", one.kind, detail))


def _compare_processes(
    one: Case, arguments: Arguments, before: Outcome, number: int, folder: Path, tally: Tally
) -> None:
    """In a process of its own, with another hash seed: the same bytes, and nothing in the temporary folder."""
    tally.count("repeated", "with another hash seed")
    with _prepared(one, folder), tempfile.TemporaryDirectory() as scratch:
        environment = {**os.environ, "PYTHONHASHSEED": str(1 + number % 1000), "TMPDIR": scratch}
        after = subprocess.run(
            [sys.executable, "-m", "karat", *map(os.fsencode, arguments)],
            capture_output=True,
            env=environment,
            stdin=subprocess.DEVNULL,
        )
        if (after.returncode, after.stdout) != (before.code, before.out):
            detail = f"{before.code} {before.out!r}\n{after.returncode} {after.stdout!r} {after.stderr!r}"
            tally.report(number, arguments, Problem("the hash seed does not matter", arguments[0], detail))
        if left := [path.name for path in Path(scratch).iterdir()]:
            tally.report(number, arguments, Problem("no file left behind", "temporary folder", str(left)))


if __name__ == "__main__":
    main()
