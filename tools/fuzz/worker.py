"""A process that runs cases, with limits for time and memory.

It reads lines of JSON from standard input, with numbers of runs (`{"runs": [1, 2]}`) or a saved case
(`{"again": [1, "..."]}`), announces each run by its number on standard output, so that the one that kills the process
is known, and answers each line with a tally in one line of JSON.
"""

import gc
import json
import os
import pickle
import resource
import sys
import warnings
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fuzz.cases import Arguments, Case, case
from fuzz.checking import Tally, checked
from fuzz.execution import BYTES, Outcome, limit_time
from fuzz.properties import Problem, comparable, refusal
from fuzz.repeats import output_problems, process_problems, reordered, twin_problems
from fuzz.seeds import Files
from fuzz.twin import Twin
from fuzz.workspace import Workspace
from karat.errors import PluginWarning

TWIN_EVERY = 20
"""One run in so many is repeated in a warm process with another hash seed."""
TWIN_RUNS = 5000
"""Runs after which the other hash seed changes."""
PROCESS_EVERY = 2500
"""One run in so many is repeated in a new process."""


def main() -> None:
    """Run what standard input asks for, as long as somebody wants the answer."""
    seed, folder, parent = int(sys.argv[1]), Path(sys.argv[2]), os.getppid()
    limit_time()
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("error")
    warnings.simplefilter("default", PluginWarning)
    case(seed, 0)  # imports what is imported lazily, and makes the seeds
    gc.freeze()
    gc.set_threshold(20_000)
    runner = Runner(Workspace(folder))
    for line in sys.stdin:
        runner.tally = Tally()
        for number, one in _requested(json.loads(line), seed):
            if os.getppid() != parent:
                return
            print("run", number, flush=True)
            runner.run(one, number)
        print("done", json.dumps({"counts": runner.tally.counts, "problems": runner.tally.problems}), flush=True)
    runner.close()


def _requested(request: dict[str, Any], seed: int) -> Iterator[tuple[int, Case]]:
    for number in request.get("runs", ()):
        yield number, case(seed, number)
    if "again" in request:
        number, saved = request["again"]
        yield number, pickle.loads(b64decode(saved))


class Runner:
    """Runs cases in a workspace, and checks everything that must hold."""

    def __init__(self, space: Workspace) -> None:
        self.tally = Tally()
        self._space = space
        self._twin: Twin | None = None

    def run(self, one: Case, number: int) -> None:
        """Run the commands of a case, one after the other, and then again in other ways."""
        tally = self.tally
        self._space.fill(one.files)
        tally.count("inputs", one.kind)
        tally.count("edits", "at most five" if one.edits <= 5 else "more")
        outcomes = [checked(one, arguments, number, self._space, tally) for arguments in one.commands]
        first, last, command = outcomes[0], outcomes[-1], one.commands[-1]
        is_accepted = first.code == 0
        tally.count("accepted" if is_accepted else "refused", one.kind)
        for problem in self._repeated(one, number, last, outcomes[0] if is_accepted else None):
            tally.report(number, one, command, problem)
        if is_accepted and one.clean is not None:
            score = checked(one, one.clean, number, self._space, tally)
            code = refusal(score) or "no code"
            if score.code:
                tally.report(number, one, one.clean, Problem("validate clean implies score works", code, score.err))
        if last.code == 0 and command[0] == "score" and "json" in command and not {"-o", "--details"} & {*command}:
            for files, arguments in reordered(one, number):
                self._compare_orders(one, files, arguments, last, number)

    def close(self) -> None:
        """End the other process."""
        if self._twin is not None:
            self._close(self._twin)

    def _repeated(self, one: Case, number: int, last: Outcome, validation: Outcome | None) -> Iterator[Problem]:
        """Problems of the last command run again, or of its output; `validation` is that of a valid corpus."""
        command = one.commands[-1]
        is_written = last.code == 0 and command[0] in ("convert", "simulate") and "out" in command
        if is_written and validation is not None and one.commands[0][0] == "validate":
            self.tally.count("repeated", "output validated")
            yield from output_problems(one, command, validation)
        if last.raised is not None or "-o" in command:
            return
        self._space.tidy()
        if number % TWIN_EVERY == 0:
            self.tally.count("repeated", "with another hash seed")
            yield from twin_problems(self._twin_of(1 + number // TWIN_RUNS % 1000), command, last)
            self._space.tidy()
        if number % PROCESS_EVERY == 0:
            self.tally.count("repeated", "in a new process")
            yield from process_problems(command, last, 1 + number % 1000)

    def _twin_of(self, hash_seed: int) -> Twin:
        if self._twin is None or self._twin.hash_seed != hash_seed:
            if self._twin is not None:
                self._close(self._twin)
            self._twin = Twin(hash_seed)
        return self._twin

    def _close(self, twin: Twin) -> None:
        if left := twin.close():
            problem = Problem("no file left behind", "temporary folder of the other process", str(left))
            self.tally.report(-1, Case("", 0, {}, ()), (), problem)

    def _compare_orders(self, one: Case, files: Files, arguments: Arguments, before: Outcome, number: int) -> None:
        """Score files in another order: the same scores, and as many warnings of each kind."""
        self._space.fill(files)
        after = checked(one._replace(files=files), arguments, number, self._space, self.tally)
        self.tally.count("repeated", "in another order")
        if after.code != 0 or comparable(after) != comparable(before):
            detail = f"{after.code} {after.err}\n{before.out[:3000]!r}\n{after.out[:3000]!r}"
            self.tally.report(number, one, arguments, Problem("order does not matter", one.kind, detail))


if __name__ == "__main__":
    main()
