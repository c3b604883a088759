"""The style of all figures: sizes of a paper's columns, one font, colours that everybody can tell apart."""

from collections.abc import Mapping, Sequence
from typing import Any

COLUMN = 3.03
"""Inches: one column of an ACL paper (7.7 cm)."""
TEXT = 6.30
"""Inches: both columns (16 cm)."""
LONGEST = 7.0
"""Inches: the height that still leaves room for a caption."""

# Okabe and Ito (2008): colour-blind readers can distinguish them. Without colour, markers, dashes and hatches do.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (5, 1.5, 1, 1.5)))
HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx", "----", "oooo")
MOST_SERIES = 8
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

FORMATS: Mapping[str, Mapping[str, None]] = {
    ".svg": dict.fromkeys(("Date", "Creator", "Format", "Type")),
    ".png": dict.fromkeys(("Software",)),
    ".pdf": dict.fromkeys(("CreationDate", "Creator", "Producer")),
}
"""The suffixes of pictures, and the metadata to omit (time and program), so that the bytes are reproducible."""


def of(number: int, choices: Sequence[Any]) -> Any:
    """The colour, marker, dash or hatch of a series; after the last one, the first again."""
    return choices[number % len(choices)]
