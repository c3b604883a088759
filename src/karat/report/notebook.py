"""A result as an HTML table, for notebooks. Everything in it is escaped."""

from html import escape

from karat.report.layout import counted
from karat.report.numbers import UNDEFINED, column_names
from karat.results import Result

DIGITS = 2


def html(result: Result) -> str:
    """The scores of a result: one row per measure, in percent, with the title above and the signature below."""
    averages = ["micro"] + ["macro"] * any(score.macro for score in result.scores.values())
    names = column_names(score.micro for score in result.scores.values())
    header = "".join(f"<th>{average} {escape(short)}</th>" for average in averages for short in names.values())
    rows = []
    for id_, score in result.scores.items():
        leaves = [score.micro, score.macro][: len(averages)]
        cells = [
            "" if leaf is None or name not in leaf.values else _percent(leaf.values[name])
            for leaf in leaves
            for name in names
        ]
        numbers = "".join(f'<td style="text-align:right">{cell}</td>' for cell in cells)
        rows.append(f'<tr><td style="text-align:left">{escape(id_)}</td>{numbers}</tr>')
    sides = "; ".join(
        f"{side}: {counted(one.documents, 'document')}, {counted(one.mentions, 'mention')}"
        for side, one in (("gold", result.gold), ("system", result.system))
    )
    return (
        f"<table><caption>{escape(result.protocol)}: {escape(result.title)} ({sides})</caption>"
        f"<thead><tr><th>measure</th>{header}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
        f"<p><small>{escape(result.signature)}</small></p>"
    )


def _percent(value: float | None) -> str:
    return UNDEFINED if value is None else f"{100 * value:.{DIGITS}f}"
