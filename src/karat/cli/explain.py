"""`karat explain`."""

import textwrap

import click

EPILOG = """\b
Examples:
  karat explain nugget
  karat explain nugget.type+realis
"""


@click.command(epilog=EPILOG)
@click.argument("measure")
def explain(measure: str) -> None:
    """Explain MEASURE.

    Prints what it counts, its formula and citation, known traps, and where paper and program differ.
    """
    from karat.measures import MEASURES
    from karat.report.text import table

    card = MEASURES.get(measure.partition(".")[0]).card
    click.echo(f"{card.title}\n")
    click.echo(table([], [[f"  {id_}", what] for id_, what in card.rows.items()], left=2) + "\n")
    click.echo(textwrap.indent(card.formula, "  ") + "\n")
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
