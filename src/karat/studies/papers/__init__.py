"""Papers recomputed: one module a paper, each its published numbers and claims beside what karat finds.

A paper is a module (or any object another package offers under the entry-point group `karat.studies.papers`) with

    TITLE              authors, year and title
    DATA               what the user must name to recompute it; None: it brings its data with it
    reproduce(data)    the `Reproduction`; `data` is the path that the user named, None where DATA is None
"""

import sys
from typing import Any, Literal

from msgspec import Struct

from karat.errors import UsageError
from karat.registry import Registry, modules_of
from karat.studies.plot import Panel

Form = Literal["count", "percent", "share"]
"""How a number is printed: as it is, as a percentage with two digits, or with three digits."""


class Cell(Struct, frozen=True):
    """A recomputed number, and the published one where there is one."""

    found: float | None
    published: float | None = None

    @property
    def difference(self) -> float | None:
        """How far the recomputed number is from the published one."""
        return None if self.found is None or self.published is None else self.found - self.published


class Column(Struct, frozen=True):
    """What the cells of a column are."""

    name: str
    form: Form = "percent"


class Numbers(Struct, frozen=True):
    """A table of the paper."""

    title: str
    columns: tuple[Column, ...]
    rows: dict[str, tuple[Cell, ...]]


class Claim(Struct, frozen=True):
    """What a paper says in words, and what was found."""

    says: str
    where: str
    holds: bool
    found: str


class Reproduction(Struct, frozen=True):
    """A paper recomputed."""

    title: str
    numbers: tuple[Numbers, ...]
    claims: tuple[Claim, ...] = ()
    remarks: tuple[str, ...] = ()
    panels: tuple[Panel, ...] = ()
    """Its figure, to be drawn."""


PAPERS: Registry[Any] = Registry(
    __name__,
    "paper",
    own=lambda: modules_of(sys.modules[__name__]),
    accept=lambda module: module,
    listed_by="karat reproduce",
)


def recomputed(name: str, data: str | None, *, figure: bool = False) -> Reproduction:
    """A paper recomputed; `figure`: there must be one to draw."""
    paper = PAPERS.get(name)
    if paper.DATA is None and data is not None:
        raise UsageError("data-unwanted", f"{name} brings its data with it", "Leave DATA out.")
    if paper.DATA is not None and data is None:
        raise UsageError("data-needed", f"{name} needs {paper.DATA}", "Name it after the paper.")
    found: Reproduction = paper.reproduce(data)
    if figure and not found.panels:
        raise UsageError("figure-absent", f"there is no figure of {name} to draw", "Leave --plot out.")
    return found
