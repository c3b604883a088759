"""`karat formats`."""

import click

EPILOG = """\b
Example:
  karat formats
"""


@click.command(epilog=EPILOG)
def formats() -> None:
    """List the formats that karat reads and writes."""
    from karat.formats import FORMATS
    from karat.report.layout import table

    rows = [
        [name, ", ".join(format_.suffixes), "read, written" if format_.write else "read", format_.title]
        for name, format_ in FORMATS
    ]
    click.echo(table(["format", "suffixes", "", "description"], rows, left=4))
