"""Curves as a picture: SVG, PNG or PDF, the same bytes for the same curves."""

import importlib.util
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from karat.errors import Rule, UsageError

NO_LIBRARY = Rule("plots-missing", "fatal", "Install it: pip install 'karat[plots]'.")
FORMATS = {
    ".svg": {"Date": None, "Creator": None, "Format": None, "Type": None},
    ".png": {"Software": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
"""The suffixes of pictures, and the metadata to omit (time and program), so that the bytes are reproducible."""

# Colours that colour-blind readers can distinguish (Okabe and Ito 2008); dashes distinguish them without colour.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (5, 1.5, 1, 1.5)))


class Line(Struct, frozen=True):
    """One curve: its name, its scores, and whether it is drawn thin, behind the others."""

    name: str
    scores: tuple[float | None, ...]
    at: tuple[float, ...]
    """Where the scores are on the horizontal axis, from 0 to 1."""
    behind: bool = False


class Panel(Struct, frozen=True):
    """Lines on one grid."""

    title: str
    across: str
    """What the horizontal axis counts."""
    lines: tuple[Line, ...]


def drawn_as(name: str) -> str:
    """The suffix of a picture, checked before the work starts."""
    suffix = Path(name).suffix.lower()
    if suffix not in FORMATS:
        raise UsageError("plot-format", f"cannot draw {name!r}", f"Use a name that ends in {', '.join(FORMATS)}.")
    if importlib.util.find_spec("matplotlib") is None:
        raise NO_LIBRARY.error("matplotlib, which draws plots, is not installed", file=name)
    return suffix


def picture(rows: Sequence[Sequence[Panel]], suffix: str, *, title: str) -> bytes:
    """Panels in rows; each row has one legend, at its right."""
    import matplotlib
    from matplotlib.figure import Figure

    settings: Any = {"svg.hashsalt": "karat", "font.size": 9, "axes.titlesize": 9.5}
    with matplotlib.rc_context(settings):
        most = max(map(len, rows))
        figure = Figure(figsize=(4.2 * most + 1.9, 3.5 * len(rows) + 0.3), layout="constrained")
        figure.suptitle(title, fontsize=10.5)
        grid = figure.subplots(len(rows), most, squeeze=False)
        for axes, panels in zip(grid, rows, strict=True):
            for one in axes[len(panels) :]:
                one.set_visible(False)
            for one, panel in zip(axes, panels, strict=False):
                _draw(one, panel)
            handles, labels = axes[0].get_legend_handles_labels()
            axes[len(panels) - 1].legend(handles, labels, loc="center left", bbox_to_anchor=(1.02, 0.5), frameon=False)
        stream = io.BytesIO()
        figure.savefig(stream, format=suffix[1:], dpi=150, metadata=FORMATS[suffix])
    return stream.getvalue()


def _draw(axes: Any, panel: Panel) -> None:
    styles = {name: number for number, name in enumerate(dict.fromkeys(line.name for line in panel.lines))}
    for line in panel.lines:
        number = styles[line.name]
        axes.plot(
            [100 * share for share in line.at],
            [float("nan") if score is None else 100 * score for score in line.scores],
            color=COLOURS[number % len(COLOURS)],
            linestyle=DASHES[number // len(COLOURS) % len(DASHES)] if len(styles) > len(DASHES) else DASHES[number],
            linewidth=0.6 if line.behind else 1.6,
            alpha=0.45 if line.behind else 1.0,
            label=None if line.behind else line.name,
        )
    axes.set(title=panel.title, xlabel=panel.across, ylabel="score", xlim=(0, 100), ylim=(-2, 102))
    axes.grid(visible=True, linewidth=0.4, color="#cccccc")
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
