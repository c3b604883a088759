"""`karat help`."""

import click

EPILOG = """\b
Examples:
  karat help
  karat help score
"""


@click.command(epilog=EPILOG)
@click.argument("command", required=False)
@click.pass_context
def help(context: click.Context, command: str | None) -> None:
    """Show how to use karat, or COMMAND."""
    root = context.find_root()
    if command is None:
        click.echo(root.get_help())
        return
    assert isinstance(root.command, click.Group), "karat has commands"
    name, subcommand, _ = root.command.resolve_command(root, [command])
    assert subcommand is not None, "an unknown command is refused"
    with click.Context(subcommand, info_name=name, parent=root) as described:
        click.echo(subcommand.get_help(described))
