"""The demo: three systems scored on the bundled corpus, in one table, and what to look at."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from karat.api.scoring import Result, score
from karat.comparison.comparing import compared
from karat.comparison.systems import Run
from karat.corpus.opening import open_corpus
from karat.problems import Rule
from karat.report.breakdowns import lost
from karat.report.html.gather import GatheredRuns
from karat.report.html.report import comparison_report
from karat.report.layout import table
from karat.report.tables import UNDEFINED
from karat.run.plan import Options

PROTOCOL = "tac-2017"
SYSTEMS = ("cautious", "eager", "literal")
EXISTS = Rule("demo-exists", "fatal", "Name another folder, or remove the file; nothing was copied.")

COLUMNS = {
    "span P": ("nugget.span", "precision"),
    "span R": ("nugget.span", "recall"),
    "span F1": ("nugget.span", "f1"),
    "type P": ("nugget.type", "precision"),
    "type R": ("nugget.type", "recall"),
    "type F1": ("nugget.type", "f1"),
    "realis F1": ("nugget.realis", "f1"),
    "type+realis F1": ("nugget.type+realis", "f1"),
}


class Gap(NamedTuple):
    """Two columns, what it means when the first is far above the second, and the option that shows more of it."""

    above: str
    below: str
    meaning: str
    option: str


GAPS = (
    Gap("span P", "span R", "what it finds is right, but it misses a lot", "--by type"),
    Gap("span R", "span P", "it misses few events, but much of what it finds is not an event", "--per-document"),
    Gap("span F1", "type F1", "it finds the words, but gives them the wrong types", "--by type"),
    Gap("span F1", "realis F1", "it finds the words, but is wrong about which events really happened", "--by realis"),
)


def scored(folder: Path) -> dict[str, Result]:
    gold = folder / "gold.jsonl"
    return {name: score(gold, folder / f"{name}.jsonl", protocol=PROTOCOL, by=["type"]) for name in SYSTEMS}


def shown(folder: Path) -> str:
    """Everything that `karat demo` prints."""
    results = scored(folder)
    first = next(iter(results.values()))
    rows = [[name, *(_percent(result, column) for column in COLUMNS)] for name, result in results.items()]
    return "\n\n".join(
        [
            f"{first.protocol}: {first.title}\n"
            f"{first.gold.documents} documents, {first.gold.mentions} gold mentions, {len(results)} systems; "
            "columns are micro averages of nugget.span, nugget.type, ...",
            table(["system", *COLUMNS], rows),
            *(f"{name}: {remark(result)}" for name, result in results.items()),
            "See more:\n" + "\n".join(f"  {command}" for command in commands(results)),
        ]
    )


def remark(result: Result) -> str:
    """Remark on a system: the widest gap between two columns, and the type on which most is lost."""
    gap = widest(result)
    above, below = (f"{column} {_percent(result, column)}" for column in (gap.above, gap.below))
    type_ = costliest(result)
    items = result.by["type"][type_]["nugget.type"].items
    assert items is not None, "a row of a breakdown has items"
    return (
        f"its widest gap is from {above} down to {below}: {gap.meaning}.\n"
        f"  Most is lost on {type_}: {items.missed} of {items.gold} gold mentions missed, "
        f"{items.spurious} of {items.system} system mentions spurious."
    )


def widest(result: Result) -> Gap:
    """The gap with the largest difference."""
    return max(GAPS, key=lambda gap: (_value(result, gap.above) or 0) - (_value(result, gap.below) or 0))


def costliest(result: Result) -> str:
    """The type on which most is lost under nugget.type, the first row of `--by type`."""
    by_type = result.by["type"]
    return max(by_type, key=lambda type_: lost(by_type[type_]["nugget.type"].micro))


def commands(results: Mapping[str, Result]) -> list[str]:
    """The commands that show more, one after another."""
    return [
        "karat demo --into karat-demo",
        "cd karat-demo",
        *(
            f"karat score gold.jsonl {name}.jsonl -p {PROTOCOL} {widest(result).option}"
            for name, result in results.items()
        ),
        "karat explain nugget",
    ]


def copies(folder: Path, to: Path) -> dict[Path, bytes]:
    """The bundled files as they would be in another folder; refuses to overwrite any."""
    found = {to / source.name: source.read_bytes() for source in sorted(folder.glob("*.jsonl"))}
    for path in found:
        if path.exists() or path.is_symlink():
            raise EXISTS.error("this file already exists", file=str(path))
    return found


def _value(result: Result, column: str) -> float | None:
    measure, name = COLUMNS[column]
    value: float | None = getattr(result[measure], name)
    return value


def _percent(result: Result, column: str) -> str:
    value = _value(result, column)
    return UNDEFINED if value is None else f"{100 * value:.2f}"


SORT_BY = "nugget.type+realis"
BASELINE = "literal"


def report(folder: Path) -> Iterator[str]:
    """The page, in pieces; `folder` has the bundled files."""
    gold = open_corpus(str(folder / "gold.jsonl"))
    gold.name = "the demo's gold"
    options = Options(by=("type",), details=True, errors=True, keep_rows=True, protocols=(PROTOCOL,))
    runs = [Run(name, open_corpus(str(folder / f"{name}.jsonl"))) for name in SYSTEMS]
    gathered = GatheredRuns(gold, runs)
    comparisons = compared(gold, options, runs, baseline=BASELINE, sort_by=SORT_BY, keep=gathered.add)
    gathered.sort([system.name for system in comparisons[0].systems])
    return comparison_report(comparisons, gathered)
