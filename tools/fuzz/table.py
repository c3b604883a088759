"""The summary of a run as tables of a Markdown page."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from karat.cli import cli

BEGIN, END = "<!-- fuzz -->", "<!-- /fuzz -->"

Counts = dict[str, Counter[str]]


def page(text: str, counts: Counts, seed: int, documented: Sequence[str]) -> str:
    """A page with its tables renewed; they are between two comments."""
    inner = "\n\n".join(_sections(counts, seed, documented))
    return re.sub(f"{BEGIN}.*{END}", lambda _: f"{BEGIN}\n\n{inner}\n\n{END}", text, flags=re.DOTALL)


def _sections(counts: Counts, seed: int, documented: Sequence[str]) -> Iterable[str]:
    inputs = sum(counts["inputs"].values())
    few = counts["edits"]["at most five"]
    repeated = counts.get("repeated", Counter())
    problems, mended = (counts.get(name, Counter()) for name in ("problems", "mended"))
    yield (
        f"{sum(counts['commands'].values()):,} commands on {inputs:,} inputs (seed {seed}), {few:,} of them with at "
        f"most five edits. {repeated['in another order']:,} scores were repeated with files or documents in another "
        f"order, {repeated['with another hash seed']:,} commands in a second process with another hash seed, and "
        f"{repeated['in a new process']:,} in a new process; {repeated['output validated']:,} outputs of `convert` and "
        f"`simulate` were validated. The slowest command took {counts['slowest']['milliseconds'] / 1000:.1f} seconds "
        "of CPU time."
    )
    yield _table(["revision", "inputs"], [[f"`{name}`", f"{number:,}"] for name, number in counts["revisions"].items()])
    if not problems:
        yield "All properties held on all inputs."
    else:
        listed = sorted(problems.items(), key=lambda item: (-item[1], item[0]))
        yield (
            f"Properties did not hold {sum(problems.values()):,} times. These cases were run again on the last "
            f"revision of the table: {sum(mended.values()):,} of them now hold."
        )
        rows = [[_cell(what), f"{times:,}", f"{times - mended[what]:,}"] for what, times in listed]
        yield _table(["what did not hold", "times", "still"], rows)
    kinds = sorted(counts["inputs"])
    yield _table(
        ["mutated", "inputs", "accepted", "refused"],
        [
            [kind, *(f"{counts.get(name, Counter())[kind]:,}" for name in ("inputs", "accepted", "refused"))]
            for kind in kinds
        ],
    )
    yield "Accepted inputs are those on which the first command, usually `validate`, exits with 0."
    ends = ("exit 0", "exit 1", "exit 2", "crashed")
    names = sorted(cli.commands)
    rows = [[f"`{name}`", *(f"{counts['commands'][f'{name} {end}']:,}" for end in ends)] for name in names]
    yield _table(["command", *ends], rows)
    met = [code for code in documented if counts["codes"][code]]
    yield (
        f"{len(met)} of {len(documented)} documented codes were met: as the error that ended a command "
        "(refusals), or in any message or report."
    )
    yield _table(
        ["code", "refusals", "messages"],
        [[f"`{code}`", f"{counts['refusals'][code]:,}", f"{counts['codes'][code]:,}"] for code in met],
    )
    yield "Not met: " + ", ".join(f"`{code}`" for code in documented if code not in met) + "."


def _cell(text: str) -> str:
    """Text of a message in a cell."""
    return text.replace("|", "\\|").replace("<", "&lt;")


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---", *("---:" for _ in header[1:])], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
