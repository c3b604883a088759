"""The summary of a run as a section of a Markdown page."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from mutants.edits import Mutant
from mutants.execution import Result

BEGIN, END = "<!-- mutants -->", "<!-- /mutants -->"


def page(text: str, results: Mapping[Mutant, Result], reasons: Mapping[str, str], command: str, total: int) -> str:
    """A page with its section renewed; it is between two comments."""
    inner = "\n\n".join(_sections(results, reasons, command, total))
    return re.sub(f"{BEGIN}.*{END}", lambda _: f"{BEGIN}\n\n{inner}\n\n{END}", text, flags=re.DOTALL)


def summary(results: Mapping[Mutant, Result], reasons: Mapping[str, str]) -> str:
    """One line: how many there were, and the share killed of those that a test could kill."""
    survivors = [mutant for mutant, result in results.items() if result.result != "killed"]
    equivalent = sum(mutant.name in reasons for mutant in survivors)
    killed, possible = len(results) - len(survivors), len(results) - equivalent
    return (
        f"{len(results)} mutants: {killed} killed, {equivalent} equivalent, {possible - killed} not killed: "
        f"{100 * killed / possible:.1f} % of those that are not equivalent are killed"
    )


def _sections(results: Mapping[Mutant, Result], reasons: Mapping[str, str], command: str, total: int) -> Iterable[str]:
    yield f"`{command}`, a sample of {total:,} possible mutants:\n{summary(results, reasons)}."
    folders: dict[str, Counter[str]] = {}
    for mutant, result in results.items():
        killed = result.result == "killed"
        kind = "killed" if killed else "equivalent" if mutant.name in reasons else "not killed"
        for group in (mutant.file.partition("/")[0], "all"):
            folders.setdefault(group, Counter())[kind] += 1
    rows = [
        [f"`{folder}`" if folder != "all" else folder, str(sum(counts.values()))]
        + [str(counts[kind]) for kind in ("killed", "equivalent", "not killed")]
        for folder, counts in sorted(folders.items(), key=lambda item: (item[0] == "all", item[0]))
    ]
    yield _table(["where", "mutants", "killed", "equivalent", "not killed"], rows)
    survivors = sorted(mutant for mutant, result in results.items() if result.result != "killed")
    yield "Survivors. A class is `gap` where a test could notice the change and none does."
    yield _table(
        ["where", "as it is", "mutated", "class"],
        [
            [
                f"`{mutant.file}` {f'`{mutant.function}`' if mutant.function else 'at import'}",
                _code(mutant.before),
                _code(mutant.after),
                f"equivalent: {reasons[mutant.name]}" if mutant.name in reasons else "gap",
            ]
            for mutant in survivors
        ],
    )


def _code(text: str) -> str:
    return f"`{text.replace('|', chr(92) + '|').replace('`', chr(39))}`"


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---" for _ in header], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
