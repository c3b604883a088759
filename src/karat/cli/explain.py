"""`karat explain`."""

import textwrap

import click

from karat.cli.completion import complete_measures

EPILOG = """\b
Examples:
  karat explain nugget
  karat explain nugget.type+realis
  karat explain b3

MEASURE is a family (`karat measures` lists them), the id of a measure, or the last part of an id. Case does not matter.
"""


@click.command(epilog=EPILOG)
@click.argument("measure", shell_complete=complete_measures)
def explain(measure: str) -> None:
    """Explain MEASURE.

    Prints what it counts, its formula and what the symbols mean, its citation, known traps, and where paper and
    program differ.
    """
    from karat.cli._measures import also, find
    from karat.report.layout import table

    card, row = find(measure)
    if row is not None:
        click.echo(f"{row}: {card.rows[row]}\n")
    click.echo(f"{card.title}\n")
    if row is None and (others := also(measure)):
        click.echo(f"{measure} is also short for {', '.join(others)}.\n")
    click.echo(table([], [[f"  {id_}", what] for id_, what in card.rows.items()], left=2) + "\n")
    click.echo(textwrap.indent(card.formula, "  ") + "\n")
    if card.symbols:
        click.echo(table([], [[f"  {symbol}", what] for symbol, what in card.symbols.items()], left=2) + "\n")
    click.echo(_paragraph(card.citation) + "\n")
    outcomes = [f"{name}: {meaning}" for name, meaning in card.outcomes.items()]
    for title, points in (
        ("Known traps", card.traps),
        ("Where paper and program differ", card.departures),
        ("What --details lists", outcomes),
    ):
        if points:
            click.echo(f"{title}\n" + "\n".join(_paragraph(point, bullet="- ") for point in points) + "\n")
    click.echo(f"Its arithmetic obeys these laws: {', '.join(card.laws)}.")


def _paragraph(text: str, *, bullet: str = "") -> str:
    return textwrap.fill(text, 100, initial_indent="  " + bullet, subsequent_indent="  " + " " * len(bullet))
