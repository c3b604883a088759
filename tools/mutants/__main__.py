"""`make mutants`: tries a sample of mutants and reports which of them no test notices. See the package's docstring."""

import argparse
import hashlib
import json
import os
import sys
import time
import tomllib
from collections.abc import Mapping
from pathlib import Path

from mutants.edits import Mutant, mutants
from mutants.execution import Execution, Result
from mutants.reach import PACKAGE, ROOT, Reach
from mutants.table import page, share_killed, summary

MUTATED = ("counts.py", "align", "measures", "stats", "tables")


def main() -> int:
    """Run, and print the survivors; 1 if fewer than 90 % of the mutants that are not equivalent are killed."""
    parser = argparse.ArgumentParser(prog="mutants", description=__doc__)
    parser.add_argument("--sample", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--budget", type=float, default=20, help="CPU seconds of tests per mutant, as they take without it"
    )
    parser.add_argument("--tests", nargs="+", default=["tests"], metavar="PATH", help="the tests that take part")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--again", action="store_true", help="try survivors of an earlier run again, after new tests")
    parser.add_argument("--summary", action="store_true", help="try none, and print what earlier runs found")
    parser.add_argument("--state", type=Path, default=ROOT / ".mutants", help="folder in which a stopped run goes on")
    parser.add_argument("--page", type=Path, metavar="FILE", help="write the table into this Markdown page")
    options = parser.parse_args()
    files = [path for name in MUTATED for path in _modules(PACKAGE / name)]
    options.state.mkdir(parents=True, exist_ok=True)
    reach = Reach(options.state.resolve(), files, tests=options.tests, processes=options.processes)
    every = [mutant for path in files for mutant in mutants(path, path.relative_to(PACKAGE).as_posix())]
    chosen = sample(every, options.sample, options.seed)
    reasons = equivalent()
    results = Results(options.state / "results.jsonl")
    if options.again:
        results.forget_survivors(but=reasons)
    left = [] if options.summary else [mutant for mutant in chosen if mutant not in results]
    started = time.monotonic()
    execution = Execution(
        options.state.resolve(), reach, budget=options.budget, processes=options.processes, killers=results.killers()
    )
    for number, (mutant, result) in enumerate(execution.results(left), 1):
        results.add(mutant, result)
        seconds = time.monotonic() - started
        print(f"\r{len(left) - number} mutants left after {seconds:,.0f} s ", end="", file=sys.stderr, flush=True)
    known = {mutant: results[mutant] for mutant in chosen}
    print_survivors(known, reasons)
    if options.page is not None:
        command = f"make mutants MUTANTS_SAMPLE={options.sample} MUTANTS_SEED={options.seed}"
        text = page(options.page.read_text(encoding="utf-8"), known, reasons, command, len(every))
        options.page.write_text(text, encoding="utf-8")
    return int(share_killed(known, reasons) < 0.9)


def _modules(path: Path) -> list[Path]:
    return sorted(path.rglob("*.py")) if path.is_dir() else [path]


def sample(every: list[Mutant], size: int, seed: int) -> list[Mutant]:
    """A random choice by the names of mutants: a change of one module changes little of it."""

    def rank(mutant: Mutant) -> bytes:
        return hashlib.sha256(f"{seed} {mutant.name}".encode()).digest()

    chosen: list[Mutant] = []
    for mutant in sorted(every, key=rank):
        try:
            compile(mutant.source, mutant.file, "exec")
        except SyntaxError:
            continue
        chosen.append(mutant)
        if len(chosen) == size:
            break
    return sorted(chosen, key=lambda mutant: (mutant.file, mutant.line, mutant.name))


def equivalent() -> dict[str, str]:
    """Mutants that compute the same as the original, with the reason."""
    content = tomllib.loads(Path(__file__).with_name("equivalent.toml").read_text(encoding="utf-8"))
    return {name: group["reason"] for group in content["equivalent"] for name in group["mutants"]}


class Results:
    """What is known from this run and earlier ones; a result holds as long as the mutated module is the same."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: dict[str, Result] = {}
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            entry = json.loads(line)
            self._known[entry["key"]] = Result(entry["result"], entry["by"])

    def forget_survivors(self, *, but: Mapping[str, str]) -> None:
        """Forget all survivors but those that are equivalent, so that they are tried again."""
        self._known = {
            key: result
            for key, result in self._known.items()
            if result.result == "killed" or key.rpartition(" | ")[0] in but
        }

    def killers(self) -> dict[str, str]:
        """The test that noticed each mutant last, also on other code, by the mutant's name."""
        return {key.rpartition(" | ")[0]: one.by for key, one in self._known.items() if one.result == "killed"}

    @staticmethod
    def _key(mutant: Mutant) -> str:
        return f"{mutant.name} | {hashlib.sha256(mutant.source.encode()).hexdigest()[:16]}"

    def __contains__(self, mutant: Mutant) -> bool:
        return self._key(mutant) in self._known

    def __getitem__(self, mutant: Mutant) -> Result:
        return self._known.get(self._key(mutant), Result("not tried", ""))

    def add(self, mutant: Mutant, result: Result) -> None:
        """Keep a result, at once on disk."""
        self._known[self._key(mutant)] = result
        with self._path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps({"key": self._key(mutant), **result._asdict()}) + "\n")


def print_survivors(results: Mapping[Mutant, Result], reasons: Mapping[str, str]) -> None:
    """The survivors that are not known to be equivalent, then the summary."""
    print()
    for mutant, result in results.items():
        if result.result != "killed" and mutant.name not in reasons:
            where = f"{mutant.file}:{mutant.line} {mutant.function or 'at import'}"
            print(f"{where} ({mutant.kind})\n  - {mutant.before}\n  + {mutant.after}\n  {result.result} {result.by}")
    print(summary(results, reasons))


if __name__ == "__main__":
    sys.exit(main())
