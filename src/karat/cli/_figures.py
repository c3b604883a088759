"""`--plot`: which figures a user wants, and writing them."""

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from karat.cli._options import print_findings
from karat.cli._output import UNWRITABLE, refuse_overwriting, write_outputs
from karat.problems import Findings, UsageError

if TYPE_CHECKING:
    from karat.report.figures.figure import Figure


class Plot(NamedTuple):
    """A figure that a user wants, and where."""

    file: str
    kind: str | None = None
    of: str | None = None

    @property
    def data(self) -> str:
        """The file of its data, whose name ends in `.svg.csv` or the like: `x.csv` may be somebody's table."""
        return f"{self.file}.csv"

    @property
    def files(self) -> tuple[str, str]:
        """Both files that are written."""
        return self.file, self.data


def parse(given: Sequence[str]) -> tuple[Plot, ...]:
    """`FILE`, `KIND=FILE` or `KIND:OF=FILE`; the file is checked before the work starts."""
    plots = []
    for text in given:
        name, equals, file = text.partition("=")
        kind, _, of = name.partition(":")
        plots.append(_checked(Plot(file, kind, of or None) if equals else Plot(text)))
    return tuple(plots)


def parse_files(given: Sequence[str]) -> tuple[Plot, ...]:
    """`FILE`."""
    return tuple(_checked(Plot(file)) for file in given)


def _checked(plot: Plot) -> Plot:
    from karat.report.figures.figure import checked_suffix

    checked_suffix(plot.file)
    return plot


def parse_known(given: Sequence[str]) -> tuple[Plot, ...]:
    """Parse kinds of figures that are known before the work starts."""
    plots = parse(given)
    for plot in plots:
        if plot.kind is not None:
            from karat.report.figures.kinds import checked_kind

            checked_kind(plot.kind)
    return plots


def refuse_outputs(
    plots: Sequence[Plot], output: str | None, inputs: Iterable[str | Path] = (), *, folder: str | None = None
) -> None:
    """Refuse figures and an output that would overwrite an input or each other, or be in the folder that is read."""
    inputs, names = list(inputs), [plot.file for plot in plots]
    for name in names:
        if names.count(name) > 1:
            raise UsageError("plot-twice", f"two figures cannot both be {name!r}", "Name a file for each.")
    files = [file for plot in plots for file in plot.files]
    for file in (output, *files):
        refuse_overwriting(file, inputs, folder=folder)
    if output is not None and os.path.realpath(output) in map(os.path.realpath, files):
        raise UNWRITABLE.error("this file is to be both a figure (or its data) and the output", file=output)


def write_figures(
    plots: Sequence[Plot], made: "Callable[[str | None, str | None], Figure]", output: str | None
) -> None:
    """Draw every figure before the first is written; `made` makes one of a kind.

    Nothing is written if a figure, or the `output` that is written next, would overwrite what has been read by now.
    """
    figures = [(plot, made(plot.kind, plot.of)) for plot in plots]
    findings = Findings()
    drawn = [
        (plot, figure.drawn(Path(plot.file).suffix.lower(), findings.add), figure.csv()) for plot, figure in figures
    ]
    print_findings(findings)
    refuse_outputs(plots, output)
    written: dict[str, str | bytes] = {}
    for plot, picture, data in drawn:
        written |= {plot.file: picture, plot.data: data}
    write_outputs(written)
