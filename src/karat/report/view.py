"""How a report is shown, whatever its format."""

from typing import Literal, NamedTuple

from karat.report.layout import PLAIN, Style

Sort = Literal["loss", "name"]
"""The order of the rows of a breakdown: what lost most first, or by name."""


class View(NamedTuple):
    """What a user chooses about a report."""

    digits: int = 2
    """Decimal digits of percentages."""
    sort: Sort = "loss"
    summary: bool = False
    """Only the main scores."""
    style: Style = PLAIN
    """Where text is shown."""


DEFAULT = View()
