"""Panels: the data of a figure. Each is drawn on one grid; its records are the rows of the CSV."""

from collections.abc import Iterator
from typing import Any, Literal

from msgspec import Struct

from karat.counts import Interval


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
    """What a row is, and the name of its column in the CSV."""
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
        """One per row and series."""
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
    """How often a gold value meets a system value. Cells are shaded by their share of the row."""

    field: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    """By row, then by column."""
    title: str = ""
    protocol: str = ""

    def shares(self) -> list[list[float]]:
        """Each count as a share of its row; of an empty row, 0."""
        return [[count / (sum(row) or 1) for count in row] for row in self.counts]

    def records(self) -> Iterator[dict[str, Any]]:
        """One per cell, including empty ones."""
        for gold, row, shares in zip(self.rows, self.counts, self.shares(), strict=True):
            for system, count, share in zip(self.columns, row, shares, strict=True):
                cell = {"gold": gold, "system": system, "count": count, "share": share}
                yield {"protocol": self.protocol, "field": self.field, **cell}


class Line(Struct, frozen=True):
    """One curve: its name, its scores, and whether it is drawn thin, behind the others."""

    name: str
    scores: tuple[float | None, ...]
    at: tuple[float, ...]
    """Where the scores are on the horizontal axis, from 0 to 1."""
    behind: bool = False


class Curves(Struct, frozen=True):
    """Lines on one grid, from 0 to 100 % in both directions."""

    title: str
    across: str
    """What the horizontal axis counts."""
    lines: tuple[Line, ...]

    def records(self) -> Iterator[dict[str, Any]]:
        """One per point."""
        for number, line in enumerate(self.lines, 1):
            for at, value in zip(line.at, line.scores, strict=True):
                yield {"title": self.title, "line": number, "name": line.name, "at": at, "value": value}


Panel = Values | HeatMap | Curves
