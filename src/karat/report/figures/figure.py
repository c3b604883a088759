"""A figure: the data of its panels, its bytes as SVG, PNG or PDF, and its data as CSV."""

import importlib.util
import io
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from karat.counts import Interval
from karat.problems import Report, Rule, UsageError, install_hint, visible
from karat.report.markup import csv

FORMATS: Mapping[str, Mapping[str, None]] = {
    ".svg": dict.fromkeys(("Date", "Creator", "Format", "Type")),
    ".png": dict.fromkeys(("Software",)),
    ".pdf": dict.fromkeys(("CreationDate", "Creator", "Producer")),
}
"""The suffixes of pictures, and the metadata to omit (time and program), so that the bytes are reproducible."""
NO_LIBRARY = Rule("plots-missing", "fatal", "Install it: pip install 'karat[plots]'")

NO_GLYPHS = Rule("figure-letters", "note", "Draw it as .svg, where text stays text.")


# The data of one grid; its records are the rows of the CSV


class Series(Struct, frozen=True):
    """The scores that share a colour and a marker: one per row of the panel."""

    name: str
    """As in the legend."""
    values: tuple[float | None, ...]
    measure: str = ""
    """Empty if rows are measures."""
    score: str = ""
    """Which of the measure's scores it is."""
    intervals: tuple[Interval | None, ...] = ()
    """None or one per row."""
    system: str = ""
    """The system, if rows are not systems and there are several."""


class Values(Struct, frozen=True):
    """Rows (systems, measures, values of a field) with one score per series."""

    drawn: Literal["lines", "bars", "points"]
    """Lines go from system to system; bars and points have a line of text per row."""
    rows: tuple[str, ...]
    row_field: str
    """The noun for rows, and the name of their column in the CSV."""
    series: tuple[Series, ...]
    axis: str
    """The label of the axis of scores."""
    title: str = ""
    protocol: str = ""
    groups: tuple[int, ...] = ()
    """Rows of one number are shown as a group: the ranks of systems."""
    reference: int | None = None
    """The row that others are compared with: the baseline."""

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield one record per row and series."""
        has_intervals = any(series.intervals for series in self.series)
        for index, row in enumerate(self.rows):
            for series in self.series:
                low, high = (series.intervals[index] if series.intervals else None) or (None, None)
                yield {
                    "protocol": self.protocol,
                    **({"rank": self.groups[index]} if self.groups else {}),
                    self.row_field: row,
                    **({"system": series.system} if series.system else {}),
                    **({"measure": series.measure} if self.row_field != "measure" else {}),
                    "score": series.score,
                    "value": series.values[index],
                    **({"low": low, "high": high} if has_intervals else {}),
                }


class HeatMap(Struct, frozen=True):
    """Counts of gold values that meet system values. Cells are shaded by their share of the row."""

    field: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    """By row, then by column."""
    title: str = ""
    protocol: str = ""

    def shares(self) -> list[list[float]]:
        """Return each count as a share of its row; of an empty row, 0."""
        return [[count / (sum(row) or 1) for count in row] for row in self.counts]

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield one record per cell, including empty ones."""
        for gold, row, shares in zip(self.rows, self.counts, self.shares(), strict=True):
            for system, count, share in zip(self.columns, row, shares, strict=True):
                cell = {"gold": gold, "system": system, "count": count, "share": share}
                yield {"protocol": self.protocol, "field": self.field, **cell}


class Line(Struct, frozen=True):
    """A curve: its name, its scores, and whether it is drawn thin, behind the others."""

    name: str
    scores: tuple[float | None, ...]
    at: tuple[float, ...]
    """Where the scores are on the horizontal axis, from 0 to 1."""
    behind: bool = False


class Curves(Struct, frozen=True):
    """Lines on one grid, from 0 to 100 % in both directions."""

    title: str
    across: str
    """The label of the horizontal axis."""
    lines: tuple[Line, ...]

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield one record per point."""
        for index, line in enumerate(self.lines, 1):
            for at, value in zip(line.at, line.scores, strict=True):
                yield {"title": self.title, "line": index, "name": line.name, "at": at, "value": value}


Panel = Values | HeatMap | Curves


def checked_suffix(name: str) -> str:
    """The suffix of a picture, checked before the work starts."""
    suffix = Path(name).suffix.lower()
    if suffix not in FORMATS:
        raise UsageError("plot-format", f"cannot draw {name!r}", f"Use a name that ends in {', '.join(FORMATS)}.")
    if importlib.util.find_spec("matplotlib") is None:
        missing = NO_LIBRARY._replace(hint=install_hint("plots"))
        raise missing.error("matplotlib, which draws figures, is not installed", file=name)
    return suffix


class Figure(Struct, frozen=True):
    """Panels in rows, with an optional title, and comments for the CSV, such as the signature."""

    rows: tuple[tuple[Panel, ...], ...]
    title: str = ""
    comments: tuple[str, ...] = ()

    @classmethod
    def column(cls, panels: Sequence[Panel], *, title: str = "", comments: Sequence[str] = ()) -> "Figure":
        """Panels one below the other."""
        return cls(tuple((panel,) for panel in panels), title, tuple(comments))

    @classmethod
    def joined(cls, figures: "Mapping[str, Figure]") -> "Figure":
        """Figures one below the other, each under its name; a single figure as it is."""
        if len(figures) == 1:
            return next(iter(figures.values()))
        rows = [
            tuple(replace(panel, title=name.replace("-", " ").capitalize()) for panel in row)
            for name, figure in figures.items()
            for row in figure.rows
        ]
        comments = dict.fromkeys(line for figure in figures.values() for line in figure.comments)
        return cls(tuple(rows), comments=tuple(comments))

    def drawn(self, suffix: str, report: Report | None = None) -> bytes:
        """The picture: the same bytes for the same figure. Characters that the font lacks are reported."""
        import matplotlib

        from karat.report.figures.drawing import SETTINGS, draw

        settings: Any = SETTINGS
        with matplotlib.rc_context(), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            matplotlib.rcdefaults()  # a personal matplotlibrc changes nothing
            matplotlib.rcParams.update(settings)
            stream = io.BytesIO()
            metadata: Any = FORMATS[suffix]
            draw(self.rows, self.title).savefig(stream, format=suffix[1:], metadata=metadata)
        letters = set()
        for warning in caught:
            if glyph := re.match(r"Glyph (\d+) ", str(warning.message)):
                letters.add(glyph[1])
            else:
                warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
        if letters and report is not None and suffix != ".svg":
            report(NO_GLYPHS.at(f"{len(letters):,} characters are not in the font, and are drawn as boxes"))
        return stream.getvalue()

    def csv(self) -> str:
        """The data of the figure: scores as unrounded fractions, nothing where one is undefined."""
        records = self.records()
        names = list(dict.fromkeys(name for record in records for name in record))
        cells = ([record.get(name) for name in names] for record in records)
        rows = ([visible(cell) if isinstance(cell, str) else cell for cell in row] for row in cells)
        return csv(names, rows, self.comments)

    def records(self) -> list[dict[str, Any]]:
        """The rows of the CSV."""
        return [record for row in self.rows for panel in row for record in panel.records()]

    def save(self, path: str | Path) -> None:
        """Write the picture, and its data beside it: `FILE.csv`."""
        picture = self.drawn(checked_suffix(str(path)))
        Path(path).write_bytes(picture)
        Path(f"{path}.csv").write_text(self.csv(), encoding="utf-8")

    def __repr__(self) -> str:
        panels = sum(map(len, self.rows))
        return f"<Figure of {panels} panel{'s' * (panels != 1)}, {len(self.records())} records>"

    def _repr_svg_(self) -> str:
        """The picture, for notebooks."""
        checked_suffix("figure.svg")
        return self.drawn(".svg").decode()
