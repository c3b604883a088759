"""`karat protocols`."""

import click

from karat.cli.completion import complete_protocols

EPILOG = """\b
Examples:
  karat protocols
  karat protocols tac-2017
"""


@click.command(epilog=EPILOG)
@click.argument("name", required=False, shell_complete=complete_protocols)
def protocols(name: str | None) -> None:
    """List the protocols, or print one.

    For NAME, prints what it does, its sources, the parameters that --set can change, and its file.
    """
    from karat.protocols import PROTOCOLS, resolve
    from karat.protocols.files import lineage, source
    from karat.report.layout import table

    if name is None:
        rows = [[one, resolve(one).title] for one, _ in PROTOCOLS]
        click.echo(table(["protocol", "description"], rows, left=2))
        return
    protocol = resolve(name)
    parameters = [
        [f"  {key}", str(protocol.values[key]) or "''", "|".join(parameter.choices or ()), parameter.help]
        for key, parameter in protocol.parameters.items()
    ]
    click.echo(f"{protocol.name}: {protocol.title}\n\n{protocol.about}\n")
    click.echo("sources\n" + "\n".join(f"  {source}" for source in protocol.sources) + "\n")
    header = ["  key", "default", "choices", "description"]
    click.echo("parameters (change them with --set)\n" + table(header, parameters, left=4) + "\n")
    for number, path in enumerate(lineage(source(name))):
        title = f"it extends {path.stem}" if number else "file (copy it, change it, and use yours with -p)"
        click.echo(f"{title}\n\n{path.read_text(encoding='utf-8')}")
