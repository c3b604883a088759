"""The summary of a run as a section of a Markdown page."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from mutants.edits import Mutant
from mutants.execution import Result

CLASSES = ("killed", "equivalent", "not killed", "not tried")
BEGIN, END = "<!-- mutants -->", "<!-- /mutants -->"


def page(text: str, results: Mapping[Mutant, Result], reasons: Mapping[str, str], command: str, total: int) -> str:
    """A page with its section renewed; it is between two comments."""
    inner = "\n\n".join(_sections(results, reasons, command, total))
    return re.sub(f"{BEGIN}.*{END}", lambda _: f"{BEGIN}\n\n{inner}\n\n{END}", text, flags=re.DOTALL)


def class_of(mutant: Mutant, result: Result, reasons: Mapping[str, str]) -> str:
    """What became of a mutant: `killed`, `equivalent`, `not killed` or `not tried`."""
    if result.result == "survived":
        return "equivalent" if mutant.name in reasons else "not killed"
    return result.result


def counted(results: Mapping[Mutant, Result], reasons: Mapping[str, str]) -> Counter[str]:
    """How many mutants there are of each class."""
    return Counter(class_of(mutant, result, reasons) for mutant, result in results.items())


def share_killed(results: Mapping[Mutant, Result], reasons: Mapping[str, str]) -> float:
    """Of the mutants that were tried and are not equivalent."""
    counts = counted(results, reasons)
    return counts["killed"] / max(1, counts["killed"] + counts["not killed"])


def summary(results: Mapping[Mutant, Result], reasons: Mapping[str, str]) -> str:
    """One line: how many mutants of each class there are, and the share killed of those that a test could kill."""
    counts = counted(results, reasons)
    listed = ", ".join(f"{counts[kind]} {kind}" for kind in CLASSES if counts[kind])
    return (
        f"{len(results)} mutants: {listed}. "
        f"Of those that were tried and are not equivalent, {100 * share_killed(results, reasons):.1f} % are killed"
    )


def _sections(results: Mapping[Mutant, Result], reasons: Mapping[str, str], command: str, total: int) -> Iterable[str]:
    yield f"`{command}`, a sample of {total:,} possible mutants:\n{summary(results, reasons)}."
    folders: dict[str, Counter[str]] = {}
    for mutant, result in results.items():
        for group in (mutant.file.partition("/")[0], "all"):
            folders.setdefault(group, Counter())[class_of(mutant, result, reasons)] += 1
    rows = [
        [f"`{folder}`" if folder != "all" else folder, *(str(counts[kind]) for kind in CLASSES)]
        for folder, counts in sorted(folders.items(), key=lambda item: (item[0] == "all", item[0]))
    ]
    yield _table(["where", *CLASSES], rows)
    survivors = sorted(mutant for mutant, result in results.items() if result.result == "survived")
    yield "Survivors. Those that are `open` were noticed by none of the tests that were tried."
    yield _table(
        ["where", "as it is", "mutated", "class"],
        [
            [
                f"`{mutant.file}` {f'`{mutant.function}`' if mutant.function else 'at import'}",
                _code(mutant.before),
                _code(mutant.after),
                f"equivalent: {reasons[mutant.name]}" if mutant.name in reasons else "open",
            ]
            for mutant in survivors
        ],
    )


def _code(text: str) -> str:
    return f"`{text.replace('|', chr(92) + '|').replace('`', chr(39))}`"


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---" for _ in header], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
