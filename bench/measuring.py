"""Runs `measured.py` in processes: one writes a corpus, another one reads it."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.json import decode

from families import FAMILIES, Family

HERE = Path(__file__).parent
WRITE = "import sys; from pathlib import Path; from measuring import write; write(*sys.argv[1:])"


class Measurement(Struct, frozen=True):
    """CPU seconds of each run, and the peak of memory in MB."""

    first: float
    scored: list[float]
    read: list[float]
    peak: float
    source: str


def write(folder: str, name: str, size: str) -> None:
    """Write a corpus of a family, and print its two paths."""
    family = next(family for family in FAMILIES if family.name == name)
    print(json.dumps([str(path) for path in family.write(Path(folder), int(size))]))


def written(folder: Path, family: Family, size: int) -> tuple[str, str]:
    """The same in another process, so that this one stays small: a child process inherits the peak of its parent."""
    command = [sys.executable, "-c", WRITE, str(folder), family.name, str(size)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, cwd=HERE)
    return decode(done.stdout, type=tuple[str, str])


def measured(
    family: Family, files: tuple[str, str], rounds: int, *, bare: bool = True, source: Path | None = None
) -> Measurement:
    """Score two files; `source` is the folder of another karat."""
    command = [sys.executable, str(HERE / "measured.py"), *files, family.protocol, ",".join(family.measures)]
    command += [str(rounds), *[family.bare] * bare]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=_environment(source))
    return decode(done.stdout, type=Measurement)


def _environment(source: Path | None) -> Mapping[str, str]:
    return os.environ if source is None else os.environ | {"PYTHONPATH": str(source)}
