"""`karat demo`."""

from pathlib import Path

import click

from karat.cli._folders import copy_new
from karat.cli._output import refuse_other_files, write_output
from karat.cli._parameters import FILE, Renamed
from karat.problems import UsageError

REPORT = "karat-demo.html"
ABOUT = "Open it in a browser: scores, errors, and every document. Press n for the next error."

EPILOG = """\b
Examples:
  karat demo
  karat demo -o report.html
  karat demo --into karat-demo
"""


@click.command(epilog=EPILOG)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=FILE,
    help=f"Where to write the HTML report; never overwrites a file that is not one. Default: {REPORT}.",
)
@click.option(
    "--into",
    "--to",
    cls=Renamed,
    metavar="DIR",
    type=FILE,
    help="Only copy the bundled files into DIR; never overwrites a file.",
)
def demo(output: str | None, into: str | None) -> None:
    """Score three systems on a small bundled corpus.

    Prints one table, what to look at, and commands that show more, and writes an HTML report to open in a browser.
    Needs no network.
    """
    from importlib.resources import as_file, files

    from karat.demo import showcase

    if output is not None and into is not None:
        raise UsageError("demo-both", "--into only copies files, and -o names a report", "Use one of them.")
    with as_file(files("karat") / "demo") as folder:
        if into is None:
            click.echo(showcase.shown(folder))
            output = output or REPORT
            refuse_other_files(Path(output))
            write_output(showcase.report(folder), output)
            click.echo(f"\nReport: {output}\n  {ABOUT}")
        else:
            copies = showcase.copies(folder, Path(into))
            copy_new(copies)
            for path in copies:
                click.echo(path)
