"""A process that runs cases, with limits for time and memory.

It reads lines `first last skipped,...` from standard input, announces each run by its number on standard output, so
that the one that kills the process is known, and answers each line with a tally in one line of JSON.
"""

import json
import os
import resource
import sys
import warnings
from pathlib import Path

from fuzz.cases import Case, case
from fuzz.checking import Tally, checked
from fuzz.execution import limit_time
from fuzz.properties import Problem, refusal
from fuzz.repeats import check_output, compare_orders, compare_processes, reordered
from karat.errors import PluginWarning

BYTES = 3_000_000_000
"""Most address space of a worker."""
EVERY = 250
"""One run in so many is repeated in a process of its own with another hash seed."""


def main() -> None:
    """Run what standard input asks for, as long as somebody wants the answer."""
    seed, folder, parent = int(sys.argv[1]), Path(sys.argv[2]), os.getppid()
    limit_time()
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("error")
    warnings.simplefilter("default", PluginWarning)
    for line in sys.stdin:
        first, last, *skipped = map(int, line.replace(",", " ").split())
        tally = Tally()
        for number in range(first, last):
            if os.getppid() != parent:
                return
            if number not in skipped:
                print("run", number, flush=True)
                run(case(seed, number), number, folder, tally)
        print("done", json.dumps({"counts": tally.counts, "problems": tally.problems}), flush=True)


def run(one: Case, number: int, folder: Path, tally: Tally) -> None:
    """Run the commands of a case in an empty folder, and check everything that must hold."""
    tally.count("inputs", one.kind)
    tally.count("edits", "at most five" if one.edits <= 5 else "more")
    outcomes = [checked(one, arguments, number, folder, tally) for arguments in one.commands]
    first, last, command = outcomes[0], outcomes[-1], one.commands[-1]
    is_accepted = first.code == 0
    tally.count("accepted" if is_accepted else "refused", one.kind)
    if is_accepted and one.clean is not None:
        score = checked(one, one.clean, number, folder, tally)
        if score.code:
            code = refusal(score) or "no code"
            tally.report(number, one.clean, Problem("validate clean implies score works", code, score.err))
    if last.code == 0 and command[0] == "score" and "json" in command and not {"-o", "--details"} & {*command}:
        for files, arguments in reordered(one, number):
            compare_orders(one._replace(files=files), arguments, last, number, folder, tally)
    if is_accepted and last.code == 0 and command[0] in ("convert", "simulate") and "out" in command:
        check_output(one, command, number, folder, tally)
    if number % EVERY == 0 and last.raised is None and "-o" not in command:
        compare_processes(one, command, last, number, folder, tally)


if __name__ == "__main__":
    main()
