"""Families of scores, and the CPU time and memory that one takes on a corpus of a given size.

Corpora are written in one process and scored in another, since a child process inherits the peak of its parent. The
process that scores is also run with other versions of karat, so it uses nothing but `karat.score`.
"""

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ace_corpus import write_apf
from corpus import write_coref, write_documents, write_hierarchies, write_tbf

Bare = Literal["split", "json.loads", "lxml"]
"""Bare reads: the minimum that any scorer has to do with a file."""


class Family(NamedTuple):
    """Scores that are measured together."""

    name: str
    options: dict[str, Any]
    """Keyword arguments of `karat.score`."""
    write: Callable[[Path, int], tuple[Path, Path]]
    """Writes gold and system of a size, the same bytes each time."""
    unit: str
    """The noun for sizes."""
    sizes: tuple[int, int, int]
    bare: Bare
    aim: float | None
    """How many times the bare read scoring should take, at most."""
    million: tuple[int, int, int] | None = None
    """The sizes up to one million mentions."""


def _nuggets(folder: Path, documents: int) -> tuple[Path, Path]:
    return write_tbf(folder, documents)[:2]


def _across(folder: Path, mentions: int) -> tuple[Path, Path]:
    """The proportions of a corpus of 98,461 mentions whose system is a lemma baseline."""
    return write_coref(folder, mentions, mentions * 44 // 100, mentions * 17 // 100)


def _ace(folder: Path, documents: int) -> tuple[Path, Path]:
    return write_apf(folder, documents)[:2]


NUGGETS = {"protocol": "tac-2017", "measures": ["nugget"]}
DOCUMENTS, MILLION = (100, 1_000, 10_000), (290, 2_900, 30_000)
MENTIONS = (1_000, 10_000, 100_000)
INTERVALS = {"protocol": "simple-cdec", "ci": 0.95}
FAMILIES = (
    Family("nuggets alone", NUGGETS, _nuggets, "document", DOCUMENTS, "split", 15, MILLION),
    Family("all of tac-2017", {"protocol": "tac-2017"}, _nuggets, "document", DOCUMENTS, "split", 25, MILLION),
    Family(
        *("coreference within documents", {"protocol": "conll-2012"}, write_documents, "document"),
        *((50, 500, 5_000), "json.loads", 8),
    ),
    Family(
        *("cross-document coreference", {"protocol": "simple-cdec"}, _across, "mention", MENTIONS, "json.loads", 8),
        *((10_000, 100_000, 1_000_000),),
    ),
    Family("cross-document with --ci 95", INTERVALS, _across, "mention", (1_000, 10_000, 98_461), "json.loads", None),
    Family("hierarchies", {"protocol": "araki-2014"}, write_hierarchies, "document", (50, 500, 5_000), "split", 15),
    Family("ACE, eight tasks", {"protocol": "ace-2005"}, _ace, "document", (15, 150, 1_500), "lxml", 8),
)


class Measurement(NamedTuple):
    """CPU seconds of each run, and the peak of memory in MB."""

    scored: list[float]
    read: list[float]
    peak: float
    source: str
    """Where karat was imported from."""


def written(folder: Path, family: Family, size: int) -> tuple[str, str]:
    """Write a corpus in another process, and return the paths of gold and system."""
    gold, system = _in_process("write", str(folder), family.name, str(size))
    return gold, system


def measured(
    family: Family, files: tuple[str, str], rounds: int, *, bare: bool = True, source: Path | None = None
) -> Measurement:
    """Score two files in another process; `source` is the folder of another karat."""
    read = [family.bare] if bare else []
    return Measurement(*_in_process("score", *files, json.dumps(family.options), str(rounds), *read, source=source))


def _in_process(*arguments: str, source: Path | None = None) -> list[Any]:
    environment = os.environ if source is None else os.environ | {"PYTHONPATH": str(source)}
    command = [sys.executable, __file__, *arguments]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment)
    return list(json.loads(done.stdout))


def write(folder: str, name: str, size: str) -> list[str]:
    """Write a corpus of a family."""
    family = next(family for family in FAMILIES if family.name == name)
    return [str(path) for path in family.write(Path(folder), int(size))]


def score(gold: str, system: str, options: str, rounds: str, *bare: str) -> Measurement:
    """Score once to warm up, which shows the peak, and then in turns with a bare read of the files."""
    import karat

    scoring = partial(karat.score, gold, system, **json.loads(options))
    scoring()
    peak = megabytes(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    scored: list[float] = []
    read: list[float] = []
    for _ in range(int(rounds)):
        if bare:
            read.append(_seconds(partial(read_bare, bare[0], Path(gold), Path(system))))
        scored.append(_seconds(scoring))
    return Measurement(scored, read, peak, karat.__file__)


def read_bare(kind: str, *paths: Path) -> None:
    """Split the lines at tabs, decode them as JSON, or parse each file of a folder as XML."""
    for path in paths:
        if kind == "lxml":
            from lxml import etree

            for file in path.glob("*.apf.xml"):
                etree.parse(str(file))
        else:
            for line in _lines(path):
                _ = json.loads(line) if kind == "json.loads" else line.split("\t")


def _lines(path: Path) -> Iterator[str]:
    with open(path, encoding="utf-8") as stream:
        yield from stream


def _seconds(task: Callable[[], object]) -> float:
    """Return the CPU time, which other processes disturb less than they disturb the clock."""
    start = time.process_time()
    task()
    return time.process_time() - start


def megabytes(peak: int) -> float:
    """Convert a peak as `getrusage` reports it, in kilobytes (on macOS, in bytes)."""
    return peak / 1e6 if sys.platform == "darwin" else peak * 1024 / 1e6


if __name__ == "__main__":
    task, *arguments = sys.argv[1:]
    print(json.dumps(write(*arguments) if task == "write" else score(*arguments)))
