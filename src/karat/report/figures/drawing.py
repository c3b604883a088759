"""Draws panels onto axes, in the sizes of a paper's columns."""

from collections.abc import Sequence
from typing import Any

from karat.errors import visible
from karat.report.figures import style
from karat.report.figures.figure import Figure
from karat.report.figures.labels import (
    LETTER,
    LINE,
    before_axes,
    label,
    legend_above,
    legend_right,
    legend_rows,
    longest,
)
from karat.report.figures.panels import Curves, HeatMap, Line, Panel, Series, Values

Rows = tuple[tuple[Panel, ...], ...]

MOST_LINES = 20
"""Systems that fit into one column, side by side."""
MOST_NUMBERS = 20
"""Rows and columns of a heat map that has numbers in its cells."""


def draw(figure: Figure) -> Any:
    """The figure of matplotlib."""
    from matplotlib.figure import Figure as Canvas

    rows = _arranged(figure.rows)
    across = max(map(len, rows))
    wide = style.TEXT if across > 1 or any(_needs_text_width(row[0]) for row in rows) else style.COLUMN
    heights = [max(_height(panel, wide / across) for panel in row) for row in rows]
    canvas: Any = Canvas(figsize=(wide, sum(heights) + LINE * 1.5 * bool(figure.title)), layout="constrained")
    canvas.get_layout_engine().set(w_pad=0.02, h_pad=0.03)
    if figure.title:
        canvas.suptitle(label(figure.title, 10**6), fontsize=style.SETTINGS["font.size"])
    grid = canvas.subplots(len(rows), across, squeeze=False, gridspec_kw={"height_ratios": heights})
    for axes, row in zip(grid, rows, strict=True):
        for unused in axes[len(row) :]:
            unused.set_visible(False)
        for one, panel in zip(axes, row, strict=False):
            _draw(one, panel, wide / across)
            _title(one, panel, wide / across)
        if isinstance(row[0], Curves):
            legend_right(axes[0], axes[len(row) - 1])
    return canvas


def _arranged(rows: Rows) -> Rows:
    """Panels in rows; a column of tall ones that would not fit on a page becomes two."""
    heights = [_height(row[0], style.COLUMN) for row in rows]
    if sum(heights) <= style.LONGEST + 1 or any(len(row) > 1 or _needs_text_width(row[0]) for row in rows):
        return rows
    panels = [row[0] for row in rows]
    return tuple(tuple(panels[at : at + 2]) for at in range(0, len(panels), 2))


def _title(axes: Any, panel: Panel, wide: float) -> None:
    """The title, above the legend if there is one."""
    pad = 72 * LINE * legend_rows(panel, wide) if isinstance(panel, Values) else 0
    size = style.SETTINGS["axes.titlesize"] if panel.title else 1
    axes.set_title(label(panel.title, 10**6) or " ", loc="left", pad=pad + 4, fontsize=size)


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
        cell = _cell(panel, wide)
        return title + cell * len(panel.rows) + LETTER * longest(panel.columns) + 3 * LINE
    legend = LINE * legend_rows(panel, wide)
    if panel.drawn == "lines":
        labels = LETTER * longest(panel.rows) if _is_crowded(panel.rows, wide) else LINE
        return 1.5 + title + legend + labels + LINE
    below = len(_axis_lines(panel, wide)) + (len(panel.rows) > len(_shown(panel)))
    return title + legend + _row(panel) * len(_shown(panel)) + (2 + below) * LINE


def _draw(axes: Any, panel: Panel, wide: float) -> None:
    if isinstance(panel, Curves):
        _curves(axes, panel)
    elif isinstance(panel, HeatMap):
        _heat_map(axes, panel, wide)
    else:
        {"lines": _lines, "bars": _bars, "points": _points}[panel.drawn](axes, panel, wide)


# Systems side by side


def _lines(axes: Any, panel: Values, wide: float) -> None:
    """From system to system; the line only guides the eye."""
    places = range(len(panel.rows))
    for number, series in enumerate(panel.series):
        axes.plot(
            places,
            [_percent(value) for value in series.values],
            color=style.of(number, style.COLOURS),
            marker=style.of(number, style.MARKERS),
            linestyle=style.of(number, style.DASHES),
            markeredgecolor="white",
            markeredgewidth=0.3,
            clip_on=False,
        )
    labels = [label(row) for row in panel.rows]
    axes.set_xticks(places, labels, rotation=90 if _is_crowded(panel.rows, wide) else 0)
    axes.set(ylabel=panel.axis, xlabel=panel.row_field, xlim=(-0.5, len(panel.rows) - 0.5), ylim=_range(panel))
    axes.grid(visible=True, axis="y")
    legend_above(axes, panel, wide)


def _is_crowded(names: Sequence[str], wide: float) -> bool:
    """Whether names side by side would touch each other."""
    return (longest(names) + 1.5) * LETTER * len(names) > wide - 0.5


# One line of text per row


def _shown(panel: Values) -> Sequence[str]:
    """As many rows as there is room for."""
    return panel.rows[: max(1, int((style.LONGEST - 5 * LINE) / _row(panel)))]


def _row(panel: Values) -> float:
    """Inches: the height of a row."""
    return 0.07 + 0.06 * len(panel.series) if panel.drawn == "bars" else 0.105 + 0.04 * len(panel.series)


def _bars(axes: Any, panel: Values, wide: float) -> None:
    rows = _shown(panel)
    thick = 0.82 / len(panel.series)
    for number, series in enumerate(panel.series):
        bars = axes.barh(
            [row + _shift(number, panel.series, 0.82) for row in range(len(rows))],
            [_percent(value) for value in series.values[: len(rows)]],
            height=thick,
            color=style.of(number, style.COLOURS),
            edgecolor="white",
            hatch=style.of(number, style.HATCHES),
            linewidth=0.3,
        )
        _whiskers(axes, series, bars, "black")
    axes.axvline(0, color="black", linewidth=0.6)
    axes.set_xlim(*_range(panel))
    _rows_of_text(axes, panel, rows, wide)


def _points(axes: Any, panel: Values, wide: float) -> None:
    """Points with intervals; systems that share a rank are on one band."""
    rows = _shown(panel)
    groups = list(dict.fromkeys(panel.groups))
    for row, group in enumerate(panel.groups[: len(rows)]):
        if groups.index(group) % 2 == 0:
            axes.axhspan(row - 0.5, row + 0.5, color=style.BAND, linewidth=0, zorder=0)
    for number, series in enumerate(panel.series):
        colour = style.of(number, style.COLOURS)
        places = [row + _shift(number, panel.series, 0.5) for row in range(len(rows))]
        values = [_percent(value) for value in series.values[: len(rows)]]
        faces = ["white" if row == panel.reference else colour for row in range(len(rows))]
        _whiskers(axes, series, zip(places, values, strict=True), colour)
        marker = style.of(number, style.MARKERS)
        axes.scatter(
            values, places, s=13, marker=marker, c=faces, edgecolors=colour, linewidths=0.9, zorder=3, clip_on=False
        )
        if panel.reference is not None and panel.reference < len(rows):
            axes.axvline(values[panel.reference], color="#666666", linewidth=0.6, linestyle=(0, (2, 2)), zorder=1)
    if len(panel.series) > 1:
        axes.set_xlim(*_range(panel))
    _rows_of_text(axes, panel, rows, wide)


def _rows_of_text(axes: Any, panel: Values, rows: Sequence[str], wide: float) -> None:
    labels = [label(row) for row in rows]
    if panel.groups:
        labels = [f"{name}  {rank}" for name, rank in zip(labels, panel.groups, strict=False)]
        axes.annotate("rank", (0, 1), (-3, 1), "axes fraction", "offset points", ha="right", fontsize=style.SMALL)
    axes.set_yticks(range(len(rows)), labels)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    left_out = len(panel.rows) - len(rows)
    lines = [*_axis_lines(panel, wide), *[f"({left_out:,} more in the CSV)"] * bool(left_out)]
    too_long = max(map(len, lines)) * LETTER * 1.1 > wide - before_axes(panel) - 0.1
    axes.set_xlabel("\n".join(lines), loc="right" if too_long else "center")
    axes.grid(visible=True, axis="x")
    legend_above(axes, panel, wide)


def _axis_lines(panel: Values, wide: float) -> list[str]:
    """The label of the axis; a long one in two lines."""
    room = wide - before_axes(panel) - 0.2
    return panel.axis.split(", ") if len(panel.axis) * LETTER * 1.1 > room else [panel.axis]


def _whiskers(axes: Any, series: Series, places: Any, colour: str) -> None:
    for row, place in enumerate(places):
        if (interval := series.interval(row)) is not None:
            at = place[0] if isinstance(place, tuple) else place.get_y() + place.get_height() / 2
            axes.plot([100 * bound for bound in interval], [at, at], color=colour, linewidth=0.9, zorder=2)


def _shift(number: int, series: Sequence[Series], spread: float) -> float:
    """Where in its row a series is drawn: the first at the top."""
    return ((number + 0.5) / len(series) - 0.5) * spread


# Heat maps


def _heat_map(axes: Any, panel: HeatMap, wide: float) -> None:
    axes.imshow(panel.shares(), cmap=style.SHADES, vmin=0, vmax=1, aspect="equal")
    axes.set_xticks(range(len(panel.columns)), [label(name) for name in panel.columns], rotation=90)
    axes.set_yticks(range(len(panel.rows)), [label(name) for name in panel.rows])
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.tick_params(length=0)
    for kind, count in (("v", len(panel.columns)), ("h", len(panel.rows))):
        lines = {"v": axes.vlines, "h": axes.hlines}[kind]
        other = len(panel.rows) if kind == "v" else len(panel.columns)
        lines([at - 0.5 for at in range(1, count)], -0.5, other - 0.5, color=style.GREY, linewidth=0.3)
    axes.set(xlabel=f"system {panel.field}", ylabel=f"gold {panel.field}")
    for edge in axes.spines.values():
        edge.set_visible(True)
    size = min(style.SMALL, 72 * _cell(panel, wide) / 2.4)
    if max(len(panel.rows), len(panel.columns)) <= MOST_NUMBERS:
        for row, (counts, shares) in enumerate(zip(panel.counts, panel.shares(), strict=True)):
            for column, (count, share) in enumerate(zip(counts, shares, strict=True)):
                if count:
                    colour = "white" if share > 0.55 else "black"
                    axes.text(column, row, f"{count}", ha="center", va="center", color=colour, fontsize=size)


def _cell(panel: HeatMap, wide: float) -> float:
    """Inches: the side of a cell."""
    room = wide - LETTER * longest(panel.rows) - 2 * LINE
    return min(room / len(panel.columns), 0.22)


# Curves


def _curves(axes: Any, panel: Curves) -> None:
    styles = {name: number for number, name in enumerate(dict.fromkeys(line.name for line in panel.lines))}
    for line in panel.lines:
        _curve(axes, line, styles[line.name], few=len(styles) <= len(style.DASHES))
    axes.set(xlabel=panel.across, ylabel="score [%]", xlim=(0, 100), ylim=(-2, 102))
    axes.grid(visible=True)


def _curve(axes: Any, line: Line, number: int, *, few: bool) -> None:
    axes.plot(
        [100 * share for share in line.at],
        [_percent(score) for score in line.scores],
        color=style.of(number, style.COLOURS),
        linestyle=style.of(number if few else number // len(style.COLOURS), style.DASHES),
        linewidth=0.5 if line.behind else 1.2,
        alpha=0.45 if line.behind else 1.0,
        label=None if line.behind else visible(line.name),
    )


def _percent(value: float | None) -> float:
    return float("nan") if value is None else 100 * value


def _range(panel: Values) -> tuple[float, float]:
    """From 0 to 100, or as far down as a score below zero needs."""
    lowest = min((100 * value for series in panel.series for value in series.values if value is not None), default=0)
    return (min(0.0, 1.05 * lowest), 101.0 if panel.drawn == "points" else 100.0)
