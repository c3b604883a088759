"""Results and comparisons as HTML tables, for notebooks: by the templates of the report, which escape everything."""

from collections.abc import Sequence

from karat.report.layout import counted
from karat.report.scores import intervals_line, score_table
from karat.report.tables import Table
from karat.report.text import breakdown_tables
from karat.report.view import DEFAULT
from karat.report.words import bottleneck
from karat.results import Result


def html(result: Result) -> str:
    """The scores and breakdowns of a result, in percent, with the title above and the signature below."""
    sides = "; ".join(
        f"{side}: {counted(one.documents, 'document')}, {counted(one.mentions, 'mention')}"
        for side, one in (("gold", result.gold), ("system", result.system))
    )
    caption = f"{result.protocol}: {result.title} ({sides})"
    tables = [score_table(result, digits=DEFAULT.digits), *breakdown_tables(result, DEFAULT)]
    notes = [*bottleneck(result.scores), intervals_line(result.confidence), result.signature]
    return tables_html(tables, caption=caption, notes=[note for note in notes if note])


def tables_html(tables: Sequence[Table], *, caption: str, notes: Sequence[str]) -> str:
    """Tables, the caption above the first one, notes below the last."""
    from karat.report.html.templating import environment  # jinja2 is needed only here

    return environment().get_template("notebook.html").render(tables=tables, caption=caption, notes=notes)
