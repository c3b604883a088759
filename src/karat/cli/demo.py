"""`karat demo`."""

import click

EPILOG = """\b
Example:
  karat demo
"""


@click.command(epilog=EPILOG)
def demo() -> None:
    """Score a small bundled corpus.

    It says what to look at. No arguments, no network.
    """
    from importlib.resources import as_file, files

    from karat.api import score

    with as_file(files("karat") / "demo") as folder:
        gold, system = folder / "gold.tbf", folder / "system.tbf"
        click.echo(f"$ karat score {gold} {system} -p tac-2017 --by type\n")
        click.echo(str(score(gold, system, protocol="tac-2017", by=["type"])))
    click.echo(
        "What to look at: the gap between nugget.span and nugget.type is what wrong types cost; the rows by type show\n"
        "where; the note under the tables names false alarms that tac-2017 does not count. Next: karat explain nugget"
    )
