"""Figures for papers: SVG, PNG or PDF in one style, with their data as CSV.

style     sizes, fonts, colours, and the bytes of a figure
panels    what a figure shows, as data
drawing   panels onto axes; labels: legends, labels and their room
scored    results and comparisons as figures read them
kinds     from these to figures
"""

from karat.report.figures.figure import Figure, checked_suffix
from karat.report.figures.kinds import KINDS, checked_kind, comparison_figure, result_figure, systems_figure
from karat.report.figures.panels import Curves, HeatMap, Line, Panel, Series, Values

__all__ = [
    "KINDS",
    "Curves",
    "Figure",
    "HeatMap",
    "Line",
    "Panel",
    "Series",
    "Values",
    "checked_kind",
    "checked_suffix",
    "comparison_figure",
    "result_figure",
    "systems_figure",
]
