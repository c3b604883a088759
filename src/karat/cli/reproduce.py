"""`karat reproduce`."""

import click

from karat.cli._figures import Plot, refuse_outputs, write_figures
from karat.cli._options import form_option, plot_option, progress
from karat.cli._output import output_option, write_output
from karat.cli._parameters import FILE

EPILOG = """\b
Examples:
  karat reproduce
  karat reproduce araki-2014
  karat reproduce araki-2014 -f json -o araki-2014.json
  karat reproduce upadhyay-2016 ecbplus/ --quick
  karat reproduce liu-2015 gold.tbf run1.tbf run2.tbf --plot figures.pdf
  karat reproduce liu-2015 --plot figure-1=f1.pdf --plot figure-2=f2.pdf --plot figure-3=f3.pdf
"""


@click.command(epilog=EPILOG)
@click.argument("paper", required=False)
@click.argument("data", nargs=-1, type=FILE)
@plot_option("[FIGURE=]FILE", "FIGURE is one of the paper's, such as figure-1; without it, all are drawn.", "parse")
@click.option("--quick", is_flag=True, help="Skip what takes minutes, such as training.")
@form_option
@output_option
def reproduce(
    paper: str | None, data: tuple[str, ...], plots: tuple[Plot, ...], quick: bool, form: str, output: str | None
) -> None:
    """Recompute the published numbers of PAPER.

    Prints them next to karat's, with the differences, and checks the paper's claims. Without PAPER, lists the papers.
    DATA is the corpus, for a paper whose data does not come with karat; liu-2015 simulates a pilot, or takes GOLD and
    the output of one SYSTEM or more.
    """
    from karat.report.outputs import indented
    from karat.studies.reproduction import listed, recomputed, text

    if paper is None:
        write_output(listed(), output)
        return
    for path in data or [None]:
        refuse_outputs(plots, output, data, folder=path)
    study = recomputed(paper, data, figures=[plot.kind for plot in plots], progress=progress("steps"), quick=quick)
    write_figures(plots, lambda name, _: study.figure(name), output)
    write_output(indented(study) if form == "json" else text(study), output)
