"""`karat demo`."""

import click

from karat.cli._output import copy_new
from karat.cli.completion import complete_files

EPILOG = """\b
Examples:
  karat demo
  karat demo --to karat-demo
"""


@click.command(epilog=EPILOG)
@click.option(
    "--to",
    metavar="DIR",
    shell_complete=complete_files,
    help="Copy the bundled files to DIR instead; never overwrites a file.",
)
def demo(to: str | None) -> None:
    """Score three systems on a small bundled corpus.

    Prints one table, what to look at, and commands that show more. Needs no network.
    """
    from importlib.resources import as_file, files
    from pathlib import Path

    from karat.demo import showcase

    with as_file(files("karat") / "demo") as folder:
        if to is None:
            click.echo(showcase.shown(folder))
        else:
            copies = showcase.copies(folder, Path(to))
            copy_new(copies)
            for path in copies:
                click.echo(path)
