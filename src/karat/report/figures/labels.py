"""Legends and labels, and the room they need."""

from collections.abc import Sequence
from typing import Any

from karat.errors import visible
from karat.report.figures import style
from karat.report.figures.panels import Values
from karat.report.layout import width

LETTER = 0.053
"""Inches: the width of a letter in labels, on average."""
LONGEST_LABEL = 30
"""Letters of a label; the CSV has the whole name."""
HANDLE = 0.335
"""Inches: a legend's sign and the gaps around it."""
LINE = 0.13
"""Inches: the height of a line of text."""


def legend_right(first: Any, last: Any) -> None:
    """One legend for a row of curves, at its right."""
    handles, labels = first.get_legend_handles_labels()
    last.legend(handles, labels, loc="center left", bbox_to_anchor=(1.02, 0.5))


def legend_above(axes: Any, panel: Values, wide: float) -> None:
    """The legend of a panel; one series of points or bars needs none."""
    from matplotlib import transforms
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    if len(panel.series) < 2 and panel.drawn != "lines":
        return  # the axis says what it is
    handles: list[Any] = []
    for number in range(len(panel.series)):
        colour, marker = style.of(number, style.COLOURS), style.of(number, style.MARKERS)
        if panel.drawn == "bars":
            hatch = style.of(number, style.HATCHES)
            handles.append(Patch(facecolor=colour, edgecolor="white", hatch=hatch, linewidth=0.3))
        else:
            dash: Any = style.of(number, style.DASHES) if panel.drawn == "lines" else "none"
            edge: Any = {"markeredgecolor": "white", "markeredgewidth": 0.3} if panel.drawn == "lines" else {}
            handles.append(Line2D([], [], color=colour, marker=marker, linestyle=dash, **edge))
    labels = [label(series.name) for series in panel.series]
    # It begins at the edge of the figure, since names of rows may leave little room to the right of them. The layout
    # knows only the room above the axes that the title keeps free.
    across = transforms.blended_transform_factory(axes.figure.transFigure, axes.transAxes)
    place = axes.get_subplotspec()
    legend = axes.legend(
        handles,
        labels,
        loc="lower left",
        bbox_to_anchor=(place.colspan.start / place.get_gridspec().ncols, 1),
        bbox_transform=across,
        ncols=_legend_columns(panel, wide),
    )
    legend.set_in_layout(False)


def before_axes(panel: Values) -> float:
    """Inches: the room to the left of the axes."""
    return 0.4 if panel.drawn == "lines" else LETTER * (longest(panel.rows) + 3 * bool(panel.groups))


def legend_rows(panel: Values, wide: float) -> int:
    """How many lines of text it has."""
    if len(panel.series) < 2 and panel.drawn != "lines":
        return 0
    return -(-len(panel.series) // _legend_columns(panel, wide))


def _legend_columns(panel: Values, wide: float) -> int:
    """As many as fit; a legend is filled column by column."""
    names = [series.name for series in panel.series]
    for columns in range(len(names), 1, -1):
        rows = -(-len(names) // columns)
        widths = [longest(names[at : at + rows]) * 0.95 * LETTER + HANDLE for at in range(0, len(names), rows)]
        if sum(widths) <= wide - 0.1:
            return columns
    return 1


def label(name: str, most: int = LONGEST_LABEL) -> str:
    """A name in one line; of a long one, the beginning and the end."""
    name = visible(name)
    if width(name) > most:
        half = (most - 1) // 2
        name = f"{name[: most - 1 - half]}…{name[-half:]}"
    # A legend leaves out names that begin with an underscore.
    return f"\u200b{name}" if name.startswith("_") else name


def longest(names: Sequence[str]) -> int:
    """The width of the longest label."""
    return max((width(label(name)) for name in names), default=0)
