"""`karat measures`."""

import click

from karat.cli._parameters import completes

EPILOG = """\b
Examples:
  karat measures
  karat measures coref.b3
"""


@click.command(epilog=EPILOG)
@click.argument("name", required=False, shell_complete=completes("measures"))
def measures(name: str | None) -> None:
    """List the measures, or explain one.

    Without NAME, prints their ids and what they count.
    """
    from karat.cli._measures import find, nearest, page
    from karat.families import MEASURES
    from karat.problems import UsageError
    from karat.report.layout import table

    if name is None:
        rows = [[id_, what, family] for family, offered in MEASURES for id_, what in offered.card.rows.items()]
        click.echo(table(["measure", "what it counts", "family"], rows, left=3))
        return
    found = find(name)
    if not found:
        near = nearest(name)
        hint = f"{f'Did you mean {near}? ' if near else ''}`karat measures` lists them."
        raise UsageError("unknown-measure", f"there is no measure {name!r}", hint)
    click.echo("\n\n\n".join(map(page, found)))
