"""`karat formats`."""

from inspect import cleandoc

import click

from karat.cli._parameters import completes

EPILOG = """\b
Examples:
  karat formats
  karat formats csv
"""


@click.command(epilog=EPILOG)
@click.argument("name", required=False, shell_complete=completes("formats"))
def formats(name: str | None) -> None:
    """List the formats that karat reads and writes, or describe one."""
    from karat.formats import FORMATS
    from karat.report.layout import table

    if name is not None:
        click.echo(description(name))
        return
    rows = [
        [name, ", ".join(format_.suffixes), "read, written" if format_.write else "read", format_.title]
        for name, format_ in FORMATS
    ]
    click.echo(table(["format", "suffixes", "", "description"], rows, left=4))


def description(name: str) -> str:
    """Describe a format: how it is read, the names of its files, its protocols, and the codes of its problems."""
    from karat.cli._terms import codes
    from karat.formats import FORMATS
    from karat.report.layout import table

    format_ = FORMATS.get(name)
    own = [code for code in codes() if code.startswith(f"{name}-")]
    rows = [
        ["  suffixes", ", ".join(format_.suffixes)],
        ["  support", "read, written" if format_.write else "read"],
        ["  default protocol", ", ".join(format_.protocols)],
        *([["  codes of problems", ", ".join(own)]] if own else []),
    ]
    return f"{name}: {format_.title}\n\n{cleandoc(format_.about)}\n\n{table([], rows, left=2)}"
