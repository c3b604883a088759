"""Commands that are run again in another way: in another order, in other processes, and on their own output."""

import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any

from fuzz.cases import Arguments, Case
from fuzz.execution import Outcome, execute
from fuzz.properties import Problem, parsed
from fuzz.twin import Twin
from karat.errors import KaratError
from karat.formats import FORMATS

SAME = {"span-repeated": "span-twice", "two-parents": "two-parents"}
"""Faults of some formats, and the notes about the same in others."""
OF_PROTOCOL = "kind-absent"
"""A finding about the protocol that the other format chooses, not about what was written."""


def output_problems(one: Case, arguments: Arguments, validation: Outcome) -> Iterator[Problem]:
    """What is made of a valid corpus is valid, too; some formats do not say what offsets count."""
    format_ = arguments[arguments.index("--to") + 1] if "--to" in arguments else one.kind
    validate = ("validate", "out", "--input-format", format_, "-f", "json")
    found = min((_wrong(execute((*validate, *unit)), format_) for unit in ((), ("--unit", "token"))), key=len)
    known = {finding["code"] for finding in _listed(validation)}
    found = [one for one in found if SAME.get(one["code"]) not in known and one["code"] != OF_PROTOCOL]
    if found:
        yield Problem("output is valid", f"{arguments[0]}: {found[0]['code']}", str(found))


def _wrong(validation: Outcome, format_: str) -> list[dict[str, Any]]:
    """Findings that keep a file from being scored."""
    tolerated = FORMATS.get(format_).tolerated_faults
    return [one for one in _listed(validation) if one["severity"] != "note" and one["code"] not in tolerated]


def _listed(validation: Outcome) -> list[dict[str, Any]]:
    return [finding for file in parsed(validation.out)["files"] for finding in file["findings"]]


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


def twin_problems(twin: Twin, arguments: Arguments, before: Outcome) -> Iterator[Problem]:
    """In a warm process with another hash seed: the same bytes."""
    after = twin.execute(arguments)
    if after != (before.code, before.out):
        yield Problem("the hash seed does not matter", arguments[0], f"{before.code} {before.out!r}\n{after!r}")


def process_problems(arguments: Arguments, before: Outcome, hash_seed: int) -> Iterator[Problem]:
    """In a new process with another hash seed: the same bytes, and nothing in the temporary folder."""
    with tempfile.TemporaryDirectory() as scratch:
        paths = os.pathsep.join(sys.path)
        environment = {**os.environ, "PYTHONPATH": paths, "PYTHONHASHSEED": str(hash_seed), "TMPDIR": scratch}
        after = subprocess.run(
            [sys.executable, "-m", "karat", *map(os.fsencode, arguments)],
            capture_output=True,
            env=environment,
            stdin=subprocess.DEVNULL,
        )
        if (after.returncode, after.stdout) != (before.code, before.out):
            detail = f"{before.code} {before.out!r}\n{after.returncode} {after.stdout!r} {after.stderr!r}"
            yield Problem("a process of its own does not matter", arguments[0], detail)
        if left := [path.name for path in Path(scratch).iterdir()]:
            yield Problem("no file left behind", "temporary folder", str(left))
