"""The table of a result's scores, how its intervals were made, and a line to quote."""

from collections.abc import Iterator

from karat.report.layout import counted
from karat.report.numbers import SHORT, level, score_names, summary
from karat.report.tables import Cell, Table, score_cell
from karat.results import Confidence, Result

QUOTED_DIGITS = 1


def score_table(result: Result, *, digits: int) -> Table:
    """One row per measure: its scores, or its micro and its macro average if any measure has a macro average.

    The rows of the headline are emphasised, if there are others. With intervals, which take room, only the main score
    has one, and only the main macro average is shown.
    """
    listed = {id_: result.scores[id_] for id_ in result.counted_ids()}
    present = {average for score in listed.values() for average in score.averages()}
    averages = [average for average in ("micro", "macro") if average in present]
    names = score_names(score.micro for score in listed.values())
    main = {name for score in listed.values() for name in summary(score_names([score.micro]))}
    macro_names = [name for name in names if name in main] if result.confidence and "micro" in present else names
    columns = [(average, name) for average in averages for name in (names if average == "micro" else macro_names)]
    prefix = {average: "" if present == {"micro"} else f"{average} " for average in averages}
    header = [prefix[average] + SHORT.get(name, name) for average, name in columns]
    rows = []
    for id_, score in listed.items():
        leaves = score.averages()
        cells = [score_cell(leaves.get(average), name, digits, with_interval=name in main) for average, name in columns]
        rows.append([Cell(id_), *cells])
    emphasised = [number for number, id_ in enumerate(listed) if id_ in result.headline and len(listed) > 1]
    return Table(["measure", *header], rows, emphasised=emphasised)


def intervals_line(how: Confidence | None) -> str:
    """How intervals were made, in words; empty if there are none."""
    if how is None:
        return ""
    if how.resamples is None:
        over = f"leaving out each of {counted(how.units, how.unit)}"
    else:
        over = f"{counted(how.resamples, 'resample')} of {counted(how.units, how.unit)}, seed {how.seed}"
    return f"{level(how.level)} intervals in brackets: {how.method}, {over}"


def quotable(result: Result) -> Iterator[str]:
    """The headline with its intervals, protocol and signature, as one line for a paper.

    Only if intervals were asked for: without them, the line would repeat the table and the signature below it.
    """
    if result.rows is None:
        return
    for id_ in result.headline_ids():
        micro = result.scores[id_].micro
        for name in summary(score_names([micro])):
            cell = score_cell(micro, name, QUOTED_DIGITS)
            yield f"{id_} {SHORT.get(name, name)} {cell} ({result.protocol}, signature {result.signature})"
