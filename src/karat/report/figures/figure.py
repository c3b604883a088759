"""A figure: panels in rows, its bytes as SVG, PNG or PDF, and its data as CSV."""

import csv
import importlib.util
import io
import re
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from karat.errors import Report, Rule, UsageError, visible
from karat.report.figures.drawing import SETTINGS, draw
from karat.report.figures.panels import Panel

FORMATS: Mapping[str, Mapping[str, None]] = {
    ".svg": dict.fromkeys(("Date", "Creator", "Format", "Type")),
    ".png": dict.fromkeys(("Software",)),
    ".pdf": dict.fromkeys(("CreationDate", "Creator", "Producer")),
}
"""The suffixes of pictures, and the metadata to omit (time and program), so that the bytes are reproducible."""
NO_LIBRARY = Rule("plots-missing", "fatal", "Install it: pip install 'karat[plots]'.")

NO_GLYPHS = Rule("figure-letters", "note", "Draw it as .svg, where text stays text.")


def checked_suffix(name: str) -> str:
    """The suffix of a picture, checked before the work starts."""
    suffix = Path(name).suffix.lower()
    if suffix not in FORMATS:
        raise UsageError("plot-format", f"cannot draw {name!r}", f"Use a name that ends in {', '.join(FORMATS)}.")
    if importlib.util.find_spec("matplotlib") is None:
        raise NO_LIBRARY.error("matplotlib, which draws figures, is not installed", file=name)
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
        stream = io.StringIO()
        stream.writelines(f"# {visible(line)}\n" for line in self.comments)
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(names)
        for record in records:
            cells = [record.get(name) for name in names]
            writer.writerow([visible(cell) if isinstance(cell, str) else cell for cell in cells])
        return stream.getvalue()

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
