"""`karat measures`."""

import click

EPILOG = """\b
Example:
  karat measures
"""


@click.command(epilog=EPILOG)
def measures() -> None:
    """List the measures.

    Prints their ids and what they count; `karat explain` describes one in full.
    """
    from karat.families import MEASURES
    from karat.report.layout import table

    rows = [[id_, what, name] for name, family in MEASURES for id_, what in family.card.rows.items()]
    click.echo(table(["measure", "what it counts", "family"], rows, left=3))
