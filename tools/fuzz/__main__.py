"""`make fuzz`: runs cases in worker processes and reports what does not hold. See the package's docstring."""

import argparse
import json
import os
import select
import shlex
import signal
import subprocess
import sys
import tempfile
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
PATIENCE = 600
"""Seconds after which a run that no longer answers is killed: its own limit is one of CPU time."""
ROOT = Path(__file__).parents[2]
MEMORY = Path("/dev/shm")
"""Where files are in memory, if the system has such a place: most of a run is writing and reading small files."""

Counts = dict[str, Counter[str]]


def main() -> int:
    """Run, and print a summary; 1 if anything does not hold."""
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--runs", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--state", type=Path, default=ROOT / ".fuzz", help="folder in which a stopped run goes on")
    parser.add_argument("--done", action="store_true", help="run nothing: sum up what is done so far")
    parser.add_argument("--show", type=int, metavar="RUN", help="write the files of one run to .fuzz/show")
    parser.add_argument("--page", type=Path, metavar="FILE", help="write the tables into this Markdown page")
    options = parser.parse_args()
    if options.show is not None:
        show(options.seed, options.show, options.state / "show")
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # removes the working folders
    state = options.state / str(options.seed)
    state.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="karat-fuzz-", dir=MEMORY if MEMORY.is_dir() else None) as folder:
        run = Run(
            state,
            options.seed,
            options.runs,
            [Worker(options.seed, Path(folder, str(n))) for n in range(options.workers)],
        )
        if not options.done:
            run.finish()
        counts, found = run.result()
    print_summary(counts, found)
    if options.page is not None:
        text = page(options.page.read_text(encoding="utf-8"), counts, options.seed, documented_codes())
        options.page.write_text(text, encoding="utf-8")
    return 1 if found else 0


def revision() -> str:
    """The commit that is run, with `-dirty` if files differ from it."""
    command = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8")
    return done.stdout.strip() or "unknown"


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
    """All chunks of a run, each with the revision it was run on: those that are done are in the state folder."""

    def __init__(self, state: Path, seed: int, runs: int, workers: list["Worker"]) -> None:
        self._state = state
        self._seed = seed
        self._runs = runs
        self._workers = workers
        self._revision = revision()

    def _file(self, first: int) -> Path:
        return self._state / f"runs-{first}-{min(first + CHUNK, self._runs)}.json"

    def finish(self) -> None:
        """Work on all chunks that are not done."""
        chunks: Queue[int] = Queue()
        for first in range(0, self._runs, CHUNK):
            if not self._file(first).exists():
                chunks.put(first)
        started = time.monotonic()

        def work(worker: Worker) -> None:
            while True:
                try:
                    first = chunks.get_nowait()
                except Empty:
                    return
                tally = {**worker.tally(first, min(first + CHUNK, self._runs)), "revision": self._revision}
                file = self._file(first)
                file.with_suffix(".part").write_text(json.dumps(tally), encoding="utf-8")
                file.with_suffix(".part").replace(file)
                left, seconds = chunks.qsize() * CHUNK, time.monotonic() - started
                print(f"\r{left:,} runs left after {seconds:,.0f} s ", end="", file=sys.stderr, flush=True)

        threads = [threading.Thread(target=work, args=[worker], daemon=True) for worker in self._workers]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                while thread.is_alive():
                    thread.join(1)
            if not chunks.empty():
                raise RuntimeError("no worker could be started")
        finally:
            for worker in self._workers:
                worker.stop()

    def result(self) -> tuple[Counts, list[dict[str, Any]]]:
        """The sums of all chunks that are done, and the problems that this revision still has.

        What did not hold on an earlier revision is run again on this one.
        """
        counts: Counts = {}
        found: list[dict[str, Any]] = []
        for first in range(0, self._runs, CHUNK):
            if not self._file(first).exists():
                continue
            tally = json.loads(self._file(first).read_bytes())
            inputs = sum(tally["counts"]["inputs"].values())
            counts.setdefault("revisions", Counter())[tally["revision"]] += inputs
            found += [{**problem, "revision": tally["revision"]} for problem in tally["problems"]]
            for table, numbers in tally["counts"].items():
                counter = counts.setdefault(table, Counter())
                if table == "slowest":
                    counter["milliseconds"] = max(counter["milliseconds"], numbers["milliseconds"])
                else:
                    counter.update(numbers)
        held = [problem for problem in found if problem["revision"] != self._revision and self._holds(problem)]
        counts["mended"] = Counter(f"{problem['property']}: {problem['what']}" for problem in held)
        return counts, [problem for problem in found if problem not in held]

    def _holds(self, problem: dict[str, Any]) -> bool:
        """Whether a case that once showed a problem no longer shows any."""
        worker = self._workers[0]
        try:
            return bool(problem["case"]) and not worker.again(problem["run"], problem["case"])["problems"]
        finally:
            worker.stop()


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
            request = {"runs": [number for number in range(first, last) if number not in died]}
            current, answer = self._ask(request)
            if answer is not None:
                return _with_deaths(answer, died)
            how = self.stop()
            if current in died or current not in request["runs"]:
                raise RuntimeError(f"a worker {how} before it ran anything")
            died[current] = how

    def again(self, number: int, saved: str) -> dict[str, Any]:
        """The tally of one saved case."""
        current, answer = self._ask({"again": [number, saved]})
        return answer or _with_deaths({"counts": {}, "problems": []}, {current: self.stop()})

    def _ask(self, request: dict[str, Any]) -> tuple[int, dict[str, Any] | None]:
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
        process.stdin.write(json.dumps(request).encode() + b"\n")
        current, waiting = -1, b""
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
            {"run": number, "arguments": [], "property": "the process survives", "what": how, "detail": "", "case": ""}
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
    if mended := sum(counts["mended"].values()):
        print(f"\n{mended:,} problems of earlier revisions do not show any more")
    print(f"\n{len(found):,} problems of {len(seen):,} kinds" if found else "no problems found")


if __name__ == "__main__":
    sys.exit(main())
