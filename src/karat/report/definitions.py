"""One name, several definitions: the same measure under several protocols, and why the numbers differ."""

from collections.abc import Sequence

from karat.counts import PrecisionRecall
from karat.report.layout import counted
from karat.report.numbers import percentage
from karat.report.tables import Table
from karat.results import Result

NAME = "arg.c"
"""The measure that has most definitions."""
VARIANTS = (NAME, f"{NAME}+", f"{NAME}.coref")


def definitions(results: Sequence[Result], *, digits: int) -> Table | None:
    """One row per definition of Arg-C with its counts; below, why they differ. None unless there are several."""
    rows = [(result, id_) for result in results for id_ in VARIANTS if id_ in result.scores]
    if len({result.protocol for result, _ in rows}) < 2:
        return None
    table = Table.of(["Arg-C by", "", "P", "R", "F1"], [_row(result, id_, digits) for result, id_ in rows], left=2)
    why = _why(rows)
    return table._replace(notes=[why]) if why else table


def _row(result: Result, id_: str, digits: int) -> list[str]:
    leaf = result.scores[id_].micro
    counts = leaf.counts
    fractions = ""
    if isinstance(counts, PrecisionRecall):
        numbers = [f"{number:g}" for number in counts.to_dict().values()]
        fractions = f"{numbers[0]}/{numbers[1]}, {numbers[2]}/{numbers[3]}"
    values = [percentage(leaf.values[name], digits) for name in ("precision", "recall", "f1")]
    return [f"{result.protocol} {id_}", fractions, *values]


def _why(rows: Sequence[tuple[Result, str]]) -> str:
    """A sentence with what each definition does with arguments that others treat differently."""
    values = {tuple(result.scores[id_].micro.values.values()) for result, id_ in rows}
    reasons: dict[tuple[str, int], list[str]] = {}
    for result, id_ in rows:
        for what, count in result.differences.get(id_, {}).items():
            reasons.setdefault((what, count), []).append(result.protocol if id_ == NAME else f"{result.protocol} {id_}")
    if not reasons:
        return "They agree here." if len(values) == 1 else ""
    parts = [f"{counted(count, 'argument')} {what} ({', '.join(names)})" for (what, count), names in reasons.items()]
    verb = "They agree here, although they count differently" if len(values) == 1 else "They differ here"
    return f"{verb}: {'; '.join(parts)}."
