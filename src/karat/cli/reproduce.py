"""`karat reproduce`."""

import click

from karat.cli._options import form_option
from karat.cli._output import output_option, written

EPILOG = """\b
Examples:
  karat reproduce
  karat reproduce araki-2014
  karat reproduce araki-2014 -f json -o araki-2014.json
"""


@click.command(epilog=EPILOG)
@click.argument("paper", required=False)
@click.argument("data", required=False)
@click.option("--plot", metavar="FILE", help="Draw the paper's figure into FILE.svg, FILE.png or FILE.pdf, too.")
@form_option
@output_option
def reproduce(paper: str | None, data: str | None, plot: str | None, form: str, output: str | None) -> None:
    """Recompute what PAPER published; without PAPER, list the papers.

    Its numbers next to karat's, with the differences, and its claims with what was found. DATA is the corpus of a paper
    whose data do not come with karat.
    """
    from karat.studies.papers import recomputed
    from karat.studies.papers._shown import json, listed, text
    from karat.studies.plot import drawn_as, picture

    if paper is None:
        written(listed(), output)
        return
    suffix = None if plot is None else drawn_as(plot)
    found = recomputed(paper, data, figure=plot is not None)
    if plot is not None and suffix is not None:
        written(picture([found.panels], suffix, title=found.title), plot)
    written(json(found) if form == "json" else text(found), output)
