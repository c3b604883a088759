"""`make fuzz`: runs cases in worker processes and reports what does not hold. See the package's docstring."""

import argparse
import hashlib
import json
import os
import select
import shlex
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from queue import Empty, Queue
from typing import Any

from fuzz.cases import case
from fuzz.table import page

CHUNK = 500
"""Runs whose tally is kept together: what a stopped run may lose per worker."""
PATIENCE = 120
"""Seconds after which a run that no longer answers is killed."""
ROOT = Path(__file__).parents[2]

Counts = dict[str, Counter[str]]


def main() -> int:
    """Run, and print a summary; 1 if anything does not hold."""
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--runs", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--state", type=Path, default=ROOT / ".fuzz", help="folder in which a stopped run goes on")
    parser.add_argument("--show", type=int, metavar="RUN", help="write the files of one run to .fuzz/show")
    parser.add_argument("--page", type=Path, metavar="FILE", help="write the tables into this Markdown page")
    options = parser.parse_args()
    if options.show is not None:
        show(options.seed, options.show, options.state / "show")
        return 0
    state = options.state / f"{options.seed}-{source_digest()}"
    state.mkdir(parents=True, exist_ok=True)
    counts, found = Run(state, options.seed, options.runs, options.workers).result()
    print_summary(counts, found)
    if options.page is not None:
        command = f"make fuzz FUZZ_RUNS={options.runs} FUZZ_SEED={options.seed}"
        text = page(options.page.read_text(encoding="utf-8"), counts, command, documented_codes())
        options.page.write_text(text, encoding="utf-8")
    return 1 if found else 0


def source_digest() -> str:
    """Identifies karat and the fuzzer: tallies of different code are never added up."""
    digest = hashlib.sha256()
    for folder in (ROOT / "src", ROOT / "tools" / "fuzz"):
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.suffix != ".pyc":
                digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def documented_codes() -> list[str]:
    """Every code in the documentation, sorted."""
    import sources  # tools/docs

    return sorted({entry.code for entry in (*sources.rules(), *sources.usage_errors())} | {"usage"})


def show(seed: int, number: int, folder: Path) -> None:
    """Write the files of a case, and print its commands."""
    one = case(seed, number)
    for name, data in one.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    print(f"cd {folder}")
    for arguments in (*one.commands, *([one.clean] if one.clean else [])):
        print("karat", shlex.join(arguments).encode("utf-8", "backslashreplace").decode())


class Run:
    """All chunks of a run: those that are done are read from the state folder, the others are worked on."""

    def __init__(self, state: Path, seed: int, runs: int, workers: int) -> None:
        self._state = state
        self._seed = seed
        self._runs = runs
        self._chunks: Queue[int] = Queue()
        for first in range(0, runs, CHUNK):
            if not self._file(first).exists():
                self._chunks.put(first)
        self._left = self._chunks.qsize()
        self._started = time.monotonic()
        self._workers = [Worker(seed, state / f"worker-{number}") for number in range(workers)]

    def _file(self, first: int) -> Path:
        return self._state / f"runs-{first}-{min(first + CHUNK, self._runs)}.json"

    def result(self) -> tuple[Counts, list[dict[str, Any]]]:
        """Finish all chunks, then add up their tallies."""
        threads = [threading.Thread(target=self._work, args=[worker], daemon=True) for worker in self._workers]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                while thread.is_alive():
                    thread.join(1)
        finally:
            for worker in self._workers:
                worker.stop()
        counts: Counts = {}
        found: list[dict[str, Any]] = []
        for first in range(0, self._runs, CHUNK):
            tally = json.loads(self._file(first).read_bytes())
            found += tally["problems"]
            for table, numbers in tally["counts"].items():
                counter = counts.setdefault(table, Counter())
                if table == "slowest":
                    counter["milliseconds"] = max(counter["milliseconds"], numbers["milliseconds"])
                else:
                    counter.update(numbers)
        return counts, found

    def _work(self, worker: "Worker") -> None:
        while True:
            try:
                first = self._chunks.get_nowait()
            except Empty:
                return
            tally = worker.tally(first, min(first + CHUNK, self._runs))
            file = self._file(first)
            file.with_suffix(".part").write_text(json.dumps(tally), encoding="utf-8")
            file.with_suffix(".part").replace(file)
            self._left -= 1
            seconds = time.monotonic() - self._started
            print(f"\r{self._left * CHUNK:,} runs left after {seconds:,.0f} s ", end="", file=sys.stderr, flush=True)


class Worker:
    """A worker process, started again when it dies."""

    def __init__(self, seed: int, folder: Path) -> None:
        self._seed = seed
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    def tally(self, first: int, last: int) -> dict[str, Any]:
        """The tally of some runs; one that kills the process is a problem, and the others are run without it."""
        died: dict[int, str] = {}
        while True:
            current, answer = self._ask(first, last, died)
            if answer is not None:
                return _with_deaths(answer, died)
            died[current] = self.stop()

    def _ask(self, first: int, last: int, died: dict[int, str]) -> tuple[int, dict[str, Any] | None]:
        if self._process is None:
            self._folder.mkdir(parents=True, exist_ok=True)
            environment = {**os.environ, "PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1"}
            command = [sys.executable, "-m", "fuzz.worker", str(self._seed), str(self._folder)]
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, bufsize=0
            )
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(f"{first} {last} {','.join(map(str, died))}\n".encode())
        current, waiting = first, b""
        while True:
            ready, _, _ = select.select([process.stdout], [], [], PATIENCE)
            data = os.read(process.stdout.fileno(), 1 << 16) if ready else b""
            if not data:
                return current, None
            *lines, waiting = (waiting + data).split(b"\n")
            for line in lines:
                word, _, rest = line.partition(b" ")
                if word == b"done":
                    return current, json.loads(rest)
                current = int(rest)

    def stop(self) -> str:
        """End the process; how it ended, if it did so by itself."""
        process, self._process = self._process, None
        if process is None:
            return ""
        if process.stdin is not None:
            process.stdin.close()  # asks it to end
        try:
            return f"ended with {process.wait(5)}"
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return "no answer"


def _with_deaths(tally: dict[str, Any], died: dict[int, str]) -> dict[str, Any]:
    for number, how in died.items():
        counter = tally["counts"].setdefault("problems", {})
        key = f"the process survives: {how}"
        counter[key] = counter.get(key, 0) + 1
        tally["problems"].append(
            {"run": number, "arguments": [], "property": "the process survives", "what": how, "detail": ""}
        )
    return tally


def print_summary(counts: Counts, found: list[dict[str, Any]]) -> None:
    """How much was run, and the first case of each problem."""
    inputs, accepted = (sum(counts.get(table, Counter()).values()) for table in ("inputs", "accepted"))
    commands = sum(counts["commands"].values())
    print(f"\n{inputs:,} inputs ({accepted:,} accepted), {commands:,} commands, {len(counts['codes'])} codes")
    print(f"slowest command: {counts['slowest']['milliseconds'] / 1000:.1f} s of CPU time")
    seen: Counter[tuple[str, str]] = Counter()
    for problem in found:
        key = problem["property"], problem["what"]
        seen[key] += 1
        if seen[key] == 1:
            total = counts["problems"][f"{key[0]}: {key[1]}"]
            arguments = shlex.join(problem["arguments"]).encode("utf-8", "backslashreplace").decode()
            print(f"\nrun {problem['run']} ({total:,} alike) {key[0]}: {key[1]}\n  karat {arguments}")
            print("  " + problem["detail"][-1500:].encode("utf-8", "backslashreplace").decode().replace("\n", "\n  "))
    print(f"\n{len(found):,} problems of {len(seen):,} kinds" if found else "no problems found")


if __name__ == "__main__":
    sys.exit(main())
