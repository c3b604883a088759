"""Panels drawn with matplotlib in the sizes of a paper, in one font and colours that everybody can tell apart."""

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any

from karat.problems import visible
from karat.report.figures.figure import Curves, HeatMap, Panel, Series, Values
from karat.report.layout import width

Rows = tuple[tuple[Panel, ...], ...]

COLUMN = 3.03
"""Inches: one column of an ACL paper (7.7 cm)."""
TEXT = 6.30
"""Inches: both columns (16 cm)."""
LONGEST = 7.0
"""Inches: the height that still leaves room for a caption."""
LETTER = 0.053
"""Inches: the width of a letter in labels, on average."""
LINE = 0.13
"""Inches: the height of a line of text."""
HANDLE = 0.335
"""Inches: a legend's sign and the gaps around it."""
LONGEST_LABEL = 30
"""Letters of a label; the CSV has the whole name."""
MOST_LINES = 20
"""Systems that fit into one column, side by side."""
MOST_NUMBERS = 20
"""Rows and columns of a heat map that has numbers in its cells."""

# Okabe and Ito (2008): colour-blind readers can distinguish them. Without colour, markers, dashes and hatches do.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (5, 1.5, 1, 1.5)))
HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx", "----", "oooo")
GREY = "#cccccc"
BAND = "#f2f2f2"
SHADES = "Blues"
"""From white to dark, so that it is the same scale in greyscale."""

SMALL = 6.0
SETTINGS: Mapping[str, Any] = {
    "font.family": ["DejaVu Sans"],  # it comes with matplotlib, so every machine draws the same
    "font.size": 7.0,
    "axes.titlesize": 7.0,
    "axes.labelsize": 7.0,
    "xtick.labelsize": 6.5,
    "ytick.labelsize": 6.5,
    "legend.fontsize": 6.5,
    "legend.frameon": False,
    "legend.handlelength": 2.0,
    "legend.handletextpad": 0.5,
    "legend.columnspacing": 1.0,
    "legend.labelspacing": 0.3,
    "legend.borderaxespad": 0.2,
    "axes.linewidth": 0.6,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.linewidth": 0.4,
    "grid.color": GREY,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "lines.linewidth": 1.0,
    "lines.markersize": 3.2,
    "hatch.linewidth": 0.4,
    "text.parse_math": False,  # a dollar sign in a name is a dollar sign
    "pdf.fonttype": 42,  # TrueType: publishers refuse Type 3 fonts
    "svg.fonttype": "none",  # text stays text: it can be searched, edited and read aloud
    "svg.hashsalt": "karat",
    "savefig.dpi": 300,
}


def draw(rows: Rows, title: str) -> Any:
    """Draw panels as a figure of matplotlib."""
    from matplotlib.figure import Figure

    rows = _arranged(rows)
    across = max(map(len, rows))
    wide = TEXT if across > 1 or any(_needs_text_width(row[0]) for row in rows) else COLUMN
    heights = [max(_height(panel, wide / across) for panel in row) for row in rows]
    figure: Any = Figure(figsize=(wide, sum(heights) + LINE * 1.5 * bool(title)), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.02, h_pad=0.03)
    if title:
        figure.suptitle(_label(title, 10**6), fontsize=SETTINGS["font.size"])
    grid = figure.subplots(len(rows), across, squeeze=False, gridspec_kw={"height_ratios": heights})
    for cells, row in zip(grid, rows, strict=True):
        for unused in cells[len(row) :]:
            unused.set_visible(False)
        for axes, panel in zip(cells, row, strict=False):
            _draw_panel(axes, panel, wide / across)
        if isinstance(row[0], Curves):  # one legend for the row, at its right
            handles, labels = cells[0].get_legend_handles_labels()
            cells[len(row) - 1].legend(handles, labels, loc="center left", bbox_to_anchor=(1.02, 0.5))
    return figure


def _arranged(rows: Rows) -> Rows:
    """Panels in rows; a column of tall ones that would not fit on a page becomes two."""
    heights = [_height(row[0], COLUMN) for row in rows]
    if sum(heights) <= LONGEST + 1 or any(len(row) > 1 or _needs_text_width(row[0]) for row in rows):
        return rows
    panels = [row[0] for row in rows]
    return tuple(tuple(panels[at : at + 2]) for at in range(0, len(panels), 2))


def _needs_text_width(panel: Panel) -> bool:
    if isinstance(panel, Values):
        return panel.drawn == "lines" and len(panel.rows) > MOST_LINES
    return isinstance(panel, Curves) or len(panel.columns) > 12


def _height(panel: Panel, wide: float) -> float:
    """Inches."""
    title = LINE * bool(panel.title)
    if isinstance(panel, Curves):
        return 2.3 + title
    if isinstance(panel, HeatMap):
        return title + _cell_side(panel, wide) * len(panel.rows) + LETTER * _longest(panel.columns) + 3 * LINE
    legend = LINE * _legend_rows(panel, wide)
    if panel.drawn == "lines":
        labels = LETTER * _longest(panel.rows) if _is_crowded(panel.rows, wide) else LINE
        return 1.5 + title + legend + labels + LINE
    rows = _row_count(panel)
    below = len(_axis_lines(panel, wide)) + (len(panel.rows) > rows)
    return title + legend + _row_height(panel) * rows + (2 + below) * LINE


def _draw_panel(axes: Any, panel: Panel, wide: float) -> None:
    """Draw a panel and its title, which stands above the legend if there is one."""
    pad = 4.0
    if isinstance(panel, Curves):
        _draw_curves(axes, panel)
    elif isinstance(panel, HeatMap):
        _draw_heat_map(axes, panel, wide)
    else:
        {"lines": _draw_lines, "bars": _draw_bars, "points": _draw_points}[panel.drawn](axes, panel, wide)
        _draw_legend(axes, panel, wide)
        pad += 72 * LINE * _legend_rows(panel, wide)
    size = SETTINGS["axes.titlesize"] if panel.title else 1
    axes.set_title(_label(panel.title, 10**6) or " ", loc="left", pad=pad, fontsize=size)


# Systems side by side


def _draw_lines(axes: Any, panel: Values, wide: float) -> None:
    """Scores from system to system; the line only guides the eye."""
    places = range(len(panel.rows))
    edge = {"markeredgecolor": "white", "markeredgewidth": 0.3}
    looks = zip(panel.series, cycle(COLOURS), cycle(MARKERS), cycle(DASHES), strict=False)
    for series, colour, marker, dash in looks:
        values, name = _percent(series.values), _label(series.name)
        axes.plot(places, values, color=colour, marker=marker, linestyle=dash, label=name, clip_on=False, **edge)
    labels = [_label(row) for row in panel.rows]
    axes.set_xticks(places, labels, rotation=90 if _is_crowded(panel.rows, wide) else 0)
    axes.set(ylabel=panel.axis, xlabel=panel.row_field, xlim=(-0.5, len(panel.rows) - 0.5), ylim=_range(panel))
    axes.grid(visible=True, axis="y")


def _is_crowded(names: Sequence[str], wide: float) -> bool:
    """Check for names that would touch each other side by side."""
    return (_longest(names) + 1.5) * LETTER * len(names) > wide - 0.5


# One line of text per row


def _row_count(panel: Values) -> int:
    """The number of rows that there is room for."""
    return min(len(panel.rows), max(1, int((LONGEST - 5 * LINE) / _row_height(panel))))


def _row_height(panel: Values) -> float:
    """Inches."""
    return 0.07 + 0.06 * len(panel.series) if panel.drawn == "bars" else 0.105 + 0.04 * len(panel.series)


def _draw_bars(axes: Any, panel: Values, wide: float) -> None:
    rows = _row_count(panel)
    looks = zip(_shifts(panel, 0.82), panel.series, cycle(COLOURS), cycle(HATCHES), strict=False)
    for shift, series, colour, hatch in looks:
        places = [row + shift for row in range(rows)]
        look = {"color": colour, "edgecolor": "white", "hatch": hatch, "linewidth": 0.3, "label": _label(series.name)}
        axes.barh(places, _percent(series.values[:rows]), height=0.82 / len(panel.series), **look)
        _draw_intervals(axes, series, places, "black")
    axes.axvline(0, color="black", linewidth=0.6)
    axes.set_xlim(*_range(panel))
    _label_rows(axes, panel, wide)


def _draw_points(axes: Any, panel: Values, wide: float) -> None:
    """Points with intervals; systems that share a rank are on one band."""
    rows = _row_count(panel)
    groups = list(dict.fromkeys(panel.groups))
    for row, group in enumerate(panel.groups[:rows]):
        if groups.index(group) % 2 == 0:
            axes.axhspan(row - 0.5, row + 0.5, color=BAND, linewidth=0, zorder=0)
    looks = zip(_shifts(panel, 0.5), panel.series, cycle(COLOURS), cycle(MARKERS), strict=False)
    for shift, series, colour, marker in looks:
        places = [row + shift for row in range(rows)]
        values = _percent(series.values[:rows])
        faces = ["white" if row == panel.reference else colour for row in range(rows)]
        _draw_intervals(axes, series, places, colour)
        look = {"s": 13, "marker": marker, "c": faces, "edgecolors": colour, "linewidths": 0.9}
        axes.scatter(values, places, zorder=3, clip_on=False, **look)
        axes.plot([], [], color=colour, marker=marker, linestyle="none", label=_label(series.name))  # for the legend
        if panel.reference is not None and panel.reference < rows:
            axes.axvline(values[panel.reference], color="#666666", linewidth=0.6, linestyle=(0, (2, 2)), zorder=1)
    if len(panel.series) > 1:
        axes.set_xlim(*_range(panel))
    _label_rows(axes, panel, wide)


def _shifts(panel: Values, spread: float) -> list[float]:
    """The place of each series in its row, the first at the top."""
    count = len(panel.series)
    return [((index + 0.5) / count - 0.5) * spread for index in range(count)]


def _draw_intervals(axes: Any, series: Series, places: Sequence[float], colour: str) -> None:
    for place, interval in zip(places, series.intervals, strict=False):
        if interval is not None:
            axes.plot([100 * bound for bound in interval], [place, place], color=colour, linewidth=0.9, zorder=2)


def _label_rows(axes: Any, panel: Values, wide: float) -> None:
    rows = _row_count(panel)
    labels = [_label(row) for row in panel.rows[:rows]]
    if panel.groups:
        labels = [f"{name}  {rank}" for name, rank in zip(labels, panel.groups, strict=False)]
        axes.annotate("rank", (0, 1), (-3, 1), "axes fraction", "offset points", ha="right", fontsize=SMALL)
    axes.set_yticks(range(rows), labels)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(rows - 0.5, -0.5)
    left_out = len(panel.rows) - rows
    lines = [*_axis_lines(panel, wide), *[f"({left_out:,} more in the CSV)"] * bool(left_out)]
    too_long = max(map(len, lines)) * LETTER * 1.1 > _room(panel, wide) - 0.1
    axes.set_xlabel("\n".join(lines), loc="right" if too_long else "center")
    axes.grid(visible=True, axis="x")


def _axis_lines(panel: Values, wide: float) -> list[str]:
    """The label of the axis; a long one in two lines."""
    return panel.axis.split(", ") if len(panel.axis) * LETTER * 1.1 > _room(panel, wide) - 0.2 else [panel.axis]


def _room(panel: Values, wide: float) -> float:
    """Inches: the room beside the names of rows."""
    return wide - LETTER * (_longest(panel.rows) + 3 * bool(panel.groups))


# Legends


def _draw_legend(axes: Any, panel: Values, wide: float) -> None:
    """Draw the legend above the axes.

    It begins at the edge of the figure, since names of rows may leave little room to the right. The layout knows
    only the room above the axes that the title keeps free.
    """
    from matplotlib.transforms import blended_transform_factory

    if not _legend_rows(panel, wide):
        return
    place = axes.get_subplotspec()
    legend = axes.legend(
        loc="lower left",
        bbox_to_anchor=(place.colspan.start / place.get_gridspec().ncols, 1),
        bbox_transform=blended_transform_factory(axes.figure.transFigure, axes.transAxes),
        ncols=_legend_columns(panel, wide),
    )
    legend.set_in_layout(False)


def _legend_rows(panel: Values, wide: float) -> int:
    """Lines of text; one series of points or bars needs no legend, since the axis names it."""
    if len(panel.series) < 2 and panel.drawn != "lines":
        return 0
    return -(-len(panel.series) // _legend_columns(panel, wide))


def _legend_columns(panel: Values, wide: float) -> int:
    """Return how many columns of a legend fit; it is filled column by column."""
    names = [series.name for series in panel.series]
    for columns in range(len(names), 1, -1):
        rows = -(-len(names) // columns)
        widths = [_longest(names[at : at + rows]) * 0.95 * LETTER + HANDLE for at in range(0, len(names), rows)]
        if sum(widths) <= wide - 0.1:
            return columns
    return 1


# Heat maps and curves


def _draw_heat_map(axes: Any, panel: HeatMap, wide: float) -> None:
    rows, columns, shares = len(panel.rows), len(panel.columns), panel.shares()
    axes.imshow(shares, cmap=SHADES, vmin=0, vmax=1, aspect="equal")
    axes.set_xticks(range(columns), [_label(name) for name in panel.columns], rotation=90)
    axes.set_yticks(range(rows), [_label(name) for name in panel.rows])
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.tick_params(length=0)
    axes.vlines([at - 0.5 for at in range(1, columns)], -0.5, rows - 0.5, color=GREY, linewidth=0.3)
    axes.hlines([at - 0.5 for at in range(1, rows)], -0.5, columns - 0.5, color=GREY, linewidth=0.3)
    axes.set(xlabel=f"system {panel.field}", ylabel=f"gold {panel.field}")
    axes.spines[:].set_visible(True)
    if max(rows, columns) > MOST_NUMBERS:
        return
    size = min(SMALL, 72 * _cell_side(panel, wide) / 2.4)
    for row, counts in enumerate(panel.counts):
        for column, count in enumerate(counts):
            if count:
                colour = "white" if shares[row][column] > 0.55 else "black"
                axes.text(column, row, f"{count}", ha="center", va="center", color=colour, fontsize=size)


def _cell_side(panel: HeatMap, wide: float) -> float:
    """Inches."""
    room = wide - LETTER * _longest(panel.rows) - 2 * LINE
    return min(room / len(panel.columns), 0.22)


def _draw_curves(axes: Any, panel: Curves) -> None:
    names = list(dict.fromkeys(line.name for line in panel.lines))
    for line in panel.lines:
        index = names.index(line.name)
        dash = index if len(names) <= len(DASHES) else index // len(COLOURS)
        axes.plot(
            [100 * share for share in line.at],
            _percent(line.scores),
            color=COLOURS[index % len(COLOURS)],
            linestyle=DASHES[dash % len(DASHES)],
            linewidth=0.5 if line.behind else 1.2,
            alpha=0.45 if line.behind else 1.0,
            label=None if line.behind else visible(line.name),
        )
    axes.set(xlabel=panel.across, ylabel="score [%]", xlim=(0, 100), ylim=(-2, 102))
    axes.grid(visible=True)


# Numbers and names


def _percent(values: Sequence[float | None]) -> list[float]:
    return [float("nan") if value is None else 100 * value for value in values]


def _range(panel: Values) -> tuple[float, float]:
    """Return the range of the axis: 0 to 100, or lower where a score is below zero."""
    lowest = min((100 * value for series in panel.series for value in series.values if value is not None), default=0)
    return (min(0.0, 1.05 * lowest), 101.0 if panel.drawn == "points" else 100.0)


def _label(name: str, most: int = LONGEST_LABEL) -> str:
    """A name in one line; of a long one, the beginning and the end."""
    name = visible(name)
    if width(name) > most:
        half = (most - 1) // 2
        name = f"{name[: most - 1 - half]}…{name[-half:]}"
    # A legend leaves out names that begin with an underscore.
    return f"\u200b{name}" if name.startswith("_") else name


def _longest(names: Sequence[str]) -> int:
    """The width of the longest label."""
    return max((width(_label(name)) for name in names), default=0)
