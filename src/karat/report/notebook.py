"""Results and comparisons as HTML tables, for notebooks: by the templates of the report, which escape everything."""

from collections.abc import Sequence

from karat.report.layout import counted
from karat.report.scores import intervals_line, score_table
from karat.report.tables import Table
from karat.results import Result

DIGITS = 2


def html(result: Result) -> str:
    """The scores of a result: one row per measure, in percent, with the title above and the signature below."""
    sides = "; ".join(
        f"{side}: {counted(one.documents, 'document')}, {counted(one.mentions, 'mention')}"
        for side, one in (("gold", result.gold), ("system", result.system))
    )
    notes = [line for line in (intervals_line(result.confidence), result.signature) if line]
    title = f"{result.protocol}: {result.title} ({sides})"
    return tables_html([score_table(result, digits=DIGITS)], caption=title, notes=notes)


def tables_html(tables: Sequence[Table], *, caption: str, notes: Sequence[str]) -> str:
    """Tables, the caption above the first one, notes below the last."""
    from karat.report.html.templating import environment  # jinja2 is needed only here

    return environment().get_template("notebook.html").render(tables=tables, caption=caption, notes=notes)
