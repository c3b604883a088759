"""`karat reproduce`."""

import click

from karat.cli._options import form_option
from karat.cli._output import output_option, write_output
from karat.cli.completion import complete_files

EPILOG = """\b
Examples:
  karat reproduce
  karat reproduce araki-2014
  karat reproduce araki-2014 -f json -o araki-2014.json
  karat reproduce upadhyay-2016 ecbplus/ --quick
"""


@click.command(epilog=EPILOG)
@click.argument("paper", required=False)
@click.argument("data", required=False, shell_complete=complete_files)
@click.option(
    "--plot",
    metavar="FILE",
    shell_complete=complete_files,
    help="Also draw the paper's figure to FILE.svg, FILE.png or FILE.pdf.",
)
@click.option("--quick", is_flag=True, help="Leave out what takes minutes, such as training.")
@form_option
@output_option
def reproduce(
    paper: str | None, data: str | None, plot: str | None, quick: bool, form: str, output: str | None
) -> None:
    """Recompute the published numbers of PAPER.

    Prints them next to karat's, with the differences, and checks the paper's claims. Without PAPER, lists the papers.
    DATA is the corpus, for a paper whose data does not come with karat.
    """
    from karat.studies.papers import recomputed
    from karat.studies.plot import drawn_as, picture
    from karat.studies.reproduction_report import json, listed, text

    if paper is None:
        write_output(listed(), output)
        return
    suffix = None if plot is None else drawn_as(plot)
    study = recomputed(paper, data, figure=plot is not None, quick=quick)
    if plot is not None and suffix is not None:
        write_output(picture([study.panels], suffix, title=study.title), plot)
    write_output(json(study) if form == "json" else text(study), output)
