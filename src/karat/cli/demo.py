"""`karat demo`."""

from pathlib import Path

import click

from karat.cli._folders import copy_new
from karat.cli._output import refuse_other_files, write_output
from karat.cli._values import FILE
from karat.problems import UsageError

REPORT = "karat-demo.html"
ABOUT = "Open it in a browser: scores, errors, and every document. Press n for the next error."

EPILOG = """\b
Examples:
  karat demo
  karat demo -o report.html
  karat demo --to karat-demo
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
    "--to",
    metavar="DIR",
    type=FILE,
    help="Copy the bundled files to DIR instead; never overwrites a file.",
)
def demo(output: str | None, to: str | None) -> None:
    """Score three systems on a small bundled corpus, and write a report.

    Prints one table, what to look at, and commands that show more. The report is one HTML file to open in a browser.
    Needs no network.
    """
    from importlib.resources import as_file, files

    from karat.demo import showcase

    if output is not None and to is not None:
        raise UsageError("demo-both", "--to only copies files, and -o names a report", "Use one of them.")
    with as_file(files("karat") / "demo") as folder:
        if to is None:
            click.echo(showcase.shown(folder))
            output = output or REPORT
            refuse_other_files(Path(output))
            write_output(showcase.report(folder), output)
            click.echo(f"\nReport: {output}\n  {ABOUT}")
        else:
            copies = showcase.copies(folder, Path(to))
            copy_new(copies)
            for path in copies:
                click.echo(path)
