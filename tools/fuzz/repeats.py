"""Commands that are run again in another way: in another order, in a process of their own, and on their own output."""

import os
import random
import subprocess
import sys
import tempfile
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any

from fuzz.cases import Arguments, Case
from fuzz.checking import Tally, checked, prepared
from fuzz.execution import Outcome, execute
from fuzz.properties import Problem, comparable, parsed
from karat.errors import KaratError
from karat.formats import FORMATS


def check_output(one: Case, arguments: Arguments, number: int, folder: Path, tally: Tally) -> None:
    """What is made of a valid corpus is valid, too; some formats do not say what offsets count."""
    format_ = arguments[arguments.index("--to") + 1] if "--to" in arguments else one.kind
    validate = ("validate", "out", "--input-format", format_, "-f", "json")
    with prepared(one, folder):
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


def reordered(one: Case, number: int) -> list[tuple[dict[str, bytes], Arguments]]:
    """The same corpora with their files or documents in another order."""
    if one.shuffled is not None:
        return [one.shuffled]
    command = one.commands[-1]
    name = command[1]
    if number % 3 or one.kind not in FORMATS.names() or name not in one.files or name.endswith(".gz"):
        return []
    data = shuffled_documents(one.files[name], name, one.kind, random.Random(number))
    return [] if data is None else [({**one.files, name: data}, command)]


def shuffled_documents(data: bytes, name: str, format_: str, chance: random.Random) -> bytes | None:
    """A file with its documents in another order; None if its documents depend on what is before them."""
    try:
        blocks = list(FORMATS.get(format_).blocks(BytesIO(data), name))
    except KaratError:
        return None
    if len(blocks) < 2 or any(
        block.more or block.context or block.is_unnamed or block.numbered or block.problems or not block.id
        for block in blocks
    ):
        return None
    lines = data.rstrip(b"\n").split(b"\n")
    starts = [*(block.line - 1 for block in blocks), len(lines)]
    if starts[0] or starts != sorted(set(starts)):
        return None
    pieces = [b"".join(line + b"\n" for line in lines[begin:end]) for begin, end in pairwise(starts)]
    chance.shuffle(pieces)
    return b"".join(pieces)


def compare_orders(one: Case, arguments: Arguments, before: Outcome, number: int, folder: Path, tally: Tally) -> None:
    """Score files in another order: the same scores, and as many warnings of each kind."""
    after = checked(one, arguments, number, folder, tally)
    tally.count("repeated", "in another order")
    if after.code != 0 or comparable(after) != comparable(before):
        detail = f"{after.code} {after.err}\n{before.out[:3000]!r}\n{after.out[:3000]!r}"
        tally.report(number, arguments, Problem("order does not matter", one.kind, detail))


def compare_processes(
    one: Case, arguments: Arguments, before: Outcome, number: int, folder: Path, tally: Tally
) -> None:
    """In a process of its own, with another hash seed: the same bytes, and nothing in the temporary folder."""
    tally.count("repeated", "with another hash seed")
    with prepared(one, folder), tempfile.TemporaryDirectory() as scratch:
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
