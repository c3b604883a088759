"""`karat protocols`."""

import click

EPILOG = """\b
Examples:
  karat protocols
  karat protocols tac-2017
"""


@click.command(epilog=EPILOG)
@click.argument("name", required=False)
def protocols(name: str | None) -> None:
    """List the protocols, or print one.

    Of NAME: what it is, its sources, what --set can change, and its file to copy and change.
    """
    from karat.protocols import PROTOCOLS, resolve
    from karat.protocols.files import lineage, source
    from karat.report.text import table

    if name is None:
        rows = [[one, resolve(one).title] for one, _ in PROTOCOLS]
        click.echo(table(["protocol", "what"], rows, left=2))
        return
    protocol = resolve(name)
    parameters = [
        [f"  {key}", str(protocol.values[key]) or "''", "|".join(parameter.choices or ()), parameter.help]
        for key, parameter in protocol.parameters.items()
    ]
    click.echo(f"{protocol.name}: {protocol.title}\n\n{protocol.about}\n")
    click.echo("sources\n" + "\n".join(f"  {source}" for source in protocol.sources) + "\n")
    click.echo("--set takes\n" + table(["  key", "now", "choices", ""], parameters, left=4) + "\n")
    for number, path in enumerate(lineage(source(name))):
        title = "which extends" if number else "file (copy it, change it, and name yours with -p)"
        click.echo(f"{title}\n\n{path.read_text(encoding='utf-8')}")
