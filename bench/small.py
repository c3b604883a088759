"""CPU time of whole commands, most on small inputs, where the start of a run shows, and of calls in memory."""

import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from random import Random
from statistics import median
from typing import TYPE_CHECKING, NamedTuple

from ace_corpus import write_apf
from corpus import write_conll, write_corefud, write_tbf, write_textee

if TYPE_CHECKING:
    import karat

KARAT = str(Path(sys.executable).with_name("karat"))


class Command(NamedTuple):
    """A command on generated files, from the start of Python to its end."""

    name: str
    write: Callable[[Path], tuple[Path, ...]]
    options: tuple[str, ...] = ()

    def seconds(self, folder: Path, rounds: int) -> Iterator[float]:
        """Yield the CPU time of each run."""
        gold, system, *_ = map(str, self.write(folder))
        files = [gold, system, "--jobs", "1", "-o", str(folder / "output")]
        return _run([KARAT, "score", *files, *self.options], rounds)


class Start(NamedTuple):
    """A program that has nothing to do but start."""

    name: str
    command: tuple[str, ...]

    def seconds(self, folder: Path, rounds: int) -> Iterator[float]:
        """Yield the CPU time of each run."""
        del folder
        return _run(self.command, rounds)


def _run(command: Sequence[str], rounds: int) -> Iterator[float]:
    """Yield the CPU time of a program, from the start of its process to its end."""
    for _ in range(rounds):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        yield after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


class Call(NamedTuple):
    """A call on clusters of five mentions in memory, after a first call that imports what it needs."""

    function: str
    mentions: int
    repetitions: int

    @property
    def name(self) -> str:
        """The name of its row."""
        return f"karat.{self.function}, {self.mentions:,} mentions"

    def seconds(self, folder: Path, rounds: int) -> Iterator[float]:
        """Yield the CPU time per call."""
        del folder
        call = self._call()
        call()
        for _ in range(rounds):
            start = time.process_time()
            for _ in range(self.repetitions):
                call()
            yield (time.process_time() - start) / self.repetitions

    def _call(self) -> Callable[[], object]:
        import karat

        if self.function == "coref":
            gold, system = _clusters(self.mentions)
            return lambda: [*karat.coref(gold, system).values()]
        documents = _documents("d", self.mentions)
        return lambda: karat.score(*documents, protocol="conll-2012")


class Loop(NamedTuple):
    """A result after each of some documents of ten mentions, as in a training loop."""

    documents: int

    @property
    def name(self) -> str:
        """The name of its row."""
        return f"Scorer.result, {self.documents:,} documents"

    def seconds(self, folder: Path, rounds: int) -> Iterator[float]:
        """Yield the CPU time per document."""
        import karat

        del folder
        pairs = [_documents(f"d{number:04}", 10) for number in range(self.documents)]
        scorer = karat.Scorer("conll-2012")
        for _ in range(rounds):
            scorer.reset()
            start = time.process_time()
            for gold, system in pairs:
                scorer.add(gold, system)
                scorer.result()
            yield (time.process_time() - start) / self.documents


def _clusters(size: int) -> tuple[list[list[int]], list[list[int]]]:
    """Clusters of five mentions, of gold and of the system."""
    mentions = [*range(size)]
    gold = [mentions[start : start + 5] for start in range(0, size, 5)]
    Random(0).shuffle(mentions)
    return gold, [mentions[start : start + 5] for start in range(0, size, 5)]


def _documents(id_: str, size: int) -> "tuple[karat.Document, karat.Document]":
    """A document with such clusters, as gold and as the system have it."""
    import karat

    gold, system = (
        karat.Document(
            id_,
            mentions=tuple(
                karat.Mention(f"m{mention}", ((mention, mention + 1),), cluster=f"c{index}")
                for index, cluster in enumerate(side)
                for mention in cluster
            ),
        )
        for side in _clusters(size)
    )
    return gold, system


SMALL: tuple[Start | Command | Call | Loop, ...] = (
    Start("python -c pass", (sys.executable, "-c", "pass")),
    Start("karat --help", (KARAT, "--help")),
    Command("CoNLL, 20 tokens", write_conll),
    Command("CoNLL, 10,000 mentions", lambda folder: write_conll(folder, 200)),
    Command("CoNLL, 100,000 mentions", lambda folder: write_conll(folder, 2_000)),
    Command("CorefUD, 20 documents", lambda folder: write_corefud(folder, 20)),
    Command("nuggets, 20 documents", lambda folder: write_tbf(folder, 20)[:2]),
    Command("nuggets, 69,000 mentions", lambda folder: write_tbf(folder, 2_000)[:2]),
    Command("TextEE, 4,000 sentences", lambda folder: write_textee(folder, 4_000), ("-p", "textee-2024")),
    Command("TextEE, 40,000 sentences", lambda folder: write_textee(folder, 40_000), ("-p", "textee-2024")),
    Command("ACE, 155 documents", lambda folder: write_apf(folder, 155)[:2], ("-p", "ace-2005")),
    Command("HTML report, 500 documents", lambda folder: write_tbf(folder, 500)[:2], ("-f", "html")),
    Call("coref", 10, 200),
    Call("coref", 1_000, 5),
    Call("score", 10, 50),
    Call("score", 1_000, 5),
    Loop(200),
)


def table_row(measured: Start | Command | Call | Loop, folder: Path, rounds: int) -> str:
    """Return a row of the table: the median and the least of some rounds, in milliseconds."""
    times = [1000 * seconds for seconds in measured.seconds(folder, rounds)]
    return f"| {measured.name:<28} | {median(times):>9.2f} | {min(times):>9.2f} |"
